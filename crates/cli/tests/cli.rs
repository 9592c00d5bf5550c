//! What a person types and what a person sees: exit statuses, where things go, listings, limits, targets
//! that arrive as written, messages. The snapshots are in `snapshots/`.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use fetch_url_tests::{FileFacts, HttpReply, HttpRequest, file_handler, pattern_vec};
use serde_json::Value;
use support::{Ran, content_of, fetch, fetch_in, mirror, names, serving, shell, tagged};

#[test]
fn wrong_options() {
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
        let ran = fetch(arguments);
        assert_eq!(ran.exit, 2, "{arguments:?}: {ran:?}");
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{arguments:?}");
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
    let ran = fetch(["--version"]);
    assert!(ran.exit == 0 && ran.text().starts_with("fetch-url "), "{ran:?}");
}

/// The character over the first mark.
fn marked(ran: &Ran) -> Option<char> {
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let at = lines.iter().position(|line| line.trim_start().starts_with('^'))?;
    let column = lines[at].chars().position(|character| character == '^')?;
    lines[at - 1].chars().nth(column)
}

#[test]
fn a_bad_url_is_shown_with_a_caret() {
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
        let ran = fetch([url]);
        ran.exits(3).says("fetch-url: ").says("not a URL");
        assert_eq!(marked(&ran), Some(at), "{url}:\n{}", ran.stderr);
        assert!(ran.stdout.is_empty());
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
        let ran = fetch([url]);
        // What is missing is marked behind the end.
        assert!(ran.exit == 3 && ran.stderr.contains("\n    "), "{url}: {}", ran.stderr);
        assert!(ran.stderr.contains('^'), "{url}: {}", ran.stderr);
    }
    // No URL, and nothing is guessed in front of it.
    for text in ["example.com", "/etc/passwd", "www.example.com/x", "", " ", "//h/x"] {
        fetch([text]).exits(3);
    }
    fetch_raw(b"http://h/\xff").exits_with(&[2, 3]);
}

fn fetch_raw(url: &[u8]) -> Ran {
    fetch([OsStr::from_bytes(url)])
}

