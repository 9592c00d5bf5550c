//! What is tried again and what is not, how long we wait for it, and what is said of it (CLI.md, "retry what
//! is temporary"; SECURITY.md, section 3.3). What happens to a body that broke off is in `mending.rs`.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use fetch_url_tests::{HttpReply, HttpServer, ServerCert, http_date};
use support::{Ran, content_of, ensure, fetch, fetch_in, in_parallel, serving};

/// Runs with short waits; the words are options without blanks in them.
fn again(words: &str, url: &str) -> Ran {
    fetch(["--retry-delay", "0.05"].into_iter().chain(words.split_whitespace()).chain([url]))
}

/// These answers in their order, the last one for ever.
fn in_turn(replies: Vec<HttpReply>) -> HttpServer {
    let asked = AtomicUsize::new(0);
    serving(move |_| {
        let number = asked.fetch_add(1, Ordering::SeqCst).min(replies.len() - 1);
        replies[number].clone()
    })
}

fn ok() -> HttpReply {
    HttpReply::new(200).body("whole")
}

/// Once this, then the object.
fn once(first: HttpReply) -> HttpServer {
    in_turn(vec![first, ok()])
}

#[track_caller]
fn gets_it(ran: &Ran, server: &HttpServer, requests: usize) {
    assert_eq!((ran.exit, ran.text().as_str()), (0, "whole"), "{}", ran.stderr);
    assert_eq!(server.requests().len(), requests, "{}", ran.stderr);
}

#[test]
fn busy_and_then_not() {
    for times in 1..=3 {
        let replies = (0..times).map(|_| HttpReply::new(503).body("busy\n")).chain([ok()]);
        let server = in_turn(replies.collect());
        gets_it(&again("", &server.url("/x")), &server, times + 1);
    }
}

/// The three tries of CLI.md without a word about it on the command line, and their first wait of a second.
#[test]
fn it_is_on_without_being_asked_for() {
    let server = once(HttpReply::new(503));
    let mut command = support::command();
    command.arg(server.url("/x"));
    let begun = Instant::now();
    gets_it(&support::ran(command), &server, 2);
    let took = begun.elapsed();
    assert!((0.7..2.5).contains(&took.as_secs_f64()), "a second, give or take a quarter: {took:?}");
}

#[test]
fn which_statuses() {
    let rows = [
        (429, true, 92),
        (500, true, 22),
        // The 502 of CLI.md's "denied" is NNTP's; that of HTTP is a gateway's trouble.
        (502, true, 22),
        (503, true, 92),
        (504, true, 22),
        (400, false, 22),
        (401, false, 67),
        (403, false, 9),
        (404, false, 78),
        (405, false, 22),
        (410, false, 78),
        (413, false, 22),
        (451, false, 22),
        (501, false, 22),
        (505, false, 22),
    ];
    in_parallel(&rows, 4, |&(status, is_temporary, exit)| {
        let server = in_turn(vec![HttpReply::new(status).body("no")]);
        let ran = again("--retry 2", &server.url("/x"));
        let asked = server.requests().len();
        ensure(ran.exit == exit, || format!("{status}: exit {} for {exit}", ran.exit))?;
        ensure(asked == if is_temporary { 3 } else { 1 }, || format!("{status}: {asked} requests"))?;
        ensure(ran.stdout.is_empty(), || format!("{status}: {:?}", ran.text()))
    });
}

/// The wait that a server asks for, however short our own is.
#[test]
fn a_server_says_when() {
    let date = |seconds| http_date(SystemTime::now() + Duration::from_secs(seconds));
    let rows: [(u16, String, f64, f64); 9] = [
        (429, "1".into(), 1.0, 2.5),
        (503, "1".into(), 1.0, 2.5),
        // A date has whole seconds: of three at least two are left.
        (429, date(3), 1.5, 4.5),
        (503, "0".into(), 0.0, 1.0),
        (503, date(0).replace("202", "201"), 0.0, 1.0),
        // Nonsense is no wish.
        (503, "soon".into(), 0.0, 1.0),
        (503, "-5".into(), 0.0, 1.0),
        (503, String::new(), 0.0, 1.0),
        (503, "1e9".into(), 0.0, 1.0),
    ];
    in_parallel(&rows, 9, |(status, value, least, most)| {
        let reply = HttpReply::new(*status).header("Date", date(0)).header("Retry-After", value);
        let server = once(reply);
        let begun = Instant::now();
        let ran = again("", &server.url("/x"));
        let took = begun.elapsed().as_secs_f64();
        ensure(ran.exit == 0 && ran.text() == "whole", || format!("{status} {value:?}: {ran:?}"))?;
        ensure((*least..*most).contains(&took), || format!("{status} {value:?}: {took} s"))
    });
}

