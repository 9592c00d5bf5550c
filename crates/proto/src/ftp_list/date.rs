//! Dates as listings write them for people: with or without year, month by name, time or none.

use super::words::{Words, digits};
use crate::calendar;

const DAY: i64 = 86_400;

/// The moment that dates without a year are held against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    latest: i64,
    year: i64,
}

impl Now {
    pub(super) const fn new(seconds: i64) -> Self {
        // The clocks of two hosts in two zones may be a day apart.
        let latest = seconds.saturating_add(DAY);
        Self { latest, year: calendar::civil(latest).0 }
    }
}

/// A date as it was written; it may be in no calendar.
#[derive(Debug, Default)]
pub(super) struct Date {
    year: Option<i64>,
    /// 0 is a month in another language.
    month: i64,
    day: i64,
    time: [i64; 3],
    /// Seconds east of Greenwich.
    east: i64,
}

/// How a date may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `1 Dec 1994`.
    DayFirst,
    /// `Maj  1  1994`, `1. Mai  1994`: any word may be a month. It says where the name begins, but
    /// not when.
    Foreign,
    /// `Dec  1  1994`, and what begins with digits: `1994-12-01`, `12-01 1994`, `01-dec-94`.
    MonthFirst,
}

/// Which words are a month.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Months {
    Any,
    English,
}

impl Date {
    /// Seconds since 1970; without a year it is the latest one that `now` allows.
    pub(super) fn seconds(&self, now: Option<Now>) -> Option<i64> {
        if let Some(year) = self.year {
            return self.seconds_in(year);
        }
        // The 29th of February may be eight years ago.
        let now = now?;
        (0..=8).filter_map(|ago| self.seconds_in(now.year - ago)).find(|&seconds| seconds <= now.latest)
    }

    fn seconds_in(&self, year: i64) -> Option<i64> {
        let [hour, minute, second] = self.time;
        let seconds = calendar::seconds(year, self.month, self.day, hour, minute, second)?;
        Some(seconds - self.east)
    }

    /// The same day at this time, or at its start.
    pub(super) fn at(self, time: Option<[i64; 3]>) -> Self {
        Self { time: time.unwrap_or_default(), ..self }
    }
}

/// The date of a line of `ls -l`. The words stand behind it then.
pub(super) fn of_unix(words: &mut Words<'_>, style: Style) -> Option<Date> {
    let first = words.word()?;
    let months = if style == Style::Foreign { Months::Any } else { Months::English };
    let is_day = style == Style::DayFirst || (style == Style::Foreign && first.ends_with(b"."));
    if is_day {
        let (day, month) = (day(first)?, month(words.word()?, months)?);
        return year_or_time(Date { month, day, ..Date::default() }, words);
    }
    if first.first().is_some_and(u8::is_ascii_digit) && style == Style::MonthFirst {
        let date = of_vms(first, months).map(|date| date.at(time_before_name(words)));
        return date.or_else(|| of_digits(first, words));
    }
    let (month, day) = (month(first, months)?, day(words.word()?)?);
    year_or_time(Date { month, day, ..Date::default() }, words)
}

/// `Nov 21` is followed by a time, or by a year; sometimes by both.
fn year_or_time(date: Date, words: &mut Words<'_>) -> Option<Date> {
    let is_close = words.gap() == 1;
    let word = words.word()?;
    if let Some(time) = clock(word) {
        // Only `ls -T` prints seconds, and a year after them.
        let year = if has_seconds(word) { year_before_name(words) } else { None };
        return Some(Date { year, time, ..date });
    }
    let year = Some(four_digits(word)?);
    // ls pads a year to the width of a time; who does not, may print a time too. After a padded
    // one, `10:30` is how the name begins.
    let time = if is_close { time_before_name(words) } else { None };
    Some(Date { year, ..date }.at(time))
}