impl Ran {
    #[track_caller]
    fn exits_with(&self, statuses: &[i32]) {
        assert!(statuses.contains(&self.exit), "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
    }
}

#[test]
fn a_control_octet_in_the_url_is_not_shown_raw() {
    for url in [
        "http://h/\u{1b}[31m",
        "http://h/a\nb",
        "http://h/a\rb",
        "http://h/\t",
        "http://h/\u{7f}",
        "\u{1b}x://h",
    ] {
        let ran = fetch([url]);
        ran.exits(3);
        assert!(!ran.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", ran.stderr);
        let begins = ran.stderr.lines().filter(|line| line.starts_with("fetch-url: ")).count();
        assert!(begins == 1 && ran.stderr.lines().count() <= 4, "{:?}", ran.stderr);
    }
}

#[test]
fn schemes_without_a_driver() {
    let words = |url: &str| {
        let ran = fetch([url]);
        ran.exits(1);
        ran.stderr.replace(url, "URL").replace(url.split(':').next().unwrap_or_default(), "S")
    };
    for reserved in
        ["afs://h/x", "mid:a@b", "cid:a@b", "nfs://h/x", "tn3270://h/", "mailserver:x", "z39.50://h/x"]
    {
        let said = words(reserved);
        assert!(said.contains("reserved") && said.contains("1738"), "{said}");
        assert!(!said.contains("unknown"), "{said}");
    }
    let (unknown, experimental) = (words("foo://h/"), words("x-foo://h/"));
    assert!(unknown.contains("unknown scheme"), "{unknown}");
    assert!(experimental.contains("xperimental") && !experimental.contains("unknown"), "{experimental}");
    // A host in a file URL names another machine: no local file, and no ftp.
    fetch(["file://other.example/etc/passwd"]).exits(1).says("other.example");
}

#[test]
fn outputs_belong_to_urls_as_with_curl() {
    let server = mirror();
    let (one, two, three) = (server.url("/one"), server.url("/two"), server.url("/three"));
    // Arguments, the files with their content, standard output.
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
        let directory = tempfile::tempdir().expect("a directory");
        let ran = fetch_in(directory.path(), &arguments);
        ran.exits(0);
        let held = |name: &String| format!("{name}={}", content_of(directory.path(), name));
        let found: Vec<String> = names(directory.path()).iter().map(held).collect();
        assert_eq!((ran.text().as_str(), found.join(" ").as_str()), (stdout, files), "{arguments:?}");
    }
}

#[test]
fn the_first_failure_is_the_status_and_the_rest_goes_on() {
    let server = serving(|request| match request.path().as_str() {
        "/404" => HttpReply::new(404),
        "/403" => HttpReply::new(403),
        _ => HttpReply::new(200).body("ok"),
    });
    let (missing, denied, good) = (server.url("/404"), server.url("/403"), server.url("/x"));
    let ran = fetch([&missing, &denied, &good]);
    ran.exits(78);
    assert_eq!((ran.text().as_str(), ran.stderr.lines().count()), ("ok", 2), "{}", ran.stderr);
    fetch([&good, &denied, &missing]).exits(9);
    fetch([&good, "http://h:x/", &missing]).exits(3);
    let ran = fetch(["--fail-early", &missing, &good]);
    assert!(ran.exits(78).stdout.is_empty());
}

#[test]
fn what_is_known_of_an_object() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let facts = FileFacts { last_modified: Some(date.to_owned()), ..tagged() };
    let server = serving(file_handler(pattern_vec(0, 5000), facts));
    let ran = fetch(["-I", &server.url("/x")]);
    let text = ran.exits(0).text().to_lowercase();
    assert!(
        text.contains("200") && text.contains("content-length: 5000") && text.contains("etag: \"v1\""),
        "{text}"
    );
    assert_eq!(server.requests()[0].method, "HEAD");
    let ran = fetch(["-I", "--format", "json", &server.url("/x")]);
    let value: Value = serde_json::from_slice(&ran.exits(0).stdout).expect("JSON");
    assert_eq!((&value["size"], &value["modified"]), (&5000.into(), &784_111_777.into()), "{value}");
    let ran = fetch(["-i", &server.url("/x")]);
    assert!(ran.exits(0).stdout.ends_with(&pattern_vec(0, 5000)) && ran.stdout.len() > 5050);
    fetch(["-I", &serving(|_| HttpReply::new(404)).url("/x")]).exits(78);
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), "0123456789").expect("a file");
    let url = format!("file://{}", file.path().display());
    let ran = fetch(["-I", &url]);
    assert!(ran.exits(0).text().contains("10") && !ran.text().contains("0123456789"), "{}", ran.text());
    let value: Value = serde_json::from_slice(&fetch(["-I", "--format", "json", &url]).stdout).expect("JSON");
    assert_eq!(value["size"], 10);
    assert!(value["modified"].as_i64().is_some_and(|seconds| seconds > 1_600_000_000));
    fetch(["-I", "file:///no/such/file"]).exits(78);
}

#[test]
fn errors_in_json() {
    let server = serving(|request| HttpReply::new(request.path()[1..].parse().unwrap_or(200)));
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
        let ran = fetch(["--format", "json", "--connect-timeout", "3", &url]);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        let value: Value = serde_json::from_str(&ran.stderr).expect("JSON");
        for field in ["code", "phase", "reply", "url", "temporary", "exit"] {
            assert!(value.get(field).is_some(), "no {field} in {value}");
        }
        assert_eq!(value["exit"], ran.exit, "{value}");
        assert!(value["temporary"].is_boolean() && value["url"].as_str() == Some(&url), "{value}");
        assert!(exit < 0 || (value["code"].as_str(), ran.exit) == (Some(code), exit), "{value}");
        assert!(phase.is_empty() || value["phase"] == phase, "{value}");
    }
    let value = fetch(["--format", "json", &server.url("/503")]).stderr;
    assert!(value.contains("\"temporary\":true"), "{value}");
}

#[test]
fn silence() {
    let server = serving(|_| HttpReply::new(404));
    let url = server.url("/x");
    assert_eq!(fetch(["-s", &url]).exits(78).stderr, "");
    assert_eq!(fetch(["--silent", "--format", "json", &url]).exits(78).stderr, "");
    fetch(["-s", "-S", &url]).exits(78).says("not found");
    fetch(["-sS", &url]).exits(78).says("not found");
    assert_eq!(fetch([mirror().url("/x")]).exits(0).stderr, "", "nothing is said when all is well");
}

