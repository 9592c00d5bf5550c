//! EPLF, the Easily Parsed LIST Format: `+i8388621.48594,m825718503,r,s280,`, a TAB, and a name
//! (<https://cr.yp.to/ftp/list/eplf.html>).

use memchr::memchr;

use super::words::parse_number;
use crate::{Entry, EntryKind};

/// Parses a line, or returns `None` if it is not in this format.
pub(super) fn parse_line(line: &[u8]) -> Option<Entry> {
    let line = line.strip_prefix(b"+")?;
    let (facts, name) = line.split_at_checked(memchr(b'\t', line)?)?;
    let name = name.get(1..).filter(|name| !name.is_empty())?;
    let (mut kind, mut size, mut modified) = (EntryKind::Other, None, None);
    for fact in facts.split(|&byte| byte == b',') {
        match fact {
            b"/" => kind = EntryKind::Directory,
            // An entry that is both a file and a directory counts as a directory.
            b"r" if kind != EntryKind::Directory => kind = EntryKind::File,
            [b's', bytes @ ..] => size = parse_number(bytes),
            [b'm', seconds @ ..] => {
                modified = parse_number(seconds).and_then(|seconds| i64::try_from(seconds).ok())
            }
            _ => {}
        }
    }
    Some(Entry::from_listing(kind, name, size, modified))
}
