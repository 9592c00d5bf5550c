//! The program on a terminal: control characters of a server are escaped, and the output fits the width.

use std::time::Duration;

use fetch_url_tests::{HttpResponse, HttpServer, Terminal};

use super::program::fetch_url;
use super::server::NGINX;
use super::tree::{HELLO, range};
use super::work_dir::WorkDir;

/// Runs `fetch-url` on a terminal, in this directory.
fn run(dir: &WorkDir, arguments: &[&str], columns: u16) -> Terminal {
    let mut command = std::process::Command::new(fetch_url());
    command.args(["--retry", "0"]).args(arguments).current_dir(dir.folder()).env("TERM", "xterm");
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_COLOR"] {
        command.env_remove(name);
    }
    Terminal::start(&command, columns).expect("a terminal")
}

/// Returns the terminal at the end of a run that receives this body, and the exit status.
fn shown(bytes: &'static [u8], more: &[&str]) -> (Terminal, i32) {
    let server = HttpServer::start(move |_| HttpResponse::new(200).body(bytes)).expect("a loopback server");
    let mut terminal = run(&WorkDir::new(), &[more, &[&server.url("/x")]].concat(), 80);
    let exit = terminal.exit_status().expect("an end");
    (terminal, exit)
}

#[test]
#[ignore = "needs the built program"]
fn control_characters_of_a_text_are_escaped() {
    for text in [
        &b"a\x1b]0;title\x07b\n"[..],
        b"a\x1b[2Jb\n",
        b"a\xc2\x9b31mb\n",
        b"a\x9b31mb\n",
        b"good\rbad\n",
        b"a\x08\x08b\n",
        "a\u{202e}b\u{2066}c\n".as_bytes(),
    ] {
        let (terminal, exit) = shown(text, &[]);
        assert_eq!(exit, 0, "{}", terminal.screen());
        let bytes = terminal.bytes().strip_suffix(b"\r\n").expect("a line");
        assert!(bytes.iter().all(|byte| (0x20..0x7f).contains(byte)), "{}", bytes.escape_ascii());
    }
    let (terminal, _) = shown("tab\tand \u{fc}\r\nnext\n".as_bytes(), &[]);
    assert_eq!(terminal.screen(), "tab\tand \u{fc}\nnext\n");
}

#[test]
#[ignore = "needs the built program"]
fn binary_body_on_a_terminal_exits_23_unless_requested() {
    let (terminal, exit) = shown(b"a\0b\n", &[]);
    assert_eq!(exit, 23, "{}", terminal.screen());
    assert!(!terminal.bytes().contains(&0) && terminal.screen().contains("-o"), "{}", terminal.screen());
    let (terminal, exit) = shown(b"a\0b\n", &["-o", "-"]);
    assert_eq!((exit, terminal.bytes()), (0, &b"a\0b\r\n"[..]));
}

/// Every header field, message and prompt contains text of the server.
#[test]
#[ignore = "needs the built program"]
fn control_characters_of_a_header_are_escaped() {
    let evil = b"x\xc2\x9b2J\xe2\x80\xae";
    for status in [200, 302, 401, 404, 503] {
        let reply = HttpResponse::new(status)
            .header("X-Evil", evil)
            .header("Content-Type", evil)
            .header("WWW-Authenticate", [b"Basic realm=\"", &evil[..], b"\""].concat())
            .header("Content-Disposition", [b"attachment; filename=\"", &evil[..], b"\""].concat())
            .header("Location", [b"/", &evil[..]].concat());
        let server = HttpServer::start(move |_| reply.clone()).expect("a loopback server");
        for options in [&["-vv"][..], &["-i", "--no-fail"], &["-I"], &["-O", "-J"]] {
            // If a login is required, the `--askpass` program fails.
            let nobody = ["--askpass", "/bin/false"];
            let mut terminal = run(&WorkDir::new(), &[options, &nobody, &[&server.url("/x")]].concat(), 80);
            terminal.exit_status().expect("an end");
            let shown = String::from_utf8_lossy(terminal.bytes()).into_owned();
            let bad = shown.chars().find(|c| matches!(c, '\u{80}'..='\u{9f}' | '\u{202e}'));
            assert_eq!(bad, None, "{status} {options:?}: {}", shown.escape_debug());
        }
    }
}

