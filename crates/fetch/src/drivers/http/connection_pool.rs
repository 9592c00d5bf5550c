//! Idle connections, kept for later requests to the same server with the same credentials and network rules.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Handle, Id};

use super::connection::{Connection, Reservation};
use super::first_connection::{FirstConnection, FirstConnections};
use super::plan::HttpPlan;
use super::pool_key::HttpPoolKey;
use crate::RunContext;
use crate::net::idle_capacity::idle_capacity;
use crate::net::idle_pool::close_others;
use crate::time::Instant;

/// Maximum number of idle connections in the pool.
const MAX_IDLE: usize = 256;
/// An idle connection is not used after this time, because most servers have closed it by then. It is closed when the
/// next request to its server is sent, or when the pool is full.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The pool of idle connections. Each connection is used only on the runtime that has opened it, because its task runs
/// there and ends with it.
#[derive(Default)]
pub(super) struct ConnectionPool {
    idle: Mutex<HashMap<HttpPoolKey, Vec<Idle>>>,
    hasher: RandomState,
    first_connections: FirstConnections,
}

/// An idle connection.
struct Idle {
    connection: Connection,
    since: Instant,
    runtime: Id,
}

/// A connection that is in use, and the pool it returns to.
pub(super) struct PooledConnection {
    pub(super) connection: Connection,
    _reservation: Option<Reservation>,
    key: HttpPoolKey,
    /// The runtime that has opened the connection.
    runtime: Id,
    pool: Arc<ConnectionPool>,
    /// The connection may serve another request.
    is_reusable: bool,
}

impl ConnectionPool {
    /// Returns the key of the connections that can serve `plan`.
    pub(super) fn pool_key(&self, plan: &HttpPlan, ctx: &RunContext) -> HttpPoolKey {
        let login = plan.login.as_ref().map(|login| (login.user(), login.expose_password()));
        let identity = self.hasher.hash_one((login, plan.headers.get(http::header::AUTHORIZATION)));
        HttpPoolKey {
            is_tls: plan.is_tls,
            is_forwarded: plan.is_forwarded,
            allows_http2: plan.allows_http2(),
            host: plan.host.clone(),
            port: plan.port,
            address_rules: ctx.connector.address_rules(),
            proxy: ctx.connector.proxy_for(&plan.host).ok().flatten().map(ToString::to_string),
            identity,
        }
    }

    /// Returns `true` if a connection of the current runtime for `key` is in the pool, and can be reserved for a request
    /// with or without a body.
    pub(super) fn contains(&self, key: &HttpPoolKey, has_body: bool) -> bool {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let runtime = Handle::current().id();
        let is_free = |idle: &Idle| idle.runtime == runtime && idle.connection.reserve(has_body).is_some();
        idle.get(key).is_some_and(|connections| connections.iter().any(is_free))
    }

    /// Returns the first connection to the server of `key`, which parallel requests share if it is HTTP/2, or `None` if
    /// it cannot be HTTP/2.
    pub(super) fn first_connection(&self, key: &HttpPoolKey) -> Option<Arc<FirstConnection>> {
        key.allows_http2.then(|| self.first_connections.for_server(key)).filter(|first| !first.is_http1())
    }

    /// Takes the connection that became idle last, for a request with or without a body. An HTTP/2 connection stays in the
    /// pool, for parallel requests.
    pub(super) fn take(self: &Arc<Self>, key: &HttpPoolKey, has_body: bool) -> Option<PooledConnection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let connections = idle.get_mut(key)?;
        connections.retain(Idle::is_recent);
        let runtime = Handle::current().id();
        close_others(connections, runtime, |idle| idle.runtime);
        let newest_first = connections.iter().enumerate().rev().filter(|(_, idle)| idle.runtime == runtime);
        let mut free =
            newest_first.filter_map(|(index, idle)| Some((index, idle.connection.reserve(has_body)?)));
        let (index, reservation) = free.next()?;
        let connection = match connections[index].connection.clone_if_multiplexed() {
            Some(shared) => shared,
            None => connections.remove(index).connection,
        };
        Some(PooledConnection {
            connection,
            _reservation: Some(reservation),
            key: key.clone(),
            runtime,
            pool: self.clone(),
            is_reusable: true,
        })
    }

    /// Registers a new connection of the current runtime, for a request with or without a body. An HTTP/2 connection is put
    /// into the pool at once, for parallel requests.
    pub(super) fn check_out_new(
        self: &Arc<Self>,
        connection: Connection,
        key: HttpPoolKey,
        has_body: bool,
    ) -> PooledConnection {
        let runtime = Handle::current().id();
        let _reservation = connection.reserve(has_body);
        if let Some(shared) = connection.clone_if_multiplexed() {
            self.insert_idle(key.clone(), shared, runtime);
        }
        PooledConnection { connection, _reservation, key, runtime, pool: self.clone(), is_reusable: true }
    }

    /// Removes all connections of a key, because one of them was closed.
    pub(super) fn discard(&self, key: &HttpPoolKey) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    fn insert_idle(&self, key: HttpPoolKey, connection: Connection, runtime: Id) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.values().map(Vec::len).sum::<usize>() >= idle_capacity(MAX_IDLE) {
            evict_idle(&mut idle);
        }
        idle.entry(key).or_default().push(Idle { connection, since: Instant::now(), runtime });
    }
}

/// Closes the connections that reached the idle timeout; if the pool is still full, also the one that is idle
/// longest.
fn evict_idle(idle: &mut HashMap<HttpPoolKey, Vec<Idle>>) {
    for connections in idle.values_mut() {
        connections.retain(Idle::is_recent);
    }
    idle.retain(|_, connections| !connections.is_empty());
    if idle.values().map(Vec::len).sum::<usize>() < idle_capacity(MAX_IDLE) {
        return;
    }
    let oldest = idle.values_mut().min_by_key(|connections| connections.first().map(|idle| idle.since));
    if let Some(connections) = oldest {
        connections.remove(0);
    }
}

impl Idle {
    fn is_recent(&self) -> bool {
        self.since.elapsed() < IDLE_TIMEOUT
    }
}

impl PooledConnection {
    /// Closes the connection after this response: the server has replied before it got the whole request, so the next
    /// request would wait behind the rest of this one (RFC 9112 §9.3).
    pub(super) const fn forbid_reuse(&mut self) {
        self.is_reusable = false;
    }

    /// Returns the connection to the pool, after a complete response.
    pub(super) fn release(self) {
        // An HTTP/2 connection, which has no exchange of its own, is in the pool already.
        if self.is_reusable && self.connection.exchange().is_some() {
            self.pool.insert_idle(self.key, self.connection, self.runtime);
        }
    }
}
