//! `--checksum` and `--checksum-from`: what has the wrong octets never gets its name.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;

use fetch_url_tests::{FtpServer, FtpSite, GopherItem, GopherServer, GopherSite, HttpReply, HttpServer};
use support::{Ran, fetch, fetch_in};

const TEXT: &str = "abc";
const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";
const SHA1: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";
const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const OTHER: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Files by their paths; everything else is not there.
fn server(files: &'static [(&'static str, String)]) -> HttpServer {
    let answer = |path: &str| files.iter().find(|(own, _)| *own == path).map(|(_, text)| text.clone());
    let started = HttpServer::start(move |request| match answer(&request.path()) {
        Some(text) => HttpReply::new(200).body(text),
        None => HttpReply::new(404).body("no such file"),
    });
    started.expect("a server")
}

fn files(list: &[(&'static str, String)]) -> &'static [(&'static str, String)] {
    Box::leak(list.to_vec().into_boxed_slice())
}

fn one_file(text: &str) -> HttpServer {
    server(files(&[("/f.iso", text.to_owned())]))
}

#[test]
fn the_right_one_in_every_algorithm() {
    let http = one_file(TEXT);
    for checksum in [
        format!("md5:{MD5}"),
        format!("sha1:{SHA1}"),
        format!("sha256:{SHA256}"),
        format!("SHA-256:{}", SHA256.to_uppercase()),
    ] {
        let directory = place();
        fetch_in(directory.path(), ["--checksum", &checksum, "-O", &http.url("/f.iso")]).exits(0);
        assert_eq!(names(directory.path()), ["f.iso"]);
    }
}

#[test]
fn the_wrong_one_leaves_everything_as_it_was() {
    let http = one_file("abd");
    let checksum = format!("sha256:{SHA256}");
    for old in [None, Some("old")] {
        let directory = place();
        let target = directory.path().join("f.iso");
        if let Some(old) = old {
            fs::write(&target, old).expect("a file");
        }
        let ran = fetch_in(directory.path(), ["--checksum", &checksum, "-O", &http.url("/f.iso")]);
        ran.exits(91).says("wrong checksum").says(SHA256);
        assert_eq!(fs::read_to_string(&target).ok().as_deref(), old);
        assert_eq!(names(directory.path()).len(), usize::from(old.is_some()));
    }
    // What went to standard output is gone; the exit status tells.
    let ran = fetch(["--checksum", &checksum, &http.url("/f.iso")]);
    assert_eq!(ran.exits(91).text(), "abd");
}

/// What came in an earlier run counts, and what was wrong is not gone on with.
#[test]
fn a_resumed_file_is_checked_as_a_whole() {
    let directory = place();
    let ftp = FtpServer::start(FtpSite::new().anonymous().pattern("f.bin", 300_000)).expect("a server");
    let url = ftp.url("f.bin");
    let digest = |path: &str| {
        let output = std::process::Command::new("sha256sum").arg(directory.path().join(path)).output();
        String::from_utf8_lossy(&output.expect("sha256sum").stdout)[..64].to_owned()
    };
    fetch_in(directory.path(), ["-o", "whole", &url]).exits(0);
    let checksum = format!("sha256:{}", digest("whole"));
    fetch_in(directory.path(), ["--max-filesize", "100k", "-C", "-", "-o", "part", &url]).exits(63);
    fetch_in(directory.path(), ["-C", "-", "--checksum", &checksum, "-o", "part", &url]).exits(0);
    assert_eq!(digest("part"), digest("whole"));
}

#[test]
fn lists_of_every_kind() {
    let list = format!("{OTHER}  other.iso\n{SHA256} *f.iso\n");
    let bsd = format!("MD5 (f.iso) = {MD5}\n");
    let http = server(files(&[
        ("/d/f.iso", TEXT.to_owned()),
        ("/d/sums", list),
        ("/d/bsd", bsd),
        ("/alone", format!("{SHA256}\n")),
        ("/wrong", format!("{OTHER}  f.iso\n")),
        ("/silent", format!("{OTHER}  other.iso\n")),
    ]));
    let url = http.url("/d/f.iso");
    let with = |from: &str| -> Ran {
        let directory = place();
        let ran = fetch_in(directory.path(), ["--checksum-from", from, "-O", &url]);
        assert_eq!(names(directory.path()).len(), usize::from(ran.exit == 0), "{ran:?}");
        ran
    };
    for from in [&http.url("/d/sums"), "sums", "bsd", "/alone", "../alone"] {
        with(from).exits(0);
    }
    with("/wrong").exits(91);
    let before = http.requests().len();
    with("/silent").exits(78).says("f.iso");
    with("/nothing").exits(78);
    // Nothing of the object was asked for.
    assert!(http.requests()[before..].iter().all(|request| request.path() != "/d/f.iso"));
}

#[test]
fn beside_the_object_over_any_scheme() {
    let list = format!("{SHA256}  f.iso\n");
    let http = server(files(&[("/d/f.iso", TEXT.to_owned()), ("/d/f.iso.sha256", list.clone())]));
    let ftp = FtpSite::new().anonymous().file("d/f.iso", TEXT).file("d/SHA256SUMS", list);
    let ftp = FtpServer::start(ftp).expect("a server");
    let gopher = GopherSite::new()
        .item(GopherItem::binary("/d/f.iso", TEXT))
        .item(GopherItem::binary("/d/md5checksums.txt", format!("{MD5}  f.iso\n")));
    let gopher = GopherServer::start(gopher).expect("a server");
    let here = place();
    fs::write(here.path().join("f.iso"), TEXT).expect("a file");
    fs::write(here.path().join("CHECKSUMS"), format!("SHA256 (./f.iso) = {SHA256}\n")).expect("a file");
    let local = format!("file://{}/f.iso", here.path().display());
    for url in [http.url("/d/f.iso"), ftp.url("d/f.iso"), gopher.url("9/d/f.iso"), local] {
        let directory = place();
        fetch_in(directory.path(), ["--checksum-from", "auto", "-O", &url]).exits(0);
        assert_eq!(names(directory.path()), ["f.iso"], "{url}");
    }
    let http = one_file(TEXT);
    fetch(["--checksum-from", "auto", &http.url("/f.iso")]).exits(78).says("f.iso");
}

/// Each list is fetched once, however many objects it is for.
#[test]
fn a_list_is_fetched_once() {
    let list = format!("{SHA256}  a\n{SHA256}  b\n{OTHER}  c\n");
    let http = server(files(&[
        ("/a", TEXT.to_owned()),
        ("/b", TEXT.to_owned()),
        ("/c", TEXT.to_owned()),
        ("/SHA256SUMS", list),
    ]));
    let directory = place();
    let urls = ["/a", "/b", "/c"].map(|path| http.url(path));
    let arguments = ["--checksum-from", "auto", "--remote-name-all"].into_iter().map(str::to_owned);
    fetch_in(directory.path(), arguments.chain(urls)).exits(91);
    assert_eq!(names(directory.path()), ["a", "b"]);
    assert_eq!(http.requests().iter().filter(|request| request.path() == "/SHA256SUMS").count(), 1);
}

/// What is meant for the object's server is shown to no other.
#[test]
fn credentials_stay_at_their_server() {
    let http = one_file(TEXT);
    let other = server(files(&[("/sums", format!("{SHA256}  f.iso\n"))]));
    let sums = other.url("/sums");
    let arguments = ["-u", "me:secret", "-H", "X-Own: secret", "-b", "c=secret", "-d", "secret"];
    let rest = ["--checksum-from", &sums, &http.url("/f.iso")].map(str::to_owned);
    fetch(arguments.into_iter().map(str::to_owned).chain(rest)).exits(0);
    for request in other.requests() {
        assert_eq!(request.method, "GET");
        assert!(!format!("{request:?}").contains("secret") && request.body.is_empty(), "{request:?}");
    }
    assert!(http.requests().iter().any(|request| request.body == b"secret"));
}

#[test]
fn what_cannot_be_checked() {
    let http = one_file(TEXT);
    let url = http.url("/f.iso");
    let checksum = format!("sha256:{SHA256}");
    for arguments in [
        vec!["--checksum", SHA256, &url],
        vec!["--checksum", "sha256:xyz", &url],
        vec!["--checksum", &checksum, &url, &url],
        vec!["--checksum", &checksum, "--checksum-from", "auto", &url],
        vec!["--checksum", &checksum, "-r", "0-1", &url],
        vec!["--checksum", &checksum, "-I", &url],
        vec!["--checksum", &checksum, "-i", &url],
        vec!["--checksum-from", "http://h:x/", &url],
    ] {
        fetch(arguments.clone()).exits(2);
    }
    assert!(http.requests().is_empty());
}
