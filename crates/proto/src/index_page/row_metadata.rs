//! Modification time and size in the text after a link of an index page.

use std::iter::Peekable;

use crate::calendar::to_timestamp;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The time and size found in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RowMetadata {
    /// The modification time in seconds since 1970-01-01, read as UTC.
    pub(super) modified: Option<i64>,
    /// The exact size in bytes; `None` if it was rounded.
    pub(super) size: Option<u64>,
}

impl RowMetadata {
    /// Parses the first date and the first size: `22-Nov-2026 08:45   1234`.
    pub(super) fn parse(text: &str) -> Self {
        let mut found = Self::default();
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let (day, time) = word.split_once('T').map_or((word, None), |(day, time)| (day, Some(time)));
            if let Some(month) = parse_month(word) {
                if let (Some(day), None) = (parse_ls_date(month, &mut words), found.modified) {
                    found.modified = timestamp_of(day, None);
                }
            } else if let (None, Some(day)) = (found.modified, parse_date(day)) {
                let time = time.or_else(|| words.next_if(|next| parse_time(next).is_some()));
                found.modified = timestamp_of(day, time);
            } else if let (None, Ok(size)) = (found.size, word.parse()) {
                let is_exact = !words.peek().is_some_and(|unit| is_rounding_unit(unit));
                found.size = is_exact.then_some(size);
                // The rest of the text belongs to other columns.
                return found;
            }
        }
        found
    }

    /// Parses the text before a link: the first date, and the last size, because `ls -l` writes the number of links before
    /// the size. `-rw-r--r--  1  1234  Nov 22  2026`, `Nov 22  2026  1234  B`, `11/22/2026  8:45 AM  1234`.
    pub(super) fn parse_before_link(text: &str) -> Self {
        let mut found = Self::default();
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            if let Some(month) = parse_month(word) {
                let day = parse_ls_date(month, &mut words);
                found.modified = found.modified.or(day.and_then(|day| timestamp_of(day, None)));
            } else if let Some(day) = parse_date(word) {
                let time = words.next_if(|next| parse_time(next).is_some());
                found.modified = found.modified.or(timestamp_of(day, time));
            } else if word.starts_with(|letter: char| letter.is_ascii_digit()) && parse_time(word).is_none() {
                // A number with a unit is the size, too, but not exact.
                let is_exact = !words.peek().is_some_and(|unit| is_rounding_unit(unit));
                found.size = word.parse().ok().filter(|_| is_exact);
            }
        }
        found
    }
}

/// Returns `true` for a unit that makes a size inexact, as in `3 MB`, but not for `B`.
fn is_rounding_unit(word: &str) -> bool {
    let first = word.bytes().next().map(|byte| byte.to_ascii_lowercase());
    word.len() <= 3 && matches!(first, Some(b'k' | b'm' | b'g' | b't' | b'p'))
}

/// Parses `22-Nov-2026`, `2026-11-22` and `2026-Nov-22` to year, month and day.
fn parse_date(word: &str) -> Option<(i64, i64, i64)> {
    let mut parts = word.split('-');
    let (first, month, last) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let month = parse_month(month).or_else(|| parse_digits(month, 2))?;
    match (first.len(), last.len()) {
        (4, 1..=2) => Some((parse_digits(first, 4)?, month, parse_digits(last, 2)?)),
        (1..=2, 4) => Some((parse_digits(last, 4)?, month, parse_digits(first, 2)?)),
        _ => None,
    }
}

/// Parses the name of a month to its number.
fn parse_month(name: &str) -> Option<i64> {
    MONTHS.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|index| index as i64 + 1)
}

