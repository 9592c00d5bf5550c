//! Ranges and partial downloads: bytes are joined only if the validator proves that they belong together.

use crate::live::server::{APACHE, CA, CADDY, NGINX, Server, each_server};
use crate::live::tree::range;
use crate::live::work_dir::{WorkDir, fetch};

each_server![
    range_returns_exactly_its_bytes,
    range_over_tls_returns_exactly_its_bytes,
    range_beyond_the_end_exits_33,
    resume_requests_the_missing_half,
    resume_over_tls_requests_the_missing_half,
    resume_of_a_complete_part_finishes_the_file,
    resume_restarts_when_the_part_is_longer_than_the_file,
    resume_restarts_when_the_validator_is_weak,
    resume_restarts_when_the_validator_differs,
];

/// Ranges, and the bytes of the 80,000 that they select.
pub(crate) const RANGES: [(&str, std::ops::Range<usize>); 9] = [
    ("0-0", 0..1),
    ("0-7", 0..8),
    ("8-15", 8..16),
    ("39997-40003", 39_997..40_004),
    ("79999-79999", 79_999..80_000),
    ("79992-", 79_992..80_000),
    ("-8", 79_992..80_000),
    ("0-", 0..80_000),
    ("79000-99999", 79_000..80_000),
];

fn range_returns_exactly_its_bytes(server: Server) {
    for (asked, part) in RANGES {
        fetch(&["-r", asked, &server.http("/range.txt")]).assert_success(&range()[part]);
    }
    let dir = WorkDir::new();
    dir.fetch(&["-r", "8-15", "-o", "here", &server.http("/pub/../range.txt")]).assert_success("");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), b"0000001\n");
}

fn range_over_tls_returns_exactly_its_bytes(server: Server) {
    for (asked, part) in RANGES {
        fetch(&["--cacert", CA, "-r", asked, &server.https("/range.txt")]).assert_success(&range()[part]);
    }
}

fn range_beyond_the_end_exits_33(server: Server) {
    for asked in ["80000-", "80000-80007", "99999999999-"] {
        fetch(&["-r", asked, &server.http("/range.txt")]).assert_exit(33).assert_stdout("");
    }
    fetch(&["-r", "0-9", &server.http("/empty.bin")]).assert_exit(33);
    fetch(&["-r", "9-0", &server.http("/range.txt")]).assert_exit(2);
    fetch(&["-r", "0-9", &server.http("/no/such/file")]).assert_exit(78);
}

/// Returns the validator of `url` in the format of a state file.
fn validator(url: &str) -> String {
    let json = fetch(&["--cacert", CA, "-I", "--format", "json", url]).assert_exit(0).text();
    let (_, rest) = json.split_once("\"validator\":\"").unwrap_or_else(|| panic!("no validator: {json}"));
    // The entity tag has quotes of its own, which JSON escapes.
    let end = rest.find("\",\"").or_else(|| rest.find("\"}")).expect("the end of a string");
    rest[..end].replace("\\\"", "\"")
}

