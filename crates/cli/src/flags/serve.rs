//! The options of `fetch-url serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use fetch_url_serve::ClientNetwork;

use super::deferred::DeferrableFlags;
use super::values::{parse_seconds, parse_size};
use super::{ProxyFlags, TlsFlags};

impl DeferrableFlags for ServeFlags {}

/// Options of `fetch-url serve`.
#[derive(Args, Debug)]
pub struct ServeFlags {
    /// Listen on this address and port; repeatable
    ///
    /// Port 0 is a free port. An address that is not a loopback address also needs --allow-client.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1738", action = ArgAction::Append)]
    pub listen: Vec<SocketAddr>,
    /// Serve clients of this network, besides this computer; repeatable
    #[arg(long, value_name = "ADDRESS/BITS", action = ArgAction::Append, help_heading = "Clients")]
    pub allow_client: Vec<ClientNetwork>,
    /// Accept this host name in the address of the pages; repeatable
    ///
    /// The addresses of --listen and localhost are always accepted. Other names are refused with status
    /// 421, because a web page could point its own name at this computer.
    #[arg(long, value_name = "NAME", action = ArgAction::Append, help_heading = "Clients")]
    pub host_name: Vec<String>,
    /// Maximum number of open connections of all clients
    ///
    /// Further connections wait. With --allow-client, one client address has at most three quarters of
    /// them, and its further connections are closed.
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "256", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Clients")]
    pub max_clients: u16,
    /// Maximum number of requests of one client address at the same time
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "256", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Clients")]
    pub max_requests_per_client: u16,
    /// Maximum memory of the requests of all clients
    ///
    /// Each object counts as 2 MiB, each newsgroup as 8 MiB, each article that is shown as a page as
    /// 48 MiB, each tunnel as 256 KiB. A request that does not fit gets status 503. The minimum is 48M.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size, default_value = "1G", help_heading = "Clients")]
    pub max_memory: u64,
    /// Maximum size of the head of a request
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size, default_value = "32k", help_heading = "Clients")]
    pub max_header_size: u64,
    /// Maximum time from the first to the last byte of the head of a request
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, default_value = "10", help_heading = "Clients")]
    pub header_timeout: Duration,
    /// Maximum time without a request, or without progress because the client does not read
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, default_value = "60", help_heading = "Clients")]
    pub idle_timeout: Duration,
    /// Maximum time to finish answers after SIGTERM
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, default_value = "10", help_heading = "Clients")]
    pub shutdown_timeout: Duration,

    /// Allow targets with addresses that are not public: private, loopback, link-local and those of metadata services
    #[arg(long, help_heading = "Targets")]
    pub allow_private: bool,
    /// Allow a port that is blocked because another protocol uses it, also for CONNECT; repeatable
    #[arg(long, value_name = "PORT", action = ArgAction::Append, help_heading = "Targets")]
    pub allow_port: Vec<u16>,
    /// Serve the files below DIR as file URLs
    ///
    /// File URLs are refused by default. Symbolic links that lead out of DIR, or have an absolute
    /// target, are refused. Needs Linux 5.6.
    #[arg(long, value_name = "DIR", help_heading = "Targets")]
    pub allow_file: Option<PathBuf>,
    /// News server for URLs such as news:comp.lang.rust
    ///
    /// This option overrides the environment variable NNTPSERVER.
    #[arg(long, value_name = "HOST[:PORT]", help_heading = "Targets")]
    pub news_server: Option<String>,
    /// Look up logins in ~/.netrc, for every client
    #[arg(short, long, help_heading = "Targets")]
    pub netrc: bool,
    /// Look up logins in FILE, for every client
    #[arg(long, value_name = "FILE", help_heading = "Targets")]
    pub netrc_file: Option<PathBuf>,
    /// Maximum time for host lookup, connection and TLS handshake together
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, default_value = "30", help_heading = "Targets")]
    pub connect_timeout: Duration,
    /// Fail if a server sends no data for SECONDS
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, default_value = "60", help_heading = "Targets")]
    pub read_timeout: Duration,
    /// Maximum time for each answer; 0 means no limit
    #[arg(short, long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, default_value = "86400", help_heading = "Targets")]
    pub max_time: Duration,
    /// Maximum size of an object, in bytes or with a unit k, M, G; 0 means no limit (default)
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size, help_heading = "Targets")]
    pub max_filesize: Option<u64>,
    /// Maximum number of retries after a transient error
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 1,
        help_heading = "Targets"
    )]
    pub retry: u32,

    /// Store objects of http and ftp servers in DIR; reuse them while fresh, or after the server has confirmed them
    ///
    /// DIR is created, or is an earlier cache; another directory with files is an error. Several servers
    /// may use one DIR. Objects that need a login are never stored.
    #[arg(long, value_name = "DIR", help_heading = "Cache")]
    pub cache: Option<PathBuf>,
    /// Maximum size of the cache; the objects that were not used for the longest time are removed
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size, default_value = "1G", requires = "cache", help_heading = "Cache")]
    pub cache_size: u64,

    /// Append a line for each answer to FILE, in the common log format; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Logs")]
    pub log: Option<PathBuf>,
    /// Append a JSON object for each answer to FILE; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Logs")]
    pub events: Option<PathBuf>,

    /// Options for proxies.
    #[command(flatten, next_help_heading = "Proxies")]
    pub proxy: ProxyFlags,

    /// Options for TLS.
    #[command(flatten, next_help_heading = "TLS")]
    pub tls: TlsFlags,
}
