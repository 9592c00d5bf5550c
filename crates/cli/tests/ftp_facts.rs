//! What an FTP server says about a transfer, and what is believed (SEMANTICS.md §2, "Complete only when";
//! SECURITY.md, rows 95 to 97, and 3.2): numbers that are none, sizes that lie, replies in other words.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;

use fetch_url_tests::{Act, FtpServer, FtpSite, pattern_vec};
use support::{Ran, fetch, in_parallel};

const SIZE: usize = 50_000;

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

fn site() -> FtpSite {
    FtpSite::new().pattern("/a/x", SIZE as u64).file("/a/void", "")
}

fn run(server: &FtpServer, words: &str) -> Ran {
    let common = ["--read-timeout", "2"].into_iter().chain(words.split_whitespace());
    fetch(common.chain([server.url("/a/x").as_str()]))
}

#[track_caller]
fn is_whole(ran: &Ran, what: &str) {
    assert_eq!(ran.exit, 0, "{what}: {}", ran.stderr);
    assert!(ran.stdout == pattern_vec(0, SIZE), "{what}: {} octets", ran.stdout.len());
}

/// Row 97: whatever is wrong with them, SIZE and MDTM are never fatal.
#[test]
fn numbers_that_are_none() {
    let rows: Vec<(&str, &str)> = ["SIZE", "MDTM"]
        .into_iter()
        .flat_map(|verb| {
            let replies = [
                "213 -1",
                "213 99999999999999999999999",
                "213 ",
                "213 0x10",
                "213 many",
                "213 1e9",
                "213 19943213000000",
                "550 Not a plain file.",
                "500 What?",
                "502 No.",
                "504 No.",
                "450 Busy.",
                "553 No.",
                "213-a\r\n213 b",
            ];
            replies.map(|reply| (verb, reply))
        })
        .filter(|(verb, reply)| *verb != "SIZE" || !reply.contains("19943213"))
        .collect();
    in_parallel(&rows, 6, |(verb, reply)| {
        let server = serve(site().answer(*verb, format!("{reply}\r\n")));
        is_whole(&run(&server, ""), &format!("{verb} {reply}"));
        assert_eq!(server.connections(), 1, "{verb} {reply}: {:?}", server.dialogue());
        Ok(())
    });
}

/// Row 96: the size is known and another one came.
#[test]
fn sizes_that_lie() {
    for size in ["49999", "50001", "0", "1", "18446744073709551615", "9223372036854775807"] {
        let server = serve(site().reword("SIZE", format!("213 {size}\r\n")));
        let here = tempfile::tempdir().expect("a directory");
        let output = here.path().join("x");
        let ran = run(&server, &format!("-o {}", output.display()));
        assert!([8, 18].contains(&ran.exit) || ran.exit == 23 && size.len() > 15, "{size}: {ran:?}");
        assert!(!output.exists(), "{size}");
    }
    // A size that does not count text is not compared with text.
    let server = serve(site().file("/t", "a\nb\n").answer("SIZE", "213 4\r\n"));
    assert_eq!(fetch([format!("{};type=a", server.url("/t"))]).exits(0).text(), "a\nb\n");
}

#[test]
fn nothing_in_it() {
    let server = serve(site());
    let here = tempfile::tempdir().expect("a directory");
    let output = here.path().join("void");
    fetch(["-o", output.to_str().expect("UTF-8"), &server.url("/a/void")]).exits(0);
    assert_eq!(fs::metadata(&output).expect("a file").len(), 0);
    // Of which nobody said that there is nothing in it, and which nobody finished.
    let server = serve(site().no("SIZE").on("RETR", Act::Data(Vec::new())).final_reply("426 Gone.\r\n"));
    run(&server, "").exits(18);
}

