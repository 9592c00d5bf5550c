//! The body of a response. Applies rate limit, idle timeout, size limit and completeness check, for every scheme.
//!
//! A body that ends without an error is complete; its [`Proof`] states how the end was detected.

mod bytes_source;
mod checks;
mod crlf_to_lf;
mod errors;
mod expected_prefix;
mod file_body;
pub(crate) mod limits;
mod pipe;
mod prefix;
mod proof;
pub(crate) mod rate;
pub(crate) mod reader;
mod resumer;
mod source;
mod surplus;

use std::fmt;
use std::fs::File;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;

use bytes_source::BytesSource;
pub(crate) use checks::MATCHING_SIZE;
pub(crate) use crlf_to_lf::CrlfToLf;
pub(crate) use errors::{size_limit_error, truncated_error};
pub(crate) use file_body::FileBody;
use prefix::Prefix;
pub use proof::Proof;
pub(crate) use proof::TerminatorCheck;
pub(crate) use resumer::{Chunk, InterruptPosition, ResumeFuture, ResumedBody, Resumer};
use resumer::{ResumeState, Tail};
pub use source::ByteSource;
use surplus::Surplus;

use crate::body::limits::BodyLimits;
use crate::kernel_pipe::KernelPipe;
use crate::source_file::SourceFile;
use crate::time::deadline::Deadline;
use crate::{Code, Error, Phase};

/// The body of a response: a stream of bytes that is complete when it ends without an error.
///
/// It is a [`Stream`] of `Result<Bytes, Error>`. Limits, timeouts and the check of the announced length are built
/// in. A body that breaks off is requested again from the same offset where the server supports it.
pub struct Body {
    source: Source,
    /// Offset in the object of the first byte of this body.
    offset: u64,
    expected: Option<u64>,
    /// The size of the object in a listing. A shorter body is incomplete.
    listed_size: Option<u64>,
    received: u64,
    proof: Proof,
    /// The size limit in bytes.
    max_size: Option<u64>,
    limits: Option<Box<BodyLimits>>,
    terminator_check: TerminatorCheck,
    surplus: Surplus,
    resume_state: ResumeState,
    pub(crate) prefix: Prefix,
    /// The last bytes received, which a resumer needs to prove that another response continues this body.
    tail: Tail,
    /// Number of retries since the body began.
    retries: u32,
}

enum Source {
    File(SourceFile),
    Stream(Pin<Box<dyn ByteSource>>),
    /// The source has failed. Its connections are closed.
    Failed,
}

impl Body {
    /// Creates a body that reads from `source`.
    ///
    /// `expected` is the length in bytes that the protocol announced; another length is an error (`Code::Truncated`,
    /// `Code::PeerMisbehaved`). `proof` states how the end of `source` proves completeness.
    pub fn from_source(source: impl ByteSource + 'static, expected: Option<u64>, proof: Proof) -> Self {
        Self::new(Source::Stream(Box::pin(source)), expected, proof)
    }