/// A server without a clock says no Date (RFC 9110 §6.6.1); then the date is by ours.
#[test]
fn a_server_says_when_and_not_what_time_it_is() {
    let then = http_date(SystemTime::now() + Duration::from_secs(3));
    let server = once(HttpReply::new(503).header("Retry-After", then));
    let begun = Instant::now();
    gets_it(&again("", &server.url("/x")), &server, 2);
    assert!((1.5..4.5).contains(&begun.elapsed().as_secs_f64()), "{:?}", begun.elapsed());
}

/// Nobody waits for a day: it says so and gives up at once.
#[test]
fn a_server_asks_for_too_much() {
    for value in ["100000", "99999999999999999999999", "Tue, 31 Dec 2199 23:59:59 GMT"] {
        let now = http_date(SystemTime::now());
        let server = once(HttpReply::new(429).header("Date", now).header("Retry-After", value));
        let begun = Instant::now();
        let ran = again("", &server.url("/x"));
        assert!(begun.elapsed() < Duration::from_secs(2), "{value}: {:?}", begun.elapsed());
        ran.exits(92);
        assert_eq!(server.requests().len(), 1, "{value}");
        let told = ran.stderr.to_lowercase();
        let says_why =
            ["retry", "again", "later", "wait", "100000", "2199"].iter().any(|word| told.contains(word));
        assert!(says_why, "{value}: it does not say that the server asked for too much time: {told}");
    }
}

#[test]
fn before_any_answer() {
    for first in [
        HttpReply::raw("").then_reset(),
        HttpReply::raw(""),
        HttpReply::raw("").then_fin(),
        HttpReply::raw("").then_stall(Duration::from_secs(3)),
    ] {
        let shown = format!("{first:?}");
        let server = once(first);
        let ran = again("--read-timeout 0.4", &server.url("/x"));
        assert_eq!((ran.exit, ran.text().as_str()), (0, "whole"), "{shown}: {}", ran.stderr);
        assert_eq!(server.requests().len(), 2, "{shown}");
    }
    for (first, exits) in [(HttpReply::raw("").then_reset(), &[52, 18][..]), (HttpReply::raw(""), &[52])] {
        let server = in_turn(vec![first]);
        let ran = again("--retry 2", &server.url("/x"));
        assert!(exits.contains(&ran.exit) && server.requests().len() == 3, "{ran:?}");
    }
}

/// What does not get better by waiting (SECURITY.md, 3.3: never URL, POLICY, TLS, AUTH, NOTFOUND, PROTO).
#[test]
fn what_does_not_pass() {
    let nonsense = in_turn(vec![HttpReply::raw("SSH-2.0-x\r\n"), ok()]);
    again("", &nonsense.url("/x")).exits(8);
    assert_eq!(nonsense.requests().len(), 1);
    // The caller may wish otherwise for what the other side did, but not for what we refuse.
    let nonsense = in_turn(vec![HttpReply::raw("SSH-2.0-x\r\n"), ok()]);
    gets_it(&again("--retry-all-errors", &nonsense.url("/x")), &nonsense, 2);
    let missing = in_turn(vec![HttpReply::new(404), ok()]);
    gets_it(&again("--retry-all-errors", &missing.url("/x")), &missing, 2);
    let cert = ServerCert::self_signed().expect("a certificate");
    let untrusted = HttpServer::start_tls(|_| ok(), &cert).expect("a server");
    again("", &untrusted.url("/x")).exits(60);
    assert_eq!(untrusted.connections(), 1, "a certificate is looked at once");
    for (url, exit) in [("http://127.0.0.1:25/", 90), ("http://0x7f.1/", 3), ("x-none://h/", 1)] {
        let begun = Instant::now();
        let ran = fetch(["--retry-all-errors", "--retry-delay", "5", url]);
        assert!(ran.exit == exit && begun.elapsed() < Duration::from_secs(2), "{url}: {ran:?}");
    }
}

