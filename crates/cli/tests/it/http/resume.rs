//! HTTP resume and ranges: a truncated download is resumed in the next run or by a retry, or restarted, and never
//! joined with bytes of another object (docs/spec/semantics.md §3, "Ranges and resume").

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{OVERLAP, RunResult, http_server, part_path, run_fetch_url};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, OldFile, Target, pattern_vec};

const SIZE: usize = 3000;
const CUT_AT: usize = 1000;
const ETAG: (&str, &str) = ("ETag", "\"a\"");

fn object() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("valid UTF-8")
}

/// Starts a server that truncates responses to requests without a range after 1000 bytes; `ranged` answers the others.
fn start_truncating_server(ranged: fn() -> HttpResponse) -> HttpServer {
    http_server(move |request: &HttpRequest| match request.header("range") {
        Some(_) => ranged(),
        None => HttpResponse::new(200).header("ETag", "\"v1\"").body(object()).cut_body_at(CUT_AT as u64),
    })
}

fn partial_response() -> HttpResponse {
    let range = format!("bytes {}-{}/{SIZE}", CUT_AT - OVERLAP, SIZE - 1);
    HttpResponse::new(206).header("ETag", "\"v1\"").header("Content-Range", range)
}

/// Downloads `/o` once; the run is truncated and leaves a `.part` file beside the target.
fn run_interrupted_download(server: &HttpServer) -> Target {
    let target = Target::new(OldFile::Absent).expect("create target directory");
    run_fetch_url(["-o", path_text(&target.path()), &server.url("/o")]).assert_exit(18);
    target
}

#[test]
fn response_shorter_than_its_content_range_exits_18() {
    let short: [fn() -> HttpResponse; 2] =
        [|| partial_response().until_close(vec![0; 10]), || partial_response().chunked(vec![vec![0; 10]])];
    for ranged in short {
        let server = start_truncating_server(ranged);
        let target = run_interrupted_download(&server);
        run_fetch_url(["-C", "-", "-o", path_text(&target.path()), &server.url("/o")]).assert_exit(18);
        assert!(target.content().expect("read target file").is_none());
    }
}

#[test]
fn included_headers_are_never_resumed_as_the_object() {
    let server = start_truncating_server(|| partial_response().body(object().split_off(CUT_AT - OVERLAP)));
    let target = Target::new(OldFile::Absent).expect("create target directory");
    run_fetch_url(["-i", "-o", path_text(&target.path()), &server.url("/o")]).assert_exit(18);
    assert!(target.leftovers().expect("read target directory").is_empty());
    run_fetch_url(["-I", "-C", "-", &server.url("/o")]).assert_exit(2);
}

#[test]
fn failed_connection_leaves_the_part_unchanged() {
    let server = start_truncating_server(|| partial_response().body(object().split_off(CUT_AT - OVERLAP)));
    let target = run_interrupted_download(&server);
    let (name, url) = (target.path(), server.url("/o"));
    let part = part_path(&name);
    let mut bytes = fs::read(&part).expect("read .part file");
    bytes[500] ^= 1;
    fs::write(&part, &bytes).expect("write file");
    let closed_port_url = "http://127.0.0.1:1/o";
    run_fetch_url(["-C", "-", "--allow-port", "1", "-o", path_text(&name), closed_port_url]).assert_exit(7);
    assert_eq!(fs::read(&part).expect("read .part file"), bytes);
    fs::write(&name, vec![b'x'; 2000]).expect("write file");
    run_fetch_url(["-C", "1500", "--allow-port", "1", "-o", path_text(&name), closed_port_url])
        .assert_exit(7);
    assert_eq!(fs::read(&part).expect("read .part file"), bytes);
    // The damaged part is detected and the download restarts; the server truncates it once more.
    run_fetch_url(["-C", "-", "-o", path_text(&name), &url]).assert_exit(18);
    run_fetch_url(["-C", "-", "-o", path_text(&name), &url]).assert_exit(0);
    assert_eq!(fs::read(&name).expect("read target file"), object());
}

#[test]
fn redirected_download_is_resumed() {
    let server =
        http_server(|request: &HttpRequest| match (request.path().as_str(), request.header("range")) {
            ("/o", _) => HttpResponse::new(302).header("Location", "/elsewhere"),
            (_, Some(_)) => partial_response().body(object().split_off(CUT_AT - OVERLAP)),
            _ => HttpResponse::new(200).header("ETag", "\"v1\"").body(object()).cut_body_at(CUT_AT as u64),
        });
    let target = run_interrupted_download(&server);
    run_fetch_url(["-C", "-", "-o", path_text(&target.path()), &server.url("/o")]).assert_exit(0);
    assert_eq!(target.content().expect("read target file"), Some(object()));
}

