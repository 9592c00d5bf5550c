//! A stream that observes the bytes of each exchange over an HTTP/1 connection ([`SharedExchange`]), and changes the
//! spelling of header names.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::exchange::{SharedExchange, hide_length};

/// Number of bytes that are read at a time while the head of a response is held back.
const HEAD_READ_SIZE: usize = 8 * 1024;

/// Passes the bytes of a connection to its [`SharedExchange`].
pub(super) struct WatchedStream<S> {
    stream: S,
    exchange: SharedExchange,
    /// Bytes that were read and are not delivered yet.
    held_back: BytesMut,
    /// The head of a request in the caller's spelling, while it is being written.
    respelled: Vec<u8>,
}

impl<S> WatchedStream<S> {
    pub(super) fn new(stream: S, exchange: SharedExchange) -> Self {
        Self { stream, exchange, held_back: BytesMut::new(), respelled: Vec::new() }
    }
}

impl<S: AsyncRead + Unpin> WatchedStream<S> {
    /// Reads up to the end of the head, hides its Content-Length and delivers it.
    fn poll_read_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut piece = [0; HEAD_READ_SIZE];
            let mut piece = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut piece))?;
            self.held_back.extend_from_slice(piece.filled());
            let is_complete = self.exchange.record(piece.filled());
            if is_complete || piece.filled().is_empty() {
                hide_length(&mut self.held_back);
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.held_back.is_empty() && self.exchange.holds_head_back() {
            ready!(self.poll_read_head(cx))?;
        }
        if !self.held_back.is_empty() {
            let count = buffer.remaining().min(self.held_back.len());
            buffer.put_slice(self.held_back.get(..count).unwrap_or_default());
            self.held_back.advance(count);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.exchange.record(buffer.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> WatchedStream<S> {
    /// Writes the rest of the respelled head, which has the length of what hyper writes. Returns `None` if there is no
    /// such head.
    fn poll_write_respelled(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Option<Poll<io::Result<usize>>> {
        if self.respelled.is_empty() {
            self.respelled = self.exchange.respell_request(bytes)?;
        }
        let written = match Pin::new(&mut self.stream).poll_write(cx, &self.respelled) {
            Poll::Ready(Ok(written)) => written,
            other => return Some(other),
        };
        self.respelled.drain(..written);
        Some(Poll::Ready(Ok(written)))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.poll_write_respelled(cx, bytes) {
            Some(polled) => polled,
            None => Pin::new(&mut self.stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = slices.iter().find(|slice| !slice.is_empty());
        match first.and_then(|first| self.poll_write_respelled(cx, first)) {
            Some(polled) => polled,
            None => Pin::new(&mut self.stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