/// A target that cannot be written does not get better either.
#[test]
fn not_for_a_fault_of_ours() {
    let server = in_turn(vec![ok()]);
    let ran = again("--retry-all-errors -o /dev/full", &server.url("/x"));
    ran.exits(23);
    assert!(server.requests().len() <= 1, "{} requests", server.requests().len());
}

/// A port of this machine where nobody listens.
fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address")
}

#[test]
fn nobody_listens() {
    let url = format!("http://{}/x", closed_port());
    let ran = again("--retry 2 -w |%{num_retries}|%{exitcode}", &url);
    ran.exits(7);
    assert_eq!(ran.text(), "|2|7", "{}", ran.stderr);
    let begun = Instant::now();
    assert_eq!(again("--retry 0 -w |%{num_retries}", &url).exits(7).text(), "|0");
    assert!(begun.elapsed() < Duration::from_secs(1));
}

/// A server that is only just starting.
#[test]
fn somebody_listens_after_a_while() {
    let at = closed_port();
    let server = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        let (mut wire, _) = TcpListener::bind(at).expect("the port").accept().expect("a client");
        let _ = wire.read(&mut [0; 1000]);
        wire.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwhole")
    });
    let ran = fetch(["--retry", "20", "--retry-delay", "0.1", &format!("http://{at}/")]);
    assert_eq!((ran.exit, ran.text().as_str()), (0, "whole"), "{}", ran.stderr);
    server.join().expect("no panic").expect("it was read");
}

#[test]
fn how_often() {
    for number in [0, 1, 5] {
        let server = in_turn(vec![HttpReply::new(503)]);
        again(&format!("--retry {number}"), &server.url("/x")).exits(92);
        assert_eq!(server.requests().len(), number + 1);
    }
    let server = in_turn(vec![HttpReply::new(503)]);
    again("", &server.url("/x")).exits(92);
    assert_eq!(server.requests().len(), 4, "three retries by default");
    for wrong in ["-1", "x", "1.5", "99999999999"] {
        fetch(["--retry", wrong, &server.url("/x")]).exits(2);
    }
}

#[test]
fn how_long() {
    let busy = || in_turn(vec![HttpReply::new(503)]);
    // The delay is the one that was given, and grows no more.
    let server = busy();
    let begun = Instant::now();
    fetch(["--retry", "3", "--retry-delay", "0.2", &server.url("/x")]).exits(92);
    assert!((0.55..1.6).contains(&begun.elapsed().as_secs_f64()), "{:?}", begun.elapsed());
    // No retry begins after this time, however many are left.
    let server = busy();
    let begun = Instant::now();
    fetch(["--retry", "100", "--retry-delay", "0.1", "--retry-max-time", "0.5", &server.url("/x")]).exits(92);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!((2..=6).contains(&server.requests().len()), "{} requests", server.requests().len());
    // Where the time for everything would be over before the wait is, waiting is in vain.
    for (words, header) in [
        ("--retry-delay 5 --max-time 2", ""),
        ("--retry-delay 0.1 --max-time 2", "5"),
        ("--retry-delay 5 --retry-max-time 2", ""),
        ("--retry-delay 0.1 --retry-max-time 2", "5"),
    ] {
        let server = once(HttpReply::new(503).header("Retry-After", header));
        let begun = Instant::now();
        let ran = fetch(words.split_whitespace().chain([server.url("/x").as_str()]));
        assert!(begun.elapsed() < Duration::from_secs(1), "{words}: {:?}", begun.elapsed());
        ran.exits(92);
        assert_eq!(server.requests().len(), 1, "{words}");
    }
    // And it counts all tries together.
    let server = in_turn(vec![HttpReply::raw("").then_stall(Duration::from_secs(9))]);
    let begun = Instant::now();
    again("--read-timeout 0.3 --retry 100 --max-time 1", &server.url("/x")).exits(28);
    assert!(begun.elapsed() < Duration::from_millis(2000), "{:?}", begun.elapsed());
}

