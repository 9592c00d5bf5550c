//! Requests for metadata whose answer the run can do without. Some servers refuse HEAD but send the object.

use std::path::Path;

use fetch_url::mirror::UncertainKind;
use fetch_url::url::Url;
use fetch_url::{Error, Meta, Request};

use super::context::Run;
use super::failures::may_try_alternative;
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

/// Returns `true` for a link in place of a directory that an earlier run has copied. If it leads to a directory, which the
/// request for its metadata shows over FTP, it is skipped.
pub(super) fn may_lead_to_directory(transfer: &Transfer, path: &Path) -> bool {
    let kind = transfer.entry.as_deref().and_then(|entry| entry.uncertain_kind);
    kind == Some(UncertainKind::Link) && path.is_dir()
}

/// Returns scheme, host and port of an HTTP URL.
fn http_server(url: &Url<'_>) -> Option<String> {
    let Url::Http(http) = url else { return None };
    Some(format!("{}://{}", http.scheme().name, http.authority().host_port()))
}
