//! Requests lines of a bucket, as many as the worker has free slots.

use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::Message;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use fetch_url::{Code, Error};
use tokio::sync::watch::Receiver;

use crate::lease::Delivery;
use crate::line::BadMessage;
use crate::requests::{Reply, Requests};
use crate::slots::SlotReservation;
use crate::worker::Shared;
use crate::{Entry, Lease, Line, Outcome, Queue};

/// The wait if the connection does not take a request.
const ERROR_WAIT: Duration = Duration::from_secs(1);
/// The wait after the server has refused a request, while the repair task recreates the consumer.
const FAILURE_WAIT: Duration = Duration::from_millis(200);
/// A line that arrives when all slots are busy is given back after this time.
const SURPLUS_WAIT: Duration = Duration::from_secs(2);
/// Maximum time for which slots stay reserved.
const SLOT_RESERVATION_TIMEOUT: Duration = Duration::from_millis(500);
/// The longest wait for the end of the requests of a bucket.
const END_TIME: Duration = Duration::from_secs(2);
/// The delay of a line with an unsupported format version.
const UNSUPPORTED_VERSION_DELAY: Duration = Duration::from_secs(60);
/// The maximum number of requests that wait at a consumer, one for each worker.
pub(crate) const MAX_WAITING: i64 = 16_384;

