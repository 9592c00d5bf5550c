//! Records whether the index pages of a server list directories with a final slash.

/// The form of the links to directories in the index pages that were read so far.
#[derive(Debug, Default)]
pub(super) struct DirectoryLinks {
    /// A page has an entry with a final slash.
    pub(super) has_slashes: bool,
    /// An entry without a slash was redirected to a directory.
    pub(super) lacks_slashes: bool,
}

impl DirectoryLinks {
    /// Returns `true` unless all directories that were found have a slash.
    pub(super) const fn may_lack_slashes(&self) -> bool {
        self.lacks_slashes || !self.has_slashes
    }
}
