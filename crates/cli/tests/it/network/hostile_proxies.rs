//! Hostile and faulty proxies, and SOCKS 4 (docs/spec/faults.md, sections 2.C and 2.H).

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::{
    RunResult, check_in_parallel, ensure, http_server, run_fetch_url, run_measuring_memory,
};
use fetch_url_tests::{ConnectFault, HttpResponse, HttpServer, ProxyServer, ServerCert, SocksFault};

/// Runs fetch-url and returns its result, its duration and its peak memory in KiB.
fn run_with_measurements(arguments: &[&str]) -> (RunResult, Duration, u64) {
    let start = Instant::now();
    let (peak, result) = run_measuring_memory(arguments);
    (result, start.elapsed(), peak)
}

#[test]
fn faulty_connect_replies_are_rejected() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.write_files().expect("files");
    let ca = files.ca.to_str().expect("UTF-8");
    let other_server = http_server(|_| HttpResponse::new(200).body("evil"));
    let evil = other_server.url("/");
    let reply_with_status = |status: u16| ConnectFault::Reply(HttpResponse::new(status).body("evil"));
    let raw = |text: &str| ConnectFault::Reply(HttpResponse::raw(text));
    for (case, fault, exits) in [
        ("closed connection", ConnectFault::Close, &[52][..]),
        (
            "redirect",
            ConnectFault::Reply(HttpResponse::new(302).header("Location", &evil).body("evil")),
            &[8],
        ),
        ("endless headers", ConnectFault::EndlessHead, &[63]),
        ("403", reply_with_status(403), &[9]),
        ("404", reply_with_status(404), &[22]),
        ("500", reply_with_status(500), &[7]),
        ("503", reply_with_status(503), &[92]),
        ("407 without a realm", reply_with_status(407), &[67]),
        ("401", reply_with_status(401), &[9]),
        ("not HTTP", raw("SSH-2.0-x\r\n"), &[8]),
        ("long line", raw(&format!("HTTP/1.1 200 {}\r\n\r\n", "x".repeat(1 << 20))), &[63]),
        ("truncated headers", raw("HTTP/1.1 200 OK\r\nX: "), &[18]),
        (
            "response before TLS",
            ConnectFault::Extra(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".to_vec()),
            &[0, 8, 35],
        ),
        ("one byte before TLS", ConnectFault::Extra(vec![0]), &[0, 8, 35]),
        ("alert before TLS", ConnectFault::Extra(vec![0x15, 3, 3, 0, 2, 2, 40]), &[0, 8, 35]),
    ] {
        let origin = HttpServer::start_tls(|_| HttpResponse::new(200).body("good"), &cert).expect("a server");
        let proxy = ProxyServer::http_with_fault(fault).expect("a proxy on loopback");
        let arguments =
            ["--cacert", ca, "--max-time", "8", "--no-fail", "-x", &proxy.url(), &origin.url("/")];
        let (result, duration, memory) = run_with_measurements(&arguments);
        assert!(
            exits.contains(&result.exit),
            "{case}: exit {}, not of {exits:?}: {}",
            result.exit,
            result.stderr
        );
        assert!(duration < Duration::from_secs(4), "{case}: {duration:?}");
        assert!(memory < 64 * 1024, "{case}: {memory} KiB");
        assert!(
            result.stderr.lines().count() <= 2 && result.stderr.len() < 1000,
            "{case}: {}",
            result.stderr
        );
        let result = run_fetch_url(arguments);
        // Bytes from the proxy before the handshake may be dropped: the object comes from the TLS server.
        let object = if result.exit == 0 { "good" } else { "" };
        assert_eq!(result.stdout_text(), object, "{case}: output from the proxy");
        assert!(exits.contains(&0) || origin.requests().is_empty(), "{case}");
    }
    assert_eq!(other_server.requests(), [], "the redirect of the proxy was followed");
}

