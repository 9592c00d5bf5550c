//! The body of a response after its transfer and content codings are decoded, and how its end is recognised.

use http::header::TRANSFER_ENCODING;
use http::{Response, StatusCode, Version};

use super::content_coding::{self, ContentCoding};
use super::plan::HttpPlan;
use super::response_body::{NoContentBody, ResponseBody};
use crate::{Body, ByteRange, Code, Error, Meta, Phase, Proof};

/// Returns the body of `response` in the form that the caller wants, and corrects `meta` accordingly. `expected` is its
/// size in bytes before it is decoded.
pub(super) fn decoded_body(
    plan: &HttpPlan,
    response: Response<ResponseBody>,
    meta: &mut Meta,
    expected: Option<u64>,
) -> Result<Body, Error> {
    let headers = response.headers();
    let has_transfer_coding = headers.contains_key(TRANSFER_ENCODING);
    // Content-Range does not count the sizes of the chunks, which `raw` keeps.
    let expected = expected.filter(|_| !(plan.options.raw && has_transfer_coding));
    let proof = completeness_proof(plan, &response, meta, expected);
    if response.status() == StatusCode::NO_CONTENT {
        return Ok(Body::from_source(NoContentBody::new(response.into_body()), None, proof));
    }
    let headers = response.headers();
    let options = &plan.options;
    let transfer_coding = match options.transfer_coding && !options.raw {
        true => ContentCoding::from_transfer_encoding(headers)?,
        false => None,
    };
    // An index page is read, not stored, even if the server compresses it without being asked.
    let is_decoded = (options.compressed || options.index_as_listing && !plan.wants_head) && !options.raw;
    let content_coding = match ContentCoding::from_headers(headers) {
        Ok(coding) => coding.filter(|_| is_decoded),
        // An unknown coding does not matter if the body is not decoded, or if the response is a redirect.
        Err(_) if !is_decoded || response.status().is_redirection() => None,
        Err(error) => return Err(error),
    };
    let is_whole = meta.offset == 0 && meta.head.size.is_some() && meta.head.size == expected;
    if content_coding.is_some() && response.status() == StatusCode::PARTIAL_CONTENT && !is_whole {
        let detail = "a part of a compressed object cannot be decoded";
        let error = Error::new(Code::RangeRefused, Phase::Reply, detail);
        return Err(
            error.with_hint("leave out --compressed: ranges count the compressed bytes (RFC 9110 §14.2)")
        );
    }
    let source = response.into_body();
    let body = match transfer_coding {
        // `Content-Range` counts the decoded bytes.
        Some(coding) => {
            let encoded = Body::from_source(source, None, proof);
            Body::from_source(content_coding::decode_body(encoded, coding, proof), expected, proof)
        }
        None => Body::from_source(source, expected, proof),
    };
    if options.raw && has_transfer_coding {
        // Byte ranges do not count the bytes of a transfer coding.
        meta.is_resumable = false;
    }
    let Some(coding) = content_coding else { return Ok(body) };
    // Size and byte ranges count the encoded bytes.
    (meta.head.size, meta.is_resumable) = (None, false);
    Ok(Body::from_source(content_coding::decode_body(body, coding, proof), None, proof))
}

/// Returns how the end of the body is recognised.
fn completeness_proof(
    plan: &HttpPlan,
    response: &Response<ResponseBody>,
    meta: &Meta,
    expected: Option<u64>,
) -> Proof {
    let is_chunked = response.headers().contains_key(TRANSFER_ENCODING);
    // The part may end before the object does (RFC 9110 §14.4).
    let may_miss_the_end = response.status() == StatusCode::PARTIAL_CONTENT
        && meta.head.size.is_none()
        && !matches!(plan.range, Some(ByteRange::Span { last: Some(_), .. }));
    match (expected, response.version()) {
        _ if response.status() == StatusCode::NO_CONTENT => Proof::Proven("the status"),
        _ if may_miss_the_end => Proof::Assumed("Content-Range does not state the size of the object"),
        (Some(_), _) if meta.offset > 0 => Proof::Proven("Content-Range"),
        (Some(_), _) => Proof::Proven("Content-Length"),
        (None, Version::HTTP_2) => Proof::Proven("END_STREAM"),
        (None, _) if is_chunked => Proof::Proven("the last chunk"),
        _ => Proof::Assumed("the server closed the connection"),
    }
}
