//! `-z` and `-R`: only what changed, and when it did (CLI.md "output", SEMANTICS.md §9 and §12).

#![allow(clippy::expect_used, reason = "a helper of tests")]

#[path = "support/curl.rs"]
mod second_opinion;
mod support;

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fetch_url_tests::{HttpReply, HttpRequest, HttpServer};
use second_opinion::curl_in;
use support::{fetch, fetch_in, names, serving};

/// Thu, 01 Dec 1994 12:34:56 GMT: when RFC 1738 was about to come out.
const CHANGED: u64 = 786_285_296;
const DATE: &str = "Thu, 01 Dec 1994 12:34:56 GMT";
const EARLIER: &str = "Thu, 01 Dec 1994 12:34:55 GMT";
const LATER: &str = "Fri, 02 Dec 1994 12:34:56 GMT";

fn asked(request: &HttpRequest, name: &str) -> Option<u64> {
    let time = httpdate::parse_http_date(request.header_text(name)?).ok()?;
    Some(time.duration_since(UNIX_EPOCH).expect("after 1970").as_secs())
}

/// RFC 9110 §13.1.3 and §13.1.4 to the letter.
fn honest(request: &HttpRequest) -> HttpReply {
    if asked(request, "if-modified-since").is_some_and(|since| since >= CHANGED) {
        return HttpReply::new(304).header("Last-Modified", DATE);
    }
    if asked(request, "if-unmodified-since").is_some_and(|since| since < CHANGED) {
        return HttpReply::new(412).body("changed since");
    }
    HttpReply::new(200).header("Last-Modified", DATE).body("new")
}

/// It has never heard of conditions.
fn deaf(_: &HttpRequest) -> HttpReply {
    HttpReply::new(200).header("Last-Modified", DATE).body("new")
}

fn set_time(path: &Path, seconds: u64) {
    let time = UNIX_EPOCH + Duration::from_secs(seconds);
    File::options().write(true).open(path).and_then(|file| file.set_modified(time)).expect("our own file");
}

fn time_of(path: &Path) -> u64 {
    let time = fs::metadata(path).and_then(|facts| facts.modified()).expect("a time");
    time.duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

/// A directory with `target` of old content, `before` and `after` as marks in time, and `object`.
fn prepared() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, content, time) in [
        ("target", "old", CHANGED - 1000),
        ("before", "", CHANGED - 1),
        ("same", "", CHANGED),
        ("after", "", CHANGED + 1),
        ("object", "new", CHANGED),
    ] {
        fs::write(directory.path().join(name), content).expect("a file");
        set_time(&directory.path().join(name), time);
    }
    directory
}