#[test]
fn faulty_socks5_replies_are_rejected() {
    let origin = http_server(|_| HttpResponse::new(200).body("good"));
    for (fault, exits) in [
        (SocksFault::Close, &[18, 52][..]),
        (SocksFault::HalfReply, &[18, 52]),
        (SocksFault::Refuse(1), &[7]),
        (SocksFault::Refuse(2), &[9]),
        (SocksFault::Refuse(4), &[7]),
        (SocksFault::Refuse(5), &[7]),
        (SocksFault::Refuse(7), &[9]),
        (SocksFault::Refuse(8), &[9]),
        (SocksFault::Refuse(200), &[8]),
        (SocksFault::UnofferedMethod, &[8]),
        (SocksFault::WrongVersion, &[8]),
        (SocksFault::Stall(Duration::from_secs(5)), &[28]),
    ] {
        let proxy = ProxyServer::socks5_with_fault(fault).expect("a proxy on loopback");
        for scheme in ["http", "https"] {
            let start = Instant::now();
            let url = origin.url("/").replacen("http", scheme, 1);
            let result = run_fetch_url(["--retry", "0", "--connect-timeout", "1", "-x", &proxy.url(), &url]);
            assert!(
                exits.contains(&result.exit),
                "{fault:?} {scheme}: exit {}, not of {exits:?}: {}",
                result.exit,
                result.stderr
            );
            assert!(start.elapsed() < Duration::from_secs(3), "{fault:?}: {:?}", start.elapsed());
        }
    }
    assert_eq!(origin.requests(), []);
}

/// A SOCKS 4 request: port, address, user name, host name.
type Socks4Request = (u16, Ipv4Addr, String, String);

/// Starts a SOCKS 4 proxy that answers one request with `code`. If that is 0x5a (granted), it plays the HTTP server
/// and sends the body `good`.
fn start_socks4_proxy(code: u8) -> (SocketAddr, Receiver<Socks4Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept()?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut header = [0; 8];
        reader.read_exact(&mut header)?;
        let mut text = || -> std::io::Result<String> {
            let mut bytes = Vec::new();
            reader.read_until(0, &mut bytes)?;
            Ok(String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(&bytes)).into_owned())
        };
        let ip = Ipv4Addr::new(header[4], header[5], header[6], header[7]);
        let user = text()?;
        let name = if ip.octets()[..3] == [0, 0, 0] && ip.octets()[3] != 0 { text()? } else { String::new() };
        let _ = sender.send((u16::from_be_bytes([header[2], header[3]]), ip, user, name));
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
fn socks4_and_socks4a_send_address_or_name() {
    const UNKNOWN_NAME: &str = "only-there.invalid";
    for (scheme, url, expected) in [
        (
            "socks4a",
            format!("http://{UNKNOWN_NAME}:8080/"),
            (8080, Ipv4Addr::new(0, 0, 0, 1), String::new(), UNKNOWN_NAME.to_owned()),
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
        let (address, requested) = start_socks4_proxy(0x5a);
        let result = run_fetch_url(["-4", "-x", &format!("{scheme}://{address}"), &url]);
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "good"),
            "{scheme} {url}: {}",
            result.stderr
        );
        let requested = requested.recv_timeout(Duration::from_secs(2)).expect("a request");
        assert_eq!((requested.0, &requested.3), (expected.0, &expected.3), "{scheme} {url}");
        assert!(
            requested.1 == expected.1 || scheme == "socks4a" && requested.1.octets()[..3] == [0, 0, 0],
            "{requested:?}"
        );
    }
    for code in [0x5b, 0x5c, 0x5d, 0] {
        let (address, _requested) = start_socks4_proxy(code);
        let result = run_fetch_url(["-x", &format!("socks4a://{address}"), "http://only-there.invalid/"]);
        assert!([7, 8, 67].contains(&result.exit), "{code:#x}: {result:?}");
    }
    // SOCKS 4 resolves the name locally, where it is unknown.
    let (address, _requested) = start_socks4_proxy(0x5a);
    assert_eq!(
        run_fetch_url(["-x", &format!("socks4://{address}"), &format!("http://{UNKNOWN_NAME}/")]).exit,
        6
    );
}

