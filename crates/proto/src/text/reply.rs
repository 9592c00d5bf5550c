//! Replies of three digits, of one line or several (RFC 959 §4.2).

use bytes::Bytes;

use super::{Line, LineReader};
use crate::{Inbox, WireError};

const LINE_OCTETS: usize = 4096;
const REPLY_LINES: usize = 1000;
const REPLY_OCTETS: usize = 64 * 1024;

/// A reply: its code, and its text line by line without the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Three digits.
    pub code: u16,
    /// The text of each line; inner lines of a long reply are as they came.
    pub lines: Vec<Bytes>,
}

/// Reads one reply after another.
#[derive(Debug)]
pub struct ReplyReader {
    lines: LineReader,
    open: Option<Reply>,
    octets: usize,
}

impl Default for ReplyReader {
    fn default() -> Self {
        Self {
            lines: LineReader::new("a reply", "the length of a reply line", LINE_OCTETS),
            open: None,
            octets: 0,
        }
    }
}

impl ReplyReader {
    /// A reader at the start of a reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next reply, once it is whole.
    ///
    /// # Errors
    /// Not a reply, too long a reply, or the input ended.
    pub fn read(&mut self, inbox: &mut Inbox) -> Result<Option<Reply>, WireError> {
        loop {
            let line = match self.lines.read(inbox)? {
                Line::Need => return Ok(None),
                Line::End => return Err(WireError::Cut { what: "a reply" }),
                Line::Whole(line) => line,
            };
            self.count(&line)?;
            if let Some(reply) = self.take(line)? {
                self.octets = 0;
                return Ok(Some(reply));
            }
        }
    }

    /// What came so far of a reply of several lines that does not end as it should.
    pub fn abandon(&mut self) -> Option<Reply> {
        self.octets = 0;
        self.open.take()
    }

    fn count(&mut self, line: &Bytes) -> Result<(), WireError> {
        self.octets += line.len();
        if self.octets > REPLY_OCTETS {
            return Err(WireError::Limit { limit: "the length of a reply", most: REPLY_OCTETS });
        }
        if self.open.as_ref().is_some_and(|open| open.lines.len() >= REPLY_LINES) {
            return Err(WireError::Limit { limit: "the lines of a reply", most: REPLY_LINES });
        }
        Ok(())
    }

    /// A long reply ends with its own code and a space: a line that only looks like it goes on.
    fn take(&mut self, line: Bytes) -> Result<Option<Reply>, WireError> {
        let start = numbered(&line);
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

/// The code, and what follows it; three digits alone count as with a space.
fn numbered(line: &[u8]) -> Option<(u16, u8)> {
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

    fn read(octets: &[u8]) -> Result<Option<Reply>, WireError> {
        let mut inbox = Inbox::new();
        inbox.push(octets);
        ReplyReader::new().read(&mut inbox)
    }

    #[test]
    fn a_code_alone_ends_a_reply_too() {
        for (octets, lines) in [
            (&b"250\r\n"[..], 1),
            (b"250-a poem\r\n250\r\n", 2),
            (b"250-a poem\r\n25\r\n2\r\n\r\n250 end\r\n", 5),
            (b"250-\r\n250-\r\n250 \r\n", 3),
        ] {
            let reply = read(octets).ok().flatten();
            assert_eq!(reply.map(|reply| (reply.code, reply.lines.len())), Some((250, lines)), "{octets:?}");
        }
        assert_eq!(read(b"250-a poem\r\n251 not yet\r\n"), Ok(None));
        assert!(read(b"25\r\n").is_err() && read(b"2500 x\r\n").is_err());
    }
}
