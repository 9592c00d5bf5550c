//! Range, If-Range and Content-Range (RFC 9110 §13.1.5 and §14), and the validators that allow a download to be
//! resumed.

use fetch_url_proto::http_date;
use http::HeaderMap;
use http::header::{CONTENT_RANGE, DATE, ETAG, LAST_MODIFIED};

use crate::{ByteRange, Resume, Validator};

/// A Last-Modified time is a strong validator only if it is this much older than the response (RFC 9110 §8.8.2.2).
const STRONG_AFTER_SECONDS: i64 = 60;

/// Returns the value of Range.
pub(super) fn range_header_value(range: ByteRange) -> String {
    match range {
        ByteRange::Span { first, last: Some(last) } => format!("bytes={first}-{last}"),
        ByteRange::Span { first, last: None } => format!("bytes={first}-"),
        ByteRange::Suffix(count) => format!("bytes=-{count}"),
    }
}

/// Returns the range of the rest of a partial download: of `range`, or of the object.
pub(super) fn rest_of(range: Option<ByteRange>, resume: &Resume) -> ByteRange {
    ByteRange::Span { first: resume.request_offset(), last: range.and_then(ByteRange::last_offset) }
}

/// Returns the value of If-Range.
pub(super) fn if_range_value(validator: &Validator) -> String {
    match validator {
        Validator::ETag(text) | Validator::Modified(text) => text.clone(),
    }
}

/// A parsed Content-Range: `bytes first-last/size`, or `bytes */size` in a 416 response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentRange {
    /// The offsets of the first and the last byte.
    pub(super) span: Option<(u64, u64)>,
    /// The size of the whole object.
    pub(super) size: Option<u64>,
}

impl ContentRange {
    /// Returns the Content-Range of a response, or `None` if it is invalid, or if there are several that differ.
    pub(super) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let mut all = headers.get_all(CONTENT_RANGE).iter().map(|value| Self::parse(value.to_str().ok()?));
        let first = all.next()??;
        all.all(|other| other == Some(first)).then_some(first)
    }

    fn parse(text: &str) -> Option<Self> {
        // Names of range units are case-insensitive (RFC 9110 §14.1).
        let (_, range) = text.split_once(' ').filter(|(unit, _)| unit.eq_ignore_ascii_case("bytes"))?;
        let (span, size) = range.trim().split_once('/')?;
        let size = if size == "*" { None } else { Some(parse_decimal(size)?) };
        if span == "*" {
            return Some(Self { span: None, size });
        }
        let (first, last) = span.split_once('-')?;
        let (first, last) = (parse_decimal(first)?, parse_decimal(last)?);
        let is_valid = first <= last && last < u64::MAX && size.is_none_or(|size| last < size);
        is_valid.then_some(Self { span: Some((first, last)), size })
    }
}

/// Parses digits without a sign or white space.
pub(super) fn parse_decimal(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Returns the validator of a response: a strong entity tag, or, without an entity tag, a Last-Modified time that is old
/// enough. Versions with different weak tags can have the same time, so a time does not replace a tag (RFC 9110 §13.1.5).
pub(super) fn validator_from_headers(headers: &HeaderMap) -> Option<Validator> {
    let text = |name| headers.get(name)?.to_str().ok();
    if headers.contains_key(ETAG) {
        let tag = text(ETAG)?;
        let is_strong = tag.len() >= 2 && tag.starts_with('"') && tag.ends_with('"');
        return is_strong.then(|| Validator::ETag(tag.to_owned()));
    }
    let modified = text(LAST_MODIFIED)?;
    let age = http_date::parse(text(DATE)?)?.checked_sub(http_date::parse(modified)?)?;
    (age >= STRONG_AFTER_SECONDS).then(|| Validator::Modified(modified.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_range_with_inconsistent_numbers_is_rejected() {
        let parsed = |text| ContentRange::parse(text).map(|range| (range.span, range.size));
        assert_eq!(parsed("bytes 0-9/10"), Some((Some((0, 9)), Some(10))));
        assert_eq!(parsed("bytes 5-9/*"), Some((Some((5, 9)), None)));
        assert_eq!(parsed("bytes */10"), Some((None, Some(10))));
        assert_eq!(parsed("Bytes 0-4/10"), Some((Some((0, 4)), Some(10))), "units are case-insensitive");
        for bad in [
            "bytes 5-4/10",
            "bytes 0-10/10",
            "bytes +1-2/3",
            "bytes 1-2",
            "lines 1-2/3",
            "byt\u{e9}s 1-2/3",
            "bytes 1-99999999999999999999/*",
        ] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }

    #[test]
    fn contradicting_content_ranges_are_rejected() {
        let parsed = |values: &[&'static str]| {
            let mut map = HeaderMap::new();
            for value in values {
                map.append(CONTENT_RANGE, http::HeaderValue::from_static(value));
            }
            ContentRange::from_headers(&map).map(|range| (range.span, range.size))
        };
        assert_eq!(parsed(&["bytes 0-3/10", "bytes 0-3/10"]), Some((Some((0, 3)), Some(10))));
        assert_eq!(parsed(&["bytes 0-3/10", "bytes 4-7/10"]), None);
        assert_eq!(parsed(&["bytes 0-3/10", "garbage"]), None);
        assert_eq!(parsed(&[]), None);
    }

    #[test]
    fn only_strong_entity_tags_and_old_times_are_validators() {
        let validator_of = |headers: &[(&'static str, &'static str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(*name, http::HeaderValue::from_static(value));
            }
            validator_from_headers(&map)
        };
        let date = ("date", "Sat, 21 Nov 2026 01:00:00 GMT");
        assert_eq!(validator_of(&[("etag", "\"a\"")]), Some(Validator::ETag("\"a\"".to_owned())));
        assert_eq!(validator_of(&[("etag", "W/\"a\"")]), None);
        assert_eq!(validator_of(&[("etag", "\"a")]), None);
        let old = "Sat, 21 Nov 2026 00:59:00 GMT";
        assert_eq!(validator_of(&[date, ("last-modified", old)]), Some(Validator::Modified(old.to_owned())));
        assert_eq!(validator_of(&[("etag", "W/\"a\""), date, ("last-modified", old)]), None);
        assert_eq!(validator_of(&[date, ("last-modified", "Sat, 21 Nov 2026 00:59:01 GMT")]), None);
        assert_eq!(validator_of(&[("last-modified", old)]), None);
    }
}
