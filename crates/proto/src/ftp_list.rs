//! FTP listings: parses, line by line, what servers send in reply to `NLST`, `LIST` and `MLSD`.
//!
//! Only `MLSD` has a standard format (RFC 3659 §7). The format of `LIST` is chosen by the server (RFC 959 §4.1.3), so
//! the format of each line is detected separately: Unix `ls -l`, DOS `dir`, EPLF, or VMS. A line in none of these formats
//! is returned unparsed.
//!
//! The times in `LIST` output are in the time zone of the server, which is unknown. They are read as UTC.
//!
//! ```
//! use fetch_url_proto::RecvBuffer;
//! use fetch_url_proto::ftp_list::{ListFormat, ListLine, ListReader};
//!
//! let mut buffer = RecvBuffer::new();
//! buffer.push(b"type=file;size=13;modify=19941201123456; hello.txt\r\n");
//! buffer.mark_closed();
//! let mut reader = ListReader::new(ListFormat::Mlsd, None);
//! let Ok(Some(ListLine::Entry(entry))) = reader.next_line(&mut buffer) else { panic!() };
//! assert_eq!((entry.name.as_slice(), entry.size), (&b"hello.txt"[..], Some(13)));
//! assert_eq!(reader.next_line(&mut buffer), Ok(None));
//! ```

mod date;
mod dos;
mod eplf;
mod mlsd;
mod nlst;
mod unix;
mod vms;
mod words;

use bytes::Bytes;

use crate::text::LineReader;
use crate::{Entry, EntryKind, RecvBuffer, WireError};
use date::ReferenceTime;
use words::Words;

pub use mlsd::parse_mlst_line;

const MAX_LINE_BYTES: usize = 64 * 1024;
const LINE_QUANTITY: &str = "bytes in a line of a listing";

/// The command whose reply is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "FTP has no other listing command")]
pub enum ListFormat {
    /// LIST: a long listing in the format of the server.
    List,
    /// MLSD: facts and names (RFC 3659 §7).
    Mlsd,
    /// NLST: names only.
    Nlst,
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a line is one or the other")]
pub enum ListLine {
    /// An entry of the directory. Its name is untrusted: it may contain `/` and even `..`. Most servers send names
    /// relative to the listed directory.
    Entry(Entry),
    /// A line in an unknown format, without its line end: a heading, an entry in an unknown format, or an error message
    /// (some servers send "x: No such file or directory" on the data connection, with reply 226). It shares memory
    /// with the lines around it.
    Unparsed(Bytes),
}

/// Parses a listing while it arrives.
///
/// It skips `.`, `..`, empty lines, `total 8`, and the headings and totals of VMS.
#[derive(Debug)]
pub struct ListReader {
    format: ListFormat,
    /// The argument of NLST; empty if there was none.
    directory: Vec<u8>,
    /// The absolute path of the listed directory; empty if it is not known.
    path: Vec<u8>,
    now: Option<ReferenceTime>,
    lines: LineReader,
    /// A name without attributes, which VMS puts on the next line.
    vms_name: Option<Bytes>,
    /// A line to be parsed again.
    pushed_back: Option<Bytes>,
}

impl ListReader {
    /// Creates a reader at the start of a listing.
    ///
    /// `now`, in seconds since 1970-01-01 UTC, completes Unix dates without a year: the year is the latest one for which
    /// the date is at most one day in the future. Without `now`, such entries have no time.
    pub fn new(format: ListFormat, now: Option<i64>) -> Self {
        Self {
            format,
            directory: Vec::new(),
            path: Vec::new(),
            now: now.map(ReferenceTime::new),
            lines: line_reader(),
            vms_name: None,
            pushed_back: None,
        }
    }

    /// Creates a reader of the reply to NLST with the argument `directory`, or without one.
    ///
    /// Many servers send `directory/name`; the prefix `directory/` is removed.
    pub fn nlst(directory: Option<Vec<u8>>) -> Self {
        Self { directory: directory.unwrap_or_default(), ..Self::new(ListFormat::Nlst, None) }
    }

    /// Sets the absolute path of the listed directory. Some servers reply to NLST with paths: `path/name` is `name`.
    #[must_use]
    pub fn with_path(mut self, path: Vec<u8>) -> Self {
        self.path = path;
        self
    }

