//! A line of LIST ACTIVE (RFC 3977 §7.6.3): a group, its article numbers, and whether one may post.

use super::GroupFacts;
use super::overview::number;
use crate::{Details, Entry, EntryKind};

/// The group of one line, without its line end; none if the line is no such line.
///
/// Servers differ in what stands between the fields, and the oldest pad the numbers with zeros.
pub fn active_entry(line: &[u8]) -> Option<Entry> {
    let is_blank = |octet: &u8| matches!(octet, b' ' | b'\t');
    let mut words = line.split(is_blank).filter(|word| !word.is_empty());
    let name = words.next()?.to_vec();
    let (high, low) = (number(words.next()?)?, number(words.next()?)?);
    let posting = words.next().unwrap_or_default().to_vec();
    let details = Details::Newsgroup(Box::new(GroupFacts { low, high, posting }));
    Some(Entry { name, details, ..Entry::new(EntryKind::Directory) })
}
