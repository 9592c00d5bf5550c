//! The access log and the events.

use fetch_url_tests::{Ending, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer};

use crate::support::{LogText, TestServer, options};

#[test]
fn each_answer_is_one_line_in_both_logs() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts");
    let (log, events) = (LogText::default(), LogText::default());
    let mut options = options();
    (options.log, options.events) = (Some(log.sink()), Some(events.sink()));
    let server = TestServer::with(options);
    let url = gopher.url("0/a");
    server.get(&format!("/{url}"), &[]);
    server.get(&gopher.url("0/missing"), &[]);
    server.raw(b"GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n");
    server.raw(b"GET /a\"b%0aGET HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    server.stop();
    let lines: Vec<String> = log.text().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(
        lines[0].starts_with("127.0.0.1 - - [")
            && lines[0].ends_with(&format!("\"GET /{url} HTTP/1.1\" 200 7"))
    );
    assert!(lines[1].contains("\" 404 "), "{lines:#?}");
    assert!(lines[2].contains("\"- - HTTP/1.1\" 400 "), "{lines:#?}");
    assert_eq!(lines[3].matches('"').count(), 2, "{lines:#?}");
    let events: Vec<serde_json::Value> =
        events.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds, ["listening", "answer", "answer", "answer", "answer", "stopped"]);
    assert_eq!((events[1]["status"].as_u64(), events[1]["complete"].as_bool()), (Some(200), Some(true)));
    assert_eq!(events[2]["error"]["code"].as_str(), Some("not_found"));
    assert!(events.iter().all(|event| event["time"].is_i64()));
}

#[test]
fn interrupted_answer_is_not_complete_in_the_events() {
    let config = GopherConfig::new().item(GopherItem::pattern("/big", 1 << 20)).cut(100_000, Ending::Reset);
    let gopher = GopherServer::start(config).expect("starts");
    let events = LogText::default();
    let mut options = options();
    options.events = Some(events.sink());
    let server = TestServer::with(options);
    let reply = server.get(&gopher.url("9/big"), &[]);
    assert!(!reply.is_complete);
    let text = events.wait_for("\"answer\"");
    assert!(text.contains("\"complete\":false") && text.contains("truncated"), "{text}");
}

#[test]
fn shutdown_finishes_the_answer_under_way() {
    let http = HttpServer::start(|_| {
        HttpResponse::new(200).body("0123456789").drip(1, std::time::Duration::from_millis(60))
    })
    .expect("starts");
    let mut server = TestServer::start();
    use std::io::Write as _;
    let mut stream = server.connect();
    let head = format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", http.url("/"));
    stream.write_all(head.as_bytes()).expect("sent");
    while http.requests().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    server.begin_stop();
    let reply = crate::support::Reply::read(stream);
    assert_eq!(
        (reply.status, reply.text().as_str(), reply.is_complete),
        (200, "0123456789", true),
        "{reply:?}"
    );
    server.stop();
}

#[test]
fn shutdown_is_bounded() {
    let http = HttpServer::start(|_| {
        HttpResponse::new(200).stream(1000).cut_body_at(10).then_stall(std::time::Duration::from_secs(30))
    })
    .expect("starts");
    let mut options = options();
    options.limits.shutdown_timeout = std::time::Duration::from_millis(200);
    let server = TestServer::with(options);
    use std::io::{Read as _, Write as _};
    let mut stream = server.connect();
    stream.write_all(format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", http.url("/")).as_bytes()).expect("sent");
    let mut byte = [0];
    stream.read_exact(&mut byte).expect("the answer has begun");
    let started = std::time::Instant::now();
    server.stop();
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}
