//! The times and addresses of a connection, for reports.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::time::Instant;

/// The record of the connection of one attempt. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionInfo(Arc<Mutex<ConnectionRecord>>);

/// The addresses of a connection: remote, local.
pub(crate) type Endpoints = (Option<SocketAddr>, Option<SocketAddr>);

/// The times of the steps of an attempt, and the addresses of its connection: the value that the clones of a
/// [`ConnectionInfo`] share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConnectionRecord {
    pub(crate) resolved: Option<Instant>,
    pub(crate) connected: Option<Instant>,
    pub(crate) tls_done: Option<Instant>,
    pub(crate) sent: Option<Instant>,
    pub(crate) first_byte: Option<Instant>,
    /// The time at which bytes were last received.
    pub(crate) last_received: Option<Instant>,
    /// The time at which a protocol machine last took the end of a line (LF).
    pub(crate) last_line: Option<Instant>,
    /// Number of bytes that were received, except by HTTP and by the control connection of FTP.
    pub(crate) received_bytes: u64,
    /// The time at which bytes of a request body were last sent.
    pub(crate) last_sent: Option<Instant>,
    /// Number of bytes of a request body that were sent.
    pub(crate) sent_bytes: u64,
    pub(crate) remote_addr: Option<SocketAddr>,
    pub(crate) local_addr: Option<SocketAddr>,
    /// Number of connections that were opened.
    pub(crate) opened: u32,
}

impl ConnectionInfo {
    /// Changes the record.
    pub(crate) fn update(&self, change: impl FnOnce(&mut ConnectionRecord)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns a copy of the record.
    pub(crate) fn snapshot(&self) -> ConnectionRecord {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the addresses of the connection that was opened last.
    pub(crate) fn endpoints(&self) -> Endpoints {
        let record = self.snapshot();
        (record.remote_addr, record.local_addr)
    }
}
