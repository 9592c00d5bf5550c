//! `--events`: events as JSON, one object per line.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fetch_url::Error;
use fetch_url::events::{Event, Observer};
use fetch_url::internal::shown_url;
use fetch_url::url::mask_password;
use serde_json::{Value, json};

use super::error_json::error_value;
use super::json::json_line;
use super::log_file::LogFile;
use super::written_file::is_stdout;
use crate::render::stdio::stdout_file;
use crate::report::{Totals, TransferReport};
use crate::stall;

/// Interval of progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

/// The file that events are written to. Clones write to the same file.
#[derive(Clone, Debug)]
pub(crate) struct Events(Arc<Mutex<LogFile>>);

impl Events {
    /// Creates the file; `-` is standard output.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = match is_stdout(path) {
            true => LogFile::of("standard output".to_owned(), stdout_file()?),
            false => LogFile::create(path)?,
        };
        Ok(Self(Arc::new(Mutex::new(file))))
    }

    /// Lets all groups of the command line that name one file write to it through one descriptor: each creates the file,
    /// which would cut what another one has written.
    pub(crate) fn share(groups: &mut [Self]) {
        for index in 1..groups.len() {
            let (earlier, rest) = groups.split_at_mut(index);
            if let Some(events) = rest.first_mut()
                && let Some(first) = earlier.iter().find(|first| first.is_same_file(events))
            {
                *events = first.clone();
            }
        }
    }

    fn is_same_file(&self, other: &Self) -> bool {
        let id = |events: &Self| events.0.lock().unwrap_or_else(PoisonError::into_inner).id();
        id(self).is_some_and(|own| id(other) == Some(own))
    }

    /// Writes the event `start`.
    pub(crate) fn start(&self, number: usize, url: &str) {
        self.write(&json!({ "event": "start", "number": number, "url": mask_password(url) }));
    }

    /// Writes the event `deleted` for a file of a mirror.
    pub(crate) fn deleted(&self, path: &str) {
        self.write(&json!({ "event": "deleted", "file": path }));
    }

    /// Writes the event `done`, or `error` for a failed transfer.
    pub(crate) fn end(&self, report: &TransferReport) {
        let (number, seconds) = (report.number, report.elapsed.as_secs_f64());
        if let Some(error) = &report.error {
            let mut value = error_value(error, &report.url);
            (value["event"], value["number"], value["seconds"]) =
                (json!("error"), json!(number), json!(seconds));
            return self.write(&value);
        }
        self.write(&json!({
            "event": "done",
            "number": number,
            "url": report.meta.as_deref().map(shown_url),
            "file": report.file.as_ref().map(|file| file.display().to_string()),
            "octets": report.received,
            "skipped": report.is_skipped || report.no_file.is_some(),
            "resumed_from": report.receipt.as_ref().map(|receipt| receipt.resumed_from),
            "proof": report.receipt.as_ref().map(|receipt| receipt.proof.to_string()),
            "status": report.meta.as_ref().and_then(|meta| meta.status),
            "hops": report.meta.as_ref().map(|meta| meta.redirects),
            "retries": report.retries(),
            "seconds": seconds,
        }));
    }

    /// Writes the event `summary`.
    pub(crate) fn summary(&self, tally: &Totals) {
        let links = tally.skipped_links;
        self.write(&json!({
            "event": "summary",
            "files": tally.files,
            "skipped": tally.skipped,
            "assumed": tally.assumed,
            "failed": tally.failed,
            "deleted": tally.deleted,
            "elsewhere": tally.outside_tree + links.other_servers + links.outside_start,
            "other_servers": links.other_servers,
            "outside_start": links.outside_start,
            "with_query": tally.links_with_query,
            "links_without_file": tally.links_without_file,
            "excluded": links.excluded,
            "too_deep": links.too_deep,
            "nameless": links.nameless,
            "octets": tally.bytes,
            "seconds": tally.started.elapsed().as_secs_f64(),
        }));
    }

    /// Returns an observer that writes the events `hop` and `retry` of transfer `number`.
    pub(crate) fn observer(&self, number: usize) -> impl Observer + 'static {
        let events = self.clone();
        move |event: &Event<'_>| match event {
            Event::Redirect { from, to, why } => events.write(&json!({
                "event": "hop",
                "number": number,
                "from": from.redacted().to_string(),
                "to": to.redacted().to_string(),
                "why": why,
            })),
            Event::Retry { error, wait, retries, offset, .. } => events.write(&json!({
                "event": "retry",
                "number": number,
                "code": error.code().name(),
                "message": error.to_string(),
                "wait": wait.as_secs_f64(),
                "attempts": retries,
                "offset": offset,
            })),
            _ => {}
        }
    }

    /// Returns the writer of `progress` events of transfer `number`, one every 0.5 seconds.
    pub(crate) fn progress(&self, number: usize) -> ProgressEvents {
        ProgressEvents { events: self.clone(), number, next: Instant::now() + PROGRESS_INTERVAL }
    }

    /// Writes one line with one system call. The first error is reported at the end of the run.
    fn write(&self, value: &Value) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _guard = stall::begin_write();
        let _ = file.write_all(format!("{}\n", json_line(value)).as_bytes());
    }
}

/// Writes `progress` events of one transfer.
pub(crate) struct ProgressEvents {
    events: Events,
    number: usize,
    next: Instant,
}

impl ProgressEvents {
    /// Writes an event if the interval has passed since the last one.
    pub(crate) fn update(&mut self, done: u64, total: Option<u64>) {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + PROGRESS_INTERVAL;
            let value = json!({ "event": "progress", "number": self.number, "done": done, "total": total });
            self.events.write(&value);
        }
    }
}
