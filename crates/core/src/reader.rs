//! [`Reader`]: reads the text of a URL from left to right, one component at a time.
//!
//! The fast path borrows from the text and looks at each byte once. A byte that the grammar does not allow is handled
//! on the cold path: an error, or, in the lenient dialect, a note and if necessary an escape `%hh`. Hosts, ports and
//! user information are read in `read_authority.rs`.

use std::ops::Range;

use crate::percent_encoding::{CharSet, is_escape, push_escape, sets};
use crate::{Dialect, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded};

/// The characters of a component: those of the grammar, and those that the lenient dialect accepts as well.
#[derive(Clone, Copy)]
pub(crate) struct ComponentRule {
    allowed: CharSet,
    tolerated: CharSet,
}

impl ComponentRule {
    /// Allows the characters of `allowed`; the lenient dialect tolerates `~`.
    pub(crate) const fn new(allowed: CharSet) -> Self {
        Self { allowed, tolerated: sets::TILDE_ONLY }
    }

    /// Sets the characters that the lenient dialect leaves as they are, with a note.
    pub(crate) const fn tolerating(self, tolerated: CharSet) -> Self {
        Self { allowed: self.allowed, tolerated }
    }
}

/// A reader of the text of a URL: the current position, and the notes recorded so far.
pub(crate) struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) position: usize,
    end: usize,
    dialect: Dialect,
    notes: Vec<Note>,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte of `text`.
    pub(crate) const fn new(text: &'a str, dialect: Dialect) -> Self {
        Self { text, position: 0, end: text.len(), dialect, notes: Vec::new() }
    }

    /// Returns `true` in the lenient dialect.
    pub(crate) fn is_lenient(&self) -> bool {
        self.dialect == Dialect::Lenient
    }

    /// Returns `true` in the dialect of the 1993 draft.
    pub(crate) fn is_cern1993(&self) -> bool {
        self.dialect == Dialect::Cern1993
    }

    /// Returns the offset of the next byte.
    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    /// Moves forward by `count` bytes.
    pub(crate) const fn advance(&mut self, count: usize) {
        self.position += count;
    }

    /// Treats `end` as the end of the text from now on.
    pub(crate) const fn set_end(&mut self, end: usize) {
        self.end = end;
    }

    /// Returns the bytes that have not been read.
    #[inline(always)]
    pub(crate) fn remaining(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.position..self.end]
    }

    /// Returns the text in `range`.
    pub(crate) fn slice(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    /// Returns the next byte without moving.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes().get(self.position).copied()
    }

    /// Moves past the next byte and returns `true` if it is `byte`.
    #[inline(always)]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.position += usize::from(is_next);
        is_next
    }

    /// Returns the text up to its end as bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        &self.text.as_bytes()[..self.end]
    }

    /// Moves past the `//` before the authority.
    #[inline(always)]
    pub(crate) fn expect_slashes(&mut self) -> Result<(), ParseError> {
        if self.remaining().starts_with(b"//") {
            self.position += 2;
            return Ok(());
        }
        Err(self.error_here(Kind::MissingSlashes))
    }

    /// Fails if any text is left.
    #[inline(always)]
    pub(crate) fn expect_end(&self) -> Result<(), ParseError> {
        if self.position == self.end { Ok(()) } else { Err(self.error_here(Kind::Unexpected)) }
    }

    /// Moves the notes out of the reader.
    #[inline(always)]
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Adds a note.
    #[cold]
    pub(crate) fn note(&mut self, kind: NoteKind, span: Range<usize>) {
        self.notes.push(Note::new(kind, span));
    }

    /// Returns the error `kind` at the next character, or a more specific error if that character is never allowed.
    #[cold]
    pub(crate) fn error_here(&self, kind: Kind) -> ParseError {
        match self.peek() {
            None => ParseError::new(kind, self.position..self.position),
            Some(_) => {
                let kind = self.error_if_never_allowed(self.position).unwrap_or(kind);
                ParseError::new(kind, self.position..self.end_of_character(self.position))
            }
        }
    }

    /// Returns the error `kind` for the text from `start` to here, or a more specific error for the first character in
    /// it that is never allowed. A wrong escape (`%` without two hexadecimal digits) keeps the error `kind`.
    #[cold]
    pub(crate) fn error_since(&self, start: usize, kind: Kind) -> ParseError {
        let text = &self.text[start..self.position];
        for (offset, character) in text.char_indices() {
            if let Some(specific) =
                self.error_if_never_allowed(start + offset).filter(|&specific| specific != Kind::BadEscape)
            {
                return ParseError::new(specific, start + offset..start + offset + character.len_utf8());
            }
        }
        ParseError::new(kind, start..self.position)
    }

    /// Reads a component up to a byte of `stop` or the end of the text.
    #[inline(always)]
    pub(crate) fn read_component(
        &mut self,
        rule: ComponentRule,
        stop: CharSet,
    ) -> Result<PercentEncoded<'a>, ParseError> {
        let bytes = self.bytes();
        let start = self.position;
        let end = rule.allowed.end_of_run(bytes, start);
        if end == bytes.len() || stop.contains(bytes[end]) {
            self.position = end;
            return Ok(PercentEncoded::borrowed(&self.text[start..end]));
        }
        self.read_irregular_component(rule, stop, start, end)
    }

    /// Reads a component that starts at `start` and whose byte at `at` the grammar does not allow.
    #[cold]
    fn read_irregular_component(
        &mut self,
        rule: ComponentRule,
        stop: CharSet,
        start: usize,
        at: usize,
    ) -> Result<PercentEncoded<'a>, ParseError> {
        let bytes = self.bytes();
        let mut written = self.text[start..at].to_owned();
        let mut is_changed = false;
        self.position = at;
        while let Some(byte) = self.peek() {
            let run_end = rule.allowed.end_of_run(bytes, self.position);
            if run_end > self.position {
                written.push_str(&self.text[self.position..run_end]);
                self.position = run_end;
            } else if stop.contains(byte) {
                break;
            } else {
                is_changed |= self.read_irregular_character(rule, byte, &mut written)?;
            }
        }
        let borrowed = &self.text[start..self.position];
        Ok(if is_changed { PercentEncoded::owned(written) } else { PercentEncoded::borrowed(borrowed) })
    }

    /// Reads one character that the grammar does not allow. Returns `true` if it had to be percent-encoded.
    fn read_irregular_character(
        &mut self,
        rule: ComponentRule,
        byte: u8,
        written: &mut String,
    ) -> Result<bool, ParseError> {
        let span = self.position..self.end_of_character(self.position);
        if let Some(kind) = self.error_if_never_allowed(self.position) {
            return Err(ParseError::new(kind, span));
        }
        if !self.is_lenient() {
            return Err(ParseError::new(Kind::NotAllowed, span));
        }
        self.position = span.end;
        if rule.tolerated.contains(byte) {
            written.push(byte as char);
            self.note_joined(NoteKind::Tolerated, span);
            return Ok(false);
        }
        self.text.as_bytes()[span.clone()].iter().for_each(|&byte| push_escape(written, byte));
        self.note_joined(NoteKind::Encoded, span);
        Ok(true)
    }

    /// Adds a note, or extends the last one if it has the same kind and ends where `span` begins.
    fn note_joined(&mut self, kind: NoteKind, span: Range<usize>) {
        match self.notes.last_mut() {
            Some(last) if last.kind() == kind && last.span().end == span.start => last.extend_to(span.end),
            _ => self.note(kind, span),
        }
    }

    /// Returns the error for the character at `at` if no component of any URL may contain it.
    fn error_if_never_allowed(&self, at: usize) -> Option<Kind> {
        match self.bytes()[at] {
            b' ' => Some(Kind::Space),
            0..=0x1f | 0x7f => Some(Kind::ControlCharacter),
            // U+0080 to U+009F are control characters, too.
            0xc2 if matches!(self.bytes().get(at + 1), Some(0x80..=0x9f)) => Some(Kind::ControlCharacter),
            b'\\' => Some(Kind::Backslash),
            b'#' => Some(Kind::NotAllowed),
            b'%' if !is_escape(self.bytes(), at) => Some(Kind::BadEscape),
            _ => None,
        }
    }

    /// Returns the offset after the character that starts at `at`.
    fn end_of_character(&self, at: usize) -> usize {
        let width = self.text[at..].chars().next().map_or(0, char::len_utf8);
        at + width
    }
}

/// Parses decimal digits. Returns `None` if there are none, if another byte occurs, or if the value overflows.
pub(crate) fn parse_decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_decimal_fails_on_overflow_sign_and_empty_text() {
        assert_eq!(parse_decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_decimal(b"18446744073709551616"), None);
        assert_eq!(parse_decimal(b""), None);
        assert_eq!(parse_decimal(b"+80"), None);
    }
}
