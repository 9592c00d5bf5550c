//! Output paths of a run: two transfers must not write the same file.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use fetch_url::{Code, Error, Phase};

use crate::error::usage_error;

/// Creates a directory and its parents.
pub(super) fn make_directory(path: &Path) -> Result<(), Error> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let failed = |error| Error::new(Code::SinkFailed, Phase::Deliver, format!("{}: {error}", path.display()));
    fs::create_dir_all(path).map_err(failed)
}

/// Device and inode of a file.
type FileId = (u64, u64);

/// The files of one run.
///
/// Two paths can name one file: `f` and `./f`, a link to a directory, names that differ in case or Unicode
/// normalisation. Paths are therefore compared by device and inode of the directory plus the file name, and finished
/// files by their device and inode.
#[derive(Default)]
pub(super) struct OutputPaths {
    hash: RandomState,
    /// The number and the URL hash of the transfer of each path, by the hash of the path.
    urls: RefCell<HashMap<u64, (usize, u64)>>,
    /// The directories of the paths, by the hash of their paths.
    directories: RefCell<HashMap<u64, FileId>>,
    /// The hashes of the identities of finished files.
    finished: RefCell<HashSet<u64>>,
}

impl OutputPaths {
    /// Reserves `path` for the transfer `number`. Fails with [`Code::Usage`] if another URL has reserved the path.
    /// Returns `true` if the same URL has already reserved it.
    pub(super) fn reserve(&self, path: &Path, number: usize, url: &str) -> Result<bool, Error> {
        let url = (number, self.hash.hash_one(url));
        let before = match self.urls.borrow_mut().entry(self.path_hash(path)) {
            Entry::Vacant(entry) => {
                entry.insert(url);
                return Ok(false);
            }
            Entry::Occupied(entry) => *entry.get(),
        };
        let is_same = before.0 == url.0 || before.1 == url.1;
        // Several URLs may be written to one device or FIFO.
        if is_same || fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_file()) {
            return Ok(true);
        }
        Err(conflict(path))
    }

    /// Returns `true` if another transfer than `number` has reserved `path`.
    pub(super) fn is_reserved(&self, path: &Path, number: usize) -> bool {
        let path = self.path_hash(path);
        self.urls.borrow().get(&path).is_some_and(|(own, _)| *own != number)
    }

    /// Fails if the existing file at `path`, which would be replaced, was written by this run.
    pub(super) fn check_replaced(&self, path: &Path, replaced: Option<FileId>) -> Result<(), Error> {
        if replaced.is_some_and(|id| self.is_finished(id)) { Err(conflict(path)) } else { Ok(()) }
    }

    /// Records that this run has finished the file.
    pub(super) fn add_finished(&self, id: FileId) {
        self.finished.borrow_mut().insert(self.hash.hash_one(id));
    }

    /// Records an existing file that is kept. Returns `false` if this run has already recorded the same file under
    /// another name. For files with several hard links it always returns `true`.
    pub(super) fn add_kept(&self, file: &Metadata) -> bool {
        let is_single = file.is_file() && file.nlink() == 1;
        !is_single || self.finished.borrow_mut().insert(self.hash.hash_one((file.dev(), file.ino())))
    }

    fn is_finished(&self, id: FileId) -> bool {
        self.finished.borrow().contains(&self.hash.hash_one(id))
    }

    /// Returns the hash of the directory's device and inode and the file name, or of the path if the directory does not
    /// exist.
    fn path_hash(&self, path: &Path) -> u64 {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return self.hash.hash_one(path);
        };
        match self.directory_id(parent) {
            Some(id) => self.hash.hash_one((id, name)),
            None => self.hash.hash_one(path),
        }
    }

    fn directory_id(&self, directory: &Path) -> Option<FileId> {
        let key = self.hash.hash_one(directory);
        let known = self.directories.borrow().get(&key).copied();
        known.or_else(|| {
            let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            let facts = fs::metadata(directory).ok()?;
            let id = (facts.dev(), facts.ino());
            self.directories.borrow_mut().insert(key, id);
            Some(id)
        })
    }
}

/// Returns the error for a file that two URLs of the run would write.
fn conflict(path: &Path) -> Error {
    let detail = format!("another URL of this run is written to {}", path.display());
    usage_error(detail).with_hint("name each file with -o, or give each URL its own directory")
}
