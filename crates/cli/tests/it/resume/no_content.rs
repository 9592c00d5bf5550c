//! Responses without content to a request that resumes: they carry no representation of the object (RFC 9110 §15.3.5),
//! so they must not replace its bytes (docs/spec/semantics.md, rule 3.33).

use std::fs;

use super::within_a_run::{CUT, first_version, run_to_file};
use crate::support::{entry_names, http_server_first_then, part_path, run_fetch_url_in, temp_dir};
use fetch_url_tests::{FtpAction, FtpConfig, FtpServer, HttpResponse, HttpServer, OldFile, Target};

/// A response without content.
type EmptyResponse = fn() -> HttpResponse;

const NO_CONTENT: [(&str, EmptyResponse); 3] = [
    ("204", || HttpResponse::new(204)),
    ("205", || HttpResponse::new(205).body("")),
    ("empty 200 of the same version", || HttpResponse::new(200).header("ETag", "\"v1\"").body("")),
];

/// Starts a server that cuts the first body, whose entity tag is `etag`, and answers later requests with `then`.
fn cutting_server(etag: &'static str, then: EmptyResponse) -> HttpServer {
    let cut = HttpResponse::new(200).header("ETag", etag).body(first_version()).cut_body_at(CUT as u64);
    http_server_first_then(move |_| cut.clone(), move |_| then())
}

#[test]
fn partial_download_is_kept_if_its_resume_has_no_content() {
    for (case, then) in NO_CONTENT {
        for old in [OldFile::Absent, OldFile::Present] {
            let (server, target) = (cutting_server("\"v1\"", then), Target::new(old).expect("a directory"));
            let before = target.content().expect("readable");
            run_to_file(&target, "--retry 0", &server.url("/")).assert_exit(18);
            run_to_file(&target, "--retry 1 -C -", &server.url("/"))
                .assert_exit(18)
                .assert_stderr_contains("has no content");
            assert_eq!(server.requests().len(), 3, "{case}");
            assert_eq!(target.content().expect("readable"), before, "{case}");
            let part = fs::read(part_path(&target.path())).expect("the partial download");
            assert!(part.len() > CUT / 2 && first_version().starts_with(&part), "{case}");
        }
    }
}

#[test]
fn retry_within_a_run_without_content_keeps_the_old_file_and_the_bytes() {
    // A weak tag allows only a restart.
    for (etag, (case, then)) in
        NO_CONTENT.map(|case| ("\"v1\"", case)).into_iter().chain([("W/\"v1\"", NO_CONTENT[0])])
    {
        let (server, target) =
            (cutting_server(etag, then), Target::new(OldFile::Present).expect("a directory"));
        let before = target.content().expect("readable");
        run_to_file(&target, "--retry 2", &server.url("/"))
            .assert_exit(18)
            .assert_stderr_contains("no content");
        assert_eq!(target.content().expect("readable"), before, "{etag} {case}");
        assert_eq!(part_path(&target.path()).exists(), etag.starts_with('"'), "{etag} {case}");
    }
}

#[test]
fn empty_new_version_replaces_a_partial_download() {
    let then = || HttpResponse::new(200).header("ETag", "\"v2\"").body("");
    let (server, target) =
        (cutting_server("\"v1\"", then), Target::new(OldFile::Present).expect("a directory"));
    run_to_file(&target, "--retry 0", &server.url("/")).assert_exit(18);
    run_to_file(&target, "-C -", &server.url("/")).assert_exit(0);
    assert_eq!(target.content().expect("readable"), Some(Vec::new()));
}

#[test]
fn existing_file_is_kept_if_its_end_is_requested_and_there_is_no_content() {
    for status in [204, 205] {
        let server =
            http_server_first_then(move |_| HttpResponse::new(status), move |_| HttpResponse::new(status));
        let dir = temp_dir();
        fs::write(dir.path().join("file"), first_version()).expect("a file");
        run_fetch_url_in(dir.path(), ["-C", "-", "-o", "file", &server.url("/")])
            .assert_exit(33)
            .assert_stderr_contains("the response has no content");
        assert!(fs::read(dir.path().join("file")).expect("a file") == first_version());
        assert_eq!((entry_names(dir.path()), server.requests().len()), (vec!["file".to_owned()], 1));
    }
}

/// MDTM counts seconds, so that two versions can have the same time; over FTP, they differ in size.
#[test]
fn object_that_became_empty_within_a_second_replaces_the_partial_download_over_ftp() {
    let empty = FtpConfig::new().file("/o", "").modified("/o", "19941201123456");
    let earlier = empty
        .replace_reply("SIZE", "213 300000\r\n")
        .on("RETR", FtpAction::Data(first_version()[..CUT].to_vec()));
    let server = FtpServer::start(earlier).expect("a server");
    let target = Target::new(OldFile::Absent).expect("a directory");
    run_to_file(&target, "--retry 0", &server.url("/o")).assert_exit(18);
    assert!(part_path(&target.path()).exists());
    server.disable_rules();
    run_to_file(&target, "-C -", &server.url("/o")).assert_exit(0);
    assert_eq!(target.content().expect("readable").as_deref(), Some(&b""[..]));
    assert!(target.leftovers().expect("readable").is_empty());
}
