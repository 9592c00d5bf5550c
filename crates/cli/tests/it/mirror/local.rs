//! `mirror` of local directories (`file:` URLs): times, unchanged files, links, depth, number of entries, glob
//! patterns.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::support::mirror::{
    MIRROR_JOURNAL, file_url, list_tree, mirror_directory, run_mirror, set_modification_time, source_tree,
    unix_time,
};
use crate::support::{entry_names, run_fetch_url, run_shell, temp_dir, write_file};

fn modification_time(path: &Path) -> SystemTime {
    fs::metadata(path).expect("a file").modified().expect("a time")
}

const EXPECTED_TREE: [&str; 8] = [
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
fn file_that_changes_within_a_second_is_copied_with_its_time() {
    let (source, target) = (temp_dir(), temp_dir());
    let file = source.path().join("a");
    for (content, milliseconds) in [("AAAA", 100), ("BBBB", 900), ("CCCC", 0)] {
        fs::write(&file, content).expect("a file");
        let time = unix_time(786_000_000) + Duration::from_millis(milliseconds);
        set_modification_time(&file, time);
        for _ in 0..2 {
            mirror_directory(source.path(), target.path(), "").assert_exit(0);
            let copy = target.path().join("a");
            assert_eq!(fs::read_to_string(&copy).expect("a file"), content);
            assert_eq!(modification_time(&copy), time, "{content}");
        }
    }
}

#[test]
fn tree_is_copied_with_modification_times() {
    let (source, dir) = (source_tree(), temp_dir());
    let target = dir.path().join("not/there/yet");
    let result = mirror_directory(source.path(), &target, "--create-dirs");
    result.assert_exit(0);
    assert!(result.stdout.is_empty(), "{}", result.stdout_text());
    assert_eq!(list_tree(&target), EXPECTED_TREE);
    assert!(target.join(MIRROR_JOURNAL).is_file());
    for name in ["a", "sub/deep/er/d"] {
        assert_eq!(modification_time(&target.join(name)), unix_time(786_000_000), "{name}");
    }
    // Nothing is created beside the target.
    assert_eq!(entry_names(dir.path()), ["not"]);
    assert_eq!(list_tree(source.path()), EXPECTED_TREE);
}

#[test]
fn second_run_downloads_only_changed_files() {
    let (source, target) = (source_tree(), temp_dir());
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    let inode = |name: &str| {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(target.path().join(name)).expect("a file").ino()
    };
    let before = ["a", "sub/b", "sub/deep/c", "sub/deep/er/d"].map(inode);
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    assert_eq!(["a", "sub/b", "sub/deep/c", "sub/deep/er/d"].map(inode), before);
    assert_eq!(list_tree(target.path()), EXPECTED_TREE);
    // Same size and time: the content is not compared.
    write_file(source.path(), "a", "X");
    set_modification_time(&source.path().join("a"), unix_time(786_000_000));
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    assert_eq!(list_tree(target.path())[0], "a=1");
    // Another time or another size counts as a change.
    set_modification_time(&source.path().join("a"), unix_time(786_000_060));
    write_file(source.path(), "sub/b", "longer");
    set_modification_time(&source.path().join("sub/b"), unix_time(786_000_000));
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    let now = list_tree(target.path());
    assert!(now.contains(&"a=X".to_owned()) && now.contains(&"sub/b=longer".to_owned()), "{now:?}");
    assert_eq!(["sub/deep/c", "sub/deep/er/d"].map(inode), before[2..]);
}

#[test]
fn missing_or_changed_local_files_are_downloaded_again() {
    let (source, target) = (source_tree(), temp_dir());
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    fs::remove_file(target.path().join("a")).expect("a file");
    fs::remove_dir_all(target.path().join("sub/deep")).expect("a directory");
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    assert_eq!(list_tree(target.path()), EXPECTED_TREE);
    // A truncated local file is replaced.
    write_file(target.path(), "sub/b", "2");
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    assert_eq!(list_tree(target.path()), EXPECTED_TREE);
}

#[test]
fn links_to_files_are_followed_without_loops() {
    let (source, other, target) = (source_tree(), temp_dir(), temp_dir());
    write_file(other.path(), "else/x", "elsewhere");
    let dir = source.path();
    for (to, name) in [
        ("a", "to-file"),
        ("nowhere", "dangling"),
        (".", "to-itself"),
        ("..", "sub/deep/up"),
        ("to-self", "to-self"),
        (other.path().join("else").to_str().expect("UTF-8"), "to-other"),
    ] {
        symlink(to, dir.join(name)).expect("a link");
    }
    let result = mirror_directory(source.path(), target.path(), "");
    result.assert_exit(0);
    let found = list_tree(target.path());
    assert!(found.contains(&"to-file=1".to_owned()), "{found:?}");
    for absent in ["dangling", "to-self"] {
        assert!(!found.iter().any(|name| name.starts_with(absent)), "{absent}: {found:?}");
    }
    // Linked directories may or may not be followed, but each file is copied at most once more.
    for name in ["a=1", "b=22", "c=333"] {
        assert!(found.iter().filter(|found| found.ends_with(name)).count() <= 2, "{name}: {found:?}");
    }
    assert!(!found.iter().any(|name| name.ends_with('@')), "the mirror contains a symbolic link: {found:?}");
}

/// The target is inside the source, or is the source itself.
#[test]
fn mirror_into_its_own_source_ends() {
    let source = source_tree();
    let result = mirror_directory(source.path(), &source.path().join("copy"), "");
    assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
    let found = list_tree(source.path());
    let copies = found.iter().filter(|name| name.ends_with("er/d=4444")).count();
    assert!(copies <= 2, "{copies}: {found:?}");
    let source = source_tree();
    let result = mirror_directory(source.path(), source.path(), "--delete");
    assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
    let found = list_tree(source.path());
    assert!(EXPECTED_TREE.iter().all(|name| found.iter().any(|found| found == name)), "{found:?}");
}

#[test]
fn mirror_whose_copy_would_overwrite_its_source_is_refused() {
    for (source, is_refused) in [("a", true), ("a/b", false), ("c", false)] {
        let dir = temp_dir();
        // In the directory above it, the copy of `a/a/f` would be `a/f`.
        for name in ["a/f", "a/a/f", "a/b/b/f", "c/d/f"] {
            write_file(dir.path(), name, name);
        }
        let before = list_tree(dir.path());
        let result = mirror_directory(&dir.path().join(source), dir.path(), "");
        result.assert_exit(if is_refused { 2 } else { 0 });
        assert!(!is_refused || list_tree(dir.path()) == before, "{source}");
        assert_eq!(fs::read_to_string(dir.path().join("a/f")).expect("a file"), "a/f", "{source}");
    }
}

#[test]
fn max_depth_limits_the_levels() {
    for (max_depth_limits_the_levels, expected) in [
        ("0", &["a=1"][..]),
        ("1", &["a=1", "sub/b=22"]),
        ("2", &["a=1", "sub/b=22", "sub/deep/c=333"]),
        ("3", &["a=1", "sub/b=22", "sub/deep/c=333", "sub/deep/er/d=4444"]),
    ] {
        let (source, target) = (source_tree(), temp_dir());
        mirror_directory(source.path(), target.path(), &format!("--max-depth {max_depth_limits_the_levels}"))
            .assert_exit(0);
        let files: Vec<String> =
            list_tree(target.path()).into_iter().filter(|name| !name.ends_with('/')).collect();
        assert_eq!(files, expected, "{max_depth_limits_the_levels}");
    }
}

#[test]
fn max_entries_limits_the_run_and_prevents_deletions() {
    let (source, target) = (source_tree(), temp_dir());
    for number in 0..20 {
        write_file(source.path(), &format!("many/{number:02}"), "x");
    }
    let result = mirror_directory(source.path(), target.path(), "--max-entries 10");
    result.assert_exit(63);
    let files = list_tree(target.path()).into_iter().filter(|name| !name.ends_with('/')).count();
    assert!((1..=10).contains(&files), "{:?}", list_tree(target.path()));
    // The tree has fewer than 40 entries: 3 + 2 + 2 + 1 + 20, and the directory `many` itself.
    let target = temp_dir();
    mirror_directory(source.path(), target.path(), "--max-entries 40").assert_exit(0);
    assert_eq!(list_tree(target.path()).len(), EXPECTED_TREE.len() + 21);
    // A run that reached the limit deletes nothing.
    mirror_directory(source.path(), target.path(), "--max-entries 10 --delete").assert_exit(63);
    assert_eq!(list_tree(target.path()).len(), EXPECTED_TREE.len() + 21);
}

#[test]
fn globs_select_files_and_directories() {
    let source = temp_dir();
    for name in
        ["a.txt", "b.c", "sub/a.txt", "sub/x.c", "sub/deep/a.txt", "sub/deep/[x].c", "tmp/a.txt", "tmp/é"]
    {
        write_file(source.path(), name, "");
    }
    for (options, expected) in [
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
        let target = temp_dir();
        mirror_directory(source.path(), target.path(), options).assert_exit(0);
        let found =
            list_tree(target.path()).into_iter().filter_map(|name| Some(name.strip_suffix('=')?.to_owned()));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{options}");
    }
    // An invalid pattern is reported.
    let result = mirror_directory(source.path(), temp_dir().path(), "--include-glob [");
    assert!(result.exit == 2 || result.exit == 0, "{}", result.stderr);
}

#[test]
fn dot_names_are_copied_only_with_dot_names_option() {
    let (source, target) = (temp_dir(), temp_dir());
    write_file(source.path(), ".dot", "x");
    write_file(source.path(), ".hidden/f", "y");
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    assert!(!entry_names(target.path()).iter().any(|name| name.starts_with('.') && name != MIRROR_JOURNAL));
    let target = temp_dir();
    mirror_directory(source.path(), target.path(), "--dot-names").assert_exit(0);
    assert_eq!(list_tree(target.path()), [".dot=x", ".hidden/", ".hidden/f=y"]);
}

/// The source is a mirror itself: its journal does not replace the journal of the target.
#[test]
fn journal_of_the_source_is_not_copied_over_own_journal() {
    let (first, second, third) = (source_tree(), temp_dir(), temp_dir());
    mirror_directory(first.path(), second.path(), "").assert_exit(0);
    for options in ["", "--dot-names"] {
        mirror_directory(second.path(), third.path(), options);
        let journal = fs::read_to_string(third.path().join(MIRROR_JOURNAL)).expect("a journal");
        let source_url = file_url(second.path());
        assert!(
            journal.lines().next().is_some_and(|line| line.contains(&source_url)),
            "{options}: {journal}"
        );
        mirror_directory(second.path(), third.path(), options);
        let found = list_tree(third.path());
        assert!(
            EXPECTED_TREE.iter().all(|name| found.iter().any(|found| found == name)),
            "{options}: {found:?}"
        );
    }
}

/// FIFOs and devices in the source directory are neither opened nor copied.
#[test]
fn special_files_are_skipped_and_reported() {
    let dir = temp_dir();
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    fs::create_dir(&source).expect("a directory");
    fs::write(source.join("a"), "1").expect("a file");
    run_shell("mkfifo \"$1/fifo\" && ln -s /dev/zero \"$1/zero\"", [&source]).assert_exit(0);
    let _socket = UnixListener::bind(source.join("socket")).expect("a socket");
    let result = run_mirror(&format!("file://{}/", source.display()), &target, "");
    assert!(!result.stderr.contains("panicked") && result.exit < 99, "{} {}", result.exit, result.stderr);
    assert_eq!(list_tree(&target), ["a=1"], "{}", result.stderr);
    for name in ["fifo", "socket", "zero"] {
        let note = format!("{name}: skipped: it is neither a file nor a link to one");
        assert!(result.stderr.contains(&note), "{name} is not reported: {}", result.stderr);
    }
}

/// The files are saved under other names then, and the names of the run before are removed.
#[test]
fn delete_after_dot_names_was_switched_off_removes_the_dotted_names() {
    let (source, dir) = (temp_dir(), temp_dir());
    let copy = dir.path().join("copy");
    fs::create_dir(source.path().join(".d")).expect("create directory");
    for name in [".x", ".d/y", "z"] {
        write_file(source.path(), name, name);
    }
    mirror_directory(source.path(), &copy, "--dot-names").assert_exit(0);
    assert_eq!(list_tree(&copy), [".d/", ".d/y=.d/y", ".x=.x", "z=z"]);
    mirror_directory(source.path(), &copy, "--delete").assert_exit(0);
    assert_eq!(list_tree(&copy), ["_d/", "_d/y=.d/y", "_x=.x", "z=z"]);
}

/// docs/spec/semantics.md, rule 9.11. A replaced file keeps its permissions.
#[test]
fn copies_of_private_files_are_private() {
    let (source, target) = (temp_dir(), temp_dir());
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    for (name, mode) in [("private", 0o600), ("group", 0o640), ("public", 0o644), ("read-only", 0o400)] {
        write_file(source.path(), name, name);
        fs::set_permissions(source.path().join(name), fs::Permissions::from_mode(mode)).expect("a file");
    }
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    for name in ["private", "group", "public", "read-only"] {
        let (original, copy) = (mode(&source.path().join(name)), mode(&target.path().join(name)));
        assert!(copy & 0o077 & !original == 0 && copy & 0o600 == 0o600, "{name}: {original:o}, {copy:o}");
    }
    let copy = target.path().join("public");
    let (before, url) = (mode(&copy), file_url(source.path()) + "private");
    run_fetch_url(["-o", copy.to_str().expect("UTF-8"), &url]).assert_exit(0);
    assert_eq!((mode(&copy), fs::read(&copy).expect("a file")), (before, b"private".to_vec()));
}

/// docs/spec/cli.md, rule 26.12.
#[test]
fn link_that_leads_out_of_the_source_is_copied_with_the_permissions_of_its_target() {
    let (source, elsewhere, target) = (temp_dir(), temp_dir(), temp_dir());
    write_file(elsewhere.path(), "secret", "secret");
    fs::set_permissions(elsewhere.path().join("secret"), fs::Permissions::from_mode(0o600)).expect("a file");
    symlink(elsewhere.path().join("secret"), source.path().join("link")).expect("a link");
    symlink(elsewhere.path(), source.path().join("directory")).expect("a link");
    mirror_directory(source.path(), target.path(), "").assert_exit(0);
    assert_eq!(list_tree(target.path()), ["link=secret"]);
    let mode = fs::metadata(target.path().join("link")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn directory_that_becomes_a_link_to_a_directory_is_skipped_as_in_a_first_run() {
    for options in ["", "--delete"] {
        let (source, elsewhere, target) = (temp_dir(), temp_dir(), temp_dir());
        write_file(source.path(), "sub/x", "x");
        mirror_directory(source.path(), target.path(), "").assert_exit(0);
        fs::remove_dir_all(source.path().join("sub")).expect("a directory");
        symlink(elsewhere.path(), source.path().join("sub")).expect("a link");
        for _ in 0..2 {
            let result = mirror_directory(source.path(), target.path(), options);
            result.assert_exit(0).assert_stderr_contains("neither a file nor a link to one");
            assert_eq!(list_tree(target.path()), ["sub/", "sub/x=x"], "{options}");
        }
    }
}

/// The entries of a directory without search permission cannot be examined.
#[test]
fn files_of_a_directory_without_search_permission_are_denied_and_not_skipped() {
    let (source, target) = (temp_dir(), temp_dir());
    write_file(source.path(), "d/a", "a");
    let run_as_user = |command: &str| {
        let script = format!(
            "chmod 755 \"$1\" && chmod 644 \"$1/d/a\" \"$1/d\" && chmod 777 \"$2\" || exit 99
            test \"$(id -u)\" != 0 || run='setpriv --reuid=64998 --regid=64998 --clear-groups'
            $run \"$F\" {command}; status=$?; chmod 755 \"$1/d\"; exit $status"
        );
        run_shell(&script, [source.path(), target.path()])
    };
    if run_as_user("--version").exit != 0 {
        return println!("skipped: the program cannot be started as another user");
    }
    let result = run_as_user("mirror --retry 0 \"file://$1/\" \"$2/m\"");
    assert_eq!(result.exit, 9, "{}", result.stderr);
    assert!(!result.stderr.contains("neither a file"), "{}", result.stderr);
}

/// The size of a generated file is 0, and its time that of its first use.
#[test]
fn generated_files_are_fetched_by_every_run() {
    let dir = temp_dir();
    let mut copies = Vec::new();
    for _ in 0..3 {
        let source = Path::new("/proc/sys/kernel/random");
        mirror_directory(source, dir.path(), "--include-glob uuid").assert_exit(0);
        copies.push(fs::read_to_string(dir.path().join("uuid")).expect("a file"));
    }
    assert!(copies[0] != copies[1] && copies[1] != copies[2], "{copies:?}");
    let listing = run_fetch_url(["--format", "json", "file:///proc/sys/kernel/random/"]);
    let listing = listing.assert_exit(0).stdout_text();
    let line = listing.lines().find(|line| line.contains("uuid")).expect("an entry");
    assert!(!line.contains("\"size\":0"), "{line}");
}
