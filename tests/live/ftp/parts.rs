//! Byte ranges of a file, its modification time, and `-I`.

use std::fs;

use std::time::{Duration, UNIX_EPOCH};

use super::seen::{dialogue, sees};
use crate::live::digest::sha256;
use crate::live::ftp_server::{FtpServer, PUREFTPD, each_ftp_server};
use crate::live::http::parts::RANGES;
use crate::live::place::{Place, fetch, key};
use crate::live::tree::{BIG, HELLO, MODIFIED, range};

each_ftp_server![
    ranges,
    ranges_beyond_the_end,
    ranges_of_nothing,
    a_part_of_a_missing_file,
    the_commands_of_a_range,
    the_rest_of_a_file_of_ours,
    head_shows_known_metadata,
    the_commands_of_head,
    the_time_of_the_file,
    only_what_changed,
    limits_of_size,
    a_part_of_a_big_file,
];

fn ranges(server: FtpServer) {
    let long = ("-99999", 0..80_000);
    for (asked, part) in RANGES.into_iter().chain([long]) {
        fetch(&["-r", asked, &server.url("/range.txt")]).gives(&range()[part]);
    }
    let place = Place::new();
    place.fetch(&["-r", "8-15", "-o", "here", &server.url("/range.txt")]).gives("");
    place.holds(&["here"]);
    assert_eq!(place.read("here"), b"0000001\n");
    // After an aborted transfer the next file is right, over the same or another connection.
    let (first, second) = (server.url("/range.txt"), server.url("/range.txt"));
    fetch(&["-r", "8-15", &first, &second]).gives("0000001\n0000001\n");
}

/// vsftpd and bsdftpd would reply 226 after no data.
fn ranges_beyond_the_end(server: FtpServer) {
    for asked in ["80000-", "80000-80007", "99999999999-"] {
        fetch(&["-r", asked, &server.url("/range.txt")]).exits(33).writes("");
    }
    fetch(&["-C", "80001", &server.url("/range.txt")]).exits(33).writes("");
    fetch(&["-r", "9-0", &server.url("/range.txt")]).exits(2);
}

/// A range of a missing file is "not found".
fn a_part_of_a_missing_file(server: FtpServer) {
    for asked in ["0-9", "5-", "-8"] {
        fetch(&["-r", asked, &server.url(&format!("/{}", key()))]).exits(78).writes("");
    }
    fetch(&["-C", "5", &server.url(&format!("/{}", key()))]).exits(78).writes("");
}

/// As in HTTP, an empty file has no first byte, so every range is refused.
fn ranges_of_nothing(server: FtpServer) {
    for asked in ["0-9", "0-0", "1-"] {
        fetch(&["-r", asked, &server.url("/empty.bin")]).exits(33).writes("");
    }
}

fn the_commands_of_a_range(server: FtpServer) {
    let before = ["TYPE I", "SIZE range.txt", "MDTM range.txt", "EPSV"];
    let expected = [&before[..], &["REST 79992", "RETR range.txt"]].concat();
    let ran = fetch(&["-v", "-r", "-8", &server.url("/range.txt")]).exits(0);
    assert_eq!(dialogue(server, &ran.err), expected);
    // Where the session is found by a second URL, that URL has the range too, and fails.
    let whole = [&before[..], &["RETR range.txt"]].concat();
    if server.name != PUREFTPD.name {
        sees(server, &["-r", "-8"], "/range.txt", &expected);
        sees(server, &["-r", "0-"], "/range.txt", &whole);
    }
}

fn the_rest_of_a_file_of_ours(server: FtpServer) {
    let place = Place::new();
    fetch(&["-C", "40000", &server.url("/range.txt")]).gives(&range()[40_000..]);
    place.write("here", &range()[..40_000]);
    place.fetch(&["-C", "40000", "-o", "here", &server.url("/range.txt")]).exits(0);
    let here = place.read("here");
    assert!(here == range() || here == range()[40_000..], "{} octets", here.len());
}

