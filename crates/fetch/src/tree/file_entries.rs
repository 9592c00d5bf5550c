//! The files of a listing in compact form.

use std::vec;

use fetch_url_core::UserInfo;

use super::names::Candidate;
use super::{DirEntry, FileEntry, path_below};

/// The files of a listing: an iterator over [`FileEntry`]. A directory may have several hundred thousand files, so an entry is
/// made when it is taken; until then its name and the end of its URL are all that is in memory.
#[derive(Debug, Default)]
pub struct FileEntries {
    /// The local path of the directory.
    directory: String,
    /// The start that the URLs share.
    base: String,
    /// The depth of the files.
    depth: u32,
    /// The login of the start.
    login: Option<UserInfo<'static>>,
    are_excluded_files: bool,
    candidates: vec::IntoIter<Candidate>,
}

impl FileEntries {
    /// Creates the list from the files of `directory`, or from entries that are wanted only if they are directories.
    pub(super) fn new(
        directory: &DirEntry,
        base: &str,
        mut candidates: Vec<Candidate>,
        login: Option<&UserInfo<'_>>,
        are_excluded_files: bool,
    ) -> Self {
        candidates.shrink_to_fit();
        Self {
            directory: directory.path.clone(),
            base: base.to_owned(),
            depth: directory.depth + 1,
            login: login.cloned().map(UserInfo::into_owned),
            are_excluded_files,
            candidates: candidates.into_iter(),
        }
    }
}

impl Iterator for FileEntries {
    type Item = FileEntry;

    fn next(&mut self) -> Option<FileEntry> {
        let candidate = self.candidates.next()?;
        let url = candidate.parse_url(&self.base, self.login.as_ref())?;
        let path = path_below(&self.directory, candidate.name());
        let properties = candidate.properties;
        Some(FileEntry {
            url,
            path,
            size: properties.size,
            modified: properties.modified,
            modified_nanoseconds: properties.modified_nanoseconds,
            content_id: properties.content_id,
            uncertain_kind: properties.uncertain_kind,
            is_excluded_file: self.are_excluded_files,
            depth: self.depth,
            position: None,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.candidates.size_hint()
    }
}

impl ExactSizeIterator for FileEntries {}
