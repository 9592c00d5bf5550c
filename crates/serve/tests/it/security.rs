//! Who gets an answer, and which targets are refused.

use std::net::SocketAddr;

use fetch_url::network::ResolveOverride;
use fetch_url_serve::{ServeOptions, Server};
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer, ProsperoConfig,
    ProsperoServer,
};

use crate::support::{BROWSER, LogText, Reply, TestServer, options, public_options};

/// Returns a gopher server with a text, and the URL of the text.
fn gopher() -> (GopherServer, String) {
    let server =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts");
    let url = server.url("0/a");
    (server, url)
}

#[test]
fn path_under_another_host_name_is_refused() {
    let (gopher, url) = gopher();
    let server = TestServer::start();
    for host in ["evil.example", "evil.example:1738", "127.0.0.1", "127.0.0.1:1", "localhost", "[::1]:80", ""]
    {
        for target in [format!("/{url}"), "/".to_owned()] {
            let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            let reply = server.raw(head.as_bytes());
            assert_eq!(reply.status, 421, "{host}: {reply:?}");
            assert!(!reply.text().contains("hello"));
        }
    }
    assert_eq!(gopher.connections(), 0);
    let own =
        format!("GET / HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", server.addr.port());
    assert_eq!(server.raw(own.as_bytes()).status, 200);
}

#[test]
fn host_name_of_the_options_is_accepted() {
    let mut options = options();
    options.host_names = vec!["gate.example".to_owned()];
    let server = TestServer::with(options);
    let reply = server.raw(b"GET / HTTP/1.1\r\nHost: Gate.Example\r\nConnection: close\r\n\r\n");
    assert_eq!(reply.status, 200, "{reply:?}");
}

#[test]
fn request_of_another_sites_page_gets_no_content() {
    let (gopher, url) = gopher();
    let server = TestServer::start();
    for field in [
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
    ] {
        for target in [format!("/{url}"), "/".to_owned(), format!("/?url={url}")] {
            let reply = server.get(&target, &[field, BROWSER]);
            assert_eq!(reply.status, 403, "{field} {target}");
            assert!(!reply.text().contains("hello"));
        }
    }
    assert_eq!(gopher.connections(), 0);
    let own = format!("Origin: http://{}", server.addr);
    assert_eq!(server.get(&format!("/{url}"), &[&own, "Sec-Fetch-Site: same-origin"]).status, 200);
}

