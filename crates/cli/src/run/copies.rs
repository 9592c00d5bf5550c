//! The other URLs of an object: the alternatives that the user or a document names, and the duplicates of its server.

use fetch_url::news::UpcomingUrls;
use fetch_url::{Code, Error, Meta, Request, http};

use super::context::Run;
use crate::job::Transfer;
use crate::report::TransferReport;

/// Returns the requests for the copies of the object of `transfer`, whose metadata is `meta`. Invalid URLs are left out;
/// they fail when they are tried alone.
pub(super) fn requests(transfer: &Transfer, meta: &Meta, run: &Run) -> Vec<Request> {
    let others = if transfer.is_alone { Vec::new() } else { others(transfer, Some(meta), run) };
    let request = |other: Transfer| run.options.request_for(&other, UpcomingUrls::default()).ok();
    others.into_iter().filter_map(request).collect()
}

/// Returns the transfers that are tried one after the other if the first one failed. If several servers shared its
/// segments, any of them may have sent wrong bytes, which a checksum or the bytes between two segments have shown, so its
/// own URL is tried alone first.
pub(super) fn further_attempts(
    transfer: &Transfer,
    error: &Error,
    report: &TransferReport,
    run: &Run,
) -> Vec<Transfer> {
    let has_wrong_bytes = matches!(error.code(), Code::ChecksumMismatch | Code::RangeRefused);
    let is_mixed = report.has_shared_segments && has_wrong_bytes;
    let own = is_mixed.then(|| alone(transfer, &transfer.url));
    // If the content of an error response is written, it is the result.
    let meta = report.meta.as_deref().filter(|meta| !is_error(meta) || !run.options.writes_error_body);
    own.into_iter().chain(others(transfer, meta, run)).collect()
}

/// Returns the transfers of the object from its alternatives, and from the duplicates that `meta` names.
fn others(transfer: &Transfer, meta: Option<&Meta>, run: &Run) -> Vec<Transfer> {
    let alternatives = transfer.alternatives.iter().map(|url| alone(transfer, url));
    let duplicates = meta.map(|meta| duplicates(transfer, meta, run));
    alternatives.chain(duplicates.into_iter().flatten()).collect()
}

/// Returns the transfer of the object from one URL alone.
fn alone(transfer: &Transfer, url: &str) -> Transfer {
    Transfer { url: url.to_owned(), alternatives: Vec::new(), is_alone: true, ..transfer.clone() }
}

/// Returns `true` for metadata of a response with an HTTP error, whose content is not the object.
fn is_error(meta: &Meta) -> bool {
    meta.status.is_some_and(|status| status >= 400)
}

/// Returns the transfers from the duplicates that the server names, with `--metalink-over-http`. The server chose them,
/// and its digest holds for them, unless it is that of the content of an error response.
fn duplicates(transfer: &Transfer, meta: &Meta, run: &Run) -> Vec<Transfer> {
    // After an upload or another change, a GET of the duplicate would hide that it failed.
    if !run.options.uses_duplicates || !run.options.only_reads || transfer.upload.is_some() {
        return Vec::new();
    }
    let digest = http::digest(meta).filter(|_| !is_error(meta));
    let checksum = transfer.checksum.clone().or(digest);
    let duplicate = |url: String| Transfer {
        is_from_document: true,
        checksum: checksum.clone(),
        ..alone(transfer, &url)
    };
    http::duplicates(meta).into_iter().map(duplicate).collect()
}
