//! What earlier runs have finished, so that this one does only what is missing.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use fetch_url::url::{Url, mask_password};
use fetch_url::{Condition, Error, Journal, Leaf};

use crate::job::Transfer;

/// What is finished: by an interrupted batch, or by a mirror at any time.
pub(crate) struct Ledger(RefCell<Journal>);

impl Ledger {
    pub(crate) const fn new(journal: Journal) -> Self {
        Self(RefCell::new(journal))
    }

    /// Whether the file of `transfer` is there already, and the same.
    pub(super) fn has(&self, transfer: &Transfer, path: &Path) -> bool {
        let Ok(file) = fs::symlink_metadata(path) else { return false };
        let (name, facts) = names(transfer, path);
        let is_known = can_tell(transfer) && self.0.borrow().has(&name, &facts, &file);
        file.is_file() && (is_known || looks_same(transfer, &file))
    }

    /// Under which condition a file of a mirror is asked for that an earlier run has brought: its time is the server's.
    pub(super) fn condition(&self, transfer: &Transfer, path: &Path) -> Option<Condition> {
        let leaf = transfer.leaf.as_ref()?;
        let file = fs::symlink_metadata(path).ok()?;
        // A size that is rounded is not told.
        let may_be_same = leaf.size.is_none_or(|size| size == file.len());
        let is_ours = file.is_file() && self.0.borrow().knows(&leaf.path, &file);
        (may_be_same && is_ours).then(|| Condition::ModifiedSince(modified(&file)))
    }

    /// The file of `transfer` is finished.
    pub(super) fn add(&self, transfer: &Transfer, path: &Path) -> Result<(), Error> {
        // What is no file, such as a device, is never finished.
        let Ok(file) = fs::symlink_metadata(path) else { return Ok(()) };
        let (name, facts) = names(transfer, path);
        if file.is_file() { self.0.borrow_mut().add(&name, &facts, &file) } else { Ok(()) }
    }

    /// The journal, for whoever looks at all of it.
    pub(super) const fn journal(&self) -> &RefCell<Journal> {
        &self.0
    }

    /// Everything is over. Where nothing is missing any more, the next run begins anew.
    pub(super) fn close(&self, is_all: bool) {
        let journal = self.0.borrow();
        if is_all { journal.remove() } else { journal.sync() }
    }
}

/// Whether what is known of a file would be another if it had changed: a listing without times says nothing, but an
/// article never changes.
fn can_tell(transfer: &Transfer) -> bool {
    let is_told = |leaf: &Leaf| leaf.modified.is_some() || matches!(leaf.url, Url::Nntp(_));
    transfer.leaf.as_deref().is_none_or(is_told)
}

/// What a file is called in the journal, and what it is known by.
fn names(transfer: &Transfer, path: &Path) -> (String, String) {
    match &transfer.leaf {
        Some(leaf) => (leaf.path.clone(), facts(leaf)),
        None => (path.to_string_lossy().into_owned(), mask_password(&transfer.url)),
    }
}

/// As the listing has it: any other word, and the file is looked at again.
fn facts(leaf: &Leaf) -> String {
    let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let size = leaf.size.map(|size| size.cast_signed());
    format!("{} {} {}", number(size), number(leaf.modified), leaf.url.without_password())
}

/// Whether a listing that tells size and time to the second tells those of the file.
fn looks_same(transfer: &Transfer, file: &fs::Metadata) -> bool {
    let Some(leaf) = &transfer.leaf else { return false };
    leaf.size == Some(file.len()) && leaf.modified == Some(modified(file))
}

fn modified(file: &fs::Metadata) -> i64 {
    std::os::unix::fs::MetadataExt::mtime(file)
}
