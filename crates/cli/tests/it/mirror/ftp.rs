//! `mirror` over FTP: listings by MLSD, LIST and NLST, unchanged files, links, interrupted transfers and passwords.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::support::mirror::{MIRROR_JOURNAL, list_files, list_tree, received_commands};
use crate::support::{RunResult, entry_names, run_fetch_url, temp_dir};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpRule, FtpServer, pattern_vec};

fn start_server(site: FtpConfig) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

/// Runs `mirror` with `--connect-to`, so that `site.test:2121` in the URL denotes this server: several servers can
/// play the same host one after another.
fn mirror_url(server: &FtpServer, url: &str, target: &Path, options: &str) -> RunResult {
    let connect_to = format!("site.test:2121:127.0.0.1:{}", server.addr().port());
    let fixed = ["mirror", "--retry", "0", "--read-timeout", "3", "--connect-to", &connect_to];
    let target = target.display().to_string();
    run_fetch_url(fixed.into_iter().chain(options.split_whitespace()).chain([url, &target]))
}

fn mirror_directory(server: &FtpServer, target: &Path, options: &str) -> RunResult {
    mirror_url(server, "ftp://site.test:2121/d/", target, options)
}

fn site() -> FtpConfig {
    let site = FtpConfig::new().file("/d/one", "12345").file("/d/two words", "abc").file("/d/sub/x", "x");
    let site = site.file("/d/sub/deep/y", "yy").dir("/d/empty").file("/beside", "no");
    site.modified("/d/one", "19941201123456")
}

const EXPECTED_TREE: [&str; 7] =
    ["empty/", "one=12345", "sub/", "sub/deep/", "sub/deep/y=yy", "sub/x=x", "two words=abc"];

/// Returns the modification time of a file in seconds since 1970.
fn modified_seconds(path: &Path) -> u64 {
    let time = fs::metadata(path).and_then(|metadata| metadata.modified()).expect("a time");
    time.duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs()
}

/// The first run downloads every file; the second run requests listings only.
#[test]
fn second_run_requests_only_listings_with_mlsd_and_list() {
    for (case, site, verb) in [
        ("MLSD", site(), "MLSD"),
        ("LIST", site().without("MLSD").without("MLST"), "LIST"),
        (
            "LIST without MDTM and SIZE",
            site().without("MLSD").without("MLST").without("MDTM").without("SIZE"),
            "LIST",
        ),
    ] {
        let (server, dir) = (start_server(site), temp_dir());
        mirror_directory(&server, dir.path(), "").assert_exit(0);
        assert_eq!(list_tree(dir.path()), EXPECTED_TREE, "{case}");
        assert_eq!(received_commands(&server, "RETR").len(), 4, "{case}: {:?}", server.received_text());
        let time = modified_seconds(&dir.path().join("one"));
        // LIST gives only the day of a file that is older than six months.
        let expected = if verb == "MLSD" { 786_285_296..786_285_297 } else { 786_240_000..786_326_400 };
        if !case.contains("without") {
            assert!(expected.contains(&time), "{case}: {time}");
        }
        let listed = received_commands(&server, verb).len();
        assert_eq!(listed, 4, "{case}: {:?}", server.received_text());
        mirror_directory(&server, dir.path(), "").assert_exit(0);
        assert_eq!(received_commands(&server, "RETR").len(), 4, "{case}: {:?}", server.received_text());
        assert_eq!(received_commands(&server, verb).len(), 8, "{case}: {:?}", server.received_text());
        assert_eq!(list_tree(dir.path()), EXPECTED_TREE, "{case}");
    }
}

/// NLST shows neither which entries are directories nor when a file changed.
#[test]
fn nlst_alone_mirrors_tree_and_detects_changes() {
    let nlst_site = || site().without("MLSD").without("MLST").without("LIST");
    let (server, dir) = (start_server(nlst_site()), temp_dir());
    let result = mirror_directory(&server, dir.path(), "");
    let found: Vec<String> = list_tree(dir.path()).into_iter().filter(|name| name != "empty/").collect();
    assert_eq!(
        found,
        EXPECTED_TREE[1..],
        "exit {} {:?}: {:?}",
        result.exit,
        result.stderr,
        server.received_text()
    );
    result.assert_exit(0);
    let bytes = server.bytes_sent();
    mirror_directory(&server, dir.path(), "").assert_exit(0);
    let found: Vec<String> = list_tree(dir.path()).into_iter().filter(|name| name != "empty/").collect();
    assert_eq!(found, EXPECTED_TREE[1..]);
    // The second run transfers listings but no file.
    let file_sizes = 5 + 3 + 1 + 2;
    assert!(server.bytes_sent() - bytes < bytes - file_sizes + 1, "{:?}", server.received_text());
    let server = start_server(nlst_site().file("/d/one", "new one").modified("/d/one", "20240102030406"));
    mirror_directory(&server, dir.path(), "").assert_exit(0);
    assert!(list_tree(dir.path()).contains(&"one=new one".to_owned()), "{:?}", server.received_text());
}

