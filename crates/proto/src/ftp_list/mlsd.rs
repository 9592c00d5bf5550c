//! Facts and a name, as `MLSD` and `MLST` print them (RFC 3659 §7).

use memchr::{memchr, memmem};

use super::words::{digits, number};
use crate::{Entry, EntryKind, calendar};

/// What a line says.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    kind: EntryKind,
    size: Option<u64>,
    modified: Option<i64>,
    name: &'a [u8],
    /// Whether it is the directory that was listed, or the one above it.
    pub(super) is_own: bool,
    /// Whether there is a fact, and each is closed as it should be.
    pub(super) is_sure: bool,
}

/// The entry of the one line that `MLST` puts between its numbered ones: a blank, then as `MLSD`.
/// Its name is a path; it may be the directory that one is in. None if it is not understood.
pub fn mlst(line: &[u8]) -> Option<Entry> {
    facts(line.strip_prefix(b" ").unwrap_or(line)).map(|facts| facts.entry())
}

/// The facts of a line, if it is one of these.
pub(super) fn facts(line: &[u8]) -> Option<Facts<'_>> {
    let (before, name) = line.split_at_checked(name_at(line)?)?;
    let name = name.get(1..).filter(|name| !name.is_empty())?;
    let is_sure = before.ends_with(b";");
    let mut facts =
        Facts { kind: EntryKind::Other, size: None, modified: None, name, is_own: false, is_sure };
    // Some servers leave out the last semicolon.
    let before = before.strip_suffix(b";").unwrap_or(before);
    // Facts are so short that looking at each octet is faster than memchr.
    for fact in before.split(|&octet| octet == b';').filter(|_| !before.is_empty()) {
        facts.take(fact)?;
    }
    Some(facts)
}

/// Where the blank before the name is: no fact holds one (RFC 3659 §7.2), but for a link's target,
/// which is a path.
fn name_at(line: &[u8]) -> Option<usize> {
    let at = memchr(b' ', line)?;
    let is_target = |before: &[u8]| !before.ends_with(b";") && memmem::find(before, b"slink:").is_some();
    if line.get(..at).is_some_and(is_target) {
        return memmem::find(line, b"; ").map_or(Some(at), |semicolon| Some(semicolon + 1));
    }
    Some(at)
}

impl Facts<'_> {
    /// A fact that is none of ours changes nothing; none is what is no fact.
    fn take(&mut self, fact: &[u8]) -> Option<()> {
        let (name, value) = fact.split_at_checked(fact.iter().position(|&octet| octet == b'=')?)?;
        let value = value.get(1..)?;
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        match name.len() {
            4 if is(b"type") => self.take_type(value),
            4 if is(b"size") => self.size = number(value),
            // The size of a directory, where it is told apart.
            4 if is(b"sizd") => self.size = self.size.or(number(value)),
            6 if is(b"modify") => self.modified = time_val(value),
            0 => return None,
            _ => {}
        }
        Some(())
    }

    /// RFC 3659 §7.5.1.
    fn take_type(&mut self, value: &[u8]) {
        let is = |known: &[u8]| value.eq_ignore_ascii_case(known);
        self.is_own = is(b"cdir") || is(b"pdir");
        self.kind = match value {
            _ if is(b"file") => EntryKind::File,
            _ if is(b"dir") || self.is_own => EntryKind::Directory,
            _ if is_link(value) => EntryKind::Link,
            _ => EntryKind::Other,
        };
    }

    pub(super) fn entry(&self) -> Entry {
        super::made(self.kind, self.name, self.size, self.modified)
    }
}

/// `OS.unix=slink:target`, `OS.unix=slink`, `OS.unix=symlink`.
fn is_link(value: &[u8]) -> bool {
    const PREFIX: usize = b"OS.unix=".len();
    let Some((system, kind)) = value.split_at_checked(PREFIX) else { return false };
    let kind = kind.split(|&octet| octet == b':').next().unwrap_or_default();
    system.eq_ignore_ascii_case(b"OS.unix=")
        && [&b"slink"[..], b"symlink"].iter().any(|link| kind.eq_ignore_ascii_case(link))
}

/// Seconds since 1970 of `YYYYMMDDHHMMSS`, perhaps with a fraction, in UTC (RFC 3659 §2.3): what
/// `MDTM` answers and the fact `modify` holds. A leap second is the one that follows it.
pub fn time_val(value: &[u8]) -> Option<i64> {
    let (value, fraction) = value.split_at_checked(14)?;
    let is_fraction = match fraction {
        [] => true,
        [b'.', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let number = digits(value, 14, 14).filter(|_| is_fraction)?;
    let pair = |place: i64| number / place % 100;
    let second = pair(1);
    let start = calendar::seconds(
        number / 10_000_000_000,
        pair(100_000_000),
        pair(1_000_000),
        pair(10_000),
        pair(100),
        if second == 60 { 59 } else { second },
    )?;
    Some(start + i64::from(second == 60))
}
