//! The progress bar as a person sees it: it fits, it tells, and it goes (CLI.md, "Progress").

#![allow(clippy::expect_used, reason = "a helper of tests")]

#[path = "support/glass.rs"]
mod glass;
mod support;

use std::process::Command;
use std::time::Duration;

use fetch_url_tests::{HttpReply, HttpRequest, HttpServer, Terminal};
use glass::Glass;
use support::{BINARY, ensure, fetch, in_parallel, serving};

const LONG: &str = "/a-very-long-name-that-no-terminal-of-eighty-columns-has-room-for-beside-a-bar-and-its-numbers-%E2%80%AE.tar.gz";

/// Bodies that take about a second, of known and of unknown length, and what is wrong otherwise.
fn slow() -> HttpServer {
    let pause = Duration::from_millis(50);
    serving(move |request: &HttpRequest| match request.path() {
        path if path.contains("gone") => HttpReply::new(404),
        path if path.contains("chunked") => {
            HttpReply::new(200).chunked(vec![vec![b'x'; 5000]; 20]).drip(5000, pause)
        }
        path if path.contains("cut") => {
            HttpReply::new(200).stream(100_000).cut_body_at(60_000).drip(5000, pause)
        }
        path if path.contains("huge") => HttpReply::new(200)
            .header("Content-Length", "123456789012345")
            .then_send(vec![b'x'; 100_000])
            .then_close()
            .drip(5000, pause),
        _ => HttpReply::new(200).stream(100_000).drip(5000, pause),
    })
}

