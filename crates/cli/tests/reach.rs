//! Who may be asked and by what way: `--resolve`, `--connect-to`, `-4`, `-6`, `--interface`, `--public-only`,
//! `--allow-private` and `--allow-port` (SECURITY.md, rows 19, 35 and 46 to 52).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use fetch_url_tests::{HttpReply, HttpServer, ProxyServer, ServerCert};
use support::{Ran, ensure, fetch, in_parallel, serving};

fn run(words: &str, url: &str) -> Ran {
    fetch(["--connect-timeout", "2"].into_iter().chain(words.split_whitespace()).chain([url]))
}

fn object() -> HttpServer {
    serving(|_| HttpReply::new(200).body("object"))
}

/// `PORT` is the server's.
fn with_port(text: &str, server: &HttpServer) -> String {
    text.replace("PORT", &server.addr().port().to_string())
}

#[test]
fn names_with_addresses_of_the_caller() {
    for (words, url, exit) in [
        ("--resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve A.TEST:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve a.test:PORT:127.0.0.1", "http://A.Test:PORT/", 0),
        ("--resolve +a.test:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve *:PORT:127.0.0.1", "http://b.test:PORT/", 0),
        // Nobody listens at the first two.
        ("--resolve a.test:PORT:127.0.0.3,127.0.0.2,127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve b.test:PORT:127.0.0.2 --resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        // The pin is what counts, also against what the name would mean.
        ("--resolve localhost:PORT:127.0.0.2", "http://localhost:PORT/", 7),
        // Another port and another name are not meant.
        ("--resolve a.test:1:127.0.0.1", "http://a.test:PORT/", 6),
        ("--resolve b.test:PORT:127.0.0.1", "http://a.test:PORT/", 6),
        ("--resolve b.test:PORT:127.0.0.1", "http://a.b.test:PORT/", 6),
        ("-6 --resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/", 6),
        ("-4 --resolve a.test:PORT:[::1],127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve a.test:PORT", "http://a.test:PORT/", 2),
        ("--resolve a.test:PORT:localhost", "http://a.test:PORT/", 2),
        ("--resolve a.test:PORT:127.1", "http://a.test:PORT/", 2),
    ] {
        let server = object();
        let (words, url) = (with_port(words, &server), with_port(url, &server));
        let ran = run(&words, &url);
        // Of a name with addresses of the other kind only, one may also say that it cannot be connected to.
        let is_so = ran.exit == exit || words.starts_with("-6") && ran.exit == 7;
        assert!(is_so, "{words} {url}: exit {} for {exit}: {}", ran.exit, ran.stderr);
        assert_eq!(server.requests().len(), usize::from(exit == 0), "{words} {url}");
        if let Some(request) = server.requests().first() {
            let host = request.header_text("host").unwrap_or_default().to_lowercase();
            assert_eq!(host, url.to_lowercase()[7..].trim_end_matches('/'), "Host stays what the URL says");
        }
    }
}

#[test]
fn pins_hold_on_every_hop() {
    let server = object();
    let there = format!("http://b.test:{}/object", server.addr().port());
    let here = serving(move |_| HttpReply::new(302).header("Location", &there));
    let pin = format!("--resolve b.test:{}:127.0.0.1", server.addr().port());
    assert_eq!(run(&pin, &here.url("/x")).exits(0).text(), "object");
    assert_eq!(run("", &here.url("/x")).exit, 6);
}

#[test]
fn another_server_in_its_place() {
    for (words, url, exit) in [
        ("--connect-to a.test:80:127.0.0.1:PORT", "http://a.test/", 0),
        ("--connect-to A.test:80:127.0.0.1:PORT", "http://a.test/", 0),
        ("--connect-to a.test::127.0.0.1:PORT", "http://a.test:81/", 0),
        ("--connect-to :80:127.0.0.1:PORT", "http://a.test/", 0),
        ("--connect-to ::127.0.0.1:PORT", "http://a.test:4711/", 0),
        ("--connect-to :::PORT", "http://127.0.0.1/", 0),
        ("--connect-to a.test:PORT:127.0.0.1:", "http://a.test:PORT/", 0),
        // A literal too, and the first that fits.
        ("--connect-to 192.0.2.1:80:127.0.0.1:PORT", "http://192.0.2.1/", 0),
        ("--connect-to [2001:db8::1]:80:127.0.0.1:PORT", "http://[2001:db8::1]/", 0),
        ("--connect-to a.test:80:127.0.0.1:PORT --connect-to ::127.0.0.2:1", "http://a.test/", 0),
        // The new name is looked up like any other.
        ("--connect-to a.test:80:b.test:PORT --resolve b.test:PORT:127.0.0.1", "http://a.test/", 0),
        ("--connect-to b.test:80:127.0.0.1:PORT", "http://a.test/", 6),
        ("--connect-to a.test:81:127.0.0.1:PORT", "http://a.test/", 6),
        ("--connect-to a.test", "http://a.test/", 2),
        ("--connect-to a.test:80:127.0.0.1:x", "http://a.test/", 2),
    ] {
        let server = object();
        let (words, url) = (with_port(words, &server), with_port(url, &server));
        let ran = run(&words, &url);
        assert_eq!(ran.exit, exit, "{words} {url}: {}", ran.stderr);
        let host = server.requests().first().map(|request| request.header_text("host").map(str::to_owned));
        let expected = (exit == 0).then(|| Some(url[7..].trim_end_matches('/').to_owned()));
        assert_eq!(host, expected, "{words} {url}: Host stays what the URL says");
    }
}

/// The certificate is that of the name in the URL, whoever stands in for it; a login is no part of a name
/// (row 35).
#[test]
fn the_name_in_tls_stays() {
    let named = ServerCert::for_names(&["a.test"]).expect("a certificate");
    let other = ServerCert::good().expect("a certificate");
    for (cert, exit) in [(&named, 0), (&other, 60)] {
        let files = cert.written().expect("files");
        let server = HttpServer::start_tls(|_| HttpReply::new(200).body("object"), cert).expect("a server");
        let port = server.addr().port();
        let ca = format!("--cacert {}", files.ca.display());
        run(&format!("{ca} --connect-to a.test:443:127.0.0.1:{port}"), "https://a.test/").exits(exit);
        let url = format!("https://a.test:{port}/");
        run(&format!("{ca} --resolve a.test:{port}:127.0.0.1"), &url).exits(exit);
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let (send, hello) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut wire, _) = listener.accept().expect("a client");
        let mut octets = vec![0; 4096];
        let count = wire.read(&mut octets).expect("its hello");
        send.send(octets[..count].to_vec())
    });
    let words = format!("--connect-to a.test:443:127.0.0.1:{port}");
    assert_ne!(run(&words, "https://user:KanarienVogel@a.test/").exit, 0);
    let hello = hello.recv_timeout(std::time::Duration::from_secs(5)).expect("a hello");
    let holds = |word: &[u8]| hello.windows(word.len()).any(|window| window == word);
    assert!(holds(b"a.test") && !holds(b"KanarienVogel") && !holds(b"user") && !holds(b"127.0.0.1"));
}