#[test]
fn user_name_of_a_socks4_proxy_is_sent_or_refused() {
    for scheme in ["socks4", "socks4a"] {
        for (login, options, user) in
            [("me@", &[][..], "me"), ("me:secret@", &[], "me"), ("", &["-U", "m%65:secret"], "m%65")]
        {
            let (address, requested) = start_socks4_proxy(0x5a);
            let proxy = format!("{scheme}://{login}{address}");
            let arguments = [&["-4", "-x", &proxy], options, &["http://127.0.0.1:8080/"]].concat();
            let result = run_fetch_url(arguments);
            assert_eq!(
                (result.exit, result.stdout_text().as_str()),
                (0, "good"),
                "{proxy}: {}",
                result.stderr
            );
            let requested = requested.recv_timeout(Duration::from_secs(2)).expect("a request");
            assert_eq!(requested.2, user, "{proxy} {options:?}");
        }
        for url in ["http://127.0.0.1:8080/", "https://127.0.0.1:8080/"] {
            let (address, requested) = start_socks4_proxy(0x5a);
            run_fetch_url(["-x", &format!("{scheme}://us%00er@{address}"), url])
                .assert_exit(2)
                .assert_stderr_contains("login for the proxy");
            assert!(requested.try_recv().is_err(), "{scheme} {url}");
        }
    }
}

/// Without TLS the proxy answers in place of the server, with the same restrictions.
#[test]
fn faulty_proxy_responses_are_rejected() {
    let rows: [(&str, HttpResponse, &[i32]); 9] = [
        ("not HTTP", HttpResponse::raw("SSH-2.0-x\r\n"), &[8]),
        ("no response", HttpResponse::raw(""), &[52]),
        ("truncated body", HttpResponse::new(200).body("abcdef").cut_body_at(3), &[18]),
        (
            "endless headers",
            HttpResponse::raw("HTTP/1.1 200 OK\r\n").then_repeat("X-Endless: abc\r\n", 1 << 20),
            &[63],
        ),
        (
            "two values of Content-Length",
            HttpResponse::new(200)
                .header("Content-Length", "3")
                .header("Content-Length", "6")
                .then_send("abcdef"),
            &[8],
        ),
        ("redirect to a file", HttpResponse::new(302).header("Location", "file:///etc/passwd"), &[90]),
        ("404", HttpResponse::new(404), &[78]),
        ("502", HttpResponse::new(502), &[22]),
        ("503", HttpResponse::new(503), &[92]),
    ];
    check_in_parallel(&rows, 4, |(case, reply, exits)| {
        let reply = reply.clone();
        let proxy = http_server(move |_| reply.clone());
        let proxy_url = format!("http://{}", proxy.addr());
        let (result, duration, memory) =
            run_with_measurements(&["--max-time", "4", "-x", &proxy_url, "http://only-there.invalid/x"]);
        ensure(exits.contains(&result.exit), || {
            format!("{case}: exit {}, not of {exits:?}: {}", result.exit, result.stderr)
        })?;
        ensure(duration < Duration::from_secs(3) && memory < 64 * 1024, || {
            format!("{case}: {duration:?}, {memory} KiB")
        })
    });
}

/// At most 32 interim responses are read, as without a proxy (docs/spec/faults.md, row 79).
#[test]
fn flood_of_interim_responses_through_a_proxy_ends_at_the_limit() {
    let proxy = http_server(|_| {
        let flood = HttpResponse::raw("").then_repeat("HTTP/1.1 100 Continue\r\n\r\n", 1 << 16);
        flood.then_stall(Duration::from_secs(4))
    });
    let proxy_url = format!("http://{}", proxy.addr());
    let (result, duration, memory) =
        run_with_measurements(&["-x", &proxy_url, "http://only-there.invalid/x"]);
    assert_eq!(result.exit, 63, "{result:?}");
    assert!(duration < Duration::from_secs(3) && memory < 64 * 1024, "{duration:?}, {memory} KiB");
}

/// A proxy closes an idle connection at the moment when it gets the next request. The request is repeated at once, unless
/// it is not idempotent (RFC 9112 §9.3.1).
#[test]
fn request_on_a_connection_that_the_proxy_closes_is_sent_again() {
    for (method, exit) in [("GET", 0), ("POST", 52)] {
        let count = AtomicUsize::new(0);
        let proxy = http_server(move |_| match count.fetch_add(1, Ordering::SeqCst) {
            1 => HttpResponse::raw("").then_close(),
            _ => HttpResponse::new(200).body("ok"),
        });
        let proxy_url = format!("http://{}", proxy.addr());
        let urls = ["http://only-there.invalid/1", "http://only-there.invalid/2"];
        let options = ["--retry", "0", "-X", method, "-x", &proxy_url];
        let result = run_fetch_url([&options[..], &urls].concat());
        assert_eq!(result.exit, exit, "{method} {result:?}");
        assert_eq!(proxy.requests().len(), if exit == 0 { 3 } else { 2 }, "{method}");
    }
}
