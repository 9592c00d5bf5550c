//! Progress of transfers: bars on a terminal, or one line at the end of each transfer (`-#`).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fetch_url::Progress;
use fetch_url_proto::text::sanitise;
use indicatif::{BinaryBytes, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::events::ProgressEvents;
use super::stdio::print_stderr;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressMode {
    /// Bars on the terminal.
    Bar,
    /// One line at the end of each transfer.
    Line,
    /// No progress.
    Nothing,
}

/// Transfers shorter than this show no bar.
const MIN_DURATION: Duration = Duration::from_millis(300);
/// Maximum number of redraws per second.
const FRAMES: u8 = 10;
/// Maximum width of a name in columns.
const NAME: usize = 24;

/// The bars of all running transfers, with a total below them.
#[derive(Clone)]
pub(crate) struct ProgressDisplay {
    bars: Arc<OnceLock<(MultiProgress, Option<ProgressBar>)>>,
    /// Number of files; `None` for `--input-file` and `mirror`, where it is not known in advance.
    files: Option<u64>,
    /// Number of finished files.
    over: Arc<AtomicU64>,
    /// Number of received bytes of all files.
    received: Arc<AtomicU64>,
    /// Number of visible bars.
    shown: Arc<AtomicUsize>,
    /// `true` if bars are shown.
    is_seen: bool,
    started: Instant,
}

impl ProgressDisplay {
    /// Creates a display for a number of files.
    pub(crate) fn new(files: Option<usize>, kind: ProgressMode) -> Self {
        let files = files.map(|files| files as u64);
        Self {
            bars: Arc::default(),
            files,
            over: Arc::default(),
            received: Arc::default(),
            shown: Arc::default(),
            is_seen: kind == ProgressMode::Bar,
            started: Instant::now(),
        }
    }

    const fn is_of_several(&self) -> bool {
        !matches!(self.files, Some(0 | 1))
    }

    fn bars(&self) -> &(MultiProgress, Option<ProgressBar>) {
        self.bars.get_or_init(|| {
            let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(FRAMES));
            let total = self.is_of_several().then(|| bars.add(self.total()));
            if let Some(total) = &total {
                total.set_position(self.over.load(Ordering::Relaxed));
                total.enable_steady_tick(MIN_DURATION);
            }
            (bars, total)
        })
    }

    /// Creates the total bar: number of files, bytes, and the average rate.
    fn total(&self) -> ProgressBar {
        let bar = self.files.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let (received, started) = (self.received.clone(), self.started);
        let words = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let received = received.load(Ordering::Relaxed);
            let rate = received as f64 / started.elapsed().as_secs_f64().max(0.001);
            // Writing to a string buffer does not fail.
            let _ = write!(out, "{}, {}/s", BinaryBytes(received), BinaryBytes(rate as u64));
        };
        let files = if self.files.is_some() { "{pos} of {len}" } else { "{pos}" };
        bar.set_style(style(&format!("total {files} files, {{received}}")).with_key("received", words));
        bar
    }

    /// Shows a bar if the terminal has a free line for it. Returns `true` if it is shown.
    fn show(&self, bar: &ProgressBar) -> bool {
        let room = usize::from(size().1.saturating_sub(2)).max(1);
        if self.shown.fetch_add(1, Ordering::Relaxed) >= room {
            self.shown.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        match self.bars() {
            (bars, Some(total)) => drop(bars.insert_before(total, bar.clone())),
            (bars, None) => drop(bars.add(bar.clone())),
        }
        true
    }

    /// Counts a finished file.
    pub(crate) fn count(&self) {
        let over = self.over.fetch_add(1, Ordering::Relaxed) + 1;
        // With many small files only the total is shown.
        let is_due = self.is_seen && self.is_of_several() && self.started.elapsed() >= MIN_DURATION;
        let bars = if is_due { Some(self.bars()) } else { self.bars.get() };
        if let Some((_, Some(total))) = bars {
            total.set_position(over);
        }
    }

    /// Hides the bars while `say` prints to the terminal.
    pub(crate) fn print_above<T>(&self, say: impl FnOnce() -> T) -> T {
        match self.bars.get() {
            Some((bars, _)) => bars.suspend(say),
            None => say(),
        }
    }

    /// Removes all bars.
    pub(crate) fn clear(&self) {
        if let Some((bars, total)) = self.bars.get() {
            total.iter().for_each(ProgressBar::finish_and_clear);
            // An error of a closed terminal cannot be reported.
            let _ = bars.clear();
        }
    }
}

