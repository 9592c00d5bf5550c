//! `--segments` over FTP: a server that accepts REST and ignores it never leads to wrong bytes with exit 0.

use crate::support::{RunResult, run_fetch_url};
use fetch_url_tests::{FtpAction, FtpConfig, FtpRule, FtpServer, OldFile, Target, pattern_vec, sha256};

const SIZE: usize = 5 * 1024 * 1024 + 7;

fn site_of(file: &[u8]) -> FtpConfig {
    FtpConfig::new().file("/d/o", file).modified("/d/o", "19941201123456")
}

/// Fetches the file of `site` in 4 segments, with `options`.
fn run_in_segments(site: FtpConfig, options: &[&str]) -> (FtpServer, Target, RunResult) {
    let server = FtpServer::start(site).expect("a server");
    let target = Target::new(OldFile::Absent).expect("a directory");
    let (path, url) = (target.path(), server.url("d/o"));
    let output = path.to_str().expect("a path in UTF-8");
    let result = run_fetch_url([&["--segments", "4", "-o", output], options, &[url.as_str()]].concat());
    (server, target, result)
}

fn saved(target: &Target) -> Option<Vec<u8>> {
    target.content().expect("a readable file")
}

fn retr_count(server: &FtpServer) -> usize {
    server.received_text().iter().filter(|line| line.starts_with("RETR")).count()
}

/// One connection sends the file from its start, which equals the 64 bytes before the segment.
#[test]
fn ignored_rest_of_one_segment_is_detected_although_the_overlap_matches() {
    let mut mixed = vec![0; SIZE];
    mixed[500_000..600_000].copy_from_slice(&pattern_vec(0, 100_000));
    for file in [mixed, vec![0; SIZE]] {
        for nth in 1..=3 {
            let ignored = FtpRule::on("REST", FtpAction::Answer(b"350 of course\r\n".to_vec())).nth(nth);
            let (_, target, result) = run_in_segments(site_of(&file).rule(ignored), &[]);
            match result.exit {
                0 => assert!(saved(&target).is_some_and(|saved| saved == file), "{nth}: wrong bytes"),
                _ => assert_eq!(saved(&target), None, "{nth}: {:?}", result.assert_exit(33)),
            }
        }
    }
}

/// The number of bytes of the last response proves its offset. A checksum shows that the bytes are right.
#[test]
fn file_of_zeros_is_fetched_again_over_one_connection_unless_it_has_a_checksum() {
    let zeros = vec![0; SIZE];
    let checksum = format!("sha256:{}", sha256(&zeros));
    for (options, requests) in [(&[][..], 5), (&["--checksum", &checksum], 4)] {
        let (server, target, result) = run_in_segments(site_of(&zeros), options);
        result.assert_exit(0);
        assert!(saved(&target).is_some_and(|saved| saved == zeros));
        assert_eq!(retr_count(&server), requests, "{:?}", server.received_text());
    }
}

/// The segments differ from the start of the file, which shows that the offsets are right.
#[test]
fn file_that_begins_with_zeros_is_fetched_once() {
    let mut file = vec![0; SIZE];
    file[1000..1100].copy_from_slice(&pattern_vec(0, 100));
    let (server, target, result) = run_in_segments(site_of(&file), &[]);
    result.assert_exit(0);
    assert!(saved(&target).is_some_and(|saved| saved == file));
    assert_eq!(retr_count(&server), 4, "{:?}", server.received_text());
}
