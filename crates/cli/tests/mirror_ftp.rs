//! `mirror` over FTP: by MLSD, by LIST, by NLST alone; what is asked the second time; what breaks off; who is told the
//! password.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use fetch_url_tests::{Act, Ending, FtpServer, FtpSite, Rule, pattern_vec};
use support::mirrored::{JOURNAL, asked, place, tree};
use support::{Ran, fetch, names};

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

/// Under a name of its own, so that several servers can be the same one after another.
fn mirror_url(server: &FtpServer, url: &str, target: &Path, words: &str) -> Ran {
    let instead = format!("site.test:2121:127.0.0.1:{}", server.addr().port());
    let own = ["mirror", "--retry", "0", "--read-timeout", "3", "--connect-to", &instead];
    let target = target.display().to_string();
    fetch(own.into_iter().chain(words.split_whitespace()).chain([url, &target]))
}

fn mirror(server: &FtpServer, target: &Path, words: &str) -> Ran {
    mirror_url(server, "ftp://site.test:2121/d/", target, words)
}

fn site() -> FtpSite {
    let site = FtpSite::new().file("/d/one", "12345").file("/d/two words", "abc").file("/d/sub/x", "x");
    let site = site.file("/d/sub/deep/y", "yy").dir("/d/empty").file("/beside", "no");
    site.modified("/d/one", "19941201123456")
}

const ALL: [&str; 7] =
    ["empty/", "one=12345", "sub/", "sub/deep/", "sub/deep/y=yy", "sub/x=x", "two words=abc"];

fn second(path: &Path) -> u64 {
    let time = fs::metadata(path).and_then(|facts| facts.modified()).expect("a time");
    time.duration_since(UNIX_EPOCH).expect("a time of ours").as_secs()
}

/// However the server lists: the whole tree, and then listings alone.
#[test]
fn every_way_of_listing() {
    for (what, site, verb) in [
        ("MLSD", site(), "MLSD"),
        ("LIST", site().no("MLSD").no("MLST"), "LIST"),
        ("LIST, and neither MDTM nor SIZE", site().no("MLSD").no("MLST").no("MDTM").no("SIZE"), "LIST"),
    ] {
        let (server, here) = (serve(site), place());
        mirror(&server, here.path(), "").exits(0);
        assert_eq!(tree(here.path()), ALL, "{what}");
        assert_eq!(asked(&server, "RETR").len(), 4, "{what}: {:?}", server.dialogue());
        let time = second(&here.path().join("one"));
        // `ls` tells the day alone of what is old.
        let expected = if verb == "MLSD" { 786_285_296..786_285_297 } else { 786_240_000..786_326_400 };
        if !what.contains("neither") {
            assert!(expected.contains(&time), "{what}: {time}");
        }
        let listed = asked(&server, verb).len();
        assert_eq!(listed, 4, "{what}: {:?}", server.dialogue());
        mirror(&server, here.path(), "").exits(0);
        assert_eq!(asked(&server, "RETR").len(), 4, "{what}: {:?}", server.dialogue());
        assert_eq!(asked(&server, verb).len(), 8, "{what}: {:?}", server.dialogue());
        assert_eq!(tree(here.path()), ALL, "{what}");
    }
}

/// Names alone tell neither what is a directory nor whether it has changed.
#[test]
fn names_alone() {
    let only = || site().no("MLSD").no("MLST").no("LIST");
    let (server, here) = (serve(only()), place());
    let ran = mirror(&server, here.path(), "");
    let found: Vec<String> = tree(here.path()).into_iter().filter(|name| name != "empty/").collect();
    assert_eq!(found, ALL[1..], "exit {} {:?}: {:?}", ran.exit, ran.stderr, server.dialogue());
    ran.exits(0);
    let octets = server.octets_sent();
    mirror(&server, here.path(), "").exits(0);
    let found: Vec<String> = tree(here.path()).into_iter().filter(|name| name != "empty/").collect();
    assert_eq!(found, ALL[1..]);
    // The listings came again, and no file: they have 5 + 11 octets.
    let files = 5 + 3 + 1 + 2;
    assert!(server.octets_sent() - octets < octets - files + 1, "{:?}", server.dialogue());
    let server = serve(only().file("/d/one", "new one").modified("/d/one", "20240102030406"));
    mirror(&server, here.path(), "").exits(0);
    assert!(tree(here.path()).contains(&"one=new one".to_owned()), "{:?}", server.dialogue());
}

