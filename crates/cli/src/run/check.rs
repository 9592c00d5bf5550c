//! The checksum that an object must have: the caller's, or the one that a list tells.

use std::collections::HashMap;
use std::rc::Rc;

use fetch_url::url::{Url, parse, resolve};
use fetch_url::{Checksum, Code, Content, Error, Phase, Request};
use tokio::sync::OnceCell;

use super::place::name_of;
use crate::job::{Job, Transfer, usage};

/// The largest list.
const LIST: usize = 16 * 1024 * 1024;
/// Lists of whole directories, the strongest first.
const BESIDE: [&str; 8] = [
    "SHA256SUMS",
    "SHA512SUMS",
    "sha256sum.txt",
    "sha256sums.txt",
    "CHECKSUMS",
    "SHA1SUMS",
    "MD5SUMS",
    "md5checksums.txt",
];
/// What a list of one file alone is called.
const ALONE: [&str; 4] = [".sha256", ".sha512", ".sha1", ".md5"];

/// Lists that were fetched, or are on their way, by their URLs.
pub(crate) type Lists = HashMap<String, Rc<OnceCell<List>>>;

/// The octets of a list; none where there is no such list.
type List = Option<Rc<[u8]>>;

/// What the object must come to, where somebody tells.
pub(super) async fn expected(
    request: &Request,
    transfer: &Transfer,
    job: &Job,
) -> Result<Option<Checksum>, Error> {
    if let Some(checksum) = &transfer.checksum {
        return Ok(Some(checksum.clone()));
    }
    let check = &job.shape.check;
    let Some(from) = check.checksum_from.as_deref() else { return Ok(check.checksum.clone()) };
    let name = name_of(request.url())?;
    if from != "auto" {
        let list = list(&resolved(request.url(), from)?, request, job).await?;
        return found(list.as_deref(), &name, from).map(Some);
    }
    let alone = ALONE.map(|ending| format!("{name}{ending}"));
    for beside in BESIDE.into_iter().map(str::to_owned).chain(alone) {
        let list = match list(&resolved(request.url(), &beside)?, request, job).await {
            Err(error) if is_not_there(&error) => continue,
            list => list?,
        };
        if let Some(checksum) = list.and_then(|list| Checksum::listed(&list, name.as_bytes())) {
            return Ok(Some(checksum));
        }
    }
    let detail = format!("no list beside {} tells the checksum of {name}", transfer.url);
    Err(Error::new(Code::NotFound, Phase::Plan, detail))
}

fn resolved(url: &Url<'_>, reference: &str) -> Result<Url<'static>, Error> {
    let text = resolve(&url.to_string(), reference);
    Ok(parse(&text).map_err(|error| usage(format!("--checksum-from {reference}: {error}")))?.into_owned().url)
}

fn found(list: Option<&[u8]>, name: &str, from: &str) -> Result<Checksum, Error> {
    list.and_then(|list| Checksum::listed(list, name.as_bytes())).ok_or_else(|| {
        let detail = format!("{from} does not tell the checksum of {name}");
        Error::new(Code::NotFound, Phase::Plan, detail)
    })
}

/// A list, fetched once in a run, however many objects wait for it.
async fn list(url: &Url<'static>, request: &Request, job: &Job) -> Result<List, Error> {
    let cell = job.lists.borrow_mut().entry(url.to_string()).or_default().clone();
    let fetch = async || match fetched(url, request, job).await {
        Err(error) if is_not_there(&error) && job.shape.check.checksum_from.as_deref() == Some("auto") => {
            Ok(None)
        }
        list => Ok(Some(Rc::from(list?))),
    };
    cell.get_or_try_init(fetch).await.cloned()
}

async fn fetched(url: &Url<'static>, request: &Request, job: &Job) -> Result<Vec<u8>, Error> {
    let response = job.fetcher.fetch(request.beside(url.clone())).await?;
    match (response.refusal, response.content) {
        (Some(refusal), _) => Err(refusal),
        (None, Content::Body(body)) => body.collect(LIST).await.map_err(|error| error.at(url)),
        (None, _) => Err(Error::new(Code::NotFound, Phase::Body, "it is no list of checksums").at(url)),
    }
}

/// Whether there may be another list.
fn is_not_there(error: &Error) -> bool {
    matches!(error.code(), Code::Denied | Code::HttpError | Code::NotFound | Code::Unsupported)
}
