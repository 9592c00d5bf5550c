//! The files that a mirror has found and not fetched yet.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use fetch_url::mirror::{FileEntries, FileEntry};
use fetch_url::news::UpcomingUrls;
use fetch_url::url::Url;

use crate::job::{MirrorJob, Output, Transfer};

/// The number of files of a listing whose transfers are made at a time. The news driver receives the URLs of their
/// articles in advance, to pipeline the requests.
const CHUNK_SIZE: usize = 512;
/// The usual length of scheme, host, port and start directory of a URL, in bytes.
const URL_CAPACITY: usize = 64;

/// The files of a walk. A listing may have a million files, so transfers are made a chunk at a time.
#[derive(Default)]
pub(super) struct FileQueue {
    transfers: RefCell<VecDeque<(Transfer, UpcomingUrls)>>,
    listings: RefCell<VecDeque<FileEntries>>,
    /// Entries that are unlikely to be directories, and are not wanted otherwise.
    deferred: RefCell<Vec<FileEntries>>,
}

impl FileQueue {
    /// Adds transfers.
    pub(super) fn add_transfers(&self, transfers: impl IntoIterator<Item = Transfer>) {
        let transfers = transfers.into_iter().map(|transfer| (transfer, UpcomingUrls::default()));
        self.transfers.borrow_mut().extend(transfers);
    }

    /// Adds the files of a listing.
    pub(super) fn add_listing(&self, files: FileEntries) {
        self.listings.borrow_mut().push_back(files);
    }

    /// Adds entries that are taken after [`queue_deferred`](Self::queue_deferred).
    pub(super) fn defer_listing(&self, files: FileEntries) {
        self.deferred.borrow_mut().extend(Some(files).filter(|files| files.len() > 0));
    }

    /// Queues the deferred entries. Returns `false` if there are none.
    pub(super) fn queue_deferred(&self) -> bool {
        let deferred = self.deferred.take();
        let is_queued = !deferred.is_empty();
        self.listings.borrow_mut().extend(deferred);
        is_queued
    }

    /// Takes the next transfer.
    pub(super) fn take_transfer(&self) -> Option<(Transfer, UpcomingUrls)> {
        self.transfers.borrow_mut().pop_front()
    }

    /// Takes the next files of a listing, or `None` if there are no more.
    pub(super) fn take_chunk(&self) -> Option<Vec<FileEntry>> {
        let mut listings = self.listings.borrow_mut();
        let first = listings.front_mut()?;
        let chunk = first.take(CHUNK_SIZE).collect();
        if first.len() == 0 {
            listings.pop_front();
        }
        Some(chunk)
    }

    /// Adds the transfers of a chunk. For articles, each transfer has the URLs of those after it.
    pub(super) fn add_chunk(&self, transfers: Vec<Transfer>, are_articles: bool) {
        if !are_articles {
            self.add_transfers(transfers);
            return;
        }
        let url = |transfer: &Transfer| transfer.entry.as_ref().map(|entry| entry.url.clone());
        let urls: Arc<[Url<'static>]> = transfers.iter().filter_map(url).collect();
        let with_upcoming = |(index, transfer)| (transfer, UpcomingUrls::new(urls.clone(), index + 1));
        self.transfers.borrow_mut().extend(transfers.into_iter().enumerate().map(with_upcoming));
    }
}

/// Returns the transfer of a file to its local path.
pub(super) fn transfer_of(file: FileEntry, job: &MirrorJob) -> Transfer {
    let path = job.directory.join(&file.path);
    // A text that grows would be allocated several times, for each of a million files.
    let mut url = String::with_capacity(URL_CAPACITY + file.path.len());
    let _ = write!(url, "{}", file.url);
    let mut transfer = Transfer::new(url, Output::File(path));
    transfer.entry = Some(Box::new(file));
    transfer
}
