//! Fetches the listing of a directory of a mirror, and tells whether it shows which files the server no longer has.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use fetch_url::ftp::{FtpListing, FtpOptions};
use fetch_url::mirror::{Classified, DirEntry, DirectoryListing, Finished, ListedName};
use fetch_url::url::Url;
use fetch_url::{Code, Error, Phase};

use super::context::Run;
use super::transfer::with_observer;
use crate::job::MirrorJob;
use crate::report::TransferReport;

/// Fetches the listing of a directory. If the format of an FTP listing is unknown, fetches the list of names. `number`
/// identifies it in the events of the run.
pub(super) async fn fetch_listing(
    number: usize,
    directory: &DirEntry,
    run: &Run,
    job: &MirrorJob,
) -> Result<DirectoryListing, Error> {
    let report = TransferReport::begin(number, &directory.url.redacted().to_string());
    let permit = run.host_limiter.acquire(&directory.url).await.map(Arc::new);
    let request = with_observer(job.listing(&directory.url)?, run, &report).with_permit(permit);
    let listing = run.fetcher.list_all(&request).await?;
    if !is_unknown_format(&listing) {
        return Ok(listing);
    }
    let mut options = request.extra::<FtpOptions>().cloned().unwrap_or_default();
    options.listing = FtpListing::Names;
    let names = run.fetcher.list_all(&request.ftp(options)).await?;
    if is_unknown_format(&names) {
        let detail = "no line of the listing is understood";
        return Err(Error::new(Code::PeerMisbehaved, Phase::Body, detail).with_url(&names.meta.url));
    }
    // The line may be a message that the directory is empty.
    Ok(if names.entries.is_empty() { listing } else { names })
}

/// Returns `true` if no line of the listing of an FTP directory is understood.
fn is_unknown_format(listing: &DirectoryListing) -> bool {
    matches!(listing.meta.url, Url::Ftp(_))
        && !listing.entries.is_empty()
        && listing.limit_error.is_none()
        && listing.entries.iter().all(|entry| entry.url.is_none())
}

/// Returns the reason why a listing does not show which files are absent, if there is one that a note must explain.
pub(super) const fn why_untrusted(is_complete: bool, classified: &Classified) -> Option<&'static str> {
    match classified.has_unchecked_names {
        true => Some("the server sends names only, and excluded names may be error messages"),
        false if is_complete => None,
        false => Some("its listing may be incomplete"),
    }
}

/// Returns `true` if an earlier run has fetched a file or directory of the name below `directory`, and the listing has no
/// entry with it.
pub(super) fn is_unlisted_earlier_entry(
    directory: &str,
    name: &str,
    listed: &HashMap<String, ListedName>,
    earlier: &BTreeMap<String, Finished>,
) -> bool {
    let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
    // A name that several entries share has a suffix.
    !listed.contains_key(name)
        && (earlier.contains_key(&path)
            || has_start(&format!("{path}/"), earlier)
            || has_files_with_suffix(&path, earlier))
}

/// Returns `true` if earlier runs have fetched files or directories with this path and a suffix.
pub(super) fn has_files_with_suffix(path: &str, earlier: &BTreeMap<String, Finished>) -> bool {
    has_start(&format!("{path}~"), earlier)
}

/// Returns `true` if the path of an earlier file begins with `start`.
fn has_start(start: &str, earlier: &BTreeMap<String, Finished>) -> bool {
    let range = (Bound::Included(start), Bound::Unbounded);
    earlier.range::<str, _>(range).next().is_some_and(|(found, _)| found.starts_with(start))
}
