//! The pool of idle FTP and NNTP connections. Each connection is logged in as one user and reused only for this user.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fetch_url_core::Host;
use tokio::runtime::{Handle, Id};

use super::connector::policy_checks::AddressRules;
use super::idle_capacity::idle_capacity;
use crate::time::Instant;
use crate::{Connector, StartTls};

/// Maximum number of idle connections in the pool.
const MAX_IDLE: usize = 64;
/// Maximum idle time: some servers close idle connections after a minute.
const MAX_IDLE_TIME: Duration = Duration::from_secs(30);
/// Maximum number of idle connections to a server that other runtimes have opened. They may have ended, and servers limit
/// the connections of a client.
const MAX_OF_OTHER_RUNTIMES: usize = 2;

/// The properties that a connection must share with a request to be reused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PoolKey {
    pub(crate) host: String,
    pub(crate) port: u16,
    is_tls: bool,
    start_tls: StartTls,
    address_rules: AddressRules,
    identity: u64,
    /// The proxy; `None` for a direct connection.
    proxy: Option<String>,
}

/// A pool of idle connections. Each connection is reused only on the runtime that has opened it, because the runtime
/// reports its events and may end before the pool.
pub(crate) struct IdlePool<L> {
    connections: Mutex<HashMap<PoolKey, Vec<Idle<L>>>>,
    hasher: RandomState,
}

/// An idle connection.
struct Idle<L> {
    connection: L,
    since: Instant,
    runtime: Id,
}

impl<L> Default for IdlePool<L> {
    fn default() -> Self {
        Self { connections: Mutex::default(), hasher: RandomState::new() }
    }
}

impl<L> IdlePool<L> {
    /// Returns the key for a server. `identity` (credentials and options) is part of it as a keyed hash.
    pub(crate) fn key(
        &self,
        host: &Host<'_>,
        port: u16,
        is_tls: bool,
        connector: &Connector,
        identity: impl Hash,
    ) -> PoolKey {
        PoolKey {
            host: server_name(host),
            port,
            is_tls,
            start_tls: connector.start_tls(),
            address_rules: connector.address_rules(),
            identity: self.hasher.hash_one(identity),
            proxy: connector.proxy_for(host).ok().flatten().map(ToString::to_string),
        }
    }

    /// Removes and returns an idle connection: of those with the lowest rank, the one that was returned last.
    /// Connections for which `rank` returns `None` stay in the pool.
    pub(crate) fn take(&self, key: &PoolKey, rank: impl Fn(&L) -> Option<usize>) -> Option<L> {
        let mut idle = self.lock();
        let connections = idle.get_mut(key)?;
        connections.retain(Idle::is_recent);
        let runtime = Handle::current().id();
        close_others(connections, runtime, |idle| idle.runtime);
        let best = (0..connections.len())
            .rev()
            .filter(|&index| connections[index].runtime == runtime)
            .filter_map(|index| Some((rank(&connections[index].connection)?, index)))
            .min_by_key(|(rank, _)| *rank);
        best.map(|(_, index)| connections.remove(index).connection)
    }

    /// Closes one idle connection of the current runtime. Returns `true` if there was one.
    pub(crate) fn close_one(&self, key: &PoolKey) -> bool {
        self.take(key, |_| Some(0)).is_some()
    }

    /// Returns a connection that `runtime` has opened to the pool. If the pool is full, the one that is idle longest is
    /// closed.
    pub(crate) fn put(&self, key: PoolKey, connection: L, runtime: Id) {
        let mut idle = self.lock();
        if count(&idle) >= idle_capacity(MAX_IDLE) {
            idle.values_mut().for_each(|connections| connections.retain(Idle::is_recent));
            idle.retain(|_, connections| !connections.is_empty());
        }
        if count(&idle) >= idle_capacity(MAX_IDLE) {
            let oldest =
                idle.values_mut().min_by_key(|connections| connections.first().map(|idle| idle.since));
            oldest.into_iter().for_each(|connections| drop(connections.remove(0)));
        }
        idle.entry(key).or_default().push(Idle { connection, since: Instant::now(), runtime });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PoolKey, Vec<Idle<L>>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count<L>(idle: &HashMap<PoolKey, Vec<Idle<L>>>) -> usize {
    idle.values().map(Vec::len).sum()
}

/// Closes the oldest idle connections to a server that other runtimes than `runtime` have opened, except for the last
/// [`MAX_OF_OTHER_RUNTIMES`].
pub(crate) fn close_others<T>(connections: &mut Vec<T>, runtime: Id, runtime_of: impl Fn(&T) -> Id) {
    let others = connections.iter().filter(|idle| runtime_of(idle) != runtime).count();
    let mut excess = others.saturating_sub(MAX_OF_OTHER_RUNTIMES);
    connections.retain(|idle| {
        let is_closed = runtime_of(idle) != runtime && excess > 0;
        excess -= usize::from(is_closed);
        !is_closed
    });
}

impl<L> Idle<L> {
    fn is_recent(&self) -> bool {
        self.since.elapsed() < MAX_IDLE_TIME
    }
}

/// Returns the host name in lower case, for comparison.
pub(crate) fn server_name(host: &Host<'_>) -> String {
    host.to_string().to_ascii_lowercase()
}
