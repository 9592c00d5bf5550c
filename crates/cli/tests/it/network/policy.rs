//! Addresses and ports: `--resolve`, `--connect-to`, `--ipv4`, `--ipv6`, `--interface`, `--public-only`,
//! `--allow-private` and `--allow-port` (docs/spec/faults.md, rows 19, 35 and 46 to 52).

use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::mpsc;

use crate::support::{RunResult, check_in_parallel, ensure, http_server, run_fetch_url};
use fetch_url_tests::{HttpResponse, HttpServer, ProxyServer, ServerCert};

fn run(options: &str, url: &str) -> RunResult {
    run_fetch_url(["--connect-timeout", "2"].into_iter().chain(options.split_whitespace()).chain([url]))
}

/// Starts an HTTP server that sends `object` for every path.
fn object_server() -> HttpServer {
    http_server(|_| HttpResponse::new(200).body("object"))
}

/// Replaces `PORT` by the port of the server.
fn with_port(text: &str, server: &HttpServer) -> String {
    text.replace("PORT", &server.addr().port().to_string())
}

#[test]
fn resolve_overrides_the_addresses_of_a_name() {
    for (options, url, exit) in [
        ("--resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve A.TEST:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve a.test:PORT:127.0.0.1", "http://A.Test:PORT/", 0),
        ("--resolve +a.test:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve *:PORT:127.0.0.1", "http://b.test:PORT/", 0),
        // Nothing listens at the first two addresses.
        ("--resolve a.test:PORT:127.0.0.3,127.0.0.2,127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve b.test:PORT:127.0.0.2 --resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        // The last rule for a name applies, as in curl, and one for the name before one for all names.
        ("--resolve a.test:PORT:127.0.0.2 --resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve a.test:PORT:127.0.0.1 --resolve a.test:PORT:127.0.0.2", "http://a.test:PORT/", 7),
        ("--resolve a.test:PORT:127.0.0.1 --resolve *:PORT:127.0.0.2", "http://a.test:PORT/", 0),
        ("--resolve *:PORT:127.0.0.2 --resolve *:PORT:127.0.0.1", "http://a.test:PORT/", 0),
        // The override takes precedence over the system's resolver.
        ("--resolve localhost:PORT:127.0.0.2", "http://localhost:PORT/", 7),
        // The override is for one name and one port only.
        ("--resolve a.test:1:127.0.0.1", "http://a.test:PORT/", 6),
        ("--resolve b.test:PORT:127.0.0.1", "http://a.test:PORT/", 6),
        ("--resolve b.test:PORT:127.0.0.1", "http://a.b.test:PORT/", 6),
        ("-6 --resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/", 6),
        ("-4 --resolve a.test:PORT:[::1],127.0.0.1", "http://a.test:PORT/", 0),
        ("--resolve a.test:PORT", "http://a.test:PORT/", 2),
        ("--resolve a.test:PORT:localhost", "http://a.test:PORT/", 2),
        ("--resolve a.test:PORT:127.1", "http://a.test:PORT/", 2),
    ] {
        let server = object_server();
        let (options, url) = (with_port(options, &server), with_port(url, &server));
        let result = run(&options, &url);
        // A name without an IPv6 address may be reported as a resolver error or as a connection error.
        let is_expected = result.exit == exit || options.starts_with("-6") && result.exit == 7;
        assert!(is_expected, "{options} {url}: exit {} for {exit}: {}", result.exit, result.stderr);
        assert_eq!(server.requests().len(), usize::from(exit == 0), "{options} {url}");
        if let Some(request) = server.requests().first() {
            let host = request.header_text("host").unwrap_or_default().to_lowercase();
            assert_eq!(host, url.to_lowercase()[7..].trim_end_matches('/'), "Host differs from the URL");
        }
    }
}

#[test]
fn resolve_applies_to_redirect_targets() {
    let server = object_server();
    let target = format!("http://b.test:{}/object", server.addr().port());
    let redirecting = http_server(move |_| HttpResponse::new(302).header("Location", &target));
    let resolve = format!("--resolve b.test:{}:127.0.0.1", server.addr().port());
    assert_eq!(run(&resolve, &redirecting.url("/x")).assert_exit(0).stdout_text(), "object");
    assert_eq!(run("", &redirecting.url("/x")).exit, 6);
}

#[test]
fn connect_to_replaces_host_and_port() {
    for (options, url, exit) in [
        ("--connect-to a.test:80:127.0.0.1:PORT", "http://a.test/", 0),
        ("--connect-to A.test:80:127.0.0.1:PORT", "http://a.test/", 0),
        ("--connect-to a.test::127.0.0.1:PORT", "http://a.test:81/", 0),
        ("--connect-to :80:127.0.0.1:PORT", "http://a.test/", 0),
        ("--connect-to ::127.0.0.1:PORT", "http://a.test:4711/", 0),
        ("--connect-to :::PORT", "http://127.0.0.1/", 0),
        ("--connect-to a.test:PORT:127.0.0.1:", "http://a.test:PORT/", 0),
        // The rule also applies to IP addresses; the first rule that matches is used.
        ("--connect-to 192.0.2.1:80:127.0.0.1:PORT", "http://192.0.2.1/", 0),
        ("--connect-to [2001:db8::1]:80:127.0.0.1:PORT", "http://[2001:db8::1]/", 0),
        ("--connect-to a.test:80:127.0.0.1:PORT --connect-to ::127.0.0.2:1", "http://a.test/", 0),
        // The new name is resolved like any other name.
        ("--connect-to a.test:80:b.test:PORT --resolve b.test:PORT:127.0.0.1", "http://a.test/", 0),
        ("--connect-to b.test:80:127.0.0.1:PORT", "http://a.test/", 6),
        ("--connect-to a.test:81:127.0.0.1:PORT", "http://a.test/", 6),
        ("--connect-to a.test", "http://a.test/", 2),
        ("--connect-to a.test:80:127.0.0.1:x", "http://a.test/", 2),
    ] {
        let server = object_server();
        let (options, url) = (with_port(options, &server), with_port(url, &server));
        let result = run(&options, &url);
        assert_eq!(result.exit, exit, "{options} {url}: {}", result.stderr);
        let host = server.requests().first().map(|request| request.header_text("host").map(str::to_owned));
        let expected = (exit == 0).then(|| Some(url[7..].trim_end_matches('/').to_owned()));
        assert_eq!(host, expected, "{options} {url}: Host differs from the URL");
    }
}

/// With --connect-to and --resolve, SNI and the certificate use the host of the URL; SNI never contains the user name
/// or password (docs/spec/faults.md, row 35).
#[test]
fn tls_uses_the_host_of_the_url() {
    let named = ServerCert::for_names(&["a.test"]).expect("a certificate");
    let other = ServerCert::good().expect("a certificate");
    for (cert, exit) in [(&named, 0), (&other, 60)] {
        let files = cert.write_files().expect("files");
        let server =
            HttpServer::start_tls(|_| HttpResponse::new(200).body("object"), cert).expect("a server");
        let port = server.addr().port();
        let ca = format!("--cacert {}", files.ca.display());
        run(&format!("{ca} --connect-to a.test:443:127.0.0.1:{port}"), "https://a.test/").assert_exit(exit);
        let url = format!("https://a.test:{port}/");
        run(&format!("{ca} --resolve a.test:{port}:127.0.0.1"), &url).assert_exit(exit);
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (send, hello) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut bytes = vec![0; 4096];
        let count = stream.read(&mut bytes).expect("a TLS ClientHello");
        send.send(bytes[..count].to_vec())
    });
    let options = format!("--connect-to a.test:443:127.0.0.1:{port}");
    assert_ne!(run(&options, "https://user:KanarienVogel@a.test/").exit, 0);
    let hello = hello.recv_timeout(std::time::Duration::from_secs(5)).expect("a TLS ClientHello");
    let contains = |word: &[u8]| hello.windows(word.len()).any(|window| window == word);
    assert!(
        contains(b"a.test") && !contains(b"KanarienVogel") && !contains(b"user") && !contains(b"127.0.0.1")
    );
}

