//! HTTP and SOCKS proxies: requests, tunnels, name resolution and logins, and which headers each side receives
//! (docs/spec/faults.md, row 32).

use crate::support::{http_server, run_fetch_url};
use fetch_url_tests::{
    AddressType, CertFiles, HttpRequest, HttpResponse, HttpServer, ProxyServer, ReservedPort, ServerCert,
};

/// A name that no resolver knows (RFC 6761); only the test proxies resolve it.
const NAME: &str = "only-there.invalid";

/// Starts an HTTP server that sends the request target as its body.
fn start_origin() -> HttpServer {
    http_server(|request| HttpResponse::new(200).body(request.target.as_slice()))
}

fn start_http_proxy() -> ProxyServer {
    ProxyServer::http().expect("a proxy on loopback")
}

fn start_socks5_proxy() -> ProxyServer {
    ProxyServer::socks5().expect("a proxy on loopback")
}

fn start_tls_origin(
    handler: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
) -> (HttpServer, CertFiles) {
    let cert = ServerCert::for_names(&["127.0.0.1", "localhost", NAME]).expect("a certificate");
    let files = cert.write_files().expect("files");
    (HttpServer::start_tls(handler, &cert).expect("a server on loopback"), files)
}

/// Returns the URL of a path on the server with another host name.
fn url_with_host(name: &str, server: &HttpServer, path: &str) -> String {
    server.url(path).replacen("127.0.0.1", name, 1)
}

#[test]
fn http_proxy_gets_absolute_urls() {
    let (origin, proxy) = (start_origin(), start_http_proxy());
    let address = proxy.addr().to_string();
    for proxy_url in [proxy.url(), address.clone(), format!("HTTP://{address}"), format!("{}/", proxy.url())]
    {
        let url = url_with_host(NAME, &origin, "/a%20b?c");
        assert_eq!(
            run_fetch_url(["-x", &proxy_url, &url]).assert_exit(0).stdout_text(),
            "/a%20b?c",
            "{proxy_url}"
        );
        let requested = proxy.requests().last().expect("a request").clone();
        assert_eq!((requested.method.as_str(), requested.path()), ("GET", url));
        assert_eq!(requested.header_text("host"), Some(format!("{NAME}:{}", origin.addr().port()).as_str()));
    }
    assert!(proxy.tunnels().is_empty());
    let result = run_fetch_url([
        "-x",
        &proxy.url(),
        "-d",
        "a=b",
        "-X",
        "PUT",
        "-H",
        "X-Mine: 1",
        &url_with_host(NAME, &origin, "/"),
    ]);
    result.assert_exit(0);
    let received = origin.requests().pop().expect("a request");
    assert_eq!(
        (received.method.as_str(), received.body.as_slice(), received.header_text("x-mine")),
        ("PUT", &b"a=b"[..], Some("1"))
    );
}

/// The request target is the URL as it was given (RFC 9112 §3.2.2). A URL that cannot be sent unchanged is an error.
#[test]
fn request_target_is_sent_unchanged_or_refused() {
    let (origin, proxy) = (start_origin(), start_http_proxy());
    for path in
        ["/a/../b", "/./a", "/%2e/a", "/a'b", "/a%7Eb", "//a//b", "/a?b'c", "/;x=1", "/~a", "/?", "/a%2Fb"]
    {
        let url = url_with_host(NAME, &origin, path);
        let result = run_fetch_url(["-x", &proxy.url(), &url]);
        let targets: Vec<String> = proxy.requests().iter().map(HttpRequest::path).collect();
        match result.exit {
            0 => assert_eq!(targets.last(), Some(&url)),
            exit => assert_eq!((exit, targets.contains(&url)), (1, false), "{path}: {result:?}"),
        }
    }
    let rewritten = url_with_host(NAME, &origin, "/b");
    assert!(proxy.requests().iter().all(|request| request.path() != rewritten), "a path was rewritten");
}

