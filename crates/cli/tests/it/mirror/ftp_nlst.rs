//! `mirror` of FTP servers that support only NLST, where every name may be a file or a directory; and directories that
//! contain themselves.

use std::fs;
use std::path::Path;

use crate::support::mirror::{list_files, received_commands};
use crate::support::{RunResult, run_fetch_url, temp_dir};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpRule, FtpServer};

/// Starts a server and mirrors `ftp://site.test:2121/d/` from it with `--connect-to`, so that several servers can play
/// the same host one after another.
fn mirror_site(site: FtpConfig, target: &Path, options: &str) -> (RunResult, FtpServer) {
    let server = FtpServer::start(site).expect("a server on loopback");
    let connect_to = format!("site.test:2121:127.0.0.1:{}", server.addr().port());
    let fixed = ["mirror", "--retry", "0", "--read-timeout", "2", "--connect-to", &connect_to];
    let target = target.display().to_string();
    let result = run_fetch_url(
        fixed.into_iter().chain(options.split_whitespace()).chain(["ftp://site.test:2121/d/", &target]),
    );
    (result, server)
}

/// Returns a site with `a`, `b`, `sub/x` and `sub/deep/y` below `/d/` and without MLSD, MLST and LIST.
fn nlst_site() -> FtpConfig {
    let site = FtpConfig::new()
        .file("/d/a", "1")
        .file("/d/b", "22")
        .file("/d/sub/x", "333")
        .file("/d/sub/deep/y", "4444");
    site.without("MLSD").without("MLST").without("LIST")
}

const ALL_FILES: [&str; 4] = ["a", "b", "sub/deep/y", "sub/x"];

/// Without MDTM and SIZE changes cannot be detected, so every run downloads every file, except with --skip-existing.
#[test]
fn without_size_and_time_every_file_is_downloaded_again() {
    let dir = temp_dir();
    for recursive in 0..2 {
        let (result, server) = mirror_site(nlst_site().without("MDTM").without("SIZE"), dir.path(), "");
        result.assert_exit(0);
        assert_eq!(list_files(dir.path()), ALL_FILES, "{recursive}: {:?}", server.received_text());
    }
    let (result, server) =
        mirror_site(nlst_site().without("MDTM").without("SIZE"), dir.path(), "--skip-existing");
    result.assert_exit(0);
    assert_eq!(list_files(dir.path()), ALL_FILES);
    assert!(
        !received_commands(&server, "RETR").iter().any(|line| line == "RETR a" || line == "RETR x"),
        "{:?}",
        server.received_text()
    );
}

/// A listing of AS/400.
const UNKNOWN_FORMAT: &str =
    "QSYS            77824 02/23/00 15:09:55 *DIR       sub/\r\nQSYS  4 12/14/07 15:09:55 *STMF   a\r\n";

/// Returns a site whose LIST replies are in a format that is not known.
fn unknown_format_site() -> FtpConfig {
    let site = FtpConfig::new().file("/d/a", "1").file("/d/b", "22").file("/d/sub/x", "333");
    let site = site.file("/d/sub/deep/y", "4444").without("MLSD").without("MLST");
    site.on("LIST", FtpAction::Data(UNKNOWN_FORMAT.into()))
}

#[test]
fn list_of_names_is_used_if_the_format_of_the_listing_is_unknown() {
    let dir = temp_dir();
    for options in ["", "--delete"] {
        let (result, server) = mirror_site(unknown_format_site(), dir.path(), options);
        result.assert_exit(0);
        assert_eq!(list_files(dir.path()), ALL_FILES, "{:?}", server.received_text());
    }
}

#[test]
fn directory_without_a_known_format_and_names_fails_and_deletes_nothing() {
    let dir = temp_dir();
    mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
    let (result, _server) = mirror_site(unknown_format_site().without("NLST"), dir.path(), "--delete");
    result.assert_exit(8).assert_stderr_contains("no line of the listing is understood");
    assert_eq!(list_files(dir.path()), ALL_FILES);
}

#[test]
fn listing_with_a_message_and_without_names_is_an_empty_directory() {
    let site = FtpConfig::new().dir("/d").without("MLSD").without("MLST");
    let site = site.on("LIST", FtpAction::Data("No files found.\r\n".into()));
    let dir = temp_dir();
    let (result, _server) = mirror_site(site, dir.path(), "");
    result.assert_exit(0).assert_stderr_contains("the line is not understood");
    assert_eq!(list_files(dir.path()), [""; 0]);
}

