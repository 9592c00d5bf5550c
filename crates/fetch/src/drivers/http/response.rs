//! Interprets a response: content, redirect, or error (RFC 9110 §15).

use fetch_url_core::{Url, reference_text};
use fetch_url_proto::http_date;
use http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    IF_UNMODIFIED_SINCE, LAST_MODIFIED, LOCATION, RANGE, REFERER, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName, Method, StatusCode, Version};

use super::content_coding::ContentCoding;
use super::decoded_body;
use super::exchange::ReceivedFields;
use super::index_page;
use super::options::HttpOptions;
use super::plan::HttpPlan;
use super::range_headers::{ContentRange, parse_decimal, rest_of, validator_from_headers};
use super::response_body::ResponseBody;
use super::secrets::{mask_request_secrets, request_secrets};
use super::status_error::status_error;
use crate::meta::Repetition;
use crate::{
    Body, ByteRange, Code, Content, Error, HeaderFields, Meta, Outcome, Phase, Proof, Redirect, Response,
    Resume, Validator,
};

/// A response whose body has not been read yet.
type IncomingResponse = http::Response<ResponseBody>;

/// Returns the outcome of a response, by its status code.
pub(super) fn interpret_response(plan: &HttpPlan, response: IncomingResponse) -> Result<Outcome, Error> {
    check_framing(response.headers(), &plan.options)?;
    let sets_cookies = store_cookies(plan, response.headers());
    let status = response.status();
    let reply = status_line(plan, &response);
    match status {
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => redirect_outcome(plan, response, reply, sets_cookies),
        StatusCode::MULTIPLE_CHOICES if response.headers().contains_key(LOCATION) => {
            redirect_outcome(plan, response, reply, sets_cookies)
        }
        StatusCode::PARTIAL_CONTENT => partial_response(plan, response, reply).map(Outcome::Response),
        StatusCode::NOT_MODIFIED | StatusCode::PRECONDITION_FAILED if sends_condition(plan, status) => {
            let meta = response_meta(plan, &response, reply);
            Ok(Outcome::Response(Response::new(meta, Content::Unchanged)))
        }
        StatusCode::NOT_MODIFIED => {
            Err(unrequested_response_error("304 without a condition in the request", &reply))
        }
        _ if status.is_informational() => {
            Err(unrequested_response_error("an interim response (1xx) without a final response", &reply))
        }
        StatusCode::RANGE_NOT_SATISFIABLE if plan.is_partial() => {
            range_not_satisfiable(plan, &response, reply).map(Outcome::Response)
        }
        // Codes above 599 are treated as server errors (RFC 9110 §15).
        _ if status.as_u16() >= 400 => {
            let refusal = status_error(plan, status, response.headers(), &reply);
            if !plan.options.deliver_error_body {
                return Err(refusal);
            }
            // If the body cannot be decoded, the error is that of the status code.
            let Ok(mut response) = whole_response(plan, response, reply) else { return Err(refusal) };
            response.meta.is_resumable = false;
            response.status_error = Some(refusal);
            Ok(Outcome::Response(response))
        }
        _ if plan.range.is_some() => {
            let detail = match status {
                StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT => "the response has no content",
                _ => "the server does not support ranges",
            };
            Err(Error::new(Code::RangeRefused, Phase::Request, detail).with_reply(reply.as_bytes()))
        }
        _ => index_page::index_page_listing(plan, whole_response(plan, response, reply)?)
            .map(Outcome::Response),
    }
}

/// Returns `true` if the request that was sent has a condition to which this status, 304 or 412, replies. A 412 must reply to
/// [`HttpPlan::condition`]: one to a header field of the caller is an error. After a redirect to another server, the
/// caller's fields are not sent.
fn sends_condition(plan: &HttpPlan, status: StatusCode) -> bool {
    let has = |name: HeaderName| plan.headers.contains_key(name);
    match status {
        StatusCode::NOT_MODIFIED => has(IF_NONE_MATCH) || has(IF_MODIFIED_SINCE),
        _ => {
            let is_sent = has(IF_MODIFIED_SINCE) || has(IF_UNMODIFIED_SINCE);
            plan.condition.is_some() && is_sent && !has(IF_MATCH)
        }
    }
}

