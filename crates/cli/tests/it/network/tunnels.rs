//! Tunnels: every scheme over TCP through SOCKS 4a, SOCKS 5, HTTP CONNECT and https proxies, without a direct connection
//! or a host lookup.

use std::net::{TcpListener, UdpSocket};
use std::process::Command;

use crate::support::telnet_server::{TelnetServer, run_session};
use crate::support::{RunResult, fetch_url_command, http_server, run_command, run_fetch_url, temp_dir};
use fetch_url_tests::{
    AddressType, CertFiles, FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse,
    HttpServer, NntpArticle, NntpConfig, NntpGroup, NntpServer, ProxyServer, ServerCert, TlsFront, Tunnel,
    WaisConfig, WaisDatabase, WaisDocument, WaisServer,
};

/// A name that no resolver knows (RFC 6761); only the test proxies resolve it.
const NAME: &str = "only-there.invalid";

/// Replaces the address of the server by [`NAME`].
fn named(url: &str) -> String {
    url.replacen("127.0.0.1", NAME, 1)
}

fn cert() -> (ServerCert, CertFiles) {
    let cert = ServerCert::for_names(&["127.0.0.1", "localhost", NAME]).expect("a certificate");
    let files = cert.write_files().expect("files");
    (cert, files)
}

/// The proxies of one kind of tunnel: the options that select it, and where the tunnels are logged.
struct Route {
    options: Vec<String>,
    proxy: ProxyServer,
    _front: Option<TlsFront>,
}

/// Starts a proxy for each kind of tunnel.
fn routes(cert: &ServerCert) -> Vec<Route> {
    let route = |options: &[&str], proxy: ProxyServer| Route {
        options: options.iter().map(|option| option.replace("ADDRESS", &proxy.addr().to_string())).collect(),
        proxy,
        _front: None,
    };
    let socks = || ProxyServer::socks5().expect("a proxy on loopback");
    let http = || ProxyServer::http().expect("a proxy on loopback");
    let behind_tls = http();
    let front = TlsFront::start(behind_tls.addr(), cert).expect("a TLS server on loopback");
    let address = format!("https://{}", front.addr());
    vec![
        route(&["-x", "socks5h://ADDRESS"], socks()),
        route(&["--socks5-hostname", "ADDRESS"], socks()),
        route(&["--socks4a", "ADDRESS"], socks()),
        route(&["-p", "-x", "http://ADDRESS"], http()),
        Route {
            options: vec!["-p".to_owned(), "-x".to_owned(), address],
            proxy: behind_tls,
            _front: Some(front),
        },
    ]
}

/// Runs fetch-url with the options of a route.
fn run_through(route: &Route, arguments: &[&str]) -> RunResult {
    let mut command = fetch_url_command();
    command.args(["--retry", "0"]).args(&route.options).args(arguments);
    run_command(command)
}

#[track_caller]
fn assert_only_names(tunnels: &[Tunnel], case: &str) {
    for tunnel in tunnels {
        assert_eq!((tunnel.address_type, tunnel.host.as_str()), (AddressType::Name, NAME), "{case}");
    }
}

