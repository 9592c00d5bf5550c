//! One fetcher that several runtimes share: a connection is used only on the runtime that has opened it. Another
//! runtime may not run at that time, or may have ended, so that nothing would arrive on the connection.

use std::time::Duration;

use fetch_url::blocking;
use fetch_url::{Fetcher, Policy, Retry};
use fetch_url_tests::{
    FtpConfig, FtpServer, HttpResponse, HttpServer, NntpArticle, NntpConfig, NntpGroup, NntpServer,
};

fn policy() -> Policy {
    let mut policy = Policy::default().read_timeout(Duration::from_secs(5));
    policy.retry = Retry::never();
    policy
}

/// Fetches `url` with three blocking fetchers in turn, which share one fetcher, and twice with each of the first two.
/// The runtime of the third one has ended before the second round. Every fetch must return `content`.
fn fetch_in_turn(url: &str, content: &str) {
    fetch_in_turn_with(policy(), url, content);
}

fn fetch_in_turn_with(policy: Policy, url: &str, content: &str) {
    let shared = Fetcher::builder().policy(policy).build();
    let blocking = || blocking::Fetcher::from_fetcher(shared.clone()).expect("a runtime");
    let fetch = |fetcher: &blocking::Fetcher| {
        let text = fetcher.get(url).and_then(blocking::Response::text).expect("the object");
        assert_eq!(text.trim_end(), content);
    };
    let (first, second, third) = (blocking(), blocking(), blocking());
    [&first, &second, &third].into_iter().for_each(fetch);
    drop(third);
    [&first, &second].into_iter().for_each(fetch);
}

#[test]
fn http_connection_is_reused_on_its_runtime_only() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("content")).expect("a server");
    fetch_in_turn(&server.url("/a"), "content");
    assert_eq!(server.connections(), 3, "each runtime has one connection");
}

#[test]
fn proxy_connection_is_reused_on_its_runtime_only() {
    let proxy = HttpServer::start(|_| HttpResponse::new(200).body("content")).expect("a server");
    let mut policy = policy();
    policy.network.proxies = policy.network.proxies.all(proxy.url("").parse().expect("a proxy"));
    fetch_in_turn_with(policy, "http://example.com/a", "content");
    assert_eq!(proxy.connections(), 3, "each runtime has one connection");
}

#[test]
fn ftp_connection_is_reused_on_its_runtime_only() {
    let server = FtpServer::start(FtpConfig::new().anonymous().file("/a", "content")).expect("a server");
    fetch_in_turn(&server.url("a"), "content");
    assert_eq!(server.connections(), 3, "each runtime has one connection");
}

#[test]
fn news_connection_is_reused_on_its_runtime_only() {
    let article = NntpArticle::new("Subject: a\r\n\r\ncontent\r\n");
    let server = NntpServer::start(NntpConfig::new().group(NntpGroup::new("g").article(1, article)));
    let server = server.expect("a server");
    fetch_in_turn(&server.url("g/1"), "Subject: a\r\n\r\ncontent");
    assert_eq!(server.connections(), 3, "each runtime has one connection");
}

/// A connection also keeps the files of its runtime open.
#[cfg(target_os = "linux")]
#[test]
fn connections_of_ended_runtimes_are_closed() {
    const RUNTIMES: usize = 60;
    let open_files = || std::fs::read_dir("/proc/self/fd").expect("the open files").count();
    let server = HttpServer::start(|_| HttpResponse::new(200).body("content")).expect("a server");
    let shared = Fetcher::builder().policy(policy()).build();
    let before = open_files();
    for _ in 0..RUNTIMES {
        let fetcher = blocking::Fetcher::from_fetcher(shared.clone()).expect("a runtime");
        fetcher.get(server.url("/a")).and_then(blocking::Response::text).expect("the object");
    }
    let after = open_files();
    assert!(after < before + RUNTIMES, "{before} files were open, and then {after}");
}
