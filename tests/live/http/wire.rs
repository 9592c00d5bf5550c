//! The bytes of a request: the target unchanged, the host, and no unrequested header fields.

use crate::live::server::{APACHE, NGINX, Server, each_server};
use crate::live::tree::HELLO;
use crate::live::work_dir::{fetch, key};

each_server![escaped_and_dot_segments_are_sent_unchanged, request_has_no_compression_range_or_referer];

/// Returns the request as nginx received it: the request line, and the header fields sorted by name.
fn received_request(url: &str) -> (String, Vec<String>) {
    let text = fetch(&[url]).assert_exit(0).text();
    let mut lines = text.split("\r\n").filter(|line| !line.is_empty());
    let first = lines.next().expect("a request line").to_owned();
    let mut fields: Vec<String> = lines.map(str::to_owned).collect();
    fields.sort_by_key(|field| field.to_ascii_lowercase());
    (first, fields)
}

#[test]
#[ignore = "needs the servers of docker/"]
fn request_has_only_accept_host_and_user_agent() {
    let agent = "user-agent: fetch-url/0.1.0";
    for path in ["/headers", "/x/../headers"] {
        let (first, fields) = received_request(&NGINX.http(path));
        assert_eq!(first, format!("GET {path} HTTP/1.1"));
        let fields: Vec<String> = fields.iter().map(|field| field.to_ascii_lowercase()).collect();
        assert_eq!(fields, ["accept: */*", "host: 127.0.0.1:17080", agent]);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn host_header_is_the_authority_of_the_url() {
    for (host, sent) in [
        ("127.0.0.1", "host: 127.0.0.1:17080"),
        ("localhost", "host: localhost:17080"),
        ("LocalHost", "host: localhost:17080"),
    ] {
        let (_, fields) = received_request(&format!("http://{host}:17080/headers"));
        let is_sent = fields.iter().any(|field| field.eq_ignore_ascii_case(sent));
        assert!(is_sent, "{host}: {fields:?}");
    }
}

/// nginx resolves every target to `/headers` and returns it as received.
#[test]
#[ignore = "needs the servers of docker/"]
fn request_target_is_sent_unchanged() {
    for target in [
        "/headers?",
        "/headers?a=b&c=d;e",
        "/headers?a=/../b/./c",
        "/headers?q='x'(y)*z!",
        "/headers?%41%7e%2E%2e%2f%00%0d%0a%ff",
        "/headers?http://other.invalid/",
        "/h%65aders",
        "/%68%65%61%64%65%72%73",
        "/./headers",
        "/x/../headers",
        "/x/%2e%2E/headers",
        "/a/b/../../headers?x=/../y",
        "/x'y/../headers",
    ] {
        let (first, _) = received_request(&NGINX.http(target));
        assert_eq!(first, format!("GET {target} HTTP/1.1"));
    }
}

/// The fragment is not sent; the rest of the URL is sent unchanged.
#[test]
#[ignore = "needs the servers of docker/"]
fn fragment_is_not_sent() {
    assert_eq!(received_request(&NGINX.http("/headers?a#b?c/../d")).0, "GET /headers?a HTTP/1.1");
    assert_eq!(received_request(&NGINX.http("/x/../headers#frag")).0, "GET /x/../headers HTTP/1.1");
}

/// RFC 1738 §3.3: an empty path means `/`.
#[test]
#[ignore = "needs the servers of docker/"]
fn empty_path_requests_a_slash() {
    let page = fetch(&[&NGINX.http("/")]).assert_exit(0).text();
    assert!(page.contains("hello.txt"), "{page}");
    fetch(&[&NGINX.http("")]).assert_success(page);
}

fn escaped_and_dot_segments_are_sent_unchanged(server: Server) {
    for path in [
        "/pub/../hello.txt",
        "/./hello.txt",
        "/pub/a/../../hello.txt",
        "/%68ello.txt",
        "/pub/%2e%2e/hello.txt",
    ] {
        let target = format!("{path}?{}", key());
        fetch(&[&server.http(&target)]).assert_success(HELLO);
        let line = server.logged(&target);
        assert!(line.contains("GET") && line.contains("HTTP/1.1"), "{line}");
    }
}

/// No compression is requested, and no Referer is sent.
fn request_has_no_compression_range_or_referer(server: Server) {
    let target = format!("/hello.txt?{}", key());
    fetch(&[&server.http(&target)]).assert_success(HELLO);
    let line = server.logged(&target);
    assert!(line.contains("fetch-url/0.1.0") && line.contains(&server.authority()), "{line}");
    assert!(!line.contains("gzip"), "{line}");
    if server.name == NGINX.name {
        for part in ["range=\"-\" if-range=\"-\"", "referer=\"-\" user=\"-\" accept-encoding=\"-\""] {
            assert!(line.contains(part), "{line}");
        }
    }
}

/// The server decides about escaped bytes; a raw space is rejected before the request.
#[test]
#[ignore = "needs the servers of docker/"]
fn escaped_forbidden_bytes_are_sent_and_a_raw_space_exits_3() {
    fetch(&["-v", &NGINX.http("/%00")]).assert_exit(22).assert_stderr_contains("> GET /%00 HTTP/1.1");
    fetch(&["-v", &APACHE.http("/%00")]).assert_exit(78).assert_stderr_contains("> GET /%00 HTTP/1.1");
    fetch(&["-v", &APACHE.http("/etc%2Fmotd")])
        .assert_exit(78)
        .assert_stderr_contains("> GET /etc%2Fmotd HTTP/1.1");
    fetch(&["-v", &NGINX.http("/a b")]).assert_exit(3).assert_stderr_omits("> GET");
}

/// The CGI program prints the header fields of an HTTP/2 request.
#[test]
#[ignore = "needs the servers of docker/"]
fn http2_request_has_the_same_header_fields() {
    let key = key();
    let url = APACHE.https(&format!("/cgi/env?{key}"));
    let text = fetch(&["--cacert", crate::live::server::CA, &url]).assert_exit(0).text();
    for line in [
        "HTTP_ACCEPT=*/*",
        "HTTP_HOST=localhost:17447",
        "HTTP_USER_AGENT=fetch-url/0.1.0",
        "REQUEST_METHOD=GET",
        "SERVER_PROTOCOL=HTTP/2.0",
        &format!("QUERY_STRING={key}"),
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    }
    let ours = text.lines().filter(|line| line.starts_with("HTTP_")).count();
    assert_eq!(ours, 3, "{text}");
}
