//! The content of an answer as hyper sends it, and the record of the answer in the logs.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use fetch_url::Error;
use fetch_url::driver::ByteSource;
use http_body::{Body, Frame, SizeHint};

use crate::head_stream::UnansweredGuard;
use crate::log::{AnswerRecord, error_for_log};
use crate::shared::{RequestPermit, Shared};

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
pub(crate) struct AnswerBody {
    content: AnswerContent,
    length: Option<u64>,
    active: ActiveAnswer,
}

/// An answer under way. Dropping it writes the logs.
pub(crate) struct ActiveAnswer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) record: AnswerRecord,
    pub(crate) started: Instant,
    pub(crate) _permit: Option<RequestPermit>,
    pub(crate) _unanswered: Option<UnansweredGuard>,
}

impl AnswerBody {
    pub(crate) fn new(content: AnswerContent, active: ActiveAnswer) -> Self {
        let length = match &content {
            AnswerContent::Whole(bytes) => Some(bytes.len() as u64),
            AnswerContent::Stream { length, .. } => *length,
            AnswerContent::None => Some(0),
        };
        let mut body = Self { content, length, active };
        body.active.record.is_complete = length == Some(0);
        body
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
        let chunk = ready!(this.poll_content(cx));
        let record = &mut this.active.record;
        Poll::Ready(match chunk {
            Some(Ok(bytes)) => {
                record.bytes += bytes.len() as u64;
                record.is_complete = Some(record.bytes) == this.length;
                Some(Ok(Frame::data(bytes)))
            }
            Some(Err(error)) => {
                record.error = Some(error_for_log(&error));
                this.active.shared.record_error(record.target.clone(), error.to_string());
                this.content = AnswerContent::None;
                Some(Err(error))
            }
            None => {
                record.is_complete = true;
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            AnswerContent::None => true,
            AnswerContent::Whole(bytes) => bytes.is_empty(),
            AnswerContent::Stream { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.content, self.length) {
            (AnswerContent::None, _) | (_, None) => SizeHint::default(),
            (_, Some(length)) => SizeHint::with_exact(length.saturating_sub(self.active.record.bytes)),
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
