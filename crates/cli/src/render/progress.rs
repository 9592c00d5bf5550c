//! Progress of transfers: bars on a terminal, or one line at the end of each transfer (`-#`).

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fetch_url::Progress;
use fetch_url_proto::text::sanitise;
use indicatif::{BinaryBytes, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::events::ProgressEvents;
use super::progress_line::{BarName, BarNumbers, NAME_WIDTH, bar_line, cut_middle};
use super::progress_terminal::draw_target;
use super::stdio::print_stderr;

/// The form in which progress is displayed.
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
/// Time between the lines of `-#` in a pipe.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// Minimum width of a terminal whose total bar has the rate, in columns.
const MIN_WIDTH_OF_RATE: u16 = 60;

/// The bars of all running transfers, and a total bar below them.
#[derive(Clone)]
pub(crate) struct ProgressDisplay {
    bars: Arc<OnceLock<(MultiProgress, Option<ProgressBar>)>>,
    /// Number of files; `None` for `--input-file` and `mirror`, where it is not known in advance.
    files: Option<u64>,
    /// Number of finished files.
    finished_files: Arc<AtomicU64>,
    /// Number of failed transfers among them.
    failed: Arc<AtomicU64>,
    /// Number of received bytes of all files.
    received: Arc<AtomicU64>,
    /// Number of bars on the terminal.
    shown: Arc<AtomicUsize>,
    /// `true` in [`ProgressMode::Bar`].
    has_bars: bool,
    started: Instant,
}

impl ProgressDisplay {
    /// Creates a display for a number of files.
    pub(crate) fn new(files: Option<usize>, kind: ProgressMode) -> Self {
        let files = files.map(|files| files as u64);
        Self {
            bars: Arc::default(),
            files,
            finished_files: Arc::default(),
            failed: Arc::default(),
            received: Arc::default(),
            shown: Arc::default(),
            has_bars: kind == ProgressMode::Bar,
            started: Instant::now(),
        }
    }

    const fn has_several_files(&self) -> bool {
        !matches!(self.files, Some(0 | 1))
    }

    fn bars(&self) -> &(MultiProgress, Option<ProgressBar>) {
        self.bars.get_or_init(|| {
            let bars = MultiProgress::with_draw_target(draw_target());
            let total = self.has_several_files().then(|| bars.add(self.total()));
            if let Some(total) = &total {
                total.set_position(self.finished_files.load(Ordering::Relaxed));
                total.enable_steady_tick(MIN_DURATION);
            }
            (bars, total)
        })
    }

    /// Creates the total bar: number of files, bytes, and the average rate.
    fn total(&self) -> ProgressBar {
        let bar = self.files.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let (received, failed, started) = (self.received.clone(), self.failed.clone(), self.started);
        let words = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let received = received.load(Ordering::Relaxed);
            let rate = received as f64 / started.elapsed().as_secs_f64().max(0.001);
            let failed = match failed.load(Ordering::Relaxed) {
                0 => String::new(),
                failed => format!("{failed} failed, "),
            };
            // Writing to a string buffer does not fail.
            let _ = write!(out, "{failed}{}", BinaryBytes(received));
            if size().0 >= MIN_WIDTH_OF_RATE {
                let _ = write!(out, ", {}/s", BinaryBytes(rate as u64));
            }
        };
        let files = if self.files.is_some() { "{pos} of {len}" } else { "{pos}" };
        bar.set_style(style(&format!("total {files} files done, {{received}}")).with_key("received", words));
        bar
    }

    /// Adds a bar if the terminal has a free line for it. Returns `true` if it was added.
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

    /// Counts a finished file or a failed transfer.
    pub(crate) fn count(&self, has_failed: bool) {
        self.failed.fetch_add(u64::from(has_failed), Ordering::Relaxed);
        let finished_files = self.finished_files.fetch_add(1, Ordering::Relaxed) + 1;
        // With many small files, only the total bar is visible.
        let is_due = self.has_bars && self.has_several_files() && self.started.elapsed() >= MIN_DURATION;
        let bars = if is_due { Some(self.bars()) } else { self.bars.get() };
        if let Some((_, Some(total))) = bars {
            total.set_position(finished_files);
        }
    }

    /// Hides the bars while the closure prints to the terminal.
    pub(crate) fn suspend_while<T>(&self, say: impl FnOnce() -> T) -> T {
        match self.bars.get() {
            Some((bars, _)) => bars.suspend(say),
            None => say(),
        }
    }

    /// Removes all bars.
    pub(crate) fn clear(&self) {
        if let Some((bars, total)) = self.bars.get() {
            total.iter().for_each(ProgressBar::finish_and_clear);
            // The target reports no errors.
            let _ = bars.clear();
        }
    }
}

