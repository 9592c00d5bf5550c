//! A Set-Cookie field (RFC 6265 §5.2) and the cookie that it means for a host.

use std::net::IpAddr;

use super::cookie::{Cookie, canonical_host, default_path};
use super::date::unix_time;

/// A longer value of an attribute is as if it were not there (RFC 6265bis §5.6).
const MAX_ATTRIBUTE: usize = 1024;

/// Where and when a field arrived.
#[derive(Clone, Copy)]
pub(super) struct Arrival<'r> {
    pub(super) host: &'r str,
    /// Of the request.
    pub(super) path: &'r str,
    pub(super) now: i64,
}

/// The cookie of a field, or none where the field is not to be believed.
///
/// It is the host's own in any case: Domain is read only to refuse a cookie of other hosts.
pub(super) fn cookie(field: &[u8], at: Arrival<'_>) -> Option<Cookie> {
    let mut parts = field.split(|&octet| octet == b';');
    let (name, value) = name_and_value(parts.next()?)?;
    let attributes = Attributes::read(field, parts)?;
    let host = canonical_host(at.host)?;
    if attributes.domain.is_some_and(|domain| !covers(domain, &host)) {
        return None;
    }
    let cookie = Cookie {
        host,
        path: attributes.path.unwrap_or_else(|| default_path(at.path)).to_vec(),
        name: name.to_vec(),
        value: value.to_vec().into(),
        is_secure: attributes.is_secure,
        is_http_only: attributes.is_http_only,
        expires: attributes.end(at.now),
    };
    // `__Host-` promises a Path that was written and a Domain that was not (RFC 6265bis §4.1.3.2).
    let is_promise_kept = !cookie.is_for_host() || (attributes.domain.is_none() && attributes.path.is_some());
    (is_promise_kept && cookie.is_sound()).then_some(cookie)
}

/// RFC 6265 §5.2 steps 2 to 5: without a `=` or a name there is no cookie.
fn name_and_value(pair: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = split_once(pair, b'=')?;
    Some((name.trim_ascii(), value.trim_ascii()))
}

fn split_once(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&octet| octet == separator)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The last of each name.
#[derive(Default)]
struct Attributes<'f> {
    expires: Option<i64>,
    max_age: Option<i64>,
    domain: Option<&'f [u8]>,
    path: Option<&'f [u8]>,
    is_secure: bool,
    is_http_only: bool,
}

impl<'f> Attributes<'f> {
    /// None for a field with a control octet anywhere: it is dropped whole. A TAB is a blank of HTTP
    /// and may stand where blanks are trimmed.
    fn read(field: &[u8], parts: impl Iterator<Item = &'f [u8]>) -> Option<Self> {
        if field.iter().any(|&octet| octet.is_ascii_control() && octet != b'\t') {
            return None;
        }
        let mut attributes = Self::default();
        for part in parts {
            let (name, value) = split_once(part, b'=').unwrap_or((part, b""));
            let value = value.trim_ascii();
            if value.len() <= MAX_ATTRIBUTE {
                attributes.set(&name.trim_ascii().to_ascii_lowercase(), value);
            }
        }
        Some(attributes)
    }

    fn set(&mut self, name: &[u8], value: &'f [u8]) {
        match name {
            b"expires" => self.expires = unix_time(value).or(self.expires),
            b"max-age" => self.max_age = seconds(value).or(self.max_age),
            b"domain" if !value.is_empty() => self.domain = Some(value),
            b"path" => self.path = value.starts_with(b"/").then_some(value),
            b"secure" => self.is_secure = true,
            b"httponly" => self.is_http_only = true,
            _ => {}
        }
    }

    /// Max-Age counts before Expires (§5.3 step 3).
    fn end(&self, now: i64) -> Option<i64> {
        match self.max_age {
            Some(seconds) if seconds <= 0 => Some(i64::MIN),
            Some(seconds) => Some(now.saturating_add(seconds)),
            None => self.expires,
        }
    }
}

/// §5.2.2: a digit or `-`, then digits. Too many of them are the most there can be.
fn seconds(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if value.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    if digits.len() < value.len() {
        return Some(-1);
    }
    let append = |sum: i64, digit: &u8| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
    Some(digits.iter().fold(0, append))
}

/// §5.1.3, for a canonical host. An address is covered by itself alone.
fn covers(domain: &[u8], host: &str) -> bool {
    let domain = domain.strip_prefix(b".").unwrap_or(domain).to_ascii_lowercase();
    if host.as_bytes() == domain {
        return true;
    }
    let is_address = host.parse::<IpAddr>().is_ok();
    let before = host.as_bytes().strip_suffix(&domain[..]);
    !is_address && !domain.is_empty() && before.is_some_and(|before| before.ends_with(b"."))
}
