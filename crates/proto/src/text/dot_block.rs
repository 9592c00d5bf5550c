//! Blocks that end in a line of one dot, with leading dots doubled (RFC 3977 §3.1.1).

use bytes::Bytes;
use memchr::memmem;

use crate::{Event, Inbox, Step, WireError};

/// Undoes the dot-stuffing of one block while it streams; line ends stay as they come.
///
/// Only CR LF `.` CR LF ends a block: a bare LF begins no line, unless it is told that one does.
#[derive(Debug)]
pub struct DotBlock {
    what: &'static str,
    is_line_start: bool,
    takes_lf: bool,
}

impl DotBlock {
    /// At the start of a block called `what`.
    pub const fn new(what: &'static str) -> Self {
        Self { what, is_line_start: true, takes_lf: false }
    }

    /// The same, and a bare LF ends a line, too.
    #[must_use]
    pub const fn taking_lf(mut self) -> Self {
        self.takes_lf = true;
        self
    }

    /// The next octets of the block, or its end.
    ///
    /// # Errors
    /// The input ended before the final dot.
    pub fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        if self.is_line_start && inbox.octets().first() == Some(&b'.') {
            match inbox.octets() {
                [b'.', b'\r', b'\n', ..] => {
                    inbox.skip(3);
                    return Ok(Step::Done);
                }
                [b'.', b'\n', ..] if self.takes_lf => {
                    inbox.skip(2);
                    return Ok(Step::Done);
                }
                [b'.'] | [b'.', b'\r'] => return self.need(inbox),
                [b'.', b'.', ..] => inbox.skip(1),
                _ => {}
            }
        }
        match self.whole(inbox.octets()) {
            0 => self.need(inbox),
            length => Ok(Step::Emit(Event::Body(self.emit(inbox, length)))),
        }
    }

    /// How many octets can go out without looking further: up to the next line that begins with a
    /// dot, and short of a CR or CR LF whose rest has not come.
    fn whole(&self, octets: &[u8]) -> usize {
        let before_dot = if self.takes_lf { &b"\n."[..] } else { b"\r\n." };
        if let Some(at) = memmem::find(octets, before_dot) {
            return at + before_dot.len() - 1;
        }
        if octets.ends_with(b"\r") { octets.len() - 1 } else { octets.len() }
    }

    fn emit(&mut self, inbox: &mut Inbox, length: usize) -> Bytes {
        let octets = inbox.take(length);
        self.is_line_start = octets.ends_with(if self.takes_lf { b"\n" } else { b"\r\n" });
        octets
    }

    fn need(&self, inbox: &Inbox) -> Result<Step, WireError> {
        if inbox.is_ended() { Err(WireError::Cut { what: self.what }) } else { Ok(Step::Need) }
    }
}
