//! `mirror` into directories where somebody has planted something (SECURITY.md, rows 68, 69 and 73; N6): links, lying
//! journals, FIFOs. Nothing outside DIR is created, changed or deleted.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fetch_url_tests::{HttpReply, HttpServer};
use support::mirrored::{JOURNAL, evil_server, mirror, page, place, put, tree};
use support::{names, shell};

/// Links inside of DIR are neither followed nor written through, whoever has planted them.
#[test]
fn planted_links() {
    let server = evil_server(&["a", "sub/", "b"]);
    let here = place();
    let target = here.path().join("target");
    for (words, at, to) in [
        ("", "a", "victim/file"),
        ("", "a", "victim/new"),
        ("", "sub", "victim"),
        ("", "sub/inside", "../victim/file"),
        ("", "a.part", "victim/file"),
        ("", "a.part", "victim/new"),
        ("", "a.part.json", "victim/new"),
        ("--delete", "sub", "victim"),
        ("", JOURNAL, "victim/file"),
        ("", JOURNAL, "victim/new"),
        ("--delete", JOURNAL, "victim/file"),
    ] {
        let _ = fs::remove_dir_all(&target);
        let _ = fs::remove_dir_all(here.path().join("victim"));
        put(here.path(), "victim/file", "mine");
        let link = target.join(at);
        fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
        symlink(here.path().join(to.trim_start_matches("../")), &link).expect("a link");
        let ran = mirror(&server.url("/d/"), &target, words);
        assert_eq!(tree(&here.path().join("victim")), ["file=mine"], "{at} -> {to}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        let is_name = !at.contains(".part");
        if is_name {
            assert_ne!(ran.exit, 0, "{at} -> {to} is not what was asked for");
            assert!(fs::symlink_metadata(&link).expect("a link").is_symlink(), "{at} -> {to}");
        }
    }
}

/// What an earlier run has brought is deleted in DIR only, also where a directory of it has become a link.
#[test]
fn deletes_nothing_behind_links() {
    let here = place();
    let (source, target) = (here.path().join("source"), here.path().join("target"));
    for name in ["a", "sub/x", "sub/y"] {
        put(&source, name, name);
    }
    let url = format!("file://{}/", source.display());
    mirror(&url, &target, "").exits(0);
    // The very files, elsewhere: size and time are right.
    fs::rename(target.join("sub"), here.path().join("elsewhere")).expect("moved");
    symlink("../elsewhere", target.join("sub")).expect("a link");
    fs::remove_file(source.join("sub/x")).expect("a file");
    mirror(&url, &target, "--delete");
    assert_eq!(tree(&here.path().join("elsewhere")), ["x=sub/x", "y=sub/y"]);
    fs::remove_dir_all(source.join("sub")).expect("a directory");
    mirror(&url, &target, "--delete");
    assert_eq!(tree(&here.path().join("elsewhere")), ["x=sub/x", "y=sub/y"]);
}

/// A journal that lies: its paths lead out, or it is none.
#[test]
fn hostile_journals() {
    let here = place();
    let (source, target) = (here.path().join("source"), here.path().join("target"));
    put(&source, "a", "a");
    put(&source, "b", "b");
    let url = format!("file://{}/", source.display());
    mirror(&url, &target, "").exits(0);
    let honest = fs::read_to_string(target.join(JOURNAL)).expect("a journal");
    let line = honest.lines().find(|line| line.contains("\"path\":\"a\"")).expect("a line").to_owned();
    // The victim has size and time of `a`.
    put(here.path(), "victim", "a");
    let time = fs::metadata(target.join("a")).and_then(|facts| facts.modified()).expect("a time");
    let file = fs::File::options().write(true).open(here.path().join("victim")).expect("a file");
    file.set_modified(time).expect("a time");
    for path in [
        "../victim",
        "sub/../../victim",
        &here.path().join("victim").display().to_string(),
        "./../victim",
        "",
    ] {
        let lie = line.replace("\"path\":\"a\"", &format!("\"path\":\"{path}\""));
        fs::write(target.join(JOURNAL), format!("{honest}{lie}\n")).expect("a journal");
        let ran = mirror(&url, &target, "--delete");
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        assert!(here.path().join("victim").exists(), "{path}");
        assert_eq!(tree(&target), ["a=a", "b=b"], "{path}");
    }
    // What is no journal of ours is left alone, or made anew; it is no reason to delete.
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
        fs::write(target.join(JOURNAL), text).expect("a journal");
        put(&target, "mine", "mine");
        let ran = mirror(&url, &target, "--delete");
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        assert!(tree(&target).contains(&"mine=mine".to_owned()), "{text:.20}");
        let now = fs::read_to_string(target.join(JOURNAL)).expect("a journal");
        assert!(ran.exit == 0 || now == text, "{text:.20}: {now:.200}");
        assert!(
            now == text || text.trim().is_empty() || !text.contains("mine"),
            "what is not ours is overwritten: {text:.20}"
        );
    }
}

