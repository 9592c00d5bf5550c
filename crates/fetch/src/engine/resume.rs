//! When what is already there cannot be used: start again rather than splice (RFC 9110 §15.3.7).

use fetch_url_core::Url;

use crate::{Code, Error, Meta, Request, Response, Resume};

/// Whether `error` only says that the rest of the object cannot be had on its own.
pub(super) fn must_start_anew(error: &Error, request: &Request) -> bool {
    error.code() == Code::RangeRefused && request.resume().is_some()
}

/// The resource that `url` names, as far as a validator is good for it. What stands behind the `?` is
/// left out: those who redirect to a signed URL sign it anew each time.
pub(crate) fn place(url: &Url<'_>) -> String {
    let text = url.redacted().to_string();
    match url {
        Url::Http(_) => text.split('?').next().unwrap_or_default().to_owned(),
        _ => text,
    }
}

/// Whether the answer is of another resource than what is there already.
pub(super) fn is_elsewhere(answer: &Response, request: &Request) -> bool {
    let came_from = request.resume().and_then(|resume| resume.place.as_ref());
    answer.meta.offset > 0 && came_from.is_some_and(|came_from| *came_from != place(&answer.meta.url))
}

/// Whether the answer goes on exactly where `resume` ends, with the same object.
pub(super) fn continues(meta: &Meta, resume: Option<&Resume>) -> bool {
    resume.is_some_and(|resume| {
        meta.offset == resume.offset && meta.validator.as_ref() == Some(&resume.validator)
    })
}