/// Converts a response with status 401 without checking it. The driver repeats the request with credentials, so the
/// caller does not get this response, and its body is only read to its end, without decoding it.
pub(super) fn challenge_response(plan: &HttpPlan, response: IncomingResponse) -> Response {
    let reply = status_line(plan, &response);
    let (meta, length) = (response_meta(plan, &response, reply), content_length(&response));
    let proof = Proof::Assumed("the body is not used");
    let content = match plan.is_head() {
        true => Content::Head,
        false => Content::Body(Body::from_source(response.into_body(), length, proof)),
    };
    Response::new(meta, content)
}

/// Stores the cookies of a response. Returns `true` if it sets any.
fn store_cookies(plan: &HttpPlan, headers: &HeaderMap) -> bool {
    match (&plan.options.cookies, &plan.url) {
        (Some(jar), Url::Http(url)) => jar.store_response_cookies(url, headers),
        _ => false,
    }
}

/// Rejects a response with two message lengths, or with an unknown transfer coding: such responses are used for
/// request smuggling (RFC 9112 §6.3 and §11.2).
fn check_framing(headers: &HeaderMap, options: &HttpOptions) -> Result<(), Error> {
    let invalid = |detail: &str| Err(Error::new(Code::PeerMisbehaved, Phase::Reply, detail));
    let codings: Vec<_> = headers.get_all(TRANSFER_ENCODING).iter().collect();
    if codings.is_empty() {
        return Ok(());
    }
    if headers.contains_key(CONTENT_LENGTH) {
        return invalid("both Transfer-Encoding and Content-Length");
    }
    if options.transfer_coding {
        return ContentCoding::from_transfer_encoding(headers).map(|_| ());
    }
    if codings.len() > 1 || !codings[0].as_bytes().eq_ignore_ascii_case(b"chunked") {
        return invalid("a Transfer-Encoding other than chunked");
    }
    Ok(())
}

/// Returns the error for a response that does not fit the request.
fn unrequested_response_error(detail: &str, reply: &str) -> Error {
    Error::new(Code::PeerMisbehaved, Phase::Request, detail).with_reply(reply.as_bytes())
}

fn redirect_outcome(
    plan: &HttpPlan,
    response: IncomingResponse,
    reply: String,
    changes_state: bool,
) -> Result<Outcome, Error> {
    let Some(location) = response.headers().get(LOCATION) else {
        // A redirect without Location is returned as the response, because its content is for the user (RFC 9110
        // §15.4).
        let mut response = whole_response(plan, response, reply)?;
        response.meta.notes.push("the response is a redirect without a Location".into());
        response.meta.is_resumable = false;
        return Ok(Outcome::Response(response));
    };
    if location.is_empty() {
        let error = Error::new(Code::PeerMisbehaved, Phase::Redirect, "a redirect with an empty Location");
        return Err(error.with_reply(reply.as_bytes()));
    }
    let to = reference_text(location.as_bytes()).into_owned();
    let switches_to_get = switches_to_get(plan, response.status());
    let mut redirect = Redirect::new(to, reply.clone(), whole_response(plan, response, reply)?);
    (redirect.switches_to_get, redirect.changes_state) = (switches_to_get, changes_state);
    Ok(Outcome::Redirect(redirect))
}

/// Returns `true` if the redirected request uses GET (RFC 9110 §15.4): after a 303, and after a 301 or 302 to a POST.
fn switches_to_get(plan: &HttpPlan, status: StatusCode) -> bool {
    match status {
        StatusCode::SEE_OTHER => plan.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => plan.method == Method::POST,
        _ => false,
    }
}

/// Returns the response with the whole object.
fn whole_response(plan: &HttpPlan, response: IncomingResponse, reply: String) -> Result<Response, Error> {
    let mut meta = response_meta(plan, &response, reply);
    let length = content_length(&response);
    meta.head.size = length;
    build_response(plan, response, meta, length)
}

