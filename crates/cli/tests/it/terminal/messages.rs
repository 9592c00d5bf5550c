//! The command line, its messages, `extract`, `explain` and `--help`. The snapshots are in `snapshots/`.

use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use crate::support::{
    RunResult, echo_server, entry_names, http_server, read_text_file, run_fetch_url, run_fetch_url_in,
    run_shell, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{FileHeaders, HttpRequest, HttpResponse, file_handler, pattern_vec};

#[test]
fn invalid_options_exit_with_2() {
    for arguments in [
        &["--no-such-option", "http://h/"][..],
        &[],
        &["-v"],
        &["-o"],
        &["http://h/", "-m", "x"],
        &["http://h/", "-m", "-1"],
        &["http://h/", "--max-redirs", "-2"],
        &["http://h/", "-C", "x"],
        &["http://h/", "-C", "-5"],
        &["http://h/", "--format", "xml"],
        &["http://h/", "--max-filesize", "1x"],
        &["http://h/", "-r", "0-1", "-C", "-"],
        &["http://h/", "--allow-port", "65536"],
        &["http://h/", "--cacert", "/no/such/file"],
        &["-o", "a", "-o", "b", "http://h/"],
        &["-J", "http://h/"],
        &["-X", "PO ST", "http://h/"],
        &["-H", "no colon", "http://h/"],
        &["-H", "Content-Length: 1", "http://h/"],
        &["--proto", "=htp", "http://h/"],
        &["--resolve", "h:80", "http://h/"],
        &["--connect-to", "h", "http://h/"],
        &["-x", "ftp://h", "http://h/"],
        &["-w", "%{nothing}", "http://h/"],
        &["-z", "31 Feb 2000 12:00", "http://h/"],
        &["--tls-max", "1.1", "http://h/"],
        &["--tlsv1.3", "--tls-max", "1.2", "http://h/"],
        &["--netrc-file", "/no/such/file", "http://h/"],
        &["--password-file", "/no/such/file", "-u", "u", "http://h/"],
        &["-d", "@/no/such/file", "http://h/"],
        &["-E", "/no/such/file", "http://h/"],
        &["--parallel-max", "0", "http://h/"],
        &["explain"],
        &["explain", "--no-such-option", "http://h/"],
    ] {
        let result = run_fetch_url(arguments);
        assert_eq!(result.exit, 2, "{arguments:?}: {result:?}");
        assert!(result.stdout.is_empty() && !result.stderr.is_empty(), "{arguments:?}");
        assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
    }
    let result = run_fetch_url(["--version"]);
    assert!(result.exit == 0 && result.stdout_text().starts_with("fetch-url "), "{result:?}");
}

/// Returns the character above the first caret.
fn character_above_caret(result: &RunResult) -> Option<char> {
    let lines: Vec<&str> = result.stderr.lines().collect();
    let at = lines.iter().position(|line| line.trim_start().starts_with('^'))?;
    let column = lines[at].chars().position(|character| character == '^')?;
    lines[at - 1].chars().nth(column)
}

#[test]
fn invalid_url_is_reported_with_a_caret() {
    for (url, at) in [
        ("http://ex ample/", ' '),
        ("http://h/a b", ' '),
        ("http://h/\u{e9}\u{e9}\u{e9}/a b", ' '),
        ("http://h/\u{e9}\u{44f}\u{3b1}%zz", '%'),
        ("http://h/\u{e9}%4", '%'),
        ("http://h:99999/", '9'),
        ("http://h:+80/", '+'),
        ("ftp://h/x;type=z", 't'),
    ] {
        let result = run_fetch_url([url]);
        result.assert_exit(3).assert_stderr_contains("fetch-url: ").assert_stderr_contains("not a URL");
        assert_eq!(character_above_caret(&result), Some(at), "{url}:\n{}", result.stderr);
        assert!(result.stdout.is_empty());
    }
    for url in [
        "http://",
        "http:///x",
        "http://h:0/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://a@b@c/",
        "http://h%2f/",
        "http://h\\x",
    ] {
        let result = run_fetch_url([url]);
        // If something is missing, the caret is after the end.
        assert!(result.exit == 3 && result.stderr.contains("\n    "), "{url}: {}", result.stderr);
        assert!(result.stderr.contains('^'), "{url}: {}", result.stderr);
    }
    // A path is not read as a URL.
    for text in ["/etc/passwd", "./x", "", " ", "//h/x", "user@host:path"] {
        run_fetch_url([text]).assert_exit(3);
    }
    run_with_url_bytes(b"http://h/\xff").assert_exit_in(&[2, 3]);
}

fn run_with_url_bytes(url: &[u8]) -> RunResult {
    run_fetch_url([OsStr::from_bytes(url)])
}

impl RunResult {
    #[track_caller]
    fn assert_exit_in(&self, statuses: &[i32]) {
        assert!(statuses.contains(&self.exit), "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
    }
}

#[test]
fn control_characters_of_invalid_urls_are_escaped() {
    for url in [
        "http://h/\u{1b}[31m",
        "http://h/a\nb",
        "http://h/a\rb",
        "http://h/\t",
        "http://h/\u{7f}",
        "\u{1b}x://h",
    ] {
        let result = run_fetch_url([url]);
        result.assert_exit(3);
        assert!(!result.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", result.stderr);
        let messages = result.stderr.lines().filter(|line| line.starts_with("fetch-url: ")).count();
        assert!(messages == 1 && result.stderr.lines().count() <= 4, "{:?}", result.stderr);
    }
}

#[test]
fn schemes_without_access_method_exit_with_1_and_a_reason() {
    let normalized_message = |url: &str| {
        let result = run_fetch_url([url]);
        result.assert_exit(1);
        result.stderr.replace(url, "URL").replace(url.split(':').next().unwrap_or_default(), "S")
    };
    for reserved in
        ["afs://h/x", "mid:a@b", "cid:a@b", "nfs://h/x", "tn3270://h/", "mailserver:x", "z39.50://h/x"]
    {
        let message = normalized_message(reserved);
        assert!(message.contains("reserved") && message.contains("1738"), "{message}");
        assert!(!message.contains("unknown"), "{message}");
    }
    let (unknown, experimental) = (normalized_message("foo://h/"), normalized_message("x-foo://h/"));
    assert!(unknown.contains("unknown scheme"), "{unknown}");
    assert!(experimental.contains("xperimental") && !experimental.contains("unknown"), "{experimental}");
    // A file URL with the host of another machine is neither read locally nor by FTP.
    run_fetch_url(["file://other.example/etc/passwd"]).assert_exit(1).assert_stderr_contains("other.example");
}

#[test]
fn outputs_are_assigned_to_urls_as_in_curl() {
    let server = echo_server();
    let (one, two, three) = (server.url("/one"), server.url("/two"), server.url("/three"));
    // Arguments, expected files with their content, expected standard output.
    for (arguments, files, stdout) in [
        (vec!["-o", "a", &one, "-o", "b", &two], "a=/one b=/two", ""),
        (vec![&one, &two, "-o", "a", "-o", "b"], "a=/one b=/two", ""),
        (vec!["-o", "a", "-o", "b", &one, &two], "a=/one b=/two", ""),
        (vec!["-o", "a", &one, &two], "a=/one", "/two"),
        (vec!["-O", &one, "-o", "b", &two, &three], "b=/two one=/one", "/three"),
        (vec!["-O", "-O", &one, &two], "one=/one two=/two", ""),
        (vec!["--remote-name-all", &one, "-o", "x", &two], "two=/two x=/one", ""),
        (vec!["-o", "-", &one, "-O", &two], "two=/two", "/one"),
    ] {
        let directory = temp_dir();
        let result = run_fetch_url_in(directory.path(), &arguments);
        result.assert_exit(0);
        let name_and_content = |name: &String| format!("{name}={}", read_text_file(directory.path(), name));
        let found: Vec<String> = entry_names(directory.path()).iter().map(name_and_content).collect();
        assert_eq!(
            (result.stdout_text().as_str(), found.join(" ").as_str()),
            (stdout, files),
            "{arguments:?}"
        );
    }
}

#[test]
fn exit_status_is_that_of_the_first_failure() {
    let server = http_server(|request| match request.path().as_str() {
        "/404" => HttpResponse::new(404),
        "/403" => HttpResponse::new(403),
        _ => HttpResponse::new(200).body("ok"),
    });
    let (missing, denied, good) = (server.url("/404"), server.url("/403"), server.url("/x"));
    let result = run_fetch_url([&missing, &denied, &good]);
    result.assert_exit(78);
    assert_eq!(
        (result.stdout_text().as_str(), result.stderr.lines().count()),
        ("ok", 2),
        "{}",
        result.stderr
    );
    run_fetch_url([&good, &denied, &missing]).assert_exit(9);
    run_fetch_url([&good, "http://h:x/", &missing]).assert_exit(3);
    let result = run_fetch_url(["--fail-early", &missing, &good]);
    assert!(result.assert_exit(78).stdout.is_empty());
}

#[test]
fn head_prints_size_and_modification_time() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let options = FileHeaders { last_modified: Some(date.to_owned()), ..strong_etag_headers() };
    let server = http_server(file_handler(pattern_vec(0, 5000), options));
    let result = run_fetch_url(["-I", &server.url("/x")]);
    let text = result.assert_exit(0).stdout_text().to_lowercase();
    assert!(
        text.contains("200") && text.contains("content-length: 5000") && text.contains("etag: \"v1\""),
        "{text}"
    );
    assert_eq!(server.requests()[0].method, "HEAD");
    let result = run_fetch_url(["-I", "--format", "json", &server.url("/x")]);
    let value: Value = serde_json::from_slice(&result.assert_exit(0).stdout).expect("JSON");
    assert_eq!((&value["size"], &value["modified"]), (&5000.into(), &784_111_777.into()), "{value}");
    let result = run_fetch_url(["-i", &server.url("/x")]);
    assert!(result.assert_exit(0).stdout.ends_with(&pattern_vec(0, 5000)) && result.stdout.len() > 5050);
    run_fetch_url(["-I", &http_server(|_| HttpResponse::new(404)).url("/x")]).assert_exit(78);
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), "0123456789").expect("a file");
    let url = format!("file://{}", file.path().display());
    let result = run_fetch_url(["-I", &url]);
    assert!(
        result.assert_exit(0).stdout_text().contains("10") && !result.stdout_text().contains("0123456789"),
        "{}",
        result.stdout_text()
    );
    let value: Value =
        serde_json::from_slice(&run_fetch_url(["-I", "--format", "json", &url]).stdout).expect("JSON");
    assert_eq!(value["size"], 10);
    assert!(value["modified"].as_i64().is_some_and(|seconds| seconds > 1_600_000_000));
    run_fetch_url(["-I", "file:///no/such/file"]).assert_exit(78);
}