/// Leaves half of range.txt as a `.part` file and asserts that only the rest is requested.
#[track_caller]
fn assert_resumes_half(url: &str) {
    let dir = WorkDir::new();
    dir.leave_part("here", url, &validator(url), &range()[..40_000], 80_000);
    let mut result = dir.fetch(&["-v", "--cacert", CA, "-C", "-", "-o", "here", url]).assert_exit(0);
    // HTTP/2, which the servers speak over TLS, has names in lower case and no reason phrases.
    let is_http2 = url.starts_with("https:");
    for line in ["> Range: bytes=39936-", "> If-Range: ", "> Accept-Encoding: identity"] {
        let line = if is_http2 { line.to_lowercase() } else { line.to_owned() };
        result = result.assert_stderr_contains(&line);
    }
    result.assert_stderr_contains(" 206");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

fn resume_requests_the_missing_half(server: Server) {
    assert_resumes_half(&server.http("/range.txt"));
    assert_resumes_half(&server.http("/pub/../range.txt"));
}

fn resume_over_tls_requests_the_missing_half(server: Server) {
    assert_resumes_half(&server.https("/range.txt"));
}

/// The last 64 bytes are requested and compared.
fn resume_of_a_complete_part_finishes_the_file(server: Server) {
    let (dir, url) = (WorkDir::new(), server.http("/range.txt"));
    dir.leave_part("here", &url, &validator(&url), &range(), 80_000);
    let result = dir
        .fetch(&["-v", "-C", "-", "-o", "here", &url])
        .assert_exit(0)
        .assert_stderr_contains("> Range: bytes=79936-");
    let requests = result.err.matches("> GET /range.txt HTTP/1.1").count();
    assert_eq!(requests, 1, "{}", result.err);
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
    // If the file is complete and no `.part` file exists, the same command succeeds and changes nothing.
    let again = dir.fetch(&["-C", "-", "-o", "here", &url]);
    again.assert_exit(0).assert_stderr_contains("here is already complete: 80000 bytes");
    assert_eq!(dir.read("here"), range());
}

fn resume_restarts_when_the_part_is_longer_than_the_file(server: Server) {
    let (dir, url) = (WorkDir::new(), server.http("/range.txt"));
    let long = [range(), b"more".to_vec()].concat();
    dir.leave_part("here", &url, &validator(&url), &long, 80_004);
    dir.fetch(&["-C", "-", "-o", "here", &url]).assert_success("");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// Leaves 40,000 bytes of another object with this validator and asserts that none of them remain.
#[track_caller]
fn assert_restarts(url: &str, validator: &str) {
    let dir = WorkDir::new();
    dir.leave_part("here", url, validator, &[b'x'; 40_000], 80_000);
    dir.fetch(&["-C", "-", "-o", "here", url]).assert_success("");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range(), "{url} {validator}");
}

fn resume_restarts_when_the_validator_is_weak(server: Server) {
    for path in ["/range.txt", "/pub/../range.txt"] {
        let url = server.http(path);
        let strong = validator(&url);
        let tag = strong.strip_prefix("etag ").expect("an entity tag");
        assert_restarts(&url, &format!("etag W/{tag}"));
    }
}

fn resume_restarts_when_the_validator_differs(server: Server) {
    for validator in
        ["etag \"other\"", "etag \"\"", "etag *", "modified Fri, 02 Dec 1994 12:34:56 GMT", "x", ""]
    {
        assert_restarts(&server.http("/range.txt"), validator);
    }
}

/// The server sends the complete object: a resume restarts, and a range is refused.
#[test]
#[ignore = "needs the servers of docker/"]
fn resume_restarts_when_the_server_has_no_ranges() {
    let (dir, url) = (WorkDir::new(), NGINX.http("/no-ranges/range.txt"));
    dir.leave_part("here", &url, &validator(&url), &range()[..40_000], 80_000);
    let result = dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).assert_exit(0);
    result
        .assert_stderr_contains("> Range: bytes=39936-")
        .assert_stderr_contains(" 200 OK")
        .assert_stderr_omits(" 206 Partial");
    assert_eq!(dir.read("here"), range());
    fetch(&["-r", "8-15", &url]).assert_exit(33).assert_stdout("");
    dir.write("there", &range()[..40_000]);
    dir.fetch(&["-C", "40000", "-o", "there", &url]).assert_exit(33);
    assert_eq!(dir.read("there"), range()[..40_000]);
}

/// Several ranges would be sent as one multipart body, so they are not requested.
#[test]
#[ignore = "needs the servers of docker/"]
fn several_ranges_exit_2_without_a_request() {
    for asked in ["0-7,16-23", "0-0,-1", "8-15,"] {
        fetch(&["-v", "-r", asked, &NGINX.http("/range.txt")])
            .assert_exit(2)
            .assert_stdout("")
            .assert_stderr_omits("> GET");
    }
}

/// fetch-url requests a single range, of the plain file and not of a compressed one.
#[test]
#[ignore = "needs the servers of docker/"]
fn range_is_of_the_uncompressed_file() {
    for url in [
        NGINX.http("/one-range/range.txt"),
        NGINX.http("/gz/range.txt"),
        APACHE.http("/gz/range.txt"),
        CADDY.http("/range.txt"),
    ] {
        fetch(&["-r", "8-15", &url]).assert_success("0000001\n");
        assert_resumes_half(&url);
    }
}

/// 40,000,000 bytes of 64 MiB are in the `.part` file.
#[test]
#[ignore = "needs the servers of docker/"]
fn resume_of_a_64_mib_file_requests_the_rest() {
    let (dir, url) = (WorkDir::new(), CADDY.http("/big.bin"));
    let whole = fetch(&[&url]).assert_exit(0).out;
    dir.leave_part("big", &url, &validator(&url), &whole[..40_000_000], whole.len());
    dir.fetch(&["-v", "-C", "-", "-o", "big", &url])
        .assert_exit(0)
        .assert_stderr_contains("> Range: bytes=39999936-")
        .assert_stderr_contains(" 206 Partial Content");
    dir.assert_entries(&["big"]);
    assert!(dir.read("big") == whole, "the octets differ");
}
