//! `--segments` with servers that refuse HEAD or simultaneous requests, and objects beyond `--max-filesize`.

use std::fs;
use std::sync::Mutex;

use crate::support::{
    OVERLAP, RunResult, entry_names, http_server, run_fetch_url_in, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, file_handler, pattern_vec};

const SIZE: usize = 4 * 1024 * 1024 + 7;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// Starts a server that sends the object; `refuse` returns the responses to the requests that it refuses.
fn refusing_server(
    refuse: impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static,
) -> HttpServer {
    let serve_file = file_handler(content(), strong_etag_headers());
    http_server(move |request| refuse(request).unwrap_or_else(|| serve_file(request)))
}

/// Runs `fetch-url --segments 4 -o file` and checks that the file is the object.
fn assert_fetched(server: &HttpServer, options: &[&str]) {
    let dir = temp_dir();
    let result = run_in(dir.path(), server, options);
    result.assert_exit(0);
    assert!(fs::read(dir.path().join("file")).expect("a file") == content());
    assert_eq!(entry_names(dir.path()), ["file"]);
}

fn run_in(dir: &std::path::Path, server: &HttpServer, options: &[&str]) -> RunResult {
    run_fetch_url_in(dir, [&["--segments", "4", "-o", "file", &server.url("/o")], options].concat())
}

#[test]
fn server_that_refuses_head_sends_the_object_over_one_connection() {
    for status in [400, 403, 404, 405, 500, 501, 503] {
        let server =
            refusing_server(move |request| (request.method == "HEAD").then(|| HttpResponse::new(status)));
        assert_fetched(&server, &["--retry", "3", "--retry-delay", "0.01"]);
        let methods: Vec<String> = server.requests().iter().map(|request| request.method.clone()).collect();
        let heads = if matches!(status, 500 | 503) { 2 } else { 1 };
        assert_eq!(methods, [vec!["HEAD"; heads], vec!["GET"]].concat(), "{status}");
    }
    let closing =
        refusing_server(|request| (request.method == "HEAD").then(|| HttpResponse::new(200).cut_at(0)));
    assert_fetched(&closing, &[]);
}

#[test]
fn error_of_the_object_is_that_of_get() {
    let server = http_server(|request| HttpResponse::new(if request.method == "HEAD" { 405 } else { 410 }));
    let dir = temp_dir();
    run_in(dir.path(), &server, &[]).assert_exit(78).assert_stderr_contains("410");
    assert!(entry_names(dir.path()).is_empty());
}

/// As nginx with `limit_conn`: the refused segments are fetched when another one is complete.
#[test]
fn segments_that_a_busy_server_refuses_are_fetched_after_the_others() {
    for accepted in 0..4 {
        // The first request for each segment is refused, except that for the accepted one.
        let refused = Mutex::new(Vec::new());
        let server = refusing_server(move |request| {
            let segment = requested_segment(request).filter(|&segment| segment != accepted)?;
            let mut refused = refused.lock().expect("not poisoned");
            let is_first = !refused.contains(&segment);
            refused.push(segment);
            is_first.then(|| HttpResponse::new(503))
        });
        assert_fetched(&server, &["--retry", "0"]);
    }
}

/// Returns the number of the segment that is requested.
fn requested_segment(request: &HttpRequest) -> Option<usize> {
    let first = request.header_text("range")?.strip_prefix("bytes=")?.split('-').next()?;
    Some((first.parse::<usize>().ok()? + OVERLAP) / SIZE.div_ceil(4))
}

#[test]
fn object_beyond_the_maximum_size_is_not_requested_in_segments() {
    let server = refusing_server(|_| None);
    let dir = temp_dir();
    run_in(dir.path(), &server, &["--max-filesize", "4m"]).assert_exit(63);
    assert!(entry_names(dir.path()).is_empty());
    assert_eq!(server.requests().iter().filter(|request| request.method == "GET").count(), 0);
    assert_fetched(&server, &["--max-filesize", &SIZE.to_string()]);
}
