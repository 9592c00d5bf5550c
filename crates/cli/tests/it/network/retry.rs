//! `--retry` and its options: the errors that are retried, the delays, and the messages (docs/spec/faults.md, section
//! 3.3). Interrupted bodies are tested in `resume/within_a_run.rs`.

use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::support::{
    RunResult, check_in_parallel, ensure, fetch_url_command, http_server, read_text_file, run_command,
    run_fetch_url, run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{HttpResponse, HttpServer, ReservedPort, ServerCert, http_date};

/// Runs fetch-url with a retry delay of 50 ms and options that are separated by white space.
fn run_retrying(options: &str, url: &str) -> RunResult {
    run_fetch_url(["--retry-delay", "0.05"].into_iter().chain(options.split_whitespace()).chain([url]))
}

/// Starts a server that sends these responses in order, and then repeats the last one.
fn server_with_replies(replies: Vec<HttpResponse>) -> HttpServer {
    let requested = AtomicUsize::new(0);
    http_server(move |_| {
        let number = requested.fetch_add(1, Ordering::SeqCst).min(replies.len() - 1);
        replies[number].clone()
    })
}

fn ok_reply() -> HttpResponse {
    HttpResponse::new(200).body("whole")
}

/// Starts a server that sends `first` once and then the complete file.
fn server_with_first_reply(first: HttpResponse) -> HttpServer {
    server_with_replies(vec![first, ok_reply()])
}

#[track_caller]
/// Panics unless the file was received after this number of requests.
fn assert_received_after(result: &RunResult, server: &HttpServer, requests: usize) {
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "whole"), "{}", result.stderr);
    assert_eq!(server.requests().len(), requests, "{}", result.stderr);
}

#[test]
fn status_503_is_retried_up_to_three_times() {
    for times in 1..=3 {
        let replies = (0..times).map(|_| HttpResponse::new(503).body("busy\n")).chain([ok_reply()]);
        let server = server_with_replies(replies.collect());
        assert_received_after(&run_retrying("", &server.url("/x")), &server, times + 1);
    }
}

/// Without any option, the first retry follows after one second.
#[test]
fn retries_are_enabled_by_default() {
    let server = server_with_first_reply(HttpResponse::new(503));
    let mut command = fetch_url_command();
    command.arg(server.url("/x"));
    let start = Instant::now();
    assert_received_after(&run_command(command), &server, 2);
    let duration = start.elapsed();
    assert!((0.7..2.5).contains(&duration.as_secs_f64()), "one second, with 25 % jitter: {duration:?}");
}