/// A line that is an error message of the server looks like a name. It is neither a file nor a directory.
#[test]
fn list_of_names_with_an_error_message_deletes_nothing() {
    let dir = temp_dir();
    mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
    let names = b"a\r\nls: b: Permission denied\r\nsub\r\n".to_vec();
    let first = FtpRule::on("NLST", FtpAction::Data(names)).nth(1);
    let (result, server) = mirror_site(nlst_site().rule(first), dir.path(), "--delete");
    assert_ne!(result.exit, 0, "{}", result.stderr);
    assert_eq!(list_files(dir.path()), ALL_FILES, "{:?}", server.received_text());
    // All names are files or directories.
    let first = FtpRule::on("NLST", FtpAction::Data(b"a\r\nsub\r\n".to_vec())).nth(1);
    mirror_site(nlst_site().rule(first), dir.path(), "--delete").0.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["a", "sub/deep/y", "sub/x"]);
}

/// The message cannot be checked: its name has a slash, it is excluded, or it is too deep to be a directory.
#[test]
fn error_message_that_cannot_be_checked_deletes_nothing() {
    for (names, options) in [
        ("a\r\n/bin/ls: b: Permission denied\r\n", "--delete"),
        ("ls: .: Permission denied\r\n", "--delete --include-glob [a-z]"),
        ("ls: .: Permission denied\r\n", "--delete --exclude-glob *denied*"),
        ("ls: .: Permission denied\r\n", "--delete --max-depth 0"),
    ] {
        let dir = temp_dir();
        mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
        let first = FtpRule::on("NLST", FtpAction::Data(names.as_bytes().to_vec())).nth(1);
        let (result, server) = mirror_site(nlst_site().rule(first), dir.path(), options);
        assert_eq!(
            list_files(dir.path()),
            ALL_FILES,
            "{names:?} {options} {result:?}: {:?}",
            server.received_text()
        );
    }
}

/// RETR and CWD fail for one name.
#[test]
fn refused_name_is_reported_and_deletes_nothing() {
    let refused = b"550 Permission denied.\r\n".to_vec();
    let refuse_b = |site: FtpConfig| site.rule(FtpRule::on("RETR b", FtpAction::Answer(refused.clone())));
    let dir = temp_dir();
    mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
    for options in ["", "--delete"] {
        let (result, server) = mirror_site(nlst_site(), dir.path(), options);
        assert_eq!(
            list_files(dir.path()),
            ALL_FILES,
            "{options} exit {} {}: {:?}",
            result.exit,
            result.stderr,
            server.received_text()
        );
    }
    let dir = temp_dir();
    let (result, _) = mirror_site(refuse_b(nlst_site()), dir.path(), "");
    assert_eq!(list_files(dir.path()), ["a", "sub/deep/y", "sub/x"], "{}", result.stderr);
    assert!(result.stderr.contains("/d/b"), "{} {}", result.exit, result.stderr);
    mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
    assert_eq!(list_files(dir.path()), ALL_FILES);
    let (result, server) =
        mirror_site(refuse_b(nlst_site().modified("/d/b", "20250102030405")), dir.path(), "--delete");
    assert_eq!(
        list_files(dir.path()),
        ALL_FILES,
        "exit {} {}: {:?}",
        result.exit,
        result.stderr,
        server.received_text()
    );
    // A refused listing does not count as an empty directory.
    for answer in [
        "550 Permission denied.\r\n",
        "450 No.\r\n",
        "550 No files found.\r\n",
        "226 Done (failed to open directory).\r\n",
    ] {
        let rule = FtpRule::on("NLST", FtpAction::Answer(answer.into())).nth(2);
        let (result, server) = mirror_site(nlst_site().rule(rule), dir.path(), "--delete --parallel-max 1");
        assert_eq!(
            list_files(dir.path()),
            ALL_FILES,
            "{answer} exit {} {}: {:?}",
            result.exit,
            result.stderr,
            server.received_text()
        );
    }
    // A closed connection is an error; the name does not count as a directory.
    let dir = temp_dir();
    let (result, server) =
        mirror_site(nlst_site().rule(FtpRule::on("RETR b", FtpAction::End(Ending::Close))), dir.path(), "");
    assert_ne!(result.exit, 0, "{:?}", server.received_text());
    assert!(!dir.path().join("b").exists());
    assert!(list_files(dir.path()).contains(&"a".to_owned()), "{:?}", list_files(dir.path()));
}

/// `ls -d dir/*`, `find .`: the names are those of the listed directory.
#[test]
fn names_with_the_path_of_the_directory_are_mirrored() {
    for prefix in ["./", "/d/"] {
        let lines = |directory: &str, names: [&str; 2]| {
            let prefix = if prefix == "./" { prefix.to_owned() } else { format!("/{directory}/") };
            FtpAction::Data(names.map(|name| format!("{prefix}{name}\r\n")).concat().into())
        };
        let site = FtpConfig::new().file("/d/a", "1").file("/d/sub/x", "22").file("/d/sub/y", "3");
        let site = site.without("MLSD").without("MLST").without("LIST");
        let site = site
            .rule(FtpRule::on("NLST", lines("d", ["a", "sub"])).nth(1))
            .rule(FtpRule::on("NLST", lines("d/sub", ["x", "y"])).nth(2));
        let dir = temp_dir();
        let (result, server) = mirror_site(site, dir.path(), "");
        result.assert_exit(0);
        assert_eq!(list_files(dir.path()), ["a", "sub/x", "sub/y"], "{:?}", server.received_text());
    }
}

