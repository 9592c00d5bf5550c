//! The body of an answer, frame by frame, whichever road it came by.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;

use super::fault;
use super::pool::Lease;
use crate::{ByteSource, Error};

/// The body of an answer.
pub(super) enum Frames {
    /// On a connection of our own, which is free when the body has ended.
    Direct { incoming: Incoming, lease: Option<Lease> },
    /// Through a proxy.
    Proxied(reqwest::Body),
}

impl Frames {
    pub(super) fn direct(incoming: Incoming, lease: Lease) -> Self {
        let mut frames = Self::Direct { incoming, lease: Some(lease) };
        frames.free_at_end();
        frames
    }

    /// Gives the connection back once there is nothing more to read.
    fn free_at_end(&mut self) {
        if let Self::Direct { incoming, lease } = self
            && incoming.is_end_stream()
            && let Some(lease) = lease.take()
        {
            lease.give_back();
        }
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let frame = match self {
                Self::Direct { incoming, .. } => {
                    ready!(Pin::new(incoming).poll_frame(cx)).map(|frame| frame.map_err(fault::in_body))
                }
                Self::Proxied(body) => {
                    ready!(Pin::new(body).poll_frame(cx)).map(|frame| frame.map_err(fault::in_body))
                }
            };
            match frame {
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
