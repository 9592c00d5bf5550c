//! The other URLs of an object: the alternatives that the user or a document names, and the duplicates of its server.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use fetch_url::news::UpcomingUrls;
use fetch_url::{Checksum, Code, Error, Meta, Request, http};

use super::context::Run;
use super::document_metadata::checks_digest;
use crate::job::{Output, SegmentUse, Transfer};
use crate::report::TransferReport;

/// Returns the requests for the copies of the object of `transfer`, whose metadata is `meta`, without the condition that it
/// has met. Invalid URLs are left out; they fail when they are tried alone.
pub(super) fn requests(
    transfer: &Transfer,
    meta: &Meta,
    expected: Option<&Checksum>,
    run: &Run,
) -> Vec<Request> {
    let others = match transfer.segment_use {
        SegmentUse::AllServers => others(transfer, Some(meta), expected, run),
        _ => Vec::new(),
    };
    let request = |other: Transfer| {
        let other = Transfer { is_unconditional: true, ..other };
        run.options.request_for(&other, UpcomingUrls::default()).ok()
    };
    others.into_iter().filter_map(request).collect()
}

/// Returns the transfers from other URLs that are tried one after the other if the first one failed.
pub(super) fn further_attempts(
    transfer: &Transfer,
    report: &TransferReport,
    run: &Run,
) -> VecDeque<Transfer> {
    // If the content of an error response is written, it is the result.
    let meta = report.meta.as_deref().filter(|meta| !is_error(meta) || !run.options.writes_error_body);
    others(transfer, meta, report.expected.as_ref(), run).into()
}

/// Returns the next attempt with the URL of a transfer whose bytes do not fit together: without those of an earlier file, or
/// with segments of fewer servers, and then over one connection. Returns `None` if it failed for another reason.
pub(super) fn attempt_with_fewer_sources(
    transfer: &Transfer,
    error: &Error,
    report: &TransferReport,
) -> Option<Transfer> {
    if error.code() == Code::ChecksumMismatch && report.has_earlier_start {
        return Some(Transfer { replaces_file: true, ..alone(transfer, &transfer.url) });
    }
    let segment_use = segment_use_after(error, report.segment_use)?;
    Some(Transfer { segment_use, ..alone(transfer, &transfer.url) })
}

/// Returns where the segments of the next attempt come from, or `None` if there is none. Those of the failed one came from
/// `segment_use`.
fn segment_use_after(error: &Error, segment_use: SegmentUse) -> Option<SegmentUse> {
    let is_of_several_versions = error.has_invalid_body() || error.code() == Code::RangeRefused;
    match segment_use {
        // Any of the servers may have sent wrong bytes.
        SegmentUse::AllServers if is_of_several_versions || error.code() == Code::ChecksumMismatch => {
            Some(SegmentUse::OneServer)
        }
        // The object has changed, or the server ignores some offsets.
        SegmentUse::OneServer if is_of_several_versions => Some(SegmentUse::None),
        _ => None,
    }
}

/// Returns the transfers of the object from its alternatives, and from the duplicates that `meta` names.
fn others(transfer: &Transfer, meta: Option<&Meta>, expected: Option<&Checksum>, run: &Run) -> Vec<Transfer> {
    let alternatives = transfer.alternatives.iter().map(|url| alone(transfer, url));
    let duplicates = meta.map(|meta| duplicates(transfer, meta, expected, run));
    alternatives.chain(duplicates.into_iter().flatten()).collect()
}

/// Returns the transfer of the object from one URL alone.
fn alone(transfer: &Transfer, url: &str) -> Transfer {
    Transfer {
        url: url.to_owned(),
        alternatives: Vec::new(),
        segment_use: SegmentUse::OneServer,
        ..transfer.clone()
    }
}

/// Returns `next` as the attempt after `last`, whose results are in `report`. The file keeps its name. If the last attempt
/// has received the object, the condition of `-z` is met, and is not sent again.
pub(super) fn following(next: Transfer, last: &Transfer, report: &TransferReport) -> Transfer {
    let is_received = report.meta.as_deref().is_some_and(|meta| !is_error(meta));
    let mut next = Transfer { is_unconditional: last.is_unconditional || is_received, ..next };
    if let (Output::Named { kept_name, .. }, Output::Named { kept_name: earlier, .. }) =
        (&mut next.output, &last.output)
    {
        let name = report.file.as_deref().and_then(Path::file_name);
        *kept_name = earlier.clone().or_else(|| name.map(ToOwned::to_owned));
    }
    next
}

/// Returns `true` for metadata of a response with an HTTP error, whose content is not the object.
fn is_error(meta: &Meta) -> bool {
    meta.status.is_some_and(|status| status >= 400)
}

/// Returns the transfers from the duplicates that the server names, with `--metalink-over-http`. The server chose them,
/// and they must have the checksum that is required of the object, or without one its digest, unless that is the digest of
/// the content of an error response.
fn duplicates(transfer: &Transfer, meta: &Meta, expected: Option<&Checksum>, run: &Run) -> Vec<Transfer> {
    // After an upload or another change, a GET of the duplicate would hide that it failed.
    if !run.options.uses_duplicates || !run.options.only_reads || transfer.upload.is_some() {
        return Vec::new();
    }
    let digest = http::digest(meta).filter(|_| !is_error(meta) && checks_digest(run));
    let is_of_user = transfer.checksum.is_some() && !transfer.is_from_document;
    // If the server that names the duplicate has no TLS, the duplicate needs no protection either.
    let has_protected_checksum =
        transfer.has_protected_checksum || is_of_user || expected.is_none() && digest.is_some();
    let checksum = expected.cloned().or(digest);
    let named_by = Some(Arc::new(meta.clone()));
    let duplicate = |url: String| Transfer {
        is_from_document: true,
        named_by: named_by.clone(),
        checksum: checksum.clone(),
        has_protected_checksum,
        ..alone(transfer, &url)
    };
    http::duplicates(meta).into_iter().map(duplicate).collect()
}