/// The site after `a` became a directory, and `sub` a file.
fn site_with_other_kinds() -> FtpConfig {
    let site = FtpConfig::new().file("/d/a/inside", "1").file("/d/b", "22").file("/d/sub", "now a file");
    site.without("MLSD").without("MLST").without("LIST")
}

#[test]
fn file_that_became_a_directory_and_the_reverse_are_replaced_in_one_run_with_delete() {
    let dir = temp_dir();
    mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
    for run in 0..2 {
        let (result, server) = mirror_site(site_with_other_kinds(), dir.path(), "--delete");
        result.assert_exit(0);
        let found = list_files(dir.path());
        assert_eq!(found, ["a/inside", "b", "sub"], "{run}: {:?}", server.received_text());
    }
    assert_eq!(fs::read(dir.path().join("sub")).expect("a file"), b"now a file");
}

#[test]
fn entries_of_other_kinds_fail_without_delete_and_lose_nothing() {
    let dir = temp_dir();
    mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
    let (result, server) = mirror_site(site_with_other_kinds(), dir.path(), "");
    result.assert_exit(23);
    assert_eq!(list_files(dir.path()), ALL_FILES, "{:?}", server.received_text());
}

/// The file is gone, or the server refuses it: RETR fails, and the server accepts every name as a directory.
#[test]
fn file_stays_if_the_directory_in_its_place_has_no_entries() {
    let dir = temp_dir();
    mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
    let refuse = FtpAction::Answer(b"550 Failed to open file.\r\n".to_vec());
    let site = nlst_site().modified("/d/b", "20250102030405").rule(FtpRule::on("RETR b", refuse));
    let accept = FtpAction::Answer(b"250 Directory changed.\r\n".to_vec());
    let site = site.on("CWD b", accept).rule(FtpRule::on("NLST", FtpAction::Data(Vec::new())).nth(2));
    let (result, server) = mirror_site(site, dir.path(), "--delete --parallel-max 1");
    assert_ne!(result.exit, 0, "{:?}", server.received_text());
    assert!(dir.path().join("b").is_file(), "{:?}", server.received_text());
}

/// RETR and CWD fail for the name of a local directory.
#[test]
fn directory_stays_if_its_name_is_neither_a_file_nor_a_directory() {
    let dir = temp_dir();
    mirror_site(nlst_site(), dir.path(), "").0.assert_exit(0);
    let site = FtpConfig::new().file("/d/a", "1").file("/d/b", "22");
    let site = site.without("MLSD").without("MLST").without("LIST");
    let names = FtpRule::on("NLST", FtpAction::Data(b"a\r\nb\r\nsub\r\n".to_vec())).nth(1);
    let (result, server) = mirror_site(site.rule(names), dir.path(), "--delete");
    result.assert_exit(78);
    assert_eq!(list_files(dir.path()), ALL_FILES, "{:?}", server.received_text());
}

/// Every path into such a directory is a different one, so only --max-depth and --max-entries end the run.
#[test]
fn directory_that_contains_itself_ends_at_the_limits() {
    let names: Vec<u8> = b"self\r\na\r\n".to_vec();
    let recursive = nlst_site()
        .dir("/d/self")
        .on("NLST", FtpAction::Data(names))
        .on("CWD self", FtpAction::ReplaceReply(b"250 Again.\r\n".to_vec()));
    let dir = temp_dir();
    let (result, server) = mirror_site(recursive, dir.path(), "--max-depth 3");
    assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
    assert!(received_commands(&server, "NLST").len() <= 8, "{:?}", received_commands(&server, "NLST"));
    assert!(fs::metadata(dir.path().join("a")).is_ok(), "{}", result.stderr);
    // Two such directories: --max-entries ends the run.
    let facts = "type=dir;modify=20240102030405; p\r\ntype=dir;modify=20240102030405; q\r\n\
                 type=file;size=1;modify=20240102030405; a\r\n";
    let recursive_twice =
        FtpConfig::new().file("/d/a", "1").dir("/d/p").dir("/d/q").on("MLSD", FtpAction::Data(facts.into()));
    let recursive_twice = recursive_twice
        .on("CWD p", FtpAction::Answer(b"250 Again.\r\n".to_vec()))
        .on("CWD q", FtpAction::Answer(b"250 Again.\r\n".to_vec()));
    let dir = temp_dir();
    let (result, server) = mirror_site(recursive_twice, dir.path(), "--max-entries 60");
    result.assert_exit(63);
    assert!(received_commands(&server, "MLSD").len() <= 30, "{}", received_commands(&server, "MLSD").len());
    assert!(dir.path().join("a").exists());
}
