//! Reads a URL from left to right: components by their character class, hosts, ports, logins.
//!
//! The good path borrows and looks at each octet once. Whatever the class does not allow goes
//! through [`Reader::repair`], which either refuses it or, leniently, writes it `%hh` and notes it.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;
use std::ops::Range;

use crate::escape::{CharSet, is_escape, push_escape, sets};
use crate::parse::Dialect;
use crate::{Escaped, Host, HostPort, Login, Note, NoteKind, ParseError, ParseErrorKind as Kind, Secret};

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
    text: &'a str,
    at: usize,
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
    fn octets(&self) -> &'a [u8] {
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

    /// `[user[:password]@]host[:port]`, up to an octet of `stop` (§3.1).
    #[inline]
    pub(crate) fn login(&mut self, stop: CharSet) -> Result<Login<'a>, ParseError> {
        if let Some(at) = self.plain_host_port(stop) {
            return Ok(Login { user: None, password: None, at });
        }
        self.login_with_user(stop)
    }

    #[inline(never)]
    fn login_with_user(&mut self, stop: CharSet) -> Result<Login<'a>, ParseError> {
        if let Some(login) = self.plain_login(stop) {
            return Ok(login);
        }
        self.odd_login(stop)
    }

    /// `user[:password]@host[:port]` when it is written as the grammar has it; `None` moves nothing.
    #[inline(always)]
    fn plain_login(&mut self, stop: CharSet) -> Option<Login<'a>> {
        let octets = self.octets();
        let start = self.at;
        let user_end = sets::USER.run(octets, start);
        let mut end = user_end;
        if octets.get(end) == Some(&b':') {
            end = sets::USER.run(octets, end + 1);
        }
        if octets.get(end) != Some(&b'@') {
            return None;
        }
        self.at = end + 1;
        let Some(at) = self.plain_host_port(stop) else {
            self.at = start;
            return None;
        };
        let password =
            (user_end < end).then(|| Secret::new(Escaped::borrowed(&self.text[user_end + 1..end])));
        Some(Login { user: Some(Escaped::borrowed(&self.text[start..user_end])), password, at })
    }

    #[cold]
    fn odd_login(&mut self, stop: CharSet) -> Result<Login<'a>, ParseError> {
        let (mut user, mut password) = (None, None);
        if self.authority(stop).contains(&b'@') {
            user = Some(self.component(Rule::new(sets::USER), sets::COLON_OR_AT)?);
            if self.eat(b':') {
                password = Some(Secret::new(self.component(Rule::new(sets::USER), sets::AT_SIGN)?));
            }
            self.at += 1;
            if let Some(offset) = self.authority(stop).iter().position(|&octet| octet == b'@') {
                let second = self.at + offset;
                return Err(ParseError::new(Kind::NotAllowed, second..second + 1));
            }
        }
        Ok(Login { user, password, at: self.host_port(stop)? })
    }

    /// What stands before the first octet of `stop`.
    pub(crate) fn authority(&self, stop: CharSet) -> &'a [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|&octet| stop.contains(octet)).unwrap_or(rest.len());
        &rest[..end]
    }

    /// `host[:port]`, up to an octet of `stop`, in a scheme that has no user (§5 `hostport`).
    #[inline]
    pub(crate) fn host_port(&mut self, stop: CharSet) -> Result<HostPort<'a>, ParseError> {
        if let Some(at) = self.plain_host_port(stop) {
            return Ok(at);
        }
        self.odd_host_port(stop)
    }

    #[cold]
    fn odd_host_port(&mut self, stop: CharSet) -> Result<HostPort<'a>, ParseError> {
        let host = self.odd_host(stop)?;
        let port = self.port(stop)?;
        Ok(HostPort { host, port })
    }

    /// Host and port when they are written as the grammar has it; `None` moves nothing.
    #[inline(always)]
    fn plain_host_port(&mut self, stop: CharSet) -> Option<HostPort<'a>> {
        let octets = self.octets();
        let start = self.at;
        let (end, is_numeric) = plain_host(octets, start)?;
        let next = octets.get(end).copied();
        let mut port = None;
        let mut after = end;
        if next == Some(b':') {
            (port, after) = plain_port(octets, end + 1, stop)?;
        } else if next.is_some_and(|octet| !stop.contains(octet)) {
            return None;
        }
        let host = if is_numeric {
            Host::V4(plain_address(&self.text[start..end])?)
        } else {
            Host::Name(Cow::Borrowed(&self.text[start..end]))
        };
        self.at = after;
        Some(HostPort { host, port })
    }

    /// `[:port]`: 1 to 65535 (§3.1).
    fn port(&mut self, stop: CharSet) -> Result<Option<NonZeroU16>, ParseError> {
        let colon = self.at;
        if !self.eat(b':') {
            return Ok(None);
        }
        let start = self.at;
        let digits = self.authority(stop);
        self.at += digits.len();
        if digits.is_empty() && self.is_lenient() {
            self.note(NoteKind::EmptyPort, colon..start);
            return Ok(None);
        }
        let port = decimal(digits).and_then(|port| NonZeroU16::new(u16::try_from(port).ok()?));
        let Some(port) = port else {
            return Err(self.bad_span(start, Kind::BadPort));
        };
        if digits[0] == b'0' {
            self.note(NoteKind::LeadingZeros, start..self.at);
        }
        Ok(Some(port))
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

    /// A host that is not plainly written: what leniency allows, or why not.
    #[cold]
    fn odd_host(&mut self, stop: CharSet) -> Result<Host<'a>, ParseError> {
        let start = self.at;
        let authority = self.authority(stop);
        if let Some(at) = authority.iter().position(|&octet| octet == b'@') {
            self.at += at + 1;
            return Err(self.bad_span(start, Kind::UserNotAllowed));
        }
        if authority.first() == Some(&b'[') {
            return self.ipv6_literal(authority);
        }
        let length = authority.iter().position(|&octet| octet == b':').unwrap_or(authority.len());
        self.at += length;
        let text = &self.text[start..self.at];
        if text.is_empty() {
            return Err(ParseError::new(Kind::MissingHost, start..start));
        }
        if !text.is_ascii() {
            return self.international(start, text);
        }
        self.odd_name(start, text)
    }

    fn odd_name(&mut self, start: usize, text: &'a str) -> Result<Host<'a>, ParseError> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let stand_in = name.replace('_', "x");
        let Some((end, is_numeric)) = plain_host(stand_in.as_bytes(), 0) else {
            return Err(self.bad_span(start, Kind::BadHost));
        };
        if is_numeric {
            let address = plain_address(text).map(Host::V4);
            return address.ok_or_else(|| self.bad_span(start, Kind::AmbiguousAddress));
        }
        if text == stand_in && end == text.len() {
            // It is the port that is odd: the next one to look at.
            return Ok(Host::Name(Cow::Borrowed(text)));
        }
        if end != name.len() || !self.is_lenient() {
            return Err(self.bad_span(start, Kind::BadHost));
        }
        if name.contains('_') {
            self.note(NoteKind::UnderscoreHost, start..start + name.len());
        }
        if name.len() < text.len() {
            self.note(NoteKind::TrailingDot, self.at - 1..self.at);
        }
        Ok(Host::Name(Cow::Borrowed(text)))
    }

    fn ipv6_literal(&mut self, authority: &[u8]) -> Result<Host<'a>, ParseError> {
        let start = self.at;
        let length =
            authority.iter().position(|&octet| octet == b']').map_or(authority.len(), |close| close + 1);
        self.at += length;
        let inside = self.text[start..self.at].strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        match inside.and_then(|text| text.parse::<Ipv6Addr>().ok()) {
            Some(address) if self.is_lenient() && matches!(self.peek(), None | Some(b':' | b'/' | b'?')) => {
                self.note(NoteKind::Ipv6Literal, start..self.at);
                Ok(Host::V6(address))
            }
            _ => Err(self.bad_span(start, Kind::BadHost)),
        }
    }

    #[cfg(feature = "idn")]
    fn international(&mut self, start: usize, text: &str) -> Result<Host<'a>, ParseError> {
        let refused = ParseError::new(Kind::NonAsciiHost, start..self.at);
        if !self.is_lenient() {
            return Err(refused);
        }
        let Ok(ascii) = idna::domain_to_ascii_strict(text) else { return Err(refused) };
        // Digits in disguise (full width, circled) must not become an address.
        match plain_host(ascii.as_bytes(), 0) {
            Some((end, false)) if end == ascii.len() => {
                self.note(NoteKind::Idn, start..self.at);
                Ok(Host::Name(Cow::Owned(ascii)))
            }
            _ => Err(refused),
        }
    }

    #[cfg(not(feature = "idn"))]
    fn international(&self, start: usize, _text: &str) -> Result<Host<'a>, ParseError> {
        Err(ParseError::new(Kind::NonAsciiHost, start..self.at))
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

