//! Maps WAIS diagnostics to error codes.

use fetch_url_proto::Rejection;

use super::plan::{WaisOperation, WaisPlan};
use crate::{Code, Error, Phase};

/// Returns the error for a request that the server refused.
pub(super) fn rejection_error(rejection: &Rejection, plan: &WaisPlan) -> Error {
    let starts_later = matches!(&plan.operation, WaisOperation::Retrieve { range, .. } if range.start > 0);
    if starts_later && is_out_of_range(&rejection.text) {
        return Error::new(Code::RangeRefused, Phase::Request, "").with_reply(&rejection.text);
    }
    if rejection.text.is_empty() {
        return Error::new(Code::NotFound, Phase::Request, "the server returned an empty response");
    }
    Error::new(diagnostic_code(&rejection.text), Phase::Request, "").with_reply(&rejection.text)
}

/// Returns `true` for `SF Request out of range`. freeWAIS uses the same code for an unknown document.
fn is_out_of_range(text: &[u8]) -> bool {
    text.starts_with(b"SF") && text.to_ascii_lowercase().ends_with(b"out of range")
}

/// Returns the error for a retrieval that the server refused after it had sent a part of the document.
pub(super) fn mid_transfer_error(rejection: &Rejection) -> Error {
    let code = match diagnostic_code(&rejection.text) {
        Code::NotFound | Code::Unsupported => Code::Truncated,
        code => code,
    };
    let detail = "the server refused to send the rest of the document";
    Error::new(code, Phase::Body, detail).with_reply(&rejection.text)
}

/// Maps the two-letter diagnostic codes of Z39.50-1988. Most servers send only S1.
fn diagnostic_code(text: &[u8]) -> Code {
    match text.get(..2) {
        Some(b"S2" | b"SU" | b"SV" | b"SY" | b"SZ") => Code::Busy,
        Some(b"SH" | b"T2" | b"T3" | b"T4") => Code::Denied,
        Some(b"S3") => Code::Unsupported,
        _ => Code::NotFound,
    }
}
