//! The format of `NLST`: names only (RFC 959 §4.1.3).
//!
//! The kind of an entry is unknown ([`EntryKind::Other`]), except that a name with a `/` at its end is a directory.

use crate::{Entry, EntryKind};

/// Parses a line. `directory` is the argument of NLST, or empty; `path` is the absolute path of the listed directory,
/// or empty.
pub(super) fn parse_line(line: &[u8], directory: &[u8], path: &[u8]) -> Option<Entry> {
    let whole = trim_trailing_slashes(line);
    let kind = if whole.len() < line.len() { EntryKind::Directory } else { EntryKind::Other };
    let name = strip_directory(whole, directory)
        .or_else(|| whole.strip_prefix(b"./").filter(|name| is_name(name)))
        .or_else(|| strip_path(whole, path))
        .unwrap_or(whole);
    (!name.is_empty()).then(|| Entry::from_listing(kind, name, None, None))
}

/// Returns what follows `directory/`, or `None` if the line does not start with it.
fn strip_directory<'a>(line: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    if directory.is_empty() {
        return None;
    }
    let rest = line.strip_prefix(trim_trailing_slashes(directory))?;
    let slashes = rest.iter().take_while(|&&byte| byte == b'/').count();
    rest.get(slashes..).filter(|name| slashes > 0 && !name.is_empty())
}

/// Returns the name after `path/`, or `None` if the line is something else, such as a path below a subdirectory.
fn strip_path<'a>(line: &'a [u8], path: &[u8]) -> Option<&'a [u8]> {
    if path.is_empty() {
        return None;
    }
    let rest = line.strip_prefix(trim_trailing_slashes(path))?;
    rest.strip_prefix(b"/").filter(|name| is_name(name))
}

fn is_name(text: &[u8]) -> bool {
    !text.is_empty() && !text.contains(&b'/')
}

fn trim_trailing_slashes(path: &[u8]) -> &[u8] {
    let slashes = path.iter().rev().take_while(|&&byte| byte == b'/').count();
    path.get(..path.len() - slashes).unwrap_or(path)
}
