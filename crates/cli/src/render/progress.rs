//! How far a transfer is: a bar on a terminal, a plain line where one was asked for.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fetch_url::Watch;
use fetch_url::proto::text::printable;
use indicatif::{BinaryBytes, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::events::Ticker;
use super::say;
use crate::job::Progress;

/// Transfers shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often a bar is drawn, a second.
const FRAMES: u8 = 10;
/// How wide a name may be.
const NAME: usize = 24;

/// Where the bars of all running transfers stand, one below the other, and a total below them.
#[derive(Clone)]
pub(crate) struct Board {
    bars: Arc<OnceLock<(MultiProgress, Option<ProgressBar>)>>,
    /// How many there are; of a file or a tree nobody knows.
    files: Option<u64>,
    /// How many of them are over.
    over: Arc<AtomicU64>,
    /// How many octets of all of them came.
    came: Arc<AtomicU64>,
    /// How many bars are shown.
    shown: Arc<AtomicUsize>,
    /// Whether there is anything to be drawn on.
    is_seen: bool,
    begun: Instant,
}

impl Board {
    /// For so many files, shown as `kind`.
    pub(crate) fn new(files: Option<usize>, kind: Progress) -> Self {
        let files = files.map(|files| files as u64);
        Self {
            bars: Arc::default(),
            files,
            over: Arc::default(),
            came: Arc::default(),
            shown: Arc::default(),
            is_seen: kind == Progress::Bar,
            begun: Instant::now(),
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
                total.enable_steady_tick(PATIENCE);
            }
            (bars, total)
        })
    }

    /// Files, octets, and how fast they came on the whole.
    fn total(&self) -> ProgressBar {
        let bar = self.files.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let (came, begun) = (self.came.clone(), self.begun);
        let words = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let came = came.load(Ordering::Relaxed);
            let rate = came as f64 / begun.elapsed().as_secs_f64().max(0.001);
            // Nobody is left to be told.
            let _ = write!(out, "{}, {}/s", BinaryBytes(came), BinaryBytes(rate as u64));
        };
        let files = if self.files.is_some() { "{pos} of {len}" } else { "{pos}" };
        bar.set_style(style(&format!("total {files} files, {{came}}")).with_key("came", words));
        bar
    }

    /// Draws a bar from now on, where there is room for it above the total.
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

    /// A file is over.
    pub(crate) fn count(&self) {
        let over = self.over.fetch_add(1, Ordering::Relaxed) + 1;
        // Of many small files only the total is seen.
        let is_due = self.is_seen && self.is_of_several() && self.begun.elapsed() >= PATIENCE;
        let bars = if is_due { Some(self.bars()) } else { self.bars.get() };
        if let Some((_, Some(total))) = bars {
            total.set_position(over);
        }
    }

    /// Has something said with the bars out of the way.
    pub(crate) fn aside<T>(&self, say: impl FnOnce() -> T) -> T {
        match self.bars.get() {
            Some((bars, _)) => bars.suspend(say),
            None => say(),
        }
    }

    /// Takes all bars away.
    pub(crate) fn clear(&self) {
        if let Some((bars, total)) = self.bars.get() {
            total.iter().for_each(ProgressBar::finish_and_clear);
            // There is nothing to do about a terminal that is gone.
            let _ = bars.clear();
        }
    }
}

/// Shows how far one transfer is.
pub(crate) struct Meter {
    kind: Progress,
    name: String,
    begun: Instant,
    board: Board,
    bar: Option<ProgressBar>,
    /// Where it began.
    start: u64,
    done: u64,
    total: Option<u64>,
    ticker: Option<Ticker>,
    is_shown: bool,
}

impl Meter {
    /// A meter for the file or the URL `name`.
    pub(crate) fn new(kind: Progress, name: &str, board: &Board, ticker: Option<Ticker>) -> Self {
        Self {
            kind,
            name: short_name(name),
            begun: Instant::now(),
            board: board.clone(),
            bar: None,
            start: u64::MAX,
            done: 0,
            total: None,
            ticker,
            is_shown: false,
        }
    }

    /// How many octets came.
    pub(crate) fn came(&self) -> u64 {
        self.done.saturating_sub(self.start)
    }

    /// The last look.
    pub(crate) fn finish(self) {
        if self.kind == Progress::Line {
            let total = self.total.map_or_else(|| "?".to_owned(), |total| total.to_string());
            let seconds = self.begun.elapsed().as_secs_f64();
            say(&format!("{}: {} of {total} octets in {seconds:.1} s\n", self.name, self.done));
        }
    }

    /// The bar counts from the start and shows itself when patience is over.
    fn draw(&mut self) {
        // Several bars stand in columns.
        let width = if self.board.is_of_several() { NAME } else { 0 };
        let bar = self.bar.get_or_insert_with(|| bar(&format!("{:<width$}", self.name), self.total));
        bar.set_position(self.done);
        if !self.is_shown && self.begun.elapsed() >= PATIENCE && self.board.show(bar) {
            self.is_shown = true;
            bar.tick();
            // A transfer that stalls says so.
            bar.enable_steady_tick(PATIENCE);
        }
    }
}

impl Drop for Meter {
    /// Whatever ends a transfer, a signal included, its bar goes.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.is_shown {
            self.board.shown.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Watch for Meter {
    fn moved(&mut self, done: u64, total: Option<u64>) {
        let more = done.saturating_sub(self.done.max(self.start.min(done)));
        self.board.came.fetch_add(more, Ordering::Relaxed);
        (self.done, self.total) = (done, total);
        // The first word is where it begins; it can only begin anew further back.
        self.start = self.start.min(done);
        if let Some(ticker) = &mut self.ticker {
            ticker.moved(done, total);
        }
        if self.kind == Progress::Bar {
            self.draw();
        }
    }
}

fn bar(name: &str, total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    bar.set_style(style(&template(name.chars().count(), total.is_some(), usize::from(size().0))));
    bar.set_prefix(name.to_owned());
    bar
}

/// What fits into so many columns, with some left over: a line that is just full is no longer one when
/// the terminal echoes a `^C` behind it.
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

fn style(template: &str) -> ProgressStyle {
    // A template of ours is always well formed.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

/// How many columns and rows the terminal has.
fn size() -> (u16, u16) {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let of = |usual: u16, told: Option<u16>| told.filter(|count| *count > 0).unwrap_or(usual);
    (of(80, size.as_ref().map(|size| size.ws_col)), of(24, size.as_ref().map(|size| size.ws_row)))
}

/// The last part, safe and short.
fn short_name(name: &str) -> String {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    printable(last.as_bytes()).chars().take(NAME).collect()
}
