//! The cache: which objects are stored, when they are used, and how answers are marked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fetch_url_serve::ServeOptions;
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer,
};
use tempfile::TempDir;

use crate::support::{Reply, TestServer, options};

/// The options with a cache in a new directory.
pub(crate) fn with_cache() -> (ServeOptions, TempDir) {
    let folder = tempfile::tempdir().expect("a directory");
    let mut options = options();
    options.cache = Some(folder.path().join("cache"));
    (options, folder)
}

/// Returns what `Cache-Status` says, without the name of the cache.
pub(crate) fn mark(reply: &Reply) -> String {
    let status = reply.field("cache-status").unwrap_or("none");
    status.trim_start_matches("fetch-url; ").split("; ttl").next().unwrap_or_default().to_owned()
}

fn ftp(content: &str, time: &str) -> FtpServer {
    FtpServer::start(FtpConfig::new().file("/a.txt", content).modified("/a.txt", time)).expect("starts")
}

#[test]
fn fresh_response_is_used_without_its_server() {
    let http = HttpServer::start(|_| {
        let response = HttpResponse::new(200).header("ETag", "\"v1\"").header("X-Own", "1");
        response.header("Cache-Control", "max-age=600").header("Age", "5").body("hello")
    })
    .expect("starts");
    let (options, _folder) = with_cache();
    let server = TestServer::with(options);
    let first = server.get(&http.url("/a"), &[]);
    assert_eq!((first.status, mark(&first).as_str()), (200, "fwd=uri-miss; stored"), "{first:?}");
    // Both forms of the request use the same object.
    for target in [http.url("/a"), format!("/{}", http.url("/a"))] {
        let reply = server.get(&target, &[]);
        assert_eq!(
            (reply.status, reply.text().as_str(), mark(&reply).as_str()),
            (200, "hello", "hit"),
            "{reply:?}"
        );
        let age: u64 = reply.field("age").and_then(|age| age.parse().ok()).expect("a number");
        assert!((5..60).contains(&age), "{reply:?}");
    }
    assert_eq!(server.get(&http.url("/a"), &[]).field("x-own"), Some("1"));
    assert_eq!(http.requests().len(), 1);
    let reload = server.get(&http.url("/a"), &["Cache-Control: no-cache"]);
    assert_eq!(mark(&reload), "fwd=request; stored", "the server sends the object again: {reload:?}");
}

#[test]
fn client_that_wants_a_stored_object_only_gets_it_or_504() {
    let http = HttpServer::start(|request| {
        let age = if request.path() == "/fresh" { "max-age=600" } else { "no-cache" };
        HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", age).body("hello")
    })
    .expect("starts");
    let ftp = ftp("0123456789", "19941201123456");
    let gopher = GopherServer::start(GopherConfig::new()).expect("starts");
    let (options, _folder) = with_cache();
    let server = TestServer::with(options);
    for url in [http.url("/fresh"), http.url("/stale"), ftp.url("/a.txt")] {
        assert_eq!(server.get(&url, &[]).status, 200);
    }
    let (requests, commands) = (http.requests().len(), ftp.received_text().len());
    let stored_only = "Cache-Control: max-stale=0, Only-If-Cached";
    let fresh = server.get(&http.url("/fresh"), &[stored_only]);
    assert_eq!((fresh.status, mark(&fresh).as_str()), (200, "hit"), "{fresh:?}");
    for url in [http.url("/stale"), http.url("/new"), ftp.url("/a.txt"), gopher.url("0/a")] {
        let reply = server.get(&url, &[stored_only]);
        assert_eq!((reply.status, mark(&reply).as_str()), (504, "detail=only-if-cached"), "{url}: {reply:?}");
    }
    assert_eq!((http.requests().len(), ftp.received_text().len()), (requests, commands));
    assert_eq!(gopher.connections(), 0);
}

