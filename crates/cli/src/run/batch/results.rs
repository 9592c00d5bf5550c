//! Records the results of transfers in the journal or the queue. The queue may postpone a failed line.

use std::time::Duration;

use fetch_url::internal::CODES;
use fetch_url::url::mask_password;
use fetch_url::{Error, Phase};

use super::Batch;
use crate::job::Transfer;
use crate::render;
use crate::report::TransferReport;
use crate::run::result_log::{Disposition, ResultLog as _, TransferResult};

impl Batch {
    /// Records the result. Also records a written or unchanged file, so that no other transfer of this run replaces it.
    /// The files of a queue are not recorded: a worker may run for months, while other programs move its files.
    pub(super) fn record_result(&self, transfer: &Transfer, report: &TransferReport) -> Disposition {
        let is_line = transfer.lease.is_some();
        if let (Some(file), true) = (&report.unchanged, report.is_skipped && !is_line) {
            self.run.output_paths.add_finished(file);
        }
        let path = report.file.as_deref().filter(|_| self.run.has_several_outputs());
        let saved = report.receipt.as_ref().and_then(|receipt| receipt.file.as_ref());
        // Devices are not recorded.
        let file = path.zip(saved);
        if let Some((path, file)) = file.filter(|_| !is_line) {
            let file = file.metadata();
            match transfer.entry {
                // The path of an entry is not reserved.
                Some(_) => self.run.output_paths.add_finished(file),
                None => self.run.output_paths.add_written(path, transfer.checksum.as_ref(), file),
            }
        }
        let Some(log) = self.run.log_of_results() else { return Disposition::Final };
        let file = file.map(|(path, file)| (path, file.metadata()));
        let result = TransferResult { transfer, report, error: report.error.as_ref(), file };
        log.add(&result).unwrap_or_else(|error| {
            self.note_log_error(&error);
            Disposition::Final
        })
    }

    /// Stores the results of transfers as they finish. Never returns.
    pub(super) async fn store_results(&self) {
        match self.run.log_of_results() {
            Some(log) => log.store(|error| self.note_log_error(&error)).await,
            None => std::future::pending().await,
        }
    }

    pub(super) fn note_log_error(&self, error: &Error) {
        if self.run.log.is_silent {
            return;
        }
        let text = match &self.run.journal {
            Some(_) => {
                format!("the journal could not be written, so a later run may fetch this file again: {error}")
            }
            None => format!("a result is not stored yet, and is sent again: {error}"),
        };
        self.run.progress.suspend_while(|| render::print_note(&text));
    }

    /// Records the result of a queue line that stood for several objects. The objects were reported one by one.
    pub(super) fn end_expanded_line(&self, number: usize, transfer: &Transfer, status: u8) -> u8 {
        if transfer.lease.is_none() {
            return status;
        }
        let mut report = TransferReport::begin(number, &transfer.url);
        let row = CODES.iter().find(|row| row.exits.contains(&status));
        report.end(row.map(|row| Error::new(row.code, Phase::Body, "an object of the line failed")));
        match self.record_result(transfer, &report) {
            Disposition::Final => status,
            Disposition::Delayed(wait) => self.end_delayed(&report, wait),
        }
    }

    /// Reports a transfer that failed and is tried again later.
    pub(super) fn end_delayed(&self, report: &TransferReport, wait: Duration) -> u8 {
        if let Some(events) = &self.run.events {
            events.end(report);
        }
        if let Some(error) = &report.error {
            self.print_note(
                &mask_password(&report.url),
                &format!("tried again in {}: {error}", seconds(wait)),
            );
        }
        0
    }
}

fn seconds(wait: Duration) -> String {
    format!("{} s", wait.as_secs().max(1))
}
