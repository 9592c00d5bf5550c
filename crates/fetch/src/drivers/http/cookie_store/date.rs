//! Parses the dates of cookies (RFC 6265 §5.1.1): parts in any order, separated by any delimiters.

use fetch_url_proto::calendar;

/// Returns a date as Unix time in seconds, or `None` if it is invalid.
pub(super) fn parse_cookie_date(text: &[u8]) -> Option<i64> {
    let mut parts = DateParts::default();
    text.split(|&byte| is_delimiter(byte))
        .filter(|token| !token.is_empty())
        .for_each(|token| parts.accept_token(token));
    parts.unix_seconds()
}

/// Returns `true` for `%x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E`.
const fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'/' | b';'..=b'@' | b'['..=b'`' | b'{'..=b'~')
}

/// The parts found so far. Of several candidates for a part, the first is used.
#[derive(Default)]
struct DateParts {
    time: Option<[i64; 3]>,
    day: Option<i64>,
    month: Option<i64>,
    year: Option<i64>,
}

impl DateParts {
    /// Stores the token as the first missing part that it can be, in the order of the RFC.
    fn accept_token(&mut self, token: &[u8]) {
        if self.time.is_none() {
            self.time = parse_time(token);
            if self.time.is_some() {
                return;
            }
        }
        if self.day.is_none() {
            self.day = parse_number(token, 1, 2);
            if self.day.is_some() {
                return;
            }
        }
        if self.month.is_none() {
            self.month = parse_month(token);
            if self.month.is_some() {
                return;
            }
        }
        if self.year.is_none() {
            self.year = parse_number(token, 2, 4).map(expand_year);
        }
    }

    fn unix_seconds(&self) -> Option<i64> {
        let [hour, minute, second] = self.time?;
        let (day, month, year) = (self.day?, self.month?, self.year?);
        // Years before 1601 are invalid (RFC 6265 §5.1.1).
        if year < 1601 { None } else { calendar::to_timestamp(year, month, day, hour, minute, second) }
    }
}

/// Parses `1*2DIGIT ":" 1*2DIGIT ":" 1*2DIGIT`; anything but a digit may follow.
fn parse_time(token: &[u8]) -> Option<[i64; 3]> {
    let mut fields = token.splitn(3, |&byte| byte == b':');
    let digits =
        |field: &[u8]| field.iter().all(u8::is_ascii_digit).then(|| parse_number(field, 1, 2)).flatten();
    let (hour, minute) = (digits(fields.next()?)?, digits(fields.next()?)?);
    Some([hour, minute, parse_number(fields.next()?, 1, 2)?])
}

/// Parses the digits at the start of a token, if their number is in the range.
fn parse_number(token: &[u8], least: usize, most: usize) -> Option<i64> {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit());
    let count = digits.clone().take(most + 1).count();
    (least..=most)
        .contains(&count)
        .then(|| digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// Returns the number of a month by its first three letters.
fn parse_month(token: &[u8]) -> Option<i64> {
    let name = token.get(..3)?.to_ascii_lowercase();
    let months =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    (1..).zip(months).find(|(_, month)| name == **month).map(|(number, _)| number)
}

const fn expand_year(year: i64) -> i64 {
    match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cookie_dates_are_parsed_in_any_order() {
        for (text, seconds) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 01-Jan-70 00:00:01 GMT", Some(1)),
            ("Wed, 31 Dec 1969 23:59:59 GMT", Some(-1)),
            ("1 jan 69 0:0:0", Some(3_124_224_000)),
            ("1 January 00 0:0:0", Some(946_684_800)),
            ("29 Feb 2000 0:0:0", Some(951_782_400)),
            ("29 Feb 2100 0:0:0", None),
            ("29 Feb 1900 0:0:0", None),
            ("29 Feb 2024 23:59:59", Some(1_709_251_199)),
            ("31 Apr 2024 0:0:0", None),
            ("31 Dec 9999 23:59:59", Some(253_402_300_799)),
            ("1 Jan 1601 0:0:0", Some(-11_644_473_600)),
            ("31 Dec 1600 0:0:0", None),
            ("08:49:37 2024 Nov 06", Some(1_730_882_977)),
            // The first number of two digits is the day.
            ("94 Nov 06 08:49:37", None),
            ("2024 08:49:37 06x Nov", Some(1_730_882_977)),
            ("06 Nov 1994 08:49:37junk", Some(784_111_777)),
            ("06 Nov 1994 08:49:373", None),
            ("06 Nov 1994 08:49", None),
            ("06 Nov 1994 008:49:37", None),
            ("06 Nov 1994 8:9:7", Some(784_109_347)),
            ("06 Nov 1994 24:00:00", None),
            ("06 Nov 1994 23:60:00", None),
            ("06 Nov 1994 23:59:60", None),
            ("0 Nov 1994 23:59:59", None),
            ("32 Nov 1994 23:59:59", None),
            ("006 Nov 1994 23:59:59", None),
            ("06 Nov 19940 23:59:59", None),
            ("06 No 1994 23:59:59", None),
            ("06 Nov 23:59:59", None),
            ("", None),
            ("0", None),
            ("1:2:3:4 5 Jun 1990", Some(644_547_723)),
            (":::: 5 Jun 1990", None),
        ] {
            assert_eq!(parse_cookie_date(text.as_bytes()), seconds, "{text}");
        }
        let long = "9".repeat(100_000);
        assert_eq!(parse_cookie_date(long.as_bytes()), None);
        assert_eq!(parse_cookie_date("06 Nov 1994 08:49:37 ".repeat(5_000).as_bytes()), Some(784_111_777));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_yield_a_date_within_bounds_or_none(text in prop::collection::vec(any::<u8>(), 0..60)) {
            let seconds = parse_cookie_date(&text).unwrap_or_default();
            prop_assert!((-11_644_473_600..=253_402_300_799).contains(&seconds));
        }

        #[test]
        fn any_date_parts_yield_a_date_within_bounds_or_none(
            parts in prop::collection::vec(
                prop::sample::select(vec!["1", "31", "99", "1601", "9999", "Jan", "feb", "0:0:0", "23:59:59", "x", ":"]),
                0..8,
            ),
        ) {
            let seconds = parse_cookie_date(parts.join(" ").as_bytes()).unwrap_or_default();
            prop_assert!((-11_644_473_600..=253_402_300_799).contains(&seconds));
        }
    }
}
