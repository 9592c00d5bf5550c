//! The error of all state machines and parsers: the peer violated the protocol.

use bytes::Bytes;

/// A violation of the protocol by the peer. The exchange that returned it cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// The connection ended before `what` was complete.
    UnexpectedEnd {
        /// The element that was being read, such as `a reply`.
        what: &'static str,
    },
    /// The peer sent more than this crate accepts.
    LimitExceeded {
        /// The limited quantity, such as `bytes in a reply line`.
        quantity: &'static str,
        /// The largest number accepted, in the unit that `limit` names.
        max: usize,
    },
    /// The peer sent something that the protocol does not allow at this point.
    Unexpected {
        /// The element that was expected, such as `a reply`.
        what: &'static str,
        /// The beginning of the bytes received instead; empty where they show nothing useful.
        got: Bytes,
    },
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnexpectedEnd { what } => write!(f, "the connection ended in the middle of {what}"),
            Self::LimitExceeded { quantity, max } => write!(f, "too many {quantity} (limit {max})"),
            Self::Unexpected { what, got } if got.is_empty() => write!(f, "expected {what}"),
            Self::Unexpected { what, got } => {
                write!(f, "expected {what}, got \"{}\"", crate::text::sanitise(got))
            }
        }
    }
}

impl std::error::Error for WireError {}
