//! Entries whose kind a listing does not tell.

/// Why an entry of a listing may not be a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KindUncertain {
    /// It is a link or a device, which may not lead to a file.
    Link,
    /// The listing gives names only, so it may be a directory.
    Unknown,
}