#[test]
fn only_changed_file_is_downloaded_again() {
    for (case, time, content) in [
        ("later time, by a second", "19941201123457", "54321"),
        ("other size", "19941201123456", "1234567"),
        ("earlier time", "19931201123456", "54321"),
    ] {
        let dir = temp_dir();
        mirror_directory(&start_server(site()), dir.path(), "").assert_exit(0);
        let server = start_server(site().file("/d/one", content).modified("/d/one", time));
        mirror_directory(&server, dir.path(), "").assert_exit(0);
        assert_eq!(received_commands(&server, "RETR"), ["RETR one"], "{case}");
        assert!(list_tree(dir.path()).contains(&format!("one={content}")), "{case}");
        let server = start_server(site().file("/d/one", content).modified("/d/one", time));
        mirror_directory(&server, dir.path(), "").assert_exit(0);
        assert!(received_commands(&server, "RETR").is_empty(), "{case}");
    }
}

#[test]
fn directory_that_becomes_a_link_to_a_directory_is_skipped_as_in_a_first_run() {
    let links = "type=OS.unix=slink:/other;modify=20240102030405; sub\r\n";
    for options in ["", "--delete"] {
        let dir = temp_dir();
        let server = start_server(FtpConfig::new().file("/d/sub/x", "x"));
        mirror_directory(&server, dir.path(), "").assert_exit(0);
        let site = FtpConfig::new().file("/d/sub/x", "x").on("MLSD", FtpAction::Data(links.into()));
        let server = start_server(site);
        for _ in 0..2 {
            let result = mirror_directory(&server, dir.path(), options);
            result.assert_exit(0).assert_stderr_contains("neither a file nor a link to one");
            assert_eq!(list_tree(dir.path()), ["sub/", "sub/x=x"], "{options}");
        }
    }
}

/// The listing of the second run has the same files, but its lines end with CR CR LF or NUL LF, a name has a NUL, or all
/// names are quoted.
#[test]
fn listing_with_distorted_names_deletes_nothing() {
    let mlsd = "type=file;size=1; a\r\ntype=dir; sub\r\n";
    let list = "-rw-r--r-- 1 u g 1 Jan 1 2024 a\r\ndrwxr-xr-x 2 u g 0 Jan 1 2024 sub\r\n";
    for (verb, listing) in [("MLSD", mlsd), ("LIST", list)] {
        for (from, to) in [("\r\n", "\r\r\n"), ("\r\n", "\0\n"), (" a\r", " a\0b\r"), ("$", "\"")] {
            let quoted = listing.replace(" a\r", " \"a\"\r").replace(" sub\r", " \"sub\"\r");
            let distorted = if from == "$" { quoted } else { listing.replace(from, to) };
            let site = FtpConfig::new().file("/d/a", "a").file("/d/sub/x", "x");
            let site = if verb == "LIST" { site.without("MLSD").without("MLST") } else { site };
            let server = start_server(site.rule(FtpRule::on(verb, FtpAction::Data(distorted.into())).nth(3)));
            let dir = temp_dir();
            mirror_directory(&server, dir.path(), "").assert_exit(0);
            let result = mirror_directory(&server, dir.path(), "--delete");
            assert!(result.exit != 0, "{verb} {to:?}: {result:?}");
            assert_eq!(list_tree(dir.path()), ["a=a", "sub/", "sub/x=x"], "{verb} {to:?}: {}", result.stderr);
        }
    }
}

