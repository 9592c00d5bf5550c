//! The task that drives a connection of hyper.

use tokio::task::AbortHandle;

/// The task that drives a connection. It is aborted on drop.
pub(super) struct ConnectionTask(AbortHandle);

impl ConnectionTask {
    #[allow(
        clippy::disallowed_methods,
        reason = "hyper's connection must be polled beside its body; ends on drop"
    )]
    pub(super) fn spawn<T: Send + 'static>(connection: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(connection).abort_handle())
    }
}

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}
