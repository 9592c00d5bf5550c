//! A WAIS server on loopback that answers as freeWAIS-sf does unless its [`WaisSite`] says otherwise.

use std::fmt;
use std::io::Result;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::listener::locked;
use crate::wais::request::WaisRequest;
use crate::wais::rule::WaisAct;
use crate::wais::site::WaisSite;
use crate::wais::talk::Talk;

/// The server; it stops when dropped.
pub struct WaisServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What all connections of a server have in common.
pub(crate) struct Shared {
    pub(crate) site: WaisSite,
    pub(crate) stop: Arc<AtomicBool>,
    /// From then on no rule holds.
    mended: AtomicBool,
    record: Mutex<Record>,
    /// How often the moment of each rule came.
    counts: Vec<AtomicUsize>,
}

/// What came and went.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) connections: usize,
    pub(crate) requests: Vec<WaisRequest>,
    pub(crate) octets_sent: u64,
    pub(crate) most_waiting: usize,
}

impl WaisServer {
    /// Starts a server for wais URLs.
    pub fn start(site: WaisSite) -> Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let addr = socket.local_addr()?;
        let counts = site.rules.iter().map(|_| AtomicUsize::new(0)).collect();
        let (stop, record) = (Arc::new(AtomicBool::new(false)), Mutex::new(Record::default()));
        let shared = Arc::new(Shared { site, stop, mended: AtomicBool::new(false), record, counts });
        let all = Arc::clone(&shared);
        let thread = Builder::new().name("wais".to_owned()).spawn(move || accept_all(&socket, &all))?;
        Ok(Self { addr, shared, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The URL of what stands behind the slash after the host: `t?words`, `t/TEXT/wpath`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("wais://{}/{path}", self.addr)
    }

    /// The URL of a document, by its database and headline, in its first type; none if there is no such document.
    #[must_use]
    pub fn document_url(&self, database: &str, headline: &str) -> Option<String> {
        self.shared.site.path(database, headline).map(|path| self.url(&path))
    }

    /// What was asked over all connections, in the order of its arrival. What the server dropped is not there.
    #[must_use]
    pub fn requests(&self) -> Vec<WaisRequest> {
        locked(&self.shared.record).requests.clone()
    }

    /// The requests as text, for comparison.
    #[must_use]
    pub fn dialogue(&self) -> Vec<String> {
        self.requests().iter().map(WaisRequest::to_string).collect()
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        locked(&self.shared.record).connections
    }

    /// How many octets all connections together were sent.
    #[must_use]
    pub fn octets_sent(&self) -> u64 {
        locked(&self.shared.record).octets_sent
    }

    /// The most requests that had come when one was answered, that one included: more than one when the client
    /// does not wait for its answers. All but that one were dropped.
    #[must_use]
    pub fn most_waiting(&self) -> usize {
        locked(&self.shared.record).most_waiting
    }

    /// From now on no rule of the site holds: the fault is gone.
    pub fn mend(&self) {
        self.shared.mended.store(true, Ordering::Relaxed);
    }
}

impl Drop for WaisServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // The thread sleeps in `accept`; a connection of our own wakes it.
        let woken = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1)).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for WaisServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaisServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

impl Shared {
    /// What the rules say of this request, or of a connection.
    pub(crate) fn acts(&self, request: Option<&WaisRequest>) -> Vec<WaisAct> {
        if self.mended.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let rules = self.site.rules.iter().zip(&self.counts);
        let concerned = rules.filter(|(rule, _)| rule.concerns(request));
        let due = concerned.filter(|(rule, count)| rule.is_due(count.fetch_add(1, Ordering::Relaxed) + 1));
        due.map(|(rule, _)| rule.act().clone()).collect()
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Record)) {
        change(&mut locked(&self.record));
    }
}

fn accept_all(socket: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, _)) = socket.accept() {
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        shared.note(|record| record.connections += 1);
        let shared = Arc::clone(shared);
        let _ = Builder::new().name("wais client".to_owned()).spawn(move || {
            if let Ok(talk) = Talk::new(&shared, stream) {
                talk.run();
            }
        });
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
