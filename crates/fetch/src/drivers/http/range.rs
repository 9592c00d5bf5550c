//! Range, If-Range and Content-Range (RFC 9110 §13.1.5 and §14), and the validators that let two
//! parts be joined.

use http::HeaderMap;
use http::header::{CONTENT_RANGE, DATE, ETAG, LAST_MODIFIED};

use crate::{ByteRange, Validator};

/// A time of modification is a strong validator only when it is this much older than the answer
/// (RFC 9110 §8.8.2.2).
const STRONG_AFTER_SECONDS: u64 = 60;

/// The value of a Range field.
pub(super) fn field(range: ByteRange) -> String {
    match range {
        ByteRange::Span { first, last: Some(last) } => format!("bytes={first}-{last}"),
        ByteRange::Span { first, last: None } => format!("bytes={first}-"),
        ByteRange::Suffix(count) => format!("bytes=-{count}"),
    }
}

/// The value of an If-Range field.
pub(super) fn if_range(validator: &Validator) -> String {
    match validator {
        Validator::ETag(text) | Validator::Modified(text) => text.clone(),
    }
}

/// `bytes first-last/size`, or `bytes */size` of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentRange {
    pub(super) span: Option<(u64, u64)>,
    pub(super) size: Option<u64>,
}

impl ContentRange {
    pub(super) fn of(fields: &HeaderMap) -> Option<Self> {
        Self::parse(fields.get(CONTENT_RANGE)?.to_str().ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let (span, size) = text.strip_prefix("bytes ")?.trim().split_once('/')?;
        let size = if size == "*" { None } else { Some(number(size)?) };
        if span == "*" {
            return Some(Self { span: None, size });
        }
        let (first, last) = span.split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        let is_sound = first <= last && last < u64::MAX && size.is_none_or(|size| last < size);
        is_sound.then_some(Self { span: Some((first, last)), size })
    }
}

/// Digits only: no sign, no blank.
pub(super) fn number(text: &str) -> Option<u64> {
    text.bytes().all(|octet| octet.is_ascii_digit()).then(|| text.parse().ok())?
}

/// What tells this version of the object from others: a strong entity tag, else a time of
/// modification that is old enough.
pub(super) fn validator(fields: &HeaderMap) -> Option<Validator> {
    let text = |name| fields.get(name)?.to_str().ok();
    if let Some(tag) = text(ETAG) {
        let is_strong = tag.len() >= 2 && tag.starts_with('"') && tag.ends_with('"');
        if is_strong {
            return Some(Validator::ETag(tag.to_owned()));
        }
    }
    let modified = text(LAST_MODIFIED)?;
    let age = httpdate::parse_http_date(text(DATE)?)
        .ok()?
        .duration_since(httpdate::parse_http_date(modified).ok()?);
    (age.ok()?.as_secs() >= STRONG_AFTER_SECONDS).then(|| Validator::Modified(modified.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        let parsed = |text| ContentRange::parse(text).map(|range| (range.span, range.size));
        assert_eq!(parsed("bytes 0-9/10"), Some((Some((0, 9)), Some(10))));
        assert_eq!(parsed("bytes 5-9/*"), Some((Some((5, 9)), None)));
        assert_eq!(parsed("bytes */10"), Some((None, Some(10))));
        for bad in [
            "bytes 5-4/10",
            "bytes 0-10/10",
            "bytes +1-2/3",
            "bytes 1-2",
            "lines 1-2/3",
            "bytes 1-99999999999999999999/*",
        ] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }

    #[test]
    fn validators() {
        let of = |fields: &[(&'static str, &'static str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in fields {
                map.insert(*name, http::HeaderValue::from_static(value));
            }
            validator(&map)
        };
        let date = ("date", "Sat, 21 Nov 2026 01:00:00 GMT");
        assert_eq!(of(&[("etag", "\"a\"")]), Some(Validator::ETag("\"a\"".to_owned())));
        assert_eq!(of(&[("etag", "W/\"a\"")]), None);
        assert_eq!(of(&[("etag", "\"a")]), None);
        let old = "Sat, 21 Nov 2026 00:59:00 GMT";
        assert_eq!(of(&[date, ("last-modified", old)]), Some(Validator::Modified(old.to_owned())));
        assert_eq!(of(&[date, ("last-modified", "Sat, 21 Nov 2026 00:59:01 GMT")]), None);
        assert_eq!(of(&[("last-modified", old)]), None);
    }
}
