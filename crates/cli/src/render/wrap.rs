//! Wraps the lines of lists at the width of the terminal.

use textwrap::Options;
use textwrap::core::display_width;

use super::terminal::stdout_columns;

/// The maximum width of a line in columns, except for URLs; `None` if lines are not wrapped.
pub(super) type Width = Option<usize>;

/// The width of lines if the terminal does not report its own.
pub(super) const DEFAULT_WIDTH: usize = 80;
/// The minimum width: below it, every word would be on a line of its own.
const MIN_WIDTH: usize = 60;

/// Returns the width for standard output: that of the terminal, or `None` for a file or a pipe, whose reader expects one
/// line for each entry.
pub(super) fn stdout_width() -> Width {
    stdout_columns().map(|columns| match columns {
        0 => DEFAULT_WIDTH,
        columns => columns.max(MIN_WIDTH),
    })
}

/// Returns the text with indentations for the first and the following lines, without white space at the end.
pub(super) fn wrapped(text: &str, first: &str, next: &str, width: Width) -> String {
    let lines = match width.filter(|&width| display_width(first) + display_width(text) > width) {
        Some(width) => {
            let options = Options::new(width).initial_indent(first).subsequent_indent(next);
            textwrap::wrap(text, options).join("\n")
        }
        None => format!("{first}{text}"),
    };
    lines.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_the_width_only() {
        let text = "word ".repeat(30);
        assert_eq!(wrapped(&text, "1 ", "  ", None).lines().count(), 1);
        for width in [80, 120] {
            let lines = wrapped(&text, "1 ", "  ", Some(width));
            assert!(lines.lines().all(|line| line.len() <= width) && lines.lines().count() > 1, "{lines}");
            assert_eq!(lines.matches("word").count(), 30);
        }
    }
}
