//! Tunnels.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use fetch_url_tests::{GopherConfig, GopherItem, GopherServer};

use crate::support::{TestServer, options, public_options};

fn gopher() -> GopherServer {
    GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts")
}

#[test]
fn tunnel_to_an_allowed_port_relays_bytes() {
    let gopher = gopher();
    let mut options = options();
    options.policy.network.allowed_ports = vec![gopher.addr().port()];
    let server = TestServer::with(options);
    for rest in ["", "/a\r\n"] {
        let mut stream = server.connect();
        // The first bytes of the tunnel may arrive with the request.
        let head = format!("CONNECT {} HTTP/1.1\r\nHost: h\r\n\r\n{rest}", gopher.addr());
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("an answer");
            answer.push(byte[0]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
        if rest.is_empty() {
            stream.write_all(b"/a\r\n").expect("sent");
        }
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("the text");
        assert_eq!(text, "hello\r\n.\r\n");
    }
}

#[test]
fn tunnel_to_other_ports_and_addresses_is_refused() {
    let gopher = gopher();
    let server = TestServer::start();
    for target in [
        gopher.addr().to_string(),
        "127.0.0.1:25".to_owned(),
        "127.0.0.1:22".to_owned(),
        "127.0.0.1:8080".to_owned(),
    ] {
        let reply = server.request("CONNECT", &target, &[]);
        assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{target}: {reply:?}");
    }
    let mut options = public_options();
    options.policy.network.allowed_ports = vec![gopher.addr().port()];
    let strict = TestServer::with(options);
    for target in [
        gopher.addr().to_string(),
        "127.0.0.1:443".to_owned(),
        "localhost:70".to_owned(),
        "10.0.0.1:443".to_owned(),
    ] {
        let reply = strict.request("CONNECT", &target, &[]);
        assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{target}: {reply:?}");
    }
    assert_eq!(gopher.connections(), 0);
}

#[test]
fn tunnel_of_a_client_that_left_ends_although_its_server_stays() {
    let upstream = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = upstream.local_addr().expect("an address");
    let mut options = options();
    options.policy.network.allowed_ports = vec![address.port()];
    options.limits.max_clients = 1;
    options.limits.idle_timeout = Duration::from_millis(300);
    let server = TestServer::with(options);
    let mut stream = server.connect();
    let head = format!("CONNECT {address} HTTP/1.1\r\nHost: h\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
    let (mut kept, _) = upstream.accept().expect("a connection");
    // With an unread byte the client would reset the connection, which ends the tunnel at once.
    let (mut answer, mut byte) = (Vec::new(), [0]);
    while !answer.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("an answer");
        answer.push(byte[0]);
    }
    drop(stream);
    assert_eq!(server.page("/").status, 200, "the place of the client is free");
    assert_eq!(kept.read(&mut [0]).expect("the end"), 0);
}
