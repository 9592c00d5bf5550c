//! What an answer means: the object, a hop, or a refusal (RFC 9110 §15).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED, LOCATION, RETRY_AFTER,
    TRANSFER_ENCODING,
};
use http::{HeaderMap, StatusCode, Version};

use super::io::Frames;
use super::plan::HttpPlan;
use super::range::{ContentRange, number, validator};
use crate::{
    Body, ByteRange, Code, Content, Error, Hop, Meta, Outcome, Phase, Proof, Response, Resume, Validator,
};

/// Sorts an answer.
pub(super) fn judge(plan: &HttpPlan, response: reqwest::Response) -> Result<Outcome, Error> {
    check_framing(response.headers())?;
    let status = response.status();
    let reply = status_line(&response);
    match status {
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => hop(plan, response, reply),
        StatusCode::MULTIPLE_CHOICES if response.headers().contains_key(LOCATION) => {
            hop(plan, response, reply)
        }
        StatusCode::PARTIAL_CONTENT => partial(plan, response, reply).map(Outcome::Answer),
        StatusCode::NOT_MODIFIED => Err(unasked("no condition was set", &reply)),
        _ if status.is_informational() => Err(unasked("no upgrade was asked for", &reply)),
        StatusCode::RANGE_NOT_SATISFIABLE if plan.asks_for_part() => {
            out_of_range(plan, &response, reply).map(Outcome::Answer)
        }
        _ if status.is_client_error() || status.is_server_error() => {
            if plan.delivers_errors {
                return Ok(Outcome::Answer(whole(plan, response, reply)));
            }
            Err(refusal(&response, &reply))
        }
        _ if plan.range.is_some() && plan.resume.is_none() => {
            let error =
                Error::new(Code::RangeRefused, Phase::Request, "the server sends the whole object instead");
            Err(error.with_reply(reply.as_bytes()))
        }
        _ => Ok(Outcome::Answer(whole(plan, response, reply))),
    }
}

/// Two ways to tell the length, or one that is not known, is how answers are smuggled
/// (RFC 9112 §6.3 and §11.2).
fn check_framing(fields: &HeaderMap) -> Result<(), Error> {
    let broken = |detail: &str| Err(Error::new(Code::PeerMisbehaved, Phase::Reply, detail));
    let codings: Vec<_> = fields.get_all(TRANSFER_ENCODING).iter().collect();
    if codings.is_empty() {
        return Ok(());
    }
    if fields.contains_key(CONTENT_LENGTH) {
        return broken("both Transfer-Encoding and Content-Length");
    }
    if codings.len() > 1 || !codings[0].as_bytes().eq_ignore_ascii_case(b"chunked") {
        return broken("a Transfer-Encoding other than chunked");
    }
    Ok(())
}

/// An answer to a question that was not put.
fn unasked(detail: &str, reply: &str) -> Error {
    Error::new(Code::PeerMisbehaved, Phase::Request, detail).with_reply(reply.as_bytes())
}

fn hop(plan: &HttpPlan, response: reqwest::Response, reply: String) -> Result<Outcome, Error> {
    let Some(location) = response.headers().get(LOCATION).filter(|location| !location.is_empty()) else {
        let error = Error::new(Code::PeerMisbehaved, Phase::Hop, "a redirect without a Location");
        return Err(error.with_reply(reply.as_bytes()));
    };
    let to = reference(location.as_bytes());
    Ok(Outcome::Follow(Hop::new(to, reply.clone(), whole(plan, response, reply))))
}

/// A Location as text; octets that are not UTF-8 become what they stand for.
fn reference(location: &[u8]) -> String {
    let escaped = |octets: &[u8]| octets.iter().map(|octet| format!("%{octet:02X}")).collect::<String>();
    location.utf8_chunks().map(|chunk| chunk.valid().to_owned() + &escaped(chunk.invalid())).collect()
}

/// The whole object, from its first octet.
fn whole(plan: &HttpPlan, response: reqwest::Response, reply: String) -> Response {
    let mut meta = meta(plan, &response, reply);
    let length = length(&response);
    meta.head.size = length;
    answer(plan, response, meta, length)
}

/// A part of the object: the part that was asked for, or nothing.
fn partial(plan: &HttpPlan, response: reqwest::Response, reply: String) -> Result<Response, Error> {
    let refused = |code, detail: &str| Error::new(code, Phase::Request, detail).with_reply(reply.as_bytes());
    if !plan.asks_for_part() {
        return Err(refused(Code::PeerMisbehaved, "a part that nobody asked for"));
    }
    let Some(ContentRange { span: Some((first, last)), size }) = ContentRange::of(response.headers()) else {
        return Err(refused(Code::RangeRefused, "a part without a sound Content-Range"));
    };
    let is_ours = match &plan.resume {
        Some(resume) => joins(resume, first, last, size, response.headers()),
        None => plan.range.is_some_and(|range| answers(range, first, last, size)),
    };
    let is_whole = length(&response).is_none_or(|length| length == last - first + 1);
    if !is_ours || !is_whole {
        return Err(refused(Code::RangeRefused, "another part than the one asked for"));
    }
    let mut meta = meta(plan, &response, reply);
    meta.offset = first;
    meta.head.size = size;
    // However the body is framed, it is as long as its Content-Range says.
    Ok(answer(plan, response, meta, Some(last - first + 1)))
}

