//! `--input-file`, `--skip-existing` and `--parallel-max-host`: many transfers in one run.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use crate::support::{RunResult, run_fetch_url_in, run_measuring_memory, run_shell, temp_dir};
use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse, HttpServer};

const MD5_OF_ABC: &str = "md5:900150983cd24fb0d6963f7d28e17f72";

/// Starts an HTTP server: paths that start with `/no` get 404, the content of every other path is its name.
fn start_server() -> HttpServer {
    let started = HttpServer::start(|request| match request.path() {
        path if path.starts_with("/no") => HttpResponse::new(404).body("no such file"),
        path => HttpResponse::new(200).body(path.trim_start_matches('/').to_owned()),
    });
    started.expect("a server")
}

fn run_input_file(dir: &Path, lines: &str, options: &[&str]) -> RunResult {
    fs::write(dir.join("list"), lines).expect("a list");
    run_fetch_url_in(dir, ["--input-file", "list"].iter().chain(options))
}

fn read_if_exists(dir: &Path, name: &str) -> Option<String> {
    fs::read_to_string(dir.join(name)).ok()
}

#[test]
fn comments_names_and_checksums_in_input_lines_are_used() {
    let http = start_server();
    let at = |path: &str| http.url(path);
    let lines = format!(
        "# a comment\n\n{}\n{}\tnamed file\n{}\tx\t{MD5_OF_ABC}\r\n{}",
        at("/plain"),
        at("/other"),
        at("/abc"),
        at("/last"),
    );
    for parallel in [&[][..], &["-Z"]] {
        let dir = temp_dir();
        run_input_file(dir.path(), &lines, parallel).assert_exit(0);
        for (name, text) in [("plain", "plain"), ("named file", "other"), ("x", "abc"), ("last", "last")] {
            assert_eq!(read_if_exists(dir.path(), name).as_deref(), Some(text), "{name}");
        }
    }
    let dir = temp_dir();
    let options = ["--output-dir", "sub", "--create-dirs"];
    run_input_file(dir.path(), &lines, &options).assert_exit(0);
    assert_eq!(read_if_exists(dir.path(), "sub/named file").as_deref(), Some("other"));
    // An input file together with URLs on the command line, and on standard input.
    let dir = temp_dir();
    let url = at("/typed");
    run_input_file(dir.path(), &lines, &["-o", "typed", &url]).assert_exit(0);
    assert_eq!(read_if_exists(dir.path(), "typed").as_deref(), Some("typed"));
    let piped = run_shell(
        "cd \"$1\" && printf '%s\\n' \"$2\" | \"$F\" --retry 0 --input-file -",
        [dir.path().as_os_str(), at("/piped").as_ref()],
    );
    piped.assert_exit(0);
    assert_eq!(read_if_exists(dir.path(), "piped").as_deref(), Some("piped"));
}

/// The exit status is that of the first failed line; the other lines are fetched.
#[test]
fn failed_line_does_not_stop_the_others() {
    let http = start_server();
    let dir = temp_dir();
    let at = |path: &str| http.url(path);
    let lines = format!("{}\n{}\n{}\tx\t{MD5_OF_ABC}\n{}\n", at("/a"), at("/no"), at("/b"), at("/c"));
    run_input_file(dir.path(), &lines, &[])
        .assert_exit(78)
        .assert_stderr_contains("/no")
        .assert_stderr_contains("checksum mismatch");
    assert!(read_if_exists(dir.path(), "a").is_some() && read_if_exists(dir.path(), "c").is_some());
    assert!(read_if_exists(dir.path(), "x").is_none());
    let dir = temp_dir();
    run_input_file(dir.path(), &lines, &["--fail-early"]).assert_exit(78);
    assert!(read_if_exists(dir.path(), "a").is_some() && read_if_exists(dir.path(), "c").is_none());
    // An invalid line ends the run, and the message names its number.
    for wrong in ["\tx", &format!("{}\tx\tmd5:0", at("/d")), &format!("{}\tx\t\t\t", at("/d"))] {
        let dir = temp_dir();
        let result = run_input_file(dir.path(), &format!("{}\n{wrong}\n{}\n", at("/a"), at("/c")), &[]);
        result.assert_exit(2).assert_stderr_contains("fetch-url: usage: list:2: ");
        assert!(read_if_exists(dir.path(), "a").is_some() && read_if_exists(dir.path(), "c").is_none());
    }
    let result = run_fetch_url_in(dir.path(), ["--input-file", "missing"]);
    result.assert_exit(2).assert_stderr_contains("missing");
    // An invalid URL is a failure of its line only.
    let dir = temp_dir();
    run_input_file(dir.path(), &format!("http://h:x/\n{}\n", at("/c")), &[]).assert_exit(3);
    assert!(read_if_exists(dir.path(), "c").is_some());
}

