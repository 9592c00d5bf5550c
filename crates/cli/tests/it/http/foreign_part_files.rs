//! Files of the user with names like `X.part`, and files at the names of temporary files. A file of the user is never
//! read, changed or removed (docs/spec/semantics.md, 12.3 to 12.6).

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{
    entry_names, http_server, part_metadata_path, part_path, read_text_file, run_fetch_url_in,
    strong_etag_headers, temp_dir, write_file,
};
use fetch_url_tests::{HttpResponse, file_handler};

/// The options of a run decide which temporary files it writes.
const OPTIONS: [&[&str]; 3] = [&[], &["-C", "-"], &["--segments", "4"]];

#[test]
fn part_files_of_the_user_are_kept_by_runs_that_succeed_or_fail() {
    let serve_file = file_handler(vec![b'n'; 3_000_000], strong_etag_headers());
    let server = http_server(move |request| match request.path().as_str() {
        "/missing" => HttpResponse::new(404),
        "/cut" => serve_file(request).cut_body_at(1000),
        _ => serve_file(request),
    });
    for options in OPTIONS {
        for (path, exit) in [("/missing", 78), ("/cut", 18), ("/o", 0)] {
            let dir = temp_dir();
            let names = ["x.part", "x.part.json", "x.part.json.new", "x.new"];
            names.iter().for_each(|name| write_file(dir.path(), name, "mine"));
            run_fetch_url_in(dir.path(), [options, &["-o", "x", &server.url(path)]].concat())
                .assert_exit(exit);
            for name in names {
                assert_eq!(read_text_file(dir.path(), name), "mine", "{name} {path} {options:?}");
            }
            assert_eq!(dir.path().join("x").exists(), exit == 0);
        }
    }
}

#[test]
fn two_urls_of_a_run_may_be_stored_as_x_and_x_part() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    let dir = temp_dir();
    for name in ["x.part", "x.part.json"] {
        let urls = ["-o", name, &server.url("/1"), "-o", "x", &server.url("/2")];
        run_fetch_url_in(dir.path(), urls).assert_exit(0);
        assert_eq!(read_text_file(dir.path(), name), "/1");
        assert_eq!(read_text_file(dir.path(), "x"), "/2");
    }
    assert_eq!(entry_names(dir.path()), ["x", "x.part", "x.part.json"]);
}

#[test]
fn name_of_a_temporary_file_as_output_exits_2_before_connecting() {
    let server = http_server(|_| HttpResponse::new(200).body("new"));
    let dir = temp_dir();
    let url = server.url("/");
    for name in ["x.fetch-url.part", "x.fetch-url.json", "x.fetch-url.new", "x.Fetch-URL.Part"] {
        write_file(dir.path(), name, "mine");
        run_fetch_url_in(dir.path(), ["-o", name, &url])
            .assert_exit(2)
            .assert_stderr_contains("reserved for temporary files");
        for option in ["-D", "-c", "--trace", "--events", "--etag-save"] {
            run_fetch_url_in(dir.path(), [option, name, "-o", "x", &url])
                .assert_exit(2)
                .assert_stderr_contains("reserved for temporary files");
        }
        assert_eq!(read_text_file(dir.path(), name), "mine");
    }
    assert_eq!(server.connections(), 0);
}

/// Links, directories, and files of other users are not temporary files of fetch-url, because fetch-url never creates
/// them.
#[test]
fn link_directory_or_file_of_another_user_at_the_part_name_exits_2_or_23() {
    let server = http_server(|_| HttpResponse::new(200).body("ok"));
    let dir = temp_dir();
    let part = part_path(&dir.path().join("x"));
    write_file(dir.path(), "victim", "mine");
    symlink(dir.path().join("victim"), &part).expect("a link");
    run_fetch_url_in(dir.path(), ["-o", "x", &server.url("/")]).assert_exit(2);
    fs::remove_file(&part).expect("a link");
    fs::create_dir(&part).expect("a directory");
    run_fetch_url_in(dir.path(), ["-o", "x", &server.url("/")]).assert_exit(2);
    fs::remove_dir(&part).expect("a directory");
    // Only root can create a file of another user.
    fs::write(&part, "clean").expect("a file");
    write_file(dir.path(), "x.fetch-url.json", "{}");
    if std::os::unix::fs::chown(&part, Some(12_345), None).is_ok() {
        run_fetch_url_in(dir.path(), ["-o", "x", &server.url("/")])
            .assert_exit(2)
            .assert_stderr_contains("belongs to another program or user");
        assert_eq!(read_text_file(dir.path(), "x.fetch-url.part"), "clean");
    }
    assert_eq!(read_text_file(dir.path(), "victim"), "mine");
    assert!(!dir.path().join("x").exists());
}

/// A hard link at the `.part` name may be a backup. The content of the linked file stays unchanged.
#[test]
fn hard_link_at_the_part_name_is_replaced_and_its_file_kept() {
    let server = http_server(file_handler(b"new".to_vec(), strong_etag_headers()));
    for options in OPTIONS {
        let dir = temp_dir();
        let target = dir.path().join("x");
        write_file(dir.path(), "backup", "backup");
        fs::hard_link(dir.path().join("backup"), part_path(&target)).expect("a link");
        run_fetch_url_in(dir.path(), [options, &["-o", "x", &server.url("/")]].concat()).assert_exit(0);
        assert_eq!(read_text_file(dir.path(), "x"), "new");
        assert_eq!(read_text_file(dir.path(), "backup"), "backup");
        assert!(!part_path(&target).exists() && !part_metadata_path(&target).exists());
    }
}

#[test]
fn file_url_of_the_own_temporary_file_exits_78_and_of_an_earlier_one_23() {
    let dir = temp_dir();
    let url = format!("file://{}/b.fetch-url.part", dir.path().display());
    for options in OPTIONS {
        run_fetch_url_in(dir.path(), [options, &["-o", "b", &url]].concat()).assert_exit(78);
        assert_eq!(entry_names(dir.path()), Vec::<String>::new());
    }
    let missing = format!("file://{}/b.part", dir.path().display());
    run_fetch_url_in(dir.path(), ["-o", "b", &missing]).assert_exit(78);
}
