//! The terminating dot and the doubled dots of gopher texts (docs/spec/semantics.md §4): what `--gopher-dots` removes,
//! and how a missing or truncated terminator is reported.

use std::time::Duration;

use super::{assert_output, fetch_path, fetch_with_short_timeouts, server_sending, start_server};
use crate::support::temp_dir;
use fetch_url_tests::{Ending, GopherAction, GopherConfig, GopherEnd, GopherItem, GopherRule, GopherTrigger};

/// The bytes sent, then the expected output with `--gopher-dots auto` and `rfc1436`. `None`: the result of `rfc1436` is
/// undefined for this input. With `raw` the output equals the input.
const DOT_CASES: [(&str, &str, Option<&str>); 19] = [
    ("a\r\nb\r\n.\r\n", "a\r\nb\r\n", Some("a\r\nb\r\n")),
    ("a\r\nb\r\n", "a\r\nb\r\n", Some("a\r\nb\r\n")),
    ("a\r\nb", "a\r\nb", Some("a\r\nb")),
    (".\r\n", "", Some("")),
    ("a.", "a.", Some("a.")),
    ("a\r\n.\r\n.\r\n", "a\r\n.\r\n", None),
    ("a\r\n.\r\nb\r\n", "a\r\n.\r\nb\r\n", None),
    ("a\r\n.\r\nb\r\n.\r\n", "a\r\n.\r\nb\r\n", None),
    // Dots are doubled; the terminator proves it.
    ("..a\r\n.\r\n", ".a\r\n", Some(".a\r\n")),
    ("x\r\n..\r\n...b\r\n.\r\n", "x\r\n.\r\n..b\r\n", Some("x\r\n.\r\n..b\r\n")),
    // Dots are not doubled: a file name, a path.
    (".profile\r\n.\r\n", ".profile\r\n", None),
    ("../up\r\n.hidden\r\n.\r\n", "../up\r\n.hidden\r\n", None),
    // Without a terminator nothing proves that the dots are doubled.
    ("..a\r\nb\r\n", "..a\r\nb\r\n", Some(".a\r\nb\r\n")),
    ("...\r\n", "...\r\n", Some("..\r\n")),
    // Dots that do not start a line are data.
    ("a..b\r\n ..c\r\n.\r\n", "a..b\r\n ..c\r\n", Some("a..b\r\n ..c\r\n")),
    // Lines that end with LF only.
    ("a\nb\n.\n", "a\nb\n", Some("a\nb\n")),
    ("..a\nb\n.\n", ".a\nb\n", Some(".a\nb\n")),
    ("a\r\n.\n", "a\r\n", Some("a\r\n")),
    ("\r\n\r\n.\r\n", "\r\n\r\n", Some("\r\n\r\n")),
];

#[test]
fn text_terminator_and_doubled_dots_are_removed_by_gopher_dots_mode() {
    for (sent, auto, rfc) in DOT_CASES {
        // The server sends the text in one piece, and byte by byte.
        for server in
            [server_sending(sent), start_server(GopherConfig::new().answer(sent).drip(1, Duration::ZERO))]
        {
            assert_output(&server, "0/x", "-s", auto.as_bytes());
            assert_output(&server, "m/x", "-s --gopher-dots auto", auto.as_bytes());
            assert_output(&server, "0/x", "-s --gopher-dots raw", sent.as_bytes());
            if let Some(rfc) = rfc {
                assert_output(&server, "0/x", "-s --gopher-dots rfc1436", rfc.as_bytes());
            }
        }
    }
}

/// Whether dots are doubled is decided at the end of the text. A text of more than 1 MiB is streamed before that; only
/// its terminator is removed.
#[test]
fn long_text_keeps_doubled_dots_in_auto_mode() {
    let line = b"..and so on and so on and so on and so on and so on and so on!\r\n";
    let times = (3 << 20) / line.len();
    for end in [GopherEnd::LooseDot, GopherEnd::Nothing] {
        let server = start_server(
            GopherConfig::new()
                .item(GopherItem::repeated('0', "/x", "first\r\n", line, times as u64).ending(end)),
        );
        let text = [b"first\r\n".to_vec(), line.repeat(times)].concat();
        let single = [b"first\r\n".to_vec(), line[1..].repeat(times)].concat();
        let dot = if end == GopherEnd::LooseDot { &b".\r\n"[..] } else { b"" };
        for (how, expected) in
            [("auto", text.clone()), ("rfc1436", single), ("raw", [&text[..], dot].concat())]
        {
            let result = fetch_path(&server, "0/x", &format!("-s --gopher-dots {how}"));
            assert!(
                result.assert_exit(0).stdout == expected,
                "{end:?} {how}: {} of {}",
                result.stdout.len(),
                expected.len()
            );
        }
    }
    // A text of less than 1 MiB is decided by its terminator.
    let server = start_server(
        GopherConfig::new().item(GopherItem::repeated('0', "/x", "", line, 9000).ending(GopherEnd::LooseDot)),
    );
    assert!(fetch_path(&server, "0/x", "").assert_exit(0).stdout == line[1..].repeat(9000));
}

