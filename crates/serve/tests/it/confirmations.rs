//! The responses with status 304 by which http servers confirm stored objects.

use std::sync::atomic::{AtomicUsize, Ordering};

use fetch_url_tests::{HttpResponse, HttpServer};

use crate::cache::{files, mark, with_cache};
use crate::support::TestServer;

const CONFIRMED: &str = "fwd=stale; fwd-status=304";

/// A server of `/a`, whose responses with status 304 `confirm` makes. It gets their number, which begins with 1.
fn http(confirm: impl Fn(usize, HttpResponse) -> HttpResponse + Send + Sync + 'static) -> HttpServer {
    let confirmations = AtomicUsize::new(0);
    HttpServer::start(move |request| match request.header("if-none-match") {
        Some(_) => {
            let number = confirmations.fetch_add(1, Ordering::Relaxed) + 1;
            confirm(number, HttpResponse::new(304).header("ETag", "\"v1\""))
        }
        None => {
            let response = HttpResponse::new(200).header("ETag", "\"v1\"");
            response.header("Cache-Control", "public, max-age=0").body("hello")
        }
    })
    .expect("starts")
}

#[test]
fn cookie_of_a_confirmation_reaches_only_the_client_that_caused_it() {
    let http = http(|number, response| match number {
        1 => response.header("Set-Cookie", "sid=of-the-first-client").header("Set-Cookie", "b=2"),
        2 => response.header("Cache-Control", "public, max-age=600"),
        _ => response,
    });
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    assert_eq!(server.get(&http.url("/a"), &[]).text(), "hello");
    let first = server.get(&http.url("/a"), &[]);
    assert_eq!((first.text().as_str(), mark(&first).as_str()), ("hello", CONFIRMED), "{first:?}");
    assert_eq!(first.head.matches("set-cookie: ").count(), 2, "{first:?}");
    for expected in [CONFIRMED, "hit"] {
        let other = server.get(&http.url("/a"), &[]);
        assert_eq!((other.text().as_str(), mark(&other).as_str()), ("hello", expected), "{other:?}");
        assert_eq!(other.field("set-cookie"), None, "{other:?}");
    }
    assert_eq!(files(&folder), 2);
}

#[test]
fn object_is_removed_when_its_confirmation_forbids_to_store_it() {
    for (name, value) in [("Cache-Control", "no-store"), ("Cache-Control", "private"), ("Vary", "*")] {
        let http = http(move |_, response| response.header(name, value));
        let (options, folder) = with_cache();
        let server = TestServer::with(options);
        server.get(&http.url("/a"), &[]);
        assert_eq!(files(&folder), 2);
        let confirmed = server.get(&http.url("/a"), &[]);
        assert_eq!((confirmed.text().as_str(), mark(&confirmed).as_str()), ("hello", CONFIRMED), "{value}");
        assert_eq!(files(&folder), 0, "{value}");
        assert_eq!(mark(&server.get(&http.url("/a"), &[])), "fwd=uri-miss; stored", "{value}");
    }
}

#[test]
fn object_is_fetched_again_when_its_confirmation_has_another_time() {
    let http = HttpServer::start(|request| match request.header("if-modified-since") {
        Some(_) => HttpResponse::new(304).header("Last-Modified", "Thu, 01 Dec 1994 12:34:57 GMT"),
        None => {
            let response = HttpResponse::new(200).header("Last-Modified", "Thu, 01 Dec 1994 12:34:56 GMT");
            response.header("Cache-Control", "max-age=0").body("hello")
        }
    })
    .expect("starts");
    let (options, _folder) = with_cache();
    let server = TestServer::with(options);
    for expected in ["fwd=uri-miss; stored", "fwd=stale; stored"] {
        let reply = server.get(&http.url("/a"), &[]);
        assert_eq!((reply.text().as_str(), mark(&reply).as_str()), ("hello", expected), "{reply:?}");
        assert_eq!(reply.field("last-modified"), Some("Thu, 01 Dec 1994 12:34:56 GMT"), "{reply:?}");
    }
}