impl Queue {
    /// Opens or creates the consumer of a bucket, with the limit of leases `max_leases`.
    pub(crate) async fn consumer(
        &self,
        bucket: u16,
        max_leases: u16,
    ) -> Result<Consumer<pull::Config>, Error> {
        let config = pull::Config {
            durable_name: Some(self.consumer_name(bucket)),
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

/// Requests lines of one bucket while the worker has free slots. `expected` is the number of lines in it at the start.
pub(crate) async fn pull_bucket(shared: Arc<Shared>, number: u16, mut expected: u64) {
    let mut reconnected = shared.queue.session.reconnected();
    let mut new_consumers = shared.new_consumers.subscribe();
    loop {
        tokio::select! {
            biased;
            () = shared.stopped() => return,
            // A worker that is busy for long has no request at the server: another worker gets the lines.
            _ = shared.slots.reserve(|_| Some(0)) => {}
        }
        reconnected.mark_unchanged();
        new_consumers.mark_unchanged();
        match Requests::open(&shared.queue, &shared.queue.consumer_name(number)).await {
            Ok(requests) => {
                let mut bucket =
                    Bucket { shared: shared.clone(), number, requests, expected, lines_without_entry: 0 };
                let is_stopped = tokio::select! {
                    biased;
                    () = shared.stopped() => true,
                    () = bucket.take_lines(&mut reconnected, &mut new_consumers) => false,
                };
                expected = bucket.return_unoffered().await;
                if is_stopped {
                    return;
                }
            }
            Err(_) => tokio::time::sleep(ERROR_WAIT).await,
        }
    }
}

/// A bucket from which lines are taken.
struct Bucket {
    shared: Arc<Shared>,
    number: u16,
    requests: Requests,
    /// The number of lines that the server is expected to hand out at once. Slots are reserved for them, because the
    /// buckets together may have more lines than the worker has slots, and the server counts each time that it hands
    /// out a line as a try.
    expected: u64,
    /// Consecutive first deliveries without a stored result.
    lines_without_entry: u16,
}

impl Bucket {
    /// Requests lines and offers them to the worker, until the server may have dropped the requests or its deliveries,
    /// until a line has found no free slot, or until all slots have been busy for a while.
    async fn take_lines(&mut self, reconnected: &mut Receiver<u64>, new_consumers: &mut Receiver<u64>) {
        loop {
            let reserved = self.reserve().await;
            // An error means that the connection was closed for good.
            if reconnected.has_changed().unwrap_or(false) || new_consumers.has_changed().unwrap_or(false) {
                return;
            }
            let requests_lost = async {
                tokio::select! {
                    _ = reconnected.changed() => {}
                    _ = new_consumers.changed() => {}
                }
            };
            if self.request(reserved, requests_lost).await.is_break() {
                return;
            }
        }
    }

    /// Waits until a slot is free and the bucket is below the limit per host, and reserves slots for the lines that the
    /// bucket is expected to have.
    async fn reserve(&self) -> SlotReservation {
        let host_limit = usize::from(self.shared.options.host_limit);
        let expected = usize::try_from(self.expected).unwrap_or(usize::MAX);
        let count = |free: usize| {
            let remaining_limit = host_limit.saturating_sub(self.shared.leases.bucket_count(self.number));
            let active = self.shared.active_buckets.load(Ordering::Relaxed).max(1);
            (remaining_limit > 0).then(|| (free / active).clamp(1, remaining_limit).min(expected))
        };
        self.shared.slots.reserve(count).await
    }

    /// Withdraws the requests, and returns the lines that were delivered and have not been offered. Otherwise the server
    /// could deliver returned lines to these requests again. Returns the number of lines that the bucket is expected to
    /// have.
    async fn return_unoffered(self) -> u64 {
        let Self { shared, requests, expected, .. } = self;
        // If the server does not answer, the leases of such lines end by themselves.
        let rest = tokio::time::timeout(END_TIME, requests.end()).await.unwrap_or_default();
        for message in &rest {
            Delivery::new(message, None).ack_with(&shared.client, AckKind::Nak(None)).await;
        }
        expected.max(u64::try_from(rest.len()).unwrap_or(0))
    }

    /// Sends one pull request and offers its lines to the worker: as many as slots are reserved, or the next one, whenever it
    /// is added. Returns `Break` if the request may still deliver lines.
    async fn request(
        &mut self,
        mut reserved: SlotReservation,
        requests_lost: impl Future<Output = ()>,
    ) -> ControlFlow<()> {
        let count = reserved.count().max(1);
        let is_sent = match reserved.count() {
            0 => self.requests.send_for_next().await,
            count => self.requests.send_for_available(count).await,
        };
        if is_sent.is_err() {
            tokio::time::sleep(ERROR_WAIT).await;
            return ControlFlow::Break(());
        }
        let mut requests_lost = pin!(requests_lost);
        let active = ActiveBucket::default();
        for _ in 0..count {
            // Only the wait for a line is cancelled: the lease of a line that is offered must not be forgotten.
            let reply = tokio::select! {
                biased;
                reply = self.requests.next() => reply,
                () = reservation_ends(&reserved) => {
                    self.expected = 0;
                    return ControlFlow::Break(());
                }
                () = &mut requests_lost => return ControlFlow::Break(()),
                () = self.shared.slots.wait_until_saturated() => return ControlFlow::Break(()),
            };
            let message = match reply {
                Reply::Line(message) => message,
                Reply::NoMoreLines => {
                    self.expected = 0;
                    return ControlFlow::Continue(());
                }
                Reply::Failed => {
                    self.expected = 0;
                    tokio::time::sleep(FAILURE_WAIT).await;
                    return ControlFlow::Break(());
                }
            };
            active.mark(&self.shared);
            if !self.offer(&message, &mut reserved).await {
                self.expected = self.expected.max(1);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands a line to a slot of the worker. Returns `false` if it was given back, because no slot was free in time.
    async fn offer(&mut self, message: &Message, reserved: &mut SlotReservation) -> bool {
        let shared = &self.shared;
        let line = Line::from_message(&message.payload);
        let id = shared.next_id();
        let delivery = Arc::new(Delivery::new(message, line.as_ref().ok().cloned()));
        let tries = delivery.tries;
        self.expected = delivery.num_pending;
        shared.leases.insert(id, delivery.clone());
        if self.is_finished(&delivery).await {
            self.shared.acknowledge(id, &delivery).await;
            return true;
        }
        let shared = &self.shared;
        match line {
            Ok(line) => {
                if shared.slots.hand_over(Lease { id, line, tries }, reserved, SURPLUS_WAIT).await {
                    return true;
                }
                give_back(shared, id, None).await;
                false
            }
            Err(BadMessage::Invalid(detail)) => {
                let message = format!("the message is not a line of a queue: {detail}");
                let outcome = Outcome::Failed { code: "usage".to_owned(), exit_status: 2, message };
                let entry = Entry { outcome, tries, worker: shared.options.name.clone() };
                shared.finish(id, &entry).await;
                true
            }
            Err(BadMessage::UnsupportedVersion(version)) => {
                shared.slots.report_unsupported(&delivery.digest, unsupported_version_error(version));
                give_back(shared, id, Some(UNSUPPORTED_VERSION_DELAY)).await;
                true
            }
        }
    }

    /// Returns `true` if the record has an entry for this line: an earlier worker has ended before it acknowledged the
    /// line, or the server was killed before it stored the acknowledgement.
    ///
    /// A server that was killed may hand out a line as if for the first time. It hands out lines in their order, and at
    /// most `host_limit` of them at the same time, so after that many lines without an entry the following ones are
    /// new, and their entries are not requested. An earlier copy of a line that was added again may already be finished.
    async fn is_finished(&mut self, delivery: &Delivery) -> bool {
        let is_first_try = delivery.tries == 1;
        let line = delivery.line.as_ref();
        let is_retry = line.is_some_and(|line| line.is_retry);
        if is_first_try && !is_retry && self.lines_without_entry >= self.shared.options.host_limit {
            return false;
        }
        match self.shared.queue.remove_if_recorded(&delivery.digest, line).await {
            Ok(true) => {
                self.lines_without_entry = 0;
                true
            }
            Ok(false) => {
                self.lines_without_entry += u16::from(is_first_try);
                false
            }
            Err(_) => false,
        }
    }
}

/// Waits until slots that are reserved have waited for long enough: the server does not answer at once if the limit per
/// host is reached.
async fn reservation_ends(reserved: &SlotReservation) {
    match reserved.count() {
        0 => std::future::pending().await,
        _ => tokio::time::sleep(SLOT_RESERVATION_TIMEOUT).await,
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

async fn give_back(shared: &Shared, id: u64, delay: Option<Duration>) {
    if let Some(delivery) = shared.leases.remove(id) {
        // Without this message, the line is handed out again when the lease ends.
        delivery.ack_with(&shared.client, AckKind::Nak(delay)).await;
        shared.slots.check_again();
    }
}

/// Returns the error for a line with an unsupported format version.
pub(crate) fn unsupported_version_error(version: u64) -> Error {
    let detail = format!(
        "a line was added by a newer fetch-url (version {version} of the queue); it stays in the queue"
    );
    Error::new(Code::Unsupported, fetch_url::Phase::Plan, detail)
        .with_hint("use a newer fetch-url for the workers")
}
