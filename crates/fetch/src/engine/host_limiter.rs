//! The limit of parallel requests per host, which shrinks when the host reports that it is busy (421, 429, 503).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fetch_url_core::{Host, Url};
use tokio::sync::Notify;

use crate::time::Instant;

/// Busy replies of one host within the wait that it announced halve its limit only once. This is the longest such
/// window.
const MAX_BUSY_WINDOW: Duration = Duration::from_secs(1);
/// The shortest window in which busy replies halve the limit only once.
const MIN_BUSY_WINDOW: Duration = Duration::from_millis(50);
/// The wait of a host if the requested one cannot be represented.
const MAX_WAIT: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
/// After this many requests without a busy reply, the limit of a host rises by one.
const REQUESTS_PER_INCREASE: u32 = 16;

/// A limit of parallel requests for each host. Clones share the limit.
#[derive(Clone)]
pub struct HostLimiter(Arc<Inner>);

struct Inner {
    hosts: Mutex<HashMap<HostKey, HostState>>,
    /// The initial and highest limit of each host.
    max_per_host: usize,
    released: Notify,
}

/// Host name and port; each port of a machine has its own limit.
type HostKey = (Host<'static>, u16);

struct HostState {
    running: usize,
    limit: usize,
    not_before: Instant,
    /// Busy replies before this moment count as part of the previous one.
    busy_window_end: Option<Instant>,
    /// Requests finished since the last busy reply.
    finished_since_busy: u32,
    /// Requests answered so far.
    served: u64,
}

/// Permission for one request to a host, released on drop; see [`crate::Request::with_permit`].
#[must_use]
pub struct HostPermit {
    limiter: HostLimiter,
    server: HostKey,
    /// `false` while the permit is released to wait for a busy host.
    is_acquired: AtomicBool,
    /// The host's count of answered requests at the last busy reply to this request.
    served: AtomicU64,
}

impl HostLimiter {
    /// Creates a limiter that allows `max_per_host` parallel requests to each host.
    pub fn new(max_per_host: usize) -> Self {
        Self(Arc::new(Inner { hosts: Mutex::default(), max_per_host, released: Notify::new() }))
    }

    /// Waits for a permit for the host of `url`. Returns `None` if the URL has no host.
    pub async fn acquire(&self, url: &Url<'_>) -> Option<HostPermit> {
        let server = host_key(url)?;
        let served = self.take_permit(&server).await;
        Some(self.permit(server, served))
    }

    fn permit(&self, server: HostKey, served: u64) -> HostPermit {
        HostPermit {
            limiter: self.clone(),
            server,
            is_acquired: AtomicBool::new(true),
            served: AtomicU64::new(served),
        }
    }

    /// Returns a permit for the host of `url` if one is available now.
    pub fn try_acquire(&self, url: &Url<'_>) -> Option<HostPermit> {
        let server = host_key(url)?;
        match self.try_take_permit(&server) {
            Ok(served) => Some(self.permit(server, served)),
            Err(_) => None,
        }
    }

    /// Waits until a permit is released, or until the wait of a host that was busy at `tried` ends. The caller passes
    /// the time before it called [`Self::try_acquire`], which failed and may succeed now.
    pub async fn changed_since(&self, tried: std::time::Instant) {
        let tried = Instant::from(tried);
        let released = self.0.released.notified();
        let next = self.hosts().values().map(|host| host.not_before).filter(|time| *time > tried).min();
        match next {
            None => released.await,
            Some(time) => tokio::select! {
                () = released => {}
                () = tokio::time::sleep_until(time) => {}
            },
        }
    }

    /// Waits for a permit; returns the host's count of answered requests.
    async fn take_permit(&self, server: &HostKey) -> u64 {
        loop {
            let released = self.0.released.notified();
            let wait = match self.try_take_permit(server) {
                Ok(served) => return served,
                Err(wait) => wait,
            };
            match wait {
                Wait::Until(time) => tokio::time::sleep_until(time).await,
                Wait::ForOthers => released.await,
            }
        }
    }

    fn try_take_permit(&self, server: &HostKey) -> Result<u64, Wait> {
        let mut hosts = self.hosts();
        let max_per_host = self.0.max_per_host;
        let host = hosts.entry(server.clone()).or_insert_with(|| HostState::new(max_per_host));
        host.take_permit(Instant::now())
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<HostKey, HostState>> {
        self.0.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_host<T>(&self, server: &HostKey, change: impl FnOnce(&mut HostState) -> T) -> Option<T> {
        self.hosts().get_mut(server).map(change)
    }
}

fn host_key(url: &Url<'_>) -> Option<HostKey> {
    Some((url.host()?.into_owned(), url.port().unwrap_or_default()))
}

impl HostPermit {
    /// Returns `true` if the permit is for the host and port of `url`.
    pub(crate) fn is_for(&self, url: &Url<'_>) -> bool {
        let (host, port) = &self.server;
        url.host().is_some_and(|other| other == *host) && url.port().unwrap_or_default() == *port
    }

    /// Returns `true` if no other request has a permit.
    pub(crate) fn is_alone(&self) -> bool {
        self.limiter.hosts().values().map(|host| host.running).sum::<usize>() <= 1
    }

    /// Records that the host answered the request.
    pub(crate) fn record_response(&self) {
        self.limiter.with_host(&self.server, |host| host.served += 1);
        // It is no answer to another request.
        self.served.fetch_add(1, Ordering::Relaxed);
    }

    /// Records a busy reply: no request is sent to the host for `wait`. Returns `true` if the host has answered
    /// other requests since the last busy reply to this one, so that another attempt is likely to succeed.
    pub(crate) fn record_busy(&self, wait: Duration) -> bool {
        let served = self.limiter.with_host(&self.server, |host| {
            host.record_busy(Instant::now(), wait);
            host.served
        });
        served.is_some_and(|served| self.served.swap(served, Ordering::Relaxed) != served)
    }

    /// Releases the permit while it waits for `event`, then acquires a permit again.
    pub async fn released_while<T>(&self, event: impl Future<Output = T>) -> T {
        if !self.is_acquired.swap(false, Ordering::Relaxed) {
            // Another segment of the same object is waiting for the permit already.
            return event.await;
        }
        self.limiter.with_host(&self.server, |host| host.running -= 1);
        self.limiter.0.released.notify_waiters();
        let result = event.await;
        self.limiter.take_permit(&self.server).await;
        self.is_acquired.store(true, Ordering::Relaxed);
        result
    }
}

impl std::fmt::Debug for HostLimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostLimiter({} per host)", self.0.max_per_host)
    }
}

impl std::fmt::Debug for HostPermit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostPermit({}:{})", self.server.0, self.server.1)
    }
}

