//! Handlers that serve a file as in RFC 9110, sections 8.8, 13 and 14, or with the errors of real servers.

use std::time::SystemTime;

use crate::http::date::http_date;
use crate::http::request::HttpRequest;
use crate::http::response::HttpResponse;

/// The header fields of a served file, and its support of ranges.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileHeaders {
    /// ETag, with its quotes, and with `W/` if it is weak.
    pub etag: Option<String>,
    /// Last-Modified.
    pub last_modified: Option<String>,
    /// How ranges are supported.
    pub ranges: RangeSupport,
}

/// How a server supports ranges.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RangeSupport {
    /// As in the RFC.
    #[default]
    Correct,
    /// Ignores If-Range and sends the range of the current file.
    IfRangeIgnored,
    /// Always sends the complete file with 200.
    Ignored,
    /// As in the RFC, but 416 has no Content-Range.
    NoContentRangeOn416,
    /// Sends 206 with another range than requested. Content-Range and body agree.
    WrongOffset,
}

/// Returns a handler that serves this content under every path.
pub fn file_handler(
    content: Vec<u8>,
    headers: FileHeaders,
) -> impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static {
    let length = content.len() as u64;
    move |request| {
        answer(request, length, &headers, |response, from, length| {
            response.body(&content[from as usize..(from + length) as usize])
        })
    }
}

/// Returns a handler that serves the first `length` bytes of [`pattern`](crate::pattern()) under every path,
/// generated while they are sent.
pub fn pattern_handler(
    length: u64,
    headers: FileHeaders,
) -> impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static {
    move |request| answer(request, length, &headers, HttpResponse::stream_from)
}

/// The range of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RequestedRange {
    None,
    /// Offset and length.
    Part(u64, u64),
    Unsatisfiable,
}

fn answer(
    request: &HttpRequest,
    length: u64,
    headers: &FileHeaders,
    add_body: impl Fn(HttpResponse, u64, u64) -> HttpResponse,
) -> HttpResponse {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return HttpResponse::new(405).header("Allow", "GET, HEAD");
    }
    if is_not_modified(request, headers) {
        return with_headers(304, headers);
    }
    match requested_range(request, length, headers) {
        RequestedRange::None => add_body(with_headers(200, headers), 0, length),
        RequestedRange::Unsatisfiable if headers.ranges == RangeSupport::NoContentRangeOn416 => {
            with_headers(416, headers)
        }
        RequestedRange::Unsatisfiable => {
            with_headers(416, headers).header("Content-Range", format!("bytes */{length}"))
        }
        RequestedRange::Part(from, part) => {
            let last = from + part - 1;
            let response = with_headers(206, headers);
            add_body(response.header("Content-Range", format!("bytes {from}-{last}/{length}")), from, part)
        }
    }
}

fn with_headers(status: u16, headers: &FileHeaders) -> HttpResponse {
    let mut response = HttpResponse::new(status).header("Date", http_date(SystemTime::now()));
    if headers.ranges != RangeSupport::Ignored {
        response = response.header("Accept-Ranges", "bytes");
    }
    if let Some(etag) = &headers.etag {
        response = response.header("ETag", etag);
    }
    if let Some(date) = &headers.last_modified {
        response = response.header("Last-Modified", date);
    }
    response
}

/// Evaluates If-None-Match by weak comparison, else If-Modified-Since by equality (RFC 9110 §13.1).
fn is_not_modified(request: &HttpRequest, headers: &FileHeaders) -> bool {
    match (request.header_text("if-none-match"), &headers.etag) {
        (Some(tags), Some(etag)) => {
            tags.split(',').any(|tag| without_weak_prefix(tag.trim()) == without_weak_prefix(etag))
        }
        (Some(tags), None) => tags.trim() == "*",
        (None, _) => {
            let since = request.header_text("if-modified-since");
            since.is_some() && since == headers.last_modified.as_deref()
        }
    }
}

