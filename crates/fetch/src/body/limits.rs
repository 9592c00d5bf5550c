//! The limits of one body: size, total time, idle timeout and rate.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fetch_url_core::Url;
use tokio::time::{Instant, Sleep, sleep_until};

use super::rate::{RateLimiter, SharedRate};
use crate::net::connection_info::ConnectionInfo;
use crate::{Deadline, Error, Limits};

/// The caller's limits and the idle timeout, which is armed while the source has no data. They also name the URL in errors.
#[derive(Debug)]
pub(crate) struct BodyLimits {
    pub(crate) limits: Limits,
    deadline: Deadline,
    connection_info: ConnectionInfo,
    /// Bytes of the request body that were sent before the response.
    sent_before: u64,
    idle_timer: Option<Pin<Box<Sleep>>>,
    /// The idle timeout has expired, and the source is polled once more.
    is_expired: bool,
    /// The rate limit of the fetcher.
    max_rate: Option<Arc<SharedRate>>,
    /// `None` if neither a rate limit nor a minimum rate is set.
    rate: Option<Box<RateLimiter>>,
    /// The URL of the response.
    url: Option<Arc<Url<'static>>>,
}

impl Clone for BodyLimits {
    fn clone(&self) -> Self {
        let limits = Self::new(self.limits, self.max_rate.as_ref(), self.deadline, &self.connection_info);
        Self { url: self.url.clone(), ..limits }
    }
}

impl BodyLimits {
    /// Creates the limits of one body. `connection_info` records when bytes were last received, because
    /// received bytes do not always produce a chunk at once.
    pub(crate) fn new(
        limits: Limits,
        max_rate: Option<&Arc<SharedRate>>,
        deadline: Deadline,
        connection_info: &ConnectionInfo,
    ) -> Self {
        let rate = RateLimiter::new(&limits, max_rate.cloned()).map(Box::new);
        let (max_rate, connection_info) = (max_rate.cloned(), connection_info.clone());
        let sent_before = if rate.is_some() { connection_info.snapshot().sent_bytes } else { 0 };
        Self {
            limits,
            deadline,
            connection_info,
            sent_before,
            idle_timer: None,
            is_expired: false,
            max_rate,
            rate,
            url: None,
        }
    }

    /// Sets the URL of the response.
    pub(crate) fn of_url(mut self, url: &Url<'static>) -> Self {
        self.url = Some(Arc::new(url.clone()));
        self
    }

    /// Adds the URL of the response to `error`, unless it has one.
    pub(crate) fn name_url(&self, error: Error) -> Error {
        match &self.url {
            Some(url) => error.with_url(url),
            None => error,
        }
    }

    /// Returns `true` if an end that the protocol does not prove is an error.
    pub(crate) const fn requires_proof(&self) -> bool {
        self.limits.requires_proof
    }

    /// Returns the deadline of the request.
    pub(crate) const fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Disarms the idle timeout after data arrived.
    ///
    /// # Errors
    /// `Code::TimedOut` if the total time is over.
    pub(crate) fn check_deadline(&mut self) -> Result<(), Error> {
        (self.idle_timer, self.is_expired) = (None, false);
        self.deadline.check()
    }

    /// Returns `Ready` when the rate limit allows the next chunk.
    ///
    /// # Errors
    /// `Code::TimedOut` if the total time is over, or the transfer is slower than the minimum rate.
    pub(crate) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Some(rate) = &mut self.rate else { return Poll::Ready(Ok(())) };
        if rate.poll_ready(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        rate.record_sent(sent_since(&self.connection_info, self.sent_before));
        match (self.deadline.check(), rate.poll_too_slow(cx)) {
            (Err(error), _) | (Ok(()), Poll::Ready(error)) => Poll::Ready(Err(error)),
            (Ok(()), Poll::Pending) => Poll::Pending,
        }
    }

    /// Records the receipt of `bytes` bytes.
    pub(crate) fn record(&mut self, bytes: usize) {
        if let Some(rate) = &mut self.rate {
            rate.record(bytes);
        }
    }

    /// Returns `true` if a rate limit or a minimum rate is set.
    pub(crate) const fn is_rate_limited(&self) -> bool {
        self.rate.is_some()
    }

    /// Returns `Ready` when no data arrived within the idle timeout, or the transfer is slower than the
    /// minimum rate. After the idle timeout the source is polled once more: it may end because of the timeout
    /// ([`IdleEnd`](crate::time::idle_end::IdleEnd)).
    pub(crate) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        if let Some(rate) = &mut self.rate {
            rate.record_sent(sent_since(&self.connection_info, self.sent_before));
            if let Poll::Ready(error) = rate.poll_too_slow(cx) {
                return Poll::Ready(error);
            }
        }
        loop {
            if !self.is_expired {
                ready!(self.poll_idle_timer(cx));
            }
            match self.idle_end_after_progress() {
                Some(until) => {
                    (self.idle_timer, self.is_expired) = (Some(Box::pin(sleep_until(until))), false)
                }
                None if self.is_expired => return Poll::Ready(self.deadline.idle_error()),
                None => {
                    self.is_expired = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
    }

    /// Returns `Ready` when the idle timer has expired, unless the process did not run at that moment.
    fn poll_idle_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline;
        loop {
            let arm = || Box::pin(sleep_until(deadline.idle_end(Instant::now())));
            let timer = self.idle_timer.get_or_insert_with(arm);
            let end = timer.deadline();
            ready!(timer.as_mut().poll(cx));
            self.idle_timer = None;
            if !deadline.may_restart_idle_timeout(end) {
                return Poll::Ready(());
            }
        }
    }

    /// Returns the end of the idle timeout, counted from the last byte received or sent, or `None` if it is over.
    fn idle_end_after_progress(&self) -> Option<Instant> {
        let record = self.connection_info.snapshot();
        let last_progress = record.last_received.max(record.last_sent)?;
        Some(self.deadline.idle_end(last_progress)).filter(|until| *until > Instant::now())
    }
}

/// Returns the number of bytes of the request body that were sent after the first `before` bytes.
fn sent_since(connection_info: &ConnectionInfo, before: u64) -> u64 {
    connection_info.snapshot().sent_bytes.saturating_sub(before)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;
    use crate::Timeouts;

    /// A source that ends one poll after the end of the idle timeout, as [`IdleEnd`](crate::time::idle_end::IdleEnd) may.
    #[tokio::test]
    async fn source_that_ends_with_the_idle_timeout_does_not_fail() {
        let idle = Duration::from_millis(20);
        let deadline = Deadline::start(Timeouts { idle, ..Timeouts::default() });
        let mut limits = BodyLimits::new(Limits::default(), None, deadline, &ConnectionInfo::default());
        let end = Instant::now() + idle;
        let mut has_ended = false;
        let result = poll_fn(|cx| {
            if std::mem::replace(&mut has_ended, Instant::now() >= end) {
                return Poll::Ready(None);
            }
            limits.poll_expired(cx).map(Some)
        });
        assert!(result.await.is_none(), "the source was not polled again");
        let stalled = poll_fn(|cx| limits.poll_expired(cx)).await;
        assert_eq!(stalled.code(), crate::Code::TimedOut);
    }
}
