//! Large files over FTP: the kernel moves their bytes from the connection to the file, in the middle of the transfer
//! (docs/spec/semantics.md §2, "Resume and ranges"; docs/spec/faults.md, section 3.1).

use std::time::Duration;

use crate::support::{RunResult, run_fetch_url, run_shell};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpRule, FtpServer, OldFile, Target, pattern_vec};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const SIZE: usize = 5 * MIB + 1;
/// Within the bytes that the kernel moves.
const CUT: u64 = 3 * MIB as u64;
/// The maximum number of bytes before the resume offset that may be downloaded again, to compare them.
const MAX_OVERLAP: u64 = 1024;

fn content(size: usize) -> Vec<u8> {
    pattern_vec(0, size)
}

fn config(size: usize) -> FtpConfig {
    FtpConfig::new().file("/d/o", content(size)).modified("/d/o", "19941201123456")
}

/// Fetches the file from a new server with `config`.
fn fetch(config: FtpConfig, options: &str) -> (RunResult, Target, FtpServer) {
    let server = FtpServer::start(config).expect("start server");
    let target = Target::new(OldFile::Absent).expect("create target directory");
    let path = target.path();
    let arguments = ["--read-timeout", "1.5", "-v", "-o", path.to_str().expect("valid UTF-8")];
    let url = server.url("/d/o");
    let result = run_fetch_url(arguments.into_iter().chain(options.split_whitespace()).chain([url.as_str()]));
    (result, target, server)
}

#[track_caller]
fn assert_content(target: &Target, expected: &[u8], case: &str) {
    let now = target.content().expect("read target file").unwrap_or_default();
    let equal = now.iter().zip(expected).take_while(|(left, right)| left == right).count();
    assert!(now == expected, "{case}: {} of {} bytes, equal up to {equal}", now.len(), expected.len());
    assert!(target.leftovers().expect("read target directory").is_empty(), "{case}");
}

#[test]
fn file_of_any_size_is_saved_exactly() {
    for size in [512 * KIB - 1, 512 * KIB, 512 * KIB + 1, 2 * MIB, SIZE] {
        for options in ["", "-C -", "--limit-rate 200M"] {
            let (result, target, _) = fetch(config(size), options);
            result.assert_exit(0);
            assert_content(&target, &content(size), &format!("{size} {options}"));
        }
    }
}

#[test]
fn file_that_grows_during_the_transfer_is_saved_with_all_bytes() {
    let config = config(SIZE).on("RETR", FtpAction::AppendData(vec![7; 2 * MIB]));
    let (result, target, _) = fetch(config, "");
    result.assert_exit(0);
    assert!(result.stderr.contains("a size that matches the received bytes is missing"), "{}", result.stderr);
    assert_content(&target, &[content(SIZE), vec![7; 2 * MIB]].concat(), "grown");
}

#[test]
fn transfer_that_breaks_off_continues_with_the_missing_bytes() {
    for ending in [Ending::Close, Ending::Reset] {
        let config = config(SIZE).rule(FtpRule::on("RETR", FtpAction::CutData(CUT, ending)).nth(1));
        let (result, target, server) = fetch(config, "--retry 2 --retry-delay 0.02");
        result.assert_exit(0);
        assert_content(&target, &content(SIZE), &format!("{ending:?}"));
        let sent = server.bytes_sent();
        // A reset discards bytes that the client has not read yet.
        let most = if matches!(ending, Ending::Close) { SIZE as u64 + MAX_OVERLAP } else { 2 * SIZE as u64 };
        assert!((SIZE as u64..=most).contains(&sent), "{ending:?}: {sent} sent");
    }
}

#[test]
fn transfer_that_breaks_off_restarts_if_the_object_has_changed() {
    let other: Vec<u8> = content(SIZE).iter().map(|byte| !byte).collect();
    let config = config(SIZE)
        .rule(FtpRule::on("RETR", FtpAction::Data(other)).nth(1))
        .rule(FtpRule::on("RETR", FtpAction::CutData(CUT, Ending::Close)).nth(1));
    let (result, target, _) = fetch(config, "--retry 2 --retry-delay 0.02");
    result.assert_exit(0);
    assert_content(&target, &content(SIZE), "the second version");
}

#[test]
fn second_run_continues_with_the_missing_bytes() {
    let (result, target, server) =
        fetch(config(SIZE).rule(FtpRule::on("RETR", FtpAction::CutData(CUT, Ending::Close)).nth(1)), "-C -");
    result.assert_exit(18);
    let path = target.path();
    let url = server.url("/d/o");
    run_fetch_url(["-C", "-", "-o", path.to_str().expect("valid UTF-8"), &url]).assert_exit(0);
    assert_content(&target, &content(SIZE), "resumed");
    let sent = server.bytes_sent();
    assert!(sent <= SIZE as u64 + MAX_OVERLAP, "{sent} sent");
}

#[test]
fn fault_in_the_middle_leaves_no_file() {
    let stall = FtpAction::Drip(SIZE / 2, Duration::from_secs(30));
    for (case, config, options, exit) in [
        ("too short", config(SIZE).close_data_after(CUT), "", 18),
        ("above the limit", config(SIZE), "--max-filesize 4M", 63),
        ("a stall", config(SIZE).on("RETR", stall), "", 28),
        ("a negative final reply", config(SIZE).final_reply("451 Failed.\r\n"), "", 18),
    ] {
        let (result, target, _) = fetch(config, options);
        assert_eq!(result.exit, exit, "{case}: {}", result.stderr);
        assert!(target.is_untouched().expect("read target directory"), "{case}");
    }
}

#[test]
fn file_that_exceeds_the_size_limit_of_the_process_fails() {
    let server = FtpServer::start(config(SIZE)).expect("start server");
    let target = Target::new(OldFile::Absent).expect("create target directory");
    let (url, path) = (server.url("/d/o"), target.path());
    let script = "ulimit -f 6000; exec \"$F\" -o \"$2\" \"$1\"";
    let result = run_shell(script, &[&url, path.to_str().expect("valid UTF-8")]);
    result.assert_exit(23);
    assert!(target.is_untouched().expect("read target directory"), "{}", result.stderr);
}