fn without_weak_prefix(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

fn requested_range(request: &HttpRequest, length: u64, headers: &FileHeaders) -> RequestedRange {
    let Some(range) = request.header_text("range") else { return RequestedRange::None };
    if request.method != "GET" || headers.ranges == RangeSupport::Ignored || !if_range_holds(request, headers)
    {
        return RequestedRange::None;
    }
    match (parse_range(range, length), headers.ranges) {
        (RequestedRange::Part(0, part), RangeSupport::WrongOffset) if length > 1 => {
            RequestedRange::Part(1, part.min(length - 1))
        }
        (RequestedRange::Part(_, part), RangeSupport::WrongOffset) => RequestedRange::Part(0, part),
        (range, _) => range,
    }
}

/// Evaluates If-Range by strong comparison (RFC 9110 §13.1.5): a weak tag never matches, and a date only if
/// its text is the same.
fn if_range_holds(request: &HttpRequest, headers: &FileHeaders) -> bool {
    let Some(validator) = request.header_text("if-range") else { return true };
    let tag = headers.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
    headers.ranges == RangeSupport::IfRangeIgnored
        || tag == Some(validator)
        || headers.last_modified.as_deref() == Some(validator)
}

/// Parses a byte range. Several ranges, other units and invalid ranges are ignored, as the RFC allows.
fn parse_range(text: &str, length: u64) -> RequestedRange {
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return RequestedRange::None;
    };
    match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Err(_), Ok(suffix)) if first.trim().is_empty() => {
            let part = suffix.min(length);
            if part == 0 { RequestedRange::Unsatisfiable } else { RequestedRange::Part(length - part, part) }
        }
        (Ok(first), Ok(last)) if first > last => RequestedRange::None,
        (Ok(_), Err(_)) if !last.trim().is_empty() => RequestedRange::None,
        (Ok(first), _) if first >= length => RequestedRange::Unsatisfiable,
        (Ok(first), last) => {
            RequestedRange::Part(first, last.unwrap_or(u64::MAX).min(length - 1) - first + 1)
        }
        _ => RequestedRange::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ten_bytes_are_parsed() {
        for (text, expected) in [
            ("bytes=0-", RequestedRange::Part(0, 10)),
            ("bytes=3-", RequestedRange::Part(3, 7)),
            ("bytes=3-4", RequestedRange::Part(3, 2)),
            ("bytes=9-99", RequestedRange::Part(9, 1)),
            ("bytes=-4", RequestedRange::Part(6, 4)),
            ("bytes=-40", RequestedRange::Part(0, 10)),
            ("bytes=-0", RequestedRange::Unsatisfiable),
            ("bytes=10-", RequestedRange::Unsatisfiable),
            ("bytes=10-12", RequestedRange::Unsatisfiable),
            ("bytes=4-3", RequestedRange::None),
            ("bytes=0-1,4-5", RequestedRange::None),
            ("bytes=-", RequestedRange::None),
            ("lines=1-2", RequestedRange::None),
        ] {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
        assert_eq!(parse_range("bytes=0-", 0), RequestedRange::Unsatisfiable);
    }

    fn request(fields: &[(&str, &str)]) -> HttpRequest {
        let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        HttpRequest { method: "GET".to_owned(), headers: headers.collect(), ..HttpRequest::default() }
    }

    #[test]
    fn options_and_conditions_select_the_response() {
        let options = |etag: &str, ranges| FileHeaders {
            etag: Some(etag.to_owned()),
            last_modified: Some("date".to_owned()),
            ranges,
        };
        let range = ("Range", "bytes=4-");
        for (etag, ranges, fields, expected) in [
            ("\"a\"", RangeSupport::Correct, vec![range], "206"),
            ("\"a\"", RangeSupport::Correct, vec![range, ("If-Range", "\"a\"")], "206"),
            ("\"a\"", RangeSupport::Correct, vec![range, ("If-Range", "date")], "206"),
            ("\"a\"", RangeSupport::Correct, vec![range, ("If-Range", "\"b\"")], "200"),
            ("W/\"a\"", RangeSupport::Correct, vec![range, ("If-Range", "W/\"a\"")], "200"),
            ("\"a\"", RangeSupport::IfRangeIgnored, vec![range, ("If-Range", "\"b\"")], "206"),
            ("\"a\"", RangeSupport::Ignored, vec![range], "200"),
            ("\"a\"", RangeSupport::WrongOffset, vec![range], "206 bytes 0-5/10"),
            ("\"a\"", RangeSupport::WrongOffset, vec![("Range", "bytes=0-")], "206 bytes 1-9/10"),
            ("\"a\"", RangeSupport::Correct, vec![("Range", "bytes=10-")], "416 bytes */10"),
            ("\"a\"", RangeSupport::NoContentRangeOn416, vec![("Range", "bytes=10-")], "416"),
            ("\"a\"", RangeSupport::Correct, vec![("If-None-Match", "\"x\", W/\"a\"")], "304"),
            ("\"a\"", RangeSupport::Correct, vec![("If-Modified-Since", "date")], "304"),
        ] {
            let handler = file_handler(b"0123456789".to_vec(), options(etag, ranges));
            let head = String::from_utf8(handler(&request(&fields)).into_parts().head).unwrap();
            let content_range = head.lines().find_map(|line| line.strip_prefix("Content-Range: "));
            let answer = format!("{} {}", &head[9..12], content_range.unwrap_or_default());
            assert!(answer.starts_with(expected), "{fields:?}: {answer}");
            assert!(content_range.is_some() || !answer.starts_with("206"));
            assert_eq!(ranges == RangeSupport::NoContentRangeOn416, answer == "416 ");
        }
    }
}
