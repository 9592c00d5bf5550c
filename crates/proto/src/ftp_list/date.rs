//! Dates in the formats of listings: with or without a year or a time, with the month as a name or a number.

use super::words::{Words, parse_digits};
use crate::calendar;

const DAY: i64 = 86_400;

/// The current time, which decides the year of dates without one.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferenceTime {
    /// The latest time that an entry can have.
    latest: i64,
    year: i64,
}

impl ReferenceTime {
    pub(super) const fn new(seconds: i64) -> Self {
        // Local times of two hosts may differ by a day.
        let latest = seconds.saturating_add(DAY);
        Self { latest, year: calendar::from_timestamp(latest).0 }
    }
}

/// A date as it was written. It may be invalid, such as 31 February.
#[derive(Debug, Default)]
pub(super) struct ListDate {
    year: Option<i64>,
    /// 1 to 12, or 0 for a name in another language.
    month: i64,
    day: i64,
    time: [i64; 3],
    /// The UTC offset in seconds.
    east: i64,
}

/// The order of day and month in a date.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DateStyle {
    /// `1 Dec 1994`.
    DayFirst,
    /// `Maj  1  1994`, `1. Mai  1994`: any word can be the month. Such a date locates the name, but has no time.
    Foreign,
    /// `Dec  1  1994`, or a date that starts with digits: `1994-12-01`, `12-01 1994`, `01-dec-94`.
    MonthFirst,
}

/// Which words are accepted as a month.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MonthNames {
    Any,
    English,
}

impl ListDate {
    /// Returns seconds since 1970-01-01 UTC. A missing year is the latest one that `now` allows.
    pub(super) fn to_timestamp(&self, now: Option<ReferenceTime>) -> Option<i64> {
        if let Some(year) = self.year {
            return self.to_timestamp_in_year(year);
        }
        // The last 29 February may be eight years ago.
        let now = now?;
        (0..=8)
            .filter_map(|ago| self.to_timestamp_in_year(now.year - ago))
            .find(|&seconds| seconds <= now.latest)
    }

    fn to_timestamp_in_year(&self, year: i64) -> Option<i64> {
        let [hour, minute, second] = self.time;
        let seconds = calendar::to_timestamp(year, self.month, self.day, hour, minute, second)?;
        Some(seconds - self.east)
    }

    /// Returns the same day at `time`, or at midnight.
    pub(super) fn with_time(self, time: Option<[i64; 3]>) -> Self {
        Self { time: time.unwrap_or_default(), ..self }
    }
}

/// Parses the date in a line of `ls -l` and advances `words` past it.
pub(super) fn parse_unix_date(words: &mut Words<'_>, style: DateStyle) -> Option<ListDate> {
    let first = words.next_word()?;
    let months = if style == DateStyle::Foreign { MonthNames::Any } else { MonthNames::English };
    let is_day = style == DateStyle::DayFirst || (style == DateStyle::Foreign && first.ends_with(b"."));
    if is_day {
        let (day, month) = (parse_day(first)?, parse_month(words.next_word()?, months)?);
        return parse_year_or_time(ListDate { month, day, ..ListDate::default() }, words);
    }
    if first.first().is_some_and(u8::is_ascii_digit) && style == DateStyle::MonthFirst {
        let date = parse_vms_date(first, months).map(|date| date.with_time(take_time_before_name(words)));
        return date.or_else(|| parse_numeric_date(first, words));
    }
    let (month, day) = (parse_month(first, months)?, parse_day(words.next_word()?)?);
    parse_year_or_time(ListDate { month, day, ..ListDate::default() }, words)
}

/// Parses what follows `Nov 21`: a time or a year, sometimes both.
fn parse_year_or_time(date: ListDate, words: &mut Words<'_>) -> Option<ListDate> {
    let is_unpadded = words.leading_blanks() == 1;
    let word = words.next_word()?;
    if let Some(time) = parse_time(word) {
        // Only `ls -T` prints seconds, followed by the year.
        let year = if has_seconds(word) { take_year_before_name(words) } else { None };
        return Some(ListDate { year, time, ..date });
    }
    let year = Some(parse_four_digit_year(word)?);
    // `ls` pads a year to the width of a time. Programs that do not pad it may print a time too. After a padded year,
    // `10:30` is the start of the name.
    let time = if is_unpadded { take_time_before_name(words) } else { None };
    Some(ListDate { year, ..date }.with_time(time))
}

