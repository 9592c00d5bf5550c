//! The times of the steps of a request, measured from its start.

use std::time::Instant;

use crate::Timings;
use crate::net::connection_info::ConnectionInfo;

/// Measures the steps of a request.
pub(super) struct Stopwatch {
    started: Instant,
    attempt_started: Instant,
    connections: u32,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { started: now, attempt_started: now, connections: 0 }
    }

    /// Records the start of another attempt.
    pub(super) fn start_attempt(&mut self) {
        self.attempt_started = Instant::now();
    }

    /// Adds the connections that the attempt opened.
    pub(super) fn record_connection(&mut self, connection_info: &ConnectionInfo) {
        self.connections += connection_info.facts().opened;
    }

    /// Returns the times of the last attempt.
    pub(super) fn timings(&self, connection_info: &ConnectionInfo) -> Timings {
        let facts = connection_info.facts();
        let since = |then: Option<Instant>| then.map(|then| then.saturating_duration_since(self.started));
        Timings {
            started: self.attempt_started.saturating_duration_since(self.started),
            resolved: since(facts.resolved),
            connected: since(facts.connected),
            tls_done: since(facts.tls_done),
            sent: since(facts.sent),
            first_byte: since(facts.first_byte),
            remote_addr: facts.remote_addr,
            local_addr: facts.local_addr,
            connections: self.connections,
        }
    }
}
