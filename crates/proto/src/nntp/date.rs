//! Parses article dates: RFC 5322 §3.3, and the older formats of RFC 850 and `asctime`.

use super::comments::without_comments;
use crate::calendar;

/// The named time zones and their offset from UTC in hours (RFC 5322 §4.3).
const ZONES: [(&[u8], i64); 8] = [
    (b"EST", -5),
    (b"EDT", -4),
    (b"CST", -6),
    (b"CDT", -5),
    (b"MST", -7),
    (b"MDT", -6),
    (b"PST", -8),
    (b"PDT", -7),
];

/// Parses the value of a Date field and returns seconds since 1970-01-01 UTC, or `None` if it is not a valid
/// date.
///
/// A missing or unknown time zone counts as UTC. A leap second (`:60`) counts as second 59.
pub fn parse_article_date(date: &[u8]) -> Option<i64> {
    let bare = without_comments(date);
    let mut rest = Rest(&bare);
    let mut word = rest.word();
    if word.is_some_and(is_day_name) {
        rest.skip(b',');
        word = rest.word();
    }
    let (date, east) = match word {
        Some(word) => month_first(month(word)?, &mut rest)?,
        None => day_first(&mut rest)?,
    };
    let [year, month, day, hour, minute, second] = date;
    Some(calendar::to_timestamp(year, month, day, hour, minute, second)? - east)
}

/// Parses `06 Nov 1994 08:49:37 GMT` or `06-Nov-94 08:49:37 GMT`; returns the date and the offset of its zone, in
/// seconds.
fn day_first(rest: &mut Rest<'_>) -> Option<([i64; 6], i64)> {
    let day = rest.number(1, 2)?;
    rest.skip(b'-');
    let month = month(rest.word()?)?;
    rest.skip(b'-');
    let year = rest.year()?;
    let [hour, minute, second] = rest.time()?;
    Some(([year, month, day, hour, minute, second], rest.zone()?))
}

/// Parses `Nov  6 08:49:37 1994` (`asctime`). The zone may precede the year, as date(1) writes it, or follow
/// it.
fn month_first(month: i64, rest: &mut Rest<'_>) -> Option<([i64; 6], i64)> {
    let day = rest.number(1, 2)?;
    let [hour, minute, second] = rest.time()?;
    let before = rest.word().map_or(0, named_zone);
    let year = rest.year()?;
    let behind = rest.zone()?;
    Some(([year, month, day, hour, minute, second], if behind == 0 { before } else { behind }))
}

/// The unparsed rest of a date. Blanks before each part are skipped.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, is_part: impl Fn(&u8) -> bool) -> &'a [u8] {
        let start = self.0.trim_ascii_start();
        let length = start.iter().take_while(|byte| is_part(byte)).count();
        let (part, rest) = start.split_at(length);
        self.0 = rest;
        part
    }

    /// Returns the next word. Non-ASCII bytes count as letters because localised zone names contain them.
    fn word(&mut self) -> Option<&'a [u8]> {
        let word = self.take(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
        (!word.is_empty()).then_some(word)
    }

    /// Returns the next number if it has between `least` and `most` digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let digits = self.take(u8::is_ascii_digit);
        let number =
            |digits: &[u8]| digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
        (least..=most).contains(&digits.len()).then(|| number(digits))
    }

    /// Skips `sign` if it is next; returns `true` if it was.
    fn skip(&mut self, sign: u8) -> bool {
        let behind = self.0.trim_ascii_start().strip_prefix(&[sign]);
        self.0 = behind.unwrap_or(self.0);
        behind.is_some()
    }

    /// Returns the year. Two digits mean 1950 to 2049, three count from 1900 (RFC 5322 §4.3).
    fn year(&mut self) -> Option<i64> {
        let before = self.0.trim_ascii_start().len();
        let year = self.number(2, 4)?;
        Some(match before - self.0.len() {
            2 if year < 50 => year + 2000,
            2 | 3 => year + 1900,
            _ => year,
        })
    }

    fn time(&mut self) -> Option<[i64; 3]> {
        let hour = self.number(1, 2)?;
        let minute = self.skip(b':').then(|| self.number(2, 2))??;
        let second = if self.skip(b':') { self.number(2, 2)? } else { 0 };
        Some([hour, minute, if second == 60 { 59 } else { second }])
    }

    /// Returns the offset of the zone east of UTC in seconds. Only words such as `DST` may follow it.
    ///
    /// In `GMT+0100` the numeric offset is used.
    fn zone(&mut self) -> Option<i64> {
        let mut east = self.word().map_or(0, named_zone);
        let sign = if self.skip(b'+') { 1 } else { -1 };
        if sign == 1 || self.skip(b'-') {
            let zone = self.number(4, 4)?;
            east = sign * (zone / 100 * 60 + zone % 100) * 60;
        }
        while self.word().is_some() {}
        self.0.trim_ascii().is_empty().then_some(east)
    }
}

/// Returns the offset of a named zone in seconds. Unknown names and military letters count as UTC (RFC 5322
/// §4.3).
fn named_zone(name: &[u8]) -> i64 {
    let zone = ZONES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    zone.map_or(0, |(_, hours)| hours * 3600)
}

fn is_day_name(word: &[u8]) -> bool {
    name_index(word, b"MonTueWedThuFriSatSun").is_some()
}

fn month(word: &[u8]) -> Option<i64> {
    name_index(word, b"JanFebMarAprMayJunJulAugSepOctNovDec")
}

/// Returns the 1-based index of the three-letter name that the word begins with.
fn name_index(word: &[u8], names: &[u8]) -> Option<i64> {
    let start = word.get(..3)?;
    (1..).zip(names.chunks(3)).find(|(_, name)| name.eq_ignore_ascii_case(start)).map(|(number, _)| number)
}