/// The program in a terminal: exit status and what was seen.
fn seen(arguments: &[&str], columns: u16) -> (i32, Glass) {
    let here = tempfile::tempdir().expect("a directory");
    let once: &[&str] = if arguments.contains(&"--retry") { &[] } else { &["--retry", "0"] };
    // The library below `Terminal` gives it 80 columns of its own a moment after the start.
    let settled = format!("sleep 0.05; stty cols {columns}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &settled, "sh", BINARY]).args(once).args(arguments);
    command.current_dir(here.path()).env("TERM", "xterm-256color");
    for name in ["NO_COLOR", "CLICOLOR", "CI"] {
        command.env_remove(name);
    }
    let mut terminal = Terminal::start(&command, columns).expect("a terminal");
    let exit = terminal.exit().expect("an end");
    (exit, Glass::after(terminal.octets(), columns.into()))
}

#[test]
fn one_bar() {
    let server = slow();
    let rows: Vec<(u16, &str)> = [60, 80, 120]
        .into_iter()
        .flat_map(|columns| ["/name.iso", LONG, "/chunked", "/huge"].map(|path| (columns, path)))
        .collect();
    in_parallel(&rows, 12, |&(columns, path)| {
        let is_short = path == "/huge";
        let (exit, glass) =
            seen(&["-o", if is_short { "/dev/null" } else { "out" }, &server.url(path)], columns);
        let what = format!("{path} at {columns}");
        ensure(exit == if is_short { 18 } else { 0 }, || format!("{what}: exit {exit}: {}", glass.text()))?;
        // A message may be as long as it must be.
        ensure(is_short || !glass.has_wrapped, || format!("{what} wraps: {:#?}", glass.frames))?;
        ensure(!glass.hides_cursor, || format!("{what}: the cursor is gone"))?;
        let name = &path[1..path.len().min(9)];
        let told: Vec<&String> = glass.frames.iter().filter(|frame| frame.contains(name)).collect();
        ensure(told.len() > 1, || format!("{what}: no bar: {:#?}", glass.frames))?;
        ensure(path == "/chunked" || columns < 80 || told.iter().any(|frame| frame.contains('%')), || {
            format!("{what}: {told:#?}")
        })?;
        ensure(columns < 80 || told.iter().any(|frame| frame.contains("/s")), || {
            format!("{what}: no rate in {told:#?}")
        })?;
        ensure(glass.frames.iter().all(|frame| !frame.contains('\u{202e}')), || {
            format!("{what}: a raw octet")
        })?;
        let left = glass.text();
        ensure(is_short || left.is_empty(), || format!("{what} leaves: {left}"))?;
        ensure(
            !is_short || left.starts_with("fetch-url: ") && left.matches("fetch-url: ").count() == 1,
            || format!("{what} leaves: {left}"),
        )
    });
}

/// "One bar per running file and a total."
#[test]
fn several_bars() {
    let server = slow();
    let urls: Vec<String> =
        ["/one.iso", "/two.iso", "/chunked", LONG].iter().map(|path| server.url(path)).collect();
    let names = ["-o", "a", "-o", "b", "-o", "c", "-o", "d"];
    in_parallel(&[80, 120], 2, |&columns| {
        // A line that is just full is ended by the terminal, which is no wrap: each line begins with a name.
        let arguments: Vec<&str> =
            ["-Z"].into_iter().chain(names).chain(urls.iter().map(String::as_str)).collect();
        let (exit, glass) = seen(&arguments, columns);
        ensure(exit == 0, || format!("at {columns}: {exit} {}", glass.text()))?;
        let lines = glass.frames.iter().flat_map(|frame| frame.lines());
        let begins = |line: &str| {
            ["one.iso ", "two.iso ", "chunked ", "a-very-long-", "total "]
                .iter()
                .any(|name| line.starts_with(name))
        };
        let strays: Vec<&str> = lines.filter(|line| !begins(line)).collect();
        ensure(strays.is_empty(), || format!("at {columns} wraps: {strays:#?}"))?;
        ensure(glass.most_lines() >= 4, || format!("at {columns}: {} bars", glass.most_lines()))?;
        let all = |frame: &&String| {
            ["one.iso", "two.iso", "chunked", "a-very"].iter().all(|name| frame.contains(name))
        };
        ensure(glass.frames.iter().any(|frame| all(&frame)), || {
            format!("at {columns}: not all at once: {:#?}", glass.frames)
        })?;
        ensure(glass.text().is_empty(), || format!("at {columns} leaves: {}", glass.text()))
    });
}

#[test]
fn a_total() {
    let server = slow();
    let (exit, glass) =
        seen(&["-Z", "-o", "a", "-o", "b", &server.url("/one.iso"), &server.url("/two.iso")], 80);
    assert_eq!((exit, glass.most_lines()), (0, 3), "two files and a total: {:#?}", glass.frames.iter().max());
}

/// 100 kB in a second, evenly: no moment of it was ten times as fast.
#[test]
fn rates_are_true() {
    let (exit, glass) = seen(&["-o", "out", &slow().url("/name.iso")], 80);
    let wild: Vec<&String> =
        glass.frames.iter().filter(|frame| frame.contains("MiB/s") || frame.contains("GiB/s")).collect();
    assert!(exit == 0 && wild.is_empty(), "{wild:#?}");
}

/// When nothing comes, the bar tells that nothing comes.
#[test]
fn a_stalled_transfer() {
    let server = serving(|_| {
        let begun = HttpReply::new(200).header("Content-Length", "100000").then_send(vec![b'x'; 40_000]);
        begun
            .then_stall(Duration::from_millis(400))
            .then_send(vec![b'x'; 10_000])
            .then_stall(Duration::from_millis(1500))
            .then_send(vec![b'x'; 50_000])
    });
    let (exit, glass) = seen(&["-o", "out", &server.url("/name.iso")], 80);
    let stalled: std::collections::BTreeSet<&String> =
        glass.frames.iter().filter(|frame| frame.contains(" 50%")).collect();
    assert!(exit == 0 && stalled.len() > 1, "a second and a half long there was {stalled:#?}");
}

/// What goes wrong is said on lines of its own, above the bars that go on, and stays.
#[test]
fn errors_beside_bars() {
    let server = slow();
    let urls = ["/one.iso", "/gone", "/cut", "/two.iso"].map(|path| server.url(path));
    let arguments: Vec<&str> = ["-Z", "--output-dir", ".", "-O", "-O", "-O", "-O"]
        .into_iter()
        .chain(urls.iter().map(String::as_str))
        .collect();
    let (exit, glass) = seen(&arguments, 120);
    let left = glass.text();
    assert_eq!(exit, 78, "{left}");
    let lines: Vec<&str> = left.lines().collect();
    assert!(
        lines.iter().all(|line| line.starts_with("fetch-url: http://") || line.starts_with("  hint: ")),
        "{left}"
    );
    assert!(left.contains("/gone: not found") && left.contains("/cut: "), "{left}");
    // One after the other, with a word about a retry in between.
    let flaky = support::first_then(
        |_| HttpReply::new(503),
        |_| HttpReply::new(200).stream(100_000).drip(5000, Duration::from_millis(50)),
    );
    let (exit, glass) = seen(&["--retry", "1", "--retry-delay", "0.1", "-o", "out", &flaky.url("/x")], 80);
    assert!(
        exit == 0 && glass.text().contains("again in 0.1 s") && !glass.text().contains('%'),
        "{exit} {}",
        glass.text()
    );
}

#[test]
fn no_bar_where_none_is_wanted() {
    let server = slow();
    let rows = ["-s -o out", "--no-progress-meter -o out", "-s -Z -o out", "-sS -o out"];
    in_parallel(&rows, 4, |words| {
        let url = server.url("/name.iso");
        let arguments: Vec<&str> = words.split(' ').chain([url.as_str()]).collect();
        let (exit, glass) = seen(&arguments, 80);
        ensure(exit == 0 && glass.frames.iter().all(String::is_empty), || {
            format!("{words}: {exit} {:#?}", glass.frames)
        })
    });
    // A short transfer shows nothing.
    let quick = serving(|_| HttpReply::new(200).stream(100_000));
    let (exit, glass) = seen(&["-o", "out", &quick.url("/name.iso")], 80);
    assert!(exit == 0 && glass.frames.iter().all(String::is_empty), "{:#?}", glass.frames);
    // Text to the terminal itself and a bar do not go together.
    let text = serving(|_| HttpReply::new(200).body(vec![b'x'; 1000]).drip(100, Duration::from_millis(50)));
    let (exit, glass) = seen(&[&text.url("/name.iso")], 80);
    assert!(
        exit == 0 && !glass.text().contains('%') && !glass.text().contains("name.iso"),
        "{:#?}",
        glass.frames
    );
}

#[test]
fn no_bar_in_a_pipe() {
    let server = slow();
    assert_eq!(fetch(["-o", "/dev/null", &server.url("/name.iso")]).exits(0).stderr, "");
    // "Plain single line when not a terminal asked with -#": no escapes, and it ends.
    let ran = fetch(["-#", "-o", "/dev/null", &server.url("/name.iso")]);
    let line = ran.exits(0).stderr.clone();
    assert!(line.contains("name.iso") && line.contains("100000"), "{line:?}");
    assert!(line.ends_with('\n') && !line.contains('\x1b') && !line.trim_end().contains('\n'), "{line:?}");
    assert_eq!(fetch(["-#", "-s", "-o", "/dev/null", &server.url("/name.iso")]).exits(0).stderr, "");
}

/// Ctrl-C: the cursor is there, and the shell gets a line of its own. (The bar goes too, but for the line that
/// the terminal's own echo of ^C has pushed up.)
#[test]
fn interrupted() {
    let server = slow();
    let here = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(BINARY);
    command
        .args(["-o", "out", &server.url("/name.iso")])
        .current_dir(here.path())
        .env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&command, 80).expect("a terminal");
    terminal.expect("name.iso").expect("a bar");
    terminal.type_octets(&[3]).expect("Ctrl-C");
    assert_eq!(terminal.exit().expect("an end"), -2);
    let glass = Glass::after(terminal.octets(), 80);
    let left = glass.text();
    assert!(!glass.hides_cursor && left.lines().count() <= 2, "it leaves {left:?}");
    assert!(terminal.octets().ends_with(b"\r\x1b[2K"), "the line is not cleared");
}
