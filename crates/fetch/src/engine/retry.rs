//! Retries after transient errors, with exponential backoff.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use crate::Deadline;
use crate::time::Instant;
use crate::{Code, Error, Event, Phase, Request, Retry};

/// The wait before the first retry.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait, unless the server asks for a longer one.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The longest wait that a server may ask for; a longer one ends the retries.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);
/// The count of failures is reset to 0 after this many new bytes.
const RESET_AFTER_BYTES: u64 = 1024 * 1024;

/// The state of the retries of one request.
#[derive(Debug)]
pub(crate) struct RetryState {
    policy: Retry,
    started: Instant,
    failures: u32,
    /// The highest offset in bytes at which the transfer failed.
    offset: u64,
    total: u32,
}

impl RetryState {
    pub(crate) fn new(policy: Retry) -> Self {
        Self { policy, started: Instant::now(), failures: 0, offset: 0, total: 0 }
    }

    /// Returns the number of retries so far.
    pub(super) const fn retries(&self) -> u32 {
        self.total
    }

    /// Waits until `request` may be sent again after `error`.
    ///
    /// # Errors
    /// Returns `error` if it is permanent, if the number of retries, the time for retries or the total time is used up,
    /// or if the server asks for a wait of more than 10 minutes.
    pub(crate) async fn backoff(
        &mut self,
        request: &Request,
        error: Error,
        offset: u64,
        deadline: &Deadline,
    ) -> Result<(), Error> {
        if offset >= self.offset + RESET_AFTER_BYTES {
            self.failures = 0;
        }
        self.offset = self.offset.max(offset);
        if request.gives_up_after_refusal(&error, self.failures) {
            return Err(error);
        }
        let permit =
            request.host_permit().filter(|permit| error.code() == Code::Busy && permit.is_for(request.url()));
        let requested = error.retry_after().or(self.policy.delay).unwrap_or(FIRST_WAIT);
        // A wait beyond the limit must not delay the other requests to the host. If a busy host answers them, the count
        // of failures is reset to 0.
        let requested = if asks_for_too_long_a_wait(&error) { Duration::ZERO } else { requested };
        if permit.is_some_and(|permit| permit.record_busy(requested)) {
            self.failures = 0;
        }
        let Some(wait) = self.next_wait(&error, jitter(RandomState::new().hash_one(0))) else {
            return Err(if asks_for_too_long_a_wait(&error) {
                error.with_hint("the server asks for a wait of more than 10 minutes; try again later")
            } else {
                error
            });
        };
        if !deadline.has_time_for(wait) {
            return Err(error);
        }
        self.failures += 1;
        self.total += 1;
        let attempts = self.total;
        tracing::debug!(%error, ?wait, attempts, "retry");
        request.notify(&Event::Retry {
            url: &request.shown_url(),
            error: &error,
            wait,
            retries: attempts,
            offset,
        });
        match permit {
            Some(permit) => {
                let wait_for_host = async {
                    permit.released_while(tokio::time::sleep(wait)).await;
                    Ok(())
                };
                deadline.bound_total(Phase::Connect, wait_for_host).await
            }
            None => {
                tokio::time::sleep(wait).await;
                Ok(())
            }
        }
    }

    /// Returns the wait before the next retry, or `None` if the request is not retried. `jitter` is between 0.75 and
    /// 1.25, so that clients do not retry at the same moment.
    fn next_wait(&self, error: &Error, jitter: f64) -> Option<Duration> {
        let is_transient = error.is_transient() || (self.policy.all_errors && error.is_peer_error());
        if !is_transient || self.failures >= self.policy.max_retries {
            return None;
        }
        let backoff = self.policy.delay.unwrap_or_else(|| {
            let grown = FIRST_WAIT.saturating_mul(1 << self.failures.min(10)).min(MAX_WAIT);
            grown.mul_f64(jitter)
        });
        let requested = error.retry_after().unwrap_or_default();
        let wait = backoff.max(requested);
        let is_in_time =
            self.policy.max_time.is_none_or(|max| self.started.elapsed().saturating_add(wait) <= max);
        (is_in_time && !asks_for_too_long_a_wait(error)).then_some(wait)
    }
}