#[test]
fn the_changed_file_alone_comes_again() {
    for (what, time, content) in [
        ("the time, by a second", "19941201123457", "54321"),
        ("the size", "19941201123456", "1234567"),
        ("an older time", "19931201123456", "54321"),
    ] {
        let here = place();
        mirror(&serve(site()), here.path(), "").exits(0);
        let server = serve(site().file("/d/one", content).modified("/d/one", time));
        mirror(&server, here.path(), "").exits(0);
        assert_eq!(asked(&server, "RETR"), ["RETR one"], "{what}");
        assert!(tree(here.path()).contains(&format!("one={content}")), "{what}");
        let server = serve(site().file("/d/one", content).modified("/d/one", time));
        mirror(&server, here.path(), "").exits(0);
        assert!(asked(&server, "RETR").is_empty(), "{what}");
    }
}

/// Links as `LIST` and MLSD show them, and a directory that leads to itself.
#[test]
fn links() {
    let unix = "drwxr-xr-x 2 0 0 4096 Jan 02  2024 sub\r\n-rw-r--r-- 1 0 0 5 Dec 01  1994 one\r\n\
                lrwxrwxrwx 1 0 0 3 Jan 02  2024 link -> one\r\nlrwxrwxrwx 1 0 0 1 Jan 02  2024 round -> .\r\n\
                lrwxrwxrwx 1 0 0 9 Jan 02  2024 gone -> /etc/gone\r\nlrwxrwxrwx 1 0 0 9 Jan 02  2024 up -> ..\r\n";
    let rule = |data: &str| Rule::on("LIST", Act::Data(data.into())).nth(1);
    let (server, here) =
        (serve(site().no("MLSD").no("MLST").file("/d/link", "12345").rule(rule(unix))), place());
    let ran = mirror(&server, here.path(), "");
    ran.exits(0);
    let found = tree(here.path());
    assert!(found.contains(&"one=12345".into()) && found.contains(&"sub/x=x".into()), "{found:?}");
    for name in ["link", "round", "gone", "up"] {
        let path = here.path().join(name);
        assert!(fs::symlink_metadata(&path).map_or(true, |facts| facts.is_file()), "{name}: {found:?}");
    }
    // By MLSD: OS.unix=slink, and the directories themselves.
    let facts = "type=cdir;modify=20240102030405; .\r\ntype=pdir;modify=20240102030405; ..\r\n\
                 type=OS.unix=slink:/d;modify=20240102030405; round\r\ntype=file;size=5;modify=19941201123456; one\r\n";
    let (server, here) = (serve(site().rule(Rule::on("MLSD", Act::Data(facts.into())).nth(1))), place());
    mirror(&server, here.path(), "").exits(0);
    assert_eq!(tree(here.path()).last().map(String::as_str), Some("one=12345"), "{:?}", tree(here.path()));
    // A server where every directory holds itself.
    let facts = "type=dir;modify=20240102030405; d\r\ntype=file;size=1;modify=20240102030405; x\r\n";
    let site = FtpSite::new().on("MLSD", Act::Data(facts.into())).reword("CWD", "250 Of course.\r\n");
    let (server, here) = (serve(site.answer("RETR", "550 No.\r\n")), place());
    let ran = mirror(&server, here.path(), "--max-depth 5");
    assert_ne!(ran.signal, Some(9));
    assert!(asked(&server, "MLSD").len() <= 6, "{:?}", asked(&server, "MLSD"));
}

