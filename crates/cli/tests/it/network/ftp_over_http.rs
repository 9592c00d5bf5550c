//! FTP over an HTTP proxy: the proxy gets the FTP URL and fetches it itself. `-p`, TLS and other schemes use CONNECT.

use std::net::TcpListener;

use crate::support::curl::run_curl_with_env;
use crate::support::{RunResult, fetch_url_command, http_server, run_command, run_fetch_url, temp_dir};
use fetch_url_tests::{
    FtpConfig, FtpServer, HttpRequest, HttpResponse, HttpServer, ProxyServer, pattern_vec,
};

const NAME: &str = "only-there.invalid";

/// Starts an HTTP server that plays a proxy: it answers every request with this body.
fn start_proxy(body: &'static str) -> HttpServer {
    http_server(move |_| HttpResponse::new(200).body(body))
}

fn proxy_url(proxy: &HttpServer) -> String {
    format!("http://{}", proxy.addr())
}

fn run_with_env(environment: &[(&str, &str)], arguments: &[&str]) -> RunResult {
    let mut command = fetch_url_command();
    command.envs(environment.iter().copied()).args(["--retry", "0"]).args(arguments);
    run_command(command)
}

fn last_request(proxy: &HttpServer) -> HttpRequest {
    proxy.requests().pop().expect("a request")
}

#[test]
fn http_proxy_gets_the_ftp_url() {
    // A file without a typecode gets one: squid transfers texts in ASCII mode otherwise.
    for (path, typecode) in [
        ("/a%20b/c;type=i", ""),
        ("/pub/", ""),
        ("/", ""),
        ("", "/"),
        ("/%2Fetc/motd", ";type=i"),
        ("//a/../b", ";type=i"),
        ("/x?y", ";type=i"),
        ("/a;type=d", ""),
        ("/a;type=a", ""),
    ] {
        let proxy = start_proxy("hello");
        let (address, url) = (proxy_url(&proxy), format!("ftp://{NAME}:2121{path}"));
        for (environment, options) in [
            (&[][..], &["-x", &address][..]),
            (&[("ftp_proxy", &*address)], &[]),
            (&[("FTP_PROXY", &*address)], &[]),
            (&[("all_proxy", &*address)], &[]),
            (&[("ALL_PROXY", &*address), ("http_proxy", "http://127.0.0.1:1")], &[]),
        ] {
            let result = run_with_env(environment, &[options, &[&url]].concat());
            assert_eq!(result.assert_exit(0).stdout_text(), "hello", "{environment:?} {path}");
            let request = last_request(&proxy);
            assert_eq!((request.method.as_str(), request.path()), ("GET", format!("{url}{typecode}")));
            assert_eq!(request.header_text("host"), Some(format!("{NAME}:2121").as_str()));
            assert!(request.header("authorization").is_none());
        }
    }
    let proxy = start_proxy("hello");
    run_fetch_url(["-B", "-x", &proxy_url(&proxy), &format!("ftp://{NAME}/a")]).assert_exit(0);
    assert_eq!(last_request(&proxy).path(), format!("ftp://{NAME}/a;type=a"));
    // curl sends the same request line.
    let (address, url) = (proxy_url(&proxy), format!("ftp://{NAME}/a;type=i"));
    let options = ["-x".to_owned(), address, url.clone()];
    if let Some(curl) = run_curl_with_env("/".as_ref(), &[], &options) {
        assert_eq!((curl.exit, last_request(&proxy).path()), (0, url));
    }
}

#[test]
fn logins_of_proxy_and_server_are_separate_and_hidden() {
    let proxy = start_proxy("hello");
    let address = format!("http://me:Geheim@{}", proxy.addr());
    let result = run_fetch_url(["-vvv", "-x", &address, &format!("ftp://ann:Serverpw@{NAME}/a")]);
    result.assert_exit(0);
    let request = last_request(&proxy);
    assert_eq!(request.path(), format!("ftp://{NAME}/a;type=i"), "the password is not part of the URL");
    assert_eq!(request.header_text("authorization"), Some("Basic YW5uOlNlcnZlcnB3"));
    assert_eq!(request.header_text("proxy-authorization"), Some("Basic bWU6R2VoZWlt"));
    for secret in ["Geheim", "Serverpw", "YW5uOlNlcnZlcnB3", "bWU6R2VoZWlt"] {
        assert!(!result.stderr.contains(secret), "{secret}: {}", result.stderr);
    }
    // Header fields, cookies, method and body are for HTTP servers; a body is refused.
    run_fetch_url(["-d", "c=d", "-x", &address, &format!("ftp://{NAME}/a")]).assert_exit(2);
    let options = ["-H", "X-Secret: 1", "-b", "a=b", "-X", "POST", "-x", &address];
    run_fetch_url([&options[..], &[&format!("ftp://{NAME}/a")]].concat()).assert_exit(0);
    let request = last_request(&proxy);
    assert_eq!((request.method.as_str(), request.body.len()), ("GET", 0));
    assert!(request.header("x-secret").is_none() && request.header("cookie").is_none());
}

