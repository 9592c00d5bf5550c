//! The rate limit and the minimum rate of a body.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::time::Instant;
use crate::time::suspension::is_suspension;
use crate::time::timer::Timer;
use crate::{Code, Error, Limits, Phase};

/// The longest sleep before the deadlines are checked again.
const MAX_SLEEP: Duration = Duration::from_millis(200);
/// Unused rate allowance is kept for this time, so that a short burst may exceed the limit.
const MAX_BURST: Duration = Duration::from_millis(200);

/// The sleep of a transfer that waits for another one that has received fewer bytes.
const TURN_SLEEP: Duration = Duration::from_millis(5);
/// A transfer that has not polled for this time does not count as waiting, such as one whose file is being written.
const MAX_WAIT_AGE: Duration = Duration::from_secs(1);

/// The rate limit of a fetcher, which its transfers share. The transfer that has received the least goes first
/// (start-time fair queuing): chunks of FTP are many times as large as those of HTTP.
#[derive(Debug)]
pub(crate) struct SharedRate {
    /// In bytes per second.
    max_rate: u64,
    state: Mutex<SharedState>,
}

#[derive(Debug)]
struct SharedState {
    /// The moment from which the next chunk may be read.
    ready_at: Instant,
    /// The bytes that the last transfer had received before its last chunk. A new transfer starts with them.
    floor: u64,
    /// The transfers that wait.
    waiting: Vec<Waiter>,
    next_id: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    received: u64,
    asked: Instant,
}

impl SharedRate {
    /// Returns the rate limit of `limits`, or `None` if there is none or it is 0.
    pub(crate) fn from_limits(limits: &Limits) -> Option<Arc<Self>> {
        limits.max_rate.filter(|max_rate| *max_rate > 0).map(|max_rate| Arc::new(Self::new(max_rate)))
    }