/// The event or time to wait for before a permit is available.
enum Wait {
    ForOthers,
    Until(Instant),
}

impl HostState {
    fn new(limit: usize) -> Self {
        Self {
            running: 0,
            limit,
            not_before: Instant::now(),
            busy_window_end: None,
            finished_since_busy: 0,
            served: 0,
        }
    }

    /// Takes a permit; returns the host's count of answered requests.
    fn take_permit(&mut self, now: Instant) -> Result<u64, Wait> {
        if self.running >= self.limit {
            return Err(Wait::ForOthers);
        }
        if self.not_before > now {
            return Err(Wait::Until(self.not_before));
        }
        self.running += 1;
        Ok(self.served)
    }

    /// Halves the limit, at most once per window, and blocks new requests until `wait` is over.
    fn record_busy(&mut self, now: Instant, wait: Duration) {
        self.not_before = self.not_before.max(now.checked_add(wait).unwrap_or(now + MAX_WAIT));
        self.finished_since_busy = 0;
        if self.busy_window_end.is_none_or(|until| now >= until) {
            self.busy_window_end = Some(now + wait.clamp(MIN_BUSY_WINDOW, MAX_BUSY_WINDOW));
            self.limit = (self.limit.min(self.running) / 2).max(1);
        }
    }

    fn release_permit(&mut self, max_per_host: usize) {
        self.running -= 1;
        self.finished_since_busy += 1;
        if self.limit < max_per_host && self.finished_since_busy >= REQUESTS_PER_INCREASE {
            (self.limit, self.finished_since_busy) = (self.limit + 1, 0);
        }
    }
}

