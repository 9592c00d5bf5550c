//! An entry of a journal: one finished file.

use std::fs::Metadata;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;

use super::line::{Line, Text};

/// A time in seconds since 1970, and the nanoseconds of the second.
pub(super) type FileTime = (i64, i64);

/// A finished file, as a line of the journal describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry<'a> {
    pub(super) path: &'a str,
    pub(super) source: &'a str,
    pub(super) version: &'a str,
    pub(super) size: u64,
    /// The modification time; `None` if the line has no valid one.
    pub(super) modified: Option<FileTime>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(path: &'a str, source: &'a str, version: &'a str, file: &Metadata) -> Self {
        Self { path, source, version, size: file.len(), modified: Some(modified(file)) }
    }

    /// Returns the entry of a line, or `None` if the line is of another kind.
    pub(super) fn from_line(line: &'a Line<'_>) -> Option<Self> {
        Some(Self {
            path: Text::or_empty(Some(line.path.as_ref()?)),
            source: Text::or_empty(line.source.as_ref()),
            version: Text::or_empty(line.version.as_ref()),
            size: line.size.unwrap_or_default(),
            modified: parse_time(Text::or_empty(line.changed.as_ref())),
        })
    }

    /// Appends the line, which is a JSON object, to `buffer`.
    ///
    /// # Errors
    /// None: writing to memory does not fail.
    pub(super) fn write_line(&self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.extend_from_slice(b"{\"changed\":\"");
        if let Some((seconds, nanoseconds)) = self.modified {
            write!(buffer, "{seconds}.{nanoseconds:09}")?;
        }
        buffer.extend_from_slice(b"\"");
        for (name, text) in [("facts", self.version), ("path", self.path), ("source", self.source)] {
            write!(buffer, ",\"{name}\":")?;
            serde_json::to_writer(&mut *buffer, text)?;
        }
        writeln!(buffer, ",\"size\":{}}}", self.size)
    }
}

/// Returns the modification time of a file.
pub(super) fn modified(file: &Metadata) -> FileTime {
    (file.mtime(), file.mtime_nsec())
}

fn parse_time(text: &str) -> Option<FileTime> {
    let (seconds, nanoseconds) = text.split_once('.')?;
    Some((seconds.parse().ok()?, nanoseconds.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_line_is_read_as_the_same_entry() {
        for (text, modified) in [
            ("a", Some((1_700_000_000, 5))),
            ("\"quoted\"\\ \u{1}\n\u{e4}", Some((-1, 999_999_999))),
            ("", None),
        ] {
            let entry = Entry { path: text, source: text, version: text, size: u64::MAX, modified };
            let mut line = Vec::new();
            entry.write_line(&mut line).expect("memory");
            assert!(line.ends_with(b"}\n") && !line[..line.len() - 1].contains(&b'\n'));
            assert_eq!(Entry::from_line(&Line::parse(&line)), Some(entry));
        }
    }

    #[test]
    fn line_without_a_path_is_no_entry() {
        for line in [r#"{"synced":1}"#, r#"{"path":1}"#, r#"{"path":"a""#, "null", "[]", ""] {
            assert_eq!(Entry::from_line(&Line::parse(line.as_bytes())), None, "{line}");
        }
    }
}
