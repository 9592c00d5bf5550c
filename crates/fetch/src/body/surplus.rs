//! Bytes of a body after its announced size.

use crate::{Code, Error, Phase};

/// The reason why a body can have more bytes than announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surplus {
    /// The server violates the protocol.
    Misbehaviour,
    /// The object grew after its size was reported.
    Growth,
    /// The object grew, or the server began at another offset than requested.
    OtherOffset,
}

impl Surplus {
    /// Returns the error for more bytes than `expected`. A transfer may begin again from the start of an object that grew.
    pub(super) fn error(self, expected: u64) -> Error {
        let (code, reason) = match self {
            Self::OtherOffset => (
                Code::Truncated,
                "; it may have ignored the requested offset, or the object grew during the transfer",
            ),
            Self::Misbehaviour | Self::Growth => (Code::PeerMisbehaved, ""),
        };
        let detail = format!("the server sent more than the {expected} bytes it announced{reason}");
        Error::new(code, Phase::Body, detail).with_invalid_body()
    }
}
