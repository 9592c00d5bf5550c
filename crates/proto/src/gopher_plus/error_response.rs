//! Parses the body of an error response: code, administrator and text ("Gopher+" §2.3).

use bytes::Bytes;
use memchr::{memchr, memrchr};

const MAX_BODY_BYTES: usize = 64 * 1024;
const MAX_TEXT_LINES: usize = 100;
const MAX_WORDS_BYTES: usize = 1024;
/// Maximum number of digits of a code.
const MAX_CODE_DIGITS: usize = 9;
const MOVED: u32 = 3;

/// A Gopher+ error response ("Gopher+" §2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorResponse {
    /// The error code. 1: not available; 2: try again later; 3: moved. Servers also send other codes.
    pub code: Option<u32>,
    /// The administrator, as `name <mail>`; empty if there is none.
    pub admin: Bytes,
    /// The error text, one element per line, at most 100 lines.
    pub text: Vec<Bytes>,
}

impl ErrorResponse {
    /// Parses the body of an error response, of which at most 64 KiB are used.
    ///
    /// The code and the administrator are optional, and the text may begin on the first line.
    pub fn parse(body: &[u8]) -> Self {
        let body = body.get(..MAX_BODY_BYTES).unwrap_or(body);
        let lines = body.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let mut lines: Vec<&[u8]> = lines.skip_while(|line| line.is_empty()).take(MAX_TEXT_LINES).collect();
        while lines.pop_if(|line| line.is_empty() || line == b".").is_some() {}
        let Some((first, below)) = lines.split_first() else { return Self::default() };
        let (code, rest) = code(first);
        let (admin, words) = match code {
            Some(_) => admin(rest, !below.is_empty()),
            None => (&b""[..], rest),
        };
        let words = Some(words).filter(|words| !words.is_empty());
        let text = words.iter().chain(below).map(|line| Bytes::copy_from_slice(line)).collect();
        Self { code, admin: Bytes::copy_from_slice(admin), text }
    }

    /// Returns the text as one line of at most 1 KiB, for messages.
    pub fn words(&self) -> Vec<u8> {
        let mut words = Vec::new();
        for line in self.text.iter().map(|line| line.trim_ascii()).filter(|line| !line.is_empty()) {
            if !words.is_empty() {
                words.push(b' ');
            }
            words.extend_from_slice(line);
            if words.len() > MAX_WORDS_BYTES {
                break;
            }
        }
        words.truncate(MAX_WORDS_BYTES);
        words
    }

    /// Returns the menu line with the new address of a moved item (code 3), if the server sent one.
    pub fn moved_to(&self) -> Option<&[u8]> {
        let is_moved = self.code == Some(MOVED);
        let line = self.text.iter().find(|line| is_moved && memchr(b'\t', line).is_some())?;
        Some(line.strip_prefix(b"+INFO: ").unwrap_or(line))
    }
}

/// Parses the code at the start of the first line; returns it and the rest of the line.
fn code(line: &[u8]) -> (Option<u32>, &[u8]) {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match line.split_at_checked(digits) {
        Some((digits, rest))
            if (1..=MAX_CODE_DIGITS).contains(&digits.len())
                && matches!(rest.first(), None | Some(b' ' | b'\t')) =>
        {
            let push = |code: u32, digit: &u8| code * 10 + u32::from(digit - b'0');
            (Some(digits.iter().fold(0, push)), rest.trim_ascii_start())
        }
        _ => (None, line),
    }
}

/// Splits the line into administrator and text. A part in angle brackets is a mail address if it contains `@`, or
/// if it ends the line and the text follows below.
fn admin(line: &[u8], is_text_below: bool) -> (&[u8], &[u8]) {
    const NO_ADMIN: &[u8] = b"";
    let Some((open, close)) = memchr(b'<', line).zip(memrchr(b'>', line)) else {
        let is_mail = line.contains(&b'@') && !line.contains(&b' ');
        return if is_mail { (line, NO_ADMIN) } else { (NO_ADMIN, line) };
    };
    let is_mail = line.get(open..close).is_some_and(|mail| mail.contains(&b'@'));
    match line.split_at_checked(close + 1) {
        Some((admin, rest)) if is_mail || (rest.is_empty() && is_text_below) => (admin, rest.trim_ascii()),
        _ => (NO_ADMIN, line),
    }
}
