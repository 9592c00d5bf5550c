//! Reads the authority of a URL: user information, host and port (RFC 1738 §3.1).
//!
//! Regular forms take the fast path, which looks at each byte once. Irregular forms, some of which the lenient dialect
//! accepts, take the cold path.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;
use std::str::FromStr;

use crate::percent_encoding::{CharSet, sets};
use crate::reader::{ComponentRule, Reader, parse_decimal};
use crate::{
    Authority, Dialect, Host, HostPort, NoteKind, ParseError, ParseErrorKind as Kind, Password,
    PercentEncoded, UserInfo,
};

const USER: ComponentRule = ComponentRule::new(sets::USER);

impl HostPort<'static> {
    /// Parses `host` or `host:port`, written as in a URL, by the lenient dialect.
    ///
    /// # Errors
    /// Returns an error if the host or the port is invalid, or if text follows.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text, Dialect::Lenient);
        let host_port = reader.read_host_port(sets::EMPTY)?.into_owned();
        reader.expect_end()?;
        Ok(host_port)
    }
}

impl FromStr for HostPort<'static> {
    type Err = ParseError;

    /// Parses like [`HostPort::parse`].
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

impl<'a> Reader<'a> {
    /// Reads `[user[:password]@]host[:port]` up to a byte of `stop` (§5 `login`).
    #[inline]
    pub(crate) fn read_authority(&mut self, stop: CharSet) -> Result<Authority<'a>, ParseError> {
        if let Some(host_port) = self.read_regular_host_port(stop) {
            return Ok(Authority { user_info: None, host_port });
        }
        self.read_authority_with_user(stop)
    }

    #[inline(never)]
    fn read_authority_with_user(&mut self, stop: CharSet) -> Result<Authority<'a>, ParseError> {
        let start = self.position;
        let authority = match self.read_regular_authority_with_user(stop) {
            Some(authority) => authority,
            None => self.read_irregular_authority(stop)?,
        };
        if let Some(offset) = self.text[start..self.position].find('?') {
            self.note(NoteKind::QuestionMarkInLogin, start + offset..start + offset + 1);
        }
        Ok(authority)
    }

    /// Reads `user[:password]@host[:port]` if the grammar allows it. Otherwise returns `None` and does not move.
    #[inline(always)]
    fn read_regular_authority_with_user(&mut self, stop: CharSet) -> Option<Authority<'a>> {
        let bytes = self.bytes();
        let start = self.position;
        let user_end = sets::USER.end_of_run(bytes, start);
        let mut end = user_end;
        if bytes.get(end) == Some(&b':') {
            end = sets::USER.end_of_run(bytes, end + 1);
        }
        // The `@` after a `?` of an http URL is part of the query.
        let ends_before = |byte: &u8| stop.contains(*byte);
        if bytes.get(end) != Some(&b'@') || bytes[start..end].iter().any(ends_before) {
            return None;
        }
        self.position = end + 1;
        let Some(host_port) = self.read_regular_host_port(stop) else {
            self.position = start;
            return None;
        };
        let password =
            (user_end < end).then(|| Password::new(PercentEncoded::borrowed(&self.text[user_end + 1..end])));
        let user = PercentEncoded::borrowed(&self.text[start..user_end]);
        Some(Authority { user_info: Some(UserInfo { user, password }), host_port })
    }

    #[cold]
    fn read_irregular_authority(&mut self, stop: CharSet) -> Result<Authority<'a>, ParseError> {
        let mut user_info = None;
        if self.authority_bytes(stop).contains(&b'@') {
            let user = self.read_component(USER, sets::COLON_OR_AT)?;
            let has_password = self.eat(b':');
            let password = if has_password {
                Some(Password::new(self.read_component(USER, sets::AT_SIGN)?))
            } else {
                None
            };
            user_info = Some(UserInfo { user, password });
            self.position += 1;
            if let Some(offset) = self.authority_bytes(stop).iter().position(|&byte| byte == b'@') {
                let second = self.position + offset;
                return Err(ParseError::new(Kind::NotAllowed, second..second + 1));
            }
        }
        Ok(Authority { user_info, host_port: self.read_host_port(stop)? })
    }

    /// Returns the remaining bytes before the first byte of `stop`.
    fn authority_bytes(&self, stop: CharSet) -> &'a [u8] {
        let remaining = self.remaining();
        let end = remaining.iter().position(|&byte| stop.contains(byte)).unwrap_or(remaining.len());
        &remaining[..end]
    }

    /// Reads `host[:port]` up to a byte of `stop`, for schemes without user information (§5 `hostport`).
    #[inline]
    pub(crate) fn read_host_port(&mut self, stop: CharSet) -> Result<HostPort<'a>, ParseError> {
        if let Some(host_port) = self.read_regular_host_port(stop) {
            return Ok(host_port);
        }
        self.read_irregular_host_port(stop)
    }

    #[cold]
    fn read_irregular_host_port(&mut self, stop: CharSet) -> Result<HostPort<'a>, ParseError> {
        let host = self.read_irregular_host(stop)?;
        let port = self.read_irregular_port(stop)?;
        Ok(HostPort { host, port })
    }

    /// Reads host and port if the grammar allows them. Otherwise returns `None` and does not move.
    #[inline(always)]
    fn read_regular_host_port(&mut self, stop: CharSet) -> Option<HostPort<'a>> {
        let bytes = self.bytes();
        let start = self.position;
        let (end, is_numeric) = scan_host_name(bytes, start)?;
        let next = bytes.get(end).copied();
        let mut port = None;
        let mut after = end;
        if next == Some(b':') {
            (port, after) = scan_port(bytes, end + 1, stop)?;
        } else if next.is_some_and(|byte| !stop.contains(byte)) {
            return None;
        }
        let host = if is_numeric {
            Host::V4(parse_ipv4(&self.text[start..end])?)
        } else {
            Host::Name(Cow::Borrowed(&self.text[start..end]))
        };
        self.position = after;
        Some(HostPort { host, port })
    }

    /// Reads `[:port]`, from 1 to 65535 (§3.1). The lenient dialect accepts an empty port and leading zeros.
    fn read_irregular_port(&mut self, stop: CharSet) -> Result<Option<NonZeroU16>, ParseError> {
        let colon = self.position;
        if !self.eat(b':') {
            return Ok(None);
        }
        let start = self.position;
        let digits = self.authority_bytes(stop);
        self.position += digits.len();
        if digits.is_empty() && self.is_lenient() {
            self.note(NoteKind::EmptyPort, colon..start);
            return Ok(None);
        }
        let port = parse_decimal(digits).and_then(|port| NonZeroU16::new(u16::try_from(port).ok()?));
        let Some(port) = port else {
            return Err(self.error_since(start, Kind::BadPort));
        };
        if digits[0] == b'0' {
            self.note(NoteKind::LeadingZeros, start..self.position);
        }
        Ok(Some(port))
    }

    /// Reads a host that the fast path rejects: either the lenient dialect accepts it, or it is an error.
    #[cold]
    fn read_irregular_host(&mut self, stop: CharSet) -> Result<Host<'a>, ParseError> {
        let start = self.position;
        let authority = self.authority_bytes(stop);
        if let Some(at) = authority.iter().position(|&byte| byte == b'@') {
            self.position += at + 1;
            return Err(self.error_since(start, Kind::UserNotAllowed));
        }
        if authority.first() == Some(&b'[') {
            return self.read_ipv6_literal(authority);
        }
        let length = authority.iter().position(|&byte| byte == b':').unwrap_or(authority.len());
        self.position += length;
        let text = &self.text[start..self.position];
        if text.is_empty() {
            return Err(ParseError::new(Kind::MissingHost, start..start));
        }
        if !text.is_ascii() {
            return self.read_non_ascii_name(start, text);
        }
        self.read_irregular_name(start, text)
    }

    fn read_irregular_name(&mut self, start: usize, text: &'a str) -> Result<Host<'a>, ParseError> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let without_underscores = name.replace('_', "x");
        let Some((end, is_numeric)) = scan_host_name(without_underscores.as_bytes(), 0) else {
            return Err(self.error_since(start, Kind::BadHost));
        };
        if is_numeric {
            let address = parse_ipv4(text).map(Host::V4);
            return address.ok_or_else(|| self.error_since(start, Kind::AmbiguousAddress));
        }
        if text == without_underscores && end == text.len() {
            // The name is regular, but the port, which is read next, is not.
            return Ok(Host::Name(Cow::Borrowed(text)));
        }
        if end != name.len() || !self.is_lenient() {
            return Err(self.error_since(start, Kind::BadHost));
        }
        if name.contains('_') {
            self.note(NoteKind::UnderscoreHost, start..start + name.len());
        }
        if name.len() < text.len() {
            self.note(NoteKind::TrailingDot, self.position - 1..self.position);
        }
        Ok(Host::Name(Cow::Borrowed(text)))
    }

    fn read_ipv6_literal(&mut self, authority: &[u8]) -> Result<Host<'a>, ParseError> {
        let start = self.position;
        let length =
            authority.iter().position(|&byte| byte == b']').map_or(authority.len(), |close| close + 1);
        self.position += length;
        let literal =
            self.text[start..self.position].strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        match literal.and_then(parse_ipv6) {
            Some(host) if self.is_lenient() && matches!(self.peek(), None | Some(b':' | b'/' | b'?')) => {
                self.note(NoteKind::Ipv6Literal, start..self.position);
                Ok(host)
            }
            _ => Err(self.error_since(start, Kind::BadHost)),
        }
    }

    #[cfg(feature = "idn")]
    fn read_non_ascii_name(&mut self, start: usize, text: &str) -> Result<Host<'a>, ParseError> {
        let error = ParseError::new(Kind::NonAsciiHost, start..self.position);
        if !self.is_lenient() {
            return Err(error);
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let Ok(mut ascii) = idna::domain_to_ascii_strict(name) else { return Err(error) };
        // Non-ASCII digits (full-width, circled) must not become an IPv4 address.
        match scan_host_name(ascii.as_bytes(), 0) {
            Some((end, false)) if end == ascii.len() => {
                self.note(NoteKind::Idn, start..self.position);
                if name.len() < text.len() {
                    self.note(NoteKind::TrailingDot, self.position - 1..self.position);
                    ascii.push('.');
                }
                Ok(Host::Name(Cow::Owned(ascii)))
            }
            _ => Err(error),
        }
    }

    #[cfg(not(feature = "idn"))]
    fn read_non_ascii_name(&self, start: usize, _text: &str) -> Result<Host<'a>, ParseError> {
        Err(ParseError::new(Kind::NonAsciiHost, start..self.position))
    }
}

