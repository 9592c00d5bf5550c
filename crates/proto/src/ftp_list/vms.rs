//! The format of VMS: `NAME.TXT;1  2/4  1-JAN-1998 10:00:00 [ABC,DEF] (RWED,RWED,,)`.
//!
//! A long name is on a line of its own, and its attributes are on the next line. Sizes are in blocks, and the last block
//! may be partly filled, so the size in bytes is unknown. A file name keeps its version (`;1`), because there may be
//! several; `.DIR;1` is removed from the name of a directory.

use super::date::{self, ListDate, MonthNames};
use super::words::{Words, parse_digits};
use crate::{Entry, EntryKind};

/// The number of words that may be between the name and the date: blocks and an owner.
const MAX_WORDS: usize = 3;

/// Parses a line, or returns `None` if it is not in this format.
pub(super) fn parse_line(line: &[u8]) -> Option<Entry> {
    let mut words = Words::new(line);
    let name = words.next_word().filter(|name| find_version(name).is_some())?;
    to_entry(name, &find_date(words)?)
}

/// Parses a name and the line after it, which contains its attributes.
pub(super) fn parse_wrapped(name: &[u8], line: &[u8]) -> Option<Entry> {
    let is_blocks =
        |word: &[u8]| word.split(|&byte| byte == b'/').all(|part| parse_digits(part, 1, 10).is_some());
    let words = Words::new(line);
    words.clone().next_word().filter(|word| is_blocks(word))?;
    to_entry(name.trim_ascii(), &find_date(words)?)
}

/// Returns `true` if the line is a name without attributes.
pub(super) fn is_name_only(line: &[u8]) -> bool {
    let mut words = Words::new(line);
    words.next_word().is_some_and(|name| find_version(name).is_some()) && words.next_word().is_none()
}

/// Returns `true` for a heading or a total: `Directory DISK:[FILES]`, `Total of 3 files, 12/20 blocks.`
pub(super) fn is_header_or_total(line: &[u8]) -> bool {
    let mut words = Words::new(line);
    match [words.next_word(), words.next_word(), words.next_word()] {
        [Some(b"Directory"), Some(place), None] => place.contains(&b':') && place.ends_with(b"]"),
        [Some(b"Total"), Some(b"of"), Some(count)] => parse_digits(count, 1, 10).is_some(),
        _ => false,
    }
}

/// Returns the position of the semicolon before the version.
fn find_version(name: &[u8]) -> Option<usize> {
    let at = name.iter().rposition(|&byte| byte == b';').filter(|&at| at > 0)?;
    parse_digits(name.get(at + 1..)?, 1, 5).map(|_| at)
}

fn find_date(mut words: Words<'_>) -> Option<ListDate> {
    for _ in 0..=MAX_WORDS {
        if let Some(date) = date::parse_vms_date(words.next_word()?, MonthNames::Any) {
            return Some(date.with_time(words.next_word().and_then(date::parse_time)));
        }
    }
    None
}

fn to_entry(name: &[u8], date: &ListDate) -> Option<Entry> {
    const DIRECTORY: usize = b".DIR".len();
    let bare = name.get(..find_version(name)?)?;
    let (stem, suffix) = bare.split_at_checked(bare.len().saturating_sub(DIRECTORY))?;
    let is_directory = !stem.is_empty() && suffix.eq_ignore_ascii_case(b".DIR");
    let (kind, name) = if is_directory { (EntryKind::Directory, stem) } else { (EntryKind::File, name) };
    Some(Entry::from_listing(kind, name, None, date.to_timestamp(None)))
}
