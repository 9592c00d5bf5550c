//! Progress bars on a terminal: they fit the width, show name, percentage and rate, and are removed at the end.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use textwrap::core::display_width;

use crate::support::virtual_terminal::VirtualTerminal;
use crate::support::{
    BINARY, check_in_parallel, ensure, http_server, http_server_first_then, run_fetch_url, run_fetch_url_in,
    temp_dir, wait_until,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, Terminal};

/// A path with a name that is longer than 80 columns.
const LONG_PATH: &str = "/a-very-long-name-that-no-terminal-of-eighty-columns-has-room-for-beside-a-bar-and-its-numbers-%E2%80%AE.tar.gz";

/// A path whose name has twice as many columns as characters.
const WIDE_PATH: &str = "/字字字字字字字字字字字字字字字字字字字字字字字字";

/// Starts an HTTP server whose bodies take about one second: with known and unknown length, truncated, too short, or
/// 404.
fn start_slow_server() -> HttpServer {
    let pause = Duration::from_millis(50);
    http_server(move |request: &HttpRequest| match request.path() {
        path if path.contains("gone") => HttpResponse::new(404),
        path if path.contains("chunked") => {
            HttpResponse::new(200).chunked(vec![vec![b'x'; 5000]; 20]).drip(5000, pause)
        }
        path if path.contains("cut") => {
            HttpResponse::new(200).stream(100_000).cut_body_at(60_000).drip(5000, pause)
        }
        path if path.contains("huge") => HttpResponse::new(200)
            .header("Content-Length", "123456789012345")
            .then_send(vec![b'x'; 100_000])
            .then_close()
            .drip(5000, pause),
        _ => HttpResponse::new(200).stream(100_000).drip(5000, pause),
    })
}

/// Runs fetch-url in a terminal and returns its exit status and the screen.
fn run_in_terminal(arguments: &[&str], columns: u16) -> (i32, VirtualTerminal) {
    let dir = temp_dir();
    let retry_option: &[&str] = if arguments.contains(&"--retry") { &[] } else { &["--retry", "0"] };
    // The library that `Terminal` uses sets 80 columns shortly after the start.
    let script = format!("sleep 0.05; stty cols {columns}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", BINARY]).args(retry_option).args(arguments);
    command.current_dir(dir.path()).env("TERM", "xterm-256color");
    for name in ["NO_COLOR", "CLICOLOR", "CI"] {
        command.env_remove(name);
    }
    let mut terminal = Terminal::start(&command, columns).expect("a terminal");
    let exit = terminal.exit_status().expect("an end");
    (exit, VirtualTerminal::render(terminal.bytes(), columns.into()))
}

#[test]
fn bar_fits_every_width_and_is_removed() {
    let server = start_slow_server();
    let rows: Vec<(u16, &str)> = [60, 80, 120]
        .into_iter()
        .flat_map(|columns| {
            ["/name.iso", LONG_PATH, WIDE_PATH, "/chunked", "/huge"].map(|path| (columns, path))
        })
        .collect();
    check_in_parallel(&rows, 12, |&(columns, path)| {
        let is_short = path == "/huge";
        let (exit, screen) =
            run_in_terminal(&["-o", if is_short { "/dev/null" } else { "out" }, &server.url(path)], columns);
        let case = format!("{path} at {columns}");
        ensure(exit == if is_short { 18 } else { 0 }, || format!("{case}: exit {exit}: {}", screen.text()))?;
        // An error message may be longer than the screen is wide.
        ensure(is_short || !screen.has_wrapped, || format!("{case} wraps: {:#?}", screen.frames))?;
        ensure(!screen.is_cursor_hidden, || format!("{case}: the cursor is hidden"))?;
        let name: String = path.chars().skip(1).take(6).collect();
        let frames: Vec<&String> = screen.frames.iter().filter(|frame| frame.contains(&name)).collect();
        ensure(frames.len() > 1, || format!("{case}: no bar: {:#?}", screen.frames))?;
        ensure(path == "/chunked" || columns < 80 || frames.iter().any(|frame| frame.contains('%')), || {
            format!("{case}: {frames:#?}")
        })?;
        ensure(columns < 80 || frames.iter().any(|frame| frame.contains("/s")), || {
            format!("{case}: no rate in {frames:#?}")
        })?;
        ensure(screen.frames.iter().all(|frame| !frame.contains('\u{202e}')), || {
            format!("{case}: an unescaped control character")
        })?;
        let remaining = screen.text();
        // Only the line for the complete file remains.
        let is_saved_line = remaining.lines().count() == 1 && remaining.starts_with("out: 97.66 KiB in ");
        ensure(is_short || is_saved_line, || format!("{case}: text remains: {remaining}"))?;
        ensure(
            !is_short
                || remaining.starts_with("fetch-url: ") && remaining.matches("fetch-url: ").count() == 1,
            || format!("{case}: text remains: {remaining}"),
        )
    });
}

