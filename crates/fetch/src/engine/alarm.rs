//! A clock that rings: for what has to be said again when nothing is heard.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep_until};

/// Rings once at the moment that it was asked for last.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Ready so long after that moment, or later; never where that is beyond all time.
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
