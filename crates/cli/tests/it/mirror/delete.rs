//! `mirror --delete`: the files that it deletes and keeps when runs or downloads fail, and the journal that it relies
//! on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::support::mirror::{
    MIRROR_JOURNAL, html_reply, list_files, mirror_directory, nginx_index_with_sizes, set_modification_time,
    unix_time,
};
use crate::support::{
    RunResult, run_fetch_url, send_signal, spawn_fetch_url, temp_dir, wait_for_exit, wait_until, write_file,
};
use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse, HttpServer};

/// An HTTP server whose replies a test can replace; every other path is a file with the content `1`.
pub(super) struct Site {
    server: HttpServer,
    pages: Arc<Mutex<BTreeMap<String, HttpResponse>>>,
}

impl Site {
    /// Starts the server with the files `a`, `b`, `one/x` and `two/y` below `/d/`.
    pub(super) fn new() -> Self {
        let pages: Arc<Mutex<BTreeMap<String, HttpResponse>>> = Arc::default();
        let replies = pages.clone();
        let server = HttpServer::start(move |request| {
            replies
                .lock()
                .expect("a lock")
                .get(&request.path())
                .cloned()
                .unwrap_or(HttpResponse::new(200).body("1"))
        });
        let site = Self { server: server.expect("a server"), pages };
        site.set_reply(
            "/d/",
            nginx_index_with_sizes(&[("a", "1"), ("b", "1"), ("one/", "-"), ("two/", "-")]),
        );
        site.set_reply("/d/one/", nginx_index_with_sizes(&[("x", "1")]));
        site.set_reply("/d/two/", nginx_index_with_sizes(&[("y", "1")]));
        site
    }

    pub(super) fn set_reply(&self, path: &str, reply: HttpResponse) {
        self.pages.lock().expect("a lock").insert(path.into(), reply);
    }

    pub(super) fn run_mirror(&self, target: &Path, options: &str) -> RunResult {
        run_fetch_url(self.arguments(target, options))
    }

    fn arguments(&self, target: &Path, options: &str) -> Vec<String> {
        let (url, target) = (self.server.url("/d/"), target.display().to_string());
        let options = options.split_whitespace();
        ["mirror", "--retry", "0"]
            .into_iter()
            .chain(options)
            .chain([&*url, &*target])
            .map(str::to_owned)
            .collect()
    }
}

/// The server itself uses a suffix of eight digits.
#[test]
fn file_with_a_name_like_a_suffix_is_deleted_beside_an_unchanged_one() {
    let (site, dir) = (Site::new(), temp_dir());
    for (names, expected) in [
        (&["build", "build~20240131", "z"][..], &["build", "build~20240131", "z"][..]),
        (&["build", "z"], &["build", "z"]),
    ] {
        let rows: Vec<(&str, &str)> = names.iter().map(|name| (*name, "1")).collect();
        site.set_reply("/d/", nginx_index_with_sizes(&rows));
        site.run_mirror(dir.path(), "--delete").assert_exit(0);
        assert_eq!(list_files(dir.path()), expected);
    }
}

/// The file that `--skip-existing` keeps at the path of `.conf` is that of `_conf`, so the only copy of `.conf` has a suffix.
#[test]
fn only_copy_of_an_entry_is_not_deleted_if_a_file_at_its_path_is_kept_unseen() {
    let (site, dir) = (Site::new(), temp_dir());
    site.set_reply("/d/.conf", HttpResponse::new(200).body("F"));
    site.set_reply("/d/", nginx_index_with_sizes(&[(".conf", "1"), ("_conf", "1")]));
    site.run_mirror(dir.path(), "").assert_exit(0);
    let files = list_files(dir.path());
    assert!(files[1].starts_with("_conf~"), "{files:?}");
    site.set_reply("/d/", nginx_index_with_sizes(&[(".conf", "1")]));
    site.run_mirror(dir.path(), "--skip-existing --delete").assert_exit(0);
    assert_eq!(list_files(dir.path()), files);
    // Without --skip-existing it is fetched to its new name first.
    site.run_mirror(dir.path(), "--delete").assert_exit(0);
    assert_eq!(list_files(dir.path()), ["_conf"]);
    assert_eq!(fs::read_to_string(dir.path().join("_conf")).expect("a file"), "F");
}

