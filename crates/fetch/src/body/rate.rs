//! The rate limit and the minimum rate of a body.

use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crate::time::timer::Timer;
use crate::{Code, Error, Limits, Phase};

/// The longest sleep before the deadlines are checked again.
const MAX_SLEEP: Duration = Duration::from_millis(200);
/// Unused rate allowance is kept for this time, so that a short burst may exceed the limit.
const MAX_BURST: Duration = Duration::from_millis(200);

/// Delays the chunks of one body to the rate limit and reports a transfer below the minimum rate.
#[derive(Debug)]
pub(super) struct RateLimiter {
    /// The rate limit in bytes per second.
    max_rate: Option<u64>,
    /// The moment from which the next chunk may be read.
    ready_at: Instant,
    timer: Timer,
    min_rate: Option<MinRateCheck>,
}

/// The minimum rate, measured over intervals of `time`.
#[derive(Debug)]
struct MinRateCheck {
    bytes_per_second: u64,
    time: Duration,
    /// Start of the current interval, and the bytes received in it.
    started: Instant,
    received: u64,
    timer: Timer,
}

impl RateLimiter {
    /// Returns `None` if `limits` has neither a rate limit nor a minimum rate.
    pub(super) fn from_limits(limits: &Limits) -> Option<Self> {
        let now = Instant::now();
        let slowest = limits.min_rate.map(|slowest| MinRateCheck {
            bytes_per_second: slowest.bytes_per_second,
            time: slowest.time,
            started: now,
            received: 0,
            timer: Timer::default(),
        });
        let is_any = limits.max_rate.is_some() || slowest.is_some();
        is_any.then(|| Self {
            max_rate: limits.max_rate,
            ready_at: now,
            timer: Timer::default(),
            min_rate: slowest,
        })
    }

    /// Ready when the rate limit allows more. Wakes the task at least every [`MAX_SLEEP`].
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        if self.ready_at <= now {
            return Poll::Ready(());
        }
        ready!(self.timer.poll_after(now, MAX_SLEEP.min(self.ready_at - now), cx));
        if self.ready_at > Instant::now() {
            // The caller checks its deadlines and polls again.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Records the receipt of `bytes` bytes.
    pub(super) fn record(&mut self, bytes: usize) {
        if let Some(most) = self.max_rate {
            let begun = self.ready_at.max(Instant::now().checked_sub(MAX_BURST).unwrap_or(self.ready_at));
            // A limit of 0 would divide by zero.
            let cost = Duration::from_secs_f64(bytes as f64 / most.max(1) as f64);
            self.ready_at = begun.checked_add(cost).unwrap_or(begun);
        }
        if let Some(slowest) = &mut self.min_rate {
            slowest.received = slowest.received.saturating_add(bytes as u64);
        }
    }

    /// Ready with `Code::TimedOut` when an interval had fewer bytes than the minimum rate requires.
    pub(super) fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let Some(slowest) = &mut self.min_rate else { return Poll::Pending };
        loop {
            ready!(slowest.timer.poll_after(slowest.started, slowest.time, cx));
            let wanted = slowest.time.as_secs_f64() * slowest.bytes_per_second as f64;
            if (slowest.received as f64) < wanted {
                let (rate, time) = (slowest.bytes_per_second, slowest.time.as_secs());
                let detail = format!("while the body came: slower than {rate} bytes per second for {time} s");
                return Poll::Ready(Error::new(Code::TimedOut, Phase::Body, detail));
            }
            (slowest.started, slowest.received) = (Instant::now(), 0);
        }
    }
}
