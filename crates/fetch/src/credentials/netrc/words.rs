//! The words of a netrc file: bare or quoted, over as many lines as it likes.

use super::error::NetrcError;

/// A word has fewer bytes.
const MAX_WORD: usize = 64 << 10;

/// One word and where it stood.
pub(super) struct Word {
    pub(super) bytes: Vec<u8>,
    pub(super) is_quoted: bool,
    /// Counted from one.
    pub(super) line: usize,
    begins_line: bool,
}

/// What has not been read of a file.
pub(super) struct Words<'f> {
    rest: &'f [u8],
    line: usize,
    is_line_begin: bool,
}

/// What a `#` in the middle of a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hash {
    Comment,
    /// The first byte of a value: a password may begin so.
    Word,
}

impl<'f> Words<'f> {
    pub(super) const fn new(file: &'f [u8]) -> Self {
        Self { rest: file, line: 1, is_line_begin: true }
    }

    /// The next word where a keyword has to be; none at the end of the file.
    pub(super) fn keyword(&mut self) -> Result<Option<Word>, NetrcError> {
        self.next(Hash::Comment)
    }

    /// The value of the keyword just read. On the keyword's own line it may be any word; on a later
    /// line a bare keyword shows that the value was forgotten.
    pub(super) fn value(&mut self, is_keyword: fn(&Word) -> bool) -> Result<Vec<u8>, NetrcError> {
        let line = self.line;
        match self.next(Hash::Word)? {
            Some(word) if !(word.begins_line && is_keyword(&word)) => Ok(word.bytes),
            _ => Err(NetrcError::MissingValue(line)),
        }
    }

    /// Skips the name of a macro and its lines, the blank one at its end too.
    pub(super) fn skip_macro(&mut self) {
        self.skip_line();
        while !self.rest.is_empty() && !self.skip_line().trim_ascii().is_empty() {}
    }

    fn next(&mut self, hash: Hash) -> Result<Option<Word>, NetrcError> {
        loop {
            match self.rest {
                [] => return Ok(None),
                [b'\n', ..] => {
                    self.skip_line();
                }
                [byte, rest @ ..] if is_blank(*byte) => self.rest = rest,
                // As in curl, a line that begins with # is a comment, whatever is waited for.
                [b'#', ..] if self.is_line_begin || hash == Hash::Comment => {
                    self.skip_line();
                }
                _ => return self.word().map(Some),
            }
        }
    }

    fn word(&mut self) -> Result<Word, NetrcError> {
        let (bytes, rest, is_quoted) = match self.rest {
            [b'"', quoted @ ..] => {
                let (bytes, rest) = unquoted(quoted).ok_or(NetrcError::Unclosed(self.line))?;
                (bytes, rest, true)
            }
            bare => {
                let end = bare.iter().position(|&byte| byte == b'\n' || is_blank(byte));
                let (bytes, rest) = bare.split_at(end.unwrap_or(bare.len()));
                (bytes.to_vec(), rest, false)
            }
        };
        if bytes.len() >= MAX_WORD {
            return Err(NetrcError::WordTooLong(self.line));
        }
        self.rest = rest;
        let begins_line = std::mem::replace(&mut self.is_line_begin, false);
        Ok(Word { bytes, is_quoted, line: self.line, begins_line })
    }

    /// The rest of this line, which is then behind us.
    fn skip_line(&mut self) -> &'f [u8] {
        let mut parts = self.rest.splitn(2, |&byte| byte == b'\n');
        let skipped = parts.next().unwrap_or_default();
        self.rest = parts.next().unwrap_or_default();
        self.line += 1;
        self.is_line_begin = true;
        skipped
    }
}

/// What stands between words of a line. The CR of a CRLF is one of them.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

/// The bytes up to the closing quote, and what is behind it. `\n`, `\r` and `\t` are those controls;
/// `\` before anything else, a quote or another `\` say, stands for that byte.
fn unquoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
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