    /// Returns the next line, or `None` if more bytes are needed or the listing has ended.
    ///
    /// The last line needs no line end. Whether the listing is complete is stated by the reply on the control
    /// connection.
    ///
    /// # Errors
    /// [`WireError::LimitExceeded`] if a line is longer than 64 KiB, [`WireError::UnexpectedEnd`] if the connection was
    /// lost within a line.
    pub fn next_line(&mut self, buffer: &mut RecvBuffer) -> Result<Option<ListLine>, WireError> {
        while let Some(line) = self.take_raw_line(buffer)? {
            if let Some(listed) = self.parse_line(line) {
                return Ok(Some(listed));
            }
        }
        Ok(self.vms_name.take_if(|_| buffer.is_ended()).map(ListLine::Unparsed))
    }

    fn take_raw_line(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Bytes>, WireError> {
        if self.pushed_back.is_some() {
            return Ok(self.pushed_back.take());
        }
        self.lines.read_line_or_rest(buffer)
    }

    fn parse_line(&mut self, line: Bytes) -> Option<ListLine> {
        if let Some(name) = self.vms_name.take() {
            return self.parse_vms_attributes(name, line);
        }
        match self.format {
            _ if line.is_empty() => None,
            ListFormat::Nlst => list_line(nlst::parse_line(&line, &self.directory, &self.path), &line),
            ListFormat::List => self.parse_long_line(line),
            ListFormat::Mlsd => match mlsd::parse_facts(&line) {
                Some(facts) => mlsd_list_line(&facts, &line),
                None => self.parse_long_line(line),
            },
        }
    }

    /// Parses the line after a name without attributes: the name is an entry only if its attributes follow.
    fn parse_vms_attributes(&mut self, name: Bytes, line: Bytes) -> Option<ListLine> {
        if let Some(entry) = vms::parse_wrapped(&name, &line) {
            return list_line(Some(entry), &line);
        }
        self.pushed_back = Some(line);
        Some(ListLine::Unparsed(name))
    }

    fn parse_long_line(&mut self, line: Bytes) -> Option<ListLine> {
        if is_blank_or_total(&line) || vms::is_header_or_total(&line) {
            return None;
        }
        if vms::is_name_only(&line) {
            self.vms_name = Some(line);
            return None;
        }
        let entry = unix::parse_line(&line, self.now)
            .or_else(|| dos::parse_line(&line))
            .or_else(|| eplf::parse_line(&line))
            .or_else(|| vms::parse_line(&line));
        if entry.is_none() && self.format == ListFormat::List {
            // Some servers send facts in reply to LIST. A line that merely contains a space is not enough.
            if let Some(facts) = mlsd::parse_facts(&line).filter(|facts| facts.is_well_formed) {
                return mlsd_list_line(&facts, &line);
            }
        }
        list_line(entry, &line)
    }
}

const fn line_reader() -> LineReader {
    LineReader::new("a line of a listing", LINE_QUANTITY, MAX_LINE_BYTES)
}

fn mlsd_list_line(facts: &mlsd::MlsdFacts<'_>, line: &Bytes) -> Option<ListLine> {
    if facts.is_current_or_parent { None } else { list_line(Some(facts.to_entry()), line) }
}

/// Turns a parsed line into its result: `.` and `..` are skipped. A directory may be listed with a slash after its name
/// (`ls -F`, `ls -p`).
fn list_line(entry: Option<Entry>, line: &Bytes) -> Option<ListLine> {
    let entry = entry.map(|mut entry| {
        let is_marked = matches!(entry.name.as_slice(), [.., last, b'/'] if *last != b'/');
        if is_marked && entry.kind == EntryKind::Directory {
            entry.name.pop();
        }
        entry
    });
    match entry {
        Some(entry) if is_dot_entry(&entry.name) => None,
        Some(entry) => Some(ListLine::Entry(entry)),
        None => Some(ListLine::Unparsed(line.clone())),
    }
}

/// Returns `true` for `.`, `..`, and paths that end with `/.` or `/..`.
fn is_dot_entry(name: &[u8]) -> bool {
    matches!(name, b"." | b".." | [.., b'/', b'.'] | [.., b'/', b'.', b'.'])
}

/// Returns `true` for a blank line and for the block count that `ls` prints first: `total 8`.
fn is_blank_or_total(line: &[u8]) -> bool {
    let mut words = Words::new(line);
    let Some(first) = words.next_word() else { return true };
    first.eq_ignore_ascii_case(b"total")
        && words.next_word().is_some_and(|sum| sum.first().is_some_and(u8::is_ascii_digit))
        && words.next_word().is_none()
}
