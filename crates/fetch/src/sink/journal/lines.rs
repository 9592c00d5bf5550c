//! Reads the lines of a journal.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};

use super::line::Line;

/// The maximum length of a line; a URL has at most 64 KiB.
const MAX_LINE_LENGTH: u64 = 256 * 1024;

/// Reads the lines of a journal from its beginning.
pub(super) struct Lines<'f> {
    reader: BufReader<ReadAt<'f>>,
    /// The line that was read last.
    line: Vec<u8>,
    /// The line that was read last ends with a line end.
    pub(super) is_last_line_complete: bool,
}

impl<'f> Lines<'f> {
    pub(super) fn new(file: &'f File) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, ReadAt { file, offset: 0 }),
            line: Vec::new(),
            is_last_line_complete: true,
        }
    }

    /// Returns the next line. A line that is truncated or in another format has no members.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        if io::Read::take(&mut self.reader, MAX_LINE_LENGTH).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.is_last_line_complete = self.line.ends_with(b"\n");
        Ok(Some(if self.is_last_line_complete { Line::parse(&self.line) } else { Line::default() }))
    }
}

/// Reads at an offset, without changing the file position.
struct ReadAt<'f> {
    file: &'f File,
    offset: u64,
}

impl io::Read for ReadAt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// Returns the first line, with its line end if it has one. A file that contains only NUL bytes has no lines: after a
/// power cut, a file may have its size and none of its bytes.
pub(super) fn first_line(file: &File) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    let reader = BufReader::new(ReadAt { file, offset: 0 });
    io::Read::take(reader, MAX_LINE_LENGTH).read_until(b'\n', &mut first)?;
    if first.starts_with(b"\0") && has_only_nul_bytes(file)? {
        first.clear();
    }
    Ok(first)
}

fn has_only_nul_bytes(file: &File) -> io::Result<bool> {
    let mut reader = BufReader::with_capacity(64 * 1024, ReadAt { file, offset: 0 });
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() || bytes.iter().any(|byte| *byte != 0) {
            return Ok(bytes.is_empty());
        }
        let length = bytes.len();
        reader.consume(length);
    }
}
