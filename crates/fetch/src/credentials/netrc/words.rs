//! Splits a netrc file into words, quoted or not. An entry may span several lines.

use super::error::NetrcError;

/// Words must be shorter than this number of bytes.
const MAX_WORD_BYTES: usize = 64 << 10;

/// One word and its position in the file.
pub(super) struct Word {
    pub(super) bytes: Vec<u8>,
    pub(super) is_quoted: bool,
    /// Line number, counted from 1.
    pub(super) line: usize,
    is_first_on_line: bool,
}

/// A reader of the words of a file.
pub(super) struct WordReader<'f> {
    rest: &'f [u8],
    line: usize,
    is_at_line_start: bool,
}

/// The meaning of a `#` that is not at the start of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HashMeaning {
    /// The start of a comment.
    Comment,
    /// The first byte of a value: a password may begin with `#`.
    Word,
}

impl<'f> WordReader<'f> {
    pub(super) const fn new(file: &'f [u8]) -> Self {
        Self { rest: file, line: 1, is_at_line_start: true }
    }

    /// Returns the next word, which must be a keyword, or `None` at the end of the file.
    pub(super) fn next_keyword(&mut self) -> Result<Option<Word>, NetrcError> {
        self.next(HashMeaning::Comment)
    }

    /// Returns the value of the keyword that was read last. On the keyword's line, any word is a value; on a later
    /// line, an unquoted keyword means that the value is missing.
    pub(super) fn next_value(&mut self, is_keyword: fn(&Word) -> bool) -> Result<Vec<u8>, NetrcError> {
        let line = self.line;
        match self.next(HashMeaning::Word)? {
            Some(word) if !(word.is_first_on_line && is_keyword(&word)) => Ok(word.bytes),
            _ => Err(NetrcError::MissingValue(line)),
        }
    }

    /// Skips a macro definition: its name, its lines, and the blank line that ends it.
    pub(super) fn skip_macro(&mut self) {
        self.skip_line();
        while !self.rest.is_empty() && !self.skip_line().trim_ascii().is_empty() {}
    }

    /// Returns the next word, or `None` at the end of the file.
    fn next(&mut self, hash: HashMeaning) -> Result<Option<Word>, NetrcError> {
        loop {
            match self.rest {
                [] => return Ok(None),
                [b'\n', ..] => {
                    self.skip_line();
                }
                [byte, rest @ ..] if is_blank(*byte) => self.rest = rest,
                // As in curl, a line that begins with # is a comment even where a value is expected.
                [b'#', ..] if self.is_at_line_start || hash == HashMeaning::Comment => {
                    self.skip_line();
                }
                _ => return self.parse_word().map(Some),
            }
        }
    }

    /// Parses the word at the current position.
    fn parse_word(&mut self) -> Result<Word, NetrcError> {
        let (bytes, rest, is_quoted) = match self.rest {
            [b'"', quoted @ ..] => {
                let (bytes, rest) = parse_quoted(quoted).ok_or(NetrcError::UnclosedQuote(self.line))?;
                (bytes, rest, true)
            }
            bare => {
                let end = bare.iter().position(|&byte| byte == b'\n' || is_blank(byte));
                let (bytes, rest) = bare.split_at(end.unwrap_or(bare.len()));
                (bytes.to_vec(), rest, false)
            }
        };
        if bytes.len() >= MAX_WORD_BYTES {
            return Err(NetrcError::WordTooLong(self.line));
        }
        self.rest = rest;
        let is_first_on_line = std::mem::replace(&mut self.is_at_line_start, false);
        Ok(Word { bytes, is_quoted, line: self.line, is_first_on_line })
    }

    /// Skips the rest of the line and returns it.
    fn skip_line(&mut self) -> &'f [u8] {
        let mut parts = self.rest.splitn(2, |&byte| byte == b'\n');
        let skipped = parts.next().unwrap_or_default();
        self.rest = parts.next().unwrap_or_default();
        self.line += 1;
        self.is_at_line_start = true;
        skipped
    }
}

/// Returns `true` for bytes that separate words within a line, including the CR of a CRLF.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

/// Returns the decoded bytes before the closing quote, and the text after it. `\n`, `\r` and `\t` are
/// control characters; `\` before any other byte, such as a quote, stands for that byte.
fn parse_quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut bytes = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest {
            [b'"', rest @ ..] => return Some((bytes, rest)),
            [] | [b'\n', ..] | [b'\\'] | [b'\\', b'\n', ..] => return None,
            [b'\\', escaped, rest @ ..] => {
                bytes.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    other => *other,
                });
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
}
