//! The line of the progress bar of one transfer.

use std::time::Duration;

use indicatif::{BinaryBytes, HumanBytes, HumanDuration};
use textwrap::core::display_width;

/// Maximum width of a name in columns.
pub(super) const NAME_WIDTH: usize = 24;
/// Columns that stay free at the end of the line, because an echoed `^C` after a full line would wrap it.
const FREE_COLUMNS: usize = 4;
/// Minimum width of a bar in columns.
const MIN_BAR_WIDTH: usize = 3;
/// The states of the sign of a transfer whose size is unknown.
const SPINNER: [char; 8] = ['⠁', '⠉', '⠙', '⠚', '⠒', '⠲', '⠴', '⠤'];
/// The time of each of these states.
const SPINNER_INTERVAL: Duration = Duration::from_millis(300);

/// The name of a transfer.
#[derive(Clone)]
pub(super) struct BarName {
    pub(super) text: String,
    /// The names of several bars have the same width.
    pub(super) is_aligned: bool,
}

/// The numbers of a transfer, in bytes and bytes per second.
pub(super) struct BarNumbers {
    pub(super) position: u64,
    pub(super) total: Option<u64>,
    pub(super) rate: u64,
    pub(super) remaining: Duration,
    pub(super) elapsed: Duration,
}

/// Returns the line of a bar for a terminal with `columns` columns. A narrow terminal gets fewer numbers.
pub(super) fn bar_line(name: &BarName, numbers: &BarNumbers, columns: usize) -> String {
    let width = NAME_WIDTH.min(columns * 3 / 10);
    let name = match name {
        BarName { text, is_aligned: true } => padded(cut_middle(text, width), width),
        BarName { text, is_aligned: false } => text.clone(),
    };
    let room = columns.saturating_sub(display_width(&name));
    let bytes = HumanBytes(numbers.position).to_string();
    let rate = format!("{}/s", BinaryBytes(numbers.rate));
    let Some(total) = numbers.total else {
        return match room {
            30.. => format!("{name} {} {bytes:>10} {rate:>12}", spinner(numbers.elapsed)),
            14.. => format!("{name} {bytes:>10}"),
            _ => format!("{bytes:>10}"),
        };
    };
    let fraction = if total == 0 { 1.0 } else { (numbers.position as f64 / total as f64).min(1.0) };
    let percent = format!("{:>3.0}%", fraction * 100.0);
    let (total, remaining) =
        (HumanBytes(total).to_string(), format!("{:#}", HumanDuration(numbers.remaining)));
    let all = format!("{percent} {bytes:>10} of {total:>10} {rate:>12} {remaining:>4}");
    let bar_width = room.saturating_sub(all.len() + 2 + FREE_COLUMNS);
    match room {
        _ if bar_width >= MIN_BAR_WIDTH => format!("{name} {} {all}", bar(fraction, bar_width)),
        36.. => format!("{name} {percent} {bytes:>10} {rate:>12}"),
        20.. => format!("{name} {percent} {bytes:>10}"),
        _ => format!("{percent} {bytes:>10}"),
    }
}

/// Returns a bar such as `===>   `.
fn bar(fraction: f64, width: usize) -> String {
    let filled = (fraction * width as f64) as usize;
    let head = if fraction > 0.0 && filled < width { ">" } else { "" };
    format!("{:<width$}", "=".repeat(filled) + head)
}

fn spinner(elapsed: Duration) -> char {
    let state = elapsed.as_millis() / SPINNER_INTERVAL.as_millis() % SPINNER.len() as u128;
    SPINNER[usize::try_from(state).unwrap_or(0)]
}

/// Replaces the middle of a text by `…` if it is wider than `width` columns: the end of a file name often has its number.
pub(super) fn cut_middle(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let half = width.saturating_sub(1) / 2;
    let start = fitting(text.chars(), width.saturating_sub(1) - half);
    let end: String = fitting(text.chars().rev(), half).chars().rev().collect();
    format!("{start}…{end}")
}

/// Appends blanks to a text that is narrower than `width` columns.
fn padded(text: String, width: usize) -> String {
    let missing = width.saturating_sub(display_width(&text));
    text + &" ".repeat(missing)
}

/// Returns the first characters that fit into `width` columns.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut text = String::new();
    for character in characters {
        text.push(character);
        if display_width(&text) > width {
            text.pop();
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_in_the_middle() {
        assert_eq!(cut_middle("short.iso", 24), "short.iso");
        let cut = cut_middle("a-very-long-name-of-a-file-part-01.tar.gz", 24);
        assert_eq!(cut, "a-very-long-…t-01.tar.gz");
        assert_eq!(display_width(&cut), 24);
        assert!(display_width(&cut_middle(&"漢字".repeat(20), 24)) <= 24);
        assert_eq!(cut_middle("abc", 0), "…");
    }

    #[test]
    fn line_fits_every_width_and_has_a_bar_if_there_is_room() {
        let numbers = |total| BarNumbers {
            position: 1 << 20,
            total,
            rate: 512 << 10,
            remaining: Duration::from_secs(6),
            elapsed: Duration::from_secs(2),
        };
        for (columns, total, expected) in [
            (
                80,
                Some(4 << 20),
                "name.iso ====>                25%   1.00 MiB of   4.00 MiB 512.00 KiB/s   6s",
            ),
            (60, Some(4 << 20), "name.iso  25%   1.00 MiB 512.00 KiB/s"),
            (30, Some(4 << 20), "name.iso  25%   1.00 MiB"),
            (20, Some(4 << 20), " 25%   1.00 MiB"),
            (80, None, "name.iso ⠴   1.00 MiB 512.00 KiB/s"),
            (30, None, "name.iso   1.00 MiB"),
            (20, None, "  1.00 MiB"),
        ] {
            let name = BarName { text: "name.iso".to_owned(), is_aligned: false };
            assert_eq!(bar_line(&name, &numbers(total), columns), expected, "{columns}");
        }
        for (columns, total) in (16..200).flat_map(|columns| [(columns, Some(4 << 20)), (columns, None)]) {
            let name = BarName { text: "字".repeat(12), is_aligned: true };
            let line = bar_line(&name, &numbers(total), columns);
            assert!(display_width(&line) <= columns, "{columns}: {line}");
        }
    }
}