#[test]
fn errors_in_json_have_code_phase_and_exit_status() {
    let server = http_server(|request| HttpResponse::new(request.path()[1..].parse().unwrap_or(200)));
    for (url, code, phase, exit) in [
        (server.url("/404"), "not_found", "request", 78),
        (server.url("/410"), "not_found", "request", 78),
        (server.url("/503"), "busy", "request", 92),
        (server.url("/429"), "busy", "request", 92),
        (server.url("/500"), "http_error", "request", 22),
        (server.url("/401"), "auth_needed", "request", 67),
        (server.url("/407"), "auth_needed", "proxy", 67),
        (server.url("/403"), "denied", "request", 9),
        ("http://127.0.0.1:9/".to_owned(), "", "", -1),
        ("http://no-such-host.invalid/".to_owned(), "resolve_failed", "resolve", 6),
        ("http://h:x/".to_owned(), "bad_url", "plan", 3),
        ("foo://h/".to_owned(), "unsupported", "plan", 1),
        ("file:///no/such/file".to_owned(), "not_found", "", 78),
        ("file:///a%00b".to_owned(), "forbidden_octet", "plan", 93),
        ("file:///a%2Fb".to_owned(), "forbidden_octet", "plan", 93),
    ] {
        let result = run_fetch_url(["--format", "json", "--connect-timeout", "3", &url]);
        assert_eq!(result.stderr.lines().count(), 1, "{}", result.stderr);
        let value: Value = serde_json::from_str(&result.stderr).expect("JSON");
        for field in ["code", "phase", "reply", "url", "temporary", "exit"] {
            assert!(value.get(field).is_some(), "no {field} in {value}");
        }
        assert_eq!(value["exit"], result.exit, "{value}");
        assert!(value["temporary"].is_boolean() && value["url"].as_str() == Some(&url), "{value}");
        assert!(exit < 0 || (value["code"].as_str(), result.exit) == (Some(code), exit), "{value}");
        assert!(phase.is_empty() || value["phase"] == phase, "{value}");
    }
    let value = run_fetch_url(["--format", "json", &server.url("/503")]).stderr;
    assert!(value.contains("\"temporary\":true"), "{value}");
}

