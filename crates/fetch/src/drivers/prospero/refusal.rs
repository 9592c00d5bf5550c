//! A server's FAILURE, in everybody's words.

use fetch_url_proto::Refused;

use crate::{Code, Error, Phase};

/// The error that a refusal is.
pub(super) fn error(refused: &Refused) -> Error {
    if refused.words.is_empty() {
        return Error::new(Code::NotFound, Phase::Request, "the server gives no octets of the object");
    }
    Error::new(code(&refused.words), Phase::Request, "").with_reply(&refused.words)
}

/// A refusal after a part of the answer.
pub(super) fn in_the_middle(refused: &Refused) -> Error {
    Error::new(Code::Truncated, Phase::Body, "the server gives no more of the answer")
        .with_reply(&refused.words)
}

/// By the code, which is the first word.
fn code(words: &[u8]) -> Code {
    let first = words.split(|octet| octet.is_ascii_whitespace()).next().unwrap_or_default();
    match first.to_ascii_uppercase().as_slice() {
        b"AUTHENTICATION-DATA" | b"AUTHENTICATION-REQUIRED" => Code::AuthNeeded,
        b"NOT-AUTHORIZED" => Code::Denied,
        b"SERVER-FAILED" => Code::Busy,
        b"UNIMPLEMENTED" | b"VERSION-NOT-SUPPORTED" => Code::Unsupported,
        _ => Code::NotFound,
    }
}