/// Parses `YYYY-MM-DD` with an optional time and UTC offset, or `MM-DD` with a year or a time.
fn parse_numeric_date(word: &[u8], words: &mut Words<'_>) -> Option<ListDate> {
    let mut parts = word.split(|byte| matches!(byte, b'-' | b'/'));
    let (first, second, third) = (parts.next()?, parse_digits(parts.next()?, 1, 2)?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let Some(third) = third else {
        return parse_year_or_time(
            ListDate { month: parse_digits(first, 1, 2)?, day: second, ..ListDate::default() },
            words,
        );
    };
    let (year, day) = (Some(parse_digits(first, 4, 4)?), parse_digits(third, 1, 2)?);
    let mut date = ListDate { year, month: second, day, ..ListDate::default() };
    let mut ahead = words.clone();
    let Some((time, word)) = ahead.next_word().and_then(|word| Some((parse_time(word)?, word))) else {
        return Some(date);
    };
    if ahead.name_after_blank().is_some() {
        date.time = time;
        *words = ahead.clone();
        // Only `ls --full-time` prints a UTC offset, and always with seconds.
        if let Some(east) = ahead
            .next_word()
            .and_then(parse_zone)
            .filter(|_| has_seconds(word) && ahead.name_after_blank().is_some())
        {
            date.east = east;
            *words = ahead;
        }
    }
    Some(date)
}

/// Parses `1-JAN-1998` and `01-jun-99`.
pub(super) fn parse_vms_date(word: &[u8], months: MonthNames) -> Option<ListDate> {
    let mut parts = word.split(|&byte| byte == b'-');
    let (day, month) = (parse_digits(parts.next()?, 1, 2)?, parse_month(parts.next()?, months)?);
    let (year, rest) = (parse_year(parts.next()?)?, parts.next());
    rest.is_none().then(|| ListDate { year: Some(year), month, day, ..ListDate::default() })
}

/// Parses a year: two digits mean 1970 to 2069, three digits count from 1900.
pub(super) fn parse_year(word: &[u8]) -> Option<i64> {
    let year = parse_digits(word, 2, 4)?;
    Some(match word.len() {
        2 if year < 70 => year + 2000,
        2 | 3 => year + 1900,
        _ => year,
    })
}

/// Parses `H:MM`, `HH:MM`, `HH:MM:SS` and `HH:MM:SS.sss`.
pub(super) fn parse_time(word: &[u8]) -> Option<[i64; 3]> {
    let mut parts = word.splitn(3, |&byte| byte == b':');
    let (hour, minute) = (parse_digits(parts.next()?, 1, 2)?, parse_digits(parts.next()?, 2, 2)?);
    let second = parts.next().map_or(Some(0), |part| {
        let mut halves = part.splitn(2, |&byte| byte == b'.');
        let second = parse_digits(halves.next()?, 2, 2)?;
        halves.next().is_none_or(|half| half.iter().all(u8::is_ascii_digit)).then_some(second)
    })?;
    (hour < 24 && minute < 60 && second < 60).then_some([hour, minute, second])
}

fn has_seconds(time: &[u8]) -> bool {
    time.iter().filter(|&&byte| byte == b':').count() == 2
}

/// Takes the next word if it is a time and a name follows.
fn take_time_before_name(words: &mut Words<'_>) -> Option<[i64; 3]> {
    let mut ahead = words.clone();
    let time = parse_time(ahead.next_word()?)?;
    ahead.name_after_blank()?;
    *words = ahead;
    Some(time)
}

/// Takes the next word if it is a year and a name follows.
fn take_year_before_name(words: &mut Words<'_>) -> Option<i64> {
    let mut ahead = words.clone();
    let year = parse_four_digit_year(ahead.next_word()?)?;
    ahead.name_after_blank()?;
    *words = ahead;
    Some(year)
}

/// Parses a UTC offset such as `+0130` to seconds.
fn parse_zone(word: &[u8]) -> Option<i64> {
    let (sign, zone) = word.split_first()?;
    let zone = parse_digits(zone, 4, 4)?;
    let seconds = (zone / 100 * 60 + zone % 100) * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Parses an English month name or its abbreviation to 1 to 12; with [`MonthNames::Any`], other words are 0.
fn parse_month(word: &[u8], months: MonthNames) -> Option<i64> {
    const NAMES: [&[u8]; 12] = [
        b"january",
        b"february",
        b"march",
        b"april",
        b"may",
        b"june",
        b"july",
        b"august",
        b"september",
        b"october",
        b"november",
        b"december",
    ];
    let bare = word.strip_suffix(b",").unwrap_or(word);
    let bare = bare.strip_suffix(b".").unwrap_or(bare);
    let is_month = |name: &[u8]| {
        bare.len() >= 3 && name.get(..bare.len()).is_some_and(|start| start.eq_ignore_ascii_case(bare))
    };
    let known = (1..).zip(NAMES).find(|(_, name)| is_month(name)).map(|(number, _)| number);
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    known.or_else(|| (months == MonthNames::Any && word.iter().any(is_letter)).then_some(0))
}

/// Parses a day of the month: `1`, `01`, `1.`, `1,`.
fn parse_day(word: &[u8]) -> Option<i64> {
    parse_digits(strip_date_suffix(word), 1, 2).filter(|day| (1..=31).contains(day))
}

fn parse_four_digit_year(word: &[u8]) -> Option<i64> {
    parse_digits(strip_date_suffix(word), 4, 4)
}

/// Returns the digits before `.`, `,` or a non-ASCII character, which Japanese dates have after each number.
fn strip_date_suffix(word: &[u8]) -> &[u8] {
    let length = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match word.split_at_checked(length) {
        Some((number, b"." | b"," | [0x80..=0xff, ..])) => number,
        _ => word,
    }
}