#[test]
fn silent_suppresses_messages_unless_show_error() {
    let server = http_server(|_| HttpResponse::new(404));
    let url = server.url("/x");
    assert_eq!(run_fetch_url(["-s", &url]).assert_exit(78).stderr, "");
    assert_eq!(run_fetch_url(["--silent", "--format", "json", &url]).assert_exit(78).stderr, "");
    run_fetch_url(["-s", "-S", &url]).assert_exit(78).assert_stderr_contains("not found");
    run_fetch_url(["-sS", &url]).assert_exit(78).assert_stderr_contains("not found");
    assert_eq!(
        run_fetch_url([echo_server().url("/x")]).assert_exit(0).stderr,
        "",
        "a message without an error"
    );
}

#[test]
fn body_of_an_error_is_printed_only_with_no_fail() {
    let server = http_server(|_| HttpResponse::new(404).body("not here"));
    assert!(run_fetch_url([server.url("/x")]).assert_exit(78).stdout.is_empty());
    assert!(run_fetch_url(["-f", &server.url("/x")]).assert_exit(78).stdout.is_empty());
    assert_eq!(run_fetch_url(["--no-fail", &server.url("/x")]).assert_exit(0).stdout_text(), "not here");
}

#[test]
fn require_complete_rejects_end_by_close() {
    let server = http_server(|_| HttpResponse::new(200).until_close("bytes"));
    assert_eq!(run_fetch_url([server.url("/x")]).assert_exit(0).stdout_text(), "bytes");
    run_fetch_url(["--require-complete", &server.url("/x")]).assert_exit(18);
    assert_eq!(
        run_fetch_url(["--require-complete", &echo_server().url("/x")]).assert_exit(0).stdout_text(),
        "/x"
    );
}