    /// Creates a body from bytes in memory.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        Self::from_received_bytes(bytes.into(), Proof::Proven("its length"))
    }

    /// Creates a body from bytes in memory. `proof` states how their end was proven when they were received.
    pub(crate) fn from_received_bytes(bytes: Bytes, proof: Proof) -> Self {
        let length = bytes.len() as u64;
        Self::from_source(BytesSource(Some(bytes)), Some(length), proof)
    }

    /// Creates a body from `length` bytes of an open regular file, starting at its current position.
    ///
    /// The file is checked at the end: a file that changed while it was read is an error (`Code::Truncated`).
    pub fn from_file(file: File, length: u64, proof: Proof) -> Self {
        Self::new(Source::File(SourceFile::new(file)), Some(length), proof)
    }

    fn new(source: Source, expected: Option<u64>, proof: Proof) -> Self {
        Self {
            source,
            offset: 0,
            expected,
            listed_size: None,
            received: 0,
            proof,
            max_size: None,
            limits: None,
            terminator_check: TerminatorCheck::default(),
            surplus: Surplus::Misbehaviour,
            resume_state: ResumeState::None,
            prefix: Prefix::None,
            tail: Tail::default(),
            retries: 0,
        }
    }

    /// Returns the length of the body in bytes, or `None` if the protocol did not announce it.
    pub const fn expected(&self) -> Option<u64> {
        self.expected
    }

    /// Returns how it is known that the body is complete. For a body without an announced length this may change
    /// from proven to assumed at its end.
    pub const fn proof(&self) -> Proof {
        self.proof
    }

    /// Returns the next chunk, or `None` when the body is complete.
    ///
    /// # Errors
    /// `Code::Truncated` if the body ended early, `Code::TimedOut` if no data arrived within the idle timeout or the
    /// total time is over, `Code::LimitReached` beyond the size limit, or an error of the protocol.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        std::future::poll_fn(|cx| self.poll_chunk(cx)).await.transpose()
    }

    /// Reads the whole body into memory.
    ///
    /// # Errors
    /// As for [`Body::chunk`].
    pub async fn bytes(mut self) -> Result<Bytes, Error> {
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.chunk().await? else { return Ok(first) };
        let mut bytes = bytes::BytesMut::from(first);
        bytes.extend_from_slice(&second);
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.freeze())
    }

    /// Reads the whole body into memory, up to `max_size` bytes.
    ///
    /// # Errors
    /// As for [`Body::chunk`], and `Code::LimitReached` if the body has more than `max_size` bytes.
    pub async fn collect(mut self, max_size: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if bytes.len() + chunk.len() > max_size {
                return Err(self.name_url(size_limit_error(max_size as u64)));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Applies the caller's limits; the engine calls this once. `offset` is the number of bytes of the object that
    /// the caller already has.
    pub(crate) fn with_limits(mut self, mut body_limits: BodyLimits, offset: u64) -> Result<Self, Error> {
        if let Some(max_size) = body_limits.limits.max_size {
            let left = max_size.checked_sub(offset).ok_or_else(|| size_limit_error(max_size))?;
            if self.expected.is_some_and(|expected| expected > left) {
                return Err(size_limit_error(max_size));
            }
            body_limits.limits.max_size = Some(left);
        }
        self.offset = offset;
        Ok(self.with_body_limits(body_limits))
    }

    /// Applies the caller's limits to a body of unknown length that starts at offset 0.
    pub(crate) fn with_body_limits(mut self, body_limits: BodyLimits) -> Self {
        self.max_size = body_limits.limits.max_size;
        self.limits = Some(Box::new(body_limits));
        self
    }

    /// Sets the check that reports at the end of the body whether its terminator was missing.
    pub(crate) fn with_terminator_check(mut self, terminator_check: TerminatorCheck) -> Self {
        self.terminator_check = terminator_check;
        self
    }

    /// Puts `bytes` before the object. These bytes do not count towards the length, the limits or the
    /// progress of the object.
    #[must_use]
    pub fn with_prefix(mut self, bytes: impl Into<Bytes>) -> Self {
        self.prefix = Prefix::Waiting(bytes.into());
        self
    }

    /// Returns the deadline of the request, if limits have been applied.
    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.limits.as_ref().map(|body_limits| body_limits.deadline())
    }

    /// Lets `resumer` continue the body when it breaks off.
    pub(crate) fn resumed_by(mut self, resumer: Box<dyn Resumer>) -> Self {
        // A local file that ends early has changed, so it must not be resumed.
        if matches!(self.source, Source::Stream(_)) {
            self.resume_state = ResumeState::Ready { resumer, may_restart: false };
        }
        self
    }

    /// Declares that the consumer can discard the bytes it has and start again, so that the body may restart from
    /// offset 0.
    pub(crate) fn allow_restart(&mut self) {
        // A prefix, such as response headers, describes one response, so the body must not restart from
        // another response.
        if self.prefix != Prefix::None {
            return;
        }
        if let ResumeState::Ready { may_restart, .. } = &mut self.resume_state {
            *may_restart = true;
        }
    }

    /// Returns the number of retries since the body began.
    pub(crate) const fn retries(&self) -> u32 {
        self.retries
    }

    /// Returns the next chunk, or a restart if the consumer called [`Body::allow_restart`]. With a `pipe`, which must be
    /// empty, the chunk may be in the pipe; the consumer takes it and calls [`Body::set_tail`].
    pub(crate) async fn next_chunk(
        &mut self,
        mut pipe: Option<&mut KernelPipe>,
    ) -> Result<Option<Chunk>, Error> {
        std::future::poll_fn(|cx| self.poll_next_chunk(cx, pipe.as_deref_mut())).await.transpose()
    }

    /// Returns the local file that is read, or `None` if the body is a stream.
    pub(crate) const fn local_file(&self) -> Option<&SourceFile> {
        match &self.source {
            Source::File(source) => Some(source),
            Source::Stream(_) | Source::Failed => None,
        }
    }

    /// Returns the open file of the body, so that the kernel can copy it. The caller must then check the
    /// length and the size limit. A body whose prefix has not been delivered is returned unchanged.
    pub(crate) fn into_file(self) -> Result<FileBody, Box<Self>> {
        match self.source {
            Source::File(source) if self.prefix.length() == 0 => {
                Ok(FileBody { source, expected: self.expected, max_size: self.max_size })
            }
            _ => Err(Box::new(self)),
        }
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let chunk = ready!(self.poll_next_chunk(cx, None));
        Poll::Ready(chunk.map(|chunk| {
            chunk.and_then(|chunk| match chunk {
                Chunk::Bytes(bytes) => Ok(bytes),
                Chunk::Restart(_) | Chunk::InPipe(_) => Err(Error::new(
                    Code::Internal,
                    Phase::Body,
                    "the consumer of the body did not allow a restart or a pipe",
                )),
            })
        }))
    }

    fn poll_next_chunk(
        &mut self,
        cx: &mut Context<'_>,
        mut pipe: Option<&mut KernelPipe>,
    ) -> Poll<Option<Result<Chunk, Error>>> {
        let after = self.prefix.after();
        if let Prefix::Waiting(bytes) = std::mem::replace(&mut self.prefix, after) {
            return Poll::Ready(Some(Ok(Chunk::Bytes(bytes))));
        }
        loop {
            if let ResumeState::Running { future, may_restart } = &mut self.resume_state {
                let (resumer, resumed) = ready!(future.as_mut().poll(cx));
                self.resume_state = ResumeState::Ready { resumer, may_restart: *may_restart };
                match resumed {
                    Ok(ResumedBody { meta, body, is_restart: true, retries }) => {
                        self.restart(body);
                        self.retries = retries;
                        return Poll::Ready(Some(Ok(Chunk::Restart(Box::new(meta)))));
                    }
                    Ok(ResumedBody { body, retries, .. }) => {
                        // From here on, the length and the proof of the new response apply.
                        self.expected = body.expected.and_then(|rest| self.received.checked_add(rest));
                        (self.source, self.proof, self.retries) = (body.source, body.proof, retries);
                        (self.terminator_check, self.limits) = (body.terminator_check, body.limits);
                        self.surplus = body.surplus;
                    }
                    Err(error) => {
                        self.resume_state = ResumeState::None;
                        return Poll::Ready(Some(Err(self.name_url(error))));
                    }
                }
            }
            let next = ready!(self.poll_source(cx, pipe.as_deref_mut()));
            let Some(Err(error)) = next else { return Poll::Ready(next) };
            // A server may allow only one connection, which must be closed before a retry.
            self.source = Source::Failed;
            let ResumeState::Ready { resumer, may_restart } = std::mem::take(&mut self.resume_state) else {
                return Poll::Ready(Some(Err(self.name_url(error))));
            };
            let reached = InterruptPosition { offset: self.offset + self.received, tail: self.tail.bytes() };
            let future = resumer.resume(error, reached, may_restart);
            self.resume_state = ResumeState::Running { future, may_restart };
        }
    }

    /// Replaces everything received so far with `body`.
    fn restart(&mut self, body: Self) {
        (self.source, self.expected, self.proof) = (body.source, body.expected, body.proof);
        (self.offset, self.received, self.max_size) = (body.offset, 0, body.max_size);
        (self.terminator_check, self.limits) = (body.terminator_check, body.limits);
        self.surplus = body.surplus;
        self.tail = Tail::default();
    }

    fn poll_source(
        &mut self,
        cx: &mut Context<'_>,
        pipe: Option<&mut KernelPipe>,
    ) -> Poll<Option<Result<Chunk, Error>>> {
        if let Some(body_limits) = &mut self.limits
            && let Err(error) = ready!(body_limits.poll_ready(cx))
        {
            return Poll::Ready(Some(Err(error)));
        }
        let polled = match (self.poll_pipe(cx, pipe), &mut self.source) {
            (Poll::Ready(moved), _) => Poll::Ready(Some(moved.map(Chunk::InPipe))),
            (Poll::Pending, Source::Stream(stream)) => {
                stream.as_mut().poll_chunk(cx).map(|chunk| chunk.map(|chunk| chunk.map(Chunk::Bytes)))
            }
            (Poll::Pending, Source::File(source)) => {
                let left = self.expected.map(|expected| expected - self.received);
                Poll::Ready(source.read(left).map(|chunk| chunk.map(Chunk::Bytes)))
            }
            (Poll::Pending, Source::Failed) => {
                let detail = "the body has failed before";
                Poll::Ready(Some(Err(Error::new(Code::Truncated, Phase::Body, detail))))
            }
        };
        match (polled, &mut self.limits) {
            (Poll::Ready(chunk), Some(body_limits)) => {
                body_limits.record(chunk.as_ref().map_or(0, |chunk| chunk.as_ref().map_or(0, Chunk::length)));
                let in_time = body_limits.check_deadline();
                Poll::Ready(in_time.map_or_else(|error| Some(Err(error)), |()| self.check_chunk(chunk)))
            }
            (Poll::Ready(chunk), None) => Poll::Ready(self.check_chunk(chunk)),
            (Poll::Pending, Some(body_limits)) => {
                let expired = ready!(body_limits.poll_expired(cx));
                Poll::Ready(Some(Err(expired)))
            }
            (Poll::Pending, None) => Poll::Pending,
        }
    }
}

impl Stream for Body {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Self::poll_chunk(&mut self, cx)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} of {:?} bytes, {})", self.received, self.expected, self.proof)
    }
}

impl ByteSource for Body {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        Self::poll_chunk(&mut self, cx)
    }
}
