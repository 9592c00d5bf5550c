//! Failed transfers: whether another URL or a listing may succeed, and the message.

use fetch_url::{Code, Error};

use super::context::Run;
use crate::job::Transfer;
use crate::render;

/// Returns `true` if the error can mean that a listed file is in fact a directory or a link.
pub(super) fn may_be_directory_or_link(error: &Error) -> bool {
    matches!(error.code(), Code::NotFound | Code::Denied | Code::Policy)
}

/// Returns `true` if an alternative URL may succeed: the cause of the error is not local.
pub(super) fn may_try_alternative(error: &Error) -> bool {
    !matches!(error.code(), Code::Internal | Code::SinkFailed | Code::Usage)
}

/// Returns `true` if a request for metadata failed but the object may be available: the server may refuse only HEAD, also
/// with an HTTP status that is transient for other requests.
pub(super) fn may_refuse_only_head(error: &Error) -> bool {
    let is_http_status = matches!(error.code(), Code::HttpError | Code::Busy)
        && error.reply().is_some()
        && error.url().is_some_and(|url| url.starts_with("http"));
    may_try_alternative(error) && (!error.is_transient() || is_http_status)
}

pub(super) fn print_failure(error: &Error, transfer: &Transfer, run: &Run) {
    match (run.log.prints_errors, run.log.errors_as_json) {
        (false, _) => {}
        (true, true) => {
            render::print_error_json(error, &transfer.url);
        }
        (true, false) => {
            // An invalid line of the input file has no URL.
            render::print_error(error, Some(transfer.url.as_str()).filter(|url| !url.is_empty()));
        }
    }
}
