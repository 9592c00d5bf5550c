//! `mirror` into a directory with planted links, FIFOs and a forged journal: nothing outside DIR is created, changed
//! or deleted (docs/spec/faults.md, rows 68, 69 and 73, and rule N6).

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::mirror::{MIRROR_JOURNAL, hostile_index_server, list_tree, nginx_index, run_mirror};
use crate::support::{entry_names, run_shell, temp_dir, write_file};
use fetch_url_tests::{HttpResponse, HttpServer};

/// Symbolic links in DIR to files and directories outside of it.
#[test]
fn planted_links_are_neither_followed_nor_overwritten() {
    let server = hostile_index_server(&["a", "sub/", "b"]);
    let dir = temp_dir();
    let target = dir.path().join("target");
    for (options, link_name, link_target) in [
        ("", "a", "victim/file"),
        ("", "a", "victim/new"),
        ("", "sub", "victim"),
        ("", "sub/inside", "../victim/file"),
        ("", "a.fetch-url.part", "victim/file"),
        ("", "a.fetch-url.part", "victim/new"),
        ("", "a.fetch-url.json", "victim/new"),
        ("--delete", "sub", "victim"),
        ("", MIRROR_JOURNAL, "victim/file"),
        ("", MIRROR_JOURNAL, "victim/new"),
        ("--delete", MIRROR_JOURNAL, "victim/file"),
    ] {
        let _ = fs::remove_dir_all(&target);
        let _ = fs::remove_dir_all(dir.path().join("victim"));
        write_file(dir.path(), "victim/file", "mine");
        let link = target.join(link_name);
        fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
        symlink(dir.path().join(link_target.trim_start_matches("../")), &link).expect("a link");
        let result = run_mirror(&server.url("/d/"), &target, options);
        assert_eq!(
            list_tree(&dir.path().join("victim")),
            ["file=mine"],
            "{link_name} -> {link_target}: {}",
            result.stderr
        );
        assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
        let is_final_name = !link_name.contains(".fetch-url.");
        if is_final_name {
            assert_ne!(result.exit, 0, "{link_name} -> {link_target} was accepted");
            assert!(
                fs::symlink_metadata(&link).expect("a link").is_symlink(),
                "{link_name} -> {link_target}"
            );
        }
    }
}

/// A directory in DIR was moved away and replaced by a symbolic link to its new location.
#[test]
fn delete_keeps_files_behind_links() {
    let dir = temp_dir();
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    for name in ["a", "sub/x", "sub/y"] {
        write_file(&source, name, name);
    }
    let url = format!("file://{}/", source.display());
    run_mirror(&url, &target, "").assert_exit(0);
    // The moved files have the recorded size and time.
    fs::rename(target.join("sub"), dir.path().join("elsewhere")).expect("renamed");
    symlink("../elsewhere", target.join("sub")).expect("a link");
    fs::remove_file(source.join("sub/x")).expect("a file");
    run_mirror(&url, &target, "--delete");
    assert_eq!(list_tree(&dir.path().join("elsewhere")), ["x=sub/x", "y=sub/y"]);
    fs::remove_dir_all(source.join("sub")).expect("a directory");
    run_mirror(&url, &target, "--delete");
    assert_eq!(list_tree(&dir.path().join("elsewhere")), ["x=sub/x", "y=sub/y"]);
}

/// The journal has paths outside of DIR, or is not a journal.
#[test]
fn forged_journal_deletes_nothing_outside_and_is_not_overwritten() {
    let dir = temp_dir();
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    write_file(&source, "a", "a");
    write_file(&source, "b", "b");
    let url = format!("file://{}/", source.display());
    run_mirror(&url, &target, "").assert_exit(0);
    let original = fs::read_to_string(target.join(MIRROR_JOURNAL)).expect("a journal");
    let line = original.lines().find(|line| line.contains("\"path\":\"a\"")).expect("a line").to_owned();
    // The file outside of DIR has the size and the time of `a`.
    write_file(dir.path(), "victim", "a");
    let time = fs::metadata(target.join("a")).and_then(|metadata| metadata.modified()).expect("a time");
    let file = fs::File::options().write(true).open(dir.path().join("victim")).expect("a file");
    file.set_modified(time).expect("a time");
    for path in
        ["../victim", "sub/../../victim", &dir.path().join("victim").display().to_string(), "./../victim", ""]
    {
        let forged = line.replace("\"path\":\"a\"", &format!("\"path\":\"{path}\""));
        fs::write(target.join(MIRROR_JOURNAL), format!("{original}{forged}\n")).expect("a journal");
        let result = run_mirror(&url, &target, "--delete");
        assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
        assert!(dir.path().join("victim").exists(), "{path}");
        assert_eq!(list_tree(&target), ["a=a", "b=b"], "{path}");
    }
    // A file that is not a journal is kept or replaced by a new journal. Nothing is deleted.
    let long = "x".repeat(2_000_000);
    for text in [
        "",
        "\n",
        "mine, not yours\n",
        "{\"journal\":1}\n",
        "{}",
        "[]",
        "\0\0\0",
        "{\"journal\":\"file:///else/\"}\n",
        &long,
    ] {
        fs::write(target.join(MIRROR_JOURNAL), text).expect("a journal");
        write_file(&target, "mine", "mine");
        let result = run_mirror(&url, &target, "--delete");
        assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
        assert!(list_tree(&target).contains(&"mine=mine".to_owned()), "{text:.20}");
        let now = fs::read_to_string(target.join(MIRROR_JOURNAL)).expect("a journal");
        assert!(result.exit == 0 || now == text, "{text:.20}: {now:.200}");
        assert!(
            now == text || text.trim().is_empty() || !text.contains("mine"),
            "a foreign file is overwritten: {text:.20}"
        );
    }
}

