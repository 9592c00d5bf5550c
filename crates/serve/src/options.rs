//! The settings of a server, and its limits with their names and defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use fetch_url::url::HostPort;
use fetch_url::{Credentials, Policy, TlsOptions};

use crate::access::ClientNetwork;
use crate::log::LogSink;

/// The port of the default address: the number of the RFC that defines the URLs.
const DEFAULT_PORT: u16 = 1738;

/// The settings of a [`Server`](crate::Server).
#[derive(Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The addresses to listen on. Default: `127.0.0.1:1738`.
    pub listen: Vec<SocketAddr>,
    /// The networks whose clients are served, besides the loopback addresses. Default: none.
    pub allowed_clients: Vec<ClientNetwork>,
    /// Names under which the server is reached, besides its addresses and `localhost`. Default: none.
    pub host_names: Vec<String>,
    /// The directory whose files are served as `file:` URLs. Default: none, `file:` URLs are refused.
    pub file_root: Option<PathBuf>,
    /// The directory of the cache. Default: none, nothing is stored.
    pub cache: Option<PathBuf>,
    /// The maximum size of all files of the cache in bytes; the objects that were not used for the longest time are
    /// removed. Default: 1 GiB.
    pub cache_size: u64,
    /// The server for news URLs that name none.
    pub news_server: Option<HostPort<'static>>,
    /// Timeouts, limits and network policy of the requests to other servers.
    /// [`public_only`](fetch_url::policy::NetworkPolicy::public_only) is set unless `allow_private` is `true`.
    pub policy: Policy,
    /// Credentials for other servers, such as those of netrc. Default: none.
    pub credentials: Credentials,
    /// The TLS options for connections to other servers.
    pub tls: TlsOptions,
    /// The limits for clients.
    pub limits: ServeLimits,
    /// The access log, one line per answer in the common log format. Default: none.
    pub log: Option<LogSink>,
    /// The events, one JSON object per line. Default: none.
    pub events: Option<LogSink>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT))],
            allowed_clients: Vec::new(),
            host_names: Vec::new(),
            file_root: None,
            cache: None,
            cache_size: 1 << 30,
            news_server: None,
            policy: Policy::default(),
            credentials: Credentials::default(),
            tls: TlsOptions::default(),
            limits: ServeLimits::default(),
            log: None,
            events: None,
        }
    }
}

/// The limits for clients.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ServeLimits {
    /// The maximum number of open connections of all clients. Further connections wait. If there are
    /// [`allowed_clients`](ServeOptions::allowed_clients), one client address has at most three quarters of them, and
    /// its further connections are closed. Default: 256.
    pub max_clients: usize,
    /// The maximum number of requests of one client address at the same time. Further requests get status 429. Default:
    /// 256.
    pub max_requests_per_client: usize,
    /// The maximum memory of the requests of all clients that are under way, in bytes: 2 MiB for each object, 8 MiB for
    /// each newsgroup, 48 MiB for each news article that is shown as a page, 256 KiB for each tunnel. Further requests get
    /// status 503. Connections without a request have their heads besides. Default: 1 GiB.
    pub max_memory: u64,
    /// The maximum size of a request head in bytes. A larger one gets status 431. Default: 32 KiB.
    pub max_header_size: usize,
    /// The maximum time from the first to the last byte of a request head. A slower one gets status 408. Default: 10 s.
    pub header_timeout: Duration,
    /// The maximum time without a request on an open connection, without progress of an answer because the client does not
    /// read it, and without a byte in a tunnel of which one side has ended. Default: 60 s.
    pub idle_timeout: Duration,
    /// The maximum time to finish answers after the shutdown began. Default: 10 s.
    pub shutdown_timeout: Duration,
    /// The maximum number of entries of a page. A longer list ends with a note. Default: 20,000.
    pub max_page_entries: u64,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            max_clients: 256,
            max_requests_per_client: 256,
            max_memory: 1 << 30,
            max_header_size: 32 * 1024,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            shutdown_timeout: Duration::from_secs(10),
            max_page_entries: 20_000,
        }
    }
}
