//! The cookie file of Netscape and curl: a line a cookie, seven fields between TABs.

use super::cookie::{Cookie, canonical_host};

/// Readers of other programs look for this line.
const HEAD: &[u8] = b"# Netscape HTTP Cookie File\n";

/// Begins the line of an HttpOnly cookie, and no comment (curl).
const HTTP_ONLY: &[u8] = b"#HttpOnly_";

/// What a line says.
pub(super) enum Line {
    /// A comment, or nothing.
    Blank,
    Broken,
    /// The file meant it for the subdomains too; here it is the host's only.
    Narrowed(Cookie),
    Whole(Cookie),
}

/// Reads a line without its end.
pub(super) fn read(line: &[u8]) -> Line {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (line, is_http_only) = match line.strip_prefix(HTTP_ONLY) {
        Some(rest) => (rest, true),
        None if line.starts_with(b"#") || line.trim_ascii().is_empty() => return Line::Blank,
        None => (line, false),
    };
    cookie(line, is_http_only).filter(|(cookie, _)| cookie.is_sound()).map_or(
        Line::Broken,
        |(cookie, has_subdomains)| {
            if has_subdomains { Line::Narrowed(cookie) } else { Line::Whole(cookie) }
        },
    )
}

fn cookie(line: &[u8], is_http_only: bool) -> Option<(Cookie, bool)> {
    let mut fields = line.split(|&octet| octet == b'\t');
    let domain = std::str::from_utf8(fields.next()?).ok()?;
    let has_subdomains = truth(fields.next()?)?;
    let path = fields.next()?.to_vec();
    let is_secure = truth(fields.next()?)?;
    let expires = seconds(fields.next()?)?;
    let name = fields.next()?.to_vec();
    // Editors cut the TAB before an empty value.
    let value = fields.next().unwrap_or_default().to_vec();
    let is_whole = fields.next().is_none();
    let plain = domain.strip_prefix('.');
    let host = canonical_host(plain.unwrap_or(domain))?;
    let cookie = Cookie { host, path, name, value: value.into(), is_secure, is_http_only, expires };
    is_whole.then_some((cookie, has_subdomains || plain.is_some()))
}

fn truth(field: &[u8]) -> Option<bool> {
    match field.to_ascii_uppercase().as_slice() {
        b"TRUE" => Some(true),
        b"FALSE" => Some(false),
        _ => None,
    }
}

/// The outer none is a broken field, the inner one the end of the session.
fn seconds(field: &[u8]) -> Option<Option<i64>> {
    let text = std::str::from_utf8(field).ok()?;
    let is_number = !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    // More digits than an i64 holds are as good as never.
    is_number.then(|| text.parse().unwrap_or(i64::MAX)).map(|seconds| Some(seconds).filter(|&it| it > 0))
}

/// A whole file.
pub(super) fn write<'c>(cookies: impl Iterator<Item = &'c Cookie>) -> Vec<u8> {
    let mut file = HEAD.to_vec();
    cookies.for_each(|cookie| write_line(&mut file, cookie));
    file
}

fn write_line(file: &mut Vec<u8>, cookie: &Cookie) {
    if cookie.is_http_only {
        file.extend(HTTP_ONLY);
    }
    let word = |is: bool| if is { &b"TRUE"[..] } else { b"FALSE" };
    // Zero says "ends with the session", so that what ended long ago is one.
    let expires = cookie.expires.map_or(0, |seconds| seconds.max(1)).to_string();
    let fields = [
        cookie.host.as_bytes(),
        word(false),
        &cookie.path,
        word(cookie.is_secure),
        expires.as_bytes(),
        &cookie.name,
        cookie.value.expose(),
    ];
    file.extend(fields.join(&b'\t'));
    file.push(b'\n');
}
