//! How the values of options are written: offsets, ranges, times, sizes.

use std::time::Duration;

/// Where to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContinueAt {
    /// Where an earlier run ended.
    End,
    /// At this octet.
    Offset(u64),
}

impl std::str::FromStr for ContinueAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::End);
        }
        number(text).map(Self::Offset).ok_or_else(|| "an offset in octets, or -".to_owned())
    }
}

/// Digits only: no sign.
pub(super) fn number(text: &str) -> Option<u64> {
    text.bytes().all(|octet| octet.is_ascii_digit()).then(|| text.parse().ok())?
}

pub(super) fn range(text: &str) -> Result<fetch_url::ByteRange, String> {
    let wrong = || "FIRST-LAST, FIRST- or -COUNT, in octets".to_owned();
    let number = |text: &str| number(text).ok_or_else(wrong);
    match text.split_once('-').ok_or_else(wrong)? {
        ("", count) => number(count).map(fetch_url::ByteRange::Suffix),
        (first, "") => Ok(fetch_url::ByteRange::Span { first: number(first)?, last: None }),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                Err(wrong())
            } else {
                Ok(fetch_url::ByteRange::Span { first, last: Some(last) })
            }
        }
    }
}

/// A time; 0 is none.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "a number of seconds, such as 30 or 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    let wrong = || "a number of octets, such as 4096, 64k, 10M or 2G".to_owned();
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1_u64 << 40,
        _ => return Err(wrong()),
    };
    number(digits).and_then(|number| number.checked_mul(factor)).ok_or_else(wrong)
}

/// A count; -1 is no limit.
pub(super) fn count(text: &str) -> Result<u32, String> {
    match text {
        "-1" => Ok(u32::MAX),
        _ => text.parse().map_err(|_| "a number, or -1 for no limit".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(size("64k"), Ok(65536));
        assert_eq!(size("2G"), Ok(2 << 30));
        assert!(size("-1").is_err() && size("1x").is_err() && size("99999999999G").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        assert!(seconds("-1").is_err() && seconds("inf").is_err() && seconds("x").is_err());
        assert_eq!((count("3"), count("-1")), (Ok(3), Ok(u32::MAX)));
        assert!(count("-2").is_err() && count("x").is_err());
        assert_eq!(range("0-9"), Ok(fetch_url::ByteRange::Span { first: 0, last: Some(9) }));
        assert_eq!(range("-9"), Ok(fetch_url::ByteRange::Suffix(9)));
        assert!(range("9-0").is_err() && range("9").is_err() && range("a-b").is_err());
    }
}
