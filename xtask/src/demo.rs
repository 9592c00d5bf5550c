//! `cargo xtask demo`: runs the program against servers on loopback, one row for each feature. It needs only Rust, and
//! fails if a row has another result than expected.
//!
//! The rows are in `demo/rows.rs`, the servers in `demo/stage.rs`.

mod rows;
mod stage;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fetch_url_tests::Terminal;
use rows::{Leaves, ROWS, Row};
use stage::Stage;

use crate::program;

/// How much of an answer is shown.
const SHOWN_LINES: usize = 16;
const SHOWN_WIDTH: usize = 110;
const TERMINAL_COLUMNS: u16 = 100;

/// What came of a command.
struct Came {
    exit: Option<i32>,
    out: String,
    err: String,
}

/// Runs every row, in order, and then says which were not as they must be.
pub(crate) fn run() -> Result<(), String> {
    println!("demo: building the program");
    let program = program::fetch_url(&[])?;
    println!("demo: {} rows, each with its own servers on loopback", ROWS.len());
    let stage = Stage::set().map_err(|error| format!("demo: the servers do not start: {error}"))?;
    let mut wrong = Vec::new();
    for row in ROWS {
        println!("\n# {}", row.title);
        if let Err(why) = play(row, &program, &stage) {
            println!("!! {why}");
            wrong.push(format!("{}: {why}", row.title));
        }
    }
    if wrong.is_empty() {
        println!("\ndemo: {} rows, all as they must be", ROWS.len());
        return Ok(());
    }
    Err(format!("\ndemo: {} of {} rows went wrong\n{}", wrong.len(), ROWS.len(), wrong.join("\n")))
}

fn play(row: &Row, program: &Path, stage: &Stage) -> Result<(), String> {
    let arguments: Vec<String> = row.arguments.iter().map(|text| stage.filled(text)).collect();
    println!("$ fetch-url {}", arguments.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" "));
    let mut command = Command::new(program);
    command.args(&arguments).current_dir(stage.folder());
    let cannot_run = |error: std::io::Error| format!("cannot run {}: {error}", program.display());
    if row.needs_terminal {
        let came = run_in_terminal(&command).map_err(cannot_run)?;
        println!("{}", came.out);
        return judge(row, &came, stage);
    }
    let output = command.stdin(Stdio::null()).output().map_err(cannot_run)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let came = Came { exit: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) };
    print!("{}{}", bounded(&came.err), bounded(&came.out));
    judge(row, &came, stage)
}

/// Runs a command in a pseudo-terminal. Its output contains the control sequences that draw progress bars.
fn run_in_terminal(command: &Command) -> std::io::Result<Came> {
    let mut terminal = Terminal::start(command, TERMINAL_COLUMNS)?;
    let exit = terminal.exit()?;
    let out = String::from_utf8_lossy(terminal.bytes()).into_owned();
    Ok(Came { exit: Some(exit), out, err: String::new() })
}

/// Whether what came is what the row says.
fn judge(row: &Row, came: &Came, stage: &Stage) -> Result<(), String> {
    if came.exit != Some(row.exit) {
        let exit = came.exit.map_or("a signal".to_owned(), |exit| exit.to_string());
        return Err(format!("exit {exit} in place of {}", row.exit));
    }
    if row.exit != 0 {
        println!("[exit {}]", row.exit);
    }
    for part in row.shows.iter().map(|part| stage.filled(part)) {
        if !came.out.contains(&part) && !came.err.contains(&part) {
            return Err(format!("nowhere in the answer: {part:?}"));
        }
    }
    let Some(Leaves { name, content: wanted }) = row.leaves else { return Ok(()) };
    let path = stage.folder().join(name);
    let content = fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
    if content != wanted() {
        return Err(format!("{name}: {} bytes, and not the right ones", content.len()));
    }
    println!("[{name}: {} bytes, the right ones]", content.len());
    Ok(())
}

/// As one would type it.
fn quoted(text: &str) -> String {
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
    fn a_row_is_judged_by_exit_words_and_file() {
        let stage = Stage::set().unwrap();
        let row = Row { exit: 3, shows: &["caret"], ..ROWS[0] };
        let came = |exit, err: &str| Came { exit: Some(exit), out: String::new(), err: err.to_owned() };
        assert_eq!(judge(&row, &came(3, "a caret"), &stage), Ok(()));
        assert_eq!(judge(&row, &came(0, "a caret"), &stage).unwrap_err(), "exit 0 in place of 3");
        assert!(judge(&row, &came(3, "none"), &stage).unwrap_err().contains("\"caret\""));
        let row = Row { leaves: Some(Leaves { name: "none.bin", content: Vec::new }), ..row };
        assert!(judge(&row, &came(3, "a caret"), &stage).unwrap_err().starts_with("none.bin: "));
    }
}
