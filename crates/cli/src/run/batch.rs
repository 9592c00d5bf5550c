//! Runs several transfers, one after the other or in parallel, and reports each when it ends.

mod results;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use fetch_url::internal::HostPermit;
use fetch_url::mirror::UncertainKind;
use fetch_url::news::UpcomingUrls;
use fetch_url::url::Url;
use fetch_url::{Error, Request};
use tokio::task::LocalSet;

use super::context::Run;
use super::copies;
use super::expansion::{Expansion, expand};
use super::failures::{may_be_other_kind, may_try_alternative, print_failure};
use super::notes::{note_unusable_checksum, shown_url};
use super::queue::WorkQueue;
use super::result_log::{Disposition, ResultLog as _};
use super::transfer::run_transfer;
use super::work::{PlannedTransfer, Work};
use crate::job::{Output, Transfer, with_target_hint};
use crate::render::{self, summary};
use crate::report::{NoFile, Totals, TransferReport};

/// Runs all transfers. Returns the exit status of the first one that failed, or 0.
pub(super) async fn run_all(run: &Rc<Run>) -> u8 {
    let batch = Rc::new(Batch::new(run));
    let is_counted = run.input.is_none() && run.mirror.is_none();
    let workers = if is_counted { run.parallel.min(run.transfers.len()) } else { run.parallel };
    let all_work = async {
        match workers {
            0 | 1 => batch.work().await,
            workers => {
                // A LocalSet polls only the worker whose transfer has made progress.
                let local_set = LocalSet::new();
                for _ in 0..workers {
                    let batch = batch.clone();
                    local_set.spawn_local(async move { batch.work().await });
                }
                local_set.await;
            }
        }
    };
    // Polled in this order, so that the files that finish at the same time are recorded with one write.
    tokio::select! {
        biased;
        () = all_work => {}
        () = batch.store_results() => {}
    }
    let deleted = batch.delete();
    run.progress.clear();
    batch.finish(deleted).await
}

struct Batch {
    run: Rc<Run>,
    queue: WorkQueue,
    /// The next number for an object of an expanded URL. It is larger than the numbers of all given URLs.
    next_object_number: Cell<usize>,
    /// Number and exit status of the failed transfer with the lowest number.
    first_failure: Cell<(usize, u8)>,
    totals: Cell<Totals>,
}

impl Batch {
    fn new(run: &Rc<Run>) -> Self {
        // The number of lines in an input file is unknown.
        let first_extra_number = if run.input.is_some() { usize::MAX / 2 } else { run.transfers.len() };
        Self {
            run: run.clone(),
            queue: WorkQueue::new(run),
            next_object_number: Cell::new(first_extra_number),
            first_failure: Cell::new((usize::MAX, 0)),
            totals: Cell::new(Totals::begin()),
        }
    }

    /// Runs one worker until the queue is empty.
    async fn work(&self) {
        while let Some((number, work, permit)) = self.queue.next_with_permit().await {
            let status = match work {
                Work::Transfer(planned) => self.run_planned(number, *planned, permit).await,
                Work::Failed { url, error } => {
                    let nothing = Transfer::new(url, Output::Stdout { is_explicit: false });
                    self.end(self.begin(number, &nothing), Some(error), &nothing)
                }
            };
            if status != 0 && number < self.first_failure.get().0 {
                self.first_failure.set((number, status));
            }
            if self.run.fails_early && self.first_failure.get().1 != 0 {
                self.queue.stop();
            }
        }
    }

    /// Runs a transfer, or one for each object that its URL stands for.
    async fn run_planned(
        &self,
        number: usize,
        planned: PlannedTransfer,
        permit: Option<Arc<HostPermit>>,
    ) -> u8 {
        if let Some(log) = self.run.log_of_results()
            && let Err(error) = log.check(&planned.transfer).await
        {
            return self.end(self.begin(number, &planned.transfer), Some(error), &planned.transfer);
        }
        match expand(&self.run, &planned).await {
            Ok(None) => self.run_with_alternatives(number, planned, permit).await,
            Ok(Some(objects)) => {
                let status = self.run_objects(&objects, &planned.transfer, permit).await;
                self.end_expanded_line(number, &planned.transfer, status)
            }
            Err(error) => self.end(self.begin(number, &planned.transfer), Some(error), &planned.transfer),
        }
    }

