//! Through a proxy: which one, for whom, and what each side gets to see (CLI.md "http", SECURITY.md row 32).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::net::TcpListener;

use fetch_url_tests::{AddressType, CertFiles, HttpReply, HttpRequest, HttpServer, ProxyServer, ServerCert};
use support::{fetch, serving};

/// A name that no resolver knows (RFC 6761): only the proxies of the tests find it.
const NAME: &str = "only-there.invalid";

fn origin() -> HttpServer {
    serving(|request| HttpReply::new(200).body(request.target.as_slice()))
}

fn http() -> ProxyServer {
    ProxyServer::http().expect("a proxy on loopback")
}

fn socks() -> ProxyServer {
    ProxyServer::socks5().expect("a proxy on loopback")
}

fn safe_origin(
    handler: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static,
) -> (HttpServer, CertFiles) {
    let cert = ServerCert::for_names(&["127.0.0.1", "localhost", NAME]).expect("a certificate");
    let files = cert.written().expect("files");
    (HttpServer::start_tls(handler, &cert).expect("a server on loopback"), files)
}

/// The URL of a path at the origin under another name.
fn under(name: &str, server: &HttpServer, path: &str) -> String {
    server.url(path).replacen("127.0.0.1", name, 1)
}

/// A port where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

#[test]
fn whole_urls() {
    let (origin, proxy) = (origin(), http());
    let address = proxy.addr().to_string();
    for given in [proxy.url(), address.clone(), format!("HTTP://{address}"), format!("{}/", proxy.url())] {
        let url = under(NAME, &origin, "/a%20b?c");
        assert_eq!(fetch(["-x", &given, &url]).exits(0).text(), "/a%20b?c", "{given}");
        let asked = proxy.requests().last().expect("a request").clone();
        assert_eq!((asked.method.as_str(), asked.path()), ("GET", url));
        assert_eq!(asked.header_text("host"), Some(format!("{NAME}:{}", origin.addr().port()).as_str()));
    }
    assert!(proxy.tunnels().is_empty());
    let ran =
        fetch(["-x", &proxy.url(), "-d", "a=b", "-X", "PUT", "-H", "X-Mine: 1", &under(NAME, &origin, "/")]);
    ran.exits(0);
    let seen = origin.requests().pop().expect("a request");
    assert_eq!(
        (seen.method.as_str(), seen.body.as_slice(), seen.header_text("x-mine")),
        ("PUT", &b"a=b"[..], Some("1"))
    );
}

/// RFC 9112 §3.2.2: the target is the URL as it is written. What cannot go out so is refused, not rewritten.
#[test]
fn targets_go_out_as_they_are_written() {
    let (origin, proxy) = (origin(), http());
    for path in
        ["/a/../b", "/./a", "/%2e/a", "/a'b", "/a%7Eb", "//a//b", "/a?b'c", "/;x=1", "/~a", "/?", "/a%2Fb"]
    {
        let url = under(NAME, &origin, path);
        let ran = fetch(["-x", &proxy.url(), &url]);
        let targets: Vec<String> = proxy.requests().iter().map(HttpRequest::path).collect();
        match ran.exit {
            0 => assert_eq!(targets.last(), Some(&url)),
            exit => assert_eq!((exit, targets.contains(&url)), (1, false), "{path}: {ran:?}"),
        }
    }
    let rewritten = under(NAME, &origin, "/b");
    assert!(proxy.requests().iter().all(|request| request.path() != rewritten), "a path was rewritten");
}

