//! An interrupted download is resumed if the file is unchanged.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::received_commands::commands;
use crate::live::ftp_server::{FtpServer, PUREFTPD, each_ftp_server};
use crate::live::tree::{BIG, range};
use crate::live::work_dir::{WorkDir, fetch};
use fetch_url_tests::sha256;

each_ftp_server![
    interrupted_download_is_resumed,
    killed_download_is_completed_by_the_next_run,
    resume_sends_rest_if_the_file_is_unchanged,
    resume_restarts_when_size_or_time_changed,
    resume_restarts_when_the_part_has_other_bytes_or_url,
    resume_of_a_complete_part_finishes_the_file,
    resume_restarts_when_the_part_is_longer_than_the_file,
    part_without_state_is_not_resumed,
    download_after_max_time_is_resumed,
];

/// Starts a download of big.bin and sends the signal when more than 4,000,000 bytes are in the `.part` file. Repeats
/// this if the download was complete before.
#[track_caller]
fn interrupt_download(dir: &WorkDir, url: &str, signal: &str) {
    for _ in 0..20 {
        let running = dir.start(&["-o", "big", url]);
        let begun = Instant::now();
        let part = dir.path("big.fetch-url.part");
        while begun.elapsed() < Duration::from_secs(10) && !dir.path("big").exists() {
            if part.metadata().is_ok_and(|metadata| metadata.len() > 4_000_000) {
                break;
            }
            sleep(Duration::from_micros(200));
        }
        running.signal(signal);
        let exit = running.wait().exit;
        if exit < 0 && !dir.path("big").exists() && part.exists() {
            return;
        }
        dir.clear();
    }
    panic!("{url} was always whole before it could be interrupted");
}

fn interrupted_download_is_resumed(server: FtpServer) {
    for signal in ["INT", "TERM"] {
        let (dir, url) = (WorkDir::new(), server.url("/big.bin"));
        interrupt_download(&dir, &url, signal);
        dir.assert_entries(&["big.fetch-url.json", "big.fetch-url.part"]);
        let came = dir.read("big.fetch-url.part").len();
        let result = dir.fetch(&["-v", "-C", "-", "-o", "big", &url]).assert_exit(0);
        let rest = format!("> REST {}", came - 64);
        result.assert_stderr_contains(&rest).assert_stderr_contains("> RETR big.bin");
        dir.assert_entries(&["big"]);
        assert_eq!(sha256(&dir.read("big")), BIG, "{signal}");
    }
}

/// After SIGKILL the state file may be missing: the `.part` file may be used or not; the final file has the right
/// content in both cases.
fn killed_download_is_completed_by_the_next_run(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/big.bin"));
    interrupt_download(&dir, &url, "KILL");
    assert!(!dir.path("big").exists());
    dir.fetch(&["-C", "-", "-o", "big", &url]).assert_exit(0);
    dir.assert_entries(&["big"]);
    assert_eq!(sha256(&dir.read("big")), BIG);
}

/// Returns the validator of `url` in the format of a state file.
fn validator(url: &str) -> String {
    let json = fetch(&["-I", "--format", "json", url]).assert_exit(0).text();
    let (_, rest) = json.split_once("\"validator\":\"").unwrap_or_else(|| panic!("no validator: {json}"));
    rest.split('"').next().expect("the end of a string").to_owned()
}

fn resume_sends_rest_if_the_file_is_unchanged(server: FtpServer) {
    for path in ["/range.txt", "/pub/../range.txt", "/%2Frange.txt"] {
        let (dir, url) = (WorkDir::new(), server.url(path));
        dir.leave_part("here", &url, &validator(&url), &range()[..40_000], 80_000);
        let result = dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).assert_exit(0);
        result
            .assert_stderr_contains("> SIZE range.txt".trim_end_matches("range.txt"))
            .assert_stderr_contains("> MDTM ")
            .assert_stderr_contains("> REST 39936");
        dir.assert_entries(&["here"]);
        assert_eq!(dir.read("here"), range(), "{path}");
    }
    // The server received REST directly before RETR.
    if server.name != PUREFTPD.name {
        let received = commands(server, &["-C", "40000"], "/range.txt");
        let rest = received.iter().position(|line| line == "REST 40000").expect("REST");
        assert!(received[rest..].contains(&"RETR range.txt".to_owned()), "{received:?}");
    }
}

