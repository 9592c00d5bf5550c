//! The one clock: how long each phase may take, and how long everything may take.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use crate::{Code, Error, Phase, Timeouts};

/// So long is worth waiting for something that others could do too.
const MOMENT: Duration = Duration::from_millis(50);
/// So long it may take to leave things in order.
const ORDER: Duration = Duration::from_secs(1);
/// A peer that understands us answers within this.
const SOON: Duration = Duration::from_secs(3);

/// How long things may take, from the moment the request was made.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    timeouts: Timeouts,
    end: Option<Instant>,
    connect_end: Option<Instant>,
}

impl Deadline {
    pub(crate) fn start(timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            end: timeouts.total.and_then(|total| Instant::now().checked_add(total)),
            connect_end: None,
        }
    }

    /// The same, and from now on the look-up, the connection and TLS share the time to connect.
    #[must_use]
    pub fn connecting(mut self) -> Self {
        self.connect_end = self.connect_end.or_else(|| Instant::now().checked_add(self.timeouts.connect));
        self
    }

    /// The same, and from now on all that is said and heard before an answer begins shares the time of two
    /// replies: who answers each question in the last moment is as good as silent.
    pub(crate) fn talking(mut self) -> Self {
        let talk = Instant::now().checked_add(self.timeouts.reply.saturating_mul(2));
        self.end = match (self.end, talk) {
            (Some(end), Some(talk)) => Some(end.min(talk)),
            (end, talk) => end.or(talk),
        };
        self
    }

    /// Waits for `work`, as long as `phase` may take and no longer than everything may.
    ///
    /// # Errors
    /// `timed_out`, naming the phase; whatever `work` fails with.
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
        self.bound_to(phase, allowed, until, work).await
    }

    /// Waits for `work` as long as everything together may take.
    ///
    /// # Errors
    /// As for [`Deadline::bound`].
    pub async fn bound_total<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match self.end {
            Some(_) => self.bound_to(phase, Duration::MAX / 4, None, work).await,
            None => work.await,
        }
    }

    /// The same for work that notices by itself that the time is over: it is given a moment more to
    /// leave things in order.
    ///
    /// # Errors
    /// As for [`Deadline::bound`].
    pub(crate) async fn bound_late<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let late = self.end.and_then(|end| end.checked_add(ORDER));
        Self { end: late, ..*self }.bound_total(phase, work).await
    }

    async fn bound_to<T>(
        &self,
        phase: Phase,
        allowed: Duration,
        own: Option<Instant>,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let (until, is_total) = self.until(own.or_else(|| Instant::now().checked_add(allowed)));
        match timeout_at(until, work).await {
            Ok(result) => result,
            Err(_) => Err(self.expired(phase, allowed, is_total)),
        }
    }

    /// The same as long as two replies may take: a peer that asks for time gets it.
    ///
    /// # Errors
    /// As for [`Deadline::bound`].
    pub(crate) async fn bound_twice<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.bound_to(phase, self.reply_timeout().saturating_mul(2), None, work).await
    }

    /// How long a reply may take.
    pub(crate) const fn reply_timeout(&self) -> Duration {
        self.timeouts.reply
    }

    /// How long a connection may take to open.
    pub const fn connect_timeout(&self) -> Duration {
        self.timeouts.connect
    }

    /// When a body that has had nothing since `then` is given up.
    pub(crate) fn idle_until(&self, then: Instant) -> Instant {
        self.until(then.checked_add(self.timeouts.idle)).0
    }

    /// What `work` comes to within a moment; none when it would keep us waiting.
    pub(crate) async fn at_once<T>(work: impl Future<Output = T>) -> Option<T> {
        timeout(MOMENT, work).await.ok()
    }

    /// What a reply comes to that should be here soon, if the peer understands us; none when it is
    /// time to try otherwise, long before anything is given up.
    ///
    /// # Errors
    /// `timed_out`, when there is no time left at all; whatever `work` fails with.
    pub(crate) async fn soon<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<Option<T>, Error> {
        let soon = SOON.min(self.timeouts.reply / 2);
        match timeout(soon, self.bound(phase, work)).await {
            Ok(result) => result.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Whether a wait of `time` leaves some of the time for everything.
    pub(crate) fn allows(&self, time: Duration) -> bool {
        self.end.is_none_or(|end| Instant::now().checked_add(time).is_some_and(|until| until < end))
    }

    /// What giving up means.
    pub(crate) fn idle_error(&self) -> Error {
        let is_total = self.end.is_some_and(|end| end <= Instant::now());
        self.expired(Phase::Body, self.timeouts.idle, is_total)
    }

    /// Whether the time for everything is over.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.end {
            Some(end) if end <= Instant::now() => Err(self.expired(Phase::Body, Duration::ZERO, true)),
            _ => Ok(()),
        }
    }

    fn until(&self, own: Option<Instant>) -> (Instant, bool) {
        match (self.end, own) {
            (Some(end), Some(own)) if end >= own => (own, false),
            (Some(end), _) => (end, true),
            (None, Some(own)) => (own, false),
            // So long that it has no end: as good as a year.
            (None, None) => (Instant::now() + Duration::from_secs(31_536_000), false),
        }
    }

    fn expired(&self, phase: Phase, allowed: Duration, is_total: bool) -> Error {
        let doing = match phase {
            Phase::Resolve => "looking up the host",
            Phase::Connect => "connecting",
            Phase::Tls | Phase::Certificate => "in the TLS handshake",
            Phase::Proxy => "talking to the proxy",
            Phase::Body => "while the body came",
            _ => "waiting for the answer",
        };
        let detail = match self.timeouts.total.filter(|_| is_total) {
            Some(total) => format!("{doing}, after {} in all", seconds(total)),
            None if phase == Phase::Body => format!("{doing}: nothing for {}", seconds(allowed)),
            None => format!("{doing}, after {}", seconds(allowed)),
        };
        Error::new(Code::TimedOut, phase, detail)
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
