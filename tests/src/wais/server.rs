//! A WAIS server on loopback that imitates freeWAIS-sf. It follows the protocol, except for
//! the rules of its [`WaisConfig`].

use std::fmt;
use std::io::Result;
use std::net::SocketAddr;

use crate::server::running_server::{RunningServer, Service, Shared, TcpService};
use crate::server::tcp_connection::TcpConnection;
use crate::wais::config::WaisConfig;
use crate::wais::connection::Connection;
use crate::wais::request::WaisRequest;
use crate::wais::rule::{WaisAction, WaisTrigger};

/// A WAIS server. It stops when dropped.
pub struct WaisServer(RunningServer<WaisService>);

/// The state that all connections share.
pub(crate) struct WaisService {
    pub(crate) config: WaisConfig,
}

/// Log entries other than requests.
#[derive(Default)]
pub(crate) struct Counters {
    /// Maximum number of requests that were received when one was answered.
    pub(crate) max_pending: usize,
}

impl Service for WaisService {
    type Trigger = WaisTrigger;
    type Action = WaisAction;
    type Request = WaisRequest;
    type Counters = Counters;
}

impl TcpService for WaisService {
    const NAME: &'static str = "wais";

    fn serve(server: &Shared<Self>, number: usize, wire: TcpConnection) {
        Connection::new(server, number, wire).run();
    }
}

impl WaisServer {
    /// Starts a server for wais URLs.
    pub fn start(mut config: WaisConfig) -> Result<Self> {
        let rules = std::mem::take(&mut config.rules);
        Ok(Self(RunningServer::start(WaisService { config }, rules)?))
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.0.addr()
    }

    /// Returns the URL of a path without the slash after the host, such as `t?words` or `t/TEXT/wpath`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("wais://{}/{path}", self.addr())
    }

    /// Returns the URL of the document with this headline, in its first type, or `None` if there is no such
    /// document.
    #[must_use]
    pub fn document_url(&self, database: &str, headline: &str) -> Option<String> {
        self.0.config.path(database, headline).map(|path| self.url(&path))
    }

    /// Returns the requests of all connections in the order of arrival, without those that were dropped.
    #[must_use]
    pub fn requests(&self) -> Vec<WaisRequest> {
        self.0.requests()
    }

    /// Returns the requests as text.
    #[must_use]
    pub fn received_text(&self) -> Vec<String> {
        self.requests().iter().map(WaisRequest::to_string).collect()
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.0.connections()
    }

    /// Returns the number of bytes sent over all connections.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.0.bytes_sent()
    }

    /// Returns the most requests that were received when one was answered, including that one. It is greater
    /// than 1 if the client pipelines. All others were dropped.
    #[must_use]
    pub fn max_pending(&self) -> usize {
        self.0.read_log(|log| log.counters.max_pending)
    }

    /// Disables all rules. From now on the server follows the protocol.
    pub fn disable_rules(&self) {
        self.0.disable_rules();
    }
}

impl fmt::Debug for WaisServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaisServer").field("url", &self.url("")).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
