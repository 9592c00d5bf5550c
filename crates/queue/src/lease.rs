//! The lines that a worker holds. Their leases are extended until they are finished, delayed or released.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};

use crate::Line;

/// A line that is handed to this worker.
#[derive(Clone, Debug)]
pub struct Lease {
    /// The number of the lease in this worker.
    pub id: u64,
    /// The line.
    pub line: Line,
    /// The number of times that the line was handed to a worker, with this one.
    pub tries: u64,
}

/// The message of a lease.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) message: Arc<Message>,
    pub(crate) digest: String,
    /// `None` if the message is not a line.
    pub(crate) line: Option<Line>,
    pub(crate) tries: u64,
}

/// All leases of a worker.
#[derive(Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<u64, Held>>,
}

impl Leases {
    pub(crate) fn insert(&self, id: u64, held: Held) {
        self.lock().insert(id, held);
    }

    pub(crate) fn get(&self, id: u64) -> Option<Held> {
        self.lock().get(&id).cloned()
    }

    pub(crate) fn remove(&self, id: u64) -> Option<Held> {
        self.lock().remove(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Extends all leases, again and again. `lease` is the time after which the server hands a line to another worker.
    pub(crate) async fn extend(&self, lease: Duration) {
        loop {
            tokio::time::sleep(lease / 3).await;
            let all: Vec<Held> = self.lock().values().cloned().collect();
            for held in all {
                // If the server cannot be reached, the lease ends, and another worker may fetch the line, too.
                let _lost = held.message.ack_with(AckKind::Progress).await;
            }
        }
    }

    /// Gives all lines back, so that other workers get them at once.
    pub(crate) async fn release(&self) {
        let all: Vec<Held> = self.lock().drain().map(|(_, held)| held).collect();
        for held in all {
            // Without this message, the line is handed out again when the lease ends.
            let _lost = held.message.ack_with(AckKind::Nak(None)).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
