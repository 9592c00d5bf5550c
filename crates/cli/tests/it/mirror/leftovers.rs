//! `mirror --delete` and the temporary files of killed runs: they do not keep a directory that the server no longer has,
//! and are removed when their object is no longer listed.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::mirror::{file_url, list_files, mirror_directory, run_mirror};
use crate::support::{temp_dir, write_file};

/// Creates the source files `d/a` and `z` in `from` and mirrors them to `to`.
fn mirror_two_files(from: &Path, to: &Path) {
    for name in ["d/a", "z"] {
        write_file(from, name, name);
    }
    mirror_directory(from, to, "").assert_exit(0);
}

/// Writes the temporary files that a killed download of `url` to `path` leaves.
fn leave_partial_download(directory: &Path, path: &str, url: &str) {
    write_file(directory, &format!("{path}.fetch-url.part"), "part");
    let digest = "0".repeat(64);
    let state = format!(
        "{{\"url\":\"{url}\",\"size\":9,\"validator\":null,\"place\":null,\"octets\":4,\"tail_sha256\":\"{digest}\",\"mode\":420}}\n"
    );
    write_file(directory, &format!("{path}.fetch-url.json"), &state);
}

#[test]
fn directory_with_temporary_files_of_a_killed_run_is_replaced_by_a_file() {
    let (source, dir) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), dir.path().join("target"));
    mirror_two_files(from, &to);
    leave_partial_download(&to, "d/big", &format!("{}d/big", file_url(from)));
    // A run that was killed earlier leaves no metadata, or a file that it was about to rename to the metadata.
    write_file(&to, "d/deep/small.fetch-url.part", "part");
    write_file(&to, "d/deep/small.fetch-url.new", "");
    fs::remove_dir_all(from.join("d")).expect("a directory");
    write_file(from, "d", "file");
    mirror_directory(from, &to, "--delete").assert_exit(0);
    assert_eq!(list_files(&to), ["d", "z"]);
}

/// Plants something in a directory, given the URL of the source.
type Plant = fn(&Path, &str) -> Option<File>;

#[test]
fn directory_is_kept_if_a_temporary_file_may_be_needed() {
    let plants: [(&str, Plant); 5] = [
        ("locked by a running process", |d, _| {
            fs::write(d.join("x.fetch-url.part"), "part").expect("a file");
            let file = File::open(d.join("x.fetch-url.part")).expect("a file");
            file.lock().expect("a lock");
            Some(file)
        }),
        ("a second hard link", |d, _| {
            fs::write(d.join("x.fetch-url.part"), "part").expect("a file");
            fs::hard_link(d.join("x.fetch-url.part"), d.join("../../link")).expect("a link");
            None
        }),
        ("a symbolic link", |d, _| {
            symlink("../z", d.join("x.fetch-url.part")).expect("a link");
            None
        }),
        ("a directory", |d, _| {
            write_file(d, "x.fetch-url.part/mine", "mine");
            None
        }),
        ("a download from elsewhere", |d, _| {
            leave_partial_download(d, "x", "http://other.test/x");
            None
        }),
    ];
    for (case, plant) in plants {
        let (source, dir) = (temp_dir(), temp_dir());
        let (from, to) = (source.path(), dir.path().join("target"));
        mirror_two_files(from, &to);
        let _lock = plant(&to.join("d"), &file_url(from));
        let before = list_files(&to);
        fs::remove_dir_all(from.join("d")).expect("a directory");
        write_file(from, "d", "file");
        mirror_directory(from, &to, "--delete").assert_exit(23);
        assert_eq!(list_files(&to), before, "{case}");
    }
}

#[test]
fn temporary_files_of_objects_that_are_no_longer_listed_are_removed() {
    let (source, dir) = (temp_dir(), temp_dir());
    let (from, to) = (source.path(), dir.path().join("target"));
    mirror_two_files(from, &to);
    let url = file_url(from);
    for path in ["big", "d/big", "only/parts", "z"] {
        leave_partial_download(&to, path, &format!("{url}{path}"));
    }
    leave_partial_download(&to, "mine", "http://other.test/x");
    write_file(&to, "kept/mine", "mine");
    leave_partial_download(&to, "kept/big", &format!("{url}kept/big"));
    let before = list_files(&to);
    // Without --delete, nothing is removed.
    mirror_directory(from, &to, "").assert_exit(0);
    assert_eq!(list_files(&to), before);
    fs::remove_dir_all(from.join("d")).expect("a directory");
    let result = mirror_directory(from, &to, "--delete --dry-run");
    assert!(result.stdout_text().contains("delete big.fetch-url.part\n"), "{}", result.stdout_text());
    assert_eq!(list_files(&to), before);
    mirror_directory(from, &to, "--delete").assert_exit(0);
    let expected = [
        "kept/mine",
        "mine.fetch-url.json",
        "mine.fetch-url.part",
        "z",
        "z.fetch-url.json",
        "z.fetch-url.part",
    ];
    assert_eq!(list_files(&to), expected);
    assert!(!to.join("d").exists() && !to.join("only").exists());
    // An empty listing proves nothing.
    leave_partial_download(&to, "big", &format!("{url}big"));
    fs::remove_file(from.join("z")).expect("a file");
    run_mirror(&url, &to, "--delete").assert_exit(0);
    assert!(to.join("big.fetch-url.part").exists());
}