/// As with curl, no time is no limit, and no delay is the usual one.
#[test]
fn zero_is_none() {
    let server = once(HttpReply::new(503));
    let words = ["--retry-max-time", "0", "--max-time", "0", "--read-timeout", "0", "--retry-delay", "0"];
    let begun = Instant::now();
    let ran = fetch(words.into_iter().chain([server.url("/x").as_str()]));
    gets_it(&ran, &server, 2);
    assert!(begun.elapsed() > Duration::from_millis(700), "--retry-delay 0: {:?}", begun.elapsed());
}

/// What may have been done is not done twice; what the server says it did not do may be asked again.
#[test]
fn what_changes_something_is_not_repeated() {
    let cut = || HttpReply::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
    let lost = || -> Vec<HttpReply> {
        vec![
            HttpReply::raw("").then_reset(),
            HttpReply::raw(""),
            HttpReply::raw("").then_stall(Duration::from_secs(3)),
            cut().body("whole").cut_body_at(3),
            cut().body("whole").cut_body_at(3).then_reset(),
        ]
    };
    for words in ["-d a=b", "-X POST", "-X PATCH -d a=b"] {
        for (number, first) in lost().into_iter().enumerate() {
            let server = once(first);
            let ran = again(&format!("--read-timeout 0.4 {words}"), &server.url("/x"));
            assert!([52, 18, 28].contains(&ran.exit), "{words}, loss {number}: {ran:?}");
            assert_eq!(server.requests().len(), 1, "{words}, loss {number}: it was repeated");
        }
        // Something may have been done before it went wrong.
        for status in [500, 502, 504] {
            let server = once(HttpReply::new(status));
            again(words, &server.url("/x")).exits(22);
            assert_eq!(server.requests().len(), 1, "{words}, {status}: it was repeated");
        }
        // Only a word of the server that it did nothing, and when to come again, makes it safe.
        for status in [429, 503] {
            let server = once(HttpReply::new(status).header("Retry-After", "0"));
            gets_it(&again(words, &server.url("/x")), &server, 2);
            let requests = server.requests();
            assert_eq!((&requests[0].method, &requests[0].body), (&requests[1].method, &requests[1].body));
        }
    }
    // Nothing was sent to a port where nobody listens.
    let ran = again("-d a=b --retry 1 -w %{num_retries}", &format!("http://{}/x", closed_port()));
    assert_eq!(ran.exits(7).text(), "1");
}

/// The page of a refusal is not the object, and never stands before it.
#[test]
fn the_page_of_a_refusal_is_not_mixed_in() {
    for words in ["", "--fail-with-body", "--no-fail", "-i"] {
        let server = once(HttpReply::new(503).body("busy\n"));
        let ran = again(words, &server.url("/x"));
        let bodies = (ran.text().matches("busy").count(), ran.text().matches("whole").count());
        // --no-fail may take the refusal for the object; both together are nobody's object.
        let is_one = bodies == (0, 1) || (words == "--no-fail" && bodies == (1, 0));
        assert!(is_one && ran.exit == 0, "{words}: {ran:?}");
        assert!(ran.text().matches("HTTP/1.1").count() == usize::from(words == "-i"), "{words}: {ran:?}");
    }
    let server = in_turn(vec![HttpReply::new(503).body("busy\n")]);
    let ran = again("--fail-with-body --retry 2", &server.url("/x"));
    assert_eq!((ran.exit, ran.text().as_str(), server.requests().len()), (92, "busy\n", 3), "{ran:?}");
}

/// A retry begins at the caller's URL or goes on at the hop; either way it is the same request.
#[test]
fn after_a_redirect() {
    let busy = AtomicUsize::new(0);
    let server = serving(move |request| match request.path().as_str() {
        "/from" => HttpReply::new(302).header("Location", "/to"),
        _ if busy.fetch_add(1, Ordering::SeqCst) == 0 => HttpReply::new(503),
        _ => ok(),
    });
    let ran = again("-H X-One:1", &server.url("/from"));
    let last = server.requests().pop().expect("a request");
    assert_eq!((ran.exit, last.path().as_str(), ran.text().as_str()), (0, "/to", "whole"), "{ran:?}");
    assert_eq!(last.header_text("x-one"), Some("1"));
    // Redirects are counted for each try, so that a chain that is allowed stays so.
    let busy = AtomicUsize::new(0);
    let server = serving(move |request| match request.path().as_str() {
        "/0" => HttpReply::new(302).header("Location", "/1"),
        "/1" => HttpReply::new(302).header("Location", "/2"),
        _ if busy.fetch_add(1, Ordering::SeqCst) < 2 => HttpReply::new(503),
        _ => ok(),
    });
    assert_eq!(again("--max-redirs 2", &server.url("/0")).exits(0).text(), "whole");
}

