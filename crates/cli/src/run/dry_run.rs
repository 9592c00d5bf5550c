//! The lines of `--dry-run`.

use std::io;
use std::path::Path;

use fetch_url::internal::check_request;
use fetch_url::url::mask_password;
use fetch_url::{Code, Error, Phase, Request};

use super::context::Run;
use super::not_fetchable::check_advice;
use crate::job::Transfer;
use crate::render;

/// Checks `request` as far as that is possible without a server, and prints what the transfer would fetch (`--dry-run`).
pub(super) fn print_planned(
    request: &Request,
    transfer: &Transfer,
    path: Option<&Path>,
    run: &Run,
) -> Result<(), Error> {
    if let Some(advice) = check_request(&run.fetcher, request)? {
        check_advice(&advice, transfer, run)?;
    }
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
