//! Redirected entries of a mirror: directories that an index page lists without a final slash, and directories that are
//! redirected elsewhere.

use std::fs;
use std::sync::Arc;

use fetch_url::internal::HostPermit;
use fetch_url::mirror::{DirEntry, FileEntry};
use fetch_url::url::{Url, parse};
use fetch_url::{Code, Error, Request};

use super::MirrorWalker;
use crate::job::Transfer;
use crate::report::TransferReport;
use crate::run::context::Run;
use crate::run::transfer::{is_moved, with_observer};

impl MirrorWalker {
    /// Asks the server whether an entry of an index page is a directory, if its local path is one. Returns `true` if the
    /// server redirects it to its URL with a slash. Otherwise it is a file, and with `--delete` the local directory is
    /// removed, unless the entry may be a directory that is elsewhere.
    ///
    /// # Errors
    /// The error of the request. The kind of the entry is unknown then, so that nothing is deleted.
    pub(in crate::run) async fn find_directory(
        &self,
        transfer: &Transfer,
        request: &Request,
        permit: Option<&Arc<HostPermit>>,
        run: &Run,
        report: &mut TransferReport,
    ) -> Result<bool, Error> {
        let (Some(entry), Some(job)) = (&transfer.entry, &run.mirror) else { return Ok(false) };
        let is_directory =
            || fs::symlink_metadata(job.directory.join(&entry.path)).is_ok_and(|metadata| metadata.is_dir());
        if !entry.may_be_directory() || run.options.is_dry_run || !is_directory() {
            return Ok(false);
        }
        let request = with_observer(request.clone(), run, report).with_permit(permit.cloned());
        let response = match run.fetcher.fetch(request.clone().head()).await {
            Ok(response) => response,
            // The server may refuse HEAD only.
            Err(_) => run.fetcher.fetch(request).await?,
        };
        if is_moved(transfer, &response.meta, report) {
            return Ok(true);
        }
        if !entry.may_be_directory_elsewhere(&response.meta) {
            self.set_kind(&entry.path, false);
            self.remove_entry_of_other_kind(&entry.path, false, run, job);
        }
        Ok(false)
    }

    /// Records the end of the transfer of a listed entry. An entry that was redirected to its URL with a slash is queued as a
    /// directory; a file that may be the listing of a directory gets a note.
    pub(super) fn finish_entry(
        &self,
        entry: &FileEntry,
        report: &TransferReport,
        is_complete: bool,
        run: &Run,
    ) {
        if let Some(target) = &report.moved_to {
            self.queue_redirected_directory(entry, target, run);
            return;
        }
        if !is_complete || !entry.may_be_directory() || run.options.is_dry_run {
            return;
        }
        match report.meta.as_deref().filter(|meta| entry.may_be_directory_elsewhere(meta)) {
            None => self.set_kind(&entry.path, false),
            Some(meta) => {
                let target = meta.url.redacted();
                let words =
                    format!("saved as a file, but may be a directory: the server redirects it to {target}");
                self.print_note(&entry.url.redacted().to_string(), &words, run);
            }
        }
    }

    /// Queues a directory that the index page lists without a slash. `target` is its URL.
    fn queue_redirected_directory(&self, entry: &FileEntry, target: &Url<'_>, run: &Run) {
        self.set_kind(&entry.path, true);
        let directory = self.tree.borrow_mut().redirected_directory(entry, target);
        match directory {
            Some(directory) if self.tree.borrow().is_too_deep(&directory) => {
                self.print_note(&target.redacted().to_string(), "deeper than --max-depth", run);
            }
            directory => self.directories.borrow_mut().extend(directory),
        }
        self.queue_changed.notify_waiters();
    }

    /// Skips a directory below the first one that was redirected elsewhere, to something that is not a listing. Returns
    /// other errors.
    pub(super) fn skip_redirected(
        &self,
        directory: &mut DirEntry,
        error: Error,
        run: &Run,
    ) -> Result<(), Error> {
        let is_first = directory.path.is_empty();
        let target = error.url().filter(|_| !is_first && error.code() == Code::NotFound);
        let Some(target) = target.and_then(|url| Some(parse(url).ok()?.into_owned().url)) else {
            return Err(error);
        };
        if self.tree.borrow_mut().accept_final_url(directory, &target)? {
            return Err(error);
        }
        self.note_redirected(directory, &target, run);
        Ok(())
    }

    /// Prints a note about a directory that is skipped because it was redirected to `target`.
    pub(super) fn note_redirected(&self, directory: &DirEntry, target: &Url<'_>, run: &Run) {
        let words = format!("skipped: the server redirects the directory to {}", target.redacted());
        self.print_note(&directory.url.redacted().to_string(), &words, run);
    }

    /// Records the kind of a listed entry, so that `--delete` may remove what an earlier run left there.
    pub(super) fn set_kind(&self, path: &str, is_directory: bool) {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if let Some(kind) =
            self.listed_names.borrow_mut().get_mut(parent).and_then(|names| names.get_mut(name))
            && kind.is_none()
        {
            *kind = Some(is_directory);
        }
    }
}
