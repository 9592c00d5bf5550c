//! Lines of VMS: `NAME.TXT;1  2/4  1-JAN-1998 10:00:00 [ABC,DEF] (RWED,RWED,,)`.
//!
//! A long name stands alone, and the rest on the next line. Sizes are blocks, of which the last is
//! not full: they are not told as octets. A name keeps its version, `;1`, for there may be several;
//! but a directory is entered by its name without `.DIR;1`.

use super::date::{self, Date, Months};
use super::words::{Words, digits};
use crate::{Entry, EntryKind};

/// How many words may stand between a name and its date: blocks and an owner.
const MOST_WORDS: usize = 3;

/// The entry of a line, if it is one of these.
pub(super) fn entry(line: &[u8]) -> Option<Entry> {
    let mut words = Words::new(line);
    let name = words.word().filter(|name| version_at(name).is_some())?;
    named(name, &date(words)?)
}

/// The entry of a name that stood alone, and of the line after it.
pub(super) fn wrapped(name: &[u8], line: &[u8]) -> Option<Entry> {
    let is_blocks =
        |word: &[u8]| word.split(|&octet| octet == b'/').all(|part| digits(part, 1, 10).is_some());
    let words = Words::new(line);
    words.clone().word().filter(|word| is_blocks(word))?;
    named(name.trim_ascii(), &date(words)?)
}

/// Whether a line is a name and nothing else.
pub(super) fn is_alone(line: &[u8]) -> bool {
    let mut words = Words::new(line);
    words.word().is_some_and(|name| version_at(name).is_some()) && words.word().is_none()
}

/// Whether a line is what stands over or under the entries: `Directory DISK:[FILES]`,
/// `Total of 3 files, 12/20 blocks.`
pub(super) fn is_frame(line: &[u8]) -> bool {
    let mut words = Words::new(line);
    match [words.word(), words.word(), words.word()] {
        [Some(b"Directory"), Some(place), None] => place.contains(&b':') && place.ends_with(b"]"),
        [Some(b"Total"), Some(b"of"), Some(count)] => digits(count, 1, 10).is_some(),
        _ => false,
    }
}

/// Where the semicolon is that begins a version.
fn version_at(name: &[u8]) -> Option<usize> {
    let at = name.iter().rposition(|&octet| octet == b';').filter(|&at| at > 0)?;
    digits(name.get(at + 1..)?, 1, 5).map(|_| at)
}

fn date(mut words: Words<'_>) -> Option<Date> {
    for _ in 0..=MOST_WORDS {
        if let Some(date) = date::of_vms(words.word()?, Months::Any) {
            return Some(date.at(words.word().and_then(date::clock)));
        }
    }
    None
}

fn named(name: &[u8], date: &Date) -> Option<Entry> {
    const DIRECTORY: usize = b".DIR".len();
    let bare = name.get(..version_at(name)?)?;
    let (stem, suffix) = bare.split_at_checked(bare.len().saturating_sub(DIRECTORY))?;
    let is_directory = !stem.is_empty() && suffix.eq_ignore_ascii_case(b".DIR");
    let (kind, name) = if is_directory { (EntryKind::Directory, stem) } else { (EntryKind::File, name) };
    Some(super::made(kind, name, None, date.seconds(None)))
}
