//! Maps NNTP error replies to error codes.

use fetch_url_proto::Rejection;
use fetch_url_proto::nntp::is_missing_article_code;

use super::active_request::ActiveRequest;
use crate::drivers::connection_limit::reports_connection_limit;
use crate::{Code, Error, Hint, Phase, StartTls};

/// Returns the error for a request that the server refused. A rejected login is stored, so that it is not sent again.
pub(super) fn rejection_error(rejection: &Rejection, request: &ActiveRequest) -> Error {
    let ActiveRequest { plan, ctx, cache } = request;
    let command = rejection.command.unwrap_or_default();
    let is_login = command.starts_with("AUTHINFO");
    let reply = rejection.code.unwrap_or_default();
    let requires_tls = plan.is_tls || ctx.connector.start_tls() == StartTls::Require;
    let is_greeting = command.is_empty();
    let code = match (command, reply) {
        (_, 400) => Code::Busy,
        _ if (is_greeting || is_login) && reports_connection_limit(&rejection.text) => Code::Busy,
        ("STARTTLS", _) if requires_tls => Code::TlsFailed,
        ("STARTTLS", _) => Code::AuthNeeded,
        _ if is_login => Code::AuthNeeded,
        _ if is_missing_article(rejection) => Code::NotFound,
        _ => reply_code(reply),
    };
    // A server that is busy has not checked the login.
    let is_refused_login = is_login && code == Code::AuthNeeded;
    if is_refused_login {
        ctx.password_prompt.forget(&plan.url);
        if plan.login.is_some() {
            cache.mark_login_rejected(plan, ctx);
        }
    }
    let phase = if code == Code::TlsFailed { Phase::Tls } else { Phase::Request };
    let error = Error::new(code, phase, command).with_reply(&rejection.text);
    let lacks_tls = command == "STARTTLS" || (matches!(reply, 480 | 483) && !requires_tls);
    let error = if is_refused_login && plan.login.is_some() { error.with_refused_login() } else { error };
    match code {
        Code::AuthNeeded if plan.login.is_none() => error.with_hint(Hint::Login),
        Code::AuthNeeded if lacks_tls && !plan.options.insecure_auth => error.with_hint(Hint::InsecureLogin),
        _ => error,
    }
}

/// Maps the reply codes of RFC 3977 §3.2.1 and RFC 4643 §2.2.
const fn reply_code(reply: u32) -> Code {
    match reply {
        403 => Code::Busy,
        // 412: no group is selected, because the group has no articles.
        411 | 412 | 420 | 423 | 430 => Code::NotFound,
        480 | 481 | 483 => Code::AuthNeeded,
        401 | 500 | 501 | 503 => Code::Unsupported,
        502 => Code::Denied,
        _ => Code::PeerMisbehaved,
    }
}

/// Returns `true` if the server does not deliver the requested article: it may deliver other articles of the group.
pub(super) fn is_missing_article(rejection: &Rejection) -> bool {
    let is_article = matches!(rejection.command, Some("ARTICLE" | "BODY" | "HEAD"));
    is_article && rejection.code.is_some_and(is_missing_article_code)
}

/// Returns `true` if the connection can be used for another request after this rejection.
pub(super) fn allows_next_request(rejection: &Rejection) -> bool {
    is_missing_article(rejection) || (rejection.command == Some("GROUP") && rejection.code == Some(411))
}
