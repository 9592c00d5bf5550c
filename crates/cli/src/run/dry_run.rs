//! The lines of `--dry-run`.

use std::io;
use std::path::Path;

use fetch_url::url::mask_password;
use fetch_url::{Code, Error, Phase};

use super::context::Run;
use crate::job::Transfer;
use crate::render;

/// Prints what a transfer would fetch (`--dry-run`).
pub(super) fn print_planned(transfer: &Transfer, path: Option<&Path>, run: &Run) -> Result<(), Error> {
    let size = transfer.entry.as_ref().and_then(|entry| entry.size);
    let printed = run.progress.suspend_while(|| {
        render::dry_run::print_fetch(&mask_password(&transfer.url), path, size, run.options.format)
    });
    match printed {
        true => Ok(()),
        false => {
            let closed = io::Error::from(io::ErrorKind::BrokenPipe);
            Err(Error::new(Code::SinkFailed, Phase::Deliver, "standard output").with_source(closed))
        }
    }
}
