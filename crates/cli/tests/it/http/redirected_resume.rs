//! Bodies that break off after a redirect from a request with a method or body of the caller: the request that has the
//! body is sent again, not the one that was redirected (docs/spec/semantics.md 3.35).

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{
    OVERLAP, RunResult, http_server, http_server_first_then, run_fetch_url_in, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, file_handler, pattern_vec};

const SIZE: usize = 300_000;
const CUT: usize = 200_000;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn redirect_to(status: u16, location: &str) -> HttpResponse {
    HttpResponse::new(status).header("Location", location)
}

/// Starts a server that redirects `/x` with this status to `/y`, whose first response to GET breaks off.
fn start_server(status: u16) -> HttpServer {
    let whole = file_handler(content(), strong_etag_headers());
    http_server(move |request| match request.path().as_str() {
        "/x" => redirect_to(status, "/y"),
        _ if request.method == "GET" && request.header("range").is_none() => {
            whole(request).cut_body_at(CUT as u64)
        }
        _ => whole(request),
    })
}

fn fetch(directory: &Path, options: &str, url: &str) -> RunResult {
    let common = ["--retry", "2", "--retry-delay", "0.05", "-o", "out"];
    run_fetch_url_in(directory, common.into_iter().chain(options.split_whitespace()).chain([url]))
}

/// Returns method, path, number of bytes of the body, and range of each request.
fn requests(server: &HttpServer) -> Vec<String> {
    let shown = |request: &HttpRequest| {
        let range = request.header_text("range").unwrap_or("-");
        format!("{} {} {} {range}", request.method, request.path(), request.body.len())
    };
    server.requests().iter().map(shown).collect()
}

#[test]
fn request_that_303_changed_to_get_is_sent_once_if_the_body_breaks_off() {
    let dir = temp_dir();
    fs::write(dir.path().join("file"), "data").expect("a file");
    let rest = format!("GET /y 0 bytes={}-", CUT - OVERLAP);
    for (options, status, first) in [
        ("-d pay=100", 303, "POST /x 7 -"),
        ("-d pay=100", 302, "POST /x 7 -"),
        ("-d pay=100", 301, "POST /x 7 -"),
        ("-T file", 303, "PUT /x 4 -"),
        ("-X DELETE", 303, "DELETE /x 0 -"),
        ("-X DELETE -d a", 303, "DELETE /x 1 -"),
    ] {
        let server = start_server(status);
        fetch(dir.path(), options, &server.url("/x")).assert_exit(0);
        assert_eq!(requests(&server), [first, "GET /y 0 -", &rest], "{options} {status}");
        assert!(fs::read(dir.path().join("out")).expect("a file") == content(), "{options} {status}");
    }
}

#[test]
fn get_is_redirected_again_if_the_body_breaks_off() {
    let (server, dir) = (start_server(303), temp_dir());
    fetch(dir.path(), "", &server.url("/x")).assert_exit(0);
    let range = format!("bytes={}-", CUT - OVERLAP);
    let expected = [
        "GET /x 0 -".to_owned(),
        "GET /y 0 -".to_owned(),
        format!("GET /x 0 {range}"),
        format!("GET /y 0 {range}"),
    ];
    assert_eq!(requests(&server), expected);
}

#[test]
fn request_that_stays_a_post_is_not_sent_again_if_the_body_breaks_off() {
    let dir = temp_dir();
    for (options, status) in [("-d pay=100", 307), ("-d pay=100", 308), ("-X DELETE", 302)] {
        let server = http_server(move |request| match request.path().as_str() {
            "/x" => redirect_to(status, "/y"),
            _ => HttpResponse::new(200).header("ETag", "\"1\"").body(content()).cut_body_at(CUT as u64),
        });
        fetch(dir.path(), options, &server.url("/x")).assert_exit(18);
        assert_eq!(requests(&server).len(), 2, "{options} {status}");
        assert!(!dir.path().join("out").exists(), "{options} {status}");
    }
}

/// The rest is requested with the rules of the redirect: another server gets no login, cookie or header of the caller.
#[test]
fn rest_of_a_body_of_another_server_is_requested_without_login_and_headers() {
    let whole = file_handler(content(), strong_etag_headers());
    let other = http_server_first_then(
        |request| file_handler(content(), strong_etag_headers())(request).cut_body_at(CUT as u64),
        whole,
    );
    let target = other.url("/y");
    let server = http_server(move |_| redirect_to(303, &target));
    let dir = temp_dir();
    let options = "-u me:secret -b crumb=1 -H X-Key:1 -d pay=100 -i";
    fetch(dir.path(), options, &server.url("/x")).assert_exit(0);
    assert_eq!(server.requests().len(), 1);
    let range = format!("GET /y 0 bytes={}-", CUT - OVERLAP);
    assert_eq!(requests(&other), ["GET /y 0 -", &range]);
    for request in other.requests() {
        let is_kept = ["authorization", "cookie", "x-key"].iter().any(|name| request.header(name).is_some());
        assert!(!is_kept, "{request:?}");
    }
}

#[test]
fn body_that_restarts_after_a_303_is_requested_with_get() {
    let versions = AtomicUsize::new(0);
    let server = http_server(move |request| match request.path().as_str() {
        "/x" => redirect_to(303, "/y"),
        _ => match versions.fetch_add(1, Ordering::SeqCst) {
            0 => HttpResponse::new(200).header("ETag", "\"1\"").body(content()).cut_body_at(CUT as u64),
            _ => HttpResponse::new(200).header("ETag", "\"2\"").body("second version"),
        },
    });
    let dir = temp_dir();
    fetch(dir.path(), "-d pay=100", &server.url("/x")).assert_exit(0);
    let methods: Vec<_> = server.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["POST", "GET", "GET"]);
    assert_eq!(fs::read(dir.path().join("out")).expect("a file"), b"second version");
}
