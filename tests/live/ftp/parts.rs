//! Byte ranges of a file, its modification time, and `-I`.

use std::fs;

use std::time::{Duration, UNIX_EPOCH};

use super::received_commands::{assert_commands, traced_commands};
use crate::live::ftp_server::{FtpServer, PUREFTPD, each_ftp_server};
use crate::live::http::parts::RANGES;
use crate::live::tree::{BIG, HELLO, MODIFIED, range};
use crate::live::work_dir::{WorkDir, fetch, key};
use fetch_url_tests::sha256;

each_ftp_server![
    range_returns_exactly_its_bytes,
    range_beyond_the_end_exits_33,
    range_of_an_empty_file_exits_33,
    range_of_a_missing_file_exits_78,
    range_sends_rest_before_retr,
    continue_at_an_offset_fetches_the_rest,
    head_shows_known_metadata,
    head_sends_size_and_mdtm_without_a_data_connection,
    remote_time_sets_the_modification_time,
    unchanged_file_is_not_transferred_with_time_cond,
    file_above_max_filesize_exits_63,
    range_of_a_64_mib_file_returns_its_bytes,
];

fn range_returns_exactly_its_bytes(server: FtpServer) {
    let long = ("-99999", 0..80_000);
    for (asked, part) in RANGES.into_iter().chain([long]) {
        fetch(&["-r", asked, &server.url("/range.txt")]).assert_success(&range()[part]);
    }
    let dir = WorkDir::new();
    dir.fetch(&["-r", "8-15", "-o", "here", &server.url("/range.txt")]).assert_success("");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), b"0000001\n");
    // After an aborted transfer the next file has the right bytes, over the same or another connection.
    let (first, second) = (server.url("/range.txt"), server.url("/range.txt"));
    fetch(&["-r", "8-15", &first, &second]).assert_success("0000001\n0000001\n");
}

/// vsftpd and bsdftpd would reply 226 after no data.
fn range_beyond_the_end_exits_33(server: FtpServer) {
    for asked in ["80000-", "80000-80007", "99999999999-"] {
        fetch(&["-r", asked, &server.url("/range.txt")]).assert_exit(33).assert_stdout("");
    }
    fetch(&["-C", "80001", &server.url("/range.txt")]).assert_exit(33).assert_stdout("");
    fetch(&["-r", "9-0", &server.url("/range.txt")]).assert_exit(2);
}

/// A range of a missing file is "not found".
fn range_of_a_missing_file_exits_78(server: FtpServer) {
    for asked in ["0-9", "5-", "-8"] {
        fetch(&["-r", asked, &server.url(&format!("/{}", key()))]).assert_exit(78).assert_stdout("");
    }
    fetch(&["-C", "5", &server.url(&format!("/{}", key()))]).assert_exit(78).assert_stdout("");
}

/// As in HTTP, an empty file has no first byte, so every range is refused.
fn range_of_an_empty_file_exits_33(server: FtpServer) {
    for asked in ["0-9", "0-0", "1-"] {
        fetch(&["-r", asked, &server.url("/empty.bin")]).assert_exit(33).assert_stdout("");
    }
}

fn range_sends_rest_before_retr(server: FtpServer) {
    let before = ["TYPE I", "SIZE range.txt", "MDTM range.txt", "EPSV"];
    let expected = [&before[..], &["REST 79992", "RETR range.txt"]].concat();
    let result = fetch(&["-v", "-r", "-8", &server.url("/range.txt")]).assert_exit(0);
    assert_eq!(traced_commands(server, &result.err), expected);
    // On servers where the session is identified by a second URL, the range applies to that URL, too, and its transfer
    // fails.
    let whole = [&before[..], &["RETR range.txt"]].concat();
    if server.name != PUREFTPD.name {
        assert_commands(server, &["-r", "-8"], "/range.txt", &expected);
        assert_commands(server, &["-r", "0-"], "/range.txt", &whole);
    }
}

fn continue_at_an_offset_fetches_the_rest(server: FtpServer) {
    let dir = WorkDir::new();
    fetch(&["-C", "40000", &server.url("/range.txt")]).assert_success(&range()[40_000..]);
    dir.write("here", &range()[..40_000]);
    dir.fetch(&["-C", "40000", "-o", "here", &server.url("/range.txt")]).assert_exit(0);
    let here = dir.read("here");
    assert!(here == range() || here == range()[40_000..], "{} octets", here.len());
}

