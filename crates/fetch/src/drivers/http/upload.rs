//! How the body of a request is sent: its rate, when it last advanced, and whether it was sent to its end.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes};

use crate::body::rate::RateLimiter;
use crate::net::connection_info::ConnectionInfo;
use crate::time::Instant;
use crate::{Code, Error, Limits, Phase, RunContext};

/// The kind of the error for a file that changes while it is sent.
pub(super) const FILE_CHANGED: io::ErrorKind = io::ErrorKind::InvalidData;

/// The progress of a request body. The body, its connection and the request that waits for the response share it: the
/// reply timeout begins again whenever bytes are sent.
#[derive(Clone, Debug)]
pub(super) struct UploadProgress(Arc<Mutex<Progress>>);

#[derive(Debug)]
struct Progress {
    last_progress: Instant,
    state: UploadState,
    /// Wakes the task that waits for the end of the upload ([`UploadProgress::poll_sent`]).
    waker: Option<Waker>,
    /// The code and the reason why the body could not be read.
    read_failure: Option<(Code, String)>,
}

/// How much of a request body is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UploadState {
    /// Some bytes wait to be read, or for the flow control of HTTP/2.
    Unsent,
    /// All bytes are in the buffer of the connection or written.
    Buffered,
    /// All bytes were written to the connection.
    Sent,
    /// The connection ended before, or the HTTP/2 stream was reset.
    Lost,
    /// The server has sent a complete response and needs no more of the body.
    #[cfg_attr(not(feature = "http2"), allow(dead_code, reason = "HTTP/1 servers do not decline a body"))]
    Declined,
}

impl UploadProgress {
    /// Returns the progress of a body that is about to be sent, with the current time as the last progress.
    pub(super) fn begin() -> Self {
        Self(Arc::new(Mutex::new(Progress {
            last_progress: Instant::now(),
            state: UploadState::Unsent,
            waker: None,
            read_failure: None,
        })))
    }

    /// Returns the moment of the last progress.
    pub(super) fn last_progress(&self) -> Instant {
        self.lock().last_progress
    }

    /// Returns `true` if the whole body was sent.
    pub(super) fn is_sent(&self) -> bool {
        self.lock().state == UploadState::Sent
    }

    /// Records that the server has sent a complete response and needs no more of the body.
    #[cfg(feature = "http2")]
    pub(super) fn mark_declined(&self) {
        self.advance(UploadState::Unsent, UploadState::Declined);
    }

    /// Returns `true` if the server has sent a complete response and needs no more of the body.
    pub(super) fn is_declined(&self) -> bool {
        self.lock().state == UploadState::Declined
    }

    /// Returns the error of a body that could not be read. h2 does not report it.
    pub(super) fn read_failure(&self) -> Option<Error> {
        let (code, detail) = self.lock().read_failure.clone()?;
        Some(Error::new(code, Phase::Request, detail).as_permanent())
    }

    /// Records that the connection has written the bytes of its buffer.
    pub(super) fn mark_flushed(&self) {
        self.advance(UploadState::Buffered, UploadState::Sent);
    }

    /// Records that the rest of the body will not be sent.
    pub(super) fn mark_lost(&self) {
        self.advance(UploadState::Unsent, UploadState::Lost);
        self.advance(UploadState::Buffered, UploadState::Lost);
    }

    /// Returns `true` when the body is sent or declined, or `false` if its connection ended before.
    pub(super) fn poll_sent(&self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut progress = self.lock();
        match progress.state {
            UploadState::Sent | UploadState::Declined => Poll::Ready(true),
            UploadState::Lost => Poll::Ready(false),
            UploadState::Unsent | UploadState::Buffered => {
                progress.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn advance(&self, from: UploadState, to: UploadState) {
        let mut progress = self.lock();
        if progress.state == from {
            progress.state = to;
            progress.waker.take().into_iter().for_each(Waker::wake);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Limits the rate of one body and records its progress.
#[derive(Debug)]
pub(super) struct Upload {
    progress: UploadProgress,
    info: ConnectionInfo,
    rate: Option<Box<RateLimiter>>,
}

impl Upload {
    /// Returns the upload of one attempt, which shares the rate limit of the run. Its connection calls
    /// [`UploadProgress::mark_flushed`].
    pub(super) fn new(progress: UploadProgress, ctx: &RunContext) -> Self {
        let rate = RateLimiter::new(&Limits::default(), ctx.max_rate.clone()).map(Box::new);
        Self { progress, info: ctx.connector.connection_info().clone(), rate }
    }

    #[cfg(test)]
    pub(super) fn unlimited() -> Self {
        Self { progress: UploadProgress::begin(), info: ConnectionInfo::default(), rate: None }
    }

    /// Returns `Ready` when the next chunk may be sent.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // The wait for the rate limit does not count towards the reply timeout.
        self.progress.lock().last_progress = Instant::now();
        if let Some(rate) = &mut self.rate {
            ready!(rate.poll_ready(cx));
        }
        Poll::Ready(())
    }

    /// Records that the body is empty.
    pub(super) fn mark_read(&self) {
        self.progress.advance(UploadState::Unsent, UploadState::Buffered);
    }

    /// Records that the body cannot be read.
    pub(super) fn fail(&self, error: &io::Error) {
        let code = if error.kind() == FILE_CHANGED { Code::Truncated } else { Code::Usage };
        self.progress.lock().read_failure = Some((code, error.to_string()));
    }

    /// Records that the rest of the body will not be read.
    pub(super) fn mark_lost(&self) {
        self.progress.mark_lost();
    }

    /// Returns a chunk to send, which counts towards the rate.
    pub(super) fn chunk(&mut self, bytes: Bytes, is_last: bool) -> OutgoingChunk {
        if let Some(rate) = &mut self.rate {
            rate.record(bytes.len());
        }
        OutgoingChunk { bytes, is_last, progress: self.progress.clone(), info: self.info.clone() }
    }
}

/// A chunk of a body. It records when the connection takes its bytes: HTTP/2 keeps a chunk until the server allows to send
/// it, and drops it if the stream is reset.
#[derive(Debug)]
pub(super) struct OutgoingChunk {
    bytes: Bytes,
    is_last: bool,
    progress: UploadProgress,
    info: ConnectionInfo,
}

impl Buf for OutgoingChunk {
    fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        let now = Instant::now();
        self.progress.lock().last_progress = now;
        self.info.update(|record| {
            record.last_sent = Some(now);
            record.sent_bytes = record.sent_bytes.saturating_add(count as u64);
        });
        if self.is_last && self.bytes.is_empty() {
            self.progress.advance(UploadState::Unsent, UploadState::Buffered);
        }
    }
}

impl Drop for OutgoingChunk {
    fn drop(&mut self) {
        if !self.bytes.is_empty() {
            self.progress.mark_lost();
        }
    }
}
