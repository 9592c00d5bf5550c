//! Checks a URL before anything is sent: no percent-decoded part of it may change the protocol (RFC 1738 §6).

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
    url.headers().map_or(Ok(()), |headers| check(&headers, "header fields", ForbiddenSet::LINE))
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