/// A FIFO and a directory with the names of files, and a file with the name of a directory.
#[test]
fn existing_entries_of_another_type_are_kept_and_reported() {
    let server = hostile_index_server(&["a", "b", "sub/"]);
    let dir = temp_dir();
    let target = dir.path().join("target");
    write_file(&target, "sub", "a file where a directory should be");
    write_file(&target, "b/mine", "a directory where a file should be");
    run_shell("mkfifo \"$1\"", [target.join("a")]).assert_exit(0);
    let result = run_mirror(&server.url("/d/"), &target, "--delete");
    assert_ne!(result.exit, 0);
    assert!(result.stderr.contains("/d/") && !result.stderr.contains("panicked"), "{}", result.stderr);
    let found = list_tree(&target);
    assert!(found.contains(&"b/mine=a directory where a file should be".to_owned()), "{found:?}");
    assert!(found.contains(&"sub=a file where a directory should be".to_owned()), "{found:?}");
}

/// Another process replaces a directory of DIR by a link and back, again and again, while the mirror runs.
#[test]
fn directory_swapped_for_link_during_run_is_not_followed() {
    let hrefs: Vec<String> = (0..120).map(|number| format!("f{number}")).collect();
    let started = HttpServer::start(move |request| match request.path().as_str() {
        "/d/" => nginx_index(&["sub/".to_owned()]),
        "/d/sub/" => nginx_index(&hrefs),
        _ => HttpResponse::new(200).body("evil"),
    });
    let (server, dir) = (started.expect("a server"), temp_dir());
    let (target, victim) = (dir.path().join("target"), dir.path().join("victim"));
    fs::create_dir_all(target.join("sub")).expect("a directory");
    fs::create_dir(&victim).expect("a directory");
    let is_finished = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_finished.load(Ordering::SeqCst) {
                let _ = fs::rename(target.join("sub"), dir.path().join("aside"));
                let _ = symlink(&victim, target.join("sub"));
                std::thread::yield_now();
                let _ = fs::remove_file(target.join("sub"));
                let _ = fs::rename(dir.path().join("aside"), target.join("sub"));
                std::thread::yield_now();
            }
        });
        for _ in 0..4 {
            let result = run_mirror(&server.url("/d/"), &target, "-Z --parallel-max 8 --fail");
            assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
        }
        is_finished.store(true, Ordering::SeqCst);
    });
    assert_eq!(list_tree(&victim), Vec::<String>::new());
}

/// The link is created at a fixed moment: when the file is requested, or when half of it is transferred.
#[test]
fn link_planted_during_download_is_not_followed() {
    let mut reached = Vec::new();
    for (case, planted, half) in [
        ("the directory, when the file is requested", "sub", false),
        ("the directory, when half of the file is transferred", "sub", true),
        ("the name, when the file is requested", "sub/f", false),
        ("the name, when half of the file is transferred", "sub/f", true),
        ("the .part file, when the file is requested", "sub/f.fetch-url.part", false),
        ("the journal", MIRROR_JOURNAL, false),
    ] {
        let dir = temp_dir();
        let (target, victim) = (dir.path().join("target"), dir.path().join("victim"));
        write_file(&victim, "f", "mine");
        let (link, aside) = (target.join(planted), dir.path().join("aside"));
        let link_target = if planted == "sub" { victim.clone() } else { victim.join("f") };
        let plant = move || {
            let _ = fs::rename(&link, &aside);
            symlink(&link_target, &link).expect("a link");
        };
        let requested = AtomicUsize::new(0);
        let started = HttpServer::start(move |request| match request.path().as_str() {
            "/d/" => nginx_index(&["sub/".to_owned()]),
            "/d/sub/" => nginx_index(&["f".to_owned(), "g".to_owned()]),
            "/d/sub/f" if half => {
                HttpResponse::new(200).body("e".repeat(4000)).drip(500, Duration::from_millis(30))
            }
            path => {
                let is_first = requested.fetch_add(1, Ordering::SeqCst) == 0;
                if half {
                    std::thread::sleep(Duration::from_millis(90));
                }
                if is_first && (half || path == "/d/sub/f") {
                    plant();
                }
                HttpResponse::new(200).body("evil")
            }
        });
        let server = started.expect("a server");
        let options = if half { "--parallel-max 4" } else { "--parallel-max 1" };
        let result = run_mirror(&server.url("/d/"), &target, options);
        assert!(!result.stderr.contains("panicked"), "{case}: {}", result.stderr);
        let found: Vec<String> = entry_names(&victim);
        if list_tree(&victim) != ["f=mine"] {
            reached.push(format!("{case}: {found:?} exit {} {}", result.exit, result.stderr));
        }
    }
    assert!(reached.is_empty(), "{}", reached.join("\n"));
}