/// The progress of one transfer.
pub(crate) struct TransferProgress {
    kind: ProgressMode,
    name: String,
    started: Instant,
    display: ProgressDisplay,
    bar: Option<ProgressBar>,
    /// Offset in bytes at which the transfer started.
    start: u64,
    done: u64,
    total: Option<u64>,
    ticker: Option<ProgressEvents>,
    is_shown: bool,
    /// The time of the last line of `-#`.
    line_printed: Instant,
}

impl TransferProgress {
    /// Creates the progress of the file or URL `name`.
    pub(crate) fn new(
        kind: ProgressMode,
        name: &str,
        display: &ProgressDisplay,
        ticker: Option<ProgressEvents>,
    ) -> Self {
        Self {
            kind,
            name: if kind == ProgressMode::Nothing { String::new() } else { short_name(name) },
            started: Instant::now(),
            display: display.clone(),
            bar: None,
            start: u64::MAX,
            done: 0,
            total: None,
            ticker,
            is_shown: false,
            line_printed: Instant::now(),
        }
    }

    /// Returns the number of bytes received by this transfer.
    pub(crate) fn received(&self) -> u64 {
        self.done.saturating_sub(self.start)
    }

    /// Ends the transfer. With `-#` in a pipe, prints its last line; on a terminal, prints a line for a complete file.
    pub(crate) fn finish(mut self, saved: Option<&Path>) {
        match (self.kind, saved) {
            (ProgressMode::Line, _) => {
                let (seconds, total) = (self.started.elapsed().as_secs_f64(), self.total_text());
                print_stderr(&format!("{}: {} of {total} bytes in {seconds:.1} s\n", self.name, self.done));
            }
            (ProgressMode::Bar, Some(path)) => {
                self.clear_bar();
                let line = self.saved_line(path, self.started.elapsed(), usize::from(size().0));
                self.display.suspend_while(|| print_stderr(&line));
            }
            _ => {}
        }
    }

    /// Returns the line for a complete file: name, size, time, rate, and the offset at which it was resumed.
    fn saved_line(&self, path: &Path, elapsed: Duration, columns: usize) -> String {
        let received = self.received();
        let seconds = elapsed.as_secs_f64();
        let rate = BinaryBytes((received as f64 / seconds.max(0.001)) as u64);
        let mut numbers = format!(": {} in {seconds:.1} s, {rate}/s", BinaryBytes(self.done));
        if self.start > 0 && self.start < u64::MAX {
            numbers.push_str(&format!(", resumed at {}", BinaryBytes(self.start)));
        }
        let room = columns.saturating_sub(numbers.len()).max(NAME_WIDTH);
        let name = sanitise(path.to_string_lossy().as_bytes());
        format!("{}{numbers}\n", cut_middle(&name, room))
    }

    fn total_text(&self) -> String {
        self.total.map_or_else(|| "?".to_owned(), |total| total.to_string())
    }

    /// Prints a line of `-#` in a pipe if the last one is [`LINE_INTERVAL`] ago.
    fn print_line(&mut self, now: Instant) {
        if now.saturating_duration_since(self.line_printed) >= LINE_INTERVAL {
            self.line_printed = now;
            print_stderr(&format!("{}: {} of {} bytes\n", self.name, self.done, self.total_text()));
        }
    }

