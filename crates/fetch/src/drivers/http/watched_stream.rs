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
    /// The bytes of a head that is not complete yet.
    partial_head: BytesMut,
    /// Bytes to deliver: a head, and what was read together with it.
    ready: BytesMut,
    /// The head of a request in the caller's spelling, while it is being written.
    respelled: Vec<u8>,
    /// The server has closed the connection while the body of a request was written.
    has_write_failed: bool,
}

impl<S> WatchedStream<S> {
    pub(super) fn new(stream: S, exchange: SharedExchange) -> Self {
        Self {
            stream,
            exchange,
            partial_head: BytesMut::new(),
            ready: BytesMut::new(),
            respelled: Vec::new(),
            has_write_failed: false,
        }
    }
}

impl<S: AsyncRead + Unpin> WatchedStream<S> {
    /// Reads up to the end of the head, hides its Content-Length and puts it into `ready`. The bytes of an incomplete
    /// head are kept until the next poll.
    fn poll_read_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut piece = [0; HEAD_READ_SIZE];
            let mut piece = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut piece))?;
            self.partial_head.extend_from_slice(piece.filled());
            let is_complete = record(&self.exchange, piece.filled())?;
            if is_complete || piece.filled().is_empty() {
                self.ready = std::mem::take(&mut self.partial_head);
                hide_length(&mut self.ready);
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
        if self.ready.is_empty() && self.exchange.holds_head_back() {
            ready!(self.poll_read_head(cx))?;
        }
        if !self.ready.is_empty() {
            let count = buffer.remaining().min(self.ready.len());
            buffer.put_slice(self.ready.get(..count).unwrap_or_default());
            self.ready.advance(count);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        record(&self.exchange, buffer.filled().get(before..).unwrap_or_default())?;
        Poll::Ready(Ok(()))
    }
}

/// Records bytes that have arrived. Returns `true` if the head of the response is complete or too large.
fn record(exchange: &SharedExchange, bytes: &[u8]) -> io::Result<bool> {
    let failed =
        |_| io::Error::new(io::ErrorKind::InvalidData, "the line with the size of a chunk is too long");
    exchange.record(bytes).map_err(failed)
}

impl<S: AsyncWrite + Unpin> WatchedStream<S> {
    /// Returns the result of writing, or `Pending` after the server has closed the connection while the body of a request
    /// was written: hyper then reads the response, which may have arrived (RFC 9112 §9.5), and reading ends the exchange.
    fn written<T>(&mut self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
        if let Poll::Ready(Err(error)) = &polled
            && matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
        {
            self.has_write_failed = self.exchange.record_write_failure();
        }
        if self.has_write_failed { Poll::Pending } else { polled }
    }

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
        if self.has_write_failed {
            return Poll::Pending;
        }
        let polled = match self.poll_write_respelled(cx, bytes) {
            Some(polled) => polled,
            None => Pin::new(&mut self.stream).poll_write(cx, bytes),
        };
        self.written(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.has_write_failed {
            return Poll::Pending;
        }
        let first = slices.iter().find(|slice| !slice.is_empty());
        let polled = match first.and_then(|first| self.poll_write_respelled(cx, first)) {
            Some(polled) => polled,
            None => Pin::new(&mut self.stream).poll_write_vectored(cx, slices),
        };
        self.written(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.has_write_failed {
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        ready!(self.written(polled))?;
        self.exchange.record_flush();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S> Drop for WatchedStream<S> {
    fn drop(&mut self) {
        self.exchange.record_end();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Reads a response that arrives in two pieces, with a pause between them.
    async fn read_in_two_pieces(first: &[u8], second: &[u8]) -> Vec<u8> {
        let (mut server, client) = tokio::io::duplex(1024);
        let mut stream = WatchedStream::new(client, SharedExchange::hiding_length());
        let write = async {
            for piece in [first, second] {
                server.write_all(piece).await.expect("room for the piece");
                tokio::task::yield_now().await;
                tokio::task::yield_now().await;
            }
            drop(server);
        };
        let mut read = Vec::new();
        let (_, count) = tokio::join!(write, stream.read_to_end(&mut read));
        assert_eq!(count.expect("no read error"), read.len());
        read
    }

    #[tokio::test]
    async fn length_is_hidden_in_the_head_only_wherever_the_response_is_cut() {
        let response =
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\nlines:\nContent-Length: 6\r\n\r\nend";
        let expected = response.replacen("Content-Length", "hidden-length-", 1);
        let bytes = response.as_bytes();
        for at in 0..=bytes.len() {
            let read = read_in_two_pieces(&bytes[..at], &bytes[at..]).await;
            assert_eq!(String::from_utf8_lossy(&read), expected, "cut at {at}");
        }
        // An incomplete head is delivered at the end, so that hyper reports it.
        assert_eq!(read_in_two_pieces(b"HTTP/1.1 200", b" OK\r\n").await, b"HTTP/1.1 200 OK\r\n");
    }
}
