//! The log of a run: the journal of a batch or mirror, or the queue that the lines come from.

use fetch_url::Error;

use super::journal_file::JournalFile;
use super::result_log::{Disposition, ResultLog, TransferResult};
use crate::job::Transfer;
#[cfg(feature = "queue")]
use crate::job::queue_worker::QueueWorker;

/// The log of a run.
#[derive(Clone, Copy)]
pub(super) enum RunLog<'r> {
    Journal(&'r JournalFile),
    #[cfg(feature = "queue")]
    Queue(&'r QueueWorker),
}

impl ResultLog for RunLog<'_> {
    async fn check(&self, transfer: &Transfer) -> Result<(), Error> {
        match self {
            Self::Journal(journal) => journal.check(transfer).await,
            #[cfg(feature = "queue")]
            Self::Queue(worker) => worker.check(transfer).await,
        }
    }

    fn add(&self, result: &TransferResult<'_>) -> Result<Disposition, Error> {
        match self {
            Self::Journal(journal) => journal.add(result),
            #[cfg(feature = "queue")]
            Self::Queue(worker) => worker.add(result),
        }
    }

    async fn store(&self, note_error: impl Fn(Error)) {
        match self {
            Self::Journal(journal) => journal.store(note_error).await,
            #[cfg(feature = "queue")]
            Self::Queue(worker) => worker.store(note_error).await,
        }
    }

    async fn close(&self, is_complete: bool) -> Option<Error> {
        match self {
            Self::Journal(journal) => journal.close(is_complete).await,
            #[cfg(feature = "queue")]
            Self::Queue(worker) => worker.close(is_complete).await,
        }
    }
}
