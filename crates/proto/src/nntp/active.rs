//! Parses a line of LIST ACTIVE (RFC 3977 §7.6.3): a group, its article numbers and its posting status.

use super::GroupDetails;
use super::overview::number;
use crate::{Details, Entry, EntryKind};

/// Parses one line of LIST ACTIVE, without its line end, into a directory entry with [`GroupDetails`]. Returns
/// `None` if the line has no group name or no valid article numbers (RFC 3977 §7.6.3).
///
/// Fields may be separated by any number of blanks and tabs, and numbers may have leading zeros, as old servers
/// send them.
pub fn parse_active_line(line: &[u8]) -> Option<Entry> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let mut words = line.split(is_blank).filter(|word| !word.is_empty());
    let name = words.next()?.to_vec();
    let (high, low) = (number(words.next()?)?, number(words.next()?)?);
    let posting = words.next().unwrap_or_default().to_vec();
    let details = Details::Newsgroup(Box::new(GroupDetails { low, high, posting }));
    Some(Entry { name, details, ..Entry::new(EntryKind::Directory) })
}