#[test]
fn address_family_options_restrict_addresses() {
    let server = object_server();
    let port = server.addr().port();
    for (options, host, exits) in [
        ("-4", "localhost", &[0][..]),
        ("-4", "127.0.0.1", &[0]),
        // The server does not listen on ::1.
        ("-6", "localhost", &[7, 6]),
        ("-6", "127.0.0.1", &[7, 6, 2, 90]),
        ("-4", "[::1]", &[7, 6, 2, 90]),
        // The last one counts, as in curl.
        ("-4 -6", "127.0.0.1", &[6]),
        ("-6 -4", "127.0.0.1", &[0]),
    ] {
        let result = run(options, &format!("http://{host}:{port}/"));
        assert!(exits.contains(&result.exit), "{options} {host}: {result:?}");
    }
    assert_eq!(server.requests().len(), 3);
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        println!("skipped: ::1 is not available");
        return;
    };
    let port = listener.local_addr().expect("an address").port();
    let six = std::thread::spawn(move || {
        for stream in listener.incoming().take(3) {
            let mut stream = stream.expect("a client");
            let _ = stream.read(&mut [0; 1000]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nsix");
        }
    });
    // Without an option both families are tried: nothing listens on the IPv4 address.
    let resolve = format!("--resolve six.test:{port}:127.0.0.2,[::1]");
    for (options, host) in [("-6", "[::1]"), ("-6", "six.test"), ("", "six.test")] {
        let result = run(&format!("{options} {resolve}"), &format!("http://{host}:{port}/"));
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "six"),
            "{options} {host}: {}",
            result.stderr
        );
    }
    assert_eq!(run(&format!("-4 {resolve}"), &format!("http://six.test:{port}/")).exit, 7);
    six.join().expect("no panic");
}