/// `YYYY-MM-DD` and perhaps a time and a zone; or `MM-DD` and a year or a time.
fn of_digits(word: &[u8], words: &mut Words<'_>) -> Option<Date> {
    let mut parts = word.split(|octet| matches!(octet, b'-' | b'/'));
    let (first, second, third) = (parts.next()?, digits(parts.next()?, 1, 2)?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let Some(third) = third else {
        return year_or_time(Date { month: digits(first, 1, 2)?, day: second, ..Date::default() }, words);
    };
    let (year, day) = (Some(digits(first, 4, 4)?), digits(third, 1, 2)?);
    let mut date = Date { year, month: second, day, ..Date::default() };
    let mut ahead = words.clone();
    let Some((time, word)) = ahead.word().and_then(|word| Some((clock(word)?, word))) else {
        return Some(date);
    };
    if ahead.name().is_some() {
        date.time = time;
        *words = ahead.clone();
        // `ls --full-time` alone prints a zone, and it prints seconds.
        if let Some(east) =
            ahead.word().and_then(zone).filter(|_| has_seconds(word) && ahead.name().is_some())
        {
            date.east = east;
            *words = ahead;
        }
    }
    Some(date)
}

/// `1-JAN-1998`, `01-jun-99`.
pub(super) fn of_vms(word: &[u8], months: Months) -> Option<Date> {
    let mut parts = word.split(|&octet| octet == b'-');
    let (day, month) = (digits(parts.next()?, 1, 2)?, month(parts.next()?, months)?);
    let (year, rest) = (full_year(parts.next()?)?, parts.next());
    rest.is_none().then(|| Date { year: Some(year), month, day, ..Date::default() })
}

/// A year of two digits is one of 1970 to 2069; one of three counts from 1900.
pub(super) fn full_year(word: &[u8]) -> Option<i64> {
    let year = digits(word, 2, 4)?;
    Some(match word.len() {
        2 if year < 70 => year + 2000,
        2 | 3 => year + 1900,
        _ => year,
    })
}

/// `H:MM`, `HH:MM`, `HH:MM:SS`, `HH:MM:SS.sss`.
pub(super) fn clock(word: &[u8]) -> Option<[i64; 3]> {
    let mut parts = word.splitn(3, |&octet| octet == b':');
    let (hour, minute) = (digits(parts.next()?, 1, 2)?, digits(parts.next()?, 2, 2)?);
    let second = parts.next().map_or(Some(0), |part| {
        let mut halves = part.splitn(2, |&octet| octet == b'.');
        let second = digits(halves.next()?, 2, 2)?;
        halves.next().is_none_or(|half| half.iter().all(u8::is_ascii_digit)).then_some(second)
    })?;
    (hour < 24 && minute < 60 && second < 60).then_some([hour, minute, second])
}

fn has_seconds(time: &[u8]) -> bool {
    time.iter().filter(|&&octet| octet == b':').count() == 2
}

/// The next word, when it is a time and a name follows.
fn time_before_name(words: &mut Words<'_>) -> Option<[i64; 3]> {
    let mut ahead = words.clone();
    let time = clock(ahead.word()?)?;
    ahead.name()?;
    *words = ahead;
    Some(time)
}

/// The next word, when it is a year and a name follows.
fn year_before_name(words: &mut Words<'_>) -> Option<i64> {
    let mut ahead = words.clone();
    let year = four_digits(ahead.word()?)?;
    ahead.name()?;
    *words = ahead;
    Some(year)
}

/// `+0130`, in seconds.
fn zone(word: &[u8]) -> Option<i64> {
    let (sign, zone) = word.split_first()?;
    let zone = digits(zone, 4, 4)?;
    let seconds = (zone / 100 * 60 + zone % 100) * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// A month's number from its English name or how that begins; 0 for a word of another language.
fn month(word: &[u8], months: Months) -> Option<i64> {
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
    let is_letter = |octet: &u8| octet.is_ascii_alphabetic() || !octet.is_ascii();
    known.or_else(|| (months == Months::Any && word.iter().any(is_letter)).then_some(0))
}

/// `1`, `01`, `1.`, `1,`.
fn day(word: &[u8]) -> Option<i64> {
    digits(without_sign(word), 1, 2).filter(|day| (1..=31).contains(day))
}

fn four_digits(word: &[u8]) -> Option<i64> {
    digits(without_sign(word), 4, 4)
}

/// A number before `.`, `,`, or a character that is not ASCII: in Japanese each part of a date has
/// one.
fn without_sign(word: &[u8]) -> &[u8] {
    let length = word.iter().take_while(|octet| octet.is_ascii_digit()).count();
    match word.split_at_checked(length) {
        Some((number, b"." | b"," | [0x80..=0xff, ..])) => number,
        _ => word,
    }
}
