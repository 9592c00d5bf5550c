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

    /// Returns the times of the attempt that was answered.
    pub(super) fn timings(&self, connection_info: &ConnectionInfo) -> Timings {
        let facts = connection_info.facts();
        let since = |then: Option<Instant>| then.map(|then| then.saturating_duration_since(self.started));
        Timings {
            started: self.attempt_started.saturating_duration_since(self.started),
            resolved: since(facts.resolved),
            connected: since(facts.connected),
            secured: since(facts.secured),
            sent: since(facts.sent),
            replied: since(facts.replied),
            peer: facts.peer,
            local: facts.local,
            connections: self.connections,
        }
    }
}
