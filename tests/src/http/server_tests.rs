//! The HTTP server against a plain socket, and every fault played once.

use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::*;
use crate::{FaultSetting, HTTP_FAULTS, Transport, pattern_handler, pattern_vec};

const GET: &[u8] = b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// One request on a connection of its own: what came, and how it ended.
fn fetch(server: &HttpServer, request: &[u8]) -> (Vec<u8>, Option<ErrorKind>) {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    stream.write_all(request).unwrap();
    let mut heard = Vec::new();
    let end = stream.read_to_end(&mut heard).err().map(|e| e.kind());
    (heard, end)
}

/// The same with one fixed answer, as text.
fn answer(reply: HttpReply) -> (String, Option<ErrorKind>) {
    let server = HttpServer::start(move |_| reply.clone()).unwrap();
    let (heard, end) = fetch(&server, GET);
    (String::from_utf8(heard).unwrap(), end)
}

#[test]
fn a_connection_serves_several_requests() {
    let server = HttpServer::start(|request| HttpReply::new(200).body(request.path())).unwrap();
    let two = b"GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nconnection: close\r\n\r\n";
    let heard = String::from_utf8(fetch(&server, two).0).unwrap();
    let one = |path| format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{path}");
    assert_eq!(heard, one("/1") + &one("/2"));
    assert_eq!((server.connections(), server.requests().len()), (1, 2));
    assert_eq!(server.url("a"), format!("http://{}/a", server.addr()));
}

#[test]
fn head_gets_the_length_alone() {
    let server = HttpServer::start(|_| HttpReply::new(200).body("abc")).unwrap();
    let heard = fetch(&server, b"HEAD / HTTP/1.0\r\n\r\n").0;
    assert_eq!(heard, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
}

#[test]
fn ends_are_what_they_are_called() {
    let reply = || HttpReply::new(200).body("abcdef");
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n";
    let reset = Some(ErrorKind::ConnectionReset);
    assert_eq!(answer(reply().cut_body_at(2)), (format!("{head}ab"), None));
    assert_eq!(answer(reply().cut_at(8)), ("HTTP/1.1".to_owned(), None));
    assert_eq!(answer(reply().cut_body_at(2).then_reset()), (format!("{head}ab"), reset));
    assert_eq!(answer(reply().then_reset()), (format!("{head}abcdef"), reset));
    assert_eq!(answer(reply().then_send("gh").then_fin()), (format!("{head}abcdefgh"), None));
    assert_eq!(answer(HttpReply::raw("any")), ("any".to_owned(), None));
    assert_eq!(answer(HttpReply::raw("")), (String::new(), None));
    assert_eq!(answer(HttpReply::raw("").then_repeat("ab", 3).then_send("c")), ("abababc".to_owned(), None));
    assert_eq!(answer(HttpReply::raw("").then_reset()), (String::new(), reset));
}

#[test]
fn slow_answers_are_slow() {
    let begun = Instant::now();
    let reply =
        HttpReply::raw("abcd").drip(1, Duration::from_millis(5)).then_stall(Duration::from_millis(30));
    assert_eq!(answer(reply), ("abcd".to_owned(), None));
    assert!(begun.elapsed() >= Duration::from_millis(50));
}

#[test]
fn streams_come_whole_and_in_ranges() {
    let server = HttpServer::start(pattern_handler(3 << 20, crate::FileFacts::default())).unwrap();
    let whole = fetch(&server, GET).0;
    assert!(whole.ends_with(&pattern_vec(0, 3 << 20)));
    let part =
        fetch(&server, b"GET / HTTP/1.1\r\nConnection: close\r\nRange: bytes=1048570-1048579\r\n\r\n").0;
    assert!(part.ends_with(&[b"\r\n\r\n", pattern_vec(1_048_570, 10).as_slice()].concat()));
}

#[test]
fn tls_ends_with_and_without_close_notify_and_with_reset() {
    let cert = ServerCert::good().unwrap();
    for (reply, expected) in [
        (HttpReply::raw("abc"), None),
        (HttpReply::raw("abc").then_fin(), Some(ErrorKind::UnexpectedEof)),
        (HttpReply::raw("abc").then_reset(), Some(ErrorKind::ConnectionReset)),
    ] {
        let server = HttpServer::start_tls(move |_| reply.clone(), &cert).unwrap();
        assert!(server.url("").starts_with("https://127.0.0.1:"));
        let mut tls = crate::cert::client(&cert, TcpStream::connect(server.addr()).unwrap());
        tls.write_all(GET).unwrap();
        let mut heard = Vec::new();
        let end = tls.read_to_end(&mut heard).err().map(|e| e.kind());
        assert_eq!((heard.as_slice(), end), (&b"abc"[..], expected));
    }
}

#[test]
fn every_fault_has_a_name_of_its_own_and_answers() {
    let names: HashSet<_> = HTTP_FAULTS.iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), HTTP_FAULTS.len());
    let cert = ServerCert::good().unwrap();
    let setting = FaultSetting { stall: Duration::from_millis(1), ..FaultSetting::default() };
    for fault in HTTP_FAULTS.iter().filter(|fault| fault.transport == Transport::Plain) {
        assert!(fault.accepts(fault.expect) && !(fault.keeps_part && fault.expect == 0), "{}", fault.name);
        let server = fault.serve(setting.clone(), &cert).unwrap();
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.write_all(GET).unwrap();
        let mut heard = Vec::new();
        let _ = stream.take(100_000).read_to_end(&mut heard);
        let silent = ["empty_reply", "reset_before_head", "stall_before_head"].contains(&fault.name);
        assert_eq!(heard.is_empty(), silent, "{}", fault.name);
    }
}

/// What follows the last head, of a body that is not chunked.
fn body(heard: &[u8]) -> Option<&[u8]> {
    let at = |word: &[u8]| heard.windows(word.len()).position(|window| window == word);
    let last = at(b"HTTP/1.1 200")?;
    let end = heard[last..].windows(4).position(|window| window == b"\r\n\r\n")?;
    at(b"chunked").is_none().then(|| &heard[last + end + 4..])
}

#[test]
fn a_kept_part_is_a_true_prefix_and_a_success_is_whole() {
    let setting = FaultSetting { stall: Duration::from_millis(1), ..FaultSetting::default() };
    let content = setting.content.as_slice();
    let cert = ServerCert::good().unwrap();
    let request = [&b"GET /hop/10"[..], &GET[6..]].concat();
    let mut checked = 0;
    for fault in HTTP_FAULTS.iter().filter(|fault| fault.keeps_part || fault.expect == 0) {
        let server = fault.serve(setting.clone(), &cert).unwrap();
        let mut heard = Vec::new();
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        let _ = match fault.transport {
            Transport::Plain => stream.write_all(&request).and_then(|()| stream.read_to_end(&mut heard)),
            Transport::Tls => {
                let mut tls = crate::cert::client(&cert, stream);
                tls.write_all(&request).and_then(|()| tls.read_to_end(&mut heard))
            }
        };
        let Some(body) = body(&heard) else { continue };
        let prefix = !body.is_empty() && content.starts_with(body);
        let right = if fault.expect == 0 { body.starts_with(content) } else { prefix };
        assert!(right, "{}: {} octets", fault.name, body.len());
        checked += 1;
    }
    assert!(checked > 25, "{checked}");
}