#[test]
fn interface_selects_the_local_address() {
    let server = object_server();
    for (options, local) in [
        ("", "127.0.0.1"),
        ("--interface 127.0.0.1", "127.0.0.1"),
        ("--interface 127.0.0.5", "127.0.0.5"),
        ("--interface host!127.0.0.6", "127.0.0.6"),
        ("--interface lo", "127.0.0.1"),
        ("--interface if!lo", "127.0.0.1"),
    ] {
        let result = run(&format!("-o /dev/null -w %{{local_ip}} {options}"), &server.url("/x"));
        assert_eq!((result.exit, result.stdout_text().as_str()), (0, local), "{options}: {}", result.stderr);
    }
    // An unknown interface or address is an error.
    let requested = server.requests().len();
    for options in [
        "192.0.2.1",
        "no-such-device",
        "if!no-such-device",
        "host!lo",
        "::1",
        "a-name-of-more-than-sixteen-letters",
    ] {
        let result = run_fetch_url(["--connect-timeout", "2", "--interface", options, &server.url("/x")]);
        assert!([2, 7].contains(&result.exit), "{options:?}: {result:?}");
        assert!(!result.stderr.is_empty());
    }
    assert_eq!(server.requests().len(), requested, "a connection from another address");
}

/// An empty value may come from an unset variable of a script.
#[test]
fn empty_interface_is_an_error() {
    let server = object_server();
    let result = run_fetch_url(["--interface", "", &server.url("/x")]);
    assert!([2, 7].contains(&result.exit) && server.requests().is_empty(), "{result:?}");
}

