//! Methods, fields and data: what goes out is what curl sends for the same options (SEMANTICS.md §3, CLI.md
//! "Short letters are curl's and mean what curl's mean").

#![allow(clippy::expect_used, reason = "a helper of tests")]

#[path = "support/curl.rs"]
mod second_opinion;
mod support;

use std::fs;
use std::path::Path;

use fetch_url_tests::{HttpReply, HttpRequest, HttpServer, ServerCert};
use second_opinion::curl_in;
use support::{Ran, fetch, fetch_in, names, serving};

/// Files that the rows below name.
const FILES: [(&str, &[u8]); 4] = [
    ("lines", b"one\r\ntwo\n\nthree four\n"),
    ("binary", &[0, 1, 13, 10, 127, 128, 255, b'&', b'=']),
    ("fields", b"X-One: 1\nX-Two:   two  \r\nAccept: text/plain\n"),
    ("empty", b""),
];

fn with_files() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, octets) in FILES {
        fs::write(directory.path().join(name), octets).expect("a file");
    }
    directory
}

/// What of a request is to be as curl's: all but the name of the program.
fn shown(request: &HttpRequest) -> String {
    let field = |(name, value): &(String, Vec<u8>)| {
        let name = name.to_ascii_lowercase();
        (name != "user-agent").then(|| format!("{name}: {}", value.escape_ascii()))
    };
    let mut fields: Vec<String> = request.headers.iter().filter_map(field).collect();
    // Their order on the wire has no meaning between different names (RFC 9110 §5.3), that of equal names does.
    fields.sort_by_key(|field| field.split(':').next().map(str::to_owned));
    format!("{} {}\n{}\n{}", request.method, request.path(), fields.join("\n"), request.body.escape_ascii())
}

/// Runs both, and `Err` when their requests differ. Each row is words with blanks between; `_` is a blank.
fn compared(server: &HttpServer, directory: &Path, row: &str, path: &str) -> Result<(), String> {
    let words = row.split_whitespace().map(|word| word.replace('_', " "));
    let mut arguments: Vec<String> =
        words.map(|word| if word == "''" { String::new() } else { word }).collect();
    arguments.push(server.url(path));
    let before = server.requests().len();
    let Some(theirs) = curl_in(directory, [["-L".to_owned()].as_slice(), &arguments].concat()) else {
        return Ok(());
    };
    let between = server.requests().len();
    let ours = fetch_in(directory, &arguments);
    let requests = server.requests();
    let all = |requests: &[HttpRequest]| requests.iter().map(shown).collect::<Vec<_>>().join("\n-- then\n");
    let (of_curl, of_ours) = (all(&requests[before..between]), all(&requests[between..]));
    if of_curl == of_ours && ours.exit == theirs.exit {
        return Ok(());
    }
    Err(format!(
        "== {row}\n-- curl ({})\n{of_curl}\n-- ours ({}) {}\n{of_ours}",
        theirs.exit, ours.exit, ours.stderr
    ))
}

#[track_caller]
fn compare_all(server: &HttpServer, rows: &[&str], path: &str) {
    let directory = with_files();
    let told: Vec<String> =
        rows.iter().filter_map(|row| compared(server, directory.path(), row, path).err()).collect();
    assert!(told.is_empty(), "{} of {} differ from curl:\n{}", told.len(), rows.len(), told.join("\n"));
}

fn plain() -> HttpServer {
    serving(|_| HttpReply::new(200).body("ok"))
}

#[test]
fn methods() {
    let rows = [
        "-X PUT",
        "-X DELETE",
        "-X get",
        "-X PUT -d x",
        "-X POST",
        "-X M-SEARCH",
        "-I",
        "-I -X PUT",
        "-X OPTIONS",
    ];
    compare_all(&plain(), &rows, "/a?b");
}

/// The last one counts, so that what an alias says can be taken back.
#[test]
fn given_twice() {
    let rows = [
        "-X PUT -X DELETE",
        "-A a -A b -H User-Agent:",
        "-e http://a.test/ -e http://b.test/",
        "--max-time 9 --max-time 8",
        "--retry 0 --retry 0",
        "-s -s -f -f",
    ];
    compare_all(&plain(), &rows, "/");
}

