//! Real servers behind a scripted proxy.

use std::time::Duration;

use fetch_url_tests::{AddressType, ConnectFault, HttpResponse, HttpServer, ProxyServer, SocksFault};

use super::server::{CA, NGINX};
use super::tree::{HELLO, range};
use super::work_dir::{WorkDir, fetch};

fn proxy() -> ProxyServer {
    ProxyServer::http().expect("a loopback proxy")
}

#[test]
#[ignore = "needs the servers of docker/"]
fn http_proxy_receives_the_absolute_url() {
    let proxy = proxy();
    fetch(&["-x", &proxy.url(), &NGINX.http("/hello.txt?a#b")]).assert_success(HELLO);
    fetch(&["-x", &proxy.url(), "http://made-up.invalid:17080/range.txt"]).assert_success(range());
    let targets: Vec<String> = proxy.requests().iter().map(|request| request.path()).collect();
    let expected = ["http://127.0.0.1:17080/hello.txt?a", "http://made-up.invalid:17080/range.txt"];
    assert_eq!(targets, expected);
}

/// The proxy receives the target unchanged, or the request fails.
#[test]
#[ignore = "needs the servers of docker/"]
fn proxy_target_is_unchanged_or_refused() {
    let proxy = proxy();
    let result = fetch(&["-x", &proxy.url(), &NGINX.http("/pub/../hello.txt")]);
    match result.exit {
        0 => drop(result.assert_stdout(HELLO)),
        _ => drop(result.assert_exit(1).assert_stdout("").assert_stderr_contains("/pub/../hello.txt")),
    }
    let asked = proxy.requests();
    assert!(asked.iter().all(|request| request.path().ends_with("/pub/../hello.txt")), "{asked:?}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn https_is_sent_through_a_connect_tunnel() {
    let proxy = proxy();
    fetch(&["-x", &proxy.url(), "--cacert", CA, &NGINX.https("/range.txt")]).assert_success(range());
    fetch(&["-x", &proxy.url(), "--cacert", CA, "https://origin.test.invalid:17443/hello.txt"])
        .assert_success(HELLO);
    fetch(&["-x", &proxy.url(), "--cacert", CA, "https://localhost:17446/hello.txt"])
        .assert_exit(60)
        .assert_stdout("");
    let tunnels = proxy.tunnels();
    let hosts: Vec<(&str, u16)> = tunnels.iter().map(|tunnel| (tunnel.host.as_str(), tunnel.port)).collect();
    assert_eq!(hosts, [("localhost", 17443), ("origin.test.invalid", 17443), ("localhost", 17446)]);
    assert!(tunnels.iter().all(|tunnel| tunnel.opening.starts_with(&[0x16, 3])));
    assert!(proxy.requests().iter().all(|request| request.method == "CONNECT"));
}

#[test]
#[ignore = "needs the servers of docker/"]
fn proxy_login_and_server_login_are_sent_to_their_own_side() {
    let proxy = ProxyServer::http_with_login("gate", "opener").expect("a loopback proxy");
    for url in [NGINX.http("/auth/hello.txt"), NGINX.https("/auth/hello.txt")] {
        let both = ["-x", &proxy.url_as("gate:opener"), "-u", "alice:secret", "--cacert", CA, &url];
        fetch(&both).assert_success(HELLO);
        let result =
            fetch(&["-x", &proxy.url(), "-u", "alice:secret", "--cacert", CA, &url]).assert_stdout("");
        assert!([67, 5, 7].contains(&result.exit), "{}", result.err);
    }
    for request in proxy.requests().iter().filter(|request| request.method == "CONNECT") {
        assert_eq!(request.header("authorization"), None);
    }
    let received =
        fetch(&["-x", &proxy.url_as("gate:opener"), &NGINX.http("/headers")]).assert_exit(0).text();
    assert!(!received.to_ascii_lowercase().contains("authorization"), "{received}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn socks_proxy_receives_name_or_address_of_the_server() {
    for (scheme, host, address_type) in [
        ("socks5h", "localhost", AddressType::Name),
        ("socks5", "127.0.0.1", AddressType::V4),
        ("socks5h", "made-up.invalid", AddressType::Name),
    ] {
        let proxy = ProxyServer::socks5_with_login("gate", "opener").expect("a loopback proxy");
        let url = proxy.url_as("gate:opener").replace("socks5:", &format!("{scheme}:"));
        fetch(&["-x", &url, &format!("http://{host}:17080/hello.txt")]).assert_success(HELLO);
        let [tunnel] = &proxy.tunnels()[..] else { panic!("{:?}", proxy.tunnels()) };
        assert_eq!((tunnel.address_type, tunnel.host.as_str(), tunnel.port), (address_type, host, 17080));
        assert!(tunnel.opening.starts_with(b"GET /hello.txt HTTP/1.1\r\n"), "{:?}", tunnel.opening);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn noproxy_hosts_are_contacted_directly() {
    let proxy = proxy();
    fetch(&["-x", &proxy.url(), "--noproxy", "127.0.0.1", &NGINX.http("/hello.txt")]).assert_success(HELLO);
    fetch(&["-x", &proxy.url(), "--noproxy", "*", &NGINX.http("/hello.txt")]).assert_success(HELLO);
    assert_eq!(proxy.connections(), 0);
    fetch(&["-x", &proxy.url(), "--noproxy", "elsewhere.invalid", &NGINX.http("/hello.txt")])
        .assert_success(HELLO);
    assert_eq!(proxy.requests().len(), 1);
}

/// Asserts that there is no output and no file, and that the run ends soon.
#[track_caller]
fn assert_fails_without_output(proxy: &ProxyServer, exits: &[i32]) {
    let dir = WorkDir::new();
    dir.write("old", "old");
    for name in ["old", "new"] {
        let url = NGINX.https("/hello.txt");
        let result = dir.fetch(&["-x", &proxy.url(), "--cacert", CA, "-o", name, &url]).assert_stdout("");
        assert!(exits.contains(&result.exit), "{}\n{}", result.exit, result.err);
        assert!(
            result.took < Duration::from_secs(5) && !result.err.contains("panicked"),
            "{:?} {}",
            result.took,
            result.err
        );
    }
    dir.assert_entries(&["old"]);
    assert_eq!(dir.read("old"), b"old");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn hostile_connect_reply_fails_without_a_file() {
    let moved =
        HttpResponse::new(302).header("Location", NGINX.http("/hello.txt")).body("forged").then_close();
    for (fault, exits) in [
        (ConnectFault::Close, &[5, 7, 8, 52, 56][..]),
        (ConnectFault::EndlessHead, &[7, 8, 63]),
        (ConnectFault::Reply(moved), &[5, 7, 8, 56]),
        (ConnectFault::Reply(HttpResponse::new(200).body("forged").then_close()), &[8, 35]),
        (ConnectFault::Reply(HttpResponse::new(403).body("forged").then_close()), &[5, 7, 9, 22, 56]),
        (ConnectFault::Reply(HttpResponse::raw("no HTTP at all\r\n\r\n")), &[7, 8]),
    ] {
        let shown = format!("{fault:?}");
        let proxy = ProxyServer::http_with_fault(fault).expect("a loopback proxy");
        assert_fails_without_output(&proxy, exits);
        assert!(proxy.requests().iter().all(|request| request.method == "CONNECT"), "{shown}");
    }
}

/// Bytes of the proxy in the tunnel are an error or ignored; they are never delivered as the response.
#[test]
#[ignore = "needs the servers of docker/"]
fn proxy_bytes_in_the_tunnel_are_never_delivered() {
    for extra in
        [&b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"[..], b"forged", b"\x15\x03\x03\0\x02\x02\x28"]
    {
        let proxy = ProxyServer::http_with_fault(ConnectFault::Extra(extra.to_vec()));
        let proxy = proxy.expect("a loopback proxy");
        let result = fetch(&["-x", &proxy.url(), "--cacert", CA, &NGINX.https("/hello.txt")]);
        assert!([0, 8, 35].contains(&result.exit), "{}\n{}", result.exit, result.err);
        let expected = if result.exit == 0 { HELLO } else { "" };
        result.assert_stdout(expected);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn hostile_socks_reply_fails_without_a_file() {
    for fault in [
        SocksFault::Close,
        SocksFault::HalfReply,
        SocksFault::Refuse(1),
        SocksFault::Refuse(2),
        SocksFault::Refuse(250),
        SocksFault::UnofferedMethod,
        SocksFault::WrongVersion,
    ] {
        let proxy = ProxyServer::socks5_with_fault(fault).expect("a loopback proxy");
        assert_fails_without_output(&proxy, &[7, 8, 9, 18, 52]);
    }
}

/// A stalled proxy counts as a stalled connection.
#[test]
#[ignore = "needs the servers of docker/"]
fn silent_proxy_exits_28_after_the_connect_timeout() {
    let proxy = ProxyServer::socks5_with_fault(SocksFault::Stall(Duration::from_secs(20)));
    let proxy = proxy.expect("a loopback proxy");
    let result = fetch(&["-x", &proxy.url(), "--connect-timeout", "0.5", &NGINX.http("/hello.txt")]);
    assert!(result.assert_exit(28).took < Duration::from_secs(4));
}

/// Header fields for the proxy are not sent to the origin, and the reverse.
#[test]
#[ignore = "needs the servers of docker/"]
fn header_fields_are_sent_to_proxy_or_server_only() {
    let proxy = proxy();
    let fields =
        ["-H", "X-Api-Key: canary", "-b", "a=canary", "-u", "alice:secret", "-A", "canary", "-e", "canary"];
    let url = NGINX.https("/auth/hello.txt");
    fetch(&[&fields[..], &["-x", &proxy.url(), "--cacert", CA, &url]].concat()).assert_success(HELLO);
    let [request] = &proxy.requests()[..] else { panic!("{:?}", proxy.requests()) };
    assert!(
        !format!("{request:?}").contains("canary") && request.header("authorization").is_none(),
        "{request:?}"
    );
    let received =
        fetch(&["-x", &proxy.url(), "-U", "gate:opener", &NGINX.http("/headers")]).assert_exit(0).text();
    assert!(!received.to_ascii_lowercase().contains("proxy-"), "{received}");
}

/// The limits apply behind a proxy, too.
#[test]
#[ignore = "needs the servers of docker/"]
fn endless_heads_behind_a_proxy_are_aborted() {
    // More data than a debug build reads within the timeout, and then a stall.
    let forever = 1 << 18;
    let silence = Duration::from_secs(10);
    for (flood, exit, word) in [
        (
            HttpResponse::raw("").then_repeat("HTTP/1.1 100 Continue\r\n\r\n", forever).then_stall(silence),
            63,
            "interim responses",
        ),
        (HttpResponse::raw("HTTP/1.1 200 OK\r\n").then_repeat("X-Endless: abc\r\n", forever), 63, "head"),
    ] {
        let origin = HttpServer::start(move |_| flood.clone()).expect("a loopback server");
        let proxy = proxy();
        let arguments = ["-x", &proxy.url(), "--read-timeout", "2", &origin.url("/")];
        let result = fetch(&arguments).assert_exit(exit).assert_stdout("").assert_stderr_contains(word);
        assert!(result.took < Duration::from_secs(9), "{:?}", result.took);
    }
}

/// The redirect policy checks IP addresses in URLs even if a proxy connects to them. (The proxy is local: nothing is
/// sent to 8.8.8.8.)
#[test]
#[ignore = "needs the servers of docker/"]
fn redirect_from_public_to_private_address_exits_90() {
    let proxy = proxy();
    let url = "http://8.8.8.8:17080/redir/back";
    let received = fetch(&["-x", &proxy.url(), "--allow-private", url]).assert_exit(0).text();
    assert!(received.starts_with("GET /headers "), "{received}");
    fetch(&["-x", &proxy.url(), url]).assert_exit(90).assert_stdout("");
    assert_eq!(proxy.requests().len(), 3, "{:?}", proxy.requests());
}
