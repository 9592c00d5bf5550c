//! `-w`, `--events` and `--trace`: what is said of a transfer for programs (CLI.md "talk").

#![allow(clippy::expect_used, reason = "a helper of tests")]

#[path = "support/curl.rs"]
mod second_opinion;
mod support;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use fetch_url_tests::{HttpReply, HttpServer, ServerCert};
use second_opinion::curl_in;
use serde_json::Value;
use support::{Ran, fetch, fetch_in, first_then, serving, shell};

/// The variables whose value must be curl's own.
const SAME: [&str; 17] = [
    "content_type",
    "filename_effective",
    "http_code",
    "http_version",
    "method",
    "num_connects",
    "num_headers",
    "num_redirects",
    "redirect_url",
    "remote_ip",
    "remote_port",
    "response_code",
    "scheme",
    "size_download",
    "url",
    "url_effective",
    "urlnum",
];

fn format_of(names: &[&str]) -> String {
    let lines: Vec<String> = names.iter().map(|name| format!("{name}=[%{{{name}}}]")).collect();
    format!("\\n{}\\n", lines.join("\\n"))
}

fn site() -> HttpServer {
    serving(|request| match request.path().as_str() {
        "/from" => HttpReply::new(302).header("Location", "/to?x").body("elsewhere"),
        "/none" => HttpReply::new(204),
        "/gone" => HttpReply::new(404).header("Content-Type", "text/html").body("gone"),
        _ => HttpReply::new(200)
            .header("Content-Type", "text/plain; charset=utf-8")
            .header("X-A", "1")
            .body("object"),
    })
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn variables_have_the_values_of_curl() {
    let (server, here) = (site(), place());
    let format = format_of(&SAME);
    let mut told = Vec::new();
    for (words, path) in [
        ("", "/to"),
        ("", "/from"),
        ("", "/none"),
        ("-o out", "/to"),
        ("-O", "/named"),
        ("-I", "/to"),
        ("-I", "/from"),
        ("-d a=b", "/to"),
        ("-X DELETE", "/to"),
        ("-A me", "/to"),
        ("--no-fail", "/gone"),
        ("--no-location", "/from"),
    ] {
        // What is the default here has an option there.
        let theirs: Vec<&str> = match words {
            "--no-fail" => vec!["-L"],
            "--no-location" => vec!["-f"],
            words => words.split_whitespace().chain(["-L", "-f"]).collect(),
        };
        let url = server.url(path);
        let more = ["-w", format.as_str(), url.as_str()];
        let Some(theirs) = curl_in(here.path(), theirs.iter().chain(&more)) else { return };
        let words: Vec<&str> = words.split_whitespace().collect();
        let ours = fetch_in(here.path(), words.iter().chain(&more));
        assert_eq!(ours.exit, theirs.exit, "{words:?} {path}: {}", ours.stderr);
        let lines = |ran: &Ran| {
            ran.text().lines().map(|line| line.trim_end_matches('\r').to_owned()).collect::<Vec<_>>()
        };
        let (ours, theirs) = (lines(&ours), lines(&theirs));
        let pairs = ours.iter().rev().zip(theirs.iter().rev()).take(SAME.len());
        // Later versions of curl write the scheme in small letters, as RFC 3986 §3.1 would.
        let differ = pairs.filter(|(ours, theirs)| ours != theirs && !theirs.eq_ignore_ascii_case(ours));
        told.extend(differ.map(|(ours, theirs)| format!("{words:?} {path}: {ours}, curl's {theirs}")));
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// A connection that is used again has two ends as well.
#[test]
fn variables_of_a_second_url() {
    let (server, here) = (site(), place());
    let format = format_of(&["remote_ip", "remote_port", "local_ip", "urlnum", "num_redirects"]);
    let urls = [server.url("/to"), server.url("/from"), server.url("/gone")];
    let words = ["-o", "a", "-o", "b", "-o", "c", "-w", &format];
    let arguments: Vec<&str> = words.into_iter().chain(urls.iter().map(String::as_str)).collect();
    let ours = fetch_in(here.path(), [["--no-fail"].as_slice(), &arguments].concat());
    let Some(theirs) = curl_in(here.path(), [["-L"].as_slice(), &arguments].concat()) else { return };
    assert_eq!(ours.exits(0).text(), theirs.exits(0).text());
}

/// "curl's names" (CLI.md): a script that asks for one of them is not refused. (Of those of 7.88, size_request,
/// http_connect, proxy_ssl_verify_result, ftp_entry_path, certs and num_certs are not offered.)
#[test]
fn every_name_of_curl_is_known() {
    const NAMES: &str = "content_type errormsg exitcode filename_effective http_code http_version local_ip local_port \
        method num_connects num_headers num_redirects redirect_url remote_ip remote_port response_code scheme \
        size_download size_header size_upload speed_download speed_upload ssl_verify_result \
        time_appconnect time_connect time_namelookup time_pretransfer time_redirect time_starttransfer time_total \
        url url_effective urlnum referer";
    let server = site();
    let ran = |name: &str| fetch(["-w", &format!("%{{{name}}}"), &server.url("/to")]);
    let unknown: Vec<&str> = NAMES.split_whitespace().filter(|name| ran(name).exit != 0).collect();
    assert!(unknown.is_empty(), "unknown: {unknown:?}");
}

#[test]
fn times_are_in_order() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let server =
        HttpServer::start_tls(|_| HttpReply::new(200).body("x").drip(1, Duration::from_millis(1)), &cert);
    let url = server.as_ref().expect("a server on loopback").url("/");
    let names = ["namelookup", "connect", "appconnect", "pretransfer", "starttransfer", "total"];
    let format = names.map(|name| format!("%{{time_{name}}}")).join(" ");
    let ran = fetch(["--cacert", files.ca.to_str().expect("UTF-8"), "-o", "/dev/null", "-w", &format, &url]);
    let text = ran.exits(0).text();
    let times: Vec<f64> = text.split(' ').map(|time| time.parse().expect("seconds")).collect();
    assert!(times.len() == names.len() && times.is_sorted() && times[2] > 0.0 && times[5] < 10.0, "{text}");
    assert!(
        text.split(' ').all(|time| time.split('.').next_back().is_some_and(|digits| digits.len() == 6)),
        "{text}"
    );
}

#[test]
fn what_formats_can_say() {
    let (server, here) = (site(), place());
    fs::write(here.path().join("format"), "%{http_code}\\n").expect("a file");
    let url = server.url("/to");
    for (format, text) in [
        ("%{http_code}", "200"),
        ("a%%b\\tc\\r\\n", "a%b\tc\r\n"),
        ("%header{x-a}|%header{X-A}|%header{none}", "1|1|"),
        ("%{onerror}never", ""),
        ("one%{onerror}never", "one"),
        ("%{stderr}there%{stdout}here", "here"),
        ("@format", "200\n"),
        ("", ""),
        ("%", "%"),
        ("caf\u{e9} %{urlnum}", "caf\u{e9} 0"),
    ] {
        let ran = fetch_in(here.path(), ["-o", "out", "-w", format, &url]);
        assert_eq!(ran.exits(0).text(), text, "{format}");
        assert_eq!(ran.stderr, if format.contains("stderr") { "there" } else { "" }, "{format}");
    }
    for bad in ["%{nothing}", "%{", "%{http_code", "@no-such-file", "%header{x", "%{http_code}%{HTTP_CODE}"] {
        fetch_in(here.path(), ["-w", bad, &url]).exits(2);
    }
    assert_eq!(server.requests().len(), 10, "a wrong format was noticed too late");
    let from_pipe = shell("echo '%{method}' | \"$F\" -o /dev/null -w @- \"$1\"", [&url]);
    assert_eq!(from_pipe.exits(0).text(), "GET\n");
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn all_of_it_as_json() {
    let server = site();
    let words = ["-o", "/dev/null", "-o", "/dev/null", "-w", "%{json}\\n", "--no-fail"];
    let ran = fetch(words.iter().chain(&[server.url("/from").as_str(), &server.url("/gone")]));
    let values: Vec<Value> = ran.exits(0).text().lines().map(json).collect();
    assert_eq!(values.len(), 2, "{ran:?}");
    assert_eq!(
        (&values[0]["http_code"], &values[0]["num_redirects"], &values[0]["urlnum"]),
        (&200.into(), &1.into(), &0.into())
    );
    assert_eq!((&values[1]["response_code"], &values[1]["urlnum"]), (&404.into(), &1.into()));
    assert_eq!(values[0]["url_effective"], server.url("/to?x").as_str());
    let fields =
        json(&fetch(["-o", "/dev/null", "-w", "%{header_json}", &server.url("/to")]).exits(0).text());
    assert_eq!(fields["x-a"], json("[\"1\"]"));
}

fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}/", listener.local_addr().expect("an address"))
}

/// It is printed for a failure, too: that is when it is read.
#[test]
fn after_a_failure() {
    let server = site();
    let format = "%{exitcode} %{http_code}%{onerror} bad";
    for (url, exit, text) in [
        (server.url("/gone"), 78, "78 404 bad"),
        (nobody(), 7, "7 000 bad"),
        ("http://no-such-host.invalid/".to_owned(), 6, "6 000 bad"),
        ("file:///no/such/file".to_owned(), 78, "78 000 bad"),
        ("nonsense://x/".to_owned(), 1, "1 000 bad"),
        ("http://h:99999/".to_owned(), 3, "3 000 bad"),
    ] {
        let ran = fetch(["-w", format, &url]);
        assert_eq!((ran.exit, ran.text().as_str()), (exit, text), "{url}");
    }
    let message = fetch(["-w", "%{errormsg}", &server.url("/gone")]);
    assert!(message.text().contains("not found"), "{message:?}");
    let several =
        fetch(["-w", "%{urlnum}:%{exitcode} ", &server.url("/gone"), &server.url("/none"), &nobody()]);
    assert_eq!(several.exits(78).text(), "0:78 1:0 2:7 ");
    let cut = serving(|_| HttpReply::new(200).body("abcdef").cut_body_at(3));
    let ran = fetch(["-o", "/dev/null", "-w", "%{exitcode} %{http_code} %{size_download}", &cut.url("/")]);
    assert_eq!(ran.exits(18).text(), "18 200 3");
}

fn events(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).expect("the events").lines().map(json).collect()
}

