//! Easily Parsed LIST Format: `+i8388621.48594,m825718503,r,s280,`, a TAB, a name
//! (<https://cr.yp.to/ftp/list/eplf.html>).

use memchr::memchr;

use super::words::number;
use crate::{Entry, EntryKind};

/// The entry of a line, if it is one of these.
pub(super) fn entry(line: &[u8]) -> Option<Entry> {
    let line = line.strip_prefix(b"+")?;
    let (facts, name) = line.split_at_checked(memchr(b'\t', line)?)?;
    let name = name.get(1..).filter(|name| !name.is_empty())?;
    let (mut kind, mut size, mut modified) = (EntryKind::Other, None, None);
    for fact in facts.split(|&octet| octet == b',') {
        match fact {
            b"/" => kind = EntryKind::Directory,
            // What can be fetched and walked into is shown as what holds more.
            b"r" if kind != EntryKind::Directory => kind = EntryKind::File,
            [b's', octets @ ..] => size = number(octets),
            [b'm', seconds @ ..] => {
                modified = number(seconds).and_then(|seconds| i64::try_from(seconds).ok())
            }
            _ => {}
        }
    }
    Some(super::made(kind, name, size, modified))
}
