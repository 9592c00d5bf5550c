//! The result of a transfer, for `-w`, `--events`, the summary and the exit status.

use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fetch_url::driver::Want;
use fetch_url::http::{HttpOptions, RequestBody};
use fetch_url::mirror::SkippedLinks;
use fetch_url::url::Url;
use fetch_url::{Checksum, Error, Meta, Receipt, Request};

use crate::job::SegmentUse;

/// The reason why a successful transfer of a mirror has no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoFile {
    /// The entry of an index page is not a directory, and `--include-glob` excludes it as a file.
    Excluded,
    /// A special file, such as a FIFO, or a link that does not lead to a file.
    SkippedLink,
    /// Other entries are fetched instead: the target of a redirect, or the entries of a directory.
    Replaced,
}

/// The result of one transfer.
pub(crate) struct TransferReport {
    /// Number of the transfer, from 0.
    pub(crate) number: usize,
    /// The given URL.
    pub(crate) url: String,
    /// Metadata of the object, if there was a response.
    pub(crate) meta: Option<Box<Meta>>,
    /// Request method, for protocols that have one.
    pub(crate) method: Option<String>,
    /// Value of `Referer`.
    pub(crate) referer: Option<String>,
    /// Size of the request body in bytes.
    pub(crate) sent: u64,
    /// The output file.
    pub(crate) file: Option<PathBuf>,
    /// The metadata of an unchanged file.
    pub(crate) unchanged: Option<Box<Metadata>>,
    /// The metadata of the object that the server has sent to find out that it is unchanged.
    pub(crate) unchanged_meta: Option<Box<Meta>>,
    /// The checksum that is required of the object.
    pub(crate) expected: Option<Checksum>,
    /// The file begins with the bytes of an earlier file, of which only the last were compared.
    pub(crate) has_earlier_start: bool,
    /// `true` if the file was already present or unchanged.
    pub(crate) is_skipped: bool,
    /// The reason why there is no file, although nothing failed.
    pub(crate) no_file: Option<NoFile>,
    /// The size of the file in the listing of a mirror, if it is exact. A file of another size is saved, but it is
    /// not the version that was listed.
    pub(crate) listed_size: Option<u64>,
    /// For a redirected link of a mirror, the final URL on the same server; for an entry of an index page that is a
    /// directory, its URL. This transfer saves nothing; that URL is fetched as a separate link or directory.
    pub(crate) moved_to: Option<Url<'static>>,
    /// Where the received segments come from.
    pub(crate) segment_use: SegmentUse,
    /// Bytes of the object, or its header (`-i`), were written to standard output, a device or a FIFO, where they cannot
    /// be taken back.
    pub(crate) has_written_to_stream: bool,
    /// Number of received bytes of the object.
    pub(crate) received: u64,
    /// The receipt of a successful transfer.
    pub(crate) receipt: Option<Receipt>,
    /// The error of a failed transfer.
    pub(crate) error: Option<Error>,
    /// Number of retries, counted during the transfer.
    retries: Arc<AtomicU32>,
    /// Duration of the transfer.
    pub(crate) elapsed: Duration,
    started: Instant,
}

impl TransferReport {
    /// Starts a report and its clock.
    pub(crate) fn begin(number: usize, url: &str) -> Self {
        Self {
            number,
            url: url.to_owned(),
            meta: None,
            method: None,
            referer: None,
            sent: 0,
            file: None,
            unchanged: None,
            unchanged_meta: None,
            expected: None,
            has_earlier_start: false,
            is_skipped: false,
            no_file: None,
            listed_size: None,
            moved_to: None,
            segment_use: SegmentUse::None,
            has_written_to_stream: false,
            received: 0,
            receipt: None,
            error: None,
            retries: Arc::default(),
            elapsed: Duration::ZERO,
            started: Instant::now(),
        }
    }

    /// Records method, body size and referer of an HTTP request for `-w`.
    pub(crate) fn record_request(&mut self, request: &Request) {
        let options = request.extra::<HttpOptions>().filter(|_| matches!(request.url(), Url::Http(_)));
        let Some(options) = options else { return };
        let usual = match (request.want(), &options.body) {
            (Want::Head, _) => "HEAD",
            (_, Some(_)) => "POST",
            _ => "GET",
        };
        self.method = Some(options.method.clone().unwrap_or_else(|| usual.to_owned()));
        self.sent = options.body.as_ref().map_or(0, RequestBody::size);
        let referer = options.headers.iter().find(|field| field.name.eq_ignore_ascii_case("referer"));
        self.referer =
            referer.and_then(|field| Some(String::from_utf8_lossy(field.value.as_deref()?).into_owned()));
    }

    /// Ends the transfer with its error, if it failed.
    pub(crate) fn end(&mut self, error: Option<Error>) {
        self.elapsed = self.started.elapsed();
        self.error = error;
    }

    /// Records that the transfer has no file, although nothing failed.
    pub(crate) fn set_no_file(&mut self, why: NoFile) {
        (self.no_file, self.file) = (Some(why), None);
    }

    /// Returns the exit status of the transfer.
    pub(crate) fn exit_status(&self) -> u8 {
        self.error.as_ref().map_or(0, Error::exit_status)
    }

    /// Returns the counter of retries.
    pub(crate) fn retry_counter(&self) -> Arc<AtomicU32> {
        self.retries.clone()
    }

    /// Returns the number of retries.
    pub(crate) fn retries(&self) -> u32 {
        self.retries.load(Ordering::Relaxed)
    }
}

/// Totals of all transfers of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    /// Number of fetched files.
    pub(crate) files: u64,
    /// Number of files that were already present or unchanged.
    pub(crate) skipped: u64,
    /// Number of links of a mirror that do not lead to a file.
    pub(crate) links_without_file: u64,
    /// Number of fetched files whose completeness is assumed, not proven.
    pub(crate) assumed: u64,
    /// Number of failed transfers.
    pub(crate) failed: u64,
    /// Number of files deleted by `--delete`.
    pub(crate) deleted: u64,
    /// Number of listing entries outside the server or the start directory.
    pub(crate) outside_tree: u64,
    /// Number of links of index pages that are named like entries, but have a query.
    pub(crate) links_with_query: u64,
    /// Numbers of links of pages that were not fetched.
    pub(crate) skipped_links: SkippedLinks,
    /// Number of received bytes.
    pub(crate) bytes: u64,
    pub(crate) started: Instant,
}

impl Totals {
    /// Starts the totals and their clock.
    pub(crate) fn begin() -> Self {
        Self {
            files: 0,
            skipped: 0,
            links_without_file: 0,
            assumed: 0,
            failed: 0,
            deleted: 0,
            outside_tree: 0,
            links_with_query: 0,
            skipped_links: SkippedLinks::default(),
            bytes: 0,
            started: Instant::now(),
        }
    }

    /// Counts a finished transfer.
    pub(crate) fn count(&mut self, report: &TransferReport) {
        self.bytes += report.received;
        self.assumed += u64::from(report.receipt.as_ref().is_some_and(Receipt::is_assumed));
        match (&report.error, report.no_file) {
            (Some(_), _) => self.failed += 1,
            (None, Some(NoFile::SkippedLink)) => self.links_without_file += 1,
            (None, Some(NoFile::Excluded | NoFile::Replaced)) => {}
            (None, None) if report.is_skipped => self.skipped += 1,
            (None, None) => self.files += 1,
        }
    }
}
