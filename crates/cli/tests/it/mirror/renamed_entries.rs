//! `mirror --delete`, and entries that have another local name than in the run before.

use super::delete::Site;
use crate::support::mirror::{list_files, nginx_index_with_sizes};
use crate::support::temp_dir;
use fetch_url_tests::HttpResponse;

/// The entries of `/d/` in both runs, and what was copied in the first run. The names `.x` and `-x` are sanitised alike, so
/// both get a suffix.
const FIRST: &[(&str, &str)] = &[(".d/", "-"), (".f", "1"), ("c", "1")];
const SECOND: &[(&str, &str)] = &[(".d/", "-"), ("-d/", "-"), (".f", "1"), ("-f", "1"), ("c", "1")];

fn site(entries: &[(&str, &str)]) -> Site {
    let site = Site::new();
    site.set_reply("/d/", nginx_index_with_sizes(entries));
    for directory in ["/d/.d/", "/d/-d/"] {
        site.set_reply(directory, nginx_index_with_sizes(&[("x", "1")]));
    }
    for file in ["/d/.f", "/d/-f", "/d/c", "/d/.d/x", "/d/-d/x"] {
        site.set_reply(file, HttpResponse::new(200).body("F"));
    }
    site
}

#[test]
fn only_copy_of_an_entry_that_gets_a_suffix_is_kept_until_it_is_fetched() {
    for (options, failing, exit) in [
        ("", true, 78),
        ("--max-depth 0", false, 0),
        ("--include-glob c", false, 0),
        ("--exclude-glob _d --exclude-glob _f", false, 0),
    ] {
        let (site, dir) = (site(FIRST), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        assert_eq!(list_files(dir.path()), ["_d/x", "_f", "c"]);
        site.set_reply("/d/", nginx_index_with_sizes(SECOND));
        if failing {
            site.set_reply(
                "/d/.d/",
                HttpResponse::new(200).header("Content-Type", "text/html").body("<h1>Index").cut_body_at(4),
            );
            site.set_reply("/d/.f", HttpResponse::new(404));
        }
        let result = site.run_mirror(dir.path(), &format!("--delete {options}"));
        let files = list_files(dir.path());
        for path in ["_d/x", "_f"] {
            let is_fetched_again = options == "--max-depth 0" && path == "_f";
            assert_eq!(
                files.iter().any(|file| file == path),
                !is_fetched_again,
                "{path} {options}: {files:?}"
            );
        }
        result.assert_exit(exit);
        site.set_reply("/d/.d/", nginx_index_with_sizes(&[("x", "1")]));
        site.set_reply("/d/.f", HttpResponse::new(200).body("F"));
        site.run_mirror(dir.path(), "--delete").assert_exit(0);
        let files = list_files(dir.path());
        assert!(
            files.len() == 5 && !files.iter().any(|file| file == "_d/x" || file == "_f"),
            "{options}: {files:?}"
        );
    }
}

#[test]
fn only_copies_are_kept_when_dot_names_is_switched() {
    for [first, second] in [["--dot-names", ""], ["", "--dot-names"]] {
        for (options, failing) in [("", true), ("--include-glob c", false)] {
            let (site, dir) = (site(FIRST), temp_dir());
            site.run_mirror(dir.path(), first).assert_exit(0);
            let copied = list_files(dir.path());
            if failing {
                ["/d/.d/", "/d/.f"].into_iter().for_each(|path| site.set_reply(path, HttpResponse::new(500)));
            }
            site.run_mirror(dir.path(), &format!("--delete {second} {options}"));
            assert_eq!(list_files(dir.path()), copied, "{second} {options}");
        }
    }
}

/// The sizes and times are those of no listed version.
#[test]
fn only_copy_that_is_not_the_listed_version_is_kept_until_it_is_fetched() {
    for size in ["1.0K", "-", "7"] {
        let list = |site: &Site, names: &[&str]| {
            let entries: Vec<_> = names.iter().map(|name| (*name, size)).collect();
            site.set_reply("/d/", nginx_index_with_sizes(&entries));
        };
        let (site, dir) = (Site::new(), temp_dir());
        list(&site, &[".f", "c"]);
        site.run_mirror(dir.path(), "").assert_exit(0);
        list(&site, &[".f", "-f", "c"]);
        site.set_reply("/d/.f", HttpResponse::new(404));
        for _ in 0..2 {
            site.run_mirror(dir.path(), "--delete").assert_exit(78).assert_stderr_contains("kept 1 files");
            assert!(list_files(dir.path()).contains(&"_f".to_owned()), "{size}");
        }
        site.set_reply("/d/.f", HttpResponse::new(200).body("F"));
        site.run_mirror(dir.path(), "--delete").assert_exit(0);
        let files = list_files(dir.path());
        assert!(files.len() == 3 && !files.contains(&"_f".to_owned()), "{size}: {files:?}");
    }
}

#[test]
fn only_copy_in_the_way_of_another_entry_is_removed_after_it_was_fetched_again() {
    let (site, dir) = (site(FIRST), temp_dir());
    site.run_mirror(dir.path(), "").assert_exit(0);
    site.set_reply("/d/", nginx_index_with_sizes(&[(".d/", "-"), ("_d", "1"), ("c", "1")]));
    site.set_reply("/d/.d/", HttpResponse::new(500));
    site.run_mirror(dir.path(), "--delete").assert_exit(23);
    site.run_mirror(dir.path(), "--delete --max-depth 0").assert_exit(23);
    assert!(list_files(dir.path()).contains(&"_d/x".to_owned()));
    site.set_reply("/d/.d/", nginx_index_with_sizes(&[("x", "1")]));
    site.run_mirror(dir.path(), "--delete").assert_exit(23);
    site.run_mirror(dir.path(), "--delete").assert_exit(0);
    let files = list_files(dir.path());
    assert!(files.len() == 3 && files[0] == "_d" && files[1].starts_with("_d~"), "{files:?}");
}

/// All names of the directory have another spelling.
#[test]
fn file_whose_name_differs_in_case_now_is_deleted_where_both_are_files() {
    let (site, dir) = (site(&[("s/", "-")]), temp_dir());
    for names in [&["b"][..], &["B"], &["B"]] {
        let entries: Vec<_> = names.iter().map(|name| (*name, "1")).collect();
        site.set_reply("/d/s/", nginx_index_with_sizes(&entries));
        site.run_mirror(dir.path(), "--delete").assert_exit(0);
    }
    assert_eq!(list_files(dir.path()).len(), 1);
}
