//! Parses a Set-Cookie header (RFC 6265 §5.2).

use super::cookie::{Cookie, canonical_host, default_path};
use super::date::parse_cookie_date;
use super::domain::{domain_matches, may_include_subdomains};

/// Maximum length of an attribute value, in bytes; a longer attribute is ignored (RFC 6265bis §5.6).
const MAX_ATTRIBUTE_LENGTH: usize = 1024;

/// The response that contained a Set-Cookie header.
#[derive(Clone, Copy)]
pub(super) struct ResponseOrigin<'r> {
    pub(super) host: &'r str,
    /// The path of the request.
    pub(super) path: &'r str,
    /// Unix time in seconds.
    pub(super) now: i64,
}

/// Returns the cookie of a Set-Cookie header, or `None` if the header is invalid.
///
/// With a Domain attribute, the cookie belongs to this domain, which must include the host of the response; a cookie
/// for a public suffix belongs to the host only.
pub(super) fn parse_set_cookie(field: &[u8], at: ResponseOrigin<'_>) -> Option<Cookie> {
    let mut parts = field.split(|&byte| byte == b';');
    let (name, value) = split_name_value(parts.next()?)?;
    let attributes = Attributes::parse(field, parts)?;
    let response_host = canonical_host(at.host)?;
    let domain = attributes.domain.map(|domain| canonical_domain(domain).ok_or(())).transpose().ok()?;
    if domain.as_deref().is_some_and(|domain| !domain_matches(domain, &response_host)) {
        return None;
    }
    let domain = domain.filter(|domain| may_include_subdomains(domain));
    let cookie = Cookie {
        includes_subdomains: domain.is_some(),
        host: domain.unwrap_or(response_host),
        path: attributes.path.unwrap_or_else(|| default_path(at.path)).to_vec(),
        name: name.to_vec(),
        value: value.to_vec().into(),
        is_secure: attributes.is_secure,
        is_http_only: attributes.is_http_only,
        expires: attributes.expiry(at.now),
    };
    // `__Host-` requires a Path attribute and forbids a Domain attribute (RFC 6265bis §4.1.3.2).
    let satisfies_host_prefix =
        !cookie.has_host_prefix() || (attributes.domain.is_none() && attributes.path.is_some());
    (satisfies_host_prefix && cookie.is_valid()).then_some(cookie)
}

/// Returns the cookie of a Set-Cookie header in a cookie file. Without a Domain attribute it belongs to no host, as in
/// curl, so it is invalid.
pub(super) fn parse_set_cookie_of_file(field: &[u8], now: i64) -> Option<Cookie> {
    let attributes = Attributes::parse(field, field.split(|&byte| byte == b';').skip(1))?;
    let host = canonical_domain(attributes.domain?)?;
    parse_set_cookie(field, ResponseOrigin { host: &host, path: "/", now })
}

/// Returns the domain of a Domain attribute in canonical form, or `None` for one that matches no host. A dot at its start
/// has no meaning (§5.2.3), but one at its end is compared with the host, which is used without it (§5.1.3).
fn canonical_domain(domain: &[u8]) -> Option<String> {
    let domain = std::str::from_utf8(domain).ok().filter(|domain| !domain.ends_with('.'))?;
    canonical_host(domain.strip_prefix('.').unwrap_or(domain))
}

/// Splits `name=value` (RFC 6265 §5.2 steps 2 to 5). Without `=` there is no cookie.
fn split_name_value(pair: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = split_once(pair, b'=')?;
    Some((name.trim_ascii(), value.trim_ascii()))
}

fn split_once(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&byte| byte == separator)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The attributes of a cookie. Of several with the same name, the last is used.
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
    /// Parses the attributes. Returns `None` if the header contains a control character other than a tab, which HTTP
    /// allows as white space.
    fn parse(field: &[u8], parts: impl Iterator<Item = &'f [u8]>) -> Option<Self> {
        if field.iter().any(|&byte| byte.is_ascii_control() && byte != b'\t') {
            return None;
        }
        let mut attributes = Self::default();
        for part in parts {
            let (name, value) = split_once(part, b'=').unwrap_or((part, b""));
            let value = value.trim_ascii();
            if value.len() <= MAX_ATTRIBUTE_LENGTH {
                attributes.set_attribute(&name.trim_ascii().to_ascii_lowercase(), value);
            }
        }
        Some(attributes)
    }

    fn set_attribute(&mut self, name: &[u8], value: &'f [u8]) {
        match name {
            b"expires" => self.expires = parse_cookie_date(value).or(self.expires),
            b"max-age" => self.max_age = parse_max_age(value).or(self.max_age),
            b"domain" if !value.is_empty() => self.domain = Some(value),
            b"path" => self.path = value.starts_with(b"/").then_some(value),
            b"secure" => self.is_secure = true,
            b"httponly" => self.is_http_only = true,
            _ => {}
        }
    }

    /// Returns the expiry time. Max-Age takes precedence over Expires (§5.3 step 3).
    fn expiry(&self, now: i64) -> Option<i64> {
        match self.max_age {
            Some(seconds) if seconds <= 0 => Some(i64::MIN),
            Some(seconds) => Some(now.saturating_add(seconds)),
            None => self.expires,
        }
    }
}

/// Parses Max-Age (§5.2.2): a digit or `-`, then digits. A number that is too large becomes the largest possible.
fn parse_max_age(value: &[u8]) -> Option<i64> {
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
