//! Errors for truncated bodies and for bodies above the size limit.

use crate::{Code, Error, Phase};

/// Returns the error for a body that ended after `received` of `expected` bytes.
pub(crate) fn truncated_error(received: u64, expected: u64) -> Error {
    Error::new(Code::Truncated, Phase::Body, format!("{received} of {expected} bytes received"))
}

/// Returns the error for an object of more than `max_size` bytes.
pub(crate) fn size_limit_error(max_size: u64) -> Error {
    Error::new(Code::LimitReached, Phase::Body, format!("the object has more than {max_size} bytes"))
}
