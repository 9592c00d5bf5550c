//! A timer for sending a datagram again, for rate limits and for a quiet period.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// A timer that becomes ready once, at the moment given in the last call.
#[derive(Debug, Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// Returns `Ready` at `then` plus `span`. Stays pending if that moment cannot be represented.
    pub(crate) fn poll_after(&mut self, then: Instant, span: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let Some(moment) = then.checked_add(span) else { return Poll::Pending };
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

/// A period in which nothing happens.
#[derive(Debug, Default)]
pub(crate) struct QuietPeriod {
    started: Option<Instant>,
    timer: Timer,
}

impl QuietPeriod {
    /// Returns `Ready` when `span` has passed since the first call after [`Self::restart`].
    pub(crate) fn poll_end(&mut self, span: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let started = *self.started.get_or_insert_with(Instant::now);
        self.timer.poll_after(started, span, cx)
    }

    /// Lets the period begin again at the next call of [`Self::poll_end`].
    pub(crate) const fn restart(&mut self) {
        self.started = None;
    }
}
