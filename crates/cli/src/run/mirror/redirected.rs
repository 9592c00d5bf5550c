//! Redirected entries of a mirror: directories that an index page lists without a final slash, and directories that are
//! redirected elsewhere.

use std::fs;
use std::sync::Arc;

use fetch_url::internal::HostPermit;
use fetch_url::mirror::{DirEntry, FileEntry};
use fetch_url::url::{Url, parse};
use fetch_url::{Code, Error, Meta, Request};

use super::MirrorWalker;
use crate::job::{MirrorJob, Transfer};
use crate::report::{NoFile, TransferReport};
use crate::run::context::Run;
use crate::run::failures::may_be_directory_or_link;
use crate::run::metadata::{check_sends_file, request_metadata};
use crate::run::transfer::{record_redirect, with_observer};

impl MirrorWalker {
    /// Asks the server whether an entry is a directory, if this must be known before the transfer. Returns `true` if no
    /// file is to be fetched: the server redirects the entry of an index page to its URL with a slash, or the entry is
    /// wanted only if it is a directory. Otherwise the entry is a file, and with `--delete` a local directory at its path
    /// is removed, unless the response may be a page about a directory. Over FTP, the server must send the file first.
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
        let is_replaced = is_ftp_file(entry) && job.deletes && is_local_directory(entry, job);
        if !is_replaced && !self.needs_kind(entry, run, job) {
            return Ok(false);
        }
        let request = with_observer(request.clone(), run, report).with_permit(permit.cloned());
        if is_replaced {
            if !run.options.is_dry_run {
                check_sends_file(request, transfer, run).await?;
                self.set_kind(&entry.path, false);
            }
            self.remove_entry_of_other_kind(&entry.path, false, run, job);
            return Ok(false);
        }
        let is_dry_run = run.options.is_dry_run;
        let meta = match entry_metadata(request, run).await {
            Ok(meta) => meta,
            Err(error) if is_dry_run || (entry.is_excluded_file && may_be_directory_or_link(&error)) => {
                let words = format!("it is not known whether this is a directory: {error}");
                self.print_note(&entry.url.redacted().to_string(), &words, run);
                return Ok(is_not_wanted(entry, report));
            }
            Err(error) => return Err(error),
        };
        if record_redirect(transfer, &meta, report) {
            return Ok(true);
        }
        let is_elsewhere = entry.may_be_directory_elsewhere(&meta);
        if entry.is_excluded_file && is_elsewhere {
            let words = format!("skipped: the server redirects it to {}", meta.url.redacted());
            self.print_note(&entry.url.redacted().to_string(), &words, run);
        }
        let is_file = !entry.is_excluded_file && !is_elsewhere && !may_be_another_page(entry, &meta);
        if is_file && !is_dry_run {
            self.set_kind(&entry.path, false);
            self.remove_entry_of_other_kind(&entry.path, false, run, job);
        }
        Ok(is_not_wanted(entry, report))
    }

    /// Returns `true` if the kind of an entry must be known before its transfer: it is wanted only as a directory, its local
    /// path is a directory, or with `--dry-run`, if the server may list directories without a slash.
    fn needs_kind(&self, entry: &FileEntry, run: &Run, job: &MirrorJob) -> bool {
        entry.may_be_directory()
            && (entry.is_excluded_file
                || (run.options.is_dry_run && self.tree.borrow().may_list_without_slashes())
                || is_local_directory(entry, job))
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
        if !is_complete || !entry.may_be_directory() || entry.is_excluded_file || run.options.is_dry_run {
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

    /// Skips a directory that was redirected to another URL that is not a listing. Returns `error` if it has another
    /// reason, or if `directory` is the start directory.
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
        self.complete_listings.set_kind(path, |kind| kind.or(Some(is_directory)));
    }
}

/// Requests the metadata of an entry of an index page: with HEAD, or with GET if HEAD fails and objects may be requested.
async fn entry_metadata(request: Request, run: &Run) -> Result<Box<Meta>, Error> {
    match request_metadata(&request, run).await {
        Ok(meta) => Ok(meta),
        Err(error) if run.options.is_dry_run => Err(error),
        // The server may refuse HEAD only.
        Err(_) => Ok(run.fetcher.fetch(request).await?.meta),
    }
}

/// Returns `true` if the local path of an entry is a directory.
fn is_local_directory(entry: &FileEntry, job: &MirrorJob) -> bool {
    fs::symlink_metadata(job.directory.join(&entry.path)).is_ok_and(|metadata| metadata.is_dir())
}

/// Returns `true` for an entry that an FTP server lists as a file. A listing in another format than before may show
/// directories so.
fn is_ftp_file(entry: &FileEntry) -> bool {
    matches!(entry.url, Url::Ftp(_)) && entry.uncertain_kind.is_none()
}

/// Returns `true` if the response may be a page about the entry, such as that of a login, and not a file: it was
/// redirected, is HTML although the name does not say so, is empty, or has another status than 200.
pub(super) fn may_be_another_page(entry: &FileEntry, meta: &Meta) -> bool {
    let is_html = meta.media_type.as_deref().is_some_and(|media_type| media_type.contains("html"));
    let name = entry.path.to_ascii_lowercase();
    let is_named_html = [".htm", ".html", ".xhtml"].iter().any(|extension| name.ends_with(extension));
    has_other_path(&entry.url, &meta.url)
        || (is_html && !is_named_html)
        || meta.head.size == Some(0)
        || meta.status.is_some_and(|status| status != 200)
}

/// Returns `true` if two URLs are not both HTTP URLs with the same path.
fn has_other_path(listed: &Url<'_>, last: &Url<'_>) -> bool {
    match (listed, last) {
        (Url::Http(listed), Url::Http(last)) => listed.path() != last.path(),
        _ => true,
    }
}

/// Returns `true` if the entry is wanted only if it is a directory, and records then that it is a file that is
/// excluded.
fn is_not_wanted(entry: &FileEntry, report: &mut TransferReport) -> bool {
    if entry.is_excluded_file {
        report.set_no_file(NoFile::Excluded);
    }
    entry.is_excluded_file
}