/// Who looks the name up: `socks5` here, `socks5h` there; an HTTP proxy always there.
#[test]
fn who_looks_names_up() {
    let origin = origin();
    let port = origin.addr().port();
    let pin = format!("{NAME}:{port}:127.0.0.1");
    let proxy = socks();
    let address = proxy.addr();
    for (scheme, arguments, host, found) in [
        ("socks5", &[][..], "127.0.0.1", Some(AddressType::V4)),
        ("socks5h", &[][..], "127.0.0.1", Some(AddressType::V4)),
        ("socks5", &[], "localhost", Some(AddressType::V4)),
        ("socks5h", &[], "localhost", Some(AddressType::Name)),
        ("socks5h", &[], NAME, Some(AddressType::Name)),
        ("socks5", &[], NAME, None),
        ("socks5", &["--resolve", &pin], NAME, Some(AddressType::V4)),
    ] {
        let before = proxy.tunnels().len();
        let given = format!("{scheme}://{address}");
        let more = ["-4", "-x", &given, &under(host, &origin, "/x")];
        let ran = fetch(arguments.iter().chain(&more));
        let tunnels = proxy.tunnels();
        match found {
            Some(kind) => {
                assert_eq!((ran.exit, ran.text().as_str()), (0, "/x"), "{scheme} {host}: {}", ran.stderr);
                assert_eq!(
                    (tunnels[before].address_type, tunnels[before].port),
                    (kind, port),
                    "{scheme} {host}"
                );
            }
            None => {
                assert_eq!((ran.exit, tunnels.len()), (6, before), "{scheme} {host}: {ran:?}");
            }
        }
    }
}

#[test]
fn tls_through_a_tunnel() {
    let (origin, files) = safe_origin(|_| HttpReply::new(200).body("safe"));
    let ca = files.ca.to_str().expect("UTF-8");
    let (http, socks) = (http(), socks());
    let login = format!("http://u:Geheim@{NAME}/").replace("http://", "https://");
    let url = login.replace(&format!("{NAME}/"), &format!("{NAME}:{}/x", origin.addr().port()));
    for proxy in [http.url(), format!("socks5h://{}", socks.addr())] {
        let ran = fetch([
            "--cacert",
            ca,
            "-x",
            &proxy,
            "-b",
            "secret=Geheim",
            "-H",
            "X-Mine: Geheim",
            "-A",
            "me/1",
            &url,
        ]);
        assert_eq!(ran.exits(0).text(), "safe");
    }
    for tunnel in [&http.tunnels()[0], &socks.tunnels()[0]] {
        assert_eq!((tunnel.host.as_str(), tunnel.port), (NAME, origin.addr().port()));
        assert_eq!(tunnel.opening.first(), Some(&0x16), "the first octet is of a TLS handshake");
    }
    let connect = &http.requests()[0];
    assert_eq!(connect.method, "CONNECT");
    assert_eq!(connect.path(), format!("{NAME}:{}", origin.addr().port()));
    let told = format!("{connect:?}");
    for secret in ["Geheim", "authorization", "Authorization", "cookie", "X-Mine", "x-mine"] {
        assert!(!told.contains(secret), "CONNECT told the proxy {secret}: {told}");
    }
    for seen in origin.requests() {
        assert!(seen.header("authorization").is_some() && seen.header("cookie").is_some());
        assert!(
            seen.headers.iter().all(|(name, _)| !name.to_ascii_lowercase().starts_with("proxy-")),
            "{seen:?}"
        );
    }
    // The certificate is looked at behind a proxy, too.
    assert_eq!(fetch(["-x", &http.url(), &url]).exit, 60);
}

