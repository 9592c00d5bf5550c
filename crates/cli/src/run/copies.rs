//! The other URLs of an object: the alternatives that the user or a document names, and the duplicates of its server.

use fetch_url::news::UpcomingUrls;
use fetch_url::{Meta, Request, http};

use super::context::Run;
use crate::job::Transfer;

/// Returns the requests for the copies of the object of `transfer`, whose metadata is `meta`. Invalid URLs are left out;
/// they fail when they are tried alone.
pub(super) fn requests(transfer: &Transfer, meta: &Meta, run: &Run) -> Vec<Request> {
    let alternatives = transfer.alternatives.iter().map(|url| with_url(transfer, url));
    let duplicates = duplicates(transfer, meta, run);
    let duplicates = duplicates.iter().flat_map(|pattern| {
        http::duplicates(meta).into_iter().map(|url| Transfer { url, ..pattern.clone() })
    });
    let request = |copy: Transfer| run.options.request_for(&copy, UpcomingUrls::default()).ok();
    alternatives.chain(duplicates).filter_map(request).collect()
}

/// Returns the transfer of the object from another URL alone.
pub(super) fn with_url(transfer: &Transfer, url: &str) -> Transfer {
    Transfer { url: url.to_owned(), alternatives: Vec::new(), ..transfer.clone() }
}

/// Returns `true` for the metadata of a response with an HTTP error, whose content is not the object.
pub(super) fn is_error(meta: &Meta) -> bool {
    meta.status.is_some_and(|status| status >= 400)
}

/// Returns how the duplicates that the server names are fetched, or `None` without `--metalink-over-http`. The server
/// chose them, and its digest holds for them, unless it is that of the content of an error response.
pub(super) fn duplicates(transfer: &Transfer, meta: &Meta, run: &Run) -> Option<Transfer> {
    run.options.uses_duplicates.then(|| Transfer {
        is_from_document: true,
        checksum: transfer.checksum.clone().or_else(|| http::digest(meta).filter(|_| !is_error(meta))),
        alternatives: Vec::new(),
        ..transfer.clone()
    })
}
