//! Octets that are here already.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::ByteSource;
use crate::Error;

/// Octets alone.
pub(super) struct Once(pub(super) Option<Bytes>);

impl ByteSource for Once {
    fn poll_chunk(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        Poll::Ready(self.0.take().filter(|octets| !octets.is_empty()).map(Ok))
    }
}
