//! The files of lines: those that exist already, and those of two lines.

use std::fs;

use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, sha256};

use super::nats::NatsServer;
use super::relay::Relay;
use super::retries::RECORD_REMOVAL;
use super::{Running, Site};
use crate::support::{RunResult, fetch_url_command, send_signal};

/// Answers with `body`, or the range of it that is requested.
fn answer_range(request: &HttpRequest, body: &[u8]) -> HttpResponse {
    let range = request.header_text("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((Ok(first), last)) = range.map(|(first, last)| (first.parse::<usize>(), last)) else {
        return HttpResponse::new(200).header("ETag", "\"new\"").body(body.to_vec());
    };
    let last = last.parse().unwrap_or(body.len() - 1);
    HttpResponse::new(206)
        .header("ETag", "\"new\"")
        .header("Content-Range", format!("bytes {first}-{last}/{}", body.len()))
        .body(body[first..=last].to_vec())
}

#[test]
fn file_of_an_earlier_crawl_with_the_same_size_and_end_is_fetched_again() {
    let Some(nats) = NatsServer::start() else { return };
    let new = [vec![b'n'; 900], vec![b'e'; 100]].concat();
    let body = new.clone();
    let mut site = Site::on(nats, |_| HttpResponse::new(200));
    site.http = HttpServer::start(move |request| answer_range(request, &body)).expect("a server");
    let old = [vec![b'o'; 900], vec![b'e'; 100]].concat();
    fs::write(site.out().join("a"), old).expect("written");
    site.add(&["a"]);
    site.work(&[]).assert_exit(0);
    assert!(fs::read(site.out().join("a")).expect("the file") == new, "the old file was kept");
    assert_eq!(site.count("done"), 1);
}

impl Site {
    /// Adds a list of these paths, without file names if they have none.
    fn add_lines(&self, lines: &[&str]) -> RunResult {
        let lines: Vec<String> = lines.iter().map(|line| format!("{}\n", self.http.url(line))).collect();
        fs::write(self.directory.path().join("list"), lines.concat()).expect("written");
        self.run(&["add", &self.queue(), "--input-file", "list"])
    }

    fn failed(&self) -> String {
        self.run(&["failed", &self.queue()]).text()
    }
}

#[test]
fn line_with_the_file_of_another_line_of_its_list_is_recorded_as_failed() {
    let Some(site) = Site::start() else { return };
    let added = site.add_lines(&["x/index.html", "y/index.html", "a\t./d/f", "b\td/f", "x/index.html", "c"]);
    added.assert_exit(2);
    assert_eq!(added.text(), "added 3; already waiting 1; already done 0; already failed 0\n");
    assert!(added.stderr.contains("another line of the queue: 2"), "{}", added.stderr);
    site.work(&["--create-dirs"]).assert_exit(0);
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (3, 2, 0));
    let read = fs::read(site.out().join("index.html")).expect("the file");
    assert!(read == super::content("/x/index.html"), "the second line has replaced the file");
    let failed = site.failed();
    let lines =
        [format!("\n{}\n", site.http.url("y/index.html")), format!("\n{}\td/f\n", site.http.url("b"))];
    assert!(lines.iter().all(|line| failed.contains(line)), "{failed}");
    assert!(
        failed.contains("# 2 usage, 0 tries: another line of the queue has the file index.html\n"),
        "{failed}"
    );
    let retried = site.run(&["failed", &site.queue(), "--retry"]);
    assert_eq!(retried.text(), "added 0 again; already waiting 0; already done 0\n");
    assert!(retried.stderr.contains("2 failed lines were not added"), "{}", retried.stderr);
}

#[test]
fn line_with_the_file_of_a_line_that_was_fetched_from_another_list_is_recorded_as_failed() {
    let Some(site) = Site::start() else { return };
    site.add_lines(&["x/index.html"]).assert_exit(0);
    site.work(&[]).assert_exit(0);
    site.add_lines(&["y/index.html", "a"]).assert_exit(2);
    site.work(&[]).assert_exit(0);
    assert_eq!((site.count("done"), site.count("failed")), (2, 1));
    let read = fs::read(site.out().join("index.html")).expect("the file");
    assert!(read == super::content("/x/index.html"), "the second line has replaced the file");
    // The same list adds nothing again.
    let again = site.add_lines(&["y/index.html", "a"]);
    assert_eq!(
        (again.exit, again.text().as_str()),
        (0, "added 0; already waiting 0; already done 1; already failed 1\n")
    );
}

#[test]
fn file_of_a_failed_line_may_be_that_of_a_new_line_and_the_old_one_is_not_retried() {
    let Some(site) = Site::start() else { return };
    site.add_lines(&["missing\tf"]).assert_exit(0);
    site.work(&[]).assert_exit(78);
    site.add_lines(&["right\tf"]).assert_exit(0);
    let retried = site.run(&["failed", &site.queue(), "--retry"]);
    assert_eq!(retried.text(), "added 0 again; already waiting 0; already done 0\n");
    site.work(&[]).assert_exit(0);
    assert_eq!((site.count("done"), site.count("failed")), (1, 1));
    assert!(fs::read(site.out().join("f")).expect("the file") == super::content("/right"));
}

#[test]
fn file_that_was_reserved_for_a_line_that_was_not_added_can_be_used() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    // The list of an interrupted `add` was changed.
    let reservation = format!("o.{}", &sha256(b"f")[..32]);
    site.nats.publish_to_queue(&reservation, "3.0123456789abcdef0123456789abcdef");
    site.add_lines(&["b\tf"]).assert_exit(0);
    site.work(&[]).assert_exit(0);
    assert_eq!((site.count("done"), site.count("failed")), (2, 0));
}

