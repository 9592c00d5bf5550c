//! The HTTP status for each error of a request.

use fetch_url::{Code, Error};
use http::StatusCode;

/// Returns the status of the answer for `error` (docs/spec/semantics.md).
pub(crate) fn status_of(error: &Error) -> StatusCode {
    match error.code() {
        Code::AuthNeeded => StatusCode::UNAUTHORIZED,
        Code::BadUrl | Code::ForbiddenByte | Code::Usage => StatusCode::BAD_REQUEST,
        Code::Busy => StatusCode::SERVICE_UNAVAILABLE,
        Code::Denied | Code::Policy => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::RangeRefused => StatusCode::RANGE_NOT_SATISFIABLE,
        Code::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        Code::Unsupported => StatusCode::NOT_IMPLEMENTED,
        Code::Internal | Code::SinkFailed => StatusCode::INTERNAL_SERVER_ERROR,
        // The other server could not be reached, or its answer is of no use.
        _ => StatusCode::BAD_GATEWAY,
    }
}
