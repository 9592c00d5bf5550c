//! Creates directories, and caches that of the last file: most files of a run are in the same directory as the file before.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use fetch_url::mirror::DirHandle;
use fetch_url::output::{FileOptions, FileSink, OutputDirectory};
use fetch_url::{Code, Error, Phase};

/// Interval at which an open directory is compared with its path.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Creates a directory and its parents.
pub(super) fn make_directory(path: &Path) -> Result<(), Error> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let failed = |error| Error::new(Code::SinkFailed, Phase::Deliver, format!("{}: {error}", path.display()));
    fs::create_dir_all(path).map_err(failed)
}

/// Caches the directory of the last file, for mirrors and for files that are named by their URLs.
#[derive(Default)]
pub(super) struct Directories {
    mirrored: RefCell<Option<MirroredDirectory>>,
    /// The directory of files that are named by their URLs.
    named: RefCell<Option<OutputDirectory>>,
}

/// An open directory of a mirror.
struct MirroredDirectory {
    /// The path below the directory of the mirror.
    path: String,
    handle: DirHandle,
    /// The time at which the directory was last compared with its path.
    checked: Instant,
}

impl Directories {
    /// Opens or creates the directory `below` of a mirror in `root`.
    pub(super) fn open_mirrored(&self, root: &Path, below: &str) -> Result<DirHandle, Error> {
        let mut last = self.mirrored.borrow_mut();
        let now = Instant::now();
        if let Some(known) = last.take().filter(|last| last.path == below)
            && let Some(known) = known.recheck(now)
        {
            return Ok(last.insert(known).handle.clone());
        }
        let handle = DirHandle::open_or_create(root, below)?;
        *last = Some(MirroredDirectory { path: below.to_owned(), handle: handle.clone(), checked: now });
        Ok(handle)
    }

    /// Opens the file `path` in `directory`. The URL or the server has named the file.
    pub(super) fn open_named(
        &self,
        path: &Path,
        directory: &Path,
        options: FileOptions,
    ) -> Result<FileSink, Error> {
        let mut last = self.named.borrow_mut();
        let same = last.take().filter(|last| last.path() == directory);
        last.insert(same.unwrap_or_else(|| OutputDirectory::new(directory))).open_file(path, options)
    }
}

impl MirroredDirectory {
    /// Returns the directory if it was at its path at the last comparison, which is repeated if it is older than `CHECK_INTERVAL`.
    fn recheck(self, now: Instant) -> Option<Self> {
        if now < self.checked + CHECK_INTERVAL {
            return Some(self);
        }
        self.handle.is_at_its_path().then_some(Self { checked: now, ..self })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes the last comparison so old that the directory is compared with its path again.
    fn expire(directories: &Directories) {
        let long_ago = Instant::now().checked_sub(CHECK_INTERVAL).expect("a time");
        directories.mirrored.borrow_mut().as_mut().expect("the last directory").checked = long_ago;
    }

    #[test]
    fn every_file_of_a_directory_that_was_replaced_by_a_link_is_refused() {
        let root = tempfile::tempdir().expect("a directory");
        let directories = Directories::default();
        directories.open_mirrored(root.path(), "d").expect("a directory");
        fs::rename(root.path().join("d"), root.path().join("moved")).expect("a move");
        fs::create_dir(root.path().join("other")).expect("a directory");
        symlink("other", root.path().join("d")).expect("a link");
        expire(&directories);
        for file in ["first", "second"] {
            assert!(directories.open_mirrored(root.path(), "d").is_err(), "{file}");
        }
    }

    #[test]
    fn directory_that_was_moved_is_created_again() {
        let root = tempfile::tempdir().expect("a directory");
        let directories = Directories::default();
        directories.open_mirrored(root.path(), "d").expect("a directory");
        fs::rename(root.path().join("d"), root.path().join("moved")).expect("a move");
        directories.open_mirrored(root.path(), "d").expect("the open directory");
        assert!(!root.path().join("d").exists(), "it was compared with its path just now");
        expire(&directories);
        let handle = directories.open_mirrored(root.path(), "d").expect("a new directory");
        assert!(handle.is_at_its_path());
    }
}
