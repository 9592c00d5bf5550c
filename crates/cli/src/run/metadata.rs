//! Requests for metadata whose answer the run can do without. Some servers refuse HEAD but send the object.

use std::path::Path;

use fetch_url::url::Url;
use fetch_url::{Code, Content, Error, Meta, Phase, Request, Response};

use super::context::Run;
use super::failures::may_try_alternative;
use crate::flags::Format;
use crate::job::Transfer;

/// Requests the metadata of an object. An error that may refuse only HEAD is retried once, and no longer after such a
/// retry has failed at the server: the object, which is requested next, is retried as usual.
pub(super) async fn request_metadata(request: &Request, run: &Run) -> Result<Box<Meta>, Error> {
    let Some(server) = http_server(request.url()) else {
        return Ok(run.fetcher.fetch(request.clone().head()).await?.meta);
    };
    let retries = u32::from(!run.refused_heads.contains(&server));
    match run.fetcher.fetch(request.clone().head().with_max_refusal_retries(retries)).await {
        Ok(response) => Ok(response.meta),
        Err(error) => {
            if error.is_transient() && error.may_refuse_only_head() {
                run.refused_heads.insert(server);
            }
            Err(error)
        }
    }
}

/// Returns `true` if a request for metadata failed but the object may be available.
pub(super) fn may_be_available(error: &Error) -> bool {
    error.may_refuse_only_head() || (may_try_alternative(error) && !error.is_transient())
}

/// Requests the object of an entry of unknown kind if its file cannot be opened, because an earlier run has copied a
/// directory of this name. Otherwise a link to a directory would fail here, although a first run skips it.
///
/// # Errors
/// The error of the request. [`Code::NotFound`] for a directory.
pub(super) async fn check_kind(
    request: &Request,
    transfer: &Transfer,
    path: Option<&Path>,
    run: &Run,
) -> Result<(), Error> {
    let is_uncertain = transfer.entry.as_deref().is_some_and(|entry| entry.uncertain_kind.is_some());
    if !is_uncertain || !path.is_some_and(Path::is_dir) {
        return Ok(());
    }
    reject_listing(&run.fetcher.fetch(request.clone()).await?.content, transfer)
}

/// Checks that the server sends a file: at least one byte, or none and the size 0. Some servers open a directory, and fail
/// when they read it.
pub(super) async fn check_sends_file(request: Request, transfer: &Transfer, run: &Run) -> Result<(), Error> {
    let response = run.fetcher.fetch(request).await?;
    reject_listing(&response.content, transfer)?;
    let Content::Body(mut body) = response.content else { return Ok(()) };
    let is_empty = body.chunk().await?.is_none();
    if is_empty && response.meta.head.size != Some(0) {
        let error = Error::new(Code::PeerMisbehaved, Phase::Body, "the server sent no byte of the file");
        return Err(error.with_url(&response.meta.url));
    }
    Ok(())
}

/// Rejects the listing of a directory in place of a file of a mirror.
pub(super) fn reject_listing(content: &Content, transfer: &Transfer) -> Result<(), Error> {
    match content {
        Content::Listing(_) if transfer.entry.is_some() => {
            Err(Error::new(Code::NotFound, Phase::Reply, "it is a directory"))
        }
        _ => Ok(()),
    }
}

/// Rejects an object in place of a directory (`--list`). A listing as received, and the content of an error response, are
/// bodies, too.
pub(super) fn reject_object(response: &Response, run: &Run) -> Result<(), Error> {
    let is_object = matches!(response.content, Content::Body(_)) && run.options.format != Format::Raw;
    let is_error = response.meta.status.is_some_and(|status| status >= 400);
    if !run.options.force_listing || !is_object || is_error {
        return Ok(());
    }
    let error = Error::new(Code::NotFound, Phase::Reply, "it is not a directory");
    Err(error.with_url(&response.meta.url))
}

/// Returns scheme, host and port of an HTTP URL.
fn http_server(url: &Url<'_>) -> Option<String> {
    let Url::Http(http) = url else { return None };
    Some(format!("{}://{}", http.scheme().name, http.authority().host_port()))
}
