//! Options of `queue status` and `queue work` that print, or change how files are fetched.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer};

use super::nats::{NatsServer, wait_for};
use super::{Running, Site, content};
use crate::support::{fetch_url_command, send_signal};

/// The size of a file that is fetched in segments.
const SIZE: u64 = 8 << 20;

impl Site {
    /// Starts `status --watch`, with standard output in the file `watched`.
    fn watch(&self, options: &[&str]) -> Running {
        let output = fs::File::create(self.directory.path().join("watched")).expect("created");
        let mut command = fetch_url_command();
        command.args(["queue", "status", &self.queue(), "--watch", "0.2"]).args(options);
        Running(
            command.stdin(Stdio::null()).stdout(output).stderr(Stdio::piped()).spawn().expect("it starts"),
        )
    }

    fn watched(&self) -> String {
        fs::read_to_string(self.directory.path().join("watched")).expect("the output")
    }
}

/// Sends SIGINT. Checks that the process ends by it and has printed nothing on standard error.
fn interrupt(mut watch: Running) {
    use std::os::unix::process::ExitStatusExt as _;
    send_signal(&watch.0, "INT");
    assert_eq!(watch.0.wait().expect("ended").signal(), Some(2));
    let mut errors = String::new();
    watch.0.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("read");
    assert_eq!(errors, "");
}

#[test]
fn watched_status_shows_new_numbers_until_it_is_interrupted() {
    let Some(site) = Site::start() else { return };
    site.add(&["a", "b"]);
    let watch = site.watch(&[]);
    wait_for(|| site.watched().contains("waiting 2  in flight 0  done 0").then_some(()));
    site.work(&[]).assert_exit(0);
    wait_for(|| site.watched().contains("waiting 0  in flight 0  done 2").then_some(()));
    interrupt(watch);
    // Standard output is not a terminal.
    assert!(!site.watched().contains('\x1b'), "{:?}", site.watched());
}

#[test]
fn watched_status_of_a_dropped_queue_ends_with_not_found() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let mut watch = site.watch(&[]);
    wait_for(|| site.watched().contains("waiting 1").then_some(()));
    site.run(&["drop", &site.queue()]).assert_exit(0);
    assert_eq!(watch.wait(), Some(78));
}

#[test]
fn watched_status_in_json_is_one_line_for_each_status() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let watch = site.watch(&["--format", "json"]);
    wait_for(|| (site.watched().lines().count() >= 3).then_some(()));
    interrupt(watch);
    for line in site.watched().lines() {
        assert!(line.starts_with('{') && line.contains("\"waiting\":1") && line.ends_with('}'), "{line}");
    }
}

#[test]
fn write_out_is_printed_for_each_line_also_for_a_failed_one() {
    let Some(site) = Site::start() else { return };
    site.add(&["a", "missing"]);
    let worked = site.work(&["-w", "%{http_code} %{exitcode} %{url} %{size_download}\\n"]);
    let text = worked.assert_exit(78).text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let expected = [
        format!("200 0 {} {}", site.http.url("a"), content("/a").len()),
        format!("404 78 {} 0", site.http.url("missing")),
    ];
    assert_eq!(lines, expected, "{}", worked.stderr);
}

#[test]
fn events_name_each_line_and_end_with_a_summary() {
    let Some(site) = Site::start() else { return };
    site.add(&["a", "b", "missing"]);
    site.work(&["--events", "events"]).assert_exit(78);
    let events = fs::read_to_string(site.directory.path().join("events")).expect("the events");
    let count = |kind: &str| events.matches(&format!("\"event\":\"{kind}\"")).count();
    assert_eq!((count("start"), count("done"), count("error"), count("summary")), (3, 2, 1, 1), "{events}");
    let numbers = |kind: &str| {
        let lines = events.lines().filter(|line| line.contains(&format!("\"event\":\"{kind}\"")));
        let number =
            |line: &str| line.split("\"number\":").nth(1)?.split([',', '}']).next().map(str::to_owned);
        let mut numbers: Vec<_> = lines.filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers("start"), ["0", "1", "2"]);
    assert_eq!([numbers("done"), numbers("error")].concat().len(), 3);
    for name in ["a", "b", "missing"] {
        assert!(events.contains(&site.http.url(name)), "{name}: {events}");
    }
    let summary = events.lines().last().expect("a line");
    assert!(summary.contains("\"files\":2") && summary.contains("\"failed\":1"), "{summary}");
}

/// Answers a range of the file, which is a pattern of [`SIZE`] bytes.
fn answer_range(request: &HttpRequest) -> HttpResponse {
    let range = request.header_text("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((from, to)) = range else {
        return HttpResponse::new(200)
            .header("ETag", "\"one\"")
            .header("Accept-Ranges", "bytes")
            .stream_from(0, SIZE);
    };
    let from: u64 = from.parse().expect("an offset");
    let to: u64 = to.parse().unwrap_or(SIZE - 1);
    HttpResponse::new(206)
        .header("ETag", "\"one\"")
        .header("Content-Range", format!("bytes {from}-{to}/{SIZE}"))
        .stream_from(from, to + 1 - from)
}

#[test]
fn line_is_fetched_in_segments() {
    let Some(nats) = NatsServer::start() else { return };
    let http = HttpServer::start(answer_range).expect("a server");
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir(directory.path().join("out")).expect("created");
    let site = Site { nats, http, directory };
    site.add(&["big"]);
    site.work(&["--segments", "4"]).assert_exit(0);
    let single = fetch_url_command().args(["-s", &site.http.url("big")]).output().expect("it runs").stdout;
    let fetched = fs::read(site.out().join("big")).expect("the file");
    assert!(single.len() as u64 == SIZE && fetched == single, "{} other bytes", fetched.len());
    let requests = site.http.requests();
    let ranges = requests.iter().filter(|request| request.header_text("range").is_some()).count();
    assert!(ranges >= 3, "{ranges} requests for a range");
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (1, 0, 0));
}
