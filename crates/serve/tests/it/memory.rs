//! The limit on memory: which requests it refuses, and that it is not exceeded.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fetch_url::url::HostPort;
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer, NntpArticle,
    NntpConfig, NntpGroup, NntpServer,
};

use crate::support::{BROWSER, TestServer, options};

/// The number of bytes that `--max-memory` counts for an object.
const OBJECT: u64 = 2 << 20;
/// The number of bytes that it counts for the page of an article.
const ARTICLE: u64 = 48 << 20;
/// The number of bytes that it counts for the page of a newsgroup.
const NEWSGROUP: u64 = 8 << 20;

/// Returns a line of the status of this process, in bytes.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes * 1024
}

/// Asks for `url` and reads `count` bytes of the answer.
fn begin(server: &TestServer, url: &str, count: usize) -> TcpStream {
    let mut stream = server.connect();
    stream.write_all(format!("GET {url} HTTP/1.1\r\nHost: h\r\n{BROWSER}\r\n\r\n").as_bytes()).expect("sent");
    let mut left = count;
    let mut bytes = [0; 16 * 1024];
    while left > 0 {
        let most = left.min(bytes.len());
        let length = stream.read(&mut bytes[..most]).expect("bytes");
        assert!(length > 0, "the end");
        left -= length;
    }
    stream
}

#[test]
fn request_beyond_the_limit_is_refused_until_another_one_ends() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::pattern("/big", 1 << 30))).expect("starts");
    let mut options = options();
    options.limits.max_memory = ARTICLE;
    options.policy.network.allowed_ports = vec![gopher.addr().port()];
    let server = TestServer::with(options);
    let url = gopher.url("9/big");
    let mut clients: Vec<TcpStream> = (0..ARTICLE / OBJECT).map(|_| begin(&server, &url, 1000)).collect();
    for reply in [server.get(&url, &[]), server.request("CONNECT", &gopher.addr().to_string(), &[])] {
        assert_eq!((reply.status, reply.field("retry-after")), (503, Some("1")), "{reply:?}");
        assert!(reply.problem("detail").contains("--max-memory"), "{reply:?}");
    }
    assert_eq!(server.page("/").status, 200, "pages of this server need no memory of the limit");
    drop(clients.pop());
    let started = Instant::now();
    while server.request("HEAD", &url, &[]).status == 503 {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "the memory of the client that left is not free"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // A tunnel holds its memory, too.
    let tunnels: Vec<TcpStream> = (0..OBJECT / (256 << 10))
        .map(|_| {
            let mut stream = server.connect();
            let head = format!("CONNECT {} HTTP/1.1\r\nHost: h\r\n\r\n", gopher.addr());
            stream.write_all(head.as_bytes()).expect("sent");
            let mut status = [0; 12];
            stream.read_exact(&mut status).expect("an answer");
            assert_eq!(&status, b"HTTP/1.1 200");
            stream
        })
        .collect();
    assert_eq!(server.get(&url, &[]).status, 503);
    drop((clients, tunnels));
}

#[test]
fn objects_of_all_schemes_need_no_more_memory_than_is_counted() {
    const CLIENTS: usize = 40;
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::pattern("/big", 1 << 30))).expect("starts");
    let http = HttpServer::start(|_| HttpResponse::new(200).stream(1 << 30)).expect("starts");
    let ftp = FtpServer::start(FtpConfig::new().pattern("/big", 1 << 30).modified("/big", "19941201123456"));
    let ftp = ftp.expect("starts");
    for (url, with_cache) in [
        (gopher.url("9/big"), false),
        (gopher.url("0/big"), false),
        (http.url("/"), false),
        (ftp.url("/big"), false),
        (ftp.url("/big"), true),
    ] {
        let folder = tempfile::tempdir().expect("a directory");
        let mut options = options();
        options.limits.max_memory = CLIENTS as u64 * OBJECT;
        options.cache = with_cache.then(|| folder.path().join("cache"));
        let server = TestServer::with(options);
        assert_eq!(server.page("/").status, 200);
        let before = memory("VmRSS:");
        let clients: Vec<TcpStream> = (0..CLIENTS).map(|_| begin(&server, &url, 2 << 20)).collect();
        // The clients stop reading, so all buffers on the way are full.
        std::thread::sleep(Duration::from_millis(300));
        let growth = memory("VmRSS:").saturating_sub(before);
        assert!(growth < CLIENTS as u64 * OBJECT, "{url}: {growth} bytes for {CLIENTS} requests");
        drop(clients);
    }
}

#[test]
fn pages_of_large_articles_need_no_more_memory_than_is_counted() {
    const CLIENTS: u64 = 4;
    // Each line gets an element that is fifteen times longer.
    let text = ">\r\n".repeat((8 << 20) / 3 - 64);
    let article = NntpArticle::post("1@test.invalid", "Large", &text);
    let news = NntpServer::start(NntpConfig::new().group(NntpGroup::new("fetch.test").append(article)));
    let news = news.expect("starts");
    let mut options = options();
    options.limits.max_memory = CLIENTS * ARTICLE;
    options.news_server = Some(HostPort::parse(&news.addr().to_string()).expect("an address"));
    let server = TestServer::with(options);
    let before = memory("VmHWM:").max(memory("VmRSS:"));
    let clients: Vec<TcpStream> =
        (0..CLIENTS).map(|_| begin(&server, "news:1@test.invalid", 100_000)).collect();
    let growth = memory("VmHWM:").saturating_sub(before);
    // The server of the test sends from copies of the article.
    let copies = CLIENTS * (text.len() as u64 + (1 << 20));
    assert!(growth < CLIENTS * ARTICLE + copies, "{growth} bytes for {CLIENTS} articles");
    assert!(growth > CLIENTS * (8 << 20), "{growth} bytes: the articles are in memory");
    drop(clients);
}

#[test]
fn newsgroup_of_one_long_thread_is_sent_in_bounded_memory() {
    const ARTICLES: usize = 1000;
    const SUBJECT: usize = 4000;
    let subject = "s".repeat(SUBJECT);
    let mut group = NntpGroup::new("fetch.test");
    for number in 1..=ARTICLES {
        let before = number - 1;
        let article = format!(
            "From: a@test.invalid\r\nSubject: {subject}\r\nMessage-ID: <{number}@test.invalid>\r\n\
             References: <{before}@test.invalid>\r\nNewsgroups: fetch.test\r\n\r\nhello\r\n"
        );
        group = group.append(NntpArticle::new(article));
    }
    let news = NntpServer::start(NntpConfig::new().group(group)).expect("starts");
    let mut options = options();
    options.news_server = Some(HostPort::parse(&news.addr().to_string()).expect("an address"));
    let server = TestServer::with(options);
    let before = memory("VmHWM:").max(memory("VmRSS:"));
    let reply = server.page("/news:fetch.test");
    let growth = memory("VmHWM:").saturating_sub(before);
    assert!(reply.status == 200 && reply.is_complete, "{}", reply.head);
    let text = reply.text();
    let (_, threads) = text.split_once("class=\"threads\"").expect("the threads");
    assert_eq!(threads.matches("<li>").count(), ARTICLES);
    assert_eq!(text.matches("<ul").count(), text.matches("</ul>").count());
    assert!(text.contains("s\u{2026}</a>"), "a subject that is cut ends with an ellipsis");
    assert!(text.len() < ARTICLES * 2048, "{} bytes", text.len());
    // The servers and the client of this test hold the overview and the page, too.
    let own = 2 * ARTICLES * SUBJECT + 4 * text.len();
    assert!(growth < NEWSGROUP + own as u64, "{growth} bytes");
}
