//! The answers that `fault_list.rs` is made of.

use std::time::Duration;

use crate::http::faults::FaultCase;
use crate::http::reply::HttpReply;

/// So often that no client may wait for the end, and so little that it does not fill a disk.
pub(crate) const ENDLESS: u64 = 1 << 20;

/// The whole content with its Content-Length.
pub(crate) fn whole(case: &FaultCase<'_>) -> HttpReply {
    HttpReply::new(200).body(case.content())
}

/// The whole content in three chunks.
pub(crate) fn chunks(case: &FaultCase<'_>) -> HttpReply {
    let third = case.content().len() / 3 + 1;
    HttpReply::new(200).chunked(case.content().chunks(third).map(<[u8]>::to_vec).collect())
}

/// The true Content-Length, but only the first octets of the body.
pub(crate) fn short(case: &FaultCase<'_>, octets: usize) -> HttpReply {
    whole(case).cut_body_at(octets as u64)
}

/// All but the last octet.
pub(crate) fn short_last(case: &FaultCase<'_>) -> HttpReply {
    short(case, case.content().len() - 1)
}

/// The whole content without a length; the caller adds the end.
pub(crate) fn close_delimited(case: &FaultCase<'_>) -> HttpReply {
    HttpReply::new(200).header("Connection", "close").then_send(case.content())
}

/// A part of the content that nobody asked for.
pub(crate) fn unasked_part(case: &FaultCase<'_>) -> HttpReply {
    HttpReply::new(206).header("Content-Range", "bytes 5-9/10").body(&case.content()[5..10])
}

/// A line that does not end.
pub(crate) fn endless(start: &str) -> HttpReply {
    HttpReply::raw(start).then_repeat("x".repeat(16), ENDLESS)
}

/// A chunked body whose first chunk is whole and whose end is up to the caller.
pub(crate) fn first_chunk(case: &FaultCase<'_>) -> HttpReply {
    let third = case.content().len() / 3 + 1;
    let octets = format!("{third:x}\r\n").len() + third + "\r\n".len();
    chunks(case).cut_body_at(octets as u64)
}

/// The whole content in one chunk, and no last chunk before the close.
pub(crate) fn unended_chunk(case: &FaultCase<'_>) -> HttpReply {
    let size = format!("{:x}\r\n", case.content().len());
    let reply = HttpReply::new(200).header("Transfer-Encoding", "chunked").header("Connection", "close");
    reply.then_send([size.as_bytes(), case.content(), b"\r\n"].concat())
}

/// A chunked body that begins with these octets instead of a chunk, and then the end.
pub(crate) fn bad_chunk(start: &str) -> HttpReply {
    HttpReply::new(200).header("Transfer-Encoding", "chunked").header("Connection", "close").then_send(start)
}

/// The whole content with these fields in the place of its true framing.
pub(crate) fn framed(case: &FaultCase<'_>, fields: &[(&str, &str)]) -> HttpReply {
    let reply = fields.iter().fold(HttpReply::new(200), |reply, (name, value)| reply.header(name, value));
    reply.then_send(case.content()).then_close()
}

/// The whole content with its true Content-Length and one more field.
pub(crate) fn framed_and(case: &FaultCase<'_>, name: &str, value: &str) -> HttpReply {
    let length = case.content().len().to_string();
    framed(case, &[("Content-Length", &length), (name, value)])
}

/// The content after this status line.
pub(crate) fn status_line(case: &FaultCase<'_>, line: &str) -> HttpReply {
    let head = format!("{line}\r\nContent-Length: {}\r\n\r\n", case.content().len());
    HttpReply::raw([head.as_bytes(), case.content()].concat())
}

/// `times` interim answers, then the honest one.
pub(crate) fn interim(case: &FaultCase<'_>, times: u64) -> HttpReply {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", case.content().len());
    HttpReply::raw("")
        .then_repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", times)
        .then_send(head)
        .then_send(case.content())
}

/// `times` fields, then the honest rest.
pub(crate) fn many_fields(case: &FaultCase<'_>, times: u64) -> HttpReply {
    let rest = format!("Content-Length: {}\r\n\r\n", case.content().len());
    HttpReply::raw("HTTP/1.1 200 OK\r\n")
        .then_repeat("X-Again: and again\r\n", times)
        .then_send(rest)
        .then_send(case.content())
}

/// A redirect with a body that must not be stored.
pub(crate) fn redirect(location: &str) -> HttpReply {
    HttpReply::new(302).header("Location", location).body("moved: this is not the file\n")
}

/// A redirect into another scheme at `elsewhere`.
pub(crate) fn redirect_to(case: &FaultCase<'_>, scheme: &str) -> HttpReply {
    // A telnet URL has no path (RFC 1738 §3.8).
    let path = if scheme == "telnet" { "" } else { "x" };
    redirect(&format!("{scheme}://{}/{path}", case.setting.elsewhere))
}

/// A redirect chain: `/hop/N` leads to `/hop/N+1`, any other path to `/hop/1`, and hop `length` has the
/// content.
pub(crate) fn hops(case: &FaultCase<'_>, length: u32) -> HttpReply {
    let path = case.request.path();
    let hop = path.strip_prefix("/hop/").and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
    if hop >= length { whole(case) } else { redirect(&format!("/hop/{}", hop + 1)) }
}

/// The whole content, a hundred octets at a time.
pub(crate) fn dripped(case: &FaultCase<'_>) -> HttpReply {
    whole(case).drip(100, Duration::from_millis(2))
}

/// A status with a body that must not be stored.
pub(crate) fn refused(status: u16) -> HttpReply {
    HttpReply::new(status).header("Content-Type", "text/plain").body("refused: this is not the file\n")
}
