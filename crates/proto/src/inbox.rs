//! Octets that have arrived and have not been read.

use bytes::{Buf, Bytes, BytesMut};

/// What has arrived from the peer. The end is told explicitly: in gopher it is data, in NNTP it is
/// a fault.
#[derive(Debug, Default)]
pub struct Inbox {
    octets: BytesMut,
    end: End,
}

/// Whether more can come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    /// The peer has closed the connection.
    Closed,
    /// The connection is lost: nobody has said that this was all.
    Lost,
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

    /// Where more can be put without a copy.
    pub const fn room(&mut self) -> &mut BytesMut {
        &mut self.octets
    }

    /// Nothing more will come: the peer says so.
    pub const fn end(&mut self) {
        self.end = End::Closed;
    }

    /// Nothing more will come, and nobody says that this was all: the connection was reset, or TLS
    /// ended without close_notify.
    pub const fn lose(&mut self) {
        self.end = End::Lost;
    }

    /// Whether nothing more will come.
    pub fn is_ended(&self) -> bool {
        self.end != End::Open
    }

    /// Whether nothing more will come although nobody said so.
    pub fn is_lost(&self) -> bool {
        self.end == End::Lost
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
