//! The state that a worker publishes for the status of the queue.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::Outcome;
use crate::queue::kind;
use crate::worker::Shared;

/// How often a worker publishes its state.
pub(crate) const INTERVAL: Duration = Duration::from_secs(2);

/// The totals of a worker.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    done: u64,
    failed: u64,
    bytes: u64,
    /// Bytes per second, averaged over the last intervals.
    rate: u64,
    bytes_at_last_state: u64,
    /// The busy hosts, and when their lines are tried again.
    pub(crate) backing_off: HashMap<String, Instant>,
}

impl Totals {
    pub(crate) const fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Done { bytes, .. } => {
                self.done += 1;
                self.bytes += *bytes;
            }
            Outcome::Failed { .. } => self.failed += 1,
        }
    }

    fn update_rate(&mut self) {
        let new = (self.bytes - self.bytes_at_last_state) / INTERVAL.as_secs();
        self.rate = (self.rate * 2 + new) / 3;
        self.bytes_at_last_state = self.bytes;
    }
}

impl Shared {
    /// Publishes the state of this worker, again and again.
    pub(crate) async fn publish_state_repeatedly(&self) {
        loop {
            self.publish_state(false).await;
            tokio::time::sleep(INTERVAL).await;
        }
    }

    pub(crate) async fn publish_state(&self, has_ended: bool) {
        let subject = self.queue.subject(kind::WORKER, &self.options.id);
        let state = Bytes::from(self.state(has_ended).to_string());
        // A state that is lost is replaced by the next one.
        let _lost = self.client.publish(subject, state).await;
    }

    fn state(&self, has_ended: bool) -> Value {
        let now = Instant::now();
        let mut totals = self.totals();
        totals.update_rate();
        totals.backing_off.retain(|_, until| *until > now);
        let hosts: Vec<Value> = totals
            .backing_off
            .iter()
            .map(|(host, until)| json!({ "host": host, "seconds": until.duration_since(now).as_secs() + 1 }))
            .collect();
        json!({
            "v": 1,
            "name": self.options.name,
            "in_flight": self.leases.len(),
            "done": totals.done,
            "failed": totals.failed,
            "bytes": totals.bytes,
            "rate": totals.rate,
            "backing_off": hosts,
            "ended": has_ended,
        })
    }
}