/// Whether a part may be joined to what is there: the same validator, the same size, and the very
/// next octet (RFC 9110 §15.3.7.3). Servers that ignore If-Range exist.
fn joins(resume: &Resume, first: u64, last: u64, size: Option<u64>, fields: &HeaderMap) -> bool {
    first == resume.offset
        && validator(fields).as_ref() == Some(&resume.validator)
        && size.is_some_and(|size| last + 1 == size)
        && (resume.size.is_none() || resume.size == size)
}

/// Whether a part is all of what was asked for, as far as the object reaches.
fn answers(range: ByteRange, first: u64, last: u64, size: Option<u64>) -> bool {
    match (range, size) {
        (ByteRange::Span { first: asked, last: wanted }, Some(size)) => {
            first == asked && last == wanted.unwrap_or(u64::MAX).min(size - 1)
        }
        (ByteRange::Span { first: asked, last: wanted }, None) => {
            first == asked && wanted.is_none_or(|wanted| last == wanted)
        }
        (ByteRange::Suffix(count), Some(size)) => last + 1 == size && first == size.saturating_sub(count),
        (ByteRange::Suffix(count), None) => last - first < count,
    }
}

/// 416: success when all of the object is there already, and the server says so itself.
fn out_of_range(plan: &HttpPlan, response: &reqwest::Response, reply: String) -> Result<Response, Error> {
    let size = ContentRange::of(response.headers()).and_then(|range| range.size);
    if let (Some(resume), Some(size)) = (&plan.resume, size)
        && resume.offset == size
        && resume.size.is_none_or(|known| known == size)
        && is_not_another(resume, response.headers())
    {
        let mut meta = meta(plan, response, reply);
        meta.offset = size;
        meta.head.size = Some(size);
        meta.validator = Some(resume.validator.clone());
        let body = Body::from_bytes(bytes::Bytes::new());
        return Ok(Response::new(meta, Content::Body(body)));
    }
    let detail = size.map_or(String::new(), |size| format!("the object has {size} octets"));
    Err(Error::new(Code::RangeRefused, Phase::Request, detail).with_reply(reply.as_bytes()))
}

/// Whether nothing in a refusal says that the object is another one by now.
fn is_not_another(resume: &Resume, fields: &HeaderMap) -> bool {
    let says = |name| fields.get(name).map(http::HeaderValue::as_bytes);
    match &resume.validator {
        Validator::ETag(tag) => says(ETAG).is_none_or(|now| now == tag.as_bytes()),
        Validator::Modified(time) => says(LAST_MODIFIED).is_none_or(|now| now == time.as_bytes()),
    }
}

fn refusal(response: &reqwest::Response, reply: &str) -> Error {
    let (code, phase) = match response.status().as_u16() {
        401 => (Code::AuthNeeded, Phase::Request),
        403 => (Code::Denied, Phase::Request),
        404 | 410 => (Code::NotFound, Phase::Request),
        407 => (Code::AuthNeeded, Phase::Proxy),
        429 | 503 => (Code::Busy, Phase::Request),
        _ => (Code::HttpError, Phase::Request),
    };
    Error::new(code, phase, "").with_reply(reply.as_bytes()).with_retry_after(retry_after(response.headers()))
}

/// Seconds, or a date that is compared with the server's own clock (RFC 9110 §10.2.3).
fn retry_after(fields: &HeaderMap) -> Option<Duration> {
    let text = fields.get(RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let now = fields
        .get(http::header::DATE)
        .and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok())?;
    httpdate::parse_http_date(text).ok()?.duration_since(now).ok()
}

fn meta(plan: &HttpPlan, response: &reqwest::Response, reply: String) -> Meta {
    let fields = response.headers();
    let mut meta = Meta::new(plan.url.clone());
    let text = |name| fields.get(name).and_then(|value| value.to_str().ok());
    meta.head.modified = text(LAST_MODIFIED).and_then(unix_seconds);
    meta.validator = validator(fields);
    meta.is_resumable = true;
    meta.media_type = text(CONTENT_TYPE).map(str::to_owned);
    meta.suggested_name =
        fields.get(CONTENT_DISPOSITION).and_then(|value| super::disposition::file_name(value.as_bytes()));
    meta.reply = Some(format!("{:?} {reply}", response.version()));
    meta.fields = fields.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
    meta
}

fn unix_seconds(date: &str) -> Option<i64> {
    let time: SystemTime = httpdate::parse_http_date(date).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

fn answer(plan: &HttpPlan, response: reqwest::Response, meta: Meta, expected: Option<u64>) -> Response {
    if plan.method == http::Method::HEAD {
        return Response::new(meta, Content::Head);
    }
    let is_chunked = response.headers().contains_key(TRANSFER_ENCODING);
    let has_no_body = response.status() == StatusCode::NO_CONTENT;
    let proof = match (expected, response.version()) {
        _ if has_no_body => Proof::Proven("the status"),
        (Some(_), _) if meta.offset > 0 => Proof::Proven("Content-Range"),
        (Some(_), _) => Proof::Proven("Content-Length"),
        (None, Version::HTTP_2) => Proof::Proven("END_STREAM"),
        (None, _) if is_chunked => Proof::Proven("the last chunk"),
        _ => Proof::Assumed("the server closed the connection"),
    };
    let expected = if has_no_body { None } else { expected };
    Response::new(meta, Content::Body(Body::from_source(Frames::of(response), expected, proof)))
}

/// Content-Length: digits only.
fn length(response: &reqwest::Response) -> Option<u64> {
    number(response.headers().get(CONTENT_LENGTH)?.to_str().ok()?)
}

fn status_line(response: &reqwest::Response) -> String {
    let status = response.status();
    let words = status.canonical_reason().unwrap_or("");
    format!("{} {words}", status.as_u16()).trim_end().to_owned()
}
