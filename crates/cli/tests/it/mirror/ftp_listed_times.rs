//! `mirror` over FTP: the times of a listing whose text changes although the files do not, and servers without `MDTM`.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::support::mirror::{received_commands, run_mirror, unix_time};
use crate::support::temp_dir;
use fetch_url_tests::{FtpAction, FtpConfig, FtpRule, FtpServer};

/// A server with the file `/d/f`, modified on 1994-12-01 at `12:34:56`, without `MLSD`. The runs get the listings with
/// these dates.
fn site(dates: &[&str]) -> FtpConfig {
    let site = FtpConfig::new().file("/d/f", "AAAA").modified("/d/f", "19941201123456");
    let listing = |date: &str| format!("-rw-r--r-- 1 u g 4 {date} f\r\n").into_bytes();
    let rule =
        |(number, date): (usize, &&str)| FtpRule::on("LIST", FtpAction::Data(listing(date))).nth(number);
    (1..).zip(dates).map(rule).fold(site.without("MLSD").without("MLST"), FtpConfig::rule)
}

/// Mirrors the directory and returns how often `MDTM` and `RETR` were sent.
fn mirror(server: &FtpServer, target: &Path) -> [usize; 2] {
    let count = || ["MDTM", "RETR"].map(|verb| received_commands(server, verb).len());
    let before = count();
    run_mirror(&server.url("d/"), target, "").assert_exit(0);
    let after = count();
    [after[0] - before[0], after[1] - before[1]]
}

fn content(directory: &Path) -> String {
    fs::read_to_string(directory.join("f")).unwrap_or_default()
}

fn modified(directory: &Path) -> SystemTime {
    fs::metadata(directory.join("f")).and_then(|file| file.modified()).expect("a time")
}

/// `ls` prints the year instead of the time when a file is six months old, and local times move with daylight saving time.
#[test]
fn file_is_not_transferred_again_if_only_the_form_or_the_zone_of_its_listed_time_changes() {
    for (first, second) in [
        ("1994-12-01 12:34", "Dec  1  1994"),
        ("1994-12-01 12:34", "1994-12-01 13:34"),
        ("1994-12-01 12:34", "1994-12-01 11:34"),
        ("1994-12-01 23:34", "1994-12-02 00:34"),
    ] {
        let server = FtpServer::start(site(&[first, second, second])).expect("a server on loopback");
        let dir = temp_dir();
        assert_eq!(mirror(&server, dir.path()), [1, 1], "{second}");
        assert_eq!(mirror(&server, dir.path()), [1, 0], "{second}");
        assert_eq!(mirror(&server, dir.path()), [0, 0], "the new time is not recorded: {second}");
    }
}

#[test]
fn changed_file_of_equal_size_is_transferred_if_its_listed_time_differs_by_an_hour() {
    let site = site(&["1994-12-01 12:34", "1994-12-01 13:34", "1994-12-01 13:34"])
        .rule(FtpRule::on("MDTM", FtpAction::ReplaceReply(b"213 19941201123456\r\n".to_vec())).nth(1))
        .replace_reply("MDTM", "213 19941201133456\r\n")
        .rule(FtpRule::on("RETR", FtpAction::Data(b"BBBB".to_vec())).nth(2));
    let (server, dir) = (FtpServer::start(site).expect("a server on loopback"), temp_dir());
    assert_eq!(mirror(&server, dir.path()), [1, 1]);
    assert_eq!(mirror(&server, dir.path())[1], 1);
    assert_eq!(content(dir.path()), "BBBB");
    assert_eq!(mirror(&server, dir.path()), [0, 0]);
}

/// Nothing but the listing shows whether the file has changed.
#[test]
fn file_is_transferred_again_under_another_listed_time_if_the_server_states_none() {
    for refused in ["500 No.\r\n", "550 No.\r\n"] {
        let site = site(&["1994-12-01 12:34", "Dec  1  1994", "Dec  1  1994"]);
        let site = site.answer("MDTM", refused).answer("SIZE", refused);
        let site = site.rule(FtpRule::on("RETR", FtpAction::Data(b"BBBB".to_vec())).nth(2));
        let (server, dir) = (FtpServer::start(site).expect("a server on loopback"), temp_dir());
        for (retrieved, expected) in [(1, "AAAA"), (1, "BBBB"), (0, "BBBB")] {
            assert_eq!(mirror(&server, dir.path())[1], retrieved, "{refused:?}");
            assert_eq!(content(dir.path()), expected, "{refused:?}");
        }
    }
}

#[test]
fn file_has_its_listed_time_if_the_server_has_no_mdtm() {
    let mlsd = FtpConfig::new().file("/d/f", "AAAA").modified("/d/f", "19941201123456");
    for (site, expected) in [
        (mlsd, 786_285_296),
        (site(&["1994-12-01 12:34", "1994-12-01 12:34"]), 786_285_240),
        (site(&["Dec  1  1994", "Dec  1  1994"]), 786_240_000),
    ] {
        let (server, dir) =
            (FtpServer::start(site.without("MDTM")).expect("a server on loopback"), temp_dir());
        mirror(&server, dir.path());
        assert_eq!(modified(dir.path()), unix_time(expected));
        assert_eq!(mirror(&server, dir.path()), [0, 0], "{expected}");
    }
}

/// The listed time is that of the link or of its target.
#[test]
fn listed_time_of_a_link_is_not_used() {
    let listing = b"lrwxrwxrwx 1 u g 3 Dec  1  1994 f -> AAAA\r\n";
    let site = site(&[]).without("MDTM").on("LIST", FtpAction::Data(listing.to_vec()));
    let (server, dir) = (FtpServer::start(site).expect("a server on loopback"), temp_dir());
    mirror(&server, dir.path());
    assert_eq!(content(dir.path()), "AAAA");
    assert!(modified(dir.path()) > unix_time(1_000_000_000), "{:?}", modified(dir.path()));
}

/// The listing states size and time of the link, which do not change with its target.
#[test]
fn link_whose_target_has_changed_is_transferred_again() {
    let list: &[u8] = b"lrwxrwxrwx 1 u g 3 Dec  1  1994 f -> target\r\n";
    let mlsd: &[u8] = b"type=OS.unix=slink:target;size=3;modify=19941201123456; f\r\n";
    for (verb, listing) in [("LIST", list), ("MLSD", mlsd)] {
        for has_mdtm in [true, false] {
            let site = FtpConfig::new().file("/d/f", "AAAA").on(verb, FtpAction::Data(listing.to_vec()));
            let site = if verb == "LIST" { site.without("MLSD").without("MLST") } else { site };
            let changed = FtpRule::on("RETR", FtpAction::Data(b"BBBB".to_vec())).nth(2);
            let time = |time: &str| FtpAction::ReplaceReply(format!("213 {time}\r\n").into_bytes());
            let site = match has_mdtm {
                true => site
                    .rule(FtpRule::on("MDTM", time("19941201123456")).nth(1))
                    .on("MDTM", time("19951201123456")),
                false => site.without("MDTM"),
            };
            let server = FtpServer::start(site.rule(changed)).expect("a server on loopback");
            let dir = temp_dir();
            assert_eq!(mirror(&server, dir.path())[1], 1, "{verb} {has_mdtm}");
            assert_eq!(mirror(&server, dir.path())[1], 1, "{verb} {has_mdtm}");
            assert_eq!(content(dir.path()), "BBBB", "{verb} {has_mdtm}");
            if has_mdtm {
                assert_eq!(mirror(&server, dir.path()), [1, 0], "unchanged: {verb}");
            }
        }
    }
}
