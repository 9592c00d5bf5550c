//! `--segments`: one file over several connections, whole and of one version or not at all.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::Duration;

use fetch_url_tests::{
    Act, Before, Ending, FileFacts, FtpServer, FtpSite, HttpServer, Rule, Target, file_handler, pattern_vec,
};
use support::sound::disk_is_sound;
use support::{Ran, ended, fetch, journal_of, part_of, send_signal, started, tagged, until};

const SIZE: usize = 5 * 1024 * 1024 + 7;
const TIME: &str = "19941201123456";

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn site() -> FtpSite {
    FtpSite::new().file("/d/o", content()).modified("/d/o", TIME)
}

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server")
}

fn in_parts(target: &Target, url: &str, more: &[&str]) -> Ran {
    let path = target.path();
    let output = path.to_str().expect("a path in UTF-8");
    fetch([&["--segments", "4", "-o", output], more, &[url]].concat())
}

fn retrs(server: &FtpServer) -> usize {
    server.dialogue().iter().filter(|line| line.starts_with("RETR")).count()
}

#[track_caller]
fn ends(ran: &Ran, exit: i32, target: &Target) {
    ran.exits(exit);
    disk_is_sound(target, exit, &content()).expect("the disk is sound");
}

#[test]
fn four_parts_over_ftp() {
    for before in Before::ALL {
        let (server, target) = (serve(site()), Target::new(before).expect("a directory"));
        ends(&in_parts(&target, &server.url("d/o"), &[]), 0, &target);
        assert_eq!(retrs(&server), 4, "{:?}", server.dialogue());
    }
}

#[test]
fn four_parts_over_http() {
    let server = HttpServer::start(file_handler(content(), tagged())).expect("a server");
    let target = Target::new(Before::Old).expect("a directory");
    ends(&in_parts(&target, &server.url("/o"), &[]), 0, &target);
    let ranges = server.requests().iter().filter(|request| request.header_text("range").is_some()).count();
    assert_eq!(ranges, 4);
}

#[test]
fn a_server_that_gives_no_parts_gives_it_in_one() {
    for site in [site().no("REST"), site().no("SIZE"), site().no("MDTM")] {
        let (server, target) = (serve(site), Target::new(Before::Absent).expect("a directory"));
        ends(&in_parts(&target, &server.url("d/o"), &[]), 0, &target);
    }
    let untagged = FileFacts { last_modified: None, etag: None, ..tagged() };
    let server = HttpServer::start(file_handler(content(), untagged)).expect("a server");
    let target = Target::new(Before::Absent).expect("a directory");
    ends(&in_parts(&target, &server.url("/o"), &[]), 0, &target);
}

#[test]
fn what_is_small_comes_in_one() {
    let server = serve(FtpSite::new().file("/o", "small").modified("/o", TIME));
    let target = Target::new(Before::Absent).expect("a directory");
    in_parts(&target, &server.url("o"), &[]).exits(0);
    assert_eq!((target.content().expect("a file").as_deref(), retrs(&server)), (Some(&b"small"[..]), 1));
}

/// A part that breaks off goes on where it broke.
#[test]
fn a_part_that_breaks_off() {
    for nth in 1..=4 {
        let cut = Rule::on("RETR", Act::CutData(300_000, Ending::Reset)).nth(nth);
        let (server, target) = (serve(site().rule(cut)), Target::new(Before::Absent).expect("a directory"));
        ends(&in_parts(&target, &server.url("d/o"), &["--retry", "2", "--retry-delay", "0.05"]), 0, &target);
        assert_eq!(retrs(&server), 5, "{:?}", server.dialogue());
    }
}

/// REST is taken, and the file comes from its beginning all the same: no splice gets the name.
#[test]
fn a_server_that_begins_elsewhere() {
    let site = site().answer("REST", "350 of course\r\n");
    for before in Before::ALL {
        let (server, target) = (serve(site.clone()), Target::new(before).expect("a directory"));
        let ran = in_parts(&target, &server.url("d/o"), &[]);
        assert_ne!(ran.exit, 0, "{ran:?}");
        assert!(target.is_untouched().expect("a directory"));
    }
}

#[test]
fn another_version_between_two_parts() {
    // SIZE is asked once for the whole and once for each part.
    for (verb, reply) in [("SIZE", "213 5242888\r\n"), ("MDTM", "213 20200101000000\r\n")] {
        let other = Rule::on(verb, Act::Answer(reply.as_bytes().to_vec())).nth(4);
        let (server, target) = (serve(site().rule(other)), Target::new(Before::Old).expect("a directory"));
        let ran = in_parts(&target, &server.url("d/o"), &[]);
        assert_ne!(ran.exit, 0, "{ran:?}");
        assert!(target.is_untouched().expect("a directory"), "{verb}");
    }
}

/// Over several connections the time is over as soon as over one.
#[test]
fn the_time_for_everything() {
    let slow = Rule::on("RETR", Act::Drip(20_000, Duration::from_millis(100)));
    let (server, target) = (serve(site().rule(slow)), Target::new(Before::Old).expect("a directory"));
    let begun = std::time::Instant::now();
    let ran = in_parts(&target, &server.url("d/o"), &["-m", "1", "--retry", "3"]);
    ran.exits(28);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert!(target.is_untouched().expect("a directory"));
}

/// What may have been done already is not done in parts.
#[test]
fn data_goes_out_once() {
    let server = HttpServer::start(file_handler(content(), tagged())).expect("a server");
    for words in [&["-d", "a=b"][..], &["-X", "POST"]] {
        let (before, target) = (server.requests().len(), Target::new(Before::Absent).expect("a directory"));
        in_parts(&target, &server.url("/o"), words);
        assert_eq!(server.requests().len(), before + 1, "{words:?}");
    }
}

#[test]
fn what_must_be_proven_comes_in_one() {
    let (server, target) = (serve(site()), Target::new(Before::Absent).expect("a directory"));
    ends(&in_parts(&target, &server.url("d/o"), &["--require-complete"]), 0, &target);
    assert_eq!(retrs(&server), 1);
}

/// A signal leaves the beginning that has no gap, and the next run goes on from there.
#[test]
fn stopped_by_a_signal() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let slow = |nth| Rule::on("RETR", Act::Drip(60_000, Duration::from_millis(20))).nth(nth);
        let site = (1..=4).fold(site(), |site, nth| site.rule(slow(nth)));
        let (server, target) = (serve(site), Target::new(Before::Old).expect("a directory"));
        let (path, url) = (target.path(), server.url("d/o"));
        let words = ["--segments", "4", "-o"].map(std::ffi::OsStr::new);
        let child = started([&words[..], &[path.as_os_str(), url.as_ref()]].concat());
        let has_begun = || std::fs::metadata(part_of(&path)).is_ok_and(|facts| facts.len() > 4_000_000);
        assert!(until(Duration::from_secs(10), has_begun), "nothing comes");
        send_signal(&child, name);
        let ran = ended(child);
        assert_eq!(ran.signal, Some(number), "{ran:?}");
        assert!(target.is_untouched().expect("a directory") && journal_of(&path).exists(), "{name}");
        ends(&in_parts(&target, &url, &["-C", "-"]), 0, &target);
        let rest =
            server.dialogue().iter().rev().find_map(|line| line.strip_prefix("REST ")?.parse::<u64>().ok());
        assert!(rest.is_some_and(|rest| rest > 0 && rest < SIZE as u64 / 4), "{rest:?}");
    }
}
