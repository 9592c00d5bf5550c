//! Runs the sub-commands of `fetch-url queue`.

use std::ops::ControlFlow;
use std::pin::pin;
use std::time::{Duration, Instant};

use fetch_url::{Code, Error, Phase};
use fetch_url_queue::{Adder, Location, Queue, QueueOptions};

use super::context::Run;
use crate::error::usage_error;
use crate::flags::queue::{AddFlags, DropFlags, FailedFlags, QueueVerb, StatusFlags, WorkFlags};
use crate::job::queue::{login, open_list, queue_line};
use crate::job::{LineSource, Transfer};
use crate::{render, signal};

/// How often `queue add` reports its progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// The shortest lease: workers extend it three times in this time.
const MIN_LEASE: Duration = Duration::from_secs(1);
/// The maximum time to give lines back after a signal.
const RELEASE_TIME: Duration = Duration::from_secs(1);

/// Runs the sub-command. Returns the exit status, or the flags of a worker, which is a batch.
pub(super) fn run(verb: QueueVerb) -> Result<u8, Box<WorkFlags>> {
    Ok(match verb {
        QueueVerb::Work(flags) => return Err(flags.0),
        QueueVerb::Add(flags) => run_until_signal(add(flags)),
        QueueVerb::Status(flags) => run_until_signal(status(flags)),
        QueueVerb::Failed(flags) => run_until_signal(failed(flags)),
        QueueVerb::Drop(flags) => run_until_signal(drop_queue(flags)),
    })
}

/// Gives the lines of a worker back to the queue, after a signal.
pub(super) async fn release_lines(run: &Run) {
    if let Some(worker) = run.queue_worker().and_then(|worker| worker.worker()) {
        // After the timeout, the leases end by themselves.
        let _timed_out = tokio::time::timeout(RELEASE_TIME, worker.release()).await;
    }
}

fn run_until_signal(work: impl Future<Output = Result<(), Error>>) -> u8 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(Code::Internal, Phase::Plan, error.to_string()));
    let done = runtime.and_then(|runtime| {
        let done = runtime.block_on(async {
            tokio::select! {
                done = work => done.map(|()| 0),
                ending = signal::wait_for_ending_signal() => Ok(ending.terminate_process()),
            }
        });
        // A blocked read of standard input would never end.
        runtime.shutdown_background();
        done
    });
    done.unwrap_or_else(|error| render::print_error(&error, None))
}

async fn add(flags: AddFlags) -> Result<(), Error> {
    let location: Location = flags.queue.parse()?;
    if flags.lease < MIN_LEASE {
        return Err(usage_error("--lease must be at least 1 second"));
    }
    let list = open_list(&flags.input_file)?;
    let options =
        QueueOptions { buckets: flags.buckets, lease: flags.lease, max_bytes: flags.max_queue_size };
    let queue = Queue::open_or_create(&location, login(&flags.nats)?, &options).await?;
    let mut adder = queue.adder().await?;
    let mut reported = Instant::now();
    while let Some(line) = next_line(&list, &mut adder).await? {
        adder.add(queue_line(line)?).await?;
        if reported.elapsed() >= PROGRESS_INTERVAL {
            render::queue::print_progress(&adder.counts());
            reported = Instant::now();
        }
    }
    let counts = adder.finish().await?;
    render::queue::print_added(&counts)?;
    match counts.conflicts {
        0 => Ok(()),
        conflicts => {
            let detail = format!("lines whose file is that of another line of the queue: {conflicts}");
            Err(usage_error(detail)
                .with_hint("fetch-url queue failed lists them; give each line its own file name"))
        }
    }
}

/// Returns the next line of a list. The earlier lines are stored in the meantime: their producer may wait for that.
async fn next_line(list: &impl LineSource, adder: &mut Adder) -> Result<Option<Transfer>, Error> {
    let mut next = pin!(list.next());
    let mut are_stored = false;
    loop {
        tokio::select! {
            biased;
            line = &mut next => return line.transpose(),
            stored = adder.store_all(), if !are_stored => {
                stored?;
                are_stored = true;
            }
        }
    }
}

async fn status(flags: StatusFlags) -> Result<(), Error> {
    let queue = Queue::open(&flags.queue.parse()?, login(&flags.nats)?).await?;
    loop {
        let status = queue.status().await?;
        render::queue::print_status(&status, flags.format, flags.watch.is_some())?;
        let Some(interval) = flags.watch else { return Ok(()) };
        tokio::time::sleep(interval.max(Duration::from_millis(100))).await;
    }
}

async fn failed(flags: FailedFlags) -> Result<(), Error> {
    let queue = Queue::open(&flags.queue.parse()?, login(&flags.nats)?).await?;
    if flags.retry {
        return render::queue::print_retried(queue.retry_failed().await?);
    }
    let mut printed = Ok(());
    queue
        .for_each_failed(|failed| {
            printed = render::queue::print_failed(&failed);
            if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await?;
    printed
}

async fn drop_queue(flags: DropFlags) -> Result<(), Error> {
    Queue::drop(&flags.queue.parse()?, login(&flags.nats)?).await
}