/// The progress of one transfer.
pub(crate) struct TransferProgress {
    kind: ProgressMode,
    name: String,
    started: Instant,
    board: ProgressDisplay,
    bar: Option<ProgressBar>,
    /// Offset in bytes at which the transfer started.
    start: u64,
    done: u64,
    total: Option<u64>,
    ticker: Option<ProgressEvents>,
    is_shown: bool,
}

impl TransferProgress {
    /// Creates the progress of the file or URL `name`.
    pub(crate) fn new(
        kind: ProgressMode,
        name: &str,
        board: &ProgressDisplay,
        ticker: Option<ProgressEvents>,
    ) -> Self {
        Self {
            kind,
            name: short_name(name),
            started: Instant::now(),
            board: board.clone(),
            bar: None,
            start: u64::MAX,
            done: 0,
            total: None,
            ticker,
            is_shown: false,
        }
    }

    /// Returns the number of bytes received by this transfer.
    pub(crate) fn received(&self) -> u64 {
        self.done.saturating_sub(self.start)
    }

    /// Prints the line of `-#`.
    pub(crate) fn finish(self) {
        if self.kind == ProgressMode::Line {
            let total = self.total.map_or_else(|| "?".to_owned(), |total| total.to_string());
            let seconds = self.started.elapsed().as_secs_f64();
            print_stderr(&format!("{}: {} of {total} bytes in {seconds:.1} s\n", self.name, self.done));
        }
    }

    /// Updates the bar, and shows it after the minimum duration.
    fn draw(&mut self) {
        // Several bars are aligned in columns.
        let width = if self.board.is_of_several() { NAME } else { 0 };
        let bar = self.bar.get_or_insert_with(|| bar(&format!("{:<width$}", self.name), self.total));
        bar.set_position(self.done);
        if !self.is_shown && self.started.elapsed() >= MIN_DURATION && self.board.show(bar) {
            self.is_shown = true;
            bar.tick();
            // A stalled transfer keeps updating its rate.
            bar.enable_steady_tick(MIN_DURATION);
        }
    }
}

impl Drop for TransferProgress {
    /// Removes the bar, also if a signal ended the transfer.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.is_shown {
            self.board.shown.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Progress for TransferProgress {
    fn moved(&mut self, done: u64, total: Option<u64>) {
        let more = done.saturating_sub(self.done.max(self.start.min(done)));
        self.board.received.fetch_add(more, Ordering::Relaxed);
        (self.done, self.total) = (done, total);
        // The first call has the start offset; a restart can only begin at a lower one.
        self.start = self.start.min(done);
        if let Some(ticker) = &mut self.ticker {
            ticker.moved(done, total);
        }
        if self.kind == ProgressMode::Bar {
            self.draw();
        }
    }
}

/// Creates the bar of one transfer.
fn bar(name: &str, total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    bar.set_style(style(&template(name.chars().count(), total.is_some(), usize::from(size().0))));
    bar.set_prefix(name.to_owned());
    bar
}

/// Returns the template of a bar for a terminal width. Some columns stay free, because an echoed `^C` after a full line
/// would wrap it.
fn template(name: usize, is_size_known: bool, columns: usize) -> String {
    const NUMBERS: &str =
        "{percent:>3}% {bytes:>10} of {total_bytes:>10} {binary_bytes_per_sec:>12} {eta:>4}";
    const WIDTH: usize = 4 + 1 + 10 + 4 + 10 + 1 + 12 + 1 + 4;
    let room = columns.saturating_sub(name + WIDTH + 6);
    let short = match (is_size_known, columns.saturating_sub(name)) {
        (true, _) if room >= 3 => return format!("{{prefix}} {{bar:{room}}} {NUMBERS}"),
        (true, 36..) => "{prefix} {percent:>3}% {bytes:>10} {binary_bytes_per_sec:>12}",
        (true, 20..) => "{prefix} {percent:>3}% {bytes:>10}",
        (true, _) => "{percent:>3}% {bytes:>10}",
        (false, 30..) => "{prefix} {spinner} {bytes:>10} {binary_bytes_per_sec:>12}",
        (false, 14..) => "{prefix} {bytes:>10}",
        (false, _) => "{bytes:>10}",
    };
    short.to_owned()
}

/// Returns the style for a template.
fn style(template: &str) -> ProgressStyle {
    // The templates of this file are always valid.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

/// Returns the number of columns and rows of the terminal, 80 and 24 if they are unknown.
fn size() -> (u16, u16) {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let of = |usual: u16, reported: Option<u16>| reported.filter(|count| *count > 0).unwrap_or(usual);
    (of(80, size.as_ref().map(|size| size.ws_col)), of(24, size.as_ref().map(|size| size.ws_row)))
}

/// Returns the last part of a path or URL, sanitised and truncated.
fn short_name(name: &str) -> String {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    sanitise(last.as_bytes()).chars().take(NAME).collect()
}
