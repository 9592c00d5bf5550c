//! A body source for bytes in memory.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::source::ByteSource;
use crate::Error;

/// Yields its bytes as one chunk.
pub(super) struct BytesSource(pub(super) Option<Bytes>);

impl ByteSource for BytesSource {
    fn poll_chunk(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        Poll::Ready(self.0.take().filter(|bytes| !bytes.is_empty()).map(Ok))
    }
}
