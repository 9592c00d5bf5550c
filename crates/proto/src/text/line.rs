//! Lines of limited length.

use bytes::Bytes;
use memchr::memchr;

use crate::{RecvBuffer, WireError};

/// Reads lines of limited length from a [`RecvBuffer`].
///
/// It remembers how far it has searched for a line end, so that each byte is examined once even if bytes arrive one by
/// one.
#[derive(Debug)]
pub struct LineReader {
    what: &'static str,
    limit: &'static str,
    max: usize,
    searched: usize,
}

/// The result of [`LineReader::read_line`].
#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "callers match all variants")]
pub enum ReadLine {
    /// The buffer is empty and the connection has ended.
    End,
    /// The line is not complete yet.
    NeedMore,
    /// A complete line, without its LF or CR LF.
    Line(Bytes),
}

impl LineReader {
    /// Creates a reader of lines of at most `max` bytes, not counting the line end. In errors, `what` names a line
    /// (`a reply`) and `limit` the limit (`bytes in a reply line`).
    pub const fn new(what: &'static str, limit: &'static str, max: usize) -> Self {
        Self { what, limit, max, searched: 0 }
    }

    /// Reads the next line. A line ends with LF or CR LF.
    ///
    /// # Errors
    /// [`WireError::LimitExceeded`] if the line is too long, [`WireError::UnexpectedEnd`] if the connection ended
    /// within it.
    pub fn read_line(&mut self, buffer: &mut RecvBuffer) -> Result<ReadLine, WireError> {
        let bytes = buffer.bytes();
        let Some(offset) = memchr(b'\n', &bytes[self.searched..]) else {
            self.searched = bytes.len();
            return self.handle_incomplete(buffer);
        };
        let feed = self.searched + offset;
        self.searched = 0;
        let length = if feed > 0 && bytes[feed - 1] == b'\r' { feed - 1 } else { feed };
        if length > self.max {
            return Err(self.limit_exceeded());
        }
        let line = buffer.take(length);
        buffer.skip(feed + 1 - length);
        Ok(ReadLine::Line(line))
    }

    /// Reads the next line, or the rest of the buffer as the last line once the connection was closed. Returns `None`
    /// if more bytes are needed or none are left.
    ///
    /// # Errors
    /// [`WireError::LimitExceeded`] if the line is too long, [`WireError::UnexpectedEnd`] if the connection was lost
    /// within it.
    pub fn read_line_or_rest(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Bytes>, WireError> {
        match self.read_line(buffer) {
            Ok(ReadLine::Line(line)) => Ok(Some(line)),
            Ok(ReadLine::End | ReadLine::NeedMore) => Ok(None),
            Err(WireError::UnexpectedEnd { .. }) if !buffer.is_lost() => self.take_rest(buffer).map(Some),
            Err(error) => Err(error),
        }
    }

    /// Takes the rest of a closed connection's bytes, without a final CR.
    fn take_rest(&mut self, buffer: &mut RecvBuffer) -> Result<Bytes, WireError> {
        self.searched = 0;
        let mut line = buffer.take(usize::MAX);
        if line.ends_with(b"\r") {
            line.truncate(line.len() - 1);
        }
        if line.len() > self.max { Err(self.limit_exceeded()) } else { Ok(line) }
    }

    fn handle_incomplete(&self, buffer: &RecvBuffer) -> Result<ReadLine, WireError> {
        // One more byte, for a CR that may belong to the line end.
        if self.searched > self.max + 1 {
            return Err(self.limit_exceeded());
        }
        match (buffer.is_ended(), self.searched) {
            (false, _) => Ok(ReadLine::NeedMore),
            (true, 0) => Ok(ReadLine::End),
            (true, _) => Err(WireError::UnexpectedEnd { what: self.what }),
        }
    }

    const fn limit_exceeded(&self) -> WireError {
        WireError::LimitExceeded { quantity: self.limit, max: self.max }
    }
}
