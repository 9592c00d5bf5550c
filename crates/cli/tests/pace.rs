//! `--limit-rate`, `-Y` and `-y`: how fast octets may come, and how slowly.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::{Duration, Instant};

use fetch_url_tests::{
    FtpServer, FtpSite, GopherItem, GopherServer, GopherSite, HttpReply, HttpServer, pattern_vec,
};
use support::{Ran, fetch};

const SIZE: usize = 300_000;

fn http() -> HttpServer {
    HttpServer::start(|_| HttpReply::new(200).body(pattern_vec(0, SIZE))).expect("a server")
}

fn timed(arguments: &[&str]) -> (Duration, Ran) {
    let begun = Instant::now();
    let ran = fetch(arguments);
    (begun.elapsed(), ran)
}

/// A clock can be late, never early: nothing is said of the longest time.
#[test]
fn not_faster_than_that() {
    let http = http();
    let ftp = FtpServer::start(FtpSite::new().anonymous().pattern("f", SIZE as u64)).expect("a server");
    let gopher = GopherSite::new().item(GopherItem::pattern("/f", SIZE as u64));
    let gopher = GopherServer::start(gopher).expect("a server");
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path().join("f");
    std::fs::write(&here, pattern_vec(0, SIZE)).expect("a file");
    let local = format!("file://{}", here.display());
    for url in [http.url("/f"), ftp.url("f"), gopher.url("9/f"), local] {
        let target = directory.path().join("got");
        let target = target.to_str().expect("UTF-8");
        let (plain, ran) = timed(&["-o", target, &url]);
        ran.exits(0);
        // 300,000 octets at 400 KiB a second, of which a fifth of a second is saved up: half a second at least.
        let (slow, ran) = timed(&["--limit-rate", "400k", "-o", target, &url]);
        ran.exits(0);
        assert_eq!(std::fs::read(target).expect("a file"), pattern_vec(0, SIZE), "{url}");
        assert!(slow > Duration::from_millis(500), "{url}: {slow:?}, {plain:?} without a limit");
    }
    // The time for everything counts all the same.
    let (_, ran) = timed(&["--limit-rate", "1k", "-m", "1", &http.url("/f")]);
    ran.exits(28);
    fetch(["--limit-rate", "0", &http.url("/f")]).exits(0);
}

#[test]
fn not_slower_than_that() {
    let gopher = GopherSite::new().item(GopherItem::pattern("/f", 4000)).drip(10, Duration::from_millis(20));
    let gopher = GopherServer::start(gopher).expect("a server");
    let url = gopher.url("9/f");
    // 500 octets a second come.
    let (time, ran) = timed(&["-Y", "5000", "-y", "0.5", &url]);
    ran.exits(28).says("slower than 5000");
    assert!(time < Duration::from_secs(6), "{time:?}");
    assert!(ran.stdout.len() < 4000);
    let quick =
        GopherServer::start(GopherSite::new().item(GopherItem::pattern("/f", 4000))).expect("a server");
    fetch(["-Y", "5000", "-y", "0.2", &quick.url("9/f")]).exits(0);
    fetch(["-Y", "0", &quick.url("9/f")]).exits(0);
    // A time beyond all time is none, and no panic.
    fetch(["-Y", "1", "-y", "1e18", &quick.url("9/f")]).exits(0);
    // What is slow because it is to be slow is too slow all the same.
    let http = http();
    fetch(["--limit-rate", "1k", "-Y", "100k", "-y", "0.3", &http.url("/f")]).exits(28).says("slower");
}