/// Returns the length of the longest displayed line.
fn widest(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            // A control sequence ends with a letter.
            '\x1b' => drop(rest.by_ref().find(char::is_ascii_alphabetic)),
            c => plain.push(c),
        }
    }
    plain.split(['\r', '\n']).map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
#[ignore = "needs the servers of docker/"]
fn progress_bar_fits_the_width() {
    let slow = |_: &_| HttpResponse::new(200).body(range()).drip(8000, Duration::from_millis(80));
    let server = HttpServer::start(slow).expect("a loopback server");
    for columns in [60, 80, 120] {
        let dir = WorkDir::new();
        let mut terminal = run(&dir, &["-o", "here", &server.url("/range.txt")], columns);
        assert_eq!(terminal.exit_status().expect("an end"), 0, "{}", terminal.screen());
        assert_eq!(dir.read("here"), range());
        assert!(terminal.screen().contains('%'), "{}", terminal.screen());
        let widest = widest(terminal.bytes());
        assert!(
            (20..=usize::from(columns)).contains(&widest),
            "{widest}: {}",
            terminal.bytes().escape_ascii()
        );
    }
}

/// If the object is written to the terminal, no progress bar is drawn.
#[test]
#[ignore = "needs the servers of docker/"]
fn progress_is_not_drawn_into_the_output_or_with_silent() {
    let dir = WorkDir::new();
    let mut terminal = run(&dir, &[&NGINX.http("/drip")], 80);
    assert_eq!(terminal.exit_status().expect("an end"), 0);
    assert_eq!(terminal.screen(), "one\ntwo\nthree\n");
    for quiet in ["-s", "--no-progress-meter"] {
        let mut terminal = run(&dir, &[quiet, "-o", "here", &NGINX.http("/slow/range.txt")], 80);
        assert_eq!(terminal.exit_status().expect("an end"), 0);
        assert_eq!(terminal.screen(), "", "{quiet}");
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn ctrl_c_keeps_a_resumable_part_and_shows_the_cursor() {
    let dir = WorkDir::new();
    let mut terminal = run(&dir, &["-o", "here", &NGINX.http("/slow/big.bin")], 80);
    terminal.expect("big.bin").expect("it has begun");
    std::thread::sleep(Duration::from_millis(300));
    terminal.type_bytes(&[3]).expect("Ctrl-C");
    assert_eq!(terminal.exit_status().expect("an end"), -2, "{}", terminal.screen());
    dir.assert_entries(&["here.fetch-url.json", "here.fetch-url.part"]);
    // The last change of the cursor makes it visible.
    let bytes = terminal.bytes();
    let last = |word: &[u8]| bytes.windows(word.len()).rposition(|window| window == word);
    assert!(last(b"\x1b[?25l") <= last(b"\x1b[?25h"), "{}", bytes.escape_ascii());
}

/// The prompt names the user, and the typed password is not shown.
#[test]
#[ignore = "needs the servers of docker/"]
fn typed_password_is_not_shown() {
    let dir = WorkDir::new();
    let url = NGINX.http("/auth/hello.txt");
    let mut terminal = run(&dir, &["-vv", "-u", "alice", &url], 80);
    terminal.expect("alice").expect("the user is named");
    terminal.type_secret("secret").expect("the echo is off");
    assert_eq!(terminal.exit_status().expect("an end"), 0, "{}", terminal.screen());
    let screen = terminal.screen();
    assert_eq!(screen.matches(HELLO).count(), 1, "{screen}");
    assert!(!screen.contains("secret") && !screen.contains("YWxpY2U6c2VjcmV0"), "{screen}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn ctrl_c_at_the_prompt_leaves_no_file() {
    let dir = WorkDir::new();
    let mut terminal = run(&dir, &["-u", "alice", "-o", "here", &NGINX.http("/auth/hello.txt")], 80);
    terminal.expect("assword").expect("it asks");
    terminal.type_bytes(&[3]).expect("Ctrl-C");
    let exit = terminal.exit_status().expect("an end");
    assert!([-2, 67].contains(&exit), "{exit}: {}", terminal.screen());
    dir.assert_entries(&[]);
}