/// An end that nobody proves is an end all the same, unless it must be proven.
#[test]
fn ends_that_are_assumed() {
    let server = serve(site().no("SIZE"));
    is_whole(&run(&server, ""), "no size");
    run(&server, "--require-complete").exits(18);
    is_whole(&run(&serve(site()), "--require-complete"), "a size");
}

/// RFC 959 §4.2: 125 or 150 before, 226 or 250 behind; and what servers do.
#[test]
fn other_words_around_a_transfer() {
    for (mark, last) in [
        ("125 Already open.\r\n", "226 Done.\r\n"),
        ("150 Here.\r\n", "250 Done.\r\n"),
        ("150-Here\r\n 226 not yet\r\n150 it comes\r\n", "226-Done\r\n 425 no\r\n226 Bye\r\n"),
        ("150 (17 bytes)\r\n", "226 17 bytes.\r\n"),
        ("150 (99999999999999999999999 bytes)\r\n", "226 Done.\r\n"),
        ("150\t\r\n", "226 \r\n"),
    ] {
        let server = serve(site().on("RETR", Act::Mark(mark.into())).final_reply(last));
        let ran = run(&server, "");
        if mark.contains('\t') {
            assert!([0, 8].contains(&ran.exit), "{mark:?}: {ran:?}");
            continue;
        }
        is_whole(&ran, mark);
    }
    // No word before: what came is proven by what stands behind it, or is nothing.
    let ran = run(&serve(site().on("RETR", Act::Mark(Vec::new()))), "");
    assert!([0, 8, 18].contains(&ran.exit), "{ran:?}");
    assert!(ran.exit != 0 || ran.stdout == pattern_vec(0, SIZE), "{} octets", ran.stdout.len());
}

/// Rows 95 and 96: all the octets, and a word that they are not all.
#[test]
fn a_last_word_that_says_no() {
    for reply in [
        "426 Cut.\r\n",
        "451 Disk error.\r\n",
        "452 Full.\r\n",
        "551 Page type.\r\n",
        "552 Quota.\r\n",
        "425 What?\r\n",
    ] {
        let server = serve(site().final_reply(reply));
        let here = tempfile::tempdir().expect("a directory");
        let output = here.path().join("x");
        let ran = run(&server, &format!("-o {}", output.display()));
        assert_eq!(ran.exit, 18, "{reply}: {}", ran.stderr);
        assert!(!output.exists(), "{reply}");
    }
}

#[test]
fn files_that_do_not_come() {
    for (reply, exits) in [
        ("550 No such file.", &[78][..]),
        ("550 Permission denied.", &[78, 9]),
        ("530 Not for you.", &[9]),
        ("553 Not that name.", &[9, 78]),
        ("450 Busy.", &[92, 78, 9]),
        ("421 Going down.", &[92]),
        ("500 What?", &[1, 8, 9]),
        ("332 Account?", &[67, 8]),
        ("200 Sure.", &[8, 18]),
        ("999 Never.", &[8]),
        ("hello", &[8]),
        ("", &[8, 28]),
    ] {
        let server = serve(site().answer("RETR", format!("{reply}\r\n")));
        let ran = run(&server, "");
        assert!(exits.contains(&ran.exit) && ran.stdout.is_empty(), "{reply}: {} {}", ran.exit, ran.stderr);
        assert!(reply.len() < 8 || ran.stderr.contains(&reply[..3]), "{reply}: {}", ran.stderr);
    }
}

/// Rows 18 and 76: a server's words reach a terminal as words.
#[test]
fn words_with_escapes() {
    let evil = "550 \x1b[2J\x1b]0;x\x07 \u{9b}31m \u{202e}gpj \x08\x7f\r\n";
    for words in ["", "-vvv", "--format json", "--trace -"] {
        let server = serve(site().greeting(evil.replacen("550", "220", 1).trim_end()).answer("RETR", evil));
        let ran = run(&server, words);
        let is_raw = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(ran.exit == 78 && !ran.stderr.contains(is_raw), "{words}: {:?}", ran.stderr);
    }
}
