//! How the body of a request is sent: its rate, and when it last advanced.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use crate::body::rate::RateLimiter;
use crate::{Limits, RunContext};

/// The progress of a request body. The body and the request that waits for the response share it: the reply timeout
/// begins again whenever bytes are sent.
#[derive(Clone, Debug)]
pub(super) struct UploadProgress(Arc<Mutex<Progress>>);

#[derive(Clone, Copy, Debug)]
struct Progress {
    last: Instant,
    is_complete: bool,
}

impl UploadProgress {
    /// Returns a progress that advanced now.
    pub(super) fn begin() -> Self {
        Self(Arc::new(Mutex::new(Progress { last: Instant::now(), is_complete: false })))
    }

    /// Returns the moment of the last progress.
    pub(super) fn last(&self) -> Instant {
        self.lock().last
    }

    /// Returns `true` if the whole body was read to be sent.
    pub(super) fn is_complete(&self) -> bool {
        self.lock().is_complete
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Limits the rate of one body and records its progress.
#[derive(Debug)]
pub(super) struct Upload {
    progress: UploadProgress,
    rate: Option<Box<RateLimiter>>,
}

impl Upload {
    /// Returns the upload of one attempt, which shares the rate limit of the run.
    pub(super) fn new(progress: UploadProgress, ctx: &RunContext) -> Self {
        let rate = RateLimiter::new(&Limits::default(), ctx.max_rate.clone()).map(Box::new);
        Self { progress, rate }
    }

    #[cfg(test)]
    pub(super) fn unlimited() -> Self {
        Self { progress: UploadProgress::begin(), rate: None }
    }

    /// Returns `Ready` when the next chunk may be sent.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Waiting for the rate limit is no delay of the server.
        self.progress.lock().last = Instant::now();
        if let Some(rate) = &mut self.rate {
            ready!(rate.poll_ready(cx));
        }
        Poll::Ready(())
    }

    /// Records that the whole body was read.
    pub(super) fn complete(&self) {
        self.progress.lock().is_complete = true;
    }

    /// Records a chunk of `bytes` bytes that is being sent.
    pub(super) fn record(&mut self, bytes: usize) {
        if let Some(rate) = &mut self.rate {
            rate.record(bytes);
        }
    }
}
