//! Waits for the end of the idle timeout, for a body that may be complete although its connection is open. The body fails
//! by the timer of its limits, not by this one.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Instant;

use super::timer::Timer;
use crate::Deadline;
use crate::net::connection_info::ConnectionInfo;

/// The end of the idle timeout of a body.
pub(crate) struct IdleEnd {
    deadline: Deadline,
    info: ConnectionInfo,
    timer: Timer,
}

impl IdleEnd {
    /// Creates the timer of the connection that `info` describes.
    pub(crate) fn new(deadline: Deadline, info: &ConnectionInfo) -> Self {
        Self { deadline, info: info.clone(), timer: Timer::default() }
    }

    /// Returns `Ready` if no byte arrived within the idle timeout, unless the total time is over. The clock decides, so that
    /// this is ready when the limits of the body poll the source for the last time; the timer wakes the task.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let last_received = self.info.snapshot().last_received.unwrap_or_else(Instant::now);
        let end = self.deadline.idle_end(last_received);
        if Instant::now() < end {
            ready!(self.timer.poll_after(end, Duration::ZERO, cx));
        }
        if self.deadline.check().is_err() { Poll::Pending } else { Poll::Ready(()) }
    }
}
