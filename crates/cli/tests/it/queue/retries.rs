//! `queue failed --retry` while workers and other retries run, and after they were killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fetch_url_tests::HttpResponse;

use super::relay::Relay;
use super::{Running, Site, content};
use crate::support::fetch_url_command;

/// The text of an acknowledgement.
const ACKNOWLEDGEMENT: &str = "+ACK";
/// The requests that remove the final entry of a line.
pub(super) const RECORD_REMOVAL: [&str; 2] =
    ["STREAM.PURGE.corpus-record", "STREAM.MSG.DELETE.corpus-record"];
/// The requests that remove a line from the list of failed lines.
const LIST_REMOVAL: [&str; 2] = ["STREAM.PURGE.corpus-failed", "STREAM.MSG.DELETE.corpus-failed"];

impl Site {
    /// Adds a line with a lease of ten minutes, longer than the time that a test may take.
    fn add_with_long_lease(&self, name: &str) {
        let list = self.list(&[name]);
        let list = list.to_str().expect("a path");
        self.run(&["add", &self.queue(), "--lease", "600", "--input-file", list]).assert_exit(0);
    }

    /// Starts `queue failed --retry` in the background, by this address of the queue.
    pub(super) fn spawn_retry(&self, queue: &str) -> Running {
        let mut command = fetch_url_command();
        command.args(["queue", "failed", queue, "--retry"]);
        Running(command.stdout(std::process::Stdio::null()).spawn().expect("it starts"))
    }

    fn retry(&self) -> String {
        let result = self.run(&["failed", &self.queue(), "--retry"]);
        assert_eq!(result.exit, 0, "{}", result.stderr);
        result.text() + &result.stderr
    }

    /// Returns the numbers of waiting, handed-out, done and failed lines.
    fn counts(&self) -> [u64; 4] {
        ["waiting", "in_flight", "done", "failed"].map(|name| self.count(name))
    }
}

/// Returns a site whose files are missing until the switch is set.
fn site_with_switch() -> Option<(Site, Arc<AtomicBool>)> {
    let is_there = Arc::new(AtomicBool::new(false));
    let seen = is_there.clone();
    let site = Site::start_with(move |path| match seen.load(Ordering::SeqCst) {
        true => HttpResponse::new(200).body(content(path)),
        false => HttpResponse::new(404),
    })?;
    Some((site, is_there))
}

#[test]
fn line_whose_acknowledgement_is_late_stays_in_the_queue_after_a_retry() {
    let Some((site, is_there)) = site_with_switch() else { return };
    let relay = Relay::start(&site.nats.address);
    relay.hold(&[ACKNOWLEDGEMENT]);
    site.add_with_long_lease("a");
    let _worker = site.spawn_worker_of(&relay.queue("corpus"), &["--wait"]);
    site.wait_for_count("failed", |count| count == 1);
    relay.wait_until_holding();
    is_there.store(true, Ordering::SeqCst);
    assert_eq!(site.retry(), "added 1 again; already waiting 0; already done 0\n");
    let [waiting, in_flight, done, failed] = site.counts();
    assert_eq!((waiting + in_flight, done, failed), (1, 0, 0));
    relay.release();
    site.wait_for_count("done", |count| count == 1);
    site.check_files(&["a"]);
    site.wait_for_count("in_flight", |count| count == 0);
    assert_eq!((site.counts(), site.http.requests().len()), ([0, 0, 1, 0], 2));
}

#[test]
fn retried_line_of_a_killed_worker_does_not_occupy_the_host_after_its_lease() {
    let Some((site, is_there)) = site_with_switch() else { return };
    let relay = Relay::start(&site.nats.address);
    relay.hold(&[ACKNOWLEDGEMENT]);
    site.add(&["a"]);
    let mut worker = site.spawn_worker_of(&relay.queue("corpus"), &["--wait"]);
    site.wait_for_count("failed", |count| count == 1);
    relay.wait_until_holding();
    worker.kill();
    is_there.store(true, Ordering::SeqCst);
    assert_eq!(site.retry(), "added 1 again; already waiting 0; already done 0\n");
    site.work(&["--parallel-max-host", "1"]).assert_exit(0);
    site.check_files(&["a"]);
    assert_eq!(site.counts(), [0, 0, 1, 0]);
}

#[test]
fn line_that_fails_again_before_the_retry_has_ended_stays_listed() {
    let Some(site) = Site::start() else { return };
    site.add(&["missing"]);
    site.work(&[]).assert_exit(78);
    let relay = Relay::start(&site.nats.address);
    relay.hold(&LIST_REMOVAL);
    let mut retry = site.spawn_retry(&relay.queue("corpus"));
    relay.wait_until_holding();
    site.work(&[]).assert_exit(78);
    relay.release();
    assert_eq!(retry.wait(), Some(0));
    assert_eq!((site.counts(), site.http.requests().len()), ([0, 0, 0, 1], 2));
}

#[test]
fn line_that_was_fetched_during_a_second_retry_is_not_added_again() {
    let Some((site, is_there)) = site_with_switch() else { return };
    site.add(&["a"]);
    site.work(&[]).assert_exit(78);
    let relay = Relay::start(&site.nats.address);
    relay.hold(&RECORD_REMOVAL);
    let mut second = site.spawn_retry(&relay.queue("corpus"));
    relay.wait_until_holding();
    is_there.store(true, Ordering::SeqCst);
    assert_eq!(site.retry(), "added 1 again; already waiting 0; already done 0\n");
    site.work(&[]).assert_exit(0);
    relay.release();
    assert_eq!(second.wait(), Some(0));
    assert_eq!((site.counts(), site.http.requests().len()), ([0, 0, 1, 0], 2));
}

#[test]
fn line_that_waits_already_is_not_counted_as_added_by_a_second_retry() {
    let Some((site, is_there)) = site_with_switch() else { return };
    site.add(&["a"]);
    site.work(&[]).assert_exit(78);
    let relay = Relay::start(&site.nats.address);
    relay.hold(&LIST_REMOVAL);
    let mut killed = site.spawn_retry(&relay.queue("corpus"));
    relay.wait_until_holding();
    killed.kill();
    assert_eq!(site.retry(), "added 0 again; already waiting 1; already done 0\n");
    is_there.store(true, Ordering::SeqCst);
    site.work(&[]).assert_exit(0);
    assert_eq!((site.counts(), site.http.requests().len()), ([0, 0, 1, 0], 2));
}

#[test]
fn fetched_line_is_not_listed_as_failed_after_its_retry_and_its_worker_were_killed() {
    let Some((site, is_there)) = site_with_switch() else { return };
    site.add(&["a"]);
    site.work(&[]).assert_exit(78);
    let relay = Relay::start(&site.nats.address);
    relay.hold(&LIST_REMOVAL);
    let mut retry = site.spawn_retry(&relay.queue("corpus"));
    relay.wait_until_holding();
    retry.kill();
    is_there.store(true, Ordering::SeqCst);
    let relay = Relay::start(&site.nats.address);
    relay.hold(&LIST_REMOVAL);
    let mut worker = site.spawn_worker_of(&relay.queue("corpus"), &[]);
    relay.wait_until_holding();
    worker.kill();
    site.work(&[]).assert_exit(0);
    assert_eq!((site.counts(), site.http.requests().len()), ([0, 0, 1, 0], 2));
}