#[test]
fn one_family_only() {
    let server = object();
    let port = server.addr().port();
    for (words, host, exits) in [
        ("-4", "localhost", &[0][..]),
        ("-4", "127.0.0.1", &[0]),
        // The server is not at ::1.
        ("-6", "localhost", &[7, 6]),
        ("-6", "127.0.0.1", &[7, 6, 2, 90]),
        ("-4", "[::1]", &[7, 6, 2, 90]),
        ("-4 -6", "127.0.0.1", &[2]),
    ] {
        let ran = run(words, &format!("http://{host}:{port}/"));
        assert!(exits.contains(&ran.exit), "{words} {host}: {ran:?}");
    }
    assert_eq!(server.requests().len(), 2);
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        println!("skipped: this machine has no ::1");
        return;
    };
    let port = listener.local_addr().expect("its address").port();
    let six = std::thread::spawn(move || {
        for wire in listener.incoming().take(3) {
            let mut wire = wire.expect("a client");
            let _ = wire.read(&mut [0; 1000]);
            let _ = wire.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nsix");
        }
    });
    // Without a choice both are tried: nobody is at the IPv4 address.
    let pin = format!("--resolve six.test:{port}:127.0.0.2,[::1]");
    for (words, host) in [("-6", "[::1]"), ("-6", "six.test"), ("", "six.test")] {
        let ran = run(&format!("{words} {pin}"), &format!("http://{host}:{port}/"));
        assert_eq!((ran.exit, ran.text().as_str()), (0, "six"), "{words} {host}: {}", ran.stderr);
    }
    assert_eq!(run(&format!("-4 {pin}"), &format!("http://six.test:{port}/")).exit, 7);
    six.join().expect("no panic");
}

