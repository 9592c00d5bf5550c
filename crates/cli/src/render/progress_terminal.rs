//! The terminal of the progress bars.

use std::io;

use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};

/// Maximum number of redraws per second.
const REDRAWS_PER_SECOND: u8 = 10;

/// Returns the standard error output, whose errors are ignored: a terminal may be closed while transfers that ignore
/// SIGHUP go on, and indicatif panics in `MultiProgress::suspend` if it cannot write.
pub(super) fn draw_target() -> ProgressDrawTarget {
    ProgressDrawTarget::term_like_with_hz(
        Box::new(LastingTerminal(Term::buffered_stderr())),
        REDRAWS_PER_SECOND,
    )
}

/// A terminal to which writing always succeeds.
#[derive(Debug)]
struct LastingTerminal(Term);

impl TermLike for LastingTerminal {
    fn width(&self) -> u16 {
        TermLike::width(&self.0)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        ignoring_errors(self.0.move_cursor_up(lines))
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        ignoring_errors(self.0.move_cursor_down(lines))
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        ignoring_errors(self.0.move_cursor_right(columns))
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        ignoring_errors(self.0.move_cursor_left(columns))
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        ignoring_errors(self.0.write_line(text))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        ignoring_errors(self.0.write_str(text))
    }

    fn clear_line(&self) -> io::Result<()> {
        ignoring_errors(self.0.clear_line())
    }

    fn flush(&self) -> io::Result<()> {
        ignoring_errors(self.0.flush())
    }
}

fn ignoring_errors(written: io::Result<()>) -> io::Result<()> {
    written.or(Ok(()))
}