/// Returns the requested part of the object; a response with another part is an error.
fn partial_response(plan: &HttpPlan, response: IncomingResponse, reply: String) -> Result<Response, Error> {
    let refused = |code, detail: &str| Error::new(code, Phase::Request, detail).with_reply(reply.as_bytes());
    if !plan.is_partial() {
        return match plan.headers.contains_key(RANGE) {
            true => part_of_own_range(plan, response, reply),
            false => Err(refused(Code::PeerMisbehaved, "206 without a range in the request")),
        };
    }
    let Some(ContentRange { span: Some((first, last)), size }) =
        ContentRange::from_headers(response.headers())
    else {
        return Err(refused(Code::RangeRefused, "206 without a valid Content-Range"));
    };
    let is_requested = match &plan.resume {
        Some(resume) => continues_resume(plan, resume, (first, last, size), response.headers()),
        None => plan.range.is_some_and(|range| satisfies_range(range, first, last, size)),
    };
    let has_range_length = content_length(&response).is_none_or(|length| length == last - first + 1);
    if !is_requested || !has_range_length {
        return Err(refused(Code::RangeRefused, "206 with another range than requested"));
    }
    let mut meta = response_meta(plan, &response, reply);
    meta.offset = first;
    meta.head.size = size;
    // The expected length is that of Content-Range, even if the body is chunked.
    build_response(plan, response, meta, Some(last - first + 1))
}

/// Returns the part that the caller requested with a Range header field (`-H`). It is neither checked nor resumed.
fn part_of_own_range(plan: &HttpPlan, response: IncomingResponse, reply: String) -> Result<Response, Error> {
    let mut meta = response_meta(plan, &response, reply);
    (meta.is_resumable, meta.repetition) = (false, Repetition::Never);
    let length = content_length(&response);
    meta.head.size = length;
    build_response(plan, response, meta, length)
}

/// Returns `true` if a part continues the partial download: it has the same validator and size, and starts and ends where
/// the request does (RFC 9110 §15.3.7.3). Checked because some servers ignore If-Range.
fn continues_resume(
    plan: &HttpPlan,
    resume: &Resume,
    (first, last, size): (u64, u64, Option<u64>),
    headers: &HeaderMap,
) -> bool {
    let is_requested = size.is_some() && satisfies_range(rest_of(plan.range, resume), first, last, size);
    is_requested
        && !has_content_coding(headers)
        && validator_from_headers(headers).as_ref() == Some(&resume.validator)
        && (resume.size.is_none() || resume.size == size)
}

/// Returns `true` if a part is the requested range, cut at the end of the object. Without the size of the object, a
/// suffix must have the requested length.
fn satisfies_range(range: ByteRange, first: u64, last: u64, size: Option<u64>) -> bool {
    match (range, size) {
        (ByteRange::Span { first: requested, last: wanted }, Some(size)) => {
            first == requested && last == wanted.unwrap_or(u64::MAX).min(size - 1)
        }
        (ByteRange::Span { first: requested, last: wanted }, None) => {
            first == requested && wanted.is_none_or(|wanted| last == wanted)
        }
        (ByteRange::Suffix(count), Some(size)) => last + 1 == size && first == size.saturating_sub(count),
        (ByteRange::Suffix(count), None) => last - first + 1 == count,
    }
}

/// Handles a 416 response: success if the size in Content-Range shows that the partial download is complete.
fn range_not_satisfiable(
    plan: &HttpPlan,
    response: &IncomingResponse,
    reply: String,
) -> Result<Response, Error> {
    let size = ContentRange::from_headers(response.headers()).and_then(|range| range.size);
    if let (Some(resume), Some(size)) = (&plan.resume, size)
        && resume.offset == size
        && resume.size.is_none_or(|known| known == size)
        && is_same_version(resume, response.headers())
    {
        let mut meta = response_meta(plan, response, reply);
        meta.offset = size;
        meta.head.size = Some(size);
        meta.validator = Some(resume.validator.clone());
        let body = Body::from_bytes(bytes::Bytes::new());
        return Ok(Response::new(meta, Content::Body(body)));
    }
    let detail = size.map_or(String::new(), |size| format!("the object has {size} bytes"));
    Err(Error::new(Code::RangeRefused, Phase::Request, detail).with_reply(reply.as_bytes()))
}

