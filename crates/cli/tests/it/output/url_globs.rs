//! curl's URL globs on the command line, and what remains after an error (`--remove-on-error`).

use std::fs;

use crate::support::{
    entry_names, http_server, part_path, read_text_file, run_fetch_url_in, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{HttpResponse, file_handler, pattern_vec};

#[test]
fn globs_fetch_several_urls_into_numbered_files() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    let dir = temp_dir();
    let url = server.url("/{a,b}/[08-10:2]");
    run_fetch_url_in(dir.path(), ["-o", "#1-#2.txt", &url]).assert_exit(0);
    assert_eq!(entry_names(dir.path()), ["a-08.txt", "a-10.txt", "b-08.txt", "b-10.txt"]);
    assert_eq!(read_text_file(dir.path(), "b-10.txt"), "/b/10");
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["-O", &server.url("/x[1-3]")]).assert_exit(0);
    assert_eq!(entry_names(dir.path()), ["x1", "x2", "x3"]);
}

#[test]
fn globoff_sends_brackets_unexpanded() {
    let server = http_server(|_| HttpResponse::new(200));
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["-g", &server.url("/[1-3]{a,b}")]);
    run_fetch_url_in(dir.path(), [r"\[1-3\]"].map(|path| server.url(&format!("/{path}"))));
    assert!(server.requests().len() <= 2, "{:?}", server.requests());
}

#[test]
fn malformed_glob_exits_with_3_before_connecting() {
    let server = http_server(|_| HttpResponse::new(200));
    let dir = temp_dir();
    for path in ["/[1-", "/{a", "/[3-1]", "/[1-1000][1-1000]"] {
        let result = run_fetch_url_in(dir.path(), [server.url("/ok"), server.url(path)]);
        result.assert_exit(3).assert_stderr_contains("-g takes");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn files_of_a_glob_with_one_name_are_refused_and_the_first_stays() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["-o", "same", &server.url("/[1-2]")]).assert_exit(2);
    assert_eq!(read_text_file(dir.path(), "same"), "/1");
}

#[test]
fn remove_on_error_leaves_no_partial_file_and_the_old_one_unchanged() {
    let serve_file = file_handler(pattern_vec(0, 200_000), strong_etag_headers());
    let server = http_server(move |request| serve_file(request).cut_body_at(100_000));
    for (options, is_kept) in [(&[][..], true), (&["--remove-on-error"], false)] {
        let dir = temp_dir();
        fs::write(dir.path().join("file"), "old").expect("a file");
        let url = server.url("/x");
        run_fetch_url_in(dir.path(), [options, &["-o", "file", &url]].concat()).assert_exit(18);
        assert_eq!(part_path(&dir.path().join("file")).exists(), is_kept, "{options:?}");
        assert_eq!(read_text_file(dir.path(), "file"), "old");
    }
}

#[test]
fn empty_brackets_stand_for_themselves_and_a_backslash_escapes_in_a_list() {
    let server =
        http_server(|request| HttpResponse::new(200).body([request.target.as_slice(), b"\n"].concat()));
    let dir = temp_dir();
    for (path, targets) in [
        ("/a?ids[]=1", "/a?ids%5B%5D=1\n"),
        ("/x[]?[1-2]", "/x%5B%5D?1\n/x%5B%5D?2\n"),
        (r"/{a\,b,c}", "/a,b\n/c\n"),
    ] {
        let result = run_fetch_url_in(dir.path(), [server.url(path)]);
        assert_eq!(result.assert_exit(0).stdout_text(), targets, "{path}");
    }
}
