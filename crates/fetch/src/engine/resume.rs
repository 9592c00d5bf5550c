//! When what is already there cannot be used: start again rather than splice (RFC 9110 §15.3.7).

use crate::{Code, Error, Meta, Request, Resume};

/// Whether `error` only says that the rest of the object cannot be had on its own.
pub(super) fn must_start_anew(error: &Error, request: &Request) -> bool {
    error.code() == Code::RangeRefused && request.resume().is_some()
}

/// Whether the answer goes on exactly where `resume` ends, with the same object.
pub(super) fn continues(meta: &Meta, resume: Option<&Resume>) -> bool {
    resume.is_some_and(|resume| {
        meta.offset == resume.offset && meta.validator.as_ref() == Some(&resume.validator)
    })
}