#[test]
fn logins() {
    let origin = origin();
    let (safe, files) = safe_origin(|_| HttpReply::new(200).body("safe"));
    let ca = files.ca.to_str().expect("UTF-8");
    let proxy = ProxyServer::http_with_login("me", "my:pass@word").expect("a proxy on loopback");
    let in_url = proxy.url_as("me:my%3Apass%40word");
    let (bare, wrong) = (proxy.url(), proxy.url_as("me:wrong"));
    for url in [under(NAME, &origin, "/x"), under(NAME, &safe, "/x")] {
        for (arguments, exit) in [
            (&["-x", in_url.as_str()][..], 0),
            (&["-x", &bare, "-U", "me:my:pass@word"], 0),
            (&["-x", &bare], 67),
            (&["-x", &wrong], 67),
            (&["-x", &bare, "-U", "me:"], 67),
            (&["-x", &bare, "-u", "me:my:pass@word"], 67),
        ] {
            let ran = fetch(arguments.iter().chain(&["--cacert", ca, "-vvv", &url]));
            assert_eq!(ran.exit, exit, "{arguments:?} {url}: {}", ran.stderr);
            let said = ran.stderr.to_ascii_lowercase();
            // The last is base64 of the login's beginning.
            for secret in ["pass@word", "pass%40word", "bwu6bxk6cgfz"] {
                assert!(!said.contains(secret), "{arguments:?}: {}", ran.stderr);
            }
        }
    }
    for seen in origin.requests().iter().chain(&safe.requests()) {
        assert!(
            seen.headers.iter().all(|(name, _)| !name.to_ascii_lowercase().starts_with("proxy-")),
            "{seen:?}"
        );
        assert_eq!(seen.header("authorization"), None);
    }
    assert_eq!((origin.requests().len(), safe.requests().len()), (2, 2));
    let ran = fetch(["-x", &bare, "--no-fail", &under(NAME, &origin, "/x")]);
    assert_eq!(ran.exit, 0, "--no-fail delivers what is said: {}", ran.stderr);
}

