//! Complete listings: a listing that breaks off with a transient error is requested again from its beginning,
//! because a partial one does not show which entries are absent.

use std::sync::Arc;

use bytes::Bytes;
use fetch_url_core::Url;
use fetch_url_proto::{Details, Entry, ListingCounts, OtherLinkCounts};

use super::retry::RetryState;
use super::settings::Settings;
use crate::Deadline;
use crate::listing::entry_list::EntryList;
use crate::tree::is_same_directory;
use crate::{Body, Code, Content, Error, Listing, Meta, Phase, Proof, Request, Response};

/// The entries of a directory, as returned by [`Fetcher::list`](crate::Fetcher::list).
#[derive(Debug)]
#[non_exhaustive]
pub struct DirectoryListing {
    /// Metadata of the response.
    pub meta: Meta,
    /// The entries in the order of the listing.
    pub entries: EntryList,
    /// The error that ended the listing early (`Code::LimitReached`), if it has more entries or bytes than allowed.
    pub limit_error: Option<Error>,
    /// `true` if `entries` is certainly complete: the end of the listing is proven, the listing was not
    /// redirected to another directory, and it is not empty. Failing servers may return empty, truncated or
    /// unrelated pages.
    pub is_complete: bool,
    /// Names in links of an HTML index page that are not entries, such as links to another server. The directory may
    /// contain files with these names.
    pub uncertain_names: Vec<Vec<u8>>,
    /// The numbers of links of an HTML index page that are named like entries, but lead elsewhere.
    pub other_links: OtherLinkCounts,
    /// The HTML page that the server sent instead of a listing, if `IndexRule` keeps such pages. `entries` is
    /// then empty.
    pub ordinary_page: Option<OrdinaryPage>,
}

/// An HTML page that the server sent instead of the listing of a directory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OrdinaryPage {
    /// Metadata of the response, with size and validator of the page.
    pub meta: Meta,
    /// The content of the page.
    pub content: Bytes,
    /// How it is known that the page is complete.
    pub proof: Proof,
}

impl OrdinaryPage {
    /// Returns the page as a response with its body in memory.
    pub fn to_response(&self) -> Response {
        let body = Body::from_received_bytes(self.content.clone(), self.proof);
        Response::new(self.meta.clone(), Content::Body(body))
    }
}

/// Maximum sum of [`Entry::memory`](fetch_url_proto::Entry::memory) and [`OVERHEAD`] of one listing, in bytes. An
/// [`EntryList`] needs less; with the local names and URLs that a mirror makes of the entries, it is at most 128 MiB.
const MAX_MEMORY: usize = 88 * 1024 * 1024;
/// The memory that a mirror needs for an entry, in addition to its texts, in bytes.
const OVERHEAD: usize = 64;
/// The task yields after this many entries, so that other tasks can run.
const ENTRIES_PER_YIELD: usize = 1024;

/// Returns the entries of the directory that `request` names; `limit_error` and `is_complete` tell whether some are missing.
/// A listing that breaks off with a transient error is requested again. Entries that are not `is_wanted` are left out.
pub(crate) async fn list_all(
    settings: &Arc<Settings>,
    request: &Request,
    is_wanted: impl Fn(&Entry) -> bool,
) -> Result<DirectoryListing, Error> {
    let deadline = Deadline::start(settings.policy.timeouts);
    let mut retries = RetryState::new(settings.policy.retry);
    loop {
        let response = super::fetch(settings, request.clone()).await?;
        let Content::Listing(mut listing) = response.content else {
            let error = Error::new(Code::NotFound, Phase::Reply, "the response is not a listing");
            return Err(error.with_url(&response.meta.url));
        };
        let meta = response.meta;
        let (mut entries, mut memory, mut count) = (EntryList::default(), 0, 0_usize);
        let error = loop {
            match listing.next().await {
                Ok(Some(entry)) => {
                    if is_wanted(&entry) {
                        memory += entry.memory() + OVERHEAD;
                        entries.push(entry);
                    }
                    count += 1;
                    if count.is_multiple_of(ENTRIES_PER_YIELD) {
                        // Let other tasks run, such as the signal handler.
                        tokio::task::yield_now().await;
                    }
                }
                Ok(None) => return Ok(finished_listing(request, *meta, entries, &listing)),
                Err(error) => break error.with_url(&meta.url),
            }
            if memory > MAX_MEMORY {
                let detail = "the listing needs more than 128 MiB of memory";
                break Error::new(Code::LimitReached, Phase::Body, detail).with_url(&meta.url);
            }
        };
        if error.code() == Code::LimitReached {
            return Ok(DirectoryListing {
                meta: *meta,
                entries,
                limit_error: Some(error),
                is_complete: false,
                uncertain_names: Vec::new(),
                other_links: OtherLinkCounts::default(),
                ordinary_page: None,
            });
        }
        retries.backoff(request, error, 0, &deadline).await?;
    }
}

/// Returns `false` for an HTTP response that is no representation of the directory, such as 202 (accepted, RFC 9110
/// §15.3).
const fn has_success_status(meta: &Meta) -> bool {
    !matches!((&meta.url, meta.status), (Url::Http(_), Some(status)) if status != 200 && status != 203)
}

/// Returns `true` if an information line of a gopher menu states that the menu lacks items: `Showing 1-2 of 3`.
fn have_partial_counts(entries: &EntryList) -> bool {
    let mut counts = ListingCounts::default();
    let mut items = 0;
    for entry in entries.iter() {
        match &entry.details {
            Details::MenuItem(item, _) if item.gtype == b'i' => {
                counts.read(&String::from_utf8_lossy(&item.name))
            }
            _ => items += 1,
        }
    }
    counts.are_partial(items)
}

/// Returns the result of a listing that was read to its end.
fn finished_listing(
    request: &Request,
    meta: Meta,
    entries: EntryList,
    listing: &Listing,
) -> DirectoryListing {
    if let Some(page) = listing.kept_page() {
        let mut page_meta = meta.clone();
        (page_meta.head.size, page_meta.validator) = (page.size, page.validator.clone());
        let content = page.content.clone();
        let ordinary_page = Some(OrdinaryPage { meta: page_meta, content, proof: page.proof });
        return DirectoryListing {
            meta,
            entries: EntryList::default(),
            limit_error: None,
            is_complete: false,
            uncertain_names: Vec::new(),
            other_links: OtherLinkCounts::default(),
            ordinary_page,
        };
    }
    let is_proven = matches!(listing.proof(), Proof::Proven(_)) && listing.missing_terminator().is_none();
    // Without all names of the other links, it is unknown which files are absent.
    let (uncertain_names, has_all_names) = match listing.other_links() {
        Some(links) => (links.names.clone().unwrap_or_default(), links.names.is_some()),
        None => (Vec::new(), true),
    };
    let other_links = listing.other_links().map_or_else(OtherLinkCounts::default, |links| links.counts);
    let is_complete = is_proven
        && has_all_names
        && !entries.is_empty()
        && !have_partial_counts(&entries)
        && is_same_directory(&meta.url, request.url())
        && has_success_status(&meta);
    DirectoryListing {
        meta,
        entries,
        limit_error: None,
        is_complete,
        uncertain_names,
        other_links,
        ordinary_page: None,
    }
}