/// An entry whose local name was `_c~` with digits, because of another entry, has the name `_c` when that has gone.
#[test]
fn only_copy_is_kept_while_a_page_or_an_empty_listing_is_sent_instead_of_the_entry() {
    let html = |text: &str| {
        HttpResponse::new(200).header("Content-Type", "text/html").header("ETag", "\"v\"").body(text)
    };
    let login = || HttpResponse::new(302).header("Location", "/login");
    for (name, other, reply, is_file) in [
        (".c/", "_c/", nginx_index_with_sizes(&[]), false),
        (".c/", "_c/", login(), false),
        (".c", "_c", html("log in"), false),
        (".c", "_c", login(), false),
        (".c", "_c", html("log in"), true),
    ] {
        let (site, dir) = (Site::new(), temp_dir());
        let path = format!("/d/{name}");
        site.set_reply("/login", html("log in"));
        site.set_reply("/d/", nginx_index_with_sizes(&[(name, "-"), (other, "-")]));
        site.set_reply("/d/_c/", nginx_index_with_sizes(&[("y", "1")]));
        site.set_reply("/d/.c/", nginx_index_with_sizes(&[("x", "1")]));
        if !name.ends_with('/') && !is_file {
            site.set_reply("/d/.c", HttpResponse::new(301).header("Location", "/d/.c/"));
        }
        site.run_mirror(dir.path(), "").assert_exit(0);
        let is_copy = |file: &&String| file.starts_with("_c~") && (is_file || file.ends_with("/x"));
        let copy = list_files(dir.path()).iter().find(is_copy).cloned().expect("a copy with a suffix");
        site.set_reply("/d/", nginx_index_with_sizes(&[(name, "-")]));
        site.set_reply(&path, reply.clone());
        for _ in 0..3 {
            site.run_mirror(dir.path(), "--delete");
            assert!(dir.path().join(&copy).exists(), "{name} {reply:?} {:?}", list_files(dir.path()));
        }
    }
}

/// The journal records a version again to which a file has returned.
#[test]
fn file_that_has_returned_to_an_earlier_version_is_deleted_or_replaced() {
    for becomes_directory in [false, true] {
        let (source, target) = (temp_dir(), temp_dir());
        write_file(source.path(), "b", "b");
        for (content, seconds) in [("1", 100), ("22", 200), ("1", 100)] {
            write_file(source.path(), "a", content);
            set_modification_time(&source.path().join("a"), unix_time(800_000_000 + seconds));
            mirror_directory(source.path(), target.path(), "--delete").assert_exit(0);
            assert_eq!(fs::read_to_string(target.path().join("a")).expect("a file"), content);
        }
        fs::remove_file(source.path().join("a")).expect("a file");
        if becomes_directory {
            fs::create_dir(source.path().join("a")).expect("a directory");
            write_file(source.path(), "a/x", "x");
        }
        mirror_directory(source.path(), target.path(), "--delete").assert_exit(0);
        let expected: &[&str] = if becomes_directory { &["a/x", "b"] } else { &["b"] };
        assert_eq!(list_files(target.path()), expected);
    }
}

const ALL_FILES: [&str; 4] = ["a", "b", "one/x", "two/y"];

/// The page has the length that its server states, but ends within a tag or link: more entries could have followed.
#[test]
fn page_that_was_cut_deletes_nothing() {
    let page = "<html><title>Index of /d/</title><pre><a href=\"a\">a</a>\n<a href=\"b\">b</a>\n<a href=\"one/\">one/</a></pre></html>";
    let second = page.find("<a href=\"b").expect("the second link");
    let comment = format!("{}<!-- {}", &page[..second], &page[second..]);
    let cut_at = |marker: &str| page[..page.find(marker).expect("a marker") + marker.len()].to_owned();
    for (cut, is_deleted) in [
        (page[..=second].to_owned(), false),
        (cut_at("<a href=\"b"), false),
        (cut_at("<a href=\"b\""), false),
        (cut_at("<a href=\"b\">"), false),
        (cut_at("<a href=\"b\">b"), false),
        (comment, false),
        // Between two rows, and the first page of several.
        (page[..second].to_owned(), false),
        (format!("{}<a href=\"?page=2\">Next</a></pre></html>", &page[..second]), false),
        (format!("{}</pre></html>", &page[..second]), true),
    ] {
        let (site, dir) = (Site::new(), temp_dir());
        site.set_reply("/d/", html_reply(page));
        site.run_mirror(dir.path(), "").assert_exit(0);
        assert_eq!(list_files(dir.path()), ["a", "b", "one/x"]);
        site.set_reply("/d/", html_reply(cut.clone()));
        let result = site.run_mirror(dir.path(), "--delete");
        let expected = if is_deleted { &["a"][..] } else { &["a", "b", "one/x"] };
        assert_eq!(list_files(dir.path()), expected, "{cut}: {}", result.stderr);
    }
}

