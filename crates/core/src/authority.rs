//! Host, port and login (RFC 1738 §3.1): the plain forms first, each looked at once; the odd ones,
//! which leniency may take, on the cold path.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;

use crate::escape::{CharSet, sets};
use crate::reader::{Reader, Rule, decimal};
use crate::{Escaped, Host, HostPort, Login, NoteKind, ParseError, ParseErrorKind as Kind, Secret};

impl<'a> Reader<'a> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    #[test]
    fn numbers_that_are_no_address_are_refused() {
        for text in ["1.2.3", "0127.0.0.1", "256.1.1.1", "1.2.3.4.5", "0x7f.1", "2130706433", "017700000001"]
        {
            let mut reader = Reader::new(text, Dialect::Lenient);
            let error = reader.host_port(sets::SLASH_ONLY).unwrap_err();
            assert_eq!(error.kind(), Kind::AmbiguousAddress, "{text}");
        }
    }
}
