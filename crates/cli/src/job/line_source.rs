//! Where the lines of a batch come from.

use fetch_url::Error;

use super::transfer::Transfer;

/// A line as a transfer. After an error, an input file has no more lines; a queue may have.
pub(crate) type Line = Result<Transfer, Error>;

/// A source of the lines of a batch.
pub(crate) trait LineSource {
    /// Returns the next line, or `None` at the end.
    async fn next(&self) -> Option<Line>;
}