/// FIFOs and directories where files should be: told, and nobody waits.
#[test]
fn what_stands_in_the_way() {
    let server = evil_server(&["a", "b", "sub/"]);
    let here = place();
    let target = here.path().join("target");
    put(&target, "sub", "a file where a directory should be");
    put(&target, "b/mine", "a directory where a file should be");
    shell("mkfifo \"$1\"", [target.join("a")]).exits(0);
    let ran = mirror(&server.url("/d/"), &target, "--delete");
    assert_ne!(ran.exit, 0);
    assert!(ran.stderr.contains("/d/") && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    let found = tree(&target);
    assert!(found.contains(&"b/mine=a directory where a file should be".to_owned()), "{found:?}");
    assert!(found.contains(&"sub=a file where a directory should be".to_owned()), "{found:?}");
}

/// Somebody exchanges a directory of DIR for a link, again and again, while the mirror runs.
#[test]
fn a_race_for_a_directory() {
    let hrefs: Vec<String> = (0..120).map(|number| format!("f{number}")).collect();
    let started = HttpServer::start(move |request| match request.path().as_str() {
        "/d/" => page(&["sub/".to_owned()]),
        "/d/sub/" => page(&hrefs),
        _ => HttpReply::new(200).body("evil"),
    });
    let (server, here) = (started.expect("a server"), place());
    let (target, victim) = (here.path().join("target"), here.path().join("victim"));
    fs::create_dir_all(target.join("sub")).expect("a directory");
    fs::create_dir(&victim).expect("a directory");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                let _ = fs::rename(target.join("sub"), here.path().join("aside"));
                let _ = symlink(&victim, target.join("sub"));
                std::thread::yield_now();
                let _ = fs::remove_file(target.join("sub"));
                let _ = fs::rename(here.path().join("aside"), target.join("sub"));
                std::thread::yield_now();
            }
        });
        for _ in 0..4 {
            let ran = mirror(&server.url("/d/"), &target, "-Z --parallel-max 8 --fail");
            assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(tree(&victim), Vec::<String>::new());
}

/// The same without chance: the link is planted by the server, when the file has been asked for or is half there.
#[test]
fn a_link_planted_while_a_file_comes() {
    let mut reached = Vec::new();
    for (what, planted, half) in [
        ("the directory, when it is asked for", "sub", false),
        ("the directory, when half of it is there", "sub", true),
        ("the name, when it is asked for", "sub/f", false),
        ("the name, when half of it is there", "sub/f", true),
        ("the .part, when it is asked for", "sub/f.part", false),
        ("the journal", JOURNAL, false),
    ] {
        let here = place();
        let (target, victim) = (here.path().join("target"), here.path().join("victim"));
        put(&victim, "f", "mine");
        let (link, aside) = (target.join(planted), here.path().join("aside"));
        let to = if planted == "sub" { victim.clone() } else { victim.join("f") };
        let plant = move || {
            let _ = fs::rename(&link, &aside);
            symlink(&to, &link).expect("a link");
        };
        let asked = AtomicUsize::new(0);
        let started = HttpServer::start(move |request| match request.path().as_str() {
            "/d/" => page(&["sub/".to_owned()]),
            "/d/sub/" => page(&["f".to_owned(), "g".to_owned()]),
            "/d/sub/f" if half => {
                HttpReply::new(200).body("e".repeat(4000)).drip(500, Duration::from_millis(30))
            }
            path => {
                let is_first = asked.fetch_add(1, Ordering::SeqCst) == 0;
                if half {
                    std::thread::sleep(Duration::from_millis(90));
                }
                if is_first && (half || path == "/d/sub/f") {
                    plant();
                }
                HttpReply::new(200).body("evil")
            }
        });
        let server = started.expect("a server");
        let words = if half { "--parallel-max 4" } else { "--parallel-max 1" };
        let ran = mirror(&server.url("/d/"), &target, words);
        assert!(!ran.stderr.contains("panicked"), "{what}: {}", ran.stderr);
        let found: Vec<String> = names(&victim);
        if tree(&victim) != ["f=mine"] {
            reached.push(format!("{what}: {found:?} exit {} {}", ran.exit, ran.stderr));
        }
    }
    assert!(reached.is_empty(), "{}", reached.join("\n"));
}