#[test]
fn file_of_a_line_that_failed_in_a_worker_is_fetched_by_the_same_worker_for_another_line() {
    let Some(site) = Site::start() else { return };
    site.add_lines(&["missing\tf"]).assert_exit(0);
    let _worker = site.spawn_worker(&["--wait"]);
    site.wait_for_count("failed", |count| count == 1);
    site.add_lines(&["right\tf"]).assert_exit(0);
    site.wait_for_count("waiting", |count| count == 0);
    site.wait_for_count("in_flight", |count| count == 0);
    assert_eq!((site.count("done"), site.count("failed")), (1, 1), "{}", site.failed());
    assert!(fs::read(site.out().join("f")).expect("the file") == super::content("/right"));
}

#[test]
fn file_that_a_worker_has_finished_may_be_renamed_and_replaced_by_a_later_line() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let _worker = site.spawn_worker(&["--wait"]);
    site.wait_for_count("done", |count| count == 1);
    // The number of the file is the same as if it was removed and its number used again.
    fs::rename(site.out().join("a"), site.out().join("b")).expect("renamed");
    site.add(&["b"]);
    site.wait_for_count("waiting", |count| count == 0);
    site.wait_for_count("in_flight", |count| count == 0);
    assert_eq!((site.count("done"), site.count("failed")), (2, 0), "{}", site.failed());
    site.check_files(&["b"]);
}

#[test]
fn line_whose_file_was_taken_while_its_add_was_stopped_is_recorded_as_failed() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let relay = Relay::start(&site.nats.address);
    // The file is reserved, and the line is not added yet.
    relay.hold(&["PUB corpus.h."]);
    fs::write(site.directory.path().join("old"), format!("{}\tf\n", site.http.url("old"))).expect("written");
    let mut add = fetch_url_command();
    add.current_dir(site.directory.path());
    add.args(["queue", "add", &relay.queue("corpus"), "--input-file", "old"]);
    let mut add = Running(add.stdout(std::process::Stdio::null()).spawn().expect("it starts"));
    relay.wait_until_holding();
    send_signal(&add.0, "STOP");
    site.add_lines(&["new\tf"]).assert_exit(0);
    relay.release();
    site.wait_for_count("waiting", |count| count == 3);
    add.kill();
    site.work(&[]).assert_exit(2);
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (2, 1, 0));
    let failed = site.failed();
    let message = "# 2 usage, 1 try: usage: another line of the queue has the file f";
    assert!(failed.starts_with(message) && failed.contains("/old\tf"), "{failed}");
    assert!(fs::read(site.out().join("f")).expect("the file") == super::content("/new"));
}

#[test]
fn retried_line_whose_file_was_taken_during_the_retry_is_recorded_as_failed() {
    let Some(site) = Site::start() else { return };
    site.add_lines(&["missing\tf"]).assert_exit(0);
    site.work(&[]).assert_exit(78);
    let relay = Relay::start(&site.nats.address);
    relay.hold(&RECORD_REMOVAL);
    let mut retry = site.spawn_retry(&relay.queue("corpus"));
    relay.wait_until_holding();
    site.add_lines(&["new\tf"]).assert_exit(0);
    site.work(&[]).assert_exit(0);
    relay.release();
    assert_eq!(retry.wait(), Some(0));
    let requests = site.http.requests().len();
    site.work(&[]).assert_exit(2);
    assert_eq!(site.http.requests().len(), requests, "the retried line was fetched");
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (1, 1, 0));
    assert!(site.failed().contains("another line of the queue has the file f"), "{}", site.failed());
    assert!(fs::read(site.out().join("f")).expect("the file") == super::content("/new"));
}

#[test]
fn line_of_another_program_with_the_file_of_a_line_is_recorded_as_failed() {
    let Some(site) = Site::start() else { return };
    site.add(&["f"]);
    site.work(&[]).assert_exit(0);
    let message = format!(r#"{{"v":1,"urls":["{}"],"file":"f"}}"#, site.http.url("other"));
    site.nats.publish_to_queue("h.3.0123", &message);
    site.work(&[]).assert_exit(2);
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (1, 1, 0));
    site.check_files(&["f"]);
}

#[test]
fn line_without_a_scheme_with_the_file_of_another_line_is_recorded_as_failed() {
    let Some(site) = Site::start() else { return };
    let host = format!("127.0.0.1:{}", site.http.addr().port());
    fs::write(site.directory.path().join("list"), format!("{host}/x/f\n{host}/y/f\n")).expect("written");
    site.run(&["add", &site.queue(), "--input-file", "list"]).assert_exit(2);
    site.work(&[]).assert_exit(0);
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (1, 1, 0));
    assert!(fs::read(site.out().join("f")).expect("the file") == super::content("/x/f"));
}

#[test]
fn line_whose_file_is_a_link_to_a_device_is_recorded_as_failed() {
    let Some(site) = Site::start() else { return };
    site.add(&["a", "b"]);
    std::os::unix::fs::symlink("/dev/null", site.out().join("a")).expect("linked");
    site.work(&[]).assert_exit(2);
    assert_eq!((site.count("done"), site.count("failed")), (1, 1));
    assert!(site.failed().contains("a is not a regular file"), "{}", site.failed());
    assert_eq!(site.http.requests().len(), 1, "the line was fetched");
}
