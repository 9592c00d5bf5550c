//! Ranges and conditions.

use fetch_url_tests::{
    FileHeaders, FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer,
    WaisConfig, WaisDatabase, WaisDocument, WaisServer,
};

use crate::cache::with_cache;
use crate::support::{TestServer, options};

fn ftp() -> FtpServer {
    let config = FtpConfig::new().file("/a.txt", "0123456789").modified("/a.txt", "19941201123456");
    FtpServer::start(config).expect("starts")
}

#[test]
fn range_of_an_ftp_file_is_partial_content() {
    let (ftp, server) = (ftp(), TestServer::start());
    let target = format!("/{}", ftp.url("/a.txt"));
    for (range, content, shown) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-3", "789", "bytes 7-9/10"),
        ("bytes=8-99", "89", "bytes 8-9/10"),
    ] {
        let reply = server.get(&target, &[&format!("Range: {range}")]);
        assert_eq!((reply.status, reply.text().as_str()), (206, content), "{range}: {reply:?}");
        assert_eq!(reply.field("content-range"), Some(shown), "{range}");
        assert!(reply.is_complete);
    }
    let reply = server.get(&target, &["Range: bytes=10-"]);
    assert_eq!((reply.status, reply.field("content-range")), (416, Some("bytes */10")), "{reply:?}");
    for ignored in ["Range: bytes=0-1,3-4", "Range: x=1-2", "Range: bytes=2-4\r\nIf-Range: \"x\""] {
        let reply = server.get(&target, &[ignored]);
        assert_eq!((reply.status, reply.text().as_str()), (200, "0123456789"), "{ignored}");
    }
}

#[test]
fn range_is_ignored_where_the_protocol_has_none() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts");
    let server = TestServer::start();
    let reply = server.get(&format!("/{}", gopher.url("0/a")), &["Range: bytes=1-2"]);
    assert_eq!((reply.status, reply.text().as_str(), reply.field("content-range")), (200, "hello\r\n", None));
}

#[test]
fn range_is_ignored_by_an_http_server_without_ranges() {
    let http = HttpServer::start(|_| HttpResponse::new(200).body("0123456789")).expect("starts");
    let server = TestServer::start();
    let reply = server.get(&http.url("/"), &["Range: bytes=1-2"]);
    assert_eq!((reply.status, reply.text().as_str()), (200, "0123456789"), "{reply:?}");
}

#[test]
fn range_is_ignored_when_an_http_server_without_ranges_refuses_head() {
    let http = HttpServer::start(|request| match (request.method.as_str(), request.path().as_str()) {
        ("HEAD", "/405") => HttpResponse::new(405).header("Content-Length", "0"),
        ("HEAD", "/403") => HttpResponse::new(403).header("Content-Length", "1"),
        ("HEAD", "/302") => HttpResponse::new(302).header("Location", "/405").header("Content-Length", "0"),
        ("HEAD", "/close") => HttpResponse::raw("").then_close(),
        _ => HttpResponse::new(200).header("ETag", "\"v1\"").body("0123456789"),
    })
    .expect("starts");
    let (with_cache, _folder) = with_cache();
    for server in [TestServer::start(), TestServer::with(with_cache)] {
        for path in ["/405", "/403", "/302", "/close"] {
            let reply = server.get(&http.url(path), &["Range: bytes=2-3"]);
            assert_eq!((reply.status, reply.text().as_str()), (200, "0123456789"), "{path}: {reply:?}");
        }
        let beyond = server.get(&http.url("/"), &["Range: bytes=10-"]);
        assert_eq!((beyond.status, beyond.field("content-range")), (416, Some("bytes */10")), "{beyond:?}");
    }
}

#[test]
fn range_and_validator_of_an_http_server_are_passed_on() {
    let headers = FileHeaders { etag: Some("\"v1\"".to_owned()), ..FileHeaders::default() };
    let handler = fetch_url_tests::file_handler(b"0123456789".to_vec(), headers);
    let http = HttpServer::start(handler).expect("starts");
    let server = TestServer::start();
    for target in [http.url("/a.bin"), format!("/{}", http.url("/a.bin"))] {
        let reply = server.get(&target, &["Range: bytes=1-3"]);
        assert_eq!((reply.status, reply.text().as_str()), (206, "123"), "{reply:?}");
        assert_eq!(reply.field("content-range"), Some("bytes 1-3/10"));
        let whole = server.get(&target, &[]);
        let etag = whole.field("etag").expect("a validator");
        let again = server.get(&target, &[&format!("If-None-Match: {etag}")]);
        assert_eq!((again.status, again.body.len()), (304, 0), "{again:?}");
    }
}