#[test]
fn tunnel_is_used_for_p_for_tls_and_for_ftps() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let proxy = ProxyServer::http().expect("a proxy on loopback");
    for (options, url) in [
        (&["-p"][..], format!("ftp://{NAME}:{port}/a")),
        (&["--proxytunnel"], format!("ftp://{NAME}:{port}/a")),
        (&["--ssl-reqd"], format!("ftp://{NAME}:{port}/a")),
        (&["--ssl"], format!("ftp://{NAME}:{port}/a")),
        (&[], format!("ftps://{NAME}:{port}/a")),
        (&["-p"], format!("http://{NAME}:{port}/a")),
    ] {
        let proxy_url = proxy.url();
        let options = [&["--retry", "0", "--max-time", "1", "-x", &proxy_url], options, &[&url]].concat();
        let before = proxy.requests().len();
        run_fetch_url(&options).assert_exit(28);
        let request = proxy.requests().split_off(before).remove(0);
        assert_eq!((request.method.as_str(), request.path()), ("CONNECT", format!("{NAME}:{port}")), "{url}");
    }
    let ftp = FtpServer::start(FtpConfig::new().anonymous().file("/a", "hello")).expect("a server");
    let url = ftp.url("/a").replacen("127.0.0.1", NAME, 1);
    let environment = [("ftp_proxy", &*proxy.url())];
    assert_eq!(run_with_env(&environment, &["-p", &url]).assert_exit(0).stdout_text(), "hello");
}

#[test]
fn errors_of_the_proxy_have_their_exit_status_and_a_hint() {
    for (status, exit, hint) in [
        (400, 22, true),
        (403, 9, true),
        (404, 78, false),
        (407, 67, false),
        (401, 67, false),
        (501, 22, true),
        (503, 92, false),
    ] {
        let proxy = http_server(move |_| HttpResponse::new(status));
        let result = run_fetch_url(["--retry", "0", "-x", &proxy_url(&proxy), &format!("ftp://{NAME}/a")]);
        result.assert_exit(exit);
        assert_eq!(result.stderr.contains("-p sends FTP"), hint, "{status}: {}", result.stderr);
    }
    for (response, exit) in [
        (HttpResponse::raw("SSH-2.0-x\r\n"), 8),
        (HttpResponse::raw(""), 52),
        (HttpResponse::new(200).body("abcdef").cut_body_at(3), 18),
        (HttpResponse::new(302).header("Location", "file:///etc/passwd"), 90),
        (HttpResponse::raw("HTTP/1.1 200 OK\r\n").then_repeat("X: y\r\n", 1 << 20), 63),
    ] {
        let proxy = http_server(move |_| response.clone());
        let result = run_fetch_url(["--retry", "0", "-x", &proxy_url(&proxy), &format!("ftp://{NAME}/a")]);
        result.assert_exit(exit);
    }
    // A proxy that never answers, such as one that speaks HTTP with the FTP server.
    let proxy = http_server(|_| HttpResponse::raw("").then_stall(std::time::Duration::from_secs(5)));
    let address = proxy_url(&proxy);
    let options = ["--retry", "0", "--read-timeout", "0.5", "-x", &address];
    let result = run_fetch_url([&options[..], &[&format!("ftp://{NAME}/a")]].concat());
    result.assert_exit(28).assert_stderr_contains("-p sends FTP");
    // Nothing is sent for a URL that would inject an FTP command.
    let proxy = start_proxy("hello");
    let url = format!("ftp://{NAME}/a%0D%0ADELE%20b");
    run_fetch_url(["-x", &proxy_url(&proxy), &url]).assert_exit(93);
    assert!(proxy.requests().is_empty());
}

