//! Names that a URL or a server gives: whatever they say, they stay in their directory.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;

use fetch_url_tests::HttpReply;
use support::{content_of, fetch_in, mirror, names, serving};

#[test]
fn names_from_urls_stay_in_the_directory() {
    let server = mirror();
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
        let directory = tempfile::tempdir().expect("a directory");
        let inner = directory.path().join("inner");
        fs::create_dir(&inner).expect("a directory");
        for flags in [&["-O"][..], &["-O", "-J"]] {
            let ran = fetch_in(&inner, flags.iter().chain(&[server.url(path).as_str()]));
            ran.exits(0);
            assert_eq!(names(&inner), [name], "{path} {flags:?}");
            fs::remove_file(inner.join(name)).expect("a file");
        }
        assert_eq!(names(directory.path()), ["inner"], "{path} left the directory");
    }
    let long = format!("/{}.tar.gz", "x".repeat(400));
    let directory = tempfile::tempdir().expect("a directory");
    fetch_in(directory.path(), ["-O", &server.url(&long)]).exits(0);
    assert!(names(directory.path()).iter().all(|name| name.len() <= 255 && name.ends_with(".gz")));
    for path in ["/", "/a/", "/..", "/.", "/%2E%2E", "/%2F", "/..%2F"] {
        let directory = tempfile::tempdir().expect("a directory");
        let ran = fetch_in(directory.path(), ["-O", &server.url(path)]);
        assert_eq!(ran.exit, 2, "{path}: {ran:?}");
        assert!(names(directory.path()).is_empty(), "{path}: {:?}", names(directory.path()));
    }
}

#[test]
fn names_from_servers_stay_in_the_directory() {
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
        // Such a name would be taken for a file of ours in the making.
        ("attachment; filename=\"x.part\"", "x.part_"),
        ("nonsense;;;=\"", "url-name"),
    ] {
        let server =
            serving(move |_| HttpReply::new(200).header("Content-Disposition", disposition).body("octets"));
        let directory = tempfile::tempdir().expect("a directory");
        let inner = directory.path().join("inner");
        fs::create_dir(&inner).expect("a directory");
        let ran = fetch_in(&inner, ["-O", "-J", &server.url("/dir/url-name")]);
        assert_eq!((ran.exit, names(&inner)), (0, vec![name.to_owned()]), "{disposition}: {}", ran.stderr);
        assert_eq!(names(directory.path()), ["inner"], "{disposition} left the directory");
        // Such a name never replaces a file.
        fs::write(inner.join(name), "mine").expect("a file");
        fetch_in(&inner, ["-O", "-J", &server.url("/dir/url-name")]).exits(2);
        assert_eq!(content_of(&inner, name), "mine");
    }
}

#[test]
fn output_dir() {
    let server = mirror();
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir(directory.path().join("d")).expect("a directory");
    let in_it = |arguments: &[&str]| fetch_in(directory.path(), arguments).exits(0).clone();
    in_it(&["--output-dir", "d", "-O", &server.url("/one")]);
    in_it(&["--directory-prefix", "d", "-o", "two", &server.url("/two")]);
    assert_eq!(in_it(&["--output-dir", "d", &server.url("/three")]).text(), "/three");
    assert_eq!(in_it(&["--output-dir", "d", "-o", "-", &server.url("/four")]).text(), "/four");
    assert_eq!(names(directory.path()), ["d"]);
    assert_eq!(names(&directory.path().join("d")), ["one", "two"]);
}