/// A line with several URLs of the same file: the first one that works is used.
#[test]
fn alternative_urls_are_tried_in_order() {
    let http = start_server();
    let ftp = FtpServer::start(FtpConfig::new().anonymous().file("abc", "abc")).expect("a server");
    let stopped_url = { HttpServer::start(|_| HttpResponse::new(200)).expect("a server").url("/abc") };
    let dir = temp_dir();
    let lines = format!(
        "nfs://h/abc http://h:x/ {} {stopped_url} {}\tone\t{MD5_OF_ABC}\n{} {}\ttwo\t{MD5_OF_ABC}\n{} {}\tthree\n",
        http.url("/no"),
        ftp.url("abc"),
        http.url("/wrong"),
        http.url("/abc"),
        http.url("/no1"),
        http.url("/no2"),
    );
    let result = run_input_file(dir.path(), &lines, &[]);
    result.assert_exit(78).assert_stderr_contains("instead").assert_stderr_contains("/no2");
    assert_eq!(read_if_exists(dir.path(), "one").as_deref(), Some("abc"));
    assert_eq!(read_if_exists(dir.path(), "two").as_deref(), Some("abc"));
    assert!(read_if_exists(dir.path(), "three").is_none());
}

#[test]
fn skip_existing_fetches_only_missing_files() {
    let http = start_server();
    let dir = temp_dir();
    fs::write(dir.path().join("a"), "old").expect("a file");
    let lines = format!("{}\n{}\n", http.url("/a"), http.url("/b"));
    run_input_file(dir.path(), &lines, &["--skip-existing"]).assert_exit(0);
    assert_eq!(read_if_exists(dir.path(), "a").as_deref(), Some("old"));
    assert_eq!(read_if_exists(dir.path(), "b").as_deref(), Some("b"));
    assert_eq!(http.requests().len(), 1);
    // The second run sends no request.
    run_input_file(dir.path(), &lines, &["--skip-existing"]).assert_exit(0);
    assert_eq!(http.requests().len(), 1);
}

#[test]
fn parallel_max_host_limits_requests_to_one_host() {
    let (now, max_parallel) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (active, peak) = (now, max_parallel.clone());
    let http = HttpServer::start(move |_| {
        peak.fetch_max(active.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        sleep(Duration::from_millis(20));
        active.fetch_sub(1, Ordering::SeqCst);
        HttpResponse::new(200).body("x")
    });
    let http = http.expect("a server");
    let lines: String = (0..24).map(|number| format!("{}\n", http.url(&format!("/{number}")))).collect();
    let run = |limit: &str| {
        max_parallel.store(0, Ordering::SeqCst);
        let options = ["-Z", "--parallel-max", "8", "--parallel-max-host", limit];
        run_input_file(temp_dir().path(), &lines, &options).assert_exit(0);
        max_parallel.load(Ordering::SeqCst)
    };
    assert!(run("2") <= 2);
    assert!(run("8") > 2);
}

/// 100,000 lines whose files exist already, in at most 64 MiB.
#[test]
fn input_file_of_100_000_lines_needs_bounded_memory() {
    let dir = temp_dir();
    fs::write(dir.path().join("there"), "x").expect("a file");
    let path = dir.path().join("there");
    let line = format!("http://127.0.0.1:1/a/rather/long/path/of/no/use\t{}\n", path.display());
    let list = dir.path().join("list");
    fs::write(&list, line.repeat(100_000)).expect("a list");
    let (memory, result) =
        run_measuring_memory(&["--skip-existing", "--input-file", list.to_str().expect("UTF-8")]);
    result.assert_exit(0);
    assert!(memory > 0 && memory < 64 * 1024, "{memory} KiB");
}

#[test]
fn byte_order_mark_at_the_start_of_a_list_is_skipped() {
    let http = start_server();
    let dir = temp_dir();
    let lines = format!("\u{feff}{}\n{}\n", http.url("/one"), http.url("/two"));
    run_input_file(dir.path(), &lines, &[]).assert_exit(0);
    assert_eq!(read_if_exists(dir.path(), "one").as_deref(), Some("one"));
    let result =
        run_input_file(dir.path(), &format!("{}\n\u{feff}{}\n", http.url("/one"), http.url("/two")), &[]);
    result.assert_exit(3);
    run_input_file(dir.path(), "\u{feff}# a comment\n", &[]).assert_exit(0);
}

#[test]
fn file_name_that_ends_with_a_slash_exits_with_2() {
    let server = start_server();
    for directory in ["", "sub"] {
        let dir = temp_dir();
        fs::create_dir_all(dir.path().join(directory)).expect("a directory");
        let line = format!("{}\tsub/\n", server.url("/a"));
        let result = run_input_file(dir.path(), &line, &["--create-dirs"]);
        result.assert_exit(2).assert_stderr_contains("the name of a file is missing");
        assert_eq!(dir.path().join("sub").exists(), !directory.is_empty());
    }
    assert_eq!(server.connections(), 0);
}
