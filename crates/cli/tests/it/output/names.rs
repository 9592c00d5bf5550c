//! Output file names from a URL (`-O`) or from Content-Disposition (`-J`) are sanitised and stay in the directory.

use std::fs;

use crate::support::{echo_server, entry_names, http_server, read_text_file, run_fetch_url_in, temp_dir};
use fetch_url_tests::HttpResponse;

#[test]
fn names_from_urls_are_sanitised() {
    let server = echo_server();
    for (path, name) in [
        ("/a/b.txt", "b.txt"),
        ("/a%20b", "a b"),
        ("/caf%C3%A9", "caf\u{e9}"),
        ("/x?y=z", "x"),
        ("/.bashrc", "_bashrc"),
        ("/-rf", "_rf"),
        ("/..%2F..%2Fevil", "evil"),
        ("/..%5C..%5Cevil", "evil"),
        ("/a%0Ab%1B%5Bm", "a_b_[m"),
        ("/%7Croot", "_root"),
        ("/x%00y", "x_y"),
        ("/%FF", "_"),
        ("/con.txt", "_con.txt"),
        ("/x;type=a", "x;type=a"),
    ] {
        let directory = temp_dir();
        let inner = directory.path().join("inner");
        fs::create_dir(&inner).expect("a directory");
        for flags in [&["-O"][..], &["-O", "-J"]] {
            let result = run_fetch_url_in(&inner, flags.iter().chain(&[server.url(path).as_str()]));
            result.assert_exit(0);
            assert_eq!(entry_names(&inner), [name], "{path} {flags:?}");
            fs::remove_file(inner.join(name)).expect("a file");
        }
        assert_eq!(entry_names(directory.path()), ["inner"], "{path}: a file outside of the directory");
    }
    let long = format!("/{}.tar.gz", "x".repeat(400));
    let directory = temp_dir();
    run_fetch_url_in(directory.path(), ["-O", &server.url(&long)]).assert_exit(0);
    assert!(entry_names(directory.path()).iter().all(|name| name.len() <= 255 && name.ends_with(".gz")));
    for path in ["/", "/a/", "/..", "/.", "/%2E%2E", "/%2F", "/..%2F"] {
        let directory = temp_dir();
        let result = run_fetch_url_in(directory.path(), ["-O", &server.url(path)]);
        assert_eq!(result.exit, 2, "{path}: {result:?}");
        assert!(entry_names(directory.path()).is_empty(), "{path}: {:?}", entry_names(directory.path()));
    }
}

#[test]
fn names_from_content_disposition_are_sanitised() {
    for (disposition, name) in [
        ("attachment; filename=\"b.txt\"", "b.txt"),
        ("attachment; filename=b.txt", "b.txt"),
        ("inline; filename=\"b.txt\"", "b.txt"),
        ("attachment; filename=\"../../evil\"", "evil"),
        ("attachment; filename=\"..\\\\..\\\\evil\"", "evil"),
        ("attachment; filename=\"/etc/passwd\"", "passwd"),
        ("attachment; filename=\".bashrc\"", "_bashrc"),
        ("attachment; filename=\"..\"", "url-name"),
        ("attachment; filename=\"\"", "url-name"),
        ("attachment", "url-name"),
        ("attachment; filename*=UTF-8''na%C3%AFve.txt", "na\u{ef}ve.txt"),
        ("attachment; filename=\"plain\"; filename*=UTF-8''better", "better"),
        ("attachment; filename*=UTF-8''..%2F..%2Fevil", "evil"),
        ("attachment; filename*=UTF-8''a%00b", "a_b"),
        ("attachment; filename=\"a\\\"b\"", "a_b"),
        ("attachment; filename=\"a;b=c\"", "a;b=c"),
        ("attachment; filename=\"|sh\"", "_sh"),
        ("attachment; filename=\"~/x\"", "x"),
        // A name of a temporary file could be mistaken for an incomplete download.
        ("attachment; filename=\"x.fetch-url.part\"", "x.fetch-url.part_"),
        ("attachment; filename=\"x.part\"", "x.part"),
        ("nonsense;;;=\"", "url-name"),
    ] {
        let server = http_server(move |_| {
            HttpResponse::new(200).header("Content-Disposition", disposition).body("bytes")
        });
        let directory = temp_dir();
        let inner = directory.path().join("inner");
        fs::create_dir(&inner).expect("a directory");
        let result = run_fetch_url_in(&inner, ["-O", "-J", &server.url("/dir/url-name")]);
        assert_eq!(
            (result.exit, entry_names(&inner)),
            (0, vec![name.to_owned()]),
            "{disposition}: {}",
            result.stderr
        );
        assert_eq!(
            entry_names(directory.path()),
            ["inner"],
            "{disposition}: a file outside of the directory"
        );
        // A name from the server never replaces an existing file.
        fs::write(inner.join(name), "mine").expect("a file");
        run_fetch_url_in(&inner, ["-O", "-J", &server.url("/dir/url-name")]).assert_exit(2);
        assert_eq!(read_text_file(&inner, name), "mine");
    }
}

#[test]
fn output_dir_applies_to_relative_names() {
    let server = echo_server();
    let directory = temp_dir();
    fs::create_dir(directory.path().join("d")).expect("a directory");
    let run = |arguments: &[&str]| run_fetch_url_in(directory.path(), arguments).assert_exit(0).clone();
    run(&["--output-dir", "d", "-O", &server.url("/one")]);
    run(&["--directory-prefix", "d", "-o", "two", &server.url("/two")]);
    assert_eq!(run(&["--output-dir", "d", &server.url("/three")]).stdout_text(), "/three");
    assert_eq!(run(&["--output-dir", "d", "-o", "-", &server.url("/four")]).stdout_text(), "/four");
    assert_eq!(entry_names(directory.path()), ["d"]);
    assert_eq!(entry_names(&directory.path().join("d")), ["one", "two"]);
}
