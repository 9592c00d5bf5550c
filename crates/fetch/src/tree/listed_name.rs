//! The kind and the URL of a listed entry, by which `mirror --delete` recognises it under another local name.

/// The kind and the URL of a listed entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedName {
    /// `true` for a directory; `None` if that is unknown, because a file of an index page may be a directory.
    pub is_directory: Option<bool>,
    /// The [`url_identity`](super::url_identity) of its URL.
    pub url: u64,
}
