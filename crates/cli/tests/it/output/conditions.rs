//! `--time-cond` (`-z`) and `--remote-time` (`-R`); docs/spec/semantics.md §9 and §12.

use std::fs;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::curl::run_curl;
use crate::support::{entry_names, http_server, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer};

/// The modification time of the file on the server, in seconds since 1970.
const CHANGED: u64 = 786_285_296;
const DATE: &str = "Thu, 01 Dec 1994 12:34:56 GMT";
const EARLIER: &str = "Thu, 01 Dec 1994 12:34:55 GMT";
const LATER: &str = "Fri, 02 Dec 1994 12:34:56 GMT";

fn header_time(request: &HttpRequest, name: &str) -> Option<u64> {
    let time = httpdate::parse_http_date(request.header_text(name)?).ok()?;
    Some(time.duration_since(UNIX_EPOCH).expect("after 1970").as_secs())
}

/// Evaluates If-Modified-Since and If-Unmodified-Since as RFC 9110 §13.1.3 and §13.1.4 require.
fn evaluate_conditions(request: &HttpRequest) -> HttpResponse {
    if header_time(request, "if-modified-since").is_some_and(|since| since >= CHANGED) {
        return HttpResponse::new(304).header("Last-Modified", DATE);
    }
    if header_time(request, "if-unmodified-since").is_some_and(|since| since < CHANGED) {
        return HttpResponse::new(412).body("changed since");
    }
    HttpResponse::new(200).header("Last-Modified", DATE).body("new")
}

/// Ignores all conditions.
fn ignore_conditions(_: &HttpRequest) -> HttpResponse {
    HttpResponse::new(200).header("Last-Modified", DATE).body("new")
}

fn set_modified(path: &Path, seconds: u64) {
    let time = UNIX_EPOCH + Duration::from_secs(seconds);
    File::options().write(true).open(path).and_then(|file| file.set_modified(time)).expect("a file");
}

