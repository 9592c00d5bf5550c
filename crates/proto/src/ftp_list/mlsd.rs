//! The standard format of `MLSD` and `MLST`: facts and a name (RFC 3659 §7).

use memchr::{memchr, memmem};

use super::words::parse_number;
use crate::calendar::parse_time_val;
use crate::{Entry, EntryKind};

/// The facts and the name of one line.
#[derive(Debug)]
pub(super) struct MlsdFacts<'a> {
    kind: EntryKind,
    size: Option<u64>,
    modified: Option<i64>,
    name: &'a [u8],
    /// The line describes the listed directory itself, or its parent.
    pub(super) is_current_or_parent: bool,
    /// The facts end with a semicolon, as the RFC requires.
    pub(super) is_well_formed: bool,
}

/// Parses the line of a reply to MLST that describes the object: a space, then the format of MLSD (RFC 3659 §7.2).
///
/// The name is a path, and the object may be a directory. Returns `None` if the line is not in this format.
pub fn parse_mlst_line(line: &[u8]) -> Option<Entry> {
    parse_facts(line.strip_prefix(b" ").unwrap_or(line)).map(|facts| facts.to_entry())
}

/// Parses a line, or returns `None` if it is not in this format.
pub(super) fn parse_facts(line: &[u8]) -> Option<MlsdFacts<'_>> {
    let (before, name) = line.split_at_checked(find_name(line)?)?;
    let name = name.get(1..).filter(|name| !name.is_empty())?;
    let is_sure = before.ends_with(b";");
    let mut facts = MlsdFacts {
        kind: EntryKind::Other,
        size: None,
        modified: None,
        name,
        is_current_or_parent: false,
        is_well_formed: is_sure,
    };
    // Some servers omit the last semicolon.
    let before = before.strip_suffix(b";").unwrap_or(before);
    // Facts are so short that a byte loop is faster than memchr.
    for fact in before.split(|&byte| byte == b';').filter(|_| !before.is_empty()) {
        facts.add_fact(fact)?;
    }
    Some(facts)
}

/// Returns the position of the space before the name. Facts contain no spaces (RFC 3659 §7.2), except the target of a
/// link, which is a path.
fn find_name(line: &[u8]) -> Option<usize> {
    let at = memchr(b' ', line)?;
    let is_target = |before: &[u8]| !before.ends_with(b";") && memmem::find(before, b"slink:").is_some();
    if line.get(..at).is_some_and(is_target) {
        return memmem::find(line, b"; ").map_or(Some(at), |semicolon| Some(semicolon + 1));
    }
    Some(at)
}

impl MlsdFacts<'_> {
    /// Adds a fact; unknown facts are ignored. Returns `None` if the text is not a fact.
    fn add_fact(&mut self, fact: &[u8]) -> Option<()> {
        let (name, value) = fact.split_at_checked(fact.iter().position(|&byte| byte == b'=')?)?;
        let value = value.get(1..)?;
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        match name.len() {
            4 if is(b"type") => self.set_type(value),
            4 if is(b"size") => self.size = parse_number(value),
            // The size of a directory, on servers that have a separate fact for it.
            4 if is(b"sizd") => self.size = self.size.or(parse_number(value)),
            6 if is(b"modify") => self.modified = parse_time_val(value),
            0 => return None,
            _ => {}
        }
        Some(())
    }

    /// Sets the kind from the fact `type` (RFC 3659 §7.5.1).
    fn set_type(&mut self, value: &[u8]) {
        let is = |known: &[u8]| value.eq_ignore_ascii_case(known);
        self.is_current_or_parent = is(b"cdir") || is(b"pdir");
        self.kind = match value {
            _ if is(b"file") => EntryKind::File,
            _ if is(b"dir") || self.is_current_or_parent => EntryKind::Directory,
            _ if is_link(value) => EntryKind::Link,
            _ => EntryKind::Other,
        };
    }

    pub(super) fn to_entry(&self) -> Entry {
        Entry::from_listing(self.kind, self.name, self.size, self.modified)
    }
}

/// Returns `true` for `OS.unix=slink:target`, `OS.unix=slink` and `OS.unix=symlink`.
fn is_link(value: &[u8]) -> bool {
    const PREFIX: usize = b"OS.unix=".len();
    let Some((system, kind)) = value.split_at_checked(PREFIX) else { return false };
    let kind = kind.split(|&byte| byte == b':').next().unwrap_or_default();
    system.eq_ignore_ascii_case(b"OS.unix=")
        && [&b"slink"[..], b"symlink"].iter().any(|link| kind.eq_ignore_ascii_case(link))
}
