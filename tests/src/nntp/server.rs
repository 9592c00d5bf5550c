//! A news server on loopback (RFC 3977, 4642, 4643, 8054). It follows the protocol, except for
//! the rules of its [`NntpConfig`].

use std::fmt;
use std::io::Result;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::nntp::config::NntpConfig;
use crate::nntp::connection::Connection;
use crate::nntp::rule::{NntpAction, NntpTrigger};
use crate::server::running_server::{RunningServer, Service, Shared, TcpService};
use crate::server::tcp_connection::TcpConnection;
use crate::server::text::as_text;

/// A news server. It stops when dropped.
pub struct NntpServer(RunningServer<NntpService>);

/// The state that all connections share.
pub(crate) struct NntpService {
    pub(crate) config: NntpConfig,
    /// The configuration for TLS from the first byte.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// The configuration for STARTTLS.
    pub(crate) starttls: Option<Arc<ServerConfig>>,
}

/// Log entries other than commands.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) plaintext_commands: Vec<Vec<u8>>,
    /// The most command lines that were received, but not yet executed.
    pub(crate) max_pending: usize,
}

impl Service for NntpService {
    type Trigger = NntpTrigger;
    type Action = NntpAction;
    type Request = Vec<u8>;
    type Counters = Counters;
}

impl TcpService for NntpService {
    const NAME: &'static str = "nntp";
    const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

    fn serve(server: &Shared<Self>, number: usize, wire: TcpConnection) {
        Connection::new(server, number, wire).run();
    }
}

impl NntpServer {
    /// Starts a server for news and nntp URLs. It offers STARTTLS if configured.
    pub fn start(config: NntpConfig) -> Result<Self> {
        Self::serve(config, None)
    }

    /// Starts a server with TLS from the first byte, for snews and nntps URLs.
    pub fn start_tls(config: NntpConfig, cert: &ServerCert) -> Result<Self> {
        Self::serve(config, Some(cert.server_config()?))
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.0.addr()
    }

    /// Returns the value for `--news-server` and `$NNTPSERVER`.
    #[must_use]
    pub fn news_server(&self) -> String {
        self.addr().to_string()
    }

    /// Returns the URL of a group or an article: `nntp://127.0.0.1:PORT/fetch.test/1` for `fetch.test/1`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.0.tls.is_some() { "nntps" } else { "nntp" };
        format!("{scheme}://{}/{path}", self.addr())
    }

    /// Returns a news URL, which does not name the server: `news:<part>`, or `snews:<part>` under TLS.
    #[must_use]
    pub fn news_url(&self, part: &str) -> String {
        let scheme = if self.0.tls.is_some() { "snews" } else { "news" };
        format!("{scheme}:{part}")
    }

    /// Returns the command lines of each connection without CR LF, in the order of arrival. A line that ended
    /// in LF alone keeps it.
    #[must_use]
    pub fn commands(&self) -> Vec<Vec<Vec<u8>>> {
        self.0.requests_by_connection()
    }

    /// Returns the command lines of all connections as text.
    #[must_use]
    pub fn received_text(&self) -> Vec<String> {
        as_text(&self.commands().concat())
    }

    /// Returns the command lines that were received in plaintext.
    #[must_use]
    pub fn plaintext_commands(&self) -> Vec<String> {
        self.0.read_log(|log| as_text(&log.counters.plaintext_commands))
    }

    /// Returns the most command lines that were pending when one was executed, including that one. It is
    /// greater than 1 if the client pipelines.
    #[must_use]
    pub fn max_pending(&self) -> usize {
        self.0.read_log(|log| log.counters.max_pending)
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.0.connections()
    }

    /// Returns the number of bytes sent over all connections, before TLS and compression.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.0.bytes_sent()
    }

    /// Disables all rules. From now on the server follows the protocol.
    pub fn disable_rules(&self) {
        self.0.disable_rules();
    }

    fn serve(mut config: NntpConfig, tls: Option<Arc<ServerConfig>>) -> Result<Self> {
        let starttls = config.starttls.as_ref().map(ServerCert::server_config).transpose()?;
        let (ip, rules) = (config.behaviour.ip, std::mem::take(&mut config.rules));
        Ok(Self(RunningServer::start_on(ip, NntpService { config, tls, starttls }, rules)?))
    }
}

impl fmt::Debug for NntpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NntpServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
