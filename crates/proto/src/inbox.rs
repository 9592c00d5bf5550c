//! Octets that have arrived and have not been read.

use bytes::{Buf, Bytes, BytesMut};

/// What has arrived from the peer. The end is told explicitly: in gopher it is data, in NNTP it is
/// a fault.
#[derive(Debug, Default)]
pub struct Inbox {
    octets: BytesMut,
    is_ended: bool,
}

impl Inbox {
    /// Nothing has arrived.
    pub fn new() -> Self {
        Self::default()
    }

    /// More has arrived.
    pub fn push(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
    }

    /// Nothing more will come.
    pub const fn end(&mut self) {
        self.is_ended = true;
    }

    /// Whether nothing more will come.
    pub const fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// What can be read.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Takes the first `count` octets; all there are when there are fewer.
    pub fn take(&mut self, count: usize) -> Bytes {
        self.octets.split_to(count.min(self.octets.len())).freeze()
    }

    /// Drops the first `count` octets; all there are when there are fewer.
    pub fn skip(&mut self, count: usize) {
        self.octets.advance(count.min(self.octets.len()));
    }

    /// Throws away everything: before a TLS handshake (RFC 4642 §2.2.2).
    pub fn clear(&mut self) {
        self.octets.clear();
    }
}
