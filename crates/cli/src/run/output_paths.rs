//! Output paths of a run: two transfers must not write the same file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
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

/// The files of one run, by the hashes of path and URL.
#[derive(Default)]
pub(super) struct OutputPaths {
    hash: RandomState,
    urls: RefCell<HashMap<u64, (usize, u64)>>,
}

impl OutputPaths {
    /// Reserves `path` for the transfer `number`. Fails with [`Code::Usage`] if another URL has it.
    pub(super) fn claim(&self, path: &Path, number: usize, url: &str) -> Result<(), Error> {
        let url = (number, self.hash.hash_one(url));
        let before = *self.urls.borrow_mut().entry(self.hash.hash_one(path)).or_insert(url);
        let is_same = before.0 == url.0 || before.1 == url.1;
        // Several URLs may be written to one device or FIFO.
        if is_same || fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_file()) {
            return Ok(());
        }
        let detail = format!("another URL of this run is written to {}", path.display());
        Err(usage_error(detail).with_hint("name the files, or give each its own directory"))
    }
}
