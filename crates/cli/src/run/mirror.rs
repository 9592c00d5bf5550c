//! Walks the tree of a mirror. A directory is listed only when no file is queued. Links of pages are read after the
//! last directory.

mod complete_listings;
mod deletion_limit;
mod deletions;
mod earlier_run;
mod other_links;
mod redirected;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use fetch_url::mirror::{
    DirEntry, DirHandle, DirectoryListing, FileEntry, Finished, OrdinaryPage, OtherLinkCounts, Skipped, Tree,
    UncertainKind,
};
use fetch_url::url::Url;
use fetch_url::{Code, Error};
use fetch_url_proto::PageLink;
use tokio::sync::Notify;

use self::complete_listings::CompleteListings;
use self::deletion_limit::DeletionLimit;
use super::checksum::must_check_existing;
use super::context::Run;
use super::directory_listing::{fetch_listing, is_unlisted_earlier_entry, why_untrusted};
use super::file_queue::{FileQueue, transfer_of};
use super::output::{current_file, keep};
use super::output_paths::Reserved;
use super::page_walk::{PageWalk, SavedPage, read_links};
use super::work::{PlannedTransfer, Work};
use crate::job::{MirrorJob, Output, Transfer};
use crate::render;
use crate::report::TransferReport;

/// The maximum number of notes about listings.
const MAX_NOTES: u32 = 20;

/// The state of a walk that several workers share.
pub(super) struct MirrorWalker {
    tree: RefCell<Tree>,
    /// Directories that are not listed yet.
    directories: RefCell<Vec<DirEntry>>,
    files: FileQueue,
    /// The number of the next listing or transfer of the run.
    next_number: Rc<Cell<usize>>,
    /// The number of workers that are listing a directory.
    active_listings: Cell<usize>,
    /// Entries of unknown kind that are listed first, because their local paths are directories.
    presumed_directories: RefCell<HashMap<String, FileEntry>>,
    /// Notified when waiting workers must check the queue again: after a listing, after a page or linked file was
    /// fetched, after links were read, after a directory was queued, and at the end of the walk.
    queue_changed: Notify,
    pages: PageWalk,
    is_stopped: Cell<bool>,
    complete_listings: CompleteListings,
    /// The files that earlier runs fetched, loaded when an entry has changed its kind.
    earlier_files: OnceCell<BTreeMap<String, Finished>>,
    /// The number of local files that were deleted because an entry has changed its kind.
    deleted: Cell<u64>,
    /// The directory of the mirror, if `--delete` is set.
    deletes_in: Option<PathBuf>,
    deletion_limit: DeletionLimit,
    /// The number of files of earlier runs that existed at the start, counted when the limit needs it.
    earlier_count: OnceCell<u64>,
    unchanged: Cell<u64>,
    /// The number of entries on other servers or outside the start directory, and of those that require user input.
    outside_tree: Cell<u64>,
    /// The numbers of links of index pages that are named like entries, but lead elsewhere.
    other_links: Cell<OtherLinkCounts>,
    /// The number of notes so far.
    notes: Cell<u32>,
}

impl MirrorWalker {
    /// Creates a walk that begins at the start directory of `job`. Listings and transfers take their numbers from
    /// `next_number`.
    pub(super) fn new(job: &MirrorJob, next_number: Rc<Cell<usize>>) -> Self {
        let mut tree = job.tree();
        let root = tree.root();
        Self {
            tree: RefCell::new(tree),
            directories: RefCell::new(vec![root]),
            files: FileQueue::default(),
            next_number,
            active_listings: Cell::new(0),
            presumed_directories: RefCell::default(),
            queue_changed: Notify::new(),
            pages: PageWalk::default(),
            is_stopped: Cell::new(false),
            complete_listings: CompleteListings::default(),
            earlier_files: OnceCell::new(),
            deleted: Cell::new(0),
            deletes_in: job.deletes.then(|| job.directory.clone()),
            deletion_limit: DeletionLimit::new(job.max_delete),
            earlier_count: OnceCell::new(),
            unchanged: Cell::new(0),
            outside_tree: Cell::new(0),
            other_links: Cell::default(),
            notes: Cell::new(0),
        }
    }

