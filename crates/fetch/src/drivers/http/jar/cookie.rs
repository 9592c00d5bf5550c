//! One cookie: whose it is, which requests it goes with, and which ones are not taken at all.

use std::net::Ipv6Addr;

use crate::credentials::secret::SecretBytes;

/// The longest name and the longest value, in octets (RFC 6265bis §5.6 has them together).
const MAX_NAME: usize = 4096;
const MAX_VALUE: usize = 4096;

/// A cookie of one host only.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Cookie {
    /// As [`canonical_host`] made it.
    pub(super) host: String,
    pub(super) path: Vec<u8>,
    pub(super) name: Vec<u8>,
    pub(super) value: SecretBytes,
    pub(super) is_secure: bool,
    /// For the file only: there are no scripts here to hide a cookie from.
    pub(super) is_http_only: bool,
    /// None ends with the session.
    pub(super) expires: Option<i64>,
}

impl Cookie {
    /// The rules for a cookie by itself: sizes, octets, and the prefixes of RFC 6265bis §4.1.3.
    /// The Domain attribute that `__Host-` forbids is not known here.
    pub(super) fn is_sound(&self) -> bool {
        let value = self.value.expose();
        let is_clean = |octets: &[u8]| !octets.iter().any(u8::is_ascii_control);
        !self.name.is_empty()
            && self.name.len() <= MAX_NAME
            && value.len() <= MAX_VALUE
            && is_clean(&self.name)
            && is_clean(value)
            && is_clean(&self.path)
            && self.path.starts_with(b"/")
            // Else one cookie would go out as two.
            && !self.name.iter().any(|octet| matches!(octet, b'=' | b';'))
            && !value.contains(&b';')
            && self.keeps_promise_of_name()
    }

    fn keeps_promise_of_name(&self) -> bool {
        let for_host = !self.is_for_host() || self.path == b"/";
        let needs_tls = self.is_for_host() || has_prefix(&self.name, b"__Secure-");
        for_host && (self.is_secure || !needs_tls)
    }

    /// Whether the name says that the cookie came from this host and goes to all of it.
    pub(super) fn is_for_host(&self) -> bool {
        has_prefix(&self.name, b"__Host-")
    }

    /// Whether one takes the place of the other (RFC 6265 §5.3 step 11).
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.host == other.host && self.path == other.path && self.name == other.name
    }

    /// "Leave Secure Cookies Alone" (RFC 6265bis §5.7): whether `other`, from a plain answer, would
    /// stand in front of this one.
    pub(super) fn is_guarded_from(&self, other: &Self) -> bool {
        self.is_secure
            && self.host == other.host
            && self.name == other.name
            && path_matches(&other.path, &self.path)
    }

    pub(super) fn is_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// RFC 6265 §5.4 step 1, for a canonical host.
    pub(super) fn goes_with(&self, host: &str, path: &[u8], is_tls: bool) -> bool {
        self.host == host && path_matches(path, &self.path) && (is_tls || !self.is_secure)
    }
}

/// Without regard to case, as servers read names (RFC 6265bis §5.5).
fn has_prefix(name: &[u8], prefix: &[u8]) -> bool {
    name.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// A host in lower case, without a final dot and without brackets; none if it can have no cookies.
pub(super) fn canonical_host(host: &str) -> Option<String> {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let host = inner.strip_suffix('.').unwrap_or(inner);
    let is_spoilt = |octet: u8| octet.is_ascii_control() || octet == b' ';
    let is_odd = host.starts_with(['.', '#', '[']) || host.ends_with('.');
    if host.is_empty() || is_odd || host.bytes().any(is_spoilt) {
        return None;
    }
    // An address may be written in several ways.
    let address = host.parse().ok().map(|address: Ipv6Addr| address.to_string());
    Some(address.unwrap_or_else(|| host.to_ascii_lowercase()))
}

/// RFC 6265 §5.1.4. `/foo` does not match `/foobar` (CPython PSF-2019-17).
fn path_matches(request: &[u8], cookie: &[u8]) -> bool {
    match request.strip_prefix(cookie) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/") || cookie.ends_with(b"/"),
        None => false,
    }
}

/// The path of a request without its query.
pub(super) fn request_path(path: &str) -> &[u8] {
    let path = path.split('?').next().unwrap_or_default();
    if path.starts_with('/') { path.as_bytes() } else { b"/" }
}

/// RFC 6265 §5.1.4: up to the last slash and without it.
pub(super) fn default_path(request: &str) -> &[u8] {
    let path = request_path(request);
    match path.iter().rposition(|&octet| octet == b'/') {
        Some(slash) if slash > 0 => &path[..slash],
        _ => b"/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (request, cookie, matches) in [
            ("/foo", "/foo", true),
            ("/foo/", "/foo", true),
            ("/foo/bar", "/foo", true),
            ("/foobar", "/foo", false),
            ("/foo", "/foo/", false),
            ("/foo/bar", "/foo/", true),
            ("/", "/", true),
            ("/x", "/", true),
            ("/Foo", "/foo", false),
            ("/foo%2fbar", "/foo", false),
            ("/", "/foo", false),
        ] {
            assert_eq!(path_matches(request.as_bytes(), cookie.as_bytes()), matches, "{request} {cookie}");
        }
        for (request, path) in [
            ("/a/b/c", "/a/b"),
            ("/a/b/", "/a/b"),
            ("/a", "/"),
            ("/", "/"),
            ("", "/"),
            ("a/b", "/"),
            ("/a/b?c/d", "/a"),
            ("?/a/b", "/"),
            ("//", "/"),
        ] {
            assert_eq!(default_path(request), path.as_bytes(), "{request}");
        }
    }

    #[test]
    fn hosts() {
        for (host, canonical) in [
            ("Example.COM.", Some("example.com")),
            ("[::1]", Some("::1")),
            ("[0:0::0:1]", Some("::1")),
            ("127.0.0.1", Some("127.0.0.1")),
            ("", None),
            (".", None),
            ("a\tb", None),
            ("a b", None),
            ("#HttpOnly_a", None),
            (".a", None),
            ("a..", None),
            ("[::1].", None),
            ("[[::1]]", None),
        ] {
            assert_eq!(canonical_host(host).as_deref(), canonical, "{host:?}");
        }
    }
}
