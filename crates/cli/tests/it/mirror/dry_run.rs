//! `--dry-run` of `mirror` and of several URLs: nothing is written or deleted, and no object is fetched.

use std::fs;

use crate::support::mirror::{
    MIRROR_JOURNAL, file_url, html_reply, list_files, mirror_directory, run_mirror,
};
use crate::support::{entry_names, http_server, run_fetch_url_in, temp_dir, write_file};
use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse};

fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn dry_run_of_a_mirror_lists_files_and_requests_none() {
    let config = FtpConfig::new().file("/d/a", "1").file("/d/sub/b", "22");
    let server = FtpServer::start(config).expect("start server");
    let dir = temp_dir();
    let url = server.url("/d/");
    let target = dir.path().join("copy");
    let copy = target.display();
    let result = run_mirror(&url, &target, "--dry-run");
    let text = result.assert_exit(0).assert_stderr_contains("dry run: 2 to fetch").stdout_text();
    let expected = [
        format!("fetch {url}a to {copy}/a (1 bytes)"),
        format!("fetch {url}sub/b to {copy}/sub/b (2 bytes)"),
    ];
    assert_eq!(sorted_lines(&text), expected);
    assert!(entry_names(dir.path()).is_empty(), "{:?}", entry_names(dir.path()));
    assert!(!server.received_text().iter().any(|line| line.starts_with("RETR")));
    run_mirror(&server.url("/missing/"), &target, "--dry-run").assert_exit(78);
    assert!(entry_names(dir.path()).is_empty());
}

#[test]
fn dry_run_of_pages_creates_no_directory_and_prints_no_note() {
    let server = http_server(|request| match request.path().as_str() {
        "/d/" => html_reply("<title>x</title><a href='sub/p.html'>p</a>"),
        _ => html_reply("<title>p</title><a href='q.txt'>q</a>"),
    });
    let dir = temp_dir();
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    assert_eq!(list_files(dir.path()), ["index.html", "sub/p.html", "sub/q.txt"]);
    fs::remove_dir_all(dir.path().join("sub")).expect("a directory");
    let result = run_mirror(&server.url("/d/"), dir.path(), "--dry-run");
    result.assert_exit(0);
    assert!(!result.stderr.contains("cannot"), "{}", result.stderr);
    assert!(!dir.path().join("sub").exists());
}

#[test]
fn dry_run_of_delete_names_files_and_keeps_them() {
    let (source, target) = (temp_dir(), temp_dir());
    for name in ["a", "b", "old"] {
        write_file(source.path(), name, name);
    }
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    let journal = fs::read(target.path().join(MIRROR_JOURNAL)).expect("a journal");
    fs::remove_file(source.path().join("old")).expect("a file");
    write_file(source.path(), "b", "changed");
    write_file(source.path(), "new", "new");
    let result = mirror_directory(source.path(), target.path(), "--dry-run --delete");
    result.assert_exit(0).assert_stderr_contains("2 to fetch; 1 to delete; 1 already present");
    let text = result.stdout_text();
    let lines = sorted_lines(&text);
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0] == "delete old" && lines[1].contains("/b to ") && lines[2].contains("/new to "),
        "{text}"
    );
    assert_eq!(list_files(target.path()), ["a", "b", "old"]);
    assert_eq!(fs::read(target.path().join("b")).expect("a file"), b"b");
    assert_eq!(fs::read(target.path().join(MIRROR_JOURNAL)).expect("a journal"), journal);
    // Without --dry-run, the same happens as was printed.
    mirror_directory(source.path(), target.path(), "--delete").assert_exit(0);
    assert_eq!(list_files(target.path()), ["a", "b", "new"]);
    let other = format!("{}other/", file_url(source.path()));
    fs::create_dir(source.path().join("other")).expect("a directory");
    run_mirror(&other, target.path(), "--dry-run").assert_exit(2);
}