/// With `socks5` fetch-url resolves names, with `socks5h` the proxy does.
#[test]
fn socks5_resolves_locally_and_socks5h_at_the_proxy() {
    let origin = start_origin();
    let port = origin.addr().port();
    let resolve = format!("{NAME}:{port}:127.0.0.1");
    let proxy = start_socks5_proxy();
    let address = proxy.addr();
    for (scheme, arguments, host, expected) in [
        ("socks5", &[][..], "127.0.0.1", Some(AddressType::V4)),
        ("socks5h", &[][..], "127.0.0.1", Some(AddressType::V4)),
        ("socks5", &[], "localhost", Some(AddressType::V4)),
        ("socks5h", &[], "localhost", Some(AddressType::Name)),
        ("socks5h", &[], NAME, Some(AddressType::Name)),
        ("socks5", &[], NAME, None),
        ("socks5", &["--resolve", &resolve], NAME, Some(AddressType::V4)),
    ] {
        let before = proxy.tunnels().len();
        let proxy_url = format!("{scheme}://{address}");
        let options = ["-4", "-x", &proxy_url, &url_with_host(host, &origin, "/x")];
        let result = run_fetch_url(arguments.iter().chain(&options));
        let tunnels = proxy.tunnels();
        match expected {
            Some(kind) => {
                assert_eq!(
                    (result.exit, result.stdout_text().as_str()),
                    (0, "/x"),
                    "{scheme} {host}: {}",
                    result.stderr
                );
                assert_eq!(
                    (tunnels[before].address_type, tunnels[before].port),
                    (kind, port),
                    "{scheme} {host}"
                );
            }
            None => {
                assert_eq!((result.exit, tunnels.len()), (6, before), "{scheme} {host}: {result:?}");
            }
        }
    }
}

