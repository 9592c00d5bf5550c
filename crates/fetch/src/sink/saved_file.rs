//! The file that a download has written.

use std::fs::{File, Metadata};
use std::io;

use super::file_id::file_id;

/// The metadata of a downloaded file, read from the open file after it got its final name. Two values are equal if they
/// are of the same file (device and inode).
#[derive(Clone, Debug)]
pub struct SavedFile {
    metadata: Box<Metadata>,
}

impl SavedFile {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self { metadata: Box::new(file.metadata()?) })
    }

    /// Returns the metadata.
    pub const fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns device and inode, which identify the file.
    pub fn id(&self) -> (u64, u64) {
        file_id(&self.metadata)
    }
}

impl PartialEq for SavedFile {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for SavedFile {}
