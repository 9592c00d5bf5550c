//! Requests that an HTTP proxy reads: their target is the whole URL (RFC 9112 §3.2.2). The proxy fetches it itself, also
//! from FTP servers. No I/O.

use fetch_url_core::{Typecode, Url};
use fetch_url_proto::check_sendable;

use super::options::HttpOptions;
use crate::{Error, Request};

/// Returns the request target for an FTP URL. Its password is not part of it: the login is sent as `Authorization`. A
/// user without a password stays in the URL. A file without a typecode gets one, because some proxies (squid) otherwise
/// transfer texts in ASCII mode, which changes their line ends.
///
/// # Errors
/// `Code::ForbiddenByte` for a byte that would inject an FTP command; `Code::Unsupported` if the URL cannot be sent
/// unchanged.
pub(super) fn absolute_form(request: &Request) -> Result<String, Error> {
    let url = request.url();
    check_sendable(url)?;
    let has_password = request.login().is_some_and(|login| login.expose_password().is_some());
    let mut target = if has_password {
        url.clone().with_user_info(None).to_string()
    } else {
        url.without_password().to_string()
    };
    if matches!(url, Url::Ftp(url) if url.path().is_none()) {
        target.push('/');
    }
    if let Some(typecode) = missing_typecode(request) {
        target.push_str(&format!(";type={typecode}"));
    }
    check_unchanged(target)
}

/// Returns `target` if hyper sends it byte for byte.
pub(super) fn check_unchanged(target: String) -> Result<String, Error> {
    match target.parse::<http::Uri>() {
        Ok(uri) if uri.to_string() == target => Ok(target),
        _ => Err(Error::unsupported("this URL cannot be sent unchanged through an HTTP proxy")),
    }
}

/// Returns the typecode (RFC 1738 §3.2.2) that the request asks for and its URL does not have; `None` for a directory.
fn missing_typecode(request: &Request) -> Option<Typecode> {
    let Url::Ftp(url) = request.url() else { return None };
    let path = url.path()?;
    let text = path.to_string();
    if path.typecode().is_some() || text.is_empty() || text.ends_with('/') {
        return None;
    }
    #[cfg(feature = "ftp")]
    if let Some(options) = request.extra::<crate::ftp::FtpOptions>() {
        if options.force_listing {
            return Some(Typecode::Directory);
        }
        if options.ascii {
            return Some(Typecode::Ascii);
        }
    }
    Some(Typecode::Image)
}

/// Returns the options that apply to a forwarded request. Method, body, header fields and cookies are for HTTP servers;
/// only `Via` is for the proxy, which recognises loops by it.
pub(super) fn options(mut options: HttpOptions) -> HttpOptions {
    options.headers.retain(|field| field.name.eq_ignore_ascii_case("via"));
    HttpOptions {
        headers: options.headers,
        deliver_error_body: options.deliver_error_body,
        compressed: options.compressed,
        index_as_listing: options.index_as_listing,
        index_rule: options.index_rule,
        ..HttpOptions::default()
    }
}