#[test]
fn a_listing_that_fails_deletes_nothing() {
    let mut wrong = Vec::new();
    for (what, act) in [
        ("cut", Act::CutData(60, Ending::Close)),
        ("reset", Act::CutData(60, Ending::Reset)),
        ("refused", Act::Answer(b"550 No.\r\n".to_vec())),
        ("451 at the end", Act::Reword(b"451 Broken.\r\n".to_vec())),
        ("426 at the end", Act::Reword(b"426 Cut.\r\n".to_vec())),
        ("no end", Act::EndAtFinal(Ending::Close)),
    ] {
        let here = place();
        mirror(&serve(site()), here.path(), "").exits(0);
        let server = serve(site().on("MLSD", act.clone()).on("LIST", act.clone()).on("NLST", act));
        let ran = mirror(&server, here.path(), "--delete");
        // 550 after CWD may also mean that there is nothing (SEMANTICS.md, section 2), but is no proof of it.
        if tree(here.path()) != ALL || (ran.exit == 0 && what != "refused") {
            wrong.push(format!("{what} (exit {}): {:?} {}", ran.exit, tree(here.path()), ran.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Only one directory fails: the others are complete, and what is gone there goes.
    let here = place();
    mirror(&serve(site().file("/d/old", "old")), here.path(), "").exits(0);
    assert!(here.path().join("old").exists());
    let server = serve(site().rule(Rule::on("MLSD", Act::Answer(b"550 No.\r\n".to_vec())).nth(2)));
    let ran = mirror(&server, here.path(), "--delete --parallel-max 1");
    assert_eq!(tree(here.path()), ALL, "exit {} {}: {:?}", ran.exit, ran.stderr, server.dialogue());
}

/// What broke off goes on where it was.
#[test]
fn a_file_that_is_cut() {
    let with =
        || FtpSite::new().pattern("/d/big", 300_000).file("/d/one", "1").modified("/d/big", "19941201123456");
    let here = place();
    let server = serve(with().rule(Rule::on("RETR big", Act::CutData(200_000, Ending::Reset))));
    let ran = mirror(&server, here.path(), "");
    assert_ne!(ran.exit, 0);
    assert!(!here.path().join("big").exists() && here.path().join("one").exists(), "{}", ran.stderr);
    let kept = fs::metadata(here.path().join("big.part")).expect("a .part").len();
    let server = serve(with());
    mirror(&server, here.path(), "").exits(0);
    // Perhaps a little before the end, where a digest is easier to go on from.
    let rest: Vec<u64> =
        asked(&server, "REST").iter().map(|line| line[5..].parse().expect("a number")).collect();
    assert!(rest.len() == 1 && (kept - 1024..=kept).contains(&rest[0]), "{kept}: {rest:?}");
    assert_eq!(asked(&server, "RETR"), ["RETR big"]);
    assert!(fs::read(here.path().join("big")).expect("a file") == pattern_vec(0, 300_000));
    assert_eq!(names(here.path()), [JOURNAL, "big", "one"]);
    // Changed in between, it begins anew.
    let here = place();
    let server = serve(with().rule(Rule::on("RETR big", Act::CutData(200_000, Ending::Reset))));
    mirror(&server, here.path(), "");
    let server = serve(with().file("/d/big", "small now").modified("/d/big", "20240102030405"));
    mirror(&server, here.path(), "").exits(0);
    assert_eq!(tree(here.path()), ["big=small now", "one=1"]);
}

/// Every connection logs in with the password of the URL, which stands nowhere.
#[test]
fn passwords() {
    let own = || {
        FtpSite::new()
            .user("u", "KanarienVogel")
            .file("/d/one", "1")
            .file("/d/sub/x", "2")
            .file("/d/sub/y/z", "3")
    };
    for loud in ["", "-v", "-vvv", "--events -", "-w %{json}\\n", "--trace trace", "-Z --parallel-max 4"] {
        let (server, here) = (serve(own()), place());
        let loud = loud.replace(" trace", &format!(" {}", here.path().join("trace").display()));
        let target = here.path().join("new");
        let ran = mirror_url(&server, "ftp://u:KanarienVogel@site.test:2121/d/", &target, &loud);
        ran.exits(0);
        let trace = fs::read_to_string(here.path().join("trace")).unwrap_or_default();
        let journal = fs::read_to_string(target.join(JOURNAL)).expect("a journal");
        for said in [ran.text(), ran.stderr.clone(), trace, journal.clone()] {
            assert!(!said.to_lowercase().contains("kanar"), "{loud}: {said}");
        }
        assert_eq!(tree(&target), ["one=1", "sub/", "sub/x=2", "sub/y/", "sub/y/z=3"], "{loud}");
        let logins = asked(&server, "PASS");
        assert!(logins.iter().all(|line| line == "PASS KanarienVogel"), "{loud}: {logins:?}");
        // The same mirror with another password, or asked for by -u: it is the same mirror.
        let ran = mirror_url(&server, "ftp://site.test:2121/d/", &target, "-u u:KanarienVogel");
        assert!(!ran.stderr.contains("Kanar"), "{}", ran.stderr);
        assert!(ran.exit == 0 || ran.exit == 2, "{}", ran.stderr);
    }
    // A wrong one is refused once for all, and tells nothing.
    let (server, here) = (serve(own()), place());
    let ran = mirror_url(&server, "ftp://u:KanarienWrong@site.test:2121/d/", here.path(), "");
    ran.exits(67);
    assert!(!ran.stderr.contains("Kanar"), "{}", ran.stderr);
}

/// A server that loses its control connection now and then, and is busy now and then, is no reason to give up.
#[test]
fn a_server_with_moods() {
    let site = site().rule(Rule::on("RETR", Act::End(Ending::Close)).nth(2));
    let site = site.rule(Rule::on("MLSD", Act::Answer(b"421 Too busy.\r\n".to_vec())).nth(2));
    let (server, here) = (serve(site.delay(Duration::from_millis(1))), place());
    mirror(&server, here.path(), "--retry 3 --retry-delay 0").exits(0);
    assert_eq!(tree(here.path()), ALL);
}
