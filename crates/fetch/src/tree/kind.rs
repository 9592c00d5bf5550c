//! Entries whose kind a listing does not state.

/// The reason why an entry of a listing may not be a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UncertainKind {
    /// It is a link or a special file; the target of a link may not be a file.
    Link,
    /// The listing contains names only, so the entry may be a directory.
    Unknown,
}