#[test]
fn kill_during_a_resume_keeps_the_part() {
    let server = start_truncating_server(|| {
        partial_response()
            .body(object().split_off(CUT_AT - OVERLAP))
            .cut_body_at(100)
            .then_stall(Duration::from_secs(9))
    });
    let target = run_interrupted_download(&server);
    let (name, url) = (target.path(), server.url("/o"));
    let part = part_path(&name);
    let mut resuming = Command::new(env!("CARGO_BIN_EXE_fetch-url"))
        .args(["-s", "-C", "-", "-o", path_text(&name), &url])
        .spawn()
        .expect("start process");
    let started = Instant::now();
    while fs::metadata(&part).expect("read .part file").len() == CUT_AT as u64
        && started.elapsed() < Duration::from_secs(5)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    resuming.kill().expect("kill process");
    resuming.wait().expect("process exits");
    run_fetch_url(["--read-timeout", "0.5", "-C", "-", "-o", path_text(&name), &url]).assert_exit(28);
    let has_range: Vec<_> =
        server.requests().iter().map(|request| request.header("range").is_some()).collect();
    assert_eq!(has_range, [false, true, true], "the run after the kill did not resume");
}

#[test]
fn response_shorter_than_the_requested_range_exits_33() {
    let server =
        http_server(|_| HttpResponse::new(206).header("Content-Range", "bytes 0-9/3000").body(vec![0; 10]));
    run_fetch_url(["-r", "0-999", &server.url("/o")]).assert_exit(33);
    run_fetch_url(["-r", "0-9", &server.url("/o")]).assert_exit(0);
}

#[test]
fn body_of_an_error_response_is_never_appended() {
    let server = http_server(|_| HttpResponse::new(416).body("error\n"));
    let target = Target::new(OldFile::Present).expect("create target directory");
    run_fetch_url(["--no-fail", "-C", "2", "-o", path_text(&target.path()), &server.url("/o")])
        .assert_exit(33);
    assert!(target.is_untouched().expect("read target directory"));
}

/// Downloads `/o` to a new file with a short retry delay. Returns the result and the content of the file.
fn fetch_to_new_file(options: &[&str], server: &HttpServer) -> (RunResult, Option<Vec<u8>>) {
    let target = Target::new(OldFile::Absent).expect("create target directory");
    let path = target.path();
    let default_options = ["--retry-delay", "0.05", "-o", path.to_str().expect("valid UTF-8")];
    let result =
        run_fetch_url(default_options.iter().chain(options).copied().chain([server.url("/o").as_str()]));
    (result, target.content().expect("read target file"))
}

/// Starts a server that sends `first` once, then `ranged` for requests with a range and `plain` for the others.
fn start_sequence_server(
    first: fn() -> HttpResponse,
    ranged: fn() -> HttpResponse,
    plain: fn() -> HttpResponse,
) -> HttpServer {
    let request_count = AtomicUsize::new(0);
    http_server(move |request: &HttpRequest| match request.header("range") {
        _ if request_count.fetch_add(1, Ordering::SeqCst) == 0 => first(),
        Some(_) => ranged(),
        None => plain(),
    })
}

fn truncated_response() -> HttpResponse {
    HttpResponse::new(200).header(ETAG.0, ETAG.1).body(vec![1; 1000]).cut_body_at(100)
}

/// The first response has no length; the 206 response has one, and sends fewer bytes.
#[test]
fn short_resumed_body_is_incomplete() {
    let chunked =
        || HttpResponse::new(200).header(ETAG.0, ETAG.1).chunked(vec![vec![1; 100]]).cut_body_at(105);
    let short: [fn() -> HttpResponse; 2] = [
        || {
            let part =
                HttpResponse::new(206).header(ETAG.0, ETAG.1).header("Content-Range", "bytes 100-999/1000");
            part.until_close(vec![1; 100])
        },
        || {
            let part =
                HttpResponse::new(206).header(ETAG.0, ETAG.1).header("Content-Range", "bytes 100-999/1000");
            part.chunked(vec![vec![1; 5]])
        },
    ];
    for ranged in short {
        let server = start_sequence_server(chunked, ranged, ranged);
        let (result, content) = fetch_to_new_file(&[], &server);
        assert!(result.exit != 0 && content.is_none(), "{result:?}");
    }
}

/// The retry gets an error page, which must not replace the object.
#[test]
fn error_page_on_retry_is_never_stored() {
    for options in ["--fail-with-body", "--no-fail", "--fail"] {
        let server = start_sequence_server(
            truncated_response,
            || HttpResponse::new(416),
            || HttpResponse::new(404).body("error page"),
        );
        let (result, content) = fetch_to_new_file(&[options], &server);
        assert!(result.exit == 78 && content.is_none(), "{options}: {result:?} {content:?}");
    }
}

/// `--require-complete` also applies to the body of a restarted download.
#[test]
fn restarted_download_obeys_require_complete() {
    let other = || HttpResponse::new(200).header("ETag", "\"b\"").until_close(vec![2; 100]);
    let (result, content) =
        fetch_to_new_file(&["--require-complete"], &start_sequence_server(truncated_response, other, other));
    assert!(result.exit == 18 && content.is_none(), "{result:?}");
    let (result, content) = fetch_to_new_file(&[], &start_sequence_server(truncated_response, other, other));
    assert_eq!((result.exit, content), (0, Some(vec![2; 100])), "{}", result.stderr);
}

