//! A future that makes progress while another one is awaited, and whose output is taken later.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that has been started. It makes progress when it is polled, and it is cancelled on drop.
pub(crate) enum StartedFuture<T> {
    /// It has no output yet.
    Pending(Pin<Box<dyn Future<Output = T> + Send>>),
    /// Its output.
    Ready(T),
}

impl<T> StartedFuture<T> {
    /// Wraps `future`, which starts with the first poll.
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self::Pending(Box::pin(future))
    }

    /// Returns `true` if the future had no output when it was polled last.
    pub(crate) const fn is_pending(&self) -> bool {
        matches!(self, Self::Pending(_))
    }

    /// Lets the future make progress.
    pub(crate) fn poll_progress(&mut self, cx: &mut Context<'_>) {
        if let Self::Pending(future) = self
            && let Poll::Ready(output) = future.as_mut().poll(cx)
        {
            *self = Self::Ready(output);
        }
    }

    /// Waits for the output.
    pub(crate) async fn output(self) -> T {
        match self {
            Self::Pending(future) => future.await,
            Self::Ready(output) => output,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn output_is_that_of_the_future_whether_it_was_ready_or_not() {
        let (sender, receiver) = oneshot::channel();
        let mut early = StartedFuture::new(std::future::ready(1));
        let mut late = StartedFuture::new(async { receiver.await.expect("a number") });
        let mut cx = Context::from_waker(Waker::noop());
        early.poll_progress(&mut cx);
        late.poll_progress(&mut cx);
        assert!(matches!((&early, &late), (StartedFuture::Ready(1), StartedFuture::Pending(_))));
        sender.send(2).expect("a receiver");
        // A future that is ready is not polled again.
        early.poll_progress(&mut cx);
        assert_eq!((early.output().await, late.output().await), (1, 2));
    }
}