/// Leaves a `.part` file with 40,000 wrong bytes, this validator and size, and asserts that none of these bytes remain.
#[track_caller]
fn assert_restarts(server: FtpServer, validator: &str, size: usize) {
    let (dir, url) = (WorkDir::new(), server.url("/range.txt"));
    dir.leave_part("here", &url, validator, &[b'x'; 40_000], size);
    let result = dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).assert_exit(0);
    result.assert_stderr_omits("> REST");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range(), "{validator} {size}");
}

/// SIZE and MDTM identify the version of a file.
fn resume_restarts_when_size_or_time_changed(server: FtpServer) {
    let right = validator(&server.url("/range.txt"));
    assert_restarts(server, &right, 80_008);
    assert_restarts(server, &right.replace("1994", "1995"), 80_000);
    for validator in ["modified 19941201123457", "modified ", "etag \"x\"", ""] {
        assert_restarts(server, validator, 80_000);
    }
}

/// The state file contains a digest of the end of the `.part` file.
fn resume_restarts_when_the_part_has_other_bytes_or_url(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/range.txt"));
    dir.leave_part("here", &url, &validator(&url), &range()[..40_000], 80_000);
    let mut bytes = range()[..40_000].to_vec();
    bytes[39_999] = b'x';
    dir.write("here.fetch-url.part", bytes);
    dir.fetch(&["-C", "-", "-o", "here", &url]).assert_exit(0);
    assert_eq!(dir.read("here"), range());
    // A `.part` file of another URL is not used either.
    let other = server.url("/lf.txt");
    dir.leave_part("there", &other, &validator(&url), &[b'x'; 40_000], 80_000);
    dir.fetch(&["-C", "-", "-o", "there", &url]).assert_exit(0);
    assert_eq!(dir.read("there"), range());
}

fn resume_of_a_complete_part_finishes_the_file(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/range.txt"));
    dir.leave_part("here", &url, &validator(&url), &range(), 80_000);
    dir.fetch(&["-C", "-", "-o", "here", &url]).assert_exit(0);
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
    // If the file is complete and no `.part` file exists, the same command succeeds and changes nothing.
    let again = dir.fetch(&["-C", "-", "-o", "here", &url]);
    again.assert_exit(0).assert_stderr_contains("here is already complete: 80000 bytes");
    assert_eq!(dir.read("here"), range());
}

fn resume_restarts_when_the_part_is_longer_than_the_file(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/range.txt"));
    let long = [range(), b"more".to_vec()].concat();
    dir.leave_part("here", &url, &validator(&url), &long, 80_004);
    dir.fetch(&["-C", "-", "-o", "here", &url]).assert_exit(0);
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

fn part_without_state_is_not_resumed(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/range.txt"));
    dir.write("here.fetch-url.part", [b'x'; 40_000]);
    dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).assert_exit(0).assert_stderr_omits("> REST");
    assert_eq!(dir.read("here"), range());
    dir.assert_entries(&["here"]);
    // Without -C the `.part` file is not used.
    dir.leave_part("there", &url, &validator(&url), &range()[..40_000], 80_000);
    dir.fetch(&["-v", "-o", "there", &url]).assert_exit(0).assert_stderr_omits("> REST");
    assert_eq!(dir.read("there"), range());
}

/// The bytes received until the timeout are resumed. The duration of a complete transfer is measured first.
fn download_after_max_time_is_resumed(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/big.bin"));
    let whole = dir.fetch(&["-o", "big", &url]).assert_exit(0).took.as_secs_f64();
    let (mut too_short, mut too_long, mut resumed) = (0.0, whole * 2.0, 0);
    for _ in 0..60 {
        dir.clear();
        let limit = f64::midpoint(too_short, too_long);
        let result = dir.fetch(&["-m", &format!("{limit:.4}"), "-o", "big", &url]);
        let came = dir.path("big.fetch-url.part").metadata().map_or(0, |metadata| metadata.len());
        if result.exit == 28 && came > 64 {
            let result = dir.fetch(&["-v", "-C", "-", "-o", "big", &url]).assert_exit(0);
            result.assert_stderr_contains(&format!("> REST {}", came - 64));
            assert_eq!(sha256(&dir.read("big")), BIG);
            resumed += 1;
        } else if result.exit == 28 {
            too_short = limit;
        } else {
            result.assert_exit(0);
            too_long = limit;
        }
        if resumed == 2 {
            return;
        }
        // The limits are widened again, because the duration varies from run to run.
        if too_long - too_short < whole / 50.0 {
            (too_short, too_long) = (too_short * 0.8, too_long * 1.2);
        }
    }
    panic!("{url} was never cut by time while it came");
}