/// A page with such a status is no representation of the directory.
#[test]
fn listing_with_another_status_than_200_deletes_nothing() {
    for (status, is_deleted) in [(200, true), (203, true), (202, false), (226, false), (299, false)] {
        let (site, dir) = (Site::new(), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        let page = "<title>Index of /d/</title><pre><a href=\"a\">a</a></pre>";
        let reply = HttpResponse::new(status).header("Content-Type", "text/html").body(page);
        site.set_reply("/d/", reply);
        let result = site.run_mirror(dir.path(), "--delete");
        let expected = if is_deleted { &["a"][..] } else { &ALL_FILES };
        assert_eq!(list_files(dir.path()), expected, "{status}: {}", result.stderr);
    }
}

/// A file that is in the listing is never deleted, even if its download fails.
#[test]
fn delete_keeps_listed_file_when_its_download_fails() {
    for (case, reply) in [
        ("404", HttpResponse::new(404)),
        ("403", HttpResponse::new(403)),
        ("503", HttpResponse::new(503)),
        ("truncated body", HttpResponse::new(200).body("123456").cut_body_at(2)),
    ] {
        let (site, dir) = (Site::new(), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        site.set_reply(
            "/d/",
            nginx_index_with_sizes(&[("a", "1"), ("b", "6"), ("one/", "-"), ("two/", "-")]),
        );
        site.set_reply("/d/b", reply);
        let result = site.run_mirror(dir.path(), "--delete");
        assert_ne!(result.exit, 0, "{case}");
        let found: Vec<String> =
            list_files(dir.path()).into_iter().filter(|name| !name.contains(".fetch-url.")).collect();
        assert_eq!(found, ALL_FILES, "{case}");
        assert_eq!(fs::read_to_string(dir.path().join("b")).expect("a file"), "1", "{case}");
    }
}

/// The copy of `a:b` has a suffix while there is an `a_b`, too. Without it, the new copy has the plain name.
#[test]
fn delete_keeps_copy_with_another_name_when_the_new_download_fails() {
    for (options, expected) in [("", vec!["a_b"]), ("--max-filesize 4", vec!["a_b", "a_b~"])] {
        let (source, target) = (temp_dir(), temp_dir());
        write_file(source.path(), "a:b", "one");
        write_file(source.path(), "a_b", "two");
        mirror_directory(source.path(), target.path(), "").assert_exit(0);
        fs::remove_file(source.path().join("a_b")).expect("a file");
        write_file(source.path(), "a:b", "longer");
        mirror_directory(source.path(), target.path(), &format!("--delete {options}"));
        let without_digits = |name: String| name.split_inclusive('~').next().unwrap_or_default().to_owned();
        let names: Vec<String> = list_files(target.path()).into_iter().map(without_digits).collect();
        assert_eq!(names, expected, "{options}");
    }
}

/// A run that stops early has not read every listing, so it deletes nothing; a failed download alone does not prevent
/// deletions.
#[test]
fn delete_keeps_files_when_run_stops_early() {
    let (site, dir) = (Site::new(), temp_dir());
    site.run_mirror(dir.path(), "").assert_exit(0);
    // `b` is no longer listed, and the download of `a` fails.
    site.set_reply("/d/", nginx_index_with_sizes(&[("a", "6"), ("one/", "-"), ("two/", "-")]));
    site.set_reply("/d/a", HttpResponse::new(404));
    site.run_mirror(dir.path(), "--delete --fail-early --parallel-max 1").assert_exit(78);
    assert!(
        ["a", "one/x", "two/y"].iter().all(|name| list_files(dir.path()).iter().any(|found| found == name))
    );
    site.run_mirror(dir.path(), "--delete").assert_exit(78);
    assert_eq!(list_files(dir.path()), ["a", "one/x", "two/y"]);
    // --max-time or a signal ends the run: directories that were not listed keep their files.
    let (site, dir) = (Site::new(), temp_dir());
    site.run_mirror(dir.path(), "").assert_exit(0);
    let stalled = || HttpResponse::raw("").then_stall(Duration::from_secs(5));
    site.set_reply("/d/one/", stalled());
    site.set_reply("/d/two/", stalled());
    site.set_reply("/d/", nginx_index_with_sizes(&[("b", "1"), ("one/", "-"), ("two/", "-")]));
    site.run_mirror(dir.path(), "--delete -m 0.5").assert_exit(28);
    assert!(
        ["b", "one/x", "two/y"].iter().all(|name| list_files(dir.path()).iter().any(|found| found == name))
    );
    let before = site.server.requests().len();
    let child = spawn_fetch_url(site.arguments(dir.path(), "--delete"));
    assert!(wait_until(Duration::from_secs(5), || site.server.requests().len() > before + 1));
    send_signal(&child, "TERM");
    assert_eq!(wait_for_exit(child).signal, Some(15));
    assert!(
        ["b", "one/x", "two/y"].iter().all(|name| list_files(dir.path()).iter().any(|found| found == name))
    );
}

/// A new modification time is enough to count as a local change.
#[test]
fn delete_keeps_file_with_locally_changed_time() {
    let (site, dir) = (Site::new(), temp_dir());
    site.run_mirror(dir.path(), "").assert_exit(0);
    let file = fs::File::options().write(true).open(dir.path().join("b")).expect("a file");
    file.set_modified(SystemTime::now() - Duration::from_secs(3)).expect("a time");
    site.set_reply("/d/", nginx_index_with_sizes(&[("a", "1"), ("one/", "-"), ("two/", "-")]));
    site.run_mirror(dir.path(), "--delete").assert_exit(0);
    assert_eq!(list_files(dir.path()), ALL_FILES);
}

/// `a%01` and `a%02` have sanitised local names; only the name of the missing one is deleted.
#[test]
fn delete_removes_sanitised_name_of_missing_file() {
    let (site, dir) = (Site::new(), temp_dir());
    site.set_reply("/d/", nginx_index_with_sizes(&[("a%01", "1"), ("a%02", "1"), ("con", "1"), ("b", "1")]));
    site.run_mirror(dir.path(), "").assert_exit(0);
    assert_eq!(list_files(dir.path()).len(), 4);
    site.set_reply("/d/", nginx_index_with_sizes(&[("a%02", "1"), ("b", "1")]));
    site.set_reply("/d/a%02", HttpResponse::new(200).body("2"));
    site.run_mirror(dir.path(), "--delete").assert_exit(0);
    let found = list_files(dir.path());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&"b".to_owned()), "{found:?}");
    let requests = site.server.requests().len();
    site.run_mirror(dir.path(), "--delete").assert_exit(0);
    assert_eq!((list_files(dir.path()), site.server.requests().len()), (found, requests + 1));
}

