//! The headers of a request: the defaults, then those of the caller, filtered after a redirect to another origin.

use fetch_url_core::{Security, Url};
use fetch_url_proto::http_date;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, IF_MODIFIED_SINCE,
    IF_RANGE, IF_UNMODIFIED_SINCE, RANGE, REFERER, TE, TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::content_coding::ACCEPTED_CODINGS;
use super::options::{HeaderField, HttpOptions};
use super::range_headers;
use crate::credentials::secret::is_secret_field;
use crate::{Code, Condition, Error, Phase, Request, Resume};

const DEFAULT_USER_AGENT: &str = concat!("fetch-url/", env!("CARGO_PKG_VERSION"));

/// Headers of the caller that contain no secrets: they are sent even after a redirect to another origin.
const CROSS_ORIGIN_HEADERS: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-type",
    "dnt",
    "pragma",
    "prefer",
    "save-data",
    "user-agent",
];

/// Returns the headers of `request` in the order in which they are sent. With `resume`, they request the rest of the
/// object.
pub(super) fn request_headers(
    request: &Request,
    resume: Option<&Resume>,
    options: &HttpOptions,
) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(DEFAULT_USER_AGENT));
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    let wanted = request.wanted_range();
    let rest = resume.map(|resume| range_headers::rest_of(wanted, resume));
    if let Some(range) = rest.or(wanted).filter(|_| request.want() != crate::Want::Head) {
        // With a content coding, the range would count the bytes of the encoded form.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.insert(RANGE, generated_header_value(&range_headers::range_header_value(range))?);
        if let Some(resume) = resume {
            headers
                .insert(IF_RANGE, generated_header_value(&range_headers::if_range_value(&resume.validator))?);
        }
    } else if options.compressed {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED_CODINGS));
    }
    if let Some((name, value)) = request.condition().and_then(condition_header) {
        headers.insert(name, generated_header_value(&value)?);
    }
    if options.transfer_coding {
        headers.insert(TE, HeaderValue::from_static("gzip"));
        headers.insert(CONNECTION, HeaderValue::from_static("TE"));
    }
    add_caller_headers(&mut headers, request, options)?;
    Ok(headers)
}

/// Adds the caller's headers. They replace defaults of the same name; several of the same name are all sent.
fn add_caller_headers(
    headers: &mut HeaderMap,
    request: &Request,
    options: &HttpOptions,
) -> Result<(), Error> {
    let mut seen: Vec<HeaderName> = Vec::new();
    for field in &options.headers {
        let name = header_name(field)?;
        let is_for_target = !request.is_cross_origin() && (name != HOST || !request.has_left_origin());
        let is_allowed = is_for_target || CROSS_ORIGIN_HEADERS.contains(&name.as_str());
        let describes_body = name == CONTENT_TYPE && request.is_plain_get();
        if !seen.contains(&name) {
            headers.remove(&name);
            seen.push(name.clone());
        }
        if let Some(bytes) = field.value.as_deref().filter(|_| is_allowed && !describes_body) {
            let value = header_value(&name, bytes)?;
            headers.append(name, value);
        }
    }
    if options.referer_follows_redirects
        && let Some(from) = request.redirected_from()
    {
        headers.remove(REFERER);
        if let Some(referer) = referer_value(from, request.url()) {
            headers.insert(REFERER, generated_header_value(&referer)?);
        }
    }
    add_cookies(headers, request, options)
}

/// Returns the Referer for a redirect, or `None` if `to` must not receive it: an https URL is not sent without TLS (RFC
/// 9110 §10.1.3).
fn referer_value(from: &Url<'static>, to: &Url<'_>) -> Option<String> {
    let is_downgrade = from.scheme().security == Security::Tls && to.scheme().security != Security::Tls;
    let is_http = matches!(from, Url::Http(_));
    (is_http && !is_downgrade).then(|| from.clone().with_user_info(None).to_string())
}

/// Adds the cookies of the jar for this URL after those in the caller's own Cookie header.
fn add_cookies(headers: &mut HeaderMap, request: &Request, options: &HttpOptions) -> Result<(), Error> {
    let (Some(jar), Url::Http(url)) = (&options.cookies, request.url()) else { return Ok(()) };
    let Some(kept) = jar.cookie_header(url) else { return Ok(()) };
    let all = match headers.get(COOKIE) {
        Some(own) => [own.as_bytes(), b"; ", &kept].concat(),
        None => kept,
    };
    headers.insert(COOKIE, header_value(&COOKIE, &all)?);
    Ok(())
}

