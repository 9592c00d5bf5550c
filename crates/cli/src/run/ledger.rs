//! What earlier runs have finished, so that this one does only what is missing.

use std::cell::{Cell, RefCell};
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fetch_url::url::{Url, mask_password};
use fetch_url::{Error, Journal, Leaf, Meta};

use crate::job::Transfer;
use crate::report::Report;

/// What changes twice within a minute may have the same time in a listing: it is looked at once more.
const SETTLED: i64 = 120;

/// What is finished: by an interrupted batch, or by a mirror at any time.
pub(crate) struct Ledger {
    journal: RefCell<Journal>,
    /// It could not be written: a file is no less whole for that.
    is_broken: Cell<bool>,
}

impl Ledger {
    pub(crate) const fn new(journal: Journal) -> Self {
        Self { journal: RefCell::new(journal), is_broken: Cell::new(false) }
    }

    /// Whether the file of `transfer` is there already, and known to be good without a look at the server.
    pub(super) fn has(&self, transfer: &Transfer, path: &Path) -> bool {
        let facts = transfer.leaf.as_deref().map_or(Some(String::new()), listed);
        let (Some(file), Some(facts)) = (plain_file(path), facts) else { return false };
        self.journal.borrow().has(&name(transfer, path), &source(transfer), &facts, &file)
    }

    /// Whether a listing says too little of a file that an earlier run has brought: the server is asked what is known of it.
    pub(super) fn wants_a_look(&self, transfer: &Transfer, path: &Path) -> bool {
        let is_untold = transfer.leaf.as_deref().is_some_and(|leaf| listed(leaf).is_none());
        let knows =
            |file: &Metadata| self.journal.borrow().knows(&name(transfer, path), &source(transfer), file);
        is_untold && plain_file(path).is_some_and(|file| knows(&file))
    }

    /// Whether the file is that of which the server says this.
    pub(super) fn is_same(&self, transfer: &Transfer, path: &Path, meta: &Meta) -> bool {
        let (Some(file), Some(facts)) = (plain_file(path), told(meta)) else { return false };
        self.journal.borrow().has(&name(transfer, path), &source(transfer), &facts, &file)
    }

    /// The file of `transfer` is finished. The first time that this cannot be kept, the error.
    pub(super) fn add(&self, transfer: &Transfer, path: &Path, report: &Report) -> Option<Error> {
        // What is no file, such as a device, is never finished.
        let file = plain_file(path)?;
        if self.is_broken.get() {
            return None;
        }
        let meta = report.meta.as_ref();
        let facts = match transfer.leaf.as_deref() {
            None => String::new(),
            Some(leaf) => {
                let is_settled = meta.is_none_or(|meta| !is_fresh(leaf, meta));
                let facts = listed(leaf).filter(|_| is_settled);
                // Of no use but to know whose the file is.
                facts.or_else(|| told(meta?)).unwrap_or_else(|| "?".to_owned())
            }
        };
        let added = self.journal.borrow_mut().add(&name(transfer, path), &source(transfer), &facts, &file);
        self.is_broken.set(added.is_err());
        added.err()
    }

    /// The journal, for whoever looks at all of it.
    pub(super) const fn journal(&self) -> &RefCell<Journal> {
        &self.journal
    }

    /// Everything is over. Where nothing is missing any more, the next run begins anew.
    pub(super) fn close(&self, is_all: bool) {
        let journal = self.journal.borrow();
        if is_all { journal.remove() } else { journal.sync() }
    }
}

fn plain_file(path: &Path) -> Option<Metadata> {
    fs::symlink_metadata(path).ok().filter(Metadata::is_file)
}

/// What a file is called in the journal.
fn name(transfer: &Transfer, path: &Path) -> String {
    transfer.leaf.as_ref().map_or_else(|| path.to_string_lossy().into_owned(), |leaf| leaf.path.clone())
}

/// Where it comes from, and what its octets must come to.
fn source(transfer: &Transfer) -> String {
    match (&transfer.leaf, &transfer.checksum) {
        (Some(leaf), _) => leaf.url.without_password().to_string(),
        (None, Some(checksum)) => format!("{checksum} {}", mask_password(&transfer.url)),
        (None, None) => mask_password(&transfer.url),
    }
}

/// What a listing tells of a file, in words that are others when it has changed; none where it tells no time. An article
/// never changes.
fn listed(leaf: &Leaf) -> Option<String> {
    let size = leaf.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
    match leaf.modified {
        Some(modified) => Some(format!("{size} {modified}")),
        None => matches!(leaf.url, Url::Nntp(_)).then(|| "article".to_owned()),
    }
}

/// The same, as the server tells of the object itself.
fn told(meta: &Meta) -> Option<String> {
    let size = meta.head.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
    let is_told = meta.validator.is_some() || meta.head.modified.is_some();
    let validator = meta.validator.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    is_told.then(|| format!("{size} {} {validator}", meta.head.modified.unwrap_or_default()))
}

/// Whether an object was changed so recently that another change may not show in its listing, which tells minutes.
fn is_fresh(leaf: &Leaf, meta: &Meta) -> bool {
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|now| i64::try_from(now.as_secs()).ok());
    let is_rounded = leaf.modified.is_some_and(|modified| modified % 60 == 0);
    match (now, meta.head.modified) {
        (Some(now), Some(modified)) => is_rounded && now - modified < SETTLED,
        _ => false,
    }
}
