//! Slow servers, timeouts and signals.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::live::place::{Place, fetch};
use crate::live::program::Running;
use crate::live::server::{APACHE, NGINX};
use crate::live::tree::range;

/// The server sends 64 KiB at once and the other 14,464 bytes a second later.
const SLOW: &str = "/slow/range.txt";

#[test]
#[ignore = "needs the servers of docker/"]
fn connection_closed_without_a_response_exits_52() {
    fetch(&[&NGINX.http("/drop")]).exits(52).writes("");
    fetch(&[&NGINX.http("/drop/../drop")]).exits(52).writes("");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn late_response_exits_28() {
    let ran =
        fetch(&["--read-timeout", "0.5", &NGINX.http("/delay")]).exits(28).says("waiting for the response");
    assert!(ran.took < Duration::from_millis(2500), "{:?}", ran.took);
    let ran = fetch(&["-m", "0.5", &NGINX.http("/delay")]).exits(28).says("total time of 0.5 s is over");
    assert!(ran.took < Duration::from_millis(2500), "{:?}", ran.took);
    fetch(&["--read-timeout", "0.5", &NGINX.http("/x/../delay")]).exits(28);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn late_response_within_the_timeout_is_delivered() {
    fetch(&["--read-timeout", "4", &NGINX.http("/delay")]).gives("after 3 seconds\n");
}

/// Each pause is shorter than the timeout; all pauses together are longer.
#[test]
#[ignore = "needs the servers of docker/"]
fn slow_body_within_the_idle_timeout_is_delivered() {
    fetch(&["--read-timeout", "1.5", "--require-complete", &NGINX.http("/drip")]).gives("one\ntwo\nthree\n");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn slow_body_beyond_the_idle_timeout_exits_28() {
    let place = Place::new();
    place
        .fetch(&["--read-timeout", "0.5", "-o", "here", &NGINX.http("/drip")])
        .exits(28)
        .says("receiving the body");
    assert!(!place.path("here").exists());
}

#[test]
#[ignore = "needs the servers of docker/"]
fn stalled_body_exits_28() {
    let place = Place::new();
    let url = APACHE.http("/cgi/nph-stall");
    place.fetch(&["--read-timeout", "0.5", "-o", "here", &url]).exits(28).says("receiving the body");
    assert!(!place.path("here").exists());
}

#[test]
#[ignore = "needs the servers of docker/"]
fn download_after_max_time_is_resumed() {
    let place = Place::new();
    let url = NGINX.http(SLOW);
    place.fetch(&["-m", "0.8", "-o", "here", &url]).exits(28).says("total time of 0.8 s is over");
    place.holds(&["here.part", "here.part.json"]);
    let came = place.read("here.part").len();
    assert!(0 < came && came < range().len(), "{came} octets");
    let ran = place.fetch(&["-v", "-C", "-", "-o", "here", &url]).exits(0);
    ran.says(&format!("> Range: bytes={came}-")).says(" 206 Partial Content");
    place.holds(&["here"]);
    assert_eq!(place.read("here"), range());
}

/// Without `-C -` the `.part` file is not used.
#[test]
#[ignore = "needs the servers of docker/"]
fn download_without_continue_restarts() {
    let place = Place::new();
    let url = NGINX.http(SLOW);
    place.fetch(&["-m", "0.8", "-o", "here", &url]).exits(28);
    place.fetch(&["-v", "-o", "here", &url]).exits(0).hides("> Range");
    place.holds(&["here"]);
    assert_eq!(place.read("here"), range());
}

/// Waits until the `.part` file of `name` is not empty.
fn begun(place: &Place, running: Running, name: &str) -> Running {
    let limit = Instant::now() + Duration::from_secs(5);
    let part = place.path(&format!("{name}.part"));
    while fs::metadata(&part).map_or(0, |facts| facts.len()) == 0 {
        assert!(Instant::now() < limit, "nothing comes");
        sleep(Duration::from_millis(5));
    }
    running
}

#[test]
#[ignore = "needs the servers of docker/"]
fn signal_keeps_the_old_file_and_a_resumable_part() {
    for (signal, number) in [("TERM", 15), ("INT", 2)] {
        let place = Place::new();
        place.write("here", "old");
        let url = NGINX.http(SLOW);
        let running = begun(&place, place.start(&["-o", "here", &url]), "here");
        running.signal(signal);
        running.ended().exits(-number);
        place.holds(&["here", "here.part", "here.part.json"]);
        assert_eq!(place.read("here"), b"old");
        place.fetch(&["-v", "-C", "-", "-o", "here", &url]).exits(0).says(" 206 Partial Content");
        place.holds(&["here"]);
        assert_eq!(place.read("here"), range());
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn killed_download_is_completed_by_the_next_run() {
    let place = Place::new();
    place.write("here", "old");
    let url = NGINX.http(SLOW);
    let running = begun(&place, place.start(&["-o", "here", &url]), "here");
    running.signal("KILL");
    running.ended().exits(-9);
    assert_eq!(place.read("here"), b"old");
    place.fetch(&["-C", "-", "-o", "here", &url]).gives("");
    place.holds(&["here"]);
    assert_eq!(place.read("here"), range());
}