#[test]
fn only_temporary_statuses_are_retried() {
    let rows = [
        (429, true, 92),
        (500, true, 22),
        // NNTP's 502 means permission denied, but HTTP's 502 is a temporary fault of a gateway.
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
    check_in_parallel(&rows, 4, |&(status, is_temporary, exit)| {
        let server = server_with_replies(vec![HttpResponse::new(status).body("no")]);
        let result = run_retrying("--retry 2", &server.url("/x"));
        let requested = server.requests().len();
        ensure(result.exit == exit, || format!("{status}: exit {} for {exit}", result.exit))?;
        ensure(requested == if is_temporary { 3 } else { 1 }, || format!("{status}: {requested} requests"))?;
        ensure(result.stdout.is_empty(), || format!("{status}: {:?}", result.stdout_text()))
    });
}

/// The delay of Retry-After, also if the configured delay is shorter.
#[test]
fn retry_after_sets_the_delay() {
    let date = |seconds| http_date(SystemTime::now() + Duration::from_secs(seconds));
    let rows: [(u16, String, f64, f64); 9] = [
        (429, "1".into(), 1.0, 2.5),
        (503, "1".into(), 1.0, 2.5),
        // A date has a resolution of one second: at least two of three seconds remain.
        (429, date(3), 1.5, 4.5),
        (503, "0".into(), 0.0, 1.0),
        (503, date(0).replace("202", "201"), 0.0, 1.0),
        // Invalid values are ignored.
        (503, "soon".into(), 0.0, 1.0),
        (503, "-5".into(), 0.0, 1.0),
        (503, String::new(), 0.0, 1.0),
        (503, "1e9".into(), 0.0, 1.0),
    ];
    check_in_parallel(&rows, 9, |(status, value, min, max)| {
        let reply = HttpResponse::new(*status).header("Date", date(0)).header("Retry-After", value);
        let server = server_with_first_reply(reply);
        let start = Instant::now();
        let result = run_retrying("", &server.url("/x"));
        let duration = start.elapsed().as_secs_f64();
        ensure(result.exit == 0 && result.stdout_text() == "whole", || {
            format!("{status} {value:?}: {result:?}")
        })?;
        ensure((*min..*max).contains(&duration), || format!("{status} {value:?}: {duration} s"))
    });
}

/// A server without a clock sends no Date field (RFC 9110 §6.6.1); the local clock is used.
#[test]
fn retry_after_date_without_date_field_uses_local_clock() {
    let date = http_date(SystemTime::now() + Duration::from_secs(3));
    let server = server_with_first_reply(HttpResponse::new(503).header("Retry-After", date));
    let start = Instant::now();
    assert_received_after(&run_retrying("", &server.url("/x")), &server, 2);
    assert!((1.5..4.5).contains(&start.elapsed().as_secs_f64()), "{:?}", start.elapsed());
}

/// A delay of a day or more ends the transfer at once, with a message that names the delay.
#[test]
fn too_long_retry_after_ends_the_transfer_at_once() {
    for value in ["100000", "99999999999999999999999", "Tue, 31 Dec 2199 23:59:59 GMT"] {
        let now = http_date(SystemTime::now());
        let server =
            server_with_first_reply(HttpResponse::new(429).header("Date", now).header("Retry-After", value));
        let start = Instant::now();
        let result = run_retrying("", &server.url("/x"));
        assert!(start.elapsed() < Duration::from_secs(2), "{value}: {:?}", start.elapsed());
        result.assert_exit(92);
        assert_eq!(server.requests().len(), 1, "{value}");
        let stderr = result.stderr.to_lowercase();
        let says_why =
            ["retry", "again", "later", "wait", "100000", "2199"].iter().any(|word| stderr.contains(word));
        assert!(says_why, "{value}: the message does not name the long delay: {stderr}");
    }
}

#[test]
fn lost_connection_before_response_is_retried() {
    for first in [
        HttpResponse::raw("").then_reset(),
        HttpResponse::raw(""),
        HttpResponse::raw("").then_fin(),
        HttpResponse::raw("").then_stall(Duration::from_secs(3)),
    ] {
        let case = format!("{first:?}");
        let server = server_with_first_reply(first);
        let result = run_retrying("--read-timeout 0.4", &server.url("/x"));
        assert_eq!((result.exit, result.stdout_text().as_str()), (0, "whole"), "{case}: {}", result.stderr);
        assert_eq!(server.requests().len(), 2, "{case}");
    }
    for (first, exits) in
        [(HttpResponse::raw("").then_reset(), &[52, 18][..]), (HttpResponse::raw(""), &[52])]
    {
        let server = server_with_replies(vec![first]);
        let result = run_retrying("--retry 2", &server.url("/x"));
        assert!(exits.contains(&result.exit) && server.requests().len() == 3, "{result:?}");
    }
}

/// Errors of the classes URL, POLICY, TLS, AUTH, NOTFOUND and PROTO are not retried (docs/spec/faults.md, section
/// 3.3).
#[test]
fn permanent_errors_are_not_retried() {
    let not_http = server_with_replies(vec![HttpResponse::raw("SSH-2.0-x\r\n"), ok_reply()]);
    run_retrying("", &not_http.url("/x")).assert_exit(8);
    assert_eq!(not_http.requests().len(), 1);
    // --retry-all-errors retries errors of the server, but nothing that fetch-url itself refuses.
    let not_http = server_with_replies(vec![HttpResponse::raw("SSH-2.0-x\r\n"), ok_reply()]);
    assert_received_after(&run_retrying("--retry-all-errors", &not_http.url("/x")), &not_http, 2);
    let missing = server_with_replies(vec![HttpResponse::new(404), ok_reply()]);
    assert_received_after(&run_retrying("--retry-all-errors", &missing.url("/x")), &missing, 2);
    let cert = ServerCert::self_signed().expect("a certificate");
    let untrusted = HttpServer::start_tls(|_| ok_reply(), &cert).expect("a server");
    run_retrying("", &untrusted.url("/x")).assert_exit(60);
    assert_eq!(untrusted.connections(), 1, "a wrong certificate is retried");
    for (url, exit) in [("http://127.0.0.1:25/", 90), ("http://0x7f.1/", 3), ("x-none://h/", 1)] {
        let start = Instant::now();
        let result = run_fetch_url(["--retry-all-errors", "--retry-delay", "5", url]);
        assert!(result.exit == exit && start.elapsed() < Duration::from_secs(2), "{url}: {result:?}");
    }
}

/// The output device is full.
#[test]
fn write_errors_are_not_retried() {
    let server = server_with_replies(vec![ok_reply()]);
    let result = run_retrying("--retry-all-errors -o /dev/full", &server.url("/x"));
    result.assert_exit(23);
    assert!(server.requests().len() <= 1, "{} requests", server.requests().len());
}

#[test]
fn refused_connection_is_retried() {
    let port = ReservedPort::tcp().expect("a port");
    let url = format!("http://{}/x", port.addr());
    let result = run_retrying("--retry 2 -w |%{num_retries}|%{exitcode}", &url);
    result.assert_exit(7);
    assert_eq!(result.stdout_text(), "|2|7", "{}", result.stderr);
    let start = Instant::now();
    assert_eq!(run_retrying("--retry 0 -w |%{num_retries}", &url).assert_exit(7).stdout_text(), "|0");
    assert!(start.elapsed() < Duration::from_secs(1));
}

/// The server starts listening 300 ms later.
#[test]
fn server_that_starts_later_is_reached_by_a_retry() {
    let port = ReservedPort::tcp().expect("a port");
    let at = port.addr();
    let server = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        let (mut stream, _) = TcpListener::bind(at).expect("the port").accept().expect("a client");
        let _ = stream.read(&mut [0; 1000]);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwhole")
    });
    let result = run_fetch_url(["--retry", "20", "--retry-delay", "0.1", &format!("http://{at}/")]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "whole"), "{}", result.stderr);
    server.join().expect("no panic").expect("a response that was sent");
}