#[test]
fn max_filesize_applies_with_and_without_known_length() {
    let plain = http_server(file_handler(pattern_vec(0, 5000), strong_etag_headers()));
    let chunked = http_server(|_| HttpResponse::new(200).chunked(vec![vec![1; 2500]; 2]));
    let open = http_server(|_| HttpResponse::new(200).until_close(vec![1; 5000]));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), vec![1; 5000]).expect("a file");
    let urls =
        [plain.url("/x"), chunked.url("/x"), open.url("/x"), format!("file://{}", file.path().display())];
    for url in urls {
        let directory = temp_dir();
        fs::write(directory.path().join("f"), "OLD").expect("a file");
        for limit in ["4999", "4k", "1"] {
            run_fetch_url_in(directory.path(), ["--max-filesize", limit, "-o", "f", &url]).assert_exit(63);
            assert_eq!(read_text_file(directory.path(), "f"), "OLD", "{url} {limit}");
        }
        // 0 means no limit, as in curl.
        for limit in ["5000", "5k", "1G", "0"] {
            run_fetch_url_in(directory.path(), ["--max-filesize", limit, "-o", "f", &url]).assert_exit(0);
        }
        assert_eq!(entry_names(directory.path()), ["f"]);
    }
}

#[test]
fn time_limits_exit_with_28() {
    let drip =
        http_server(|_| HttpResponse::new(200).body(vec![1; 10_000]).drip(100, Duration::from_millis(100)));
    let silent = http_server(|_| HttpResponse::raw("").then_stall(Duration::from_secs(10)));
    for (option, server) in [("-m", &drip), ("--max-time", &silent), ("--read-timeout", &silent)] {
        let start = Instant::now();
        run_fetch_url([option, "0.5", &server.url("/x")]).assert_exit(28).assert_stderr_contains("timed out");
        assert!(start.elapsed() < Duration::from_secs(3), "{option}: {:?}", start.elapsed());
    }
    // --max-time includes all redirects.
    let slow = http_server(|request: &HttpRequest| {
        let hop: u32 = request.path()[1..].parse().unwrap_or(0);
        HttpResponse::raw("").then_stall(Duration::from_millis(300)).then_send(format!(
            "HTTP/1.1 302 Found\r\nLocation: /{}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            hop + 1
        ))
    });
    run_fetch_url(["-m", "1", &slow.url("/0")]).assert_exit(28);
    // The kernel accepts the connection, but no TLS handshake follows.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("https://{}/", listener.local_addr().expect("an address"));
    run_fetch_url(["--connect-timeout", "0.5", &url]).assert_exit(28);
}