/// Parses an IPv6 address. A link-local address may have a zone after `%25` (RFC 6874 §2); a zone of other addresses
/// would be ignored, so it is an error.
fn parse_ipv6(text: &str) -> Option<Host<'_>> {
    const MAX_ZONE: usize = 15;
    let Some((address, zone)) = text.split_once("%25") else { return text.parse().ok().map(Host::V6) };
    let address: Ipv6Addr = address.parse().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let is_zone = (1..=MAX_ZONE).contains(&zone.len()) && zone.bytes().all(is_plain);
    (is_zone && address.is_unicast_link_local()).then_some(Host::V6Zone(address, Cow::Borrowed(zone)))
}

/// Returns the end of the host name that starts at `start`, and `true` if its last label starts with a digit. Returns
/// `None` if a label or the length violates RFC 1034 §3.5 or RFC 1123 §2.1.
// Not inlined: one copy stays in the processor's cache, which makes parsing 2 % faster.
#[inline(never)]
fn scan_host_name(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    const MAX_LABEL: usize = 63;
    const MAX_NAME: usize = 253;
    let is_label =
        |label: usize, end: usize| label < end && bytes[end - 1] != b'-' && end - label <= MAX_LABEL;
    let (mut label, mut at) = (start, start);
    for &byte in bytes.get(start..)? {
        if !sets::ALPHADIGIT.contains(byte) && (byte != b'-' || at == label) {
            if byte != b'.' {
                break;
            }
            if !is_label(label, at) {
                return None;
            }
            label = at + 1;
        }
        at += 1;
    }
    let is_name = is_label(label, at) && at - start <= MAX_NAME;
    is_name.then(|| (at, bytes[label].is_ascii_digit()))
}