#[test]
fn fields() {
    let rows = [
        "-H X-One:1",
        "-H X-One:_1",
        "-H x-oNe:__1__",
        "-H X-One:_1 -H X-One:_2",
        "-H X-One:_b -H X-Two:_c -H X-One:_a",
        "-H Accept:_text/html",
        "-H Accept:",
        "-H accept:",
        "-H Accept;",
        "-H X-Empty;",
        "-H X-Empty:",
        "-H User-Agent:",
        "-H Host:_other.test",
        "-H host:_other.test:81",
        "-H @fields",
        "-H @fields -H X-Three:_3",
        "-H Cookie:_a=b",
        "-H X-Colon:_a:b:c",
        "-H Range:_bytes=0-",
        "-H Referer:_http://u@h/",
        "-H Content-Type:_text/plain",
        "-H Connection:_close",
        "-H TE:_trailers",
        "-H Accept-Encoding:_gzip",
        "-H X-Utf8:_caf\u{e9}",
    ];
    compare_all(&plain(), &rows, "/");
}

#[test]
fn program_and_referer() {
    let rows = ["-A ''", "-e http://from.test/x", "-e ''", "-e http://a.test/ -H Referer:_http://b.test/"];
    compare_all(&plain(), &rows, "/");
    let server = plain();
    fetch(["-A", "me/1", &server.url("/")]).exits(0);
    fetch(["-H", "User-Agent: you/2", &server.url("/")]).exits(0);
    fetch(["-A", "", &server.url("/")]).exits(0);
    fetch([server.url("/")]).exits(0);
    let said = |number: usize| server.requests()[number].header_text("user-agent").map(str::to_owned);
    assert_eq!((said(0).as_deref(), said(1).as_deref(), said(2)), (Some("me/1"), Some("you/2"), None));
    assert!(said(3).is_some_and(|name| name.starts_with("fetch-url/")), "{:?}", said(3));
}

#[test]
fn data() {
    let rows = [
        "-d a=b",
        "-d a=b -d c=d",
        "-d ''",
        "-d a_b&c%20d+e",
        "-d @lines",
        "-d @empty",
        "-d @lines -d x",
        "--data-ascii @lines",
        "--data-raw @lines",
        "--data-raw a=b -d c=d",
        "--data-binary @lines",
        "--data-binary @binary",
        "--data-binary a=b --data-binary @binary",
        "-d caf\u{e9}",
        "-d a=b -H Content-Type:_text/plain",
        "-d a=b -H Content-Type:",
        "-d a=b -H content-type;",
        "-X PUT -d a=b",
        "--json {\"a\":1}",
        "--json {\"a\": --json 1}",
        "--json @binary",
        "--json {} -H Content-Type:_application/ld+json",
        "--json {} -H Accept:_application/ld+json",
    ];
    compare_all(&plain(), &rows, "/form?q");
}

#[test]
fn data_of_standard_input() {
    let server = plain();
    for (words, body) in [
        ("-d @-", "ab"),
        ("--data-binary @-", "a\nb\n"),
        ("--json @-", "a\nb\n"),
        ("--data-urlencode n@-", "n=a%0Ab%0A"),
    ] {
        let script = format!("printf 'a\\nb\\n' | \"$F\" {words} \"$1\"");
        support::shell(&script, [server.url("/")]).exits(0);
        assert_eq!(server.requests().last().expect("a request").body, body.as_bytes(), "{words}");
    }
}

/// A body of more than any buffer, and one that the server does not wait for.
#[test]
fn data_that_is_large() {
    let here = tempfile::tempdir().expect("a directory");
    let octets = fetch_url_tests::pattern_vec(0, 3 << 20);
    fs::write(here.path().join("large"), &octets).expect("a file");
    let server = plain();
    fetch_in(here.path(), ["--data-binary", "@large", &server.url("/")]).exits(0);
    assert!(server.requests()[0].body == octets);
}

#[test]
fn data_escaped_and_mixed() {
    let rows = [
        "--data-urlencode a_b",
        "--data-urlencode =a&b=c",
        "--data-urlencode n=a=b&c",
        "--data-urlencode n=caf\u{e9}~-._!*'()",
        "--data-urlencode @lines",
        "--data-urlencode n@binary",
        "--data-urlencode =a@b",
        "--data-urlencode a@binary=x",
        // curl joins what it is given in the order in which it is given.
        "--data-urlencode a=1_2 -d b=3",
        "-d b=3 --data-urlencode a=1_2 --data-raw c=@ -d d",
        "--data-binary x --data-raw y -d z",
    ];
    compare_all(&plain(), &rows, "/form");
}

