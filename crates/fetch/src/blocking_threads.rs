//! Work that blocks, on the threads of tokio. Its pool panics if the system cannot start a thread (RLIMIT_NPROC,
//! `pids.max`), so this module tests that first.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::{io, thread};

use tokio::task::JoinHandle;

use crate::{Code, Error, Phase};

/// The result of work on a thread. The work continues if the task is dropped. Returns [`Code::Internal`] if the work
/// panicked.
#[derive(Debug)]
pub struct Task<T>(State<T>);

#[derive(Debug)]
enum State<T> {
    OnThread(JoinHandle<T>),
    /// The result, until it is returned.
    Done(Option<T>),
}

/// A result is moved, never pinned.
impl<T> Unpin for Task<T> {}

impl<T> Future for Task<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let failed = |detail: String| Error::new(Code::Internal, Phase::Plan, detail);
        Poll::Ready(match &mut self.0 {
            State::OnThread(handle) => {
                ready!(Pin::new(handle).poll(cx)).map_err(|error| failed(error.to_string()))
            }
            State::Done(result) => {
                result.take().ok_or_else(|| failed("the result was returned before".into()))
            }
        })
    }
}

/// Runs `work`, which takes a bounded time, on a thread; on the calling thread if no other can be started.
pub fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Task<T> {
    Task(match check() {
        Ok(()) => State::OnThread(spawn(work)),
        Err(_) => State::Done(Some(work())),
    })
}

/// Runs `work`, which may wait without limit, on a thread.
///
/// # Errors
/// [`Code::SinkFailed`] in `phase` if no thread can be started.
pub(crate) fn try_run<T: Send + 'static>(
    phase: Phase,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Task<T>, Error> {
    check().map_err(|error| start_error(phase, error))?;
    Ok(Task(State::OnThread(spawn(work))))
}

/// Tests once that a thread can be started. The pool of tokio queues its work if only further threads cannot be.
pub(crate) fn check() -> io::Result<()> {
    static WAS_STARTED: AtomicBool = AtomicBool::new(false);
    if !WAS_STARTED.load(Ordering::Relaxed) {
        let started = thread::Builder::new().spawn(|| ())?;
        WAS_STARTED.store(true, Ordering::Relaxed);
        // The thread only ends.
        let _ = started.join();
    }
    Ok(())
}

/// Returns the error of a thread that could not be started.
pub fn start_error(phase: Phase, error: io::Error) -> Error {
    let error = Error::io(Code::SinkFailed, phase, "no thread can be started", error);
    error.as_permanent().with_hint("raise the limit of processes: `ulimit -u`, or pids.max of the container")
}

#[allow(clippy::disallowed_methods, reason = "the callers have tested that a thread can be started")]
fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    tokio::task::spawn_blocking(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_runs_on_another_thread_and_returns_its_result() {
        let id = run(|| thread::current().id()).await.expect("no panic");
        assert_ne!(id, thread::current().id());
    }

    #[tokio::test]
    async fn work_that_panics_is_an_internal_error() {
        let error = run(|| assert!(std::hint::black_box(false))).await.expect_err("a panic");
        assert_eq!(error.code(), Code::Internal);
    }
}