#[test]
fn listing_whose_final_reply_says_that_it_is_incomplete_deletes_nothing() {
    for (reply, is_deleted) in [
        ("226 Transfer complete.", true),
        ("226 1 matches total", true),
        ("226 Listing incomplete", false),
        ("226 Transfer aborted", false),
        ("250 partial listing", false),
        ("226-Output limited to 2 entries\r\n226 Done", false),
        ("226 Permission denied for some entries", false),
        ("226 ls: d/x: Input/output error", false),
        ("226 WARNING! 3 files were not listed", false),
    ] {
        let dir = temp_dir();
        let site = || FtpConfig::new().file("/d/a", "a").file("/d/b", "b");
        mirror_directory(&start_server(site()), dir.path(), "").assert_exit(0);
        let one =
            site().on("MLSD", FtpAction::Data(b"type=file;size=1;modify=20240102030405; a\r\n".to_vec()));
        let server = start_server(one.on("MLSD", FtpAction::ReplaceReply(format!("{reply}\r\n").into())));
        let result = mirror_directory(&server, dir.path(), "--delete");
        result.assert_exit(0);
        assert_eq!(
            list_files(dir.path()).len(),
            if is_deleted { 1 } else { 2 },
            "{reply}: {}",
            result.stderr
        );
    }
}

/// A listing in another format than before shows a directory as a file.
#[test]
fn directory_that_is_listed_as_a_file_is_deleted_only_if_the_server_sends_the_file() {
    let listing = "type=file;size=1; a\r\ntype=file;size=4; sub\r\n";
    for (is_file, exit, expected) in
        [(false, 78, &["a=a", "sub/", "sub/x=x"][..]), (true, 0, &["a=a", "sub=file"])]
    {
        let (dir, site) = (temp_dir(), || FtpConfig::new().file("/d/a", "a"));
        let server = start_server(site().file("/d/sub/x", "x"));
        mirror_directory(&server, dir.path(), "").assert_exit(0);
        let site = if is_file { site().file("/d/sub", "file") } else { site().file("/d/sub/x", "x") };
        let server = start_server(site.on("MLSD", FtpAction::Data(listing.into())));
        let result = mirror_directory(&server, dir.path(), "--delete");
        assert_eq!((result.exit, &*list_tree(dir.path())), (exit, &*owned(expected)), "{}", result.stderr);
    }
}

