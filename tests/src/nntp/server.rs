//! A news server on loopback (RFC 3977, 4642, 4643, 8054) that is honest unless its [`NntpSite`] says otherwise.

use std::fmt;
use std::io::Result;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::listener::locked;
use crate::nntp::rule::{Moment, NntpAct};
use crate::nntp::site::NntpSite;
use crate::nntp::talk::Talk;

/// The server; it stops when dropped.
pub struct NntpServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What all connections of a server have in common.
pub(crate) struct Shared {
    pub(crate) site: NntpSite,
    /// For TLS from the first octet on.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// For STARTTLS.
    pub(crate) starttls: Option<Arc<ServerConfig>>,
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
    pub(crate) commands: Vec<Vec<Vec<u8>>>,
    pub(crate) in_clear: Vec<Vec<u8>>,
    pub(crate) most_waiting: usize,
    pub(crate) octets_sent: u64,
}

impl NntpServer {
    /// Starts a server for news and nntp URLs. It offers STARTTLS if the site does.
    pub fn start(site: NntpSite) -> Result<Self> {
        Self::serve(site, None)
    }

    /// Starts a server that is under TLS from the first octet on, for snews and nntps URLs.
    pub fn start_tls(site: NntpSite, cert: &ServerCert) -> Result<Self> {
        Self::serve(site, Some(cert.server_config()?))
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What `--news-server` and `$NNTPSERVER` take.
    #[must_use]
    pub fn news_server(&self) -> String {
        self.addr.to_string()
    }

    /// The URL of a group or an article on this server: `fetch.test/1` becomes `nntp://127.0.0.1:PORT/fetch.test/1`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.shared.tls.is_some() { "nntps" } else { "nntp" };
        format!("{scheme}://{}/{path}", self.addr)
    }

    /// The news URL of what stands behind the colon; the server is named elsewhere.
    #[must_use]
    pub fn news_url(&self, part: &str) -> String {
        let scheme = if self.shared.tls.is_some() { "snews" } else { "news" };
        format!("{scheme}:{part}")
    }

    /// The command lines of each connection without their CR LF, in the order of their arrival. One that ended
    /// in LF alone keeps it.
    #[must_use]
    pub fn commands(&self) -> Vec<Vec<Vec<u8>>> {
        locked(&self.shared.record).commands.clone()
    }

    /// The command lines of all connections as text, for comparison.
    #[must_use]
    pub fn dialogue(&self) -> Vec<String> {
        texts(&self.commands().concat())
    }

    /// Those command lines that came in clear.
    #[must_use]
    pub fn in_clear(&self) -> Vec<String> {
        texts(&locked(&self.shared.record).in_clear)
    }

    /// The most command lines that waited at a time when one was taken, that one included: more than one when
    /// the client pipelines.
    #[must_use]
    pub fn most_waiting(&self) -> usize {
        locked(&self.shared.record).most_waiting
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        locked(&self.shared.record).commands.len()
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

    fn serve(site: NntpSite, tls: Option<Arc<ServerConfig>>) -> Result<Self> {
        let socket = TcpListener::bind((site.manners.ip, 0))?;
        let addr = socket.local_addr()?;
        let starttls = site.starttls.as_ref().map(ServerCert::server_config).transpose()?;
        let counts = site.rules.iter().map(|_| AtomicUsize::new(0)).collect();
        let (stop, record) = (Arc::new(AtomicBool::new(false)), Mutex::new(Record::default()));
        let mended = AtomicBool::new(false);
        let shared = Arc::new(Shared { site, tls, starttls, stop, mended, record, counts });
        let all = Arc::clone(&shared);
        let thread = Builder::new().name("nntp".to_owned()).spawn(move || accept_all(&socket, &all))?;
        Ok(Self { addr, shared, thread: Some(thread) })
    }
}

impl Drop for NntpServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // The thread sleeps in `accept`; a connection of our own wakes it.
        let woken = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1)).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for NntpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NntpServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

impl Shared {
    /// What the rules say of this moment.
    pub(crate) fn acts(&self, moment: Moment<'_>) -> Vec<NntpAct> {
        if self.mended.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let rules = self.site.rules.iter().zip(&self.counts);
        let concerned = rules.filter(|(rule, _)| rule.concerns(moment));
        let due = concerned.filter(|(rule, count)| rule.is_due(count.fetch_add(1, Ordering::Relaxed) + 1));
        due.map(|(rule, _)| rule.act().clone()).collect()
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Record)) {
        change(&mut locked(&self.record));
    }
}

fn texts(lines: &[Vec<u8>]) -> Vec<String> {
    lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

fn accept_all(socket: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, _)) = socket.accept() {
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let number = {
            let mut record = locked(&shared.record);
            record.commands.push(Vec::new());
            record.commands.len() - 1
        };
        let shared = Arc::clone(shared);
        let _ = Builder::new().name(format!("nntp {number}")).spawn(move || {
            if let Ok(talk) = Talk::new(&shared, number, stream) {
                talk.run();
            }
        });
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