#[test]
fn ftp_control_and_data_connections_use_the_proxy() {
    let (cert, files) = cert();
    let ca = files.ca.to_str().expect("UTF-8");
    let config = || FtpConfig::new().anonymous().file("/pub/a.txt", "hello").dir("/pub");
    for route in routes(&cert) {
        let plain = FtpServer::start(config()).expect("a server");
        let implicit = FtpServer::start_implicit(config(), &cert).expect("a server");
        let explicit = FtpServer::start_tls(config(), &cert).expect("a server");
        // An address in the reply to PASV is ignored.
        let pasv = FtpServer::start(config().without("EPSV").pasv_address([192, 0, 2, 1])).expect("a server");
        for (server, options) in [
            (&plain, &[][..]),
            (&implicit, &["--cacert", ca]),
            (&explicit, &["--cacert", ca, "--ssl-reqd"]),
            (&explicit, &["--cacert", ca, "--ssl"]),
            (&pasv, &["--cacert", ca]),
        ] {
            let case = format!("{:?} {options:?}", route.options);
            let (before, data) = (route.proxy.tunnels().len(), server.data_connections());
            let (control, url) = (server.connections(), named(&server.url("/pub/a.txt")));
            let cacert = ["--cacert", ca];
            let result = run_through(&route, &[&cacert, options, &[url.as_str()]].concat());
            assert_eq!(result.assert_exit(0).stdout_text(), "hello", "{case}");
            let tunnels = route.proxy.tunnels().split_off(before);
            assert_only_names(&tunnels, &case);
            // Each connection to the server is a tunnel: one control and one data connection.
            let connections = server.connections() - control + server.data_connections() - data;
            assert_eq!((tunnels.len(), connections), (2, 2), "{case}");
        }
        let listing = run_through(&route, &["--cacert", ca, &named(&plain.url("/pub/"))]);
        assert!(listing.assert_exit(0).stdout_text().contains("a.txt"), "{:?}", route.options);
    }
}

#[test]
fn gopher_news_wais_telnet_and_http_use_the_proxy() {
    let (cert, files) = cert();
    let ca = files.ca.to_str().expect("UTF-8");
    let gopher_config = || GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"));
    let article = || NntpArticle::post("1@test.invalid", "A subject", "hello\r\n");
    let news_config = || NntpConfig::new().group(NntpGroup::new("fetch.test").append(article()));
    let gopher = GopherServer::start(gopher_config()).expect("a server");
    let gophers = GopherServer::start_tls(gopher_config(), &cert).expect("a server");
    let news = NntpServer::start(news_config()).expect("a server");
    let nntps = NntpServer::start_tls(news_config(), &cert).expect("a server");
    let document = WaisDocument::new("A headline", "word", "TEXT", "hello");
    let wais = WaisServer::start(WaisConfig::new().database(WaisDatabase::new("t").document(document)));
    let wais = wais.expect("a server");
    let http = http_server(|_| HttpResponse::new(200).body("hello"));
    let https = HttpServer::start_tls(|_| HttpResponse::new(200).body("hello"), &cert).expect("a server");
    let news_server = named(&news.news_server());
    let nntps_url = format!("nntps://{}/fetch.test/1", nntps.news_server());
    let wais_url = wais.document_url("t", "A headline").expect("a document");
    for route in routes(&cert) {
        for (url, options) in [
            (gopher.url("0/a"), &[][..]),
            (gophers.url("0/a").replacen("gopher:", "gophers:", 1), &[]),
            (news.url("fetch.test/1"), &[]),
            ("news:1@test.invalid".to_owned(), &["--news-server", &news_server]),
            (nntps_url.clone(), &[]),
            (wais_url.clone(), &[]),
            (http.url("/"), &[]),
            (https.url("/"), &[]),
        ] {
            let case = format!("{:?} {url}", route.options);
            let before = route.proxy.tunnels().len();
            let url = named(&url);
            let result = run_through(&route, &[&["--cacert", ca], options, &[url.as_str()]].concat());
            assert!(result.assert_exit(0).stdout_text().contains("hello"), "{case}: {result:?}");
            let tunnels = route.proxy.tunnels().split_off(before);
            assert_eq!(tunnels.len(), 1, "{case}");
            assert_only_names(&tunnels, &case);
        }
        let telnet = TelnetServer::start(|connection| connection.send(b"hello\r\n"));
        let mut options: Vec<&str> = route.options.iter().map(String::as_str).collect();
        options.extend(["--cacert", ca]);
        let result = run_session(b"", &options, &named(&telnet.url()));
        assert!(result.stdout_text().contains("hello"), "{result:?}");
    }
}

