//! Workers and servers that end at any moment, and several workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fetch_url_tests::HttpResponse;

use super::{Site, content};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("f{number}")).collect()
}

/// A site whose answers take some time, so that transfers are under way at any moment.
fn slow_site(pause: Duration) -> Option<Site> {
    Site::start_with(move |path| {
        std::thread::sleep(pause);
        HttpResponse::new(200).body(content(path))
    })
}

#[test]
fn lines_of_a_killed_worker_are_fetched_by_the_next_one() {
    let Some(site) = slow_site(Duration::from_millis(50)) else { return };
    let names = names(40);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    site.add(&names);
    let mut worker = site.spawn_worker(&["--parallel-max-host", "4"]);
    site.wait_for_count("done", |count| count > 4);
    worker.kill();
    assert!(site.count("done") < 40);
    assert_eq!(site.work(&["--parallel-max-host", "4"]).exit, 0);
    site.check_files(&names);
    assert_eq!((site.count("done"), site.count("waiting"), site.count("in_flight")), (40, 0, 0));
}

/// Starts a queue with one line, and another process that slowly downloads to its file.
fn start_download_to_the_file_of_a_line() -> Option<(Site, super::Running)> {
    let is_first = AtomicBool::new(true);
    let answer = move |_: &str| {
        let response = HttpResponse::new(200).body(vec![b'x'; 2 << 20]);
        if is_first.swap(false, Ordering::SeqCst) {
            response.drip(64 << 10, Duration::from_millis(100))
        } else {
            response
        }
    };
    let site = Site::start_with(answer)?;
    site.add(&["a"]);
    let mut other = crate::support::fetch_url_command();
    other.args(["-s", "-o"]).arg(site.out().join("a")).arg(site.http.url("a"));
    let other = super::Running(other.spawn().expect("it starts"));
    super::wait_for(|| site.out().join("a.fetch-url.part").exists().then_some(()));
    Some((site, other))
}

#[test]
fn line_whose_part_file_is_locked_is_tried_again() {
    let Some((site, mut other)) = start_download_to_the_file_of_a_line() else { return };
    let worked = site.work(&["--retry-delay", "0.2"]);
    assert_eq!((worked.exit, site.count("done"), site.count("failed")), (0, 1, 0), "{}", worked.stderr);
    assert!(worked.stderr.contains("is downloading to"), "{}", worked.stderr);
    assert_eq!(other.wait(), Some(0));
    assert_eq!(site.out().join("a").metadata().expect("the file").len(), 2 << 20);
}

#[test]
fn line_whose_part_file_is_locked_waits_for_longer_than_its_last_try() {
    let Some((site, mut other)) = start_download_to_the_file_of_a_line() else { return };
    crate::support::send_signal(&other.0, "STOP");
    let path = site.directory.path().join("errors");
    let mut worker = site.worker(&["--max-tries", "1", "--retry-delay", "0.05"]);
    let worker = worker.stderr(std::fs::File::create(&path).expect("created"));
    let mut worker = super::Running(worker.spawn().expect("it starts"));
    super::wait_for(|| {
        let errors = std::fs::read_to_string(&path).expect("text");
        assert_eq!(site.count("failed"), 0, "{errors}");
        (errors.matches("is downloading to").count() > 3).then_some(())
    });
    other.kill();
    assert_eq!(worker.wait(), Some(0));
    assert_eq!((site.count("done"), site.count("failed")), (1, 0));
    assert_eq!(site.out().join("a").metadata().expect("the file").len(), 2 << 20);
}

#[test]
fn partial_file_of_a_killed_worker_is_resumed() {
    const SIZE: u64 = 8 << 20;
    let is_fast = Arc::new(AtomicBool::new(false));
    let fast = is_fast.clone();
    let answer = move |request: &fetch_url_tests::HttpRequest| {
        let from = request
            .header_text("range")
            .and_then(|range| range.strip_prefix("bytes=")?.split('-').next()?.parse().ok());
        let from: u64 = from.unwrap_or(0);
        let response = HttpResponse::new(if from == 0 { 200 } else { 206 }).header("ETag", "\"one\"");
        let response = match from {
            0 => response,
            from => response.header("Content-Range", format!("bytes {from}-{}/{SIZE}", SIZE - 1)),
        };
        let response = response.stream_from(from, SIZE - from);
        if fast.load(Ordering::SeqCst) {
            response
        } else {
            response.drip(64 << 10, Duration::from_millis(100))
        }
    };
    let Some(nats) = super::NatsServer::start() else { return };
    let http = fetch_url_tests::HttpServer::start(answer).expect("a server");
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(directory.path().join("out")).expect("created");
    let site = Site { nats, http, directory };
    site.add(&["big"]);
    let mut worker = site.spawn_worker(&[]);
    // The state of a partial file is written every five seconds; without it the file is not resumed.
    let state = site.out().join("big.fetch-url.json");
    super::wait_for(|| state.metadata().ok().filter(|file| file.len() > 100));
    worker.kill();
    is_fast.store(true, Ordering::SeqCst);
    let worked = site.work(&[]);
    assert_eq!(worked.exit, 0, "{}", worked.stderr);
    assert_eq!(site.out().join("big").metadata().expect("the file").len(), SIZE);
    let ranges: Vec<_> =
        site.http.requests().iter().map(|request| request.header_text("range").map(str::to_owned)).collect();
    assert!(ranges.iter().skip(1).any(Option::is_some), "no request asks for the rest: {ranges:?}");
}

