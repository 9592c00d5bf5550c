//! Proxies that the server uses for what it fetches. The proxies of the tests know every host name, so an answer from an
//! invented name came through the proxy.

use std::io::{Read as _, Write as _};

use fetch_url::Proxy;
use fetch_url::network::Proxies;
use fetch_url_serve::ServeOptions;
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer, ProxyServer,
    ReservedPort,
};

use crate::support::{LogText, TestServer, options, public_options};

fn with_proxy(url: &str) -> ServeOptions {
    let mut options = options();
    options.policy.network.proxies = Proxies::default().all(Proxy::parse(url).expect("a proxy"));
    options
}

fn gopher() -> GopherServer {
    GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts")
}

/// Returns the URL with an invented host name.
fn invented(url: &str) -> String {
    url.replacen("127.0.0.1", "name.invalid", 1)
}

#[test]
fn every_scheme_goes_through_the_proxy() {
    let gopher = gopher();
    let http = HttpServer::start(|_| HttpResponse::new(200).body("from http")).expect("starts");
    let ftp = FtpServer::start(FtpConfig::new().file("/a.txt", "from ftp")).expect("starts");
    let (connect, socks) = (ProxyServer::http().expect("starts"), ProxyServer::socks5().expect("starts"));
    let socks_url = socks.url().replace("socks5://", "socks5h://");
    let via_socks = TestServer::with(with_proxy(&socks_url));
    for (url, content) in
        [(gopher.url("0/a"), "hello\r\n"), (http.url("/"), "from http"), (ftp.url("/a.txt"), "from ftp")]
    {
        let reply = via_socks.get(&invented(&url), &[]);
        assert_eq!((reply.status, reply.text().as_str()), (200, content), "{reply:?}");
    }
    // Control and data connection of ftp, and one each.
    assert_eq!(socks.tunnels().len(), 4);
    let via_http = TestServer::with(with_proxy(&connect.url()));
    for (url, content) in [(gopher.url("0/a"), "hello\r\n"), (http.url("/"), "from http")] {
        let reply = via_http.get(&invented(&url), &[]);
        assert_eq!((reply.status, reply.text().as_str()), (200, content), "{reply:?}");
    }
    assert_eq!((connect.tunnels().len(), connect.requests().len()), (1, 2));
    let forwarded = connect.requests().into_iter().find(|request| request.header("via").is_some());
    assert!(forwarded.is_some(), "the proxy can recognise a loop");
}

#[test]
fn tunnel_goes_through_the_proxy() {
    let (gopher, proxy) = (gopher(), ProxyServer::http().expect("starts"));
    let mut options = with_proxy(&proxy.url());
    options.policy.network.allowed_ports = vec![gopher.addr().port()];
    let server = TestServer::with(options);
    let mut stream = server.connect();
    let target = invented(&gopher.addr().to_string());
    stream.write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: h\r\n\r\n/a\r\n").as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the text");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello\r\n.\r\n"), "{answer}");
    assert_eq!((proxy.tunnels().len(), gopher.connections()), (1, 1));
}

#[test]
fn name_that_only_the_proxy_can_look_up_needs_allow_private() {
    let (gopher, proxy) = (gopher(), ProxyServer::http().expect("starts"));
    let mut options = public_options();
    options.policy.network.proxies = Proxies::default().all(Proxy::parse(&proxy.url()).expect("a proxy"));
    options.policy.network.allowed_ports = vec![gopher.addr().port()];
    let server = TestServer::with(options);
    let tunnel = invented(&gopher.addr().to_string());
    for reply in [server.get(&invented(&gopher.url("0/a")), &[]), server.request("CONNECT", &tunnel, &[])] {
        assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{reply:?}");
        assert!(reply.problem("hint").contains("--allow-private"), "{reply:?}");
    }
    let literal = server.get(&gopher.url("0/a"), &[]);
    assert_eq!((literal.status, gopher.connections()), (403, 0), "{literal:?}");
}

#[test]
fn failing_proxy_is_not_bypassed() {
    let gopher = gopher();
    let server = TestServer::with(with_proxy("http://127.0.0.1:1"));
    for target in [gopher.url("0/a"), format!("/{}", gopher.url("0/a"))] {
        assert_eq!(server.get(&target, &[]).status, 502, "{target}");
    }
    assert_eq!(gopher.connections(), 0);
}

#[test]
fn refusal_of_the_proxy_is_502_without_a_challenge_for_the_client() {
    let http = ProxyServer::http_with_login("me", "right").expect("starts");
    let socks = ProxyServer::socks5_with_login("me", "right").expect("starts");
    for (proxy, url) in [
        (http.addr(), http.url_as("me:wrong")),
        (http.addr(), http.url()),
        (socks.addr(), socks.url_as("me:wrong").replace("socks5:", "socks5h:")),
    ] {
        let server = TestServer::with(with_proxy(&url));
        let is_http = url.starts_with("http:");
        for target in [
            "http://name.invalid/a",
            "/http://name.invalid/a",
            "/https://name.invalid/a",
            "ftp://name.invalid/a",
            "/ftp://name.invalid/a",
            "gopher://name.invalid/0/a",
            "/gopher://name.invalid/0/a",
            "name.invalid:443",
        ] {
            let method = if target.ends_with(":443") { "CONNECT" } else { "GET" };
            let reply = server.request(method, target, &["Authorization: Basic bWU6bWluZQ=="]);
            assert_eq!(reply.status, 502, "{url} {target}: {reply:?}");
            assert_eq!(reply.problem("code"), "auth_needed", "{url} {target}: {reply:?}");
            for field in ["www-authenticate", "proxy-authenticate"] {
                assert_eq!(reply.field(field), None, "{url} {target}");
            }
            let detail = reply.problem("detail");
            let names_proxy = detail.contains(&proxy.to_string()) || is_http && !target.contains("gopher");
            assert!(
                detail.starts_with("the proxy that this server uses: ") && names_proxy,
                "{target}: {detail}"
            );
            assert!(!detail.contains("wrong"), "{detail}");
        }
    }
}

#[test]
fn loop_over_another_proxy_is_recognised() {
    let port = ReservedPort::tcp().expect("a port");
    let second = port.addr();
    let log = LogText::default();
    let mut options = with_proxy(&format!("http://{second}"));
    options.log = Some(log.sink());
    let first = TestServer::with(options);
    let mut options = with_proxy(&format!("http://{}", first.addr));
    options.listen = vec![second];
    let _second = TestServer::with(options);
    for target in ["http://name.invalid/", "ftp://name.invalid/a.txt"] {
        let reply = first.get(target, &[]);
        assert!(matches!(reply.status, 502 | 508), "{reply:?}");
    }
    // The request comes back once; the answer to it is passed on.
    let lines = log.wait_for("ftp://name.invalid/a.txt HTTP");
    for target in ["http://name.invalid/", "ftp://name.invalid/a.txt"] {
        let answers: Vec<&str> = lines.lines().filter(|line| line.contains(target)).collect();
        assert!(answers.first().is_some_and(|line| line.contains("\" 508 ")), "{lines}");
    }
}