/// A `gopher:` item that leads to a web page, and a redirect to FTP.
#[test]
fn redirects_of_every_scheme_use_the_proxy() {
    let proxy = ProxyServer::socks5().expect("a proxy on loopback");
    let proxy_url = format!("socks5h://{}", proxy.addr());
    let ftp = FtpServer::start(FtpConfig::new().anonymous().file("/a", "hello")).expect("a server");
    let to_ftp = named(&ftp.url("/a"));
    let http = http_server(move |_| HttpResponse::new(302).header("Location", &to_ftp));
    let gopher = GopherServer::start(GopherConfig::new()).expect("a server");
    let url = named(&gopher.url(&format!("hURL:{}", named(&http.url("/")))));
    let result = run_fetch_url(["-x", &proxy_url, "--proto-redir", "=http,ftp", &url]);
    assert_eq!(result.assert_exit(0).stdout_text(), "hello");
    assert_only_names(&proxy.tunnels(), "redirects");
    let ports: Vec<u16> = proxy.tunnels().iter().map(|tunnel| tunnel.port).collect();
    assert_eq!(ports[..2], [http.addr().port(), ftp.addr().port()]);
    assert_eq!((ports.len(), gopher.connections()), (3, 0), "the item names its target itself");
}

/// The kernel is asked which addresses the program contacts: only that of the proxy.
#[test]
fn no_other_address_is_contacted() {
    let works = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        // The other tests of this file count the connections of the servers.
        println!("strace is not available");
        return;
    }
    let (_, files) = cert();
    let ca = files.ca.to_str().expect("UTF-8").to_owned();
    let ftp = FtpServer::start(FtpConfig::new().anonymous().file("/a", "hello")).expect("a server");
    let socks = ProxyServer::socks5().expect("a proxy on loopback");
    let http = ProxyServer::http().expect("a proxy on loopback");
    for (proxy, options) in [
        (&socks, vec!["--socks5-hostname".to_owned(), socks.addr().to_string()]),
        (&socks, vec!["--socks4a".to_owned(), socks.addr().to_string()]),
        (&http, vec!["-p".to_owned(), "-x".to_owned(), http.url()]),
    ] {
        let dir = temp_dir();
        let log = dir.path().join("strace");
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o"]).arg(&log);
        command.arg(crate::support::BINARY).args(["--retry", "0", "--cacert", &ca]).args(&options);
        command.arg(named(&ftp.url("/a")));
        crate::support::isolate_environment(&mut command);
        assert_eq!(run_command(command).assert_exit(0).stdout_text(), "hello", "{options:?}");
        let log = std::fs::read_to_string(log).expect("the log of strace");
        let own = format!("sin_port=htons({}), sin_addr=inet_addr(\"127.0.0.1\")", proxy.addr().port());
        let contacted = |line: &&str| line.contains("sa_family=AF_INET") || line.contains("AF_UNIX");
        let lines: Vec<&str> = log.lines().filter(contacted).collect();
        let (to_proxy, others): (Vec<&str>, Vec<&str>) =
            lines.into_iter().partition(|line| line.contains(&own));
        assert!(to_proxy.len() >= 2, "control and data connection: {log}");
        // suppaftp gets its stream through a connection to a port of this process, which it closes unused.
        let is_own_port =
            |line: &str| line.contains("inet_addr(\"127.0.0.1\")") && !line.contains("htons(53)");
        assert!(others.iter().all(|line| is_own_port(line)) && others.len() <= 1, "{others:?}");
    }
}

#[test]
fn prospero_and_active_mode_are_refused_without_a_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_nonblocking(true).expect("a socket");
    let proxies = [ProxyServer::socks5().expect("a proxy"), ProxyServer::http().expect("a proxy")];
    for proxy in proxies {
        let url = proxy.url();
        let prospero = format!("prospero://{}/a", socket.local_addr().expect("an address"));
        let result = run_fetch_url(["-x", &url, &prospero]);
        result.assert_exit(1).assert_stderr_contains("UDP").assert_stderr_contains(&url);
        result.assert_stderr_contains("--noproxy HOST");
        let ftp = format!("ftp://{}/a", listener.local_addr().expect("an address"));
        for options in [&["-P", "-"][..], &["-P", "127.0.0.1"]] {
            let result = run_fetch_url([options, &["-x", &url, &ftp]].concat());
            result.assert_exit(1).assert_stderr_contains("active mode").assert_stderr_contains(&url);
            result.assert_stderr_contains("without -P");
        }
        assert_eq!(proxy.connections(), 0, "nothing is sent to the proxy either");
    }
    assert!(listener.accept().is_err() && socket.recv(&mut [0; 16]).is_err(), "a direct connection");
}

