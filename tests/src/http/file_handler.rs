//! A static file as a good HTTP server gives it (RFC 9110, sections 8.8, 13 and 14), and the ways in which
//! others err.

use std::time::SystemTime;

use crate::http::date::http_date;
use crate::http::reply::HttpReply;
use crate::http::request::HttpRequest;

/// What the server says of the file beside its octets.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileFacts {
    /// The entity tag with its quotes, and with `W/` if it is weak.
    pub etag: Option<String>,
    /// The date as text.
    pub last_modified: Option<String>,
    /// How it treats ranges.
    pub ranges: Ranges,
}

/// How a server treats ranges.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Ranges {
    /// As the RFC says.
    #[default]
    Honest,
    /// It does not look at If-Range and gives the range of whatever file it has now.
    IfRangeIgnored,
    /// Always the whole file with 200.
    Ignored,
    /// As the RFC says, but 416 does not name the length.
    NoContentRangeOn416,
    /// 206 with a range that begins elsewhere; Content-Range and body agree with each other.
    WrongOffset,
}

/// A handler that serves this content under every path.
pub fn file_handler(
    content: Vec<u8>,
    facts: FileFacts,
) -> impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static {
    let length = content.len() as u64;
    move |request| {
        answer(request, length, &facts, |reply, from, length| {
            reply.body(&content[from as usize..(from + length) as usize])
        })
    }
}

/// A handler that serves the first `length` octets of [`pattern`](crate::pattern()) under every path, without
/// holding them.
pub fn pattern_handler(
    length: u64,
    facts: FileFacts,
) -> impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static {
    move |request| answer(request, length, &facts, HttpReply::stream_from)
}

/// What the Range field asks of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Asked {
    Nothing,
    Impossible,
    /// First octet and number of octets.
    Part(u64, u64),
}

fn answer(
    request: &HttpRequest,
    length: u64,
    facts: &FileFacts,
    fill: impl Fn(HttpReply, u64, u64) -> HttpReply,
) -> HttpReply {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return HttpReply::new(405).header("Allow", "GET, HEAD");
    }
    if is_not_modified(request, facts) {
        return described(304, facts);
    }
    match asked(request, length, facts) {
        Asked::Nothing => fill(described(200, facts), 0, length),
        Asked::Impossible if facts.ranges == Ranges::NoContentRangeOn416 => described(416, facts),
        Asked::Impossible => described(416, facts).header("Content-Range", format!("bytes */{length}")),
        Asked::Part(from, part) => {
            let last = from + part - 1;
            let reply = described(206, facts);
            fill(reply.header("Content-Range", format!("bytes {from}-{last}/{length}")), from, part)
        }
    }
}

fn described(status: u16, facts: &FileFacts) -> HttpReply {
    let mut reply = HttpReply::new(status).header("Date", http_date(SystemTime::now()));
    if facts.ranges != Ranges::Ignored {
        reply = reply.header("Accept-Ranges", "bytes");
    }
    if let Some(etag) = &facts.etag {
        reply = reply.header("ETag", etag);
    }
    if let Some(date) = &facts.last_modified {
        reply = reply.header("Last-Modified", date);
    }
    reply
}

/// If-None-Match by weak comparison, else If-Modified-Since by equality (RFC 9110, section 13.1).
fn is_not_modified(request: &HttpRequest, facts: &FileFacts) -> bool {
    match (request.header_text("if-none-match"), &facts.etag) {
        (Some(tags), Some(etag)) => tags.split(',').any(|tag| opaque(tag.trim()) == opaque(etag)),
        (Some(tags), None) => tags.trim() == "*",
        (None, _) => {
            let since = request.header_text("if-modified-since");
            since.is_some() && since == facts.last_modified.as_deref()
        }
    }
}

