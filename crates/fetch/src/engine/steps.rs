//! When each step of a request was done, counted from its beginning.

use std::time::Instant;

use crate::Steps;
use crate::net::contact::Contact;

/// Counts from the beginning of a request.
pub(super) struct Clock {
    begun: Instant,
    attempt: Instant,
    connections: u32,
}

impl Clock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { begun: now, attempt: now, connections: 0 }
    }

    /// Another attempt begins.
    pub(super) fn attempt(&mut self) {
        self.attempt = Instant::now();
    }

    /// What the attempt met.
    pub(super) fn met(&mut self, contact: &Contact) {
        self.connections += contact.facts().opened;
    }

    /// The steps of the attempt that was answered.
    pub(super) fn steps(&self, contact: &Contact) -> Steps {
        let facts = contact.facts();
        let since = |then: Option<Instant>| then.map(|then| then.saturating_duration_since(self.begun));
        Steps {
            begun: self.attempt.saturating_duration_since(self.begun),
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
