//! How fast octets may come, and how slowly.

use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use super::alarm::Alarm;
use crate::{Code, Error, Limits, Phase};

/// So long nobody sleeps without a look at the clocks.
const NAP: Duration = Duration::from_millis(200);
/// What was saved up by coming slowly is good for so long.
const SAVED: Duration = Duration::from_millis(200);

/// Keeps the pace of one body.
#[derive(Debug)]
pub(super) struct Pace {
    /// Octets a second, at most.
    most: Option<u64>,
    /// When more may come.
    free_at: Instant,
    nap: Alarm,
    slowest: Option<Slowest>,
}

/// Slower than this for so long is given up.
#[derive(Debug)]
struct Slowest {
    octets_a_second: u64,
    time: Duration,
    /// The time that is measured began then, and brought so much.
    begun: Instant,
    octets: u64,
    alarm: Alarm,
}

impl Pace {
    /// None where nobody minds.
    pub(super) fn of(limits: &Limits) -> Option<Self> {
        let now = Instant::now();
        let slowest = limits.min_rate.map(|slowest| Slowest {
            octets_a_second: slowest.octets_a_second,
            time: slowest.time,
            begun: now,
            octets: 0,
            alarm: Alarm::default(),
        });
        let is_any = limits.max_rate.is_some() || slowest.is_some();
        is_any.then(|| Self { most: limits.max_rate, free_at: now, nap: Alarm::default(), slowest })
    }

    /// Until more may come, or for a moment.
    pub(super) fn poll_free(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        if self.free_at <= now {
            return Poll::Ready(());
        }
        ready!(self.nap.poll_after(now, NAP.min(self.free_at - now), cx));
        if self.free_at > Instant::now() {
            // Whoever waits looks at the other clocks, and waits on.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// So many octets came.
    pub(super) fn came(&mut self, octets: usize) {
        if let Some(most) = self.most {
            let begun = self.free_at.max(Instant::now().checked_sub(SAVED).unwrap_or(self.free_at));
            // A rate of nothing would have no end.
            let cost = Duration::from_secs_f64(octets as f64 / most.max(1) as f64);
            self.free_at = begun.checked_add(cost).unwrap_or(begun);
        }
        if let Some(slowest) = &mut self.slowest {
            slowest.octets = slowest.octets.saturating_add(octets as u64);
        }
    }

    /// Ready when it has been too slow for too long.
    pub(super) fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let Some(slowest) = &mut self.slowest else { return Poll::Pending };
        loop {
            ready!(slowest.alarm.poll_after(slowest.begun, slowest.time, cx));
            let wanted = slowest.time.as_secs_f64() * slowest.octets_a_second as f64;
            if (slowest.octets as f64) < wanted {
                let (octets, time) = (slowest.octets_a_second, slowest.time.as_secs());
                let detail =
                    format!("while the body came: slower than {octets} octets a second for {time} s");
                return Poll::Ready(Error::new(Code::TimedOut, Phase::Body, detail));
            }
            (slowest.begun, slowest.octets) = (Instant::now(), 0);
        }
    }
}