#[test]
fn stale_response_is_confirmed_by_its_validator() {
    for (name, value, condition) in [
        ("ETag", "\"v1\"", "if-none-match"),
        ("Last-Modified", "Thu, 01 Dec 1994 12:34:56 GMT", "if-modified-since"),
    ] {
        let http = HttpServer::start(move |request| {
            if request.header_text(condition) == Some(value) {
                return HttpResponse::new(304).header(name, value).header("X-Own", "2").header("Age", "7");
            }
            let response = HttpResponse::new(200).header(name, value).header("X-Own", "1");
            response.header("Cache-Control", "no-cache").body("hello")
        })
        .expect("starts");
        let (options, _folder) = with_cache();
        let server = TestServer::with(options);
        assert_eq!(server.get(&http.url("/a"), &[]).status, 200);
        for _ in 0..2 {
            let reply = server.get(&http.url("/a"), &[]);
            assert_eq!((reply.status, reply.text().as_str()), (200, "hello"), "{reply:?}");
            assert_eq!(mark(&reply), "fwd=stale; fwd-status=304");
            let age: u64 = reply.field("age").and_then(|age| age.parse().ok()).expect("a number");
            assert!((7..60).contains(&age), "the age of the confirmation: {reply:?}");
            assert_eq!(reply.field("x-own"), Some("2"), "the fields of the confirmation");
        }
        let condition = format!("{condition}: {value}");
        let unchanged = server.get(&http.url("/a"), &[&condition]);
        assert_eq!((unchanged.status, unchanged.body.len()), (304, 0), "{unchanged:?}");
    }
}

#[test]
fn changed_object_replaces_the_stored_one() {
    let version = Arc::new(AtomicUsize::new(1));
    let now = version.clone();
    let http = HttpServer::start(move |_| {
        let version = now.load(Ordering::Relaxed);
        let response = HttpResponse::new(200).header("ETag", format!("\"v{version}\""));
        response.header("Cache-Control", "no-cache").body(format!("version {version}"))
    })
    .expect("starts");
    let (options, _folder) = with_cache();
    let server = TestServer::with(options);
    for number in 1..=3 {
        version.store(number, Ordering::Relaxed);
        let reply = server.get(&http.url("/a"), &[]);
        let reason = if number == 1 { "uri-miss" } else { "stale" };
        assert_eq!(reply.text(), format!("version {number}"));
        assert_eq!(mark(&reply), format!("fwd={reason}; stored"), "{reply:?}");
    }
    let sent = http.requests();
    assert_eq!(sent[2].header_text("if-none-match"), Some("\"v2\""));
}

#[test]
fn confirmation_of_another_object_is_not_believed() {
    let http = HttpServer::start(|request| match request.header_text("if-none-match") {
        Some(_) => HttpResponse::new(304).header("ETag", "\"other\""),
        None => {
            HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "no-cache").body("new")
        }
    })
    .expect("starts");
    let (options, _folder) = with_cache();
    let server = TestServer::with(options);
    for expected in ["fwd=uri-miss; stored", "fwd=stale; stored"] {
        let reply = server.get(&http.url("/a"), &[]);
        assert_eq!((reply.text().as_str(), mark(&reply).as_str()), ("new", expected), "{reply:?}");
    }
    assert_eq!(http.requests().len(), 3);
}

#[test]
fn response_that_must_not_be_shared_is_not_stored() {
    let http = HttpServer::start(|request| {
        let response = HttpResponse::new(200).header("ETag", "\"v1\"");
        match request.path().as_str() {
            "/no-store" => response.header("Cache-Control", "max-age=9").header("Cache-Control", "No-Store"),
            "/private" => response.header("Cache-Control", "private, max-age=600"),
            "/cookie" => response.header("Set-Cookie", "a=b").header("Cache-Control", "public, max-age=600"),
            "/vary" => response.header("Vary", "*"),
            "/plain" => HttpResponse::new(200).header("Cache-Control", "max-age=600"),
            "/error" => {
                HttpResponse::new(404).header("ETag", "\"v1\"").header("Cache-Control", "max-age=600")
            }
            _ => response.header("Cache-Control", "public, max-age=600"),
        }
        .body("hello")
    })
    .expect("starts");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    for path in ["/no-store", "/private", "/cookie", "/vary", "/plain", "/error"] {
        for _ in 0..2 {
            assert_eq!(mark(&server.get(&http.url(path), &[])), "fwd=uri-miss", "{path}");
        }
    }
    // A login or a cookie of the client, also one in the URL, also if the server calls the response public.
    let with_user = http.url("/a").replace("http://", "http://me:secret@");
    let login = "Authorization: Basic bWU6c2VjcmV0";
    for (url, field) in
        [(http.url("/a"), login), (http.url("/a"), "Cookie: session=secret"), (with_user, "A: b")]
    {
        for _ in 0..2 {
            assert_eq!(mark(&server.get(&url, &[field])), "fwd=bypass", "{url} {field}");
        }
    }
    assert_eq!(http.requests().len(), 18);
    assert_eq!(files(&folder), 0);
    assert_eq!(mark(&server.get(&http.url("/a"), &[])), "fwd=uri-miss; stored");
    assert_eq!(files(&folder), 2);
}

