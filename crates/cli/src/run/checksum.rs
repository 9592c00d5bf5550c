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
    let check = &run.options.check;
    let Some(from) = check.checksum_from.as_deref() else { return Ok(check.checksum.clone()) };
    let name = name_of(request.url())?;
    if from != "auto" {
        let list = list(&resolved(request.url(), from)?, request, run).await?;
        return found(list.as_deref(), &name, from).map(Some);
    }
    let alone = FILE_LIST_SUFFIXES.map(|ending| format!("{name}{ending}"));
    for beside in DIRECTORY_LIST_NAMES.into_iter().map(str::to_owned).chain(alone) {
        let list = match list(&resolved(request.url(), &beside)?, request, run).await {
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

fn resolved(url: &Url<'_>, reference: &str) -> Result<Url<'static>, Error> {
    let text = resolve_reference(&url.to_string(), reference);
    Ok(parse(&text)
        .map_err(|error| usage_error(format!("--checksum-from {reference}: {error}")))?
        .into_owned()
        .url)
}

fn found(list: Option<&[u8]>, name: &str, from: &str) -> Result<Checksum, Error> {
    list.and_then(|list| Checksum::listed(list, name.as_bytes())).ok_or_else(|| {
        let detail = format!("{from} does not contain a checksum of {name}");
        Error::new(Code::NotFound, Phase::Plan, detail)
    })
}

/// Returns a list, which is fetched once in a run.
async fn list(url: &Url<'static>, request: &Request, run: &Run) -> Result<ChecksumList, Error> {
    let cell = run.checksum_lists.borrow_mut().entry(url.to_string()).or_default().clone();
    let fetch = async || match fetched(url, request, run).await {
        Err(error)
            if is_missing_list(&error) && run.options.check.checksum_from.as_deref() == Some("auto") =>
        {
            Ok(None)
        }
        list => Ok(Some(Rc::from(list?))),
    };
    cell.get_or_try_init(fetch).await.cloned()
}

async fn fetched(url: &Url<'static>, request: &Request, run: &Run) -> Result<Vec<u8>, Error> {
    let response = run.fetcher.fetch(request.beside(url.clone())).await?;
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
