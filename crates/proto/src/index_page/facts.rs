//! Time and size in the words behind a link.

use crate::calendar::seconds;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// What words tell of an object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// In seconds since 1970, as if the words were UTC.
    pub(super) modified: Option<i64>,
    /// Exact: a size that is rounded is none.
    pub(super) size: Option<u64>,
}

impl Facts {
    /// The first date, and the first size: `22-Nov-2026 08:45   1234`.
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let (day, time) = word.split_once('T').map_or((word, None), |(day, time)| (day, Some(time)));
            if let (None, Some(day)) = (found.modified, date(day)) {
                let time = time.or_else(|| words.next_if(|next| clock(next).is_some()));
                found.modified = moment(day, time);
            } else if let (None, Ok(size)) = (found.size, word.parse()) {
                let is_exact = !words.peek().is_some_and(|unit| is_rounding_unit(unit));
                found.size = is_exact.then_some(size);
                // What stands behind it belongs to other columns.
                return found;
            }
        }
        found
    }
}

/// `1.2 KiB` and `3 MB` are rounded; `12 B` is not.
fn is_rounding_unit(word: &str) -> bool {
    let first = word.bytes().next().map(|octet| octet.to_ascii_lowercase());
    word.len() <= 3 && matches!(first, Some(b'k' | b'm' | b'g' | b't' | b'p'))
}

/// `22-Nov-2026`, `2026-11-22` and `2026-Nov-22`.
fn date(word: &str) -> Option<(i64, i64, i64)> {
    let mut parts = word.split('-');
    let (first, month, last) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let month = match MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month)) {
        Some(index) => index as i64 + 1,
        None => number(month, 2)?,
    };
    match (first.len(), last.len()) {
        (4, 1..=2) => Some((number(first, 4)?, month, number(last, 2)?)),
        (1..=2, 4) => Some((number(last, 4)?, month, number(first, 2)?)),
        _ => None,
    }
}

/// `08:45`, `08:45:13` and `08:45:13Z`.
fn clock(word: &str) -> Option<(i64, i64, i64)> {
    let mut parts = word.strip_suffix('Z').unwrap_or(word).split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |second| number(second, 2))?;
    parts.next().is_none().then_some((hour, minute, second))
}

fn moment((year, month, day): (i64, i64, i64), time: Option<&str>) -> Option<i64> {
    let (hour, minute, second) = time.map_or(Some((0, 0, 0)), clock)?;
    seconds(year, month, day, hour, minute, second)
}

/// One to `most` digits.
fn number(text: &str, most: usize) -> Option<i64> {
    let is_number = (1..=most).contains(&text.len()) && text.bytes().all(|octet| octet.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        const NOON: i64 = 786_285_240;
        for (text, modified, size) in [
            ("   01-Dec-1994 12:34                4096\n", Some(NOON), Some(4096)),
            (" 1994-12-01 12:34    16   ", Some(NOON), Some(16)),
            ("1994-Dec-01 12:34:00 1.2K application/x", Some(NOON), None),
            ("1994-12-01T12:34:00Z", Some(NOON), None),
            (" 1994-12-01T12:34:00Z 12 B", Some(NOON), Some(12)),
            ("16 B 12/01/1994 12:34:56 PM", None, Some(16)),
            ("01-Dec-1994 12:34 12 KiB", Some(NOON), None),
            ("01-Dec-1994 -", Some(NOON - 45_240), None),
            ("01-Dec-1994 12:34   -", Some(NOON), None),
            ("31-Feb-1994 12:34 1", None, Some(1)),
            ("1-1-1-1 99:99 -1", None, None),
            ("99999999999999999999", None, None),
            ("", None, None),
        ] {
            assert_eq!(Facts::of(text), Facts { modified, size }, "{text:?}");
        }
    }
}
