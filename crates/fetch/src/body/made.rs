//! Octets that are here already, alone or in front of others.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::{Body, ByteSource};
use crate::Error;

/// Octets in front of a body.
pub(super) struct Prefixed {
    pub(super) octets: Option<Bytes>,
    pub(super) rest: Body,
}

impl ByteSource for Prefixed {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        match self.octets.take() {
            Some(octets) => Poll::Ready(Some(Ok(octets))),
            None => self.rest.poll_chunk(cx),
        }
    }
}

/// Octets alone.
pub(super) struct Once(pub(super) Option<Bytes>);

impl ByteSource for Once {
    fn poll_chunk(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        Poll::Ready(self.0.take().filter(|octets| !octets.is_empty()).map(Ok))
    }
}
