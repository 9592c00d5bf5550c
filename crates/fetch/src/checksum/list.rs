//! Checksum lists (such as `SHA256SUMS`), which are parsed once and then searched by path.

use std::hash::{BuildHasher as _, RandomState};

use super::Checksum;
use crate::{Algorithm, Code, Error, Phase};

/// The byte order mark of UTF-8, with which editors of Windows begin a file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A list of `sha256sum` (`HEX  PATH`, `HEX *PATH`) or BSD (`SHA256 (PATH) = HEX`) for many files. The time of a search
/// does not grow with the list.
#[derive(Debug)]
pub struct ChecksumList {
    text: String,
    /// The hash of the path of each line, and the offset of the line in `text`, in order.
    lines: Vec<(u64, usize)>,
    hashes: RandomState,
    /// The checksum of every file, if the list has one checksum and no path.
    single: Option<Checksum>,
}

impl ChecksumList {
    /// Parses a list. Lines that are no checksum of a path are ignored, and so is a byte order mark at the start.
    pub fn parse(mut list: Vec<u8>) -> Self {
        if list.starts_with(BYTE_ORDER_MARK) {
            list.drain(..BYTE_ORDER_MARK.len());
        }
        let text = String::from_utf8(list)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let (hashes, mut lines, mut next) = (RandomState::new(), Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            let offset = next;
            next += line.len();
            if let Some((path, _)) = content(line).and_then(listed_line) {
                lines.push((hashes.hash_one(path.as_str()), offset));
            }
        }
        lines.sort_unstable();
        let single = single_checksum(text.lines().filter_map(content));
        Self { text, lines, hashes, single }
    }

    /// Finds the checksum of the file `path`, by the rules of [`Checksum::listed`].
    ///
    /// # Errors
    /// [`Code::ChecksumMismatch`] if the list has different checksums of the strongest algorithm for this path.
    pub fn find(&self, path: &[u8], is_exact: bool) -> Result<Option<Checksum>, Error> {
        let path = String::from_utf8_lossy(path);
        let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]).filter(|_| !is_exact);
        let mut found = [&*path].into_iter().chain(ends).map(|listed| self.checksums_of(listed));
        let Some(found) = found.find(|found| !found.is_empty()) else { return Ok(self.single.clone()) };
        let strongest = found.iter().map(|checksum| checksum.hex.len()).max();
        let mut equal = found.into_iter().filter(|checksum| Some(checksum.hex.len()) == strongest);
        let first = equal.next();
        if equal.any(|other| Some(&other) != first.as_ref()) {
            let detail = format!("the list has different checksums of {path}");
            return Err(Error::new(Code::ChecksumMismatch, Phase::Plan, detail));
        }
        Ok(first)
    }

    /// Returns the checksums of the lines with this path.
    fn checksums_of(&self, path: &str) -> Vec<Checksum> {
        let hash = self.hashes.hash_one(path);
        let start = self.lines.partition_point(|(other, _)| *other < hash);
        let equal = self.lines[start..].iter().take_while(|(other, _)| *other == hash);
        let line = |&(_, offset): &(u64, usize)| listed_line(content(self.text[offset..].lines().next()?)?);
        equal.filter_map(line).filter(|(listed, _)| listed == path).map(|(_, checksum)| checksum).collect()
    }
}

/// Returns a line without white space at its end, or `None` if it is empty or a comment.
fn content(line: &str) -> Option<&str> {
    Some(line.trim_end()).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the path and the checksum of a line.
fn listed_line(line: &str) -> Option<(String, Checksum)> {
    let (path, checksum) = bsd_line(line).or_else(|| gnu_line(line))?;
    let mut path = path.as_str();
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    Some((path.to_owned(), checksum))
}

/// Parses `HEX  PATH`, or `\HEX  PATH` if the path has escapes.
fn gnu_line(line: &str) -> Option<(String, Checksum)> {
    let (line, has_escapes) = match line.strip_prefix('\\') {
        Some(line) => (line, true),
        None => (line, false),
    };
    let (hex, rest) = line.trim_start().split_once([' ', '\t'])?;
    let path = rest.trim_start().trim_start_matches('*');
    let path = if has_escapes { unescaped(path) } else { path.to_owned() };
    Some((path, Checksum::of_hex(hex)?))
}

/// Decodes `\n`, `\r` and `\\`, as `sha256sum` writes them.
fn unescaped(path: &str) -> String {
    let (mut text, mut characters) = (String::new(), path.chars());
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            character => character,
        });
    }
    text
}

/// Parses `ALGORITHM (PATH) = HEX`.
fn bsd_line(line: &str) -> Option<(String, Checksum)> {
    let (algorithm, rest) = line.split_once(" (")?;
    let (path, hex) = rest.rsplit_once(") = ")?;
    let checksum = Checksum::of_hex(hex.trim())?;
    (Algorithm::named(algorithm)? == checksum.algorithm).then(|| (path.to_owned(), checksum))
}

/// Returns the checksum of a list that consists of one checksum without a path.
fn single_checksum<'l>(mut lines: impl Iterator<Item = &'l str>) -> Option<Checksum> {
    let checksum = Checksum::of_hex(lines.next()?.trim());
    checksum.filter(|_| lines.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_of_a_long_list_is_found() {
        let digest = |number: usize| format!("{number:064x}");
        let mut text: String =
            (0..5000).map(|number| format!("{}  dir/f{number}\n", digest(number))).collect();
        text += &format!("{}  \u{fffd}\n\\{}  a\\nb\n# {}  dir/f5000\n", digest(1), digest(2), digest(3));
        let list = ChecksumList::parse(text.into_bytes());
        let found = |path: &str, is_exact| {
            let found = list.find(path.as_bytes(), is_exact).expect("no conflict");
            found.map(|checksum| checksum.hex)
        };
        for number in 0..5000 {
            assert_eq!(found(&format!("dir/f{number}"), true), Some(digest(number)));
            assert_eq!(found(&format!("/pub/dir/f{number}"), false), Some(digest(number)));
        }
        assert_eq!(found("a\nb", true), Some(digest(2)));
        for (path, is_exact) in
            [("dir/f5000", true), ("f1", true), ("xdir/f1", false), ("", true), ("/", false)]
        {
            assert_eq!(found(path, is_exact), None, "{path}");
        }
        let lossy = list.find(b"\xff", true).expect("no conflict");
        assert_eq!(lossy.map(|checksum| checksum.hex), Some(digest(1)));
    }
}
