//! The client side of proxies: SOCKS 4, 4a and 5, HTTP CONNECT.

use std::net::Ipv6Addr;

use fetch_url_core::Host;
use fetch_url_proto::proxy::{
    HttpConnect, InvalidDestination, ProxyHandshake, ProxyLogin, Refusal, Socks4, Socks5,
};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step, WireError};

/// The result of an exchange: the bytes sent, the trace, the bytes left, and how it ended.
#[derive(Debug, PartialEq)]
struct Outcome {
    sent: Vec<u8>,
    trace: String,
    left: Vec<u8>,
    end: Result<Option<Refusal>, WireError>,
}

/// Gives `pieces` to the machine, one after another, then closes the connection.
fn play<'p>(mut machine: ProxyHandshake, pieces: impl IntoIterator<Item = &'p [u8]>) -> Outcome {
    let mut buffer = RecvBuffer::new();
    let mut pieces = pieces.into_iter();
    let (mut sent, mut trace) = (Vec::new(), String::new());
    let end = loop {
        match machine.step(&mut buffer) {
            Ok(Step::Send(bytes)) => sent.extend_from_slice(&bytes),
            Ok(Step::Emit(Event::Sent(line))) => trace.push_str(&format!("> {line}\n")),
            Ok(Step::Emit(Event::Received(line))) => {
                trace.push_str(&format!("< {}\n", String::from_utf8_lossy(&line)));
            }
            Ok(Step::NeedMore) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Ok(Step::Done) => break Ok(machine.refusal().cloned()),
            Ok(step) => panic!("{step:?}"),
            Err(error) => break Err(error),
        }
    };
    pieces.for_each(|piece| buffer.push(piece));
    Outcome { sent, trace, left: buffer.bytes().to_vec(), end }
}

fn name(text: &str) -> Host<'_> {
    Host::Name(text.into())
}

fn login() -> ProxyLogin {
    ProxyLogin::new("me", "secret")
}

fn socks4(host: &Host<'_>, user: Option<&ProxyLogin>) -> ProxyHandshake {
    ProxyHandshake::Socks4(Socks4::new(host, 0x1234, user).expect("a destination"))
}

fn socks5(host: &Host<'_>, user: Option<&ProxyLogin>) -> ProxyHandshake {
    ProxyHandshake::Socks5(Socks5::new(host, 0x1234, user).expect("a destination"))
}

fn connect(authorization: Option<&str>) -> ProxyHandshake {
    let machine = HttpConnect::new(&name("h.test"), 21, authorization.map(str::to_owned));
    ProxyHandshake::Http(machine.expect("a destination"))
}

/// Plays `received` in one piece, byte by byte, and cut at every position; the result is always the same. Without its
/// last byte, and without any more, the exchange ends with [`WireError::UnexpectedEnd`].
fn check(machine: &dyn Fn() -> ProxyHandshake, received: &[u8]) -> Outcome {
    let whole = play(machine(), [received]);
    assert_eq!(play(machine(), received.chunks(1)), whole, "byte by byte");
    for at in 0..received.len() {
        let (one, other) = received.split_at(at);
        assert_eq!(play(machine(), [one, other]), whole, "cut at {at}");
    }
    let consumed = received.len() - whole.left.len();
    if whole.end == Ok(None) {
        for length in 0..consumed {
            let outcome = play(machine(), [&received[..length]]);
            let is_end = matches!(outcome.end, Err(WireError::UnexpectedEnd { .. }));
            assert!(is_end, "ended after {length}: {:?}", outcome.end);
        }
    }
    whole
}

