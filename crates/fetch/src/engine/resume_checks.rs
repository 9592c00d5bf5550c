//! Decides when a partial download must be discarded instead of continued (RFC 9110 §15.3.7).

use crate::resume::resource_key;
use crate::{Code, Error, Meta, Request, Response, Resume};

/// Returns `true` if `error` means that the server cannot send the rest of the object, so that the request must be
/// sent again without a range.
pub(super) fn must_restart(error: &Error, request: &Request) -> bool {
    error.code() == Code::RangeRefused && request.resume().is_some()
}

/// Returns `true` if the response starts above offset 0 and is from another resource than the partial
/// download.
pub(super) fn is_other_resource(response: &Response, request: &Request) -> bool {
    let came_from = request.resume().and_then(|resume| resume.resource.as_ref());
    response.meta.offset > 0
        && came_from.is_some_and(|came_from| *came_from != resource_key(&response.meta.url))
}

/// Returns `true` if the response starts exactly at the offset of `resume` and has the same validator.
pub(super) fn is_continuation(meta: &Meta, resume: Option<&Resume>) -> bool {
    resume.is_some_and(|resume| {
        meta.offset == resume.offset && meta.validator.as_ref() == Some(&resume.validator)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, Validator};

    #[test]
    fn other_resource_matters_only_above_offset_0() {
        let validator = Validator::ETag("\"1\"".to_owned());
        let resource = Some("http://h/other".to_owned());
        let resume = Resume { offset: 5, size: None, validator, resource, tail: Vec::new() };
        let request = Request::new("http://h/x").expect("a URL").resuming(Some(resume));
        let mut response = Response::new(Meta::new(request.url().clone()), Content::Head);
        assert!(!is_other_resource(&response, &request), "the whole object");
        response.meta.offset = 5;
        assert!(is_other_resource(&response, &request));
        assert!(!is_other_resource(&response, &request.resuming(None)));
    }
}
