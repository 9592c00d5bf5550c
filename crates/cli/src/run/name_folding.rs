//! Caches which directories fold names: names in them that differ only in case or Unicode form are the same file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fetch_url::mirror::DirHandle;

/// The directories that were probed, and whether each of them folds case.
#[derive(Default)]
pub(super) struct NameFolding {
    known: RefCell<HashMap<PathBuf, bool>>,
    /// Only existing files are looked up; no file is created.
    is_dry_run: bool,
}

impl NameFolding {
    pub(super) fn new(is_dry_run: bool) -> Self {
        Self { known: RefCell::default(), is_dry_run }
    }

    #[cfg(test)]
    pub(super) fn of(directory: &Path, folds_names: bool) -> Self {
        Self { known: RefCell::new(HashMap::from([(directory.to_owned(), folds_names)])), is_dry_run: false }
    }

    /// Returns `true` if the directory of `path` does not distinguish names that differ only in case or Unicode form.
    pub(super) fn folds_names(&self, path: &Path) -> bool {
        let directory = path.parent().unwrap_or(Path::new(""));
        if let Some(folds_names) = self.known.borrow().get(directory) {
            return *folds_names;
        }
        let Ok(handle) = DirHandle::open_or_create(directory, "") else { return false };
        // If no file can be created, the download fails, too.
        let folds_names = match self.is_dry_run {
            true => handle.entries_fold_names() == Some(true),
            false => handle.folds_names().unwrap_or(false),
        };
        self.known.borrow_mut().insert(directory.to_owned(), folds_names);
        folds_names
    }
}
