//! Lines of tokens. A quote may begin and end in the middle of a token, and what is quoted may be any octets, line
//! ends too: so the text is read octet by octet, and never split before.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::{Inbox, WireError};

/// The most octets of a line's tokens.
const LINE_OCTETS: usize = 64 * 1024;
/// The most tokens of a line.
const LINE_TOKENS: usize = 1024;

const QUOTE: u8 = b'\'';

/// The tokens of a line.
pub(super) type Tokens = Vec<Vec<u8>>;

/// What is next in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The text is over.
    End,
    /// A line, and whether its end was there: the last one may lack it.
    Line(Tokens, bool),
    /// It has not come yet.
    Need,
    /// Octets of the token that is handed on as it comes; in its line it is an empty one.
    Octets(Bytes),
}

/// Whether the octets behind these tokens are handed on as they come.
pub(super) type Streams = fn(&[Vec<u8>]) -> bool;

/// Where the reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Between,
    Token,
    Quoted,
    /// Behind an apostrophe inside of quotes: a second one is data.
    QuoteMayEnd,
}

/// Reads lines.
#[derive(Debug, Default)]
pub(super) struct TokenReader {
    place: Place,
    tokens: Tokens,
    current: Vec<u8>,
    octets: usize,
    /// Which token of a line is handed on as it comes: the one behind these.
    streams: Option<Streams>,
    is_streaming: bool,
    /// A CR that is not quoted: before a LF it is a part of the line's end, else an octet like others.
    has_return: bool,
    found: VecDeque<Next>,
}

impl TokenReader {
    /// The token behind those that `streams` knows is handed on as it comes.
    pub(super) fn streaming(streams: Streams) -> Self {
        Self { streams: Some(streams), ..Self::default() }
    }

    /// # Errors
    /// A line that is too long; a quote that is open at the end of the text.
    pub(super) fn next(&mut self, inbox: &mut Inbox) -> Result<Next, WireError> {
        if self.found.is_empty() {
            self.read(inbox)?;
        }
        if let Some(found) = self.found.pop_front() {
            return Ok(found);
        }
        if !self.current.is_empty() && self.is_streaming {
            return Ok(Next::Octets(std::mem::take(&mut self.current).into()));
        }
        if !inbox.is_ended() {
            return Ok(Next::Need);
        }
        if self.place == Place::Quoted {
            return Err(WireError::Cut { what: "a quoted token" });
        }
        self.end_token();
        if !self.tokens.is_empty() {
            self.end_line(false);
        }
        Ok(self.found.pop_front().unwrap_or(Next::End))
    }

    /// Reads until something is found, or all is read.
    fn read(&mut self, inbox: &mut Inbox) -> Result<(), WireError> {
        let mut read = 0;
        for &octet in inbox.octets() {
            read += 1;
            let is_quoted = self.place == Place::Quoted;
            if std::mem::take(&mut self.has_return) && octet != b'\n' {
                self.take(b'\r')?;
            }
            match octet {
                b'\r' if !is_quoted => self.has_return = true,
                octet => self.take(octet)?,
            }
            if !self.found.is_empty() {
                break;
            }
        }
        inbox.skip(read);
        Ok(())
    }

    fn take(&mut self, octet: u8) -> Result<(), WireError> {
        match (self.place, octet) {
            (Place::Quoted, QUOTE) => self.place = Place::QuoteMayEnd,
            (Place::QuoteMayEnd, QUOTE) => {
                self.place = Place::Quoted;
                self.keep(octet)?;
            }
            (Place::Quoted, _) => self.keep(octet)?,
            (_, b'\n') => {
                self.end_token();
                self.end_line(true);
            }
            (_, b' ' | b'\t') => self.end_token(),
            (place, _) => {
                if place == Place::Between {
                    self.begin_token()?;
                }
                self.place = if octet == QUOTE { Place::Quoted } else { Place::Token };
                if octet != QUOTE {
                    self.keep(octet)?;
                }
            }
        }
        Ok(())
    }

    fn begin_token(&mut self) -> Result<(), WireError> {
        if self.tokens.len() == LINE_TOKENS {
            return Err(WireError::Limit { limit: "tokens of a line", most: LINE_TOKENS });
        }
        self.is_streaming = self.streams.is_some_and(|streams| streams(&self.tokens));
        Ok(())
    }

    fn keep(&mut self, octet: u8) -> Result<(), WireError> {
        self.octets += usize::from(!self.is_streaming);
        if self.octets > LINE_OCTETS {
            return Err(WireError::Limit { limit: "octets of a line", most: LINE_OCTETS });
        }
        self.current.push(octet);
        Ok(())
    }

    /// The token is over, if there is one.
    fn end_token(&mut self) {
        if std::mem::take(&mut self.place) == Place::Between {
            return;
        }
        let token = std::mem::take(&mut self.current);
        if std::mem::take(&mut self.is_streaming) {
            self.tokens.push(Vec::new());
            if !token.is_empty() {
                self.found.push_back(Next::Octets(token.into()));
            }
        } else {
            self.tokens.push(token);
        }
    }

    fn end_line(&mut self, has_end: bool) {
        self.octets = 0;
        self.found.push_back(Next::Line(std::mem::take(&mut self.tokens), has_end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], cut: usize) -> Result<Vec<(Tokens, bool)>, WireError> {
        let (mut reader, mut inbox, mut lines) = (TokenReader::default(), Inbox::new(), Vec::new());
        let (first, second) = text.split_at(cut.min(text.len()));
        for part in [first, second] {
            inbox.push(part);
            while let Next::Line(tokens, has_end) = reader.next(&mut inbox)? {
                lines.push((tokens, has_end));
            }
        }
        inbox.end();
        loop {
            match reader.next(&mut inbox)? {
                Next::Line(tokens, has_end) => lines.push((tokens, has_end)),
                other => {
                    assert_eq!(other, Next::End);
                    return Ok(lines);
                }
            }
        }
    }

    fn tokens(words: &[&[u8]]) -> Tokens {
        words.iter().map(|word| word.to_vec()).collect()
    }

    #[test]
    fn quotes_begin_and_end_anywhere() {
        let text = b"LINK  L 26' bytes' AFTP'/anon.txt' it'''s a file.txt' ''\n\ta'\n\0'b\r c\n\nlast";
        for cut in 0..text.len() {
            let lines = lines(text, cut).expect("lines");
            let first: [&[u8]; 6] = [b"LINK", b"L", b"26 bytes", b"AFTP/anon.txt", b"it's a file.txt", b""];
            let expected = [
                (tokens(&first), true),
                (tokens(&[b"a\n\0b\r", b"c"]), true),
                (tokens(&[]), true),
                (tokens(&[b"last"]), false),
            ];
            assert_eq!(lines, expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_has_no_end() {
        assert_eq!(lines(b"a 'b\n", 3), Err(WireError::Cut { what: "a quoted token" }));
        let long = [&b"a"[..], &vec![b'x'; LINE_OCTETS]].concat();
        assert!(matches!(lines(&long, 5), Err(WireError::Limit { .. })));
        assert!(matches!(lines(&b"a ".repeat(LINE_TOKENS + 1), 5), Err(WireError::Limit { .. })));
    }
}
