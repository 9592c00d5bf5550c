//! The first connection to a server that may speak HTTP/2. Parallel requests wait for it, because they share it if the
//! server negotiates HTTP/2. If it does not, each request opens a connection of its own from then on. A request also opens a
//! connection of its own if the first one takes too long or fails.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Handle, Id};
use tokio::sync::{MutexGuard, Notify};

use super::connection::Connection;
use super::pool_key::HttpPoolKey;
use crate::{Deadline, Error, Phase};

/// Maximum number of servers in the table.
const MAX_SERVERS: usize = 4096;
/// Maximum time that a request waits for the connection of another request.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The first connections to all servers.
#[derive(Default)]
pub(super) struct FirstConnections(Mutex<HashMap<(HttpPoolKey, Id), Arc<FirstConnection>>>);

/// The first connection to one server.
#[derive(Default)]
pub(super) struct FirstConnection {
    /// Held by the request that opens the connection.
    lock: tokio::sync::Mutex<()>,
    /// Wakes the waiting requests when the connection could not be opened.
    failed: Notify,
    is_http1: AtomicBool,
}

impl FirstConnections {
    /// Returns the first connection of the current runtime to the server of `key`.
    pub(super) fn for_server(&self, key: &HttpPoolKey) -> Arc<FirstConnection> {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Evicted servers are probed again.
        if servers.len() >= MAX_SERVERS {
            servers.clear();
        }
        servers.entry((key.clone(), Handle::current().id())).or_default().clone()
    }
}

impl FirstConnection {
    /// Waits until no other request is opening the connection, and returns the lock for opening it. Returns `None`
    /// after 1 s or half the connect timeout, whichever is shorter, or when the other request could not open the
    /// connection: the caller then opens a connection of its own.
    ///
    /// # Errors
    /// `Code::TimedOut` if the total time is over.
    pub(super) async fn lock_for_opening(
        &self,
        deadline: &Deadline,
    ) -> Result<Option<MutexGuard<'_, ()>>, Error> {
        let max_wait = MAX_WAIT.min(deadline.connect_timeout() / 2);
        let lock = deadline.bound_probe(max_wait, Phase::Connect, async {
            tokio::select! {
                biased;
                () = self.failed.notified() => Ok(None),
                lock = self.lock.lock() => Ok(Some(lock)),
            }
        });
        lock.await.map(Option::flatten)
    }

    /// Records that the connection could not be opened: the requests that wait for it open connections of their own.
    pub(super) fn record_failure(&self) {
        self.failed.notify_waiters();
    }

    /// Returns `true` if the server has negotiated HTTP/1.1.
    pub(super) fn is_http1(&self) -> bool {
        self.is_http1.load(Ordering::Relaxed)
    }

    /// Records which version the server has negotiated.
    pub(super) fn record(&self, connection: &Connection) {
        let is_http1 = matches!(connection, Connection::Http1 { .. });
        self.is_http1.store(is_http1, Ordering::Relaxed);
    }
}