    fn new(max_rate: u64) -> Self {
        let state = SharedState { ready_at: Instant::now(), floor: 0, waiting: Vec::new(), next_id: 0 };
        Self { max_rate, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, SharedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedState {
    /// Returns how long a transfer must wait for its next chunk; `None` if it may be read now.
    fn wait_of(&mut self, id: u64, received: u64, now: Instant) -> Option<Duration> {
        self.waiting.retain(|waiter| waiter.id != id && now.duration_since(waiter.asked) < MAX_WAIT_AGE);
        let is_first = self.waiting.iter().all(|waiter| waiter.received >= received);
        if is_first && self.ready_at <= now {
            return None;
        }
        self.waiting.push(Waiter { id, received, asked: now });
        let wait = self.ready_at.saturating_duration_since(now);
        Some(if is_first { wait } else { wait.max(TURN_SLEEP) })
    }

    fn record(&mut self, cost: Duration) {
        let start =
            Instant::now().checked_sub(MAX_BURST).map_or(self.ready_at, |burst| burst.max(self.ready_at));
        self.ready_at = start.checked_add(cost).unwrap_or(start);
    }
}

/// The share of one transfer in the rate limit.
#[derive(Debug)]
struct Share {
    rate: Arc<SharedRate>,
    id: u64,
    /// The bytes that count for the order of the transfers.
    received: u64,
}

impl Share {
    fn new(rate: Arc<SharedRate>) -> Self {
        let mut state = rate.lock();
        let (id, received) = (state.next_id, state.floor);
        state.next_id += 1;
        drop(state);
        Self { rate, id, received }
    }

    fn wait(&self, now: Instant) -> Option<Duration> {
        self.rate.lock().wait_of(self.id, self.received, now)
    }

    fn record(&mut self, bytes: usize) {
        let cost = Duration::from_secs_f64(bytes as f64 / self.rate.max_rate as f64);
        let mut state = self.rate.lock();
        state.record(cost);
        // A transfer that was slow for a while does not catch up at the expense of the others.
        self.received = self.received.max(state.floor);
        state.floor = self.received;
        self.received = self.received.saturating_add(bytes as u64);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.rate.lock().waiting.retain(|waiter| waiter.id != self.id);
    }
}

/// Delays chunks so that the transfers stay below the rate limit, and reports a transfer below the minimum
/// rate.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    share: Option<Share>,
    timer: Timer,
    min_rate: Option<MinRateCheck>,
}

/// The minimum rate, measured over intervals of `time`.
#[derive(Debug)]
pub(crate) struct MinRateCheck {
    bytes_per_second: u64,
    time: Duration,
    started: Instant,
    /// Bytes that were sent and received in the current interval, which began at `started`.
    interval_bytes: u64,
    /// The total of the last call of [`Self::record_total`].
    total: u64,
    timer: Timer,
}

impl MinRateCheck {
    /// Starts the first interval. Returns `None` if there is no minimum rate, or if its time is 0.
    pub(crate) fn start(limits: &Limits) -> Option<Self> {
        let min_rate = limits.min_rate.filter(|min_rate| !min_rate.time.is_zero())?;
        Some(Self {
            bytes_per_second: min_rate.bytes_per_second,
            time: min_rate.time,
            started: Instant::now(),
            interval_bytes: 0,
            total: 0,
            timer: Timer::default(),
        })
    }

    /// Records bytes that were sent or received.
    fn record(&mut self, bytes: u64) {
        self.interval_bytes = self.interval_bytes.saturating_add(bytes);
    }

    /// Records the bytes by which `total`, a number of bytes since the start, has grown since the last call.
    pub(crate) fn record_total(&mut self, total: u64) {
        self.record(total.saturating_sub(self.total));
        self.total = total;
    }

    /// Returns `Ready` with `Code::TimedOut` when an interval had fewer bytes than the minimum rate requires.
    pub(crate) fn poll_too_slow(&mut self, phase: Phase, cx: &mut Context<'_>) -> Poll<Error> {
        loop {
            ready!(self.timer.poll_after(self.started, self.time, cx));
            let wanted = self.time.as_secs_f64() * self.bytes_per_second as f64;
            let delay = self.started.elapsed().saturating_sub(self.time);
            if (self.interval_bytes as f64) < wanted && !is_suspension(delay) {
                let (rate, time) = (self.bytes_per_second, self.time.as_secs_f64());
                let detail = format!("the transfer was slower than {rate} bytes per second for {time} s");
                return Poll::Ready(Error::new(Code::TimedOut, phase, detail));
            }
            (self.started, self.interval_bytes) = (Instant::now(), 0);
        }
    }
}

impl RateLimiter {
    /// Returns `None` if there is neither a rate limit nor a minimum rate over a time greater than 0.
    pub(crate) fn new(limits: &Limits, max_rate: Option<Arc<SharedRate>>) -> Option<Self> {
        let min_rate = MinRateCheck::start(limits);
        let is_any = max_rate.is_some() || min_rate.is_some();
        is_any.then(|| Self { share: max_rate.map(Share::new), timer: Timer::default(), min_rate })
    }

    /// Returns `Ready` when the rate limit allows more bytes. Wakes the task at least every [`MAX_SLEEP`].
    pub(crate) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(share) = &self.share else { return Poll::Ready(()) };
        let now = Instant::now();
        let Some(wait) = share.wait(now) else { return Poll::Ready(()) };
        ready!(self.timer.poll_after(now, MAX_SLEEP.min(wait), cx));
        if share.wait(Instant::now()).is_some() {
            // The caller checks its deadlines and polls again.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Records the receipt of `bytes` bytes.
    pub(crate) fn record(&mut self, bytes: usize) {
        if let Some(share) = &mut self.share {
            share.record(bytes);
        }
        if let Some(min_rate) = &mut self.min_rate {
            min_rate.record(bytes as u64);
        }
    }

    /// Records the total number of bytes of the request body that were sent meanwhile. They count for the minimum rate.
    pub(super) fn record_sent(&mut self, total: u64) {
        if let Some(min_rate) = &mut self.min_rate {
            min_rate.record_total(total);
        }
    }

    /// Returns `Ready` with `Code::TimedOut` when an interval had fewer bytes than the minimum rate requires.
    pub(super) fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let Some(min_rate) = &mut self.min_rate else { return Poll::Pending };
        min_rate.poll_too_slow(Phase::Body, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::MinRate;

    #[tokio::test]
    async fn rate_of_0_or_over_no_time_is_no_limit() {
        let mut limits = Limits { max_rate: Some(0), ..Limits::default() };
        assert!(SharedRate::from_limits(&limits).is_none());
        limits.min_rate = Some(MinRate { bytes_per_second: 10, time: Duration::ZERO });
        assert!(RateLimiter::new(&limits, None).is_none());
        limits.min_rate = Some(MinRate { bytes_per_second: 10, time: Duration::from_secs(1) });
        assert!(RateLimiter::new(&limits, None).is_some());
    }

    #[tokio::test]
    async fn sent_bytes_count_for_the_minimum_rate() {
        let min_rate = Some(MinRate { bytes_per_second: 1, time: Duration::from_millis(2) });
        let mut limiter =
            RateLimiter::new(&Limits { min_rate, ..Limits::default() }, None).expect("a limiter");
        let mut polls = 0;
        let sending = std::future::poll_fn(|cx| {
            polls += 1;
            limiter.record_sent(polls);
            match polls {
                10 => Poll::Ready(None),
                _ => limiter.poll_too_slow(cx).map(Some),
            }
        });
        assert!(sending.await.is_none(), "each interval has a byte");
        let idle = std::future::poll_fn(|cx| {
            limiter.record_sent(10);
            limiter.poll_too_slow(cx)
        });
        assert_eq!(idle.await.code(), Code::TimedOut);
    }

    /// Serves `chunks` chunks of the transfers, whose chunks have these sizes, and returns the bytes of each.
    fn serve<const N: usize>(chunks: usize, sizes: [usize; N]) -> [u64; N] {
        let rate = Arc::new(SharedRate::new(u64::MAX));
        let mut shares = sizes.map(|_| Share::new(rate.clone()));
        let mut received = sizes.map(|_| 0);
        let now = Instant::now();
        for _ in 0..chunks {
            rate.lock().ready_at = now + MAX_SLEEP;
            assert!(shares.iter().all(|share| share.wait(now).is_some()));
            rate.lock().ready_at = now;
            let turn = (0..N).find(|&index| shares[index].wait(now).is_none()).expect("one of them may read");
            shares[turn].record(sizes[turn]);
            received[turn] += sizes[turn] as u64;
        }
        received
    }

    #[test]
    fn transfers_share_the_rate_by_bytes_whatever_the_size_of_their_chunks() {
        let [ftp, http] = serve(1700, [256 * 1024, 16 * 1024]);
        assert!(ftp.abs_diff(http) <= 256 * 1024, "{ftp} {http}");
        let [first, second, third] = serve(999, [1000; 3]);
        assert!(first.abs_diff(second) <= 1000 && second.abs_diff(third) <= 1000, "{first} {second} {third}");
    }

    #[test]
    fn transfer_that_ended_or_asks_no_more_does_not_delay_the_others() {
        let rate = Arc::new(SharedRate::new(u64::MAX));
        let mut first = Share::new(rate.clone());
        let second = Share::new(rate.clone());
        first.record(1000);
        rate.lock().ready_at = Instant::now() + Duration::from_secs(60);
        assert!(second.wait(Instant::now()).is_some());
        rate.lock().ready_at = Instant::now();
        let now = Instant::now();
        assert!(first.wait(now).is_some(), "the second one has received less");
        assert!(first.wait(now + MAX_WAIT_AGE).is_none());
        drop(second);
        assert!(first.wait(now).is_none());
        // A new transfer does not get the bytes that the first one has received before.
        let third = Share::new(rate);
        assert!(third.received <= first.received && first.received - third.received <= 1000);
    }
}
