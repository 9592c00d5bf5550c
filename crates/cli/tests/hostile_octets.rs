//! What a peer says never reaches a terminal, a log or JSON as it came: ESC, C1, CR, bidi (SECURITY.md, rows 18,
//! 76 and 77).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::process::Command;

use fetch_url_tests::{HttpReply, HttpRequest, HttpServer, Terminal};
use support::{BINARY, fetch_in, in_parallel, serving};

/// ESC with a sequence that changes the title, C1's CSI as an octet and as a character, a bell, DEL, what turns
/// the direction of writing, and what begins a second line where CR or U+2028 is taken for a line end.
const EVIL: &[u8] =
    b"a\x1b]0;owned\x07b\x9b31mc\xc2\x9b31md\x7fe\xe2\x80\xaef\xe2\x81\xa6g\xe2\x80\xa8h\x08i";
/// The same without what no parser of HTTP lets through (RFC 9110 §5.5).
const OBSCURE: &[u8] = b"a\x9b31mb\xc2\x9b31mc\xe2\x80\xaed\xe2\x81\xa6e\xe2\x80\xa8f\tg";

/// Whether a terminal would obey, or a reader be deceived.
fn is_raw(character: char) -> bool {
    matches!(character,
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// `Err` when something raw is in the text, with what is around it.
fn is_safe(octets: &[u8], what: &str) -> Result<(), String> {
    let Ok(text) = str::from_utf8(octets) else {
        return Err(format!("{what} is not UTF-8: {}", octets.escape_ascii()));
    };
    let Some((at, character)) = text.char_indices().find(|&(_, character)| is_raw(character)) else {
        return Ok(());
    };
    let around: String = text[..at].chars().rev().take(30).collect::<Vec<_>>().into_iter().rev().collect();
    Err(format!("{what} has a raw {character:?} behind {around:?}"))
}

/// All complaints as one.
fn together(told: impl IntoIterator<Item = Result<(), String>>) -> Result<(), String> {
    let told: Vec<String> = told.into_iter().filter_map(Result::err).collect();
    support::ensure(told.is_empty(), || told.join("\n"))
}

/// The places of an answer where the octets can be.
fn replies(evil: &'static [u8]) -> Vec<(&'static str, HttpServer)> {
    let raw = |begin: &'static str, end: &'static str| {
        serving(move |_: &HttpRequest| HttpReply::raw([begin.as_bytes(), evil, end.as_bytes()].concat()))
    };
    vec![
        ("the words of a status", raw("HTTP/1.1 200 ", "\r\nContent-Length: 2\r\n\r\nok")),
        ("the words of an error", raw("HTTP/1.1 404 ", "\r\nContent-Length: 0\r\n\r\n")),
        ("the words of a 503", raw("HTTP/1.1 503 ", "\r\nContent-Length: 0\r\n\r\n")),
        ("a field", raw("HTTP/1.1 200 OK\r\nX-Evil: ", "\r\nContent-Length: 2\r\n\r\nok")),
        ("the name of a field", raw("HTTP/1.1 200 OK\r\nX-", ": x\r\nContent-Length: 2\r\n\r\nok")),
        ("a type", raw("HTTP/1.1 200 OK\r\nContent-Type: text/", "\r\nContent-Length: 2\r\n\r\nok")),
        ("an entity tag", raw("HTTP/1.1 200 OK\r\nETag: \"", "\"\r\nContent-Length: 2\r\n\r\nok")),
        (
            "a redirect",
            raw("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/", "\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "the host of a redirect",
            raw("HTTP/1.1 302 Found\r\nLocation: http://", "/\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "the scheme of a redirect",
            raw("HTTP/1.1 302 Found\r\nLocation: x", "://h/\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "a realm",
            raw("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"", "\"\r\nContent-Length: 0\r\n\r\n"),
        ),
        ("a coding", raw("HTTP/1.1 200 OK\r\nContent-Encoding: ", "\r\nContent-Length: 2\r\n\r\nok")),
        ("a transfer coding", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: ", "\r\n\r\nok")),
        ("a length", raw("HTTP/1.1 200 OK\r\nContent-Length: ", "\r\n\r\nok")),
        ("a time to wait", raw("HTTP/1.1 429 No\r\nRetry-After: ", "\r\nContent-Length: 0\r\n\r\n")),
        ("a cookie", raw("HTTP/1.1 200 OK\r\nSet-Cookie: a=", "\r\nContent-Length: 2\r\n\r\nok")),
        (
            "a name",
            raw(
                "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"",
                "\"\r\nContent-Length: 2\r\n\r\nok",
            ),
        ),
        ("a greeting", raw("", "\r\n")),
        ("a version", raw("HTTP/", " 200 OK\r\n\r\n")),
        ("a chunk", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;", "\r\nok\r\n0\r\n\r\n")),
        (
            "a last field",
            raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: ", "\r\n\r\n"),
        ),
    ]
}

const SAID: &str = "%{json}\\n%{header_json}\\n%{url_effective} %{redirect_url} %{content_type} %{errormsg} \
    %header{x-evil} %header{location} %header{www-authenticate} %header{etag} %header{set-cookie} %{filename_effective}\\n";

/// Everything that is said of a transfer in a pipe or a file, at every loudness.
#[test]
fn never_raw_in_pipes_and_files() {
    let servers: Vec<_> = [EVIL, OBSCURE].into_iter().flat_map(replies).collect();
    in_parallel(&servers, 4, |(what, server)| {
        let mut told = Vec::new();
        for words in
            ["-vvv", "--format json", "--no-fail --no-location -v", "--compressed -b no-such --digest"]
        {
            let here = tempfile::tempdir().expect("a directory");
            let common =
                ["--events", "events", "--trace", "trace", "--connect-timeout", "2", "-w", SAID, "-O", "-J"];
            let url = server.url("/x");
            let ran = fetch_in(here.path(), words.split_whitespace().chain(common).chain([url.as_str()]));
            let what = format!("{what} {words}");
            told.push(is_safe(ran.stderr.as_bytes(), &format!("{what}: stderr")));
            told.push(is_safe(&ran.stdout, &format!("{what}: -w")));
            for name in ["events", "trace"] {
                let octets =
                    fs::read(here.path().join(name)).map_err(|error| format!("{what}: {name}: {error}"))?;
                told.push(is_safe(&octets, &format!("{what}: {name}")));
            }
            for name in support::names(here.path()) {
                told.push(is_safe(name.as_bytes(), &format!("{what}: the name of a file")));
            }
        }
        together(told)
    });
}

/// One event, one line; one line of the dialogue, one line of the trace.
#[test]
fn no_lines_of_their_own() {
    let server = serving(|_| {
        HttpReply::raw("HTTP/1.1 404 x\rfetch-url: note: all is well\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n")
    });
    let here = tempfile::tempdir().expect("a directory");
    let ran = fetch_in(here.path(), ["-v", "--events", "events", "--trace", "trace", &server.url("/")]);
    assert_ne!(ran.exit, 0);
    let lines =
        |text: &str| text.split(['\n', '\r']).filter(|line| line.starts_with("fetch-url: note")).count();
    assert_eq!(lines(&ran.stderr), 0, "{}", ran.stderr);
    let events = fs::read_to_string(here.path().join("events")).expect("events");
    assert!(events.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{events}");
}

/// A terminal with the program in it: its exit status, and all it was shown.
fn shown(arguments: &[&str]) -> (i32, Vec<u8>) {
    let here = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(BINARY);
    command
        .args(["--retry", "0", "--askpass", "/bin/false"])
        .args(arguments)
        .current_dir(here.path())
        .env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&command, 100).expect("a terminal");
    let exit = terminal.exit().expect("an end");
    (exit, terminal.octets().to_vec())
}

/// The terminal itself ends its lines with CR LF.
fn without_line_ends(octets: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(octets).replace("\r\n", "\n").into_bytes()
}

#[test]
fn heads_on_a_terminal() {
    let servers: Vec<_> = [EVIL, OBSCURE].into_iter().flat_map(replies).collect();
    in_parallel(&servers, 4, |(what, server)| {
        let mut told = Vec::new();
        for words in ["-i -v", "-s -w %{header_json}%{json} -o /dev/null", "-I --format json"] {
            let url = server.url("/x");
            let arguments: Vec<&str> = words.split_whitespace().chain([url.as_str()]).collect();
            told.push(is_safe(&without_line_ends(&shown(&arguments).1), &format!("{what} {words}")));
        }
        together(told)
    });
}

/// The object itself: text is made safe, and stays as it is in a pipe or with -o -.
#[test]
fn objects_on_a_terminal() {
    let text = [b"first\r\n\tsecond \xc3\xa9 ", EVIL, b" end\n"].concat();
    let body = text.clone();
    let server =
        serving(move |_| HttpReply::new(200).header("Content-Type", "text/plain").body(body.as_slice()));
    let url = server.url("/x");
    let (exit, octets) = shown(&["-s", &url]);
    assert_eq!(exit, 0);
    let lines = without_line_ends(&octets);
    is_safe(&lines, "text").expect("text is made safe");
    let lines = String::from_utf8_lossy(&lines);
    assert!(lines.starts_with("first\n\tsecond \u{e9} ") && lines.ends_with(" end\n"), "{lines}");
    assert!(fetch_in("/".as_ref(), [&url]).exits(0).stdout == text, "a pipe gets the octets untouched");
    let (exit, octets) = shown(&["-s", "-o", "-", &url]);
    assert!(exit == 0 && octets.windows(4).any(|window| window == b"\x1b]0;"), "{}", octets.escape_ascii());
}

/// A character, and an escape, in two pieces.
#[test]
fn pieces_on_a_terminal() {
    let server = serving(|_| {
        HttpReply::new(200).chunked(
            [b"caf\xc3".to_vec(), b"\xa9 \xc2".to_vec(), b"\x9b31m \xe2\x80".to_vec(), b"\xae.\n".to_vec()]
                .to_vec(),
        )
    });
    let (exit, octets) = shown(&["-s", &server.url("/x")]);
    let lines = without_line_ends(&octets);
    is_safe(&lines, "pieces").expect("text is made safe");
    let lines = String::from_utf8_lossy(&lines);
    assert!(exit == 0 && lines.starts_with("caf\u{e9} ") && lines.ends_with(".\n"), "{lines}");
}

/// Refused like curl: 23, with the way out.
#[test]
fn binary_on_a_terminal() {
    let server = serving(|_| HttpReply::new(200).body(b"\x7fELF\0\0\x01\x1b[2Jxyz".as_slice()));
    let url = server.url("/x");
    let (exit, octets) = shown(&[&url]);
    let said = String::from_utf8_lossy(&octets).into_owned();
    assert!(exit == 23 && said.contains("binary") && said.contains("-o"), "{exit} {said}");
    is_safe(&without_line_ends(&octets), "the refusal").expect("nothing of it is shown");
    let (exit, octets) = shown(&["-s", "-o", "-", &url]);
    assert!(exit == 0 && octets.windows(5).any(|window| window == b"\x7fELF\0"), "{}", octets.escape_ascii());
    assert_eq!(fetch_in("/".as_ref(), [&url]).exits(0).stdout.len(), 14, "a pipe takes it");
}
