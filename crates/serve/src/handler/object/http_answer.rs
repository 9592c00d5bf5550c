//! Maps the response of an http server. A proxy's client gets its fields, a path only those that are safe here.

use fetch_url::response::Content;
use fetch_url::url::resolve_reference;
use fetch_url::{Error, Meta, Url};
use http::StatusCode;
use http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION, VIA,
    WWW_AUTHENTICATE,
};

use crate::answer::Answer;
use crate::answer_body::AnswerContent;
use crate::authorization::server_name;
use crate::conditions::matches_etag;
use crate::disposition::attachment;
use crate::link::Form;
use crate::log::error_for_log;
use crate::media_type::{essence, is_shown, media_type};
use crate::request_head::RequestHead;
use crate::security_headers::ContentOrigin;
use crate::shared::Shared;
use crate::status::is_refusal_of_proxy;

/// The fields that an answer in path form keeps. Cookies, policies and logins would be those of this server.
const KEPT_FIELDS: [&str; 9] = [
    "accept-ranges",
    "content-encoding",
    "content-language",
    "content-range",
    "content-type",
    "etag",
    "expires",
    "last-modified",
    "retry-after",
];
/// The fields that are for the connection to the http server only (RFC 9110 §7.6.1), or that hyper sets.
const CONNECTION_FIELDS: [&str; 9] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Returns the answer for the response of an http server.
///
/// # Errors
/// The response is the refusal of the proxy that this server uses (407), or its body fails at the start.
pub(super) async fn http_answer(
    shared: &Shared,
    head: &RequestHead,
    form: Form,
    meta: Meta,
    content: Content,
    status_error: Option<Error>,
) -> Result<Answer, Error> {
    if let Some(refusal) = status_error.as_ref().filter(|error| is_refusal_of_proxy(error)) {
        return Err(refusal.clone());
    }
    let is_unchanged = matches!(content, Content::Unchanged);
    let status = match meta.status.map(StatusCode::from_u16) {
        Some(Ok(status)) => status,
        _ if is_unchanged => StatusCode::NOT_MODIFIED,
        _ => StatusCode::BAD_GATEWAY,
    };
    let origin = if form == Form::Proxy { ContentOrigin::Upstream } else { ContentOrigin::Sandboxed };
    let mut answer = Answer::new(status, origin);
    add_fields(&mut answer, form, &meta);
    match form {
        Form::Proxy => add_via(&mut answer, shared),
        Form::Path => answer = for_path(answer, &meta),
    }
    answer.error = status_error.as_ref().map(error_for_log);
    let etag = answer.headers.get(ETAG).and_then(|etag| etag.to_str().ok());
    if status == StatusCode::OK && etag.is_some_and(|etag| matches_etag(head, etag)) {
        answer.status = StatusCode::NOT_MODIFIED;
        return Ok(answer);
    }
    match content {
        Content::Body(mut body) => {
            let length = body.expected();
            let first = body.chunk().await?;
            answer.content = AnswerContent::Stream { first, source: Box::pin(body), length };
        }
        Content::Head => {
            if let Some(size) = meta.head.size {
                answer = answer.with(CONTENT_LENGTH, &size.to_string());
            }
        }
        _ => {}
    }
    Ok(answer)
}

/// Adds this server to the proxies of the response (RFC 9110 §7.6.3).
fn add_via(answer: &mut Answer, shared: &Shared) {
    if let Ok(own) = HeaderValue::from_str(&format!("1.1 {}", shared.via_name)) {
        answer.headers.append(VIA, own);
    }
}

fn add_fields(answer: &mut Answer, form: Form, meta: &Meta) {
    let listed: Vec<String> = meta
        .fields
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("connection"))
        .flat_map(|(_, value)| {
            let names = String::from_utf8_lossy(value).to_ascii_lowercase();
            names.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    for (name, value) in &meta.fields {
        let name = name.to_ascii_lowercase();
        let is_kept = match form {
            Form::Path => KEPT_FIELDS.contains(&name.as_str()),
            Form::Proxy => !CONNECTION_FIELDS.contains(&name.as_str()) && !listed.contains(&name),
        };
        let field = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_bytes(value).ok());
        if let Some((name, value)) = field.filter(|_| is_kept) {
            answer.headers.append(name, value);
        }
    }
}

/// Adds what a path of this server needs: a type that is not sniffed, a name, redirects and challenges of its own.
fn for_path(mut answer: Answer, meta: &Meta) -> Answer {
    let media_type = media_type(&meta.url, meta.media_type.as_deref());
    let essence = essence(&media_type);
    if !answer.headers.contains_key(CONTENT_TYPE) {
        answer = answer.with(CONTENT_TYPE, &media_type);
    }
    if !is_shown(&essence) && answer.status.is_success() {
        let suggested = meta.suggested_name.as_deref().and_then(fetch_url::output::safe_name);
        let name = suggested.or_else(|| fetch_url::output::file_name(&meta.url));
        answer = answer.with(CONTENT_DISPOSITION, &attachment(&name.unwrap_or_else(|| "object".to_owned())));
    }
    if let Some(location) = location(meta) {
        answer = answer.with(LOCATION, &location);
    }
    if answer.status == StatusCode::UNAUTHORIZED {
        let realm = server_name(&meta.url).replace(['"', '\\'], "");
        answer = answer.with(WWW_AUTHENTICATE, &format!("Basic realm=\"{realm}\", charset=\"UTF-8\""));
    }
    answer
}

/// Returns the path for the target of a redirect, if it is a URL of http or https.
fn location(meta: &Meta) -> Option<String> {
    let (_, value) = meta.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
    let value = std::str::from_utf8(value).ok()?;
    let base = meta.url.to_string();
    let target = resolve_reference(&base, value);
    let parsed = fetch_url::url::parse(&target).ok()?.url;
    matches!(parsed, Url::Http(_)).then(|| format!("/{parsed}"))
}
