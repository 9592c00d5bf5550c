//! Directories that do not distinguish names that differ only in case.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fetch_url::mirror::DirHandle;

/// Whether directories fold case, for each directory in which that had to be found out.
#[derive(Default)]
pub(super) struct CaseFolding(RefCell<HashMap<PathBuf, bool>>);

impl CaseFolding {
    #[cfg(test)]
    pub(super) fn of(directory: &Path, folds_case: bool) -> Self {
        Self(RefCell::new(HashMap::from([(directory.to_owned(), folds_case)])))
    }

    /// Returns `true` if the directory of `path` does not distinguish names that differ only in case.
    pub(super) fn folds_case(&self, path: &Path) -> bool {
        let directory = path.parent().unwrap_or(Path::new(""));
        if let Some(folds_case) = self.0.borrow().get(directory) {
            return *folds_case;
        }
        let folds_case =
            DirHandle::open_or_create(directory, "").is_ok_and(|directory| directory.folds_case());
        self.0.borrow_mut().insert(directory.to_owned(), folds_case);
        folds_case
    }
}
