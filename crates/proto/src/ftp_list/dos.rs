//! Lines as `dir` prints them, and Microsoft's server: `04-27-00  09:09PM       <DIR>          licensed`.

use super::date;
use super::words::{Words, digits, number};
use crate::{Entry, EntryKind, calendar};

/// `<DIR>` and the blanks after it are as wide as the column of sizes.
const MARK_COLUMNS: usize = 15;

/// The entry of a line, if it is one of these.
pub(super) fn entry(line: &[u8]) -> Option<Entry> {
    let mut words = Words::new(line);
    let [year, month, day] = day(words.word()?)?;
    let [hour, minute, second] = time(&mut words)?;
    let modified = calendar::seconds(year, month, day, hour, minute, second);
    let word = words.word()?;
    if !word.starts_with(b"<") {
        return Some(super::made(EntryKind::File, words.name()?, Some(size(word)?), modified));
    }
    let kind = kind(word)?;
    let name = words.padded_name(MARK_COLUMNS.saturating_sub(word.len()).max(1))?;
    let name = if kind == EntryKind::Link { before_target(name) } else { name };
    Some(super::made(kind, name, None, modified))
}

/// Year, month and day of `MM-DD-YY`, `MM-DD-YYYY`, `YYYY-MM-DD`, `DD.MM.YYYY`.
fn day(word: &[u8]) -> Option<[i64; 3]> {
    let separator = *word.iter().find(|octet| !octet.is_ascii_digit())?;
    if !b"-/.".contains(&separator) {
        return None;
    }
    let mut parts = word.split(|&octet| octet == separator);
    let (first, second, third) = (parts.next()?, digits(parts.next()?, 1, 2)?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    if first.len() == 4 {
        return Some([digits(first, 4, 4)?, second, digits(third, 1, 2)?]);
    }
    let (first, year) = (digits(first, 1, 2)?, date::full_year(third)?);
    let is_day_first = separator == b'.' || (first > 12 && second <= 12);
    Some(if is_day_first { [year, second, first] } else { [year, first, second] })
}

/// `09:09PM`, `09:09 PM`, `9:09p`, `21:09`.
fn time(words: &mut Words<'_>) -> Option<[i64; 3]> {
    let word = words.word()?;
    if let Some(time) = date::clock(word) {
        let mut ahead = words.clone();
        let Some(half) = ahead.word().and_then(half_of_day) else { return Some(time) };
        *words = ahead;
        return Some(in_half(time, half));
    }
    let length = word.iter().take_while(|octet| !octet.is_ascii_alphabetic()).count();
    let (time, half) = word.split_at_checked(length)?;
    Some(in_half(date::clock(time)?, half_of_day(half)?))
}

/// The hours that a half of the day begins with.
fn half_of_day(word: &[u8]) -> Option<i64> {
    match word {
        [b'a' | b'A'] | [b'a' | b'A', b'm' | b'M'] => Some(0),
        [b'p' | b'P'] | [b'p' | b'P', b'm' | b'M'] => Some(12),
        _ => None,
    }
}

/// Twelve is the first hour of its half.
const fn in_half([hour, minute, second]: [i64; 3], half: i64) -> [i64; 3] {
    if hour > 12 { [hour, minute, second] } else { [hour % 12 + half, minute, second] }
}

/// A number with or without commas between its thousands.
fn size(word: &[u8]) -> Option<u64> {
    if !word.contains(&b',') {
        return number(word);
    }
    let mut groups = word.split(|&octet| octet == b',');
    let first = groups.next().filter(|first| first.len() <= 3).and_then(number)?;
    groups.try_fold(first, |size, group| {
        let group = (group.len() == 3).then(|| number(group)).flatten()?;
        size.checked_mul(1000)?.checked_add(group)
    })
}

fn kind(mark: &[u8]) -> Option<EntryKind> {
    let inside = mark.strip_prefix(b"<")?.strip_suffix(b">")?;
    let is = |word: &[u8]| inside.eq_ignore_ascii_case(word);
    Some(match inside {
        _ if is(b"DIR") => EntryKind::Directory,
        _ if is(b"JUNCTION") || is(b"SYMLINK") || is(b"SYMLINKD") => EntryKind::Link,
        _ => EntryKind::Other,
    })
}

/// `dir` prints where a link points to: `name [C:\target]`.
fn before_target(line: &[u8]) -> &[u8] {
    let at = memchr::memmem::find(line, b" [").filter(|&at| at > 0 && line.ends_with(b"]"));
    at.and_then(|at| line.get(..at)).unwrap_or(line)
}