/// One bar for each running file and one for the total.
#[test]
fn parallel_transfers_have_one_bar_each() {
    let server = start_slow_server();
    let urls: Vec<String> =
        ["/one.iso", "/two.iso", "/chunked", LONG_PATH].iter().map(|path| server.url(path)).collect();
    let names = ["-o", "a", "-o", "b", "-o", "c", "-o", "d"];
    check_in_parallel(&[80, 120], 2, |&columns| {
        // A full line is ended by the terminal and does not wrap, so every line starts with a name.
        let arguments: Vec<&str> =
            ["-Z"].into_iter().chain(names).chain(urls.iter().map(String::as_str)).collect();
        let (exit, screen) = run_in_terminal(&arguments, columns);
        ensure(exit == 0, || format!("at {columns}: {exit} {}", screen.text()))?;
        let lines = screen.frames.iter().flat_map(|frame| frame.lines());
        let starts_with_name = |line: &str| {
            ["one.iso ", "two.iso ", "chunked ", "a-very-long", "total ", "a: ", "b: ", "c: ", "d: "]
                .iter()
                .any(|name| line.starts_with(name))
        };
        let other_lines: Vec<&str> = lines.filter(|line| !starts_with_name(line)).collect();
        ensure(other_lines.is_empty(), || format!("at {columns} wraps: {other_lines:#?}"))?;
        ensure(screen.max_line_count() >= 4, || format!("at {columns}: {} bars", screen.max_line_count()))?;
        let has_all_names = |frame: &&String| {
            ["one.iso", "two.iso", "chunked", "a-very"].iter().all(|name| frame.contains(name))
        };
        ensure(screen.frames.iter().any(|frame| has_all_names(&frame)), || {
            format!("at {columns}: not all bars at the same time: {:#?}", screen.frames)
        })?;
        let is_saved_line = |line: &str| line[1..].starts_with(": 97.66 KiB in ");
        ensure(screen.text().lines().count() == 4 && screen.text().lines().all(is_saved_line), || {
            format!("at {columns}: text remains: {}", screen.text())
        })
    });
}

#[test]
fn two_files_have_two_bars_and_a_total() {
    let server = start_slow_server();
    let (exit, screen) =
        run_in_terminal(&["-Z", "-o", "a", "-o", "b", &server.url("/one.iso"), &server.url("/two.iso")], 80);
    assert_eq!(
        (exit, screen.max_line_count()),
        (0, 3),
        "not two files and a total: {:#?}",
        screen.frames.iter().max()
    );
}

/// The server sends 100 kB evenly within one second; the displayed rate never exceeds 1 MiB/s.
#[test]
fn displayed_rate_is_realistic() {
    let (exit, screen) = run_in_terminal(&["-o", "out", &start_slow_server().url("/name.iso")], 80);
    let too_fast: Vec<&String> =
        screen.frames.iter().filter(|frame| frame.contains("MiB/s") || frame.contains("GiB/s")).collect();
    assert!(exit == 0 && too_fast.is_empty(), "{too_fast:#?}");
}

