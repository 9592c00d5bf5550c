//! Lines with a limit.

use bytes::Bytes;
use memchr::memchr;

use crate::{Inbox, WireError};

/// Takes lines from an inbox; remembers how far it has looked, so that octets that trickle in are
/// looked at once.
#[derive(Debug)]
pub struct LineReader {
    what: &'static str,
    limit: &'static str,
    most: usize,
    looked: usize,
}

/// What the inbox had.
#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are all the cases")]
pub enum Line {
    /// Nothing, and nothing more will come.
    End,
    /// No whole line yet.
    Need,
    /// A line without its LF or CR LF.
    Whole(Bytes),
}

impl LineReader {
    /// A reader of lines of at most `most` octets without their line end; `what` and `limit` are
    /// for messages.
    pub const fn new(what: &'static str, limit: &'static str, most: usize) -> Self {
        Self { what, limit, most, looked: 0 }
    }

    /// The next line.
    ///
    /// # Errors
    /// The line is longer than allowed, or the input ended within it.
    pub fn read(&mut self, inbox: &mut Inbox) -> Result<Line, WireError> {
        let octets = inbox.octets();
        let Some(offset) = memchr(b'\n', &octets[self.looked..]) else {
            self.looked = octets.len();
            return self.unfinished(inbox);
        };
        let feed = self.looked + offset;
        self.looked = 0;
        let length = if feed > 0 && octets[feed - 1] == b'\r' { feed - 1 } else { feed };
        if length > self.most {
            return Err(self.too_long());
        }
        let line = inbox.take(length);
        inbox.skip(feed + 1 - length);
        Ok(Line::Whole(line))
    }

    /// The next line, of an input whose last line needs no end; none when more octets are needed, or at
    /// the end of the input.
    ///
    /// # Errors
    /// The line is longer than allowed, or the connection was lost within it.
    pub fn read_any(&mut self, inbox: &mut Inbox) -> Result<Option<Bytes>, WireError> {
        match self.read(inbox) {
            Ok(Line::Whole(line)) => Ok(Some(line)),
            Ok(Line::End | Line::Need) => Ok(None),
            Err(WireError::Cut { .. }) if !inbox.is_lost() => self.last(inbox).map(Some),
            Err(error) => Err(error),
        }
    }

    /// What is left of an input that has ended, without the half of a line end.
    fn last(&mut self, inbox: &mut Inbox) -> Result<Bytes, WireError> {
        self.looked = 0;
        let mut line = inbox.take(usize::MAX);
        if line.ends_with(b"\r") {
            line.truncate(line.len() - 1);
        }
        if line.len() > self.most { Err(self.too_long()) } else { Ok(line) }
    }

    fn unfinished(&self, inbox: &Inbox) -> Result<Line, WireError> {
        // One more for the CR that may already be there.
        if self.looked > self.most + 1 {
            return Err(self.too_long());
        }
        match (inbox.is_ended(), self.looked) {
            (false, _) => Ok(Line::Need),
            (true, 0) => Ok(Line::End),
            (true, _) => Err(WireError::Cut { what: self.what }),
        }
    }

    const fn too_long(&self) -> WireError {
        WireError::Limit { limit: self.limit, most: self.most }
    }
}
