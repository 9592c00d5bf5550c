//! Files and directories that earlier runs of a mirror left at the paths of entries.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};

use fetch_url::EntryKind;
use fetch_url::mirror::{FileEntry, Finished};

use super::MirrorWalker;
use super::redirected::may_be_another_page;
use crate::job::MirrorJob;
use crate::report::TransferReport;
use crate::run::context::Run;
use crate::run::delete_extraneous::count_existing;
use crate::run::directory_listing::has_files_with_suffix;
use crate::run::local_tree::{LocalTree, find_entry_of_other_kind};
use crate::run::renamed_entries::only_copies;

impl MirrorWalker {
    /// Returns `Directory` if `path` is a local directory, `File` if it is a file that an earlier run fetched, or else
    /// `None`. The local name of a link can be that of a directory, which a redirected file may have created.
    pub(super) fn earlier_kind(&self, path: &str, run: &Run, job: &MirrorJob) -> Option<EntryKind> {
        let local = job.directory.join(path);
        if local.is_dir() {
            return Some(EntryKind::Directory);
        }
        let is_file = fs::symlink_metadata(&local).is_ok_and(|file| file.is_file());
        let is_earlier = || self.earlier_files(run).contains_key(path);
        (is_file && is_earlier()).then_some(EntryKind::File)
    }

    /// Returns the files that earlier runs fetched, or no files if the journal cannot be read. That error is reported
    /// at the end of the run.
    pub(super) fn earlier_files(&self, run: &Run) -> &BTreeMap<String, Finished> {
        let read = || Some(run.journal.as_ref()?.journal().borrow_mut().finished().unwrap_or_default());
        self.earlier_files.get_or_init(|| read().unwrap_or_default())
    }

    /// Records that an entry was fetched, as `report` says, or is unchanged. A local file with its path and a suffix is then
    /// not its copy, unless `--skip-existing` kept a file of any content, or the file may be a page about the entry.
    pub(super) fn confirm_entry(&self, entry: &FileEntry, report: Option<&TransferReport>, run: &Run) {
        self.complete_listings.confirm(&entry.path);
        let is_candidate = || has_files_with_suffix(&entry.path, self.earlier_files(run));
        let Some(directory) = self.deletes_in.as_ref().filter(|_| !entry.is_excluded_file && is_candidate())
        else {
            return;
        };
        let is_fetched = report.is_some_and(|report| !report.is_skipped);
        let meta = report.and_then(|report| report.meta.as_deref().or(report.unchanged_meta.as_deref()));
        let is_own = match meta {
            _ if !is_fetched && run.options.skips_existing => false,
            Some(meta) => !entry.may_be_directory() || !may_be_another_page(entry, meta),
            None if is_fetched => true,
            // An earlier run may have saved a page, which has another size than the listed file.
            None if entry.may_be_directory() => {
                let file = fs::symlink_metadata(directory.join(&entry.path));
                file.is_ok_and(|file| Some(file.len()) == entry.size)
            }
            None => true,
        };
        if is_own {
            self.complete_listings.add_own_file(&entry.path);
        }
    }

    /// With `--delete`, removes the local file or directory whose path is needed for an entry that has changed its
    /// kind. If something in the directory must stay, or the limit is exceeded, all of it stays. With `--dry-run`,
    /// everything stays, and the files that would be removed are printed at the end of the run.
    pub(super) fn remove_entry_of_other_kind(
        &self,
        path: &str,
        is_directory: bool,
        run: &Run,
        job: &MirrorJob,
    ) {
        let is_in_the_way = |file: &Metadata| if is_directory { file.is_file() } else { file.is_dir() };
        let deletes = job.deletes && !self.has_ordinary_pages();
        if !deletes || !fs::symlink_metadata(job.directory.join(path)).is_ok_and(|file| is_in_the_way(&file))
        {
            return;
        }
        let (earlier, url_prefix) = (self.earlier_files(run), job.url_prefix());
        let found = find_entry_of_other_kind(
            &job.directory,
            path,
            !is_directory,
            earlier,
            &self.complete_listings.names(),
            &url_prefix,
        );
        let found = found.filter(|tree| !self.has_only_copies(tree, run, job));
        let removed = match run.options.is_dry_run {
            true => found.map(|_| 0),
            false => found
                .filter(|tree| self.may_delete(tree.file_count(), run, job))
                .and_then(|tree| tree.remove(&job.directory, &url_prefix)),
        };
        match removed {
            Some(deleted) => self.deleted.set(self.deleted.get() + deleted),
            None => self.forget_kind(path),
        }
    }

    /// Returns `true` if a file may be the only copy of an entry that has another name now.
    fn has_only_copies(&self, tree: &LocalTree, run: &Run, job: &MirrorJob) -> bool {
        let Some(journal) = &run.journal else { return true };
        let (names, other_urls) = (self.complete_listings.names(), self.complete_listings.other_urls());
        let earlier = self.earlier_files(run);
        let mut journal = journal.journal().borrow_mut();
        let kept = only_copies(tree.paths(), &job.directory, earlier, (&names, &other_urls), &mut journal);
        kept.map_or(true, |kept| !kept.is_empty())
    }

    /// Returns `true` if the limit allows that `files` of the files of earlier runs are deleted.
    fn may_delete(&self, files: u64, run: &Run, job: &MirrorJob) -> bool {
        let deleted = self.deletion_limit.deleted();
        let count = || count_existing(&job.directory, self.earlier_files(run).keys()) + deleted;
        let remaining = || self.earlier_count.get_or_init(count).saturating_sub(deleted + files);
        self.deletion_limit.permits(files, remaining)
    }

    /// Records that the kind of a listed entry is unknown, so that `--delete` keeps everything that an earlier run left
    /// there.
    fn forget_kind(&self, path: &str) {
        self.complete_listings.set_kind(path, |_| None);
    }
}
