//! The times of the steps of a request, measured from its start.

use crate::Timings;
use crate::net::connection_info::{ConnectionInfo, ConnectionRecord};
use crate::time::Instant;

/// Measures the steps of a request.
pub(super) struct Stopwatch {
    started: Instant,
    attempt_started: Instant,
    connections: u32,
    /// The connection of the last attempt that has ended.
    last: ConnectionRecord,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { started: now, attempt_started: now, connections: 0, last: ConnectionRecord::default() }
    }

    /// Records the start of another attempt.
    pub(super) fn start_attempt(&mut self) {
        self.attempt_started = Instant::now();
    }

    /// Records the connection of an attempt that has ended.
    pub(super) fn record_connection(&mut self, connection_info: &ConnectionInfo) {
        self.last = connection_info.snapshot();
        self.connections += self.last.opened;
    }

    /// Returns the times of the last attempt.
    pub(super) fn timings(&self) -> Timings {
        let record = &self.last;
        let since = |then: Option<Instant>| then.map(|then| then.saturating_duration_since(self.started));
        Timings {
            started: self.attempt_started.saturating_duration_since(self.started),
            resolved: since(record.resolved),
            connected: since(record.connected),
            tls_done: since(record.tls_done),
            sent: since(record.sent),
            first_byte: since(record.first_byte),
            remote_addr: record.remote_addr,
            local_addr: record.local_addr,
            connections: self.connections,
        }
    }
}