    /// Returns the next file to fetch, or the error of a listing or of the links of a page, or `None` at the end of the
    /// walk. Lists directories when no file is queued, and reads the links of pages after the last directory.
    pub(super) async fn next(&self, run: &Run, job: &MirrorJob) -> Option<Work> {
        while !self.is_stopped.get() {
            if let Some((transfer, upcoming)) = self.files.take_transfer() {
                if transfer.is_page_link() {
                    self.pages.begin();
                }
                let planned = PlannedTransfer::new(transfer, upcoming, &run.options);
                return Some(Work::Transfer(Box::new(planned)));
            }
            if let Some(files) = self.files.take_chunk() {
                self.queue_files(files, run, job);
                // Let other tasks run, such as the signal handler.
                tokio::task::yield_now().await;
                continue;
            }
            let queue_changed = self.queue_changed.notified();
            let may_list = self.active_listings.get() == 0 || !job.is_walked_in_order();
            let directory = if may_list { self.directories.borrow_mut().pop() } else { None };
            match directory {
                Some(directory) => {
                    if let Err(failed) = self.list(directory, run, job).await {
                        return Some(failed);
                    }
                }
                None if self.tree.borrow().lists_without_slashes() && self.files.queue_deferred() => {}
                None if self.active_listings.get() == 0 && !self.pages.is_active() => {
                    let saved = self.pages.take_saved();
                    if saved.is_empty() && !self.tree.borrow().has_linked_files() {
                        self.queue_changed.notify_waiters();
                        return None;
                    }
                    if let Err(failed) = self.follow_links(saved, run, job).await {
                        return Some(failed);
                    }
                }
                None => queue_changed.await,
            }
        }
        None
    }

    /// Ends the walk: no more work is returned.
    pub(super) fn stop(&self) {
        self.is_stopped.set(true);
        self.queue_changed.notify_waiters();
    }

    /// Records the end of a transfer. The links of a page are read later if it was saved or is unchanged.
    pub(super) fn finish_transfer(
        &self,
        transfer: &Transfer,
        report: &TransferReport,
        error: Option<&Error>,
        run: &Run,
    ) {
        let (Some(entry), is_complete) = (&transfer.entry, error.is_none()) else { return };
        let is_kind_unknown = entry.uncertain_kind == Some(UncertainKind::Unknown);
        match error {
            Some(error) => self.complete_listings.add_failure(&entry.path, is_kind_unknown, error),
            // A directory that is still to be listed, or a link that leads to no file.
            None if report.no_file.is_some() => {}
            None => self.confirm_entry(entry, Some(report), run),
        }
        if !entry.is_page_link() {
            self.finish_entry(entry, report, is_complete, run);
            return;
        }
        match &report.moved_to {
            Some(target) => {
                self.tree.borrow_mut().add_redirect(entry, target);
                self.pages.end_without_links();
            }
            None => self.pages.end(entry, report.meta.as_deref(), is_complete),
        }
        self.queue_changed.notify_waiters();
    }

    /// Returns the number of unchanged files.
    pub(super) const fn unchanged(&self) -> u64 {
        self.unchanged.get()
    }

    /// Returns the number of entries that are not fetched because they are on another server or outside the start
    /// directory, or require user input (forms, searches, sessions).
    pub(super) const fn outside_tree(&self) -> u64 {
        self.outside_tree.get()
    }

    /// Queues an entry of unknown kind as a directory, after a fetch as a file failed. Returns `false` if the entry is
    /// known to be a file or is too deep.
    pub(super) fn queue_as_directory(&self, file: &FileEntry) -> bool {
        let directory = self.tree.borrow().as_directory(file);
        let is_queued = directory.is_some();
        directory.iter().for_each(|directory| self.complete_listings.add_uncertain(&directory.path));
        self.directories.borrow_mut().extend(directory);
        self.queue_changed.notify_waiters();
        is_queued
    }

    /// Lists a directory and queues its entries.
    async fn list(&self, mut directory: DirEntry, run: &Run, job: &MirrorJob) -> Result<(), Work> {
        self.active_listings.set(self.active_listings.get() + 1);
        let number = self.next_number.replace(self.next_number.get() + 1);
        let listing = fetch_listing(number, &directory, run, job).await;
        self.active_listings.set(self.active_listings.get() - 1);
        let queued = listing.and_then(|mut listing| {
            let final_url = &listing.meta.url;
            if !self.tree.borrow_mut().accept_final_url(&mut directory, final_url)? {
                self.note_redirected(&directory, final_url, run);
                return Ok(());
            }
            if let Some(page) = listing.ordinary_page.take() {
                self.queue_ordinary_page(&directory, page, job);
                return Ok(());
            }
            self.queue_listing(&directory, listing, run, job)
        });
        let presumed = self.presumed_directories.borrow_mut().remove(&directory.path);
        let queued = queued.or_else(|error| self.queue_as_file(presumed, error, job));
        self.queue_changed.notify_waiters();
        queued.or_else(|error| self.skip_redirected(&mut directory, error, run)).map_err(|error| {
            self.complete_listings.add_failure(&directory.path, false, &error);
            if self.tree.borrow().is_full() {
                // Every other listing would exceed the limit, too.
                self.directories.borrow_mut().clear();
            }
            Work::Failed { url: directory.url.redacted().to_string(), error }
        })
    }

