//! How far a transfer is: a bar on a terminal, a plain line where one was asked for.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fetch_url::Watch;
use fetch_url::proto::text::printable;
use fetch_url::url::mask_password;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::events::Ticker;
use super::say;
use crate::job::Progress;

/// Transfers shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often a bar is drawn, a second.
const FRAMES: u8 = 10;
/// How wide a name may be.
const NAME: usize = 24;

/// Where the bars of all running transfers stand, one below the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board(Arc<OnceLock<MultiProgress>>);

impl Board {
    /// Adds a bar; it is drawn from now on.
    fn show(&self, bar: ProgressBar) -> ProgressBar {
        let target = || MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(FRAMES));
        self.0.get_or_init(target).add(bar)
    }

    /// Has something said with the bars out of the way.
    pub(crate) fn aside<T>(&self, say: impl FnOnce() -> T) -> T {
        match self.0.get() {
            Some(bars) => bars.suspend(say),
            None => say(),
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
    done: u64,
    total: Option<u64>,
    ticker: Option<Ticker>,
}

impl Meter {
    /// A meter for `url`.
    pub(crate) fn new(kind: Progress, url: &str, board: &Board, ticker: Option<Ticker>) -> Self {
        Self {
            kind,
            name: short_name(url),
            begun: Instant::now(),
            board: board.clone(),
            bar: None,
            done: 0,
            total: None,
            ticker,
        }
    }

    /// The last look.
    pub(crate) fn finish(self) {
        match (self.kind, self.bar) {
            (Progress::Bar, Some(bar)) => bar.finish_and_clear(),
            (Progress::Line, _) => {
                let total = self.total.map_or_else(|| "?".to_owned(), |total| total.to_string());
                let seconds = self.begun.elapsed().as_secs_f64();
                say(&format!("{}: {} of {total} octets in {seconds:.1} s\n", self.name, self.done));
            }
            _ => {}
        }
    }

    /// The bar counts from the start and shows itself when patience is over.
    fn draw(&mut self) {
        if self.bar.is_none() && self.begun.elapsed() >= PATIENCE {
            self.bar = Some(self.board.show(bar(&self.name, self.total, self.begun)));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }
}

impl Watch for Meter {
    fn moved(&mut self, done: u64, total: Option<u64>) {
        (self.done, self.total) = (done, total);
        if let Some(ticker) = &mut self.ticker {
            ticker.moved(done, total);
        }
        if self.kind == Progress::Bar {
            self.draw();
        }
    }
}

fn bar(name: &str, total: Option<u64>, begun: Instant) -> ProgressBar {
    let bar =
        ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()).with_elapsed(begun.elapsed());
    let template = match total {
        Some(_) => "{prefix} {wide_bar} {percent:>3}% {bytes:>10} {binary_bytes_per_sec:>12} {eta:>4}",
        None => "{prefix} {spinner} {bytes:>10} {binary_bytes_per_sec:>12}",
    };
    // A template of ours is always well formed.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.set_prefix(name.to_owned());
    bar
}

/// The last part of the URL, safe and short.
fn short_name(url: &str) -> String {
    let masked = mask_password(url);
    let last = masked.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    printable(last.as_bytes()).chars().take(NAME).collect()
}
