//! The interface of the sources of body bytes.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::Error;

/// A source of body bytes, chunk by chunk. A driver implements it; [`Body::from_source`](crate::Body::from_source)
/// makes a body of it.
pub trait ByteSource: Send {
    /// Returns the next chunk, `None` at the end of a complete body, or an error. A source must not return `None` if
    /// the body may be incomplete.
    fn poll_chunk(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>>;
}
