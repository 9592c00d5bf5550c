//! The state that all connections of a server share.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fetch_url::Error;
use fetch_url::url::HostPort;

use crate::access::ClientNetwork;
use crate::authorization::KnownLogins;
use crate::cache::Cache;
use crate::client_limit::{ClientLimit, ClientPermit};
use crate::fetchers::Fetchers;
use crate::log::Logs;
use crate::memory::MemoryLimit;
use crate::options::{ServeLimits, ServeOptions};
use crate::recent_errors::RecentErrors;

/// The state that all connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) fetchers: Fetchers,
    pub(crate) limits: ServeLimits,
    pub(crate) allowed_clients: Vec<ClientNetwork>,
    pub(crate) host_names: Vec<String>,
    pub(crate) news_server: Option<HostPort<'static>>,
    pub(crate) logs: Logs,
    /// The name of this server in `Via` fields, unique to this process.
    pub(crate) via_name: String,
    pub(crate) known_logins: KnownLogins,
    pub(crate) cache: Option<Arc<Cache>>,
    pub(crate) memory: MemoryLimit,
    requests: Arc<ClientLimit>,
    pub(crate) recent_errors: RecentErrors,
    answers: AtomicUsize,
}

impl Shared {
    /// Creates the state of a server that listens on `endpoints`.
    pub(crate) fn new(options: ServeOptions, endpoints: &[SocketAddr]) -> Result<Self, Error> {
        let fetchers = Fetchers::new(&options, endpoints)?;
        let logs = Logs { access: options.log.clone(), events: options.events.clone() };
        let cache =
            options.cache.as_ref().map(|path| Cache::open(path, &options, logs.clone())).transpose()?;
        Ok(Self {
            fetchers,
            limits: options.limits,
            allowed_clients: options.allowed_clients,
            host_names: options.host_names,
            news_server: options.news_server,
            logs,
            via_name: format!("fetch-url-{:016x}", random_number()),
            known_logins: KnownLogins::default(),
            cache,
            memory: MemoryLimit::new(options.limits.max_memory)?,
            requests: ClientLimit::new(options.limits.max_requests_per_client),
            recent_errors: RecentErrors::default(),
            answers: AtomicUsize::new(0),
        })
    }

    /// Counts a request of `client`, or returns `None` if it has too many.
    pub(crate) fn permit(&self, client: IpAddr) -> Option<ClientPermit> {
        let permit = self.requests.permit(client)?;
        self.answers.fetch_add(1, Ordering::Relaxed);
        Some(permit)
    }

    /// Returns the number of requests since the start.
    pub(crate) fn answers(&self) -> usize {
        self.answers.load(Ordering::Relaxed)
    }
}

/// Returns a number that differs between processes: the keys of the standard hasher are random.
fn random_number() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}
