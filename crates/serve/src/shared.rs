//! The state that all connections of a server share.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fetch_url::Error;
use fetch_url::url::HostPort;

use crate::access::ClientNetwork;
use crate::authorization::KnownLogins;
use crate::cache::Cache;
use crate::client_limit::{ClientLimit, ClientPermit};
use crate::fetchers::Fetchers;
use crate::log::{Logs, unix_time};
use crate::memory::MemoryLimit;
use crate::options::{ServeLimits, ServeOptions};

/// The number of errors that the start page shows.
const MAX_RECENT_ERRORS: usize = 10;

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
    recent_errors: Mutex<VecDeque<RecentError>>,
    answers: AtomicUsize,
}

/// An error that the start page shows.
#[derive(Clone, Debug)]
pub(crate) struct RecentError {
    pub(crate) time: i64,
    /// The URL, without its password.
    pub(crate) url: String,
    pub(crate) message: String,
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
            recent_errors: Mutex::default(),
            answers: AtomicUsize::new(0),
        })
    }

    /// Counts a request of `client`, or returns `None` if it has too many.
    pub(crate) fn permit(&self, client: IpAddr) -> Option<ClientPermit> {
        let permit = self.requests.permit(client)?;
        self.answers.fetch_add(1, Ordering::Relaxed);
        Some(permit)
    }

    /// Records an error for the start page.
    pub(crate) fn record_error(&self, url: String, message: String) {
        let mut errors = self.recent_errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.retain(|earlier| earlier.url != url || earlier.message != message);
        errors.truncate(MAX_RECENT_ERRORS - 1);
        errors.push_front(RecentError { time: unix_time(), url, message });
    }

    /// Returns the last errors, the newest first.
    pub(crate) fn recent_errors(&self) -> Vec<RecentError> {
        self.recent_errors.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
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
