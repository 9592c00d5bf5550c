//! Blocks that end with a line of a single dot, in which leading dots are doubled (RFC 3977 §3.1.1).

use bytes::Bytes;
use memchr::memmem;

use crate::{Event, RecvBuffer, Step, WireError};

/// Removes the dot-stuffing of one block while it streams. Line ends are kept as they were sent.
///
/// Only CR LF `.` CR LF ends a block, and a bare LF does not start a line, unless [`DotBlockReader::accepting_bare_lf`] is
/// set.
#[derive(Debug)]
pub struct DotBlockReader {
    what: &'static str,
    is_line_start: bool,
    takes_lf: bool,
}

impl DotBlockReader {
    /// Creates a decoder at the start of a block. `what` names the block in errors, such as `the article`.
    pub const fn new(what: &'static str) -> Self {
        Self { what, is_line_start: true, takes_lf: false }
    }

    /// Accepts a bare LF as the end of a line, in addition to CR LF.
    #[must_use]
    pub const fn accepting_bare_lf(mut self) -> Self {
        self.takes_lf = true;
        self
    }

    /// Returns the next bytes of the block as [`Event::Body`], [`Step::NeedMore`], or [`Step::Done`] at its end.
    ///
    /// # Errors
    /// [`WireError::UnexpectedEnd`] if the connection ended before the final dot.
    pub fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if self.is_line_start && buffer.bytes().first() == Some(&b'.') {
            match buffer.bytes() {
                [b'.', b'\r', b'\n', ..] => {
                    buffer.skip(3);
                    return Ok(Step::Done);
                }
                [b'.', b'\n', ..] if self.takes_lf => {
                    buffer.skip(2);
                    return Ok(Step::Done);
                }
                [b'.'] | [b'.', b'\r'] => return self.need_more(buffer),
                [b'.', b'.', ..] => buffer.skip(1),
                _ => {}
            }
        }
        match self.deliverable_len(buffer.bytes()) {
            0 => self.need_more(buffer),
            length => Ok(Step::Emit(Event::Body(self.take_bytes(buffer, length)))),
        }
    }

    /// Returns how many bytes can be passed on now: up to the next line that starts with a dot, and without a final CR,
    /// which may be half of a line end.
    fn deliverable_len(&self, bytes: &[u8]) -> usize {
        let before_dot = if self.takes_lf { &b"\n."[..] } else { b"\r\n." };
        if let Some(at) = memmem::find(bytes, before_dot) {
            return at + before_dot.len() - 1;
        }
        if bytes.ends_with(b"\r") { bytes.len() - 1 } else { bytes.len() }
    }

    fn take_bytes(&mut self, buffer: &mut RecvBuffer, length: usize) -> Bytes {
        let bytes = buffer.take(length);
        self.is_line_start = bytes.ends_with(if self.takes_lf { b"\n" } else { b"\r\n" });
        bytes
    }

    fn need_more(&self, buffer: &RecvBuffer) -> Result<Step, WireError> {
        if buffer.is_ended() { Err(WireError::UnexpectedEnd { what: self.what }) } else { Ok(Step::NeedMore) }
    }
}
