//! HTTP's request for a URL (RFC 1738 §3.3, RFC 9112 §3.2).

use fetch_url_core::HttpUrl;

use crate::Outline;

/// Nothing is decoded: path and search go out as they are written.
pub(crate) fn requests(url: &HttpUrl<'_>, outline: &mut Outline) {
    outline.say(&[b"GET ", url.origin_form().as_bytes(), b" HTTP/1.1"]);
    outline.say(&[b"Host: ", host_field(url).as_bytes()]);
}

/// RFC 9110 §7.2: the port only when it is not the scheme's own.
fn host_field(url: &HttpUrl<'_>) -> String {
    let at = url.login().at();
    match at.port() {
        Some(port) if Some(port.get()) != url.scheme().default_port => format!("{}:{port}", at.host()),
        _ => at.host().to_string(),
    }
}
