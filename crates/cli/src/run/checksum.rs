//! The required checksum of a transfer: from the caller, or from a list.

use std::path::Path;
use std::rc::Rc;

use fetch_url::url::{PercentEncoded, Url, mask_password, parse, resolve_reference};
use fetch_url::{Checksum, ChecksumList, Code, Content, Error, Phase, Request};

use super::checksum_lists::FetchedList;
use super::context::Run;
use super::notes;
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
/// Suffixes of signatures of lists.
const SIGNATURE_SUFFIXES: [&str; 4] = [".asc", ".gpg", ".sig", ".sign"];

/// Returns `true` if an existing file that need not be fetched must have the required checksum. A journal of a batch
/// contains the checksums of its lines, so that these are not compared again.
pub(super) fn must_check_existing(transfer: &Transfer, run: &Run) -> bool {
    let options = &run.options.checksum;
    let has_checksum = options.checksum.is_some() || options.checksum_from.is_some();
    let is_recorded = run.journal.is_some() && transfer.entry.is_none() && !run.options.skips_existing;
    let is_required = if transfer.checksum.is_some() { !is_recorded } else { has_checksum };
    is_required && !run.options.is_dry_run
}

/// Returns `true` if the existing file at `path` has the required checksum or needs none. A file that cannot be read
/// does not have it.
///
/// # Errors
/// Those of [`expected`].
pub(super) async fn is_checked(
    path: &Path,
    request: &Request,
    transfer: &Transfer,
    run: &Run,
) -> Result<bool, Error> {
    if !must_check_existing(transfer, run) {
        return Ok(true);
    }
    has_required_checksum(path, request, transfer, run).await
}

/// Returns `true` if the file at `path` has the required checksum, or none is required.
///
/// # Errors
/// Those of [`expected`].
pub(super) async fn has_required_checksum(
    path: &Path,
    request: &Request,
    transfer: &Transfer,
    run: &Run,
) -> Result<bool, Error> {
    let Some(checksum) = expected(request, transfer, run).await? else { return Ok(true) };
    let is_equal = checksum.matches_file(path).await.unwrap_or(false);
    if !is_equal {
        notes::note_wrong_checksum(transfer, run);
    }
    Ok(is_equal)
}

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
    let found = match from {
        "auto" => find_in_usual_lists(request, &name, transfer, run).await?,
        from => find_in_list(&list_url(request.url(), from)?, request, &name, transfer, run).await?,
    };
    // A mirror copies the lists, too. They and their signatures are written after the files.
    if found.is_some() || transfer.entry.is_some() && is_list_or_signature(request.url(), &name, from)? {
        return Ok(found);
    }
    let detail = match from {
        "auto" => format!("no checksum list beside {} contains {name}", transfer.shown_url()),
        from => format!("{} does not contain a checksum of {name}", mask_password(from)),
    };
    Err(Error::new(Code::NotFound, Phase::Plan, detail))
}

/// Returns the checksum of the object in one of the usual lists beside it.
async fn find_in_usual_lists(
    request: &Request,
    name: &str,
    transfer: &Transfer,
    run: &Run,
) -> Result<Option<Checksum>, Error> {
    let file_lists = FILE_LIST_SUFFIXES.map(|ending| format!("{name}{ending}"));
    for list_name in DIRECTORY_LIST_NAMES.into_iter().map(str::to_owned).chain(file_lists) {
        let url = list_url(request.url(), &list_name)?;
        match find_in_list(&url, request, name, transfer, run).await {
            Err(error) if is_missing_list(&error) => {}
            Ok(None) => {}
            found => return found,
        }
    }
    Ok(None)
}

/// Returns the checksum of the object in the list at `url`. In a mirror, the checksum of a list in the list itself does
/// not count: it was computed before the list was complete.
async fn find_in_list(
    url: &Url<'static>,
    request: &Request,
    name: &str,
    transfer: &Transfer,
    run: &Run,
) -> Result<Option<Checksum>, Error> {
    if transfer.entry.is_some() && is_same_object(url, request.url()) {
        return Ok(None);
    }
    let list = fetch_list_once(url, request, run).await?;
    list.map_or(Ok(None), |list| find_checksum(&list, url, request.url(), name))
}

