//! `cargo xtask demo`: runs the program against servers on loopback, one row for each feature. It needs only Rust, and
//! fails if a row has another result than expected.
//!
//! The rows are in `demo/rows.rs`, the servers in `demo/fixture.rs`.

mod fixture;
mod gateway;
mod rows;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fetch_url_tests::Terminal;
use fixture::Fixture;
use rows::{ExpectedFile, ROWS, Row};

use crate::program;

/// The number of output lines that are shown.
const SHOWN_LINES: usize = 16;
const SHOWN_WIDTH: usize = 110;
const TERMINAL_COLUMNS: u16 = 100;

/// The result of a command.
struct CommandOutput {
    exit: Option<i32>,
    out: String,
    err: String,
}

/// Runs every row in order, then lists the rows with an unexpected result.
pub(crate) fn run() -> Result<(), String> {
    println!("demo: building the program");
    let program = program::fetch_url(&[])?;
    println!("demo: {} rows, each with its own servers on loopback", ROWS.len());
    let fixture =
        Fixture::start(Some(&program)).map_err(|error| format!("demo: the servers do not start: {error}"))?;
    let mut wrong = Vec::new();
    for row in ROWS {
        println!("\n# {}", row.title);
        if let Err(why) = play(row, &program, &fixture) {
            println!("!! {why}");
            wrong.push(format!("{}: {why}", row.title));
        }
    }
    if wrong.is_empty() {
        println!("\ndemo: {} rows, all passed", ROWS.len());
        return Ok(());
    }
    Err(format!("\ndemo: {} of {} rows failed\n{}", wrong.len(), ROWS.len(), wrong.join("\n")))
}

fn play(row: &Row, program: &Path, fixture: &Fixture) -> Result<(), String> {
    let arguments: Vec<String> = row.arguments.iter().map(|text| fixture.filled(text)).collect();
    println!("$ fetch-url {}", arguments.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" "));
    let mut command = Command::new(program);
    command.args(&arguments).current_dir(fixture.folder());
    let cannot_run = |error: std::io::Error| format!("cannot run {}: {error}", program.display());
    if row.needs_terminal {
        let output = run_in_terminal(&command).map_err(cannot_run)?;
        println!("{}", output.out);
        return check_output(row, &output, fixture);
    }
    let output = command.stdin(Stdio::null()).output().map_err(cannot_run)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output =
        CommandOutput { exit: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) };
    print!("{}{}", bounded(&output.err), bounded(&output.out));
    check_output(row, &output, fixture)
}

/// Runs a command in a pseudo-terminal. Its output contains the control sequences that draw progress bars.
fn run_in_terminal(command: &Command) -> std::io::Result<CommandOutput> {
    let mut terminal = Terminal::start(command, TERMINAL_COLUMNS)?;
    let exit = terminal.exit_status()?;
    let out = String::from_utf8_lossy(terminal.bytes()).into_owned();
    Ok(CommandOutput { exit: Some(exit), out, err: String::new() })
}

/// Compares the result with the expected one. The error says what differs.
fn check_output(row: &Row, output: &CommandOutput, fixture: &Fixture) -> Result<(), String> {
    if output.exit != Some(row.exit) {
        let exit = output.exit.map_or("a signal".to_owned(), |exit| exit.to_string());
        return Err(format!("exit {exit} instead of {}", row.exit));
    }
    if row.exit != 0 {
        println!("[exit {}]", row.exit);
    }
    for part in row.shows.iter().map(|part| fixture.filled(part)) {
        if !output.out.contains(&part) && !output.err.contains(&part) {
            return Err(format!("not found in the output: {part:?}"));
        }
    }
    let Some(ExpectedFile { name, content: wanted }) = row.leaves else { return Ok(()) };
    let path = fixture.folder().join(name);
    let content = fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
    if content != wanted() {
        return Err(format!("{name}: {} bytes, with wrong content", content.len()));
    }
    println!("[{name}: {} bytes, as expected]", content.len());
    Ok(())
}

/// Formats a command as a user would type it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:%@=,+~".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { format!("'{text}'") }
}

/// Returns the first lines, with `…` where text is left out.
fn bounded(text: &str) -> String {
    let cut = |line: &str| match line.char_indices().nth(SHOWN_WIDTH) {
        Some((end, _)) => format!("{}…\n", &line[..end]),
        None => format!("{line}\n"),
    };
    let mut shown: String = text.lines().take(SHOWN_LINES).map(cut).collect();
    let more = text.lines().count().saturating_sub(SHOWN_LINES);
    if more > 0 {
        shown += &format!("[… {more} more lines]\n");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_answers_are_cut() {
        let text = bounded(&"x\n".repeat(SHOWN_LINES + 3));
        assert!(text.ends_with("x\n[… 3 more lines]\n"));
        assert_eq!(bounded("no line end"), "no line end\n");
        assert_eq!(bounded(&"y".repeat(500)), format!("{}…\n", "y".repeat(SHOWN_WIDTH)));
        assert_eq!(bounded(&"y".repeat(SHOWN_WIDTH)), format!("{}\n", "y".repeat(SHOWN_WIDTH)));
    }

    #[test]
    fn arguments_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("http://127.0.0.1:80/a"), "http://127.0.0.1:80/a");
        assert_eq!(quoted("wais://h/db?a b"), "'wais://h/db?a b'");
    }

    #[test]
    fn output_is_checked_by_exit_status_words_and_file() {
        let fixture = Fixture::start(None).unwrap();
        let row = Row { exit: 3, shows: &["caret"], ..ROWS[0] };
        let output =
            |exit, err: &str| CommandOutput { exit: Some(exit), out: String::new(), err: err.to_owned() };
        assert_eq!(check_output(&row, &output(3, "a caret"), &fixture), Ok(()));
        assert_eq!(check_output(&row, &output(0, "a caret"), &fixture).unwrap_err(), "exit 0 instead of 3");
        assert!(check_output(&row, &output(3, "none"), &fixture).unwrap_err().contains("\"caret\""));
        let row = Row { leaves: Some(ExpectedFile { name: "none.bin", content: Vec::new }), ..row };
        assert!(check_output(&row, &output(3, "a caret"), &fixture).unwrap_err().starts_with("none.bin: "));
    }
}
