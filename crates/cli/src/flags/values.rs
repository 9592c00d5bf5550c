//! Parsers for the values of options: offsets, ranges, times, sizes and counts.

use std::time::Duration;

/// The value of `-C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContinueAt {
    /// `-`: resume where an earlier run ended.
    End,
    /// A number: keep this many bytes of the existing file.
    Offset(u64),
}

impl std::str::FromStr for ContinueAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::End);
        }
        parse_digits(text).map(Self::Offset).ok_or_else(|| "expected an offset in bytes, or -".to_owned())
    }
}

/// Parses a number that has only digits, without a sign.
fn parse_digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Parses a byte range: `FIRST-LAST`, `FIRST-` or `-COUNT`.
pub(super) fn parse_range(text: &str) -> Result<fetch_url::ByteRange, String> {
    let wrong = || "expected FIRST-LAST, FIRST- or -COUNT, in bytes".to_owned();
    let number = |text: &str| parse_digits(text).ok_or_else(wrong);
    match text.split_once('-').unwrap_or((text, "")) {
        ("", "") => Err(wrong()),
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

/// Parses a time in seconds, which may have a fraction. 0 means no limit.
pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a number of seconds, such as 30 or 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// Parses a size in bytes with an optional unit: `b`, `k`, `m`, `g` or `t`, powers of 1024.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of bytes, such as 4096, 64k, 10M or 2G".to_owned();
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1_u64 << 40,
        _ => return Err(wrong()),
    };
    parse_digits(digits).and_then(|number| number.checked_mul(factor)).ok_or_else(wrong)
}

/// Parses a count; -1 means no limit and is returned as `u32::MAX`.
pub(super) fn parse_count(text: &str) -> Result<u32, String> {
    match text {
        "-1" => Ok(u32::MAX),
        _ => text.parse().map_err(|_| "expected a number, or -1 for no limit".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_parsed_or_rejected() {
        assert_eq!(parse_size("64k"), Ok(65536));
        assert_eq!(parse_size("2G"), Ok(2 << 30));
        assert!(
            parse_size("-1").is_err() && parse_size("1x").is_err() && parse_size("99999999999G").is_err()
        );
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_seconds("0"), Ok(Duration::ZERO));
        assert!(parse_seconds("-1").is_err() && parse_seconds("inf").is_err() && parse_seconds("x").is_err());
        assert_eq!((parse_count("3"), parse_count("-1")), (Ok(3), Ok(u32::MAX)));
        assert!(parse_count("-2").is_err() && parse_count("x").is_err());
        assert_eq!(parse_range("0-9"), Ok(fetch_url::ByteRange::Span { first: 0, last: Some(9) }));
        assert_eq!(parse_range("4"), Ok(fetch_url::ByteRange::Span { first: 4, last: None }));
        assert_eq!(parse_range("-9"), Ok(fetch_url::ByteRange::Suffix(9)));
        assert!(
            parse_range("9-0").is_err()
                && parse_range("").is_err()
                && parse_range("-").is_err()
                && parse_range("a-b").is_err()
        );
    }
}