/// What is written behind `-z`, and whether the object of `CHANGED` comes.
const ROWS: [(&str, bool); 16] = [
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

fn check(url: &str, condition: &str, comes: bool) {
    let directory = prepared();
    let path = |name: &str| directory.path().join(name);
    let before = names(directory.path());
    let ran = fetch_in(directory.path(), ["-z", condition, url]);
    assert_eq!(
        (ran.exit, ran.text().as_str()),
        (0, if comes { "new" } else { "" }),
        "{url} {condition}: {}",
        ran.stderr
    );
    fetch_in(directory.path(), ["-z", condition, "-o", "target", url]).exits(0);
    let content = fs::read_to_string(path("target")).expect("a file");
    assert_eq!(content, if comes { "new" } else { "old" }, "{url} {condition}");
    assert_eq!(names(directory.path()), before, "{url} {condition} left something");
    if !comes {
        assert_eq!(
            time_of(&path("target")),
            CHANGED - 1000,
            "{url} {condition}: the old file is not touched"
        );
        fetch_in(directory.path(), ["-z", condition, "-o", "absent", url]).exits(0);
        assert!(!path("absent").exists(), "{url} {condition}: nothing came");
    }
}

#[test]
fn an_honest_server() {
    let server = serving(honest);
    for (condition, comes) in ROWS {
        // A 412 is an error to a server; whoever wrote -z asked for it.
        check(&server.url("/object"), condition, comes);
    }
}

/// The object comes all the same; the answer is read as if it had heard.
#[test]
fn a_server_that_ignores_the_condition() {
    let server = serving(deaf);
    for (condition, comes) in ROWS {
        check(&server.url("/object"), condition, comes);
    }
}

#[test]
fn files() {
    for (condition, comes) in ROWS {
        let directory = prepared();
        let url = format!("file://{}", directory.path().join("object").display());
        check(&url, condition, comes);
    }
}

#[test]
fn the_same_as_curl() {
    let (server, directory) = (serving(honest), prepared());
    // The short dates of ISO 8601 are ours; "not after" includes the very second in RFC 9110 §13.1.4 alone.
    for (condition, _) in
        ROWS.iter().filter(|(condition, _)| !condition.contains("1994-12") && *condition != "-same")
    {
        let url = server.url("/object");
        let arguments = ["-z", condition, "-w", "|%{http_code}", &url];
        let Some(theirs) = curl_in(directory.path(), arguments) else { return };
        // Of an error status curl without -f has another opinion.
        if theirs.text().ends_with("412") {
            continue;
        }
        let ours = fetch_in(directory.path(), arguments);
        assert_eq!((ours.exit, ours.text()), (theirs.exit, theirs.text()), "{condition}");
        let requests = server.requests();
        let sent =
            |back: usize, name: &str| requests[requests.len() - back].header_text(name).map(str::to_owned);
        for name in ["if-modified-since", "if-unmodified-since"] {
            assert_eq!(sent(1, name), sent(2, name), "{condition}: {name}");
        }
    }
}

/// Nothing is known of when it changed: it comes.
#[test]
fn without_last_modified() {
    let server = serving(|_| HttpReply::new(200).body("new"));
    for condition in [LATER, "-1994-12-01"] {
        assert_eq!(fetch(["-z", condition, &server.url("/")]).exits(0).text(), "new");
    }
}

#[test]
fn a_304_that_was_not_asked_for() {
    let server = serving(|_| HttpReply::new(304));
    let directory = prepared();
    let ran = fetch_in(directory.path(), ["-o", "target", &server.url("/")]);
    let content = fs::read_to_string(directory.path().join("target")).expect("a file");
    assert_eq!(content, "old");
    assert_ne!(ran.exit, 0, "nothing was fetched, and nobody had a condition: {}", ran.stderr);
}

#[test]
fn what_is_neither_date_nor_file() {
    let server = serving(deaf);
    for condition in ["31 Feb 2000 12:00", "2000-13-01 00:00", "Sat, 99 Nov 2026 12:34:56 GMT"] {
        fetch(["-z", condition, &server.url("/")]).exits(2);
    }
    assert_eq!(server.requests(), []);
}

fn dated(last_modified: &'static [u8]) -> HttpServer {
    serving(move |_| HttpReply::new(200).header("Last-Modified", last_modified).body("new"))
}

#[test]
fn the_time_of_the_object() {
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path().join("here");
    fetch_in(directory.path(), ["-R", "-o", "here", &dated(DATE.as_bytes()).url("/")]).exits(0);
    assert_eq!(time_of(&here), CHANGED);
    fetch_in(directory.path(), ["-R", "-O", &dated(DATE.as_bytes()).url("/named")]).exits(0);
    assert_eq!(time_of(&directory.path().join("named")), CHANGED);
    let from = format!("file://{}", here.display());
    fetch_in(directory.path(), ["-R", "-o", "copy", &from]).exits(0);
    assert_eq!(time_of(&directory.path().join("copy")), CHANGED);
    // The next run asks only for what is newer: that is what people have both for.
    let server = serving(honest);
    fetch_in(directory.path(), ["-R", "-z", "here", "-o", "here", &server.url("/")]).exits(0);
    assert_eq!((time_of(&here), server.requests().len()), (CHANGED, 1));
    assert_eq!(fs::read_to_string(&here).expect("a file"), "new");
}

/// A date that is none, or is of no use, changes neither the outcome nor the time.
#[test]
fn times_that_are_none() {
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
        let directory = tempfile::tempdir().expect("a directory");
        let ran = fetch_in(directory.path(), ["-R", "-z", "1990-01-01", "-o", "here", &dated(date).url("/")]);
        assert_eq!(ran.exit, 0, "{}: {}", date.escape_ascii(), ran.stderr);
        let time = time_of(&directory.path().join("here"));
        assert!(time + 2 >= now, "{}: the file is of {time}", date.escape_ascii());
    }
}

#[test]
fn times_at_the_ends_of_the_calendar() {
    for (date, seconds) in [
        (&b"Thu, 01 Jan 1970 00:00:00 GMT"[..], 0),
        (b"Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
        (b"Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        (b"Sun Nov  6 08:49:37 1994", 784_111_777),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        fetch_in(directory.path(), ["-R", "-o", "here", &dated(date).url("/")]).exits(0);
        assert_eq!(time_of(&directory.path().join("here")), seconds, "{}", date.escape_ascii());
    }
}