/// The transfer stalls for 1.5 seconds; the bar is redrawn in that time.
#[test]
fn bar_is_updated_while_transfer_stalls() {
    let server = http_server(|_| {
        let reply = HttpResponse::new(200).header("Content-Length", "100000").then_send(vec![b'x'; 40_000]);
        reply
            .then_stall(Duration::from_millis(400))
            .then_send(vec![b'x'; 10_000])
            .then_stall(Duration::from_millis(1500))
            .then_send(vec![b'x'; 50_000])
    });
    let (exit, screen) = run_in_terminal(&["-o", "out", &server.url("/name.iso")], 80);
    let stalled: std::collections::BTreeSet<&String> =
        screen.frames.iter().filter(|frame| frame.contains(" 50%")).collect();
    assert!(exit == 0 && stalled.len() > 1, "the frames of 1.5 seconds: {stalled:#?}");
}

/// Error messages are printed on separate lines above the bars and remain.
#[test]
fn errors_are_printed_above_the_bars() {
    let server = start_slow_server();
    let urls = ["/one.iso", "/gone", "/cut", "/two.iso"].map(|path| server.url(path));
    let arguments: Vec<&str> = ["-Z", "--output-dir", ".", "-O", "-O", "-O", "-O"]
        .into_iter()
        .chain(urls.iter().map(String::as_str))
        .collect();
    let (exit, screen) = run_in_terminal(&arguments, 120);
    let remaining = screen.text();
    assert_eq!(exit, 78, "{remaining}");
    let lines: Vec<&str> = remaining.lines().collect();
    assert!(
        lines.iter().all(|line| {
            ["fetch-url: http://", "  hint: ", "./one.iso: ", "./two.iso: "]
                .iter()
                .any(|start| line.starts_with(start))
        }),
        "{remaining}"
    );
    assert!(remaining.contains("/gone: not found") && remaining.contains("/cut: "), "{remaining}");
    // A single transfer with a message about a retry.
    let flaky = http_server_first_then(
        |_| HttpResponse::new(503),
        |_| HttpResponse::new(200).stream(100_000).drip(5000, Duration::from_millis(50)),
    );
    let (exit, screen) =
        run_in_terminal(&["--retry", "1", "--retry-delay", "0.1", "-o", "out", &flaky.url("/x")], 80);
    assert!(
        exit == 0 && screen.text().contains("retrying in 0.1 s") && !screen.text().contains('%'),
        "{exit} {}",
        screen.text()
    );
}

#[test]
fn no_bar_if_silent_short_or_text_on_terminal() {
    let server = start_slow_server();
    let rows = ["-s -o out", "--no-progress-meter -o out", "-s -Z -o out", "-sS -o out"];
    check_in_parallel(&rows, 4, |options| {
        let url = server.url("/name.iso");
        let arguments: Vec<&str> = options.split(' ').chain([url.as_str()]).collect();
        let (exit, screen) = run_in_terminal(&arguments, 80);
        ensure(exit == 0 && screen.frames.iter().all(String::is_empty), || {
            format!("{options}: {exit} {:#?}", screen.frames)
        })
    });
    // A short transfer shows no bar.
    let fast_server = http_server(|_| HttpResponse::new(200).stream(100_000));
    let (exit, screen) = run_in_terminal(&["-o", "out", &fast_server.url("/name.iso")], 80);
    let is_saved_line = |frame: &String| frame.is_empty() || frame.starts_with("out: 97.66 KiB in ");
    assert!(exit == 0 && screen.frames.iter().all(is_saved_line), "{:#?}", screen.frames);
    assert!(screen.text().starts_with("out: "), "{}", screen.text());
    // No bar if the text itself is printed to the terminal.
    let text =
        http_server(|_| HttpResponse::new(200).body(vec![b'x'; 1000]).drip(100, Duration::from_millis(50)));
    let (exit, screen) = run_in_terminal(&[&text.url("/name.iso")], 80);
    assert!(
        exit == 0 && !screen.text().contains('%') && !screen.text().contains("name.iso"),
        "{:#?}",
        screen.frames
    );
}

