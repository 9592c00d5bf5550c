//! The receive buffer: bytes that have arrived from the peer and have not been consumed.

use bytes::{Buf, Bytes, BytesMut};

/// Received bytes that a [`Machine`](crate::Machine) has not consumed, and whether more can arrive.
///
/// The caller appends what it receives and marks the end explicitly, because protocols treat it differently: in
/// Gopher the end of the connection ends the object, in NNTP it is an error.
#[derive(Debug, Default)]
pub struct RecvBuffer {
    bytes: BytesMut,
    end: EndState,
}

/// How the receiving side of the connection ended, if it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EndState {
    #[default]
    Open,
    /// The peer closed the connection in an orderly way.
    Closed,
    /// The connection was lost: bytes may be missing.
    Lost,
}

impl RecvBuffer {
    /// Creates an empty buffer of an open connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the underlying storage, so that a read can append to it without copying. The caller may only append.
    pub const fn storage_mut(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// Marks the end of the connection: the peer has closed it in an orderly way, and nothing more will arrive.
    pub const fn mark_closed(&mut self) {
        self.end = EndState::Closed;
    }

    /// Marks the loss of the connection: it was reset, or TLS ended without `close_notify`. Bytes may be missing.
    pub const fn mark_lost(&mut self) {
        self.end = EndState::Lost;
    }

    /// Returns `true` if no more bytes will arrive, whether the connection was closed or lost.
    pub fn is_ended(&self) -> bool {
        self.end != EndState::Open
    }

    /// Returns `true` if the connection was lost, so that bytes may be missing.
    pub fn is_lost(&self) -> bool {
        self.end == EndState::Lost
    }

    /// Returns the bytes that have not been consumed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes and returns the first `count` bytes, or all bytes if there are fewer, without copying them.
    pub fn take(&mut self, count: usize) -> Bytes {
        self.bytes.split_to(count.min(self.bytes.len())).freeze()
    }

    /// Removes the first `count` bytes, or all bytes if there are fewer.
    pub fn skip(&mut self, count: usize) {
        self.bytes.advance(count.min(self.bytes.len()));
    }

    /// Discards all bytes, as required before a TLS handshake (RFC 4642 §2.2.2).
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}
