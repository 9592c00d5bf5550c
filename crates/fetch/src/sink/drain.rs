//! How octets reach a target: at first in place, then on a thread of their own, so that writing and
//! receiving go on side by side. A small file never pays for a thread.

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::{Finished, Target};
use crate::{Code, Error, Phase};

/// From so many octets on, a thread writes.
const THREAD_FROM: usize = 256 * 1024;
/// How many pieces may wait for the thread.
const QUEUE: usize = 8;
/// So many octets are gathered for one write.
const GATHER: usize = 1024 * 1024;

pub(crate) enum Drain {
    InPlace { target: Target, written: usize },
    Thread(Thread),
    Failed,
}

pub(crate) struct Thread {
    queue: mpsc::Sender<Message>,
    handle: JoinHandle<Result<Option<Finished>, Error>>,
}

enum Message {
    Chunk(Bytes),
    Finish,
}

impl Drain {
    pub(crate) fn new(target: Target) -> Self {
        if target.may_wait() {
            Self::Thread(Thread::start(target))
        } else {
            Self::InPlace { target, written: 0 }
        }
    }

    /// Takes the next piece.
    pub(crate) async fn write(&mut self, chunk: Bytes) -> Result<(), Error> {
        match std::mem::replace(self, Self::Failed) {
            Self::InPlace { mut target, written } if written + chunk.len() <= THREAD_FROM => {
                let written = written + chunk.len();
                target.write(&[chunk])?;
                *self = Self::InPlace { target, written };
            }
            Self::InPlace { target, .. } => {
                *self = Self::Thread(Thread::start(target).send(Message::Chunk(chunk)).await?);
            }
            Self::Thread(thread) => *self = Self::Thread(thread.send(Message::Chunk(chunk)).await?),
            Self::Failed => return Err(gone()),
        }
        Ok(())
    }

    /// The object is whole.
    pub(crate) async fn finish(self) -> Result<Finished, Error> {
        match self {
            Self::InPlace { target, .. } => target.finish(),
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