/// Returns the port at `at` and its end if it has one to five digits without leading zeros, is in the range 1 to 65535,
/// and a byte of `stop` or the end of the text follows.
#[inline(always)]
fn scan_port(bytes: &[u8], at: usize, stop: CharSet) -> Option<(Option<NonZeroU16>, usize)> {
    let end = sets::DIGITS.end_of_short_run(bytes, at);
    let is_last = bytes.get(end).is_none_or(|&byte| stop.contains(byte));
    let digits =
        bytes.get(at..end).filter(|digits| is_last && digits.len() <= 5 && digits.first() != Some(&b'0'))?;
    let value = digits.iter().fold(0, |value, &digit| value * 10 + u32::from(digit - b'0'));
    let port = NonZeroU16::new(u16::try_from(value).ok()?)?;
    Some((Some(port), end))
}

/// Parses four decimal numbers from 0 to 255 without leading zeros (§3.1 `hostnumber`).
fn parse_ipv4(text: &str) -> Option<Ipv4Addr> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_is_not_an_ipv4_address_is_ambiguous() {
        for text in ["1.2.3", "0127.0.0.1", "256.1.1.1", "1.2.3.4.5", "0x7f.1", "2130706433", "017700000001"]
        {
            let mut reader = Reader::new(text, Dialect::Lenient);
            let error = reader.read_host_port(sets::SLASH_ONLY).unwrap_err();
            assert_eq!(error.kind(), Kind::AmbiguousAddress, "{text}");
        }
    }
}
