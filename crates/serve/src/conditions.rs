//! Reads the conditions and the range of a request (RFC 9110 §13, §14).

use fetch_url::ByteRange;
use fetch_url_proto::http_date;

use crate::request_head::RequestHead;

/// Preconditions that prevent mixing two versions of an object (RFC 9110 §13.1).
const PRECONDITIONS: [&str; 2] = ["if-match", "if-unmodified-since"];

/// Returns the byte range of the request; `None` if there is none, or several, or one of another unit: the whole object
/// is then sent (RFC 9110 §14.2). The caller evaluates `If-Range`.
pub(crate) fn wanted_range(head: &RequestHead) -> Option<ByteRange> {
    let spec = head.text("range")?.strip_prefix("bytes=")?;
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    match spec.trim().split_once('-')? {
        ("", count) => number(count).map(ByteRange::Suffix),
        (first, "") => Some(ByteRange::Span { first: number(first)?, last: None }),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(ByteRange::Span { first, last: Some(last) })
        }
    }
}

/// Returns the time of `If-Modified-Since`, which is ignored if `If-None-Match` is present.
pub(crate) fn modified_since(head: &RequestHead) -> Option<i64> {
    if head.field("if-none-match").is_some() {
        return None;
    }
    http_date::parse(head.text("if-modified-since")?)
}

/// Returns `true` if the object, of the time `modified`, has not changed since the time of `If-Modified-Since`.
pub(crate) fn is_unmodified(head: &RequestHead, modified: Option<i64>) -> bool {
    modified_since(head).zip(modified).is_some_and(|(since, modified)| modified <= since)
}

/// Returns `true` if `If-None-Match` lists `etag`, by the weak comparison (RFC 9110 §8.8.3.2).
pub(crate) fn matches_etag(head: &RequestHead, etag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let own = opaque(etag);
    head.values("if-none-match").any(|list| {
        let list = String::from_utf8_lossy(list);
        list.trim() == "*" || list.split(',').any(|tag| opaque(tag) == own)
    })
}

/// Returns `true` if the request has a condition on the version of the object, `If-Match` or `If-Unmodified-Since`. An
/// http server checks it itself.
pub(crate) fn has_precondition(head: &RequestHead) -> bool {
    PRECONDITIONS.iter().any(|name| head.field(name).is_some())
}

/// Returns `true` if an existing object of another protocol than http does not fulfil `If-Match` or, without that,
/// `If-Unmodified-Since` (RFC 9110 §13.2.2). A list of entity tags never holds: `If-Match` needs strong ones, and those
/// that this server makes from size and time are weak. `modified` is the time of the object.
pub(crate) fn fails_precondition(head: &RequestHead, modified: Option<i64>) -> bool {
    if head.field("if-match").is_some() {
        return !head.values("if-match").any(|list| list.trim_ascii() == b"*");
    }
    let since = head.text("if-unmodified-since").and_then(http_date::parse);
    since.zip(modified).is_some_and(|(since, modified)| modified > since)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(field: &str) -> RequestHead {
        let text = format!("GET / HTTP/1.0\r\n{field}\r\n\r\n");
        RequestHead::parse(text.as_bytes()).expect("a head").expect("complete").0
    }

    #[test]
    fn one_byte_range_is_read() {
        for (value, expected) in [
            ("bytes=0-9", Some(ByteRange::Span { first: 0, last: Some(9) })),
            ("bytes=5-", Some(ByteRange::Span { first: 5, last: None })),
            ("bytes=-4", Some(ByteRange::Suffix(4))),
            ("bytes=9-0", None),
            ("bytes=0-1,3-4", None),
            ("lines=0-1", None),
            ("bytes=-", None),
            ("bytes=+1-2", None),
            ("bytes=99999999999999999999-", None),
        ] {
            assert_eq!(wanted_range(&head(&format!("Range: {value}"))), expected, "{value}");
        }
    }

    #[test]
    fn precondition_holds_for_any_object_and_for_old_ones_only() {
        for (field, modified, expected) in [
            ("Accept: *", Some(786_285_296), false),
            ("If-Match: *", Some(786_285_296), false),
            ("If-Match: \"a\"", Some(786_285_296), true),
            ("If-Match: W/\"a\", \"b\"", None, true),
            ("If-Match: *\r\nIf-Unmodified-Since: Thu, 01 Dec 1994 12:34:55 GMT", Some(786_285_296), false),
            ("If-Unmodified-Since: Thu, 01 Dec 1994 12:34:56 GMT", Some(786_285_296), false),
            ("If-Unmodified-Since: Thu, 01 Dec 1994 12:34:55 GMT", Some(786_285_296), true),
            ("If-Unmodified-Since: Thu, 01 Dec 1994 12:34:55 GMT", None, false),
            ("If-Unmodified-Since: yesterday", Some(786_285_296), false),
        ] {
            assert_eq!(fails_precondition(&head(field), modified), expected, "{field}");
        }
    }

    #[test]
    fn etags_are_compared_weakly() {
        for (list, expected) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("", false),
        ] {
            assert_eq!(matches_etag(&head(&format!("If-None-Match: {list}")), "W/\"a\""), expected, "{list}");
        }
    }
}
