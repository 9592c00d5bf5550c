//! Splits text into lines of tokens. Quotes may begin and end inside a token and may contain any bytes, line ends
//! included, so the text is parsed byte by byte.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::{RecvBuffer, WireError};

/// Maximum size of the tokens of a line in bytes.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// Maximum number of tokens in a line.
const MAX_LINE_TOKENS: usize = 1024;

const QUOTE: u8 = b'\'';

/// The tokens of one line.
pub(super) type Tokens = Vec<Vec<u8>>;

/// Returns a token in upper case: keywords are not case-sensitive.
pub(super) fn keyword(token: &[u8]) -> String {
    String::from_utf8_lossy(token).to_ascii_uppercase()
}

/// The next parsed part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The end of the text.
    End,
    /// A line, and whether it had a line end; the last one may have none.
    Line(Tokens, bool),
    /// More data is needed.
    NeedMore,
    /// Data of the streamed token. In its line, that token is empty.
    Data(Bytes),
}

/// Returns `true` if the token after the given tokens is streamed.
pub(super) type StreamSelector = fn(&[Vec<u8>]) -> bool;

/// The state of the tokeniser before the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TokenState {
    #[default]
    /// Between two tokens.
    Between,
    /// In the unquoted part of a token.
    Token,
    /// Inside quotes.
    Quoted,
    /// After an apostrophe inside quotes: a second one is data.
    QuoteMayEnd,
}

/// An incremental tokeniser.
#[derive(Debug, Default)]
pub(super) struct TokenReader {
    state: TokenState,
    tokens: Tokens,
    current: Vec<u8>,
    bytes: usize,
    /// Selects the token to stream by the tokens before it.
    stream_selector: Option<StreamSelector>,
    is_streaming: bool,
    /// An unquoted CR was received: before LF it belongs to the line end, otherwise it is data.
    has_cr: bool,
    /// Parsed parts that are not returned yet.
    parts: VecDeque<Next>,
}

impl TokenReader {
    /// Creates a tokeniser that streams the token for which `selector` returns `true`.
    pub(super) fn streaming(selector: StreamSelector) -> Self {
        Self { stream_selector: Some(selector), ..Self::default() }
    }

    /// Returns the next part of the text.
    ///
    /// # Errors
    /// [`WireError`] if a line is too long, or a quote is open at the end of the text.
    pub(super) fn next(&mut self, buffer: &mut RecvBuffer) -> Result<Next, WireError> {
        if self.parts.is_empty() {
            self.parse(buffer)?;
        }
        if let Some(parts) = self.parts.pop_front() {
            return Ok(parts);
        }
        if !self.current.is_empty() && self.is_streaming {
            return Ok(Next::Data(std::mem::take(&mut self.current).into()));
        }
        if !buffer.is_ended() {
            return Ok(Next::NeedMore);
        }
        if self.state == TokenState::Quoted {
            return Err(WireError::UnexpectedEnd { what: "a quoted token" });
        }
        self.end_token();
        if !self.tokens.is_empty() {
            self.end_line(false);
        }
        Ok(self.parts.pop_front().unwrap_or(Next::End))
    }

    /// Parses input until a part is complete or no input is left.
    fn parse(&mut self, buffer: &mut RecvBuffer) -> Result<(), WireError> {
        let mut parsed = 0;
        for &byte in buffer.bytes() {
            parsed += 1;
            let is_quoted = self.state == TokenState::Quoted;
            if std::mem::take(&mut self.has_cr) && byte != b'\n' {
                self.process_byte(b'\r')?;
            }
            match byte {
                b'\r' if !is_quoted => self.has_cr = true,
                byte => self.process_byte(byte)?,
            }
            if !self.parts.is_empty() {
                break;
            }
        }
        buffer.skip(parsed);
        Ok(())
    }

    /// Processes one byte of a token or line end.
    fn process_byte(&mut self, byte: u8) -> Result<(), WireError> {
        match (self.state, byte) {
            (TokenState::Quoted, QUOTE) => self.state = TokenState::QuoteMayEnd,
            (TokenState::QuoteMayEnd, QUOTE) => {
                self.state = TokenState::Quoted;
                self.push_byte(byte)?;
            }
            (TokenState::Quoted, _) => self.push_byte(byte)?,
            (_, b'\n') => {
                self.end_token();
                self.end_line(true);
            }
            (_, b' ' | b'\t') => self.end_token(),
            (state, _) => {
                if state == TokenState::Between {
                    self.begin_token()?;
                }
                self.state = if byte == QUOTE { TokenState::Quoted } else { TokenState::Token };
                if byte != QUOTE {
                    self.push_byte(byte)?;
                }
            }
        }
        Ok(())
    }

    /// Starts a token and decides whether it is streamed.
    fn begin_token(&mut self) -> Result<(), WireError> {
        if self.tokens.len() == MAX_LINE_TOKENS {
            return Err(WireError::LimitExceeded { quantity: "tokens in a line", max: MAX_LINE_TOKENS });
        }
        self.is_streaming = self.stream_selector.is_some_and(|selector| selector(&self.tokens));
        Ok(())
    }

    /// Appends a byte to the current token.
    fn push_byte(&mut self, byte: u8) -> Result<(), WireError> {
        self.bytes += usize::from(!self.is_streaming);
        if self.bytes > MAX_LINE_BYTES {
            return Err(WireError::LimitExceeded { quantity: "bytes in a line", max: MAX_LINE_BYTES });
        }
        self.current.push(byte);
        Ok(())
    }

    /// Ends the current token, if there is one.
    fn end_token(&mut self) {
        if std::mem::take(&mut self.state) == TokenState::Between {
            return;
        }
        let token = std::mem::take(&mut self.current);
        if std::mem::take(&mut self.is_streaming) {
            self.tokens.push(Vec::new());
            if !token.is_empty() {
                self.parts.push_back(Next::Data(token.into()));
            }
        } else {
            self.tokens.push(token);
        }
    }

    /// Ends the current line.
    fn end_line(&mut self, has_line_end: bool) {
        self.bytes = 0;
        self.parts.push_back(Next::Line(std::mem::take(&mut self.tokens), has_line_end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], cut: usize) -> Result<Vec<(Tokens, bool)>, WireError> {
        let (mut reader, mut buffer, mut lines) = (TokenReader::default(), RecvBuffer::new(), Vec::new());
        let (first, second) = text.split_at(cut.min(text.len()));
        for part in [first, second] {
            buffer.push(part);
            while let Next::Line(tokens, has_end) = reader.next(&mut buffer)? {
                lines.push((tokens, has_end));
            }
        }
        buffer.mark_closed();
        loop {
            match reader.next(&mut buffer)? {
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
    fn unterminated_tokens_are_rejected() {
        assert_eq!(lines(b"a 'b\n", 3), Err(WireError::UnexpectedEnd { what: "a quoted token" }));
        let long = [&b"a"[..], &vec![b'x'; MAX_LINE_BYTES]].concat();
        assert!(matches!(lines(&long, 5), Err(WireError::LimitExceeded { .. })));
        assert!(matches!(lines(&b"a ".repeat(MAX_LINE_TOKENS + 1), 5), Err(WireError::LimitExceeded { .. })));
    }
}
