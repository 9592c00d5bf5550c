//! An FTP server on loopback (RFC 959, 2428, 3659, 4217). It follows the protocol, except for
//! the rules of its [`FtpConfig`].

use std::fmt;
use std::io::Result;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::ftp::config::FtpConfig;
use crate::ftp::rule::{FtpAction, FtpTrigger};
use crate::ftp::session::Session;
use crate::server::running_server::{RunningServer, Service, Shared, TcpService};
use crate::server::tcp_connection::TcpConnection;
use crate::server::text::as_text;

/// An FTP server. It stops when dropped.
pub struct FtpServer(RunningServer<FtpService>);

/// The state that all control connections share.
pub(crate) struct FtpService {
    pub(crate) config: FtpConfig,
    pub(crate) tls: Option<Tls>,
}

/// The TLS of a server.
pub(crate) struct Tls {
    pub(crate) control: Arc<ServerConfig>,
    pub(crate) data: Arc<ServerConfig>,
    pub(crate) start: TlsStart,
}

/// The point at which TLS starts on the control connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TlsStart {
    /// With the first byte (ftps).
    Implicit,
    /// After AUTH.
    Explicit,
}

/// Log entries other than commands.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) data_connections: usize,
    pub(crate) resumed_sessions: Vec<bool>,
}

impl Service for FtpService {
    type Trigger = FtpTrigger;
    type Action = FtpAction;
    type Request = Vec<u8>;
    type Counters = Counters;
}

impl TcpService for FtpService {
    const NAME: &'static str = "ftp";
    const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

    fn serve(server: &Shared<Self>, number: usize, wire: TcpConnection) {
        if let Ok(session) = Session::new(server, number, wire) {
            session.run();
        }
    }
}

impl FtpServer {
    /// Starts a server without TLS.
    pub fn start(config: FtpConfig) -> Result<Self> {
        Self::serve(config, None)
    }

    /// Starts a server that offers AUTH TLS.
    pub fn start_tls(config: FtpConfig, cert: &ServerCert) -> Result<Self> {
        let tls = Tls::new(&config, cert, TlsStart::Explicit)?;
        Self::serve(config, Some(tls))
    }

    /// Starts a server with TLS from the first byte, for ftps URLs.
    pub fn start_implicit(config: FtpConfig, cert: &ServerCert) -> Result<Self> {
        let tls = Tls::new(&config, cert, TlsStart::Implicit)?;
        Self::serve(config, Some(tls))
    }

    /// Returns the address of the control port.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.0.addr()
    }

    /// Returns the URL of a path, with or without its first slash.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = match &self.0.tls {
            Some(Tls { start: TlsStart::Implicit, .. }) => "ftps",
            _ => "ftp",
        };
        format!("{scheme}://{}/{}", self.addr(), path.strip_prefix('/').unwrap_or(path))
    }

    /// Returns the command lines of each control connection without CR LF, in the order of arrival. A line
    /// that ended in LF alone keeps it.
    #[must_use]
    pub fn commands(&self) -> Vec<Vec<Vec<u8>>> {
        self.0.requests_by_connection()
    }

    /// Returns the command lines of all control connections as text.
    #[must_use]
    pub fn received_text(&self) -> Vec<String> {
        as_text(&self.commands().concat())
    }

    /// Returns the number of accepted control connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.0.connections()
    }

    /// Returns the number of data connections.
    #[must_use]
    pub fn data_connections(&self) -> usize {
        self.0.read_log(|log| log.counters.data_connections)
    }

    /// Returns, for each data connection under TLS, whether it resumed a session.
    #[must_use]
    pub fn resumed_sessions(&self) -> Vec<bool> {
        self.0.read_log(|log| log.counters.resumed_sessions.clone())
    }

    /// Returns the number of bytes sent over all data connections, before TLS.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.0.bytes_sent()
    }

    /// Disables all rules. From now on the server follows the protocol.
    pub fn disable_rules(&self) {
        self.0.disable_rules();
    }

    fn serve(mut config: FtpConfig, tls: Option<Tls>) -> Result<Self> {
        let (ip, rules) = (config.behaviour.ip, std::mem::take(&mut config.rules));
        Ok(Self(RunningServer::start_on(ip, FtpService { config, tls }, rules)?))
    }
}

impl fmt::Debug for FtpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FtpServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

impl Tls {
    fn new(config: &FtpConfig, cert: &ServerCert, start: TlsStart) -> Result<Self> {
        let control = cert.server_config()?;
        // A data connection can resume the session of its control connection only with the same
        // `ServerConfig`.
        let data = match &config.behaviour.data_cert {
            Some(other) => other.server_config()?,
            None => Arc::clone(&control),
        };
        Ok(Self { control, data, start })
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
