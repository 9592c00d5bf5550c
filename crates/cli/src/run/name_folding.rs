//! Caches which directories fold names: names in them that differ only in case or Unicode form are the same file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fetch_url::mirror::DirHandle;

/// The directories that were probed, and whether each of them folds names.
#[derive(Default)]
pub(super) struct NameFolding {
    /// Separate for ASCII names (`true`), which differ only in case.
    known: RefCell<HashMap<(PathBuf, bool), bool>>,
    /// Only existing files are looked up; no file is created.
    is_dry_run: bool,
}

impl NameFolding {
    pub(super) fn new(is_dry_run: bool) -> Self {
        Self { known: RefCell::default(), is_dry_run }
    }

    #[cfg(test)]
    pub(super) fn of(directory: &Path, folds_names: bool) -> Self {
        Self {
            known: RefCell::new(HashMap::from(
                [false, true].map(|is_ascii| ((directory.to_owned(), is_ascii), folds_names)),
            )),
            is_dry_run: false,
        }
    }

    /// Returns `true` if the directory of `path` does not distinguish names that differ only in case or Unicode form.
    pub(super) fn folds_names(&self, path: &Path) -> bool {
        let directory = path.parent().unwrap_or(Path::new(""));
        let is_ascii = path.file_name().is_some_and(OsStr::is_ascii);
        let key = (directory.to_owned(), is_ascii);
        if let Some(folds_names) = self.known.borrow().get(&key) {
            return *folds_names;
        }
        let Ok(handle) = DirHandle::open_or_create(directory, "") else { return false };
        // If no file can be created, the download fails, too.
        let folds_names = match self.is_dry_run {
            true => handle.entries_fold_names(is_ascii) == Some(true),
            false => handle.folds_names(is_ascii).unwrap_or(false),
        };
        self.known.borrow_mut().insert(key, folds_names);
        folds_names
    }
}
