//! The lines of `--dry-run`.

use std::path::Path;

use fetch_url::internal::check_request;
use fetch_url::{Error, Request};

use super::context::Run;
use super::not_fetchable::check_advice;
use crate::job::Transfer;
use crate::render;

/// Checks `request` as far as that is possible without a server, and prints what the transfer would fetch
/// (`--dry-run`).
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
    run.progress
        .suspend_while(|| render::dry_run::print_fetch(&transfer.shown_url(), path, size, run.options.format))
}