#[test]
fn tls_tunnel_hides_headers_from_the_proxy() {
    let (origin, files) = start_tls_origin(|_| HttpResponse::new(200).body("safe"));
    let ca = files.ca.to_str().expect("UTF-8");
    let (http, socks) = (start_http_proxy(), start_socks5_proxy());
    let login = format!("http://u:Geheim@{NAME}/").replace("http://", "https://");
    let url = login.replace(&format!("{NAME}/"), &format!("{NAME}:{}/x", origin.addr().port()));
    for proxy in [http.url(), format!("socks5h://{}", socks.addr())] {
        let result = run_fetch_url([
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
        assert_eq!(result.assert_exit(0).stdout_text(), "safe");
    }
    for tunnel in [&http.tunnels()[0], &socks.tunnels()[0]] {
        assert_eq!((tunnel.host.as_str(), tunnel.port), (NAME, origin.addr().port()));
        assert_eq!(tunnel.opening.first(), Some(&0x16), "the first byte belongs to a TLS handshake");
    }
    let connect = &http.requests()[0];
    assert_eq!(connect.method, "CONNECT");
    assert_eq!(connect.path(), format!("{NAME}:{}", origin.addr().port()));
    let connect_text = format!("{connect:?}");
    for secret in ["Geheim", "authorization", "Authorization", "cookie", "X-Mine", "x-mine"] {
        assert!(!connect_text.contains(secret), "CONNECT contains {secret}: {connect_text}");
    }
    for received in origin.requests() {
        assert!(received.header("authorization").is_some() && received.header("cookie").is_some());
        assert!(
            received.headers.iter().all(|(name, _)| !name.to_ascii_lowercase().starts_with("proxy-")),
            "{received:?}"
        );
    }
    // The certificate is verified behind a proxy, too.
    assert_eq!(run_fetch_url(["-x", &http.url(), &url]).exit, 60);
}

#[test]
fn proxy_login_is_sent_to_the_proxy_only() {
    let origin = start_origin();
    let (tls_origin, files) = start_tls_origin(|_| HttpResponse::new(200).body("safe"));
    let ca = files.ca.to_str().expect("UTF-8");
    let proxy = ProxyServer::http_with_login("me", "my:pass@word").expect("a proxy on loopback");
    let url_with_login = proxy.url_as("me:my%3Apass%40word");
    let (url_without_login, url_with_wrong_password) = (proxy.url(), proxy.url_as("me:wrong"));
    for url in [url_with_host(NAME, &origin, "/x"), url_with_host(NAME, &tls_origin, "/x")] {
        for (arguments, exit) in [
            (&["-x", url_with_login.as_str()][..], 0),
            (&["-x", &url_without_login, "-U", "me:my:pass@word"], 0),
            (&["-x", &url_without_login], 67),
            (&["-x", &url_with_wrong_password], 67),
            (&["-x", &url_without_login, "-U", "me:"], 67),
            (&["-x", &url_without_login, "-u", "me:my:pass@word"], 67),
        ] {
            let result = run_fetch_url(arguments.iter().chain(&["--cacert", ca, "-vvv", &url]));
            assert_eq!(result.exit, exit, "{arguments:?} {url}: {}", result.stderr);
            let stderr = result.stderr.to_ascii_lowercase();
            // The last one is base64 of the start of the login.
            for secret in ["pass@word", "pass%40word", "bwu6bxk6cgfz"] {
                assert!(!stderr.contains(secret), "{arguments:?}: {}", result.stderr);
            }
        }
    }
    for received in origin.requests().iter().chain(&tls_origin.requests()) {
        assert!(
            received.headers.iter().all(|(name, _)| !name.to_ascii_lowercase().starts_with("proxy-")),
            "{received:?}"
        );
        assert_eq!(received.header("authorization"), None);
    }
    assert_eq!((origin.requests().len(), tls_origin.requests().len()), (2, 2));
    let result = run_fetch_url(["-x", &url_without_login, "--no-fail", &url_with_host(NAME, &origin, "/x")]);
    assert_eq!(result.exit, 0, "--no-fail prints the response of the proxy: {}", result.stderr);
}

/// The proxy, which is an HTTP server that sends no request on, repeats the login of its request in the status line and in
/// a header.
#[test]
fn login_that_a_proxy_repeats_is_shown_nowhere() {
    for status in [200, 404, 407, 500] {
        let reply = format!(
            "HTTP/1.1 {status} bWU6c2VjcmV0cHc= secretpw\r\nX-Echo: secretpw bWU6c2VjcmV0cHc=\r\nContent-Length: 0\r\n\r\n"
        );
        let proxy = http_server(move |_| HttpResponse::raw(reply.clone()));
        for login in ["-x me:secretpw@ADDRESS", "-x ADDRESS -U me:secretpw"] {
            for url in ["http://h.example/", "ftp://h.example/a"] {
                let login = login.replace("ADDRESS", &proxy.addr().to_string());
                let options = "--retry 0 -vvv --trace - --events - -w %{json}";
                let arguments = login.split(' ').chain(options.split(' ')).chain([url]);
                let result = run_fetch_url(arguments);
                let shown = format!("{}{}", result.stdout_text(), result.stderr);
                assert!(shown.contains("***"), "{status} {url}: {shown}");
                assert_eq!(status == 407, shown.contains("the proxy rejects this user"), "{shown}");
                for secret in ["secretpw", "bWU6c2VjcmV0cHc"] {
                    assert!(!shown.contains(secret), "{status} {url}: {shown}");
                }
            }
        }
    }
}

/// reqwest does not support these options. They work over SOCKS and in a tunnel, and are refused if the proxy reads the
/// request.
#[test]
fn options_of_the_wire_format_work_through_proxies() {
    let respond = |request: &HttpRequest| {
        let host = request.header_text("host").unwrap_or_default().to_owned();
        match request.path().as_str() {
            "/host" => HttpResponse::new(200).body(host),
            "/length" => HttpResponse::raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc").then_close(),
            _ => HttpResponse::new(200).chunked(vec![b"abc".to_vec()]),
        }
    };
    let origin = http_server(respond);
    let (tls_origin, files) = start_tls_origin(respond);
    let (http, socks) = (start_http_proxy(), start_socks5_proxy());
    let ca = files.ca.to_str().expect("UTF-8");
    for (path, options, body) in [
        ("/host", &["-H", "Host: other.example"][..], "other.example"),
        ("/length", &["--ignore-content-length"], "abc"),
        ("/chunked", &["--raw"], "3\r\nabc\r\n0\r\n\r\n"),
    ] {
        let run = |proxy: &[&str], url: String| {
            let fixed = ["--retry", "0", "--http1.1", "--cacert", ca];
            run_fetch_url([&fixed[..], options, proxy, &[&url]].concat())
        };
        let (plain, tls) = (origin.url(path), tls_origin.url(path));
        for (proxy, url) in [
            (&["-x", &http.url()][..], &tls),
            (&["-x", &http.url(), "-p"], &plain),
            (&["-x", &socks.url()], &plain),
            (&["-x", &socks.url()], &tls),
        ] {
            let result = run(proxy, url.clone());
            assert_eq!(result.assert_exit(0).stdout_text(), body, "{proxy:?} {url}");
        }
        let result = run(&["-x", &http.url()], plain);
        match path {
            // A proxy that reads the request ignores the Host header (RFC 9112 §3.2.2).
            "/host" => result.assert_exit(2).assert_stderr_contains("use a tunnel (-p)"),
            _ => result.assert_exit(0),
        };
        assert!(result.exit == 2 || result.stdout_text() == body, "{options:?}: {result:?}");
    }
}

#[test]
fn removed_accept_field_is_not_sent_through_a_socks5_proxy() {
    let (origin, proxy) = (start_origin(), start_socks5_proxy());
    let url = origin.url("/x");
    for (options, expected) in
        [(&[][..], Some("*/*")), (&["-H", "Accept:"], None), (&["-H", "Accept: a/b"], Some("a/b"))]
    {
        run_fetch_url([options, &["-x", &proxy.url(), &url]].concat()).assert_exit(0);
        let request = origin.requests().pop().expect("a request");
        assert_eq!(request.header("accept"), expected.map(str::as_bytes), "{options:?}");
    }
}

/// The limit is that of a direct connection.
#[test]
fn header_fields_above_the_limit_are_refused_through_a_socks5_proxy() {
    let server = http_server(|request| {
        let size: usize = request.path().trim_start_matches('/').parse().expect("a size");
        HttpResponse::new(200).header("X", "x".repeat(size)).body("x")
    });
    let proxy = start_socks5_proxy();
    for (size, exit) in [(250_000, 0), (262_144, 63), (300_000, 63)] {
        let url = server.url(&format!("/{size}"));
        run_fetch_url(["--retry", "0", &url]).assert_exit(exit);
        run_fetch_url(["--retry", "0", "-x", &proxy.url(), &url]).assert_exit(exit);
    }
}

/// A login may be used for all proxies, and such a proxy chooses to connect without it.
#[test]
fn login_for_a_socks5_proxy_that_requires_none_is_no_error() {
    let origin = start_origin();
    let (tls_origin, files) = start_tls_origin(|_| HttpResponse::new(200).body("safe"));
    let ca = files.ca.to_str().expect("UTF-8");
    let server = start_socks5_proxy();
    let proxy = server.url().replacen("socks5://", "socks5h://me:secret@", 1);
    for url in [url_with_host(NAME, &origin, "/x"), url_with_host(NAME, &tls_origin, "/x")] {
        run_fetch_url(["--cacert", ca, "-x", &proxy, &url]).assert_exit(0);
    }
}

#[test]
fn https_request_through_a_socks_proxy_is_sent_unchanged() {
    let (origin, files) = start_tls_origin(|request| HttpResponse::new(200).body(request.target.as_slice()));
    let (ca, server) = (files.ca.to_str().expect("UTF-8"), start_socks5_proxy());
    let proxy = server.url().replacen("socks5:", "socks5h:", 1);
    for target in ["/a/../b/./c", "/%2e%2e/x?it's"] {
        let url = url_with_host(NAME, &origin, target);
        let result = run_fetch_url(["--cacert", ca, "-x", &proxy, &url]);
        assert_eq!(result.assert_exit(0).stdout_text(), target);
    }
}

#[test]
fn socks5_login_is_sent_to_the_proxy_only() {
    let origin = start_origin();
    let proxy = ProxyServer::socks5_with_login("me", "secret").expect("a proxy on loopback");
    let url = url_with_host("127.0.0.1", &origin, "/x");
    for (arguments, exit) in [
        (&["-x", &proxy.url_as("me:secret")][..], 0),
        (&["-x", &proxy.url(), "-U", "me:secret"], 0),
        (&["-x", &proxy.url_as("me:wrong")], 67),
        (&["-x", &proxy.url()], 67),
    ] {
        let result = run_fetch_url(arguments.iter().chain(&[url.as_str()]));
        assert_eq!(result.exit, exit, "{arguments:?}: {}", result.stderr);
    }
    assert_eq!(origin.requests().len(), 2);
    assert!(origin.requests().iter().all(|received| received.header("proxy-authorization").is_none()));
}

/// A Proxy-Authorization field from -H is sent to the proxy only.
#[test]
fn proxy_authorization_header_is_not_sent_to_the_server() {
    let origin = start_origin();
    let (tls_origin, files) = start_tls_origin(|_| HttpResponse::new(200).body("safe"));
    let proxy = start_http_proxy();
    let options =
        ["--cacert", files.ca.to_str().expect("UTF-8"), "-H", "Proxy-Authorization: Basic Z2VoZWlt"];
    for url in [url_with_host(NAME, &origin, "/x"), url_with_host(NAME, &tls_origin, "/x")] {
        run_fetch_url([options.as_slice(), &["-x", &proxy.url(), &url]].concat()).assert_exit(0);
    }
    // Without TLS the proxy gets the header with the request. CONNECT has none of the -H headers, as in curl.
    assert_eq!(proxy.requests()[0].header_text("proxy-authorization"), Some("Basic Z2VoZWlt"));
    let received = [origin.requests(), tls_origin.requests()].concat();
    assert!(
        received.len() == 2
            && received.iter().all(|received| received.header("proxy-authorization").is_none()),
        "{received:?}"
    );
}

/// Also without a proxy the header is not sent to the server (docs/spec/faults.md, row 32).
#[test]
fn proxy_authorization_header_is_dropped_without_proxy() {
    let origin = start_origin();
    let options = ["-H", "Proxy-Authorization: Basic Z2VoZWlt", "-x", "http://127.0.0.1:1", "--noproxy", "*"];
    run_fetch_url(options.iter().chain(&[origin.url("/x").as_str()])).assert_exit(0);
    assert_eq!(origin.requests()[0].header_text("proxy-authorization"), None);
}

#[test]
fn unreachable_or_invalid_proxy_is_an_error() {
    let (origin, closed) = (start_origin(), ReservedPort::tcp().expect("a port"));
    let url = url_with_host(NAME, &origin, "/x");
    for (scheme, unknown) in [("http", 5), ("socks5", 5), ("socks5h", 5)] {
        let result = run_fetch_url(["-x", &format!("{scheme}://{}", closed.addr()), &origin.url("/x")]);
        assert_eq!(result.exit, 7, "{scheme}: {}", result.stderr);
        let result = run_fetch_url(["-x", &format!("{scheme}://{NAME}:3128"), &url]);
        assert_eq!(result.exit, unknown, "{scheme}: {}", result.stderr);
    }
    // The proxy cannot reach the server.
    let closed_url = format!("http://{}/x", closed.addr());
    let result = run_fetch_url(["-x", &start_http_proxy().url(), &closed_url]);
    assert!([7, 9, 22, 92].contains(&result.exit), "{result:?}");
    assert_ne!(run_fetch_url(["-x", &start_socks5_proxy().url(), &closed_url]).exit, 0);
    for bad in
        ["nonsense://127.0.0.1:1", "http://", "http://127.0.0.1:99999", "http://a b/", "file:///etc/passwd"]
    {
        let result = run_fetch_url(["-x", bad, &origin.url("/x")]);
        assert!([2, 3].contains(&result.exit), "{bad}: {result:?}");
    }
    assert_eq!(origin.requests(), [], "a direct connection to the server");
}

#[test]
fn redirects_use_the_proxy_and_keep_its_login() {
    let other = start_origin();
    let location = url_with_host("other.invalid", &other, "/there");
    let server = http_server(move |request| match request.path().as_str() {
        "/near" => HttpResponse::new(302).header("Location", "/here"),
        "/away" => HttpResponse::new(302).header("Location", &location),
        _ => HttpResponse::new(200).body("here"),
    });
    let proxy = ProxyServer::http_with_login("me", "secret").expect("a proxy on loopback");
    let proxy_url = proxy.url_as("me:secret");
    let url = |path: &str| url_with_host(NAME, &server, path);
    assert_eq!(
        run_fetch_url(["-x", &proxy_url, "-u", "u:p", &url("/near")]).assert_exit(0).stdout_text(),
        "here"
    );
    assert_eq!(
        run_fetch_url(["-x", &proxy_url, "-u", "u:p", &url("/away")]).assert_exit(0).stdout_text(),
        "/there"
    );
    assert_eq!(proxy.requests().len(), 4);
    assert!(proxy.requests().iter().all(|requested| requested.header("proxy-authorization").is_some()));
    let has_authorization = |server: &HttpServer| {
        server
            .requests()
            .iter()
            .map(|received| received.header("authorization").is_some())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (has_authorization(&server), has_authorization(&other)),
        (vec![true, true, true], vec![false])
    );
    let all = [server.requests(), other.requests()].concat();
    assert!(all.iter().all(|received| received.header("proxy-authorization").is_none()));
    // --noproxy is applied to each redirect.
    let resolve = format!("other.invalid:{}:127.0.0.1", other.addr().port());
    run_fetch_url([
        "-x",
        &proxy_url,
        "--noproxy",
        "other.invalid",
        "--resolve",
        &resolve,
        "--allow-private",
        &url("/away"),
    ])
    .assert_exit(0);
    assert_eq!((proxy.requests().len(), other.requests().len()), (5, 2));
}

/// A name that only the proxy can resolve cannot be checked, so it is refused.
#[test]
fn public_only_refuses_names_that_only_the_proxy_resolves() {
    let origin = start_origin();
    let (http, socks) = (start_http_proxy(), start_socks5_proxy());
    let socks5h_url = format!("socks5h://{}", socks.addr());
    for proxy in [http.url(), socks.url(), socks5h_url] {
        for host in ["127.0.0.1", "localhost", NAME, "[::1]", "10.0.0.1", "169.254.169.254"] {
            let result = run_fetch_url(["--public-only", "-x", &proxy, &url_with_host(host, &origin, "/x")]);
            assert!([90, 6].contains(&result.exit) && result.stdout.is_empty(), "{proxy} {host}: {result:?}");
        }
    }
    assert!(http.requests().is_empty() && socks.tunnels().is_empty() && origin.requests().is_empty());
}

#[test]
fn request_of_another_login_or_to_a_closed_connection_is_sent_on_a_new_one_through_a_socks5_proxy() {
    let (origin, proxy) =
        (HttpServer::start(|_| HttpResponse::new(200).body("x").then_close()), start_socks5_proxy());
    let origin = origin.expect("a server");
    let url = |login: &str| origin.url("/a").replace("http://", &format!("http://{login}@"));
    let options = ["-sS", "--retry", "0", "-x", &proxy.url()].map(str::to_owned);
    let urls = [url("a:b"), url("c:d"), url("c:d")];
    run_fetch_url(options.iter().chain(&urls)).assert_exit(0);
    assert_eq!(proxy.tunnels().len(), urls.len());
}

#[test]
fn http2_with_prior_knowledge_is_sent_through_a_socks5_proxy() {
    let (origin, proxy) = (start_origin(), start_socks5_proxy());
    // The server speaks HTTP/1.1 only, so that the preface of HTTP/2 is all that it gets.
    run_fetch_url(["--http2-prior-knowledge", "--max-time", "5", "-x", &proxy.url(), &origin.url("/a")]);
    assert_eq!(origin.requests()[0].method, "PRI");
}
