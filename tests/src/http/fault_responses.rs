//! The responses that the rows of `fault_list.rs` use.

use std::time::Duration;

use crate::http::faults::HttpFaultRequest;
use crate::http::response::HttpResponse;

/// The repetitions of an endless response: too many for any client to read, too few to fill a disk.
pub(crate) const ENDLESS: u64 = 1 << 20;

/// The content with its Content-Length.
pub(crate) fn complete(case: &HttpFaultRequest<'_>) -> HttpResponse {
    HttpResponse::new(200).body(case.content())
}

/// The content in three chunks.
pub(crate) fn chunks(case: &HttpFaultRequest<'_>) -> HttpResponse {
    let third = case.content().len() / 3 + 1;
    HttpResponse::new(200).chunked(case.content().chunks(third).map(<[u8]>::to_vec).collect())
}

/// The content's Content-Length, but only the first bytes of the body.
pub(crate) fn short(case: &HttpFaultRequest<'_>, bytes: usize) -> HttpResponse {
    complete(case).cut_body_at(bytes as u64)
}

/// The content's Content-Length, but not the last byte of the body.
pub(crate) fn short_last(case: &HttpFaultRequest<'_>) -> HttpResponse {
    short(case, case.content().len() - 1)
}

/// The content without a length. The caller adds the ending.
pub(crate) fn close_delimited(case: &HttpFaultRequest<'_>) -> HttpResponse {
    HttpResponse::new(200).header("Connection", "close").then_send(case.content())
}

/// A part of the content that was not requested.
pub(crate) fn unrequested_part(case: &HttpFaultRequest<'_>) -> HttpResponse {
    HttpResponse::new(206).header("Content-Range", "bytes 5-9/10").body(&case.content()[5..10])
}

/// A part of four bytes, for `-r 0-3`.
pub(crate) fn requested_part(case: &HttpFaultRequest<'_>) -> HttpResponse {
    HttpResponse::new(206).header("Content-Range", "bytes 0-3/10").body(&case.content()[..4])
}

/// An endless line.
pub(crate) fn endless(start: &str) -> HttpResponse {
    HttpResponse::raw(start).then_repeat("x".repeat(16), ENDLESS)
}

/// The first chunk of a chunked body. The caller adds the ending.
pub(crate) fn first_chunk(case: &HttpFaultRequest<'_>) -> HttpResponse {
    let third = case.content().len() / 3 + 1;
    let bytes = format!("{third:x}\r\n").len() + third + "\r\n".len();
    chunks(case).cut_body_at(bytes as u64)
}

/// The content in one chunk, without the last chunk.
pub(crate) fn without_last_chunk(case: &HttpFaultRequest<'_>) -> HttpResponse {
    let size = format!("{:x}\r\n", case.content().len());
    let response =
        HttpResponse::new(200).header("Transfer-Encoding", "chunked").header("Connection", "close");
    response.then_send([size.as_bytes(), case.content(), b"\r\n"].concat())
}

/// A chunked body that consists of these bytes.
pub(crate) fn invalid_chunk(start: &str) -> HttpResponse {
    HttpResponse::new(200)
        .header("Transfer-Encoding", "chunked")
        .header("Connection", "close")
        .then_send(start)
}

/// The content with these header fields instead of its Content-Length.
pub(crate) fn with_fields(case: &HttpFaultRequest<'_>, fields: &[(&str, &str)]) -> HttpResponse {
    let response =
        fields.iter().fold(HttpResponse::new(200), |response, (name, value)| response.header(name, value));
    response.then_send(case.content()).then_close()
}

/// The content with its Content-Length and another field.
pub(crate) fn with_length_and(case: &HttpFaultRequest<'_>, name: &str, value: &str) -> HttpResponse {
    let length = case.content().len().to_string();
    with_fields(case, &[("Content-Length", &length), (name, value)])
}

/// The content, with this status line.
pub(crate) fn status_line(case: &HttpFaultRequest<'_>, line: &str) -> HttpResponse {
    let head = format!("{line}\r\nContent-Length: {}\r\n\r\n", case.content().len());
    HttpResponse::raw([head.as_bytes(), case.content()].concat())
}

/// `times` interim responses, then the correct one.
pub(crate) fn interim(case: &HttpFaultRequest<'_>, times: u64) -> HttpResponse {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", case.content().len());
    HttpResponse::raw("")
        .then_repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", times)
        .then_send(head)
        .then_send(case.content())
}

/// `times` header fields, then the rest of the correct response.
pub(crate) fn many_fields(case: &HttpFaultRequest<'_>, times: u64) -> HttpResponse {
    let rest = format!("Content-Length: {}\r\n\r\n", case.content().len());
    HttpResponse::raw("HTTP/1.1 200 OK\r\n")
        .then_repeat("X-Again: and again\r\n", times)
        .then_send(rest)
        .then_send(case.content())
}

/// A redirect with a body that must not be stored.
pub(crate) fn redirect(location: &str) -> HttpResponse {
    HttpResponse::new(302).header("Location", location).body("moved: this is not the file\n")
}

/// A redirect to another scheme at `elsewhere`.
pub(crate) fn redirect_to(case: &HttpFaultRequest<'_>, scheme: &str) -> HttpResponse {
    // A telnet URL has no path (RFC 1738 §3.8).
    let path = if scheme == "telnet" { "" } else { "x" };
    redirect(&format!("{scheme}://{}/{path}", case.fixture.elsewhere))
}

/// A chain of `length` redirects: `/redirect/N` redirects to `/redirect/N+1`, any other path to `/redirect/1`. The
/// last one returns the content.
pub(crate) fn redirect_chain(case: &HttpFaultRequest<'_>, length: u32) -> HttpResponse {
    let path = case.request.path();
    let number = path.strip_prefix("/redirect/").and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
    if number >= length { complete(case) } else { redirect(&format!("/redirect/{}", number + 1)) }
}

/// The content in pieces of 100 bytes.
pub(crate) fn drip(case: &HttpFaultRequest<'_>) -> HttpResponse {
    complete(case).drip(100, Duration::from_millis(2))
}

/// A status code with a body that must not be stored.
pub(crate) fn status(status: u16) -> HttpResponse {
    HttpResponse::new(status).header("Content-Type", "text/plain").body("refused: this is not the file\n")
}
