//! File names from the URL, and from a server that is not trusted.

use crate::live::server::{APACHE, NGINX};
use crate::live::tree::HELLO;
use crate::live::work_dir::WorkDir;

/// `-O` uses the last part of the URL, decoded and sanitised.
#[test]
#[ignore = "needs the servers of docker/"]
fn remote_name_is_the_sanitised_last_segment() {
    for (path, name) in [
        ("/hello.txt", "hello.txt"),
        ("/hello.txt?x=/etc/y", "hello.txt"),
        ("/odd/with%20space/a%20file.txt", "a file.txt"),
        ("/odd/-la", "_la"),
        ("/odd/.hidden", "_hidden"),
        ("/odd/back%5Cslash.txt", "slash.txt"),
        ("/odd/tab%09here.txt", "tab_here.txt"),
        ("/odd/cr%0Dname.txt", "cr_name.txt"),
        ("/odd/%01ctl.txt", "_ctl.txt"),
        ("/odd/quote%22d/f.txt", "f.txt"),
        ("/odd/iac%FF.txt", "iac_.txt"),
        ("/odd/%2541.txt", "%41.txt"),
        ("/odd/colon%3Aat%40.txt", "colon_at@.txt"),
        ("/etc%2Fmotd", "motd"),
        ("/pub/../hello.txt", "hello.txt"),
    ] {
        let dir = WorkDir::new();
        dir.fetch(&["-O", &NGINX.http(path)]).assert_success("");
        dir.assert_entries(&[name]);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn url_without_a_file_name_exits_2() {
    for path in ["", "/", "/pub/", "/odd/..."] {
        let dir = WorkDir::new();
        dir.fetch(&["-O", &NGINX.http(path)]).assert_exit(2).assert_stderr_contains("hint");
        dir.assert_entries(&[]);
    }
}

/// The server suggests `../../etc/evil`.
#[test]
#[ignore = "needs the servers of docker/"]
fn suggested_path_is_reduced_to_a_name_in_the_directory() {
    let dir = WorkDir::new();
    std::fs::create_dir_all(dir.path("a/b")).expect("a folder");
    dir.fetch(&["-O", "-J", "--output-dir", "a/b", &NGINX.http("/evil-name/hello.txt")]).assert_success("");
    dir.assert_entries(&["a"]);
    assert_eq!(dir.read("a/b/evil"), HELLO.as_bytes());
    assert!(!std::path::Path::new("/etc/evil").exists());
}

#[test]
#[ignore = "needs the servers of docker/"]
fn suggested_name_is_used_only_with_the_option() {
    let dir = WorkDir::new();
    dir.fetch(&["-O", &NGINX.http("/evil-name/hello.txt")]).assert_success("");
    dir.fetch(&["-O", "-J", &NGINX.http("/named/range.txt")]).assert_success("");
    dir.fetch(&["-O", "-J", &APACHE.http("/lf.txt")]).assert_success("");
    dir.assert_entries(&["hello.txt", "in the \u{fc}.txt", "lf.txt"]);
}

/// A name from the server never replaces an existing file.
#[test]
#[ignore = "needs the servers of docker/"]
fn suggested_name_of_an_existing_file_exits_2() {
    let dir = WorkDir::new();
    dir.write("evil", "old");
    dir.fetch(&["-O", "-J", &NGINX.http("/evil-name/hello.txt")])
        .assert_exit(2)
        .assert_stderr_contains("evil");
    dir.assert_entries(&["evil"]);
    assert_eq!(dir.read("evil"), b"old");
    dir.fetch(&["-O", "-J", "-C", "-", &NGINX.http("/evil-name/hello.txt")]).assert_exit(2);
    dir.assert_entries(&["evil"]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn output_file_is_replaced_unless_no_clobber() {
    let dir = WorkDir::new();
    dir.write("here", "old");
    dir.fetch(&["--no-clobber", "-o", "here", &NGINX.http("/hello.txt")]).assert_exit(2);
    assert_eq!(dir.read("here"), b"old");
    dir.fetch(&["-o", "here", &NGINX.http("/hello.txt")]).assert_success("");
    assert_eq!(dir.read("here"), HELLO.as_bytes());
    dir.assert_entries(&["here"]);
}
