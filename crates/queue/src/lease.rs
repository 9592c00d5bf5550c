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

/// A delivered, unacknowledged message.
pub(crate) struct Delivery {
    /// The ack subject of the message; `None` if another program sent the message.
    ack_subject: Option<Subject>,
    pub(crate) digest: String,
    /// `None` if the message is not a line.
    pub(crate) line: Option<Line>,
    pub(crate) tries: u64,
    /// The bucket of the line; `None` if another program sent the message.
    pub(crate) bucket: Option<u16>,
    /// The pending messages of the consumer at delivery.
    pub(crate) num_pending: u64,
}

impl Delivery {
    /// Returns the delivery of a message whose subject ends with the digest of the line.
    pub(crate) fn new(message: &Message, line: Option<Line>) -> Self {
        let ack_subject = message.reply.clone();
        let mut parts = message.subject.rsplit('.');
        let digest = parts.next().unwrap_or_default().to_owned();
        let bucket = parts.next().and_then(|bucket| bucket.parse().ok());
        let number = |part| ack_subject.as_ref().and_then(|subject| number_in(subject, part));
        let (deliveries, num_pending) =
            (number(TRIES_FIELD).unwrap_or(1), number(NUM_PENDING_FIELD).unwrap_or(0));
        let tries = deliveries.saturating_add(line.as_ref().map_or(0, |line| line.earlier_tries));
        Self { ack_subject, digest, line, tries, bucket, num_pending }
    }

    /// Tells the server what happens to the line. If the connection is lost, the lease expires.
    pub(crate) async fn ack_with(&self, client: &Client, kind: AckKind) {
        if let Some(subject) = &self.ack_subject {
            let _lost = client.publish(subject.clone(), Bytes::from(kind)).await;
        }
    }
}

/// The part of an ack subject that is the number of times that the message was delivered.
const TRIES_FIELD: usize = 4;
/// The part of an ack subject that is the number of messages that the consumer has not delivered.
const NUM_PENDING_FIELD: usize = 8;

/// Returns the number that is a part of an ack subject. The long form has two more tokens before it: domain and account.
fn number_in(subject: &str, part: usize) -> Option<u64> {
    let dots = subject.bytes().filter(|byte| *byte == b'.').count();
    let part = if dots > 8 { part + 2 } else { part };
    subject.split('.').nth(part)?.parse().ok()
}

/// All leases of a worker.
#[derive(Default)]
pub(crate) struct Leases {
    state: Mutex<State>,
    /// Notified when the last lease ends.
    last_one_ended: Notify,
}

#[derive(Default)]
struct State {
    deliveries: HashMap<u64, Arc<Delivery>>,
    /// The number of leases of each bucket.
    count_by_bucket: HashMap<u16, usize>,
}

impl Leases {
    pub(crate) fn insert(&self, id: u64, delivery: Arc<Delivery>) {
        let mut state = self.lock();
        if let Some(bucket) = delivery.bucket {
            *state.count_by_bucket.entry(bucket).or_default() += 1;
        }
        state.deliveries.insert(id, delivery);
    }

    pub(crate) fn get(&self, id: u64) -> Option<Arc<Delivery>> {
        self.lock().deliveries.get(&id).cloned()
    }

    pub(crate) fn remove(&self, id: u64) -> Option<Arc<Delivery>> {
        let mut state = self.lock();
        let removed = state.deliveries.remove(&id);
        if let Some(bucket) = removed.as_ref().and_then(|delivery| delivery.bucket) {
            state.count_by_bucket.entry(bucket).and_modify(|count| *count -= 1);
        }
        if state.deliveries.is_empty() {
            self.last_one_ended.notify_one();
        }
        removed
    }

    /// Waits until the last lease ends.
    pub(crate) async fn last_one_ended(&self) {
        self.last_one_ended.notified().await;
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().deliveries.len()
    }

    /// Returns the number of leases of a bucket.
    pub(crate) fn bucket_count(&self, bucket: u16) -> usize {
        self.lock().count_by_bucket.get(&bucket).copied().unwrap_or(0)
    }

    /// Extends all leases periodically. `lease` is the time after which the server hands a line to another worker.
    pub(crate) async fn extend(&self, client: &Client, lease: Duration) {
        loop {
            tokio::time::sleep(lease / 3).await;
            let all: Vec<Arc<Delivery>> = self.lock().deliveries.values().cloned().collect();
            for delivery in all {
                // If the server cannot be reached, another worker may fetch the line, too.
                delivery.ack_with(client, AckKind::Progress).await;
            }
        }
    }

    /// Gives all lines back, so that other workers get them at once.
    pub(crate) async fn release(&self, client: &Client) {
        let all = std::mem::take(&mut *self.lock()).deliveries.into_values();
        for delivery in all {
            delivery.ack_with(client, AckKind::Nak(None)).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_and_pending_messages_are_read_from_both_forms_of_the_ack_subject() {
        let numbers = |ack| (number_in(ack, TRIES_FIELD), number_in(ack, NUM_PENDING_FIELD));
        let short = "$JS.ACK.corpus.b10.3.417.418.1795493319412570340.583";
        assert_eq!(numbers(short), (Some(3), Some(583)));
        let long = "$JS.ACK.hub.A1B2.corpus.b10.4.417.418.1795493319412570340.583";
        assert_eq!(numbers(long), (Some(4), Some(583)));
        let longer = "$JS.ACK.hub.A1B2.corpus.b10.5.417.418.1795493319412570340.583.x";
        assert_eq!(numbers(longer), (Some(5), Some(583)));
        assert_eq!(numbers(""), (None, None));
    }
}