/// The server uses the same ETag for an encoded and for a plain response.
#[test]
fn encoded_part_is_never_joined_with_plain_bytes() {
    let encoded = || truncated_response().header("Content-Encoding", "gzip");
    let plain = || {
        let part =
            HttpResponse::new(206).header(ETAG.0, ETAG.1).header("Content-Range", "bytes 100-999/1000");
        part.body(vec![1; 900])
    };
    let (result, content) = fetch_to_new_file(&[], &start_sequence_server(encoded, plain, encoded));
    assert!(result.exit == 18 && content.is_none(), "{result:?}");
}

/// A retry without progress counts as a failed attempt, so `--retry 4` ends.
#[test]
fn retries_without_progress_are_limited() {
    const SIZE: usize = 3_000_000;
    const MIB: usize = 1 << 20;
    let request_count = Arc::new(AtomicUsize::new(0));
    let counter = request_count.clone();
    let server = http_server(move |request| {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        let response_with_etag = |status| HttpResponse::new(status).header(ETAG.0, ETAG.1);
        match request.header("range") {
            None => response_with_etag(200).body(vec![1; SIZE]).cut_body_at(MIB as u64),
            Some(_) if number % 2 == 1 => HttpResponse::new(503),
            Some(_) => {
                let range = format!("bytes {}-{}/{SIZE}", MIB - OVERLAP, SIZE - 1);
                response_with_etag(206)
                    .header("Content-Range", range)
                    .body(vec![1; SIZE - MIB + OVERLAP])
                    .cut_body_at(OVERLAP as u64)
            }
        }
    });
    let (result, content) = fetch_to_new_file(&["--retry", "4"], &server);
    assert!(result.exit != 0 && content.is_none(), "{result:?}");
    assert!(request_count.load(Ordering::SeqCst) <= 6, "{} requests", request_count.load(Ordering::SeqCst));
}

/// Content-Range and Content-Length with values up to 2^64 - 1.
#[test]
fn largest_integers_in_response_headers_do_not_panic() {
    for range in ["bytes 0-18446744073709551615/*", "bytes 0-18446744073709551614/18446744073709551615"] {
        let server = http_server(move |_| HttpResponse::new(206).header("Content-Range", range).body("x"));
        let result = run_fetch_url(["-r", "0-", &server.url("/")]);
        assert!(
            [18, 33].contains(&result.exit) && !result.stderr.contains("panicked"),
            "{range}: {result:?}"
        );
    }
    let huge = http_server(|_| {
        HttpResponse::raw("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551613\r\n\r\nx")
    });
    let result = run_fetch_url(["-i", "-m", "10000000000000000000", &huge.url("/")]);
    assert!([8, 18].contains(&result.exit) && !result.stderr.contains("panicked"), "{result:?}");
}

/// A partial download of a GET is not the start of the response to a POST, which must not be sent twice.
#[test]
fn request_with_data_or_a_method_is_sent_once_and_without_range_although_a_partial_download_exists() {
    for options in [&["-d", "a=b"][..], &["-F", "a=b"], &["-X", "PUT"], &["-X", "POST", "-d", "a=b"]] {
        for ranged in [416, 206] {
            let server = http_server(move |request: &HttpRequest| match request.header("range") {
                Some(_) if ranged == 416 => HttpResponse::new(416).header("Content-Range", "bytes */7"),
                Some(_) => partial_response().body(object().split_off(CUT_AT - OVERLAP)),
                None if request.method != "GET" => {
                    HttpResponse::new(200).header("ETag", "\"v1\"").body("created")
                }
                None => {
                    HttpResponse::new(200).header("ETag", "\"v1\"").body(object()).cut_body_at(CUT_AT as u64)
                }
            });
            let target = run_interrupted_download(&server);
            let (path, url) = (target.path(), server.url("/o"));
            run_fetch_url([options, &["-C", "-", "-o", path_text(&path), &url]].concat())
                .assert_exit(0)
                .assert_stderr_contains(
                    "is fetched from the start: a request with a method or data is not resumed",
                );
            assert_eq!(target.content().expect("readable").as_deref(), Some(&b"created"[..]), "{options:?}");
            assert!(!part_path(&path).exists());
            let requests = server.requests();
            assert_eq!(requests.len(), 2, "{options:?} {ranged}");
            assert!(requests[1].header("range").is_none() && requests[1].header("if-range").is_none());
        }
    }
}

#[test]
fn method_get_by_option_is_resumed() {
    let server = start_truncating_server(|| partial_response().body(object().split_off(CUT_AT - OVERLAP)));
    let target = run_interrupted_download(&server);
    run_fetch_url(["-X", "GET", "-C", "-", "-o", path_text(&target.path()), &server.url("/o")])
        .assert_exit(0);
    assert!(target.content().expect("readable") == Some(object()));
    assert!(server.requests()[1].header("range").is_some());
}
