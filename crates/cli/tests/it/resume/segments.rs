//! `--segments`: one file over several connections; the result is complete and from one version, or the run fails.

use std::time::Duration;

use crate::support::fault_checks::check_target_and_part;
use crate::support::{
    RunResult, part_metadata_path, part_path, run_fetch_url, send_signal, spawn_fetch_url,
    strong_etag_headers, wait_for_exit, wait_until,
};
use fetch_url_tests::{
    Ending, FileHeaders, FtpAction, FtpConfig, FtpRule, FtpServer, HttpServer, OldFile, Target, file_handler,
    pattern_vec,
};

const SIZE: usize = 5 * 1024 * 1024 + 7;
const MODIFIED: &str = "19941201123456";

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn test_site() -> FtpConfig {
    FtpConfig::new().file("/d/o", content()).modified("/d/o", MODIFIED)
}

fn start_server(site: FtpConfig) -> FtpServer {
    FtpServer::start(site).expect("a server")
}

/// Runs `fetch-url --segments 4`.
fn run_in_segments(target: &Target, url: &str, options: &[&str]) -> RunResult {
    let path = target.path();
    let output = path.to_str().expect("a path in UTF-8");
    run_fetch_url([&["--segments", "4", "-o", output], options, &[url]].concat())
}

fn retr_count(server: &FtpServer) -> usize {
    server.received_text().iter().filter(|line| line.starts_with("RETR")).count()
}

#[track_caller]
/// Checks the exit status and the files on disk (docs/spec/faults.md, rules N1 and N4).
fn assert_result(result: &RunResult, exit: i32, target: &Target) {
    result.assert_exit(exit);
    check_target_and_part(target, exit, &content()).expect("a valid target and .part file");
}

#[test]
fn four_segments_over_ftp_use_four_retr() {
    for before in OldFile::ALL {
        let (server, target) = (start_server(test_site()), Target::new(before).expect("a directory"));
        assert_result(&run_in_segments(&target, &server.url("d/o"), &[]), 0, &target);
        assert_eq!(retr_count(&server), 4, "{:?}", server.received_text());
    }
}

#[test]
fn four_segments_over_http_use_four_ranges() {
    let server = HttpServer::start(file_handler(content(), strong_etag_headers())).expect("a server");
    let target = Target::new(OldFile::Present).expect("a directory");
    assert_result(&run_in_segments(&target, &server.url("/o"), &[]), 0, &target);
    let ranges = server.requests().iter().filter(|request| request.header_text("range").is_some()).count();
    assert_eq!(ranges, 4);
}

#[test]
fn server_without_ranges_or_validators_sends_one_segment() {
    for site in [test_site().without("REST"), test_site().without("SIZE"), test_site().without("MDTM")] {
        let (server, target) = (start_server(site), Target::new(OldFile::Absent).expect("a directory"));
        assert_result(&run_in_segments(&target, &server.url("d/o"), &[]), 0, &target);
    }
    let untagged = FileHeaders { last_modified: None, etag: None, ..strong_etag_headers() };
    let server = HttpServer::start(file_handler(content(), untagged)).expect("a server");
    let target = Target::new(OldFile::Absent).expect("a directory");
    assert_result(&run_in_segments(&target, &server.url("/o"), &[]), 0, &target);
}

#[test]
fn small_file_is_sent_as_one_segment() {
    let server = start_server(FtpConfig::new().file("/o", "small").modified("/o", MODIFIED));
    let target = Target::new(OldFile::Absent).expect("a directory");
    run_in_segments(&target, &server.url("o"), &[]).assert_exit(0);
    assert_eq!((target.content().expect("a file").as_deref(), retr_count(&server)), (Some(&b"small"[..]), 1));
}

/// The interrupted segment is continued with a fifth RETR.
#[test]
fn interrupted_segment_is_resumed() {
    for nth in 1..=4 {
        let cut = FtpRule::on("RETR", FtpAction::CutData(300_000, Ending::Reset)).nth(nth);
        let (server, target) =
            (start_server(test_site().rule(cut)), Target::new(OldFile::Absent).expect("a directory"));
        assert_result(
            &run_in_segments(&target, &server.url("d/o"), &["--retry", "2", "--retry-delay", "0.05"]),
            0,
            &target,
        );
        assert_eq!(retr_count(&server), 5, "{:?}", server.received_text());
    }
}

