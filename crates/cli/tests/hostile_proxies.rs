//! Proxies that lie, and the SOCKS 4 that `tests/src` has no server for (SECURITY.md C and H).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use fetch_url_tests::{ConnectFault, HttpReply, HttpServer, ProxyServer, ServerCert, SocksFault};
use support::{Ran, ended, ensure, fetch, in_parallel, serving, started};

/// A run, how long it took and the most memory it used, in KiB.
fn measured(arguments: &[&str]) -> (Ran, Duration, u64) {
    let begun = Instant::now();
    let mut child = started(arguments);
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    support::until(Duration::from_secs(20), || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        most = most.max(line.trim().trim_end_matches(" kB").parse().unwrap_or(0));
        child.try_wait().expect("our own child").is_some()
    });
    (ended(child), begun.elapsed(), most)
}

#[test]
fn answers_to_connect() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let ca = files.ca.to_str().expect("UTF-8");
    let elsewhere = serving(|_| HttpReply::new(200).body("evil"));
    let evil = elsewhere.url("/");
    let answer = |status: u16| ConnectFault::Reply(HttpReply::new(status).body("evil"));
    let raw = |text: &str| ConnectFault::Reply(HttpReply::raw(text));
    for (what, fault, exits) in [
        ("a close", ConnectFault::Close, &[7, 8, 52][..]),
        (
            "a redirect",
            ConnectFault::Reply(HttpReply::new(302).header("Location", &evil).body("evil")),
            &[7, 8, 22, 90],
        ),
        ("an endless head", ConnectFault::EndlessHead, &[7, 8, 63]),
        ("403", answer(403), &[7, 8, 9, 22]),
        ("404", answer(404), &[7, 8, 9, 22]),
        ("500", answer(500), &[7, 8, 22]),
        ("503", answer(503), &[7, 92]),
        ("407 without a realm", answer(407), &[67]),
        ("401", answer(401), &[7, 8, 9, 22]),
        ("no HTTP", raw("SSH-2.0-x\r\n"), &[7, 8]),
        ("a long line", raw(&format!("HTTP/1.1 200 {}\r\n\r\n", "x".repeat(1 << 20))), &[7, 8, 63]),
        ("half a head", raw("HTTP/1.1 200 OK\r\nX: "), &[7, 8, 52, 18]),
        (
            "an answer before TLS",
            ConnectFault::Extra(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".to_vec()),
            &[0, 8, 35],
        ),
        ("one octet before TLS", ConnectFault::Extra(vec![0]), &[0, 8, 35]),
        ("an alert before TLS", ConnectFault::Extra(vec![0x15, 3, 3, 0, 2, 2, 40]), &[0, 8, 35]),
    ] {
        let origin = HttpServer::start_tls(|_| HttpReply::new(200).body("good"), &cert).expect("a server");
        let proxy = ProxyServer::http_with_fault(fault).expect("a proxy on loopback");
        let arguments =
            ["--cacert", ca, "--max-time", "8", "--no-fail", "-x", &proxy.url(), &origin.url("/")];
        let (ran, took, memory) = measured(&arguments);
        assert!(exits.contains(&ran.exit), "{what}: exit {}, not of {exits:?}: {}", ran.exit, ran.stderr);
        assert!(took < Duration::from_secs(4), "{what}: {took:?}");
        assert!(memory < 64 * 1024, "{what}: {memory} KiB");
        assert!(ran.stderr.lines().count() <= 2 && ran.stderr.len() < 1000, "{what}: {}", ran.stderr);
        let ran = fetch(arguments);
        // What a proxy says before the handshake may be dropped: TLS tells whose the object is.
        let object = if ran.exit == 0 { "good" } else { "" };
        assert_eq!(ran.text(), object, "{what}: nothing of it is the object");
        assert!(exits.contains(&0) || origin.requests().is_empty(), "{what}");
    }
    assert_eq!(elsewhere.requests(), [], "a proxy cannot send us elsewhere");
}

#[test]
fn faults_of_socks() {
    let origin = serving(|_| HttpReply::new(200).body("good"));
    for (fault, exits) in [
        (SocksFault::Close, &[7, 8][..]),
        (SocksFault::HalfReply, &[7, 8]),
        (SocksFault::Refuse(1), &[7, 8]),
        (SocksFault::Refuse(2), &[7, 9]),
        (SocksFault::Refuse(4), &[6, 7]),
        (SocksFault::Refuse(5), &[7]),
        (SocksFault::Refuse(200), &[7, 8]),
        (SocksFault::UnofferedMethod, &[7, 8, 67]),
        (SocksFault::WrongVersion, &[7, 8]),
        (SocksFault::Stall(Duration::from_secs(5)), &[28]),
    ] {
        let proxy = ProxyServer::socks5_with_fault(fault).expect("a proxy on loopback");
        let begun = Instant::now();
        let ran = fetch(["--connect-timeout", "1", "-x", &proxy.url(), &origin.url("/")]);
        assert!(exits.contains(&ran.exit), "{fault:?}: exit {}, not of {exits:?}: {}", ran.exit, ran.stderr);
        assert!(begun.elapsed() < Duration::from_secs(3), "{fault:?}: {:?}", begun.elapsed());
    }
    assert_eq!(origin.requests(), []);
}

/// What a SOCKS 4 client asked for: port, address, user, name.
type Asked = (u16, Ipv4Addr, String, String);

