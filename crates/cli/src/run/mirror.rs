//! A mirror: directories are listed when nothing that was found is left to fetch, and their files become transfers.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use fetch_url::proto::Entry;
use fetch_url::url::Url;
use fetch_url::{Beneath, Branch, Code, Directory, Doubt, Error, Leaf, Next, Passed, Tree};
use tokio::sync::Notify;

use super::batch::Work;
use super::prune::Listed;
use super::{is_there, observed};
use crate::job::{Copy, Job, Output, Transfer};
use crate::render;
use crate::report::Report;

/// So many notes on lines of listings are read by nobody.
const MOST_NOTES: u32 = 20;
/// So many articles are known ahead.
const PIECE: usize = 512;

/// A tree that is walked by several workers.
pub(super) struct Walk {
    tree: RefCell<Tree>,
    branches: RefCell<Vec<Branch>>,
    leaves: RefCell<VecDeque<(Transfer, Next)>>,
    /// How many workers are listing a directory.
    listing: Cell<usize>,
    woken: Notify,
    listed: RefCell<Listed>,
    unchanged: Cell<u64>,
    /// How many lines lead to another server, or up.
    elsewhere: Cell<u64>,
    notes: Cell<u32>,
}

impl Walk {
    pub(super) fn new(copy: &Copy) -> Self {
        let mut tree = Tree::new(copy.start.clone(), copy.rules.clone());
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

    /// The next file, or what has failed on the way to it.
    pub(super) async fn next(&self, job: &Job, copy: &Copy) -> Option<Work> {
        loop {
            if let Some((transfer, next)) = self.leaves.borrow_mut().pop_front() {
                return Some(Work::Transfer(transfer, next));
            }
            let woken = self.woken.notified();
            let is_free = self.listing.get() == 0 || !copy.is_walked_in_order();
            let branch = if is_free { self.branches.borrow_mut().pop() } else { None };
            match branch {
                Some(branch) => {
                    if let Err(failed) = self.visit(branch, job, copy).await {
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

    /// How many files are as they were.
    pub(super) const fn unchanged(&self) -> u64 {
        self.unchanged.get()
    }

    /// How many lines of listings lead to another server, or up: they are not followed.
    pub(super) const fn elsewhere(&self) -> u64 {
        self.elsewhere.get()
    }

    /// What was listed for certain.
    pub(super) fn listed(&self) -> Listed {
        self.listed.take()
    }

    /// What was taken for a file may be a directory; false where it is not wanted.
    pub(super) fn enter(&self, leaf: &Leaf) -> bool {
        let branch = self.tree.borrow().as_branch(leaf);
        let is_wanted = branch.is_some();
        self.branches.borrow_mut().extend(branch);
        self.woken.notify_waiters();
        is_wanted
    }

    async fn visit(&self, mut branch: Branch, job: &Job, copy: &Copy) -> Result<(), Work> {
        self.listing.set(self.listing.get() + 1);
        let listed = list(&branch, job, copy).await;
        self.listing.set(self.listing.get() - 1);
        let sorted = listed.and_then(|directory| {
            let place = &directory.meta.url;
            if !self.tree.borrow_mut().arrived(&mut branch, place)? {
                let words = format!("it leads to {}: passed over", place.redacted());
                self.note(&branch.url.redacted().to_string(), &words, job);
                return Ok(());
            }
            self.sort(&branch, directory, job, copy)
        });
        self.woken.notify_waiters();
        sorted.map_err(|error| {
            if error.code() == Code::LimitReached {
                // More of the same would be found everywhere.
                self.branches.borrow_mut().clear();
            }
            Work::Failed { url: branch.url.redacted().to_string(), error }
        })
    }

    /// Directories to walk, and files to fetch.
    fn sort(&self, branch: &Branch, directory: Directory, job: &Job, copy: &Copy) -> Result<(), Error> {
        Beneath::open(&copy.directory, &branch.path)?;
        let Directory { entries, cut, is_sure, .. } = directory;
        let sorted = self.tree.borrow_mut().sort(branch, &entries);
        for (index, why) in &sorted.passed {
            self.pass(*why, &entries[*index], branch, job);
        }
        // Lines that nobody understands may be files.
        let is_clear = sorted.passed.iter().all(|(_, why)| *why != Passed::Words) || copy.has_words();
        // Servers in trouble give empty pages, and menus of words alone.
        if is_sure && is_clear && sorted.cut.is_none() && !sorted.names.is_empty() {
            self.listed.borrow_mut().insert(branch.path.clone(), sorted.names);
        }
        self.branches.borrow_mut().extend(sorted.branches);
        self.queue(sorted.leaves, job, copy);
        cut.or(sorted.cut).map_or(Ok(()), Err)
    }

    /// What may surprise is told; what is no file at all is not.
    fn pass(&self, why: Passed, entry: &Entry, branch: &Branch, job: &Job) {
        let words = match why {
            Passed::Nameless => "no file can have this name",
            Passed::TooDeep => "deeper than --max-depth",
            Passed::Elsewhere => {
                self.elsewhere.set(self.elsewhere.get() + 1);
                return;
            }
            _ => return,
        };
        let name = String::from_utf8_lossy(&entry.name);
        self.note(&format!("{name} in {}", branch.url.redacted()), words, job);
    }

    /// A note; of very many only the first.
    fn note(&self, place: &str, words: &str, job: &Job) {
        let count = self.notes.replace(self.notes.get() + 1);
        if !job.talk.is_silent && count <= MOST_NOTES {
            let words = if count == MOST_NOTES { "and so on: no more of these notes" } else { words };
            job.board.aside(|| render::note_of(place, words, job.shape.format));
        }
    }

    fn queue(&self, leaves: Vec<Leaf>, job: &Job, copy: &Copy) {
        // What has turned out to be a directory is one the next time, too.
        let is_known = |leaf: &Leaf| {
            leaf.doubt == Some(Doubt::Unknown) && copy.directory.join(&leaf.path).is_dir() && self.enter(leaf)
        };
        let leaves = leaves.into_iter().filter(|leaf| !is_known(leaf));
        let transfer = |leaf: Leaf| {
            let path = copy.directory.join(&leaf.path);
            let mut transfer = Transfer::new(leaf.url.to_string(), Output::File(path));
            transfer.leaf = Some(Box::new(leaf));
            transfer
        };
        let (done, wanted): (Vec<_>, Vec<_>) =
            leaves.map(transfer).partition(|transfer| is_done(transfer, job));
        self.unchanged.set(self.unchanged.get() + done.len() as u64);
        let mut leaves = self.leaves.borrow_mut();
        if !copy.is_news() {
            leaves.extend(wanted.into_iter().map(|transfer| (transfer, Next::default())));
            return;
        }
        for piece in wanted.chunks(PIECE) {
            let url = |transfer: &Transfer| transfer.leaf.as_ref().map(|leaf| leaf.url.clone());
            let urls: Arc<[Url<'static>]> = piece.iter().filter_map(url).collect();
            let next = |index: usize| Next::new(urls.clone(), index + 1);
            leaves.extend(piece.iter().cloned().enumerate().map(|(index, file)| (file, next(index))));
        }
    }
}

fn is_done(transfer: &Transfer, job: &Job) -> bool {
    matches!(&transfer.output, Output::File(path) if is_there(transfer, path, job))
}

async fn list(branch: &Branch, job: &Job, copy: &Copy) -> Result<Directory, Error> {
    let report = Report::begin(usize::MAX, &branch.url.redacted().to_string());
    let turn = job.turns.turn(&branch.url).await.map(Arc::new);
    let request = observed(copy.listing(&branch.url)?, job, &report).in_turn(turn);
    job.fetcher.directory(&request).await
}