/// The server accepts REST but sends the file from the start: the segments do not fit together.
#[test]
fn ignored_rest_fails_and_keeps_the_old_file() {
    let site = test_site().answer("REST", "350 of course\r\n");
    for before in OldFile::ALL {
        let (server, target) = (start_server(site.clone()), Target::new(before).expect("a directory"));
        let result = run_in_segments(&target, &server.url("d/o"), &[]);
        assert_ne!(result.exit, 0, "{result:?}");
        assert!(target.is_untouched().expect("a directory"));
    }
}

#[test]
fn changed_size_or_time_between_segments_fails() {
    // SIZE is sent once for the file and once for each segment.
    for (verb, reply) in [("SIZE", "213 5242888\r\n"), ("MDTM", "213 20200101000000\r\n")] {
        let other = FtpRule::on(verb, FtpAction::Answer(reply.as_bytes().to_vec())).nth(4);
        let (server, target) =
            (start_server(test_site().rule(other)), Target::new(OldFile::Present).expect("a directory"));
        let result = run_in_segments(&target, &server.url("d/o"), &[]);
        assert_ne!(result.exit, 0, "{result:?}");
        assert!(target.is_untouched().expect("a directory"), "{verb}");
    }
}

/// The time limit is the same as for one connection.
#[test]
fn max_time_limits_all_segments() {
    let slow = FtpRule::on("RETR", FtpAction::Drip(20_000, Duration::from_millis(100)));
    let (server, target) =
        (start_server(test_site().rule(slow)), Target::new(OldFile::Present).expect("a directory"));
    let start = std::time::Instant::now();
    let result = run_in_segments(&target, &server.url("d/o"), &["-m", "1", "--retry", "3"]);
    result.assert_exit(28);
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert!(target.is_untouched().expect("a directory"));
}

/// Requests that are not GET are sent once, without segments.
#[test]
fn request_with_body_or_method_is_not_segmented() {
    let server = HttpServer::start(file_handler(content(), strong_etag_headers())).expect("a server");
    for options in [&["-d", "a=b"][..], &["-X", "POST"]] {
        let (before, target) = (server.requests().len(), Target::new(OldFile::Absent).expect("a directory"));
        run_in_segments(&target, &server.url("/o"), options);
        assert_eq!(server.requests().len(), before + 1, "{options:?}");
    }
}

#[test]
fn require_complete_disables_segments() {
    let (server, target) = (start_server(test_site()), Target::new(OldFile::Absent).expect("a directory"));
    assert_result(&run_in_segments(&target, &server.url("d/o"), &["--require-complete"]), 0, &target);
    assert_eq!(retr_count(&server), 1);
}

/// The `.part` file contains the bytes before the first gap, and the next run continues from there.
#[test]
fn signal_keeps_contiguous_part_file_for_resume() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let stall = |nth| {
            FtpRule::on("RETR", FtpAction::CutData(600_000, Ending::Stall(Duration::from_secs(60)))).nth(nth)
        };
        let site = (1..=4).fold(test_site(), |site, nth| site.rule(stall(nth)));
        let (server, target) = (start_server(site), Target::new(OldFile::Present).expect("a directory"));
        let (path, url) = (target.path(), server.url("d/o"));
        let options = ["--segments", "4", "-o"].map(std::ffi::OsStr::new);
        let child = spawn_fetch_url([&options[..], &[path.as_os_str(), url.as_ref()]].concat());
        let first_and_last_have_begun = || {
            std::fs::read(part_path(&path))
                .is_ok_and(|part| part.len() > 4_000_000 && part[..100_000] == content()[..100_000])
        };
        assert!(wait_until(Duration::from_secs(30), first_and_last_have_begun), "no data within 30 seconds");
        send_signal(&child, name);
        let result = wait_for_exit(child);
        assert_eq!(result.signal, Some(number), "{result:?}");
        assert!(target.is_untouched().expect("a directory") && part_metadata_path(&path).exists(), "{name}");
        assert_result(&run_in_segments(&target, &url, &["-C", "-"]), 0, &target);
        let rest = server
            .received_text()
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix("REST ")?.parse::<u64>().ok());
        assert!(rest.is_some_and(|rest| rest > 0 && rest < SIZE as u64 / 4), "{rest:?}");
    }
}
