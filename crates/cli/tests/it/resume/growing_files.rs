//! FTP files that grow after their size was reported (docs/spec/semantics.md 2.40, cli.md 9.6), and servers whose data only
//! looks like that, because they ignore REST.

use std::fs;
use std::time::Duration;

use crate::support::{RunResult, part_metadata_path, part_path, run_fetch_url};
use fetch_url_tests::{
    Ending, FtpAction, FtpConfig, FtpRule, FtpServer, FtpTrigger, OldFile, Target, pattern_vec,
};

const SIZE: usize = 5 * 1024 * 1024 + 7;

fn test_site(content: Vec<u8>) -> FtpConfig {
    FtpConfig::new().file("/d/o", content).modified("/d/o", "19941201123456")
}

/// A server that allows one connection at first: the last segment is complete before the first one begins.
fn with_one_connection(site: FtpConfig) -> FtpConfig {
    let reply = b"421 Too many connections.\r\n";
    let refused = |nth| FtpRule::on(FtpTrigger::Greeting, FtpAction::Answer(reply.to_vec())).nth(nth);
    (2..=4).fold(site, |site, nth| site.rule(refused(nth)))
}

/// A server on which the last segment is late: the others are complete before it.
fn with_late_last_segment(site: FtpConfig) -> FtpConfig {
    site.on("REST 3932", FtpAction::Pause(Duration::from_millis(500)))
}

fn fetch(site: FtpConfig, target: &Target, options: &[&str]) -> RunResult {
    let (server, path) = (FtpServer::start(site).expect("a server"), target.path());
    let output = ["--retry", "0", "-o", path.to_str().expect("a path in UTF-8")];
    run_fetch_url([&output, options, &[&server.url("d/o")]].concat())
}

#[track_caller]
fn assert_nothing_kept(target: &Target) {
    let path = target.path();
    assert!(!part_path(&path).exists() && !part_metadata_path(&path).exists() && !path.exists());
}

#[test]
fn file_that_grows_is_the_same_in_segments_as_over_one_connection() {
    for surplus in [31, 300_000] {
        let grown = pattern_vec(0, SIZE + surplus);
        let site =
            || test_site(grown[..SIZE].to_vec()).on("RETR", FtpAction::AppendData(grown[SIZE..].into()));
        for (site, segments) in [
            (site(), "1"),
            (site(), "4"),
            (with_one_connection(site()), "4"),
            (with_late_last_segment(site()), "4"),
        ] {
            let target = Target::new(OldFile::Absent).expect("a directory");
            let result = fetch(site, &target, &["--segments", segments, "-w", "%{size_download}"]);
            result.assert_exit(0).assert_stderr_contains("a size that matches the received bytes is missing");
            assert_eq!(result.stdout_text(), grown.len().to_string());
            assert!(target.content().expect("a file").as_ref() == Some(&grown), "{segments}, {surplus}");
        }
    }
}

/// The overlaps of the segments match, because the file consists of zeros: more bytes than the size can mean that REST is
/// ignored. So they can if the first segment, whose bytes show that, is the last one to be fetched. The file is fetched
/// again over one connection.
#[test]
fn bytes_that_may_be_of_an_ignored_rest_are_not_kept() {
    let ignored = || test_site(vec![0; SIZE]).answer("REST", "350 of course\r\n");
    let grown = || test_site(vec![0; SIZE]).on("RETR", FtpAction::AppendData(vec![0; 31]));
    for (number, (site, size)) in [
        (ignored(), SIZE),
        (with_one_connection(ignored()), SIZE),
        (with_late_last_segment(ignored()), SIZE),
        (with_late_last_segment(grown()), SIZE + 31),
    ]
    .into_iter()
    .enumerate()
    {
        let target = Target::new(OldFile::Absent).expect("a directory");
        let result = fetch(site, &target, &["--segments", "4"]);
        assert_eq!(result.exit, 0, "{number}: {}", result.stderr);
        result.assert_stderr_contains("range refused").assert_stderr_contains("over one connection");
        assert!(target.content().expect("a file") == Some(vec![0; size]), "{number}");
    }
}

/// The bytes after the stated size count towards `--max-filesize`.
#[test]
fn file_that_grows_beyond_the_size_limit_is_not_saved() {
    let site = test_site(pattern_vec(0, SIZE)).on("RETR", FtpAction::AppendData(vec![7; 31]));
    let target = Target::new(OldFile::Absent).expect("a directory");
    let limit = (SIZE + 30).to_string();
    fetch(site, &target, &["--segments", "4", "--max-filesize", &limit]).assert_exit(63);
    assert!(!target.path().exists());
}

#[test]
fn invalid_final_reply_of_a_segment_keeps_the_bytes_for_resume() {
    let content = pattern_vec(0, SIZE);
    for surplus in [0, 31] {
        let site = test_site(content.clone()).on("RETR", FtpAction::AppendData(vec![7; surplus]));
        let site = with_late_last_segment(site.final_reply("331 Who?\r\n"));
        let target = Target::new(OldFile::Absent).expect("a directory");
        fetch(site, &target, &["--segments", "4"]).assert_exit(8);
        let part = fs::read(part_path(&target.path())).expect("a .part file");
        assert!(part.get(..SIZE) == Some(&content) && part_metadata_path(&target.path()).exists());
    }
}

/// A server that ignores REST, and whose first transfer breaks off within zeros, so that the overlap matches.
fn ignoring_rest(content: &[u8]) -> FtpServer {
    let cut = FtpAction::CutData(1_000_000, Ending::Reset);
    let site =
        test_site(content.to_vec()).rule(FtpRule::on("RETR", cut).nth(1)).answer("REST", "350 of course\r\n");
    FtpServer::start(site).expect("a server")
}

fn sparse_content() -> Vec<u8> {
    [vec![0; 3_000_000], pattern_vec(0, 1000)].concat()
}

#[test]
fn retry_whose_rest_is_ignored_begins_again_or_fails() {
    let content = sparse_content();
    let target = Target::new(OldFile::Absent).expect("a directory");
    let server = ignoring_rest(&content);
    let output = target.path();
    let saved =
        run_fetch_url(["-o", output.to_str().expect("UTF-8"), "--retry-delay", "0.01", &server.url("d/o")]);
    saved.assert_exit(0);
    assert!(target.content().expect("a file") == Some(content.clone()), "other bytes: {}", saved.stderr);
    // Standard output cannot begin again.
    let printed = run_fetch_url(["--retry-delay", "0.01", &ignoring_rest(&content).url("d/o")]);
    printed.assert_exit(18).assert_stderr_contains("ignored the requested offset");
}

#[test]
fn continued_run_whose_rest_is_ignored_keeps_nothing() {
    let content = sparse_content();
    let target = Target::new(OldFile::Absent).expect("a directory");
    let (server, path) = (ignoring_rest(&content), target.path());
    let run = || {
        run_fetch_url(["--retry", "0", "-C", "-", "-o", path.to_str().expect("UTF-8"), &server.url("d/o")])
    };
    run().assert_exit(18);
    assert!(part_path(&path).exists());
    run().assert_exit(18).assert_stderr_contains("ignored the requested offset");
    assert_nothing_kept(&target);
    run().assert_exit(0);
    assert!(target.content().expect("a file") == Some(content));
}