    /// Queues an entry that was presumed to be a directory as a file, after the server found no directory. Returns `error`
    /// if it has another reason, or if `presumed` is `None`.
    fn queue_as_file(&self, presumed: Option<FileEntry>, error: Error, job: &MirrorJob) -> Result<(), Error> {
        let Some(mut file) = presumed.filter(|_| error.code() == Code::NotFound) else { return Err(error) };
        file.uncertain_kind = None;
        self.files.add_transfers([transfer_of(file, job)]);
        Ok(())
    }

    /// Queues an ordinary page that the server sent instead of a listing.
    fn queue_ordinary_page(&self, directory: &DirEntry, page: OrdinaryPage, job: &MirrorJob) {
        self.pages.found_ordinary_page();
        let Some(entry) = self.tree.borrow_mut().ordinary_page(directory) else { return };
        let mut transfer = transfer_of(entry, job);
        transfer.ordinary_page = Some(Arc::new(page));
        self.files.add_transfers([transfer]);
    }

    /// Reads the links of saved pages and queues the linked files.
    async fn follow_links(&self, saved: Vec<SavedPage>, run: &Run, job: &MirrorJob) -> Result<(), Work> {
        // The other workers wait until the files are queued.
        self.pages.begin();
        let mut limit_error = None;
        for page in saved {
            let mut add =
                |link: &PageLink| self.tree.borrow_mut().add_link(&page.entry, &link.url, link.is_requisite);
            let Err(error) = read_links(&page, &job.directory, &mut add).await else { continue };
            let url = page.entry.url.redacted().to_string();
            if error.code() == Code::LimitReached {
                // The limit applies to all links together, so every other link would exceed it, too.
                limit_error = Some(Work::Failed { url, error });
                break;
            }
            self.print_note(&url, &format!("the links of the page are not followed: {error}"), run);
        }
        let files = self.tree.borrow_mut().take_linked_files(|path| self.earlier_kind(path, run, job));
        self.files.add_transfers(files.into_iter().map(|file| transfer_of(file, job)));
        self.pages.end_without_links();
        self.queue_changed.notify_waiters();
        limit_error.map_or(Ok(()), Err)
    }

    /// Queues the directories and files of a listing.
    fn queue_listing(
        &self,
        directory: &DirEntry,
        listing: DirectoryListing,
        run: &Run,
        job: &MirrorJob,
    ) -> Result<(), Error> {
        self.complete_listings.confirm(&directory.path);
        // A server that accepts every name as a directory has no entries for a file.
        if !listing.entries.is_empty() {
            self.set_kind(&directory.path, true);
        }
        self.remove_entry_of_other_kind(&directory.path, true, run, job);
        if !run.options.is_dry_run {
            DirHandle::open_or_create(&job.directory, &directory.path)?;
        }
        let DirectoryListing { entries, limit_error, is_complete, uncertain_names, other_links, .. } =
            listing;
        self.count_other_links(other_links, !entries.is_empty(), directory, run);
        let classified = self.tree.borrow_mut().classify(directory, entries);
        let is_unlisted = |name: String| {
            is_unlisted_earlier_entry(&directory.path, &name, &classified.names, self.earlier_files(run))
        };
        let mut other_names = uncertain_names.iter().filter_map(|name| self.tree.borrow().local_name(name));
        let is_complete = is_complete && !(job.deletes && other_names.any(is_unlisted));
        for (name, why) in &classified.skipped {
            self.note_skipped(*why, name, directory, run);
        }
        let is_parsed = |why: &Skipped| !matches!(why, Skipped::NoUrl | Skipped::Nameless);
        let all_parsed = classified.skipped.iter().all(|(_, why)| is_parsed(why));
        if let Some(why) = why_untrusted(is_complete, &classified).filter(|_| job.deletes) {
            let words = format!("--delete keeps all files of this directory: {why}");
            self.print_note(&directory.url.redacted().to_string(), &words, run);
        }
        let is_trusted = is_complete && all_parsed && !classified.has_unchecked_names;
        // A faulty server may return an empty page or a menu without links, so an empty listing does not count as complete.
        if is_trusted && classified.error.is_none() && !classified.names.is_empty() {
            let in_other_menus = classified.names_in_other_menus;
            self.complete_listings.add(&directory.path, classified.names, in_other_menus);
        }
        self.directories.borrow_mut().extend(classified.directories);
        self.files.add_listing(classified.files);
        self.files.add_listing(classified.possible_directories.likely);
        self.files.defer_listing(classified.possible_directories.unlikely);
        limit_error.or(classified.error).map_or(Ok(()), Err)
    }