/// Hosts in URLs that are not public addresses (docs/spec/faults.md, row 48).
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
    // The metadata service of cloud providers.
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
    // Private IPv4 addresses within NAT64 and 6to4 addresses are refused.
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
fn public_only_refuses_private_addresses() {
    check_in_parallel(&PRIVATE, 4, |host| {
        let result = run("--public-only", &format!("http://{host}:8080/x"));
        ensure(result.exit == 90 && result.stdout.is_empty(), || {
            format!("{host}: {} {}", result.exit, result.stderr)
        })
    });
    let server = object_server();
    for (options, url) in [
        ("", "http://127.0.0.1:PORT/"),
        ("", "http://localhost:PORT/"),
        ("", "http://[::ffff:127.0.0.1]:PORT/"),
        ("--resolve a.test:PORT:127.0.0.1", "http://a.test:PORT/"),
        ("--resolve a.test:PORT:10.0.0.1,127.0.0.1", "http://a.test:PORT/"),
        ("--resolve a.test:PORT:::ffff:127.0.0.1", "http://a.test:PORT/"),
        ("--connect-to a.test:80:127.0.0.1:PORT", "http://a.test/"),
        ("--connect-to ::127.0.0.1:PORT", "http://1.2.3.4/"),
        // --allow-private does not disable --public-only.
        ("--allow-private", "http://127.0.0.1:PORT/"),
        ("--retry-all-errors --retry 2 --retry-delay 0", "http://127.0.0.1:PORT/"),
    ] {
        let result = run(&format!("--public-only {}", with_port(options, &server)), &with_port(url, &server));
        assert_eq!(result.exit, 90, "{options} {url}: {result:?}");
    }
    assert_eq!(server.connections(), 0, "a connection to a private address");
    // Without the option every address is allowed.
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        run("", &with_port(&format!("http://{host}:PORT/"), &server)).assert_exit(0);
    }
}

/// The test proxy connects to the loopback interface for every host, so that public addresses can be tested without a
/// network.
#[test]
fn public_only_checks_the_target_behind_a_proxy() {
    let server = object_server();
    let (http, socks) = (ProxyServer::http().expect("a proxy"), ProxyServer::socks5().expect("a proxy"));
    let socks5h_url = socks.url().replace("socks5:", "socks5h:");
    // With socks5 fetch-url resolves the name itself, and a.test does not exist.
    for (proxy, url, exit_for_name) in
        [(&http, &http.url(), 90), (&socks, &socks5h_url, 90), (&socks, &socks.url(), 6)]
    {
        let options = format!("-x {url} --public-only");
        let public = with_port("http://93.184.216.34:PORT/", &server);
        assert_eq!(
            run(&options, &public).assert_exit(0).stdout_text(),
            "object",
            "the proxy itself may have a private address"
        );
        for (host, exit) in [
            ("127.0.0.1", 90),
            ("10.0.0.1", 90),
            ("[::1]", 90),
            ("[::ffff:127.0.0.1]", 90),
            ("[64:ff9b::7f00:1]", 90),
            ("localhost", 90),
            ("a.test", exit_for_name),
        ] {
            let before = (proxy.requests().len(), proxy.tunnels().len());
            let result = run(&options, &with_port(&format!("http://{host}:PORT/"), &server));
            assert_eq!(result.exit, exit, "{host} by {url}: {result:?}");
            assert_eq!(
                before,
                (proxy.requests().len(), proxy.tunnels().len()),
                "{host}: the proxy got a request"
            );
        }
    }
}

/// A response from a public address cannot redirect to a private address (docs/spec/faults.md, row 46).
#[test]
fn redirect_from_public_to_private_address_is_refused() {
    let inside = object_server();
    let port = inside.addr().port();
    let proxy = ProxyServer::http().expect("a proxy");
    let redirect_to =
        |location: String| http_server(move |_| HttpResponse::new(302).header("Location", &location));
    for host in [
        "127.0.0.1",
        "10.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "0.0.0.0",
        "169.254.169.254",
        "localhost",
    ] {
        let outside = redirect_to(format!("http://{host}:{port}/x"));
        for from in ["93.184.216.34", "a.test"] {
            let url = with_port(&format!("http://{from}:PORT/"), &outside);
            let options = format!("-x {}", proxy.url());
            let result = run(&options, &url);
            assert_eq!(result.exit, 90, "{from} to {host}: {result:?}");
            assert_eq!(inside.connections(), 0, "{from} to {host}: a connection to the private address");
            // The same with a direct connection instead of the proxy.
            let result = run(&format!("{options} --noproxy {}", host.trim_matches(['[', ']'])), &url);
            assert_eq!(result.exit, 90, "{from} to {host} without the proxy: {result:?}");
        }
    }
    assert_eq!(inside.connections(), 0);
    let outside = redirect_to(inside.url("/x"));
    let url = with_port("http://93.184.216.34:PORT/", &outside);
    assert_eq!(
        run(&format!("-x {} --allow-private", proxy.url()), &url).assert_exit(0).stdout_text(),
        "object"
    );
    // A redirect to another public address in between makes no difference.
    let (second, third) =
        (redirect_to(inside.url("/x")), format!("http://8.8.8.8:{}/", outside.addr().port()));
    let first =
        redirect_to(third.replace(&outside.addr().port().to_string(), &second.addr().port().to_string()));
    run(&format!("-x {}", proxy.url()), &with_port("http://93.184.216.34:PORT/", &first)).assert_exit(90);
}

