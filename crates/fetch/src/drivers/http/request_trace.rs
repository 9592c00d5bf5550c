//! The request in the wire trace: the lines that are sent, without secrets, at the moment when they are sent.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, PROXY_AUTHORIZATION};
use http::{HeaderName, HeaderValue, Request, Version};
use http_body::Body as _;

use super::plan::HttpPlan;
use super::request_body::OutgoingBody;
use crate::net::trace::{is_enabled, sent};

/// Traces a request over a direct connection.
pub(super) fn request(request: &Request<OutgoingBody>, plan: &HttpPlan, is_http2: bool) {
    if !is_enabled() {
        return;
    }
    let version = match request.version() {
        _ if is_http2 => "HTTP/2",
        Version::HTTP_10 => "HTTP/1.0",
        _ => "HTTP/1.1",
    };
    sent(&format_args!("{} {} {version}", request.method(), plan.shown(&plan.target)));
    if is_http2 {
        sent(&format_args!("Host: {}", plan.authority));
    }
    let spelt = plan.spellings.spelt(request.headers());
    for ((name, value), (spelling, _)) in request.headers().iter().zip(spelt) {
        let spelling = if is_http2 { name.as_str() } else { &spelling };
        sent(&format_args!("{spelling}: {}", plan.shown(&shown_value(name, value))));
    }
    let length = request.body().size_hint().exact().filter(|length| *length > 0);
    if let Some(length) = length.filter(|_| !request.headers().contains_key(CONTENT_LENGTH)) {
        let name = if is_http2 { "content-length" } else { "Content-Length" };
        sent(&format_args!("{name}: {length}"));
    }
}

/// Traces the lines of a plan, for a request that a proxy reads.
pub(super) fn plan(plan: &HttpPlan) {
    if is_enabled() {
        plan.to_string().lines().for_each(|line| sent(&line));
    }
}

/// Returns the value of a header field; of a secret, only its scheme is shown.
fn shown_value(name: &HeaderName, value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes());
    if [AUTHORIZATION, PROXY_AUTHORIZATION].contains(name) {
        return format!("{} ***", text.split(' ').next().filter(|_| text.contains(' ')).unwrap_or_default())
            .trim_start()
            .to_owned();
    }
    if value.is_sensitive() { "***".to_owned() } else { text.into_owned() }
}