fn head_shows_known_metadata(server: FtpServer) {
    let url = server.url("/range.txt");
    fetch(&["-I", &url]).assert_success("size: 80000\nmodified: 1994-12-01 12:34\n\n");
    let json = fetch(&["-I", "--format", "json", &url]).assert_exit(0).text();
    for pair in ["\"size\":80000", "\"modified\":786285296", &format!("\"url\":\"{url}\"")] {
        assert!(json.contains(pair), "{pair} is missing in {json}");
    }
    fetch(&["-I", &server.url(&format!("/{}", key()))]).assert_exit(78).assert_stdout("");
    fetch(&["-I", &server.url(&format!("/pub/{}/x", key()))]).assert_exit(78).assert_stdout("");
    let dir = WorkDir::new();
    dir.fetch(&["-I", "-o", "here", &url]).assert_success("");
    assert_eq!(dir.read("here"), b"size: 80000\nmodified: 1994-12-01 12:34\n\n");
}

/// `-I` opens no data connection.
fn head_sends_size_and_mdtm_without_a_data_connection(server: FtpServer) {
    let result = fetch(&["-v", "-I", &server.url("/pub/README")]).assert_exit(0);
    let sent: Vec<&str> = result.err.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let rest = &sent[sent.iter().position(|line| *line == "CWD pub").expect("CWD")..];
    assert!(!sent.contains(&"EPSV"), "{sent:?}");
    assert_eq!(rest, ["CWD pub", "TYPE I", "SIZE README", "MDTM README"]);
}

fn remote_time_sets_the_modification_time(server: FtpServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-R", "-O", &server.url("/hello.txt")]).assert_success("");
    let modified = fs::metadata(dir.path("hello.txt")).and_then(|metadata| metadata.modified());
    assert_eq!(modified.expect("a time"), UNIX_EPOCH + Duration::from_secs(MODIFIED));
    let dir = WorkDir::new();
    dir.fetch(&["-O", &server.url("/odd/with%20space/a%20file.txt")]).assert_success("");
    dir.assert_entries(&["a file.txt"]);
}

fn unchanged_file_is_not_transferred_with_time_cond(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/hello.txt"));
    dir.fetch(&["-z", "Thu, 01 Dec 1994 12:34:55 GMT", "-o", "here", &url]).assert_success("");
    assert_eq!(dir.read("here"), HELLO.as_bytes());
    dir.write("here", "old");
    for since in ["Thu, 01 Dec 1994 12:34:56 GMT", "Thu, 01 Dec 1994 12:34:57 GMT", "2020-01-01"] {
        let result = dir.fetch(&["-v", "-z", since, "-o", "here", &url]).assert_exit(0);
        assert_eq!(dir.read("here"), b"old", "{since}");
        result.assert_stderr_omits("> RETR");
    }
    dir.assert_entries(&["here"]);
    fetch(&["-z", "-Fri, 02 Dec 1994 12:34:56 GMT", &url]).assert_success(HELLO);
    fetch(&["-z", "-Wed, 30 Nov 1994 12:34:56 GMT", &url]).assert_exit(0).assert_stdout("");
    // The time of an existing local file is the condition.
    dir.fetch(&["-R", "-o", "ours", &url]).assert_success("");
    dir.write("copy", "other octets");
    dir.fetch(&["-z", "ours", "-o", "copy", &url]).assert_exit(0);
    assert_eq!(dir.read("copy"), b"other octets");
}

fn file_above_max_filesize_exits_63(server: FtpServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-o", "big", "--max-filesize", "1M", &server.url("/big.bin")]).assert_exit(63);
    assert!(!dir.path("big").exists());
    dir.fetch(&["-o", "small", "--max-filesize", "80000", &server.url("/range.txt")]).assert_success("");
    assert_eq!(dir.read("small"), range());
    dir.fetch(&["-o", "less", "--max-filesize", "79999", &server.url("/range.txt")]).assert_exit(63);
    assert!(!dir.path("less").exists());
}

fn range_of_a_64_mib_file_returns_its_bytes(server: FtpServer) {
    let whole = fetch(&["--require-complete", &server.url("/big.bin")]).assert_exit(0).out;
    assert_eq!(sha256(&whole), BIG);
    let part = fetch(&["-r", "33554432-41943039", &server.url("/big.bin")]).assert_exit(0).out;
    assert!(part == whole[33_554_432..41_943_040], "{} octets", part.len());
}
