//! What a review found, each as a test: ways to a wrong object with exit 0, and to a lost part.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fetch_url_tests::{HttpReply, HttpRequest, HttpServer, Target, pattern_vec};
use support::{fetch, serving};

const SIZE: usize = 3000;
const CUT: usize = 1000;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// Cuts the first answer; `rest` answers what asks for a range.
fn cut_then(rest: fn() -> HttpReply) -> HttpServer {
    serving(move |request: &HttpRequest| match request.header("range") {
        Some(_) => rest(),
        None => HttpReply::new(200).header("ETag", "\"v1\"").body(content()).cut_body_at(CUT as u64),
    })
}

fn part() -> HttpReply {
    let range = format!("bytes {CUT}-{}/{SIZE}", SIZE - 1);
    HttpReply::new(206).header("ETag", "\"v1\"").header("Content-Range", range)
}

/// A target with an interrupted part of `server`'s object beside it.
fn interrupted(server: &HttpServer) -> Target {
    let target = Target::new(fetch_url_tests::Before::Absent).expect("a directory");
    fetch(["-o", text(&target.path()), &server.url("/o")]).exits(18);
    target
}

#[test]
fn a_part_is_as_long_as_its_content_range_says() {
    let short: [fn() -> HttpReply; 2] =
        [|| part().until_close(vec![0; 10]), || part().chunked(vec![vec![0; 10]])];
    for rest in short {
        let server = cut_then(rest);
        let target = interrupted(&server);
        fetch(["-C", "-", "-o", text(&target.path()), &server.url("/o")]).exits(18);
        assert!(target.content().expect("readable").is_none());
    }
}

#[test]
fn headers_are_never_resumed_as_the_object() {
    let server = cut_then(|| part().body(content().split_off(CUT)));
    let target = Target::new(fetch_url_tests::Before::Absent).expect("a directory");
    fetch(["-i", "-o", text(&target.path()), &server.url("/o")]).exits(18);
    assert!(target.leftovers().expect("readable").is_empty());
    fetch(["-I", "-C", "-", &server.url("/o")]).exits(2);
}

#[test]
fn a_run_that_never_began_leaves_the_part_as_it_was() {
    let server = cut_then(|| part().body(content().split_off(CUT)));
    let target = interrupted(&server);
    let (name, url) = (target.path(), server.url("/o"));
    let part = name.with_extension(format!(
        "{}part",
        name.extension().map_or(String::new(), |extension| format!("{}.", extension.display()))
    ));
    let mut octets = fs::read(&part).expect("a part");
    octets[500] ^= 1;
    fs::write(&part, &octets).expect("written");
    let elsewhere = "http://127.0.0.1:1/o";
    fetch(["-C", "-", "--allow-port", "1", "-o", text(&name), elsewhere]).exits(7);
    assert_eq!(fs::read(&part).expect("the part"), octets);
    fs::write(&name, vec![b'x'; 2000]).expect("an old file");
    fetch(["-C", "1500", "--allow-port", "1", "-o", text(&name), elsewhere]).exits(7);
    assert_eq!(fs::read(&part).expect("the part"), octets);
    // The spoilt part is noticed, and made anew: this server cuts it again.
    fetch(["-C", "-", "-o", text(&name), &url]).exits(18);
    fetch(["-C", "-", "-o", text(&name), &url]).exits(0);
    assert_eq!(fs::read(&name).expect("the object"), content());
}

#[test]
fn a_redirected_download_is_resumed() {
    let server = serving(|request: &HttpRequest| match (request.path().as_str(), request.header("range")) {
        ("/o", _) => HttpReply::new(302).header("Location", "/elsewhere"),
        (_, Some(_)) => part().body(content().split_off(CUT)),
        _ => HttpReply::new(200).header("ETag", "\"v1\"").body(content()).cut_body_at(CUT as u64),
    });
    let target = interrupted(&server);
    fetch(["-C", "-", "-o", text(&target.path()), &server.url("/o")]).exits(0);
    assert_eq!(target.content().expect("readable"), Some(content()));
}

#[test]
fn a_kill_right_after_a_resume_began_loses_nothing() {
    let server = cut_then(|| {
        part().body(content().split_off(CUT)).cut_body_at(100).then_stall(Duration::from_secs(9))
    });
    let target = interrupted(&server);
    let (name, url) = (target.path(), server.url("/o"));
    let part = std::path::PathBuf::from(format!("{}.part", text(&name)));
    let mut resuming = Command::new(env!("CARGO_BIN_EXE_fetch-url"))
        .args(["-s", "-C", "-", "-o", text(&name), &url])
        .spawn()
        .expect("it runs");
    let begun = Instant::now();
    while fs::metadata(&part).expect("the part").len() == CUT as u64
        && begun.elapsed() < Duration::from_secs(5)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    resuming.kill().expect("killed");
    resuming.wait().expect("gone");
    fetch(["--read-timeout", "0.5", "-C", "-", "-o", text(&name), &url]).exits(28);
    let asked: Vec<_> = server.requests().iter().map(|request| request.header("range").is_some()).collect();
    assert_eq!(asked, [false, true, true], "the second run after the kill goes on, too");
}

#[test]
fn less_than_the_range_asked_for_is_refused() {
    let server = serving(|_| HttpReply::new(206).header("Content-Range", "bytes 0-9/3000").body(vec![0; 10]));
    fetch(["-r", "0-999", &server.url("/o")]).exits(33);
    fetch(["-r", "0-9", &server.url("/o")]).exits(0);
}

#[test]
fn the_body_of_an_error_is_no_part_of_the_object() {
    let server = serving(|_| HttpReply::new(416).body("error\n"));
    let target = Target::new(fetch_url_tests::Before::Old).expect("a directory");
    fetch(["--no-fail", "-C", "2", "-o", text(&target.path()), &server.url("/o")]).exits(33);
    assert!(target.is_untouched().expect("readable"));
}

#[test]
fn a_part_of_another_program_stays() {
    let server = serving(|_| HttpReply::new(200).body("new"));
    let target = Target::new(fetch_url_tests::Before::Absent).expect("a directory");
    let part = format!("{}.part", text(&target.path()));
    fs::write(&part, "mine").expect("written");
    fetch(["-o", text(&target.path()), &server.url("/o")]).exits(2);
    assert_eq!(fs::read(&part).expect("the part"), b"mine");
}

#[test]
fn files_that_the_system_makes_up_are_read_to_their_end() {
    let version = fs::read("/proc/version").expect("Linux");
    assert_eq!(fetch(["file:///proc/version"]).exits(0).stdout, version);
}

#[test]
fn a_password_in_a_wrong_option_is_not_shown() {
    let ran = fetch(["-m", "http://u:KanarienVogel@h/"]);
    ran.exits(2);
    assert!(!ran.stderr.contains("KanarienVogel"), "{}", ran.stderr);
}
