//! Slow servers, timeouts and signals.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::live::program::Running;
use crate::live::server::{APACHE, NGINX};
use crate::live::tree::range;
use crate::live::work_dir::{WorkDir, fetch};

/// The server sends 64 KiB at once and the other 14,464 bytes a second later.
const SLOW: &str = "/slow/range.txt";

#[test]
#[ignore = "needs the servers of docker/"]
fn connection_closed_without_a_response_exits_52() {
    fetch(&[&NGINX.http("/drop")]).assert_exit(52).assert_stdout("");
    fetch(&[&NGINX.http("/drop/../drop")]).assert_exit(52).assert_stdout("");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn late_response_exits_28() {
    let result = fetch(&["--read-timeout", "0.5", &NGINX.http("/delay")])
        .assert_exit(28)
        .assert_stderr_contains("waiting for the response");
    assert!(result.took < Duration::from_millis(2500), "{:?}", result.took);
    let result = fetch(&["-m", "0.5", &NGINX.http("/delay")])
        .assert_exit(28)
        .assert_stderr_contains("the maximum time of 0.5 s has expired");
    assert!(result.took < Duration::from_millis(2500), "{:?}", result.took);
    fetch(&["--read-timeout", "0.5", &NGINX.http("/x/../delay")]).assert_exit(28);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn late_response_within_the_timeout_is_delivered() {
    fetch(&["--read-timeout", "4", &NGINX.http("/delay")]).assert_success("after 3 seconds\n");
}

/// Each pause is shorter than the timeout; all pauses together are longer.
#[test]
#[ignore = "needs the servers of docker/"]
fn slow_body_within_the_idle_timeout_is_delivered() {
    fetch(&["--read-timeout", "1.5", "--require-complete", &NGINX.http("/drip")])
        .assert_success("one\ntwo\nthree\n");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn slow_body_beyond_the_idle_timeout_exits_28() {
    let dir = WorkDir::new();
    dir.fetch(&["--read-timeout", "0.5", "-o", "here", &NGINX.http("/drip")])
        .assert_exit(28)
        .assert_stderr_contains("receiving the body");
    assert!(!dir.path("here").exists());
}

#[test]
#[ignore = "needs the servers of docker/"]
fn stalled_body_exits_28() {
    let dir = WorkDir::new();
    let url = APACHE.http("/cgi/nph-stall");
    dir.fetch(&["--read-timeout", "0.5", "-o", "here", &url])
        .assert_exit(28)
        .assert_stderr_contains("receiving the body");
    assert!(!dir.path("here").exists());
}

#[test]
#[ignore = "needs the servers of docker/"]
fn download_after_max_time_is_resumed() {
    let dir = WorkDir::new();
    let url = NGINX.http(SLOW);
    dir.fetch(&["-m", "0.8", "-o", "here", &url])
        .assert_exit(28)
        .assert_stderr_contains("the maximum time of 0.8 s has expired");
    dir.assert_entries(&["here.fetch-url.json", "here.fetch-url.part"]);
    let came = dir.read("here.fetch-url.part").len();
    assert!(0 < came && came < range().len(), "{came} octets");
    let result = dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).assert_exit(0);
    result
        .assert_stderr_contains(&format!("> Range: bytes={}-", came - 64))
        .assert_stderr_contains(" 206 Partial Content");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// Without `-C -` the `.part` file is not used.
#[test]
#[ignore = "needs the servers of docker/"]
fn download_without_continue_restarts() {
    let dir = WorkDir::new();
    let url = NGINX.http(SLOW);
    dir.fetch(&["-m", "0.8", "-o", "here", &url]).assert_exit(28);
    dir.fetch(&["-v", "-o", "here", &url]).assert_exit(0).assert_stderr_omits("> Range");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// Waits until the `.part` file of `name` is not empty.
fn wait_for_part(dir: &WorkDir, running: Running, name: &str) -> Running {
    let limit = Instant::now() + Duration::from_secs(5);
    let part = dir.path(&format!("{name}.fetch-url.part"));
    while fs::metadata(&part).map_or(0, |metadata| metadata.len()) == 0 {
        assert!(Instant::now() < limit, "nothing comes");
        sleep(Duration::from_millis(5));
    }
    running
}

#[test]
#[ignore = "needs the servers of docker/"]
fn signal_keeps_the_old_file_and_a_resumable_part() {
    for (signal, number) in [("TERM", 15), ("INT", 2)] {
        let dir = WorkDir::new();
        dir.write("here", "old");
        let url = NGINX.http(SLOW);
        let running = wait_for_part(&dir, dir.start(&["-o", "here", &url]), "here");
        running.signal(signal);
        running.wait().assert_exit(-number);
        dir.assert_entries(&["here", "here.fetch-url.json", "here.fetch-url.part"]);
        assert_eq!(dir.read("here"), b"old");
        dir.fetch(&["-v", "-C", "-", "-o", "here", &url])
            .assert_exit(0)
            .assert_stderr_contains(" 206 Partial Content");
        dir.assert_entries(&["here"]);
        assert_eq!(dir.read("here"), range());
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn killed_download_is_completed_by_the_next_run() {
    let dir = WorkDir::new();
    dir.write("here", "old");
    let url = NGINX.http(SLOW);
    let running = wait_for_part(&dir, dir.start(&["-o", "here", &url]), "here");
    running.signal("KILL");
    running.wait().assert_exit(-9);
    assert_eq!(dir.read("here"), b"old");
    // The old file is not the beginning of the object.
    let next = dir.fetch(&["-C", "-", "-o", "here", &url]);
    next.assert_exit(0).assert_stderr_contains("here is fetched from the start: it differs");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}
