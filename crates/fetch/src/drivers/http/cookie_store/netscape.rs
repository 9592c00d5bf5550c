//! The cookie file format of Netscape and curl: one line for each cookie, seven fields separated by tabs.

use super::cookie::{Cookie, canonical_host};
use super::domain::may_include_subdomains;

/// The first line, which other programs require.
const FILE_HEADER: &[u8] = b"# Netscape HTTP Cookie File\n";

/// The start of the line of an HttpOnly cookie; it is not a comment (curl).
const HTTP_ONLY_PREFIX: &[u8] = b"#HttpOnly_";

/// A parsed line.
pub(super) enum FileLine {
    /// An empty line or a comment.
    Blank,
    /// A line in another format, or with an invalid cookie.
    Invalid,
    /// A cookie that the file assigns to all subdomains of a public suffix. It is stored for the host only.
    Narrowed(Cookie),
    /// A cookie of one host, or of a domain.
    Cookie(Cookie),
}

/// Parses a line without its line feed.
pub(super) fn parse_line(line: &[u8]) -> FileLine {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (line, is_http_only) = match line.strip_prefix(HTTP_ONLY_PREFIX) {
        Some(rest) => (rest, true),
        None if line.starts_with(b"#") || line.trim_ascii().is_empty() => return FileLine::Blank,
        None => (line, false),
    };
    parse_cookie(line, is_http_only).filter(|(cookie, _)| cookie.is_valid()).map_or(
        FileLine::Invalid,
        |(cookie, has_subdomains)| {
            let is_narrowed = has_subdomains && !cookie.includes_subdomains;
            if is_narrowed { FileLine::Narrowed(cookie) } else { FileLine::Cookie(cookie) }
        },
    )
}

fn parse_cookie(line: &[u8], is_http_only: bool) -> Option<(Cookie, bool)> {
    let mut fields = line.split(|&byte| byte == b'\t');
    let domain = std::str::from_utf8(fields.next()?).ok()?;
    let has_subdomains = parse_boolean(fields.next()?)?;
    let path = Some(fields.next()?).filter(|path| !path.is_empty()).unwrap_or(b"/").to_vec();
    let is_secure = parse_boolean(fields.next()?)?;
    let expires = parse_expiry(fields.next()?)?;
    let name = fields.next()?.to_vec();
    // Editors remove the tab before an empty value.
    let value = fields.next().unwrap_or_default().to_vec();
    let is_complete = fields.next().is_none();
    // As in curl, only the second field counts, not a dot before the domain.
    let host = canonical_host(domain.strip_prefix('.').unwrap_or(domain))?;
    let includes_subdomains = has_subdomains && may_include_subdomains(&host);
    let value = value.into();
    let cookie = Cookie { host, includes_subdomains, path, name, value, is_secure, is_http_only, expires };
    is_complete.then_some((cookie, has_subdomains))
}

fn parse_boolean(field: &[u8]) -> Option<bool> {
    match field.to_ascii_uppercase().as_slice() {
        b"TRUE" => Some(true),
        b"FALSE" => Some(false),
        _ => None,
    }
}

/// Returns the expiry time, or `Some(None)` for a session cookie, or `None` for an invalid field. Some programs write
/// fractions of seconds, which are ignored.
fn parse_expiry(field: &[u8]) -> Option<Option<i64>> {
    let text = std::str::from_utf8(field).ok()?;
    let (text, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A number too large for an i64 means that the cookie does not expire.
    is_number.then(|| text.parse().unwrap_or(i64::MAX)).map(|seconds| Some(seconds).filter(|&it| it > 0))
}

/// Returns a cookie file.
pub(super) fn write_file<'c>(cookies: impl Iterator<Item = &'c Cookie>) -> Vec<u8> {
    let mut file = FILE_HEADER.to_vec();
    cookies.for_each(|cookie| write_line(&mut file, cookie));
    file
}

fn write_line(file: &mut Vec<u8>, cookie: &Cookie) {
    if cookie.is_http_only {
        file.extend(HTTP_ONLY_PREFIX);
    }
    let word = |is: bool| if is { &b"TRUE"[..] } else { b"FALSE" };
    // Zero means a session cookie, so an expiry time before 1970 is written as 1.
    let expires = cookie.expires.map_or(0, |seconds| seconds.max(1)).to_string();
    if cookie.includes_subdomains {
        file.push(b'.');
    }
    let fields = [
        cookie.host.as_bytes(),
        word(cookie.includes_subdomains),
        &cookie.path,
        word(cookie.is_secure),
        expires.as_bytes(),
        &cookie.name,
        cookie.value.expose(),
    ];
    file.extend(fields.join(&b'\t'));
    file.push(b'\n');
}
