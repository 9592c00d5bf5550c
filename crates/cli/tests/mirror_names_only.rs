//! `mirror` from FTP servers that tell names alone, where each name may be a file, a directory, or neither; and from those
//! whose directories hold themselves.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;

use fetch_url_tests::{Act, Ending, FtpServer, FtpSite, Rule};
use support::mirrored::{asked, files, place};
use support::{Ran, fetch};

/// Under a name of its own, so that several servers can be the same one after another.
fn mirror(site: FtpSite, target: &Path, words: &str) -> (Ran, FtpServer) {
    let server = FtpServer::start(site).expect("a server on loopback");
    let instead = format!("site.test:2121:127.0.0.1:{}", server.addr().port());
    let own = ["mirror", "--retry", "0", "--read-timeout", "2", "--connect-to", &instead];
    let target = target.display().to_string();
    let ran =
        fetch(own.into_iter().chain(words.split_whitespace()).chain(["ftp://site.test:2121/d/", &target]));
    (ran, server)
}

/// `a`, `b`, `sub/x`, `sub/deep/y`, with names alone.
fn site() -> FtpSite {
    let site = FtpSite::new()
        .file("/d/a", "1")
        .file("/d/b", "22")
        .file("/d/sub/x", "333")
        .file("/d/sub/deep/y", "4444");
    site.no("MLSD").no("MLST").no("LIST")
}

const ALL: [&str; 4] = ["a", "b", "sub/deep/y", "sub/x"];

/// Without MDTM and SIZE nobody can tell: then all comes again, and it is the same.
#[test]
fn nothing_else_is_known() {
    let here = place();
    for round in 0..2 {
        let (ran, server) = mirror(site().no("MDTM").no("SIZE"), here.path(), "");
        ran.exits(0);
        assert_eq!(files(here.path()), ALL, "{round}: {:?}", server.dialogue());
    }
    let (ran, server) = mirror(site().no("MDTM").no("SIZE"), here.path(), "--skip-existing");
    ran.exits(0);
    assert_eq!(files(here.path()), ALL);
    assert!(
        !asked(&server, "RETR").iter().any(|line| line == "RETR a" || line == "RETR x"),
        "{:?}",
        server.dialogue()
    );
}

/// A name that is neither to be had nor a directory is told, and is no reason to delete what came before.
#[test]
fn what_is_refused() {
    let refused = b"550 Permission denied.\r\n".to_vec();
    let with = |site: FtpSite| site.rule(Rule::on("RETR b", Act::Answer(refused.clone())));
    let here = place();
    mirror(site(), here.path(), "").0.exits(0);
    for words in ["", "--delete"] {
        let (ran, server) = mirror(site(), here.path(), words);
        assert_eq!(
            files(here.path()),
            ALL,
            "{words} exit {} {}: {:?}",
            ran.exit,
            ran.stderr,
            server.dialogue()
        );
    }
    let here = place();
    let (ran, _) = mirror(with(site()), here.path(), "");
    assert_eq!(files(here.path()), ["a", "sub/deep/y", "sub/x"], "{}", ran.stderr);
    assert!(ran.stderr.contains("/d/b"), "{} {}", ran.exit, ran.stderr);
    mirror(site(), here.path(), "").0.exits(0);
    assert_eq!(files(here.path()), ALL);
    let (ran, server) = mirror(with(site().modified("/d/b", "20250102030405")), here.path(), "--delete");
    assert_eq!(files(here.path()), ALL, "exit {} {}: {:?}", ran.exit, ran.stderr, server.dialogue());
    // The listing of a directory that is there, refused, is no empty listing.
    for answer in [
        "550 Permission denied.\r\n",
        "450 No.\r\n",
        "550 No files found.\r\n",
        "226 Done (failed to open directory).\r\n",
    ] {
        let rule = Rule::on("NLST", Act::Answer(answer.into())).nth(2);
        let (ran, server) = mirror(site().rule(rule), here.path(), "--delete --parallel-max 1");
        assert_eq!(
            files(here.path()),
            ALL,
            "{answer} exit {} {}: {:?}",
            ran.exit,
            ran.stderr,
            server.dialogue()
        );
    }
    // Broken connections are failures, and not directories.
    let here = place();
    let (ran, server) = mirror(site().rule(Rule::on("RETR b", Act::End(Ending::Close))), here.path(), "");
    assert_ne!(ran.exit, 0, "{:?}", server.dialogue());
    assert!(!here.path().join("b").exists());
    assert!(files(here.path()).contains(&"a".to_owned()), "{:?}", files(here.path()));
}

/// A file becomes a directory, and a directory a file.
#[test]
fn kinds_that_change() {
    let here = place();
    mirror(site(), here.path(), "").0.exits(0);
    let other = FtpSite::new().file("/d/a/inside", "1").file("/d/b", "22").file("/d/sub", "now a file");
    let other = other.no("MLSD").no("MLST").no("LIST");
    let (first, _) = mirror(other.clone(), here.path(), "--delete");
    assert!(!first.stderr.contains("panicked"), "{}", first.stderr);
    let (second, server) = mirror(other, here.path(), "--delete");
    let found = files(here.path());
    let is_right = found == ["a/inside", "b", "sub"];
    assert!(is_right || second.exit != 0, "{found:?} {} {:?}", second.stderr, server.dialogue());
}

/// Directories that hold themselves: each path is another one, and so depth and entries end it, and not by chance.
#[test]
fn directories_that_hold_themselves() {
    let names: Vec<u8> = b"self\r\na\r\n".to_vec();
    let round = site()
        .dir("/d/self")
        .on("NLST", Act::Data(names))
        .on("CWD self", Act::Reword(b"250 Again.\r\n".to_vec()));
    let here = place();
    let (ran, server) = mirror(round, here.path(), "--max-depth 3");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(asked(&server, "NLST").len() <= 8, "{:?}", asked(&server, "NLST"));
    assert!(fs::metadata(here.path().join("a")).is_ok(), "{}", ran.stderr);
    // Two of them in each: entries end it.
    let facts = "type=dir;modify=20240102030405; p\r\ntype=dir;modify=20240102030405; q\r\n\
                 type=file;size=1;modify=20240102030405; a\r\n";
    let wide = FtpSite::new().file("/d/a", "1").dir("/d/p").dir("/d/q").on("MLSD", Act::Data(facts.into()));
    let wide = wide
        .on("CWD p", Act::Answer(b"250 Again.\r\n".to_vec()))
        .on("CWD q", Act::Answer(b"250 Again.\r\n".to_vec()));
    let here = place();
    let (ran, server) = mirror(wide, here.path(), "--max-entries 60");
    ran.exits(63);
    assert!(asked(&server, "MLSD").len() <= 30, "{}", asked(&server, "MLSD").len());
    assert!(here.path().join("a").exists());
}