#[test]
fn control_connection_through_a_proxy_is_reused() {
    let config =
        FtpConfig::new().anonymous().file("/pub/a", "one").file("/pub/b", "two").file("/pub/c", "three");
    let ftp = FtpServer::start(config).expect("a server");
    let proxy = ProxyServer::socks5().expect("a proxy on loopback");
    let proxy_url = format!("socks5h://{}", proxy.addr());
    let urls = ["/pub/a", "/pub/b", "/pub/c"].map(|path| named(&ftp.url(path)));
    let result = run_fetch_url([&["-x", &proxy_url][..], &urls.each_ref().map(String::as_str)].concat());
    assert_eq!(result.assert_exit(0).stdout_text(), "onetwothree");
    assert_eq!((ftp.connections(), proxy.tunnels().len()), (1, 4));
}

#[test]
fn ftp_tree_is_mirrored_and_resumed_through_a_proxy() {
    let config =
        FtpConfig::new().anonymous().file("/pub/a", "one").file("/pub/d/b", "two").pattern("/pub/c", 5000);
    let ftp = FtpServer::start(config.reset_data_after(3000)).expect("a server");
    let proxy = ProxyServer::socks5().expect("a proxy on loopback");
    let proxy_url = format!("socks5h://{}", proxy.addr());
    let dir = temp_dir();
    let target = dir.path().join("copy");
    let url = named(&ftp.url("/pub/"));
    let options = ["mirror", "--retry-delay", "0.01", "-x", &proxy_url, &url];
    let run = || {
        let mut command = fetch_url_command();
        command.args(options).arg(&target);
        run_command(command)
    };
    let first = run();
    ftp.disable_rules();
    run().assert_exit(0);
    assert!(first.exit == 0 || first.exit == 18, "{first:?}");
    assert_eq!(std::fs::read(target.join("c")).expect("a file"), fetch_url_tests::pattern_vec(0, 5000));
    assert_eq!(std::fs::read(target.join("d/b")).expect("a file"), b"two");
    assert_only_names(&proxy.tunnels(), "mirror");
}

/// Address policy: addresses and `localhost` are checked as without a proxy.
#[test]
fn address_policy_holds_behind_a_proxy() {
    let proxy = ProxyServer::socks5().expect("a proxy on loopback");
    let proxy_url = format!("socks5h://{}", proxy.addr());
    for host in ["127.0.0.1", "localhost", "a.localhost", "[::1]", "169.254.169.254", NAME] {
        for (scheme, path) in [("ftp", "x"), ("gopher", "0x"), ("nntp", "x"), ("telnet", ""), ("wais", "x")] {
            let url = format!("{scheme}://{host}:7000/{path}");
            let mut command = fetch_url_command();
            command.args(["--public-only", "--connect", "-x", &proxy_url, &url]);
            assert_eq!(run_command(command).exit, 90, "{url}");
        }
    }
    // A host name may be public, so a redirect from it to a private address is refused.
    let gopher = GopherServer::start(GopherConfig::new()).expect("a server");
    let http = http_server(|_| HttpResponse::new(302).header("Location", "http://127.0.0.1:7000/"));
    let url = named(&gopher.url(&format!("hURL:{}", named(&http.url("/")))));
    assert_eq!(run_fetch_url(["-x", &proxy_url, &url]).exit, 90);
    assert_eq!(proxy.tunnels().len(), 1);
}