/// Returns the number of files of objects.
pub(crate) fn files(folder: &TempDir) -> usize {
    std::fs::read_dir(folder.path().join("cache/objects")).expect("a directory").count()
}

#[test]
fn object_that_asked_for_a_login_is_not_stored() {
    let ftp = FtpServer::start(FtpConfig::new().file("/a.txt", "x").user("me", "secret")).expect("starts");
    let http = HttpServer::start(|request| match request.header("authorization") {
        None => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"r\"").body("no"),
        Some(_) => HttpResponse::new(200).header("ETag", "\"v1\"").body("yes"),
    })
    .expect("starts");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    for url in [http.url("/a"), ftp.url("/a.txt")] {
        let target = format!("/{url}");
        assert_eq!(server.get(&target, &[]).status, 401);
        // Each login belongs to one server.
        let login = if url.starts_with("ftp") { "bWU6c2VjcmV0" } else { "eW91OnNlY3JldA==" };
        let reply = server.get(&target, &[&format!("Authorization: Basic {login}")]);
        assert_eq!((reply.status, mark(&reply).as_str()), (200, "fwd=bypass"), "{reply:?}");
        assert_eq!(server.get(&target, &[]).status, 401);
    }
    assert_eq!(files(&folder), 0);
}

#[test]
fn object_of_a_server_with_a_netrc_login_is_not_stored() {
    let http =
        HttpServer::start(|_| HttpResponse::new(200).header("ETag", "\"v1\"").body("x")).expect("starts");
    let (mut options, folder) = with_cache();
    let netrc = b"machine 127.0.0.1 login me password secret\n";
    options.credentials = fetch_url::Credentials::default().netrc(netrc, false).expect("a file");
    let server = TestServer::with(options);
    assert_eq!(mark(&server.get(&http.url("/a"), &[])), "fwd=bypass");
    assert_eq!(files(&folder), 0);
}

#[test]
fn variant_is_used_only_for_its_request_fields() {
    let http = HttpServer::start(|request| {
        let language = request.header_text("accept-language").unwrap_or("none").to_owned();
        let response = HttpResponse::new(200).header("ETag", format!("\"{language}\""));
        response.header("Cache-Control", "max-age=600").header("Vary", "Accept-Language").body(language)
    })
    .expect("starts");
    let (options, _folder) = with_cache();
    let server = TestServer::with(options);
    for (language, expected) in
        [("de", "fwd=uri-miss; stored"), ("de", "hit"), ("fr", "fwd=vary-miss; stored"), ("fr", "hit")]
    {
        let reply = server.get(&http.url("/a"), &[&format!("Accept-Language: {language}")]);
        assert_eq!((reply.text().as_str(), mark(&reply).as_str()), (language, expected));
    }
}

#[test]
fn ftp_file_is_used_while_size_and_time_are_the_same() {
    let ftp = ftp("0123456789", "19941201123456");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    let target = format!("/{}", ftp.url("/a.txt"));
    let first = server.get(&target, &[]);
    assert_eq!((first.text().as_str(), mark(&first).as_str()), ("0123456789", "fwd=uri-miss; stored"));
    let again = server.get(&target, &[]);
    assert_eq!((again.text().as_str(), mark(&again).as_str()), ("0123456789", "fwd=stale; detail=unchanged"));
    for name in ["content-length", "content-type", "etag", "last-modified"] {
        assert_eq!(first.field(name), again.field(name), "{name}");
        assert!(again.field(name).is_some(), "{name}");
    }
    let sent = ftp.received_text().join("\n");
    assert_eq!(sent.matches("RETR").count(), 1, "{sent}");
    assert_eq!(files(&folder), 2);
}

#[test]
fn ftp_file_without_a_reliable_time_is_not_stored() {
    let future = ftp("0123456789", "29991201123456");
    let config = FtpConfig::new().file("/a.txt", "0123456789").modified("/a.txt", "19941201123456");
    let no_time = FtpServer::start(config.without("MDTM")).expect("starts");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    for ftp in [future, no_time] {
        let reply = server.get(&ftp.url("/a.txt"), &[]);
        assert_eq!((reply.text().as_str(), mark(&reply).as_str()), ("0123456789", "fwd=uri-miss"));
    }
    assert_eq!(files(&folder), 0);
}

