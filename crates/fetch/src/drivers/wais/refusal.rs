//! A server's diagnostic, in everybody's words.

use fetch_url_proto::Refused;

use super::plan::{Errand, WaisPlan};
use crate::{Code, Error, Phase};

/// The error that a refusal is.
pub(super) fn error(refused: &Refused, plan: &WaisPlan) -> Error {
    let is_part = matches!(&plan.errand, Errand::Document { wanted, .. } if wanted.start > 0);
    if is_part && refused.words.starts_with(b"SF") {
        return Error::new(Code::RangeRefused, Phase::Request, "").with_reply(&refused.words);
    }
    if refused.words.is_empty() {
        return Error::new(Code::NotFound, Phase::Request, "the server has no answer to that");
    }
    Error::new(code(&refused.words), Phase::Request, "").with_reply(&refused.words)
}

/// A refusal after some octets: what came is not all.
pub(super) fn in_the_middle(refused: &Refused) -> Error {
    let code = match code(&refused.words) {
        Code::NotFound | Code::Unsupported => Code::Truncated,
        code => code,
    };
    Error::new(code, Phase::Body, "the server gives no more of the document").with_reply(&refused.words)
}

/// By the two letters of Z39.50-1988; most servers know S1 alone.
fn code(words: &[u8]) -> Code {
    match words.get(..2) {
        Some(b"S2" | b"SU" | b"SV" | b"SY" | b"SZ") => Code::Busy,
        Some(b"SH" | b"T2" | b"T3" | b"T4") => Code::Denied,
        Some(b"S3") => Code::Unsupported,
        _ => Code::NotFound,
    }
}