#[test]
fn unchanged_ftp_file_is_not_sent_again() {
    let (ftp, server) = (ftp(), TestServer::start());
    let target = format!("/{}", ftp.url("/a.txt"));
    let first = server.get(&target, &[]);
    let (etag, time) = (first.field("etag").expect("a tag"), first.field("last-modified").expect("a time"));
    assert_eq!(time, "Thu, 01 Dec 1994 12:34:56 GMT");
    for field in [format!("If-None-Match: {etag}"), format!("If-Modified-Since: {time}")] {
        for method in ["GET", "HEAD"] {
            let reply = server.request(method, &target, &[&field]);
            assert_eq!((reply.status, reply.body.len()), (304, 0), "{method} {field}: {reply:?}");
        }
    }
    for field in ["If-None-Match: \"other\"", "If-Modified-Since: Thu, 01 Dec 1994 12:34:55 GMT"] {
        for method in ["GET", "HEAD"] {
            assert_eq!(server.request(method, &target, &[field]).status, 200, "{method} {field}");
        }
    }
}

#[test]
fn condition_that_holds_comes_before_a_range_that_the_object_does_not_have() {
    let (ftp, (with_cache, _folder)) = (ftp(), with_cache());
    for options in [options(), with_cache] {
        let server = TestServer::with(options);
        let target = format!("/{}", ftp.url("/a.txt"));
        let first = server.request("HEAD", &target, &[]);
        let etag = first.field("etag").expect("a tag");
        let beyond = "Range: bytes=10-";
        for condition in
            [format!("If-None-Match: {etag}"), "If-Modified-Since: Thu, 01 Dec 1994 12:34:56 GMT".into()]
        {
            let reply = server.get(&target, &[&condition, beyond]);
            assert_eq!((reply.status, reply.field("etag")), (304, Some(etag)), "{condition}: {reply:?}");
        }
        let reply = server.get(&target, &["If-None-Match: \"other\"", beyond]);
        assert_eq!(reply.status, 416, "{reply:?}");
    }
}

#[test]
fn directory_without_its_slash_is_redirected() {
    let ftp = FtpServer::start(FtpConfig::new().file("/pub/a", "x")).expect("starts");
    let server = TestServer::start();
    let reply = server.page(&format!("/{}", ftp.url("/pub")));
    let expected = format!("/{}", ftp.url("/pub/"));
    assert_eq!((reply.status, reply.field("location")), (307, Some(expected.as_str())), "{reply:?}");
    assert_eq!(server.page(&format!("/{}", ftp.url("/missing"))).status, 404);
}

#[test]
fn range_of_an_object_of_unknown_size_is_stated_as_it_is_sent() {
    let text: String = ('a'..='z').cycle().take(500).collect();
    let document = WaisDocument::new("letters", "letters", "TEXT", text.clone());
    let wais = WaisServer::start(WaisConfig::new().database(WaisDatabase::new("d").document(document)));
    let wais = wais.expect("starts");
    let server = TestServer::start();
    let target = format!("/{}", wais.document_url("d", "letters").expect("a document"));
    for (range, status, content, shown) in [
        ("bytes=0-9", 206, &text[..10], Some("bytes 0-9/*")),
        ("bytes=100-199", 206, &text[100..200], Some("bytes 100-199/*")),
        ("bytes=0-99999", 206, &text[..], Some("bytes 0-499/500")),
        ("bytes=100-99999", 206, &text[100..], Some("bytes 100-499/500")),
        ("bytes=0-", 200, &text[..], None),
        ("bytes=100-", 200, &text[..], None),
        ("bytes=100-99999999", 200, &text[..], None),
    ] {
        let reply = server.get(&target, &[&format!("Range: {range}")]);
        assert_eq!((reply.status, reply.field("content-range")), (status, shown), "{range}: {reply:?}");
        assert!(reply.text() == content && reply.is_complete, "{range}: {reply:?}");
    }
}

#[test]
fn http_server_that_ignores_a_condition_on_the_time_sends_the_whole_object() {
    let time = "Thu, 01 Dec 1994 12:34:56 GMT";
    let http = HttpServer::start(move |_| {
        HttpResponse::new(200).header("ETag", "\"v1\"").header("Last-Modified", time).body("object")
    });
    let (http, (with_cache, _folder)) = (http.expect("starts"), with_cache());
    for options in [options(), with_cache] {
        let server = TestServer::with(options);
        for (number, since) in [time, "Fri, 02 Dec 1994 12:34:56 GMT"].into_iter().enumerate() {
            for target in [http.url(&format!("/{number}")), format!("/{}", http.url(&format!("/{number}")))] {
                let reply = server.get(&target, &[&format!("If-Modified-Since: {since}")]);
                assert_eq!((reply.status, reply.text().as_str()), (200, "object"), "{reply:?}");
            }
        }
    }
}

#[test]
fn http_server_answers_a_condition_on_the_time() {
    let http = HttpServer::start(|request| match request.header_text("if-modified-since") {
        Some("any date") => HttpResponse::new(304).header("ETag", "\"v1\""),
        _ => HttpResponse::new(200).body("object"),
    });
    let (http, server) = (http.expect("starts"), TestServer::start());
    for target in [http.url("/a"), format!("/{}", http.url("/a"))] {
        let reply = server.get(&target, &["If-Modified-Since: any date"]);
        assert_eq!(
            (reply.status, reply.body.len(), reply.field("etag")),
            (304, 0, Some("\"v1\"")),
            "{reply:?}"
        );
    }
}
