//! The required checksum of a transfer: from the caller, or from a list.

use std::rc::Rc;

use fetch_url::url::{Url, parse, resolve_reference};
use fetch_url::{Checksum, Code, Content, Error, Phase, Request};

use super::checksum_lists::ChecksumList;
use super::context::Run;
use super::output::name_of;
use crate::error::usage_error;
use crate::job::Transfer;

/// The maximum size of a list in bytes.
const MAX_LIST_SIZE: usize = 16 * 1024 * 1024;
/// Names of lists for whole directories, the strongest algorithm first.
const DIRECTORY_LIST_NAMES: [&str; 8] = [
    "SHA256SUMS",
    "SHA512SUMS",
    "sha256sum.txt",
    "sha256sums.txt",
    "CHECKSUMS",
    "SHA1SUMS",
    "MD5SUMS",
    "md5checksums.txt",
];
/// Suffixes of lists for one file.
const FILE_LIST_SUFFIXES: [&str; 4] = [".sha256", ".sha512", ".sha1", ".md5"];

/// Returns the required checksum, if there is one.
pub(super) async fn expected(
    request: &Request,
    transfer: &Transfer,
    run: &Run,
) -> Result<Option<Checksum>, Error> {
    if let Some(checksum) = &transfer.checksum {
        return Ok(Some(checksum.clone()));
    }
    let options = &run.options.checksum;
    let Some(from) = options.checksum_from.as_deref() else { return Ok(options.checksum.clone()) };
    let name = name_of(request.url())?;
    if from != "auto" {
        let list = fetch_list_once(&list_url(request.url(), from)?, request, run).await?;
        return find_checksum(list.as_deref(), &name, from).map(Some);
    }
    let file_lists = FILE_LIST_SUFFIXES.map(|ending| format!("{name}{ending}"));
    for list_name in DIRECTORY_LIST_NAMES.into_iter().map(str::to_owned).chain(file_lists) {
        let list = match fetch_list_once(&list_url(request.url(), &list_name)?, request, run).await {
            Err(error) if is_missing_list(&error) => continue,
            list => list?,
        };
        if let Some(checksum) = list.and_then(|list| Checksum::listed(&list, name.as_bytes())) {
            return Ok(Some(checksum));
        }
    }
    let detail = format!("no checksum list beside {} contains {name}", transfer.url);
    Err(Error::new(Code::NotFound, Phase::Plan, detail))
}

/// Resolves the value of `--checksum-from` against the URL of the object.
fn list_url(url: &Url<'_>, reference: &str) -> Result<Url<'static>, Error> {
    let text = resolve_reference(&url.to_string(), reference);
    Ok(parse(&text)
        .map_err(|error| usage_error(format!("--checksum-from {reference}: {error}")))?
        .into_owned()
        .url)
}

/// Returns the checksum of `name` in a list.
fn find_checksum(list: Option<&[u8]>, name: &str, from: &str) -> Result<Checksum, Error> {
    list.and_then(|list| Checksum::listed(list, name.as_bytes())).ok_or_else(|| {
        let detail = format!("{from} does not contain a checksum of {name}");
        Error::new(Code::NotFound, Phase::Plan, detail)
    })
}

/// Returns the list at `url`. Each list is fetched once in a run.
async fn fetch_list_once(url: &Url<'static>, request: &Request, run: &Run) -> Result<ChecksumList, Error> {
    let cell = run.checksum_lists.borrow_mut().entry(url.to_string()).or_default().clone();
    let fetch = async || match fetch_list(url, request, run).await {
        Err(error)
            if is_missing_list(&error) && run.options.checksum.checksum_from.as_deref() == Some("auto") =>
        {
            Ok(None)
        }
        list => Ok(Some(Rc::from(list?))),
    };
    cell.get_or_try_init(fetch).await.cloned()
}

/// Fetches a list.
async fn fetch_list(url: &Url<'static>, request: &Request, run: &Run) -> Result<Vec<u8>, Error> {
    let response = run.fetcher.fetch(request.for_related(url.clone())).await?;
    match (response.refusal, response.content) {
        (Some(refusal), _) => Err(refusal),
        (None, Content::Body(body)) => body.collect(MAX_LIST_SIZE).await.map_err(|error| error.at(url)),
        (None, _) => Err(Error::new(Code::NotFound, Phase::Body, "it is not a checksum list").at(url)),
    }
}

/// Returns `true` if the server has no such list, so that another name is tried.
fn is_missing_list(error: &Error) -> bool {
    matches!(error.code(), Code::Denied | Code::HttpError | Code::NotFound | Code::Unsupported)
}
