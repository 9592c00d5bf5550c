//! The body of a response, from either transport.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;

use super::connection_pool::PooledConnection;
use super::exchange::SharedExchange;
use super::transport_error;
use crate::{ByteSource, Code, Error, Phase};

/// The body of a response.
pub(super) enum ResponseBody {
    /// Over a direct connection, which returns to the pool at the end of the body.
    Direct { incoming: Incoming, pooled: Option<PooledConnection>, is_http2: bool },
    /// Over a direct HTTP/1 connection, as received: without decoding the transfer coding. `incoming` finds the end.
    Raw { incoming: Incoming, pooled: PooledConnection },
    /// Through a proxy.
    Proxied { body: reqwest::Body, is_http2: bool },
}

impl ResponseBody {
    /// Returns the body of a response over `pooled`.
    pub(super) fn direct(incoming: Incoming, pooled: PooledConnection, is_http2: bool) -> Self {
        let mut body = Self::Direct { incoming, pooled: Some(pooled), is_http2 };
        body.release_at_end();
        body
    }

    /// Returns the undecoded body of a response over `pooled`. An HTTP/2 body has no transfer coding.
    pub(super) fn raw(incoming: Incoming, pooled: PooledConnection) -> Self {
        match pooled.connection.exchange() {
            Some(_) => Self::Raw { incoming, pooled },
            None => Self::direct(incoming, pooled, true),
        }
    }

    /// Returns the connection to the pool if the body is at its end.
    fn release_at_end(&mut self) {
        if let Self::Direct { incoming, pooled, .. } = self
            && incoming.is_end_stream()
            && let Some(pooled) = pooled.take()
        {
            pooled.release();
        }
    }

    /// Returns `true` if an HTTP/2 stream ended without END_STREAM. hyper reports a reset with NO_ERROR as a normal
    /// end, but the body is incomplete (RFC 9113 §8.1).
    fn was_reset(&self) -> bool {
        match self {
            Self::Direct { incoming, is_http2, .. } => *is_http2 && !incoming.is_end_stream(),
            Self::Proxied { body, is_http2 } => *is_http2 && !body.is_end_stream(),
            Self::Raw { .. } => false,
        }
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let frame = match self {
                Self::Direct { incoming, .. } | Self::Raw { incoming, .. } => {
                    ready!(Pin::new(incoming).poll_frame(cx))
                        .map(|frame| frame.map_err(transport_error::body_error))
                }
                Self::Proxied { body, .. } => ready!(Pin::new(body).poll_frame(cx))
                    .map(|frame| frame.map_err(transport_error::body_error)),
            };
            if let Self::Raw { pooled, .. } = self
                && !matches!(frame, Some(Err(_)))
            {
                let bytes =
                    pooled.connection.exchange().map(SharedExchange::take_raw_body).unwrap_or_default();
                match (bytes.is_empty(), frame) {
                    (false, _) => return Poll::Ready(Some(Ok(bytes))),
                    (true, None) => return Poll::Ready(None),
                    (true, Some(_)) => continue,
                }
            }
            match frame {
                None if self.was_reset() => return Poll::Ready(Some(Err(stream_reset_error()))),
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                // Trailers are ignored.
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
            }
        }
    }
}

fn stream_reset_error() -> Error {
    Error::new(Code::Truncated, Phase::Body, "the HTTP/2 stream was reset before the end of the body")
}

impl ByteSource for ResponseBody {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let polled = ready!(self.poll_data(cx));
        self.release_at_end();
        match (&polled, &mut *self) {
            // After an error, the connection is closed instead of reused.
            (Some(Err(_)), Self::Direct { pooled, .. }) => *pooled = None,
            (None, Self::Direct { pooled, .. }) => {
                if let Some(pooled) = pooled.take() {
                    pooled.release();
                }
            }
            _ => {}
        }
        Poll::Ready(polled)
    }
}

/// The body of a response whose status forbids content (RFC 9110 §15.3.5): it must be empty.
pub(super) struct NoContentBody(ResponseBody);

impl NoContentBody {
    pub(super) const fn new(body: ResponseBody) -> Self {
        Self(body)
    }
}

impl ByteSource for NoContentBody {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            match ready!(Pin::new(&mut self.0).poll_chunk(cx)) {
                Some(Ok(bytes)) if bytes.is_empty() => {}
                Some(Ok(_)) => {
                    let detail = "a 204 response with content";
                    let error = Error::new(Code::PeerMisbehaved, Phase::Body, detail);
                    return Poll::Ready(Some(Err(error.with_invalid_body())));
                }
                other => return Poll::Ready(other),
            }
        }
    }
}
