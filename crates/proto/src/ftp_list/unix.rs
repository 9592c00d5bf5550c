//! The format of Unix `ls -l`, which NetWare, NetPresenz and VShell imitate.
//!
//! Owners may contain spaces, may be missing, or may be numbers, so columns cannot be counted. Instead, the first date
//! after a number is searched: the number is the size, and the name follows after one space.

use memchr::memmem;

use super::date::{self, DateStyle, ListDate, ReferenceTime};
use super::words::{Words, parse_number};
use crate::{Entry, EntryKind};

/// The number of words after the mode in which a date is searched.
const MAX_WORDS: usize = 16;

/// Where a date may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DatePosition {
    Anywhere,
    AfterSize,
}

/// The attempts to find a date, the most reliable first. Later attempts accept sizes such as `34.5k`. `10 may 2048` can
/// be an owner, a group and a size instead of a date.
const DATE_FORMATS: [(DatePosition, DateStyle); 4] = [
    (DatePosition::AfterSize, DateStyle::MonthFirst),
    (DatePosition::AfterSize, DateStyle::DayFirst),
    (DatePosition::AfterSize, DateStyle::Foreign),
    (DatePosition::Anywhere, DateStyle::MonthFirst),
];

/// The part of a line after the mode.
struct LineTail<'a> {
    size: Option<u64>,
    date: ListDate,
    after: Words<'a>,
    name: &'a [u8],
}

/// Parses a line, or returns `None` if it is not in this format.
pub(super) fn parse_line(line: &[u8], now: Option<ReferenceTime>) -> Option<Entry> {
    let mut words = Words::new(line);
    let mut mode = words.next_word()?;
    // `ls -i` and `ls -s` print numbers before the mode.
    for _ in 0..2 {
        if parse_number(mode).is_some() {
            mode = words.next_word()?;
        }
    }
    let is_netware = is_netware(mode, &mut words);
    if !is_netware && !is_mode(mode) {
        return None;
    }
    let kind = parse_kind(mode)?;
    let tail = DATE_FORMATS.into_iter().find_map(|(behind, style)| parse_tail(&words, behind, style))?;
    let name = if is_netware { tail.after.name_after_blanks(usize::MAX)? } else { tail.name };
    let name = if kind == EntryKind::Link { strip_link_target(name, tail.size) } else { name };
    // A device has two numbers instead of a size.
    let size = tail.size.filter(|_| kind != EntryKind::Other);
    Some(Entry::from_listing(kind, name, size, tail.date.to_timestamp(now)))
}

/// Returns `true` for a mode such as `-rw-r--r--`, which may be followed by `+` (ACL), `.` (SELinux), `@` (macOS) or a
/// number.
fn is_mode(word: &[u8]) -> bool {
    word.get(1..10).is_some_and(|rights| rights.iter().all(|byte| b"-rwxsStTlL".contains(byte)))
}

/// Returns `true` for a NetWare mode: `d [RWCEAFMS]`, with or without the space.
fn is_netware(mode: &[u8], words: &mut Words<'_>) -> bool {
    let is_rights = |word: &[u8]| word.starts_with(b"[") && word.ends_with(b"]");
    match mode {
        [_] => words.next_word().is_some_and(is_rights),
        [_, rights @ ..] => is_rights(rights),
        [] => false,
    }
}

fn parse_kind(mode: &[u8]) -> Option<EntryKind> {
    match mode.first()? {
        b'-' => Some(EntryKind::File),
        b'd' => Some(EntryKind::Directory),
        b'l' => Some(EntryKind::Link),
        // Devices, pipes, sockets, doors, and types that only some systems have.
        b'b' | b'c' | b'p' | b's' | b'D' | b'C' | b'M' | b'P' | b'n' | b'w' | b'?' => Some(EntryKind::Other),
        _ => None,
    }
}

fn parse_tail<'a>(words: &Words<'a>, behind: DatePosition, style: DateStyle) -> Option<LineTail<'a>> {
    let (mut words, mut size) = (words.clone(), None);
    for _ in 0..MAX_WORDS {
        if size.is_some() || behind == DatePosition::Anywhere {
            let mut after = words.clone();
            if let Some((date, name)) = date::parse_unix_date(&mut after, style).zip(after.name_after_blank())
            {
                return Some(LineTail { size, date, after, name });
            }
        }
        size = parse_number(words.next_word()?);
    }
    None
}

/// Returns the name of a link: the text before the ` -> ` whose target has the size of the link as its length, else
/// before the first ` -> `.
fn strip_link_target(line: &[u8], size: Option<u64>) -> &[u8] {
    const ARROW: &[u8] = b" -> ";
    let is_as_long = |at: &usize| u64::try_from(line.len() - at - ARROW.len()).ok() == size;
    let at = memmem::find_iter(line, ARROW).find(is_as_long).or_else(|| memmem::find(line, ARROW));
    match at.and_then(|at| line.get(..at)) {
        Some(name) if !name.is_empty() => name,
        _ => line,
    }
}