fn modified(path: &Path) -> u64 {
    let time = fs::metadata(path).and_then(|metadata| metadata.modified()).expect("a time");
    time.duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

/// Creates a directory with `target` (old content), `object` (new content), and `before`, `same` and `after`, whose
/// modification times surround that of the file on the server.
fn prepare_directory() -> tempfile::TempDir {
    let directory = temp_dir();
    for (name, content, time) in [
        ("target", "old", CHANGED - 1000),
        ("before", "", CHANGED - 1),
        ("same", "", CHANGED),
        ("after", "", CHANGED + 1),
        ("object", "new", CHANGED),
    ] {
        fs::write(directory.path().join(name), content).expect("a file");
        set_modified(&directory.path().join(name), time);
    }
    directory
}

/// Arguments of `-z`, and `true` if a file with the modification time `CHANGED` is transferred.
const CONDITIONS: [(&str, bool); 18] = [
    ("Dec/1/94 13:34:56 CET", false),
    ("1-Dec-1994 7:34:55 -0500", true),
    (DATE, false),
    (EARLIER, true),
    (LATER, false),
    ("1994-12-01", true),
    ("1994-12-02", false),
    ("1994-12-01 12:34:56", false),
    ("1994-12-01 12:34:55", true),
    ("before", true),
    ("same", false),
    ("after", false),
    ("no-such-file", true),
    ("-1994-12-01", false),
    ("-1994-12-02", true),
    ("-same", true),
    ("-before", false),
    ("-no-such-file", true),
];

/// Checks one condition with output to standard output, to an existing file and to a new file.
fn check_condition(url: &str, condition: &str, is_transferred: bool) {
    let directory = prepare_directory();
    let path = |name: &str| directory.path().join(name);
    let before = entry_names(directory.path());
    let result = run_fetch_url_in(directory.path(), ["-z", condition, url]);
    assert_eq!(
        (result.exit, result.stdout_text().as_str()),
        (0, if is_transferred { "new" } else { "" }),
        "{url} {condition}: {}",
        result.stderr
    );
    run_fetch_url_in(directory.path(), ["-z", condition, "-o", "target", url]).assert_exit(0);
    let content = fs::read_to_string(path("target")).expect("a file");
    assert_eq!(content, if is_transferred { "new" } else { "old" }, "{url} {condition}");
    assert_eq!(entry_names(directory.path()), before, "{url} {condition}: the directory changed");
    if !is_transferred {
        assert_eq!(modified(&path("target")), CHANGED - 1000, "{url} {condition}: the old file changed");
        run_fetch_url_in(directory.path(), ["-z", condition, "-o", "absent", url]).assert_exit(0);
        assert!(!path("absent").exists(), "{url} {condition}: a file was created");
    }
}

/// A file that is not fetched must have the checksum, too.
#[test]
fn file_with_another_checksum_is_fetched_although_the_object_has_not_changed() {
    let server = http_server(|request| {
        let is_conditional =
            ["if-none-match", "if-modified-since"].iter().any(|name| request.header(name).is_some());
        if is_conditional { HttpResponse::new(304) } else { HttpResponse::new(200).body("new") }
    });
    // That of `new`.
    let checksum = "sha256:11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437";
    for options in ["--etag-compare tag", "-z f", "-z f --etag-save tag"] {
        let dir = temp_dir();
        fs::write(dir.path().join("f"), "old").expect("a file");
        fs::write(dir.path().join("tag"), "\"1\"\n").expect("a file");
        let url = server.url("/");
        let arguments = || ["--checksum", checksum, "-o", "f", &url].into_iter().chain(options.split(' '));
        let first = run_fetch_url_in(dir.path(), arguments());
        first.assert_exit(0).assert_stderr_contains("checksum");
        assert_eq!(fs::read_to_string(dir.path().join("f")).expect("a file"), "new", "{options}");
        fs::write(dir.path().join("tag"), "\"1\"\n").expect("a file");
        let requests = server.requests().len();
        run_fetch_url_in(dir.path(), arguments()).assert_exit(0);
        let second = &server.requests()[requests..];
        assert_eq!(second.len(), 1, "{options}");
        assert!(second[0].header("if-none-match").or(second[0].header("if-modified-since")).is_some());
    }
    // The line of a list can require it.
    let dir = temp_dir();
    fs::write(dir.path().join("f"), "old").expect("a file");
    fs::write(dir.path().join("list"), format!("{}\tf\t{checksum}\n", server.url("/"))).expect("a file");
    run_fetch_url_in(dir.path(), ["-z", "f", "--input-file", "list"]).assert_exit(0);
    assert_eq!(fs::read_to_string(dir.path().join("f")).expect("a file"), "new");
}

/// Servers that ignore the condition and send dates with a wrong weekday or in an obsolete format.
#[test]
fn lenient_dates_of_servers_are_compared() {
    for (date, is_transferred) in [
        ("Tue, 01 Dec 1994 12:34:56 GMT", false),
        ("Thu, 01-Dec-94 12:34:56 GMT", false),
        ("Thu Dec  1 12:34:56 1994", false),
        ("Thu, 1 Dec 1994 13:34:56 +0100", false),
        ("Tue, 01 Dec 1994 12:34:58 GMT", true),
    ] {
        let server = http_server(move |_: &HttpRequest| {
            HttpResponse::new(200).header("Last-Modified", date).body("new")
        });
        let directory = prepare_directory();
        run_fetch_url_in(directory.path(), ["-z", "after", "-o", "target", &server.url("/")]).assert_exit(0);
        let content = fs::read_to_string(directory.path().join("target")).expect("a file");
        assert_eq!(content, if is_transferred { "new" } else { "old" }, "{date}");
    }
}

#[test]
fn condition_on_an_unreadable_date_keeps_the_existing_file_with_a_note() {
    let server =
        http_server(|_: &HttpRequest| HttpResponse::new(200).header("Last-Modified", "lately").body("new"));
    let directory = prepare_directory();
    let result = run_fetch_url_in(directory.path(), ["-z", "same", "-o", "target", &server.url("/")]);
    result.assert_exit(0).assert_stderr_contains("Last-Modified cannot be read");
    assert_eq!(fs::read_to_string(directory.path().join("target")).expect("a file"), "old");
    // Without an existing file, nothing can be lost.
    run_fetch_url_in(directory.path(), ["-z", "same", "-o", "absent", &server.url("/")]).assert_exit(0);
    assert_eq!(fs::read_to_string(directory.path().join("absent")).expect("a file"), "new");
}

#[test]
fn condition_is_sent_to_http_server() {
    let server = http_server(evaluate_conditions);
    for (condition, is_transferred) in CONDITIONS {
        // 412 is the expected reply to a false If-Unmodified-Since, not an error.
        check_condition(&server.url("/object"), condition, is_transferred);
    }
}

/// The server sends the file in any case; fetch-url evaluates the condition itself.
#[test]
fn condition_is_evaluated_when_server_ignores_it() {
    let server = http_server(ignore_conditions);
    for (condition, is_transferred) in CONDITIONS {
        check_condition(&server.url("/object"), condition, is_transferred);
    }
}

#[test]
fn condition_is_evaluated_for_local_files() {
    for (condition, is_transferred) in CONDITIONS {
        let directory = prepare_directory();
        let url = format!("file://{}", directory.path().join("object").display());
        check_condition(&url, condition, is_transferred);
    }
}

#[test]
fn condition_headers_equal_those_of_curl() {
    let (server, directory) = (http_server(evaluate_conditions), prepare_directory());
    // curl does not know ISO 8601 dates, and differs for the very second of RFC 9110 §13.1.4.
    for (condition, _) in
        CONDITIONS.iter().filter(|(condition, _)| !condition.contains("1994-12") && *condition != "-same")
    {
        let url = server.url("/object");
        let arguments = ["-z", condition, "-w", "|%{http_code}", &url];
        let Some(curl) = run_curl(directory.path(), arguments) else { return };
        // Without -f, curl prints the body of an error response.
        if curl.stdout_text().ends_with("412") {
            continue;
        }
        let fetch_url = run_fetch_url_in(directory.path(), arguments);
        assert_eq!((fetch_url.exit, fetch_url.stdout_text()), (curl.exit, curl.stdout_text()), "{condition}");
        let requests = server.requests();
        let sent =
            |back: usize, name: &str| requests[requests.len() - back].header_text(name).map(str::to_owned);
        for name in ["if-modified-since", "if-unmodified-since"] {
            assert_eq!(sent(1, name), sent(2, name), "{condition}: {name}");
        }
    }
}

/// The modification time is unknown.
#[test]
fn file_without_last_modified_is_transferred() {
    let server = http_server(|_| HttpResponse::new(200).body("new"));
    for condition in [LATER, "-1994-12-01"] {
        assert_eq!(run_fetch_url(["-z", condition, &server.url("/")]).assert_exit(0).stdout_text(), "new");
    }
}

#[test]
fn status_304_without_condition_is_an_error() {
    let server = http_server(|_| HttpResponse::new(304));
    let directory = prepare_directory();
    let result = run_fetch_url_in(directory.path(), ["-o", "target", &server.url("/")]);
    let content = fs::read_to_string(directory.path().join("target")).expect("a file");
    assert_eq!(content, "old");
    assert_ne!(result.exit, 0, "304 without a condition is not an error: {}", result.stderr);
}

/// Another server gets no header fields and no ETag of the user.
#[test]
fn status_304_without_condition_is_an_error_after_a_redirect_to_another_server() {
    let other = http_server(|_| HttpResponse::new(304));
    let target = other.url("/b");
    let server = http_server(move |_| HttpResponse::new(302).header("Location", target.clone()));
    let directory = prepare_directory();
    fs::write(directory.path().join("tag"), "\"v\"\n").expect("a file");
    let (url, other_url) = (server.url("/"), other.url("/"));
    for (condition, url) in [
        (&["-H", "If-None-Match: \"v\""][..], &url),
        (&["--etag-compare", "tag"], &url),
        // The condition is removed.
        (&["-z", "2020-01-01", "-H", "If-Modified-Since:"], &other_url),
    ] {
        let arguments = [condition, &["-L", "-o", "new", url]].concat();
        run_fetch_url_in(directory.path(), arguments).assert_exit(8);
        assert!(!directory.path().join("new").exists());
    }
    assert!(other.requests().iter().all(|request| request.header("if-none-match").is_none()));
}

#[test]
fn invalid_dates_exit_with_2() {
    let server = http_server(ignore_conditions);
    for condition in ["31 Feb 2000 12:00", "2000-13-01 00:00", "Sat, 99 Nov 2026 12:34:56 GMT"] {
        run_fetch_url(["-z", condition, &server.url("/")]).assert_exit(2);
    }
    assert_eq!(server.requests(), []);
}

fn server_with_last_modified(last_modified: &'static [u8]) -> HttpServer {
    http_server(move |_| HttpResponse::new(200).header("Last-Modified", last_modified).body("new"))
}

#[test]
fn remote_time_is_set_on_the_output_file() {
    let directory = temp_dir();
    let output = directory.path().join("output");
    run_fetch_url_in(
        directory.path(),
        ["-R", "-o", "output", &server_with_last_modified(DATE.as_bytes()).url("/")],
    )
    .assert_exit(0);
    assert_eq!(modified(&output), CHANGED);
    run_fetch_url_in(
        directory.path(),
        ["-R", "-O", &server_with_last_modified(DATE.as_bytes()).url("/named")],
    )
    .assert_exit(0);
    assert_eq!(modified(&directory.path().join("named")), CHANGED);
    let from = format!("file://{}", output.display());
    run_fetch_url_in(directory.path(), ["-R", "-o", "copy", &from]).assert_exit(0);
    assert_eq!(modified(&directory.path().join("copy")), CHANGED);
    // Together with -z, the next run transfers the file only if it is newer.
    let server = http_server(evaluate_conditions);
    run_fetch_url_in(directory.path(), ["-R", "-z", "output", "-o", "output", &server.url("/")])
        .assert_exit(0);
    assert_eq!((modified(&output), server.requests().len()), (CHANGED, 1));
    assert_eq!(fs::read_to_string(&output).expect("a file"), "new");
}

/// The Last-Modified field is invalid or useless: the transfer succeeds with the current time.
#[test]
fn invalid_last_modified_is_ignored() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    for date in [
        &b"yesterday"[..],
        b"",
        b"-1",
        b"Thu, 01 Dec 1994",
        b"Fri, 31 Feb 2000 12:00:00 GMT",
        b"Thu, 01 Dec 99999999999999 12:34:56 GMT",
        b"\xff\xfe",
        b"0",
    ] {
        let directory = temp_dir();
        let result = run_fetch_url_in(
            directory.path(),
            ["-R", "-z", "1990-01-01", "-o", "output", &server_with_last_modified(date).url("/")],
        );
        assert_eq!(result.exit, 0, "{}: {}", date.escape_ascii(), result.stderr);
        let time = modified(&directory.path().join("output"));
        assert!(time + 2 >= now, "{}: the file is of {time}", date.escape_ascii());
    }
}

