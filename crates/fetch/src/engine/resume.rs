//! When what is already there cannot be used: start again rather than splice (RFC 9110 §15.3.7).

use crate::{Code, Error, Request};

/// Whether `error` only says that the rest of the object cannot be had on its own.
pub(super) fn must_start_anew(error: &Error, request: &Request) -> bool {
    error.code() == Code::RangeRefused && request.resume().is_some()
}