    /// Runs a transfer. If it fails for a reason that is not local, tries the URLs of the object in order.
    async fn run_with_alternatives(
        &self,
        number: usize,
        planned: PlannedTransfer,
        permit: Option<Arc<HostPermit>>,
    ) -> u8 {
        let PlannedTransfer { transfer, request } = planned;
        note_unusable_checksum(&transfer, &self.run);
        let mut report = self.begin(number, &transfer);
        let mut error = match request {
            Ok(request) => {
                let url = request.url().clone();
                let failed = self.run_unless_directory(&transfer, request, permit, &mut report).await.err();
                failed.map(|error| with_target_hint(error, &url, &transfer.url))
            }
            Err(error) => Some(error),
        };
        let mut further = error.as_ref().map(|_| copies::further_attempts(&transfer, &report, &self.run));
        let mut last: Option<Transfer> = None;
        // Another object must not follow the bytes of this one on a stream.
        while let Some(failed) =
            error.as_ref().filter(|error| may_try_alternative(error) && !report.has_written_to_stream)
        {
            let earlier = last.as_ref().unwrap_or(&transfer);
            let again = copies::attempt_with_fewer_sources(earlier, failed, &report);
            let Some(next) = again.or_else(|| further.as_mut()?.pop_front()) else { break };
            let other = copies::following(next, earlier, &report);
            let shown = other.shown_url();
            if self.run.log.prints_notes {
                self.run.progress.suspend_while(|| render::print_alternative(failed, &report, &shown));
            }
            report = TransferReport::begin(number, &shown);
            error = self.run_alternative(&other, &mut report).await.err();
            last = Some(other);
        }
        if error.as_ref().is_some_and(|error| may_be_other_kind(error, &transfer))
            && let Some(why) = self.handle_non_file(&transfer)
        {
            error = None;
            report.set_no_file(why);
        }
        if let Some(walker) = &self.queue.walker {
            walker.finish_transfer(&transfer, &report, error.as_ref(), &self.run);
        }
        self.end(report, error, &transfer)
    }

    /// Runs a transfer, unless it is an entry of a mirror that turns out to be a directory.
    async fn run_unless_directory(
        &self,
        transfer: &Transfer,
        request: Request,
        permit: Option<Arc<HostPermit>>,
        report: &mut TransferReport,
    ) -> Result<(), Error> {
        if let Some(walker) = &self.queue.walker
            && walker.find_directory(transfer, &request, permit.as_ref(), &self.run, report).await?
        {
            return Ok(());
        }
        run_transfer(&self.run, transfer, request, permit, report).await
    }

    async fn run_alternative(&self, transfer: &Transfer, report: &mut TransferReport) -> Result<(), Error> {
        let request = self.run.options.request_for(transfer, UpcomingUrls::default())?;
        let permit = self.run.host_limiter.acquire(request.url()).await.map(Arc::new);
        run_transfer(&self.run, transfer, request, permit, report).await
    }

    /// Runs the transfers of the objects that a URL stands for. Returns the exit status of the first one that failed.
    async fn run_objects(
        &self,
        expansion: &Expansion,
        pattern: &Transfer,
        permit: Option<Arc<HostPermit>>,
    ) -> u8 {
        let mut first_failure = 0;
        for transfer in expansion.transfers() {
            let planned = PlannedTransfer::new(transfer.clone(), UpcomingUrls::default(), &self.run.options);
            let status = self.run_with_alternatives(self.next_object(), planned, None).await;
            first_failure = if first_failure == 0 { status } else { first_failure };
            if first_failure != 0 && self.run.fails_early {
                return first_failure;
            }
        }
        for urls in expansion.url_batches() {
            for index in 0..urls.len() {
                let status = self.run_object(&urls, index, pattern, permit.clone()).await;
                if first_failure == 0 {
                    first_failure = status;
                }
                if first_failure != 0 && self.run.fails_early {
                    return first_failure;
                }
            }
        }
        first_failure
    }