/// Returns `true` if the server asks for a wait of more than 10 minutes.
fn asks_for_too_long_a_wait(error: &Error) -> bool {
    error.retry_after().is_some_and(|wait| wait > MAX_RETRY_AFTER)
}

/// Returns a factor from 0.75 to 1.25 made of random bits.
fn jitter(bits: u64) -> f64 {
    0.75 + f64::from(u16::try_from(bits & 0xffff).unwrap_or(0)) / f64::from(u16::MAX) / 2.0
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Timeouts;
    use crate::engine::host_limiter::HostLimiter;

    fn error(code: Code) -> Error {
        Error::new(code, Phase::Request, "")
    }

    fn waits(policy: Retry, error: &Error) -> Vec<u64> {
        let mut state = RetryState::new(policy);
        let mut waits = Vec::new();
        while let Some(wait) = state.next_wait(error, 1.0) {
            waits.push(wait.as_secs());
            state.failures += 1;
        }
        waits
    }

    #[test]
    fn waits_double_up_to_60_seconds_and_end_at_the_limit() {
        assert_eq!(waits(Retry::default(), &error(Code::Busy)), [1, 2, 4]);
        let many = Retry { max_retries: 8, ..Retry::default() };
        assert_eq!(waits(many, &error(Code::ConnectFailed)), [1, 2, 4, 8, 16, 32, 60, 60]);
        let fixed = Retry { max_retries: 2, delay: Some(Duration::from_secs(7)), ..Retry::default() };
        assert_eq!(waits(fixed, &error(Code::Busy)), [7, 7]);
        assert!(waits(Retry::never(), &error(Code::Busy)).is_empty());
    }

    #[tokio::test]
    async fn only_busy_replies_of_the_host_of_the_permit_restore_the_retries() {
        let url = |text: &str| fetch_url_core::parse(text).expect("a URL").into_owned().url;
        let policy = Retry { max_retries: 1, delay: Some(Duration::ZERO), ..Retry::default() };
        for (code, text, is_restored) in [
            (Code::Busy, "http://h/a", true),
            (Code::Busy, "http://elsewhere/a", false),
            (Code::ConnectFailed, "http://h/a", false),
        ] {
            let limiter = HostLimiter::new(2);
            let permit = Arc::new(limiter.acquire(&url("http://h/a")).await.expect("a permit"));
            let other = limiter.acquire(&url("http://h/b")).await.expect("a permit");
            let request = Request::new(text).expect("a URL").with_permit(Some(permit));
            let (mut state, deadline) = (RetryState::new(policy), Deadline::start(Timeouts::default()));
            let answered = async move { other.record_response() };
            let (first, ()) = tokio::join!(state.backoff(&request, error(code), 0, &deadline), answered);
            first.expect("one retry");
            let second = state.backoff(&request, error(code), 0, &deadline).await;
            assert_eq!(second.is_ok(), is_restored, "{code:?} {text}");
        }
    }

    #[test]
    fn permanent_errors_are_not_retried() {
        for code in [Code::NotFound, Code::Policy, Code::TlsFailed, Code::AuthNeeded, Code::PeerMisbehaved] {
            assert!(waits(Retry::default(), &error(code)).is_empty(), "{code:?}");
        }
        let all = Retry { all_errors: true, ..Retry::default() };
        assert_eq!(waits(all, &error(Code::PeerMisbehaved)).len(), 3);
        for code in [Code::BadUrl, Code::Usage, Code::SinkFailed, Code::Policy, Code::ForbiddenByte] {
            assert!(waits(all, &error(code)).is_empty(), "{code:?}");
        }
    }

    #[test]
    fn retry_after_is_honoured_up_to_10_minutes() {
        let busy = |seconds| error(Code::Busy).with_retry_after(Some(Duration::from_secs(seconds)));
        assert_eq!(waits(Retry::default(), &busy(3)), [3, 3, 4]);
        assert!(waits(Retry::default(), &busy(601)).is_empty());
        let short = Retry { max_time: Some(Duration::from_secs(2)), ..Retry::default() };
        assert!(waits(short, &busy(3)).is_empty());
    }

    #[test]
    fn jitter_is_between_0_75_and_1_25() {
        assert!((jitter(0) - 0.75).abs() < 1e-9 && (jitter(u64::MAX) - 1.25).abs() < 1e-9);
    }
}
