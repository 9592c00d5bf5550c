//! The lines that a worker holds. Their leases are extended until they are finished, delayed or released.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::AckKind;
use async_nats::{Client, Message, Subject};
use bytes::Bytes;
use tokio::sync::Notify;

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

/// The line of a lease.
pub(crate) struct Held {
    /// The subject to which the worker says what happens to the line; `None` if another program sent the message.
    reply: Option<Subject>,
    pub(crate) digest: String,
    /// `None` if the message is not a line.
    pub(crate) line: Option<Line>,
    pub(crate) tries: u64,
}

impl Held {
    /// Returns the lease of a message whose subject ends with the digest of the line.
    pub(crate) fn new(message: &Message, line: Option<Line>) -> Self {
        let reply = message.reply.clone();
        let digest = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
        let tries = reply.as_ref().map_or(1, |reply| tries(reply));
        Self { reply, digest, line, tries }
    }

    /// Tells the server what happens to the line. If the connection is lost, the lease ends by itself.
    pub(crate) async fn reply(&self, client: &Client, kind: AckKind) {
        if let Some(reply) = &self.reply {
            let _lost = client.publish(reply.clone(), Bytes::from(kind)).await;
        }
    }
}

/// Returns how often a line was handed out: the fifth part of the reply subject, or the seventh if it has the domain
/// and the account, too.
fn tries(reply: &str) -> u64 {
    let dots = reply.bytes().filter(|byte| *byte == b'.').count();
    let index = if dots > 8 { 6 } else { 4 };
    reply.split('.').nth(index).and_then(|tries| tries.parse().ok()).unwrap_or(1)
}

/// All leases of a worker.
#[derive(Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<u64, Arc<Held>>>,
    /// Notified when the last lease ends.
    last_one_ended: Notify,
}

impl Leases {
    pub(crate) fn insert(&self, id: u64, held: Arc<Held>) {
        self.lock().insert(id, held);
    }

    pub(crate) fn get(&self, id: u64) -> Option<Arc<Held>> {
        self.lock().get(&id).cloned()
    }

    pub(crate) fn remove(&self, id: u64) -> Option<Arc<Held>> {
        let mut held = self.lock();
        let removed = held.remove(&id);
        if held.is_empty() {
            self.last_one_ended.notify_one();
        }
        removed
    }

    /// Waits until the last lease ends.
    pub(crate) async fn last_one_ended(&self) {
        self.last_one_ended.notified().await;
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Extends all leases, again and again. `lease` is the time after which the server hands a line to another worker.
    pub(crate) async fn extend(&self, client: &Client, lease: Duration) {
        loop {
            tokio::time::sleep(lease / 3).await;
            let all: Vec<Arc<Held>> = self.lock().values().cloned().collect();
            for held in all {
                // If the server cannot be reached, another worker may fetch the line, too.
                held.reply(client, AckKind::Progress).await;
            }
        }
    }

    /// Gives all lines back, so that other workers get them at once.
    pub(crate) async fn release(&self, client: &Client) {
        let all: Vec<Arc<Held>> = self.lock().drain().map(|(_, held)| held).collect();
        for held in all {
            held.reply(client, AckKind::Nak(None)).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_tries_is_read_from_both_forms_of_the_reply_subject() {
        assert_eq!(tries("$JS.ACK.corpus.b10.3.417.418.1795493319412570340.583"), 3);
        assert_eq!(tries("$JS.ACK.hub.A1B2.corpus.b10.4.417.418.1795493319412570340.583"), 4);
        assert_eq!(tries("$JS.ACK.hub.A1B2.corpus.b10.5.417.418.1795493319412570340.583.x"), 5);
        assert_eq!(tries(""), 1);
    }
}
