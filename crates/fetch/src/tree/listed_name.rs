//! What a listing states about a local name.

/// The entry of a listing that has a local name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedName {
    /// `true` for a directory; `None` if that is unknown, because a file of an index page may be a directory.
    pub is_directory: Option<bool>,
    /// The [`url_identity`](super::url_identity) of its URL.
    pub url: u64,
}
