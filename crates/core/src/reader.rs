//! Reads a URL from left to right, a component at a time, each by its character class. Hosts, ports
//! and logins are in `authority.rs`.
//!
//! The good path borrows and looks at each octet once. Whatever the class does not allow goes
//! through [`Reader::repair`], which either refuses it or, leniently, writes it `%hh` and notes it.

use std::ops::Range;

use crate::escape::{CharSet, is_escape, push_escape, sets};
use crate::parse::Dialect;
use crate::{Escaped, Note, NoteKind, ParseError, ParseErrorKind as Kind};

/// What may stand in a component: by the grammar, and beyond it when lenient.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    set: CharSet,
    kept: CharSet,
}

impl Rule {
    pub(crate) const fn new(set: CharSet) -> Self {
        Self { set, kept: sets::TILDE_ONLY }
    }

    /// Leniently left as they are, with a note.
    pub(crate) const fn keeping(self, kept: CharSet) -> Self {
        Self { set: self.set, kept }
    }
}

pub(crate) struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    end: usize,
    dialect: Dialect,
    notes: Vec<Note>,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(text: &'a str, dialect: Dialect) -> Self {
        Self { text, at: 0, end: text.len(), dialect, notes: Vec::new() }
    }

    pub(crate) fn is_lenient(&self) -> bool {
        self.dialect == Dialect::Lenient
    }

    pub(crate) fn is_1993(&self) -> bool {
        self.dialect == Dialect::Cern1993
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn skip(&mut self, octets: usize) {
        self.at += octets;
    }

    /// Reads no further than `end` from here on.
    pub(crate) const fn stop_at(&mut self, end: usize) {
        self.end = end;
    }

    /// What has not been read yet.
    #[inline(always)]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..self.end]
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.octets().get(self.at).copied()
    }

    #[inline(always)]
    pub(crate) fn eat(&mut self, octet: u8) -> bool {
        let here = self.peek() == Some(octet);
        self.at += usize::from(here);
        here
    }

    #[inline(always)]
    pub(crate) fn octets(&self) -> &'a [u8] {
        &self.text.as_bytes()[..self.end]
    }

    /// The `//` in front of a host.
    #[inline(always)]
    pub(crate) fn slashes(&mut self) -> Result<(), ParseError> {
        if self.rest().starts_with(b"//") {
            self.at += 2;
            return Ok(());
        }
        Err(self.fault_here(Kind::MissingSlashes))
    }

    /// Nothing may be left.
    #[inline(always)]
    pub(crate) fn finish(&self) -> Result<(), ParseError> {
        if self.at == self.end { Ok(()) } else { Err(self.fault_here(Kind::Unexpected)) }
    }

    /// What was noted.
    #[inline(always)]
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    #[cold]
    pub(crate) fn note(&mut self, kind: NoteKind, span: Range<usize>) {
        self.notes.push(Note::new(kind, span));
    }

    /// The fault `kind`, or the more telling one that the octet here is never allowed.
    #[cold]
    pub(crate) fn fault_here(&self, kind: Kind) -> ParseError {
        match self.peek() {
            None => ParseError::new(kind, self.at..self.at),
            Some(_) => {
                let never = self.never_allowed(self.at).unwrap_or(kind);
                ParseError::new(never, self.at..self.char_end(self.at))
            }
        }
    }

    /// A component in `rule`, up to an octet of `stop` or the end.
    #[inline(always)]
    pub(crate) fn component(&mut self, rule: Rule, stop: CharSet) -> Result<Escaped<'a>, ParseError> {
        let octets = self.octets();
        let start = self.at;
        let end = rule.set.run(octets, start);
        if end == octets.len() || stop.contains(octets[end]) {
            self.at = end;
            return Ok(Escaped::borrowed(&self.text[start..end]));
        }
        self.repair(rule, stop, start, end)
    }

    /// The component from `start`, whose octet at `at` the grammar does not allow.
    #[cold]
    fn repair(
        &mut self,
        rule: Rule,
        stop: CharSet,
        start: usize,
        at: usize,
    ) -> Result<Escaped<'a>, ParseError> {
        let octets = self.octets();
        let mut written = self.text[start..at].to_owned();
        let mut is_changed = false;
        self.at = at;
        while let Some(octet) = self.peek() {
            let run_end = rule.set.run(octets, self.at);
            if run_end > self.at {
                written.push_str(&self.text[self.at..run_end]);
                self.at = run_end;
            } else if stop.contains(octet) {
                break;
            } else {
                is_changed |= self.tolerate(rule, octet, &mut written)?;
            }
        }
        Ok(if is_changed { Escaped::owned(written) } else { Escaped::borrowed(&self.text[start..self.at]) })
    }

    /// Takes one character beyond the grammar; true when it had to be written as an escape.
    fn tolerate(&mut self, rule: Rule, octet: u8, written: &mut String) -> Result<bool, ParseError> {
        let span = self.at..self.char_end(self.at);
        if let Some(kind) = self.never_allowed(self.at) {
            return Err(ParseError::new(kind, span));
        }
        if !self.is_lenient() {
            return Err(ParseError::new(Kind::NotAllowed, span));
        }
        self.at = span.end;
        if rule.kept.contains(octet) {
            written.push(octet as char);
            self.note_run(NoteKind::Tolerated, span);
            return Ok(false);
        }
        self.text.as_bytes()[span.clone()].iter().for_each(|&octet| push_escape(written, octet));
        self.note_run(NoteKind::Encoded, span);
        Ok(true)
    }

    /// Notes `span`, together with the note before it when they are neighbours of one kind.
    fn note_run(&mut self, kind: NoteKind, span: Range<usize>) {
        match self.notes.last_mut() {
            Some(last) if last.kind() == kind && last.span().end == span.start => last.extend_to(span.end),
            _ => self.note(kind, span),
        }
    }

    /// Why the character at `at` can stand nowhere in a URL, if that is so.
    fn never_allowed(&self, at: usize) -> Option<Kind> {
        match self.octets()[at] {
            b' ' => Some(Kind::Space),
            0..=0x1f | 0x7f => Some(Kind::ControlOctet),
            // U+0080 to U+009F are control characters too.
            0xc2 if matches!(self.octets().get(at + 1), Some(0x80..=0x9f)) => Some(Kind::ControlOctet),
            b'\\' => Some(Kind::Backslash),
            b'#' => Some(Kind::NotAllowed),
            b'%' if !is_escape(self.octets(), at) => Some(Kind::BadEscape),
            _ => None,
        }
    }

    fn char_end(&self, at: usize) -> usize {
        let width = self.text[at..].chars().next().map_or(0, char::len_utf8);
        at + width
    }

    /// The fault `kind` for what was read since `start`, or a more telling one inside it.
    #[cold]
    pub(crate) fn bad_span(&self, start: usize, kind: Kind) -> ParseError {
        let text = &self.text[start..self.at];
        for (offset, character) in text.char_indices() {
            if let Some(never) = self.never_allowed(start + offset).filter(|&never| never != Kind::BadEscape)
            {
                return ParseError::new(never, start + offset..start + offset + character.len_utf8());
            }
        }
        ParseError::new(kind, start..self.at)
    }
}

/// Ends the reading of a scheme: the URL, when nothing is left to read, and what was noted.
///
/// A macro and not a function, since a function would have the URL made elsewhere and moved into
/// place: that copy alone took a third of the time.
macro_rules! whole {
    ($reader:ident, $url:expr) => {{
        $reader.finish()?;
        Ok(crate::Parsed { url: $url, notes: $reader.take_notes(), fragment: None })
    }};
}
pub(crate) use whole;

/// The value of a row of digits; `None` when there is none, another octet, or an overflow.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, &octet| {
        let digit = octet.is_ascii_digit().then(|| u64::from(octet - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_refuses_overflow() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(decimal(b"18446744073709551616"), None);
        assert_eq!(decimal(b""), None);
        assert_eq!(decimal(b"+80"), None);
    }
}
