//! Conditions of a request.

/// A condition for the transfer (RFC 9110 §13.1). Times are in seconds since 1970-01-01 00:00 UTC. If the
/// protocol has no conditions, the driver requests the modification time and compares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 9110 has these two conditions on time")]
pub enum Condition {
    /// Fetch only if the object was changed after this time.
    ModifiedSince(i64),
    /// Fetch only if the object was not changed after this time.
    UnmodifiedSince(i64),
}

impl Condition {
    /// Returns `true` if an object with the modification time `modified` meets the condition, or the time is unknown.
    pub(crate) fn is_met_by(self, modified: Option<i64>) -> bool {
        match self {
            Self::ModifiedSince(since) => modified.is_none_or(|modified| modified > since),
            Self::UnmodifiedSince(since) => modified.is_none_or(|modified| modified <= since),
        }
    }
}
