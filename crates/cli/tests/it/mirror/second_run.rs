//! A second run of `mirror`: changed and missing files, `--delete`, and files that the user created or changed.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::mirror::{
    directory_server, file_url, index_page, list_files, list_tree, minimal_index_page,
    nginx_index_with_sizes, run_mirror, run_mirror_with,
};
use crate::support::{RunResult, http_server, read_text_or_empty, run_fetch_url, temp_dir, write_file};
use fetch_url_tests::{FtpConfig, FtpServer, HttpRequest, HttpResponse, HttpServer};

/// A temporary directory with a directory `source` and its mirror `target`.
struct MirroredDirectory {
    dir: tempfile::TempDir,
}

impl MirroredDirectory {
    /// Creates `a`, `b`, `sub/c`, `sub/d` and `sub/deep/e` in `source` and mirrors it once.
    fn new() -> Self {
        let mirror = Self { dir: temp_dir() };
        for name in ["a", "b", "sub/c", "sub/d", "sub/deep/e"] {
            mirror.write("source", name, name);
        }
        mirror.run("").assert_exit(0);
        mirror
    }

    fn write(&self, under: &str, name: &str, content: &str) {
        write_file(&self.dir.path().join(under), name, content);
    }

    fn remove_source(&self, name: &str) {
        let path = self.dir.path().join("source").join(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
            .expect("an existing entry");
    }

    fn run(&self, options: &str) -> RunResult {
        let url = format!("file://{}/source/", self.dir.path().display());
        let target = self.dir.path().join("target").display().to_string();
        run_fetch_url(
            ["mirror", "--retry", "0"].into_iter().chain(options.split_whitespace()).chain([&*url, &*target]),
        )
    }

    fn target_files(&self) -> Vec<String> {
        list_files(&self.dir.path().join("target"))
    }
}

#[test]
fn missing_files_are_deleted_only_with_delete() {
    let mirror = MirroredDirectory::new();
    mirror.remove_source("b");
    mirror.remove_source("sub/deep");
    mirror.run("").assert_exit(0);
    assert_eq!(mirror.target_files(), ["a", "b", "sub/c", "sub/d", "sub/deep/e"]);
    // A run without --delete in between changes nothing.
    mirror.run("").assert_exit(0);
    mirror.run("--delete").assert_exit(0);
    assert_eq!(mirror.target_files(), ["a", "sub/c", "sub/d"]);
    assert!(!mirror.dir.path().join("target/sub/deep").exists(), "an empty directory is not deleted");
    mirror.run("--delete").assert_exit(0);
    assert_eq!(mirror.target_files(), ["a", "sub/c", "sub/d"]);
    // An empty listing is more likely a fault of the server, so nothing is deleted.
    for name in ["a", "sub"] {
        mirror.remove_source(name);
    }
    mirror.run("--delete").assert_exit(0);
    assert_eq!(mirror.target_files(), ["a", "sub/c", "sub/d"]);
    mirror.write("source", "a", "new");
    mirror.run("--delete").assert_exit(0);
    assert_eq!(mirror.target_files(), ["a"]);
}

#[test]
fn delete_keeps_files_of_the_user() {
    let mirror = MirroredDirectory::new();
    for name in ["mine", "sub/mine", "sub/deep/mine", "own/mine", ".mine", "a.part", "a.part.json"] {
        mirror.write("target", name, "mine");
    }
    // Local changes: to another size, and with the same size.
    mirror.write("target", "a", "changed here");
    mirror.write("target", "sub/d", "SUB/D");
    for name in ["a", "b", "sub/d", "sub/deep"] {
        mirror.remove_source(name);
    }
    mirror.run("--delete").assert_exit(0);
    let expected = [
        ".mine",
        "a",
        "a.part",
        "a.part.json",
        "mine",
        "own/mine",
        "sub/c",
        "sub/d",
        "sub/deep/mine",
        "sub/mine",
    ];
    assert_eq!(mirror.target_files(), expected);
    // A user's file with the name of a file that was deleted before.
    let mirror = MirroredDirectory::new();
    mirror.remove_source("b");
    mirror.run("--delete").assert_exit(0);
    mirror.write("target", "b", "b");
    mirror.run("--delete").assert_exit(0);
    assert!(mirror.target_files().contains(&"b".to_owned()), "{:?}", mirror.target_files());
}

/// Files that are excluded by a glob pattern or by --max-depth do not count as missing.
#[test]
fn delete_keeps_excluded_files() {
    for options in [
        "--exclude-glob b",
        "--exclude-glob sub",
        "--exclude-glob deep",
        "--exclude-glob sub/**",
        "--include-glob a",
        "--include-glob sub/*",
        "--max-depth 0",
        "--max-depth 1",
    ] {
        let mirror = MirroredDirectory::new();
        mirror.run(&format!("--delete {options}")).assert_exit(0);
        assert_eq!(mirror.target_files(), ["a", "b", "sub/c", "sub/d", "sub/deep/e"], "{options}");
    }
    // A missing file is deleted; one in an excluded directory is not.
    let mirror = MirroredDirectory::new();
    mirror.remove_source("b");
    mirror.remove_source("sub/d");
    mirror.run("--delete --exclude-glob sub").assert_exit(0);
    assert_eq!(mirror.target_files(), ["a", "sub/c", "sub/d", "sub/deep/e"]);
}

/// In a local source, a file becomes a directory, and a directory a file.
#[test]
fn type_changes_are_mirrored_or_reported() {
    let mirror = MirroredDirectory::new();
    mirror.remove_source("b");
    mirror.write("source", "b/inside", "x");
    mirror.remove_source("sub/deep");
    mirror.write("source", "sub/deep", "a file now");
    let first = mirror.run("--delete");
    assert!(!first.stderr.contains("panicked"), "{}", first.stderr);
    // Either two runs are enough, or both report the reason of the failure.
    let second = mirror.run("--delete");
    let found = mirror.target_files();
    assert!(
        found == ["a", "b/inside", "sub/c", "sub/d", "sub/deep"] || (first.exit != 0 && second.exit != 0),
        "exit {} {}: {found:?} {} {}",
        first.exit,
        second.exit,
        first.stderr,
        second.stderr
    );
}

/// Files that existed before the first run were not downloaded by the mirror.
#[test]
fn existing_files_are_kept_by_skip_existing_and_delete() {
    let dir = temp_dir();
    write_file(dir.path(), "source/a", "theirs");
    write_file(dir.path(), "target/a", "mine, and longer");
    write_file(dir.path(), "target/b", "mine");
    let url = format!("file://{}/source/", dir.path().display());
    let target = dir.path().join("target");
    let mirror = |options: &[&str]| {
        run_fetch_url(
            [&["mirror", "--retry", "0"], options, &[&url, target.to_str().expect("UTF-8")]].concat(),
        )
    };
    mirror(&["--delete", "--skip-existing"]).assert_exit(0);
    assert_eq!(fs::read_to_string(target.join("a")).expect("a file"), "mine, and longer");
    assert_eq!(list_files(&target), ["a", "b"]);
    // A skipped file was not downloaded, so it is not deleted.
    fs::remove_file(dir.path().join("source/a")).expect("a file");
    mirror(&["--delete"]).assert_exit(0);
    assert_eq!(list_files(&target), ["a", "b"]);
}

/// The date on the index page is compared with that of the earlier page, not with the clock.
#[test]
fn file_with_older_time_on_page_is_downloaded_again() {
    let date = Arc::new(Mutex::new(("02-Jan-2024 12:34", "Tue, 02 Jan 2024 12:34:56 GMT", "new")));
    let now = date.clone();
    let server = HttpServer::start(move |request| {
        let (short, long, content) = *now.lock().expect("a lock");
        let page = format!(
            "<html><title>Index of /d/</title><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\r\n\
             <a href=\"one\">one</a>    {short}      3\r\n</pre></html>"
        );
        // Like Apache: 304 if the file is not newer than If-Modified-Since.
        let since = request.header_text("if-modified-since").is_some();
        match request.path().as_str() {
            "/d/" => HttpResponse::new(200).header("Content-Type", "text/html").body(page),
            _ if since && content == "old" => HttpResponse::new(304).header("Last-Modified", long),
            _ => HttpResponse::new(200).header("Last-Modified", long).body(content),
        }
    });
    let (server, dir) = (server.expect("a server"), temp_dir());
    let target = dir.path().display().to_string();
    let mirror = || run_fetch_url(["mirror", "--retry", "0", &server.url("/d/"), &target]);
    mirror().assert_exit(0);
    *date.lock().expect("a lock") = ("01-Dec-1994 12:34", "Thu, 01 Dec 1994 12:34:56 GMT", "old");
    mirror().assert_exit(0);
    assert_eq!(fs::read_to_string(dir.path().join("one")).expect("a file"), "old");
}

/// A run with other options downloads only files that earlier runs have not downloaded.
#[test]
fn only_new_files_are_downloaded_when_options_change() {
    let server = http_server(|request| match request.path().as_str() {
        "/d/" => index_page(
            "<a href=\"a\">a</a>    01-Dec-1994 12:34    1\r\n<a href=\"b\">b</a>    01-Dec-1994 12:34    1\r\n<a href=\"sub/\">sub/</a>    01-Dec-1994 12:34    -\r\n",
        ),
        "/d/sub/" => index_page("<a href=\"x\">x</a>    01-Dec-1994 12:34    1\r\n"),
        _ => HttpResponse::new(200).body("1"),
    });
    let dir = temp_dir();
    let run = |options: &str| {
        let before = server.requests().len();
        run_mirror(&server.url("/d/"), dir.path(), options).assert_exit(0);
        let mut requested: Vec<String> = server.requests()[before..].iter().map(HttpRequest::path).collect();
        requested.sort();
        requested
    };
    assert_eq!(run("--include-glob a --max-depth 0"), ["/d/", "/d/a"]);
    assert_eq!(run("--max-depth 0"), ["/d/", "/d/b"]);
    assert_eq!(run(""), ["/d/", "/d/sub/", "/d/sub/x"]);
    assert_eq!(run("--skip-existing --delete"), ["/d/", "/d/sub/"]);
    assert_eq!(run("--exclude-glob sub"), ["/d/"]);
    // `DIR/.` is the same mirror as `DIR`.
    let before = server.requests().len();
    run_mirror(&server.url("/d/"), &dir.path().join("."), "").assert_exit(0);
    assert_eq!(server.requests().len(), before + 2);
}

/// A replaced file keeps its mode 0600 (docs/spec/faults.md, rule N6).
#[test]
fn replaced_file_keeps_its_permissions() {
    let dir = temp_dir();
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    fs::create_dir(&source).expect("a directory");
    fs::write(source.join("a"), "1").expect("a file");
    let url = format!("file://{}/", source.display());
    run_mirror(&url, &target, "").assert_exit(0);
    fs::set_permissions(target.join("a"), fs::Permissions::from_mode(0o600)).expect("permissions");
    fs::write(source.join("a"), "changed").expect("a file");
    run_mirror(&url, &target, "").assert_exit(0);
    assert_eq!(list_tree(&target), ["a=changed"]);
    let mode = fs::metadata(target.join("a")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    // An empty source directory is mirrored, too.
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).expect("a directory");
    run_mirror(&format!("file://{}/", empty.display()), &dir.path().join("new"), "").assert_exit(0);
    assert_eq!(list_tree(&dir.path().join("new")), Vec::<String>::new());
}

/// A file that `--skip-existing` skipped was not downloaded by the mirror, so it is the user's file.
#[test]
fn skipped_file_is_not_deleted_and_later_replaced() {
    let names = Arc::new(Mutex::new(vec!["a", "b"]));
    let listed = names.clone();
    let server = http_server(move |request| match request.path().as_str() {
        "/d/" => {
            let row = |name: &&str| format!("<a href=\"{name}\">{name}</a>  01-Dec-1994 12:34  4\n");
            let rows: String = listed.lock().expect("names").iter().map(row).collect();
            let page = format!("<title>Index of /d/</title><pre><a href=\"../\">../</a>\n{rows}</pre>");
            HttpResponse::new(200).header("Content-Type", "text/html").body(page)
        }
        _ => HttpResponse::new(200).body("them"),
    });
    let dir = temp_dir();
    fs::write(dir.path().join("a"), "mine").expect("a file");
    let (url, target) = (server.url("/d/"), dir.path().display().to_string());
    let mirror =
        |options: &[&str]| run_fetch_url([&["mirror", "--retry", "0"], options, &[&url, &target]].concat());
    mirror(&["--skip-existing"]).assert_exit(0);
    assert_eq!(fs::read_to_string(dir.path().join("a")).expect("a file"), "mine");
    *names.lock().expect("names") = vec!["b"];
    mirror(&["--delete"]).assert_exit(0);
    assert!(dir.path().join("a").exists(), "a file that the mirror did not download is deleted");
    *names.lock().expect("names") = vec!["a", "b"];
    mirror(&[]).assert_exit(0);
    assert_eq!(fs::read_to_string(dir.path().join("a")).expect("a file"), "them");
}

/// The listing shows an older date, and the server answers If-Modified-Since with 304.
#[test]
fn file_with_older_date_is_downloaded_again() {
    let version = Arc::new(Mutex::new(("02-Jan-2024", "new")));
    let now = version.clone();
    let server = http_server(move |request| {
        let (day, content) = *now.lock().expect("a version");
        match request.path().as_str() {
            "/d/" => minimal_index_page(&format!("<a href=\"x\">x</a>  {day} 12:34  3\n")),
            _ if request.header("if-modified-since").is_some() => HttpResponse::new(304),
            _ => HttpResponse::new(200).body(content),
        }
    });
    let dir = temp_dir();
    run_mirror_with(&server.url("/d/"), dir.path(), &[]).assert_exit(0);
    *version.lock().expect("a version") = ("01-Dec-1994", "old");
    run_mirror_with(&server.url("/d/"), dir.path(), &[]).assert_exit(0);
    assert_eq!(read_text_or_empty(dir.path(), "x"), "old");
}

/// A file becomes a directory, and a directory a file; two runs are enough.
#[test]
fn type_changes_are_mirrored_by_two_runs() {
    let rows = Arc::new(Mutex::new("<a href=\"x\">x</a>  01-Dec-1994 12:34  1\n"));
    let listed = rows.clone();
    let server = directory_server(move |path| match path {
        "/d/" => minimal_index_page(*listed.lock().expect("rows")),
        _ => minimal_index_page("<a href=\"y\">y</a>  01-Dec-1994 12:34  1\n"),
    });
    let dir = temp_dir();
    run_mirror_with(&server.url("/d/"), dir.path(), &[]).assert_exit(0);
    for (row, path) in [
        ("<a href=\"x/\">x/</a>  01-Dec-1994 12:34  -\n", "x/y"),
        ("<a href=\"x\">x</a>  01-Dec-1994 12:34  1\n", "x"),
    ] {
        *rows.lock().expect("rows") = row;
        run_mirror_with(&server.url("/d/"), dir.path(), &["--delete"]);
        run_mirror_with(&server.url("/d/"), dir.path(), &["--delete"]).assert_exit(0);
        assert!(dir.path().join(path).is_file(), "{path}");
    }
}

#[test]
fn local_file_whose_time_has_no_seconds_is_not_copied_again() {
    let (source, target) = (temp_dir(), temp_dir());
    let path = source.path().join("a");
    fs::write(&path, "1").expect("a file");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
    let minute = UNIX_EPOCH + Duration::from_secs(now - now % 60);
    File::open(&path).and_then(|file| file.set_modified(minute)).expect("a modification time");
    for expected in ["1 file", "0 files"] {
        let result = run_mirror(&file_url(source.path()), target.path(), "");
        result.assert_exit(0).assert_stderr_contains(expected);
    }
}

#[test]
fn url_with_and_without_its_last_slash_is_the_same_mirror() {
    let source = temp_dir();
    fs::write(source.path().join("a"), "1").expect("a file");
    let ftp =
        FtpServer::start(FtpConfig::new().file("/d/a", "1").file("/d/sub/b", "2")).expect("start server");
    let http = http_server(|request| match request.path().as_str() {
        "/d" => HttpResponse::new(301).header("Location", "/d/"),
        "/d/" => nginx_index_with_sizes(&[("a", "1")]),
        _ => HttpResponse::new(200).header("ETag", "\"1\"").body("1"),
    });
    let file = file_url(source.path());
    for slashed in [ftp.url("/d/"), http.url("/d/"), file] {
        let bare = slashed.trim_end_matches('/').to_owned();
        for (first, second) in [(&slashed, &bare), (&bare, &slashed)] {
            let target = temp_dir();
            let run = |url: &str| run_mirror(url, target.path(), "");
            run(first).assert_exit(0);
            let files = list_files(target.path());
            let result = run(second);
            result.assert_exit(0).assert_stderr_contains("0 files");
            assert_eq!(list_files(target.path()), files, "{first} then {second}");
        }
    }
}

/// `--skip-existing` skips files only, so the result is the same as without the option.
#[test]
fn directory_fifo_or_dangling_link_is_no_existing_file() {
    let (source, dir) = (temp_dir(), temp_dir());
    for name in ["d", "f", "l", "ok"] {
        write_file(source.path(), name, name);
    }
    fs::create_dir(dir.path().join("d")).expect("a directory");
    std::os::unix::fs::symlink("nowhere", dir.path().join("l")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("f")).status().expect("mkfifo");
    assert!(made.success());
    write_file(dir.path(), "ok", "mine");
    let result = run_mirror(&file_url(source.path()), dir.path(), "--skip-existing");
    result.assert_exit(23).assert_stderr_contains("1 already present; 3 failed");
    assert_eq!(list_tree(dir.path()), ["d/", "f?", "l@", "ok=mine"]);
    let url = format!("{}ok", file_url(source.path()));
    let target = dir.path().join("d").display().to_string();
    run_fetch_url(["--skip-existing", "-o", &target, &url]).assert_exit(23);
}
