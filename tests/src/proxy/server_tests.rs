//! The proxies against plain sockets, with an HTTP server as the origin.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::*;
use crate::proxy::tunnel::AddressType;
use crate::{HttpServer, ServerCert};

/// An origin that returns the request target.
fn origin_server() -> HttpServer {
    HttpServer::start(|request| HttpResponse::new(200).body(request.path())).unwrap()
}

/// Sends these bytes. Returns the first 100,000 bytes of the response.
fn exchange(proxy: &ProxyServer, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(proxy.addr()).unwrap();
    stream.write_all(bytes).unwrap();
    let mut received = Vec::new();
    let _ = stream.take(100_000).read_to_end(&mut received);
    received
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A request for a URL of `made-up.invalid`.
fn absolute_request(origin: &HttpServer, more: &str) -> Vec<u8> {
    let port = origin.addr().port();
    format!(
        "GET http://made-up.invalid:{port}/a?b HTTP/1.1\r\nHost: made-up.invalid:{port}\r\nX-Mine: 1\r\n{more}\r\n"
    )
    .into_bytes()
}

#[test]
fn absolute_request_is_forwarded_without_proxy_fields() {
    let (origin, proxy) = (origin_server(), ProxyServer::http().unwrap());
    let more = "Proxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\n";
    let received = text(&exchange(&proxy, &absolute_request(&origin, more)));
    assert_eq!(received, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n/a?b");
    let [request] = &origin.requests()[..] else { panic!() };
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Connection", "Host", "X-Mine"]);
    let [seen] = &proxy.requests()[..] else { panic!() };
    assert_eq!(seen.header_text("proxy-authorization"), Some("Basic eDp5"));
    assert!(seen.path().starts_with("http://made-up.invalid:"));
    assert_eq!((proxy.tunnels().len(), proxy.connections()), (0, 1));
}

#[test]
fn body_is_forwarded_and_missing_path_becomes_slash() {
    let origin = HttpServer::start(|request| {
        HttpResponse::new(200)
            .body([request.method.as_bytes(), b" ", &request.target, &request.body].concat())
    });
    let (origin, proxy) = (origin.unwrap(), ProxyServer::http().unwrap());
    let request = format!("POST http://{} HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", origin.addr());
    assert!(exchange(&proxy, request.as_bytes()).ends_with(b"\r\n\r\nPOST /abc"));
}

#[test]
fn interim_and_invalid_responses_are_forwarded() {
    let bytes = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
    let origin = HttpServer::start(move |_| HttpResponse::raw(bytes)).unwrap();
    let received = text(&exchange(&ProxyServer::http().unwrap(), &absolute_request(&origin, "")));
    assert_eq!(received, bytes.replace("Length: 1\r\n", "Length: 1\r\nConnection: close\r\n"));
    // An invalid response is forwarded unchanged.
    let origin = HttpServer::start(|_| HttpResponse::raw("no answer")).unwrap();
    assert_eq!(exchange(&ProxyServer::http().unwrap(), &absolute_request(&origin, "")), b"no answer");
}

#[test]
fn wrong_login_is_refused_with_407() {
    let (origin, proxy) = (origin_server(), ProxyServer::http_with_login("me", "p:w").unwrap());
    // Twice on one connection: the refusal does not end it.
    let wrong = absolute_request(&origin, "Proxy-Authorization: Basic bWU6cA==\r\n");
    let right = absolute_request(&origin, "Proxy-Authorization: Basic bWU6cDp3\r\n");
    let received = text(&exchange(&proxy, &[wrong, right].concat()));
    assert!(received.starts_with("HTTP/1.1 407 "), "{received}");
    assert!(
        received.contains("Proxy-Authenticate: Basic realm=") && received.ends_with("/a?b"),
        "{received}"
    );
    assert_eq!((proxy.requests().len(), origin.requests().len(), proxy.connections()), (2, 1, 1));
    let received = exchange(&proxy, b"CONNECT a:1 HTTP/1.0\r\n\r\n");
    assert!(received.starts_with(b"HTTP/1.1 407 ") && proxy.tunnels().is_empty());
    assert_eq!(proxy.url_as("me:p%3Aw"), format!("http://me:p%3Aw@{}", proxy.addr()));
}

#[test]
fn tunnel_carries_tls_in_both_directions() {
    let cert = ServerCert::good().unwrap();
    let origin = HttpServer::start_tls(|_| HttpResponse::new(200).stream(3 << 20), &cert).unwrap();
    let proxy = ProxyServer::http().unwrap();
    let mut stream = TcpStream::connect(proxy.addr()).unwrap();
    write!(stream, "CONNECT made-up.invalid:{} HTTP/1.1\r\n\r\n", origin.addr().port()).unwrap();
    let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
    let mut head = vec![0; established.len()];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head, established);
    let mut tls = crate::cert::client(&cert, stream);
    tls.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut received = Vec::new();
    tls.read_to_end(&mut received).unwrap();
    assert!(received.ends_with(&crate::pattern_vec(0, 3 << 20)));
    let [tunnel] = &proxy.tunnels()[..] else { panic!() };
    assert_eq!((tunnel.address_type, tunnel.host.as_str()), (AddressType::Name, "made-up.invalid"));
    assert!(tunnel.opening.starts_with(&[0x16, 3]), "{:?}", tunnel.opening);
}

#[test]
fn bytes_after_connect_are_forwarded() {
    let (origin, proxy) = (origin_server(), ProxyServer::http().unwrap());
    let bytes = format!("CONNECT {} HTTP/1.1\r\n\r\nGET /early HTTP/1.0\r\n\r\n", origin.addr());
    assert!(exchange(&proxy, bytes.as_bytes()).ends_with(b"\r\n\r\n/early"));
    let [tunnel] = &proxy.tunnels()[..] else { panic!() };
    assert_eq!(tunnel.opening, b"GET /early HTTP/1.0\r\n");
    assert_eq!((tunnel.address_type, tunnel.port), (AddressType::V4, origin.addr().port()));
}

#[test]
fn connect_faults_are_played() {
    let origin = origin_server();
    let bytes = format!("CONNECT {} HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\n", origin.addr());
    let received = |fault| exchange(&ProxyServer::http_with_fault(fault).unwrap(), bytes.as_bytes());
    assert_eq!(received(ConnectFault::Close), b"");
    let moved = HttpResponse::new(302).header("Location", "http://elsewhere.invalid/").then_close();
    assert!(received(ConnectFault::Reply(moved)).starts_with(b"HTTP/1.1 302 Found\r\nLocation: http://else"));
    let endless = received(ConnectFault::EndlessHead);
    assert!(endless.len() == 100_000 && endless.starts_with(b"HTTP/1.1 200 OK\r\nX-Endless: abc\r\n"));
    assert_eq!(origin.connections(), 0);
    let received = text(&received(ConnectFault::Extra(b"HTTP/1.1 200 OK\r\n\r\nforged".to_vec())));
    assert!(received.starts_with("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n\r\nforged"));
    assert!(received.ends_with("\r\n\r\n/"), "{received}");
}

#[test]
fn unreachable_origin_is_502_and_invalid_request_is_400() {
    let proxy = ProxyServer::http().unwrap();
    assert!(exchange(&proxy, b"GET http://a.invalid:1/ HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 502 "));
    assert!(exchange(&proxy, b"CONNECT a.invalid:1 HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 502 "));
    for bad in ["GET / HTTP/1.1\r\n\r\n", "GET http://a:b/ HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\n\r\n"] {
        assert!(exchange(&proxy, bad.as_bytes()).starts_with(b"HTTP/1.1 400 "), "{bad}");
    }
}

/// Returns the greeting, a request for `host` (address type and bytes) and a request in the tunnel.
fn socks(greeting: &[u8], host: &[u8], port: u16) -> Vec<u8> {
    [greeting, &[5, 1, 0], host, &port.to_be_bytes(), b"GET /s HTTP/1.0\r\n\r\n"].concat()
}

const NAME: &[u8] = b"\x03\x0emadeup.invalid";

#[test]
fn socks_connects_by_name_and_by_address() {
    let (origin, proxy) = (origin_server(), ProxyServer::socks5().unwrap());
    let port = origin.addr().port();
    let v6 = [&[4_u8][..], &[0; 15], &[1]].concat();
    for (host, address_type, written) in [
        (NAME, AddressType::Name, "madeup.invalid"),
        (&[1, 192, 0, 2, 7], AddressType::V4, "192.0.2.7"),
        (&v6, AddressType::V6, "::1"),
    ] {
        let received = exchange(&proxy, &socks(b"\x05\x02\x00\x02", host, port));
        assert!(
            received.starts_with(b"\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0HTTP/1.1 200 OK\r\n"),
            "{received:?}"
        );
        let tunnel = proxy.tunnels().pop().unwrap();
        assert_eq!((tunnel.address_type, tunnel.host.as_str(), tunnel.port), (address_type, written, port));
        assert_eq!((tunnel.opening, tunnel.login), (b"GET /s HTTP/1.0\r\n".to_vec(), None));
    }
    assert_eq!((origin.requests().len(), proxy.url()), (3, format!("socks5://{}", proxy.addr())));
    // Nothing listens on port 1.
    assert!(exchange(&proxy, &socks(b"\x05\x01\x00", NAME, 1)).starts_with(&[5, 0, 5, 5]));
}

#[test]
fn socks_login_is_checked() {
    let (origin, proxy) = (origin_server(), ProxyServer::socks5_with_login("me", "secret").unwrap());
    let port = origin.addr().port();
    assert_eq!(exchange(&proxy, &socks(b"\x05\x01\x00", NAME, port)), [5, 0xff]);
    assert_eq!(exchange(&proxy, &socks(b"\x05\x01\x02\x01\x02me\x05wrong", NAME, port)), [5, 2, 1, 1]);
    assert_eq!((proxy.tunnels().len(), origin.connections()), (0, 0));
    let received = exchange(&proxy, &socks(b"\x05\x02\x00\x02\x01\x02me\x06secret", NAME, port));
    assert!(received.starts_with(&[5, 2, 1, 0, 5, 0]) && received.ends_with(b"/s"), "{received:?}");
    assert_eq!(proxy.tunnels()[0].login, Some((b"me".to_vec(), b"secret".to_vec())));
}

#[test]
fn socks_faults_are_played() {
    let origin = origin_server();
    let bytes = socks(b"\x05\x01\x00", NAME, origin.addr().port());
    let started = Instant::now();
    for (fault, expected) in [
        (SocksFault::Close, &[5, 0][..]),
        (SocksFault::HalfReply, &[5, 0, 5, 0, 0, 1]),
        (SocksFault::Refuse(2), &[5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0]),
        (SocksFault::Stall(Duration::from_millis(30)), &[]),
        (SocksFault::UnofferedMethod, &[5, 1]),
        (SocksFault::WrongVersion, &[4, 0]),
    ] {
        let proxy = ProxyServer::socks5_with_fault(fault).unwrap();
        assert_eq!(exchange(&proxy, &bytes), expected, "{fault:?}");
    }
    assert!(started.elapsed() >= Duration::from_millis(30));
    assert_eq!(origin.connections(), 0);
}