/// A run without changes adds at most one line (100 bytes) to the journal.
#[test]
fn journal_stays_small_over_many_runs() {
    let (site, dir) = (Site::new(), temp_dir());
    site.run_mirror(dir.path(), "").assert_exit(0);
    let size = || fs::metadata(dir.path().join(MIRROR_JOURNAL)).expect("a journal").len();
    let first = size();
    for _ in 0..10 {
        site.run_mirror(dir.path(), "--delete").assert_exit(0);
    }
    assert!(size() <= first + 10 * 100, "{first}: {}", size());
    // A file that changes in every run does not leave one line per run.
    for round in 0..15 {
        site.set_reply(
            "/d/",
            nginx_index_with_sizes(&[("a", &round.to_string()), ("b", "1"), ("one/", "-"), ("two/", "-")]),
        );
        site.run_mirror(dir.path(), "").assert_exit(0);
    }
    assert!(size() <= first + 11_000, "{first}: {}", size());
}

/// A power cut may truncate the last line; the complete lines still count.
#[test]
fn truncated_journal_deletes_nothing() {
    let (site, dir) = (Site::new(), temp_dir());
    site.run_mirror(dir.path(), "").assert_exit(0);
    let journal = fs::read(dir.path().join(MIRROR_JOURNAL)).expect("a journal");
    for cut in 1..journal.len() {
        // To save time, only every 17th position within the first and last 120 bytes is tested.
        if cut > 120 && cut + 120 < journal.len() || cut % 17 != 0 {
            continue;
        }
        fs::write(dir.path().join(MIRROR_JOURNAL), &journal[..cut]).expect("a journal");
        let result = site.run_mirror(dir.path(), "--delete");
        assert!(!result.stderr.contains("panicked"), "{cut}: {}", result.stderr);
        assert_eq!(list_files(dir.path()), ALL_FILES, "{cut}");
        assert!(result.exit == 0 || cut < 120, "{cut}: {}", result.stderr);
    }
}

