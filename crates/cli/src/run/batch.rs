//! Several transfers: one after the other, or some at the same time; each is reported when it is over.

use std::cell::Cell;
use std::rc::Rc;

use tokio::task::LocalSet;

use super::one;
use crate::job::{Job, Transfer};
use crate::render;
use crate::report::Report;

/// Fetches everything; the first failure's status.
pub(super) async fn all(job: &Rc<Job>) -> u8 {
    let batch =
        Rc::new(Batch { job: job.clone(), next: Cell::new(0), first_failure: Cell::new((usize::MAX, 0)) });
    match job.parallel.min(job.transfers.len()) {
        0 | 1 => batch.work().await,
        workers => {
            // Each worker is woken for its own transfer alone.
            let together = LocalSet::new();
            for _ in 0..workers {
                let batch = batch.clone();
                together.spawn_local(async move { batch.work().await });
            }
            together.await;
        }
    }
    job.board.clear();
    batch.first_failure.get().1
}

struct Batch {
    job: Rc<Job>,
    next: Cell<usize>,
    /// Which transfer it was, and its exit status.
    first_failure: Cell<(usize, u8)>,
}

impl Batch {
    /// One transfer after the other, as long as there are some.
    async fn work(&self) {
        while let Some((number, transfer)) = self.take() {
            let status = self.run(number, transfer).await;
            if status != 0 && number < self.first_failure.get().0 {
                self.first_failure.set((number, status));
            }
        }
    }

    fn take(&self) -> Option<(usize, &Transfer)> {
        let number = self.next.get();
        if self.job.fails_early && self.first_failure.get().1 != 0 {
            return None;
        }
        let transfer = self.job.transfers.get(number)?;
        self.next.set(number + 1);
        Some((number, transfer))
    }

    async fn run(&self, number: usize, transfer: &Transfer) -> u8 {
        let job = &*self.job;
        if let Some(events) = &job.events {
            events.start(number, &transfer.url);
        }
        let mut report = Report::begin(number, &transfer.url);
        let error = one(job, transfer, &mut report).await.err();
        report.end(error);
        job.board.count();
        if let Some(error) = report.error.as_ref().filter(|error| !error.is_broken_pipe()) {
            job.board.aside(|| tell(error, transfer, job));
        }
        if let Some(events) = &job.events {
            events.end(&report);
        }
        let is_read = job.write_out.as_ref().is_none_or(|format| format.write(&report));
        if report.exit() == 0 && !is_read { 23 } else { report.exit() }
    }
}

fn tell(error: &fetch_url::Error, transfer: &Transfer, job: &Job) {
    match (job.talk.errors, job.talk.errors_as_json) {
        (false, _) => {}
        (true, true) => {
            render::error_as_json(error, &transfer.url);
        }
        (true, false) => {
            render::error(error, Some(&transfer.url));
        }
    }
}