#[test]
fn socks4_sends_address_or_name_and_leaves_the_bytes_of_the_server() {
    let granted = b"\x00\x5a\x12\x34\x01\x02\x03\x04220 ready\r\n";
    let by_name = check(&|| socks4(&name("h.test"), None), granted);
    assert_eq!(by_name.end, Ok(None));
    assert_eq!(by_name.sent, b"\x04\x01\x12\x34\x00\x00\x00\x01\0h.test\0");
    assert_eq!(by_name.left, b"220 ready\r\n");
    let address = Host::V4("192.0.2.1".parse().expect("an address"));
    let by_address = check(&|| socks4(&address, Some(&login())), granted);
    assert_eq!(by_address.sent, b"\x04\x01\x12\x34\xc0\x00\x02\x01me\0", "the password is not sent");
}

#[test]
fn socks4_refusals_and_malformed_replies_are_errors() {
    for code in [0x5b, 0x5c, 0x5d, 0, 0xff] {
        let outcome = check(&|| socks4(&name("h.test"), None), &[0, code, 0, 0, 0, 0, 0, 0]);
        assert_eq!(outcome.end, Ok(Some(Refusal::Socks4(code))));
    }
    for version in [4, 5, b'H'] {
        let outcome = play(socks4(&name("h.test"), None), [&[version][..]]);
        assert!(matches!(outcome.end, Err(WireError::Unexpected { .. })), "{outcome:?}");
    }
}

#[test]
fn socks5_sends_name_or_address_and_reads_every_address_type() {
    let ipv6: Ipv6Addr = "2001:db8::1".parse().expect("an address");
    let bound: [(&str, &[u8]); 4] = [
        ("IPv4", b"\x01\x01\x02\x03\x04\x12\x34"),
        ("IPv6", b"\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x12\x34"),
        ("name", b"\x03\x03a.b\x12\x34"),
        ("empty name", b"\x03\x00\x12\x34"),
    ];
    for (case, bound) in bound {
        let received = [b"\x05\x00\x05\x00\x00", bound, b"220 ready"].concat();
        let outcome = check(&|| socks5(&name("h.test"), None), &received);
        assert_eq!((&outcome.end, &outcome.left[..]), (&Ok(None), &b"220 ready"[..]), "{case}");
        assert_eq!(outcome.sent, b"\x05\x01\x00\x05\x01\x00\x03\x06h.test\x12\x34", "{case}");
    }
    let outcome = check(&|| socks5(&Host::V6(ipv6), None), b"\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0");
    assert_eq!(outcome.sent, [b"\x05\x01\x00\x05\x01\x00\x04", &ipv6.octets()[..], b"\x12\x34"].concat());
    let address = Host::V4("192.0.2.1".parse().expect("an address"));
    let outcome = check(&|| socks5(&address, None), b"\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0");
    assert_eq!(outcome.sent, b"\x05\x01\x00\x05\x01\x00\x01\xc0\x00\x02\x01\x12\x34");
}

#[test]
fn socks5_login_is_sent_only_if_the_proxy_selects_it() {
    let machine = || socks5(&name("h"), Some(&login()));
    let request = b"\x05\x01\x00\x03\x01h\x12\x34";
    let reply = b"\x05\x00\x00\x01\0\0\0\0\0\0";
    let offered = b"\x05\x02\x00\x02";
    let message = b"\x01\x02me\x06secret";
    // The version in the reply to the login is 1; some proxies send 5.
    for version in [1, 5] {
        let received = [b"\x05\x02", &[version, 0][..], reply].concat();
        let outcome = check(&machine, &received);
        assert_eq!((outcome.end, outcome.sent), (Ok(None), [offered, &message[..], request].concat()));
    }
    let unused = check(&machine, &[b"\x05\x00", &reply[..]].concat());
    assert_eq!((unused.end, unused.sent), (Ok(None), [offered, &request[..]].concat()));
    let wrong = check(&machine, b"\x05\x02\x01\x01");
    assert_eq!(wrong.end, Ok(Some(Refusal::LoginRejected)));
    assert_eq!(check(&machine, b"\x05\xff").end, Ok(Some(Refusal::LoginRejected)));
    assert_eq!(check(&|| socks5(&name("h"), None), b"\x05\xff").end, Ok(Some(Refusal::LoginRequired)));
    // A second request for the login is not a reply to the request for the tunnel.
    let twice = check(&machine, b"\x05\x02\x01\x00\x05\x02\x01\x00");
    assert_eq!(twice.end, Ok(Some(Refusal::Socks5(2))));
    let debug = format!("{:?} {:?}", machine(), login());
    assert!(!debug.contains("secret") && !debug.contains("115, 101"), "{debug}");
}