#[test]
fn the_body_of_an_error() {
    let server = serving(|_| HttpReply::new(404).body("not here"));
    assert!(fetch([server.url("/x")]).exits(78).stdout.is_empty());
    assert!(fetch(["-f", &server.url("/x")]).exits(78).stdout.is_empty());
    assert_eq!(fetch(["--no-fail", &server.url("/x")]).exits(0).text(), "not here");
}

#[test]
fn an_end_that_is_only_assumed() {
    let server = serving(|_| HttpReply::new(200).until_close("octets"));
    assert_eq!(fetch([server.url("/x")]).exits(0).text(), "octets");
    fetch(["--require-complete", &server.url("/x")]).exits(18);
    assert_eq!(fetch(["--require-complete", &mirror().url("/x")]).exits(0).text(), "/x");
}

#[test]
fn the_largest_size() {
    let plain = serving(file_handler(pattern_vec(0, 5000), tagged()));
    let chunked = serving(|_| HttpReply::new(200).chunked(vec![vec![1; 2500]; 2]));
    let open = serving(|_| HttpReply::new(200).until_close(vec![1; 5000]));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), vec![1; 5000]).expect("a file");
    let urls =
        [plain.url("/x"), chunked.url("/x"), open.url("/x"), format!("file://{}", file.path().display())];
    for url in urls {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("f"), "OLD").expect("a file");
        for most in ["4999", "4k", "0", "1"] {
            fetch_in(directory.path(), ["--max-filesize", most, "-o", "f", &url]).exits(63);
            assert_eq!(content_of(directory.path(), "f"), "OLD", "{url} {most}");
        }
        for most in ["5000", "5k", "1G"] {
            fetch_in(directory.path(), ["--max-filesize", most, "-o", "f", &url]).exits(0);
        }
        assert_eq!(names(directory.path()), ["f"]);
    }
}

#[test]
fn the_longest_time() {
    let drip = serving(|_| HttpReply::new(200).body(vec![1; 10_000]).drip(100, Duration::from_millis(100)));
    let mute = serving(|_| HttpReply::raw("").then_stall(Duration::from_secs(10)));
    for (option, server) in [("-m", &drip), ("--max-time", &mute), ("--read-timeout", &mute)] {
        let began = Instant::now();
        fetch([option, "0.5", &server.url("/x")]).exits(28).says("timed out");
        assert!(began.elapsed() < Duration::from_secs(3), "{option}: {:?}", began.elapsed());
    }
    // A chain of redirects shares one time.
    let slow = serving(|request: &HttpRequest| {
        let hop: u32 = request.path()[1..].parse().unwrap_or(0);
        HttpReply::raw("").then_stall(Duration::from_millis(300)).then_send(format!(
            "HTTP/1.1 302 Found\r\nLocation: /{}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            hop + 1
        ))
    });
    fetch(["-m", "1", &slow.url("/0")]).exits(28);
    // The kernel's backlog takes the connection; nobody shakes hands.
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("https://{}/", deaf.local_addr().expect("an address"));
    fetch(["--connect-timeout", "0.5", &url]).exits(28);
}

#[test]
fn targets_arrive_octet_for_octet() {
    let server = mirror();
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
        let ran = fetch([server.url(path)]);
        ran.exits(0);
        assert_eq!(ran.text(), path);
    }
    for (path, sent) in [("/x#y", "/x"), ("/x?#y", "/x?"), ("/\u{e9}", "/%C3%A9")] {
        assert_eq!(fetch([server.url(path)]).exits(0).text(), sent);
    }
    for bare in [
        format!("http://{}", server.addr()),
        format!("HTTP://{}#x", server.addr()),
        format!("<URL:http://{}>", server.addr()),
    ] {
        assert_eq!(fetch([bare]).exits(0).text(), "/");
    }
    let hosts = server.requests();
    assert!(hosts.iter().all(|request| request.header_text("host") == Some(&server.addr().to_string())));
    assert!(
        hosts
            .iter()
            .all(|request| request.header("accept-encoding").is_none_or(|value| value == b"identity"))
    );
}

