//! Replies with a three-digit code, of one line or several (RFC 959 §4.2).

use bytes::Bytes;

use super::{LineReader, ReadLine};
use crate::{RecvBuffer, WireError};

const MAX_LINE_BYTES: usize = 4096;
const MAX_REPLY_LINES: usize = 1000;
const MAX_REPLY_BYTES: usize = 64 * 1024;

/// A reply of an FTP or NNTP server: a three-digit code and lines of text (RFC 959 §4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The code, 100 to 699.
    pub code: u16,
    /// The text of each line. The first and the last line are without the code; the lines between them are complete.
    pub lines: Vec<Bytes>,
}

/// Reads replies from a [`RecvBuffer`], one after another.
///
/// Limits: 4096 bytes in a line, 1000 lines and 64 KiB in a reply.
#[derive(Debug)]
pub struct ReplyReader {
    lines: LineReader,
    open: Option<Reply>,
    bytes: usize,
}

impl Default for ReplyReader {
    fn default() -> Self {
        Self {
            lines: LineReader::new("a reply", "bytes in a reply line", MAX_LINE_BYTES),
            open: None,
            bytes: 0,
        }
    }
}

impl ReplyReader {
    /// Creates a reader at the start of a reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next reply, or returns `None` if it is not complete yet.
    ///
    /// # Errors
    /// [`WireError::Unexpected`] if a reply does not start with a code, [`WireError::LimitExceeded`] if it is too long,
    /// [`WireError::UnexpectedEnd`] if the connection ended.
    pub fn read_reply(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Reply>, WireError> {
        loop {
            let line = match self.lines.read_line(buffer)? {
                ReadLine::NeedMore => return Ok(None),
                ReadLine::End => return Err(WireError::UnexpectedEnd { what: "a reply" }),
                ReadLine::Line(line) => line,
            };
            self.check_limits(&line)?;
            if let Some(reply) = self.add_line(line)? {
                self.bytes = 0;
                return Ok(Some(reply));
            }
        }
    }

    /// Returns `true` if a multi-line reply has begun and its last line is missing.
    pub const fn is_within_reply(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the lines received so far of a multi-line reply that has no proper last line.
    pub fn take_partial(&mut self) -> Option<Reply> {
        self.bytes = 0;
        self.open.take()
    }

    fn check_limits(&mut self, line: &Bytes) -> Result<(), WireError> {
        self.bytes += line.len();
        if self.bytes > MAX_REPLY_BYTES {
            return Err(WireError::LimitExceeded { quantity: "bytes in a reply", max: MAX_REPLY_BYTES });
        }
        if self.open.as_ref().is_some_and(|open| open.lines.len() >= MAX_REPLY_LINES) {
            return Err(WireError::LimitExceeded { quantity: "lines in a reply", max: MAX_REPLY_LINES });
        }
        Ok(())
    }

    /// Adds a line, and returns the reply if it is complete: a multi-line reply ends with its own code and a space.
    fn add_line(&mut self, line: Bytes) -> Result<Option<Reply>, WireError> {
        let start = parse_code(&line);
        if let Some(mut open) = self.open.take() {
            match start {
                Some((code, b' ')) if code == open.code => {
                    open.lines.push(line.slice(line.len().min(4)..));
                    return Ok(Some(open));
                }
                _ => open.lines.push(line),
            }
            self.open = Some(open);
            return Ok(None);
        }
        match start {
            Some((code, b' ')) => Ok(Some(Reply { code, lines: vec![line.slice(line.len().min(4)..)] })),
            Some((code, b'-')) => {
                self.open = Some(Reply { code, lines: vec![line.slice(4..)] });
                Ok(None)
            }
            _ => Err(WireError::Unexpected { what: "a reply", got: line.slice(..line.len().min(80)) }),
        }
    }
}

/// Parses the code and the character after it. Three digits alone count as followed by a space.
fn parse_code(line: &[u8]) -> Option<(u16, u8)> {
    let digits = line.get(..3)?;
    let is_code = matches!(digits[0], b'1'..=b'6') && digits.iter().all(u8::is_ascii_digit);
    if !is_code {
        return None;
    }
    let code = digits.iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0'));
    Some((code, line.get(3).copied().unwrap_or(b' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(bytes: &[u8]) -> Result<Option<Reply>, WireError> {
        let mut buffer = RecvBuffer::new();
        buffer.push(bytes);
        ReplyReader::new().read_reply(&mut buffer)
    }

    #[test]
    fn code_without_text_ends_a_reply() {
        for (bytes, lines) in [
            (&b"250\r\n"[..], 1),
            (b"250-a poem\r\n250\r\n", 2),
            (b"250-a poem\r\n25\r\n2\r\n\r\n250 end\r\n", 5),
            (b"250-\r\n250-\r\n250 \r\n", 3),
        ] {
            let reply = read_one(bytes).ok().flatten();
            assert_eq!(reply.map(|reply| (reply.code, reply.lines.len())), Some((250, lines)), "{bytes:?}");
        }
        assert_eq!(read_one(b"250-a poem\r\n251 not yet\r\n"), Ok(None));
        assert!(read_one(b"25\r\n").is_err() && read_one(b"2500 x\r\n").is_err());
    }
}
