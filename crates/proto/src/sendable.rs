//! Checks a URL before anything is sent: no percent-decoded byte may end a line, a field or an argument of the protocol
//! early (RFC 1738 §6).

use fetch_url_core::{
    Authority, FileUrl, FtpUrl, MailtoUrl, NewsResource, NewsUrl, NntpUrl, PercentEncoded, TelnetUrl, Url,
    WaisResource, WaisUrl,
};

use crate::ftp::{FtpRequest, RequestOptions};
use crate::gopher::GopherRequest;
use crate::prospero::ObjectId;
use crate::{ForbiddenByte, ForbiddenSet};

/// Checks that every part of `url`, percent-decoded, can be sent in the protocol of its scheme (RFC 1738 §6).
///
/// `http` URLs always pass, because they are sent as they are written, and so do URLs of schemes that this crate does
/// not implement.
///
/// # Errors
/// The first byte that would end a line, a field or an argument early, such as `%0D%0A` in an FTP path. Nothing of such
/// a URL may be sent.
pub fn check_sendable(url: &Url<'_>) -> Result<(), ForbiddenByte> {
    match url {
        Url::File(url) => check_file(url),
        Url::Ftp(url) => check_ftp(url),
        Url::Gopher(url) => GopherRequest::from_url(url).map(drop),
        Url::Mailto(url) => check_mailto(url),
        Url::News(url) => check_news(url),
        Url::Nntp(url) => check_nntp(url),
        Url::Prospero(url) => ObjectId::from_url(url).map(drop),
        Url::Telnet(url) => check_telnet(url),
        Url::Wais(url) => check_wais(url),
        _ => Ok(()),
    }
}

fn check(
    part: &PercentEncoded<'_>,
    name: &'static str,
    forbidden: ForbiddenSet,
) -> Result<(), ForbiddenByte> {
    forbidden.check(name, &part.decode()).map(drop)
}

/// Rejects a decoded slash or NUL, which would name another file.
fn check_file(url: &FileUrl<'_>) -> Result<(), ForbiddenByte> {
    url.path().split('/').try_for_each(|segment| check(&segment, "path", ForbiddenSet::FILE_NAME))
}

fn check_ftp(url: &FtpUrl<'_>) -> Result<(), ForbiddenByte> {
    check_login(url.authority(), ForbiddenSet::LINE)?;
    FtpRequest::new(url, &RequestOptions::default()).map(drop)
}

fn check_mailto(url: &MailtoUrl<'_>) -> Result<(), ForbiddenByte> {
    check(&url.address(), "address", ForbiddenSet::LINE)?;
    let Some(headers) = url.headers() else { return Ok(()) };
    headers.split('&').try_for_each(|field| match field.split_once('=') {
        Some((name, value)) if name.decode().eq_ignore_ascii_case(b"body") => check_mail_body(&value),
        _ => check(&field, "header fields", ForbiddenSet::LINE),
    })
}

/// Accepts CR LF, because the body of a message may have several lines (RFC 6068 §5). Header fields may not.
fn check_mail_body(body: &PercentEncoded<'_>) -> Result<(), ForbiddenByte> {
    let body = body.decode();
    let mut rest = &body[..];
    while let Some(end) = memchr::memmem::find(rest, b"\r\n") {
        ForbiddenSet::LINE.check("header fields", &rest[..end])?;
        rest = &rest[end + 2..];
    }
    ForbiddenSet::LINE.check("header fields", rest).map(drop)
}

fn check_news(url: &NewsUrl<'_>) -> Result<(), ForbiddenByte> {
    match url.resource() {
        NewsResource::Article(id) | NewsResource::Group(id) if id.decode().contains(&b'@') => {
            check(id, "message-id", ForbiddenSet::NNTP)
        }
        NewsResource::Group(group) => check(group, "group", ForbiddenSet::NNTP),
        _ => Ok(()),
    }
}

fn check_nntp(url: &NntpUrl<'_>) -> Result<(), ForbiddenByte> {
    check(url.group(), "group", ForbiddenSet::NNTP)
}

fn check_telnet(url: &TelnetUrl<'_>) -> Result<(), ForbiddenByte> {
    check_login(url.authority(), ForbiddenSet::TELNET)
}

fn check_wais(url: &WaisUrl<'_>) -> Result<(), ForbiddenByte> {
    check(url.database(), "database", ForbiddenSet::LINE)?;
    match url.resource() {
        WaisResource::Document { wtype, .. } => check(wtype, "type", ForbiddenSet::LINE),
        _ => Ok(()),
    }
}

fn check_login(authority: &Authority<'_>, forbidden: ForbiddenSet) -> Result<(), ForbiddenByte> {
    authority.user().map_or(Ok(()), |user| check(user, "user", forbidden))?;
    authority.password().map_or(Ok(()), |password| check(password.expose(), "password", forbidden))
}

#[cfg(test)]
mod tests {
    use fetch_url_core::parse;

    use super::*;

    fn error(url: &str) -> Option<String> {
        let parsed = parse(url).unwrap_or_else(|error| panic!("{url}: {error:?}"));
        check_sendable(&parsed.url).err().map(|error| error.to_string())
    }

    #[test]
    fn bytes_that_change_the_protocol_are_refused_in_every_part() {
        for (url, part) in [
            ("file:///a/b%2Fc", "path"),
            ("file:///a%00", "path"),
            ("ftp://h/a%0D%0ADELE%20b", "path"),
            ("ftp://u%0Ax:p@h/", "user"),
            ("ftp://u:p%0D@h/", "password"),
            ("gopher://h/0a%0D%0Ab", "selector"),
            ("mailto:a%0Ab@h", "address"),
            ("mailto:a@h?subject=x%0D%0Abcc:y", "header"),
            ("mailto:a@h?body%0D%0A=x", "header"),
            ("mailto:a@h?body%0D%0A", "header"),
            ("mailto:a@h?body=x%0Ay", "header"),
            ("mailto:a@h?body=x%0Dy", "header"),
            ("mailto:a@h?body=x%0A%0Dy", "header"),
            ("mailto:a@h?body=x%0D%0D%0Ay", "header"),
            ("mailto:a@h?body=x%0D%0A%00", "header"),
            ("mailto:a@h?body=x%0D%0Ay&cc=b@h%0D%0Abcc:c", "header"),
            ("news:a%0Ab@h", "message-id"),
            ("news:comp%20x", "group"),
            ("nntp://h/comp%0Ax/1", "group"),
            ("telnet://u%0D:p@h/", "user"),
            ("telnet://u:p%00@h/", "password"),
            ("wais://h/d%0Ab", "database"),
            ("wais://h/d/t%0A/p", "type"),
        ] {
            let error = error(url).unwrap_or_else(|| panic!("{url} can be sent"));
            assert!(error.contains(part), "{url}: {error}");
        }
    }

    #[test]
    fn other_bytes_can_be_sent() {
        for url in [
            "file:///a%20b/%C3%A4",
            "ftp://u%40x:p%3A@h/a%20b/%FF;type=i",
            "gopher://h/0a%20b",
            "http://h/a%0D%0Ab",
            "mailto:a%20b@h?subject=x%20y",
            "mailto:a@h?body=x%0D%0A%0D%0Ay%0d%0a&subject=z",
            "mailto:a@h?BODY=x%0D%0Ay",
            "news:a/b%25@h",
            "news:comp.x",
            "news:*",
            "nntp://h/comp.x/1",
            "telnet://u:p@h/",
            "wais://h/d%20e/t/p",
            "wais://h/d?q",
        ] {
            assert_eq!(error(url), None, "{url}");
        }
    }
}
