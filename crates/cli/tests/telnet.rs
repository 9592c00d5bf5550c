//! `telnet:`: what is advised, what is refused, and what goes over the wire of a session (SEMANTICS §7).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;
#[path = "support/telnet_peer.rs"]
mod telnet_peer;

use std::time::{Duration, Instant};

use fetch_url_tests::{HttpReply, Script, ScriptServer, Terminal};
use support::{BINARY, Ran, ended, fetch, fetch_in, in_parallel, names, serving, shell, started};
use telnet_peer::{DO, DONT, IAC, Peer, WILL, WONT, answers, talk};

/// The advice as JSON of URLs that name no server that exists.
fn advice(url: &str) -> String {
    fetch(["--format", "json", url]).exits(0).text()
}

#[test]
fn what_is_advised() {
    for (url, parts) in [
        ("telnet://h", &[r#""host":"h""#, r#""port":23,"#, r#""command":"telnet h 23""#][..]),
        ("telnet://h:/", &[r#""port":23,"#]),
        ("TELNET://H.example:2323/", &[r#""port":2323"#, "2323\""]),
        ("telnet://joe@h/", &[r#""user":"joe""#, r#""has_password":false"#, "telnet -l joe h 23"]),
        ("telnet://joe:geheim@h/", &[r#""user":"joe""#, r#""has_password":true"#]),
        // Empty is not absent (§3.1).
        ("telnet://joe:@h/", &[r#""has_password":true"#]),
        ("telnet://:geheim@h/", &[r#""has_password":true"#]),
        ("telnet://@h/", &["telnet h 23\"", r#""has_password":false"#]),
        ("telnet://h/", &[r#""has_password":false"#]),
        ("telnet://127.0.0.1:9999/", &["telnet 127.0.0.1 9999"]),
        ("telnet://j%6Fe@h/", &[r#""user":"joe""#]),
        // No telnet program takes an address in brackets.
        ("telnet://[::1]:2323/", &["telnet ::1 2323\""]),
    ] {
        let json = advice(url);
        for part in parts {
            assert!(json.contains(part), "{url}: no {part} in {json}");
        }
        assert!(!json.contains("geheim"), "{json}");
    }
    assert!(!advice("telnet://h/").contains(r#""user":"""#));
    for bad in [
        "telnet:",
        "telnet:h",
        "telnet://",
        "telnet://h:0/",
        "telnet://h:65536/",
        "telnet://-h/",
        "telnet://h/x",
    ] {
        fetch([bad]).exits(3);
    }
}

/// The note, the words, and never the password: whoever looks, wherever.
#[test]
fn the_password_is_named_not_printed() {
    let here = tempfile::tempdir().expect("a directory");
    let url = "telnet://joe:geheim@127.0.0.1:2323/";
    for words in [
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
        let ran = fetch_in(here.path(), [words, &[url]].concat());
        assert!(!ran.text().contains("geheim") && !ran.stderr.contains("geheim"), "{words:?}: {ran:?}");
    }
    for verb in [&["explain"][..], &["explain", "--json"]] {
        let ran = fetch([verb, &[url]].concat());
        assert!(!ran.text().contains("geheim") && !ran.stderr.contains("geheim"), "{verb:?}: {ran:?}");
        assert!(ran.text().contains("telnet -l joe 127.0.0.1 2323"), "{ran:?}");
    }
    let trace = here.path().join("trace");
    assert!(!std::fs::read_to_string(trace).unwrap_or_default().contains("geheim"));
    let ran = fetch([url]);
    assert!(ran.exits(0).text().contains("password") && ran.text().contains("--connect"), "{ran:?}");
    assert!(ran.text().lines().all(|line| line.len() <= 80), "{ran:?}");
    // Always a note that both are advice, also of a URL that has neither.
    for url in [url, "telnet://h/"] {
        fetch([url]).exits(0).says("note: ").says("advice");
    }
}

/// What a person would paste into a shell does what it says.
#[test]
fn the_command_is_quoted() {
    let here = tempfile::tempdir().expect("a directory");
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
        let text = fetch([format!("telnet://{written}@h/")]).exits(0).text();
        let command = text.lines().find_map(|line| line.strip_prefix("  ")).expect("a command").to_owned();
        let script = format!("cd \"$1\"; telnet() {{ printf '<%s>' \"$@\"; }}\n{command}");
        let said = shell(&script, [here.path()]).text();
        assert_eq!(said, format!("<-l><{user}><h><23>"), "{command}");
    }
    assert_eq!(names(here.path()), [""; 0]);
}

#[test]
fn octets_that_would_change_the_session() {
    let peer = Peer::start(|_| ());
    for octet in ["%0D", "%0a", "%00", "%FF"] {
        for login in [format!("a{octet}b"), format!("{octet}:p"), format!("u:p{octet}"), format!(":{octet}")]
        {
            let url = peer.url_with(&login);
            for words in [&[][..], &["--connect"], &["--format", "json"], &["--open"], &["--fail-advisory"]] {
                let ran = fetch([words, &[&url]].concat());
                assert_eq!(ran.exit, 93, "{words:?} {url}: {ran:?}");
                assert!(ran.stdout.is_empty() && !ran.stderr.contains('\r'), "{ran:?}");
            }
        }
    }
    assert_eq!(peer.sessions(), 0, "not even connected");
    // The others are no harm: they are shown, and not as they are.
    let text = advice("telnet://a%1B%07%09%7F%FE@h/");
    assert!(text.is_ascii() && !text.trim_end().contains(char::is_control), "{text:?}");
    let url = "telnet://a%1B%5D0;x%07%09%7F%C2%9B%E2%80%AEz@h/";
    let mut terminal = Terminal::run(BINARY, &[url], 80).expect("a terminal");
    assert_eq!(terminal.exit().expect("an end"), 0);
    let screen = terminal.screen();
    let is_raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!screen.contains(is_raw), "{screen:?}");
}

#[test]
fn there_is_nothing_to_store() {
    let here = tempfile::tempdir().expect("a directory");
    let peer = Peer::start(|_| ());
    for url in [peer.url(), "mailto:a@b".to_owned(), "mailto:a@b?subject=x".to_owned()] {
        for words in [
            &["-o", "x"][..],
            &["-O"],
            &["--remote-name-all"],
            &["-O", "-J"],
            &["-o", "x", "--format", "json"],
        ] {
            let ran = fetch_in(here.path(), [words, &[&url]].concat());
            ran.exits(2);
            assert!(ran.stderr.contains("no data object"), "{words:?} {url}: {ran:?}");
            assert_eq!(names(here.path()), [""; 0], "{words:?} {url}");
        }
        // Standard output has a name too.
        fetch_in(here.path(), ["-o", "-", &url]).exits(0);
        fetch_in(here.path(), ["--fail-advisory", &url]).exits(1).says("no data object");
    }
    assert_eq!(peer.sessions(), 0);
    // The others of a batch are fetched, and the first failure counts.
    let server = serving(|_| HttpReply::new(200).body("body"));
    let ran = fetch_in(here.path(), ["-o", "a", "-o", "b", &peer.url(), &server.url("/")]);
    ran.exits(2);
    assert_eq!(names(here.path()), ["b"]);
    let ran = fetch(["--fail-advisory", &peer.url(), &server.url("/")]);
    assert!(ran.exits(1).text().contains("body"));
}

#[test]
fn the_gate() {
    let peer = Peer::start(|line| line.send(b"hello\r\n"));
    let url = peer.url();
    for words in [&["--public-only"][..], &["--proto", "=http,ftp"], &["--proto", "-telnet"]] {
        fetch([&["--connect"], words, &[&url]].concat()).exits(90);
    }
    // Ports below 1024 that are not telnet's own belong to others.
    for port in [1, 25, 80, 513, 1023] {
        let ran = fetch(["--connect".to_owned(), format!("telnet://127.0.0.1:{port}/")]);
        ran.exits(90).says("--allow-port");
    }
    fetch(["--connect", "--allow-port", "1", "telnet://127.0.0.1:1/"]).exits(7);
    // Nobody is led here: it is a person's to begin a session, or to write a letter.
    let target = url.clone();
    let server = serving(move |request| {
        let target = if request.path() == "/mail" { "mailto:a@b" } else { &target };
        HttpReply::new(302).header("Location", target)
    });
    for path in ["/session", "/mail"] {
        for words in [&[][..], &["--connect"], &["--open"], &["--fail-advisory"]] {
            fetch([words, &[&server.url(path)]].concat()).exits(90);
        }
    }
    assert_eq!(peer.sessions(), 0);
    fetch(["--connect", &url]).exits(0);
    assert_eq!(peer.sessions(), 1);
}

/// Without `--connect` nothing listens for us; with it nothing is said by itself.
#[test]
fn nothing_is_sent_by_itself() {
    let peer = Peer::start(|line| {
        line.send(b"login: ");
        line.sync();
    });
    fetch([&peer.url_with("joe:geheim"), "-v"]).exits(0);
    fetch(["explain", &peer.url_with("joe:geheim")]).exits(0);
    assert_eq!(peer.sessions(), 0);
    let ran = talk(b"", &[], &peer.url_with("joe:geheim"));
    assert_eq!(ran.exits(0).text(), "login: ");
    assert_eq!(peer.seen(), answers(&[(WONT, 6)]), "only the answer that was asked for");
    assert!(!ran.stderr.contains("geheim"), "{ran:?}");
}

/// Every option, both ways, asked a hundred times: refused once, and what is no question is not answered.
#[test]
fn options_are_refused_once() {
    let asked =
        |verb: u8| (0..=255).filter(|&option| option != 6).flat_map(move |option| [IAC, verb, option]);
    let peer = Peer::start(move |line| {
        for verb in [WONT, DONT] {
            line.send(&asked(verb).collect::<Vec<u8>>());
        }
        for _ in 0..100 {
            for verb in [WILL, DO] {
                line.send(&asked(verb).collect::<Vec<u8>>());
            }
        }
        line.sync();
        line.send(b"over\r\n");
    });
    let ran = talk(b"", &[], &peer.url());
    assert_eq!(ran.exits(0).text(), "over\n");
    let seen = peer.seen();
    assert_eq!(seen.len() % 3, 0);
    let mut seen: Vec<&[u8]> = seen.chunks(3).collect();
    assert_eq!(seen.pop(), Some(&[IAC, WONT, 6][..]), "the last question was the last");
    for (answer, option) in
        [DONT, WONT].into_iter().flat_map(|verb| (0..=255).map(move |option| (verb, option)))
    {
        let count = seen.iter().filter(|part| **part == [IAC, answer, option]).count();
        assert_eq!(count, usize::from(option != 6), "{answer} {option}");
    }
    assert_eq!(seen.len(), 510, "nothing else");
}

/// DO TIMING-MARK asks how far we are, each time (RFC 860).
#[test]
fn timing_marks() {
    let peer = Peer::start(|line| (0..50).for_each(|_| line.sync()));
    talk(b"", &[], &peer.url()).exits(0);
    assert_eq!(peer.seen(), answers(&[(WONT, 6); 50]));
}

/// A server that agrees by itself, disagrees, and agrees again: no answer to an answer.
#[test]
fn no_loops() {
    let peer = Peer::start(|line| {
        for _ in 0..200 {
            line.send(&[IAC, WILL, 1, IAC, WONT, 1, IAC, DO, 3, IAC, DONT, 3]);
        }
        line.sync();
    });
    talk(b"", &[], &peer.url()).exits(0);
    let seen = peer.seen();
    let count = |verb, option| seen.chunks(3).filter(|part| *part == [IAC, verb, option]).count();
    assert_eq!((count(DONT, 1), count(WONT, 3), seen.len()), (1, 1, 9));
}

/// What a server asks by subnegotiation it does not learn (terminal, speed, display, environment, place, size).
#[test]
fn nothing_is_told() {
    for option in [24, 32, 35, 36, 39, 23, 31, 34, 37, 42] {
        let peer = Peer::start(move |line| {
            line.send(&[IAC, DO, option, IAC, 250, option, 1, IAC, 240]);
            line.send(&[IAC, 250, option, 1, 0, 3, IAC, IAC, b'x', IAC, 240, b'!', b'\r', b'\n']);
            line.sync();
        });
        let script = "printf '' | TERM=canary USER=canary DISPLAY=canary \"$F\" --retry 0 --connect \"$1\"";
        let ran = shell(script, [peer.url()]);
        assert_eq!(ran.exits(0).text(), "!\n", "{option}");
        assert_eq!(peer.seen(), answers(&[(WONT, option), (WONT, 6)]), "{option}");
    }
}

#[test]
fn line_ends_and_commands() {
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
    in_parallel(&rows, 4, |&(sent, shown)| {
        for piece in [0, 1, 2, 3] {
            let peer = Peer::start(move |line| line.send_pieces(sent, piece));
            let ran = talk(b"", &[], &peer.url());
            let what = format!("{} by {piece}", sent.escape_ascii());
            support::ensure(ran.exit == 0, || format!("{what}: {ran:?}"))?;
            support::ensure(ran.stdout == shown, || format!("{what}: {}", ran.stdout.escape_ascii()))?;
        }
        Ok(())
    });
}

#[test]
fn what_is_typed() {
    for (typed, sent) in [
        (&b"quit\n"[..], &b"quit\r\n"[..]),
        (b"one\ntwo\n", b"one\r\ntwo\r\n"),
        (b"no end", b"no end"),
        (b"a\rb\n", b"a\r\0b\r\n"),
        (b"\xff\xfb\x01\n", b"\xff\xff\xfb\x01\r\n"),
        ("gr\u{fc}\u{df}e\n".as_bytes(), "gr\u{fc}\u{df}e\r\n".as_bytes()),
        // Ctrl-] and Ctrl-C are a person's: in a pipe they are octets.
        (b"a\x1db\x03\n", b"a\x1db\x03\r\n"),
        (b"\n\n", b"\r\n\r\n"),
        (b"", b""),
        // Each of these is a line end, not a carriage return and a line end.
        (b"one\r\ntwo\r\n", b"one\r\ntwo\r\n"),
    ] {
        let count = sent.len();
        let peer = Peer::start(move |line| line.read(count));
        talk(typed, &[], &peer.url()).exits(0);
        let seen = peer.seen();
        assert_eq!(seen, sent, "{} became {}", typed.escape_ascii(), seen.escape_ascii());
    }
}

/// `printf 'quit\n' | fetch-url --connect` ends when the server closes, and not before.
#[test]
fn the_end_is_the_servers() {
    let script = Script::parse("S: 220 hello\nC: quit\n@stall 300\nS: bye\n@close").expect("a script");
    let server = ScriptServer::start(vec![script]).expect("a server");
    let url = format!("telnet://127.0.0.1:{}/", server.addr().port());
    let ran = shell("printf 'quit\\n' | \"$F\" --retry 0 --connect \"$1\"", [&url]);
    assert_eq!((ran.exits(0).text().as_str(), server.failures()), ("220 hello\nbye\n", Vec::new()));
    // Whatever there is still to say.
    let server =
        ScriptServer::start(vec![Script::parse("S: go away\n@close").expect("a script")]).expect("a server");
    let url = format!("telnet://127.0.0.1:{}/", server.addr().port());
    for input in ["yes;", "sleep 4 2>/dev/null &", "cat /dev/zero;"] {
        let began = Instant::now();
        let ran = shell(&format!("{{ {input} }} | \"$F\" --retry 0 --connect \"$1\""), [&url]);
        assert!(began.elapsed() < Duration::from_secs(3), "{input}: {ran:?}");
        assert_eq!(ran.exits(0).text(), "go away\n", "{input}");
    }
}

#[test]
fn the_time_is_respected() {
    let peer = Peer::start(|line| {
        line.send(b"one\r\n");
        line.read_all();
    });
    let began = Instant::now();
    let ran = talk(b"", &["-m", "0.4"], &peer.url());
    assert_eq!(ran.exits(28).text(), "one\n");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    // Also of a server that always has something to say.
    let peer = Peer::start(|line| while line.sends(b"more\r\n") {});
    let began = Instant::now();
    talk(b"", &["-m", "0.4"], &peer.url()).exits(28);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn signals_end_it() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let peer = Peer::start(|line| line.read_all());
        let child = started(["--connect", &peer.url()]);
        assert!(support::until(Duration::from_secs(5), || peer.sessions() == 1), "it never came");
        support::send_signal(&child, name);
        let ran: Ran = ended(child);
        assert_eq!(ran.exit, 128 + number, "{ran:?}");
    }
}