/// Returns `true` if the object is a checksum list or the signature of one: it is the list of `--checksum-from`, or has
/// the name of a usual list.
fn is_list_or_signature(object: &Url<'_>, name: &str, from: &str) -> Result<bool, Error> {
    let signed_name = without_signature_suffix(name);
    let has_list_suffix = FILE_LIST_SUFFIXES.iter().any(|suffix| signed_name.ends_with(suffix));
    if has_list_suffix || DIRECTORY_LIST_NAMES.contains(&signed_name) {
        return Ok(true);
    }
    if from == "auto" {
        return Ok(false);
    }
    let list = list_url(object, from)?;
    let signed = parse(without_signature_suffix(&object.to_string())).map(|parsed| parsed.into_owned().url);
    Ok(is_same_object(&list, object) || signed.is_ok_and(|signed| is_same_object(&list, &signed)))
}

/// Returns the name or URL of a list without the suffix of its signature.
fn without_signature_suffix(text: &str) -> &str {
    SIGNATURE_SUFFIXES.iter().find_map(|suffix| text.strip_suffix(suffix)).unwrap_or(text)
}

/// Returns `true` if two URLs name the same object. The user names and passwords may differ.
fn is_same_object(one: &Url<'_>, other: &Url<'_>) -> bool {
    let after_host = |url: &Url<'_>| {
        let text = url.to_string();
        text.split_once("://").and_then(|(_, rest)| Some(rest.split_once('/')?.1.to_owned()))
    };
    one == other
        || one.same_origin(other) && after_host(one).is_some_and(|path| after_host(other) == Some(path))
}

/// Resolves the value of `--checksum-from` against the URL of the object.
fn list_url(url: &Url<'_>, reference: &str) -> Result<Url<'static>, Error> {
    let text = resolve_reference(&url.to_string(), reference);
    Ok(parse(&text)
        .map_err(|error| usage_error(format!("--checksum-from {}: {error}", mask_password(reference))))?
        .into_owned()
        .url)
}

/// Returns the checksum of `object` in a list. The paths of the list are relative to the directory of the list, if the object is below
/// it.
fn find_checksum(
    list: &ChecksumList,
    list_url: &Url<'_>,
    object: &Url<'_>,
    name: &str,
) -> Result<Option<Checksum>, Error> {
    let Some(path) = object_path(object) else { return list.find(name.as_bytes(), true) };
    let directory = object_path(list_url).filter(|_| list_url.same_origin(object)).map(|mut list_path| {
        let end = list_path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        list_path.truncate(end);
        list_path
    });
    match directory.as_ref().and_then(|directory| path.strip_prefix(&directory[..])) {
        Some(relative) => list.find(relative, true),
        None => list.find(&path, false),
    }
}

/// Returns the decoded path of a URL, for schemes that have paths.
fn object_path(url: &Url<'_>) -> Option<Vec<u8>> {
    match url {
        Url::Gopher(url) => Some(url.selector().decode().into_owned()),
        Url::File(_) | Url::Ftp(_) | Url::Http(_) => {
            let text = url.to_string();
            let (_, path) = text.split_once("://")?.1.split_once('/')?;
            let path = path.split(['?', '#']).next().unwrap_or_default();
            let path = if matches!(url, Url::Ftp(_)) { path.split(";type=").next()? } else { path };
            Some(PercentEncoded::from(path).decode().into_owned())
        }
        _ => None,
    }
}

/// Fetches and parses the list at `url`, once in a run.
async fn fetch_list_once(url: &Url<'static>, request: &Request, run: &Run) -> Result<FetchedList, Error> {
    let cell = run.checksum_lists.borrow_mut().entry(url.to_string()).or_default().clone();
    let fetch = async || match fetch_list(url, request, run).await {
        Err(error)
            if is_missing_list(&error) && run.options.checksum.checksum_from.as_deref() == Some("auto") =>
        {
            Ok(None)
        }
        list => Ok(Some(Rc::new(ChecksumList::parse(list?)))),
    };
    cell.get_or_try_init(fetch).await.cloned()
}

/// Fetches a list.
async fn fetch_list(url: &Url<'static>, request: &Request, run: &Run) -> Result<Vec<u8>, Error> {
    let response = run.fetcher.fetch(request.for_related(url.clone())).await?;
    match (response.status_error, response.content) {
        (Some(refusal), _) => Err(refusal),
        (None, Content::Body(body)) => body.collect(MAX_LIST_SIZE).await.map_err(|error| error.with_url(url)),
        (None, _) => {
            Err(Error::new(Code::NotFound, Phase::Body, "the response is not a checksum list").with_url(url))
        }
    }
}

/// Returns `true` if the server has no such list, so that another name is tried.
fn is_missing_list(error: &Error) -> bool {
    matches!(error.code(), Code::Denied | Code::HttpError | Code::NotFound | Code::Unsupported)
}
