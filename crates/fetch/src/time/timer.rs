//! A timer for sending a datagram again and for rate limits.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep_until};

/// A timer that becomes ready once, at the moment given in the last call.
#[derive(Debug, Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// Returns `Ready` at `then` plus `span`. Stays pending if that moment cannot be represented.
    pub(crate) fn poll_after(&mut self, then: Instant, span: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let Some(moment) = then.checked_add(span) else { return Poll::Pending };
        let moment = tokio::time::Instant::from_std(moment);
        if self.0.as_ref().is_none_or(|sleep| sleep.deadline() != moment) {
            self.0 = Some(Box::pin(sleep_until(moment)));
        }
        if let Some(sleep) = &mut self.0 {
            ready!(sleep.as_mut().poll(cx));
        }
        self.0 = None;
        Poll::Ready(())
    }
}
