//! Draws frames of a terminal as an animated SVG. It needs no script: the frames are one below the other, and CSS moves
//! them past a window.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use vt100::{Cell, Color, Screen};

const CHARACTER: f64 = 8.4;
const LINE: f64 = 18.0;
const MARGIN: f64 = 14.0;
const BACKGROUND: &str = "#1b1f24";
const FOREGROUND: &str = "#e6edf3";
/// The first eight colours of a terminal, and their bright variants.
const PALETTE: [&str; 16] = [
    "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4", "#6e7681",
    "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
];

/// A screen, and how long it is shown.
#[derive(Debug)]
pub(super) struct Frame {
    /// Each line as SVG elements.
    lines: Vec<String>,
    time: Duration,
}

impl Frame {
    pub(super) fn new(screen: &Screen, time: Duration) -> Self {
        let (rows, columns) = screen.size();
        let (rows, columns) = (rows.get(), columns.get());
        Self { lines: (0..rows).map(|row| line(screen, row, columns)).collect(), time }
    }
}

/// Returns the drawing.
pub(super) fn draw(frames: &[Frame], columns: u16, rows: u16) -> String {
    let width = f64::from(columns) * CHARACTER + 2.0 * MARGIN;
    let height = f64::from(rows) * LINE + 2.0 * MARGIN;
    let total: f64 = frames.iter().map(|frame| frame.time.as_secs_f64()).sum();
    let (mut keys, mut elapsed) = (String::new(), 0.0);
    for (number, frame) in (0_u32..).zip(frames) {
        let percent = elapsed / total * 100.0;
        let _ = write!(keys, "{percent:.3}%{{transform:translateY({:.0}px)}}", -f64::from(number) * height);
        elapsed += frame.time.as_secs_f64();
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"fetch-url in a terminal\">\n<style>\
         text{{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:{FOREGROUND}}}\
         .b{{font-weight:bold}}.u{{text-decoration:underline}}.d{{opacity:.6}}\
         @keyframes play{{{keys}}}#film{{animation:play {total:.2}s step-end infinite}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    let lines = distinct_lines(frames);
    svg += "<defs>\n";
    for (text, number) in &lines {
        let _ = writeln!(svg, "<g id=\"l{number}\">{text}</g>");
    }
    svg += "</defs>\n<g id=\"film\">\n";
    for (number, frame) in (0_u32..).zip(frames) {
        let top = f64::from(number) * height + MARGIN + LINE * 0.75;
        for (row, text) in (0_u32..).zip(&frame.lines).filter(|(_, text)| !text.is_empty()) {
            let y = top + f64::from(row) * LINE;
            let _ = write!(svg, "<use href=\"#l{}\" y=\"{y:.1}\"/>", lines[text]);
        }
        svg.push('\n');
    }
    svg + "</g>\n</svg>\n"
}

/// Numbers the lines: most are the same in many frames.
fn distinct_lines(frames: &[Frame]) -> BTreeMap<&String, usize> {
    let mut lines = BTreeMap::new();
    for line in frames.iter().flat_map(|frame| &frame.lines).filter(|line| !line.is_empty()) {
        let number = lines.len();
        lines.entry(line).or_insert(number);
    }
    lines
}

/// Returns the elements of a line: one for each run of characters with the same style.
fn line(screen: &Screen, row: u16, columns: u16) -> String {
    let mut runs: Vec<(u16, String, String)> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.contents().trim().is_empty()) else {
            continue;
        };
        let style = style(cell);
        match runs.last_mut() {
            Some((start, last, text))
                if *last == style && usize::from(column - *start) == text.chars().count() =>
            {
                text.push_str(cell.contents());
            }
            _ => runs.push((column, style, cell.contents().to_owned())),
        }
    }
    runs.into_iter().map(|(start, style, text)| element(start, &style, &text)).collect()
}

fn element(start: u16, style: &str, text: &str) -> String {
    let (x, length) =
        (MARGIN + f64::from(start) * CHARACTER, f64::from(u16::try_from(text.chars().count()).unwrap_or(0)));
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    // The length keeps the columns in place with every font.
    format!("<text x=\"{x:.1}\" textLength=\"{:.1}\"{style}>{text}</text>", length * CHARACTER)
}

/// Returns the attributes of a character.
fn style(cell: &Cell) -> String {
    let mut style = match cell.fgcolor() {
        Color::Default => String::new(),
        Color::Idx(number) => PALETTE
            .get(usize::from(number))
            .map_or_else(String::new, |color| format!(" style=\"fill:{color}\"")),
        Color::Rgb(red, green, blue) => format!(" style=\"fill:#{red:02x}{green:02x}{blue:02x}\""),
    };
    let classes = [(cell.bold(), "b"), (cell.underline(), "u"), (cell.dim(), "d")];
    let classes: Vec<&str> = classes.iter().filter(|(is_set, _)| *is_set).map(|(_, class)| *class).collect();
    if !classes.is_empty() {
        let _ = write!(style, " class=\"{}\"", classes.join(" "));
    }
    style
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    fn frame(text: &str, milliseconds: u64) -> Frame {
        let size = |count| NonZeroU16::new(count).unwrap();
        let mut parser = vt100::Parser::new(size(2), size(20), 0);
        parser.process(text.as_bytes());
        Frame::new(parser.screen(), Duration::from_millis(milliseconds))
    }

    #[test]
    fn line_that_two_frames_share_is_drawn_once() {
        let svg = draw(&[frame("same", 100), frame("same\r\nnew", 300)], 20, 2);
        assert_eq!(svg.matches(">same<").count(), 1);
        assert_eq!(svg.matches("<use ").count(), 3);
        assert!(
            svg.contains("0.000%{transform:translateY(-0px)}25.000%{transform:translateY(-64px)}"),
            "{svg}"
        );
        assert!(svg.contains("play 0.40s"), "{svg}");
    }

    #[test]
    fn colours_and_markup_of_a_text_are_kept_apart() {
        let svg = draw(&[frame("\x1b[1;31ma<b\x1b[0m &c", 100)], 20, 2);
        assert!(svg.contains("style=\"fill:#ff7b72\" class=\"b\">a&lt;b</text>"), "{svg}");
        assert!(svg.contains(">&amp;c</text>"), "{svg}");
    }
}