#[test]
fn data_in_the_url() {
    let rows = [
        "-G -d a=b",
        "-G -d a=b -d c",
        "-G -d ''",
        "-G --data-urlencode q=x",
        "-G --data-urlencode q=a&b",
        "-G -d a=b -X DELETE",
        "-G -I -d a=b",
        "-G",
    ];
    compare_all(&plain(), &rows, "/");
    compare_all(&plain(), &["-G -d a=b"], "/p?q=r");
    compare_all(&plain(), &["-G -d a=b"], "/p?");
    compare_all(&plain(), &["-G -d a=b"], "/p#fragment");
}

/// RFC 9110 §15.4: 307 and 308 keep method and body; POST becomes GET on the other three, as everywhere.
#[test]
fn data_and_redirects() {
    for status in [301, 302, 303, 307, 308] {
        let server = serving(move |request| match request.path().as_str() {
            "/a" => HttpReply::new(status).header("Location", "/b"),
            _ => HttpReply::new(200).body("ok"),
        });
        compare_all(&server, &["-d a=b", "-I", "-G -d a=b", "-H X-Mine:_1"], "/a");
        // Of a body that is gone curl still tells the type that --json gave it; RFC 9110 §15.4 would not.
        if status >= 307 {
            compare_all(&server, &["--json {}", "--data-raw x -H Content-Type:_text/plain"], "/a");
        }
    }
}

