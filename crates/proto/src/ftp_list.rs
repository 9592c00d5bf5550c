//! FTP's listings, line by line: what `NLST`, `LIST` and `MLSD` send over the data connection.
//!
//! Only `MLSD` has a form that a standard gives (RFC 3659 §7). `LIST` is prose that a server thinks
//! good to read (RFC 959 §4.1.3), so each line is looked at by itself: unix, DOS, EPLF, VMS. A line
//! that is none of them is handed on as it came. Nothing here asks for a listing or walks into one.
//!
//! The times of `LIST` are in the server's zone, which nobody tells: they are taken for UTC.
//!
//! ```
//! use fetch_url_proto::Inbox;
//! use fetch_url_proto::ftp_list::{ListForm, ListReader, Listed};
//!
//! let mut inbox = Inbox::new();
//! inbox.push(b"type=file;size=13;modify=19941201123456; hello.txt\r\n");
//! inbox.end();
//! let mut reader = ListReader::new(ListForm::Mlsd, None);
//! let Ok(Some(Listed::Entry(entry))) = reader.read(&mut inbox) else { panic!() };
//! assert_eq!((entry.name.as_slice(), entry.size), (&b"hello.txt"[..], Some(13)));
//! assert_eq!(reader.read(&mut inbox), Ok(None));
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
use crate::{Entry, EntryKind, Inbox, WireError};
use date::Now;
use words::Words;

pub use mlsd::{mlst, time_val};

const LINE_OCTETS: usize = 64 * 1024;
const LINE_LIMIT: &str = "the length of a line of a listing";

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "FTP has these three")]
pub enum ListForm {
    /// A long listing, in whatever form the server likes.
    List,
    /// Facts and names (RFC 3659 §7).
    Mlsd,
    /// Names only.
    Nlst,
}

/// What a line said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a line is understood or it is not")]
pub enum Listed {
    /// Something that is in the directory. Its name is relative to the directory that was listed,
    /// as far as the server told it so: it may hold `/` and even `..`, as any peer's octets may.
    Entry(Entry),
    /// A line that is not understood, without its line end: an error in the server's own words
    /// ("nope: No such file or directory" on the data connection, with 226), a heading, or an entry
    /// in a form unknown here. It shares its memory with what came around it.
    Note(Bytes),
}

/// Reads a listing while it arrives.
///
/// `.`, `..`, empty lines, `total 8` and the heads and sums of VMS are neither entries nor notes.
#[derive(Debug)]
pub struct ListReader {
    form: ListForm,
    /// Empty when no directory was named.
    asked: Vec<u8>,
    now: Option<Now>,
    lines: LineReader,
    /// A name whose line of attributes comes next (VMS).
    alone: Option<Bytes>,
    /// A line to be looked at once more.
    again: Option<Bytes>,
}

impl ListReader {
    /// A reader at the start of a listing.
    ///
    /// `now`, in seconds since 1970, dates the lines of unix that tell no year: it is the latest
    /// one that puts them at most a day into the future. Without it they stay undated.
    pub fn new(form: ListForm, now: Option<i64>) -> Self {
        Self { form, asked: Vec::new(), now: now.map(Now::new), lines: lines(), alone: None, again: None }
    }

    /// A reader of the answer to `NLST` with the argument `asked`, or without one.
    ///
    /// Many servers print `asked/name` then: `asked/` is taken off where a line begins with it.
    pub fn nlst(asked: Option<Vec<u8>>) -> Self {
        Self { asked: asked.unwrap_or_default(), ..Self::new(ListForm::Nlst, None) }
    }

    /// What the next line says; none when no whole line is there, or none is left.
    ///
    /// A last line needs no line end. Whether the listing is whole, the reply on the control
    /// connection tells.
    ///
    /// # Errors
    /// A line is longer than 64 KiB.
    pub fn read(&mut self, inbox: &mut Inbox) -> Result<Option<Listed>, WireError> {
        while let Some(line) = self.line(inbox)? {
            if let Some(listed) = self.take(line) {
                return Ok(Some(listed));
            }
        }
        Ok(self.alone.take_if(|_| inbox.is_ended()).map(Listed::Note))
    }

    fn line(&mut self, inbox: &mut Inbox) -> Result<Option<Bytes>, WireError> {
        if self.again.is_some() {
            return Ok(self.again.take());
        }
        self.lines.read_any(inbox)
    }

    fn take(&mut self, line: Bytes) -> Option<Listed> {
        if let Some(name) = self.alone.take() {
            return self.take_attributes(name, line);
        }
        match self.form {
            _ if line.is_empty() => None,
            ListForm::Nlst => listed(nlst::entry(&line, &self.asked), &line),
            ListForm::List => self.take_long(line),
            ListForm::Mlsd => match mlsd::facts(&line) {
                Some(facts) => listed_facts(&facts, &line),
                None => self.take_long(line),
            },
        }
    }

    /// A name that stood alone is no entry unless its attributes follow.
    fn take_attributes(&mut self, name: Bytes, line: Bytes) -> Option<Listed> {
        if let Some(entry) = vms::wrapped(&name, &line) {
            return listed(Some(entry), &line);
        }
        self.again = Some(line);
        Some(Listed::Note(name))
    }

    fn take_long(&mut self, line: Bytes) -> Option<Listed> {
        if is_idle(&line) || vms::is_frame(&line) {
            return None;
        }
        if vms::is_alone(&line) {
            self.alone = Some(line);
            return None;
        }
        let entry = unix::entry(&line, self.now)
            .or_else(|| dos::entry(&line))
            .or_else(|| eplf::entry(&line))
            .or_else(|| vms::entry(&line));
        if entry.is_none() && self.form == ListForm::List {
            // Some servers give facts unasked. That a word stands after a blank is no proof of it.
            if let Some(facts) = mlsd::facts(&line).filter(|facts| facts.is_sure) {
                return listed_facts(&facts, &line);
            }
        }
        listed(entry, &line)
    }
}

const fn lines() -> LineReader {
    LineReader::new("a line of a listing", LINE_LIMIT, LINE_OCTETS)
}

fn listed_facts(facts: &mlsd::Facts<'_>, line: &Bytes) -> Option<Listed> {
    if facts.is_own { None } else { listed(Some(facts.entry()), line) }
}

/// The directory itself and the one above it are not in it.
fn listed(entry: Option<Entry>, line: &Bytes) -> Option<Listed> {
    match entry {
        Some(entry) if is_dots(&entry.name) => None,
        Some(entry) => Some(Listed::Entry(entry)),
        None => Some(Listed::Note(line.clone())),
    }
}

/// `.`, `..`, and what ends like that after a `/`.
fn is_dots(name: &[u8]) -> bool {
    matches!(name, b"." | b".." | [.., b'/', b'.'] | [.., b'/', b'.', b'.'])
}

/// Blanks alone, or the sum in blocks that ls prints on top: `total 8`.
fn is_idle(line: &[u8]) -> bool {
    let mut words = Words::new(line);
    let Some(first) = words.word() else { return true };
    first.eq_ignore_ascii_case(b"total")
        && words.word().is_some_and(|sum| sum.first().is_some_and(u8::is_ascii_digit))
        && words.word().is_none()
}

/// An entry as every form of line makes it.
fn made(kind: EntryKind, name: &[u8], size: Option<u64>, modified: Option<i64>) -> Entry {
    Entry { name: name.to_vec(), size, modified, ..Entry::new(kind) }
}