/// Some servers open a directory, and fail only when they read it.
#[test]
fn directory_stays_if_the_server_sends_no_byte_of_the_file_in_its_place() {
    let server = start_server(FtpConfig::new().file("/d/a", "a").file("/d/sub/x", "x"));
    for reply in
        ["426 Connection closed", "451 read error: Is a directory", "550 not a plain file", "226 done"]
    {
        let dir = temp_dir();
        mirror_directory(&server, dir.path(), "").assert_exit(0);
        let site = FtpConfig::new().file("/d/a", "a").file("/d/sub", vec![b'x'; 4096]);
        let site = site.on("RETR sub", FtpAction::Data(Vec::new()));
        let site = site.on("RETR sub", FtpAction::ReplaceReply(format!("{reply}\r\n").into_bytes()));
        let result = mirror_directory(&start_server(site), dir.path(), "--delete --retry 0");
        assert_ne!(result.exit, 0, "{reply}");
        assert_eq!(list_tree(dir.path()), ["a=a", "sub/", "sub/x=x"], "{reply}: {}", result.stderr);
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// Links in LIST and MLSD listings, and a directory that contains itself.
#[test]
fn links_in_listings_create_no_links_and_no_loops() {
    let unix = "drwxr-xr-x 2 0 0 4096 Jan 02  2024 sub\r\n-rw-r--r-- 1 0 0 5 Dec 01  1994 one\r\n\
                lrwxrwxrwx 1 0 0 3 Jan 02  2024 link -> one\r\nlrwxrwxrwx 1 0 0 1 Jan 02  2024 round -> .\r\n\
                lrwxrwxrwx 1 0 0 9 Jan 02  2024 gone -> /etc/gone\r\nlrwxrwxrwx 1 0 0 9 Jan 02  2024 up -> ..\r\n";
    let rule = |data: &str| FtpRule::on("LIST", FtpAction::Data(data.into())).nth(1);
    let (server, dir) = (
        start_server(site().without("MLSD").without("MLST").file("/d/link", "12345").rule(rule(unix))),
        temp_dir(),
    );
    let result = mirror_directory(&server, dir.path(), "");
    result.assert_exit(0);
    let found = list_tree(dir.path());
    assert!(found.contains(&"one=12345".into()) && found.contains(&"sub/x=x".into()), "{found:?}");
    for name in ["link", "round", "gone", "up"] {
        let path = dir.path().join(name);
        assert!(fs::symlink_metadata(&path).map_or(true, |metadata| metadata.is_file()), "{name}: {found:?}");
    }
    // MLSD shows a link as OS.unix=slink, and the directory and its parent as cdir and pdir.
    let facts = "type=cdir;modify=20240102030405; .\r\ntype=pdir;modify=20240102030405; ..\r\n\
                 type=OS.unix=slink:/d;modify=20240102030405; round\r\ntype=file;size=5;modify=19941201123456; one\r\n";
    let (server, dir) =
        (start_server(site().rule(FtpRule::on("MLSD", FtpAction::Data(facts.into())).nth(1))), temp_dir());
    mirror_directory(&server, dir.path(), "").assert_exit(0);
    assert_eq!(
        list_tree(dir.path()).last().map(String::as_str),
        Some("one=12345"),
        "{:?}",
        list_tree(dir.path())
    );
    // A server on which every directory contains itself.
    let facts = "type=dir;modify=20240102030405; d\r\ntype=file;size=1;modify=20240102030405; x\r\n";
    let site =
        FtpConfig::new().on("MLSD", FtpAction::Data(facts.into())).replace_reply("CWD", "250 Of course.\r\n");
    let (server, dir) = (start_server(site.answer("RETR", "550 No.\r\n")), temp_dir());
    let result = mirror_directory(&server, dir.path(), "--max-depth 5");
    assert_ne!(result.signal, Some(9));
    assert!(received_commands(&server, "MLSD").len() <= 6, "{:?}", received_commands(&server, "MLSD"));
}

#[test]
fn failed_listing_deletes_nothing() {
    let mut wrong = Vec::new();
    for (case, act) in [
        ("truncated", FtpAction::CutData(60, Ending::Close)),
        ("reset", FtpAction::CutData(60, Ending::Reset)),
        ("refused", FtpAction::Answer(b"550 No.\r\n".to_vec())),
        ("final reply 451", FtpAction::ReplaceReply(b"451 Broken.\r\n".to_vec())),
        ("final reply 426", FtpAction::ReplaceReply(b"426 Cut.\r\n".to_vec())),
        ("control connection closed instead of 226", FtpAction::EndBeforeFinalReply(Ending::Close)),
    ] {
        let dir = temp_dir();
        mirror_directory(&start_server(site()), dir.path(), "").assert_exit(0);
        let server = start_server(site().on("MLSD", act.clone()).on("LIST", act.clone()).on("NLST", act));
        let result = mirror_directory(&server, dir.path(), "--delete");
        // 550 may mean an empty directory (docs/spec/semantics.md §2), but it does not prove it.
        if list_tree(dir.path()) != EXPECTED_TREE || (result.exit == 0 && case != "refused") {
            wrong.push(format!(
                "{case} (exit {}): {:?} {}",
                result.exit,
                list_tree(dir.path()),
                result.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The listing of one directory fails: files that are missing in the other directories are deleted.
    let dir = temp_dir();
    mirror_directory(&start_server(site().file("/d/old", "old")), dir.path(), "").assert_exit(0);
    assert!(dir.path().join("old").exists());
    let server =
        start_server(site().rule(FtpRule::on("MLSD", FtpAction::Answer(b"550 No.\r\n".to_vec())).nth(2)));
    let result = mirror_directory(&server, dir.path(), "--delete --parallel-max 1");
    assert_eq!(
        list_tree(dir.path()),
        EXPECTED_TREE,
        "exit {} {}: {:?}",
        result.exit,
        result.stderr,
        server.received_text()
    );
}

/// `ls -F` and `ls -p` write a slash after the name of a directory.
#[test]
fn directories_listed_with_a_slash_are_mirrored() {
    let list = "drwxr-xr-x 2 u g 4096 Jan  2  2020 sub/\r\n-rw-r--r-- 1 u g 1 Jan  2  2020 a\r\n";
    let facts = "type=dir;modify=20200102030405; sub/\r\ntype=file;size=1;modify=20200102030405; a\r\n";
    for (verb, lines) in [("LIST", list), ("MLSD", facts)] {
        let site = FtpConfig::new().file("/d/a", "1").file("/d/sub/x", "22");
        let site = site.rule(FtpRule::on(verb, FtpAction::Data(lines.into())).nth(1));
        let site = if verb == "LIST" { site.without("MLSD").without("MLST") } else { site };
        let (server, dir) = (start_server(site), temp_dir());
        mirror_directory(&server, dir.path(), "").assert_exit(0);
        assert_eq!(list_files(dir.path()), ["a", "sub/x"], "{:?}", server.received_text());
    }
}

/// The next run resumes the `.part` file with REST.
#[test]
fn interrupted_file_is_resumed_unless_it_changed() {
    let big_site = || {
        FtpConfig::new().pattern("/d/big", 300_000).file("/d/one", "1").modified("/d/big", "19941201123456")
    };
    let dir = temp_dir();
    let server =
        start_server(big_site().rule(FtpRule::on("RETR big", FtpAction::CutData(200_000, Ending::Reset))));
    let result = mirror_directory(&server, dir.path(), "");
    assert_ne!(result.exit, 0);
    assert!(!dir.path().join("big").exists() && dir.path().join("one").exists(), "{}", result.stderr);
    let part_size = fs::metadata(dir.path().join("big.fetch-url.part")).expect("a .part").len();
    let server = start_server(big_site());
    mirror_directory(&server, dir.path(), "").assert_exit(0);
    // The resume may start up to 1024 bytes before the end of the `.part` file.
    let rest: Vec<u64> =
        received_commands(&server, "REST").iter().map(|line| line[5..].parse().expect("a number")).collect();
    assert!(rest.len() == 1 && (part_size - 1024..=part_size).contains(&rest[0]), "{part_size}: {rest:?}");
    assert_eq!(received_commands(&server, "RETR"), ["RETR big"]);
    assert!(fs::read(dir.path().join("big")).expect("a file") == pattern_vec(0, 300_000));
    assert_eq!(entry_names(dir.path()), [MIRROR_JOURNAL, "big", "one"]);
    // If the file changed in between, the download starts from the beginning.
    let dir = temp_dir();
    let server =
        start_server(big_site().rule(FtpRule::on("RETR big", FtpAction::CutData(200_000, Ending::Reset))));
    mirror_directory(&server, dir.path(), "");
    let server = start_server(big_site().file("/d/big", "small now").modified("/d/big", "20240102030405"));
    mirror_directory(&server, dir.path(), "").assert_exit(0);
    assert_eq!(list_tree(dir.path()), ["big=small now", "one=1"]);
}

/// Every connection logs in with the password of the URL; no output, trace or journal contains it.
#[test]
fn password_is_used_for_every_login_and_never_printed() {
    let protected_site = || {
        FtpConfig::new()
            .user("u", "KanarienVogel")
            .file("/d/one", "1")
            .file("/d/sub/x", "2")
            .file("/d/sub/y/z", "3")
    };
    for options in ["", "-v", "-vvv", "--events -", "-w %{json}\\n", "--trace trace", "-Z --parallel-max 4"] {
        let (server, dir) = (start_server(protected_site()), temp_dir());
        let options = options.replace(" trace", &format!(" {}", dir.path().join("trace").display()));
        let target = dir.path().join("new");
        let result = mirror_url(&server, "ftp://u:KanarienVogel@site.test:2121/d/", &target, &options);
        result.assert_exit(0);
        let trace = fs::read_to_string(dir.path().join("trace")).unwrap_or_default();
        let journal = fs::read_to_string(target.join(MIRROR_JOURNAL)).expect("a journal");
        for text in [result.stdout_text(), result.stderr.clone(), trace, journal.clone()] {
            assert!(!text.to_lowercase().contains("kanar"), "{options}: {text}");
        }
        assert_eq!(list_tree(&target), ["one=1", "sub/", "sub/x=2", "sub/y/", "sub/y/z=3"], "{options}");
        let logins = received_commands(&server, "PASS");
        assert!(logins.iter().all(|line| line == "PASS KanarienVogel"), "{options}: {logins:?}");
        // The password may come from -u instead of the URL; the journal still belongs to the same mirror.
        let result = mirror_url(&server, "ftp://site.test:2121/d/", &target, "-u u:KanarienVogel");
        assert!(!result.stderr.contains("Kanar"), "{}", result.stderr);
        assert!(result.exit == 0 || result.exit == 2, "{}", result.stderr);
    }
    // A wrong password ends the run; the message does not contain it.
    let (server, dir) = (start_server(protected_site()), temp_dir());
    let result = mirror_url(&server, "ftp://u:KanarienWrong@site.test:2121/d/", dir.path(), "");
    result.assert_exit(67);
    assert!(!result.stderr.contains("Kanar"), "{}", result.stderr);
}

/// One control connection closes during RETR, and one MLSD is answered with 421.
#[test]
fn closed_connection_and_busy_reply_are_retried() {
    let site = site().rule(FtpRule::on("RETR", FtpAction::End(Ending::Close)).nth(2));
    let site = site.rule(FtpRule::on("MLSD", FtpAction::Answer(b"421 Too busy.\r\n".to_vec())).nth(2));
    let (server, dir) = (start_server(site.delay(Duration::from_millis(1))), temp_dir());
    mirror_directory(&server, dir.path(), "--retry 3 --retry-delay 0").assert_exit(0);
    assert_eq!(list_tree(dir.path()), EXPECTED_TREE);
}
