//! Where the results of a batch are recorded: the journal beside the files, or the record of a queue.

use std::fs::Metadata;
use std::path::Path;
use std::time::Duration;

use fetch_url::Error;

use crate::job::Transfer;
use crate::report::TransferReport;

/// The result of one transfer of a batch.
pub(super) struct TransferResult<'r> {
    pub(super) transfer: &'r Transfer,
    pub(super) report: &'r TransferReport,
    /// The error of a failed transfer.
    pub(super) error: Option<&'r Error>,
    /// Path and metadata of the regular file that was written.
    pub(super) file: Option<(&'r Path, &'r Metadata)>,
}

/// Says whether a transfer has ended, or is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disposition {
    /// The result is final.
    Final,
    /// The transfer failed and is tried again after this time, by this worker of a queue or by another.
    #[cfg_attr(not(feature = "queue"), expect(dead_code, reason = "only a queue delays lines"))]
    Delayed(Duration),
}

/// A log of the results of a batch.
pub(super) trait ResultLog {
    /// Checks before a transfer begins that its file may be written.
    async fn check(&self, transfer: &Transfer) -> Result<(), Error>;

    /// Adds a result. It is stored later, by [`Self::store`].
    fn add(&self, result: &TransferResult<'_>) -> Result<Disposition, Error>;

    /// Stores results as they are added; it never returns.
    async fn store(&self, note_error: impl Fn(Error));

    /// Ends the log. `is_complete` is `true` if no transfer of the batch failed. Returns the first error of a write.
    async fn close(&self, is_complete: bool) -> Option<Error>;
}
