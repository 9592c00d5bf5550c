//! Whose turn it is at each host: not more at the same time than the caller wants, and fewer, and later, when the host
//! says that it is busy (421, 429, 503).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fetch_url_core::Url;
use tokio::sync::Notify;

use crate::{Code, Event, Observe};

/// A host that says it several times in so short a time has said it once.
const ONCE: Duration = Duration::from_secs(1);
/// After so many turns without a complaint, one more may go at the same time.
const QUIET: u32 = 16;

/// Whose turn it is at each host, among many requests at the same time. Clones are the same.
///
/// It observes the requests: [`crate::Request::observed_by`].
#[derive(Clone)]
pub struct Turns(Arc<Inner>);

struct Inner {
    hosts: Mutex<HashMap<String, Host>>,
    /// How many at the same time at one host, as long as it does not complain.
    most: usize,
    over: Notify,
}

struct Host {
    running: usize,
    most: usize,
    not_before: Instant,
    /// When it complained the last time.
    complained: Option<Instant>,
    /// How many were over since then.
    quiet: u32,
}

/// One turn, until it is dropped.
#[must_use]
pub struct Turn {
    turns: Turns,
    host: String,
}

impl Turns {
    /// So many at the same time at one host.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Inner { hosts: Mutex::default(), most, over: Notify::new() }))
    }

    /// Waits until one more may be fetched at the host of `url`; none where it has no host.
    pub async fn turn(&self, url: &Url<'_>) -> Option<Turn> {
        let host = url.host()?.to_string();
        loop {
            let over = self.0.over.notified();
            match self.enter(&host) {
                Wait::No => return Some(Turn { turns: self.clone(), host }),
                Wait::ForOthers => over.await,
                Wait::Until(time) => tokio::time::sleep_until(time.into()).await,
            }
        }
    }

    fn enter(&self, host: &str) -> Wait {
        let mut hosts = self.hosts();
        let most = self.0.most;
        let host = hosts.entry(host.to_owned()).or_insert_with(|| Host::new(most));
        if host.running >= host.most {
            Wait::ForOthers
        } else if host.not_before > Instant::now() {
            Wait::Until(host.not_before)
        } else {
            host.running += 1;
            Wait::No
        }
    }

    fn complained(&self, url: &Url<'_>, wait: Duration) {
        let Some(host) = url.host() else { return };
        if let Some(host) = self.hosts().get_mut(&host.to_string()) {
            host.complained(Instant::now(), wait);
        }
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<String, Host>> {
        self.0.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observe for Turns {
    /// Hears of a host that wants to be left alone for a while.
    fn observe(&self, event: &Event<'_>) {
        if let Event::Retry { url, error, wait, .. } = event
            && error.code() == Code::Busy
        {
            self.complained(url, *wait);
        }
    }
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Turns({} at a host)", self.0.most)
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Turn({})", self.host)
    }
}

enum Wait {
    No,
    ForOthers,
    Until(Instant),
}

impl Host {
    fn new(most: usize) -> Self {
        Self { running: 0, most, not_before: Instant::now(), complained: None, quiet: 0 }
    }

    /// Half as many, and none before `wait` is over.
    fn complained(&mut self, now: Instant, wait: Duration) {
        self.not_before = self.not_before.max(now + wait);
        self.quiet = 0;
        if self.complained.is_none_or(|last| now - last >= ONCE) {
            self.complained = Some(now);
            self.most = (self.most.min(self.running) / 2).max(1);
        }
    }

    fn left(&mut self, most: usize) {
        self.running -= 1;
        self.quiet += 1;
        if self.most < most && self.quiet >= QUIET {
            (self.most, self.quiet) = (self.most + 1, 0);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let most = self.turns.0.most;
        if let Some(host) = self.turns.hosts().get_mut(&self.host) {
            host.left(most);
        }
        self.turns.0.over.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_complains_is_asked_by_fewer_and_later() {
        let mut host = Host::new(16);
        host.running = 16;
        let now = Instant::now();
        let wait = Duration::from_secs(5);
        host.complained(now, wait);
        host.complained(now, Duration::ZERO);
        assert_eq!((host.most, host.not_before), (8, now + wait), "twelve voices are one complaint");
        for (second, most) in [(1, 4), (2, 2), (3, 1), (4, 1)] {
            host.running = host.most;
            host.complained(now + Duration::from_secs(second), Duration::ZERO);
            assert_eq!(host.most, most);
        }
        host.running = 100;
        for _ in 0..QUIET {
            host.left(16);
        }
        assert_eq!(host.most, 2, "what is quiet for long is trusted with more");
    }

    #[tokio::test]
    async fn turns_are_taken_one_by_one() {
        let turns = Turns::new(1);
        let url = |text: &str| fetch_url_core::parse(text).expect("a URL").into_owned().url;
        let first = turns.turn(&url("http://h/a")).await.expect("a turn");
        let _elsewhere = turns.turn(&url("http://other/a")).await.expect("a turn");
        let at_the_same = url("http://h/b");
        let second = turns.turn(&at_the_same);
        tokio::pin!(second);
        assert!(tokio::time::timeout(Duration::from_millis(20), &mut second).await.is_err());
        drop(first);
        assert!(second.await.is_some());
        assert!(turns.turn(&url("mailto:a@b")).await.is_none(), "no host, no turn");
    }
}