fn head_shows_known_metadata(server: FtpServer) {
    let url = server.url("/range.txt");
    fetch(&["-I", &url]).gives("size: 80000\nmodified: 1994-12-01 12:34\n");
    let json = fetch(&["-I", "--format", "json", &url]).exits(0).text();
    for pair in ["\"size\":80000", "\"modified\":786285296", &format!("\"url\":\"{url}\"")] {
        assert!(json.contains(pair), "{pair} is missing in {json}");
    }
    fetch(&["-I", &server.url(&format!("/{}", key()))]).exits(78).writes("");
    fetch(&["-I", &server.url(&format!("/pub/{}/x", key()))]).exits(78).writes("");
    let place = Place::new();
    place.fetch(&["-I", "-o", "here", &url]).gives("");
    assert_eq!(place.read("here"), b"size: 80000\nmodified: 1994-12-01 12:34\n");
}

/// `-I` opens no data connection.
fn the_commands_of_head(server: FtpServer) {
    let ran = fetch(&["-v", "-I", &server.url("/pub/README")]).exits(0);
    let sent: Vec<&str> = ran.err.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let rest = &sent[sent.iter().position(|line| *line == "CWD pub").expect("CWD")..];
    assert!(!sent.contains(&"EPSV"), "{sent:?}");
    assert_eq!(rest, ["CWD pub", "TYPE I", "SIZE README", "MDTM README"]);
}

fn the_time_of_the_file(server: FtpServer) {
    let place = Place::new();
    place.fetch(&["-R", "-O", &server.url("/hello.txt")]).gives("");
    let modified = fs::metadata(place.path("hello.txt")).and_then(|facts| facts.modified());
    assert_eq!(modified.expect("a time"), UNIX_EPOCH + Duration::from_secs(MODIFIED));
    let place = Place::new();
    place.fetch(&["-O", &server.url("/odd/with%20space/a%20file.txt")]).gives("");
    place.holds(&["a file.txt"]);
}

fn only_what_changed(server: FtpServer) {
    let (place, url) = (Place::new(), server.url("/hello.txt"));
    place.fetch(&["-z", "Thu, 01 Dec 1994 12:34:55 GMT", "-o", "here", &url]).gives("");
    assert_eq!(place.read("here"), HELLO.as_bytes());
    place.write("here", "old");
    for since in ["Thu, 01 Dec 1994 12:34:56 GMT", "Thu, 01 Dec 1994 12:34:57 GMT", "2020-01-01"] {
        let ran = place.fetch(&["-v", "-z", since, "-o", "here", &url]).exits(0);
        assert_eq!(place.read("here"), b"old", "{since}");
        ran.hides("> RETR");
    }
    place.holds(&["here"]);
    fetch(&["-z", "-Fri, 02 Dec 1994 12:34:56 GMT", &url]).gives(HELLO);
    fetch(&["-z", "-Wed, 30 Nov 1994 12:34:56 GMT", &url]).exits(0).writes("");
    // The time of an existing local file is the condition.
    place.fetch(&["-R", "-o", "ours", &url]).gives("");
    place.write("copy", "other octets");
    place.fetch(&["-z", "ours", "-o", "copy", &url]).exits(0);
    assert_eq!(place.read("copy"), b"other octets");
}

fn limits_of_size(server: FtpServer) {
    let place = Place::new();
    place.fetch(&["-o", "big", "--max-filesize", "1M", &server.url("/big.bin")]).exits(63);
    assert!(!place.path("big").exists());
    place.fetch(&["-o", "small", "--max-filesize", "80000", &server.url("/range.txt")]).gives("");
    assert_eq!(place.read("small"), range());
    place.fetch(&["-o", "less", "--max-filesize", "79999", &server.url("/range.txt")]).exits(63);
    assert!(!place.path("less").exists());
}

fn a_part_of_a_big_file(server: FtpServer) {
    let whole = fetch(&["--require-complete", &server.url("/big.bin")]).exits(0).out;
    assert_eq!(sha256(&whole), BIG);
    let part = fetch(&["-r", "33554432-41943039", &server.url("/big.bin")]).exits(0).out;
    assert!(part == whole[33_554_432..41_943_040], "{} octets", part.len());
}
