//! Serialises objects on standard output: the objects of parallel transfers are not mixed with each other, nor with
//! the texts of `-D -`, `--etag-save -` and `-w`.

use std::cell::{Cell, RefCell};

use fetch_url::Error;
use fetch_url::internal::HostPermit;
use tokio::sync::{Mutex, MutexGuard};

use crate::render;

/// The lock on standard output, which a transfer holds while it writes its object.
#[derive(Default)]
pub(super) struct StdoutLock {
    mutex: Mutex<()>,
    /// The number of the transfer that holds the lock.
    owner: Cell<Option<usize>>,
    /// The texts of other transfers. They are printed when the lock is released.
    waiting: RefCell<Vec<u8>>,
    /// The error by which a text that had to wait was lost.
    lost_text: RefCell<Option<Error>>,
}

/// The guard of one transfer. Dropping it releases the lock.
pub(super) struct StdoutGuard<'l> {
    stdout: &'l StdoutLock,
    _guard: MutexGuard<'l, ()>,
}

impl StdoutLock {
    /// Locks standard output for the transfer `number`. Its permit is released while it waits, to avoid a deadlock: after a
    /// 429 or 503 the transfer that holds the lock must acquire its own permit again.
    pub(super) async fn lock(&self, number: usize, permit: Option<&HostPermit>) -> StdoutGuard<'_> {
        let guard = match (self.mutex.try_lock(), permit) {
            (Ok(guard), _) => guard,
            (Err(_), Some(permit)) => permit.released_while(self.mutex.lock()).await,
            (Err(_), None) => self.mutex.lock().await,
        };
        self.owner.set(Some(number));
        StdoutGuard { stdout: self, _guard: guard }
    }

    /// Prints a text of the transfer `number`; if another transfer holds the lock, when that is released.
    ///
    /// # Errors
    /// As for [`render::print_stdout_bytes`], unless the text has to wait.
    pub(super) fn print(&self, number: usize, text: &[u8]) -> Result<(), Error> {
        if self.owner.get().is_some_and(|owner| owner != number) {
            self.waiting.borrow_mut().extend_from_slice(text);
            return Ok(());
        }
        render::print_stdout_bytes(text)
    }

    /// Returns the first error by which a text that had to wait was lost.
    ///
    /// # Errors
    /// As for [`render::print_stdout_bytes`].
    pub(super) fn take_lost_text(&self) -> Result<(), Error> {
        self.lost_text.take().map_or(Ok(()), Err)
    }
}

impl Drop for StdoutGuard<'_> {
    fn drop(&mut self) {
        let waiting = self.stdout.waiting.take();
        if let (false, Err(error)) = (waiting.is_empty(), render::print_stdout_bytes(&waiting)) {
            self.stdout.lost_text.borrow_mut().get_or_insert(error);
        }
        self.stdout.owner.set(None);
    }
}