    fn clear_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if std::mem::take(&mut self.is_shown) {
            self.display.shown.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Updates the bar, and shows it after the minimum duration.
    fn draw(&mut self) {
        // Several bars are aligned in columns.
        let is_aligned = self.display.has_several_files();
        let start = self.start;
        let bar = self.bar.get_or_insert_with(|| {
            let bar = bar(BarName { text: self.name.clone(), is_aligned }, self.total);
            // The rate and the remaining time are those of this run, without the bytes of an earlier one.
            bar.set_position(start);
            bar.reset_eta();
            bar
        });
        bar.set_position(self.done);
        if !self.is_shown && self.started.elapsed() >= MIN_DURATION && self.display.show(bar) {
            self.is_shown = true;
            bar.tick();
            // A stalled transfer keeps updating its rate.
            bar.enable_steady_tick(MIN_DURATION);
        }
    }
}

impl Drop for TransferProgress {
    /// Removes the bar, even if the transfer was cancelled.
    fn drop(&mut self) {
        self.clear_bar();
    }
}

impl Progress for TransferProgress {
    fn update(&mut self, done: u64, total: Option<u64>) {
        let more = done.saturating_sub(self.done.max(self.start.min(done)));
        self.display.received.fetch_add(more, Ordering::Relaxed);
        (self.done, self.total) = (done, total);
        // The first call passes the start offset. A restart can only begin at a lower offset.
        self.start = self.start.min(done);
        if let Some(ticker) = &mut self.ticker {
            ticker.update(done, total);
        }
        match self.kind {
            ProgressMode::Bar => self.draw(),
            ProgressMode::Line => self.print_line(Instant::now()),
            ProgressMode::Nothing => {}
        }
    }
}

/// Creates the bar of one transfer. Each redraw uses the current width of the terminal, which the user may resize.
fn bar(name: BarName, total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    let line = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let numbers = BarNumbers {
            position: state.pos(),
            total: state.len(),
            rate: state.per_sec() as u64,
            remaining: state.eta(),
            elapsed: state.elapsed(),
        };
        // Writing to a string buffer does not fail.
        let _ = out.write_str(&bar_line(&name, &numbers, usize::from(size().0)));
    };
    bar.set_style(style("{line}").with_key("line", line));
    bar
}

/// Returns the style for a template.
fn style(template: &str) -> ProgressStyle {
    // The templates of this file are always valid.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Returns the number of columns and rows of the terminal, 80 and 24 if they are unknown.
fn size() -> (u16, u16) {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let of = |usual: u16, reported: Option<u16>| reported.filter(|count| *count > 0).unwrap_or(usual);
    (of(80, size.as_ref().map(|size| size.ws_col)), of(24, size.as_ref().map(|size| size.ws_row)))
}

/// Returns the last part of a path or URL, sanitised, and cut in the middle if it is long.
fn short_name(name: &str) -> String {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    cut_middle(&sanitise(last.as_bytes()), NAME_WIDTH)
}

#[cfg(test)]
mod tests {
    use textwrap::core::display_width;

    use super::*;

    fn transfer(start: u64, done: u64) -> TransferProgress {
        let display = ProgressDisplay::new(Some(1), ProgressMode::Nothing);
        let mut transfer = TransferProgress::new(ProgressMode::Nothing, "http://h/name", &display, None);
        transfer.update(start, Some(done));
        transfer.update(done, Some(done));
        transfer
    }

    #[test]
    fn line_of_a_complete_file_has_size_time_and_rate() {
        let line = |start, done| {
            let transfer = transfer(start, done);
            transfer.saved_line(Path::new("d/name"), Duration::from_secs(2), 80)
        };
        assert_eq!(line(0, 4 << 20), "d/name: 4.00 MiB in 2.0 s, 2.00 MiB/s\n");
        assert_eq!(line(1 << 20, 4 << 20), "d/name: 4.00 MiB in 2.0 s, 1.50 MiB/s, resumed at 1.00 MiB\n");
        let long = transfer(0, 10).saved_line(Path::new(&"n".repeat(200)), Duration::from_secs(2), 80);
        assert_eq!(display_width(long.trim_end()), 80, "{long}");
    }
}
