//! What an answer means: the object, a hop, or a refusal (RFC 9110 §15).

use std::time::{SystemTime, UNIX_EPOCH};

use fetch_url_core::Url;
use http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED, LOCATION, TRANSFER_ENCODING,
};
use http::{HeaderMap, Method, StatusCode, Version};

use super::decode::{self, Coding};
use super::frames::Frames;
use super::index;
use super::plan::HttpPlan;
use super::range::{ContentRange, number, validator};
use super::refusal::refusal;
use crate::{
    Body, ByteRange, Code, Content, Error, Hop, Meta, Outcome, Phase, Proof, Response, Resume, Validator,
};

/// An answer whose body is still to come.
type Answered = http::Response<Frames>;

/// Sorts an answer.
pub(super) fn judge(plan: &HttpPlan, response: Answered) -> Result<Outcome, Error> {
    check_framing(response.headers())?;
    let sets_cookies = keep_cookies(plan, response.headers());
    let status = response.status();
    let reply = status_line(&response);
    match status {
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => hop(plan, response, reply, sets_cookies),
        StatusCode::MULTIPLE_CHOICES if response.headers().contains_key(LOCATION) => {
            hop(plan, response, reply, sets_cookies)
        }
        StatusCode::PARTIAL_CONTENT => partial(plan, response, reply).map(Outcome::Answer),
        StatusCode::NOT_MODIFIED | StatusCode::PRECONDITION_FAILED if plan.condition.is_some() => {
            let meta = meta(plan, &response, reply);
            Ok(Outcome::Answer(Response::new(meta, Content::Unchanged)))
        }
        StatusCode::NOT_MODIFIED => Err(unasked("no condition was set", &reply)),
        _ if status.is_informational() => Err(unasked("no upgrade was asked for", &reply)),
        StatusCode::RANGE_NOT_SATISFIABLE if plan.asks_for_part() => {
            out_of_range(plan, &response, reply).map(Outcome::Answer)
        }
        _ if status.is_client_error() || status.is_server_error() => {
            let refusal = refusal(plan, status, response.headers(), &reply);
            if !plan.options.delivers_errors {
                return Err(refusal);
            }
            let mut answer = whole(plan, response, reply)?;
            answer.meta.is_resumable = false;
            answer.refusal = Some(refusal);
            Ok(Outcome::Answer(answer))
        }
        _ if plan.range.is_some() && plan.resume.is_none() => {
            let error =
                Error::new(Code::RangeRefused, Phase::Request, "the server sends the whole object instead");
            Err(error.with_reply(reply.as_bytes()))
        }
        _ => index::listed(plan, whole(plan, response, reply)?).map(Outcome::Answer),
    }
}

/// An answer that nobody sorts.
pub(super) fn as_it_came(plan: &HttpPlan, response: Answered) -> Result<Response, Error> {
    let reply = status_line(&response);
    whole(plan, response, reply)
}

