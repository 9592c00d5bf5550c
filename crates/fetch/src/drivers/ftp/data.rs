//! The octets of a data connection, until the server ends it.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};

use crate::net::stream::Stream;

/// What arrives on a data connection.
pub(super) struct Arrival {
    stream: Stream,
    buffer: BytesMut,
    /// What came behind octets that were looked at.
    early: Bytes,
}

impl Arrival {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, buffer: BytesMut::new(), early: Bytes::new() }
    }

    /// Takes octets off that are here already, if these are they: no server says where in a file it
    /// begins, and there are some that take REST and begin at its beginning.
    pub(super) async fn begins_with(&mut self, expected: &[u8]) -> io::Result<bool> {
        let mut rest = expected;
        while !rest.is_empty() {
            let octets = poll_fn(|cx| self.poll(cx)).await?;
            let few = octets.len().min(rest.len());
            if few == 0 || octets[..few] != rest[..few] {
                return Ok(false);
            }
            rest = &rest[few..];
            self.early = octets.slice(few..);
        }
        Ok(true)
    }

    /// The next octets; empty at the end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        if !self.early.is_empty() {
            return Poll::Ready(Ok(std::mem::take(&mut self.early)));
        }
        ready!(self.stream.poll_read(cx, &mut self.buffer))?;
        Poll::Ready(Ok(self.buffer.split().freeze()))
    }
}
