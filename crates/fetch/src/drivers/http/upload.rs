//! How the body of a request is sent: its rate, when it last advanced, and whether it was sent to its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use crate::body::rate::RateLimiter;
use crate::net::connection_info::ConnectionInfo;
use crate::{Limits, RunContext};

/// The progress of a request body. The body, its connection and the request that waits for the response share it: the
/// reply timeout begins again whenever bytes are sent.
#[derive(Clone, Debug)]
pub(super) struct UploadProgress(Arc<Mutex<Progress>>);

#[derive(Debug)]
struct Progress {
    last_progress: Instant,
    state: UploadState,
    /// Woken when the body is sent or the connection fails.
    waker: Option<Waker>,
}

/// How much of a request body is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UploadState {
    /// The body has not been read completely.
    Reading,
    /// All bytes were read, but may not be written to the connection yet.
    Read,
    /// All bytes were written to the connection (HTTP/2: handed to h2).
    Sent,
    /// The connection closed before the body was sent.
    Lost,
}

impl UploadProgress {
    /// Returns a progress that advanced now.
    pub(super) fn begin() -> Self {
        Self(Arc::new(Mutex::new(Progress {
            last_progress: Instant::now(),
            state: UploadState::Reading,
            waker: None,
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

    /// Records that the connection has flushed all buffered bytes.
    pub(super) fn mark_flushed(&self) {
        self.advance(UploadState::Read, UploadState::Sent);
    }

    /// Records that the connection has ended.
    pub(super) fn mark_lost(&self) {
        self.advance(UploadState::Reading, UploadState::Lost);
        self.advance(UploadState::Read, UploadState::Lost);
    }

    /// Returns `true` when the body is sent, or `false` if its connection ended before.
    pub(super) fn poll_sent(&self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut progress = self.lock();
        match progress.state {
            UploadState::Sent => Poll::Ready(true),
            UploadState::Lost => Poll::Ready(false),
            UploadState::Reading | UploadState::Read => {
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
    /// The connection records when the bytes are written to it ([`UploadProgress::mark_flushed`]).
    awaits_flush: bool,
    rate: Option<Box<RateLimiter>>,
}

impl Upload {
    /// Returns the upload of one attempt, which shares the rate limit of the run. With `awaits_flush`, its connection
    /// calls [`UploadProgress::mark_flushed`].
    pub(super) fn new(progress: UploadProgress, awaits_flush: bool, ctx: &RunContext) -> Self {
        let rate = RateLimiter::new(&Limits::default(), ctx.max_rate.clone()).map(Box::new);
        Self { progress, info: ctx.connector.connection_info().clone(), awaits_flush, rate }
    }

    #[cfg(test)]
    pub(super) fn unlimited() -> Self {
        let (progress, info) = (UploadProgress::begin(), ConnectionInfo::default());
        Self { progress, info, awaits_flush: false, rate: None }
    }

    /// Returns `Ready` when the next chunk may be sent.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Waiting for the rate limit is no delay of the server.
        self.progress.lock().last_progress = Instant::now();
        if let Some(rate) = &mut self.rate {
            ready!(rate.poll_ready(cx));
        }
        Poll::Ready(())
    }

    /// Records that the whole body was read.
    pub(super) fn mark_read(&self) {
        self.progress.advance(UploadState::Reading, UploadState::Read);
        if !self.awaits_flush {
            self.progress.mark_flushed();
        }
    }

    /// Records a chunk of `bytes` bytes that is being sent.
    pub(super) fn record(&mut self, bytes: usize) {
        self.info.update(|facts| facts.last_sent = Some(Instant::now()));
        if let Some(rate) = &mut self.rate {
            rate.record(bytes);
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.progress.advance(UploadState::Reading, UploadState::Lost);
    }
}
