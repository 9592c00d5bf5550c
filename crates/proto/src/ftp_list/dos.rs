//! The format of DOS `dir` and of Microsoft's FTP server: `04-27-00  09:09PM       <DIR>          licensed`.

use super::date;
use super::words::{Words, parse_digits, parse_number};
use crate::{Entry, EntryKind, calendar};

/// The width of `<DIR>` and the spaces after it: that of the size column.
const DIRECTORY_MARK_WIDTH: usize = 15;

/// Parses a line, or returns `None` if it is not in this format.
pub(super) fn parse_line(line: &[u8]) -> Option<Entry> {
    let mut words = Words::new(line);
    let [year, month, day] = parse_date(words.next_word()?)?;
    let [hour, minute, second] = parse_time(&mut words)?;
    let modified = calendar::to_timestamp(year, month, day, hour, minute, second);
    let word = words.next_word()?;
    if !word.starts_with(b"<") {
        return Some(Entry::from_listing(
            EntryKind::File,
            words.name_after_blank()?,
            Some(parse_size(word)?),
            modified,
        ));
    }
    let kind = parse_kind(word)?;
    let name = words.name_after_blanks(DIRECTORY_MARK_WIDTH.saturating_sub(word.len()).max(1))?;
    let name = if kind == EntryKind::Link { strip_link_target(name) } else { name };
    Some(Entry::from_listing(kind, name, None, modified))
}

/// Parses `MM-DD-YY`, `MM-DD-YYYY`, `YYYY-MM-DD` and `DD.MM.YYYY` to year, month and day.
fn parse_date(word: &[u8]) -> Option<[i64; 3]> {
    let separator = *word.iter().find(|byte| !byte.is_ascii_digit())?;
    if !b"-/.".contains(&separator) {
        return None;
    }
    let mut parts = word.split(|&byte| byte == separator);
    let (first, second, third) = (parts.next()?, parse_digits(parts.next()?, 1, 2)?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    if first.len() == 4 {
        return Some([parse_digits(first, 4, 4)?, second, parse_digits(third, 1, 2)?]);
    }
    let (first, year) = (parse_digits(first, 1, 2)?, date::parse_year(third)?);
    let is_day_first = separator == b'.' || (first > 12 && second <= 12);
    Some(if is_day_first { [year, second, first] } else { [year, first, second] })
}

/// Parses `09:09PM`, `09:09 PM`, `9:09p` and `21:09`.
fn parse_time(words: &mut Words<'_>) -> Option<[i64; 3]> {
    let word = words.next_word()?;
    if let Some(time) = date::parse_time(word) {
        let mut ahead = words.clone();
        let Some(half) = ahead.next_word().and_then(parse_am_pm) else { return Some(time) };
        *words = ahead;
        return Some(to_24_hours(time, half));
    }
    let length = word.iter().take_while(|byte| !byte.is_ascii_alphabetic()).count();
    let (time, half) = word.split_at_checked(length)?;
    Some(to_24_hours(date::parse_time(time)?, parse_am_pm(half)?))
}

/// Returns the hours to add for AM or PM.
fn parse_am_pm(word: &[u8]) -> Option<i64> {
    match word {
        [b'a' | b'A'] | [b'a' | b'A', b'm' | b'M'] => Some(0),
        [b'p' | b'P'] | [b'p' | b'P', b'm' | b'M'] => Some(12),
        _ => None,
    }
}

/// Converts a 12-hour time; 12 AM is midnight.
const fn to_24_hours([hour, minute, second]: [i64; 3], half: i64) -> [i64; 3] {
    if hour > 12 { [hour, minute, second] } else { [hour % 12 + half, minute, second] }
}

/// Parses a size with or without commas between groups of three digits.
fn parse_size(word: &[u8]) -> Option<u64> {
    if !word.contains(&b',') {
        return parse_number(word);
    }
    let mut groups = word.split(|&byte| byte == b',');
    let first = groups.next().filter(|first| first.len() <= 3).and_then(parse_number)?;
    groups.try_fold(first, |size, group| {
        let group = (group.len() == 3).then(|| parse_number(group)).flatten()?;
        size.checked_mul(1000)?.checked_add(group)
    })
}

/// Parses the mark in place of a size: `<DIR>`, `<JUNCTION>`, `<SYMLINK>`.
fn parse_kind(mark: &[u8]) -> Option<EntryKind> {
    let inside = mark.strip_prefix(b"<")?.strip_suffix(b">")?;
    let is = |word: &[u8]| inside.eq_ignore_ascii_case(word);
    Some(match inside {
        _ if is(b"DIR") => EntryKind::Directory,
        _ if is(b"JUNCTION") || is(b"SYMLINK") || is(b"SYMLINKD") => EntryKind::Link,
        _ => EntryKind::Other,
    })
}

/// Removes the target that `dir` prints after the name of a link: `name [C:\target]`.
fn strip_link_target(line: &[u8]) -> &[u8] {
    let at = memchr::memmem::find(line, b" [").filter(|&at| at > 0 && line.ends_with(b"]"));
    at.and_then(|at| line.get(..at)).unwrap_or(line)
}