#[test]
fn restarted_nats_server_loses_no_line_and_no_result() {
    let Some(mut site) = slow_site(Duration::from_millis(30)) else { return };
    let names = names(60);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    site.add(&names);
    let mut worker = site.spawn_worker(&["--parallel-max-host", "4"]);
    for count in [5, 20] {
        site.wait_for_count("done", |done| done > count);
        site.nats.restart();
    }
    assert_eq!(worker.wait(), Some(0));
    site.check_files(&names);
    assert_eq!((site.count("done"), site.count("waiting"), site.count("failed")), (60, 0, 0));
}

#[test]
fn transfer_goes_on_without_nats_and_is_recorded_later() {
    let is_open = Arc::new(AtomicBool::new(false));
    let gate = is_open.clone();
    let answer = move |path: &str| {
        while !gate.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
        HttpResponse::new(200).body(content(path))
    };
    let Some(mut site) = Site::start_with(answer) else { return };
    site.add(&["a"]);
    let mut worker = site.spawn_worker(&[]);
    super::wait_for(|| (!site.http.requests().is_empty()).then_some(()));
    site.nats.stop();
    is_open.store(true, Ordering::SeqCst);
    super::wait_for(|| site.out().join("a").exists().then_some(()));
    site.nats.start_again();
    assert_eq!(worker.wait(), Some(0));
    assert_eq!((site.count("done"), site.http.requests().len()), (1, 1));
}

#[test]
fn two_workers_share_a_directory_and_each_line_is_fetched_once() {
    let Some(site) = slow_site(Duration::from_millis(10)) else { return };
    let names = names(80);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    site.add(&names);
    let mut workers =
        [site.spawn_worker(&["--worker-name", "a"]), site.spawn_worker(&["--worker-name", "b"])];
    assert_eq!(workers.each_mut().map(super::Running::wait), [Some(0); 2]);
    site.check_files(&names);
    assert_eq!((site.count("done"), site.http.requests().len()), (80, 80));
}

#[test]
fn terminated_worker_gives_its_lines_back_at_once() {
    let Some(site) = slow_site(Duration::from_secs(3)) else { return };
    let list = site.list(&["a"]);
    let list = list.to_str().expect("a path");
    assert_eq!(site.run(&["add", &site.queue(), "--lease", "600", "--input-file", list]).exit, 0);
    let mut worker = site.spawn_worker(&[]);
    site.wait_for_count("in_flight", |count| count == 1);
    let id = worker.0.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    worker.wait();
    // The lease of ten minutes is longer than the time that a test may take.
    assert_eq!(site.work(&[]).exit, 0);
    site.check_files(&["a"]);
}

#[test]
fn line_that_is_on_the_way_to_a_terminated_worker_is_given_back() {
    let Some(site) = Site::start_with(|path| HttpResponse::new(200).body(content(path))) else { return };
    let relay = super::relay::Relay::start(&site.nats.address);
    let add = |name| {
        let list = site.list(&[name]);
        let list = list.to_str().expect("a path");
        assert_eq!(site.run(&["add", &site.queue(), "--lease", "600", "--input-file", list]).exit, 0);
    };
    add("a");
    let mut worker = site.spawn_worker_of(&relay.queue("corpus"), &["--wait"]);
    site.wait_for_count("done", |count| count == 1);
    // Until the first line is acknowledged, it counts as being in flight, and the worker has not requested another one.
    site.wait_for_count("in_flight", |count| count == 0);
    std::thread::sleep(Duration::from_millis(500));
    // The server hands the second line to the worker, whose network delays it until the worker was told to end.
    relay.set_cut(true);
    add("b");
    site.wait_for_count("in_flight", |count| count == 1);
    crate::support::send_signal(&worker.0, "TERM");
    // The worker waits for two seconds; a busy machine may use much of them.
    std::thread::sleep(Duration::from_millis(50));
    relay.set_cut(false);
    worker.wait();
    assert_eq!(site.work(&[]).exit, 0);
    site.check_files(&["a", "b"]);
}