#[test]
fn from_where() {
    let server = object();
    for (words, local) in [
        ("", "127.0.0.1"),
        ("--interface 127.0.0.1", "127.0.0.1"),
        ("--interface 127.0.0.5", "127.0.0.5"),
        ("--interface host!127.0.0.6", "127.0.0.6"),
        ("--interface lo", "127.0.0.1"),
        ("--interface if!lo", "127.0.0.1"),
    ] {
        let ran = run(&format!("-o /dev/null -w %{{local_ip}} {words}"), &server.url("/x"));
        assert_eq!((ran.exit, ran.text().as_str()), (0, local), "{words}: {}", ran.stderr);
    }
    // What is not there is not quietly left out.
    let asked = server.requests().len();
    for words in [
        "192.0.2.1",
        "no-such-device",
        "if!no-such-device",
        "host!lo",
        "::1",
        "a-name-of-more-than-sixteen-letters",
    ] {
        let ran = fetch(["--connect-timeout", "2", "--interface", words, &server.url("/x")]);
        assert!([2, 7].contains(&ran.exit), "{words:?}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    assert_eq!(server.requests().len(), asked, "it went another way than it was told");
}

/// An empty name, as a script's unset variable makes it, is no wish for just any way.
#[test]
fn from_nowhere() {
    let server = object();
    let ran = fetch(["--interface", "", &server.url("/x")]);
    assert!([2, 7].contains(&ran.exit) && server.requests().is_empty(), "{ran:?}");
}

/// Addresses that are not of the public network, as they may be written in a URL (row 48).
const PRIVATE: [&str; 41] = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.0.1",
    // What clouds tell about themselves.
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[0:0:0:0:0:ffff:10.0.0.1]",
    // The same by NAT64 and by 6to4.
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a00:1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::1]",
    "[2002:a00:1::]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[100::1]",
    "[::127.0.0.1]",
];

#[test]
fn the_public_network_only() {
    in_parallel(&PRIVATE, 4, |host| {
        let ran = run("--public-only", &format!("http://{host}:8080/x"));
        ensure(ran.exit == 90 && ran.stdout.is_empty(), || format!("{host}: {} {}", ran.exit, ran.stderr))
    });
    let server = object();
    for (words, url) in [
        ("", "http://127.0.0.1:PORT/"),
        ("", "http://localhost:PORT/"),
        ("", "http://[::ffff:127.0.0.1]:PORT/"),
        ("--resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/"),
        ("--resolve a.test:PORT:10.0.0.1,127.0.0.1", "http://a.test:PORT/"),
        ("--resolve a.test:PORT:::ffff:127.0.0.1", "http://a.test:PORT/"),
        ("--connect-to a.test:80:127.0.0.1:PORT", "http://a.test/"),
        ("--connect-to ::127.0.0.1:PORT", "http://1.2.3.4/"),
        // The one option does not undo the other.
        ("--allow-private", "http://127.0.0.1:PORT/"),
        ("--retry-all-errors --retry 2 --retry-delay 0", "http://127.0.0.1:PORT/"),
    ] {
        let ran = run(&format!("--public-only {}", with_port(words, &server)), &with_port(url, &server));
        assert_eq!(ran.exit, 90, "{words} {url}: {ran:?}");
    }
    assert_eq!(server.connections(), 0, "it was connected to");
    // Without the option the caller may ask whom they like.
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        run("", &with_port(&format!("http://{host}:PORT/"), &server)).exits(0);
    }
}

/// A proxy of these tests leads every host to this machine: so a public address can be had without the
/// network.
#[test]
fn the_public_network_through_a_proxy() {
    let server = object();
    let (http, socks) = (ProxyServer::http().expect("a proxy"), ProxyServer::socks5().expect("a proxy"));
    let far = socks.url().replace("socks5:", "socks5h:");
    // socks5 looks names up on this machine, where there is no a.test.
    for (proxy, url, no_name) in [(&http, &http.url(), 90), (&socks, &far, 90), (&socks, &socks.url(), 6)] {
        let words = format!("-x {url} --public-only");
        let public = with_port("http://93.184.216.34:PORT/", &server);
        assert_eq!(run(&words, &public).exits(0).text(), "object", "the proxy is the caller's own choice");
        for (host, exit) in [
            ("127.0.0.1", 90),
            ("10.0.0.1", 90),
            ("[::1]", 90),
            ("[::ffff:127.0.0.1]", 90),
            ("[64:ff9b::7f00:1]", 90),
            ("localhost", 90),
            ("a.test", no_name),
        ] {
            let before = (proxy.requests().len(), proxy.tunnels().len());
            let ran = run(&words, &with_port(&format!("http://{host}:PORT/"), &server));
            assert_eq!(ran.exit, exit, "{host} by {url}: {ran:?}");
            assert_eq!(
                before,
                (proxy.requests().len(), proxy.tunnels().len()),
                "{host}: the proxy was asked"
            );
        }
    }
}

