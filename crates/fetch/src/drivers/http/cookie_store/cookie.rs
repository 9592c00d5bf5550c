//! One cookie: its validity, and the requests that it is sent with.

use std::net::Ipv6Addr;

use super::domain::domain_matches;
use crate::credentials::secret::SecretBytes;

/// Maximum length of a name, in bytes (RFC 6265bis §5.6 limits name and value together).
const MAX_NAME_LENGTH: usize = 4096;
/// Maximum length of a value, in bytes.
const MAX_VALUE_LENGTH: usize = 4096;

/// A cookie of one host, or of a domain.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Cookie {
    /// In the form of [`canonical_host`].
    pub(super) host: String,
    /// The cookie is also sent to the subdomains of `host`.
    pub(super) includes_subdomains: bool,
    pub(super) path: Vec<u8>,
    pub(super) name: Vec<u8>,
    pub(super) value: SecretBytes,
    pub(super) is_secure: bool,
    /// Stored for the cookie file only.
    pub(super) is_http_only: bool,
    /// Unix time in seconds; `None` for a session cookie.
    pub(super) expires: Option<i64>,
}

impl Cookie {
    /// Returns `true` if sizes, characters and name prefix are valid (RFC 6265bis §4.1.3). The parser of Set-Cookie
    /// checks that a `__Host-` cookie has no Domain attribute, also for a public suffix.
    pub(super) fn is_valid(&self) -> bool {
        let value = self.value.expose();
        let is_clean = |bytes: &[u8]| !bytes.iter().any(u8::is_ascii_control);
        !self.name.is_empty()
            && self.name.len() <= MAX_NAME_LENGTH
            && value.len() <= MAX_VALUE_LENGTH
            && is_clean(&self.name)
            && is_clean(value)
            && is_clean(&self.path)
            && self.path.starts_with(b"/")
            // These characters would turn one cookie into two.
            && !self.name.iter().any(|byte| matches!(byte, b'=' | b';'))
            && !value.contains(&b';')
            && self.satisfies_name_prefix()
    }

    fn satisfies_name_prefix(&self) -> bool {
        let for_host = !self.has_host_prefix() || self.path == b"/" && !self.includes_subdomains;
        let needs_tls = self.has_host_prefix() || has_prefix(&self.name, b"__Secure-");
        for_host && (self.is_secure || !needs_tls)
    }

    /// Returns `true` if the name starts with `__Host-`.
    pub(super) fn has_host_prefix(&self) -> bool {
        has_prefix(&self.name, b"__Host-")
    }

    /// Returns `true` if the two cookies have the same identity, so that the newer replaces the older (RFC 6265bis
    /// §5.7). A cookie of a host and one of a domain differ.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    pub(super) fn identity(&self) -> (&[u8], &[u8], &str, bool) {
        (&self.name, &self.path, &self.host, self.includes_subdomains)
    }

    /// Returns `true` if `other`, set without TLS, must not overlay this Secure cookie (RFC 6265bis §5.7, "Leave
    /// Secure Cookies Alone").
    pub(super) fn is_protected_from(&self, other: &Self) -> bool {
        self.is_secure
            && (domain_matches(&self.host, &other.host) || domain_matches(&other.host, &self.host))
            && self.name == other.name
            && path_matches(&other.path, &self.path)
    }

    /// Returns `true` if the cookie has expired at `now`.
    pub(super) fn is_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Returns `true` if the cookie is sent with this request (RFC 6265 §5.4 step 1). `host` is canonical.
    pub(super) fn applies_to(&self, host: &str, path: &[u8], is_tls: bool) -> bool {
        let is_for_host = self.host == host || self.includes_subdomains && domain_matches(&self.host, host);
        is_for_host && path_matches(path, &self.path) && (is_tls || !self.is_secure)
    }
}

/// Returns `true` if the name starts with `prefix`, in upper or lower case (RFC 6265bis §5.5).
fn has_prefix(name: &[u8], prefix: &[u8]) -> bool {
    name.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// Returns a host in lower case, without a final dot and brackets, or `None` if it cannot have cookies.
pub(super) fn canonical_host(host: &str) -> Option<String> {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let host = inner.strip_suffix('.').unwrap_or(inner);
    let is_invalid = |byte: u8| byte.is_ascii_control() || byte == b' ';
    let has_invalid_end = host.starts_with(['.', '#', '[']) || host.ends_with('.');
    if host.is_empty() || has_invalid_end || host.bytes().any(is_invalid) {
        return None;
    }
    // An IPv6 address can be written in several ways.
    let address = host.parse().ok().map(|address: Ipv6Addr| address.to_string());
    Some(address.unwrap_or_else(|| host.to_ascii_lowercase()))
}

/// Returns `true` if the path of a cookie matches that of a request (RFC 6265 §5.1.4). `/foo` does not match
/// `/foobar` (CPython PSF-2019-17).
fn path_matches(request: &[u8], cookie: &[u8]) -> bool {
    match request.strip_prefix(cookie) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/") || cookie.ends_with(b"/"),
        None => false,
    }
}

/// Returns the path of a request without its query.
pub(super) fn request_path(path: &str) -> &[u8] {
    let path = path.split('?').next().unwrap_or_default();
    if path.starts_with('/') { path.as_bytes() } else { b"/" }
}

/// Returns the default path of a cookie: the request path before its last slash (RFC 6265 §5.1.4).
pub(super) fn default_path(request: &str) -> &[u8] {
    let path = request_path(request);
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) if slash > 0 => &path[..slash],
        _ => b"/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_path_matches_whole_segments_only() {
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
    fn hosts_are_canonicalised_or_rejected() {
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
