//! Failed transfers: whether another URL or a listing may succeed, and the message.

use fetch_url::url::Url;
use fetch_url::{Code, Error};

use super::context::Run;
use crate::job::Transfer;
use crate::render;

/// Returns `true` if the error can mean that a listed file is in fact a directory, a link or a special file.
pub(super) fn may_be_directory_or_link(error: &Error) -> bool {
    matches!(error.code(), Code::NotFound | Code::Denied | Code::Policy | Code::Unsupported)
}

/// Returns `true` if the error of a transfer can mean that its entry is in fact a directory, a link or a special file. The
/// system tells whether a local file may be read.
pub(super) fn may_be_other_kind(error: &Error, transfer: &Transfer) -> bool {
    let is_local = transfer.entry.as_deref().is_some_and(|entry| matches!(entry.url, Url::File(_)));
    may_be_directory_or_link(error) && !(is_local && error.code() == Code::Denied)
}

/// Returns `true` if an alternative URL may succeed: the cause of the error is not local.
pub(super) fn may_try_alternative(error: &Error) -> bool {
    !matches!(error.code(), Code::Internal | Code::SinkFailed | Code::Usage)
}

pub(super) fn print_failure(error: &Error, transfer: &Transfer, run: &Run) {
    match (run.log.prints_errors, run.log.errors_as_json) {
        (false, _) => {}
        (true, true) => {
            render::print_error_json(error, &transfer.shown_url());
        }
        (true, false) => {
            // An invalid line of the input file has no URL.
            render::print_error(error, Some(&*transfer.shown_url()).filter(|url| !url.is_empty()));
        }
    }
}