#[test]
fn retry_sets_the_number_of_retries() {
    for number in [0, 1, 5] {
        let server = server_with_replies(vec![HttpResponse::new(503)]);
        run_retrying(&format!("--retry {number}"), &server.url("/x")).assert_exit(92);
        assert_eq!(server.requests().len(), number + 1);
    }
    let server = server_with_replies(vec![HttpResponse::new(503)]);
    run_retrying("", &server.url("/x")).assert_exit(92);
    assert_eq!(server.requests().len(), 4, "not three retries by default");
    for wrong in ["-1", "x", "1.5", "99999999999"] {
        run_fetch_url(["--retry", wrong, &server.url("/x")]).assert_exit(2);
    }
}

#[test]
fn retry_delay_and_time_limits_are_kept() {
    let busy = || server_with_replies(vec![HttpResponse::new(503)]);
    // The delay of --retry-delay is constant.
    let server = busy();
    let start = Instant::now();
    run_fetch_url(["--retry", "3", "--retry-delay", "0.2", &server.url("/x")]).assert_exit(92);
    assert!((0.55..1.6).contains(&start.elapsed().as_secs_f64()), "{:?}", start.elapsed());
    // No retry starts after --retry-max-time.
    let server = busy();
    let start = Instant::now();
    run_fetch_url(["--retry", "100", "--retry-delay", "0.1", "--retry-max-time", "0.5", &server.url("/x")])
        .assert_exit(92);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!((2..=6).contains(&server.requests().len()), "{} requests", server.requests().len());
    // If --max-time or --retry-max-time ends before the delay does, the transfer ends at once.
    for (options, header) in [
        ("--retry-delay 5 --max-time 2", ""),
        ("--retry-delay 0.1 --max-time 2", "5"),
        ("--retry-delay 5 --retry-max-time 2", ""),
        ("--retry-delay 0.1 --retry-max-time 2", "5"),
    ] {
        let server = server_with_first_reply(HttpResponse::new(503).header("Retry-After", header));
        let start = Instant::now();
        let result = run_fetch_url(options.split_whitespace().chain([server.url("/x").as_str()]));
        assert!(start.elapsed() < Duration::from_secs(1), "{options}: {:?}", start.elapsed());
        result.assert_exit(92);
        assert_eq!(server.requests().len(), 1, "{options}");
    }
    // --max-time includes all attempts.
    let server = server_with_replies(vec![HttpResponse::raw("").then_stall(Duration::from_secs(9))]);
    let start = Instant::now();
    run_retrying("--read-timeout 0.3 --retry 100 --max-time 1", &server.url("/x")).assert_exit(28);
    assert!(start.elapsed() < Duration::from_millis(2000), "{:?}", start.elapsed());
}