#[test]
fn stored_ftp_file_is_not_used_without_its_server() {
    let (options, _folder) = with_cache();
    let server = TestServer::with(options);
    let ftp = ftp("0123456789", "19941201123456");
    let url = ftp.url("/a.txt");
    assert_eq!(server.get(&url, &[]).text(), "0123456789");
    drop(ftp);
    assert_eq!(server.get(&url, &[]).status, 502);
}

#[test]
fn ftp_file_that_has_changed_is_fetched_again() {
    let config = FtpConfig::new().file("/a.txt", "0123456789").modified("/a.txt", "19941201123456");
    let ftp = FtpServer::start(config.replace_reply("MDTM", "213 19951201123456\r\n")).expect("starts");
    let (options, _folder) = with_cache();
    let server = TestServer::with(options);
    server.get(&ftp.url("/a.txt"), &[]);
    ftp.disable_rules();
    let reply = server.get(&ftp.url("/a.txt"), &[]);
    assert_eq!(
        (reply.text().as_str(), mark(&reply).as_str()),
        ("0123456789", "fwd=stale; stored"),
        "{reply:?}"
    );
    assert_eq!(reply.field("last-modified"), Some("Thu, 01 Dec 1994 12:34:56 GMT"));
}

#[test]
fn objects_without_a_validator_are_not_stored() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    for _ in 0..2 {
        let reply = server.get(&gopher.url("0/a"), &[]);
        assert_eq!((reply.text().as_str(), mark(&reply).as_str()), ("hello\r\n", "fwd=bypass"));
    }
    assert_eq!((gopher.connections(), files(&folder)), (2, 0));
    let page = server.page("/");
    assert_eq!(page.field("cache-status"), None, "pages of this server have no mark");
}

#[test]
fn range_is_served_from_a_stored_whole_object() {
    let content: Vec<u8> = (0..200_000_u32).flat_map(u32::to_be_bytes).collect();
    let body = content.clone();
    let http = HttpServer::start(move |_| {
        let response = HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "max-age=600");
        response.body(body.clone())
    })
    .expect("starts");
    let config = FtpConfig::new().file("/a.bin", content.clone()).modified("/a.bin", "19941201123456");
    let ftp = FtpServer::start(config).expect("starts");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    for url in [http.url("/a.bin"), ftp.url("/a.bin")] {
        let part = server.get(&url, &["Range: bytes=0-9"]);
        assert_eq!(mark(&part), "fwd=uri-miss", "a part is not stored: {}", part.head);
        assert_eq!(server.get(&url, &[]).body, content);
        let size = content.len();
        for (range, first, end) in [
            ("0-9", 0, 10),
            ("65530-65545", 65530, 65546),
            ("-5", size - 5, size),
            ("131072-", 131_072, size),
        ] {
            let reply = server.get(&url, &[&format!("Range: bytes={range}")]);
            assert_eq!((reply.status, reply.is_complete), (206, true), "{url} {range}: {}", reply.head);
            assert_eq!(reply.body, &content[first..end], "{url} {range}");
            let expected = format!("bytes {first}-{}/{size}", end - 1);
            assert_eq!(reply.field("content-range"), Some(expected.as_str()), "{url}");
            assert_ne!(mark(&reply), "fwd=uri-miss", "{url}");
        }
        let beyond = server.get(&url, &[&format!("Range: bytes={size}-")]);
        assert_eq!(
            (beyond.status, beyond.field("content-range")),
            (416, Some(format!("bytes */{size}").as_str()))
        );
    }
    assert_eq!(files(&folder), 4);
    assert_eq!(ftp.received_text().join("\n").matches("RETR").count(), 2);
}

#[test]
fn servers_with_different_policies_share_no_objects() {
    let http = HttpServer::start(|_| {
        HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "max-age=600").body("private")
    })
    .expect("starts");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    server.get(&http.url("/a"), &[]);
    assert_eq!(mark(&server.get(&http.url("/a"), &[])), "hit");
    let mut strict = crate::support::public_options();
    strict.cache = Some(folder.path().join("cache"));
    let strict = TestServer::with(strict);
    let reply = strict.get(&http.url("/a"), &[]);
    assert_eq!((reply.status, reply.problem("code").as_str()), (403, "policy"), "{reply:?}");
}
