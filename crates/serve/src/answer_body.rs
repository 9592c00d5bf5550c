//! The content of an answer as hyper sends it, and the record of the answer in the logs.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use fetch_url::driver::ByteSource;
use fetch_url::{Code, Error, Phase};
use http_body::{Body, Frame, SizeHint};

use crate::client_limit::ClientPermit;
use crate::head_stream::UnansweredGuard;
use crate::log::{AnswerRecord, error_for_log};
use crate::memory::MemoryPermit;
use crate::shared::Shared;

/// The content of an answer.
pub(crate) enum AnswerContent {
    /// Bytes in memory.
    Whole(Bytes),
    /// Bytes that arrive from another server.
    Stream {
        /// The bytes that have arrived.
        first: Option<Bytes>,
        source: Pin<Box<dyn ByteSource>>,
        /// The length of all bytes, if it is known.
        length: Option<u64>,
    },
    /// No content: the answer to HEAD, or a status without content.
    None,
}

/// The content of an answer, which hyper reads. Dropping it cancels the request to the other server.
///
/// A client knows by the announced length, or by the last chunk, that the content is complete. So the chunk with the
/// last announced byte is sent only when the source has ended without an error.
pub(crate) struct AnswerBody {
    content: AnswerContent,
    length: Option<u64>,
    /// The chunk with the last announced byte.
    held: Option<Bytes>,
    /// The error that ends the content, after the bytes before it are flushed.
    failure: Option<Error>,
    active: ActiveAnswer,
}

/// An answer under way. Dropping it writes the logs.
pub(crate) struct ActiveAnswer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) record: AnswerRecord,
    pub(crate) started: Instant,
    pub(crate) _permit: Option<ClientPermit>,
    /// Held until the content is sent.
    pub(crate) memory: Option<MemoryPermit>,
    pub(crate) unanswered: Option<UnansweredGuard>,
}

impl AnswerBody {
    pub(crate) fn new(content: AnswerContent, mut active: ActiveAnswer) -> Self {
        let length = match &content {
            AnswerContent::Whole(bytes) => Some(bytes.len() as u64),
            AnswerContent::Stream { length, .. } => *length,
            AnswerContent::None => Some(0),
        };
        active.record.is_complete = length == Some(0);
        Self { content, length, held: None, failure: None, active }
    }

    /// Counts a chunk and returns it for hyper.
    fn send(&mut self, bytes: Bytes) -> Frame<Bytes> {
        let record = &mut self.active.record;
        record.bytes += bytes.len() as u64;
        record.is_complete = Some(record.bytes) == self.length;
        Frame::data(bytes)
    }

    /// Ends the content with an error. hyper flushes what is sent so far when the body is pending, and drops it at an
    /// error; the client gets at least the head.
    fn fail<T>(&mut self, error: Error, cx: &Context<'_>) -> Poll<T> {
        let record = &mut self.active.record;
        record.error = Some(error_for_log(&error));
        record.is_complete = false;
        self.active.shared.recent_errors.record(record.client, &record.target, &error.to_string());
        if record.version == 0 && self.length.is_none() {
            // The end of the connection would be the end of the content.
            if let Some(unanswered) = &self.active.unanswered {
                unanswered.reset_connection();
            }
        }
        (self.content, self.held, self.failure) = (AnswerContent::None, None, Some(error));
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_content(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        match &mut self.content {
            AnswerContent::None => Poll::Ready(None),
            AnswerContent::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.content = AnswerContent::None;
                Poll::Ready(
                    Some(Ok(bytes)).filter(|bytes| bytes.as_ref().is_ok_and(|bytes| !bytes.is_empty())),
                )
            }
            AnswerContent::Stream { first, source, .. } => match first.take() {
                Some(first) => Poll::Ready(Some(Ok(first))),
                None => source.as_mut().poll_chunk(cx),
            },
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        if let Some(error) = this.failure.take() {
            return Poll::Ready(Some(Err(error)));
        }
        loop {
            let bytes = match ready!(this.poll_content(cx)) {
                Some(Ok(bytes)) => bytes,
                Some(Err(error)) => return this.fail(error, cx),
                None => {
                    let last = this.held.take().map(|held| Ok(this.send(held)));
                    this.active.record.is_complete |= this.length.is_none();
                    return Poll::Ready(last);
                }
            };
            let total = this.active.record.bytes + bytes.len() as u64;
            let is_excess = this.held.is_some() || this.length.is_some_and(|length| total > length);
            match this.length {
                _ if is_excess && !bytes.is_empty() => {
                    let detail = "the server sent more bytes than it announced";
                    return this.fail(Error::new(Code::PeerMisbehaved, Phase::Body, detail), cx);
                }
                Some(length) if total == length && !bytes.is_empty() => this.held = Some(bytes),
                _ => return Poll::Ready(Some(Ok(this.send(bytes)))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.held.is_none()
            && self.failure.is_none()
            && match &self.content {
                AnswerContent::None => true,
                AnswerContent::Whole(bytes) => bytes.is_empty(),
                AnswerContent::Stream { .. } => false,
            }
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.content, self.length) {
            (AnswerContent::None, _) | (_, None) => SizeHint::default(),
            (_, Some(length)) => SizeHint::with_exact(length - self.active.record.bytes.min(length)),
        }
    }
}

impl Drop for ActiveAnswer {
    fn drop(&mut self) {
        self.record.elapsed = self.started.elapsed();
        self.shared.logs.record(&self.record);
    }
}

/// The error type of the handler, which always answers.
pub(crate) type Never = Infallible;
