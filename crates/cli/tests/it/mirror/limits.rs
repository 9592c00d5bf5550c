//! Limits of `mirror`: depth, number of entries, path length, parallel transfers, and the limits of single files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::mirror::{
    MIRROR_JOURNAL, endless_server, index_page, list_tree, nginx_index_with_sizes, run_mirror,
    run_mirror_with, small_tree_handler,
};
use crate::support::{entry_names, http_server, run_measuring_memory, temp_dir};
use fetch_url_tests::{FtpAction, FtpConfig, FtpServer, HttpResponse};

#[test]
fn endless_tree_ends_at_depth_32_or_max_entries() {
    let server = endless_server(
        "<a href=\"deeper/\">deeper/</a>\r\n<a href=\"f\">f</a>    01-Dec-1994 12:34    1\r\n",
    );
    let dir = temp_dir();
    let result = run_mirror(&server.url("/d/"), dir.path(), "");
    assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
    // The start directory and 32 levels below it.
    assert_eq!(server.requests().iter().filter(|request| request.path().ends_with('/')).count(), 33);
    assert_eq!(list_tree(dir.path()).iter().filter(|name| name.ends_with("f=x")).count(), 33);
    // Two subdirectories on each level: --max-entries counts the entries of all pages together.
    let server = endless_server(
        "<a href=\"a/\">a/</a>\r\n<a href=\"b/\">b/</a>\r\n<a href=\"f\">f</a>    01-Dec-1994 12:34    1\r\n",
    );
    let dir = temp_dir();
    let result = run_mirror(&server.url("/d/"), dir.path(), "--max-entries 100");
    result.assert_exit(63);
    let found = list_tree(dir.path()).len();
    assert!((20..=101).contains(&found), "{found}");
    assert!(server.requests().len() <= 130, "{}", server.requests().len());
}

/// An index page may have 32 MiB.
#[test]
fn other_directories_are_mirrored_if_one_listing_exceeds_its_limit() {
    let file = |name: &str| format!("<a href=\"{name}\">{name}</a>    01-Dec-1994 12:34    1\r\n");
    let server = http_server(move |request| match request.path().as_str() {
        "/d/" => index_page("<a href=\"a/\">a/</a>\r\n<a href=\"b/\">b/</a>\r\n<a href=\"c/\">c/</a>\r\n"),
        "/d/b/" => index_page(&format!("{}<!--{}-->", file("f"), " ".repeat(33 << 20))),
        path if path.ends_with('/') => index_page(&file("f")),
        _ => HttpResponse::new(200).header("Last-Modified", "Thu, 01 Dec 1994 12:34:00 GMT").body("x"),
    });
    let dir = temp_dir();
    run_mirror(&server.url("/d/"), dir.path(), "--parallel-max 1").assert_exit(63);
    let files = list_tree(dir.path());
    assert!(["a/f=x", "c/f=x"].iter().all(|file| files.iter().any(|found| found == file)), "{files:?}");
}

/// Paths longer than PATH_MAX are reported; the files with shorter paths are downloaded.
#[test]
fn paths_longer_than_the_system_allows_are_reported() {
    let long = "n".repeat(240);
    let server = endless_server(&format!(
        "<a href=\"{long}/\">x</a>\r\n<a href=\"f\">f</a>    01-Dec-1994 12:34    1\r\n"
    ));
    let dir = temp_dir();
    let result = run_mirror(&server.url("/d/"), dir.path(), "");
    assert!(!result.stderr.contains("panicked"), "{:.500}", result.stderr);
    // The local name may be shorter, so that `.part.json` can be appended.
    let below = entry_names(dir.path()).into_iter().find(|name| name.starts_with("nn")).expect("a directory");
    let is_there = dir.path().join("f").exists() && dir.path().join(below).join("f").exists();
    assert!(is_there, "{:?} exit {} {:.600}", entry_names(dir.path()), result.exit, result.stderr);
    let pages = server.requests().iter().filter(|request| request.path().ends_with('/')).count();
    assert!(pages <= 33, "{pages}");
}

#[test]
fn parallel_transfers_are_limited_by_options() {
    let (active, max_parallel) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let peak = max_parallel.clone();
    let many: Vec<String> = (0..24).map(|number| format!("f{number}")).collect();
    let server = http_server(move |request| {
        if request.path() == "/d/" {
            let entries: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "5")).collect();
            return nginx_index_with_sizes(&entries);
        }
        peak.fetch_max(active.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(15));
        active.fetch_sub(1, Ordering::SeqCst);
        HttpResponse::new(200).body("bytes")
    });
    let run = |options: &[&str]| {
        max_parallel.store(0, Ordering::SeqCst);
        let dir = temp_dir();
        run_mirror_with(&server.url("/d/"), dir.path(), options).assert_exit(0);
        assert_eq!(entry_names(dir.path()).len(), 25);
        max_parallel.load(Ordering::SeqCst)
    };
    assert!(run(&[]) > 1, "files are not transferred in parallel");
    let four = run(&["--parallel-max", "4"]);
    assert!((2..=4).contains(&four), "{four}");
    assert_eq!(run(&["--parallel-max-host", "1"]), 1);
    assert!(run(&["--parallel-max", "1"]) == 1);
}