/// SECURITY.md, row 11: nothing that a caller passes on can begin a second line, and nothing is sent at all.
#[test]
fn line_ends_in_what_goes_into_the_head() {
    let server = plain();
    for arguments in [
        &["-H", "X: a\r\nEvil: 1"][..],
        &["-H", "X: a\nEvil: 1"],
        &["-H", "X: a\rEvil"],
        &["-H", "X\r\nEvil: 1"],
        &["-H", "X Y: 1"],
        &["-H", ": 1"],
        &["-A", "a\r\nEvil: 1"],
        &["-e", "http://a/\nEvil: 1"],
        &["-b", "a=b\r\nEvil: 1"],
        &["-X", "GET /x HTTP/1.1\r\nEvil: 1\r\n"],
        &["-X", "GET x"],
        &["-X", ""],
        &["--oauth2-bearer", "a\r\nEvil: 1"],
    ] {
        let ran = fetch(arguments.iter().chain(&[server.url("/").as_str()]));
        assert!([2, 93].contains(&ran.exit), "{arguments:?}: {ran:?}");
        assert!(
            !ran.stderr.contains('\r') && !ran.stderr.contains("\nEvil"),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
    assert_eq!(server.requests(), [], "something went out");
    let ran = fetch([server.url("/a%0d%0aEvil:%201")]);
    assert_eq!((ran.exit, server.requests()[0].path().as_str()), (0, "/a%0d%0aEvil:%201"));
    assert!(server.requests()[0].header("evil").is_none());
}

#[test]
fn options_that_cannot_be_met() {
    let server = plain();
    let url = server.url("/");
    for arguments in [
        &["-d", "@/no/such/file"][..],
        &["--data-binary", "@/no/such/file"],
        &["--data-urlencode", "a@/no/such/file"],
        &["-H", "@/no/such/file"],
        &["-I", "-d", "a=b"],
        &["-d", "a", "--json", "{}", "-I"],
        &["--no-fail", "--fail-with-body"],
    ] {
        let ran = fetch(arguments.iter().chain(&[url.as_str()]));
        assert_eq!(ran.exit, 2, "{arguments:?}: {ran:?}");
    }
    assert_eq!(server.requests(), [], "something went out");
}

/// A status of 400 and above: `-f` is on; the other two deliver the body.
#[test]
fn errors_and_their_bodies() {
    for (status, exit) in
        [(404, 78), (410, 78), (401, 67), (403, 9), (429, 92), (503, 92), (400, 22), (500, 22), (599, 22)]
    {
        let server = serving(move |_| HttpReply::new(status).header("ETag", "\"e\"").body("why not"));
        let url = server.url("/x");
        for (arguments, is_shown, is_error) in [
            (&[][..], false, true),
            (&["-f"][..], false, true),
            (&["--fail-with-body"], true, true),
            (&["--no-fail"], true, false),
        ] {
            let exit = if is_error { exit } else { 0 };
            let ran = fetch(arguments.iter().chain(&[url.as_str()]));
            assert_eq!(
                (ran.exit, ran.text().as_str()),
                (exit, if is_shown { "why not" } else { "" }),
                "{arguments:?}"
            );
            let directory = tempfile::tempdir().expect("a directory");
            fs::write(directory.path().join("here"), "old").expect("a file");
            let ran = fetch_in(directory.path(), arguments.iter().chain(&["-o", "here", url.as_str()]));
            let content = fs::read_to_string(directory.path().join("here")).expect("a file");
            assert_eq!(
                (ran.exit, content.as_str()),
                (exit, if is_shown { "why not" } else { "old" }),
                "{arguments:?}"
            );
            assert_eq!(names(directory.path()), ["here"], "{status} {arguments:?}");
        }
    }
}

fn lines_of(ran: &Ran) -> Vec<String> {
    ran.text().lines().map(|line| line.trim_end().to_ascii_lowercase()).collect()
}

#[test]
fn the_head_of_an_object() {
    let server = serving(|request| match request.path().as_str() {
        "/from" => HttpReply::new(302).header("Location", "/to").body("elsewhere"),
        "/gone" => HttpReply::new(404).header("X-Why", "gone").body("gone"),
        _ => HttpReply::new(200)
            .header("Content-Type", "text/plain")
            .header("X-A", "1")
            .header("X-A", "2")
            .body("the body"),
    });
    let head = fetch(["-I", &server.url("/to")]);
    assert_eq!(server.requests()[0].method, "HEAD");
    let wanted = ["http/1.1 200 ok", "content-type: text/plain", "x-a: 1", "x-a: 2", "content-length: 8"];
    assert_eq!(lines_of(head.exits(0))[..5], wanted);
    assert!(!head.text().contains("the body"), "{}", head.text());
    let both = fetch(["-i", &server.url("/to")]);
    assert!(
        both.exits(0).text().ends_with("\n\nthe body") || both.text().ends_with("\r\n\r\nthe body"),
        "{both:?}"
    );
    assert_eq!(lines_of(&both)[..5], wanted);
    let in_json = fetch(["-I", "--format", "json", &server.url("/to")]);
    let value: serde_json::Value = serde_json::from_slice(&in_json.exits(0).stdout).expect("JSON");
    assert_eq!((&value["size"], &value["media_type"]), (&8.into(), &"text/plain".into()));
    // A HEAD is followed like a GET, and an error is an error.
    fetch(["-I", &server.url("/from")]).exits(0);
    fetch(["-I", &server.url("/gone")]).exits(78);
    let shown = fetch(["-I", "--no-fail", &server.url("/gone")]);
    assert!(lines_of(shown.exits(0)).contains(&"x-why: gone".to_owned()), "{shown:?}");
    let body = fetch(["-i", "--fail-with-body", &server.url("/gone")]);
    assert!(
        lines_of(body.exits(78)).contains(&"x-why: gone".to_owned()) && body.text().ends_with("gone"),
        "{body:?}"
    );
    let methods: Vec<String> =
        server.requests().iter().skip(3).map(|request| request.method.clone()).collect();
    assert_eq!(methods, ["HEAD", "HEAD", "HEAD", "HEAD", "GET"]);
}

/// With -o the head goes with the body, as curl has it.
#[test]
fn the_head_in_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = serving(|_| HttpReply::new(200).header("X-A", "1").body("the body"));
    let ran = fetch_in(directory.path(), ["-i", "-o", "here", &server.url("/")]);
    assert_eq!(ran.exits(0).text(), "");
    let content = fs::read_to_string(directory.path().join("here")).expect("a file");
    assert!(
        content.starts_with("HTTP/1.1 200 ")
            && content.ends_with("\n\nthe body") | content.ends_with("\r\n\r\nthe body")
    );
    fetch_in(directory.path(), ["-I", "-o", "head", &server.url("/")]).exits(0);
    let head = fs::read_to_string(directory.path().join("head")).expect("a file");
    assert!(head.to_ascii_lowercase().contains("x-a: 1") && !head.contains("the body"), "{head}");
}

/// Without ALPN there is HTTP/1.1, whatever is asked for; HTTP/2 itself is for the live tests, which have
/// servers that speak it.
#[test]
fn versions() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let server =
        HttpServer::start_tls(|_| HttpReply::new(200).body("ok"), &cert).expect("a server on loopback");
    let clear = plain();
    let ca = files.ca.to_str().expect("UTF-8");
    for flags in [&[][..], &["--http1.1"], &["--http2"], &["--http1.1", "--http2"]] {
        for url in [server.url("/"), clear.url("/")] {
            let more = ["--cacert", ca, "-w", " %{http_version}", &url];
            assert_eq!(fetch(flags.iter().chain(&more)).exits(0).text(), "ok 1.1", "{flags:?} {url}");
        }
    }
}
