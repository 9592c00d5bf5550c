//! Bytes before an object, such as the response headers of `-i`.

use bytes::Bytes;

/// Bytes that are delivered before the object.
#[derive(PartialEq, Eq)]
pub(crate) enum Prefix {
    None,
    /// The bytes are not delivered yet.
    Waiting(Bytes),
    /// The bytes are delivered.
    Gone,
}

impl Prefix {
    /// Returns the state after the bytes are delivered.
    pub(super) const fn after(&self) -> Self {
        match self {
            Self::None => Self::None,
            _ => Self::Gone,
        }
    }

    /// Returns the number of bytes that are still to be delivered.
    pub(crate) const fn length(&self) -> u64 {
        match self {
            Self::Waiting(bytes) => bytes.len() as u64,
            Self::None | Self::Gone => 0,
        }
    }
}
