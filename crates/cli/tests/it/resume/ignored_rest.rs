//! FTP servers that accept REST and send the file from its start (docs/spec/semantics.md 2.45, cli.md 5.2).

use std::fs;

use crate::support::{RunResult, run_fetch_url};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpRule, FtpServer, OldFile, Target, pattern_vec};

const ZEROS: usize = 300_000;
/// More bytes than are compared with the start of a file that repeats itself.
const OFFSET: usize = ZEROS;

fn zeros_and_pattern() -> Vec<u8> {
    [vec![0; ZEROS], pattern_vec(0, 1000)].concat()
}

fn site(content: &[u8]) -> FtpConfig {
    FtpConfig::new().file("/d/o", content.to_vec()).modified("/d/o", "19941201123456")
}

fn ignoring_rest(site: FtpConfig) -> FtpConfig {
    site.answer("REST", "350 of course\r\n")
}

/// Continues a file that has the first `offset` bytes of `content`.
fn continue_at(server: &FtpServer, content: &[u8], offset: usize) -> (Target, RunResult) {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let path = target.path();
    fs::write(&path, &content[..offset]).expect("the file is written");
    let offset = offset.to_string();
    let output = path.to_str().expect("a path in UTF-8");
    let result = run_fetch_url(["-C", &offset, "-o", output, &server.url("d/o")]);
    (target, result)
}

#[test]
fn rest_of_a_file_of_zeros_exits_33_if_no_size_proves_the_offset() {
    let content = zeros_and_pattern();
    for site in [site(&content), ignoring_rest(site(&content))] {
        let server = FtpServer::start(site.without("SIZE")).expect("a server");
        let (target, result) = continue_at(&server, &content, OFFSET);
        result.assert_exit(33).assert_stderr_contains("does not report the size");
        assert!(target.content().expect("a file").as_deref() == Some(&content[..OFFSET]));
        assert!(!server.received_text().iter().any(|line| line.starts_with("RETR")));
    }
}

#[test]
fn rest_of_a_file_of_zeros_is_appended_if_the_size_proves_the_offset() {
    let content = zeros_and_pattern();
    let server = FtpServer::start(site(&content)).expect("a server");
    let (target, result) = continue_at(&server, &content, OFFSET);
    result.assert_exit(0);
    assert!(target.content().expect("a file").as_ref() == Some(&content));
    let server = FtpServer::start(ignoring_rest(site(&content))).expect("a server");
    let (target, result) = continue_at(&server, &content, OFFSET);
    assert_ne!(result.exit, 0, "the server ignores REST");
    assert!(target.content().expect("a file").as_deref() == Some(&content[..OFFSET]));
}

#[test]
fn more_bytes_are_compared_if_the_last_64_are_those_at_the_start() {
    // One byte differs, 2,000 bytes before the offset.
    let mut content = zeros_and_pattern();
    content[OFFSET - 2000] = 1;
    let server = FtpServer::start(site(&content).without("SIZE")).expect("a server");
    let (target, result) = continue_at(&server, &content, OFFSET);
    result.assert_exit(0);
    assert!(target.content().expect("a file").as_ref() == Some(&content));
    let server = FtpServer::start(ignoring_rest(site(&content)).without("SIZE")).expect("a server");
    let (target, result) = continue_at(&server, &content, OFFSET);
    result.assert_exit(33).assert_stderr_contains("ignores REST");
    assert!(target.content().expect("a file").as_deref() == Some(&content[..OFFSET]));
}

#[test]
fn file_of_zeros_is_compared_from_its_start_if_it_is_short() {
    let content = zeros_and_pattern();
    let server = FtpServer::start(ignoring_rest(site(&content)).without("SIZE")).expect("a server");
    let (target, result) = continue_at(&server, &content, 100_000);
    result.assert_exit(0);
    assert!(target.content().expect("a file").as_ref() == Some(&content));
    assert!(!server.received_text().iter().any(|line| line.starts_with("REST")), "no offset is requested");
}

#[test]
fn range_that_breaks_off_is_not_fetched_again_from_a_server_that_ignores_rest() {
    let content = pattern_vec(0, 300_000);
    let cut = FtpRule::on("RETR", FtpAction::CutData(50_000, Ending::Reset)).nth(1);
    for range in ["1000-200000", "1000-"] {
        let server = FtpServer::start(ignoring_rest(site(&content).rule(cut.clone()))).expect("a server");
        let target = Target::new(OldFile::Absent).expect("a directory");
        let path = target.path();
        let output = path.to_str().expect("a path in UTF-8");
        let result = run_fetch_url(["-r", range, "--retry-delay", "0.02", "-o", output, &server.url("d/o")]);
        result.assert_exit(18).assert_stderr_contains("REST");
        assert!(target.content().expect("a directory").is_none(), "{range}: wrong bytes");
        assert!(target.leftovers().expect("a directory").is_empty(), "{range}: wrong bytes are kept");
    }
}
