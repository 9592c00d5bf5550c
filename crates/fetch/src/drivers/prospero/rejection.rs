//! Maps the FAILURE and ERROR responses of Prospero servers to error codes.

use fetch_url_proto::Rejection;

use crate::{Code, Error, Phase};

/// Returns the error for a query that the server refused.
pub(super) fn rejection_error(rejection: &Rejection) -> Error {
    if rejection.text.is_empty() {
        return Error::new(Code::NotFound, Phase::Request, "the server has no contents for the object");
    }
    Error::new(failure_code(&rejection.text), Phase::Request, "").with_reply(&rejection.text)
}

/// Returns the error for a query that the server refused after it had sent a part of the response.
pub(super) fn mid_response_error(rejection: &Rejection) -> Error {
    let detail = "the server refused to send the rest of the response";
    Error::new(Code::Truncated, Phase::Body, detail).with_reply(&rejection.text)
}

/// Maps the failure code, which is the first word of the response.
fn failure_code(text: &[u8]) -> Code {
    let word = text.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    match word.to_ascii_uppercase().as_slice() {
        b"AUTHENTICATION-DATA" | b"AUTHENTICATION-REQUIRED" => Code::AuthNeeded,
        b"NOT-AUTHORIZED" => Code::Denied,
        b"SERVER-FAILED" => Code::Busy,
        b"UNIMPLEMENTED" | b"VERSION-NOT-SUPPORTED" => Code::Unsupported,
        _ => Code::NotFound,
    }
}
