//! `--checksum` and `--checksum-from`: a file with the wrong checksum never gets its final name.

use std::fs;

use crate::support::{RunResult, entry_names, http_server, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer,
};

const CONTENT: &str = "abc";
const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";
const SHA1: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";
const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const OTHER_SHA256: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Starts an HTTP server with these files; every other path gets 404.
fn file_server(files: &'static [(&'static str, String)]) -> HttpServer {
    let content_of =
        |path: &str| files.iter().find(|(file_path, _)| *file_path == path).map(|(_, text)| text.clone());
    let started = HttpServer::start(move |request| match content_of(&request.path()) {
        Some(text) => HttpResponse::new(200).body(text),
        None => HttpResponse::new(404).body("no such file"),
    });
    started.expect("a server")
}

fn leak_files(list: &[(&'static str, String)]) -> &'static [(&'static str, String)] {
    Box::leak(list.to_vec().into_boxed_slice())
}

fn server_with_f_iso(text: &str) -> HttpServer {
    file_server(leak_files(&[("/f.iso", text.to_owned())]))
}

#[test]
fn matching_checksum_of_every_algorithm_is_accepted() {
    let http = server_with_f_iso(CONTENT);
    for checksum in [
        format!("md5:{MD5}"),
        format!("sha1:{SHA1}"),
        format!("sha256:{SHA256}"),
        format!("SHA-256:{}", SHA256.to_uppercase()),
    ] {
        let directory = temp_dir();
        run_fetch_url_in(directory.path(), ["--checksum", &checksum, "-O", &http.url("/f.iso")])
            .assert_exit(0);
        assert_eq!(entry_names(directory.path()), ["f.iso"]);
    }
}

#[test]
fn wrong_checksum_exits_with_91_and_keeps_old_file() {
    let http = server_with_f_iso("abd");
    let checksum = format!("sha256:{SHA256}");
    for old in [None, Some("old")] {
        let directory = temp_dir();
        let target = directory.path().join("f.iso");
        if let Some(old) = old {
            fs::write(&target, old).expect("a file");
        }
        let result = run_fetch_url_in(directory.path(), ["--checksum", &checksum, "-O", &http.url("/f.iso")]);
        let message = format!("checksum mismatch: expected {SHA256}, got ");
        result.assert_exit(91).assert_stderr_contains(&message);
        assert_eq!(fs::read_to_string(&target).ok().as_deref(), old);
        assert_eq!(entry_names(directory.path()).len(), usize::from(old.is_some()));
    }
    // Standard output cannot be taken back; the exit status reports the error.
    let result = run_fetch_url(["--checksum", &checksum, &http.url("/f.iso")]);
    assert_eq!(result.assert_exit(91).stdout_text(), "abd");
}

/// The checksum covers the part of an earlier run as well.
#[test]
fn checksum_of_resumed_file_covers_the_complete_file() {
    let directory = temp_dir();
    let ftp = FtpServer::start(FtpConfig::new().anonymous().pattern("f.bin", 300_000)).expect("a server");
    let url = ftp.url("f.bin");
    let digest = |path: &str| {
        let output = std::process::Command::new("sha256sum").arg(directory.path().join(path)).output();
        String::from_utf8_lossy(&output.expect("sha256sum").stdout)[..64].to_owned()
    };
    run_fetch_url_in(directory.path(), ["-o", "whole", &url]).assert_exit(0);
    let checksum = format!("sha256:{}", digest("whole"));
    run_fetch_url_in(directory.path(), ["--max-filesize", "100k", "-C", "-", "-o", "part", &url])
        .assert_exit(63);
    run_fetch_url_in(directory.path(), ["-C", "-", "--checksum", &checksum, "-o", "part", &url])
        .assert_exit(0);
    assert_eq!(digest("part"), digest("whole"));
}

#[test]
fn checksum_lists_of_every_format_and_location_are_read() {
    let list = format!("{OTHER_SHA256}  other.iso\n{SHA256} *f.iso\n");
    let bsd = format!("MD5 (f.iso) = {MD5}\n");
    let http = file_server(leak_files(&[
        ("/d/f.iso", CONTENT.to_owned()),
        ("/d/sums", list),
        ("/d/bsd", bsd),
        ("/alone", format!("{SHA256}\n")),
        ("/wrong", format!("{OTHER_SHA256}  d/f.iso\n")),
        ("/silent", format!("{OTHER_SHA256}  other.iso\n")),
    ]));
    let url = http.url("/d/f.iso");
    let fetch_with_list = |from: &str| -> RunResult {
        let directory = temp_dir();
        let result = run_fetch_url_in(directory.path(), ["--checksum-from", from, "-O", &url]);
        assert_eq!(entry_names(directory.path()).len(), usize::from(result.exit == 0), "{result:?}");
        result
    };
    for from in [&http.url("/d/sums"), "sums", "bsd", "/alone", "../alone"] {
        fetch_with_list(from).assert_exit(0);
    }
    fetch_with_list("/wrong").assert_exit(91);
    let before = http.requests().len();
    fetch_with_list("/silent").assert_exit(78).assert_stderr_contains("f.iso");
    fetch_with_list("/nothing").assert_exit(78);
    // The file itself was not requested.
    assert!(http.requests()[before..].iter().all(|request| request.path() != "/d/f.iso"));
}

#[test]
fn checksum_list_is_found_beside_the_file_over_every_scheme() {
    let list = format!("{SHA256}  f.iso\n");
    let http =
        file_server(leak_files(&[("/d/f.iso", CONTENT.to_owned()), ("/d/f.iso.sha256", list.clone())]));
    let ftp = FtpConfig::new().anonymous().file("d/f.iso", CONTENT).file("d/SHA256SUMS", list);
    let ftp = FtpServer::start(ftp).expect("a server");
    let gopher = GopherConfig::new()
        .item(GopherItem::binary("/d/f.iso", CONTENT))
        .item(GopherItem::binary("/d/md5checksums.txt", format!("{MD5}  f.iso\n")));
    let gopher = GopherServer::start(gopher).expect("a server");
    let dir = temp_dir();
    fs::write(dir.path().join("f.iso"), CONTENT).expect("a file");
    fs::write(dir.path().join("CHECKSUMS"), format!("SHA256 (./f.iso) = {SHA256}\n")).expect("a file");
    let local = format!("file://{}/f.iso", dir.path().display());
    for url in [http.url("/d/f.iso"), ftp.url("d/f.iso"), gopher.url("9/d/f.iso"), local] {
        let directory = temp_dir();
        run_fetch_url_in(directory.path(), ["--checksum-from", "auto", "-O", &url]).assert_exit(0);
        assert_eq!(entry_names(directory.path()), ["f.iso"], "{url}");
    }
    let http = server_with_f_iso(CONTENT);
    run_fetch_url(["--checksum-from", "auto", &http.url("/f.iso")])
        .assert_exit(78)
        .assert_stderr_contains("f.iso");
}

/// Three files need the same list.
#[test]
fn checksum_of_a_file_of_the_same_name_in_another_directory_is_not_used() {
    let list = format!("{OTHER_SHA256}  old/a\n{SHA256}  a\n");
    let files = [("/d/a", CONTENT.to_owned()), ("/d/old/a", "old".to_owned()), ("/d/SUMS", list)];
    let http = file_server(leak_files(&files));
    let list_url = http.url("/d/SUMS");
    run_fetch_url(["--checksum-from", &list_url, &http.url("/d/a")]).assert_exit(0);
    run_fetch_url(["--checksum-from", &list_url, &http.url("/d/old/a")]).assert_exit(91);
    // A list of another server names the object by the end of its path.
    let other = file_server(leak_files(&[("/SUMS", format!("{OTHER_SHA256}  a\n{SHA256}  d/a\n"))]));
    run_fetch_url(["--checksum-from", &other.url("/SUMS"), &http.url("/d/a")]).assert_exit(0);
}

#[test]
fn conflicting_checksums_of_one_file_exit_91() {
    let list = format!("{SHA256}  a\n{OTHER_SHA256}  a\n");
    let http = file_server(leak_files(&[("/a", CONTENT.to_owned()), ("/SUMS", list)]));
    let result = run_fetch_url(["--checksum-from", "SUMS", &http.url("/a")]);
    result.assert_exit(91).assert_stderr_contains("different checksums");
}

/// The list contains the name of the server, not the sanitised one.
#[test]
fn checksum_is_found_by_the_name_before_sanitising() {
    for (path, name) in
        [("/.a%3Ab", ".a:b"), ("/.a", ".a"), ("/a.part", "a.part"), ("/con", "con"), ("/a%3Ab", "a:b")]
    {
        let files =
            [(path, CONTENT.to_owned()), ("/SUMS", format!("{OTHER_SHA256}  other\n{SHA256}  {name}\n"))];
        let http = file_server(leak_files(&files));
        let directory = temp_dir();
        run_fetch_url_in(directory.path(), ["--checksum-from", "SUMS", "-O", &http.url(path)]).assert_exit(0);
    }
}

#[test]
fn checksum_list_is_requested_once_for_several_files() {
    let list = format!("{SHA256}  a\n{SHA256}  b\n{OTHER_SHA256}  c\n");
    let http = file_server(leak_files(&[
        ("/a", CONTENT.to_owned()),
        ("/b", CONTENT.to_owned()),
        ("/c", CONTENT.to_owned()),
        ("/SHA256SUMS", list),
    ]));
    let directory = temp_dir();
    let urls = ["/a", "/b", "/c"].map(|path| http.url(path));
    let arguments = ["--checksum-from", "auto", "--remote-name-all"].into_iter().map(str::to_owned);
    run_fetch_url_in(directory.path(), arguments.chain(urls)).assert_exit(91);
    assert_eq!(entry_names(directory.path()), ["a", "b"]);
    assert_eq!(http.requests().iter().filter(|request| request.path() == "/SHA256SUMS").count(), 1);
}

/// The checksum list is on another server than the file.
#[test]
fn credentials_are_not_sent_to_the_server_of_the_list() {
    let http = server_with_f_iso(CONTENT);
    let other = file_server(leak_files(&[("/sums", format!("{SHA256}  f.iso\n"))]));
    let sums = other.url("/sums");
    let arguments = ["-u", "me:secret", "-H", "X-Own: secret", "-b", "c=secret", "-d", "secret"];
    let rest = ["--checksum-from", &sums, &http.url("/f.iso")].map(str::to_owned);
    run_fetch_url(arguments.into_iter().map(str::to_owned).chain(rest)).assert_exit(0);
    for request in other.requests() {
        assert_eq!(request.method, "GET");
        assert!(!format!("{request:?}").contains("secret") && request.body.is_empty(), "{request:?}");
    }
    assert!(http.requests().iter().any(|request| request.body == b"secret"));
}

#[test]
fn invalid_combinations_of_checksum_options_exit_with_2() {
    let http = server_with_f_iso(CONTENT);
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
        run_fetch_url(arguments.clone()).assert_exit(2);
    }
    assert!(http.requests().is_empty());
}

#[test]
fn password_of_a_url_is_masked_in_messages_about_checksums_dates_and_gateways() {
    let server = http_server(|request| match request.path().as_str() {
        "/file" => HttpResponse::new(200).header("Last-Modified", "one day").body("x"),
        _ => HttpResponse::new(404),
    });
    let dir = temp_dir();
    fs::write(dir.path().join("g"), "old").expect("a file");
    let url = server.url("/file").replace("//", "//me:geheim@");
    let list = server.url("/file").replace("//", "//me:geheim@");
    for (arguments, status, words) in [
        (&["--checksum-from", "auto", "-o", "x", &url][..], 78, "no checksum list"),
        (&["--checksum-from", &list, "-o", "x", &url], 78, "does not contain"),
        (&["--checksum-from", "http://me:geheim@h:x/", "-o", "x", &url], 2, "--checksum-from"),
        (&["-z", "g", "-o", "g", &url], 0, "Last-Modified"),
        (&["--gateway", "wais=http://u:geheim@h/{bad}", "wais://h/db"], 2, "unknown placeholder"),
    ] {
        let result = run_fetch_url_in(dir.path(), arguments);
        result.assert_exit(status).assert_stderr_contains(words);
        assert!(!result.stderr.contains("geheim"), "{result:?}");
    }
}

/// The file exists with other content, or an earlier run of the batch recorded it without a checksum.
#[test]
fn existing_file_with_a_wrong_checksum_is_not_skipped() {
    let checksums = format!("{SHA256}  f\n{OTHER_SHA256}  fails\n");
    let server = file_server(leak_files(&[
        ("/f", CONTENT.to_owned()),
        ("/fails", CONTENT.to_owned()),
        ("/SUMS", checksums),
    ]));
    let (url, fails) = (server.url("/f"), server.url("/fails"));
    let (checksum, other) = (format!("sha256:{SHA256}"), format!("sha256:{OTHER_SHA256}"));
    for options in [&["--checksum", &checksum][..], &["--checksum-from", "SUMS"]] {
        let dir = temp_dir();
        let run = || run_fetch_url_in(dir.path(), [options, &["--skip-existing", "-o", "f", &url]].concat());
        let read = || fs::read(dir.path().join("f")).expect("a file");
        fs::write(dir.path().join("f"), "xyz").expect("a file");
        run().assert_exit(0);
        assert_eq!(read(), b"abc", "{options:?}");
        let before = server.requests().iter().filter(|request| request.path() == "/f").count();
        run().assert_exit(0);
        let after = server.requests().iter().filter(|request| request.path() == "/f").count();
        assert_eq!(after, before, "{options:?}: a correct file is skipped");
    }
    let dir = temp_dir();
    fs::write(dir.path().join("list"), format!("{url}\tf\t{other}\n")).expect("a file");
    fs::write(dir.path().join("f"), "xyz").expect("a file");
    run_fetch_url_in(dir.path(), ["--skip-existing", "--input-file", "list"]).assert_exit(91);
    // A run without checksums fails in one line, and keeps its journal.
    let missing = server.url("/missing");
    fs::write(dir.path().join("list"), format!("{fails}\n{missing}\n")).expect("a file");
    run_fetch_url_in(dir.path(), ["--input-file", "list"]).assert_exit(78);
    let again = ["--input-file", "list", "-C", "-"];
    run_fetch_url_in(dir.path(), again).assert_exit(78);
    let result = run_fetch_url_in(dir.path(), [&again[..], &["--checksum-from", "SUMS"]].concat());
    result.assert_stderr_contains("checksum mismatch").assert_stderr_contains("/fails");
}
