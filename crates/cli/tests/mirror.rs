//! `mirror` of directories of this machine: the tree, what limits it, and which options it knows. Written from
//! README.md, "Mirrors", and the help.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use support::mirrored::{JOURNAL, place, put};
use support::{Ran, fetch, fetch_in, names};

/// All that is below, the journal excepted: `name=content`, `directory/`, `link@`; sorted.
fn tree(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in names(directory).into_iter().filter(|name| name != JOURNAL) {
        let path = directory.join(&name);
        let kind = fs::symlink_metadata(&path).expect("an entry").file_type();
        if kind.is_symlink() {
            found.push(format!("{name}@"));
        } else if kind.is_dir() {
            found.push(format!("{name}/"));
            found.extend(tree(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            found.push(format!("{name}={}", String::from_utf8_lossy(&fs::read(&path).expect("a file"))));
        }
    }
    found.sort();
    found
}

fn url(directory: &Path) -> String {
    format!("file://{}/", directory.display())
}

fn mirror(source: &Path, target: &Path, words: &str) -> Ran {
    let (url, target) = (url(source), target.display().to_string());
    fetch(["mirror", "--retry", "0"].into_iter().chain(words.split_whitespace()).chain([&*url, &*target]))
}

fn second(number: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(number)
}

fn set_time(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).expect("a file").set_modified(time).expect("a time");
}

fn time(path: &Path) -> SystemTime {
    fs::metadata(path).expect("a file").modified().expect("a time")
}

/// `a`, `sub/b`, `sub/deep/c`, `sub/deep/er/d`, and an empty directory.
fn source() -> tempfile::TempDir {
    let source = place();
    for (name, content) in [("a", "1"), ("sub/b", "22"), ("sub/deep/c", "333"), ("sub/deep/er/d", "4444")] {
        put(source.path(), name, content);
        set_time(&source.path().join(name), second(786_000_000));
    }
    fs::create_dir(source.path().join("empty")).expect("a directory");
    source
}

const ALL: [&str; 8] = [
    "a=1",
    "empty/",
    "sub/",
    "sub/b=22",
    "sub/deep/",
    "sub/deep/c=333",
    "sub/deep/er/",
    "sub/deep/er/d=4444",
];

#[test]
fn the_whole_tree_with_its_times() {
    let (source, here) = (source(), place());
    let target = here.path().join("not/there/yet");
    // The directories on the way are not ours to make without being asked, or they are: but never half.
    let ran = mirror(source.path(), &target, "--create-dirs");
    ran.exits(0);
    assert!(ran.stdout.is_empty(), "{}", ran.text());
    assert_eq!(tree(&target), ALL);
    assert!(target.join(JOURNAL).is_file());
    for name in ["a", "sub/deep/er/d"] {
        assert_eq!(time(&target.join(name)), second(786_000_000), "{name}");
    }
    // Nothing beside it.
    assert_eq!(names(here.path()), ["not"]);
    assert_eq!(tree(source.path()), ALL);
}

#[test]
fn a_second_run_writes_nothing() {
    let (source, target) = (source(), place());
    mirror(source.path(), target.path(), "").exits(0);
    let inode = |name: &str| {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(target.path().join(name)).expect("a file").ino()
    };
    let before = ["a", "sub/b", "sub/deep/c", "sub/deep/er/d"].map(inode);
    mirror(source.path(), target.path(), "").exits(0);
    assert_eq!(["a", "sub/b", "sub/deep/c", "sub/deep/er/d"].map(inode), before);
    assert_eq!(tree(target.path()), ALL);
    // Size and time are the same, and so nobody looks.
    put(source.path(), "a", "X");
    set_time(&source.path().join("a"), second(786_000_000));
    mirror(source.path(), target.path(), "").exits(0);
    assert_eq!(tree(target.path())[0], "a=1");
    // Another time alone is a change, and another size alone.
    set_time(&source.path().join("a"), second(786_000_060));
    put(source.path(), "sub/b", "longer");
    set_time(&source.path().join("sub/b"), second(786_000_000));
    mirror(source.path(), target.path(), "").exits(0);
    let now = tree(target.path());
    assert!(now.contains(&"a=X".to_owned()) && now.contains(&"sub/b=longer".to_owned()), "{now:?}");
    assert_eq!(["sub/deep/c", "sub/deep/er/d"].map(inode), before[2..]);
}

#[test]
fn what_is_missing_or_changed_here_comes_again() {
    let (source, target) = (source(), place());
    mirror(source.path(), target.path(), "").exits(0);
    fs::remove_file(target.path().join("a")).expect("a file");
    fs::remove_dir_all(target.path().join("sub/deep")).expect("a directory");
    mirror(source.path(), target.path(), "").exits(0);
    assert_eq!(tree(target.path()), ALL);
    // A file that was cut here is not the same any more.
    put(target.path(), "sub/b", "2");
    mirror(source.path(), target.path(), "").exits(0);
    assert_eq!(tree(target.path()), ALL);
}

#[test]
fn links_lead_to_files_but_not_round_in_circles() {
    let (source, other, target) = (source(), place(), place());
    put(other.path(), "else/x", "elsewhere");
    let here = source.path();
    for (to, name) in [
        ("a", "to-file"),
        ("nowhere", "dangling"),
        (".", "to-itself"),
        ("..", "sub/deep/up"),
        ("to-self", "to-self"),
        (other.path().join("else").to_str().expect("UTF-8"), "to-other"),
    ] {
        symlink(to, here.join(name)).expect("a link");
    }
    let ran = mirror(source.path(), target.path(), "");
    ran.exits(0);
    let found = tree(target.path());
    assert!(found.contains(&"to-file=1".to_owned()), "{found:?}");
    for absent in ["dangling", "to-self"] {
        assert!(!found.iter().any(|name| name.starts_with(absent)), "{absent}: {found:?}");
    }
    // Whatever is said of linked directories: each file is there at most once more, and it ends.
    for name in ["a=1", "b=22", "c=333"] {
        assert!(found.iter().filter(|found| found.ends_with(name)).count() <= 2, "{name}: {found:?}");
    }
    assert!(!found.iter().any(|name| name.ends_with('@')), "no links are made: {found:?}");
}

/// A mirror inside of what it mirrors ends, and so does one of itself.
#[test]
fn into_itself() {
    let source = source();
    let ran = mirror(source.path(), &source.path().join("copy"), "");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let found = tree(source.path());
    let copies = found.iter().filter(|name| name.ends_with("er/d=4444")).count();
    assert!(copies <= 2, "{copies}: {found:?}");
    let source = self::source();
    let ran = mirror(source.path(), source.path(), "--delete");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let found = tree(source.path());
    assert!(ALL.iter().all(|name| found.iter().any(|found| found == name)), "{found:?}");
}

#[test]
fn depth() {
    for (depth, expected) in [
        ("0", &["a=1"][..]),
        ("1", &["a=1", "sub/b=22"]),
        ("2", &["a=1", "sub/b=22", "sub/deep/c=333"]),
        ("3", &["a=1", "sub/b=22", "sub/deep/c=333", "sub/deep/er/d=4444"]),
    ] {
        let (source, target) = (source(), place());
        mirror(source.path(), target.path(), &format!("--max-depth {depth}")).exits(0);
        let files: Vec<String> =
            tree(target.path()).into_iter().filter(|name| !name.ends_with('/')).collect();
        assert_eq!(files, expected, "{depth}");
    }
}

#[test]
fn entries() {
    let (source, target) = (source(), place());
    for number in 0..20 {
        put(source.path(), &format!("many/{number:02}"), "x");
    }
    let ran = mirror(source.path(), target.path(), "--max-entries 10");
    ran.exits(63);
    let files = tree(target.path()).into_iter().filter(|name| !name.ends_with('/')).count();
    assert!((1..=10).contains(&files), "{:?}", tree(target.path()));
    // As many as there are is not too many: 3 + 2 + 2 + 1 + 20, and the directory itself.
    let target = place();
    mirror(source.path(), target.path(), "--max-entries 40").exits(0);
    assert_eq!(tree(target.path()).len(), ALL.len() + 21);
    // And what was cut, deletes nothing.
    mirror(source.path(), target.path(), "--max-entries 10 --delete").exits(63);
    assert_eq!(tree(target.path()).len(), ALL.len() + 21);
}

#[test]
fn globs() {
    let source = place();
    for name in
        ["a.txt", "b.c", "sub/a.txt", "sub/x.c", "sub/deep/a.txt", "sub/deep/[x].c", "tmp/a.txt", "tmp/é"]
    {
        put(source.path(), name, "");
    }
    for (words, expected) in [
        ("--include-glob *.c", &["b.c", "sub/deep/[x].c", "sub/x.c"][..]),
        ("--include-glob ?.c", &["b.c", "sub/x.c"]),
        ("--include-glob [bx].c", &["b.c", "sub/x.c"]),
        ("--include-glob [[]x].c", &["sub/deep/[x].c"]),
        ("--include-glob sub/*.c", &["sub/x.c"]),
        ("--include-glob sub/**", &["sub/a.txt", "sub/deep/[x].c", "sub/deep/a.txt", "sub/x.c"]),
        ("--include-glob sub/**/*.c", &["sub/deep/[x].c", "sub/x.c"]),
        ("--include-glob **/deep/*", &["sub/deep/[x].c", "sub/deep/a.txt"]),
        ("--include-glob sub", &[]),
        ("--include-glob b.c --include-glob x.c", &["b.c", "sub/x.c"]),
        ("--exclude-glob *.txt", &["b.c", "sub/deep/[x].c", "sub/x.c", "tmp/é"]),
        ("--exclude-glob sub", &["a.txt", "b.c", "tmp/a.txt", "tmp/é"]),
        ("--exclude-glob deep --exclude-glob tmp", &["a.txt", "b.c", "sub/a.txt", "sub/x.c"]),
        ("--exclude-glob sub/deep", &["a.txt", "b.c", "sub/a.txt", "sub/x.c", "tmp/a.txt", "tmp/é"]),
        ("--include-glob a.txt --exclude-glob sub/deep/*", &["a.txt", "sub/a.txt", "tmp/a.txt"]),
        ("--include-glob A.TXT", &[]),
    ] {
        let target = place();
        mirror(source.path(), target.path(), words).exits(0);
        let found =
            tree(target.path()).into_iter().filter_map(|name| Some(name.strip_suffix('=')?.to_owned()));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{words}");
    }
    // What is excluded is not even listed, so it may be unreadable; and what is no pattern is told.
    let ran = mirror(source.path(), place().path(), "--include-glob [");
    assert!(ran.exit == 2 || ran.exit == 0, "{}", ran.stderr);
}

/// Wrong options touch nothing, neither here nor there.
#[test]
fn options_that_have_no_place_here() {
    let (source, here) = (source(), place());
    let target = here.path().join("new");
    for words in [
        "-o x",
        "-O",
        "-J -O",
        "--remote-name-all",
        "-r 0-1",
        "-C 3",
        "-I",
        "-i",
        "-z 1994-01-01",
        "--checksum md5:900150983cd24fb0d6963f7d28e17f72",
        "--input-file list",
        "--max-depth x",
        "--max-depth -1",
        "--max-entries x",
        "--nonsense",
        "--connect",
        "--head",
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let url = url(source.path());
        let ran = fetch_in(here.path(), [&["mirror", "--retry", "0"], &*words, &[&*url, "new"]].concat());
        assert_eq!(ran.exit, 2, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.len() > 20 && !ran.stderr.contains("panicked"), "{words:?}: {}", ran.stderr);
        assert_eq!(names(here.path()), Vec::<String>::new(), "{words:?}");
        assert!(!target.exists());
    }
}

#[test]
fn arguments() {
    let (source, here) = (source(), place());
    fetch_in(here.path(), ["mirror", "--retry", "0"]).exits(2).says("URL");
    let (one, two) = (url(source.path()), here.path().join("x").display().to_string());
    fetch_in(here.path(), ["mirror", "--retry", "0", &one, &two, &one]).exits(2);
    assert_eq!(names(here.path()), Vec::<String>::new());
    fetch_in(here.path(), ["mirror", "--retry", "0", "http://h:x/", "x"]).exits(3);
    assert_eq!(names(here.path()), Vec::<String>::new());
    // DIR left out: the last part of the URL, below the directory one is in, made safe.
    put(source.path(), "last part/f", "x");
    let at = format!("{}last%20part/", url(source.path()));
    fetch_in(here.path(), ["mirror", "--retry", "0", &at]).exits(0);
    assert_eq!(tree(here.path()), ["last part/", "last part/f=x"]);
    // Without the final slash it is a directory all the same.
    let here = place();
    fetch_in(here.path(), ["mirror", "--retry", "0", at.trim_end_matches('/'), "new"]).exits(0);
    assert_eq!(tree(here.path()), ["new/", "new/f=x"]);
    // DIR is a file.
    put(here.path(), "file", "mine");
    let ran = fetch_in(here.path(), ["mirror", "--retry", "0", &at, "file"]);
    ran.exits(23).says("file");
    assert_eq!(fs::read_to_string(here.path().join("file")).expect("a file"), "mine");
}

#[test]
fn urls_that_are_no_directory() {
    let (source, here) = (source(), place());
    let target = here.path().join("new");
    let at = |path: &str| format!("{}{path}", url(source.path()));
    let run = |url: &str| fetch(["mirror", "--retry", "0", url, target.to_str().expect("UTF-8")]);
    for (url, exits) in [
        (at("missing/"), &[78][..]),
        (at("a"), &[1, 2, 78]),
        ("mailto:someone@test.invalid".to_owned(), &[1, 2]),
        ("wais://127.0.0.1:1/db".to_owned(), &[1, 2]),
        ("telnet://127.0.0.1:1/".to_owned(), &[1, 2]),
        ("prospero://127.0.0.1:1/x".to_owned(), &[1, 2]),
        ("x-unknown://127.0.0.1:1/".to_owned(), &[1]),
    ] {
        let ran = run(&url);
        assert!(exits.contains(&ran.exit), "{url}: {} {}", ran.exit, ran.stderr);
        assert!(ran.stderr.starts_with("fetch-url: ") && !ran.stderr.contains("panicked"), "{}", ran.stderr);
        let left = if target.exists() { tree(&target) } else { Vec::new() };
        assert_eq!(left, Vec::<String>::new(), "{url}");
    }
}

/// A directory that mirrors one thing is not made into the mirror of another.
#[test]
fn another_url() {
    let (source, other, target) = (source(), place(), place());
    put(other.path(), "other", "x");
    mirror(source.path(), target.path(), "").exits(0);
    let before = (tree(target.path()), fs::read(target.path().join(JOURNAL)).expect("a journal"));
    let ran = mirror(other.path(), target.path(), "--delete");
    assert_ne!(ran.exit, 0);
    assert!(ran.stderr.contains("mirror") || ran.stderr.contains(JOURNAL), "{}", ran.stderr);
    assert_eq!((tree(target.path()), fs::read(target.path().join(JOURNAL)).expect("a journal")), before);
}

#[test]
fn dots() {
    let (source, target) = (place(), place());
    put(source.path(), ".dot", "x");
    put(source.path(), ".hidden/f", "y");
    mirror(source.path(), target.path(), "").exits(0);
    assert!(!names(target.path()).iter().any(|name| name.starts_with('.') && name != JOURNAL));
    let target = place();
    mirror(source.path(), target.path(), "--dot-names").exits(0);
    assert_eq!(tree(target.path()), [".dot=x", ".hidden/", ".hidden/f=y"]);
}

/// A source that is a mirror itself: the journal of the source is never taken for our own.
#[test]
fn the_journal_is_nobody_elses() {
    let (first, second, third) = (source(), place(), place());
    mirror(first.path(), second.path(), "").exits(0);
    for words in ["", "--dot-names"] {
        mirror(second.path(), third.path(), words);
        let journal = fs::read_to_string(third.path().join(JOURNAL)).expect("a journal");
        let own = url(second.path());
        assert!(journal.lines().next().is_some_and(|line| line.contains(&own)), "{words}: {journal}");
        mirror(second.path(), third.path(), words);
        let found = tree(third.path());
        assert!(ALL.iter().all(|name| found.iter().any(|found| found == name)), "{words}: {found:?}");
    }
}
