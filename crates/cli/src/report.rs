//! What is known of one transfer when it is over: for `-w`, `--events` and the exit status.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fetch_url::{Error, Meta, Receipt};

/// One transfer, when it is over.
pub(crate) struct Report {
    /// Which one it was, from 0.
    pub(crate) number: usize,
    /// The URL as it was given.
    pub(crate) url: String,
    /// What is known of the object, when there was an answer.
    pub(crate) meta: Option<Meta>,
    /// The method that it was asked for with, where there is one.
    pub(crate) method: Option<String>,
    /// Where we said we came from.
    pub(crate) referer: Option<String>,
    /// How many octets went with the request.
    pub(crate) sent: u64,
    /// The file that it went to.
    pub(crate) file: Option<PathBuf>,
    /// What is there already is good.
    pub(crate) is_skipped: bool,
    /// How many octets of the object came.
    pub(crate) came: u64,
    /// What was delivered.
    pub(crate) receipt: Option<Receipt>,
    /// Why it failed.
    pub(crate) error: Option<Error>,
    /// How often it was tried again, as it is counted on the way.
    retries: Arc<AtomicU32>,
    /// How long it took.
    pub(crate) took: Duration,
    begun: Instant,
}

impl Report {
    /// A transfer begins.
    pub(crate) fn begin(number: usize, url: &str) -> Self {
        Self {
            number,
            url: url.to_owned(),
            meta: None,
            method: None,
            referer: None,
            sent: 0,
            file: None,
            is_skipped: false,
            came: 0,
            receipt: None,
            error: None,
            retries: Arc::default(),
            took: Duration::ZERO,
            begun: Instant::now(),
        }
    }

    /// It is over.
    pub(crate) fn end(&mut self, error: Option<Error>) {
        self.took = self.begun.elapsed();
        self.error = error;
    }

    /// The exit status it asks for.
    pub(crate) fn exit(&self) -> u8 {
        self.error.as_ref().map_or(0, Error::exit)
    }

    /// Whoever counts the retries.
    pub(crate) fn retry_counter(&self) -> Arc<AtomicU32> {
        self.retries.clone()
    }

    /// How often it was tried again.
    pub(crate) fn retries(&self) -> u32 {
        self.retries.load(Ordering::Relaxed)
    }
}

/// What all transfers together have come to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// How many were fetched.
    pub(crate) files: u64,
    /// How many were there already, and good.
    pub(crate) skipped: u64,
    /// How many of the fetched have an end that nothing proves.
    pub(crate) assumed: u64,
    /// How many failed.
    pub(crate) failed: u64,
    /// How many are gone there, and here.
    pub(crate) deleted: u64,
    /// How many lines of listings lead to another server, or up.
    pub(crate) elsewhere: u64,
    /// How many octets came.
    pub(crate) octets: u64,
    pub(crate) begun: Instant,
}

impl Tally {
    /// From now on.
    pub(crate) fn begin() -> Self {
        Self {
            files: 0,
            skipped: 0,
            assumed: 0,
            failed: 0,
            deleted: 0,
            elsewhere: 0,
            octets: 0,
            begun: Instant::now(),
        }
    }

    /// One more is over.
    pub(crate) fn count(&mut self, report: &Report) {
        self.octets += report.came;
        self.assumed += u64::from(report.receipt.as_ref().is_some_and(Receipt::is_assumed));
        match (&report.error, report.is_skipped) {
            (Some(_), _) => self.failed += 1,
            (None, true) => self.skipped += 1,
            (None, false) => self.files += 1,
        }
    }
}