#[test]
fn text_without_terminator_adds_note_and_fails_require_complete() {
    let server = server_sending("a\r\n");
    assert_eq!(
        fetch_path(&server, "0/x", "")
            .assert_exit(0)
            .assert_stderr_contains("fetch-url: note: ")
            .stdout_text(),
        "a\r\n"
    );
    assert_eq!(fetch_path(&server, "0/x", "-s").assert_exit(0).stderr, "");
    fetch_path(&server, "0/x", "--require-complete").assert_exit(18);
    let result = fetch_path(&server_sending("a\r\n.\r\n"), "0/x", "--require-complete");
    assert_eq!((result.assert_exit(0).stdout_text().as_str(), result.stderr.as_str()), ("a\r\n", ""));
    // A connection reset is an error.
    for path in ["0/x", "9/x", "1/x"] {
        let config = GopherConfig::new().answer("0abc\t/\th\t70\r\n0d").cut(16, Ending::Reset);
        fetch_path(&start_server(config), path, "").assert_exit(18);
    }
}

/// The `.` at the end of the received data may be the start of `.hidden`, however the connection ended.
#[test]
fn truncated_line_starting_with_dot_is_not_a_terminator() {
    for (answer, kind) in [("one\r\n.", '0'), ("one\r\n.\r", '0'), (".", '0'), ("0a\t/a\th\t70\r\n.", '1')] {
        for ending in [Ending::Reset, Ending::Close] {
            let config = GopherConfig::new().answer(format!("{answer}hidden\r\n"));
            let server =
                start_server(config.on(GopherTrigger::Any, GopherAction::Cut(answer.len() as u64, ending)));
            let result = fetch_with_short_timeouts(
                "--retry 0 --require-complete --format raw",
                &server.url(&format!("{kind}/x")),
            );
            assert_eq!(result.exit, 18, "{answer:?} {ending:?}: {result:?}");
        }
    }
}

/// The first attempt is reset, the second one ends without terminator.
#[test]
fn completeness_is_judged_by_the_last_attempt() {
    let first = GopherRule::on(GopherTrigger::Any, GopherAction::Cut(8, Ending::Reset)).nth(1);
    let second = GopherRule::on(GopherTrigger::Any, GopherAction::Cut(11, Ending::Close)).nth(2);
    let item = GopherItem::text("/t", "one\r\ntwo\r\nthree\r\n");
    let dir = temp_dir();
    let path = dir.path().join("t");
    let options = format!("--retry 1 --retry-all-errors --require-complete -o {}", path.display());
    let result = fetch_with_short_timeouts(
        &options,
        &start_server(GopherConfig::new().item(item).rule(first).rule(second)).url("0/t"),
    );
    result.assert_exit(18);
    assert!(!path.exists());
}

/// The connection stays open after the final dot. Only the status line `+-1` says that the dot is the end.
#[test]
fn response_ends_at_its_dot_if_the_server_sends_nothing_more() {
    let menu = "1Sub\t/sub\tlocalhost\t70\r\n.\r\n";
    for (sent, path, expected, is_proven) in [
        ("a\r\n.\r\n", "0/x", "a\r\n", false),
        (menu, "1/x", "Sub", false),
        ("+-1\r\na\r\n.\r\n", "0/x%09%09+", "a\r\n", true),
        ("+-1\r\na\r\n.\r\n", "9/x%09%09+", "a\r\n", true),
    ] {
        let stay_open = Duration::from_secs(8);
        let server = start_server(GopherConfig::new().answer(sent).stay_open(stay_open));
        let result = fetch_path(&server, path, "--retry 0 --read-timeout 0.5");
        assert!(result.assert_exit(0).stdout_text().contains(expected), "{sent:?}: {result:?}");
        assert_eq!(result.stderr.contains("may be incomplete"), !is_proven, "{sent:?}: {result:?}");
        let result = fetch_path(&server, path, "--retry 0 --read-timeout 0.5 --require-complete");
        result.assert_exit(if is_proven { 0 } else { 18 });
        // The total time is no idle timeout.
        fetch_path(&server, path, "--retry 0 -m 0.5").assert_exit(28);
    }
}

/// A line with the item type `3` is an error only if it is all that the server sends.
#[test]
fn error_reply_is_reported_if_the_server_keeps_the_connection_open() {
    for path in ["0/x", "9/x", "h/x", "1/x"] {
        let answer = "3'/x' does not exist\t\terror.host\t1\r\n.\r\n";
        let server = start_server(GopherConfig::new().answer(answer).stay_open(Duration::from_secs(8)));
        let result = fetch_path(&server, path, "--retry 0 --read-timeout 0.5");
        result.assert_exit(78).assert_stderr_contains("does not exist");
        // The total time is no timeout of the reply.
        if path != "1/x" {
            fetch_path(&server, path, "--retry 0 -m 0.5").assert_exit(28);
        }
    }
}