#[test]
fn request_targets_are_sent_unchanged() {
    let server = echo_server();
    for path in [
        "/a/../b",
        "/./x",
        "/../../x",
        "/%2e/x",
        "/%2E%2E/x",
        "/it's",
        "/a//b",
        "//a",
        "/a%2Fb",
        "/a%2fb",
        "/%41",
        "/%7e~",
        "/x?",
        "/?x",
        "/x?a=b&c=d?e",
        "/x?'()*!$",
        "/;a=b;c",
        "/x:y@z",
        "/%00",
        "/%0d%0aX:%20y",
        "/%FF%fe",
        "/a+b",
        "/-_.~",
        "/$-_.+!*'(),",
        "/a;x/b=c",
        "/x?a/../b",
        "/%25",
        "/caf%C3%A9",
        "/.",
        "/..",
        "/a/.",
        "/a/..",
    ] {
        let result = run_fetch_url([server.url(path)]);
        result.assert_exit(0);
        assert_eq!(result.stdout_text(), path);
    }
    for (path, sent) in [("/x#y", "/x"), ("/x?#y", "/x?"), ("/\u{e9}", "/%C3%A9")] {
        assert_eq!(run_fetch_url([server.url(path)]).assert_exit(0).stdout_text(), sent);
    }
    for bare in [
        format!("http://{}", server.addr()),
        format!("HTTP://{}#x", server.addr()),
        format!("<URL:http://{}>", server.addr()),
    ] {
        assert_eq!(run_fetch_url([bare]).assert_exit(0).stdout_text(), "/");
    }
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.header_text("host") == Some(&server.addr().to_string())));
    assert!(
        requests
            .iter()
            .all(|request| request.header("accept-encoding").is_none_or(|value| value == b"identity"))
    );
}

