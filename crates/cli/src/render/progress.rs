//! How far a transfer is: a bar on a terminal, a plain line where one was asked for.

use std::time::{Duration, Instant};

use fetch_url::Watch;
use fetch_url::proto::text::printable;
use fetch_url::url::mask_password;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::events::Ticker;
use super::say;
use crate::job::Progress;

/// Transfers shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often a bar is drawn, a second.
const FRAMES: u8 = 10;
/// How wide a name may be.
const NAME: usize = 24;

/// Shows how far one transfer is.
pub(crate) struct Meter {
    kind: Progress,
    name: String,
    begun: Instant,
    bar: Option<ProgressBar>,
    done: u64,
    total: Option<u64>,
    ticker: Option<Ticker>,
}

impl Meter {
    /// A meter for `url`; nothing is shown where the object itself is.
    pub(crate) fn new(kind: Progress, url: &str, is_on_terminal: bool, ticker: Option<Ticker>) -> Self {
        let kind = if is_on_terminal { Progress::Nothing } else { kind };
        Self { kind, name: short_name(url), begun: Instant::now(), bar: None, done: 0, total: None, ticker }
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
        let (name, total) = (&self.name, self.total);
        let bar = self.bar.get_or_insert_with(|| bar(name, total));
        if bar.is_hidden() && self.begun.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(FRAMES));
        }
        bar.set_position(self.done);
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

fn bar(name: &str, total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
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
