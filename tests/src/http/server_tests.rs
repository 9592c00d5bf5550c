//! The HTTP server against a plain socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::*;
use crate::{pattern_handler, pattern_vec};

const GET: &[u8] = b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// Sends a request over a new connection. Returns the response and the error at its end.
fn fetch(server: &HttpServer, request: &[u8]) -> (Vec<u8>, Option<ErrorKind>) {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(request).unwrap();
    let mut received = Vec::new();
    let end = stream.read_to_end(&mut received).err().map(|e| e.kind());
    (received, end)
}

/// Fetches a fixed response. Returns it as text, and the error at its end.
fn fetch_response(response: HttpResponse) -> (String, Option<ErrorKind>) {
    let server = HttpServer::start(move |_| response.clone()).unwrap();
    let (received, end) = fetch(&server, GET);
    (String::from_utf8(received).unwrap(), end)
}

#[test]
fn connection_serves_several_requests() {
    let server = HttpServer::start(|request| HttpResponse::new(200).body(request.path())).unwrap();
    let two = b"GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nconnection: close\r\n\r\n";
    let received = String::from_utf8(fetch(&server, two).0).unwrap();
    let one = |path| format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{path}");
    assert_eq!(received, one("/1") + &one("/2"));
    assert_eq!((server.connections(), server.requests().len()), (1, 2));
    assert_eq!(server.url("a"), format!("http://{}/a", server.addr()));
}

#[test]
fn head_request_gets_no_body() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("abc")).unwrap();
    let received = fetch(&server, b"HEAD / HTTP/1.0\r\n\r\n").0;
    assert_eq!(received, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
}

#[test]
fn response_determines_how_the_connection_ends() {
    let response = || HttpResponse::new(200).body("abcdef");
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n";
    let reset = Some(ErrorKind::ConnectionReset);
    assert_eq!(fetch_response(response().cut_body_at(2)), (format!("{head}ab"), None));
    assert_eq!(fetch_response(response().cut_at(8)), ("HTTP/1.1".to_owned(), None));
    assert_eq!(fetch_response(response().cut_body_at(2).then_reset()), (format!("{head}ab"), reset));
    assert_eq!(fetch_response(response().then_reset()), (format!("{head}abcdef"), reset));
    assert_eq!(fetch_response(response().then_send("gh").then_fin()), (format!("{head}abcdefgh"), None));
    assert_eq!(fetch_response(HttpResponse::raw("any")), ("any".to_owned(), None));
    assert_eq!(fetch_response(HttpResponse::raw("")), (String::new(), None));
    assert_eq!(
        fetch_response(HttpResponse::raw("").then_repeat("ab", 3).then_send("c")),
        ("abababc".to_owned(), None)
    );
    assert_eq!(fetch_response(HttpResponse::raw("").then_reset()), (String::new(), reset));
}

#[test]
fn drip_and_stall_delay_the_response() {
    let started = Instant::now();
    let response =
        HttpResponse::raw("abcd").drip(1, Duration::from_millis(5)).then_stall(Duration::from_millis(30));
    assert_eq!(fetch_response(response), ("abcd".to_owned(), None));
    assert!(started.elapsed() >= Duration::from_millis(50));
}

#[test]
fn stream_is_sent_completely_and_in_ranges() {
    let server = HttpServer::start(pattern_handler(3 << 20, crate::FileHeaders::default())).unwrap();
    let whole = fetch(&server, GET).0;
    assert!(whole.ends_with(&pattern_vec(0, 3 << 20)));
    let part =
        fetch(&server, b"GET / HTTP/1.1\r\nConnection: close\r\nRange: bytes=1048570-1048579\r\n\r\n").0;
    assert!(part.ends_with(&[b"\r\n\r\n", pattern_vec(1_048_570, 10).as_slice()].concat()));
}

#[test]
fn tls_ends_with_and_without_close_notify_and_with_reset() {
    let cert = ServerCert::good().unwrap();
    for (response, expected) in [
        (HttpResponse::raw("abc"), None),
        (HttpResponse::raw("abc").then_fin(), Some(ErrorKind::UnexpectedEof)),
        (HttpResponse::raw("abc").then_reset(), Some(ErrorKind::ConnectionReset)),
    ] {
        let server = HttpServer::start_tls(move |_| response.clone(), &cert).unwrap();
        assert!(server.url("").starts_with("https://127.0.0.1:"));
        let mut tls = crate::cert::client(&cert, TcpStream::connect(server.addr()).unwrap());
        tls.write_all(GET).unwrap();
        let mut received = Vec::new();
        let end = tls.read_to_end(&mut received).err().map(|e| e.kind());
        assert_eq!((received.as_slice(), end), (&b"abc"[..], expected));
    }
}
