//! Links of style sheets: `url(…)` and `@import "…"` (CSS Syntax Level 3 §4.3). Everything else is skipped.

use std::borrow::Cow;

use bytes::Bytes;
use fetch_url_core::reference_text;

use super::{MAX_REFERENCE_BYTES, PageLink, resolve_link};

/// Reads the links of a style sheet. All of them are requisites.
pub struct CssLinks {
    text: Bytes,
    position: usize,
    /// The URL against which references are resolved.
    base: String,
    /// The previous word was `@import`: a string that follows is a link.
    is_after_import: bool,
}

impl CssLinks {
    /// Creates a reader of a style sheet; `base` is its URL.
    pub fn new(text: Bytes, base: &str) -> Self {
        Self { text, position: 0, base: base.to_owned(), is_after_import: false }
    }

    /// Reads one token. Returns `None` at the end, and `Some(None)` if the token is not a link.
    pub fn process_token(&mut self) -> Option<Option<PageLink>> {
        let rest = self.text.get(self.position..).filter(|rest| !rest.is_empty())?;
        let was_after_import = std::mem::take(&mut self.is_after_import);
        let (length, reference) = match rest[0] {
            b'/' if rest.starts_with(b"/*") => {
                self.is_after_import = was_after_import;
                (comment_length(rest), None)
            }
            b'"' | b'\'' => {
                let (length, reference) = read_string(rest);
                (length, Some(reference).filter(|_| was_after_import))
            }
            byte if byte.is_ascii_whitespace() => {
                self.is_after_import = was_after_import;
                (1, None)
            }
            byte if is_word_byte(byte) => {
                let length = rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                if word.eq_ignore_ascii_case(b"url") && after.first() == Some(&b'(') {
                    let (argument, reference) = read_url_argument(&after[1..]);
                    (length + 1 + argument, Some(reference))
                } else {
                    self.is_after_import = word.eq_ignore_ascii_case(b"@import");
                    (length, None)
                }
            }
            b'\\' => (2, None),
            _ => (1, None),
        };
        let reference = reference.map(unescape);
        self.position += length;
        // An empty `url()` is not a link to the style sheet itself.
        let url = reference
            .filter(|reference| !reference.trim().is_empty())
            .and_then(|reference| resolve_link(&self.base, &reference));
        Some(url.map(|url| PageLink { url, is_requisite: true }))
    }
}

impl Iterator for CssLinks {
    type Item = PageLink;

    fn next(&mut self) -> Option<PageLink> {
        loop {
            if let Some(link) = self.process_token()? {
                return Some(link);
            }
        }
    }
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'-' | b'_' | 0x80..)
}

/// Returns the length of the comment at the start of `text`; an open comment ends with the text.
fn comment_length(text: &[u8]) -> usize {
    let end = text[2..].windows(2).position(|pair| pair == b"*/");
    end.map_or(text.len(), |end| end + 4)
}

/// Reads the string at the start of `text`. Returns its length with quotes, and its content. A line break ends it.
fn read_string(text: &[u8]) -> (usize, &[u8]) {
    let quote = text[0];
    let mut end = 1;
    while end < text.len() && text[end] != quote && text[end] != b'\n' {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    let end = end.min(text.len());
    ((end + 1).min(text.len()), &text[1..end])
}

/// Reads the argument after `url(`. Returns its length, with the closing parenthesis if it is not quoted, and its text.
fn read_url_argument(text: &[u8]) -> (usize, &[u8]) {
    let blanks = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(text.len());
    let argument = &text[blanks..];
    if matches!(argument.first(), Some(b'"' | b'\'')) {
        let (length, content) = read_string(argument);
        return (blanks + length, content);
    }
    let mut end = 0;
    while end < argument.len() && argument[end] != b')' {
        end += if argument[end] == b'\\' { 2 } else { 1 };
    }
    let end = end.min(argument.len());
    ((blanks + end + 1).min(text.len()), &argument[..end])
}

/// Replaces escapes: a backslash followed by 1 to 6 hexadecimal digits and one space, or by any other character. Content
/// that is too long for a reference is not copied.
fn unescape(content: &[u8]) -> Cow<'_, str> {
    if content.len() > MAX_REFERENCE_BYTES {
        return Cow::Borrowed("");
    }
    let text = reference_text(content);
    if !text.contains('\\') {
        return text;
    }
    let mut plain = String::new();
    let mut rest = &*text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let digits = after.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        let mut letters = after[digits..].chars();
        if digits == 0 {
            plain.extend(letters.next().filter(|letter| *letter != '\n'));
            rest = letters.as_str();
        } else {
            let code = u32::from_str_radix(&after[..digits], 16).ok().and_then(char::from_u32);
            plain.push(code.unwrap_or('\u{fffd}'));
            rest = after[digits..].strip_prefix([' ', '\t', '\n']).unwrap_or(&after[digits..]);
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}