fn opaque(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

fn asked(request: &HttpRequest, length: u64, facts: &FileFacts) -> Asked {
    let Some(range) = request.header_text("range") else { return Asked::Nothing };
    if request.method != "GET" || facts.ranges == Ranges::Ignored || !if_range_holds(request, facts) {
        return Asked::Nothing;
    }
    match (parse_range(range, length), facts.ranges) {
        (Asked::Part(0, part), Ranges::WrongOffset) if length > 1 => Asked::Part(1, part.min(length - 1)),
        (Asked::Part(_, part), Ranges::WrongOffset) => Asked::Part(0, part),
        (asked, _) => asked,
    }
}

/// Strong comparison (RFC 9110, section 13.1.5): a weak tag never matches, a date only if it is the same
/// text.
fn if_range_holds(request: &HttpRequest, facts: &FileFacts) -> bool {
    let Some(validator) = request.header_text("if-range") else { return true };
    let tag = facts.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
    facts.ranges == Ranges::IfRangeIgnored
        || tag == Some(validator)
        || facts.last_modified.as_deref() == Some(validator)
}

/// One range of octets; several ranges, other units and nonsense count as none, as the RFC allows.
fn parse_range(text: &str, length: u64) -> Asked {
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Asked::Nothing;
    };
    match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Err(_), Ok(suffix)) if first.trim().is_empty() => {
            let part = suffix.min(length);
            if part == 0 { Asked::Impossible } else { Asked::Part(length - part, part) }
        }
        (Ok(first), Ok(last)) if first > last => Asked::Nothing,
        (Ok(_), Err(_)) if !last.trim().is_empty() => Asked::Nothing,
        (Ok(first), _) if first >= length => Asked::Impossible,
        (Ok(first), last) => Asked::Part(first, last.unwrap_or(u64::MAX).min(length - 1) - first + 1),
        _ => Asked::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ten_octets() {
        for (text, expected) in [
            ("bytes=0-", Asked::Part(0, 10)),
            ("bytes=3-", Asked::Part(3, 7)),
            ("bytes=3-4", Asked::Part(3, 2)),
            ("bytes=9-99", Asked::Part(9, 1)),
            ("bytes=-4", Asked::Part(6, 4)),
            ("bytes=-40", Asked::Part(0, 10)),
            ("bytes=-0", Asked::Impossible),
            ("bytes=10-", Asked::Impossible),
            ("bytes=10-12", Asked::Impossible),
            ("bytes=4-3", Asked::Nothing),
            ("bytes=0-1,4-5", Asked::Nothing),
            ("bytes=-", Asked::Nothing),
            ("lines=1-2", Asked::Nothing),
        ] {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
        assert_eq!(parse_range("bytes=0-", 0), Asked::Impossible);
    }

    fn request(fields: &[(&str, &str)]) -> HttpRequest {
        let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        HttpRequest { method: "GET".to_owned(), headers: headers.collect(), ..HttpRequest::default() }
    }

    #[test]
    fn conditions_and_errors() {
        let facts = |etag: &str, ranges| FileFacts {
            etag: Some(etag.to_owned()),
            last_modified: Some("date".to_owned()),
            ranges,
        };
        let range = ("Range", "bytes=4-");
        for (etag, ranges, fields, expected) in [
            ("\"a\"", Ranges::Honest, vec![range], "206"),
            ("\"a\"", Ranges::Honest, vec![range, ("If-Range", "\"a\"")], "206"),
            ("\"a\"", Ranges::Honest, vec![range, ("If-Range", "date")], "206"),
            ("\"a\"", Ranges::Honest, vec![range, ("If-Range", "\"b\"")], "200"),
            ("W/\"a\"", Ranges::Honest, vec![range, ("If-Range", "W/\"a\"")], "200"),
            ("\"a\"", Ranges::IfRangeIgnored, vec![range, ("If-Range", "\"b\"")], "206"),
            ("\"a\"", Ranges::Ignored, vec![range], "200"),
            ("\"a\"", Ranges::WrongOffset, vec![range], "206 bytes 0-5/10"),
            ("\"a\"", Ranges::WrongOffset, vec![("Range", "bytes=0-")], "206 bytes 1-9/10"),
            ("\"a\"", Ranges::Honest, vec![("Range", "bytes=10-")], "416 bytes */10"),
            ("\"a\"", Ranges::NoContentRangeOn416, vec![("Range", "bytes=10-")], "416"),
            ("\"a\"", Ranges::Honest, vec![("If-None-Match", "\"x\", W/\"a\"")], "304"),
            ("\"a\"", Ranges::Honest, vec![("If-Modified-Since", "date")], "304"),
        ] {
            let handler = file_handler(b"0123456789".to_vec(), facts(etag, ranges));
            let head = String::from_utf8(handler(&request(&fields)).into_parts().head).unwrap();
            let content_range = head.lines().find_map(|line| line.strip_prefix("Content-Range: "));
            let answer = format!("{} {}", &head[9..12], content_range.unwrap_or_default());
            assert!(answer.starts_with(expected), "{fields:?}: {answer}");
            assert!(content_range.is_some() || !answer.starts_with("206"));
            assert_eq!(ranges == Ranges::NoContentRangeOn416, answer == "416 ");
        }
    }
}