#[test]
fn logins_at_socks() {
    let origin = origin();
    let proxy = ProxyServer::socks5_with_login("me", "secret").expect("a proxy on loopback");
    let url = under("127.0.0.1", &origin, "/x");
    for (arguments, exit) in [
        (&["-x", &proxy.url_as("me:secret")][..], 0),
        (&["-x", &proxy.url(), "-U", "me:secret"], 0),
        (&["-x", &proxy.url_as("me:wrong")], 67),
        (&["-x", &proxy.url()], 67),
    ] {
        let ran = fetch(arguments.iter().chain(&[url.as_str()]));
        assert_eq!(ran.exit, exit, "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(origin.requests().len(), 2);
    assert!(origin.requests().iter().all(|seen| seen.header("proxy-authorization").is_none()));
}

/// Whoever writes the field by hand means the proxy, and nobody else.
#[test]
fn a_login_in_a_field() {
    let origin = origin();
    let (safe, files) = safe_origin(|_| HttpReply::new(200).body("safe"));
    let proxy = http();
    let words = ["--cacert", files.ca.to_str().expect("UTF-8"), "-H", "Proxy-Authorization: Basic Z2VoZWlt"];
    for url in [under(NAME, &origin, "/x"), under(NAME, &safe, "/x")] {
        fetch([words.as_slice(), &["-x", &proxy.url(), &url]].concat()).exits(0);
    }
    // In the clear the proxy reads the fields of the request; CONNECT has none of them, as with curl.
    assert_eq!(proxy.requests()[0].header_text("proxy-authorization"), Some("Basic Z2VoZWlt"));
    let seen = [origin.requests(), safe.requests()].concat();
    assert!(
        seen.len() == 2 && seen.iter().all(|seen| seen.header("proxy-authorization").is_none()),
        "{seen:?}"
    );
}

/// A host that is asked directly does not get what is for the proxy either (row 32: "separate header sets").
#[test]
fn a_login_in_a_field_and_nobody_to_read_it() {
    let origin = origin();
    let words = ["-H", "Proxy-Authorization: Basic Z2VoZWlt", "-x", "http://127.0.0.1:1", "--noproxy", "*"];
    fetch(words.iter().chain(&[origin.url("/x").as_str()])).exits(0);
    assert_eq!(origin.requests()[0].header_text("proxy-authorization"), None);
}

#[test]
fn a_proxy_that_is_not_there() {
    let origin = origin();
    let url = under(NAME, &origin, "/x");
    for (scheme, unknown) in [("http", 5), ("socks5", 5), ("socks5h", 5)] {
        let ran = fetch(["-x", &format!("{scheme}://{}", nobody()), &origin.url("/x")]);
        assert_eq!(ran.exit, 7, "{scheme}: {}", ran.stderr);
        let ran = fetch(["-x", &format!("{scheme}://{NAME}:3128"), &url]);
        assert_eq!(ran.exit, unknown, "{scheme}: {}", ran.stderr);
    }
    // A proxy that cannot reach the origin says so in its own way.
    let gone = format!("http://{}/x", nobody());
    let ran = fetch(["-x", &http().url(), &gone]);
    assert!([7, 9, 22, 92].contains(&ran.exit), "{ran:?}");
    assert_ne!(fetch(["-x", &socks().url(), &gone]).exit, 0);
    for bad in
        ["nonsense://127.0.0.1:1", "http://", "http://127.0.0.1:99999", "http://a b/", "file:///etc/passwd"]
    {
        let ran = fetch(["-x", bad, &origin.url("/x")]);
        assert!([2, 3].contains(&ran.exit), "{bad}: {ran:?}");
    }
    assert_eq!(origin.requests(), [], "somebody went around the proxy");
}

#[test]
fn redirects() {
    let other = origin();
    let there = under("other.invalid", &other, "/there");
    let server = serving(move |request| match request.path().as_str() {
        "/near" => HttpReply::new(302).header("Location", "/here"),
        "/away" => HttpReply::new(302).header("Location", &there),
        _ => HttpReply::new(200).body("here"),
    });
    let proxy = ProxyServer::http_with_login("me", "secret").expect("a proxy on loopback");
    let given = proxy.url_as("me:secret");
    let url = |path: &str| under(NAME, &server, path);
    assert_eq!(fetch(["-x", &given, "-u", "u:p", &url("/near")]).exits(0).text(), "here");
    assert_eq!(fetch(["-x", &given, "-u", "u:p", &url("/away")]).exits(0).text(), "/there");
    assert_eq!(proxy.requests().len(), 4);
    assert!(proxy.requests().iter().all(|asked| asked.header("proxy-authorization").is_some()));
    let of = |server: &HttpServer| {
        server.requests().iter().map(|seen| seen.header("authorization").is_some()).collect::<Vec<_>>()
    };
    assert_eq!((of(&server), of(&other)), (vec![true, true, true], vec![false]));
    let all = [server.requests(), other.requests()].concat();
    assert!(all.iter().all(|seen| seen.header("proxy-authorization").is_none()));
    // Each hop is asked anew whether it goes through the proxy.
    let pin = format!("other.invalid:{}:127.0.0.1", other.addr().port());
    fetch(["-x", &given, "--noproxy", "other.invalid", "--resolve", &pin, "--allow-private", &url("/away")])
        .exits(0);
    assert_eq!((proxy.requests().len(), other.requests().len()), (5, 2));
}

/// Schemes that cannot go through this proxy are refused; nobody goes around it.
#[test]
fn other_schemes() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let address = listener.local_addr().expect("an address");
    for scheme in ["ftp", "gopher", "ftps", "gophers"] {
        let ran = fetch(["-x", &http().url(), &format!("{scheme}://{address}/1x")]);
        assert_eq!(ran.exit, 1, "{scheme}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    assert!(listener.accept().is_err(), "somebody went around the proxy");
}

/// What only the proxy can look up may be anywhere: nobody here can tell that it is public.
#[test]
fn public_only() {
    let origin = origin();
    let (http, socks) = (http(), socks());
    let far = format!("socks5h://{}", socks.addr());
    for proxy in [http.url(), socks.url(), far] {
        for host in ["127.0.0.1", "localhost", NAME, "[::1]", "10.0.0.1", "169.254.169.254"] {
            let ran = fetch(["--public-only", "-x", &proxy, &under(host, &origin, "/x")]);
            assert!([90, 6].contains(&ran.exit) && ran.stdout.is_empty(), "{proxy} {host}: {ran:?}");
        }
    }
    assert!(http.requests().is_empty() && socks.tunnels().is_empty() && origin.requests().is_empty());
}
