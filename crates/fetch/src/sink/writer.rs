//! Writes the chunks of a body to a target: on the current thread as long as writes return quickly, on a separate
//! thread if a write can block. In memory and on fast disks, a separate thread would take a third more CPU time, and
//! more wall-clock time.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{Finished, Target};
use crate::blocking_threads::{self, Task};
use crate::kernel_pipe::KernelPipe;
use crate::{Code, Error, Meta, Phase};

/// After a write that took at least this long, later writes are done by a separate thread.
const SLOW_WRITE: Duration = Duration::from_millis(20);
/// Maximum number of messages that wait for the thread.
const QUEUE_CAPACITY: usize = 8;
/// No more chunks are added to a write of at least this many bytes.
const MAX_BATCH_BYTES: usize = 1024 * 1024;

pub(crate) enum Writer {
    InPlace(Target),
    Thread(Thread),
    Failed,
}

pub(crate) struct Thread {
    queue: mpsc::Sender<Message>,
    task: Task<Result<Option<Finished>, Error>>,
}

enum Message {
    Restart(Box<Meta>),
    Chunk(Bytes),
    Finish,
}

impl Writer {
    pub(crate) fn new(target: Target) -> Self {
        if target.may_block() { Self::on_thread(target) } else { Self::InPlace(target) }
    }

    /// Writes on a separate thread; on the current one if no other can be started.
    fn on_thread(target: Target) -> Self {
        match blocking_threads::check() {
            Ok(()) => Self::Thread(Thread::start(target)),
            Err(_) => Self::InPlace(target),
        }
    }

    /// Writes the next chunk.
    pub(crate) async fn write(&mut self, chunk: Bytes) -> Result<(), Error> {
        match std::mem::replace(self, Self::Failed) {
            Self::InPlace(mut target) => {
                let started = Instant::now();
                target.write(&[chunk])?;
                *self = Self::in_place_unless_slow(target, started);
            }
            Self::Thread(thread) => *self = Self::Thread(thread.send(Message::Chunk(chunk)).await?),
            Self::Failed => return Err(writer_stopped_error()),
        }
        Ok(())
    }

    /// Returns `true` if [`Self::write_from_pipe`] can be called.
    pub(crate) const fn supports_pipe(&self) -> bool {
        matches!(self, Self::InPlace(target) if target.supports_pipe())
    }

    /// Writes the `count` bytes that are in `pipe`. Returns the last [`Resume::TAIL`](crate::Resume::TAIL) bytes of the
    /// file.
    pub(crate) fn write_from_pipe(
        &mut self,
        pipe: Option<&mut KernelPipe>,
        count: usize,
    ) -> Result<Vec<u8>, Error> {
        let (Self::InPlace(mut target), Some(pipe)) = (std::mem::replace(self, Self::Failed), pipe) else {
            return Err(writer_stopped_error());
        };
        let started = Instant::now();
        let last_bytes = target.write_from_pipe(pipe, count)?;
        *self = Self::in_place_unless_slow(target, started);
        Ok(last_bytes)
    }

    /// Continues on the current thread, or on a separate one if the write that began at `started` was slow.
    fn in_place_unless_slow(target: Target, started: Instant) -> Self {
        let is_slow = started.elapsed() >= SLOW_WRITE;
        if is_slow { Self::on_thread(target) } else { Self::InPlace(target) }
    }

    /// Discards the bytes written so far: the object is sent again from its start, in the version that `meta`
    /// describes.
    pub(crate) async fn restart(&mut self, meta: Box<Meta>) -> Result<(), Error> {
        match std::mem::replace(self, Self::Failed) {
            Self::InPlace(mut target) => {
                target.restart(&meta)?;
                *self = Self::InPlace(target);
            }
            Self::Thread(thread) => *self = Self::Thread(thread.send(Message::Restart(meta)).await?),
            Self::Failed => return Err(writer_stopped_error()),
        }
        Ok(())
    }

    /// Finishes the target after the last chunk.
    pub(crate) async fn finish(self) -> Result<Finished, Error> {
        match self {
            Self::InPlace(target) => target.finish(),
            Self::Thread(thread) => {
                thread.send(Message::Finish).await?.join().await?.ok_or_else(writer_stopped_error)
            }
            Self::Failed => Err(writer_stopped_error()),
        }
    }

    /// Stops writing, and waits until a partial file that can be resumed is saved.
    pub(crate) async fn abandon(self) {
        if let Self::Thread(Thread { queue, task }) = self {
            drop(queue);
            // An error here is dropped: the caller reports the error that ended the transfer.
            let _ = task.await;
        }
    }
}

impl Thread {
    fn start(target: Target) -> Self {
        let (queue, messages) = mpsc::channel(QUEUE_CAPACITY);
        Self { queue, task: blocking_threads::run(move || run_writer(target, messages)) }
    }

    /// Sends a message to the thread. If the thread has ended, its error is returned.
    async fn send(self, message: Message) -> Result<Self, Error> {
        if self.queue.send(message).await.is_ok() {
            return Ok(self);
        }
        match self.join().await {
            Err(error) => Err(error),
            Ok(_) => Err(writer_stopped_error()),
        }
    }

    async fn join(self) -> Result<Option<Finished>, Error> {
        drop(self.queue);
        self.task.await?
    }
}

/// Runs the thread until it receives `Finish`. If the queue is closed before, dropping the target saves a partial file.
fn run_writer(mut target: Target, mut messages: mpsc::Receiver<Message>) -> Result<Option<Finished>, Error> {
    let mut chunks = Vec::new();
    while let Some(message) = messages.blocking_recv() {
        let mut next = Some(message);
        let mut batch_bytes = 0;
        let mut is_finished = false;
        while let Some(message) = next {
            match message {
                Message::Restart(meta) => {
                    (chunks, batch_bytes) = (Vec::new(), 0);
                    target.restart(&meta)?;
                }
                Message::Chunk(chunk) => {
                    batch_bytes += chunk.len();
                    chunks.push(chunk);
                }
                Message::Finish => is_finished = true,
            }
            next = if batch_bytes < MAX_BATCH_BYTES { messages.try_recv().ok() } else { None };
        }
        target.write(&chunks)?;
        chunks.clear();
        if is_finished {
            return target.finish().map(Some);
        }
    }
    Ok(None)
}

fn writer_stopped_error() -> Error {
    Error::new(Code::Internal, Phase::Deliver, "the writer thread has ended")
}