/// As in curl, a time limit of 0 means no limit, and `--retry-delay 0` means the default delay.
#[test]
fn zero_disables_limits_and_selects_default_delay() {
    let server = server_with_first_reply(HttpResponse::new(503));
    let options = ["--retry-max-time", "0", "--max-time", "0", "--read-timeout", "0", "--retry-delay", "0"];
    let start = Instant::now();
    let result = run_fetch_url(options.into_iter().chain([server.url("/x").as_str()]));
    assert_received_after(&result, &server, 2);
    assert!(start.elapsed() > Duration::from_millis(700), "--retry-delay 0: {:?}", start.elapsed());
}

/// A request that may have had an effect is not repeated, unless the server says that it was not processed.
#[test]
fn requests_with_side_effects_are_not_repeated() {
    let cut = || HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
    let lost = || -> Vec<HttpResponse> {
        vec![
            HttpResponse::raw("").then_reset(),
            HttpResponse::raw(""),
            HttpResponse::raw("").then_stall(Duration::from_secs(3)),
            cut().body("whole").cut_body_at(3),
            cut().body("whole").cut_body_at(3).then_reset(),
        ]
    };
    for options in ["-d a=b", "-X POST", "-X PATCH -d a=b"] {
        for (number, first) in lost().into_iter().enumerate() {
            let server = server_with_first_reply(first);
            let result = run_retrying(&format!("--read-timeout 0.4 {options}"), &server.url("/x"));
            assert!([52, 18, 28].contains(&result.exit), "{options}, loss {number}: {result:?}");
            assert_eq!(server.requests().len(), 1, "{options}, loss {number}: repeated");
        }
        // The request may have been processed before the error.
        for status in [500, 502, 504] {
            let server = server_with_first_reply(HttpResponse::new(status));
            run_retrying(options, &server.url("/x")).assert_exit(22);
            assert_eq!(server.requests().len(), 1, "{options}, {status}: repeated");
        }
        // 429 and 503 with Retry-After mean that the request was not processed.
        for status in [429, 503] {
            let server = server_with_first_reply(HttpResponse::new(status).header("Retry-After", "0"));
            assert_received_after(&run_retrying(options, &server.url("/x")), &server, 2);
            let requests = server.requests();
            assert_eq!((&requests[0].method, &requests[0].body), (&requests[1].method, &requests[1].body));
        }
    }
    // If the connection is refused, nothing was sent.
    let port = ReservedPort::tcp().expect("a port");
    let result = run_retrying("-d a=b --retry 1 -w %{num_retries}", &format!("http://{}/x", port.addr()));
    assert_eq!(result.assert_exit(7).stdout_text(), "1");
}

/// The body of an error response is never written before the body of the retry.
#[test]
fn body_of_error_response_is_not_written_before_the_file() {
    for options in ["", "--fail-with-body", "--no-fail", "-i"] {
        let server = server_with_first_reply(HttpResponse::new(503).body("busy\n"));
        let result = run_retrying(options, &server.url("/x"));
        let bodies =
            (result.stdout_text().matches("busy").count(), result.stdout_text().matches("whole").count());
        // With --no-fail the body of the error response may be the result, but not both bodies.
        let is_single_body = bodies == (0, 1) || (options == "--no-fail" && bodies == (1, 0));
        assert!(is_single_body && result.exit == 0, "{options}: {result:?}");
        assert!(
            result.stdout_text().matches("HTTP/1.1").count() == usize::from(options == "-i"),
            "{options}: {result:?}"
        );
    }
    let server = server_with_replies(vec![HttpResponse::new(503).body("busy\n")]);
    let result = run_retrying("--fail-with-body --retry 2", &server.url("/x"));
    assert_eq!(
        (result.exit, result.stdout_text().as_str(), server.requests().len()),
        (92, "busy\n", 3),
        "{result:?}"
    );
}

/// The retry may start at the original URL or at the redirect target; the request has the same headers.
#[test]
fn redirect_target_is_retried() {
    let busy = AtomicUsize::new(0);
    let server = http_server(move |request| match request.path().as_str() {
        "/from" => HttpResponse::new(302).header("Location", "/to"),
        _ if busy.fetch_add(1, Ordering::SeqCst) == 0 => HttpResponse::new(503),
        _ => ok_reply(),
    });
    let result = run_retrying("-H X-One:1", &server.url("/from"));
    let last = server.requests().pop().expect("a request");
    assert_eq!(
        (result.exit, last.path().as_str(), result.stdout_text().as_str()),
        (0, "/to", "whole"),
        "{result:?}"
    );
    assert_eq!(last.header_text("x-one"), Some("1"));
    // The redirect limit applies to each attempt separately.
    let busy = AtomicUsize::new(0);
    let server = http_server(move |request| match request.path().as_str() {
        "/0" => HttpResponse::new(302).header("Location", "/1"),
        "/1" => HttpResponse::new(302).header("Location", "/2"),
        _ if busy.fetch_add(1, Ordering::SeqCst) < 2 => HttpResponse::new(503),
        _ => ok_reply(),
    });
    assert_eq!(run_retrying("--max-redirs 2", &server.url("/0")).assert_exit(0).stdout_text(), "whole");
}

