//! The body of an answer, frame by frame, whichever road it came by.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;

use super::fault;
use super::pool::Lease;
use crate::{ByteSource, Code, Error, Phase};

/// The body of an answer.
pub(super) enum Frames {
    /// On a connection of our own, which is free when the body has ended.
    Direct { incoming: Incoming, lease: Option<Lease>, is_http2: bool },
    /// Through a proxy.
    Proxied { body: reqwest::Body, is_http2: bool },
}

impl Frames {
    pub(super) fn direct(incoming: Incoming, lease: Lease, is_http2: bool) -> Self {
        let mut frames = Self::Direct { incoming, lease: Some(lease), is_http2 };
        frames.free_at_end();
        frames
    }

    /// Gives the connection back once there is nothing more to read.
    fn free_at_end(&mut self) {
        if let Self::Direct { incoming, lease, .. } = self
            && incoming.is_end_stream()
            && let Some(lease) = lease.take()
        {
            lease.give_back();
        }
    }

    /// Whether an HTTP/2 stream ended without END_STREAM: a reset with NO_ERROR looks like an end, and
    /// is none (RFC 9113 §8.1).
    fn was_reset(&self) -> bool {
        match self {
            Self::Direct { incoming, is_http2, .. } => *is_http2 && !incoming.is_end_stream(),
            Self::Proxied { body, is_http2 } => *is_http2 && !body.is_end_stream(),
        }
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let frame = match self {
                Self::Direct { incoming, .. } => {
                    ready!(Pin::new(incoming).poll_frame(cx)).map(|frame| frame.map_err(fault::in_body))
                }
                Self::Proxied { body, .. } => {
                    ready!(Pin::new(body).poll_frame(cx)).map(|frame| frame.map_err(fault::in_body))
                }
            };
            match frame {
                None if self.was_reset() => return Poll::Ready(Some(Err(reset()))),
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                // Trailers are nobody's.
                Some(Ok(frame)) => {
                    if let Ok(octets) = frame.into_data() {
                        return Poll::Ready(Some(Ok(octets)));
                    }
                }
            }
        }
    }
}

fn reset() -> Error {
    Error::new(Code::Truncated, Phase::Body, "the stream was reset before its end")
}

impl ByteSource for Frames {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let polled = ready!(self.poll_data(cx));
        self.free_at_end();
        match (&polled, &mut *self) {
            // A broken connection is used by nobody again.
            (Some(Err(_)), Self::Direct { lease, .. }) => *lease = None,
            (None, Self::Direct { lease, .. }) => {
                if let Some(lease) = lease.take() {
                    lease.give_back();
                }
            }
            _ => {}
        }
        Poll::Ready(polled)
    }
}
