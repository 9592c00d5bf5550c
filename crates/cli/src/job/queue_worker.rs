//! The worker of a queue as the source of the lines of a batch.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fetch_url::output::safe_name;
use fetch_url::{Code, Error, Phase};
use fetch_url_queue::{Lease, Location, Login, Queue, Worker, WorkerOptions};

use super::line_source::{Line, LineSource};
use super::transfer::{Output, Transfer};
use crate::error::usage_error;
use crate::flags::queue::WorkFlags;

/// The longest back-off of a line, unless the server asks for a longer one.
const MAX_BACKOFF: Duration = Duration::from_secs(300);
/// The wait for another process that downloads to the file of a line.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// The longest wait that a server may ask for.
const MAX_REQUESTED_WAIT: Duration = Duration::from_secs(3600);

/// The worker of `queue work`: the source of the lines of its batch, and the log of their results.
pub(crate) struct QueueWorker {
    location: Location,
    login: RefCell<Login>,
    options: WorkerOptions,
    pub(crate) directory: PathBuf,
    creates_directory: bool,
    rest: Output,
    max_tries: u64,
    retry_delay: Option<Duration>,
    worker: OnceCell<Worker>,
}

impl QueueWorker {
    pub(super) fn new(flags: &WorkFlags, location: Location, login: Login) -> Result<Self, Error> {
        let fetch = &flags.fetch;
        let Some(directory) = fetch.output_dir.clone() else {
            let hint = "all workers write to one directory, such as a mounted share";
            return Err(usage_error("queue work needs --output-dir").with_hint(hint));
        };
        let id = unique_id();
        let options = WorkerOptions {
            name: flags
                .worker_name
                .clone()
                .unwrap_or_else(|| format!("{}:{}", host_name(), std::process::id())),
            id,
            host_limit: fetch.batch.parallel_max_host,
            wait_for_new_lines: flags.wait,
        };
        Ok(Self {
            location,
            login: RefCell::new(login),
            options,
            rest: Output::Named { directory: directory.clone(), by_server: false, kept_name: None },
            directory,
            creates_directory: fetch.create_dirs,
            max_tries: flags.max_tries,
            retry_delay: fetch.retry_delay.filter(|time| !time.is_zero()),
            worker: OnceCell::new(),
        })
    }

    /// Connects to the queue and starts to take lines.
    pub(crate) async fn start(&self) -> Result<(), Error> {
        let queue = Queue::open(&self.location, self.login.take()).await?;
        if self.creates_directory {
            std::fs::create_dir_all(&self.directory).map_err(|error| {
                let detail = format!("cannot create {}: {error}", self.directory.display());
                Error::new(Code::SinkFailed, Phase::Deliver, detail)
            })?;
        }
        queue.check_directory(&self.directory, &self.options.id).await?;
        let worker = Worker::start(&queue, self.options.clone()).await?;
        // A worker is started once.
        let _already_started = self.worker.set(worker);
        Ok(())
    }

    /// Returns the worker, if it has started.
    pub(crate) fn worker(&self) -> Option<&Worker> {
        self.worker.get()
    }

    /// Returns the delay after which a line that failed is handed out again, or `None` if its failure is final.
    pub(crate) fn retry_wait(&self, error: &Error, tries: u64, id: u64) -> Option<Duration> {
        // A full disk of this machine is not a fault of the line: another worker may succeed.
        let is_temporary = error.is_transient() || error.code() == Code::SinkFailed;
        if !is_temporary || tries >= self.max_tries {
            return None;
        }
        let grown = Duration::from_secs(1 << (tries.clamp(1, 16) - 1).min(9)).min(MAX_BACKOFF);
        let own = self.retry_delay.unwrap_or_else(|| jittered(grown, id));
        Some(own.max(error.retry_after().unwrap_or_default().min(MAX_REQUESTED_WAIT)))
    }

    /// Returns the delay after which a line is tried again because another process downloads to its file, or `None` for
    /// another error. The line itself has not failed, so this is repeated without a limit.
    pub(crate) fn lock_wait(&self, error: &Error, id: u64) -> Option<Duration> {
        // Of the errors of this code, only that of a locked `.part` file is transient.
        let is_locked = error.code() == Code::Usage && error.is_transient();
        is_locked.then(|| self.retry_delay.unwrap_or_else(|| jittered(LOCK_WAIT, id)))
    }

    fn transfer(&self, lease: Lease) -> Transfer {
        let mut urls = lease.line.urls().iter().cloned();
        let output = lease.line.file().map(|file| Output::File(self.directory.join(file)));
        let mut transfer =
            Transfer::new(urls.next().unwrap_or_default(), output.unwrap_or_else(|| self.rest.clone()));
        transfer.alternatives = urls.collect();
        transfer.checksum = lease.line.checksum().cloned();
        transfer.lease = Some(lease.id);
        transfer
    }
}

impl LineSource for QueueWorker {
    async fn next(&self) -> Option<Line> {
        let line = self.worker()?.next().await?;
        Some(line.map(|lease| self.transfer(lease)))
    }
}

/// Returns `true` for an error that other lines of the host would have, too: the host is busy or cannot be reached, or
/// this machine cannot write. Such a line counts towards the limit of its host until it is tried again, so that fewer
/// other lines of the host are tried.
pub(crate) fn concerns_host(error: &Error) -> bool {
    matches!(error.code(), Code::Busy | Code::SinkFailed)
        || error.retry_after().is_some()
        || matches!(
            error.phase(),
            Phase::Resolve | Phase::Connect | Phase::Proxy | Phase::Tls | Phase::Certificate
        )
}

/// Varies a wait by up to 25 percent, so that workers do not ask at the same moment.
fn jittered(wait: Duration, id: u64) -> Duration {
    let part = u32::try_from(id.wrapping_mul(0x9e37_79b9) % 128).unwrap_or(0);
    wait.mul_f64(0.75 + f64::from(part) / 256.0)
}

/// Returns a name that no other worker has.
fn unique_id() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{now:x}-{:x}-{:016x}", std::process::id(), RandomState::new().hash_one(now))
}

fn host_name() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_bytes();
    safe_name(name).unwrap_or_else(|| "worker".to_owned())
}
