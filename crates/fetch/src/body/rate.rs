//! The rate limit and the minimum rate of a body.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crate::time::suspension::is_suspension;
use crate::time::timer::Timer;
use crate::{Code, Error, Limits, Phase};

/// The longest sleep before the deadlines are checked again.
const MAX_SLEEP: Duration = Duration::from_millis(200);
/// Unused rate allowance is kept for this time, so that a short burst may exceed the limit.
const MAX_BURST: Duration = Duration::from_millis(200);

/// The rate limit of a fetcher, which its transfers share.
#[derive(Debug)]
pub(crate) struct SharedRate {
    /// In bytes per second.
    max_rate: u64,
    /// The moment from which the next chunk may be read.
    ready_at: Mutex<Instant>,
}

impl SharedRate {
    /// Returns `None` if `limits` has no rate limit.
    pub(crate) fn from_limits(limits: &Limits) -> Option<Arc<Self>> {
        let ready_at = Mutex::new(Instant::now());
        // A limit of 0 would divide by zero.
        limits.max_rate.map(|max_rate| Arc::new(Self { max_rate: max_rate.max(1), ready_at }))
    }

    fn ready_at(&self) -> Instant {
        *self.ready_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, bytes: usize) {
        let mut ready_at = self.ready_at.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now().checked_sub(MAX_BURST).map_or(*ready_at, |burst| burst.max(*ready_at));
        let cost = Duration::from_secs_f64(bytes as f64 / self.max_rate as f64);
        *ready_at = start.checked_add(cost).unwrap_or(start);
    }
}

/// Delays chunks so that the transfers stay below the rate limit, and reports a transfer below the minimum
/// rate.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    max_rate: Option<Arc<SharedRate>>,
    timer: Timer,
    min_rate: Option<MinRateCheck>,
}

/// The minimum rate, measured over intervals of `time`.
#[derive(Debug)]
struct MinRateCheck {
    bytes_per_second: u64,
    time: Duration,
    /// Start of the current interval; `received` counts the bytes since then.
    started: Instant,
    received: u64,
    timer: Timer,
}

impl RateLimiter {
    /// Returns `None` if there is neither a rate limit nor a minimum rate.
    pub(crate) fn new(limits: &Limits, max_rate: Option<Arc<SharedRate>>) -> Option<Self> {
        let now = Instant::now();
        let min_rate = limits.min_rate.map(|min_rate| MinRateCheck {
            bytes_per_second: min_rate.bytes_per_second,
            time: min_rate.time,
            started: now,
            received: 0,
            timer: Timer::default(),
        });
        let is_any = max_rate.is_some() || min_rate.is_some();
        is_any.then(|| Self { max_rate, timer: Timer::default(), min_rate })
    }

    /// Returns `Ready` when the rate limit allows more bytes. Wakes the task at least every [`MAX_SLEEP`].
    pub(crate) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(max_rate) = &self.max_rate else { return Poll::Ready(()) };
        let (now, ready_at) = (Instant::now(), max_rate.ready_at());
        if ready_at <= now {
            return Poll::Ready(());
        }
        ready!(self.timer.poll_after(now, MAX_SLEEP.min(ready_at - now), cx));
        if max_rate.ready_at() > Instant::now() {
            // The caller checks its deadlines and polls again.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Records the receipt of `bytes` bytes.
    pub(crate) fn record(&mut self, bytes: usize) {
        if let Some(max_rate) = &self.max_rate {
            max_rate.record(bytes);
        }
        if let Some(min_rate) = &mut self.min_rate {
            min_rate.received = min_rate.received.saturating_add(bytes as u64);
        }
    }

    /// Returns `Ready` with `Code::TimedOut` when an interval had fewer bytes than the minimum rate requires.
    pub(super) fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let Some(min_rate) = &mut self.min_rate else { return Poll::Pending };
        loop {
            ready!(min_rate.timer.poll_after(min_rate.started, min_rate.time, cx));
            let wanted = min_rate.time.as_secs_f64() * min_rate.bytes_per_second as f64;
            let delay = min_rate.started.elapsed().saturating_sub(min_rate.time);
            if (min_rate.received as f64) < wanted && !is_suspension(delay) {
                let (rate, time) = (min_rate.bytes_per_second, min_rate.time.as_secs());
                let detail = format!("the transfer was slower than {rate} bytes per second for {time} s");
                return Poll::Ready(Error::new(Code::TimedOut, Phase::Body, detail));
            }
            (min_rate.started, min_rate.received) = (Instant::now(), 0);
        }
    }
}
