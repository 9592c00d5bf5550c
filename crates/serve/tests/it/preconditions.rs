//! `If-Match` and `If-Unmodified-Since`, with which clients ask for the rest of one version of an object.

use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer,
};

use crate::cache::{mark, with_cache};
use crate::support::{TestServer, options};

const OLD_TIME: &str = "If-Unmodified-Since: Thu, 01 Dec 1994 12:34:55 GMT";
const SAME_TIME: &str = "If-Unmodified-Since: Thu, 01 Dec 1994 12:34:56 GMT";

/// A server whose object has the version v2.
fn second_version() -> HttpServer {
    HttpServer::start(|request| {
        let is_refused = request.header_text("if-match").is_some_and(|tag| tag != "\"v2\"")
            || request.header_text("if-unmodified-since").is_some_and(|time| !time.contains("56"));
        if is_refused {
            return HttpResponse::new(412).body("another version");
        }
        let response = match request.header("range") {
            Some(_) => HttpResponse::new(206).header("Content-Range", "bytes 5-9/10").body("NEW!!"),
            None => HttpResponse::new(200).body("NEWNEWNEW!"),
        };
        response.header("ETag", "\"v2\"").header("Cache-Control", "max-age=600")
    })
    .expect("starts")
}

#[test]
fn range_of_another_http_version_is_refused_by_its_server() {
    let http = second_version();
    let (with_cache, _folder) = with_cache();
    for (options, is_stored) in [(options(), false), (with_cache, true)] {
        let server = TestServer::with(options);
        if is_stored {
            server.get(&http.url("/a"), &[]);
            assert_eq!(mark(&server.get(&http.url("/a"), &[])), "hit");
        }
        for target in [http.url("/a"), format!("/{}", http.url("/a"))] {
            for condition in ["If-Match: \"v1\"", OLD_TIME] {
                let reply = server.get(&target, &[condition]);
                assert_eq!((reply.status, reply.text().as_str()), (412, "another version"), "{reply:?}");
                let reply = server.get(&target, &[condition, "Range: bytes=5-"]);
                assert_eq!((reply.status, reply.problem("code").as_str()), (412, "http_error"), "{reply:?}");
            }
            for condition in ["If-Match: \"v2\"", SAME_TIME] {
                let reply = server.get(&target, &[condition, "Range: bytes=5-"]);
                assert_eq!((reply.status, reply.text().as_str()), (206, "NEW!!"), "{reply:?}");
                let expected = if is_stored { "fwd=request" } else { "none" };
                assert_eq!(mark(&reply), expected, "{reply:?}");
            }
        }
    }
}

#[test]
fn range_of_another_ftp_version_is_refused() {
    let config = FtpConfig::new().file("/a.txt", "0123456789").modified("/a.txt", "19941201123456");
    let ftp = FtpServer::start(config).expect("starts");
    let (with_cache, _folder) = with_cache();
    for (options, is_stored) in [(options(), false), (with_cache, true)] {
        let server = TestServer::with(options);
        if is_stored {
            server.get(&ftp.url("/a.txt"), &[]);
        }
        for target in [ftp.url("/a.txt"), format!("/{}", ftp.url("/a.txt"))] {
            let etag = server.request("HEAD", &target, &[]).field("etag").expect("a tag").to_owned();
            assert!(etag.starts_with("W/"), "{etag}");
            // The condition comes before the range, also before one that the object does not have.
            for range in ["Range: bytes=2-4", "Range: bytes=10-", "Accept: *", "If-None-Match: *"] {
                for condition in ["If-Match: \"v1\"", &format!("If-Match: {etag}"), OLD_TIME] {
                    let reply = server.get(&target, &[condition, range]);
                    let code = reply.problem("code");
                    assert_eq!(
                        (reply.status, code.as_str()),
                        (412, "precondition_failed"),
                        "{is_stored} {condition} {range}"
                    );
                }
            }
            for condition in ["If-Match: *", SAME_TIME, &format!("If-Match: *\r\n{OLD_TIME}")] {
                let reply = server.get(&target, &[condition, "Range: bytes=2-4"]);
                assert_eq!((reply.status, reply.text().as_str()), (206, "234"), "{condition}: {reply:?}");
            }
        }
        assert_eq!(server.get(&ftp.url("/missing"), &["If-Match: \"v1\""]).status, 404);
    }
}

#[test]
fn object_without_entity_tag_matches_only_any_version() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts");
    let server = TestServer::start();
    let target = gopher.url("0/a");
    assert_eq!(server.get(&target, &["If-Match: \"v1\""]).status, 412);
    // The object has no time, so the condition on it does not count (RFC 9110 §13.1.4).
    for condition in ["If-Match: *", OLD_TIME] {
        assert_eq!(server.get(&target, &[condition]).text(), "hello\r\n", "{condition}");
    }
}
