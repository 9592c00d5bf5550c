//! `--events`: what happens, as JSON, one object a line, for programs that watch.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fetch_url::url::mask_password;
use fetch_url::{Error, Event, Observe};
use serde_json::{Value, json};

use super::error_value;
use super::json::line;
use crate::job::{stdout, usage};
use crate::report::{Report, Tally};

/// How often progress is told.
const EVERY: Duration = Duration::from_millis(500);

/// Where events are written. Clones write to the same place.
#[derive(Clone, Debug)]
pub(crate) struct Events(Arc<Mutex<File>>);

impl Events {
    /// To a new file, or to standard output for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = match path.to_str() {
            Some("-") => stdout()?,
            _ => File::create(path).map_err(|error| usage(format!("{}: {error}", path.display())))?,
        };
        Ok(Self(Arc::new(Mutex::new(file))))
    }

    /// A transfer begins.
    pub(crate) fn start(&self, number: usize, url: &str) {
        self.write(&json!({ "event": "start", "number": number, "url": mask_password(url) }));
    }

    /// A transfer is over.
    pub(crate) fn end(&self, report: &Report) {
        let (number, seconds) = (report.number, report.took.as_secs_f64());
        if let Some(error) = &report.error {
            let mut value = error_value(error, &report.url);
            (value["event"], value["number"], value["seconds"]) =
                (json!("error"), json!(number), json!(seconds));
            return self.write(&value);
        }
        self.write(&json!({
            "event": "done",
            "number": number,
            "url": report.meta.as_ref().map(|meta| meta.url.redacted().to_string()),
            "file": report.file.as_ref().map(|file| file.display().to_string()),
            "octets": report.came,
            "skipped": report.is_skipped,
            "resumed_from": report.receipt.as_ref().map(|receipt| receipt.resumed_from),
            "proof": report.receipt.as_ref().map(|receipt| receipt.proof.to_string()),
            "status": report.meta.as_ref().and_then(|meta| meta.status),
            "hops": report.meta.as_ref().map(|meta| meta.hops),
            "retries": report.retries(),
            "seconds": seconds,
        }));
    }

    /// Everything is over.
    pub(crate) fn summary(&self, tally: &Tally) {
        self.write(&json!({
            "event": "summary",
            "files": tally.files,
            "skipped": tally.skipped,
            "assumed": tally.assumed,
            "failed": tally.failed,
            "deleted": tally.deleted,
            "elsewhere": tally.elsewhere,
            "octets": tally.octets,
            "seconds": tally.begun.elapsed().as_secs_f64(),
        }));
    }

    /// Tells of hops and retries of transfer `number`.
    pub(crate) fn observer(&self, number: usize) -> impl Observe + 'static {
        let events = self.clone();
        move |event: &Event<'_>| match event {
            Event::Hop { from, to, why } => events.write(&json!({
                "event": "hop",
                "number": number,
                "from": from.redacted().to_string(),
                "to": to.redacted().to_string(),
                "why": why,
            })),
            Event::Retry { error, wait, attempts, offset, .. } => events.write(&json!({
                "event": "retry",
                "number": number,
                "code": error.code().word(),
                "message": error.to_string(),
                "wait": wait.as_secs_f64(),
                "attempts": attempts,
                "offset": offset,
            })),
            _ => {}
        }
    }

    /// Tells of the progress of transfer `number`, twice a second.
    pub(crate) fn progress(&self, number: usize) -> Ticker {
        Ticker { events: self.clone(), number, next: Instant::now() + EVERY }
    }

    /// A line is written whole or not at all; whoever watches may have gone.
    fn write(&self, value: &Value) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.write_all(format!("{}\n", line(value)).as_bytes());
    }
}

/// Tells of progress from time to time.
pub(crate) struct Ticker {
    events: Events,
    number: usize,
    next: Instant,
}

impl Ticker {
    /// So far it has come.
    pub(crate) fn moved(&mut self, done: u64, total: Option<u64>) {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + EVERY;
            let value = json!({ "event": "progress", "number": self.number, "done": done, "total": total });
            self.events.write(&value);
        }
    }
}
