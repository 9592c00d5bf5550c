//! The proxies against plain sockets, with a server of ours behind them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::*;
use crate::proxy::tunnel::AddressType;
use crate::{HttpServer, ServerCert};

/// An origin that says what it was asked for.
fn origin_server() -> HttpServer {
    HttpServer::start(|request| HttpReply::new(200).body(request.path())).unwrap()
}

/// Sends this, and gives what comes until the end.
fn said(proxy: &ProxyServer, octets: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(proxy.addr()).unwrap();
    stream.write_all(octets).unwrap();
    let mut heard = Vec::new();
    let _ = stream.take(100_000).read_to_end(&mut heard);
    heard
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// A request for a whole URL of `made-up.invalid`.
fn whole_url(origin: &HttpServer, more: &str) -> Vec<u8> {
    let port = origin.addr().port();
    format!(
        "GET http://made-up.invalid:{port}/a?b HTTP/1.1\r\nHost: made-up.invalid:{port}\r\nX-Mine: 1\r\n{more}\r\n"
    )
    .into_bytes()
}

#[test]
fn a_whole_url_is_forwarded_without_what_is_the_proxys() {
    let (origin, proxy) = (origin_server(), ProxyServer::http().unwrap());
    let more = "Proxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\n";
    let heard = text(&said(&proxy, &whole_url(&origin, more)));
    assert_eq!(heard, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n/a?b");
    let [request] = &origin.requests()[..] else { panic!() };
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Connection", "Host", "X-Mine"]);
    let [seen] = &proxy.requests()[..] else { panic!() };
    assert_eq!(seen.header_text("proxy-authorization"), Some("Basic eDp5"));
    assert!(seen.path().starts_with("http://made-up.invalid:"));
    assert_eq!((proxy.tunnels().len(), proxy.connections()), (0, 1));
}

#[test]
fn a_body_and_a_path_that_is_missing() {
    let origin = HttpServer::start(|request| {
        HttpReply::new(200).body([request.method.as_bytes(), b" ", &request.target, &request.body].concat())
    });
    let (origin, proxy) = (origin.unwrap(), ProxyServer::http().unwrap());
    let request = format!("POST http://{} HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", origin.addr());
    assert!(said(&proxy, request.as_bytes()).ends_with(b"\r\n\r\nPOST /abc"));
}

#[test]
fn interim_answers_pass() {
    let octets = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
    let origin = HttpServer::start(move |_| HttpReply::raw(octets)).unwrap();
    let heard = text(&said(&ProxyServer::http().unwrap(), &whole_url(&origin, "")));
    assert_eq!(heard, octets.replace("Length: 1\r\n", "Length: 1\r\nConnection: close\r\n"));
    // What is no answer passes as it is.
    let origin = HttpServer::start(|_| HttpReply::raw("no answer")).unwrap();
    assert_eq!(said(&ProxyServer::http().unwrap(), &whole_url(&origin, "")), b"no answer");
}

#[test]
fn only_the_right_login_is_let_in() {
    let (origin, proxy) = (origin_server(), ProxyServer::http_with_login("me", "p:w").unwrap());
    // Twice on one connection: the refusal does not end it.
    let wrong = whole_url(&origin, "Proxy-Authorization: Basic bWU6cA==\r\n");
    let right = whole_url(&origin, "Proxy-Authorization: Basic bWU6cDp3\r\n");
    let heard = text(&said(&proxy, &[wrong, right].concat()));
    assert!(heard.starts_with("HTTP/1.1 407 "), "{heard}");
    assert!(heard.contains("Proxy-Authenticate: Basic realm=") && heard.ends_with("/a?b"), "{heard}");
    assert_eq!((proxy.requests().len(), origin.requests().len(), proxy.connections()), (2, 1, 1));
    let heard = said(&proxy, b"CONNECT a:1 HTTP/1.0\r\n\r\n");
    assert!(heard.starts_with(b"HTTP/1.1 407 ") && proxy.tunnels().is_empty());
    assert_eq!(proxy.url_as("me:p%3Aw"), format!("http://me:p%3Aw@{}", proxy.addr()));
}

#[test]
fn a_tunnel_carries_tls_both_ways() {
    let cert = ServerCert::good().unwrap();
    let origin = HttpServer::start_tls(|_| HttpReply::new(200).stream(3 << 20), &cert).unwrap();
    let proxy = ProxyServer::http().unwrap();
    let mut stream = TcpStream::connect(proxy.addr()).unwrap();
    write!(stream, "CONNECT made-up.invalid:{} HTTP/1.1\r\n\r\n", origin.addr().port()).unwrap();
    let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
    let mut head = vec![0; established.len()];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head, established);
    let mut tls = crate::cert::client(&cert, stream);
    tls.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut heard = Vec::new();
    tls.read_to_end(&mut heard).unwrap();
    assert!(heard.ends_with(&crate::pattern_vec(0, 3 << 20)));
    let [tunnel] = &proxy.tunnels()[..] else { panic!() };
    assert_eq!((tunnel.address_type, tunnel.host.as_str()), (AddressType::Name, "made-up.invalid"));
    assert!(tunnel.opening.starts_with(&[0x16, 3]), "{:?}", tunnel.opening);
}

#[test]
fn what_comes_with_connect_is_carried_too() {
    let (origin, proxy) = (origin_server(), ProxyServer::http().unwrap());
    let octets = format!("CONNECT {} HTTP/1.1\r\n\r\nGET /early HTTP/1.0\r\n\r\n", origin.addr());
    assert!(said(&proxy, octets.as_bytes()).ends_with(b"\r\n\r\n/early"));
    let [tunnel] = &proxy.tunnels()[..] else { panic!() };
    assert_eq!(tunnel.opening, b"GET /early HTTP/1.0\r\n");
    assert_eq!((tunnel.address_type, tunnel.port), (AddressType::V4, origin.addr().port()));
}

#[test]
fn connect_answered_as_it_should_not_be() {
    let origin = origin_server();
    let octets = format!("CONNECT {} HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\n", origin.addr());
    let heard = |fault| said(&ProxyServer::http_with_fault(fault).unwrap(), octets.as_bytes());
    assert_eq!(heard(ConnectFault::Close), b"");
    let moved = HttpReply::new(302).header("Location", "http://elsewhere.invalid/").then_close();
    assert!(heard(ConnectFault::Reply(moved)).starts_with(b"HTTP/1.1 302 Found\r\nLocation: http://else"));
    let endless = heard(ConnectFault::EndlessHead);
    assert!(endless.len() == 100_000 && endless.starts_with(b"HTTP/1.1 200 OK\r\nX-Endless: abc\r\n"));
    assert_eq!(origin.connections(), 0);
    let heard = text(&heard(ConnectFault::Extra(b"HTTP/1.1 200 OK\r\n\r\nforged".to_vec())));
    assert!(heard.starts_with("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n\r\nforged"));
    assert!(heard.ends_with("\r\n\r\n/"), "{heard}");
}

#[test]
fn nobody_there_and_nonsense() {
    let proxy = ProxyServer::http().unwrap();
    assert!(said(&proxy, b"GET http://a.invalid:1/ HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 502 "));
    assert!(said(&proxy, b"CONNECT a.invalid:1 HTTP/1.1\r\n\r\n").starts_with(b"HTTP/1.1 502 "));
    for bad in ["GET / HTTP/1.1\r\n\r\n", "GET http://a:b/ HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\n\r\n"] {
        assert!(said(&proxy, bad.as_bytes()).starts_with(b"HTTP/1.1 400 "), "{bad}");
    }
}

/// Greeting, request for `host` (address type and octets) and a request in the tunnel, all at once.
fn socks(greeting: &[u8], host: &[u8], port: u16) -> Vec<u8> {
    [greeting, &[5, 1, 0], host, &port.to_be_bytes(), b"GET /s HTTP/1.0\r\n\r\n"].concat()
}

const NAME: &[u8] = b"\x03\x0emadeup.invalid";

#[test]
fn socks_by_name_and_by_address() {
    let (origin, proxy) = (origin_server(), ProxyServer::socks5().unwrap());
    let port = origin.addr().port();
    let v6 = [&[4_u8][..], &[0; 15], &[1]].concat();
    for (host, address_type, written) in [
        (NAME, AddressType::Name, "madeup.invalid"),
        (&[1, 192, 0, 2, 7], AddressType::V4, "192.0.2.7"),
        (&v6, AddressType::V6, "::1"),
    ] {
        let heard = said(&proxy, &socks(b"\x05\x02\x00\x02", host, port));
        assert!(heard.starts_with(b"\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0HTTP/1.1 200 OK\r\n"), "{heard:?}");
        let tunnel = proxy.tunnels().pop().unwrap();
        assert_eq!((tunnel.address_type, tunnel.host.as_str(), tunnel.port), (address_type, written, port));
        assert_eq!((tunnel.opening, tunnel.login), (b"GET /s HTTP/1.0\r\n".to_vec(), None));
    }
    assert_eq!((origin.requests().len(), proxy.url()), (3, format!("socks5://{}", proxy.addr())));
    // Nobody listens at port 1.
    assert!(said(&proxy, &socks(b"\x05\x01\x00", NAME, 1)).starts_with(&[5, 0, 5, 5]));
}

#[test]
fn socks_with_a_login() {
    let (origin, proxy) = (origin_server(), ProxyServer::socks5_with_login("me", "secret").unwrap());
    let port = origin.addr().port();
    assert_eq!(said(&proxy, &socks(b"\x05\x01\x00", NAME, port)), [5, 0xff]);
    assert_eq!(said(&proxy, &socks(b"\x05\x01\x02\x01\x02me\x05wrong", NAME, port)), [5, 2, 1, 1]);
    assert_eq!((proxy.tunnels().len(), origin.connections()), (0, 0));
    let heard = said(&proxy, &socks(b"\x05\x02\x00\x02\x01\x02me\x06secret", NAME, port));
    assert!(heard.starts_with(&[5, 2, 1, 0, 5, 0]) && heard.ends_with(b"/s"), "{heard:?}");
    assert_eq!(proxy.tunnels()[0].login, Some((b"me".to_vec(), b"secret".to_vec())));
}

#[test]
fn socks_answered_as_it_should_not_be() {
    let origin = origin_server();
    let octets = socks(b"\x05\x01\x00", NAME, origin.addr().port());
    let begun = Instant::now();
    for (fault, expected) in [
        (SocksFault::Close, &[5, 0][..]),
        (SocksFault::HalfReply, &[5, 0, 5, 0, 0, 1]),
        (SocksFault::Refuse(2), &[5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0]),
        (SocksFault::Stall(Duration::from_millis(30)), &[]),
        (SocksFault::UnofferedMethod, &[5, 1]),
        (SocksFault::WrongVersion, &[4, 0]),
    ] {
        let proxy = ProxyServer::socks5_with_fault(fault).unwrap();
        assert_eq!(said(&proxy, &octets), expected, "{fault:?}");
    }
    assert!(begun.elapsed() >= Duration::from_millis(30));
    assert_eq!(origin.connections(), 0);
}
