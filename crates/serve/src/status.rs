//! The HTTP status for each error of a request.

use fetch_url::{Code, Error, Phase};
use http::StatusCode;

/// Returns the status of the answer for `error` (docs/spec/semantics.md).
pub(crate) fn status_of(error: &Error) -> StatusCode {
    match error.code() {
        _ if is_refusal_of_proxy(error) => StatusCode::BAD_GATEWAY,
        Code::AuthNeeded => StatusCode::UNAUTHORIZED,
        Code::BadUrl | Code::ForbiddenByte | Code::Usage => StatusCode::BAD_REQUEST,
        Code::Busy => StatusCode::SERVICE_UNAVAILABLE,
        Code::Denied | Code::Policy => StatusCode::FORBIDDEN,
        // The answer to a range has no response of the server, but its reply.
        Code::HttpError if error.reply().is_some_and(|reply| reply.starts_with("412")) => {
            StatusCode::PRECONDITION_FAILED
        }
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::RangeRefused => StatusCode::RANGE_NOT_SATISFIABLE,
        Code::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        Code::Unsupported => StatusCode::NOT_IMPLEMENTED,
        Code::Internal | Code::SinkFailed => StatusCode::INTERNAL_SERVER_ERROR,
        // The other server could not be reached, or its answer is of no use.
        _ => StatusCode::BAD_GATEWAY,
    }
}

/// Returns `true` if the proxy that this server uses requires a login or refuses the request. A login of the client is
/// for the other server, and does not help.
pub(crate) fn is_refusal_of_proxy(error: &Error) -> bool {
    error.phase() == Phase::Proxy && matches!(error.code(), Code::AuthNeeded | Code::Denied)
}