/// The ports that the Fetch standard blocks (<https://fetch.spec.whatwg.org/#port-blocking>), except 0.
const BLOCKED_PORTS: [u16; 82] = [
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// HTTP requests to ports of other protocols are refused (docs/spec/faults.md, row 19).
#[test]
fn blocked_ports_are_refused_unless_allowed() {
    check_in_parallel(&BLOCKED_PORTS, 4, |port| {
        let result = run("", &format!("http://127.0.0.1:{port}/"));
        ensure(result.exit == 90, || format!("{port}: {} {}", result.exit, result.stderr))
    });
    for (options, url) in [("", "https://127.0.0.1:25/"), ("--allow-port 110", "http://127.0.0.1:25/")] {
        let result = run(options, url);
        assert_eq!(result.exit, 90, "{options} {url}: {result:?}");
    }
    // A connection is attempted, whether or not a server listens there.
    for (options, url) in [
        ("--allow-port 1", "http://127.0.0.1:1/"),
        ("--allow-port 7 --allow-port 1", "http://127.0.0.1:1/"),
        ("--allow-port 1", "https://127.0.0.1:1/"),
        // Ports that are not blocked, and those of HTTP and HTTPS.
        ("", "http://127.0.0.2:4/"),
        ("", "http://127.0.0.2:80/"),
        ("", "http://127.0.0.2:443/"),
        ("", "https://127.0.0.2:80/"),
    ] {
        let result = run(options, url);
        assert!(![2, 90].contains(&result.exit), "{options} {url}: {result:?}");
    }
    for options in ["--allow-port 65536", "--allow-port x"] {
        run(options, "http://127.0.0.1/").assert_exit(2);
    }
    let server = http_server(|_| HttpResponse::new(302).header("Location", "http://127.0.0.1:1/x"));
    run("", &server.url("/x")).assert_exit(90);
    assert_ne!(run("--allow-port 1", &server.url("/x")).exit, 90);
}

/// A zone (RFC 6874) names a network interface of this computer; neither a server nor a proxy gets it.
#[test]
fn zone_of_an_ipv6_address_selects_the_interface_and_is_not_sent() {
    let explained = run_fetch_url(["explain", "http://[fe80::1%25lo]:8080/a"]).assert_exit(0).stdout_text();
    assert!(explained.contains("Host: [fe80::1]:8080\n"), "{explained}");
    run("--retry 2", "http://[fe80::1%25no-interface]/")
        .assert_exit(7)
        .assert_stderr_contains("there is no network interface no-interface");
    run("--public-only", "http://[fe80::1%25lo]/").assert_exit(90);
    run("-x http://127.0.0.1:9", "http://[fe80::1%25lo]/").assert_exit(1).assert_stderr_contains("proxy");
    // The loopback interface has no link-local address.
    for zone in ["lo", "1"] {
        let result = run("--retry 0 --allow-port 9", &format!("http://[fe80::1%25{zone}]:9/"));
        assert!([7, 28].contains(&result.exit), "{zone}: {}", result.stderr);
    }
}