#[test]
fn interrupted_transfer_is_resumed_through_the_proxy() {
    let content = pattern_vec(0, 4000);
    let whole = content.clone();
    let proxy = http_server(move |request| {
        let response = HttpResponse::new(200).header("ETag", "\"1\"").body(whole.clone());
        match request
            .header_text("range")
            .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok())
        {
            None => response.cut_body_at(2500).then_reset(),
            Some(from) => HttpResponse::new(206)
                .header("ETag", "\"1\"")
                .header("Content-Range", format!("bytes {from}-3999/4000"))
                .body(&whole[from..]),
        }
    });
    let dir = temp_dir();
    let target = dir.path().join("c");
    let mut command = fetch_url_command();
    command.args(["--retry-delay", "0.01", "-x", &proxy_url(&proxy), "-o"]).arg(&target);
    command.arg(format!("ftp://{NAME}/c"));
    run_command(command).assert_exit(0);
    assert_eq!(std::fs::read(&target).expect("a file"), content);
    assert!(proxy.requests().iter().all(|request| request.path() == format!("ftp://{NAME}/c;type=i")));
    assert_eq!(proxy.requests().len(), 2);
}

#[test]
fn last_proxy_option_is_used() {
    let (socks, http) = (ProxyServer::socks5().expect("a proxy"), start_proxy("hello"));
    let (socks_address, http_url) = (socks.addr().to_string(), proxy_url(&http));
    let ftp = FtpServer::start(FtpConfig::new().anonymous().file("/a", "direct")).expect("a server");
    let url = ftp.url("/a").replacen("127.0.0.1", "localhost", 1);
    for (options, output, tunnels) in [
        (&["-x", &*http_url, "--socks5-hostname", &socks_address][..], "direct", 2),
        (&["--socks5-hostname", &socks_address, "-x", &http_url], "hello", 0),
        (&["-x", &http_url, "--socks4a", &socks_address], "direct", 2),
        (&["-4", "-x", &http_url, "--socks5", &socks_address], "direct", 2),
        (&["-4", "--socks5-hostname", "127.0.0.1:1", "--socks4", &socks_address], "direct", 2),
        (&["--socks5", "127.0.0.1:1", "-x", ""], "direct", 0),
        (&["--socks5", "127.0.0.1:1", "--noproxy", "localhost"], "direct", 0),
    ] {
        let before = socks.tunnels().len();
        let result = run_fetch_url([options, &[&url]].concat());
        assert_eq!(result.assert_exit(0).stdout_text(), output, "{options:?}");
        assert_eq!(socks.tunnels().len() - before, tunnels, "{options:?}");
    }
    // With --socks4 and --socks5, the names are looked up here.
    assert!(socks.tunnels().iter().any(|tunnel| tunnel.host == "127.0.0.1"));
    run_fetch_url(["--socks5", "a b", &url]).assert_exit(2).assert_stderr_contains("the proxy");
    run_fetch_url(["--socks4", "::bad::", &url]).assert_exit(2).assert_stderr_contains("the proxy");
}

#[test]
fn explain_names_the_proxy() {
    for (url, options, line) in [
        (
            "ftp://h.test/a",
            &["-x", "http://me:Geheim@p.test:3128"][..],
            "request to the proxy: http://p.test:3128",
        ),
        ("ftp://h.test/a", &["-x", "http://p.test:3128"], "GET ftp://h.test/a;type=i HTTP/1.1"),
        ("ftp://h.test/a", &["-p", "-x", "p.test:3128"], "tunnel through the proxy: http://p.test:3128"),
        ("ftp://h.test/a", &["-p", "-x", "p.test:3128"], "RETR a"),
        ("http://h.test/a", &["-x", "p.test"], "request to the proxy: http://p.test:1080"),
        ("https://h.test/a", &["-x", "p.test"], "tunnel through the proxy: http://p.test:1080"),
        (
            "gopher://h.test/0a",
            &["--socks5-hostname", "[::1]:9050"],
            "tunnel through the proxy: socks5h://[::1]:9050",
        ),
    ] {
        let result = run_fetch_url([&["explain"], options, &[url]].concat());
        let shown = result.assert_exit(0).stdout_text();
        assert!(shown.contains(line), "{url} {options:?}: {shown}");
        assert!(!shown.contains("Geheim"));
    }
    let direct = run_fetch_url(["explain", "-x", "p.test", "--noproxy", "h.test", "ftp://h.test/a"]);
    assert!(!direct.assert_exit(0).stdout_text().contains("proxy"));
    let prospero = run_fetch_url(["explain", "-x", "socks5h://p.test", "prospero://h.test/a"]);
    prospero.assert_exit(1).assert_stderr_contains("UDP");
    let mut command = fetch_url_command();
    command.env("ALL_PROXY", "socks5h://p.test").args(["explain", "wais://h.test/db"]);
    assert!(run_command(command).stdout_text().contains("tunnel through the proxy: socks5h://p.test:1080"));
}