#[test]
fn dry_run_of_delete_names_files_of_a_directory_only_if_it_would_be_replaced() {
    for (side_files, expected) in [(&[][..], "delete d/1\n"), (&["d/mine"], "")] {
        let (source, target) = (temp_dir(), temp_dir());
        write_file(source.path(), "d/1", "1");
        write_file(source.path(), "z", "z");
        mirror_directory(source.path(), target.path(), "").assert_exit(0);
        side_files.iter().for_each(|name| write_file(target.path(), name, "mine"));
        fs::remove_dir_all(source.path().join("d")).expect("a directory");
        write_file(source.path(), "d", "file");
        let text = mirror_directory(source.path(), target.path(), "--dry-run --delete").stdout_text();
        let deleted: String = text.split_inclusive('\n').filter(|line| line.starts_with("delete")).collect();
        assert_eq!(deleted, expected, "{text}");
        assert!(target.path().join("d/1").exists());
        mirror_directory(source.path(), target.path(), "--delete");
        assert_eq!(target.path().join("d/1").exists(), expected.is_empty());
    }
}

#[test]
fn dry_run_of_several_urls_requests_nothing() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let dir = temp_dir();
    let (a, b) = (server.url("/a"), server.url("/b"));
    write_file(dir.path(), "b", "mine");
    let options = ["--dry-run", "--skip-existing", "--create-dirs", "--output-dir", "new", "-c", "jar"];
    let result = run_fetch_url_in(dir.path(), options.iter().chain(&["-O", &a, "-o", "../b", &b]));
    let text = result.assert_exit(0).assert_stderr_contains("dry run: 2 to fetch").stdout_text();
    assert_eq!(text, format!("fetch {a} to new/a\nfetch {b} to new/../b\n"));
    write_file(dir.path(), "list", &format!("{a}\tone\n{b}\tb\n"));
    let result = run_fetch_url_in(
        dir.path(),
        ["--dry-run", "--skip-existing", "--format", "json", "--input-file", "list"],
    );
    let text = result.assert_exit(0).stdout_text();
    assert_eq!(text, format!("{{\"action\":\"fetch\",\"file\":\"one\",\"size\":null,\"url\":\"{a}\"}}\n"));
    assert_eq!(entry_names(dir.path()), ["b", "list"]);
    assert!(server.requests().is_empty());
}

/// The URLs that a fetch refuses before it contacts a server, with its exit status.
#[test]
fn dry_run_refuses_what_a_fetch_refuses_without_a_server() {
    for (url, exit) in [
        ("gopher://127.0.0.1:7777/9/x%00", 93),
        ("file:///tmp/a%2Fb", 93),
        ("ftp://127.0.0.1/a%0Ab", 93),
        ("x-foo://h/", 1),
        ("file://other.example/etc/x", 1),
        ("gopher://127.0.0.1:25/9/x", 90),
        ("mailto:a@b", 2),
        ("telnet://127.0.0.1/", 2),
        ("gopher://127.0.0.1/8me", 2),
        ("gopher://127.0.0.1/3x", 78),
    ] {
        let dir = temp_dir();
        for options in [&["--dry-run"][..], &[]] {
            let result = run_fetch_url_in(dir.path(), [options, &["-o", "x", url]].concat());
            assert!(result.assert_exit(exit).stdout.is_empty(), "{url} {options:?}: {result:?}");
        }
        // The other URLs of the run are not affected.
        let result = run_fetch_url_in(dir.path(), ["--dry-run", "-o", "x", url, "-o", "y", "http://h/"]);
        assert_eq!(result.assert_exit(exit).stdout_text(), "fetch http://h/ to y\n", "{url}");
        result.assert_stderr_contains("dry run: 1 to fetch");
    }
    let result = run_fetch_url_in(temp_dir().path(), ["--dry-run", "mailto:a@b"]);
    assert_eq!(result.assert_exit(0).stdout_text(), "fetch mailto:a@b\n");
}
