//! Walks the tree of a mirror: when no file is left to fetch, the next directory is listed.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use fetch_url::mirror::{DirEntry, DirHandle, DirectoryListing, FileEntry, Skipped, Tree, UncertainKind};
use fetch_url::news::Upcoming;
use fetch_url::url::Url;
use fetch_url::{Code, Error};
use fetch_url_proto::Entry;
use tokio::sync::Notify;

use super::context::Run;
use super::delete_extraneous::Listed;
use super::output::is_there;
use super::transfer::with_observer;
use super::work::{PlannedTransfer, Work};
use crate::job::{MirrorJob, Output, Transfer};
use crate::render;
use crate::report::TransferReport;

/// The maximum number of notes about listings.
const MAX_NOTES: u32 = 20;
/// The number of articles whose URLs are known to the news driver in advance.
const UPCOMING_ARTICLES: usize = 512;

/// A tree that several workers walk together.
pub(super) struct MirrorWalker {
    tree: RefCell<Tree>,
    branches: RefCell<Vec<DirEntry>>,
    leaves: RefCell<VecDeque<(Transfer, Upcoming)>>,
    /// The number of workers that are listing a directory.
    listing: Cell<usize>,
    woken: Notify,
    listed: RefCell<Listed>,
    unchanged: Cell<u64>,
    /// The number of entries on other servers or outside the start directory.
    elsewhere: Cell<u64>,
    notes: Cell<u32>,
}

impl MirrorWalker {
    pub(super) fn new(job: &MirrorJob) -> Self {
        let mut tree = Tree::new(job.start.clone(), job.rules.clone());
        let root = tree.root();
        Self {
            tree: RefCell::new(tree),
            branches: RefCell::new(vec![root]),
            leaves: RefCell::default(),
            listing: Cell::new(0),
            woken: Notify::new(),
            listed: RefCell::default(),
            unchanged: Cell::new(0),
            elsewhere: Cell::new(0),
            notes: Cell::new(0),
        }
    }

    /// Returns the next file, or the failure of a listing.
    pub(super) async fn next(&self, run: &Run, job: &MirrorJob) -> Option<Work> {
        loop {
            if let Some((transfer, next)) = self.leaves.borrow_mut().pop_front() {
                let planned = PlannedTransfer::new(transfer, next, &run.options);
                return Some(Work::Transfer(Box::new(planned)));
            }
            let woken = self.woken.notified();
            let may_list = self.listing.get() == 0 || !job.is_walked_in_order();
            let branch = if may_list { self.branches.borrow_mut().pop() } else { None };
            match branch {
                Some(branch) => {
                    if let Err(failed) = self.visit(branch, run, job).await {
                        return Some(failed);
                    }
                }
                None if self.listing.get() == 0 => {
                    self.woken.notify_waiters();
                    return None;
                }
                None => woken.await,
            }
        }
    }

    /// Returns the number of unchanged files.
    pub(super) const fn unchanged(&self) -> u64 {
        self.unchanged.get()
    }

    /// Returns the number of entries on other servers or outside the start directory. They are not fetched.
    pub(super) const fn elsewhere(&self) -> u64 {
        self.elsewhere.get()
    }

    /// Returns the completely listed directories.
    pub(super) fn listed(&self) -> Listed {
        self.listed.take()
    }

    /// Queues an entry as a directory, after a fetch as a file failed. Returns `false` if it is too deep or a file.
    pub(super) fn enter(&self, leaf: &FileEntry) -> bool {
        let branch = self.tree.borrow().as_branch(leaf);
        let is_wanted = branch.is_some();
        self.branches.borrow_mut().extend(branch);
        self.woken.notify_waiters();
        is_wanted
    }

    async fn visit(&self, mut branch: DirEntry, run: &Run, job: &MirrorJob) -> Result<(), Work> {
        self.listing.set(self.listing.get() + 1);
        let listed = list(&branch, run, job).await;
        self.listing.set(self.listing.get() - 1);
        let sorted = listed.and_then(|directory| {
            let final_url = &directory.meta.url;
            if !self.tree.borrow_mut().accept_final_url(&mut branch, final_url)? {
                let words = format!("it leads to {}: passed over", final_url.redacted());
                self.note(&branch.url.redacted().to_string(), &words, run);
                return Ok(());
            }
            self.queue_listing(&branch, directory, run, job)
        });
        self.woken.notify_waiters();
        sorted.map_err(|error| {
            if error.code() == Code::LimitReached {
                // The limit would be exceeded everywhere.
                self.branches.borrow_mut().clear();
            }
            Work::Failed { url: branch.url.redacted().to_string(), error }
        })
    }

