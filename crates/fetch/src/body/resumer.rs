//! The interface by which the engine resumes a body that breaks off.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

use super::Body;
use crate::{Error, Meta, Resume};

/// The next item of a body that may restart.
#[derive(Debug)]
pub(crate) enum Chunk {
    /// The object, or the requested range, is sent again from its start, with this metadata. The consumer must discard
    /// all earlier bytes.
    Restart(Box<Meta>),
    /// The next bytes.
    Bytes(Bytes),
    /// The next bytes, of this number, are in the pipe that the consumer passed.
    InPipe(usize),
}

impl Chunk {
    /// Returns the number of bytes.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Restart(_) => 0,
            Self::Bytes(bytes) => bytes.len(),
            Self::InPipe(count) => *count,
        }
    }
}

/// Requests the rest of a body that broke off; implemented by the engine.
pub(crate) trait Resumer: Send {
    /// Returns the rest of the body from `reached`. If the body cannot be continued and `may_restart` is `true`,
    /// returns the whole body.
    fn resume(self: Box<Self>, error: Error, reached: InterruptPosition, may_restart: bool) -> ResumeFuture;
}

/// The position at which a body broke off.
pub(crate) struct InterruptPosition {
    /// Offset in the object, in bytes.
    pub(crate) offset: u64,
    /// The last bytes before `offset`.
    pub(crate) tail: Vec<u8>,
}

impl InterruptPosition {
    /// Returns `true` if no byte of the body has been delivered.
    pub(crate) const fn is_before_first_byte(&self) -> bool {
        self.tail.is_empty()
    }
}

pub(crate) type ResumeFuture =
    Pin<Box<dyn Future<Output = (Box<dyn Resumer>, Result<ResumedBody, Error>)> + Send>>;

/// The continuation of a body that broke off.
pub(crate) struct ResumedBody {
    pub(crate) meta: Meta,
    pub(crate) body: Body,
    /// The body starts again from offset 0 instead of continuing.
    pub(crate) is_restart: bool,
    /// Number of retries so far.
    pub(crate) retries: u32,
}

/// The action when a body breaks off.
#[derive(Default)]
pub(super) enum ResumeState {
    /// The error is returned.
    #[default]
    None,
    /// The resumer is called; `may_restart` tells it whether the consumer can start again.
    Ready { resumer: Box<dyn Resumer>, may_restart: bool },
    /// The resumer is running.
    Running { future: ResumeFuture, may_restart: bool },
}

impl Body {
    /// Returns a body that fails when it breaks off. The consumer requests the rest by itself.
    pub(crate) fn without_resumer(mut self) -> Self {
        self.resume_state = ResumeState::None;
        self
    }
}

/// The last [`Resume::TAIL`] bytes of a body.
#[derive(Default)]
pub(super) struct Tail(Vec<u8>);

impl Tail {
    pub(super) fn remember(&mut self, chunk: &[u8]) {
        let kept = chunk.len().min(Resume::TAIL);
        let surplus = (self.0.len() + kept).saturating_sub(Resume::TAIL);
        self.0.drain(..surplus);
        self.0.extend_from_slice(&chunk[chunk.len() - kept..]);
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn tail_holds_the_last_64_bytes_for_every_chunk_size() {
        let all: Vec<u8> = (0..=255).collect();
        for size in [1, 3, 63, 64, 65, 256] {
            let mut tail = Tail::default();
            all.chunks(size).for_each(|chunk| tail.remember(chunk));
            assert_eq!(tail.bytes(), all[192..], "{size}");
        }
        let mut tail = Tail::default();
        tail.remember(b"few");
        assert_eq!(tail.bytes(), b"few");
    }
}
