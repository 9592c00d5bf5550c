//! Caches which directories fold case: names in them that differ only in case are the same file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fetch_url::mirror::DirHandle;

/// The directories that were probed, and whether each of them folds case.
#[derive(Default)]
pub(super) struct CaseFolding {
    known: RefCell<HashMap<PathBuf, bool>>,
    /// Only existing files are looked up; no file is created.
    is_dry_run: bool,
}

impl CaseFolding {
    pub(super) fn new(is_dry_run: bool) -> Self {
        Self { known: RefCell::default(), is_dry_run }
    }

    #[cfg(test)]
    pub(super) fn of(directory: &Path, folds_case: bool) -> Self {
        Self { known: RefCell::new(HashMap::from([(directory.to_owned(), folds_case)])), is_dry_run: false }
    }

    /// Returns `true` if the directory of `path` does not distinguish names that differ only in case.
    pub(super) fn folds_case(&self, path: &Path) -> bool {
        let directory = path.parent().unwrap_or(Path::new(""));
        if let Some(folds_case) = self.known.borrow().get(directory) {
            return *folds_case;
        }
        let Ok(handle) = DirHandle::open_or_create(directory, "") else { return false };
        // If no file can be created, the download fails, too.
        let folds_case = match self.is_dry_run {
            true => handle.entries_fold_case() == Some(true),
            false => handle.folds_case().unwrap_or(false),
        };
        self.known.borrow_mut().insert(directory.to_owned(), folds_case);
        folds_case
    }
}