impl Drop for HostPermit {
    fn drop(&mut self) {
        if self.is_acquired.load(Ordering::Relaxed) {
            let max_per_host = self.limiter.0.max_per_host;
            self.limiter.with_host(&self.server, |host| host.release_permit(max_per_host));
            self.limiter.0.released.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_replies_halve_the_limit_and_delay_new_requests() {
        let mut host = HostState::new(16);
        host.running = 16;
        let now = Instant::now();
        let wait = Duration::from_secs(5);
        host.record_busy(now, wait);
        host.record_busy(now + MIN_BUSY_WINDOW, Duration::ZERO);
        assert_eq!(
            (host.limit, host.not_before),
            (8, now + wait),
            "busy replies at the same time count as one"
        );
        for (second, limit) in [(1, 4), (2, 2), (3, 1), (4, 1)] {
            host.running = host.limit;
            host.record_busy(now + Duration::from_secs(second), Duration::ZERO);
            assert_eq!(host.limit, limit);
        }
        host.running = 100;
        for _ in 0..REQUESTS_PER_INCREASE {
            host.release_permit(16);
        }
        assert_eq!(host.limit, 2, "the limit rises after 16 requests without a busy reply");
    }

    #[test]
    fn busy_host_gets_no_request_before_the_wait_is_over() {
        let mut host = HostState::new(2);
        let now = Instant::now();
        host.record_busy(now, Duration::from_secs(5));
        assert!(matches!(host.take_permit(now), Err(Wait::Until(time)) if time == host.not_before));
        assert_eq!(host.take_permit(host.not_before).ok(), Some(0));
    }

    #[test]
    fn limit_never_rises_above_the_maximum() {
        let mut host = HostState::new(16);
        host.running = 100;
        (0..REQUESTS_PER_INCREASE).for_each(|_| host.release_permit(16));
        assert_eq!(host.limit, 16);
    }

    fn url(text: &str) -> Url<'static> {
        fetch_url_core::parse(text).expect("a URL").into_owned().url
    }

    #[tokio::test]
    async fn permit_is_for_its_host_and_port_only() {
        let permit = HostLimiter::new(1).acquire(&url("http://h:81/a")).await.expect("a permit");
        assert!(permit.is_for(&url("http://h:81/b")));
        for other in ["http://h/a", "http://other:81/a", "http://other/a", "mailto:a@b"] {
            assert!(!permit.is_for(&url(other)), "{other}");
        }
    }

    #[tokio::test]
    async fn another_attempt_is_likely_to_succeed_if_the_host_has_answered_since_the_last_busy_reply() {
        let limiter = HostLimiter::new(2);
        let first = limiter.acquire(&url("http://h/a")).await.expect("a permit");
        let second = limiter.acquire(&url("http://h/b")).await.expect("a permit");
        assert!(!first.record_busy(Duration::ZERO), "no request was answered");
        second.record_response();
        assert!(first.record_busy(Duration::ZERO));
        assert!(!first.record_busy(Duration::ZERO), "nothing since the last busy reply");
        first.record_response();
        assert!(!first.record_busy(Duration::ZERO), "only the start of its own response");
    }

    #[tokio::test]
    async fn second_request_waits_until_the_permit_is_dropped() {
        let limiter = HostLimiter::new(1);
        let first = limiter.acquire(&url("http://h/a")).await.expect("a permit");
        let _other_host = limiter.acquire(&url("http://other/a")).await.expect("a permit");
        let same_host = url("http://h/b");
        let second = limiter.acquire(&same_host);
        tokio::pin!(second);
        assert!(tokio::time::timeout(Duration::from_millis(20), &mut second).await.is_err());
        drop(first);
        assert!(second.await.is_some());
        assert!(limiter.acquire(&url("mailto:a@b")).await.is_none(), "a URL without a host has no permit");
    }

    #[tokio::test]
    async fn change_is_the_end_of_a_wait_that_is_not_over() {
        let limiter = HostLimiter::new(2);
        let first = limiter.acquire(&url("http://h/a")).await.expect("a permit");
        let pending =
            tokio::time::timeout(Duration::from_millis(20), limiter.changed_since(std::time::Instant::now()));
        assert!(pending.await.is_err(), "the host is not busy, and no permit was released");
        first.record_busy(Duration::from_millis(20));
        drop(first);
        limiter.changed_since(std::time::Instant::now()).await;
        assert!(limiter.try_acquire(&url("http://h/b")).is_some());
    }

    #[tokio::test]
    async fn wait_that_ended_since_the_failed_attempt_is_a_change() {
        let limiter = HostLimiter::new(2);
        let first = limiter.acquire(&url("http://h/a")).await.expect("a permit");
        first.record_busy(Duration::from_millis(20));
        drop(first);
        let tried = std::time::Instant::now();
        assert!(limiter.try_acquire(&url("http://h/b")).is_none());
        std::thread::sleep(Duration::from_millis(30));
        let changed = tokio::time::timeout(Duration::from_secs(10), limiter.changed_since(tried)).await;
        assert!(changed.is_ok());
    }

    #[tokio::test]
    async fn wait_that_no_clock_can_represent_is_a_long_one() {
        let limiter = HostLimiter::new(2);
        let first = limiter.acquire(&url("http://h/a")).await.expect("a permit");
        first.record_busy(Duration::MAX);
        assert!(limiter.try_acquire(&url("http://h/b")).is_none());
    }
}