/// A SOCKS 4 proxy that is its own origin: it grants one tunnel, or answers `code`, and says "good" in it.
fn socks4(code: u8) -> (SocketAddr, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept()?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut head = [0; 8];
        reader.read_exact(&mut head)?;
        let mut text = || -> std::io::Result<String> {
            let mut octets = Vec::new();
            reader.read_until(0, &mut octets)?;
            Ok(String::from_utf8_lossy(octets.strip_suffix(&[0]).unwrap_or(&octets)).into_owned())
        };
        let ip = Ipv4Addr::new(head[4], head[5], head[6], head[7]);
        let user = text()?;
        let name = if ip.octets()[..3] == [0, 0, 0] && ip.octets()[3] != 0 { text()? } else { String::new() };
        let _ = sender.send((u16::from_be_bytes([head[2], head[3]]), ip, user, name));
        let mut stream = &stream;
        stream.write_all(&[0, code, 0, 0, 0, 0, 0, 0])?;
        if code == 0x5a {
            let mut line = String::new();
            while reader.read_line(&mut line)? > 2 {
                line.clear();
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")?;
        }
        std::io::Result::Ok(())
    });
    (address, receiver)
}

#[test]
fn socks_4() {
    const THERE: &str = "only-there.invalid";
    for (scheme, url, expected) in [
        (
            "socks4a",
            format!("http://{THERE}:8080/"),
            (8080, Ipv4Addr::new(0, 0, 0, 1), String::new(), THERE.to_owned()),
        ),
        (
            "socks4",
            "http://127.0.0.1:8080/".to_owned(),
            (8080, Ipv4Addr::LOCALHOST, String::new(), String::new()),
        ),
        (
            "socks4",
            "http://localhost:8080/".to_owned(),
            (8080, Ipv4Addr::LOCALHOST, String::new(), String::new()),
        ),
    ] {
        let (address, asked) = socks4(0x5a);
        let ran = fetch(["-4", "-x", &format!("{scheme}://{address}"), &url]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "good"), "{scheme} {url}: {}", ran.stderr);
        let asked = asked.recv_timeout(Duration::from_secs(2)).expect("it was asked");
        assert_eq!((asked.0, &asked.3), (expected.0, &expected.3), "{scheme} {url}");
        assert!(
            asked.1 == expected.1 || scheme == "socks4a" && asked.1.octets()[..3] == [0, 0, 0],
            "{asked:?}"
        );
    }
    for code in [0x5b, 0x5c, 0x5d, 0] {
        let (address, _asked) = socks4(code);
        let ran = fetch(["-x", &format!("socks4a://{address}"), "http://only-there.invalid/"]);
        assert!([7, 8, 67].contains(&ran.exit), "{code:#x}: {ran:?}");
    }
    // The name is looked up here, and is not known here.
    let (address, _asked) = socks4(0x5a);
    assert_eq!(fetch(["-x", &format!("socks4://{address}"), &format!("http://{THERE}/")]).exit, 6);
}

/// A proxy in the clear may answer for the origin; it is bound by the same rules as an origin.
#[test]
fn answers_in_the_clear() {
    let rows: [(&str, HttpReply, &[i32]); 9] = [
        ("no HTTP", HttpReply::raw("SSH-2.0-x\r\n"), &[8]),
        ("nothing", HttpReply::raw(""), &[52]),
        ("half a body", HttpReply::new(200).body("abcdef").cut_body_at(3), &[18]),
        (
            "endless fields",
            HttpReply::raw("HTTP/1.1 200 OK\r\n").then_repeat("X-Endless: abc\r\n", 1 << 20),
            &[8, 63],
        ),
        (
            "two lengths",
            HttpReply::new(200)
                .header("Content-Length", "3")
                .header("Content-Length", "6")
                .then_send("abcdef"),
            &[8],
        ),
        ("a redirect to a file", HttpReply::new(302).header("Location", "file:///etc/passwd"), &[90]),
        ("404", HttpReply::new(404), &[78]),
        ("502", HttpReply::new(502), &[22]),
        ("503", HttpReply::new(503), &[92]),
    ];
    in_parallel(&rows, 4, |(what, reply, exits)| {
        let reply = reply.clone();
        let proxy = serving(move |_| reply.clone());
        let given = format!("http://{}", proxy.addr());
        let (ran, took, memory) = measured(&["--max-time", "4", "-x", &given, "http://only-there.invalid/x"]);
        ensure(exits.contains(&ran.exit), || {
            format!("{what}: exit {}, not of {exits:?}: {}", ran.exit, ran.stderr)
        })?;
        ensure(took < Duration::from_secs(3) && memory < 64 * 1024, || {
            format!("{what}: {took:?}, {memory} KiB")
        })
    });
}

/// Row 79, as far as it goes behind a proxy: reqwest hands interim answers to nobody who could count them, so the
/// time for the answer ends them, in little memory.
#[test]
fn a_flood_of_1xx() {
    let proxy = serving(|_| {
        let flood = HttpReply::raw("").then_repeat("HTTP/1.1 100 Continue\r\n\r\n", 1 << 16);
        flood.then_stall(Duration::from_secs(4))
    });
    let given = format!("http://{}", proxy.addr());
    let (ran, took, memory) =
        measured(&["--read-timeout", "1.5", "-x", &given, "http://only-there.invalid/x"]);
    assert!([8, 28, 63].contains(&ran.exit), "{ran:?}");
    assert!(took < Duration::from_secs(3) && memory < 64 * 1024, "{took:?}, {memory} KiB");
}
