//! Converts articles to mbox entries (RFC 4155), in the reversible variant *mboxrd*: a body line that looks like
//! `From ` after any number of `>` gets one more `>`.

use memchr::memchr2;

use super::comments::without_comments;
use super::{HeaderReader, parse_article_date};
use crate::calendar;

/// Maximum number of header bytes buffered before the entry is started.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// The start of the first line of an entry.
const FROM: &[u8] = b"From ";
/// The sender to write if the article has no usable From address.
const DEFAULT_SENDER: &[u8] = b"MAILER-DAEMON";
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// An incremental converter of articles to mbox entries (RFC 4155, *mboxrd*). It converts one article after
/// another; up to 64 KiB of each header are buffered for the `From ` line.
#[derive(Debug)]
pub struct MboxConverter {
    /// The buffered header; `None` once the `From ` line was written.
    header: Option<Header>,
    lines: Lines,
}

impl Default for MboxConverter {
    fn default() -> Self {
        Self { header: Some(Header::new()), lines: Lines::new() }
    }
}

impl MboxConverter {
    /// Creates a converter that expects the start of an article.
    pub fn new() -> Self {
        Self::default()
    }

    /// Converts more bytes of the article and returns the output that is ready, which may be empty.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        self.lines.push(bytes, &mut out);
        let Some(mut header) = self.header.take() else { return out };
        header.push(bytes, &out);
        if header.is_complete() {
            return header.entry();
        }
        self.header = Some(header);
        Vec::new()
    }

    /// Ends the article and returns the rest of its entry. The next call of [`Self::push`] starts a new
    /// article.
    pub fn finish(&mut self) -> Vec<u8> {
        let Self { header, mut lines } = std::mem::take(self);
        let mut out = header.map_or_else(Vec::new, Header::entry);
        lines.finish(&mut out);
        out.push(b'\n');
        out
    }
}

/// The buffered start of an entry: its first line needs the From and Date fields of the header.
#[derive(Debug)]
struct Header {
    reader: HeaderReader,
    /// The number of bytes that may still be buffered.
    bytes_left: usize,
    buffered: Vec<u8>,
}

impl Header {
    const fn new() -> Self {
        Self { reader: HeaderReader::new(0), bytes_left: MAX_HEADER_BYTES, buffered: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8], out: &[u8]) {
        let header_part = bytes.get(..self.bytes_left).unwrap_or(bytes);
        self.reader.push(header_part);
        self.bytes_left -= header_part.len();
        self.buffered.extend_from_slice(out);
    }

    /// Returns `true` if the header has ended or the buffer is full.
    fn is_complete(&self) -> bool {
        self.bytes_left == 0 || self.reader.is_done()
    }

    /// Returns the `From ` line and the buffered bytes.
    fn entry(self) -> Vec<u8> {
        let details = self.reader.details();
        let date = asctime(parse_article_date(&details.date).unwrap_or_default());
        let from = without_comments(&details.from);
        [FROM, address(&from).unwrap_or(DEFAULT_SENDER), b" ", date.as_bytes(), b"\n", &self.buffered]
            .concat()
    }
}

/// Formats a timestamp as `Thu Jan  1 00:00:00 1970`.
fn asctime(seconds: i64) -> String {
    let (year, month, day, hour, minute, second) = calendar::from_timestamp(seconds);
    // 1970-01-01 was a Thursday, the first name in `DAYS`.
    let day_name = name(&DAYS, seconds.div_euclid(86_400).rem_euclid(7));
    let month = name(&MONTHS, month - 1);
    format!("{day_name} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year:04}")
}

fn name(names: &[&'static str], number: i64) -> &'static str {
    usize::try_from(number).ok().and_then(|number| names.get(number)).copied().unwrap_or_default()
}

/// Returns the first address of a From field without comments, or `None` if the address contains blanks or
/// control characters.
///
/// UUCP paths (`host!host!user`) are accepted.
fn address(from: &[u8]) -> Option<&[u8]> {
    let address = match before_unquoted(from, b'<') {
        Some(before) => {
            let after = from.get(before.len() + 1..)?;
            after.get(..memchr::memchr(b'>', after)?)?
        }
        None => before_unquoted(from, b',').unwrap_or(from),
    };
    let address = address.trim_ascii();
    let is_word = !address.iter().any(|byte| byte.is_ascii_control() || *byte == b' ');
    (is_word && memchr2(b'@', b'!', address).is_some()).then_some(address)
}

/// Returns the text before the first `separator` outside quotes.
fn before_unquoted(field: &[u8], separator: u8) -> Option<&[u8]> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_separator = |byte: &u8| {
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            byte => return *byte == separator && !is_quoted,
        }
        false
    };
    let at = field.iter().position(is_separator)?;
    field.get(..at)
}

/// Converts line ends to LF and quotes lines that look like the start of an entry.
#[derive(Debug)]
struct Lines {
    position: LinePosition,
    /// The last byte was a CR, which may be the first half of a CRLF.
    has_cr: bool,
}

/// The position of the next byte in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinePosition {
    /// At the start of the line.
    LineStart,
    /// After any number of `>`, which are already written, and this many bytes of `From `, which are not written yet.
    /// Another `>` may still be written, because its position among the others does not matter.
    FromPrefix(usize),
    /// In the rest of the line, which is copied up to its end.
    Rest,
}

impl Lines {
    const fn new() -> Self {
        Self { position: LinePosition::LineStart, has_cr: false }
    }

    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            self.take(byte, out);
            rest = after;
            if self.position == LinePosition::Rest && !self.has_cr {
                let (plain, after) = rest.split_at(memchr2(b'\r', b'\n', rest).unwrap_or(rest.len()));
                out.extend_from_slice(plain);
                rest = after;
            }
        }
    }

    /// Ends the article; a missing last line end is added.
    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.has_cr {
            self.put(b'\r', out);
        }
        if self.position != LinePosition::LineStart {
            self.end_line(out);
        }
    }

    fn take(&mut self, byte: u8, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_cr, byte == b'\r') && byte != b'\n' {
            self.put(b'\r', out);
        }
        match byte {
            b'\r' => {}
            b'\n' => self.end_line(out),
            _ => self.put(byte, out),
        }
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.unwritten_prefix());
        out.push(b'\n');
        self.position = LinePosition::LineStart;
    }

    /// Copies a byte that is not part of a line end.
    fn put(&mut self, byte: u8, out: &mut Vec<u8>) {
        let prefix_len = self.unwritten_prefix().len();
        self.position = match self.position {
            LinePosition::LineStart | LinePosition::FromPrefix(0) if byte == b'>' => {
                LinePosition::FromPrefix(0)
            }
            LinePosition::LineStart | LinePosition::FromPrefix(_) if FROM.get(prefix_len) == Some(&byte) => {
                if prefix_len + 1 < FROM.len() {
                    self.position = LinePosition::FromPrefix(prefix_len + 1);
                    return;
                }
                out.push(b'>');
                LinePosition::Rest
            }
            _ => LinePosition::Rest,
        };
        out.extend_from_slice(FROM.get(..prefix_len).unwrap_or_default());
        out.push(byte);
    }

    /// Returns the bytes of `From ` that were received but not written yet.
    fn unwritten_prefix(&self) -> &'static [u8] {
        match self.position {
            LinePosition::FromPrefix(length) => FROM.get(..length).unwrap_or_default(),
            LinePosition::LineStart | LinePosition::Rest => b"",
        }
    }
}