/// Tested with MLSD and with LIST; files that the user created stay.
#[test]
fn delete_removes_missing_files_and_directories_over_ftp() {
    let all_files = || {
        FtpConfig::new().file("/d/a", "1").file("/d/b", "1").file("/d/one/x", "1").file("/d/one/deep/y", "1")
    };
    let fewer_files = || FtpConfig::new().file("/d/a", "1").dir("/d/two");
    for unsupported in ["X", "MLSD"] {
        let dir = temp_dir();
        let run = |site: FtpConfig, options: &str| {
            let server = FtpServer::start(site.without(unsupported)).expect("a server");
            let connect_to = format!("site.test:2121:127.0.0.1:{}", server.addr().port());
            let fixed = ["mirror", "--retry", "0", "--connect-to", &connect_to];
            let target = dir.path().display().to_string();
            let options = options.split_whitespace().chain(["ftp://site.test:2121/d/", &target]);
            run_fetch_url(fixed.into_iter().chain(options)).assert_exit(0);
        };
        run(all_files(), "");
        fs::write(dir.path().join("one/mine"), "mine").expect("a file");
        run(fewer_files(), "--delete");
        assert_eq!(list_files(dir.path()), ["a", "one/mine"], "{unsupported}");
        run(all_files(), "--delete");
        assert_eq!(list_files(dir.path()), ["a", "b", "one/deep/y", "one/mine", "one/x"], "{unsupported}");
    }
}

/// A directory that becomes a file, and a file that becomes a directory, are replaced in the same run.
#[test]
fn delete_replaces_entries_whose_kind_has_changed_in_one_run() {
    let (source, dir) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), dir.path().join("target"));
    for name in ["empty/x", "full/deep/x", "full/y", "file", "stays"] {
        write_file(from, name, name);
    }
    mirror_directory(from, &to, "--delete").assert_exit(0);
    // The local directory `empty` stays, because it is still listed.
    fs::remove_file(from.join("empty/x")).expect("a file");
    mirror_directory(from, &to, "--delete").assert_exit(0);
    for (name, is_directory) in [("empty", true), ("full", true), ("file", false)] {
        let path = from.join(name);
        if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("removed");
    }
    for name in ["empty", "full", "file/deep/z"] {
        write_file(from, name, "new");
    }
    mirror_directory(from, &to, "--delete").assert_exit(0);
    assert_eq!(list_files(&to), ["empty", "file/deep/z", "full", "stays"]);
    assert_eq!(fs::read_to_string(to.join("full")).expect("a file"), "new");
}

#[test]
fn delete_keeps_files_of_the_user_in_the_way_of_an_entry_whose_kind_has_changed() {
    let (source, dir) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), dir.path().join("target"));
    for name in ["own/x", "changed/x", "linked/x", "file", "stays"] {
        write_file(from, name, name);
    }
    mirror_directory(from, &to, "--delete").assert_exit(0);
    write_file(&to, "own/mine", "mine");
    write_file(&to, "changed/x", "changed here");
    write_file(&to, "file", "changed here");
    write_file(dir.path(), "elsewhere/mine", "mine");
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), to.join("linked/link")).expect("a link");
    for name in ["own", "changed", "linked"] {
        fs::remove_dir_all(from.join(name)).expect("a directory");
        write_file(from, name, "new");
    }
    fs::remove_file(from.join("file")).expect("a file");
    write_file(from, "file/x", "new");
    mirror_directory(from, &to, "--delete").assert_exit(23);
    assert_eq!(fs::read_to_string(to.join("own/mine")).expect("a file"), "mine");
    assert_eq!(fs::read_to_string(to.join("changed/x")).expect("a file"), "changed here");
    assert_eq!(fs::read_to_string(to.join("file")).expect("a file"), "changed here");
    assert_eq!(fs::read_to_string(dir.path().join("elsewhere/mine")).expect("a file"), "mine");
}

