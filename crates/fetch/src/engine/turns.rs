//! Whose turn it is at each host: not more at the same time than the caller wants, and fewer, and later, when the host
//! says that it is busy (421, 429, 503).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fetch_url_core::{Host, Url};
use tokio::sync::Notify;

/// A host that says it several times in so short a time, or before its wait is over, has said it once.
const ONCE: Duration = Duration::from_secs(1);
/// At least so long.
const SOON: Duration = Duration::from_millis(50);
/// After so many turns without a complaint, one more may go at the same time.
const QUIET: u32 = 16;

/// Whose turn it is at each host, among many requests at the same time. Clones are the same.
#[derive(Clone)]
pub struct Turns(Arc<Inner>);

struct Inner {
    hosts: Mutex<HashMap<Server, Running>>,
    /// How many at the same time at one host, as long as it does not complain.
    most: usize,
    over: Notify,
}

/// Two servers of one machine are two hosts here.
type Server = (Host<'static>, u16);

struct Running {
    running: usize,
    most: usize,
    not_before: Instant,
    /// Until then another complaint is the same.
    complains_until: Option<Instant>,
    /// How many were over since then.
    quiet: u32,
    /// How many were answered at all.
    served: u64,
}

/// One turn, until it is dropped: [`crate::Request::in_turn`].
#[must_use]
pub struct Turn {
    turns: Turns,
    server: Server,
    /// Not while it waits for its host to be less busy.
    is_held: AtomicBool,
    /// How many others had been served when this was sent away the last time.
    served: AtomicU64,
}

impl Turns {
    /// So many at the same time at one host.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Inner { hosts: Mutex::default(), most, over: Notify::new() }))
    }

    /// Waits until one more may be fetched at the host of `url`; none where it has no host.
    pub async fn turn(&self, url: &Url<'_>) -> Option<Turn> {
        let server = server(url)?;
        let served = self.enter(&server).await;
        Some(self.made(server, served))
    }

    fn made(&self, server: Server, served: u64) -> Turn {
        Turn { turns: self.clone(), server, is_held: AtomicBool::new(true), served: AtomicU64::new(served) }
    }

    /// A turn at the host of `url`, where one can be had now.
    pub fn try_turn(&self, url: &Url<'_>) -> Option<Turn> {
        let server = server(url)?;
        match self.try_enter(&server) {
            Ok(served) => Some(self.made(server, served)),
            Err(_) => None,
        }
    }

    /// Waits until a turn may be had that could not be had before.
    pub async fn changed(&self) {
        let over = self.0.over.notified();
        let now = Instant::now();
        let next = self.hosts().values().map(|host| host.not_before).filter(|time| *time > now).min();
        match next {
            None => over.await,
            Some(time) => tokio::select! {
                () = over => {}
                () = tokio::time::sleep_until(time.into()) => {}
            },
        }
    }

    /// Waits for a turn; how many others were served.
    async fn enter(&self, server: &Server) -> u64 {
        loop {
            let over = self.0.over.notified();
            let wait = match self.try_enter(server) {
                Ok(served) => return served,
                Err(wait) => wait,
            };
            match wait {
                Wait::Until(time) => tokio::time::sleep_until(time.into()).await,
                Wait::ForOthers => over.await,
            }
        }
    }

    fn try_enter(&self, server: &Server) -> Result<u64, Wait> {
        let mut hosts = self.hosts();
        let most = self.0.most;
        let host = hosts.entry(server.clone()).or_insert_with(|| Running::new(most));
        host.enter(Instant::now())
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<Server, Running>> {
        self.0.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, server: &Server, change: impl FnOnce(&mut Running) -> T) -> Option<T> {
        self.hosts().get_mut(server).map(change)
    }
}

fn server(url: &Url<'_>) -> Option<Server> {
    Some((url.host()?.into_owned(), url.port().unwrap_or_default()))
}

impl Turn {
    /// Whether it is one at the host of `url`.
    pub(crate) fn is_at(&self, url: &Url<'_>) -> bool {
        let (host, port) = &self.server;
        url.host().is_some_and(|other| other == *host) && url.port().unwrap_or_default() == *port
    }

    /// The host has answered.
    pub(crate) fn served(&self) {
        self.turns.with(&self.server, |host| host.served += 1);
    }

    /// The host is busy: it is left alone for `wait`. Whether it has served others since it sent this one away the
    /// last time: then there is hope.
    pub(crate) fn complained(&self, wait: Duration) -> bool {
        let served = self.turns.with(&self.server, |host| {
            host.complained(Instant::now(), wait);
            host.served
        });
        served.is_some_and(|served| self.served.swap(served, Ordering::Relaxed) != served)
    }

    /// Gives the turn away, and waits for another one; at least for `wait`.
    pub(crate) async fn pass(&self, wait: Duration) {
        if !self.is_held.swap(false, Ordering::Relaxed) {
            // Another part of the same object stands in the queue.
            tokio::time::sleep(wait).await;
            return;
        }
        self.turns.with(&self.server, |host| host.running -= 1);
        self.turns.0.over.notify_waiters();
        tokio::time::sleep(wait).await;
        self.turns.enter(&self.server).await;
        self.is_held.store(true, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Turns({} at a host)", self.0.most)
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Turn({}:{})", self.server.0, self.server.1)
    }
}

/// What is to be waited for.
enum Wait {
    ForOthers,
    Until(Instant),
}

impl Running {
    fn new(most: usize) -> Self {
        Self { running: 0, most, not_before: Instant::now(), complains_until: None, quiet: 0, served: 0 }
    }

    /// Takes a turn; how many others were served so far.
    fn enter(&mut self, now: Instant) -> Result<u64, Wait> {
        if self.running >= self.most {
            return Err(Wait::ForOthers);
        }
        if self.not_before > now {
            return Err(Wait::Until(self.not_before));
        }
        self.running += 1;
        Ok(self.served)
    }

    /// Half as many, and none before `wait` is over.
    fn complained(&mut self, now: Instant, wait: Duration) {
        self.not_before = self.not_before.max(now + wait);
        self.quiet = 0;
        if self.complains_until.is_none_or(|until| now >= until) {
            self.complains_until = Some(now + wait.clamp(SOON, ONCE));
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
        if self.is_held.load(Ordering::Relaxed) {
            let most = self.turns.0.most;
            self.turns.with(&self.server, |host| host.left(most));
            self.turns.0.over.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_complains_is_asked_by_fewer_and_later() {
        let mut host = Running::new(16);
        host.running = 16;
        let now = Instant::now();
        let wait = Duration::from_secs(5);
        host.complained(now, wait);
        host.complained(now + SOON, Duration::ZERO);
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