/// Limits of one transfer apply to each file.
#[test]
fn file_size_and_time_limits_apply_to_each_file() {
    let dir = temp_dir();
    let big = http_server(|request| match request.path().as_str() {
        "/d/" => nginx_index_with_sizes(&[("a", "5"), ("big", "500")]),
        "/d/big" => HttpResponse::new(200).body("x".repeat(500)),
        _ => HttpResponse::new(200).body("bytes"),
    });
    run_mirror_with(&big.url("/d/"), dir.path(), &["--max-filesize", "450"]).assert_exit(63);
    assert_eq!(entry_names(dir.path()), [MIRROR_JOURNAL, "a"]);
    let slow = http_server(|request| match request.path().as_str() {
        "/d/" => nginx_index_with_sizes(&[("a", "5"), ("big", "500")]),
        "/d/big" => HttpResponse::new(200).body("x".repeat(500)).drip(10, Duration::from_millis(100)),
        _ => HttpResponse::new(200).body("bytes"),
    });
    let dir = temp_dir();
    run_mirror_with(&slow.url("/d/"), dir.path(), &["-m", "0.6"]).assert_exit(28);
    assert!(dir.path().join("a").exists() && !dir.path().join("big").exists());
    // Request bodies, methods and forms are rejected.
    for options in [&["--json", "{}"][..], &["--data-urlencode", "x"], &["-X", "DELETE"], &["--form", "a=b"]]
    {
        let (server, dir) = (http_server(small_tree_handler), temp_dir());
        let result = run_mirror_with(&server.url("/d/"), dir.path(), options);
        assert_eq!(result.exit, 2, "{options:?}: {:?}", server.requests());
        assert!(server.requests().iter().all(|request| request.method == "GET"), "{options:?}");
    }
}

/// A directory of 60,000 files took 95 MiB.
#[test]
fn memory_stays_small_while_many_files_wait_for_their_transfers() {
    let lines: String = (0..60_000)
        .map(|number| format!("<a href=\"some-file-{number}\">x</a>    01-Dec-1994 12:34    1\r\n"))
        .collect();
    let server = http_server(move |request| match request.path().as_str() {
        "/d/" => index_page(&lines),
        _ => HttpResponse::new(404),
    });
    let dir = temp_dir();
    let path = dir.path().to_str().expect("UTF-8");
    let arguments = ["mirror", "-s", "--retry", "0", "--fail-early", &server.url("/d/"), path];
    let (peak, result) = run_measuring_memory(&arguments);
    result.assert_exit(78);
    assert!(peak < 60 * 1024, "{peak} KiB");
}

/// docs/spec/cli.md, 26.16: the entries of a directory use at most 128 MiB. This is the limit of the whole process, in KiB.
const MAX_MEMORY: u64 = 150 * 1024;

/// Mirrors one file of an FTP directory with as many entries, whose names have `length` bytes.
fn mirror_large_directory(count: usize, length: usize, options: &[&str], expected_status: i32) {
    let line = |number: usize| format!("type=file;size=1; {number:0length$}\r\n");
    let listing = (0..count).map(line).collect::<String>().into_bytes();
    let config =
        FtpConfig::new().file(format!("/d/{:0length$}", 7), "7").on("MLSD", FtpAction::Data(listing));
    let (server, dir) = (FtpServer::start(config).expect("a server on loopback"), temp_dir());
    let (url, pattern) = (format!("ftp://{}/d/", server.addr()), format!("{:0length$}", 7));
    let target = dir.path().display().to_string();
    let fixed = ["mirror", "--retry", "0", "--include-glob", &pattern, &url, &target];
    let (memory, result) = run_measuring_memory(fixed.iter().chain(options));
    result.assert_exit(expected_status);
    assert!(memory > 0 && memory < MAX_MEMORY, "{count} names of {length} bytes: {memory} KiB");
    if expected_status == 0 {
        assert!(list_tree(dir.path()).contains(&format!("{pattern}=7")), "{:?}", list_tree(dir.path()));
    }
}

#[test]
fn directory_with_200000_files_is_mirrored_in_bounded_memory() {
    mirror_large_directory(200_000, 24, &["--delete"], 0);
}

/// Names that are too long are shortened. They all begin with the same zeros, so each gets a suffix.
#[test]
fn listing_beyond_the_memory_limit_exits_with_63_in_bounded_memory() {
    for length in [250, 1000] {
        mirror_large_directory(64_000_000 / length, length, &["--delete"], 63);
    }
}
