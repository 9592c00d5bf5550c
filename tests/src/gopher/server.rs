//! A gopher server on loopback (RFC 1436 and Gopher+) that is honest unless its [`GopherSite`] says otherwise.

use std::fmt;
use std::io::Result;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::gopher::rule::GopherAct;
use crate::gopher::site::GopherSite;
use crate::gopher::talk::serve;
use crate::listener::{Listener, locked};

/// The longest wait for a client.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server; it stops when dropped.
pub struct GopherServer {
    listener: Listener,
    shared: Arc<Shared>,
}

/// What all connections of a server have in common.
pub(crate) struct Shared {
    pub(crate) site: GopherSite,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// From then on no rule holds.
    mended: AtomicBool,
    record: Mutex<Record>,
    /// How often the moment of each rule came.
    counts: Vec<AtomicUsize>,
}

/// What came and went.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) answers: Vec<Vec<Vec<u8>>>,
    pub(crate) octets_sent: u64,
}

impl GopherServer {
    /// Starts a server for gopher URLs.
    pub fn start(site: GopherSite) -> Result<Self> {
        Self::begin(site, None)
    }

    /// Starts a server that is under TLS from the first octet on, for gophers URLs.
    pub fn start_tls(site: GopherSite, cert: &ServerCert) -> Result<Self> {
        Self::begin(site, Some(cert.server_config()?))
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// The URL of what stands behind the slash after the host: type, selector and the rest.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.shared.tls.is_some() { "gophers" } else { "gopher" };
        format!("{scheme}://{}/{path}", self.addr())
    }

    /// The exact octets that came over each connection (under TLS: decrypted), in the order of accepting.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<u8>> {
        locked(&self.shared.record).requests.clone()
    }

    /// The requests as text, for comparison.
    #[must_use]
    pub fn dialogue(&self) -> Vec<String> {
        self.requests().iter().map(|request| String::from_utf8_lossy(request).into_owned()).collect()
    }

    /// The answers of each form that was filled in and fits its questions.
    #[must_use]
    pub fn answers(&self) -> Vec<Vec<Vec<u8>>> {
        locked(&self.shared.record).answers.clone()
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.listener.accepted()
    }

    /// How many octets all connections together were sent, before TLS.
    #[must_use]
    pub fn octets_sent(&self) -> u64 {
        locked(&self.shared.record).octets_sent
    }

    /// From now on no rule of the site holds: the fault is gone.
    pub fn mend(&self) {
        self.shared.mended.store(true, Ordering::Relaxed);
    }

    fn begin(site: GopherSite, tls: Option<Arc<ServerConfig>>) -> Result<Self> {
        let counts = site.rules.iter().map(|_| AtomicUsize::new(0)).collect();
        let (mended, record) = (AtomicBool::new(false), Mutex::new(Record::default()));
        let shared = Arc::new(Shared { site, tls, mended, record, counts });
        let all = Arc::clone(&shared);
        let listener = Listener::start(PATIENCE, move |number, wire| {
            all.note(|record| {
                let count = record.requests.len().max(number + 1);
                record.requests.resize_with(count, Vec::new);
            });
            serve(&all, number, wire);
        })?;
        Ok(Self { listener, shared })
    }
}

impl fmt::Debug for GopherServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GopherServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

impl Shared {
    /// What the rules say of this request line, or of a connection.
    pub(crate) fn acts(&self, line: Option<&[u8]>) -> Vec<GopherAct> {
        if self.mended.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let rules = self.site.rules.iter().zip(&self.counts);
        let concerned = rules.filter(|(rule, _)| rule.concerns(line));
        let due = concerned.filter(|(rule, count)| rule.is_due(count.fetch_add(1, Ordering::Relaxed) + 1));
        due.map(|(rule, _)| rule.act().clone()).collect()
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Record)) {
        change(&mut locked(&self.record));
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
