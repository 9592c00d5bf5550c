//! An FTP server on loopback (RFC 959, 2428, 3659, 4217) that is honest unless its [`FtpSite`] says otherwise.

use std::fmt;
use std::io::Result;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::ftp::rule::Act;
use crate::ftp::session::Session;
use crate::ftp::site::FtpSite;
use crate::listener::locked;

/// The server; it stops when dropped.
pub struct FtpServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What all connections of a server have in common.
pub(crate) struct Shared {
    pub(crate) site: FtpSite,
    pub(crate) tls: Option<Tls>,
    pub(crate) stop: Arc<AtomicBool>,
    /// From then on no rule holds.
    mended: AtomicBool,
    pub(crate) record: Mutex<Record>,
    /// How often the moment of each rule came.
    counts: Vec<AtomicUsize>,
}

/// TLS as the server has it.
pub(crate) struct Tls {
    pub(crate) control: Arc<ServerConfig>,
    pub(crate) data: Arc<ServerConfig>,
    pub(crate) begins: Begins,
}

/// When TLS begins on the control connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Begins {
    /// With its first octet.
    AtOnce,
    /// After AUTH.
    WhenAsked,
}

/// What came and went.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) commands: Vec<Vec<Vec<u8>>>,
    pub(crate) data_connections: usize,
    pub(crate) resumed: Vec<bool>,
    pub(crate) octets_sent: u64,
}

impl FtpServer {
    /// Starts a server that knows no TLS.
    pub fn start(site: FtpSite) -> Result<Self> {
        Self::serve(site, None)
    }

    /// Starts a server that offers AUTH TLS.
    pub fn start_tls(site: FtpSite, cert: &ServerCert) -> Result<Self> {
        let tls = Tls::new(&site, cert, Begins::WhenAsked)?;
        Self::serve(site, Some(tls))
    }

    /// Starts a server that is under TLS from the first octet on, as ftps URLs expect.
    pub fn start_implicit(site: FtpSite, cert: &ServerCert) -> Result<Self> {
        let tls = Tls::new(&site, cert, Begins::AtOnce)?;
        Self::serve(site, Some(tls))
    }

    /// Where it listens for control connections.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The URL of a path, as it stands behind the slash after the host.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = match &self.shared.tls {
            Some(Tls { begins: Begins::AtOnce, .. }) => "ftps",
            _ => "ftp",
        };
        format!("{scheme}://{}/{}", self.addr, path.strip_prefix('/').unwrap_or(path))
    }

    /// The command lines of each control connection without their CR LF, in the order of their arrival. One
    /// that ended in LF alone keeps it.
    #[must_use]
    pub fn commands(&self) -> Vec<Vec<Vec<u8>>> {
        locked(&self.shared.record).commands.clone()
    }

    /// The command lines of all control connections as text, for comparison.
    #[must_use]
    pub fn dialogue(&self) -> Vec<String> {
        let all = self.commands().concat();
        all.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    /// How many control connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        locked(&self.shared.record).commands.len()
    }

    /// How many data connections were made.
    #[must_use]
    pub fn data_connections(&self) -> usize {
        locked(&self.shared.record).data_connections
    }

    /// Of each data connection under TLS, whether it resumed a session.
    #[must_use]
    pub fn resumed(&self) -> Vec<bool> {
        locked(&self.shared.record).resumed.clone()
    }

    /// How many octets all data connections together were sent, before TLS.
    #[must_use]
    pub fn octets_sent(&self) -> u64 {
        locked(&self.shared.record).octets_sent
    }

    /// From now on no rule of the site holds: the fault is gone.
    pub fn mend(&self) {
        self.shared.mended.store(true, Ordering::Relaxed);
    }

    fn serve(site: FtpSite, tls: Option<Tls>) -> Result<Self> {
        let socket = TcpListener::bind((site.manners.ip, 0))?;
        let addr = socket.local_addr()?;
        let counts = site.rules.iter().map(|_| AtomicUsize::new(0)).collect();
        let (stop, record) = (Arc::new(AtomicBool::new(false)), Mutex::new(Record::default()));
        let mended = AtomicBool::new(false);
        let shared = Arc::new(Shared { site, tls, stop, mended, record, counts });
        let all = Arc::clone(&shared);
        let thread = Builder::new().name("ftp".to_owned()).spawn(move || accept_all(&socket, &all))?;
        Ok(Self { addr, shared, thread: Some(thread) })
    }
}

impl Drop for FtpServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // The thread sleeps in `accept`; a connection of our own wakes it.
        let woken = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1)).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for FtpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FtpServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

impl Tls {
    fn new(site: &FtpSite, cert: &ServerCert, begins: Begins) -> Result<Self> {
        let control = cert.server_config()?;
        // A data connection can resume the session of its control connection under the same config only.
        let data = match &site.manners.data_cert {
            Some(other) => other.server_config()?,
            None => Arc::clone(&control),
        };
        Ok(Self { control, data, begins })
    }
}

impl Shared {
    /// What the rules say of this command line, or of the greeting.
    pub(crate) fn acts(&self, line: Option<&[u8]>) -> Vec<Act> {
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
        let _ = Builder::new().name(format!("ftp {number}")).spawn(move || {
            if let Ok(session) = Session::new(&shared, number, stream) {
                session.run();
            }
        });
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
