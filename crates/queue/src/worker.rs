//! A worker: it takes lines from the queue, keeps their leases, and stores their results.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::Client;
use async_nats::jetstream::AckKind;
use fetch_url::{Code, Error};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::bucket::host_of;
use crate::deletion::LinesState;
use crate::lease::{Delivery, Leases};
use crate::pull::pull_bucket;
use crate::recorder::{Finished, Recorder};
use crate::repair::StuckCheck;
use crate::reservations::{Owner, conflict_error};
use crate::slots::Slots;
use crate::worker_state::Totals;
use crate::{Entry, Lease, Outcome, Queue};

/// The number of consumers that are opened at the same time.
const PARALLEL_OPENS: usize = 16;
/// The shortest and the longest wait before an idle worker asks whether the queue is empty.
const IDLE_WAIT: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));
/// The shortest and the longest wait before a request is repeated.
const REPEAT_WAIT: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// The longest wait for the end of the requests for lines, and for the last messages.
const STOP_TIME: Duration = Duration::from_secs(2);

/// Settings of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The name in the status, such as `host:pid`.
    pub name: String,
    /// An identity that no other worker has, of letters and digits.
    pub id: String,
    /// The maximum number of lines of one host that all workers together fetch at the same time.
    pub host_limit: u16,
    /// Waits for new lines when the queue is empty.
    pub wait_for_new_lines: bool,
}

/// A worker of a queue. Its tasks end when it is dropped.
pub struct Worker {
    shared: Arc<Shared>,
    tasks: Mutex<JoinSet<()>>,
    /// The tasks that take lines, one for each bucket.
    pulls: Mutex<JoinSet<()>>,
    /// Messages that are not sent yet.
    background: Mutex<JoinSet<()>>,
    /// The finished lines, until the worker is closed.
    finished: Mutex<Option<UnboundedSender<Finished>>>,
}

/// The state that the tasks of a worker share.
pub(crate) struct Shared {
    pub(crate) queue: Queue,
    pub(crate) options: WorkerOptions,
    pub(crate) leases: Leases,
    pub(crate) active_buckets: AtomicUsize,
    pub(crate) totals: Mutex<Totals>,
    /// The connection, for messages without an answer.
    pub(crate) client: Client,
    pub(crate) slots: Arc<Slots>,
    next_id: AtomicU64,
    notes: Mutex<VecDeque<Error>>,
    has_note: Notify,
    /// `true` when the worker takes no more lines.
    is_stopped: watch::Sender<bool>,
    /// Changes when a consumer was opened anew, so that requests are sent again.
    pub(crate) new_consumers: watch::Sender<u64>,
}

impl Worker {
    /// Opens the buckets and starts to take lines.
    ///
    /// # Errors
    /// [`fetch_url::Code::Denied`] if a permission is missing, [`fetch_url::Code::TimedOut`] if the server does not
    /// answer.
    pub async fn start(queue: &Queue, options: WorkerOptions) -> Result<Self, Error> {
        let open = (0..queue.buckets).map(|bucket| queue.consumer(bucket, options.host_limit));
        let consumers: Vec<_> = stream::iter(open).buffered(PARALLEL_OPENS).try_collect().await?;
        queue.open_set_aside().await?;
        let shared = Arc::new(Shared {
            queue: queue.clone(),
            options,
            leases: Leases::default(),
            active_buckets: AtomicUsize::new(0),
            totals: Mutex::default(),
            client: queue.session.context().client(),
            slots: Arc::default(),
            next_id: AtomicU64::new(0),
            notes: Mutex::default(),
            has_note: Notify::new(),
            is_stopped: watch::Sender::new(false),
            new_consumers: watch::Sender::new(0),
        });
        let (finished, results) = mpsc::unbounded_channel();
        let mut background = JoinSet::new();
        background.spawn(Recorder::open(&shared).await?.run(results));
        let (mut pulls, mut tasks) = (JoinSet::new(), JoinSet::new());
        for (bucket, consumer) in (0..).zip(consumers) {
            pulls.spawn(pull_bucket(shared.clone(), bucket, consumer.cached_info().num_pending));
        }
        let (leases, state, idle) = (shared.clone(), shared.clone(), shared.clone());
        tasks.spawn(async move { leases.leases.extend(&leases.client, leases.queue.lease).await });
        tasks.spawn(async move { state.publish_state_repeatedly().await });
        tasks.spawn(async move { idle.watch_while_idle().await });
        let (due, login) = (shared.clone(), shared.clone());
        tasks.spawn(async move {
            let error = login.queue.session.login_refused().await;
            login.slots.end_with(error);
        });
        tasks.spawn(async move { due.return_due_lines().await });
        Ok(Self {
            shared,
            tasks: Mutex::new(tasks),
            pulls: Mutex::new(pulls),
            background: Mutex::new(background),
            finished: Mutex::new(Some(finished)),
        })
    }

