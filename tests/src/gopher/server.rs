//! A Gopher server on loopback (RFC 1436 and Gopher+). It follows the protocol, except for
//! the rules of its [`GopherConfig`].

use std::fmt;
use std::io::Result;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::gopher::config::GopherConfig;
use crate::gopher::connection::serve_connection;
use crate::gopher::rule::{GopherAction, GopherTrigger};
use crate::server::running_server::{RunningServer, Service, Shared, TcpService};
use crate::server::tcp_connection::TcpConnection;
use crate::server::text::as_text;

/// A Gopher server. It stops when dropped.
pub struct GopherServer(RunningServer<GopherService>);

/// The state that all connections share.
pub(crate) struct GopherService {
    pub(crate) config: GopherConfig,
    pub(crate) tls: Option<Arc<ServerConfig>>,
}

/// Log entries other than requests.
#[derive(Default)]
pub(crate) struct Counters {
    /// The answers of each form that fit its questions.
    pub(crate) form_answers: Vec<Vec<Vec<u8>>>,
}

impl Service for GopherService {
    type Trigger = GopherTrigger;
    type Action = GopherAction;
    /// A piece of a request, as it was received.
    type Request = Vec<u8>;
    type Counters = Counters;
}

impl TcpService for GopherService {
    const NAME: &'static str = "gopher";

    fn serve(server: &Shared<Self>, number: usize, wire: TcpConnection) {
        serve_connection(server, number, wire);
    }
}

impl GopherServer {
    /// Starts a server for gopher URLs.
    pub fn start(config: GopherConfig) -> Result<Self> {
        Self::serve(config, None)
    }

    /// Starts a server with TLS from the first byte, for gophers URLs.
    pub fn start_tls(config: GopherConfig, cert: &ServerCert) -> Result<Self> {
        Self::serve(config, Some(cert.server_config()?))
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.0.addr()
    }

    /// Returns the URL of an item. `path` is type, selector and the rest, without the slash after the host.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.0.tls.is_some() { "gophers" } else { "gopher" };
        format!("{scheme}://{}/{path}", self.addr())
    }

    /// Returns the exact bytes received over each connection (under TLS: decrypted), in the order of
    /// accepting.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<u8>> {
        self.0.requests_by_connection().iter().map(|pieces| pieces.concat()).collect()
    }

    /// Returns the requests as text, each with its line end.
    #[must_use]
    pub fn received_text(&self) -> Vec<String> {
        as_text(&self.requests())
    }

    /// Returns the answers of each submitted form that fit its questions.
    #[must_use]
    pub fn form_answers(&self) -> Vec<Vec<Vec<u8>>> {
        self.0.read_log(|log| log.counters.form_answers.clone())
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.0.connections()
    }

    /// Returns the number of bytes sent over all connections, before TLS.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.0.bytes_sent()
    }

    /// Disables all rules. From now on the server follows the protocol.
    pub fn disable_rules(&self) {
        self.0.disable_rules();
    }

    fn serve(mut config: GopherConfig, tls: Option<Arc<ServerConfig>>) -> Result<Self> {
        let rules = std::mem::take(&mut config.rules);
        Ok(Self(RunningServer::start(GopherService { config, tls }, rules)?))
    }
}

impl fmt::Debug for GopherServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GopherServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
