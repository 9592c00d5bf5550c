//! A body as a reader, for crates that read from [`tokio::io::AsyncRead`].

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use futures_core::Stream as _;
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use super::Body;
use crate::Error;

/// The body of a response as [`AsyncRead`] and [`AsyncBufRead`].
///
/// End of file means that the body is complete. Every other end is an [`io::Error`] whose inner error is the
/// [`Error`] of this library; further reads return the error again.
#[derive(Debug)]
pub struct BodyReader {
    body: Body,
    chunk: Bytes,
    /// The end of the body. Every read after an error returns the error again.
    end: Option<Result<(), Error>>,
}

impl BodyReader {
    pub(crate) const fn new(body: Body) -> Self {
        Self { body, chunk: Bytes::new(), end: None }
    }
}

impl AsyncBufRead for BodyReader {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        while this.chunk.is_empty() {
            match &this.end {
                Some(Ok(())) => break,
                Some(Err(error)) => return Poll::Ready(Err(error.clone().into())),
                None => match ready!(Pin::new(&mut this.body).poll_next(cx)) {
                    Some(Ok(chunk)) => this.chunk = chunk,
                    Some(Err(error)) => this.end = Some(Err(error)),
                    None => this.end = Some(Ok(())),
                },
            }
        }
        Poll::Ready(Ok(&this.chunk))
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.get_mut().chunk.advance(count);
    }
}

impl AsyncRead for BodyReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let available = ready!(self.as_mut().poll_fill_buf(cx))?;
        let count = available.len().min(buffer.remaining());
        buffer.put_slice(&available[..count]);
        self.consume(count);
        Poll::Ready(Ok(()))
    }
}