#[test]
fn last_modified_is_read_in_every_date_format() {
    for (date, seconds) in [
        (&b"Thu, 01 Jan 1970 00:00:00 GMT"[..], 0),
        (b"Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
        (b"Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        (b"Sun Nov  6 08:49:37 1994", 784_111_777),
    ] {
        let directory = temp_dir();
        run_fetch_url_in(directory.path(), ["-R", "-o", "output", &server_with_last_modified(date).url("/")])
            .assert_exit(0);
        assert_eq!(modified(&directory.path().join("output")), seconds, "{}", date.escape_ascii());
    }
}

/// Returns the modification time of a file in seconds since 1970, negative before.
fn signed_modified(path: &Path) -> i64 {
    fs::metadata(path).expect("a file").mtime()
}

#[test]
fn remote_time_before_1970_is_set_and_compared() {
    const DATE_OF_1967: &str = "Tue, 13 Jun 1967 08:49:37 GMT";
    const SECONDS_OF_1967: i64 = -80_579_423;
    let directory = temp_dir();
    let output = directory.path().join("output");
    let old = server_with_last_modified(DATE_OF_1967.as_bytes());
    run_fetch_url_in(directory.path(), ["-R", "-o", "output", &old.url("/")]).assert_exit(0);
    assert_eq!(signed_modified(&output), SECONDS_OF_1967);
    // A local file keeps its time, too, and -I shows it.
    let from = format!("file://{}", output.display());
    run_fetch_url_in(directory.path(), ["-R", "-o", "copy", &from]).assert_exit(0);
    assert_eq!(signed_modified(&directory.path().join("copy")), SECONDS_OF_1967);
    let head = run_fetch_url(["-I", &from]).assert_exit(0).stdout_text();
    assert!(head.contains("1967-06-13"), "{head}");
    // -z compares with the exact time: an object of 1967 is unchanged, one of 1968 is newer.
    for (date, content) in [(DATE_OF_1967, "old"), ("Thu, 13 Jun 1968 08:49:37 GMT", "new")] {
        fs::write(&output, "old").expect("write file");
        let time = UNIX_EPOCH - Duration::from_secs(SECONDS_OF_1967.unsigned_abs());
        File::options().append(true).open(&output).expect("a file").set_modified(time).expect("a time");
        let server = server_with_last_modified(date.as_bytes());
        run_fetch_url_in(directory.path(), ["-z", "output", "-o", "output", &server.url("/")]).assert_exit(0);
        assert_eq!(fs::read_to_string(&output).expect("a file"), content, "{date}");
        let sent = server.requests()[0].header_text("if-modified-since").map(str::to_owned);
        assert_eq!(sent.as_deref(), Some(DATE_OF_1967), "{date}");
    }
}