#[test]
fn one_line_for_each() {
    let busy = || HttpReply::new(503);
    let server = in_turn(vec![busy(), busy(), ok()]);
    let ran = again("", &server.url("/x"));
    gets_it(&ran, &server, 3);
    assert_eq!(ran.stderr.lines().count(), 2, "one line a retry: {}", ran.stderr);
    assert!(
        ran.stderr.lines().all(|line| line.starts_with("fetch-url: ") && line.contains("503")),
        "{ran:?}"
    );
    let server = in_turn(vec![busy()]);
    let ran = again("--retry 2", &server.url("/x"));
    assert_eq!(ran.exits(92).stderr.lines().count(), 3, "two retries and the error: {}", ran.stderr);
    for (words, lines) in [("-s", 0), ("-s -S", 1)] {
        let server = in_turn(vec![busy()]);
        let ran = again(&format!("--retry 2 {words}"), &server.url("/x"));
        assert_eq!((ran.exit, ran.stderr.lines().count()), (92, lines), "{words}: {}", ran.stderr);
        let server = in_turn(vec![busy(), ok()]);
        let ran = again(words, &server.url("/x"));
        assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{words}");
    }
}

/// What is said of a retry holds no password and nothing that moves a cursor (SECURITY.md, rows 36 and 76).
#[test]
fn the_line_is_clean() {
    let hostile = "HTTP/1.1 503 \u{1b}[2J\u{202e}\u{9b}x\r\nContent-Length: 0\r\n\r\n";
    let server = in_turn(vec![HttpReply::raw(hostile)]);
    let url = server.url("/x").replacen("://", "://u:KanarienVogel@", 1);
    for words in ["", "-vvv", "--format json", "--events -"] {
        let ran = again(&format!("--retry 1 {words}"), &url);
        assert!([92, 8].contains(&ran.exit), "{ran:?}");
        let said = format!("{}{}", ran.stderr, ran.text());
        let is_hostile = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!said.contains(is_hostile), "{words}: {said:?}");
        assert!(!said.to_lowercase().contains("kanarienvogel"), "{words}: {said}");
    }
}

#[test]
fn told_to_programs() {
    let here = tempfile::tempdir().expect("a directory");
    let server = in_turn(vec![HttpReply::new(503), HttpReply::new(500), ok()]);
    let url = server.url("/x");
    let words = ["--retry-delay", "0.05", "--events", "events", "-w", "|%{num_retries}|%{json}", &url];
    let ran = fetch_in(here.path(), words);
    let text = ran.exits(0).text();
    let json = text.strip_prefix("whole|2|").expect("two retries");
    let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!((&json["num_retries"], &json["http_code"]), (&2.into(), &200.into()));
    let events: Vec<serde_json::Value> = content_of(here.path(), "events")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON in each line"))
        .collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(kinds, ["start", "retry", "retry", "done"], "{events:?}");
    assert_eq!((&events[1]["code"], &events[2]["code"]), (&"busy".into(), &"http_error".into()));
    let wait = events[1]["wait"].as_f64().expect("seconds");
    assert!((0.03..0.1).contains(&wait), "{wait}");
}

/// Each URL of a batch has its own patience, and one that fails does not take the next one's tries.
#[test]
fn several_urls() {
    let busy = in_turn(vec![HttpReply::new(503)]);
    let shaky = once(HttpReply::new(503));
    let ran = again(&format!("--retry 1 {}", busy.url("/a")), &shaky.url("/b"));
    assert_eq!((ran.exit, ran.text().as_str()), (92, "whole"), "{}", ran.stderr);
    assert_eq!((busy.requests().len(), shaky.requests().len()), (2, 2));
}