#[test]
fn verbose_prints_escaped_requests_and_responses() {
    let server = http_server(|_| HttpResponse::new(200).header("X-Evil", b"a\x9b31m\x80\xc2\x9b").body("x"));
    for option in ["-v", "-vv", "-vvv"] {
        let result = run_fetch_url([option, &server.url("/path")]);
        result.assert_exit(0).assert_stderr_contains("GET /path").assert_stderr_contains("200");
        assert_eq!(result.stdout_text(), "x");
        assert!(!result.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", result.stderr);
    }
}

#[test]
fn reason_phrase_is_escaped() {
    let server = http_server(|_| {
        HttpResponse::raw(b"HTTP/1.1 500 a\x1b]0;b\x07\xffc\r\nContent-Length: 0\r\n\r\n".to_vec())
    });
    for flags in [&[][..], &["--format", "json"]] {
        let result = run_fetch_url([flags, &[&server.url("/x")]].concat());
        assert!([22, 8].contains(&result.exit), "{result:?}");
        assert!(!result.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", result.stderr);
        assert_eq!(result.stderr.lines().count(), 1);
    }
}

/// The example of RFC 1738, appendix.
const RFC_1738_EXAMPLE: &str = "Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;\ntype=d> but you can \
probably pick it up from <URL:ftp://ds.in\nternic.net/rfc>.  Note the warning in <URL:http://ds.internic.\n\
net/instructions/overview.html#WARNING>.\n";

#[test]
fn extract_finds_urls_in_text() {
    let expected = "ftp://info.cern.ch/pub/www/doc;type=d\nftp://ds.internic.net/rfc\n\
                    http://ds.internic.net/instructions/overview.html#WARNING\n";
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), RFC_1738_EXAMPLE).expect("a file");
    assert_eq!(
        run_fetch_url(["extract".as_ref(), file.path().as_os_str()]).assert_exit(0).stdout_text(),
        expected
    );
    for arguments in ["", "-"] {
        let result = run_shell(&format!("\"$F\" extract {arguments} <\"$1\""), [file.path()]);
        assert_eq!(result.assert_exit(0).stdout_text(), expected);
    }
    let result = run_shell("\"$F\" extract --json <\"$1\"", [file.path()]);
    let text = result.assert_exit(0).stdout_text();
    let urls: Vec<String> = text
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("JSON")["url"].as_str().expect("a URL").to_owned()
        })
        .collect();
    assert_eq!(urls.join("\n") + "\n", expected);
    fs::write(file.path(), b"\xff\xfe see http://h/x, or (ftp://i/y).\0\n").expect("a file");
    let result = run_fetch_url(["extract".as_ref(), file.path().as_os_str()]);
    assert_eq!(result.assert_exit(0).stdout_text(), "http://h/x\nftp://i/y\n");
    assert_eq!(run_fetch_url(["extract", "/dev/null"]).assert_exit(0).stdout_text(), "");
    run_fetch_url(["extract", "/no/such/file"]).assert_exit(78);
}

/// A URL of every scheme; some have a password, which must not be printed.
const EXPLAINED: [&str; 22] = [
    "ftp://me:secret@h.example/a/b%2Fc/d.txt;type=a",
    "ftps://h.example/",
    "http://h.example:8080/a/../b?c#d",
    "https://me:secret@h.example/",
    "gopher://h.example/7a/b%09words",
    "gophers://h.example/",
    "mailto:some.body@h.example",
    "news:comp.lang.rust",
    "news:unique@h.example",
    "nntp://h.example/comp.lang.rust/123",
    "nntps://h.example/comp.lang.rust",
    "snews://h.example/comp.lang.rust",
    "telnet://me:secret@h.example:2323/",
    "wais://h.example/db?words+more",
    "file:///etc/hosts",
    "file://other.example/etc/hosts",
    "prospero://h.example/a/b;version=1",
    "nfs://h.example/x",
    "mid:a@b.example",
    "x-mine://h.example/x",
    "foo://h.example/x",
    "ftp://h.example/x%0D%0ADELE%20y",
];

