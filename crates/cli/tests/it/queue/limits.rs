//! Limits per host over all workers, and busy hosts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fetch_url_tests::HttpResponse;

use super::{Site, content};

/// Counts the requests that are answered at the same moment.
#[derive(Default)]
pub(super) struct Concurrency {
    now: AtomicUsize,
    pub(super) highest: AtomicUsize,
}

impl Concurrency {
    pub(super) fn answer(&self, path: &str, pause: Duration) -> HttpResponse {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.highest.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(pause);
        self.now.fetch_sub(1, Ordering::SeqCst);
        HttpResponse::new(200).body(content(path))
    }
}

#[test]
fn limit_per_host_holds_over_two_workers() {
    let concurrency = Arc::new(Concurrency::default());
    let counted = concurrency.clone();
    let Some(site) = Site::start_with(move |path| counted.answer(path, Duration::from_millis(30))) else {
        return;
    };
    let names: Vec<String> = (0..60).map(|number| format!("f{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    site.add(&names);
    let options = ["--parallel-max-host", "3"];
    let mut workers = [site.spawn_worker(&options), site.spawn_worker(&options)];
    assert_eq!(workers.each_mut().map(super::Running::wait), [Some(0); 2]);
    site.check_files(&names);
    let highest = concurrency.highest.load(Ordering::SeqCst);
    assert!((2..=3).contains(&highest), "{highest} requests at the same moment");
}

#[test]
fn busy_host_delays_its_own_lines_only() {
    let is_busy = Arc::new(AtomicBool::new(true));
    let busy = is_busy.clone();
    let answer = move |path: &str| match busy.load(Ordering::SeqCst) {
        true => HttpResponse::new(503).header("Retry-After", "1"),
        false => HttpResponse::new(200).body(content(path)),
    };
    let Some(site) = Site::start_with(answer) else { return };
    let other =
        fetch_url_tests::HttpServer::start(|request| HttpResponse::new(200).body(content(&request.path())))
            .expect("a server");
    // The same computer under another name is another host.
    let other = other_url(&other, "o");
    let mut list = std::fs::read_to_string(site.list(&["a", "b"])).expect("a list");
    for number in 0..30 {
        list.push_str(&format!("{other}{number}\to{number}\n"));
    }
    std::fs::write(site.directory.path().join("list"), list).expect("written");
    assert_eq!(site.run(&["add", &site.queue(), "--buckets", "512", "--input-file", "list"]).exit, 0);
    let mut worker = site.spawn_worker(&["--parallel-max-host", "2"]);
    site.wait_for_count("done", |count| count == 30);
    assert_eq!((site.count("in_flight"), site.count("failed")), (2, 0));
    super::wait_for(|| {
        let status = site.run(&["status", &site.queue()]).text();
        status.contains("backing off 127.0.0.1: ").then_some(())
    });
    is_busy.store(false, Ordering::SeqCst);
    assert_eq!(worker.wait(), Some(0));
    assert_eq!((site.count("done"), site.count("failed")), (32, 0));
}

/// Returns the URL of a file by the name `localhost` instead of the address.
fn other_url(server: &fetch_url_tests::HttpServer, path: &str) -> String {
    format!("http://localhost:{}/{path}", server.addr().port())
}

#[test]
fn line_of_a_host_that_stays_busy_fails_after_max_tries() {
    let Some(site) = Site::start_with(|_| HttpResponse::new(503)) else { return };
    site.add(&["a"]);
    let worked = site.work(&["--max-tries", "3", "--retry-delay", "0.1"]);
    assert_eq!(worked.exit, 92, "{}", worked.stderr);
    assert!(worked.stderr.contains("tried again in"), "{}", worked.stderr);
    let failed = site.run(&["failed", &site.queue()]).text();
    assert!(failed.starts_with("# 92 busy, 3 tries: "), "{failed}");
    assert_eq!(site.http.requests().len(), 3);
}

#[test]
fn lines_of_more_hosts_than_slots_are_handed_out_once() {
    // The list of failed lines has the number of tries.
    let answer = |_: &str| {
        std::thread::sleep(Duration::from_millis(400));
        HttpResponse::new(404)
    };
    let Some(site) = Site::start_with(answer) else { return };
    let port = site.http.addr().port();
    let list: String = (0..40).map(|number| format!("http://h{number}.test:{port}/f\tf{number}\n")).collect();
    std::fs::write(site.directory.path().join("list"), list).expect("written");
    assert_eq!(site.run(&["add", &site.queue(), "--input-file", "list"]).exit, 0);
    let connect_to = format!("::127.0.0.1:{port}");
    let options = ["--parallel-max", "2", "--connect-to", &connect_to];
    let mut workers = [site.spawn_worker(&options), site.spawn_worker(&options)];
    assert_eq!(workers.each_mut().map(super::Running::wait), [Some(78); 2]);
    let failed = site.run(&["failed", &site.queue()]).text();
    assert_eq!(failed.matches(", 1 try: ").count(), 40, "{failed}");
}

#[test]
fn lines_that_keep_failing_do_not_delay_the_other_lines_of_their_host() {
    let answer = |path: &str| match path {
        path if path.starts_with("/bad") => HttpResponse::new(500),
        path => HttpResponse::new(200).body(content(path)),
    };
    let Some(site) = Site::start_with(answer) else { return };
    let bad = ["bad1", "bad2"];
    let good: Vec<String> = (0..20).map(|number| format!("g{number}")).collect();
    let good: Vec<&str> = good.iter().map(String::as_str).collect();
    site.add(&[&bad[..], &good].concat());
    // The delay is longer than the time that a test may take.
    let mut worker = site.spawn_worker(&["--parallel-max-host", "2", "--retry-delay", "600"]);
    site.wait_for_count("done", |count| count == 20);
    site.check_files(&good);
    site.wait_for_count("in_flight", |count| count == 2);
    let list = site.list(&[&bad[..], &good].concat());
    let again = site.run(&["add", &site.queue(), "--input-file", list.to_str().expect("a path")]);
    assert_eq!(again.text(), "added 0; already waiting 2; already done 20; already failed 0\n");
    worker.kill();
}

#[test]
fn line_that_was_set_aside_keeps_its_number_of_tries_and_fails_after_max_tries() {
    let is_good = Arc::new(AtomicBool::new(false));
    let seen = is_good.clone();
    let answer = move |path: &str| match seen.load(Ordering::SeqCst) {
        true => HttpResponse::new(200).body(content(path)),
        false => HttpResponse::new(500),
    };
    let Some(site) = Site::start_with(answer) else { return };
    site.add(&["a"]);
    site.work(&["--max-tries", "3", "--retry-delay", "0.1"]);
    let failed = site.run(&["failed", &site.queue()]).text();
    assert!(failed.contains(", 3 tries: "), "{failed}");
    assert_eq!((site.http.requests().len(), site.count("waiting"), site.count("failed")), (3, 0, 1));
    site.run(&["failed", &site.queue(), "--retry"]).assert_exit(0);
    is_good.store(true, Ordering::SeqCst);
    site.work(&["--max-tries", "1"]).assert_exit(0);
    assert_eq!((site.count("done"), site.count("failed"), site.count("in_flight")), (1, 0, 0));
}
