//! What a status of 400 and above means, and how long the server asks to wait.

use std::time::{Duration, SystemTime};

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};

use super::plan::HttpPlan;
use crate::{Code, Error, Phase};

/// The failure that an answer is.
pub(super) fn refusal(plan: &HttpPlan, status: StatusCode, fields: &HeaderMap, reply: &str) -> Error {
    let (code, phase) = match status.as_u16() {
        401 => (Code::AuthNeeded, Phase::Request),
        403 => (Code::Denied, Phase::Request),
        404 | 410 => (Code::NotFound, Phase::Request),
        407 => (Code::AuthNeeded, Phase::Proxy),
        429 | 503 => (Code::Busy, Phase::Request),
        _ => (Code::HttpError, Phase::Request),
    };
    let error = Error::new(code, phase, "").with_reply(reply.as_bytes());
    let error = error.with_retry_after(retry_after(fields));
    match status.as_u16() {
        // The server says itself that nothing was done.
        408 | 425 | 429 => error.passing(),
        503 if plan.is_idempotent() || error.retry_after().is_some() => error.passing(),
        503 => error.lasting(),
        500 | 502 | 504 if plan.is_idempotent() => error.passing(),
        401 if plan.authorization.is_none() => {
            error.with_hint("-u USER, --netrc or --ask-password says who you are")
        }
        401 => error.with_hint("the server does not accept this user and password"),
        _ => error,
    }
}

/// Seconds, or a date that is compared with the server's own clock, or ours where it tells none
/// (RFC 9110 §10.2.3).
fn retry_after(fields: &HeaderMap) -> Option<Duration> {
    let text = fields.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = fields.get(http::header::DATE);
    let now = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    httpdate::parse_http_date(text).ok()?.duration_since(now.unwrap_or_else(SystemTime::now)).ok()
}