/// The events of one transfer, by name.
fn story(events: &[Value], number: usize) -> Vec<String> {
    let own = events.iter().filter(|event| event["number"] == number);
    own.map(|event| event["event"].as_str().expect("a name").to_owned()).collect()
}

fn moody() -> HttpServer {
    first_then(
        |_| HttpReply::new(503),
        |request| match request.path().as_str() {
            "/from" => HttpReply::new(302).header("Location", "/slow"),
            "/slow" => HttpReply::new(200).stream(90).drip(15, Duration::from_millis(110)),
            _ => HttpReply::new(404),
        },
    )
}

#[test]
fn the_story_of_a_transfer() {
    let here = place();
    let path = here.path().join("events");
    let server = moody();
    let url = server.url("/from").replacen("://", "://u:Geheim@", 1);
    let words = ["--retry", "1", "--retry-delay", "0", "--events", "events", "-o", "out", &url];
    fetch_in(here.path(), words.iter().chain(&["-o", "out2", &server.url("/gone")])).exits(78);
    let told = events(&path);
    let (one, two) = (story(&told, 0), story(&told, 1));
    assert_eq!((one[0].as_str(), one.last().map(String::as_str)), ("start", Some("done")));
    let rest: Vec<&String> = one[1..one.len() - 1].iter().collect();
    assert_eq!((rest[0], rest[1]), (&"retry".to_owned(), &"hop".to_owned()), "{one:?}");
    assert!(rest[2..].iter().all(|name| *name == "progress") && rest.len() > 2, "{one:?}");
    assert_eq!(two, ["start", "error"]);
    let text = fs::read_to_string(&path).expect("the events");
    assert!(!text.contains("Geheim"), "{text}");
    let of = |name: &str| told.iter().find(|event| event["event"] == name).expect("such an event").clone();
    assert_eq!(
        (&of("done")["octets"], &of("done")["status"], &of("done")["hops"]),
        (&90.into(), &200.into(), &1.into())
    );
    assert_eq!((&of("error")["code"], &of("error")["exit"]), (&"not_found".into(), &78.into()));
    assert_eq!(of("retry")["code"], "busy");
    assert!(of("hop")["to"].as_str().is_some_and(|to| to.ends_with("/slow")));
    let done: Vec<u64> = told.iter().filter_map(|event| event["done"].as_u64()).collect();
    assert!(done.is_sorted() && done.iter().all(|&octets| octets <= 90), "{done:?}");
}

