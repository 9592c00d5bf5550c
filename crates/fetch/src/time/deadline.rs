//! The timeouts of one request: the limit of each phase and the total time.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::suspension::is_suspension;
use crate::{Code, Error, Phase, Timeouts};

/// Maximum time of [`Deadline::try_briefly`].
const BRIEF_WAIT: Duration = Duration::from_millis(50);
/// Additional time for clean-up after the total time is over.
const CLEAN_UP_TIME: Duration = Duration::from_secs(1);

/// The timeouts of a request, counted from its start.
///
/// A driver wraps each wait in [`Deadline::bound`], which picks the timeout of the phase; the total time
/// (`Timeouts::total`) always applies as well.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    timeouts: Timeouts,
    end: Option<Instant>,
    connect_end: Option<Instant>,
}

impl Deadline {
    /// Starts the total time now.
    pub(crate) fn start(timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            end: timeouts.total.and_then(|total| Instant::now().checked_add(total)),
            connect_end: None,
        }
    }

    /// Returns a deadline under which the DNS lookup, the connection and the TLS handshake share one connect
    /// timeout, counted from now.
    #[must_use]
    pub fn connecting(mut self) -> Self {
        self.connect_end = self.connect_end.or_else(|| Instant::now().checked_add(self.timeouts.connect));
        self
    }

    /// Returns a deadline that also limits the total time of all commands to twice the reply timeout, so that
    /// a server cannot delay each reply until just before its timeout.
    pub(crate) fn with_double_reply_timeout(mut self) -> Self {
        let commands_end = Instant::now().checked_add(self.timeouts.reply.saturating_mul(2));
        self.end = match (self.end, commands_end) {
            (Some(end), Some(commands_end)) => Some(end.min(commands_end)),
            (end, commands_end) => end.or(commands_end),
        };
        self
    }

    /// Waits for `work` up to the timeout of `phase` or the end of the total time, whichever comes first.
    ///
    /// # Errors
    /// `Code::TimedOut`, naming the phase; the errors of `work`.
    pub async fn bound<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let (allowed, until) = match phase {
            Phase::Resolve | Phase::Connect | Phase::Tls | Phase::Proxy => {
                (self.timeouts.connect, self.connect_end)
            }
            Phase::Body => (self.timeouts.idle, None),
            _ => (self.timeouts.reply, None),
        };
        // Pinned here, because moving a future copies it. The same applies below.
        self.bound_to(phase, allowed, until, pin!(work)).await
    }

    /// Waits for a reply until nothing has happened for the reply timeout. `last_progress` returns when the exchange last
    /// advanced, if it has: a large request or reply may take longer than the timeout.
    ///
    /// # Errors
    /// As for [`Deadline::bound`].
    pub(crate) async fn bound_reply<T>(
        &self,
        last_progress: impl Fn() -> Option<Instant>,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let (allowed, started) = (self.timeouts.reply, Instant::now());
        let last_progress = || last_progress().map_or(started, |at| started.max(at));
        // An error of `work` is not one of its timeout.
        let mut work = pin!(async { Ok(work.await) });
        loop {
            let since = last_progress();
            match self.bound_to(Phase::Reply, allowed, since.checked_add(allowed), work.as_mut()).await {
                Err(_) if last_progress() > since && self.check().is_ok() => {}
                result => return result?,
            }
        }
    }

    /// Waits for `work` until the total time is over.
    ///
    /// # Errors
    /// As for [`Deadline::bound`].
    pub async fn bound_total<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match self.end {
            Some(_) => self.bound_to(phase, Duration::MAX / 4, None, pin!(work)).await,
            None => work.await,
        }
    }

    /// Waits for `work`, which checks the total time by itself, for one second longer than the total time, so that
    /// it can clean up.
    ///
    /// # Errors
    /// As for [`Deadline::bound`].
    pub(crate) async fn bound_with_clean_up<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let late = self.end.and_then(|end| end.checked_add(CLEAN_UP_TIME));
        Self { end: late, ..*self }.bound_total(phase, pin!(work)).await
    }

    async fn bound_to<T>(
        &self,
        phase: Phase,
        allowed: Duration,
        limit: Option<Instant>,
        mut work: Pin<&mut impl Future<Output = Result<T, Error>>>,
    ) -> Result<T, Error> {
        let mut limit = limit;
        loop {
            let (until, is_total) = self.earliest_end(limit.or_else(|| Instant::now().checked_add(allowed)));
            match timeout_at(until, work.as_mut()).await {
                Ok(result) => return result,
                // The total time includes the time in which the process did not run.
                Err(_) if !is_total && is_suspension(until.elapsed()) => limit = None,
                Err(_) => return Err(self.timeout_error(phase, allowed, is_total)),
            }
        }
    }

    /// Waits for `work` up to twice the reply timeout, for servers that announce a delay.
    ///
    /// # Errors
    /// As for [`Deadline::bound`].
    pub(crate) async fn bound_double_reply<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.bound_to(phase, self.reply_timeout().saturating_mul(2), None, pin!(work)).await
    }

    /// Returns the timeout of a reply.
    pub(crate) const fn reply_timeout(&self) -> Duration {
        self.timeouts.reply
    }

    /// Returns the timeout for opening a connection.
    pub const fn connect_timeout(&self) -> Duration {
        self.timeouts.connect
    }

    /// Returns the moment at which a body without data since `then` fails.
    pub(crate) fn idle_end(&self, then: Instant) -> Instant {
        self.earliest_end(then.checked_add(self.timeouts.idle)).0
    }

    /// Returns the result of `work`, or `None` if it takes longer than 50 ms.
    pub(crate) async fn try_briefly<T>(work: impl Future<Output = T>) -> Option<T> {
        timeout(BRIEF_WAIT, work).await.ok()
    }

    /// Returns the reply to a command that the server may not implement, or `None` if the server did not
    /// reply within `probe_time` or half the reply timeout, whichever is shorter. The caller should then try
    /// another command.
    ///
    /// # Errors
    /// `Code::TimedOut` if the total time is over; the errors of `work`.
    pub(crate) async fn bound_probe<T>(
        &self,
        probe_time: Duration,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<Option<T>, Error> {
        let limit = probe_time.min(self.timeouts.reply / 2);
        match timeout(limit, self.bound(phase, pin!(work))).await {
            Ok(result) => result.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Returns `true` if a wait of `time` ends before the total time does.
    pub(crate) fn has_time_for(&self, time: Duration) -> bool {
        self.end.is_none_or(|end| Instant::now().checked_add(time).is_some_and(|until| until < end))
    }

    /// Returns `true` if the idle timeout must start again, because the process did not run when it expired at `then`. The
    /// total time includes the time in which the process did not run.
    pub(crate) fn may_restart_idle_timeout(&self, then: Instant) -> bool {
        is_suspension(then.elapsed()) && self.check().is_ok()
    }

    /// Returns the error for a body without data: idle timeout or total time.
    pub(crate) fn idle_error(&self) -> Error {
        let is_total = self.end.is_some_and(|end| end <= Instant::now());
        self.timeout_error(Phase::Body, self.timeouts.idle, is_total)
    }

    /// Checks the total time.
    ///
    /// # Errors
    /// `Code::TimedOut` if the total time is over.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.end {
            Some(end) if end <= Instant::now() => Err(self.timeout_error(Phase::Body, Duration::ZERO, true)),
            _ => Ok(()),
        }
    }

    fn earliest_end(&self, limit: Option<Instant>) -> (Instant, bool) {
        match (self.end, limit) {
            (Some(end), Some(limit)) if end >= limit => (limit, false),
            (Some(end), _) => (end, true),
            (None, Some(limit)) => (limit, false),
            // Without a limit, or with one that the clock cannot represent, one year is used.
            (None, None) => (Instant::now() + Duration::from_secs(31_536_000), false),
        }
    }

    fn timeout_error(&self, phase: Phase, allowed: Duration, is_total: bool) -> Error {
        let action = match phase {
            Phase::Resolve => "resolving the host name",
            Phase::Connect => "connecting",
            Phase::Tls | Phase::Certificate => "in the TLS handshake",
            Phase::Proxy => "connecting through the proxy",
            Phase::Body => "receiving the body",
            _ => "waiting for the response",
        };
        let detail = match self.timeouts.total.filter(|_| is_total) {
            Some(total) => format!("{action}, the maximum time of {} has expired", seconds(total)),
            None if phase == Phase::Body => format!("{action}: no data for {}", seconds(allowed)),
            None => format!("{action}, after {}", seconds(allowed)),
        };
        Error::new(Code::TimedOut, phase, detail)
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Waits for a reply that never arrives. The request advances at these times, in tenths of a second.
    async fn time_of_timeout(timeouts: Timeouts, progress: &[u64]) -> Duration {
        let started = Instant::now();
        let last = Cell::new(started);
        let request = async {
            for tenths in progress {
                tokio::time::sleep_until(started + Duration::from_millis(tenths * 100)).await;
                last.set(Instant::now());
            }
            std::future::pending::<Result<(), Error>>().await
        };
        let result = Deadline::start(timeouts).bound_reply(|| Some(last.get()), request).await;
        assert_eq!(result.expect_err("a timeout").code(), Code::TimedOut);
        started.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn reply_timeout_counts_from_the_last_progress() {
        let mut timeouts = Timeouts { reply: Duration::from_secs(1), ..Timeouts::default() };
        for (progress, tenths) in [(&[][..], 10), (&[7], 17), (&[9, 18, 27], 37), (&[9, 30], 19)] {
            let timeout = time_of_timeout(timeouts, progress).await;
            assert_eq!(timeout.as_millis() / 100, tenths, "{progress:?}");
        }
        timeouts.total = Some(Duration::from_secs(2));
        assert_eq!(time_of_timeout(timeouts, &[9, 18, 27]).await.as_millis() / 100, 20);
    }

    /// The work has ended, so it is not polled again.
    #[tokio::test(start_paused = true)]
    async fn timeout_of_the_work_itself_is_returned() {
        let last = Cell::new(Instant::now());
        let work = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            last.set(Instant::now());
            Err::<(), _>(Error::new(Code::TimedOut, Phase::Connect, "elsewhere"))
        };
        let result = Deadline::start(Timeouts::default()).bound_reply(|| Some(last.get()), work).await;
        assert_eq!(result.expect_err("the error of the work").phase(), Phase::Connect);
    }
}