    /// Handles a skipped entry: prints a note if it has no URL, no usable name or is too deep, and counts it if it is
    /// outside the tree or requires user input.
    fn note_skipped(&self, why: Skipped, name: &[u8], directory: &DirEntry, run: &Run) {
        let words = match why {
            Skipped::NoUrl => "the line is not understood",
            Skipped::Nameless => "skipped: no file can have this name",
            Skipped::TooDeep => "deeper than --max-depth",
            Skipped::OutsideTree | Skipped::Unfetchable => {
                self.outside_tree.set(self.outside_tree.get() + 1);
                return;
            }
            _ => return,
        };
        let name = String::from_utf8_lossy(name);
        self.print_note(&format!("{name} in {}", directory.url.redacted()), words, run);
    }

    /// Prints a note about `subject`, up to [`MAX_NOTES`] per run.
    fn print_note(&self, subject: &str, words: &str, run: &Run) {
        let count = self.notes.replace(self.notes.get() + 1);
        if !run.log.is_silent && count <= MAX_NOTES {
            let words = if count == MAX_NOTES { "further notes of this kind are not printed" } else { words };
            run.progress.suspend_while(|| render::print_note_for(subject, words, run.options.format));
        }
    }

    /// Queues the files that are not up to date.
    fn queue_files(&self, files: Vec<FileEntry>, run: &Run, job: &MirrorJob) {
        // An entry whose local path is a directory was a directory in an earlier run.
        let is_presumed_directory = |file: &FileEntry| {
            file.uncertain_kind == Some(UncertainKind::Unknown)
                && job.directory.join(&file.path).is_dir()
                && self.queue_as_directory(file)
        };
        let (presumed, files): (Vec<_>, Vec<_>) = files.into_iter().partition(is_presumed_directory);
        let presumed = presumed.into_iter().map(|file| (file.path.clone(), file));
        self.presumed_directories.borrow_mut().extend(presumed);
        let files = files.into_iter();
        let (done, wanted): (Vec<_>, Vec<_>) =
            files.map(|file| transfer_of(file, job)).partition(|transfer| is_done(transfer, run, job));
        let done_entries = done.iter().filter_map(|transfer| transfer.entry.as_ref());
        done_entries.for_each(|entry| self.confirm_entry(entry, None, run));
        let is_wanted = |transfer: &&Transfer| !transfer.is_excluded_file();
        self.unchanged.set(self.unchanged.get() + done.iter().filter(is_wanted).count() as u64);
        // The kind of the entries of index pages is unknown until the server has been asked, and that of FTP is checked.
        let is_certain = |entry: &FileEntry| !entry.may_be_directory() && !matches!(entry.url, Url::Ftp(_));
        let entries = wanted.iter().filter_map(|transfer| transfer.entry.as_deref());
        for entry in entries.filter(|entry| is_certain(entry)) {
            self.remove_entry_of_other_kind(&entry.path, false, run, job);
        }
        self.files.add_chunk(wanted, job.is_news());
    }
}

/// Returns `true` if the journal has the unchanged file, or if it exists and `--skip-existing` is set. A file whose
/// checksum must be compared is left to its transfer.
fn is_done(transfer: &Transfer, run: &Run, job: &MirrorJob) -> bool {
    let is_directory =
        |entry: &FileEntry| entry.may_be_directory() && job.directory.join(&entry.path).is_dir();
    if transfer.entry.as_deref().is_some_and(is_directory)
        || !transfer.is_excluded_file() && must_check_existing(transfer, run)
    {
        return false;
    }
    let Output::File(path) = &transfer.output else { return false };
    current_file(transfer, path, run).is_some_and(|file| keep(&file, Reserved::First, run))
}
