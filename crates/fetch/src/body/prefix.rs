//! Bytes before an object, such as the headers of `-i`.

use bytes::Bytes;

/// Bytes that are delivered before the object.
#[derive(PartialEq, Eq)]
pub(super) enum Prefix {
    None,
    Waiting(Bytes),
    Gone,
}

impl Prefix {
    pub(super) const fn after(&self) -> Self {
        match self {
            Self::None => Self::None,
            _ => Self::Gone,
        }
    }
}
