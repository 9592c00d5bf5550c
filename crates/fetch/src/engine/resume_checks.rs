//! Decides when a partial download must be discarded instead of continued (RFC 9110 §15.3.7).

use crate::resume::resource_key;
use crate::{ByteRange, Code, Error, Meta, Phase, Request, Response, Resume};

/// Returns `true` if `error` means that the server cannot send the rest of the object, so that the request must be
/// sent again without the resume data. A server that has ignored the offset of the rest would also ignore that of a
/// range above byte 0.
pub(super) fn must_restart(error: &Error, request: &Request) -> bool {
    let is_above_start = |range: ByteRange| range.first_offset(None) != Some(0);
    let would_ignore_range = error.has_invalid_body() && request.wanted_range().is_some_and(is_above_start);
    error.code() == Code::RangeRefused && request.resume().is_some() && !would_ignore_range
}

/// Returns `true` if the response starts above offset 0 and is from another resource than the partial
/// download.
pub(super) fn is_other_resource(response: &Response, request: &Request) -> bool {
    let came_from = request.resume().and_then(|resume| resume.resource.as_ref());
    response.meta.offset > 0
        && came_from.is_some_and(|came_from| *came_from != resource_key(&response.meta.url))
}

/// Returns the error for a response without content to a request for the rest of a partial download, which must not be
/// replaced by it: status 204 or 205 carries no representation (RFC 9110 §15.3.5), or the version that has `offset`
/// bytes or more is now said to have none. Over FTP, a version is its size and time, so an empty object is another version. The response to another method than GET is not resumable, and not an error.
pub(super) fn missing_content_error(meta: &Meta, resume: Option<&Resume>) -> Option<Error> {
    let is_emptied = |resume: &Resume| {
        let is_same = meta.validator.as_ref() == Some(&resume.validator) && meta.protocol != Some("FTP");
        meta.head.size == Some(0) && is_same && resume.offset > 0
    };
    let is_missing =
        meta.is_resumable && resume.is_some_and(|resume| has_no_representation(meta) || is_emptied(resume));
    is_missing.then(|| {
        let detail = "the response to the request for the rest has no content";
        let error = Error::new(Code::Truncated, Phase::Request, detail).with_url(&meta.url);
        meta.reply.iter().fold(error, |error, reply| error.with_reply(reply.as_bytes()))
    })
}

/// Returns `true` for status 204 (No Content) and 205 (Reset Content) of HTTP.
pub(super) const fn has_no_representation(meta: &Meta) -> bool {
    matches!(meta.status, Some(204 | 205))
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

    #[test]
    fn content_is_missing_if_there_is_no_representation_or_the_same_version_is_empty() {
        let tag = |text: &str| Validator::ETag(text.to_owned());
        let resume =
            Resume { offset: 5, size: None, validator: tag("\"1\""), resource: None, tail: Vec::new() };
        let mut meta = Meta::new(Request::new("http://h/x").expect("a URL").url().clone());
        meta.is_resumable = true;
        for (status, size, validator, is_missing) in [
            (204, None, None, true),
            (205, Some(0), None, true),
            (200, Some(0), Some(tag("\"1\"")), true),
            (200, Some(0), Some(tag("\"2\"")), false),
            (200, Some(0), None, false),
            (200, Some(4), Some(tag("\"1\"")), false),
        ] {
            (meta.status, meta.head.size, meta.validator) = (Some(status), size, validator);
            assert_eq!(
                missing_content_error(&meta, Some(&resume)).is_some(),
                is_missing,
                "{status} {size:?}"
            );
            assert!(missing_content_error(&meta, None).is_none());
        }
        let mut of_ftp = Meta::new(Request::new("ftp://h/x").expect("a URL").url().clone());
        (of_ftp.head.size, of_ftp.validator, of_ftp.is_resumable) = (Some(0), tag("\"1\"").into(), true);
        of_ftp.protocol = Some("HTTP/1.1");
        assert!(missing_content_error(&of_ftp, Some(&resume)).is_some(), "through an HTTP proxy");
        of_ftp.protocol = Some("FTP");
        assert!(
            missing_content_error(&of_ftp, Some(&resume)).is_none(),
            "another version of the same second"
        );
        (meta.status, meta.is_resumable) = (Some(204), false);
        assert!(missing_content_error(&meta, Some(&resume)).is_none(), "the response to a POST");
    }
}
