//! `--max-delete`, and the limit of `--delete` without it.

use std::fs;
use std::ops::Range;
use std::path::Path;

use crate::support::mirror::{list_files, mirror_directory};
use crate::support::{temp_dir, write_file};

fn write_files(directory: &Path, numbers: Range<u32>) {
    for number in numbers {
        write_file(directory, &format!("{number:03}"), &number.to_string());
    }
}

fn remove_files(directory: &Path, numbers: Range<u32>) {
    for number in numbers {
        fs::remove_file(directory.join(format!("{number:03}"))).expect("a file");
    }
}

/// More than 10 files, and more than remain, are deleted only with `--max-delete`.
#[test]
fn delete_of_most_files_of_a_mirror_needs_max_delete() {
    let (source, target) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), target.path());
    write_files(from, 0..30);
    mirror_directory(from, to, "--delete").assert_exit(0);
    remove_files(from, 0..16);
    let result = mirror_directory(from, to, "--delete");
    result
        .assert_exit(63)
        .assert_stderr_contains("kept 16 files that are no longer listed: only 14 files would remain")
        .assert_stderr_contains("--max-delete 16");
    assert_eq!(list_files(to).len(), 30, "nothing is deleted");
    mirror_directory(from, to, "--delete --max-delete 16").assert_exit(0);
    assert_eq!(list_files(to).len(), 14);
    remove_files(from, 16..23);
    mirror_directory(from, to, "--delete").assert_exit(0);
    assert_eq!(list_files(to).len(), 7);
}

/// New files count as files that remain: a mirror may be replaced as a whole.
#[test]
fn delete_of_all_earlier_files_is_allowed_beside_as_many_new_ones() {
    let (source, target) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), target.path());
    write_files(from, 0..20);
    mirror_directory(from, to, "").assert_exit(0);
    remove_files(from, 0..20);
    write_files(from, 100..120);
    mirror_directory(from, to, "--delete").assert_exit(0);
    assert_eq!(list_files(to).len(), 20);
    assert!(!to.join("000").exists() && to.join("119").exists());
}

/// The mount point of a file system that is not mounted may contain something else.
#[test]
fn source_that_contains_other_files_than_before_deletes_nothing() {
    let (source, target) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), target.path());
    write_files(from, 0..20);
    mirror_directory(from, to, "").assert_exit(0);
    remove_files(from, 0..20);
    fs::create_dir(from.join("lost+found")).expect("a directory");
    mirror_directory(from, to, "--delete").assert_exit(63);
    assert_eq!(list_files(to).len(), 20);
}

#[test]
fn more_files_than_max_delete_are_all_kept() {
    let (source, target) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), target.path());
    write_files(from, 0..9);
    mirror_directory(from, to, "").assert_exit(0);
    remove_files(from, 0..3);
    write_files(from, 9..10);
    for (options, exit, files) in [
        ("--delete --max-delete 0", 63, 10),
        ("--delete --max-delete 2", 63, 10),
        ("--delete --max-delete 2 --dry-run", 63, 10),
        ("--delete --max-delete 3 --dry-run", 0, 10),
        ("--delete --max-delete 3", 0, 7),
        ("--delete --max-delete 0", 0, 7),
    ] {
        let result = mirror_directory(from, to, options);
        result.assert_exit(exit);
        assert_eq!(list_files(to).len(), files, "{options}");
        let printed = result.stdout_text().lines().filter(|line| line.starts_with("delete ")).count();
        assert_eq!(printed, if options.contains("--dry-run") { 3 } else { 0 }, "{options}");
    }
}

#[test]
fn directory_that_becomes_a_file_counts_its_files() {
    let (source, target) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), target.path());
    for name in ["d/1", "d/2", "d/3", "gone", "stays"] {
        write_file(from, name, name);
    }
    mirror_directory(from, to, "").assert_exit(0);
    fs::remove_dir_all(from.join("d")).expect("a directory");
    fs::remove_file(from.join("gone")).expect("a file");
    write_file(from, "d", "now a file");
    let result = mirror_directory(from, to, "--delete --max-delete 2");
    result.assert_exit(23).assert_stderr_contains("--max-delete");
    assert_eq!(list_files(to), ["d/1", "d/2", "d/3", "gone", "stays"]);
    let result = mirror_directory(from, to, "-v --delete --max-delete 3");
    result.assert_exit(63).assert_stderr_contains("kept 1 files").assert_stderr_contains("3 deleted");
    assert_eq!(list_files(to), ["d", "gone", "stays"]);
    mirror_directory(from, to, "--delete --max-delete 1").assert_exit(0);
    assert_eq!(list_files(to), ["d", "stays"]);
}

/// The journal keeps the paths of files that earlier runs have deleted.
#[test]
fn deleted_files_do_not_count_as_files_that_remain() {
    let (source, target) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), target.path());
    write_files(from, 0..60);
    mirror_directory(from, to, "").assert_exit(0);
    remove_files(from, 0..40);
    mirror_directory(from, to, "--delete --max-delete 40").assert_exit(0);
    remove_files(from, 40..55);
    mirror_directory(from, to, "--delete")
        .assert_exit(63)
        .assert_stderr_contains("only 5 files would remain");
    assert_eq!(list_files(to).len(), 20);
}

#[test]
fn directory_of_many_files_that_becomes_a_file_needs_max_delete() {
    let (source, target) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), target.path());
    write_file(from, "stays", "1");
    fs::create_dir(from.join("d")).expect("a directory");
    write_files(&from.join("d"), 0..60);
    mirror_directory(from, to, "").assert_exit(0);
    remove_files(&from.join("d"), 0..40);
    mirror_directory(from, to, "--delete --max-delete 40").assert_exit(0);
    fs::remove_dir_all(from.join("d")).expect("a directory");
    write_file(from, "d", "now a file");
    mirror_directory(from, to, "--delete")
        .assert_exit(23)
        .assert_stderr_contains("only 1 files would remain");
    assert_eq!(list_files(to).len(), 21);
    mirror_directory(from, to, "--delete --max-delete 20").assert_exit(0);
    assert_eq!(list_files(to), ["d", "stays"]);
}

/// 30 files in 10 directories, of which each becomes a file, so that as many files remain as were deleted.
#[test]
fn directories_that_become_files_are_removed_as_long_as_enough_files_remain() {
    let (source, target) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), target.path());
    for number in 0..10 {
        fs::create_dir(from.join(format!("d{number}"))).expect("a directory");
        write_files(&from.join(format!("d{number}")), 0..3);
    }
    mirror_directory(from, to, "").assert_exit(0);
    for number in 0..10 {
        fs::remove_dir_all(from.join(format!("d{number}"))).expect("a directory");
        write_file(from, &format!("d{number}"), "a file");
    }
    let result = mirror_directory(from, to, "--delete");
    result.assert_exit(23).assert_stderr_contains("files would remain");
    let files = list_files(to);
    let replaced = files.iter().filter(|name| !name.contains('/')).count();
    assert_eq!((replaced, files.len()), (5, 5 + 15));
    mirror_directory(from, to, "--delete --max-delete 15").assert_exit(0);
    assert_eq!(list_files(to).len(), 10);
}

#[test]
fn max_delete_without_delete_or_number_is_a_usage_error() {
    let (source, target) = (temp_dir(), temp_dir());
    write_files(source.path(), 0..1);
    for options in ["--max-delete 5", "--delete --max-delete -1", "--delete --max-delete x"] {
        mirror_directory(source.path(), target.path(), options)
            .assert_exit(2)
            .assert_stderr_contains("--max-delete");
    }
    assert!(list_files(target.path()).is_empty());
}
