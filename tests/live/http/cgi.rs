//! Malformed and truncated responses (`nph-` scripts of apache).

use crate::live::server::APACHE;
use crate::live::tree::range;
use crate::live::work_dir::{WorkDir, fetch, key};

fn url(name: &str) -> String {
    APACHE.http(&format!("/cgi/{name}"))
}

/// Asserts this exit status for output to standard output and to a file, and that the file is not created.
#[track_caller]
fn assert_fails(name: &str, exit: i32) {
    let dir = WorkDir::new();
    dir.write("old", "old");
    dir.fetch(&["-o", "old", &url(name)]).assert_exit(exit);
    dir.fetch(&["-o", "new", &url(name)]).assert_exit(exit);
    assert_eq!(dir.read("old"), b"old");
    assert!(!dir.path("new").exists());
    fetch(&[&url(name)]).assert_exit(exit);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn body_shorter_than_content_length_exits_18() {
    assert_fails("nph-short", 18);
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", &url("nph-short")]).assert_exit(18);
    // The response has no validator, so the download cannot be resumed (docs/spec/semantics.md, 3.32 and 12.5).
    dir.assert_entries(&[]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn truncated_chunk_exits_18() {
    assert_fails("nph-badchunk", 18);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn response_without_status_line_exits_8() {
    assert_fails("nph-09", 8);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn body_ended_by_close_fails_require_complete() {
    let lines: String = (1..=5).map(|part| format!("part {part}\n")).collect();
    fetch(&[&url("nph-nolen")]).assert_success(&lines);
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", "--require-complete", &url("nph-nolen")])
        .assert_exit(18)
        .assert_stderr_contains("proven");
    assert!(!dir.path("here").exists());
    dir.fetch(&["-o", "here", &url("nph-nolen")]).assert_success("");
    assert_eq!(dir.read("here"), lines.as_bytes());
}

/// The first run leaves the first half; the same command with `-C -` downloads the second half.
#[test]
#[ignore = "needs the servers of docker/"]
fn truncated_body_is_resumed_by_the_next_run() {
    let (dir, url) = (WorkDir::new(), url(&format!("nph-cut?{}", key())));
    dir.fetch(&["-o", "here", &url]).assert_exit(18);
    dir.assert_entries(&["here.fetch-url.json", "here.fetch-url.part"]);
    assert_eq!(dir.read("here.fetch-url.part"), range()[..40_000]);
    let result = dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).assert_exit(0);
    result
        .assert_stderr_contains("> Range: bytes=39936-")
        .assert_stderr_contains("> If-Range: \"first\"")
        .assert_stderr_contains(" 206 Partial Content");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// The object has changed: the download restarts.
#[test]
#[ignore = "needs the servers of docker/"]
fn resume_restarts_when_etag_changed() {
    let (dir, url) = (WorkDir::new(), url(&format!("nph-cut?{}-changed", key())));
    dir.fetch(&["-o", "here", &url]).assert_exit(18);
    let result = dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).assert_exit(0);
    result
        .assert_stderr_contains("> Range: bytes=39936-")
        .assert_stderr_contains(" 200 OK")
        .assert_stderr_omits(" 206 Partial");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// Without a strong validator the version is unknown, so the download restarts, although the server supports ranges.
#[test]
#[ignore = "needs the servers of docker/"]
fn resume_restarts_without_a_strong_validator() {
    for kind in ["weak", "none"] {
        let (dir, url) = (WorkDir::new(), url(&format!("nph-cut?{}-{kind}", key())));
        dir.fetch(&["-o", "here", &url]).assert_exit(18);
        dir.fetch(&["-v", "-C", "-", "-o", "here", &url])
            .assert_exit(0)
            .assert_stderr_omits("> Range")
            .assert_stderr_contains(" 200 OK");
        dir.assert_entries(&["here"]);
        assert_eq!(dir.read("here"), range());
    }
}

/// A `.part` file of another URL, or with changed bytes, is not used.
#[test]
#[ignore = "needs the servers of docker/"]
fn resume_restarts_when_the_part_has_other_bytes_or_url() {
    let (dir, cut) = (WorkDir::new(), url(&format!("nph-cut?{}", key())));
    dir.fetch(&["-o", "here", &cut]).assert_exit(18);
    dir.fetch(&["-v", "-C", "-", "-o", "here", &APACHE.http("/crlf.txt")])
        .assert_exit(0)
        .assert_stderr_omits("> Range");
    assert!(dir.read("here").starts_with(b"line 1 of CRLF"));

    let (dir, cut) = (WorkDir::new(), url(&format!("nph-cut?{}", key())));
    dir.fetch(&["-o", "here", &cut]).assert_exit(18);
    dir.write("here.fetch-url.part", "x".repeat(40_000));
    dir.fetch(&["-v", "-C", "-", "-o", "here", &cut]).assert_exit(0).assert_stderr_omits("> Range");
    assert_eq!(dir.read("here"), range());
}

/// `-C OFFSET`: the existing file is kept up to OFFSET, and the rest is appended.
#[test]
#[ignore = "needs the servers of docker/"]
fn continue_at_an_offset_appends_the_rest() {
    let dir = WorkDir::new();
    dir.write("here", &range()[..40_008]);
    dir.fetch(&["-C", "40000", "-o", "here", &APACHE.http("/range.txt")]).assert_success("");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
    dir.fetch(&["-C", "80001", "-o", "here", &APACHE.http("/range.txt")]).assert_exit(2);
    assert_eq!(dir.read("here"), range());
}
