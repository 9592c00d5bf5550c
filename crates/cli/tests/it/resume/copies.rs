//! `--segments` with copies of the object on several servers: the segments are shared, and a checksum shows that the copies
//! are the same.

use std::fs;
use std::path::Path;

use crate::support::{RunResult, entry_names, run_fetch_url_in, strong_etag_headers, temp_dir};
use fetch_url_tests::{
    FileHeaders, FtpConfig, FtpServer, HttpRequest, HttpResponse, HttpServer, base64_sha256, file_handler,
    pattern_vec, sha256,
};

const SIZE: usize = 4 * 1024 * 1024 + 7;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// Serves `content` with an ETag of its own.
fn start_mirror(content: Vec<u8>, etag: &str) -> HttpServer {
    let headers = FileHeaders { etag: Some(format!("\"{etag}\"")), ..strong_etag_headers() };
    HttpServer::start(file_handler(content, headers)).expect("a server")
}

fn is_range(request: &HttpRequest) -> bool {
    request.header_text("range").is_some()
}

fn range_count(server: &HttpServer) -> usize {
    server.requests().iter().filter(|request| is_range(request)).count()
}

/// Runs `fetch-url --segments 4` with a line of URLs, and the checksum of `content`.
fn run_line(dir: &Path, urls: &[String], with_checksum: bool) -> RunResult {
    let checksum = if with_checksum { format!("\tsha256:{}", sha256(&content())) } else { String::new() };
    fs::write(dir.join("list"), format!("{}\tf{checksum}\n", urls.join(" "))).expect("a file");
    run_fetch_url_in(dir, ["--segments", "4", "--retry", "3", "--input-file", "list"])
}

fn assert_fetched(dir: &Path, result: &RunResult) {
    result.assert_exit(0);
    assert!(fs::read(dir.join("f")).is_ok_and(|bytes| bytes == content()), "{result:?}");
    assert_eq!(entry_names(dir), ["f", "list"]);
}

#[test]
fn servers_of_a_line_with_checksum_share_the_segments() {
    let (one, two) = (start_mirror(content(), "one"), start_mirror(content(), "two"));
    let site = FtpConfig::new().file("/o", content()).modified("/o", "19941201123456");
    let three = FtpServer::start(site).expect("a server");
    let dir = temp_dir();
    let result = run_line(dir.path(), &[one.url("/o"), two.url("/o"), three.url("o")], true);
    assert_fetched(dir.path(), &result);
    let retr = three.received_text().iter().filter(|line| line.starts_with("RETR")).count();
    assert_eq!((range_count(&one), range_count(&two), retr), (2, 1, 1));
}

#[test]
fn one_server_sends_all_segments_without_a_checksum() {
    let (one, two) = (start_mirror(content(), "one"), start_mirror(content(), "two"));
    let dir = temp_dir();
    let result = run_line(dir.path(), &[one.url("/o"), two.url("/o")], false);
    assert_fetched(dir.path(), &result);
    assert_eq!((range_count(&one), two.requests().len()), (4, 0));
}

#[test]
fn segment_of_a_server_that_breaks_off_is_continued_on_another() {
    for fault in ["cut", "gone", "changed"] {
        let two = HttpServer::start(move |request| {
            let etag = if fault == "changed" && is_range(request) { "\"other\"" } else { "\"two\"" };
            let headers = FileHeaders { etag: Some(etag.to_owned()), ..strong_etag_headers() };
            let response = file_handler(content(), headers)(request);
            match fault {
                "cut" if is_range(request) => response.cut_body_at(300_000),
                "gone" if is_range(request) => HttpResponse::new(404),
                _ => response,
            }
        });
        let (one, two, dir) = (start_mirror(content(), "one"), two.expect("a server"), temp_dir());
        let started = std::time::Instant::now();
        let result = run_line(dir.path(), &[one.url("/o"), two.url("/o")], true);
        assert_fetched(dir.path(), &result);
        assert!((range_count(&one), range_count(&two)) == (4, 2), "{fault}");
        // A retry of the same server would wait.
        assert!(started.elapsed().as_secs() < 60, "{fault}: {:?}", started.elapsed());
    }
}

#[test]
fn unusable_copies_are_left_out() {
    let one = start_mirror(content(), "one");
    let shorter = start_mirror(content()[1..].to_vec(), "shorter");
    let untagged = FileHeaders { last_modified: None, etag: None, ..strong_etag_headers() };
    let untagged = HttpServer::start(file_handler(content(), untagged)).expect("a server");
    let missing = HttpServer::start(|_| HttpResponse::new(404)).expect("a server");
    let dir = temp_dir();
    let urls = [one.url("/o"), shorter.url("/o"), untagged.url("/o"), missing.url("/o")];
    assert_fetched(dir.path(), &run_line(dir.path(), &urls, true));
    assert_eq!(range_count(&one), 4);
    assert!([&shorter, &untagged, &missing].iter().all(|server| range_count(server) == 0));
}

#[test]
fn no_more_copies_are_asked_than_there_are_segments() {
    let (one, many) = (start_mirror(content(), "one"), start_mirror(content(), "many"));
    let copies = (0..50).map(|number| many.url(&format!("/o?{number}")));
    let urls: Vec<String> = std::iter::once(one.url("/o")).chain(copies).collect();
    let dir = temp_dir();
    assert_fetched(dir.path(), &run_line(dir.path(), &urls, true));
    let asked = many.requests().iter().filter(|request| !is_range(request)).count();
    assert_eq!(asked, 4);
}

