//! Objects of each scheme, in each form of the request.

use fetch_url::url::HostPort;
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer, NntpArticle,
    NntpConfig, NntpGroup, NntpServer,
};

use crate::support::{TestServer, options, public_options};

#[test]
fn gopher_text_is_served_as_path_and_as_proxy() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts");
    let (server, url) = (TestServer::start(), gopher.url("0/a"));
    for target in [format!("/{url}"), url] {
        let reply = server.get(&target, &[]);
        assert_eq!(
            (reply.status, reply.text().as_str(), reply.is_complete),
            (200, "hello\r\n", true),
            "{target}"
        );
        assert_eq!(reply.field("content-type"), Some("text/plain; charset=utf-8"), "{target}");
    }
}

#[test]
fn ftp_file_has_length_time_and_name() {
    let config = FtpConfig::new().file("/pub/a b.zip", "0123456789");
    let ftp = FtpServer::start(config).expect("starts");
    let (server, url) = (TestServer::start(), ftp.url("/pub/a%20b.zip"));
    let reply = server.get(&format!("/{url}"), &[]);
    assert_eq!((reply.status, reply.text().as_str()), (200, "0123456789"));
    assert_eq!(reply.field("content-length"), Some("10"));
    assert_eq!(reply.field("content-type"), Some("application/zip"));
    assert!(
        reply.field("content-disposition").is_some_and(|name| name.contains("filename=\"a b.zip\"")),
        "{reply:?}"
    );
    assert!(reply.field("last-modified").is_some() && reply.field("etag").is_some(), "{reply:?}");
    let head = server.request("HEAD", &url, &[]);
    assert_eq!((head.status, head.field("content-length"), head.body.len()), (200, Some("10"), 0));
}

#[test]
fn http_is_forwarded_with_its_status_and_fields() {
    let http = HttpServer::start(|request| match request.path().as_str() {
        "/a?b=c" => HttpResponse::new(200).header("X-Own", "1").header("Set-Cookie", "a=b").body("hello"),
        "/to" => HttpResponse::new(302).header("Location", "/a?b=c").body("moved"),
        _ => HttpResponse::new(404).body("no such page"),
    })
    .expect("starts");
    let server = TestServer::start();
    let proxied = server.get(&http.url("/a?b=c"), &["X-Client: 2", "Proxy-Authorization: Basic eDp5"]);
    assert_eq!((proxied.status, proxied.text().as_str()), (200, "hello"));
    assert_eq!((proxied.field("x-own"), proxied.field("set-cookie")), (Some("1"), Some("a=b")));
    assert!(proxied.field("via").is_some_and(|via| via.contains("fetch-url")));
    let sent = http.requests().last().cloned().expect("a request");
    assert_eq!(sent.header_text("x-client"), Some("2"));
    assert!(sent.header("proxy-authorization").is_none() && sent.header("via").is_some());
    let path = server.get(&format!("/{}", http.url("/a?b=c")), &["X-Client: 2", "Cookie: own=1"]);
    assert_eq!((path.status, path.text().as_str(), path.field("set-cookie")), (200, "hello", None));
    let sent = http.requests().last().cloned().expect("a request");
    assert!(sent.header("cookie").is_none() && sent.header("x-client").is_none());
    let missing = server.get(&http.url("/x"), &[]);
    assert_eq!((missing.status, missing.text().as_str()), (404, "no such page"));
    let redirect = server.get(&format!("/{}", http.url("/to")), &[]);
    let expected = format!("/{}", http.url("/a?b=c"));
    assert_eq!((redirect.status, redirect.field("location")), (302, Some(expected.as_str())));
    let redirect = server.get(&http.url("/to"), &[]);
    assert_eq!((redirect.status, redirect.field("location")), (302, Some("/a?b=c")));
}

#[test]
fn news_url_without_authority_is_served_as_sent_by_lynx() {
    let article = NntpArticle::post("1@test.invalid", "A subject", "hello\r\n");
    let config = NntpConfig::new().group(NntpGroup::new("fetch.test").append(article));
    let news = NntpServer::start(config).expect("starts");
    let mut options = options();
    options.news_server = Some(HostPort::parse(&news.addr().to_string()).expect("an address"));
    let server = TestServer::with(options);
    let reply = server.raw(b"GET news:fetch.test HTTP/1.0\r\nAccept: text/html\r\n\r\n");
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.assert_shows(&["A subject"]);
    let reply = server.raw(b"GET news:1@test.invalid HTTP/1.0\r\n\r\n");
    reply.assert_shows(&["Subject: A subject", "hello"]);
}