#[test]
fn delete_keeps_every_file_of_a_directory_that_is_not_replaced_by_a_file() {
    let (site, dir) = (Site::new(), temp_dir());
    site.set_reply("/d/", nginx_index_with_sizes(&[("a", "1"), ("one/", "-")]));
    site.set_reply("/d/one/", nginx_index_with_sizes(&[("x", "1"), ("deep/", "-")]));
    site.set_reply("/d/one/deep/", nginx_index_with_sizes(&[("y", "1")]));
    site.run_mirror(dir.path(), "").assert_exit(0);
    write_file(dir.path(), "one/mine", "mine");
    site.set_reply("/d/", nginx_index_with_sizes(&[("a", "1"), ("one", "1")]));
    let (source, copy) = (temp_dir(), temp_dir());
    write_file(source.path(), "a", "1");
    write_file(source.path(), "one/deep/y", "1");
    write_file(source.path(), "one/x", "1");
    mirror_directory(source.path(), copy.path(), "").assert_exit(0);
    write_file(copy.path(), "one/mine", "mine");
    fs::remove_dir_all(source.path().join("one")).expect("a directory");
    write_file(source.path(), "one", "1");
    for _ in 0..2 {
        site.run_mirror(dir.path(), "--delete").assert_exit(23);
        mirror_directory(source.path(), copy.path(), "--delete").assert_exit(23);
        for found in [list_files(dir.path()), list_files(copy.path())] {
            assert_eq!(found, ["a", "one/deep/y", "one/mine", "one/x"]);
        }
    }
    for target in [dir.path(), copy.path()] {
        fs::remove_file(target.join("one/mine")).expect("a file");
    }
    site.run_mirror(dir.path(), "--delete").assert_exit(0);
    mirror_directory(source.path(), copy.path(), "--delete").assert_exit(0);
    for found in [list_files(dir.path()), list_files(copy.path())] {
        assert_eq!(found, ["a", "one"]);
    }
}

/// The page keeps the names of the files, but its links lead elsewhere, or are not understood.
#[test]
fn file_whose_link_has_become_another_form_is_kept() {
    let long = format!("?{}", "x".repeat(10_000));
    let page = |href: &str, base: &str| {
        html_reply(format!(
            "<html><head>{base}<title>Index of /d/</title></head><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\n\
             <a href=\"{href}\">a</a> 01-Dec-1994 12:34 1\n<a href=\"/d/b\">b</a>  01-Dec-1994 12:34 1\n</pre></html>"
        ))
    };
    let base = "<base href=\"http://other.test/\">";
    for (href, base) in [
        ("https://127.0.0.1/d/a", ""),
        ("http://other.test/d/a", ""),
        ("/other/a", ""),
        ("javascript:load(1)", ""),
        ("/load.php?f=a", ""),
        ("?download=a", ""),
        ("a%zz/..;", ""),
        (&*long, ""),
        ("a", base),
    ] {
        let (site, dir) = (Site::new(), temp_dir());
        site.set_reply("/d/", page("a", ""));
        site.run_mirror(dir.path(), "").assert_exit(0);
        site.set_reply("/d/", page(href, base));
        let result = site.run_mirror(dir.path(), "--delete");
        assert_eq!(list_files(dir.path()), ["a", "b"], "{href}: {}", result.stderr);
        assert!(result.stderr.contains("its listing may be incomplete"), "{href}: {}", result.stderr);
    }
}

#[test]
fn nothing_is_deleted_after_a_listing_with_an_error_message() {
    for text in
        ["<br>\n<b>Fatal error</b>: out of memory\n", "... (1 more entry not shown)\n", "</pre></html><pre>x"]
    {
        let (site, dir) = (Site::new(), temp_dir());
        let page = |rows: &str| {
            html_reply(format!(
                "<html><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\n{rows}</pre></html>"
            ))
        };
        site.set_reply("/d/", page("<a href=\"a\">a</a> 1\n<a href=\"b\">b</a> 1\n"));
        site.run_mirror(dir.path(), "").assert_exit(0);
        site.set_reply("/d/", page(&format!("<a href=\"b\">b</a> 1\n{text}")));
        let result = site.run_mirror(dir.path(), "--delete");
        assert_eq!(list_files(dir.path()), ["a", "b"], "{text}: {}", result.stderr);
        assert!(result.stderr.contains("its listing may be incomplete"), "{text}: {}", result.stderr);
    }
}

#[test]
fn directory_whose_link_leads_to_another_server_is_kept() {
    let (site, dir) = (Site::new(), temp_dir());
    site.run_mirror(dir.path(), "").assert_exit(0);
    let entries = [("a", "1"), ("b", "1"), ("one/", "-"), ("http://other.test/d/two/", "-")];
    site.set_reply("/d/", nginx_index_with_sizes(&entries));
    site.run_mirror(dir.path(), "--delete").assert_exit(0);
    assert_eq!(list_files(dir.path()), ALL_FILES);
}