#[test]
fn first_url_is_fetched_alone_if_the_bytes_between_two_segments_differ() {
    let other: Vec<u8> = content().iter().map(|byte| !byte).collect();
    for is_first_good in [true, false] {
        let (one, two, dir) =
            (start_mirror(content(), "one"), start_mirror(other.clone(), "two"), temp_dir());
        let mut urls = [one.url("/o"), two.url("/o")];
        if !is_first_good {
            urls.reverse();
        }
        assert_fetched(dir.path(), &run_line(dir.path(), &urls, true));
    }
}

#[test]
fn copy_of_the_same_size_with_other_content_does_not_reach_the_file() {
    let mut other = content();
    // In the first segment, which the second server sends.
    other[200_000] ^= 1;
    let (one, two, dir) = (start_mirror(content(), "one"), start_mirror(other, "two"), temp_dir());
    // The object is fetched again from one server alone.
    let urls = [one.url("/o"), two.url("/o"), one.url("/o?again")];
    let result = run_line(dir.path(), &urls, true);
    assert_fetched(dir.path(), &result);
    assert!(range_count(&two) >= 1);
    let dir = temp_dir();
    run_line(dir.path(), &[two.url("/o"), two.url("/o?again")], true).assert_exit(91);
    assert_eq!(entry_names(dir.path()), [".list.journal", "list"]);
}

#[test]
fn digest_and_duplicates_of_the_headers_are_used_for_segments() {
    let digest = base64_sha256(&content());
    let two = start_mirror(content(), "two");
    let link = format!("<{}>; rel=duplicate", two.url("/o"));
    let one = HttpServer::start(move |request| {
        let response = file_handler(content(), strong_etag_headers())(request);
        response.header("Digest", format!("SHA-256={digest}")).header("Link", &link)
    });
    let (one, dir) = (one.expect("a server"), temp_dir());
    let options = ["--segments", "4", "--metalink-over-http", "-o", "f", &one.url("/o")];
    run_fetch_url_in(dir.path(), options).assert_exit(0);
    assert!(fs::read(dir.path().join("f")).is_ok_and(|bytes| bytes == content()));
    assert_eq!((range_count(&one), range_count(&two)), (2, 2));
}

/// Serves `content` with the link to a duplicate and the digest of the right content.
fn start_linked(content: Vec<u8>, duplicate: &str, etag: &str) -> HttpServer {
    let headers = FileHeaders { etag: Some(format!("\"{etag}\"")), ..strong_etag_headers() };
    let (digest, link) = (base64_sha256(&self::content()), format!("<{duplicate}>; rel=duplicate"));
    let serve = move |request: &HttpRequest| {
        let response = file_handler(content.clone(), headers.clone())(request);
        response.header("Digest", format!("SHA-256={digest}")).header("Link", &link)
    };
    HttpServer::start(serve).expect("a server")
}

/// Returns content with a wrong byte in the first segment and one in the second.
fn wrong_content() -> Vec<u8> {
    let mut wrong = content();
    wrong[200_000] ^= 1;
    wrong[2_000_000] ^= 1;
    wrong
}

#[test]
fn each_url_of_a_line_is_tried_alone_if_the_shared_segments_have_a_wrong_checksum() {
    let (good, bad) = (start_mirror(content(), "good"), start_mirror(wrong_content(), "bad"));
    let bad_too = start_mirror(wrong_content(), "bad too");
    for urls in [
        vec![good.url("/o"), bad.url("/o")],
        vec![bad.url("/o"), good.url("/o")],
        vec![bad.url("/o"), bad_too.url("/o"), good.url("/o")],
    ] {
        let dir = temp_dir();
        let result = run_line(dir.path(), &urls, true);
        assert_fetched(dir.path(), &result);
        result.assert_stderr_contains(&format!("trying {} alone", urls[0]));
    }
    let dir = temp_dir();
    run_line(dir.path(), &[bad.url("/o"), bad_too.url("/o")], true).assert_exit(91);
}

#[test]
fn url_is_tried_alone_if_the_segments_of_its_duplicates_have_a_wrong_checksum() {
    let bad = start_mirror(wrong_content(), "bad");
    let good = start_linked(content(), &bad.url("/o"), "good");
    // Each alternative names a duplicate, which does not share its segments.
    let named_bad = start_linked(wrong_content(), &good.url("/o"), "named bad");
    for url in [good.url("/o"), named_bad.url("/o")] {
        let dir = temp_dir();
        let options = ["--segments", "4", "--metalink-over-http", "-o", "f", &url];
        run_fetch_url_in(dir.path(), options).assert_exit(0);
        assert!(fs::read(dir.path().join("f")).is_ok_and(|bytes| bytes == content()), "{url}");
    }
}

/// Each server sends other bytes for ranges after the first.
#[test]
fn url_whose_segments_do_not_fit_together_is_fetched_over_one_connection_in_each_attempt() {
    let serve = || {
        HttpServer::start(|request| {
            let is_later = request.header_text("range").is_some_and(|range| !range.starts_with("bytes=0-"));
            let bytes = if is_later { vec![b'x'; SIZE] } else { content() };
            match request.path().as_str() {
                "/o" => file_handler(bytes, strong_etag_headers())(request),
                _ => HttpResponse::new(404),
            }
        })
        .expect("a server")
    };
    let (one, two) = (serve(), serve());
    for (first, with_checksum) in [("/missing", false), ("/o", true)] {
        let dir = temp_dir();
        let result = run_line(dir.path(), &[one.url(first), two.url("/o")], with_checksum);
        assert_fetched(dir.path(), &result);
        result.assert_stderr_contains("over one connection");
    }
}