/// Returns `true` unless the validators of a 416 response show another version of the object.
fn is_same_version(resume: &Resume, headers: &HeaderMap) -> bool {
    let header = |name| headers.get(name).map(http::HeaderValue::as_bytes);
    match &resume.validator {
        Validator::ETag(tag) => header(ETAG).is_none_or(|now| now == tag.as_bytes()),
        Validator::Modified(time) => header(LAST_MODIFIED).is_none_or(|now| now == time.as_bytes()),
    }
}

fn response_meta(plan: &HttpPlan, response: &IncomingResponse, reply: String) -> Meta {
    let headers = response.headers();
    let mut meta = Meta::new(plan.url.clone());
    meta.secrets = request_secrets(plan);
    meta.referer =
        plan.headers.get(REFERER).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    meta.head.modified = text(LAST_MODIFIED).and_then(http_date::parse);
    meta.has_unreadable_date = meta.head.modified.is_none() && headers.contains_key(LAST_MODIFIED);
    meta.validator = validator_from_headers(headers);
    // Byte ranges exist for GET only.
    meta.is_resumable = plan.method == Method::GET && !has_content_coding(headers);
    // A weak entity tag suffices: a restart does not join parts of two versions.
    meta.repetition = match headers.contains_key(ETAG) || headers.contains_key(LAST_MODIFIED) {
        _ if plan.method != Method::GET => Repetition::Never,
        true => Repetition::Always,
        false => Repetition::BeforeFirstByte,
    };
    meta.media_type = text(CONTENT_TYPE).map(str::to_owned);
    meta.suggested_name = headers
        .get(CONTENT_DISPOSITION)
        .and_then(|value| super::content_disposition::file_name(value.as_bytes()));
    meta.answers_body = plan.body.is_some();
    meta.status = Some(response.status().as_u16());
    meta.protocol = protocol_name(response.version());
    meta.reply = Some(format!("{} {reply}", meta.protocol.unwrap_or("HTTP")));
    meta.fields = response_fields(response);
    meta
}

/// Returns the header fields as they were received, or, if their spelling is not known, with names in lower case.
fn response_fields(response: &IncomingResponse) -> HeaderFields {
    let headers = response.headers();
    match response.extensions().get::<ReceivedFields>().filter(|received| received.count == headers.len()) {
        Some(received) => received.fields.clone(),
        None => headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect(),
    }
}

fn protocol_name(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_10 => Some("HTTP/1.0"),
        Version::HTTP_11 => Some("HTTP/1.1"),
        Version::HTTP_2 => Some("HTTP/2"),
        _ => None,
    }
}

fn build_response(
    plan: &HttpPlan,
    response: IncomingResponse,
    mut meta: Meta,
    expected: Option<u64>,
) -> Result<Response, Error> {
    if plan.is_head() {
        return Ok(Response::new(meta, Content::Head));
    }
    let body = decoded_body::decoded_body(plan, response, &mut meta, expected)?;
    Ok(Response::new(meta, Content::Body(body)))
}

/// Returns `true` if the body has a content coding. Its parts cannot be joined after decoding.
fn has_content_coding(headers: &HeaderMap) -> bool {
    !matches!(ContentCoding::from_headers(headers), Ok(None))
}

/// Returns the Content-Length: digits only, or a list whose members are equal (RFC 9110 §8.6).
fn content_length(response: &IncomingResponse) -> Option<u64> {
    let values = response.headers().get_all(CONTENT_LENGTH).iter();
    let members = values.flat_map(|value| value.as_bytes().split(|&byte| byte == b','));
    let mut lengths = members.map(|member| str::from_utf8(member.trim_ascii()).ok().and_then(parse_decimal));
    let first = lengths.next()??;
    lengths.all(|length| length == Some(first)).then_some(first)
}

/// Returns the status code and the reason phrase of the server, with the secrets of the request masked.
fn status_line(plan: &HttpPlan, response: &IncomingResponse) -> String {
    let status = response.status();
    let own = response.extensions().get::<hyper::ext::ReasonPhrase>();
    let reason = own.map_or_else(
        || status.canonical_reason().unwrap_or_default().to_owned(),
        |own| String::from_utf8_lossy(&mask_request_secrets(plan, own.as_bytes())).into_owned(),
    );
    format!("{} {reason}", status.as_u16()).trim_end().to_owned()
}
