//! Requests lines of a bucket, as many as the worker has free slots.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::consumer::pull::{self, Batch};
use async_nats::jetstream::consumer::{AckPolicy, Consumer};
use async_nats::jetstream::{AckKind, Message};
use fetch_url::{Code, Error};
use futures_util::StreamExt as _;

use crate::lease::Held;
use crate::line::BadMessage;
use crate::worker::Shared;
use crate::{Entry, Lease, Line, Outcome, Queue};

/// How long a request for lines waits at the server.
const EXPIRES: Duration = Duration::from_secs(10);
/// The wait after a failed request.
const ERROR_WAIT: Duration = Duration::from_secs(1);
/// A line that arrives when all slots are busy is given back after this time.
const SURPLUS_WAIT: Duration = Duration::from_secs(2);
/// After a surplus line, further lines of the same request are given back for this time.
const DRAIN_WAIT: Duration = Duration::from_millis(200);
/// The delay of a line that only newer workers understand.
const NEWER_DELAY: Duration = Duration::from_secs(60);
/// The maximum number of requests that wait at a bucket, one for each worker.
const MAX_WAITING: i64 = 16_384;

impl Queue {
    /// Opens or creates the consumer of a bucket, with the limit of leases `max_leases`.
    pub(crate) async fn consumer(
        &self,
        bucket: u16,
        max_leases: u16,
    ) -> Result<Consumer<pull::Config>, Error> {
        let config = pull::Config {
            durable_name: Some(format!("b{bucket}")),
            filter_subject: self.line_subject(bucket, "*"),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.lease,
            max_deliver: -1,
            max_waiting: MAX_WAITING,
            max_ack_pending: i64::from(max_leases),
            ..pull::Config::default()
        };
        let consumer = self.lines.create_consumer(config).await;
        consumer.map_err(|error| self.session.error("cannot open a bucket of the queue", &error))
    }
}

/// Requests lines of one bucket while the worker has free slots.
pub(crate) async fn pull_bucket(shared: Arc<Shared>, consumer: Consumer<pull::Config>) {
    let mut reconnected = shared.queue.session.reconnected();
    let mut new_consumers = shared.new_consumers.subscribe();
    loop {
        let free = shared.wait_for_free_slot().await;
        let active = shared.active_buckets.load(Ordering::Relaxed).max(1);
        let count = (free / active).clamp(1, usize::from(shared.options.host_limit));
        reconnected.mark_unchanged();
        new_consumers.mark_unchanged();
        match consumer.batch().max_messages(count).expires(EXPIRES).messages().await {
            Ok(batch) => {
                tokio::select! {
                    () = take_lines(&shared, batch) => {}
                    // The server has forgotten the request.
                    _ = reconnected.changed() => {}
                    _ = new_consumers.changed() => {}
                }
            }
            Err(_) => tokio::time::sleep(ERROR_WAIT).await,
        }
    }
}

/// Offers the lines of one request to the worker.
async fn take_lines(shared: &Arc<Shared>, mut batch: Batch) {
    let active = ActiveBucket::default();
    while let Some(Ok(message)) = batch.next().await {
        active.mark(shared);
        if !offer(shared, message, SURPLUS_WAIT).await {
            while let Ok(Some(Ok(message))) = tokio::time::timeout(DRAIN_WAIT, batch.next()).await {
                offer(shared, message, Duration::ZERO).await;
            }
            return;
        }
    }
}

/// Counts a bucket as active while a request of it delivers lines.
#[derive(Default)]
struct ActiveBucket(std::cell::OnceCell<Arc<Shared>>);

impl ActiveBucket {
    fn mark(&self, shared: &Arc<Shared>) {
        self.0.get_or_init(|| {
            shared.active_buckets.fetch_add(1, Ordering::Relaxed);
            shared.clone()
        });
    }
}

impl Drop for ActiveBucket {
    fn drop(&mut self) {
        if let Some(shared) = self.0.get() {
            shared.active_buckets.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Hands a line to a free slot of the worker. Returns `false` if it was given back, because no slot was free in time.
async fn offer(shared: &Arc<Shared>, message: Message, patience: Duration) -> bool {
    let tries = message.info().map_or(1, |info| u64::try_from(info.delivered).unwrap_or(1));
    let digest = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
    let line = Line::from_message(&message.payload);
    let id = shared.next_id();
    let held = Held { message: Arc::new(message), digest, line: line.as_ref().ok().cloned(), tries };
    shared.leases.insert(id, held.clone());
    // An earlier worker may have ended between the record and the acknowledgement, or the server before it stored the
    // acknowledgement.
    if shared.queue.settle_finished(&held.digest).await.unwrap_or(false) {
        shared.acknowledge(id, &held).await;
        return true;
    }
    match line {
        Ok(line) => {
            if shared.hand_over(Lease { id, line, tries }, patience).await {
                return true;
            }
            give_back(shared, id, None).await;
            false
        }
        Err(BadMessage::Garbage(detail)) => {
            let message = format!("the message is not a line of a queue: {detail}");
            let outcome = Outcome::Failed { code: "usage".to_owned(), exit_status: 2, message };
            let entry = Entry { outcome, tries, worker: shared.options.name.clone() };
            shared.finish(id, &entry).await;
            true
        }
        Err(BadMessage::Newer(version)) => {
            shared.note_newer(&held.digest, version);
            give_back(shared, id, Some(NEWER_DELAY)).await;
            true
        }
    }
}

async fn give_back(shared: &Shared, id: u64, delay: Option<Duration>) {
    if let Some(held) = shared.leases.remove(id) {
        // Without this message, the line is handed out again when the lease ends.
        let _lost = held.message.ack_with(AckKind::Nak(delay)).await;
    }
}

/// Returns the error for a line that only a newer program understands.
pub(crate) fn newer_error(version: u64) -> Error {
    let detail = format!(
        "a line was added by a newer fetch-url (version {version} of the queue); it stays in the queue"
    );
    Error::new(Code::Unsupported, fetch_url::Phase::Plan, detail)
        .with_hint("use a newer fetch-url for the workers")
}