#[test]
fn no_bar_in_a_pipe_except_one_line_on_request() {
    let server = start_slow_server();
    assert_eq!(run_fetch_url(["-o", "/dev/null", &server.url("/name.iso")]).assert_exit(0).stderr, "");
    // With -#, one plain line without escape sequences.
    let result = run_fetch_url(["-#", "-o", "/dev/null", &server.url("/name.iso")]);
    let line = result.assert_exit(0).stderr.clone();
    assert!(line.contains("name.iso") && line.contains("100000"), "{line:?}");
    assert!(line.ends_with('\n') && !line.contains('\x1b') && !line.trim_end().contains('\n'), "{line:?}");
    assert_eq!(
        run_fetch_url(["-#", "-s", "-o", "/dev/null", &server.url("/name.iso")]).assert_exit(0).stderr,
        ""
    );
}

/// After Ctrl-C the cursor is visible and at the start of an empty line. The terminal's echo of ^C may leave one line
/// of the bar.
#[test]
fn interrupt_restores_cursor_and_clears_the_bar() {
    let server = http_server(|_| {
        let reply = HttpResponse::new(200).header("ETag", "\"v1\"");
        reply.stream(100_000).drip(5000, Duration::from_millis(50))
    });
    let dir = temp_dir();
    let mut command = Command::new(BINARY);
    command
        .args(["-o", "out", &server.url("/name.iso")])
        .current_dir(dir.path())
        .env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&command, 80).expect("a terminal");
    terminal.expect("name.iso").expect("a bar");
    terminal.type_bytes(&[3]).expect("Ctrl-C");
    assert_eq!(terminal.exit_status().expect("an end"), -2);
    let screen = VirtualTerminal::render(terminal.bytes(), 80);
    let remaining = screen.text();
    assert!(!screen.is_cursor_hidden && remaining.lines().count() <= 4, "text remains: {remaining:?}");
    let message = "fetch-url: interrupted; ";
    assert!(
        remaining.contains(message) && remaining.contains(" of out kept\n  hint: repeat"),
        "{remaining:?}"
    );
    // The named file and state are there, and -C - continues them.
    assert!(dir.path().join("out.fetch-url.part").is_file());
    let result = run_fetch_url_in(dir.path(), ["-C", "-", "-o", "out", &server.url("/name.iso")]);
    result.assert_exit(0);
}

#[test]
fn bar_uses_the_width_of_a_resized_terminal() {
    let server =
        http_server(|_| HttpResponse::new(200).stream(100_000).drip(5000, Duration::from_millis(200)));
    let script = "sleep 0.05; stty cols 60; \"$@\" & sleep 1.5; stty cols 120; wait $!";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", BINARY, "-o", "/dev/null", &server.url("/name.iso")]);
    command.env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&command, 120).expect("a terminal");
    assert_eq!(terminal.exit_status().expect("an end"), 0);
    let screen = VirtualTerminal::render(terminal.bytes(), 120);
    let widths: Vec<usize> = screen.frames.iter().map(|frame| display_width(frame.trim_end())).collect();
    assert!(widths.iter().any(|width| *width > 100), "{:#?}", screen.frames);
}

/// The user starts the program in the background of a shell that does not send SIGHUP, and closes the window.
#[test]
fn transfers_go_on_after_the_terminal_was_closed() {
    let is_closed = Arc::new(AtomicBool::new(false));
    let server = http_server({
        let is_closed = is_closed.clone();
        move |request: &HttpRequest| {
            if request.path() == "/one" {
                return HttpResponse::new(200).stream(100_000).drip(5000, Duration::from_millis(50));
            }
            assert!(wait_until(Duration::from_secs(30), || is_closed.load(Ordering::Relaxed)));
            HttpResponse::new(404)
        }
    });
    let dir = temp_dir();
    let script = "trap '' HUP; { \"$@\"; echo \"$?\" >status.new; mv status.new status; } & wait";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", BINARY, "--retry", "0", "-Z", "-o", "one", &server.url("/one")]);
    command.args(["-o", "gone", &server.url("/gone")]).current_dir(dir.path()).env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&command, 80).expect("a terminal");
    terminal.expect("one").expect("a bar");
    drop(terminal);
    is_closed.store(true, Ordering::Relaxed);
    let status = dir.path().join("status");
    assert!(wait_until(Duration::from_secs(30), || status.exists()), "no exit within 30 seconds");
    assert_eq!(fs::read_to_string(status).expect("a status"), "78\n");
    assert_eq!(fs::metadata(dir.path().join("one")).expect("a file").len(), 100_000);
}