#[test]
fn lease_that_ends_during_a_transfer_gives_one_file_and_one_entry() {
    // A worker that is stopped extends no lease. A clock of the server that jumps ahead ends leases in the same way.
    let is_open = Arc::new(AtomicBool::new(false));
    let (gate, is_first) = (is_open.clone(), AtomicBool::new(true));
    let answer = move |path: &str| {
        if is_first.swap(false, Ordering::SeqCst) {
            while !gate.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        HttpResponse::new(200).body(content(path))
    };
    let Some(site) = Site::start_with(answer) else { return };
    site.add(&["a"]);
    let errors = std::fs::File::create(site.directory.path().join("errors")).expect("created");
    let mut stopped = super::Running(site.worker(&[]).stderr(errors).spawn().expect("it starts"));
    super::wait_for(|| (!site.http.requests().is_empty()).then_some(()));
    crate::support::send_signal(&stopped.0, "STOP");
    site.work(&[]).assert_exit(0);
    site.check_files(&["a"]);
    crate::support::send_signal(&stopped.0, "CONT");
    is_open.store(true, Ordering::SeqCst);
    let exit = stopped.wait();
    let errors = std::fs::read_to_string(site.directory.path().join("errors")).expect("text");
    assert_eq!(exit, Some(0), "{errors}");
    site.check_files(&["a"]);
    assert_eq!(site.http.requests().len(), 2);
    assert_eq!(
        (site.count("done"), site.count("failed"), site.count("waiting"), site.count("in_flight")),
        (1, 0, 0, 0)
    );
}

#[test]
fn worker_of_a_dropped_queue_ends_with_not_found_while_it_waits_and_while_it_fetches() {
    let is_open = Arc::new(AtomicBool::new(false));
    let gate = is_open.clone();
    let answer = move |path: &str| {
        while path == "/slow" && !gate.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
        HttpResponse::new(200).body(content(path))
    };
    let Some(site) = Site::start_with(answer) else { return };
    for (name, is_fetching) in [("a", false), ("slow", true)] {
        site.add(&[name]);
        let errors = std::fs::File::create(site.directory.path().join("errors")).expect("created");
        let mut worker = super::Running(site.worker(&["--wait"]).stderr(errors).spawn().expect("it starts"));
        let state = if is_fetching { "in_flight" } else { "done" };
        site.wait_for_count(state, |count| count == 1);
        site.run(&["drop", &site.queue()]).assert_exit(0);
        is_open.store(is_fetching, Ordering::SeqCst);
        let exit = worker.wait();
        let errors = std::fs::read_to_string(site.directory.path().join("errors")).expect("text");
        assert_eq!(exit, Some(78), "{errors}");
        assert!(errors.contains("the queue corpus was deleted while"), "{errors}");
    }
    site.check_files(&["a", "slow"]);
}

#[test]
fn worker_of_a_queue_that_was_dropped_and_added_again_ends_with_not_found() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let mut worker = site.spawn_worker(&["--wait"]);
    site.wait_for_count("done", |count| count == 1);
    site.run(&["drop", &site.queue()]).assert_exit(0);
    site.add(&["b"]);
    assert_eq!(worker.wait(), Some(78));
    // The new queue may have other buckets and another directory; a new worker opens it.
    site.work(&[]).assert_exit(0);
    site.check_files(&["a", "b"]);
}

#[test]
fn result_of_a_worker_of_a_dropped_queue_is_not_that_of_a_line_of_the_next_queue() {
    let gates: [Arc<AtomicBool>; 2] = Default::default();
    let seen = gates.clone();
    let answer = move |path: &str| {
        while path.starts_with("/slow") && !seen[usize::from(path == "/slow2")].load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
        HttpResponse::new(200).body(content(path))
    };
    let Some(site) = Site::start_with(answer) else { return };
    std::fs::create_dir(site.directory.path().join("new")).expect("created");
    site.add(&["slow"]);
    let mut old = site.spawn_worker(&[]);
    super::wait_for(|| (!site.http.requests().is_empty()).then_some(()));
    site.run(&["drop", &site.queue()]).assert_exit(0);
    // The other line has the number of the old one in its stream, and is under way when the old worker ends.
    site.add(&["slow2"]);
    site.add(&["slow"]);
    let options = ["--output-dir", "new", "--parallel-max", "1"];
    let mut new = super::Running(site.worker(&options).spawn().expect("it starts"));
    super::wait_for(|| (site.http.requests().len() > 1).then_some(()));
    gates[0].store(true, Ordering::SeqCst);
    assert_eq!(old.wait(), Some(78));
    assert_eq!((site.count("waiting") + site.count("in_flight"), site.count("done")), (2, 0));
    new.kill();
    gates[1].store(true, Ordering::SeqCst);
    site.work(&["--output-dir", "new"]).assert_exit(0);
    for name in ["slow", "slow2"] {
        assert!(site.directory.path().join("new").join(name).exists(), "{name}");
    }
    assert_eq!((site.count("waiting"), site.count("done")), (0, 2));
}
