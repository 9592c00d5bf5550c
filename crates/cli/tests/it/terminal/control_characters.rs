//! Control characters from a server (ESC, C1, CR, bidirectional controls) are escaped on terminals, in logs and in
//! JSON (docs/spec/faults.md, rows 18, 76 and 77).

use std::fs;
use std::process::Command;

use crate::support::{
    BINARY, check_in_parallel, ensure, entry_names, http_server, run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, Terminal};

/// An escape sequence that changes the title of the window, CSI as a byte and as a character, BEL, DEL, bidirectional
/// controls, and U+2028, which some programs take for a line end.
const HOSTILE: &[u8] =
    b"a\x1b]0;owned\x07b\x9b31mc\xc2\x9b31md\x7fe\xe2\x80\xaef\xe2\x81\xa6g\xe2\x80\xa8h\x08i";
/// The same without the characters that are invalid in HTTP headers (RFC 9110 §5.5).
const HOSTILE_BUT_VALID: &[u8] = b"a\x9b31mb\xc2\x9b31mc\xe2\x80\xaed\xe2\x81\xa6e\xe2\x80\xa8f\tg";

/// Returns `true` if a terminal acts on the character, or if it can deceive a reader.
fn is_unescaped(character: char) -> bool {
    matches!(character,
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// Returns `Err` with the 30 characters before the first unescaped control character.
fn check_escaped(bytes: &[u8], case: &str) -> Result<(), String> {
    let Ok(text) = str::from_utf8(bytes) else {
        return Err(format!("{case} is not UTF-8: {}", bytes.escape_ascii()));
    };
    let Some((at, character)) = text.char_indices().find(|&(_, character)| is_unescaped(character)) else {
        return Ok(());
    };
    let before: String = text[..at].chars().rev().take(30).collect::<Vec<_>>().into_iter().rev().collect();
    Err(format!("{case}: unescaped {character:?} after {before:?}"))
}

/// Joins all errors into one.
fn join_errors(results: impl IntoIterator<Item = Result<(), String>>) -> Result<(), String> {
    let results: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    ensure(results.is_empty(), || results.join("\n"))
}

/// Starts one server for each part of a response that can contain the hostile bytes.
fn hostile_servers(hostile: &'static [u8]) -> Vec<(&'static str, HttpServer)> {
    let server = |before: &'static str, after: &'static str| {
        http_server(move |_: &HttpRequest| {
            HttpResponse::raw([before.as_bytes(), hostile, after.as_bytes()].concat())
        })
    };
    vec![
        ("reason phrase of 200", server("HTTP/1.1 200 ", "\r\nContent-Length: 2\r\n\r\nok")),
        ("reason phrase of 404", server("HTTP/1.1 404 ", "\r\nContent-Length: 0\r\n\r\n")),
        ("reason phrase of 503", server("HTTP/1.1 503 ", "\r\nContent-Length: 0\r\n\r\n")),
        ("header value", server("HTTP/1.1 200 OK\r\nX-Evil: ", "\r\nContent-Length: 2\r\n\r\nok")),
        ("header name", server("HTTP/1.1 200 OK\r\nX-", ": x\r\nContent-Length: 2\r\n\r\nok")),
        ("Content-Type", server("HTTP/1.1 200 OK\r\nContent-Type: text/", "\r\nContent-Length: 2\r\n\r\nok")),
        ("ETag", server("HTTP/1.1 200 OK\r\nETag: \"", "\"\r\nContent-Length: 2\r\n\r\nok")),
        (
            "path of a redirect",
            server("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/", "\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "host of a redirect",
            server("HTTP/1.1 302 Found\r\nLocation: http://", "/\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "scheme of a redirect",
            server("HTTP/1.1 302 Found\r\nLocation: x", "://h/\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "realm",
            server("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"", "\"\r\nContent-Length: 0\r\n\r\n"),
        ),
        (
            "Content-Encoding",
            server("HTTP/1.1 200 OK\r\nContent-Encoding: ", "\r\nContent-Length: 2\r\n\r\nok"),
        ),
        ("Transfer-Encoding", server("HTTP/1.1 200 OK\r\nTransfer-Encoding: ", "\r\n\r\nok")),
        ("Content-Length", server("HTTP/1.1 200 OK\r\nContent-Length: ", "\r\n\r\nok")),
        ("Retry-After", server("HTTP/1.1 429 No\r\nRetry-After: ", "\r\nContent-Length: 0\r\n\r\n")),
        ("Set-Cookie", server("HTTP/1.1 200 OK\r\nSet-Cookie: a=", "\r\nContent-Length: 2\r\n\r\nok")),
        (
            "file name in Content-Disposition",
            server(
                "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"",
                "\"\r\nContent-Length: 2\r\n\r\nok",
            ),
        ),
        ("start of the response", server("", "\r\n")),
        ("HTTP version", server("HTTP/", " 200 OK\r\n\r\n")),
        (
            "chunk extension",
            server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;", "\r\nok\r\n0\r\n\r\n"),
        ),
        (
            "trailer field",
            server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: ", "\r\n\r\n"),
        ),
    ]
}

const WRITE_OUT_FORMAT: &str = "%{json}\\n%{header_json}\\n%{url_effective} %{redirect_url} %{content_type} %{errormsg} \
    %header{x-evil} %header{location} %header{www-authenticate} %header{etag} %header{set-cookie} %{filename_effective}\\n";

/// Tests standard error, --write-out, events, trace and file names, at several levels of verbosity.
#[test]
fn control_characters_are_escaped_in_pipes_and_files() {
    let servers: Vec<_> = [HOSTILE, HOSTILE_BUT_VALID].into_iter().flat_map(hostile_servers).collect();
    check_in_parallel(&servers, 4, |(case, server)| {
        let mut results = Vec::new();
        for options in
            ["-vvv", "--format json", "--no-fail --no-location -v", "--compressed -b no-such --digest"]
        {
            let dir = temp_dir();
            let common = [
                "--events",
                "events",
                "--trace",
                "trace",
                "--connect-timeout",
                "2",
                "-w",
                WRITE_OUT_FORMAT,
                "-O",
                "-J",
            ];
            let url = server.url("/x");
            let result =
                run_fetch_url_in(dir.path(), options.split_whitespace().chain(common).chain([url.as_str()]));
            let case = format!("{case} {options}");
            results.push(check_escaped(result.stderr.as_bytes(), &format!("{case}: stderr")));
            results.push(check_escaped(&result.stdout, &format!("{case}: -w")));
            for name in ["events", "trace"] {
                let bytes =
                    fs::read(dir.path().join(name)).map_err(|error| format!("{case}: {name}: {error}"))?;
                results.push(check_escaped(&bytes, &format!("{case}: {name}")));
            }
            for name in entry_names(dir.path()) {
                results.push(check_escaped(name.as_bytes(), &format!("{case}: file name")));
            }
        }
        join_errors(results)
    });
}

/// A CR in the response does not start a new line in standard error, events or the trace.
#[test]
fn carriage_return_from_server_starts_no_line() {
    let server = http_server(|_| {
        HttpResponse::raw(
            "HTTP/1.1 404 x\rfetch-url: note: all is well\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n",
        )
    });
    let dir = temp_dir();
    let result =
        run_fetch_url_in(dir.path(), ["-v", "--events", "events", "--trace", "trace", &server.url("/")]);
    assert_ne!(result.exit, 0);
    let lines =
        |text: &str| text.split(['\n', '\r']).filter(|line| line.starts_with("fetch-url: note")).count();
    assert_eq!(lines(&result.stderr), 0, "{}", result.stderr);
    let events = fs::read_to_string(dir.path().join("events")).expect("events");
    assert!(events.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{events}");
}

/// Runs fetch-url in a terminal and returns its exit status and the bytes that it wrote.
fn run_in_terminal(arguments: &[&str]) -> (i32, Vec<u8>) {
    let dir = temp_dir();
    let mut command = Command::new(BINARY);
    command
        .args(["--retry", "0", "--askpass", "/bin/false"])
        .args(arguments)
        .current_dir(dir.path())
        .env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&command, 100).expect("a terminal");
    let exit = terminal.exit_status().expect("an end");
    (exit, terminal.bytes().to_vec())
}

/// Replaces CR LF by LF: the terminal driver adds the CR.
fn with_lf_line_ends(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n").into_bytes()
}

#[test]
fn headers_are_escaped_on_a_terminal() {
    let servers: Vec<_> = [HOSTILE, HOSTILE_BUT_VALID].into_iter().flat_map(hostile_servers).collect();
    check_in_parallel(&servers, 4, |(case, server)| {
        let mut results = Vec::new();
        for options in [
            "-i -v",
            "-s -w %{header_json}%{json} -o /dev/null",
            "-I --format json",
            "-i -o -",
            "-D - -o /dev/null",
        ] {
            let url = server.url("/x");
            let arguments: Vec<&str> = options.split_whitespace().chain([url.as_str()]).collect();
            results.push(check_escaped(
                &with_lf_line_ends(&run_in_terminal(&arguments).1),
                &format!("{case} {options}"),
            ));
        }
        join_errors(results)
    });
}

/// Text is escaped on a terminal, but not in a pipe and with `-o -`.
#[test]
fn text_body_is_escaped_on_a_terminal_only() {
    let text = [b"first\r\n\tsecond \xc3\xa9 ", HOSTILE, b" end\n"].concat();
    let body = text.clone();
    let server = http_server(move |_| {
        HttpResponse::new(200).header("Content-Type", "text/plain").body(body.as_slice())
    });
    let url = server.url("/x");
    let (exit, bytes) = run_in_terminal(&["-s", &url]);
    assert_eq!(exit, 0);
    let lines = with_lf_line_ends(&bytes);
    check_escaped(&lines, "text").expect("escaped text");
    let lines = String::from_utf8_lossy(&lines);
    assert!(lines.starts_with("first\n\tsecond \u{e9} ") && lines.ends_with(" end\n"), "{lines}");
    assert!(
        run_fetch_url_in("/".as_ref(), [&url]).assert_exit(0).stdout == text,
        "a pipe does not get the original bytes"
    );
    let (exit, bytes) = run_in_terminal(&["-s", "-o", "-", &url]);
    assert!(exit == 0 && bytes.windows(4).any(|window| window == b"\x1b]0;"), "{}", bytes.escape_ascii());
}

/// A character and an escape sequence are split between two chunks.
#[test]
fn characters_split_between_chunks_are_escaped() {
    let server = http_server(|_| {
        HttpResponse::new(200).chunked(
            [b"caf\xc3".to_vec(), b"\xa9 \xc2".to_vec(), b"\x9b31m \xe2\x80".to_vec(), b"\xae.\n".to_vec()]
                .to_vec(),
        )
    });
    let (exit, bytes) = run_in_terminal(&["-s", &server.url("/x")]);
    let lines = with_lf_line_ends(&bytes);
    check_escaped(&lines, "chunks").expect("escaped text");
    let lines = String::from_utf8_lossy(&lines);
    assert!(exit == 0 && lines.starts_with("caf\u{e9} ") && lines.ends_with(".\n"), "{lines}");
}

/// As in curl, binary data is not written to a terminal; the message names `-o`.
#[test]
fn binary_body_on_a_terminal_exits_with_23() {
    let server = http_server(|_| HttpResponse::new(200).body(b"\x7fELF\0\0\x01\x1b[2Jxyz".as_slice()));
    let url = server.url("/x");
    let (exit, bytes) = run_in_terminal(&[&url]);
    let output = String::from_utf8_lossy(&bytes).into_owned();
    assert!(exit == 23 && output.contains("binary") && output.contains("-o"), "{exit} {output}");
    check_escaped(&with_lf_line_ends(&bytes), "error message").expect("no binary data");
    let (exit, bytes) = run_in_terminal(&["-s", "-o", "-", &url]);
    assert!(exit == 0 && bytes.windows(5).any(|window| window == b"\x7fELF\0"), "{}", bytes.escape_ascii());
    assert_eq!(
        run_fetch_url_in("/".as_ref(), [&url]).assert_exit(0).stdout.len(),
        14,
        "a pipe does not get the binary data"
    );
}

/// A list or a metalink may come from anywhere. Its URLs are quoted by errors, hints and notes.
#[test]
fn url_of_a_list_or_document_is_escaped_in_errors_and_hints() {
    let url = "htp://x/\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}q";
    let dir = temp_dir();
    fs::write(dir.path().join("list"), format!("{url}\thidden\nhttp://127.0.0.1:1/ {url}\tx\n"))
        .expect("write file");
    let file = format!("<file name=\"x\"><url>{}</url></file>", url.replace(['\u{1b}', '\u{7}'], "&#x9b;"));
    let document = format!("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">{file}</metalink>");
    fs::write(dir.path().join("x.meta4"), document).expect("write file");
    for options in [["--input-file", "list"], ["--metalink", "x.meta4"]] {
        let result = run_fetch_url_in(dir.path(), ["--retry", "0"].iter().chain(&options));
        assert_ne!(result.exit, 0, "{options:?}");
        assert!(result.stderr.contains("did you mean"), "{}", result.stderr);
        check_escaped(result.stderr.as_bytes(), options[0]).expect("escaped");
    }
}
