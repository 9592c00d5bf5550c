//! `--input-file`, `--skip-existing` and `--parallel-max-host`: many objects in one run.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use fetch_url_tests::{FtpServer, FtpSite, HttpReply, HttpServer};
use support::sound::measured;
use support::{Ran, fetch_in, shell};

const MD5_OF_ABC: &str = "md5:900150983cd24fb0d6963f7d28e17f72";

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// Every path that does not begin with `/no` is there and holds its own name.
fn server() -> HttpServer {
    let started = HttpServer::start(|request| match request.path() {
        path if path.starts_with("/no") => HttpReply::new(404).body("no such file"),
        path => HttpReply::new(200).body(path.trim_start_matches('/').to_owned()),
    });
    started.expect("a server")
}

fn fetched(directory: &Path, lines: &str, more: &[&str]) -> Ran {
    fs::write(directory.join("list"), lines).expect("a list");
    fetch_in(directory, ["--input-file", "list"].iter().chain(more))
}

fn content(directory: &Path, name: &str) -> Option<String> {
    fs::read_to_string(directory.join(name)).ok()
}

#[test]
fn lines_of_every_kind() {
    let http = server();
    let at = |path: &str| http.url(path);
    let lines = format!(
        "# a comment\n\n{}\n{}\tnamed file\n{}\tx\t{MD5_OF_ABC}\r\n{}",
        at("/plain"),
        at("/other"),
        at("/abc"),
        at("/last"),
    );
    for parallel in [&[][..], &["-Z"]] {
        let directory = place();
        fetched(directory.path(), &lines, parallel).exits(0);
        for (name, text) in [("plain", "plain"), ("named file", "other"), ("x", "abc"), ("last", "last")] {
            assert_eq!(content(directory.path(), name).as_deref(), Some(text), "{name}");
        }
    }
    let directory = place();
    let more = ["--output-dir", "sub", "--create-dirs"];
    fetched(directory.path(), &lines, &more).exits(0);
    assert_eq!(content(directory.path(), "sub/named file").as_deref(), Some("other"));
    // Beside URLs of the command line, and from a pipe.
    let directory = place();
    let url = at("/typed");
    fetched(directory.path(), &lines, &["-o", "typed", &url]).exits(0);
    assert_eq!(content(directory.path(), "typed").as_deref(), Some("typed"));
    let piped = shell(
        "cd \"$1\" && printf '%s\\n' \"$2\" | \"$F\" --retry 0 --input-file -",
        [directory.path().as_os_str(), at("/piped").as_ref()],
    );
    piped.exits(0);
    assert_eq!(content(directory.path(), "piped").as_deref(), Some("piped"));
}

/// A failure is one line's, and the status of the first one is the run's.
#[test]
fn failures() {
    let http = server();
    let directory = place();
    let at = |path: &str| http.url(path);
    let lines = format!("{}\n{}\n{}\tx\t{MD5_OF_ABC}\n{}\n", at("/a"), at("/no"), at("/b"), at("/c"));
    fetched(directory.path(), &lines, &[]).exits(78).says("/no").says("wrong checksum");
    assert!(content(directory.path(), "a").is_some() && content(directory.path(), "c").is_some());
    assert!(content(directory.path(), "x").is_none());
    let directory = place();
    fetched(directory.path(), &lines, &["--fail-early"]).exits(78);
    assert!(content(directory.path(), "a").is_some() && content(directory.path(), "c").is_none());
    // A line that nobody understands ends the run, and is told.
    for wrong in ["\tx", &format!("{}\tx\tmd5:0", at("/d")), &format!("{}\tx\t\t\t", at("/d"))] {
        let directory = place();
        let ran = fetched(directory.path(), &format!("{}\n{wrong}\n{}\n", at("/a"), at("/c")), &[]);
        ran.exits(2).says("fetch-url: usage: list:2: ");
        assert!(content(directory.path(), "a").is_some() && content(directory.path(), "c").is_none());
    }
    let ran = fetch_in(directory.path(), ["--input-file", "missing"]);
    ran.exits(2).says("missing");
    // What is no URL is that line's failure alone.
    let directory = place();
    fetched(directory.path(), &format!("http://h:x/\n{}\n", at("/c")), &[]).exits(3);
    assert!(content(directory.path(), "c").is_some());
}

/// Several places of one object: the first that has it.
#[test]
fn other_places() {
    let http = server();
    let ftp = FtpServer::start(FtpSite::new().anonymous().file("abc", "abc")).expect("a server");
    let gone = { HttpServer::start(|_| HttpReply::new(200)).expect("a server").url("/abc") };
    let directory = place();
    let lines = format!(
        "nfs://h/abc http://h:x/ {} {gone} {}\tone\t{MD5_OF_ABC}\n{} {}\ttwo\t{MD5_OF_ABC}\n{} {}\tthree\n",
        http.url("/no"),
        ftp.url("abc"),
        http.url("/wrong"),
        http.url("/abc"),
        http.url("/no1"),
        http.url("/no2"),
    );
    let ran = fetched(directory.path(), &lines, &[]);
    ran.exits(78).says("instead").says("/no2");
    assert_eq!(content(directory.path(), "one").as_deref(), Some("abc"));
    assert_eq!(content(directory.path(), "two").as_deref(), Some("abc"));
    assert!(content(directory.path(), "three").is_none());
}

#[test]
fn what_is_there_is_not_fetched() {
    let http = server();
    let directory = place();
    fs::write(directory.path().join("a"), "old").expect("a file");
    let lines = format!("{}\n{}\n", http.url("/a"), http.url("/b"));
    fetched(directory.path(), &lines, &["--skip-existing"]).exits(0);
    assert_eq!(content(directory.path(), "a").as_deref(), Some("old"));
    assert_eq!(content(directory.path(), "b").as_deref(), Some("b"));
    assert_eq!(http.requests().len(), 1);
    // Run once more, nothing is asked for.
    fetched(directory.path(), &lines, &["--skip-existing"]).exits(0);
    assert_eq!(http.requests().len(), 1);
}

#[test]
fn not_too_many_at_one_host() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (now, most.clone());
    let http = HttpServer::start(move |_| {
        peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        sleep(Duration::from_millis(20));
        running.fetch_sub(1, Ordering::SeqCst);
        HttpReply::new(200).body("x")
    });
    let http = http.expect("a server");
    let lines: String = (0..24).map(|number| format!("{}\n", http.url(&format!("/{number}")))).collect();
    let run = |limit: &str| {
        most.store(0, Ordering::SeqCst);
        let more = ["-Z", "--parallel-max", "8", "--parallel-max-host", limit];
        fetched(place().path(), &lines, &more).exits(0);
        most.load(Ordering::SeqCst)
    };
    assert!(run("2") <= 2);
    assert!(run("8") > 2);
}

/// A hundred thousand lines are no hundred thousand transfers in memory (BENCH.md, 7). Their files are there already.
#[test]
fn very_many_lines() {
    let directory = place();
    fs::write(directory.path().join("there"), "x").expect("a file");
    let path = directory.path().join("there");
    let line = format!("http://127.0.0.1:1/a/rather/long/path/of/no/use\t{}\n", path.display());
    let list = directory.path().join("list");
    fs::write(&list, line.repeat(100_000)).expect("a list");
    let (memory, ran) = measured(&["--skip-existing", "--input-file", list.to_str().expect("UTF-8")]);
    ran.exits(0);
    assert!(memory > 0 && memory < 64 * 1024, "{memory} KiB");
}