/// The rest of the entries is on other pages of the listing, which are not read.
#[test]
fn nothing_is_deleted_after_the_first_page_of_a_listing() {
    for below in [
        "<a href=\"/list.php?dir=/d/&amp;page=2\">Next</a>",
        "<a href=\"/d/?s=5\">x</a>",
        "<a href=\"page2.html\">Next page</a>",
        "<form><button name=page value=2>Next</button></form>",
        "<p>Showing 1-2 of 3</p>",
        "<a href=\"list/2\" aria-label=\"Next page\"><svg/></a>",
        "<p>Error reading directory</p>",
        "<p>Total: 3 files</p>",
    ] {
        let (site, dir) = (Site::new(), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        let page = "<html><title>Index of /d/</title><pre><a href=\"a\">a</a> 1\n<a href=\"one/\">one/</a> -\n</pre>";
        site.set_reply("/d/", html_reply(format!("{page}{below}</html>")));
        let result = site.run_mirror(dir.path(), "--delete");
        assert!(dir.path().join("b").exists(), "{below}");
        result.assert_stderr_contains("--delete keeps all files of this directory");
    }
}

/// A script may fetch the file of the name that is the text.
#[test]
fn file_is_not_deleted_if_a_link_to_the_page_itself_names_it() {
    for href in ["#", "#b", "", ".", "/d/"] {
        let (site, dir) = (Site::new(), temp_dir());
        site.set_reply("/d/", nginx_index_with_sizes(&[("a", "1"), ("b", "1")]));
        site.run_mirror(dir.path(), "").assert_exit(0);
        let list =
            format!("<pre><a href=\"a\">a</a> 1\n<a href=\"{href}\" onclick=\"get(this)\">b</a> 1\n</pre>");
        site.set_reply("/d/", html_reply(format!("<html><title>Index of /d/</title>{list}</html>")));
        site.run_mirror(dir.path(), "--delete");
        assert_eq!(list_files(dir.path()), ["a", "b"], "{href}");
    }
}

/// Parent and sort links, breadcrumbs and footers name no files.
#[test]
fn other_links_of_usual_index_pages_allow_deletions() {
    let apache = "<table><tr><th><a href=\"?C=N;O=D\">Name</a></th><th><a href=\"?C=M;O=A\">Last modified</a></th></tr>\
        <tr><td><a href=\"/\">Parent Directory</a></td></tr><tr><td><a href=\"a\">a</a></td></tr></table>";
    let caddy = "<a href=\"../\">/</a><a href=\"\">d</a><table><tr><th><a href=\"./?sort=name&amp;order=desc\">Name</a></th></tr>\
        <tr><td><a href=\"./a\">a</a></td></tr></table>Served with <a href=\"https://caddyserver.com\">Caddy</a>";
    let iis = "<pre><A HREF=\"/\">[To Parent Directory]</A><br><A HREF=\"/d/a\">a</A></pre>";
    let python = "<ul><li><a href=\"a\">a</a></li></ul>";
    let miniserve = "<a href=\"?sort=name&amp;order=asc\" title=\"Sort by name in ascending order\">Name</a><table><tr><td>\
        <p><a class=\"file\" href=\"/d/a\" title=\"a\">a</a></p></td></tr></table><a class=\"back\" href=\"#top\">\u{21ea}</a>\
        <p>Total: 1 files</p>";
    let lighttpd = "<table><tr><td><a href=\"../\">..</a>/</td></tr><tr><td><a href=\"a\">a</a></td></tr></table><a href=\"#\">top</a>";
    for body in [apache, caddy, iis, miniserve, python, lighttpd] {
        let (site, dir) = (Site::new(), temp_dir());
        site.set_reply("/d/", nginx_index_with_sizes(&[("a", "1"), ("b", "1"), ("Name", "1")]));
        site.run_mirror(dir.path(), "").assert_exit(0);
        site.set_reply(
            "/d/",
            html_reply(format!("<html><title>Index of /d/</title><h1>Index of /d/</h1>{body}</html>")),
        );
        let result = site.run_mirror(dir.path(), "--delete");
        assert_eq!(list_files(dir.path()), ["a"], "{body}: {}", result.stderr);
    }
}