/// Gives the jar what the answer sets; whether it sets anything.
fn keep_cookies(plan: &HttpPlan, fields: &HeaderMap) -> bool {
    match (&plan.options.cookies, &plan.url) {
        (Some(jar), Url::Http(url)) => jar.store(url, fields),
        _ => false,
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

fn hop(plan: &HttpPlan, response: Answered, reply: String, changes_state: bool) -> Result<Outcome, Error> {
    let Some(location) = response.headers().get(LOCATION).filter(|location| !location.is_empty()) else {
        let error = Error::new(Code::PeerMisbehaved, Phase::Hop, "a redirect without a Location");
        return Err(error.with_reply(reply.as_bytes()));
    };
    let to = reference(location.as_bytes());
    let is_plain = turns_to_get(plan, response.status());
    let mut hop = Hop::new(to, reply.clone(), whole(plan, response, reply)?);
    (hop.is_plain, hop.changes_state) = (is_plain, changes_state);
    Ok(Outcome::Follow(hop))
}

/// Whether the object is asked for with GET from here on (RFC 9110 §15.4): after a 303, and after a
/// 301 or 302 to a POST.
fn turns_to_get(plan: &HttpPlan, status: StatusCode) -> bool {
    match status {
        StatusCode::SEE_OTHER => plan.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => plan.method == Method::POST,
        _ => false,
    }
}

/// A Location as text; octets that are not UTF-8 become what they stand for.
fn reference(location: &[u8]) -> String {
    let escaped = |octets: &[u8]| octets.iter().map(|octet| format!("%{octet:02X}")).collect::<String>();
    location.utf8_chunks().map(|chunk| chunk.valid().to_owned() + &escaped(chunk.invalid())).collect()
}

/// The whole object, from its first octet.
fn whole(plan: &HttpPlan, response: Answered, reply: String) -> Result<Response, Error> {
    let mut meta = meta(plan, &response, reply);
    let length = length(&response);
    meta.head.size = length;
    answer(plan, response, meta, length)
}

/// A part of the object: the part that was asked for, or nothing.
fn partial(plan: &HttpPlan, response: Answered, reply: String) -> Result<Response, Error> {
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
    answer(plan, response, meta, Some(last - first + 1))
}

/// Whether a part may be joined to what is there: the same validator, the same size, and the very
/// next octet (RFC 9110 §15.3.7.3). Servers that ignore If-Range exist.
fn joins(resume: &Resume, first: u64, last: u64, size: Option<u64>, fields: &HeaderMap) -> bool {
    first == resume.offset
        && !is_coded(fields)
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
fn out_of_range(plan: &HttpPlan, response: &Answered, reply: String) -> Result<Response, Error> {
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

fn meta(plan: &HttpPlan, response: &Answered, reply: String) -> Meta {
    let fields = response.headers();
    let mut meta = Meta::new(plan.url.clone());
    let text = |name| fields.get(name).and_then(|value| value.to_str().ok());
    meta.head.modified = text(LAST_MODIFIED).and_then(unix_seconds);
    meta.validator = validator(fields);
    // Only of what GET gives can a part be asked for.
    meta.is_resumable = plan.method == Method::GET && !is_coded(fields);
    meta.media_type = text(CONTENT_TYPE).map(str::to_owned);
    meta.suggested_name =
        fields.get(CONTENT_DISPOSITION).and_then(|value| super::disposition::file_name(value.as_bytes()));
    meta.status = Some(response.status().as_u16());
    meta.protocol = protocol(response.version());
    meta.reply = Some(format!("{} {reply}", meta.protocol.unwrap_or("HTTP")));
    meta.fields = fields.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
    meta
}

fn unix_seconds(date: &str) -> Option<i64> {
    let time: SystemTime = httpdate::parse_http_date(date).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

fn protocol(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_10 => Some("HTTP/1.0"),
        Version::HTTP_11 => Some("HTTP/1.1"),
        Version::HTTP_2 => Some("HTTP/2"),
        _ => None,
    }
}

fn answer(
    plan: &HttpPlan,
    response: Answered,
    mut meta: Meta,
    expected: Option<u64>,
) -> Result<Response, Error> {
    if plan.wants_head || plan.method == Method::HEAD {
        return Ok(Response::new(meta, Content::Head));
    }
    let proof = proof(&response, &meta, expected);
    let has_body = response.status() != StatusCode::NO_CONTENT;
    let is_coded = plan.options.decode && has_body;
    let coding = match Coding::of(response.headers()) {
        Ok(coding) => coding.filter(|_| is_coded),
        // What only points elsewhere, or is not to be undone, may be coded as it likes.
        Err(_) if !is_coded || response.status().is_redirection() => None,
        Err(error) => return Err(error),
    };
    let frames = response.into_body();
    let body = match coding {
        Some(coding) => {
            // What is counted and cut is not what comes out.
            (meta.head.size, meta.is_resumable) = (None, false);
            let coded = Body::from_source(frames, expected, proof);
            Body::from_source(decode::decoded(coded, coding), None, proof)
        }
        None => Body::from_source(frames, expected.filter(|_| has_body), proof),
    };
    Ok(Response::new(meta, Content::Body(body)))
}

/// Whether the octets are not the object's own: a part of them joins no other part.
fn is_coded(fields: &HeaderMap) -> bool {
    !matches!(Coding::of(fields), Ok(None))
}

/// How the end of the body is known.
fn proof(response: &Answered, meta: &Meta, expected: Option<u64>) -> Proof {
    let is_chunked = response.headers().contains_key(TRANSFER_ENCODING);
    match (expected, response.version()) {
        _ if response.status() == StatusCode::NO_CONTENT => Proof::Proven("the status"),
        (Some(_), _) if meta.offset > 0 => Proof::Proven("Content-Range"),
        (Some(_), _) => Proof::Proven("Content-Length"),
        (None, Version::HTTP_2) => Proof::Proven("END_STREAM"),
        (None, _) if is_chunked => Proof::Proven("the last chunk"),
        _ => Proof::Assumed("the server closed the connection"),
    }
}

/// Content-Length: digits only.
fn length(response: &Answered) -> Option<u64> {
    number(response.headers().get(CONTENT_LENGTH)?.to_str().ok()?)
}

/// The status and the server's own words for it.
fn status_line(response: &Answered) -> String {
    let status = response.status();
    let own = response.extensions().get::<hyper::ext::ReasonPhrase>();
    let words = own.map_or_else(
        || status.canonical_reason().unwrap_or_default().into(),
        |own| String::from_utf8_lossy(own.as_bytes()),
    );
    format!("{} {words}", status.as_u16()).trim_end().to_owned()
}