    /// Returns the next line, or `None` when the queue is empty. `Err`: a line that this version cannot process, which stays in
    /// the queue; [`fetch_url::Code::NotFound`] if the queue was deleted, [`fetch_url::Code::AuthNeeded`] if the server
    /// refuses the login when the connection is opened again.
    pub async fn next(&self) -> Option<Result<Lease, Error>> {
        self.shared.slots.next().await
    }

    /// Returns the number of times that the line of a lease was handed out.
    pub fn tries(&self, id: u64) -> u64 {
        self.shared.leases.get(id).map_or(1, |delivery| delivery.tries)
    }

    /// Checks that the files of a line are reserved for it. Call this before the download; on error, finish the line with that
    /// error. It waits until the server answers, the queue is deleted, or the login is refused.
    ///
    /// # Errors
    /// [`Code::Usage`] if another line has the file, [`Code::NotFound`] if the queue was deleted, [`Code::AuthNeeded`] if
    /// the login is refused.
    pub async fn check_files(&self, id: u64) -> Result<(), Error> {
        let Some(delivery) = self.shared.leases.get(id) else { return Ok(()) };
        let (Some(line), Some(bucket)) = (&delivery.line, delivery.bucket) else { return Ok(()) };
        let owner = Owner::new(bucket, &delivery.digest);
        let reservations = self.shared.queue.reservations();
        let mut wait = REPEAT_WAIT.0;
        loop {
            match reservations.confirm(line, &owner).await {
                Ok(None) => return Ok(()),
                Ok(Some(file)) => return Err(conflict_error(&file)),
                Err(error) => {
                    if let Err(error) = self.shared.wait_to_repeat(error, &mut wait).await {
                        // The worker ends. The error is not the result of the line.
                        self.shared.leases.remove(id);
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Completes a line. The entry is stored in the background, and then the line is acknowledged.
    pub fn finish(&self, id: u64, outcome: Outcome) {
        let Some(delivery) = self.shared.leases.get(id) else { return };
        self.shared.totals().count(&outcome);
        let entry = Entry { outcome, tries: delivery.tries, worker: self.shared.options.name.clone() };
        if let Some(finished) = &*self.finished.lock().unwrap_or_else(PoisonError::into_inner) {
            // The recorder ends after this sender was dropped.
            let _has_ended = finished.send(Finished { id, delivery, entry });
        }
    }

    /// Returns a line to the queue. It is handed out again after `delay`; until then it still counts towards the limit of its
    /// host.
    pub fn delay(&self, id: u64, delay: Duration) {
        let Some(delivery) = self.shared.leases.remove(id) else { return };
        self.shared.slots.check_again();
        if let Some(url) = delivery.line.as_ref().and_then(|line| line.urls().first()) {
            let now = Instant::now();
            let until = now.checked_add(delay).unwrap_or(now);
            self.shared.totals().backing_off.insert(host_of(url), until);
        }
        let client = self.shared.client.clone();
        self.in_background(async move {
            delivery.ack_with(&client, AckKind::Nak(Some(delay))).await;
        });
    }

    /// Gives a line back. It is delivered again after `delay`, behind the other lines of its host. Until then it does not
    /// count towards the limit of its host.
    pub fn set_aside(&self, id: u64, delay: Duration) {
        let shared = self.shared.clone();
        self.in_background(async move { shared.set_aside(id, delay).await });
    }

    /// Delivers the line again from [`Self::next`] after `delay`. It stays with this worker, so that this does not count as a
    /// try. The line is dropped if another worker has finished it.
    pub fn postpone(&self, id: u64, delay: Duration) {
        let Some(delivery) = self.shared.leases.get(id) else { return };
        let Some(line) = delivery.line.clone() else { return };
        let (shared, lease) = (self.shared.clone(), Lease { id, line, tries: delivery.tries });
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            tokio::time::sleep(delay).await;
            match shared.queue.remove_if_recorded(&delivery.digest, delivery.line.as_ref()).await {
                Ok(true) => shared.acknowledge(id, &delivery).await,
                _ => shared.slots.offer_again(lease),
            }
        });
    }

    /// Waits for the next notice for the user, such as a full storage of the server.
    pub async fn next_note(&self) -> Error {
        loop {
            let note = self.shared.notes.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match note {
                Some(note) => return note,
                None => self.shared.has_note.notified().await,
            }
        }
    }

    /// Waits until all results are stored, and says that the worker has ended.
    pub async fn close(&self) {
        *self.finished.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let mut background =
            std::mem::take(&mut *self.background.lock().unwrap_or_else(PoisonError::into_inner));
        while background.join_next().await.is_some() {}
        self.shut_down().await;
    }

    /// Gives all lines back and says that the worker has ended. Results that are not stored are lost: their lines are
    /// handed out again.
    pub async fn release(&self) {
        self.shut_down().await;
    }

    async fn shut_down(&self) {
        self.shared.is_stopped.send_replace(true);
        let mut pulls = std::mem::take(&mut *self.pulls.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async { while pulls.join_next().await.is_some() {} };
        // If the server does not answer, its leases end by themselves.
        let _in_time = tokio::time::timeout(STOP_TIME, all).await;
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
        let last_messages = async {
            self.shared.leases.release(&self.shared.client).await;
            self.shared.publish_state(true).await;
            self.shared.client.flush().await
        };
        // A failure means that the server cannot be reached; the leases end by themselves.
        let _lost = tokio::time::timeout(STOP_TIME, last_messages).await;
    }

    fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut background = self.background.lock().unwrap_or_else(PoisonError::into_inner);
        while background.try_join_next().is_some() {}
        background.spawn(work);
    }
}

impl Shared {
    pub(crate) fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until the worker takes no more lines.
    pub(crate) async fn stopped(&self) {
        let mut is_stopped = self.is_stopped.subscribe();
        // An error means that the worker was dropped.
        let _dropped = is_stopped.wait_for(|is_stopped| *is_stopped).await;
    }

    /// Stores the final entry of a line and acknowledges it. It tries until the server answers, or the queue is deleted.
    pub(crate) async fn finish(&self, id: u64, entry: &Entry) {
        let Some(delivery) = self.leases.get(id) else { return };
        let mut wait = REPEAT_WAIT.0;
        while let Err(error) = self.queue.store_entry(&delivery.digest, delivery.line.as_ref(), entry).await {
            if self.wait_to_repeat(error, &mut wait).await.is_err() {
                self.leases.remove(id);
                return;
            }
        }
        self.acknowledge(id, &delivery).await;
    }

    /// Waits before a request that failed is repeated. Fails if the queue was deleted or the login is refused, which ends
    /// the worker.
    async fn wait_to_repeat(&self, error: Error, wait: &mut Duration) -> Result<(), Error> {
        if self.queue.session.is_login_refused() {
            return Err(error);
        }
        if error.code() != Code::TimedOut
            && let LinesState::Deleted(error) = self.queue.lines_state().await
        {
            self.slots.end_with(error.clone());
            return Err(error);
        }
        if *wait == REPEAT_WAIT.0 {
            self.note(error);
        }
        tokio::time::sleep(*wait).await;
        *wait = (*wait * 2).min(REPEAT_WAIT.1);
        Ok(())
    }

    /// Acknowledges a line that has its final entry. If the message is lost, the line is handed out again when the
    /// lease ends; then its entry is found and it is not fetched again.
    pub(crate) async fn acknowledge(&self, id: u64, delivery: &Delivery) {
        delivery.ack_with(&self.client, AckKind::Ack).await;
        self.leases.remove(id);
        self.slots.check_again();
    }

    fn note(&self, error: Error) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push_back(error);
        self.has_note.notify_one();
    }

    /// Checks the queue while the worker has no lines. Ends the worker when the queue was deleted, or has no lines except those
    /// with an unsupported format version. Makes the server deliver lines that it no longer delivers.
    async fn watch_while_idle(&self) {
        let mut has_stuck_lines = false;
        let mut wait = IDLE_WAIT.1;
        let mut stuck_check = StuckCheck::new(IDLE_WAIT.1, self.queue.lease);
        loop {
            tokio::select! {
                () = tokio::time::sleep(wait) => wait = (wait * 2).min(IDLE_WAIT.1),
                () = self.leases.last_one_ended() => {
                    wait = IDLE_WAIT.0;
                    stuck_check = StuckCheck::new(IDLE_WAIT.1, self.queue.lease);
                    continue;
                }
            }
            if self.leases.len() > 0 || self.slots.are_all_busy() {
                continue;
            }
            let info = match self.queue.lines_state().await {
                LinesState::Exists(info) => info,
                LinesState::Deleted(error) => return self.slots.end_with(error),
                LinesState::Unknown => continue,
            };
            if info.state.messages > self.slots.unsupported_count() {
                if wait < IDLE_WAIT.1 || !stuck_check.is_due(Instant::now(), has_stuck_lines) {
                    continue;
                }
                has_stuck_lines = self.hand_out_stuck_lines(info.state.messages, has_stuck_lines).await;
            } else if !self.options.wait_for_new_lines && self.slots.end_if_nothing_is_ready() {
                return;
            }
        }
    }
}
