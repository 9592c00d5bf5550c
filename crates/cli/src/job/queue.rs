//! The options of `fetch-url queue`, and the worker as the source of the lines of a batch.

use std::cell::{OnceCell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::ArgMatches;
use clap::parser::ValueSource;
use fetch_url::{Error, output::safe_name};
use fetch_url_queue::{Lease, Line, Location, Login, Queue, Worker, WorkerOptions};

use super::input::{InputFile, Line as InputLine};
use super::mirror::reject_options;
use super::private_file::read_private_file;
use super::{Input, Invocation, LineSource, Output, Transfer, login};
use crate::error::usage_error;
use crate::flags::queue::{BATCH_OPTIONS, NatsFlags, WorkFlags};

/// The longest back-off of a line, unless the server asks for a longer one.
const MAX_BACKOFF: Duration = Duration::from_secs(300);
/// The longest wait that a server may ask for.
const MAX_REQUESTED_WAIT: Duration = Duration::from_secs(3600);

/// Reads the login and the TLS files of the connection to NATS.
pub(crate) fn login(flags: &NatsFlags) -> Result<Login, Error> {
    let secret = |path: &PathBuf| {
        let line = login::first_line(path)?;
        String::from_utf8(line)
            .map_err(|_| usage_error(format!("{}: the secret is not UTF-8", path.display())))
    };
    let credentials = |path: &PathBuf| {
        let text = read_private_file(path).and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        text.map_err(|error| usage_error(format!("{}: {error}", path.display())))
    };
    Ok(Login {
        user: flags.nats_user.clone(),
        password: flags.nats_password_file.as_ref().map(secret).transpose()?,
        token: flags.nats_token_file.as_ref().map(secret).transpose()?,
        credentials: flags.nats_creds.as_ref().map(credentials).transpose()?,
        authorities: flags.nats_cacert.clone(),
        identity: flags.nats_cert.clone().zip(flags.nats_key.clone()),
    })
}

/// Opens the list of lines for `queue add`.
pub(crate) fn open_list(path: &Path) -> Result<InputFile, Error> {
    InputFile::open(path, None, Output::Stdout { is_explicit: false })
}

/// Makes a line of the queue from a line of a list.
pub(crate) fn queue_line(transfer: Transfer) -> Result<Line, Error> {
    let file = match &transfer.output {
        Output::File(path) => {
            let name =
                path.to_str().ok_or_else(|| usage_error(format!("{} is not UTF-8", path.display())))?;
            Some(name.to_owned())
        }
        _ => None,
    };
    let mut urls = vec![transfer.url];
    urls.extend(transfer.alternatives);
    Line::new(urls, file, transfer.checksum)
}

/// The worker of `queue work`: the source of the lines of its batch, and the log of their results.
pub(crate) struct QueueWorker {
    location: Location,
    login: RefCell<Login>,
    options: WorkerOptions,
    pub(crate) directory: PathBuf,
    rest: Output,
    max_tries: u64,
    retry_delay: Option<Duration>,
    worker: OnceCell<Worker>,
}

impl QueueWorker {
    fn new(flags: &WorkFlags, location: Location) -> Result<Self, Error> {
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
            waits: flags.wait,
        };
        Ok(Self {
            location,
            login: RefCell::new(login(&flags.nats)?),
            options,
            rest: Output::Named { directory: directory.clone(), by_server: false },
            directory,
            max_tries: flags.max_tries,
            retry_delay: fetch.retry_delay.filter(|time| !time.is_zero()),
            worker: OnceCell::new(),
        })
    }

    /// Connects to the queue and starts to take lines.
    pub(crate) async fn start(&self) -> Result<(), Error> {
        let queue = Queue::open(&self.location, self.login.take()).await?;
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
        // A full disk of this machine says nothing about the line.
        let is_temporary = error.is_transient() || error.code() == fetch_url::Code::SinkFailed;
        if !is_temporary || tries >= self.max_tries {
            return None;
        }
        let grown = Duration::from_secs(1 << (tries.clamp(1, 16) - 1).min(9)).min(MAX_BACKOFF);
        let own = self.retry_delay.unwrap_or_else(|| jittered(grown, id));
        Some(own.max(error.retry_after().unwrap_or_default().min(MAX_REQUESTED_WAIT)))
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
    async fn next(&self) -> Option<InputLine> {
        let line = self.worker()?.next().await?;
        Some(line.map(|lease| self.transfer(lease)))
    }
}

impl Invocation {
    /// Checks the flags and makes the invocation of a worker.
    pub(crate) fn queue_work(mut flags: WorkFlags, matches: &ArgMatches) -> Result<Self, Error> {
        reject_options(BATCH_OPTIONS, &flags.fetch, matches, "queue work", "all lines come from the queue")?;
        let location = match &std::mem::take(&mut flags.fetch.urls)[..] {
            [queue] => queue.parse()?,
            _ => return Err(usage_error("queue work takes one queue: nats://HOST[:PORT]/NAME")),
        };
        let worker = std::rc::Rc::new(QueueWorker::new(&flags, location)?);
        let WorkFlags { mut fetch, .. } = flags;
        fetch.continue_flag = true;
        if matches.value_source("retry") != Some(ValueSource::CommandLine) {
            // The queue hands a line out again, so a busy host does not occupy a slot of the worker.
            fetch.retry = 0;
        }
        Self::of(&fetch, matches, Vec::new(), Some(Input::Queue(worker)), None)
    }

    /// Returns the worker of `queue work`.
    pub(crate) fn queue_worker(&self) -> Option<&QueueWorker> {
        match &self.input {
            Some(Input::Queue(worker)) => Some(worker),
            _ => None,
        }
    }
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