#[test]
fn socks5_refusals_and_malformed_replies_are_errors() {
    for code in [1, 2, 4, 8, 9, 255] {
        // Some proxies close after the code.
        for rest in [&b"\x00\x01\0\0\0\0\0\0"[..], b"\x00\x00"] {
            let outcome = play(socks5(&name("h"), None), [&[&[5, 0, 5, code], rest].concat()[..]]);
            assert_eq!(outcome.end, Ok(Some(Refusal::Socks5(code))));
        }
    }
    for (case, received) in [
        ("version 4", &b"\x04\x00"[..]),
        ("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        ("method that was not offered", b"\x05\x01"),
        ("login that was not offered", b"\x05\x02"),
        ("version in the reply", b"\x05\x00\x04\x00\x00\x01\0\0\0\0\0\0"),
        ("address type 0", b"\x05\x00\x05\x00\x00\x00\0\0\0\0\0\0"),
        ("address type 255", b"\x05\x00\x05\x00\x00\xff\0\0\0\0\0\0"),
    ] {
        let outcome = play(socks5(&name("h"), None), [received]);
        assert!(matches!(outcome.end, Err(WireError::Unexpected { .. })), "{case}: {outcome:?}");
    }
    let outcome = play(socks5(&name("h"), Some(&login())), [&b"\x05\x02\x02\x00"[..]]);
    assert!(matches!(outcome.end, Err(WireError::Unexpected { .. })), "{outcome:?}");
}

#[test]
fn connect_reads_the_head_and_leaves_the_bytes_of_the_server() {
    for head in [
        "HTTP/1.1 200 Connection established\r\n\r\n",
        "HTTP/1.0 200\r\n\r\n",
        "HTTP/1.1 299 \r\nVia: x\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ] {
        let outcome = check(&|| connect(None), &[head.as_bytes(), b"220 ready\r\n"].concat());
        assert_eq!((&outcome.end, &outcome.left[..]), (&Ok(None), &b"220 ready\r\n"[..]), "{head}");
        assert_eq!(outcome.sent, b"CONNECT h.test:21 HTTP/1.1\r\nHost: h.test:21\r\n\r\n");
        let status_line = head.lines().next().expect("a line");
        assert!(outcome.trace.starts_with(&format!("> CONNECT h.test:21 HTTP/1.1\n< {status_line}")));
    }
    let ipv6 = Host::V6("::1".parse().expect("an address"));
    let machine = || ProxyHandshake::Http(HttpConnect::new(&ipv6, 21, None).expect("a destination"));
    assert!(check(&machine, b"HTTP/1.1 200 OK\r\n\r\n").sent.starts_with(b"CONNECT [::1]:21 HTTP/1.1\r\n"));
}

#[test]
fn connect_login_is_sent_and_not_shown() {
    let value = "Basic bWU6c2VjcmV0";
    let received = format!("HTTP/1.1 200 OK\r\nX-Echo: {value}\r\n\r\n");
    let outcome = check(&|| connect(Some(value)), received.as_bytes());
    let expected = format!("Host: h.test:21\r\nProxy-Authorization: {value}\r\n\r\n");
    assert!(outcome.sent.ends_with(expected.as_bytes()));
    assert!(
        outcome.trace.contains("X-Echo: Basic ***") && !outcome.trace.contains("bWU6"),
        "{}",
        outcome.trace
    );
    assert!(!format!("{:?}", connect(Some(value))).contains("bWU6"));
    let rejected = check(&|| connect(Some(value)), b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n");
    assert_eq!(rejected.end, Ok(Some(Refusal::LoginRejected)));
    let required = check(&|| connect(None), b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n");
    assert_eq!(required.end, Ok(Some(Refusal::LoginRequired)));
}

#[test]
fn connect_refusals_have_status_and_reason() {
    for (head, status, reason) in [
        ("HTTP/1.1 403 Forbidden\r\n\r\nbody", 403, "Forbidden"),
        ("HTTP/1.1 502\r\n\r\n", 502, ""),
        ("HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\n\r\n", 302, "Found"),
        ("HTTP/1.1 999 x\r\n\r\n", 999, "x"),
    ] {
        let refusal = Refusal::Status { status, reason: reason.into() };
        assert_eq!(check(&|| connect(None), head.as_bytes()).end, Ok(Some(refusal)), "{head}");
    }
}

#[test]
fn connect_responses_that_are_malformed_or_too_long_are_errors() {
    for received in [
        "SSH-2.0-x\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200OK\r\n\r\n",
        "HTTP/1.1 +20 OK\r\n\r\n",
        "HTTP/1.x 200 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    ] {
        let outcome = play(connect(None), [received.as_bytes()]);
        assert!(matches!(outcome.end, Err(WireError::Unexpected { .. })), "{received:?}: {outcome:?}");
        // The error comes with the first wrong byte, not when the line is complete.
    }
    assert!(matches!(play(connect(None), [&b"S"[..]]).end, Err(WireError::Unexpected { .. })));
    let endless_line = format!("HTTP/1.1 200 {}", "x".repeat(10_000));
    let endless_head = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(20_000));
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(33);
    for received in [endless_line, endless_head, interim] {
        for length in [1, received.len()] {
            let outcome = play(connect(None), received.as_bytes().chunks(length));
            assert!(matches!(outcome.end, Err(WireError::LimitExceeded { .. })), "{outcome:?}");
        }
    }
}

#[test]
fn destinations_that_the_protocol_cannot_send_are_rejected() {
    use InvalidDestination as I;
    let long = "x".repeat(256);
    let long_login = ProxyLogin::new(long.as_bytes(), "");
    let long_password = ProxyLogin::new("", long.as_bytes());
    let zone = Host::V6Zone("fe80::1".parse().expect("an address"), "eth0".into());
    let ipv6 = Host::V6("::1".parse().expect("an address"));
    let zero = Host::V4("0.0.0.7".parse().expect("an address"));
    assert_eq!(Socks4::new(&zone, 1, None).err(), Some(I::Zone));
    assert_eq!(Socks4::new(&ipv6, 1, None).err(), Some(I::Ipv6));
    assert_eq!(Socks4::new(&zero, 1, None).err(), Some(I::ReservedAddress));
    assert_eq!(Socks4::new(&name(&long), 1, None).err(), Some(I::Name));
    assert_eq!(Socks4::new(&name("h"), 1, Some(&long_login)).err(), Some(I::Login));
    assert_eq!(Socks4::new(&name("h"), 1, Some(&ProxyLogin::new("a\0b", ""))).err(), Some(I::Login));
    assert_eq!(Socks5::new(&zone, 1, None).err(), Some(I::Zone));
    assert_eq!(Socks5::new(&name(&long), 1, None).err(), Some(I::Name));
    assert_eq!(Socks5::new(&name("h"), 1, Some(&long_login)).err(), Some(I::Login));
    assert_eq!(Socks5::new(&name("h"), 1, Some(&long_password)).err(), Some(I::Login));
    assert!(Socks5::new(&name(&long[1..]), 1, Some(&login())).is_ok());
    assert_eq!(HttpConnect::new(&zone, 1, None).err(), Some(I::Zone));
    assert_eq!(HttpConnect::new(&name("a\r\nX: y"), 1, None).err(), Some(I::Name));
    assert_eq!(HttpConnect::new(&name("h"), 1, Some("a\r\nX: y".to_owned())).err(), Some(I::Login));
}
