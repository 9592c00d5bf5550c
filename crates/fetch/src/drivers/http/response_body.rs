//! The body of a response, from either transport.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;

use super::connection_pool::PooledConnection;
use super::exchange::SharedExchange;
use super::transport_error;
use super::upload::UploadProgress;
use crate::net::trace;
use crate::{ByteSource, Code, Error, Phase};

/// The body of a response. It ends only after the body of the request has been sent as well.
pub(super) struct ResponseBody {
    transport: Transport,
    /// The progress of the request body, if the response arrived before all of it was sent. A server that accepts the
    /// request reads its body to the end.
    unsent: Option<UploadProgress>,
}

/// The body as the connection delivers it.
enum Transport {
    /// Over a direct connection, which returns to the pool at the end of the body.
    Direct {
        incoming: Incoming,
        pooled: Option<PooledConnection>,
        /// Over HTTP/2: the progress of the request body.
        http2_upload: Option<UploadProgress>,
    },
    /// Over a direct HTTP/1 connection, as received: without decoding the transfer coding. `incoming` finds the end.
    Raw { incoming: Incoming, pooled: PooledConnection },
    /// Through a SOCKS proxy, over HTTP/1.
    Proxied(reqwest::Body),
}

impl ResponseBody {
    /// Returns the body of a response over `pooled`.
    pub(super) fn direct(
        incoming: Incoming,
        pooled: PooledConnection,
        http2_upload: Option<UploadProgress>,
        unsent: Option<UploadProgress>,
    ) -> Self {
        let transport = Transport::Direct { incoming, pooled: Some(pooled), http2_upload };
        let mut body = Self { transport, unsent };
        body.release_at_end();
        body
    }

    /// Returns the undecoded body of a response over `pooled`. An HTTP/2 body has no transfer coding.
    pub(super) fn raw(
        incoming: Incoming,
        pooled: PooledConnection,
        http2_upload: Option<UploadProgress>,
        unsent: Option<UploadProgress>,
    ) -> Self {
        match pooled.connection.exchange() {
            Some(_) => Self { transport: Transport::Raw { incoming, pooled }, unsent },
            None => Self::direct(incoming, pooled, http2_upload, unsent),
        }
    }

    /// Returns the body of a response that reqwest received.
    pub(super) const fn proxied(body: reqwest::Body) -> Self {
        Self { transport: Transport::Proxied(body), unsent: None }
    }

    /// Returns the connection to the pool if the body is at its end.
    fn release_at_end(&mut self) {
        if self.unsent.is_none()
            && let Transport::Direct { incoming, pooled, .. } = &mut self.transport
            && incoming.is_end_stream()
            && let Some(pooled) = pooled.take()
        {
            pooled.release();
        }
    }

    /// Returns `true` if an HTTP/2 stream ended without END_STREAM. hyper reports a reset with NO_ERROR as a normal
    /// end, but the body is incomplete (RFC 9113 §8.1), unless END_STREAM came before the reset: then the server only
    /// declines the rest of the request.
    fn was_reset(&self) -> bool {
        match &self.transport {
            Transport::Direct { incoming, http2_upload: Some(upload), .. } => {
                !incoming.is_end_stream() && !upload.is_declined()
            }
            Transport::Direct { http2_upload: None, .. } | Transport::Raw { .. } | Transport::Proxied(_) => {
                false
            }
        }
    }

    /// Returns the next bytes. At the end, waits until the body of the request is sent.
    fn poll_data_and_upload(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let polled = ready!(self.poll_data(cx));
        let Some(unsent) = self.unsent.as_ref().filter(|_| polled.is_none()) else {
            return Poll::Ready(polled);
        };
        let is_sent = ready!(unsent.poll_sent(cx));
        if unsent.is_declined() {
            trace::note(&"the server replied without reading the whole body of the request");
        }
        let lost = || unsent.read_failure().unwrap_or_else(incomplete_upload_error);
        let result = if is_sent { None } else { Some(Err(lost())) };
        self.unsent = None;
        Poll::Ready(result)
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let frame = match &mut self.transport {
                Transport::Direct { incoming, .. } | Transport::Raw { incoming, .. } => {
                    ready!(Pin::new(incoming).poll_frame(cx))
                        .map(|frame| frame.map_err(transport_error::body_error))
                }
                Transport::Proxied(body) => ready!(Pin::new(body).poll_frame(cx))
                    .map(|frame| frame.map_err(transport_error::body_error)),
            };
            if let Transport::Raw { pooled, .. } = &self.transport
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

fn incomplete_upload_error() -> Error {
    let detail = "the server replied and closed the connection before the whole body was sent to it";
    Error::new(Code::Truncated, Phase::Request, detail).as_permanent()
}

fn stream_reset_error() -> Error {
    Error::new(Code::Truncated, Phase::Body, "the HTTP/2 stream was reset before the end of the body")
}

impl ByteSource for ResponseBody {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let polled = ready!(self.poll_data_and_upload(cx));
        self.release_at_end();
        match (&polled, &mut self.transport) {
            // After an error, the connection is closed instead of reused.
            (Some(Err(_)), Transport::Direct { pooled, .. }) => *pooled = None,
            (None, Transport::Direct { pooled, .. }) => {
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