#[test]
fn the_dialogue_is_shown_and_is_harmless() {
    let server = serving(|_| HttpReply::new(200).header("X-Evil", b"a\x9b31m\x80\xc2\x9b").body("x"));
    for loudness in ["-v", "-vv", "-vvv"] {
        let ran = fetch([loudness, &server.url("/path")]);
        ran.exits(0).says("GET /path").says("200");
        assert_eq!(ran.text(), "x");
        assert!(!ran.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", ran.stderr);
    }
    let head = fetch(["-I", &server.url("/path")]).exits(0).text();
    assert!(!head.contains(|c: char| c.is_control() && c != '\n'), "{head:?}");
}

#[test]
fn a_hostile_reason_is_shown_harmless() {
    let server =
        serving(|_| HttpReply::raw(b"HTTP/1.1 500 a\x1b]0;b\x07\xffc\r\nContent-Length: 0\r\n\r\n".to_vec()));
    for flags in [&[][..], &["--format", "json"]] {
        let ran = fetch([flags, &[&server.url("/x")]].concat());
        assert!([22, 8].contains(&ran.exit), "{ran:?}");
        assert!(!ran.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
    }
}

const APPENDIX: &str = "Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;\ntype=d> but you can \
probably pick it up from <URL:ftp://ds.in\nternic.net/rfc>.  Note the warning in <URL:http://ds.internic.\n\
net/instructions/overview.html#WARNING>.\n";

#[test]
fn urls_in_a_text() {
    let expected = "ftp://info.cern.ch/pub/www/doc;type=d\nftp://ds.internic.net/rfc\n\
                    http://ds.internic.net/instructions/overview.html#WARNING\n";
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), APPENDIX).expect("a file");
    assert_eq!(fetch(["extract".as_ref(), file.path().as_os_str()]).exits(0).text(), expected);
    for arguments in ["", "-"] {
        let ran = shell(&format!("\"$F\" extract {arguments} <\"$1\""), [file.path()]);
        assert_eq!(ran.exits(0).text(), expected);
    }
    let ran = shell("\"$F\" extract --json <\"$1\"", [file.path()]);
    let text = ran.exits(0).text();
    let urls: Vec<String> = text
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("JSON")["url"].as_str().expect("a URL").to_owned()
        })
        .collect();
    assert_eq!(urls.join("\n") + "\n", expected);
    fs::write(file.path(), b"\xff\xfe see http://h/x, or (ftp://i/y).\0\n").expect("a file");
    let ran = fetch(["extract".as_ref(), file.path().as_os_str()]);
    assert_eq!(ran.exits(0).text(), "http://h/x\nftp://i/y\n");
    assert_eq!(fetch(["extract", "/dev/null"]).exits(0).text(), "");
    fetch(["extract", "/no/such/file"]).exits(78);
}

/// One of every scheme; the login shows that it is masked.
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
fn explanations() {
    for (flags, name) in [(&["explain"][..], "explain"), (&["explain", "--json"], "explain_json")] {
        let mut text = String::new();
        for url in EXPLAINED {
            let ran = fetch(flags.iter().chain(&[url]));
            text.push_str(&format!("$ {url} [{}]\n{}{}\n", ran.exit, ran.text(), ran.stderr));
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
fn help() {
    insta::assert_snapshot!("help_short", fetch(["-h"]).exits(0).text());
    insta::assert_snapshot!("help_long", fetch(["--help"]).exits(0).text());
    insta::assert_snapshot!("help_explain", fetch(["explain", "--help"]).exits(0).text());
    insta::assert_snapshot!("help_extract", fetch(["extract", "--help"]).exits(0).text());
}

#[test]
fn messages() {
    let mut text = String::new();
    for arguments in [
        &["--no-such-option"][..],
        &[],
        &["-c", "http://h.example/"],
        &["http://ex ample/"],
        &["http://h.example/caf\u{e9}/%zz"],
        &["http://h.example:99999/"],
        &["http://2130706433/"],
        &["example.com"],
        &["ftp://h.example/x"],
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
        let ran = fetch(arguments);
        text.push_str(&format!("$ fetch-url {} [{}]\n{}\n", arguments.join(" "), ran.exit, ran.stderr));
    }
    insta::assert_snapshot!("messages", text);
}