#[test]
fn stories_side_by_side() {
    let here = place();
    let server = serving(|request| match request.path().as_str() {
        "/gone" => HttpReply::new(404),
        _ => HttpReply::new(200).stream(3).drip(40, Duration::from_millis(20)),
    });
    let paths: Vec<String> =
        (0..8).map(|number| server.url(if number == 3 { "/gone" } else { "/x" })).collect();
    let words = ["-Z", "--events", "-", "--output-dir", here.path().to_str().expect("UTF-8")];
    let names: Vec<String> = (0..8).flat_map(|number| ["-o".to_owned(), format!("f{number}")]).collect();
    let all: Vec<&str> = words
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain(paths.iter().map(String::as_str))
        .collect();
    let ran = fetch(&all);
    let told: Vec<Value> = ran.exits(78).text().lines().map(json).collect();
    for number in 0..8 {
        let end = if number == 3 { "error" } else { "done" };
        assert_eq!(story(&told, number), ["start", end], "{number}");
    }
}

#[test]
fn the_dialogue_in_a_file() {
    let here = place();
    let server = moody();
    let url = server.url("/from").replacen("://", "://u:Geheim@", 1);
    let words = [
        "--retry",
        "1",
        "--retry-delay",
        "0",
        "--trace",
        "trace",
        "-b",
        "c=Geheim",
        "-H",
        "X-Api-Key: Geheim",
    ];
    let ran =
        fetch_in(here.path(), words.iter().chain(&["-H", "Proxy-Authorization: Geheim", "-o", "out", &url]));
    assert_eq!(ran.exits(0).stdout, b"");
    let text = fs::read_to_string(here.path().join("trace")).expect("the trace");
    for words in ["GET /from", "GET /slow", "503", "302", "200"] {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    let lower = text.to_ascii_lowercase();
    assert!(
        !lower.contains("geheim") && !lower.contains("r2vozwlt") && !lower.contains("dtphzwhlaw0"),
        "{text}"
    );
    let timed = |line: &str| {
        line.trim_start().split(['s', ' ']).next().is_some_and(|time| time.parse::<f64>().is_ok())
    };
    assert!(text.lines().all(timed), "a line without a time: {text}");
    let to_stderr = fetch(["--trace", "-", "-o", "/dev/null", &site().url("/to")]);
    assert!(to_stderr.exits(0).says("GET /to").stdout.is_empty());
    fetch(["--trace", "/no/such/dir/trace", &site().url("/to")]).exits(2);
    fetch(["--events", "/no/such/dir/events", &site().url("/to")]).exits(2);
}

/// Nobody is told anything when all is well and nobody looks.
#[test]
fn silence() {
    let (server, here) = (site(), place());
    for words in ["", "-o out", "-O", "-i", "-I", "-R -o out", "--compressed", "-w %{http_code}", "-Z"] {
        let ran = fetch_in(here.path(), words.split_whitespace().chain([server.url("/to").as_str()]));
        assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{words}");
    }
    for words in ["-s", "-s -o out", "-s -Z"] {
        let ran = fetch_in(here.path(), words.split_whitespace().chain([server.url("/gone").as_str()]));
        assert_eq!((ran.exit, ran.stderr.as_str()), (78, ""), "{words}");
    }
    fetch(["-s", "-S", &server.url("/gone")]).exits(78).says("not found");
}

/// Whoever reads may leave: at once, and without a word about it.
#[test]
fn a_broken_pipe() {
    let endless = serving(|_| {
        HttpReply::new(200).header("Content-Length", "1000000000000").then_repeat(vec![b'x'; 65536], 1 << 20)
    });
    let begun = std::time::Instant::now();
    for words in ["", "-i", "--events -", "-w %{json}", "-Z"] {
        let script = format!("\"$F\" {words} \"$1\" 2>err | head -c1 >/dev/null; cat err");
        let here = place();
        let mut command = std::process::Command::new("sh");
        support::alone(&mut command);
        command.env("F", support::BINARY).current_dir(here.path()).args([
            "-c",
            &script,
            "sh",
            &endless.url("/"),
        ]);
        let ran = support::ran(command);
        assert_eq!(ran.exits(0).text(), "", "{words}");
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let status = shell("{ \"$F\" \"$1\"; echo $? >&2; } | head -c1 >/dev/null", [endless.url("/")]);
    assert!(["23\n", "141\n"].contains(&status.stderr.as_str()), "{status:?}");
}