#[test]
fn private_target_is_refused_in_each_form() {
    let (gopher, url) = gopher();
    let server = TestServer::with(public_options());
    let port = gopher.addr().port();
    for target in [
        url.clone(),
        format!("/{url}"),
        format!("gopher://localhost:{port}/0/a"),
        format!("gopher://[::ffff:127.0.0.1]:{port}/0/a"),
        format!("http://127.0.0.1:{port}/"),
        format!("ftp://127.0.0.1:{port}/a"),
        format!("wais://127.0.0.1:{port}/d?w"),
        format!("nntp://127.0.0.1:{port}/g/1"),
        format!("prospero://127.0.0.1:{port}/a"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://[fe80::1]/".to_owned(),
    ] {
        let reply = server.get(&target, &[]);
        assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{target}: {reply:?}");
    }
    assert_eq!(gopher.connections(), 0);
}

#[test]
fn name_that_resolves_to_a_private_address_is_refused() {
    let (gopher, _) = gopher();
    let mut options = public_options();
    let port = gopher.addr().port();
    let host = Some(fetch_url::url::HostPort::parse("public.example").expect("a host").host().clone());
    let addresses = vec!["203.0.113.7".parse().expect("an address"), gopher.addr().ip()];
    options.policy.network.routes.overrides = vec![ResolveOverride { host, port, addresses }];
    let server = TestServer::with(options);
    let reply = server.get(&format!("gopher://public.example:{port}/0/a"), &[]);
    assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"));
    assert_eq!(gopher.connections(), 0);
}

#[test]
fn redirect_is_returned_and_its_target_checked_again() {
    let http = HttpServer::start(|_| HttpResponse::new(302).header("Location", "file:///etc/passwd"))
        .expect("starts");
    let server = TestServer::start();
    let path = server.get(&format!("/{}", http.url("/")), &[]);
    assert_eq!((path.status, path.field("location")), (302, None));
    let proxied = server.get(&http.url("/"), &[]);
    assert_eq!((proxied.status, proxied.field("location")), (302, Some("file:///etc/passwd")));
    assert_eq!(server.get("file:///etc/passwd", &[]).status, 403);
    // Each hop of a client is a request, which the policy checks.
    let (gopher, url) = gopher();
    let strict = TestServer::with(public_options());
    assert_eq!(strict.get(&format!("/{url}"), &[]).status, 403);
    assert_eq!(gopher.connections(), 0);
}

#[test]
fn access_method_of_prospero_to_a_private_address_is_refused() {
    let (gopher, _) = gopher();
    let prospero = ProsperoServer::start(ProsperoConfig::new()).expect("starts");
    let server = TestServer::with(public_options());
    let reply = server.get(&prospero.url("/srv/a"), &[]);
    assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{reply:?}");
    assert!(prospero.requests().is_empty() && gopher.connections() == 0);
}

#[test]
fn local_files_are_refused_without_a_directory() {
    let server = TestServer::start();
    for target in
        ["file:///etc/passwd", "/file:///etc/passwd", "/file:/etc/passwd", "/file://localhost/etc/passwd"]
    {
        let reply = server.get(target, &[]);
        assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{target}: {reply:?}");
        assert!(!reply.text().contains("root:"));
    }
}

#[test]
fn only_files_below_the_directory_are_served() {
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().canonicalize().expect("it exists").join("served");
    std::fs::create_dir(&root).expect("a directory");
    std::fs::write(root.join("a.txt"), "hello").expect("a file");
    std::fs::write(folder.path().join("secret"), "canary").expect("a file");
    std::os::unix::fs::symlink("../secret", root.join("link")).expect("a link");
    let mut options = public_options();
    options.file_root = Some(root.clone());
    let server = TestServer::with(options);
    let root = root.display();
    let file = server.get(&format!("/file://{root}/a.txt"), &[]);
    assert_eq!((file.status, file.text().as_str()), (200, "hello"), "{file:?}");
    let list = server.page(&format!("/file://{root}/"));
    list.assert_shows(&[&format!("href=\"/file://{root}/a.txt\"")]);
    for path in [
        format!("{root}/../secret"),
        format!("{root}/%2e%2e/secret"),
        format!("{root}/..%2fsecret"),
        format!("{root}/link"),
        format!("{root}/missing"),
        "/etc/passwd".to_owned(),
    ] {
        let reply = server.get(&format!("/file://{path}"), &[]);
        // An encoded slash is invalid in a path (400).
        assert!(matches!(reply.status, 400 | 403 | 404), "{path}: {reply:?}");
        assert!(!reply.text().contains("canary") && !reply.text().contains("root:"), "{path}");
    }
}

#[test]
fn directory_that_is_replaced_by_a_link_meanwhile_does_not_lead_out() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let folder = tempfile::tempdir().expect("a directory");
    let (root, outside) = (folder.path().join("served"), folder.path().join("outside"));
    for (directory, content) in [(root.join("sub"), "inside"), (outside.clone(), "canary")] {
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("f"), content).expect("a file");
    }
    let mut options = public_options();
    options.file_root = Some(root.clone());
    let server = TestServer::with(options);
    let is_done = AtomicBool::new(false);
    let (mut inside, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                std::fs::rename(root.join("sub"), folder.path().join("away")).expect("renamed");
                std::os::unix::fs::symlink(&outside, root.join("sub")).expect("a link");
                std::fs::remove_file(root.join("sub")).expect("removed");
                std::fs::rename(folder.path().join("away"), root.join("sub")).expect("renamed");
                std::thread::yield_now();
            }
        });
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while (inside < 200 || refused < 200) && std::time::Instant::now() < deadline {
            for path in ["f", ""] {
                let reply = server.page(&format!("/file://{}/sub/{path}", root.display()));
                assert!(!reply.text().contains("canary") && !reply.text().contains("outside/"), "{reply:?}");
                if path == "f" {
                    *(if reply.text() == "inside" { &mut inside } else { &mut refused }) += 1;
                }
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(inside > 0 && refused > 0, "{inside} answers, {refused} refusals: there was no race");
}

#[test]
fn ports_of_other_protocols_are_refused() {
    let server = TestServer::start();
    for target in [
        "gopher://127.0.0.1:25/0/a",
        "http://127.0.0.1:22/",
        "wais://127.0.0.1:80/d?w",
        "ftp://127.0.0.1:25/",
    ] {
        let reply = server.get(target, &[]);
        assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{target}: {reply:?}");
    }
}

#[test]
fn server_never_asks_itself() {
    let server = TestServer::start();
    let addr = server.addr;
    for target in [
        format!("/http://{addr}/http://{addr}/"),
        format!("/gopher://{addr}/0/a"),
        format!("http://0.0.0.0:{}/gopher://h/", addr.port()),
        format!("/ftp://{addr}/"),
    ] {
        let reply = server.get(&target, &[]);
        assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{target}: {reply:?}");
    }
    // A proxy's client that asks for the pages of the server itself gets them.
    assert_eq!(server.get(&format!("http://{addr}/"), &[]).status, 200);
    let reply = server.request("CONNECT", &addr.to_string(), &[]);
    assert_eq!(reply.status, 403, "{reply:?}");
}

#[test]
fn ftp_server_cannot_have_its_data_connection_lead_to_this_server() {
    let log = LogText::default();
    let mut options = options();
    options.log = Some(log.sink());
    let server = TestServer::with(options);
    let port = server.addr.port();
    let config = FtpConfig::new()
        .file("/a.txt", "hello")
        .answer("EPSV", format!("229 Entering Extended Passive Mode (|||{port}|)\r\n"))
        .answer("PASV", format!("227 Entering Passive Mode (127,0,0,1,{},{})\r\n", port >> 8, port & 0xff));
    let ftp = FtpServer::start(config).expect("starts");
    let reply = server.get(&ftp.url("/a.txt"), &[]);
    assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{reply:?}");
    // A connection without a request would hold a place of a client until its time is over.
    assert_eq!(log.text().lines().count(), 1, "{}", log.text());
}

#[test]
fn request_that_has_passed_this_server_is_a_loop() {
    let http = HttpServer::start(|_| HttpResponse::new(200).body("x")).expect("starts");
    let server = TestServer::start();
    server.get(&http.url("/"), &["Via: 1.0 other"]);
    let via = http.requests()[0].header_text("via").map(str::to_owned).expect("a field");
    assert!(via.starts_with("1.0 other, 1.1 fetch-url-"), "{via}");
    let reply = server.get(&http.url("/"), &[&format!("Via: {via}")]);
    assert_eq!(reply.status, 508, "{reply:?}");
    assert_eq!(http.requests().len(), 1);
}

#[tokio::test]
async fn other_address_needs_the_network_of_its_clients() {
    let mut options = ServeOptions::default();
    options.listen = vec![SocketAddr::from(([0, 0, 0, 0], 0))];
    let error = Server::bind(options).await.expect_err("no clients are allowed");
    assert_eq!(error.code(), fetch_url::Code::Usage);
    assert!(error.hint().is_some_and(|hint| hint.to_string().contains("--allow-client")));
    let mut options = ServeOptions::default();
    options.listen = vec![SocketAddr::from(([0, 0, 0, 0], 0))];
    options.allowed_clients = vec!["192.0.2.0/24".parse().expect("a network")];
    assert!(Server::bind(options).await.is_ok());
}

#[track_caller]
fn assert_protected(reply: &Reply, own: bool) {
    let policy = reply.field("content-security-policy").unwrap_or_default();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{reply:?}");
    assert_eq!(policy.contains("sandbox"), !own, "{reply:?}");
    assert!(!policy.contains("script"), "{policy}");
    assert_eq!(reply.field("x-content-type-options"), Some("nosniff"), "{reply:?}");
    assert_eq!(reply.field("referrer-policy"), Some("no-referrer"), "{reply:?}");
    assert_eq!(reply.field("cross-origin-resource-policy"), Some("same-origin"), "{reply:?}");
}

#[test]
fn every_answer_is_protected() {
    let config = GopherConfig::new()
        .item(GopherItem::text("/a", "<script>alert(1)</script>\r\n"))
        .item(GopherItem::new('1', "/m", "iHello\tfake\t(NULL)\t0\r\n.\r\n"))
        .item(GopherItem::binary("/h", "<script>alert(1)</script>"));
    let gopher = GopherServer::start(config).expect("starts");
    let http = HttpServer::start(|_| {
        HttpResponse::new(200)
            .header("Content-Type", "text/html")
            .header("Content-Security-Policy", "script-src *")
            .header("Referrer-Policy", "unsafe-url")
            .body("<script>1</script>")
    })
    .expect("starts");
    let ftp = FtpServer::start(FtpConfig::new().file("/pub/a.html", "<script>1</script>")).expect("starts");
    let server = TestServer::start();
    for target in ["0/a", "h/h"] {
        assert_protected(&server.page(&format!("/{}", gopher.url(target))), false);
        assert_protected(&server.page(&gopher.url(target)), false);
    }
    assert_protected(&server.page(&format!("/{}", http.url("/"))), false);
    assert_protected(&server.page(&format!("/{}", ftp.url("/pub/a.html"))), false);
    assert_protected(&server.page(&format!("/{}", gopher.url("1/m"))), true);
    assert_protected(&server.page(&format!("/{}", ftp.url("/pub/"))), true);
    for target in
        ["/", "/x-unknown:y", "/gopher://127.0.0.1:1/0/", "/favicon.ico", "/mailto:a@b.example", "/?url=h"]
    {
        assert_protected(&server.page(target), true);
    }
    assert_protected(&server.raw(b"BAD\r\n\r\n"), true);
    // The pages of an http server keep its origin and its fields for a proxy's client.
    let proxied = server.page(&http.url("/"));
    assert_eq!(proxied.field("x-content-type-options"), Some("nosniff"));
    assert_eq!(proxied.field("content-security-policy"), Some("script-src *"));
}

#[test]
fn hostile_names_are_escaped_in_pages() {
    let name = "\"><script>alert('x')</script><!--entries--></main>";
    let menu = format!(
        "1{name}\t/{name}\thost.example\t70\r\ni{name}\tfake\t(NULL)\t0\r\nhx\tURL:javascript:alert(1)\th\t70\r\n3{name}\t\t\t\r\n"
    );
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::new('1', "/m", menu))).expect("starts");
    let server = TestServer::start();
    for target in
        [format!("/{}", gopher.url("1/m")), gopher.url("1/m"), format!("/x-{name}:{name}").replace(' ', "")]
    {
        let page = server.page(&target).text();
        assert!(page.contains("&lt;script&gt;") || page.contains("%3Cscript"), "{page}");
        for forbidden in ["<script", "href=\"javascript:", "<!--"] {
            assert!(!page.contains(forbidden), "{forbidden} in {page}");
        }
        assert_eq!(page.matches("</main>").count(), 1, "{page}");
    }
}
