//! The interface of the sources of body bytes.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::net::TcpStream;

use crate::Error;

/// A source of body bytes, chunk by chunk. A driver implements it; [`Body::from_source`](crate::Body::from_source)
/// makes a body of it.
pub trait ByteSource: Send {
    /// Returns the next chunk, `None` at the end of a complete body, or an error. A source must not return `None` if
    /// the body may be incomplete.
    fn poll_chunk(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>>;

    /// Returns the connection if the next bytes of the body are the next bytes that it receives, unchanged. The caller
    /// may then read some of them directly, instead of calling [`Self::poll_chunk`]; the end of the connection is left
    /// to `poll_chunk`. Default: `None`.
    fn direct_connection(&self) -> Option<&TcpStream> {
        None
    }
}
