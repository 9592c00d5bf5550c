//! Lines that are set aside after a transient error: until they are due, they do not count as lines of their host.
//!
//! The server counts a line that is delayed in its bucket as handed out, so lines that keep failing would use up the limit
//! of their host, and no other line of the bucket would be fetched. Such a line is moved to the subject
//! `NAME.h.ID.later.DIGEST`, whose consumer has no limit, and back to the end of its bucket when it is due. It is published
//! at the new place before it is removed from the old one, so it is always in the queue.

use std::time::Duration;

use async_nats::Message;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use bytes::Bytes;
use fetch_url::Error;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::error::{Cause, cause};
use crate::lease::Delivery;
use crate::pull::MAX_WAITING;
use crate::queue::kind;
use crate::record::payload;
use crate::requests::{Reply, Requests};
use crate::worker::Shared;
use crate::{Line, Queue};

/// The part of the subject of lines that are set aside, where others have their bucket.
pub(crate) const SET_ASIDE: &str = "later";
/// The wait after a request for these lines has failed.
const ERROR_WAIT: Duration = Duration::from_secs(1);

impl Queue {
    pub(crate) fn set_aside_subject(&self, digest: &str) -> String {
        self.subject(kind::LINE, &format!("{SET_ASIDE}.{digest}"))
    }

    /// Returns the name of the consumer of the lines that are set aside.
    pub(crate) fn set_aside_consumer(&self) -> String {
        format!("{SET_ASIDE}-{}", self.id)
    }

    /// Opens or creates the consumer of the lines that are set aside.
    pub(crate) async fn open_set_aside(&self) -> Result<(), Error> {
        let config = pull::Config {
            durable_name: Some(self.set_aside_consumer()),
            filter_subject: self.set_aside_subject("*"),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.lease,
            max_deliver: -1,
            max_waiting: MAX_WAITING,
            max_ack_pending: -1,
            ..pull::Config::default()
        };
        let opened = self.lines.create_consumer(config).await;
        opened.map(|_| ()).map_err(|error| self.session.error("cannot open the delayed lines", &error))
    }

    /// Returns `true` if the queue has lines that are set aside.
    pub(crate) async fn has_set_aside(&self) -> Result<bool, Error> {
        let what = "cannot read the delayed lines";
        let subjects = self.lines.info_with_subjects(self.set_aside_subject("*")).await;
        let mut subjects = subjects.map_err(|error| self.session.error(what, &error))?;
        let first = subjects.next().await.transpose();
        Ok(first.map_err(|error| self.session.error(what, &error))?.is_some())
    }

    /// Returns the sequence number of the message of a line that is set aside.
    pub(crate) async fn set_aside_message(&self, digest: &str) -> Result<Option<u64>, Error> {
        self.message_at(self.set_aside_subject(digest)).await
    }

    /// Publishes a line at the place of the lines that are set aside. The caller acknowledges it in its bucket afterwards.
    async fn set_aside(
        &self,
        delivery: &Delivery,
        line: &Line,
        bucket: u16,
        delay: Duration,
    ) -> Result<(), Error> {
        let mut line = line.clone();
        // Like a line that was added again, it may be found twice in the queue, so its entry is looked up each time.
        line.is_retry = true;
        line.earlier_tries = delivery.tries;
        let mut message = line.to_json();
        message["bucket"] = json!(bucket);
        message["delay"] = json!(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
        self.publish_line(self.set_aside_subject(&delivery.digest), payload(&message)).await
    }

    /// Publishes a line, unless its subject has a message.
    async fn publish_line(&self, subject: String, message: Bytes) -> Result<(), Error> {
        let what = "cannot delay a line";
        let sent = self.session.context().publish(subject, message).await;
        match sent.map_err(|error| self.session.error(what, &error))?.await {
            Err(error) if cause(&error) != Cause::SubjectTaken => Err(self.session.error(what, &error)),
            _ => Ok(()),
        }
    }
}

impl Shared {
    /// Sets a line aside. If the server does not store it, the line is delayed in its bucket.
    pub(crate) async fn set_aside(&self, id: u64, delay: Duration) {
        let Some(delivery) = self.leases.get(id) else { return };
        if let (Some(line), Some(bucket)) = (&delivery.line, delivery.bucket)
            && self.queue.set_aside(&delivery, line, bucket, delay).await.is_ok()
        {
            return self.acknowledge(id, &delivery).await;
        }
        self.leases.remove(id);
        self.slots.check_again();
        delivery.ack_with(&self.client, AckKind::Nak(Some(delay))).await;
    }

    /// Takes the lines that are set aside: those that are new wait at the server for their delay, and the others are moved
    /// back to their buckets.
    pub(crate) async fn return_due_lines(&self) {
        loop {
            if let Ok(mut requests) = Requests::open(&self.queue, &self.queue.set_aside_consumer()).await {
                while requests.send_for_next().await.is_ok() {
                    match requests.next().await {
                        Reply::Line(message) => self.wait_or_return(&message).await,
                        Reply::NoMoreLines => {}
                        Reply::Failed => break,
                    }
                }
            }
            tokio::time::sleep(ERROR_WAIT).await;
        }
    }

    /// Delays a line that is handed out for the first time, and moves it back to its bucket the next time. What the server
    /// does not answer is repeated when the lease ends.
    async fn wait_or_return(&self, message: &Message) {
        let Ok(line) = Line::from_message(&message.payload) else {
            return self.remove_orphaned_message(&message.subject).await;
        };
        // Without the line, it has the number of times that this consumer has handed it out.
        let delivery = Delivery::new(message, None);
        let value: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
        let delay = Duration::from_millis(value["delay"].as_u64().unwrap_or_default());
        if delivery.tries == 1 && !delay.is_zero() {
            return delivery.ack_with(&self.client, AckKind::Nak(Some(delay))).await;
        }
        let bucket = value["bucket"].as_u64().and_then(|bucket| u16::try_from(bucket).ok());
        let bucket = bucket.filter(|bucket| *bucket < self.queue.buckets);
        let bucket = bucket.unwrap_or_else(|| self.queue.bucket(&line));
        let subject = self.queue.line_subject(bucket, &delivery.digest);
        if self.queue.publish_line(subject, payload(&line.to_json())).await.is_ok() {
            delivery.ack_with(&self.client, AckKind::Ack).await;
        }
    }
}
