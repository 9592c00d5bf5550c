//! Maps the FAILURE and ERROR responses of Prospero servers to error codes.

use fetch_url_proto::Rejection;

use crate::{Code, Error, Phase};

/// Returns the error for a query that the server refused.
pub(super) fn rejection_error(rejection: &Rejection) -> Error {
    if rejection.text.is_empty() {
        return Error::new(Code::NotFound, Phase::Request, "the server has no contents for the object");
    }
    let word = failure_word(&rejection.text);
    if word == b"SERVER-FAILED" {
        let detail = "the server reports an internal failure";
        let error = Error::new(Code::PeerMisbehaved, Phase::Request, detail);
        return error.with_reply(&rejection.text).as_transient();
    }
    Error::new(failure_code(&word), Phase::Request, "").with_reply(&rejection.text)
}

/// Returns the error for a query that the server refused after it had sent a part of the response.
pub(super) fn mid_response_error(rejection: &Rejection) -> Error {
    let detail = "the server refused to send the rest of the response";
    Error::new(Code::Truncated, Phase::Body, detail).with_reply(&rejection.text)
}

/// Returns the failure code of Prospero, which is the first word of the response, in upper case.
fn failure_word(text: &[u8]) -> Vec<u8> {
    text.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default().to_ascii_uppercase()
}

fn failure_code(word: &[u8]) -> Code {
    match word {
        b"AUTHENTICATION-DATA" | b"AUTHENTICATION-REQUIRED" => Code::AuthNeeded,
        b"NOT-AUTHORIZED" => Code::Denied,
        b"UNIMPLEMENTED" | b"VERSION-NOT-SUPPORTED" => Code::Unsupported,
        _ => Code::NotFound,
    }
}