#[test]
fn explain_shows_the_contacted_server() {
    for (arguments, server) in [
        (&["http://h.example/"][..], Some(("h.example", 80))),
        (&["ftp://[::1]:2121/x"], Some(("[::1]", 2121))),
        (&["prospero://h.example/a"], Some(("h.example", 1525))),
        (&["--gateway", "wais=http://g.example/{host}", "wais://h.example/db"], Some(("g.example", 80))),
        (&["--gateway", "news=nntp://n.example:1190", "news:comp.lang.rust"], Some(("n.example", 1190))),
        (&["file:///etc/hosts"], None),
        (&["file://localhost/etc/hosts"], None),
        (&["mailto:a@h.example"], None),
        (&["news:comp.lang.rust"], None),
        (&["foo://h.example:99/"], None),
    ] {
        let text = run_fetch_url(["explain"].iter().chain(arguments)).stdout_text();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  server ")).collect();
        let json = run_fetch_url(["explain", "--json"].iter().chain(arguments)).stdout_text();
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(lines.len(), usize::from(server.is_some()), "{text}");
        let expected = server.map(|(host, port)| json!({ "host": host, "port": port }));
        assert_eq!(json["server"], expected.unwrap_or_default(), "{json}");
        let address = server.map(|(host, port)| format!("{host}:{port} ")).unwrap_or_default();
        assert!(lines.iter().all(|line| line.contains(&address)), "{text}");
    }
}

#[test]
fn explain_output_matches_snapshots() {
    for (flags, name) in [(&["explain"][..], "explain"), (&["explain", "--json"], "explain_json")] {
        let mut text = String::new();
        for url in EXPLAINED {
            let result = run_fetch_url(flags.iter().chain(&[url]));
            text.push_str(&format!("$ {url} [{}]\n{}{}\n", result.exit, result.stdout_text(), result.stderr));
        }
        assert!(
            !text
                .replace(EXPLAINED.join("\n").as_str(), "")
                .lines()
                .any(|line| !line.starts_with('$') && line.contains("secret"))
        );
        let version = format!("fetch-url/{}", env!("CARGO_PKG_VERSION"));
        insta::assert_snapshot!(name, text.replace(&version, "fetch-url/VERSION"));
    }
}

#[test]
fn help_output_matches_snapshots() {
    let help = |arguments: &[&str]| run_fetch_url(arguments).assert_exit(0).stdout_text();
    insta::assert_snapshot!("help_short", help(&["-h"]).replace("|queue|", "|"));
    let without_queue = if cfg!(feature = "queue") { without_queue } else { str::to_owned };
    insta::assert_snapshot!("help_long", without_queue(&help(&["--help"])));
    insta::assert_snapshot!("help_explain", help(&["explain", "--help"]));
    insta::assert_snapshot!("help_extract", help(&["extract", "--help"]));
}

/// Returns the help without the sub-command `queue`, which must be in the usage and in the list.
fn without_queue(help: &str) -> String {
    let (before, command) = help.split_once("\n  queue ").expect("the command");
    let (usage, commands) = before.split_once("mirror|queue|serve|").expect("the usage");
    format!("{usage}mirror|serve|{commands}\n{}", command.split_once('\n').expect("a line").1)
}

#[test]
fn error_messages_match_snapshot() {
    let mut text = String::new();
    for arguments in [
        &["--no-such-option"][..],
        &[],
        &["-c", "http://h.example/"],
        &["http://ex ample/"],
        &["http://h.example/caf\u{e9}/%zz"],
        &["http://h.example:99999/"],
        &["http://2130706433/"],
        &["/etc/hostname"],
        &["nfs://h.example/x"],
        &["x-mine://h.example/x"],
        &["foo://h.example/x"],
        &["file://other.example/x"],
        &["file:///no/such/file"],
        &["file:///a%00b"],
        &["file:///dev/zero"],
        &["http://127.0.0.1:25/"],
        &["--public-only", "http://127.0.0.1:8080/"],
        &["-O", "http://h.example/"],
        &["-J", "http://h.example/"],
        &["--format", "json", "http://h.example:0/"],
        &["--format", "json", "file:///no/such/file"],
    ] {
        let result = run_fetch_url(arguments);
        text.push_str(&format!("$ fetch-url {} [{}]\n{}\n", arguments.join(" "), result.exit, result.stderr));
    }
    insta::assert_snapshot!("messages", text);
}
