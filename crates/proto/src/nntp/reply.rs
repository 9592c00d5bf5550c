//! Parses NNTP reply lines (RFC 3977 §3.2); a multi-line block may follow one.

use bytes::Bytes;

use crate::WireError;
use crate::text::LineReader;

/// Maximum length of a reply line in bytes. RFC 3977 §3.1 allows 512; longer replies are accepted.
const MAX_LINE_BYTES: usize = 4096;
/// Maximum number of bytes of an invalid reply in an error message.
pub(super) const SHOWN_BYTES: usize = 80;

/// A parsed NNTP reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: u16,
    /// The text after the code.
    pub(super) text: Bytes,
    /// The whole line with secrets masked, for messages.
    pub(super) shown: Bytes,
}

/// Returns a reader of reply lines.
pub(super) const fn reply_lines() -> LineReader {
    LineReader::new("a reply", "bytes in a reply line", MAX_LINE_BYTES)
}

impl Reply {
    /// Parses three digits and, after a blank, the text. `shown` is the line with secrets masked.
    pub(super) fn parse(line: &Bytes, shown: Bytes) -> Result<Self, WireError> {
        let code = match line.get(..3) {
            Some(&[first @ b'1'..=b'5', second @ b'0'..=b'9', third @ b'0'..=b'9']) => {
                [first, second, third].iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0'))
            }
            _ => return Err(unexpected("a reply", &shown)),
        };
        match line.get(3) {
            None => Ok(Self { code, text: Bytes::new(), shown }),
            Some(b' ' | b'\t') => Ok(Self { code, text: line.slice(4..), shown }),
            Some(_) => Err(unexpected("a reply", &shown)),
        }
    }

    /// Returns the words of the text.
    pub(super) fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty())
    }

    /// Returns the error for a reply that is not allowed here; `what` names the expected reply.
    pub(super) fn unexpected_error(&self, what: &'static str) -> WireError {
        unexpected(what, &self.shown)
    }
}

/// Returns `true` if this reply to ARTICLE, BODY or HEAD means that the server does not deliver the article, but may
/// deliver others: 420, 423 and 430 (RFC 3977 §6.2.1), and codes that no RFC assigns to these commands, such as 451 for
/// an article that was removed. A first digit 4 means that a correct command has failed (RFC 3977 §3.2); codes whose
/// second digit is 0 (connection), 1 (selection of the group) or 8 (authentication) concern other articles too.
pub const fn is_missing_article_code(code: u32) -> bool {
    matches!(code, 420..=479 | 490..=499)
}

fn unexpected(what: &'static str, line: &Bytes) -> WireError {
    WireError::Unexpected { what, got: line.slice(..line.len().min(SHOWN_BYTES)) }
}

/// Parses a decimal number. Returns `None` if the word is not a number or does not fit in 64 bits.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_has_three_digits_and_text() {
        let read = |line: &'static str| Reply::parse(&line.into(), line.into());
        let of = |line| read(line).ok().map(|reply| (reply.code, reply.text));
        assert_eq!(of("200 ready"), Some((200, "ready".into())));
        assert_eq!(of("200"), Some((200, Bytes::new())));
        assert_eq!(of("200 "), Some((200, Bytes::new())));
        assert_eq!(of("220\t1\t<a@b>"), Some((220, "1\t<a@b>".into())));
        for line in ["", "2", "20", "2000 x", "600 x", "099 x", "20x", "200-x", "hello", "\u{662}00 x"] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn missing_articles_have_codes_that_do_not_concern_the_connection_group_or_login() {
        for code in [420, 423, 430, 436, 451, 499] {
            assert!(is_missing_article_code(code), "{code}");
        }
        for code in [220, 400, 401, 403, 409, 411, 412, 419, 480, 481, 483, 489, 500, 502, 503] {
            assert!(!is_missing_article_code(code), "{code}");
        }
    }

    #[test]
    fn numbers_are_parsed_or_rejected() {
        assert_eq!(number(b"0000000012"), Some(12));
        for word in [&b""[..], b"-1", b"+1", b"1x", b"99999999999999999999999", b"\xff"] {
            assert_eq!(number(word), None, "{word:?}");
        }
    }
}
