//! Clients that break the protocol.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use fetch_url_tests::{GopherConfig, GopherItem, GopherServer};

use crate::support::{Reply, TestServer, options};

#[test]
fn message_that_could_hide_a_second_request_is_answered_once() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/s", "hidden\r\n"))).expect("starts");
    let server = TestServer::start();
    let hidden = format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", gopher.url("0/s"));
    let length = hidden.len();
    for head in [
        format!("POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n{hidden}", server.addr),
        format!("GET / HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n{hidden}", server.addr),
        format!(
            "GET / HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
            server.addr
        ),
        format!("GET / HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: identity\r\n\r\n{hidden}", server.addr),
        format!(
            "GET / HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n{hidden}",
            server.addr
        ),
        format!("GET / HTTP/1.1\r\nHost: {}\r\nHost: evil\r\n\r\n{hidden}", server.addr),
        format!("GET / HTTP/1.1 x\r\nHost: {}\r\n\r\n{hidden}", server.addr),
        format!("CONNECT evil.example:25 HTTP/1.1\r\nHost: evil.example\r\n\r\n{hidden}"),
    ] {
        let reply = server.raw(head.as_bytes());
        assert!((400..500).contains(&reply.status), "{head}: {reply:?}");
        assert!(!reply.text().contains("HTTP/1.1 "), "two answers to {head}");
    }
    assert_eq!(gopher.connections(), 0);
}

#[test]
fn bad_targets_are_refused() {
    let server = TestServer::start();
    for line in [
        "GET  HTTP/1.1",
        "GET * HTTP/1.1",
        "GET gopher:// HTTP/1.1",
        "GET gopher://h:70:70/ HTTP/1.1",
        "GET http:/ HTTP/1.1",
        "GET :// HTTP/1.1",
        "GET x HTTP/1.1",
        "GET gopher://h/0/a%0d%0aQUIT HTTP/1.1",
        "GET gopher://h/0/\x01 HTTP/1.1",
        "GET gopher://h/0/\x7f HTTP/1.1",
        "GET http://h\\@g/ HTTP/1.1",
        "GET ftp://h/%00 HTTP/1.1",
        "GET /%00 HTTP/1.1",
        "CONNECT / HTTP/1.1",
        "CONNECT h HTTP/1.1",
        "CONNECT h:0 HTTP/1.1",
        "CONNECT h:70:70 HTTP/1.1",
        "CONNECT u@h:70 HTTP/1.1",
        "DELETE / HTTP/1.1",
        "get / HTTP/1.1",
    ] {
        let reply =
            server.raw(format!("{line}\r\nHost: {}\r\nConnection: close\r\n\r\n", server.addr).as_bytes());
        assert!((400..=501).contains(&reply.status), "{line:?}: {reply:?}");
    }
    let reply = server.request("POST", "/", &[]);
    assert_eq!((reply.status, reply.field("allow")), (405, Some("GET, HEAD, CONNECT")));
}

#[test]
fn bytes_that_are_no_http_are_refused() {
    let server = TestServer::start();
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n"[..],
        b"\r\n\r\n\0\n",
        b"/gopher\r\n\r\n",
        b"GET /\r\n\r\n",
    ] {
        let reply = server.raw(bytes);
        assert!(matches!(reply.status, 400 | 505), "{bytes:?}: {reply:?}");
    }
}

#[test]
fn huge_head_is_refused() {
    let server = TestServer::start();
    let long = format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "a".repeat(40_000));
    assert_eq!(server.raw(long.as_bytes()).status, 431);
    let fields = "X-Field: 0123456789\r\n".repeat(90);
    let big = format!("GET / HTTP/1.1\r\nHost: h\r\n{fields}X-Big: {}\r\n\r\n", "a".repeat(40_000));
    assert_eq!(server.raw(big.as_bytes()).status, 431);
    let many = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(200));
    assert_eq!(server.raw(many.as_bytes()).status, 431);
}

#[test]
fn slow_head_ends_with_a_timeout() {
    let mut options = options();
    options.limits.header_timeout = Duration::from_millis(300);
    let server = TestServer::with(options);
    let mut stream = server.connect();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("sent");
    let reply = Reply::read(stream);
    assert_eq!(reply.status, 408, "{reply:?}");
}

#[test]
fn idle_connection_is_closed() {
    let mut options = options();
    options.limits.idle_timeout = Duration::from_millis(300);
    let server = TestServer::with(options);
    let mut bytes = Vec::new();
    server.connect().read_to_end(&mut bytes).expect("closed");
    assert_eq!(bytes, b"");
    // A connection that was used is closed, too.
    let mut stream = server.connect();
    stream.write_all(format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", server.addr).as_bytes()).expect("sent");
    stream.read_to_end(&mut bytes).expect("closed");
    assert_eq!(Reply::parse(&bytes).status, 200);
}

#[test]
fn client_that_leaves_early_is_forgotten() {
    let server = TestServer::start();
    for head in
        ["", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "CONNECT h:70 HTTP/1.1\r\n"]
    {
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).expect("sent");
        drop(stream);
    }
    assert_eq!(server.page("/").status, 200);
}

#[test]
fn empty_lines_do_not_keep_a_connection_open() {
    let mut options = options();
    options.limits.idle_timeout = Duration::from_millis(500);
    options.limits.header_timeout = Duration::from_millis(500);
    let server = TestServer::with(options);
    let mut stream = server.connect();
    stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
    let started = Instant::now();
    for byte in b"\r\n".iter().cycle() {
        assert!(started.elapsed() < Duration::from_secs(20), "the connection is open");
        // A write after the end fails.
        let is_sent = stream.write_all(&[*byte]).is_ok();
        let is_open = stream.read(&mut [0; 512]).is_err_and(|error| {
            matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
        });
        if !is_sent || !is_open {
            break;
        }
    }
}