/// Where the host name that begins at `start` ends, and whether its last label begins with a
/// digit; `None` when the labels break RFC 1034 §3.5 or RFC 1123 §2.1.
#[inline(always)]
fn plain_host(octets: &[u8], start: usize) -> Option<(usize, bool)> {
    const LABEL: usize = 63;
    const NAME: usize = 253;
    let mut label = start;
    loop {
        let mut at = sets::ALPHADIGIT.short_run(octets, label);
        while at > label && octets.get(at) == Some(&b'-') {
            at = sets::ALPHADIGIT.short_run(octets, at + 1);
        }
        let is_label = at > label && octets[at - 1] != b'-' && at - label <= LABEL;
        if !is_label {
            return None;
        }
        if octets.get(at) != Some(&b'.') {
            return (at - start <= NAME).then(|| (at, octets[label].is_ascii_digit()));
        }
        label = at + 1;
    }
}

/// The port at `at` when it is written as it will be printed, and where it ends.
#[inline(always)]
fn plain_port(octets: &[u8], at: usize, stop: CharSet) -> Option<(Option<NonZeroU16>, usize)> {
    let end = sets::DIGITS.short_run(octets, at);
    let is_last = octets.get(end).is_none_or(|&octet| stop.contains(octet));
    let digits =
        octets.get(at..end).filter(|digits| is_last && digits.len() <= 5 && digits.first() != Some(&b'0'))?;
    let value = digits.iter().fold(0, |value, &digit| value * 10 + u32::from(digit - b'0'));
    let port = NonZeroU16::new(u16::try_from(value).ok()?)?;
    Some((Some(port), end))
}

/// Four decimal groups from 0 to 255 without leading zeros (§3.1 `hostnumber`).
fn plain_address(text: &str) -> Option<Ipv4Addr> {
    text.parse().ok()
}

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
    fn numbers_that_are_no_address_are_refused() {
        for text in ["1.2.3", "0127.0.0.1", "256.1.1.1", "1.2.3.4.5", "0x7f.1", "2130706433", "017700000001"]
        {
            let mut reader = Reader::new(text, Dialect::Lenient);
            let error = reader.host_port(sets::SLASH_ONLY).unwrap_err();
            assert_eq!(error.kind(), Kind::AmbiguousAddress, "{text}");
        }
    }

    #[test]
    fn decimal_refuses_overflow() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(decimal(b"18446744073709551616"), None);
        assert_eq!(decimal(b""), None);
        assert_eq!(decimal(b"+80"), None);
    }
}
