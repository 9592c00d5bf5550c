//! The end of a run with `--delete`: deletes the files that the server no longer lists, and reports them.

use fetch_url::Error;

use super::MirrorWalker;
use crate::job::MirrorJob;
use crate::render;
use crate::run::context::Run;
use crate::run::delete_extraneous::{Extraneous, FinalListings};
use crate::run::delete_leftovers::delete_leftovers;
use crate::run::renamed_entries::only_copies;

impl MirrorWalker {
    /// Deletes extraneous files and temporary files after all listings.
    ///
    /// # Errors
    /// The error of a file that cannot be deleted; [`Code::LimitReached`](fetch_url::Code::LimitReached) if files were kept
    /// because of `--max-delete`.
    pub(in crate::run) fn delete(&self, run: &Run, job: &MirrorJob) -> Result<(), Error> {
        let Some(journal) = &run.journal else { return Ok(()) };
        if self.has_ordinary_pages() {
            let text = "--delete deletes nothing: the server sent ordinary pages instead of listings, which may not link to all files";
            print_note(&job.start.redacted().to_string(), text, run);
            return self.check_deletions();
        }
        let (listings, url_prefix) = (self.take_listings(run, job), job.url_prefix());
        let names = &listings.names;
        let earlier = journal.journal().borrow_mut().finished()?;
        let mut extraneous = Extraneous::find(&job.directory, &earlier, &listings);
        let kept = only_copies(
            extraneous.paths().collect(),
            &job.directory,
            &earlier,
            (names, &listings.other_urls),
            &mut journal.journal().borrow_mut(),
        )?;
        extraneous.keep(&kept);
        if !kept.is_empty() {
            let count = kept.len();
            let text = format!("kept {count} files whose entries have another name now and no other copy");
            print_note(&job.directory.display().to_string(), &text, run);
        }
        let remaining = || extraneous.count_remaining(&job.directory, &earlier);
        let is_permitted = self.deletion_limit.permits(extraneous.count(), remaining);
        // A dry run shows also the files that exceed the limit.
        if is_permitted || run.options.is_dry_run {
            extraneous.delete(&job.directory, names, |parent, name, path| {
                self.delete_file(path, || parent.remove_file(name), run)
            })?;
        }
        delete_leftovers(&job.directory, names, &url_prefix, |parent, name, path| {
            self.delete_file(path, || parent.remove_leftover(name, &url_prefix), run)
        })?;
        let changed = extraneous.changed;
        if changed > 0 {
            let text =
                format!("kept {changed} files that are no longer listed, because they were changed locally");
            print_note(&job.directory.display().to_string(), &text, run);
        }
        self.check_deletions()
    }

    /// Checks that no file was kept because of `--max-delete`.
    ///
    /// # Errors
    /// [`Code::LimitReached`](fetch_url::Code::LimitReached) if one was.
    pub(in crate::run) fn check_deletions(&self) -> Result<(), Error> {
        self.deletion_limit.check()
    }

    /// Returns the number of files that the run has deleted; with `--dry-run`, that it would delete.
    pub(in crate::run) const fn deleted(&self) -> u64 {
        self.deleted.get()
    }

    /// Deletes a file of a mirror with `remove`, counts and reports it; with `--dry-run`, only prints its path.
    fn delete_file(
        &self,
        path: &str,
        remove: impl FnOnce() -> Result<(), Error>,
        run: &Run,
    ) -> Result<(), Error> {
        if run.options.is_dry_run {
            render::dry_run::print_delete(path, run.options.format)?;
        } else {
            remove()?;
            report_deleted(path, run);
        }
        self.deleted.set(self.deleted.get() + 1);
        Ok(())
    }

    /// Returns `true` if the server sent an ordinary page instead of a listing.
    pub(super) fn has_ordinary_pages(&self) -> bool {
        self.pages.has_ordinary_pages()
    }

    /// Takes the complete listings. Prints a note for a directory of which no listed entry
    /// exists.
    fn take_listings(&self, run: &Run, job: &MirrorJob) -> FinalListings {
        let (listings, kept) = self.complete_listings.take();
        for directory in kept {
            let words =
                "--delete keeps all files of this directory: no entry of its listing could be fetched";
            self.print_note(&job.directory.join(directory).display().to_string(), words, run);
        }
        listings
    }
}

/// Reports a deleted file to `--events`, and with `-v` to the user.
fn report_deleted(path: &str, run: &Run) {
    if let Some(events) = &run.events {
        events.deleted(path);
    }
    if run.log.verbose > 0 {
        print_note(path, "deleted, because it is no longer listed", run);
    }
}

fn print_note(subject: &str, text: &str, run: &Run) {
    if !run.log.is_silent {
        run.progress.suspend_while(|| render::print_note_for(subject, text, run.options.format));
    }
}
