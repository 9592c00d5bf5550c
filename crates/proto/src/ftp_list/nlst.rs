//! Names alone, as `NLST` prints them (RFC 959 §4.1.3).
//!
//! Nothing tells what a name stands for, so its kind is [`EntryKind::Other`]; only a `/` at its end,
//! which no name can have, makes it a directory.

use crate::{Entry, EntryKind};

/// The entry of a line; `asked` is the directory that was named, or empty.
pub(super) fn entry(line: &[u8], asked: &[u8]) -> Option<Entry> {
    let whole = without_slashes(line);
    let kind = if whole.len() < line.len() { EntryKind::Directory } else { EntryKind::Other };
    let name = below(whole, asked).unwrap_or(whole);
    (!name.is_empty()).then(|| super::made(kind, name, None, None))
}

/// What stands behind `asked/`.
fn below<'a>(line: &'a [u8], asked: &[u8]) -> Option<&'a [u8]> {
    if asked.is_empty() {
        return None;
    }
    let rest = line.strip_prefix(without_slashes(asked))?;
    let slashes = rest.iter().take_while(|&&octet| octet == b'/').count();
    rest.get(slashes..).filter(|name| slashes > 0 && !name.is_empty())
}

fn without_slashes(path: &[u8]) -> &[u8] {
    let slashes = path.iter().rev().take_while(|&&octet| octet == b'/').count();
    path.get(..path.len() - slashes).unwrap_or(path)
}