    /// Queues the directories and files of a listing.
    fn queue_listing(
        &self,
        branch: &DirEntry,
        directory: DirectoryListing,
        run: &Run,
        job: &MirrorJob,
    ) -> Result<(), Error> {
        DirHandle::open(&job.directory, &branch.path)?;
        let DirectoryListing { entries, limit_error, is_complete, .. } = directory;
        let sorted = self.tree.borrow_mut().sort(branch, &entries);
        for (index, why) in &sorted.skipped {
            self.note_skipped(*why, &entries[*index], branch, run);
        }
        // Lines that cannot be parsed may be files.
        let all_parsed =
            sorted.skipped.iter().all(|(_, why)| *why != Skipped::UnparsedLine) || job.has_info_text();
        // Servers with problems return empty pages or menus of text only.
        if is_complete && all_parsed && sorted.limit_error.is_none() && !sorted.names.is_empty() {
            self.listed.borrow_mut().insert(branch.path.clone(), sorted.names);
        }
        self.branches.borrow_mut().extend(sorted.directories);
        self.queue(sorted.files, run, job);
        limit_error.or(sorted.limit_error).map_or(Ok(()), Err)
    }

    /// Prints a note about a skipped entry, unless it is outside the mirror.
    fn note_skipped(&self, why: Skipped, entry: &Entry, branch: &DirEntry, run: &Run) {
        let words = match why {
            Skipped::Nameless => "no file can have this name",
            Skipped::TooDeep => "deeper than --max-depth",
            Skipped::OutsideTree => {
                self.elsewhere.set(self.elsewhere.get() + 1);
                return;
            }
            _ => return,
        };
        let name = String::from_utf8_lossy(&entry.name);
        self.note(&format!("{name} in {}", branch.url.redacted()), words, run);
    }

    /// Prints a note, up to a maximum number.
    fn note(&self, place: &str, words: &str, run: &Run) {
        let count = self.notes.replace(self.notes.get() + 1);
        if !run.log.is_silent && count <= MAX_NOTES {
            let words = if count == MAX_NOTES { "further notes of this kind are not printed" } else { words };
            run.progress.print_above(|| render::print_note_for(place, words, run.options.format));
        }
    }

    fn queue(&self, leaves: Vec<FileEntry>, run: &Run, job: &MirrorJob) {
        // An entry whose local path is a directory was a directory in an earlier run.
        let enter_if_directory = |leaf: &FileEntry| {
            leaf.uncertain_kind == Some(UncertainKind::Unknown)
                && job.directory.join(&leaf.path).is_dir()
                && self.enter(leaf)
        };
        let leaves = leaves.into_iter().filter(|leaf| !enter_if_directory(leaf));
        let transfer = |leaf: FileEntry| {
            let path = job.directory.join(&leaf.path);
            let mut transfer = Transfer::new(leaf.url.to_string(), Output::File(path));
            transfer.entry = Some(Box::new(leaf));
            transfer
        };
        let (done, wanted): (Vec<_>, Vec<_>) =
            leaves.map(transfer).partition(|transfer| is_done(transfer, run));
        self.unchanged.set(self.unchanged.get() + done.len() as u64);
        let mut leaves = self.leaves.borrow_mut();
        if !job.is_news() {
            leaves.extend(wanted.into_iter().map(|transfer| (transfer, Upcoming::default())));
            return;
        }
        for piece in wanted.chunks(UPCOMING_ARTICLES) {
            let url = |transfer: &Transfer| transfer.entry.as_ref().map(|leaf| leaf.url.clone());
            let urls: Arc<[Url<'static>]> = piece.iter().filter_map(url).collect();
            let next = |index: usize| Upcoming::new(urls.clone(), index + 1);
            leaves.extend(piece.iter().cloned().enumerate().map(|(index, file)| (file, next(index))));
        }
    }
}

fn is_done(transfer: &Transfer, run: &Run) -> bool {
    matches!(&transfer.output, Output::File(path) if is_there(transfer, path, run))
}

async fn list(branch: &DirEntry, run: &Run, job: &MirrorJob) -> Result<DirectoryListing, Error> {
    let report = TransferReport::begin(usize::MAX, &branch.url.redacted().to_string());
    let turn = run.host_limiter.acquire(&branch.url).await.map(Arc::new);
    let request = with_observer(job.listing(&branch.url)?, run, &report).with_permit(turn);
    run.fetcher.list_all(&request).await
}
