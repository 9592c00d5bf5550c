//! How bytes reach a target: in place, while they are still in the processor's cache, as long as the
//! target takes them at once; by a thread of its own where a write can wait. On memory and fast disks
//! the thread would cost a third more processor time (and wall time) than it saves.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::{Finished, Target};
use crate::{Code, Error, Meta, Phase};

/// A write that takes so long was waiting: from the next one on, a thread does it.
const SLOW: Duration = Duration::from_millis(20);
/// How many pieces may wait for the thread.
const QUEUE: usize = 8;
/// So many bytes are gathered for one write.
const GATHER: usize = 1024 * 1024;

pub(crate) enum Writer {
    InPlace(Target),
    Thread(Thread),
    Failed,
}

pub(crate) struct Thread {
    queue: mpsc::Sender<Message>,
    handle: JoinHandle<Result<Option<Finished>, Error>>,
}

enum Message {
    Anew(Box<Meta>),
    Chunk(Bytes),
    Finish,
}

impl Writer {
    pub(crate) fn new(target: Target) -> Self {
        if target.may_wait() { Self::Thread(Thread::start(target)) } else { Self::InPlace(target) }
    }

    /// Takes the next piece.
    pub(crate) async fn write(&mut self, chunk: Bytes) -> Result<(), Error> {
        match std::mem::replace(self, Self::Failed) {
            Self::InPlace(mut target) => {
                let started = Instant::now();
                target.write(&[chunk])?;
                let is_slow = started.elapsed() >= SLOW;
                *self = if is_slow { Self::Thread(Thread::start(target)) } else { Self::InPlace(target) };
            }
            Self::Thread(thread) => *self = Self::Thread(thread.send(Message::Chunk(chunk)).await?),
            Self::Failed => return Err(gone()),
        }
        Ok(())
    }

    /// What was written is void: the object begins anew, as `meta` describes it.
    pub(crate) async fn begin_anew(&mut self, meta: Box<Meta>) -> Result<(), Error> {
        match std::mem::replace(self, Self::Failed) {
            Self::InPlace(mut target) => {
                target.begin_anew(&meta)?;
                *self = Self::InPlace(target);
            }
            Self::Thread(thread) => *self = Self::Thread(thread.send(Message::Anew(meta)).await?),
            Self::Failed => return Err(gone()),
        }
        Ok(())
    }

    /// The object is whole.
    pub(crate) async fn finish(self) -> Result<Finished, Error> {
        match self {
            Self::InPlace(target) => target.finish(),
            Self::Thread(thread) => thread.send(Message::Finish).await?.join().await?.ok_or_else(gone),
            Self::Failed => Err(gone()),
        }
    }

    /// Gives up, and waits until what can be kept is kept.
    pub(crate) async fn abandon(self) {
        if let Self::Thread(Thread { queue, handle }) = self {
            drop(queue);
            // Whatever went wrong there, the caller already has a reason of its own.
            let _ = handle.await;
        }
    }
}

impl Thread {
    fn start(target: Target) -> Self {
        let (queue, inbox) = mpsc::channel(QUEUE);
        Self { queue, handle: spawn_blocking(move || work(target, inbox)) }
    }

    /// When the thread is gone, its own failure is the reason.
    async fn send(self, message: Message) -> Result<Self, Error> {
        if self.queue.send(message).await.is_ok() {
            return Ok(self);
        }
        match self.join().await {
            Err(error) => Err(error),
            Ok(_) => Err(gone()),
        }
    }

    async fn join(self) -> Result<Option<Finished>, Error> {
        drop(self.queue);
        self.handle.await.map_err(|error| Error::new(Code::Internal, Phase::Deliver, error.to_string()))?
    }
}

/// Writes until told to finish; told nothing, it drops the target, which keeps what can be resumed.
fn work(mut target: Target, mut inbox: mpsc::Receiver<Message>) -> Result<Option<Finished>, Error> {
    let mut chunks = Vec::new();
    while let Some(message) = inbox.blocking_recv() {
        let mut next = Some(message);
        let mut gathered = 0;
        let mut is_finished = false;
        while let Some(message) = next {
            match message {
                Message::Anew(meta) => {
                    (chunks, gathered) = (Vec::new(), 0);
                    target.begin_anew(&meta)?;
                }
                Message::Chunk(chunk) => {
                    gathered += chunk.len();
                    chunks.push(chunk);
                }
                Message::Finish => is_finished = true,
            }
            next = if gathered < GATHER { inbox.try_recv().ok() } else { None };
        }
        target.write(&chunks)?;
        chunks.clear();
        if is_finished {
            return target.finish().map(Some);
        }
    }
    Ok(None)
}

fn gone() -> Error {
    Error::new(Code::Internal, Phase::Deliver, "the writer is gone")
}
