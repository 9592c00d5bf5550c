//! Entries whose listing does not state whether they are files.

/// The reason why an entry of a listing may not be a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UncertainKind {
    /// It is a link or a special file. The target of a link may be a directory.
    Link,
    /// The listing contains names only, so the entry may be a directory.
    Unknown,
}
