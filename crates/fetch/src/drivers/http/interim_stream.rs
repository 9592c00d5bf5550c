//! Counts the interim responses of an HTTP/2 connection in the received bytes, because hyper reports interim responses
//! of HTTP/1.1 only.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::interim::{InterimCounter, MAX_INTERIM_RESPONSES};

/// Frame types and flags (RFC 9113 §6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const END_STREAM: u8 = 1;

/// Maximum number of streams that are counted at a time. Streams that the client has reset stay in the table until it
/// is full.
const MAX_COUNTED_STREAMS: usize = 4096;

/// A stream to an HTTP/2 server. Reading fails after too many interim responses to one request.
pub(super) struct InterimStream<S> {
    stream: S,
    scanner: FrameScanner,
    counter: InterimCounter,
}

impl<S> InterimStream<S> {
    /// Counts the interim responses in `stream`, and reports to `counter` if they are too many.
    pub(super) fn new(stream: S, counter: InterimCounter) -> Self {
        Self { stream, scanner: FrameScanner::default(), counter }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for InterimStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if self.scanner.scan(&buffer.filled()[before..]) > MAX_INTERIM_RESPONSES {
            self.counter.report_too_many();
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "too many interim responses",
            )));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for InterimStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Reads the headers of HTTP/2 frames (9 bytes each). A stream has one HEADERS frame for each interim response, one for
/// the response, and at its end perhaps one for the trailers, which ends the stream (RFC 9113 §8.1).
#[derive(Default)]
struct FrameScanner {
    head: [u8; 9],
    /// Bytes of `head` that have been received.
    received: usize,
    /// Bytes of the payload that have not been received.
    payload: usize,
    /// The HEADERS frames of each open stream that did not end it.
    headers: HashMap<u32, u32>,
}

impl FrameScanner {
    /// Reads `bytes`. Returns the largest number of interim responses on one stream, as far as it is known.
    fn scan(&mut self, mut bytes: &[u8]) -> u32 {
        let mut most = 0;
        while !bytes.is_empty() {
            let skipped = self.payload.min(bytes.len());
            self.payload -= skipped;
            bytes = &bytes[skipped..];
            let taken = bytes.len().min(self.head.len() - self.received);
            self.head[self.received..self.received + taken].copy_from_slice(&bytes[..taken]);
            self.received += taken;
            bytes = &bytes[taken..];
            if self.received == self.head.len() {
                self.received = 0;
                most = most.max(self.count_frame());
            }
        }
        most
    }

    /// Counts the frame whose header was received. Returns the number of interim responses of its stream.
    fn count_frame(&mut self) -> u32 {
        let [a, b, c, kind, flags, stream @ ..] = self.head;
        self.payload = u32::from_be_bytes([0, a, b, c]) as usize;
        let stream = u32::from_be_bytes(stream) & 0x7fff_ffff;
        match kind {
            HEADERS if flags & END_STREAM == 0 => {
                if self.headers.len() >= MAX_COUNTED_STREAMS {
                    self.headers.clear();
                }
                let count = self.headers.entry(stream).or_default();
                *count += 1;
                *count - 1
            }
            RST_STREAM => self.forget(stream),
            DATA | HEADERS if flags & END_STREAM != 0 => self.forget(stream),
            _ => 0,
        }
    }

    /// Forgets a stream that has ended.
    fn forget(&mut self, stream: u32) -> u32 {
        self.headers.remove(&stream);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("a short frame");
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    fn most(bytes: &[u8], piece: usize) -> u32 {
        let mut scanner = FrameScanner::default();
        bytes.chunks(piece).map(|piece| scanner.scan(piece)).max().unwrap_or(0)
    }

    #[test]
    fn headers_before_the_response_are_counted_for_each_stream() {
        let interim = |stream| frame(HEADERS, 4, stream, b"\x08\x03103");
        let two_streams =
            [interim(1), interim(3), interim(1), frame(DATA, 0, 3, b"\x01\x01\0"), interim(1)].concat();
        let ended = [interim(1), frame(DATA, END_STREAM, 1, b"x"), interim(1)].concat();
        let reset = [interim(1), interim(1), frame(RST_STREAM, 0, 1, &[0; 4]), interim(1)].concat();
        let trailers = [interim(1), frame(HEADERS, END_STREAM | 4, 1, b"\x08\x03103")].concat();
        for piece in 1..40 {
            assert_eq!(most(&two_streams, piece), 2, "{piece}");
            assert_eq!(most(&ended, piece), 0, "{piece}");
            assert_eq!(most(&reset, piece), 1, "{piece}");
            assert_eq!(most(&trailers, piece), 0, "{piece}");
        }
    }
}
