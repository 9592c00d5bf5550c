//! The header fields of a request: ours, then the caller's, as far as they may be shown.

use fetch_url_core::Url;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, IF_MODIFIED_SINCE, IF_RANGE,
    IF_UNMODIFIED_SINCE, PROXY_AUTHORIZATION, RANGE, TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::options::{Field, HttpOptions};
use super::range;
use crate::{ByteRange, Code, Condition, Error, Phase, Request};

const AGENT: &str = concat!("fetch-url/", env!("CARGO_PKG_VERSION"));

/// What `--compressed` offers.
const CODINGS: &str = "gzip, deflate, br, zstd";

/// Fields of the caller that give nothing away, so that they may be sent to whoever a redirect names.
const HARMLESS: &[&str] = &[
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

/// Words in the name of a field whose value is not shown in a dialogue.
const SECRET_WORDS: &[&str] = &["auth", "cookie", "key", "passw", "secret", "session", "token"];

/// The fields that go out for `request`, in their order.
pub(super) fn of(request: &Request, options: &HttpOptions) -> Result<HeaderMap, Error> {
    let mut fields = HeaderMap::new();
    fields.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    fields.insert(ACCEPT, HeaderValue::from_static("*/*"));
    let resume = request.resume();
    let asked = resume.map(|resume| ByteRange::Span { first: resume.offset, last: None });
    if let Some(asked) = asked.or(request.wanted_range()).filter(|_| request.want() != crate::Want::Head) {
        // A server that compresses on the fly counts the octets of something else.
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        fields.insert(RANGE, text(&range::field(asked))?);
        if let Some(resume) = resume {
            fields.insert(IF_RANGE, text(&range::if_range(&resume.validator))?);
        }
    } else if options.decode {
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static(CODINGS));
    }
    if let Some((name, value)) = request.condition().and_then(condition) {
        fields.insert(name, text(&value)?);
    }
    add_own(&mut fields, request, options)?;
    Ok(fields)
}

/// The caller's fields. Those of one name stand beside each other, and instead of ours.
fn add_own(fields: &mut HeaderMap, request: &Request, options: &HttpOptions) -> Result<(), Error> {
    let mut seen: Vec<HeaderName> = Vec::new();
    for field in &options.fields {
        let name = name(field)?;
        let is_shown = !request.is_abroad() || HARMLESS.contains(&name.as_str());
        let is_of_body = name == CONTENT_TYPE && request.is_plain();
        if !seen.contains(&name) {
            fields.remove(&name);
            seen.push(name.clone());
        }
        if let Some(octets) = field.value.as_deref().filter(|_| is_shown && !is_of_body) {
            let value = value(&name, octets)?;
            fields.append(name, value);
        }
    }
    add_cookies(fields, request, options)
}

/// The jar's cookies for this server, behind those that the caller wrote.
fn add_cookies(fields: &mut HeaderMap, request: &Request, options: &HttpOptions) -> Result<(), Error> {
    let (Some(jar), Url::Http(url)) = (&options.cookies, request.url()) else { return Ok(()) };
    let Some(kept) = jar.header(url) else { return Ok(()) };
    let all = match fields.get(COOKIE) {
        Some(own) => [own.as_bytes(), b"; ", &kept].concat(),
        None => kept,
    };
    fields.insert(COOKIE, value(&COOKIE, &all)?);
    Ok(())
}

fn condition(condition: Condition) -> Option<(HeaderName, String)> {
    let (name, seconds) = match condition {
        Condition::ModifiedSince(seconds) => (IF_MODIFIED_SINCE, seconds),
        Condition::UnmodifiedSince(seconds) => (IF_UNMODIFIED_SINCE, seconds),
    };
    let since = std::time::Duration::from_secs(u64::try_from(seconds).ok()?);
    Some((name, httpdate::fmt_http_date(std::time::UNIX_EPOCH.checked_add(since)?)))
}