/// Returns name and value for a condition.
fn condition_header(condition: Condition) -> Option<(HeaderName, String)> {
    let (name, seconds) = match condition {
        Condition::ModifiedSince(seconds) => (IF_MODIFIED_SINCE, seconds),
        Condition::UnmodifiedSince(seconds) => (IF_UNMODIFIED_SINCE, seconds),
    };
    Some((name, http_date::format(seconds)?))
}

fn header_name(field: &HeaderField) -> Result<HeaderName, Error> {
    let invalid = |why: &str| {
        let detail = format!("the header {:?} {why}", field.name);
        Err(Error::new(Code::Usage, Phase::Plan, detail))
    };
    let Ok(name) = HeaderName::from_bytes(field.name.as_bytes()) else {
        return invalid("has an invalid name");
    };
    if [CONTENT_LENGTH, TRANSFER_ENCODING].contains(&name) && field.value.is_some() {
        return invalid("cannot be set: it follows from the body");
    }
    Ok(name)
}

/// Returns a checked header value; a secret one is marked as sensitive.
fn header_value(name: &HeaderName, bytes: &[u8]) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_bytes(bytes).map_err(|_| {
        let detail = format!("the value of the header {name} contains a control character");
        Error::new(Code::ForbiddenByte, Phase::Plan, detail)
    })?;
    value.set_sensitive(is_secret_field(name.as_str()));
    Ok(value)
}

/// Returns a header value built by this program.
fn generated_header_value(text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text).map_err(|error| Error::new(Code::Internal, Phase::Plan, error.to_string()))
}

/// Removes and returns the caller's Host, which replaces the host of the URL.
pub(super) fn take_host(headers: &mut HeaderMap) -> Option<String> {
    let host = headers.remove(HOST)?;
    host.to_str().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RedirectState;

    fn shown(options: &HttpOptions, state: RedirectState) -> Vec<String> {
        let request = Request::new("http://h.test/").expect("a URL");
        let url = request.url().clone();
        let headers = request_headers(&request.redirected_to(url, state), None, options).expect("headers");
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().expect("text"))).collect()
    }

    fn options(headers: &[(&str, Option<&str>)]) -> HttpOptions {
        let field = |(name, value): &(&str, Option<&str>)| HeaderField {
            name: (*name).to_owned(),
            value: value.map(|value| value.as_bytes().to_vec()),
        };
        HttpOptions { headers: headers.iter().map(field).collect(), ..HttpOptions::default() }
    }

    #[test]
    fn caller_headers_replace_defaults() {
        let options = options(&[
            ("User-Agent", Some("me")),
            ("accept", None),
            ("X-A", Some("1")),
            ("x-a", Some("2")),
            ("X-Empty", Some("")),
        ]);
        let headers = shown(&options, RedirectState::default());
        assert_eq!(headers, ["user-agent: me", "x-a: 1", "x-a: 2", "x-empty: "]);
    }

    #[test]
    fn only_harmless_headers_are_sent_cross_origin() {
        let options = options(&[
            ("Authorization", Some("Bearer secret")),
            ("Cookie", Some("a=secret")),
            ("X-Api-Key", Some("secret")),
            ("X-Anything", Some("secret")),
            ("Host", Some("secret")),
            ("Accept-Language", Some("de")),
        ]);
        let cross_origin = RedirectState { is_cross_origin: true, ..RedirectState::default() };
        let headers = shown(&options, cross_origin).join("\n");
        assert!(headers.contains("accept-language: de") && !headers.contains("secret"), "{headers}");
        assert_eq!(shown(&options, RedirectState::default()).len(), 8);
    }

    #[test]
    fn headers_that_change_the_message_framing_are_rejected() {
        let request = Request::new("http://h.test/").expect("a URL");
        for (name, value, code) in [
            ("A\r\nB", "c", Code::Usage),
            ("", "c", Code::Usage),
            ("A B", "c", Code::Usage),
            ("A", "c\r\nB: d", Code::ForbiddenByte),
            ("A", "c\0", Code::ForbiddenByte),
            ("Content-Length", "5", Code::Usage),
            ("Transfer-Encoding", "chunked", Code::Usage),
        ] {
            let error = request_headers(&request, None, &options(&[(name, Some(value))])).expect_err(name);
            assert_eq!(error.code(), code, "{name:?}: {value:?}");
        }
    }
}
