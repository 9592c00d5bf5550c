//! Disks on which names that differ only in case or Unicode form are the same file, as on macOS and Windows.

use std::fs;
use std::path::Path;

use crate::support::mirror::{list_tree, run_mirror};
use crate::support::{http_server, run_fetch_url_in};
use fetch_url_tests::{Folding, FoldingDisk, HttpResponse, HttpServer};

const COMPOSED: &str = "caf\u{e9}";
const DECOMPOSED: &str = "cafe\u{301}";
/// Different names that are one on a disk that folds case, or Unicode forms.
const PAIRS: [[&str; 2]; 4] = [
    ["readme", "README"],
    ["stra\u{df}e", "STRASSE"],
    [COMPOSED, DECOMPOSED],
    ["\u{e9}t\u{e9}", "E\u{301}T\u{c9}"],
];

/// Mounts a disk, or says that its tests are skipped.
#[allow(clippy::print_stdout, reason = "a test that was skipped must say so")]
fn mount(folding: Folding) -> Option<FoldingDisk> {
    FoldingDisk::mount(folding).map_err(|error| println!("skipped: FUSE cannot be mounted: {error}")).ok()
}

fn percent_encoded(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Starts a server whose files contain their paths.
fn server() -> HttpServer {
    http_server(|request| HttpResponse::new(200).body(request.path()))
}

/// Returns `true` if both names lead to one file of the disk.
fn are_one_file(directory: &Path, names: [&str; 2]) -> bool {
    let paths = names.map(|name| directory.join(name));
    fs::write(&paths[0], "probe").expect("a file");
    let is_one = paths[1].exists();
    fs::remove_file(&paths[0]).expect("the file");
    is_one
}

#[test]
fn second_spelling_of_a_file_is_refused_where_both_are_one_file() {
    for folding in [
        Folding::default(),
        Folding { case: true, form: false },
        Folding { case: false, form: true },
        Folding { case: true, form: true },
    ] {
        let Some(disk) = mount(folding) else { return };
        let mut one_file = 0;
        for (number, names) in PAIRS.into_iter().enumerate() {
            let (server, directory) = (server(), disk.path().join(number.to_string()));
            fs::create_dir(&directory).expect("a directory");
            let is_one = are_one_file(&directory, names);
            // ASCII names have one Unicode form. For others, a disk that ignores one of the differences counts as one that
            // ignores both.
            let folds = folding.case || folding.form && !names[1].is_ascii();
            let urls = names.map(|name| server.url(&format!("/{}", percent_encoded(name))));
            for options in [&["-Z"][..], &[]] {
                let arguments = ["-o", names[0], &urls[0], "-o", names[1], &urls[1]];
                let result = run_fetch_url_in(&directory, options.iter().chain(&arguments));
                result.assert_exit(if folds { 2 } else { 0 });
                let content = fs::read_to_string(directory.join(names[0])).expect("the first file");
                assert!(urls[0].ends_with(&content), "{names:?} {folding:?}: {content}");
            }
            one_file += usize::from(is_one);
        }
        assert_eq!(one_file > 0, folding.case || folding.form, "{folding:?}");
    }
}

#[test]
fn listed_names_that_would_be_one_file_are_mirrored_to_two() {
    for folding in
        [Folding::default(), Folding { case: true, form: false }, Folding { case: true, form: true }]
    {
        let Some(disk) = mount(folding) else { return };
        let link = |name: &str| {
            let (name, size) = (percent_encoded(name), "/d/".len() + 3 * name.len());
            format!("<a href=\"{name}\">x</a>    01-Dec-1994 12:34    {size}\r\n")
        };
        let links: String = PAIRS.as_flattened().iter().map(|name| link(name)).collect();
        let page = format!("<html><title>Index of /d/</title><h1>Index of /d/</h1><pre>{links}</pre></html>");
        let server = http_server(move |request| match request.path().as_str() {
            "/d/" => HttpResponse::new(200).header("Content-Type", "text/html").body(page.clone()),
            path => {
                HttpResponse::new(200).header("Last-Modified", "Thu, 01 Dec 1994 12:34:00 GMT").body(path)
            }
        });
        let target = disk.path().join("mirror");
        for expected_requests in [PAIRS.as_flattened().len() + 1, PAIRS.as_flattened().len() + 2] {
            run_mirror(&server.url("/d/"), &target, "--delete").assert_exit(0);
            let mut contents: Vec<String> = list_tree(&target)
                .iter()
                .filter_map(|file| Some(file.split_once("=/d/")?.1.to_owned()))
                .collect();
            contents.sort();
            let mut expected: Vec<String> =
                PAIRS.as_flattened().iter().map(|name| percent_encoded(name)).collect();
            expected.sort();
            assert_eq!(contents, expected, "{folding:?}");
            // The second run only lists.
            assert_eq!(server.requests().len(), expected_requests, "{folding:?}");
        }
    }
}

#[test]
fn download_replaces_the_file_of_another_spelling() {
    let Some(disk) = mount(Folding { case: true, form: true }) else { return };
    let server = server();
    for name in [COMPOSED, DECOMPOSED, "CAF\u{c9}"] {
        run_fetch_url_in(disk.path(), ["-o", name, &server.url(&format!("/{}", percent_encoded(name)))])
            .assert_exit(0);
        let names: Vec<_> = fs::read_dir(disk.path()).expect("the names").flatten().collect();
        assert_eq!(names.len(), 1, "one file and no temporary ones: {names:?}");
        let content = fs::read_to_string(disk.path().join(COMPOSED)).expect("the file");
        assert_eq!(content, format!("/{}", percent_encoded(name)));
    }
}
