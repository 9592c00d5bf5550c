//! The error for a status code of 400 and above, and the wait that Retry-After asks for.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fetch_url_proto::http_date;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};

use super::challenge;
use super::plan::HttpPlan;
use crate::{Code, Error, Hint, Phase};

/// Returns the error for a response with a status code of 400 or above.
pub(super) fn status_error(plan: &HttpPlan, status: StatusCode, headers: &HeaderMap, reply: &str) -> Error {
    let (code, phase) = match status.as_u16() {
        401 => (Code::AuthNeeded, Phase::Request),
        403 => (Code::Denied, Phase::Request),
        404 | 410 => (Code::NotFound, Phase::Request),
        407 => (Code::AuthNeeded, Phase::Proxy),
        429 | 503 => (Code::Busy, Phase::Request),
        _ => (Code::HttpError, Phase::Request),
    };
    let lacks_digest = status == StatusCode::UNAUTHORIZED && challenge::lacks_digest(plan, headers);
    let detail = match phase {
        Phase::Proxy => "the proxy requires a login",
        _ if lacks_digest => "the server offers no supported Digest authentication",
        _ => "",
    };
    let error = Error::new(code, phase, detail).with_reply(reply.as_bytes());
    let error = error.with_retry_after(retry_after(headers));
    match status.as_u16() {
        // The server did not process the request, so even a POST can be repeated.
        408 | 425 | 429 => error.as_transient(),
        503 if plan.is_idempotent() || error.retry_after().is_some() => error.as_transient(),
        503 => error.as_permanent(),
        500 | 502 | 504 if plan.is_idempotent() => error.as_transient(),
        401 if lacks_digest => error.with_hint(Hint::BasicLogin),
        401 if plan.authorization.is_none() => error.with_hint(Hint::Login),
        401 => error.with_refused_login().with_hint("the server rejects this user and password"),
        407 if plan.proxy_login.is_none() => error.with_hint(Hint::ProxyLogin),
        407 => error.with_hint("the proxy rejects this user and password"),
        _ => error,
    }
}

/// Returns the wait of Retry-After (RFC 9110 §10.2.3): seconds, or a date. A date is compared with the Date of the
/// response, or with the local clock if there is none.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = headers.get(http::header::DATE);
    let server_time = date.and_then(|date| http_date::parse(date.to_str().ok()?));
    let now = server_time.map_or_else(local_time, Some)?;
    Some(Duration::from_secs(u64::try_from(http_date::parse(text)?.checked_sub(now)?).ok()?))
}
/// Returns the local time in seconds since 1970.
fn local_time() -> Option<i64> {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}