#[test]
fn each_retry_prints_one_line_unless_silent() {
    let busy = || HttpResponse::new(503);
    let server = server_with_replies(vec![busy(), busy(), ok_reply()]);
    let result = run_retrying("", &server.url("/x"));
    assert_received_after(&result, &server, 3);
    assert_eq!(result.stderr.lines().count(), 2, "not one line for each retry: {}", result.stderr);
    assert!(
        result.stderr.lines().all(|line| line.starts_with("fetch-url: ") && line.contains("503")),
        "{result:?}"
    );
    let server = server_with_replies(vec![busy()]);
    let result = run_retrying("--retry 2", &server.url("/x"));
    assert_eq!(
        result.assert_exit(92).stderr.lines().count(),
        3,
        "not one line for each retry and the error: {}",
        result.stderr
    );
    for (options, lines) in [("-s", 0), ("-s -S", 1)] {
        let server = server_with_replies(vec![busy()]);
        let result = run_retrying(&format!("--retry 2 {options}"), &server.url("/x"));
        assert_eq!((result.exit, result.stderr.lines().count()), (92, lines), "{options}: {}", result.stderr);
        let server = server_with_replies(vec![busy(), ok_reply()]);
        let result = run_retrying(options, &server.url("/x"));
        assert_eq!((result.exit, result.stderr.as_str()), (0, ""), "{options}");
    }
}

/// docs/spec/faults.md, rows 36 and 76: messages about retries contain neither passwords nor control characters.
#[test]
fn retry_messages_contain_no_password_and_no_control_characters() {
    let hostile = "HTTP/1.1 503 \u{1b}[2J\u{202e}\u{9b}x\r\nContent-Length: 0\r\n\r\n";
    let server = server_with_replies(vec![HttpResponse::raw(hostile)]);
    let url = server.url("/x").replacen("://", "://u:KanarienVogel@", 1);
    for options in ["", "-vvv", "--format json", "--events -"] {
        let result = run_retrying(&format!("--retry 1 {options}"), &url);
        assert!([92, 8].contains(&result.exit), "{result:?}");
        let output = format!("{}{}", result.stderr, result.stdout_text());
        let is_hostile = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!output.contains(is_hostile), "{options}: {output:?}");
        assert!(!output.to_lowercase().contains("kanarienvogel"), "{options}: {output}");
    }
}

#[test]
fn retries_are_reported_in_events_and_write_out() {
    let dir = temp_dir();
    let server = server_with_replies(vec![HttpResponse::new(503), HttpResponse::new(500), ok_reply()]);
    let url = server.url("/x");
    let options = ["--retry-delay", "0.05", "--events", "events", "-w", "|%{num_retries}|%{json}", &url];
    let result = run_fetch_url_in(dir.path(), options);
    let text = result.assert_exit(0).stdout_text();
    let json = text.strip_prefix("whole|2|").expect("two retries");
    let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!((&json["num_retries"], &json["http_code"]), (&2.into(), &200.into()));
    let events: Vec<serde_json::Value> = read_text_file(dir.path(), "events")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON in each line"))
        .collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(kinds, ["start", "retry", "retry", "done"], "{events:?}");
    assert_eq!((&events[1]["code"], &events[2]["code"]), (&"busy".into(), &"http_error".into()));
    let wait = events[1]["wait"].as_f64().expect("seconds");
    assert!((0.03..0.1).contains(&wait), "{wait}");
}

#[test]
fn each_url_has_its_own_retries() {
    let busy = server_with_replies(vec![HttpResponse::new(503)]);
    let recovering = server_with_first_reply(HttpResponse::new(503));
    let result = run_retrying(&format!("--retry 1 {}", busy.url("/a")), &recovering.url("/b"));
    assert_eq!((result.exit, result.stdout_text().as_str()), (92, "whole"), "{}", result.stderr);
    assert_eq!((busy.requests().len(), recovering.requests().len()), (2, 2));
}