fn name(field: &Field) -> Result<HeaderName, Error> {
    let wrong = |why: &str| {
        let detail = format!("the header field {:?} {why}", field.name);
        Err(Error::new(Code::Usage, Phase::Plan, detail))
    };
    let Ok(name) = HeaderName::from_bytes(field.name.as_bytes()) else { return wrong("has no valid name") };
    if [CONTENT_LENGTH, TRANSFER_ENCODING].contains(&name) && field.value.is_some() {
        return wrong("is for the body to say");
    }
    Ok(name)
}

/// A value, checked; one that gives access to something is marked.
fn value(name: &HeaderName, octets: &[u8]) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_bytes(octets).map_err(|_| {
        let detail = format!("the header field {name} holds an octet that would end it");
        Error::new(Code::ForbiddenOctet, Phase::Plan, detail)
    })?;
    value.set_sensitive(is_secret(name));
    Ok(value)
}

/// Whether the value of a field of this name is kept out of every dialogue.
fn is_secret(name: &HeaderName) -> bool {
    SECRET_WORDS.iter().any(|word| name.as_str().contains(word))
}

fn text(text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text).map_err(|error| Error::new(Code::Internal, Phase::Plan, error.to_string()))
}

/// Takes what the caller asked for as the name of the server: it stands in the URL's place.
pub(super) fn take_host(fields: &mut HeaderMap) -> Option<String> {
    let host = fields.remove(HOST)?;
    host.to_str().ok().map(str::to_owned)
}

/// What is meant for a proxy is nothing that a server may see.
pub(super) fn take_proxy_secrets(fields: &mut HeaderMap) -> Option<HeaderValue> {
    fields.remove(PROXY_AUTHORIZATION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::HopStanding;

    fn shown(options: &HttpOptions, standing: HopStanding) -> Vec<String> {
        let request = Request::new("http://h.test/").expect("a URL");
        let url = request.url().clone();
        let fields = of(&request.moved_to(url, standing), options).expect("fields");
        fields.iter().map(|(name, value)| format!("{name}: {}", value.to_str().expect("text"))).collect()
    }

    fn options(fields: &[(&str, Option<&str>)]) -> HttpOptions {
        let field = |(name, value): &(&str, Option<&str>)| Field {
            name: (*name).to_owned(),
            value: value.map(|value| value.as_bytes().to_vec()),
        };
        HttpOptions { fields: fields.iter().map(field).collect(), ..HttpOptions::default() }
    }

    #[test]
    fn the_callers_fields_stand_instead_of_ours() {
        let options = options(&[
            ("User-Agent", Some("me")),
            ("accept", None),
            ("X-A", Some("1")),
            ("x-a", Some("2")),
            ("X-Empty", Some("")),
        ]);
        let fields = shown(&options, HopStanding::default());
        assert_eq!(fields, ["user-agent: me", "x-a: 1", "x-a: 2", "x-empty: "]);
    }

    #[test]
    fn abroad_only_what_is_harmless_is_sent() {
        let options = options(&[
            ("Authorization", Some("Bearer geheim")),
            ("Cookie", Some("a=geheim")),
            ("X-Api-Key", Some("geheim")),
            ("X-Anything", Some("geheim")),
            ("Host", Some("geheim")),
            ("Accept-Language", Some("de")),
        ]);
        let abroad = HopStanding { is_abroad: true, ..HopStanding::default() };
        let fields = shown(&options, abroad).join("\n");
        assert!(fields.contains("accept-language: de") && !fields.contains("geheim"), "{fields}");
        assert_eq!(shown(&options, HopStanding::default()).len(), 8);
    }

    #[test]
    fn what_would_change_the_message_is_refused() {
        let request = Request::new("http://h.test/").expect("a URL");
        for (name, value, code) in [
            ("A\r\nB", "c", Code::Usage),
            ("", "c", Code::Usage),
            ("A B", "c", Code::Usage),
            ("A", "c\r\nB: d", Code::ForbiddenOctet),
            ("A", "c\0", Code::ForbiddenOctet),
            ("Content-Length", "5", Code::Usage),
            ("Transfer-Encoding", "chunked", Code::Usage),
        ] {
            let error = of(&request, &options(&[(name, Some(value))])).expect_err(name);
            assert_eq!(error.code(), code, "{name:?}: {value:?}");
        }
    }
}