#[test]
fn several_requests_share_a_connection() {
    use std::io::{Read as _, Write as _};
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts");
    let (server, url) = (TestServer::start(), gopher.url("0/a"));
    let mut stream = server.connect();
    let host = server.addr;
    let one = format!("GET {url} HTTP/1.1\r\nHost: h\r\n\r\n");
    let last = format!("GET /missing.scheme:x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    // Two at once and one in pieces.
    stream.write_all(format!("{one}{one}").as_bytes()).expect("sent");
    for byte in last.as_bytes() {
        stream.write_all(&[*byte]).expect("sent");
    }
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("three answers");
    assert_eq!(text.matches("HTTP/1.1 200").count(), 2, "{text}");
    assert_eq!(text.matches("hello").count(), 2, "{text}");
    assert_eq!(text.matches("HTTP/1.1 ").count(), 3, "{text}");
}

#[test]
fn via_of_an_http_response_is_extended() {
    let http = HttpServer::start(|_| HttpResponse::new(200).header("Via", "1.0 other").body("x"));
    let http = http.expect("starts");
    let reply = TestServer::start().get(&http.url("/"), &[]);
    let proxies: Vec<&str> = reply.head.lines().filter_map(|line| line.strip_prefix("via: ")).collect();
    assert_eq!((proxies.len(), proxies[0]), (2, "1.0 other"), "{reply:?}");
    assert!(proxies[1].starts_with("1.1 fetch-url-"), "{reply:?}");
}

#[test]
fn get_and_head_of_a_local_directory_have_the_same_type() {
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().canonicalize().expect("it exists");
    std::fs::write(root.join("a.txt"), "hello").expect("a file");
    let mut options = public_options();
    options.file_root = Some(root.clone());
    let server = TestServer::with(options);
    for (path, expected) in [
        ("/", "text/html; charset=utf-8"),
        ("", "text/html; charset=utf-8"),
        ("/a.txt", "text/plain; charset=utf-8"),
    ] {
        let target = format!("/file://{}{path}", root.display());
        for method in ["GET", "HEAD"] {
            let reply = server.request(method, &target, &[]);
            assert_eq!(
                (reply.status, reply.field("content-type")),
                (200, Some(expected)),
                "{method} {target}"
            );
        }
    }
}

#[test]
fn range_of_a_generated_local_file_is_partial_or_the_whole_file() {
    let version = std::fs::read_to_string("/proc/version").expect("a file");
    let mut options = public_options();
    options.file_root = Some("/proc".into());
    let server = TestServer::with(options);
    let target = "/file:///proc/version";
    for (range, status, content, shown) in [
        ("bytes=3-5", 206, &version[3..6], Some("bytes 3-5/*".to_owned())),
        ("bytes=0-0", 206, &version[..1], Some("bytes 0-0/*".to_owned())),
        ("bytes=-3", 200, &version[..], None),
        ("bytes=5-", 200, &version[..], None),
        ("bytes=99999-100000", 200, &version[..], None),
    ] {
        let reply = server.get(target, &[&format!("Range: {range}")]);
        let stated = reply.field("content-range").map(str::to_owned);
        assert_eq!((reply.status, reply.text().as_str(), stated), (status, content, shown), "{range}");
    }
    let head = server.request("HEAD", target, &["Range: bytes=0-0"]);
    assert_eq!((head.status, head.field("content-length")), (200, None), "{head:?}");
    assert_eq!(head.field("content-type"), server.get(target, &[]).field("content-type"));
}

#[test]
fn charset_of_a_text_is_that_of_get_or_absent() {
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().canonicalize().expect("it exists");
    let text = [&b"caf\xe9\r\n"[..], &b"ascii line\r\n".repeat(100)].concat();
    std::fs::write(root.join("a.txt"), &text).expect("a file");
    let ftp = FtpServer::start(FtpConfig::new().file("/a.txt", text.clone())).expect("starts");
    let gopher = GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", text))).expect("starts");
    let mut options = options();
    options.file_root = Some(root.clone());
    let server = TestServer::with(options);
    let whole = "text/plain; charset=iso-8859-1";
    for (url, of_head, status, of_part) in [
        (format!("file://{}/a.txt", root.display()), whole, 206, "text/plain"),
        (ftp.url("/a.txt"), "text/plain", 206, "text/plain"),
        (gopher.url("0/a"), "text/plain", 200, whole),
    ] {
        let target = format!("/{url}");
        assert_eq!(server.get(&target, &[]).field("content-type"), Some(whole), "{url}");
        assert_eq!(server.request("HEAD", &target, &[]).field("content-type"), Some(of_head), "{url}");
        let part = server.get(&target, &["Range: bytes=20-30"]);
        assert_eq!((part.status, part.field("content-type")), (status, Some(of_part)), "{url}");
    }
}