    async fn run_object(
        &self,
        urls: &Arc<[Url<'static>]>,
        index: usize,
        pattern: &Transfer,
        permit: Option<Arc<HostPermit>>,
    ) -> u8 {
        let transfer = Transfer::new(urls[index].to_string(), pattern.output.clone());
        let upcoming = UpcomingUrls::new(urls.clone(), index + 1);
        let planned = PlannedTransfer::new(transfer, upcoming, &self.run.options);
        self.run_with_alternatives(self.next_object(), planned, permit).await
    }

    /// Returns the number of the next object of an expanded URL.
    fn next_object(&self) -> usize {
        self.next_object_number.replace(self.next_object_number.get() + 1)
    }

    /// Handles an entry that could not be fetched as a file: queues it as a directory, or skips a special file, or a
    /// link that does not lead to a file. Returns `None` if the entry could not be handled.
    fn handle_non_file(&self, transfer: &Transfer) -> Option<NoFile> {
        let (Some(entry), Some(walker)) = (&transfer.entry, &self.queue.walker) else { return None };
        match entry.uncertain_kind {
            Some(UncertainKind::Unknown) => walker.queue_as_directory(entry).then_some(NoFile::Replaced),
            Some(_) => {
                if self.run.log.prints_notes {
                    let url = shown_url(&transfer.url);
                    let text = "skipped: it is neither a file nor a link to one";
                    self.run
                        .progress
                        .suspend_while(|| render::print_note_for(&url, text, self.run.options.format));
                }
                Some(NoFile::SkippedLink)
            }
            None => None,
        }
    }

    /// Deletes extraneous files (`mirror --delete`) after all listings.
    fn delete(&self) -> Result<(), Error> {
        match (&self.run.mirror, &self.queue.walker) {
            (Some(mirror), Some(walker)) if mirror.deletes => match self.queue.is_stopped() {
                true => walker.check_deletions(),
                false => walker.delete(&self.run, mirror),
            },
            _ => Ok(()),
        }
    }

    fn print_note(&self, subject: &str, text: &str) {
        let run = &*self.run;
        if !run.log.is_silent {
            run.progress.suspend_while(|| render::print_note_for(subject, text, run.options.format));
        }
    }

    /// Closes the journal or the record of the queue, and prints the summary. Returns the exit status.
    async fn finish(&self, deleted: Result<(), Error>) -> u8 {
        let run = &*self.run;
        let mut totals = self.totals.get();
        if let Some(walker) = &self.queue.walker {
            totals.skipped += walker.unchanged();
            totals.deleted = walker.deleted();
            (totals.outside_tree, totals.skipped_links) = (walker.outside_tree(), walker.skipped_links());
            totals.links_with_query = walker.links_with_query();
        }
        let failure = match deleted {
            Ok(()) => 0,
            // The lines of --dry-run.
            Err(error) if error.is_broken_pipe() => error.exit_status(),
            Err(error) => {
                totals.failed += 1;
                render::print_error(&error, None)
            }
        };
        if let Some(log) = run.log_of_results().filter(|_| !run.options.is_dry_run)
            && let Some(error) = log.close(run.mirror.is_none() && totals.failed == 0).await
        {
            self.note_log_error(&error);
        }
        if let Some(events) = run.events.as_ref().filter(|_| !run.has_single_transfer()) {
            events.summary(&totals);
        }
        if run.options.is_dry_run && !run.log.is_silent {
            summary::print_dry_run(&totals);
        } else if run.log_of_results().is_some()
            && (run.log.is_interactive || run.mirror.is_some() && run.log.prints_notes)
        {
            summary::print_summary(&totals, run.journal.is_some() && run.mirror.is_none());
        }
        let lost = render::status_of_print(run.stdout_lock.take_lost_text(), 0);
        [self.first_failure.get().1, failure, lost].into_iter().find(|&status| status != 0).unwrap_or(0)
    }

    /// Reports the start of a transfer.
    fn begin(&self, number: usize, transfer: &Transfer) -> TransferReport {
        // Passwords in URLs of the user are masked where they are printed.
        let shown = transfer.named_by.is_some().then(|| transfer.shown_url());
        let url = shown.as_deref().unwrap_or(&transfer.url);
        if let Some(events) = &self.run.events {
            events.start(number, url);
        }
        TransferReport::begin(number, url)
    }

    /// Reports the end of a transfer. Returns its exit status.
    fn end(&self, mut report: TransferReport, error: Option<Error>, transfer: &Transfer) -> u8 {
        let run = &*self.run;
        report.end(error);
        if let Disposition::Delayed(wait) = self.record_result(transfer, &report) {
            return self.end_delayed(&report, wait);
        }
        run.progress.count(report.error.is_some());
        let mut totals = self.totals.get();
        totals.count(&report);
        self.totals.set(totals);
        if let Some(error) = report.error.as_ref().filter(|error| !error.is_broken_pipe()) {
            run.progress.suspend_while(|| print_failure(error, transfer, run));
        }
        if let Some(events) = &run.events {
            events.end(&report);
        }
        let is_written = run
            .write_out
            .as_ref()
            .is_none_or(|format| format.write(&report, |text| run.stdout_lock.print(report.number, text)));
        if report.exit_status() == 0 && !is_written { 23 } else { report.exit_status() }
    }
}