/// Row 46: from the public network to a private address no answer leads.
#[test]
fn a_hop_from_public_to_private() {
    let inside = object();
    let port = inside.addr().port();
    let proxy = ProxyServer::http().expect("a proxy");
    let lead_to = |place: String| serving(move |_| HttpReply::new(302).header("Location", &place));
    for host in [
        "127.0.0.1",
        "10.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "0.0.0.0",
        "169.254.169.254",
    ] {
        let outside = lead_to(format!("http://{host}:{port}/x"));
        for from in ["93.184.216.34", "a.test"] {
            let url = with_port(&format!("http://{from}:PORT/"), &outside);
            let words = format!("-x {}", proxy.url());
            let ran = run(&words, &url);
            assert_eq!(ran.exit, 90, "{from} to {host}: {ran:?}");
            assert_eq!(inside.connections(), 0, "{from} to {host}: it was connected to");
            // By the other road, around the proxy.
            let ran = run(&format!("{words} --noproxy {}", host.trim_matches(['[', ']'])), &url);
            assert_eq!(ran.exit, 90, "{from} to {host} without the proxy: {ran:?}");
        }
    }
    assert_eq!(inside.connections(), 0);
    let outside = lead_to(inside.url("/x"));
    let url = with_port("http://93.184.216.34:PORT/", &outside);
    assert_eq!(run(&format!("-x {} --allow-private", proxy.url()), &url).exits(0).text(), "object");
    // And the way over a third place does not launder it.
    let (second, third) = (lead_to(inside.url("/x")), format!("http://8.8.8.8:{}/", outside.addr().port()));
    let first = lead_to(third.replace(&outside.addr().port().to_string(), &second.addr().port().to_string()));
    run(&format!("-x {}", proxy.url()), &with_port("http://93.184.216.34:PORT/", &first)).exits(90);
}

/// The ports that the Fetch standard blocks (<https://fetch.spec.whatwg.org/#port-blocking>), 0 excepted.
const BLOCKED: [u16; 82] = [
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Row 19: a port that speaks something else is not talked to in HTTP.
#[test]
fn ports_of_others() {
    in_parallel(&BLOCKED, 4, |port| {
        let ran = run("", &format!("http://127.0.0.1:{port}/"));
        ensure(ran.exit == 90, || format!("{port}: {} {}", ran.exit, ran.stderr))
    });
    for (words, url, exits) in [
        ("", "https://127.0.0.1:25/", &[90][..]),
        ("--allow-port 110", "http://127.0.0.1:25/", &[90]),
        // Nobody listens there, but one may ask.
        ("--allow-port 1", "http://127.0.0.1:1/", &[7]),
        ("--allow-port 7 --allow-port 1", "http://127.0.0.1:1/", &[7]),
        ("--allow-port 1", "https://127.0.0.1:1/", &[7]),
        // No protocol's own port, the two of HTTP, and each other's.
        ("", "http://127.0.0.2:4/", &[7]),
        ("", "http://127.0.0.2:80/", &[7]),
        ("", "http://127.0.0.2:443/", &[7]),
        ("", "https://127.0.0.2:80/", &[7]),
        ("--allow-port 0", "http://127.0.0.1/", &[2, 7]),
        ("--allow-port 65536", "http://127.0.0.1/", &[2]),
        ("--allow-port x", "http://127.0.0.1/", &[2]),
    ] {
        let ran = run(words, url);
        assert!(exits.contains(&ran.exit), "{words} {url}: {ran:?}");
    }
    let server = serving(|_| HttpReply::new(302).header("Location", "http://127.0.0.1:1/x"));
    run("", &server.url("/x")).exits(90);
    run("--allow-port 1", &server.url("/x")).exits(7);
}
