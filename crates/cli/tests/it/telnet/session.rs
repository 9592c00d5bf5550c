//! `telnet:` URLs (docs/spec/semantics.md §7): the advice printed without `--connect`, rejected URLs, and the exact
//! bytes of a session.

use std::time::{Duration, Instant};

use crate::support::telnet_server::{DO, DONT, IAC, TelnetServer, WILL, WONT, negotiation, run_session};
use crate::support::{
    BINARY, RunResult, check_in_parallel, entry_names, http_server, run_fetch_url, run_fetch_url_in,
    run_shell, spawn_fetch_url, temp_dir, wait_for_exit,
};
use fetch_url_tests::{HttpResponse, Script, ScriptServer, Terminal};

/// Returns the advice for a URL as JSON.
fn advice_json(url: &str) -> String {
    run_fetch_url(["--format", "json", url]).assert_exit(0).stdout_text()
}

#[test]
fn advice_names_host_port_user_and_command() {
    for (url, parts) in [
        ("telnet://h", &[r#""host":"h""#, r#""port":23,"#, r#""command":"telnet h 23""#][..]),
        ("telnet://h:/", &[r#""port":23,"#]),
        ("TELNET://H.example:2323/", &[r#""port":2323"#, "2323\""]),
        ("telnet://joe@h/", &[r#""user":"joe""#, r#""has_password":false"#, "telnet -l joe h 23"]),
        ("telnet://joe:geheim@h/", &[r#""user":"joe""#, r#""has_password":true"#]),
        // An empty password is not the same as no password (RFC 1738 §3.1).
        ("telnet://joe:@h/", &[r#""has_password":true"#]),
        ("telnet://:geheim@h/", &[r#""has_password":true"#]),
        ("telnet://@h/", &["telnet h 23\"", r#""has_password":false"#]),
        ("telnet://h/", &[r#""has_password":false"#]),
        ("telnet://127.0.0.1:9999/", &["telnet 127.0.0.1 9999"]),
        ("telnet://j%6Fe@h/", &[r#""user":"joe""#]),
        // Telnet programs do not accept an address in brackets.
        ("telnet://[::1]:2323/", &["telnet ::1 2323\""]),
    ] {
        let json = advice_json(url);
        for part in parts {
            assert!(json.contains(part), "{url}: no {part} in {json}");
        }
        assert!(!json.contains("geheim"), "{json}");
    }
    assert!(!advice_json("telnet://h/").contains(r#""user":"""#));
    for bad in [
        "telnet:",
        "telnet:h",
        "telnet://",
        "telnet://h:0/",
        "telnet://h:65536/",
        "telnet://-h/",
        "telnet://h/x",
    ] {
        run_fetch_url([bad]).assert_exit(3);
    }
}

#[test]
fn password_is_mentioned_but_never_printed() {
    let dir = temp_dir();
    let url = "telnet://joe:geheim@127.0.0.1:2323/";
    for options in [
        &[][..],
        &["-vv"],
        &["--trace", "trace"],
        &["--format", "json"],
        &["--fail-advisory"],
        &["--events", "-"],
        &["-w", "%{url} %{json}"],
        &["-o", "x"],
        &["--proto", "=http"],
    ] {
        let result = run_fetch_url_in(dir.path(), [options, &[url]].concat());
        assert!(
            !result.stdout_text().contains("geheim") && !result.stderr.contains("geheim"),
            "{options:?}: {result:?}"
        );
    }
    for command in [&["explain"][..], &["explain", "--json"]] {
        let result = run_fetch_url([command, &[url]].concat());
        assert!(
            !result.stdout_text().contains("geheim") && !result.stderr.contains("geheim"),
            "{command:?}: {result:?}"
        );
        assert!(result.stdout_text().contains("telnet -l joe 127.0.0.1 2323"), "{result:?}");
    }
    let trace = dir.path().join("trace");
    assert!(!std::fs::read_to_string(trace).unwrap_or_default().contains("geheim"));
    let result = run_fetch_url([url]);
    assert!(
        result.assert_exit(0).stdout_text().contains("password")
            && result.stdout_text().contains("--connect"),
        "{result:?}"
    );
    assert!(result.stdout_text().lines().all(|line| line.len() <= 80), "{result:?}");
}

#[test]
fn note_about_the_login_is_printed_only_for_urls_with_a_login() {
    for url in ["telnet://u:p@h/", "telnet://u@h/"] {
        run_fetch_url([url])
            .assert_exit(0)
            .assert_stderr_contains("note: ")
            .assert_stderr_contains("not sent automatically");
    }
    assert_eq!(run_fetch_url(["telnet://h/"]).assert_exit(0).stderr, "");
}

#[test]
fn advised_command_is_quoted_for_the_shell() {
    let dir = temp_dir();
    for (written, user) in [
        ("joe", "joe"),
        ("a%20b", "a b"),
        ("a%27b", "a'b"),
        ("%22%24HOME%22", "\"$HOME\""),
        ("%60touch%20x%60", "`touch x`"),
        ("%3Btouch%20x", ";touch x"),
        ("%24%28touch%20x%29", "$(touch x)"),
        ("a%5Cb", "a\\b"),
        ("%2A", "*"),
        ("%23a", "#a"),
        ("~root", "~root"),
        ("a%7Cb%26c%3Ed%3Ce", "a|b&c>d<e"),
        ("-x", "-x"),
        ("%21%21", "!!"),
        ("%C3%BC", "\u{fc}"),
    ] {
        let text = run_fetch_url([format!("telnet://{written}@h/")]).assert_exit(0).stdout_text();
        let command = text.lines().find_map(|line| line.strip_prefix("  ")).expect("command line").to_owned();
        let script = format!("cd \"$1\"; telnet() {{ printf '<%s>' \"$@\"; }}\n{command}");
        let output = run_shell(&script, [dir.path()]).stdout_text();
        assert_eq!(output, format!("<-l><{user}><h><23>"), "{command}");
    }
    assert_eq!(entry_names(dir.path()), [""; 0]);
}

#[test]
fn cr_lf_nul_and_iac_in_the_login_are_rejected() {
    let server = TelnetServer::start(|_| ());
    for byte in ["%0D", "%0a", "%00", "%FF"] {
        for login in [format!("a{byte}b"), format!("{byte}:p"), format!("u:p{byte}"), format!(":{byte}")] {
            let url = server.url_with_login(&login);
            for options in [&[][..], &["--connect"], &["--format", "json"], &["--open"], &["--fail-advisory"]]
            {
                let result = run_fetch_url([options, &[&url]].concat());
                assert_eq!(result.exit, 93, "{options:?} {url}: {result:?}");
                assert!(result.stdout.is_empty() && !result.stderr.contains('\r'), "{result:?}");
            }
        }
    }
    assert_eq!(server.session_count(), 0, "a connection was opened");
    // Other control characters are accepted and shown in escaped form.
    let text = advice_json("telnet://a%1B%07%09%7F%FE@h/");
    assert!(text.is_ascii() && !text.trim_end().contains(char::is_control), "{text:?}");
    let url = "telnet://a%1B%5D0;x%07%09%7F%C2%9B%E2%80%AEz@h/";
    let mut terminal = Terminal::run(BINARY, &[url], 80).expect("start terminal");
    assert_eq!(terminal.exit_status().expect("process exits"), 0);
    let screen = terminal.screen();
    let is_unsafe_control = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!screen.contains(is_unsafe_control), "{screen:?}");
}

#[test]
fn output_option_for_url_without_data_exits_2() {
    let dir = temp_dir();
    let server = TelnetServer::start(|_| ());
    for url in [server.url(), "mailto:a@b".to_owned(), "mailto:a@b?subject=x".to_owned()] {
        for options in [
            &["-o", "x"][..],
            &["-O"],
            &["--remote-name-all"],
            &["-O", "-J"],
            &["-o", "x", "--format", "json"],
        ] {
            let result = run_fetch_url_in(dir.path(), [options, &[&url]].concat());
            result.assert_exit(2);
            assert!(result.stderr.contains("does not name a data object"), "{options:?} {url}: {result:?}");
            assert_eq!(entry_names(dir.path()), [""; 0], "{options:?} {url}");
        }
        // `-o -` is standard output, which is allowed.
        run_fetch_url_in(dir.path(), ["-o", "-", &url]).assert_exit(0);
        run_fetch_url_in(dir.path(), ["--fail-advisory", &url])
            .assert_exit(1)
            .assert_stderr_contains("does not name a data object");
    }
    assert_eq!(server.session_count(), 0);
    // The other URLs of the run are fetched; the exit status is that of the first failure.
    let http = http_server(|_| HttpResponse::new(200).body("body"));
    let result = run_fetch_url_in(dir.path(), ["-o", "a", "-o", "b", &server.url(), &http.url("/")]);
    result.assert_exit(2);
    assert_eq!(entry_names(dir.path()), ["b"]);
    let result = run_fetch_url(["--fail-advisory", &server.url(), &http.url("/")]);
    assert!(result.assert_exit(1).stdout_text().contains("body"));
}

#[test]
fn network_policy_ports_and_redirects_limit_sessions() {
    let server = TelnetServer::start(|connection| connection.send(b"hello\r\n"));
    let url = server.url();
    for options in [&["--public-only"][..], &["--proto", "=http,ftp"], &["--proto", "-telnet"]] {
        run_fetch_url([&["--connect"], options, &[&url]].concat()).assert_exit(90);
    }
    // Ports below 1024 except 23 are rejected.
    for port in [1, 25, 80, 513, 1023] {
        let result = run_fetch_url(["--connect".to_owned(), format!("telnet://127.0.0.1:{port}/")]);
        result.assert_exit(90).assert_stderr_contains("--allow-port");
    }
    run_fetch_url(["--connect", "--allow-port", "1", "telnet://127.0.0.1:1/"]).assert_exit(7);
    // A redirect can neither start a session nor open a mail program.
    let target = url.clone();
    let http = http_server(move |request| {
        let target = if request.path() == "/mail" { "mailto:a@b" } else { &target };
        HttpResponse::new(302).header("Location", target)
    });
    for path in ["/session", "/mail"] {
        for options in [&[][..], &["--connect"], &["--open"], &["--fail-advisory"]] {
            run_fetch_url([options, &[&http.url(path)]].concat()).assert_exit(90);
        }
    }
    assert_eq!(server.session_count(), 0);
    run_fetch_url(["--connect", &url]).assert_exit(0);
    assert_eq!(server.session_count(), 1);
}

/// Without `--connect` no connection is opened; with it the login of the URL is not sent.
#[test]
fn client_sends_no_login_and_no_unrequested_data() {
    let server = TelnetServer::start(|connection| {
        connection.send(b"login: ");
        connection.sync_with_timing_mark();
    });
    run_fetch_url([&server.url_with_login("joe:geheim"), "-v"]).assert_exit(0);
    run_fetch_url(["explain", &server.url_with_login("joe:geheim")]).assert_exit(0);
    assert_eq!(server.session_count(), 0);
    let result = run_session(b"", &[], &server.url_with_login("joe:geheim"));
    assert_eq!(result.assert_exit(0).stdout_text(), "login: ");
    assert_eq!(server.received(), negotiation(&[(WONT, 6)]), "unexpected data sent");
    assert!(!result.stderr.contains("geheim"), "{result:?}");
}

/// All 255 options except TIMING-MARK are requested 100 times in both directions; WONT and DONT get no reply.
#[test]
fn every_option_is_refused_once() {
    let requests =
        |command: u8| (0..=255).filter(|&option| option != 6).flat_map(move |option| [IAC, command, option]);
    let server = TelnetServer::start(move |connection| {
        for command in [WONT, DONT] {
            connection.send(&requests(command).collect::<Vec<u8>>());
        }
        for _ in 0..100 {
            for command in [WILL, DO] {
                connection.send(&requests(command).collect::<Vec<u8>>());
            }
        }
        connection.sync_with_timing_mark();
        connection.send(b"over\r\n");
    });
    let result = run_session(b"", &[], &server.url());
    assert_eq!(result.assert_exit(0).stdout_text(), "over\n");
    let received = server.received();
    assert_eq!(received.len() % 3, 0);
    let mut received: Vec<&[u8]> = received.chunks(3).collect();
    assert_eq!(received.pop(), Some(&[IAC, WONT, 6][..]), "the reply to the timing mark is not the last one");
    for (answer, option) in
        [DONT, WONT].into_iter().flat_map(|command| (0..=255).map(move |option| (command, option)))
    {
        let count = received.iter().filter(|part| **part == [IAC, answer, option]).count();
        assert_eq!(count, usize::from(option != 6), "{answer} {option}");
    }
    assert_eq!(received.len(), 510, "unexpected data sent");
}

/// RFC 860: DO TIMING-MARK is answered each time.
#[test]
fn every_timing_mark_is_answered() {
    let server = TelnetServer::start(|connection| (0..50).for_each(|_| connection.sync_with_timing_mark()));
    run_session(b"", &[], &server.url()).assert_exit(0);
    assert_eq!(server.received(), negotiation(&[(WONT, 6); 50]));
}

/// The server changes options without waiting for replies.
#[test]
fn option_changes_cause_no_reply_loop() {
    let server = TelnetServer::start(|connection| {
        for _ in 0..200 {
            connection.send(&[IAC, WILL, 1, IAC, WONT, 1, IAC, DO, 3, IAC, DONT, 3]);
        }
        connection.sync_with_timing_mark();
    });
    run_session(b"", &[], &server.url()).assert_exit(0);
    let received = server.received();
    let count = |command, option| received.chunks(3).filter(|part| *part == [IAC, command, option]).count();
    assert_eq!((count(DONT, 1), count(WONT, 3), received.len()), (1, 1, 9));
}

/// Terminal type, speed, display, environment, location and window size are not sent.
#[test]
fn subnegotiation_reveals_no_terminal_or_environment() {
    for option in [24, 32, 35, 36, 39, 23, 31, 34, 37, 42] {
        let server = TelnetServer::start(move |connection| {
            connection.send(&[IAC, DO, option, IAC, 250, option, 1, IAC, 240]);
            connection.send(&[IAC, 250, option, 1, 0, 3, IAC, IAC, b'x', IAC, 240, b'!', b'\r', b'\n']);
            connection.sync_with_timing_mark();
        });
        let script = "printf '' | TERM=canary USER=canary DISPLAY=canary \"$F\" --retry 0 --connect \"$1\"";
        let result = run_shell(script, [server.url()]);
        assert_eq!(result.assert_exit(0).stdout_text(), "!\n", "{option}");
        assert_eq!(server.received(), negotiation(&[(WONT, option), (WONT, 6)]), "{option}");
    }
}

#[test]
fn received_line_ends_and_commands_are_converted() {
    let rows: [(&[u8], &[u8]); 12] = [
        (b"one\r\ntwo\r\n", b"one\ntwo\n"),
        (b"a\r\0b\r\n", b"a\rb\n"),
        (b"a\r\n\r\nb", b"a\n\nb"),
        (b"a\nb\n", b"a\nb\n"),
        (b"a\xff\xffb\xff\xff\xff\xff", b"a\xffb\xff\xff"),
        (b"a\xff\xf1b\xff\xf9c\xff\xf2d\xff\xefe", b"abcde"),
        (b"\xff\xf3\xff\xf4\xff\xf5\xff\xf7\xff\xf8x", b"x"),
        (b"\xff\xfa\x18\x01\xff\xf0a", b"a"),
        (b"\xff\xfa\xff\xff\xff\xff\xf0\xff\xf0a", b"a"),
        (b"\x1b]0;title\x07\x9b\x01", b"\x1b]0;title\x07\x9b\x01"),
        ("gr\u{fc}\u{df}e\u{202e}".as_bytes(), "gr\u{fc}\u{df}e\u{202e}".as_bytes()),
        (b"x\xff\xf6", b"x"),
    ];
    check_in_parallel(&rows, 4, |&(sent, shown)| {
        for chunk_size in [0, 1, 2, 3] {
            let server = TelnetServer::start(move |connection| connection.send_in_chunks(sent, chunk_size));
            let result = run_session(b"", &[], &server.url());
            let context = format!("{} by {chunk_size}", sent.escape_ascii());
            crate::support::ensure(result.exit == 0, || format!("{context}: {result:?}"))?;
            crate::support::ensure(result.stdout == shown, || {
                format!("{context}: {}", result.stdout.escape_ascii())
            })?;
        }
        Ok(())
    });
}

#[test]
fn input_lines_are_sent_with_crlf_and_iac_is_doubled() {
    for (typed, sent) in [
        (&b"quit\n"[..], &b"quit\r\n"[..]),
        (b"one\ntwo\n", b"one\r\ntwo\r\n"),
        (b"no end", b"no end"),
        (b"a\rb\n", b"a\r\0b\r\n"),
        (b"\xff\xfb\x01\n", b"\xff\xff\xfb\x01\r\n"),
        ("gr\u{fc}\u{df}e\n".as_bytes(), "gr\u{fc}\u{df}e\r\n".as_bytes()),
        // Ctrl-] and Ctrl-C have a meaning only on a terminal; in a pipe they are data.
        (b"a\x1db\x03\n", b"a\x1db\x03\r\n"),
        (b"\n\n", b"\r\n\r\n"),
        (b"", b""),
        // CR LF in the input is one line end.
        (b"one\r\ntwo\r\n", b"one\r\ntwo\r\n"),
    ] {
        let count = sent.len();
        let server = TelnetServer::start(move |connection| connection.receive_at_least(count));
        run_session(typed, &[], &server.url()).assert_exit(0);
        let received = server.received();
        assert_eq!(received, sent, "{} became {}", typed.escape_ascii(), received.escape_ascii());
    }
}

/// The end of standard input does not end the session.
#[test]
fn session_ends_when_the_server_closes() {
    let script = Script::parse("S: 220 hello\nC: quit\n@stall 300\nS: bye\n@close").expect("parse script");
    let server = ScriptServer::start(vec![script]).expect("start server");
    let url = format!("telnet://127.0.0.1:{}/", server.addr().port());
    let result = run_shell("printf 'quit\\n' | \"$F\" --retry 0 --connect \"$1\"", [&url]);
    assert_eq!(
        (result.assert_exit(0).stdout_text().as_str(), server.failures()),
        ("220 hello\nbye\n", Vec::new())
    );
    // The session also ends if standard input still has data.
    let server = ScriptServer::start(vec![Script::parse("S: go away\n@close").expect("parse script")])
        .expect("start server");
    let url = format!("telnet://127.0.0.1:{}/", server.addr().port());
    for input in ["yes;", "sleep 4 2>/dev/null &", "cat /dev/zero;"] {
        let start = Instant::now();
        let result = run_shell(&format!("{{ {input} }} | \"$F\" --retry 0 --connect \"$1\""), [&url]);
        assert!(start.elapsed() < Duration::from_secs(3), "{input}: {result:?}");
        assert_eq!(result.assert_exit(0).stdout_text(), "go away\n", "{input}");
    }
}

#[test]
fn max_time_ends_a_session() {
    let server = TelnetServer::start(|connection| {
        connection.send(b"one\r\n");
        connection.receive_to_end();
    });
    let start = Instant::now();
    let result = run_session(b"", &["-m", "0.4"], &server.url());
    assert_eq!(result.assert_exit(28).stdout_text(), "one\n");
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    // The time limit also applies while the server keeps sending.
    let server = TelnetServer::start(|connection| while connection.try_send(b"more\r\n") {});
    let start = Instant::now();
    run_session(b"", &["-m", "0.4"], &server.url()).assert_exit(28);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn signal_ends_a_session() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let server = TelnetServer::start(|connection| connection.receive_to_end());
        let child = spawn_fetch_url(["--connect", &server.url()]);
        assert!(
            crate::support::wait_until(Duration::from_secs(5), || server.session_count() == 1),
            "the client did not connect"
        );
        crate::support::send_signal(&child, name);
        let result: RunResult = wait_for_exit(child);
        assert_eq!(result.exit, 128 + number, "{result:?}");
    }
}
