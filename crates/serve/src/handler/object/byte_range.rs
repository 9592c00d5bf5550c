//! The byte range of an answer: what `Content-Range` states is what is sent (RFC 9110 §14.4).

use fetch_url::{Body, ByteRange, Content, Error, Fetcher, Meta, Request, Response, Url};
use http::StatusCode;
use http::header::{ACCEPT_RANGES, CONTENT_RANGE};

use crate::answer::Answer;
use crate::answer_body::AnswerContent;
use crate::conditions::fails_precondition;
use crate::request_head::RequestHead;
use crate::security_headers::ContentOrigin;

/// The maximum size of a range that is buffered until its end, in bytes: a part of the memory that an object reserves.
const MAX_BUFFERED_RANGE: u64 = 512 * 1024;

/// Fetches the whole object if its server has no ranges. `Err(size)`: the range starts beyond the object. If a
/// condition of the request decides the answer, the range does not matter (RFC 9110 §13.2.2), and the response to HEAD
/// is returned.
pub(super) async fn fetch_without_range(
    fetcher: &Fetcher,
    request: &Request,
    head: &RequestHead,
    error: Error,
) -> Result<Result<Response, u64>, Error> {
    let Some(range) = request.wanted_range() else { return Err(error) };
    let whole = request.for_related(request.url().clone());
    // A server may refuse HEAD: its answer describes the object only if it is a success.
    let head_response = fetcher.fetch(whole.clone().head()).await.ok();
    let head_response =
        head_response.filter(|response| response.meta.status.is_none_or(|status| status == 200));
    let is_http = matches!(whole.url(), Url::Http(_));
    let size = match head_response {
        Some(head_response) if !is_http && precondition_decides(head, &head_response.meta) => {
            return Ok(Ok(head_response));
        }
        head_response => head_response.and_then(|response| response.meta.head.size),
    };
    match (range, size) {
        (ByteRange::Span { first, .. }, Some(size)) if first >= size => Ok(Err(size)),
        (ByteRange::Suffix(0), Some(size)) => Ok(Err(size)),
        _ => fetcher.fetch(whole).await.map(Ok),
    }
}

/// Returns `true` if the answer is 412 or 304. The range is not evaluated then.
fn precondition_decides(head: &RequestHead, meta: &Meta) -> bool {
    fails_precondition(head, meta.head.modified) || super::is_unchanged(head, meta)
}

/// Returns a response whose range is known before its first byte is sent. If the server reports neither the size of the
/// object nor the length of the range, the last byte is known only at the end: a short range is then buffered until it is
/// complete. A range that is longer, has no end or no bytes is replaced by the whole object, which is always allowed
/// (RFC 9110 §14.2).
pub(super) async fn with_known_range(
    fetcher: &Fetcher,
    request: &Request,
    response: Response,
    range: Option<ByteRange>,
) -> Result<(Response, Option<ByteRange>), Error> {
    let Some(range) = range else { return Ok((response, None)) };
    let is_known = match &response.content {
        Content::Body(body) => body.expected().is_some() || response.meta.head.size.is_some(),
        _ => true,
    };
    // An http server states the range itself.
    if is_known || matches!(response.meta.url, Url::Http(_)) {
        return Ok((response, Some(range)));
    }
    if range == (ByteRange::Span { first: 0, last: None }) {
        return Ok((response, None));
    }
    let Response { mut meta, content, .. } = response;
    if let (Content::Body(body), Some(wanted)) = (content, bufferable_len(range)) {
        let bytes = body.collect(wanted).await?;
        if !bytes.is_empty() {
            if bytes.len() < wanted {
                meta.head.size = Some(meta.offset + bytes.len() as u64);
            }
            return Ok((Response::new(*meta, Content::Body(Body::from_bytes(bytes))), Some(range)));
        }
    }
    let whole = request.for_related(request.url().clone());
    Ok((fetcher.fetch(whole).await?, None))
}

/// Returns the number of bytes of a range that may be buffered.
fn bufferable_len(range: ByteRange) -> Option<usize> {
    match range {
        ByteRange::Span { first, last: Some(last) } => {
            let size = last.checked_sub(first)?.checked_add(1)?;
            usize::try_from(size).ok().filter(|_| size <= MAX_BUFFERED_RANGE)
        }
        _ => None,
    }
}

/// Returns the answer for a range beyond the end of an object of `size` bytes.
pub(super) fn unsatisfied_range(size: u64) -> Answer {
    Answer::new(StatusCode::RANGE_NOT_SATISFIABLE, ContentOrigin::Sandboxed)
        .with(CONTENT_RANGE, &format!("bytes */{size}"))
}

/// Makes the answer partial if the body is the requested range.
pub(super) fn with_range(
    mut answer: Answer,
    meta: &Meta,
    content: &AnswerContent,
    range: Option<ByteRange>,
) -> Answer {
    if matches!(meta.url, Url::Ftp(_) | Url::File(_) | Url::Wais(_)) {
        answer = answer.with(ACCEPT_RANGES, "bytes");
    }
    let (Some(range), AnswerContent::Stream { length, .. }) = (range, content) else { return answer };
    let Some(last) = last_byte(range, meta, *length) else { return answer };
    let size = meta.head.size.map_or_else(|| "*".to_owned(), |size| size.to_string());
    answer.status = StatusCode::PARTIAL_CONTENT;
    answer.with(CONTENT_RANGE, &format!("bytes {}-{last}/{size}", meta.offset))
}

/// Returns the position of the last byte of the body.
fn last_byte(range: ByteRange, meta: &Meta, length: Option<u64>) -> Option<u64> {
    if let Some(length) = length.filter(|length| *length > 0) {
        return Some(meta.offset + length - 1);
    }
    let end = meta.head.size?.checked_sub(1)?;
    match range {
        ByteRange::Span { last: Some(last), .. } => Some(last.min(end)),
        _ => Some(end),
    }
}