/// Parses the words after the month of a date as `ls -l` writes it, `Nov 22 2026` or `Nov 22 08:45`, to year, month and
/// day. Returns `None` if the date has no year.
fn parse_ls_date<'a>(
    month: i64,
    words: &mut Peekable<impl Iterator<Item = &'a str>>,
) -> Option<(i64, i64, i64)> {
    let day = parse_digits(words.next_if(|word| parse_digits(word, 2).is_some())?, 2)?;
    let year = words.next_if(|word| word.len() == 4 && parse_digits(word, 4).is_some());
    if year.is_none() {
        words.next_if(|word| parse_time(word).is_some());
    }
    Some((parse_digits(year?, 4)?, month, day))
}

/// Parses `08:45`, `08:45:13` and `08:45:13Z`.
fn parse_time(word: &str) -> Option<(i64, i64, i64)> {
    let mut parts = word.strip_suffix('Z').unwrap_or(word).split(':');
    let (hour, minute) = (parse_digits(parts.next()?, 2)?, parse_digits(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |second| parse_digits(second, 2))?;
    parts.next().is_none().then_some((hour, minute, second))
}

fn timestamp_of((year, month, day): (i64, i64, i64), time: Option<&str>) -> Option<i64> {
    let (hour, minute, second) = time.map_or(Some((0, 0, 0)), parse_time)?;
    to_timestamp(year, month, day, hour, minute, second)
}

/// Parses one to `max` decimal digits.
fn parse_digits(text: &str, max: usize) -> Option<i64> {
    let is_number = (1..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_size_before_a_link_is_found() {
        const MIDNIGHT: i64 = 786_240_000;
        for (text, modified, size) in [
            ("-rw-r--r--  root  root  Dec 01  1994  2440  B  ", Some(MIDNIGHT), Some(2440)),
            ("-rw-r--r--  root  root  Dec 01  1994    12 kB  ", Some(MIDNIGHT), None),
            ("-r--   1         100  Dec 01  1994  ", Some(MIDNIGHT), Some(100)),
            ("-r--   1         100  Dec 01  12:34  ", None, Some(100)),
            ("-r--   1         12k  Dec 01  1994  ", Some(MIDNIGHT), None),
            ("12/1/1994 12:34 PM          100 ", None, Some(100)),
            ("12/1/1994  8:45 AM        <dir> ", None, None),
            ("01-Dec-1994 12:34  4096 ", Some(MIDNIGHT + 45_240), Some(4096)),
            ("", None, None),
        ] {
            assert_eq!(RowMetadata::parse_before_link(text), RowMetadata { modified, size }, "{text:?}");
        }
    }

    #[test]
    fn first_date_and_exact_size_are_found() {
        const LISTED_TIME: i64 = 786_285_240;
        for (text, modified, size) in [
            ("   01-Dec-1994 12:34                4096\n", Some(LISTED_TIME), Some(4096)),
            (" 1994-12-01 12:34    16   ", Some(LISTED_TIME), Some(16)),
            ("1994-Dec-01 12:34:00 1.2K application/x", Some(LISTED_TIME), None),
            ("1994-12-01T12:34:00Z", Some(LISTED_TIME), None),
            (" 1994-12-01T12:34:00Z 12 B", Some(LISTED_TIME), Some(12)),
            ("16 B 12/01/1994 12:34:56 PM", None, Some(16)),
            ("01-Dec-1994 12:34 12 KiB", Some(LISTED_TIME), None),
            ("01-Dec-1994 -", Some(LISTED_TIME - 45_240), None),
            ("01-Dec-1994 12:34   -", Some(LISTED_TIME), None),
            ("31-Feb-1994 12:34 1", None, Some(1)),
            ("1-1-1-1 99:99 -1", None, None),
            ("Dec 01  1994 16", Some(LISTED_TIME - 45_240), Some(16)),
            ("Dec  1 1994 1k", Some(LISTED_TIME - 45_240), None),
            ("Dec 01 12:34 16", None, Some(16)),
            ("Dec 16", None, None),
            ("99999999999999999999", None, None),
            ("", None, None),
        ] {
            assert_eq!(RowMetadata::parse(text), RowMetadata { modified, size }, "{text:?}");
        }
    }
}
