//! Malformed and truncated responses (`nph-` scripts of apache).

use crate::live::server::APACHE;
use crate::live::tree::range;
use crate::live::work_dir::{WorkDir, fetch, key};

fn url(name: &str) -> String {
    APACHE.http(&format!("/cgi/{name}"))
}

/// Asserts this exit status for output to standard output and to a file, and that the file is not created.
#[track_caller]
fn fails(name: &str, exit: i32) {
    let dir = WorkDir::new();
    dir.write("old", "old");
    dir.fetch(&["-o", "old", &url(name)]).exits(exit);
    dir.fetch(&["-o", "new", &url(name)]).exits(exit);
    assert_eq!(dir.read("old"), b"old");
    assert!(!dir.path("new").exists());
    fetch(&[&url(name)]).exits(exit);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn body_shorter_than_content_length_exits_18() {
    fails("nph-short", 18);
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", &url("nph-short")]).exits(18);
    dir.assert_entries(&["here.part", "here.part.json"]);
    assert_eq!(dir.read("here.part"), b"0123456789");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn truncated_chunk_exits_18() {
    fails("nph-badchunk", 18);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn response_without_status_line_exits_8() {
    fails("nph-09", 8);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn body_ended_by_close_fails_require_complete() {
    let lines: String = (1..=5).map(|part| format!("part {part}\n")).collect();
    fetch(&[&url("nph-nolen")]).gives(&lines);
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", "--require-complete", &url("nph-nolen")]).exits(18).says("proven");
    assert!(!dir.path("here").exists());
    dir.fetch(&["-o", "here", &url("nph-nolen")]).gives("");
    assert_eq!(dir.read("here"), lines.as_bytes());
}

/// The first run leaves the first half; the same command with `-C -` downloads the second half.
#[test]
#[ignore = "needs the servers of docker/"]
fn truncated_body_is_resumed_by_the_next_run() {
    let (dir, url) = (WorkDir::new(), url(&format!("nph-cut?{}", key())));
    dir.fetch(&["-o", "here", &url]).exits(18);
    dir.assert_entries(&["here.part", "here.part.json"]);
    assert_eq!(dir.read("here.part"), range()[..40_000]);
    let ran = dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).exits(0);
    ran.says("> Range: bytes=40000-").says("> If-Range: \"first\"").says(" 206 Partial Content");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// The object has changed: the download restarts.
#[test]
#[ignore = "needs the servers of docker/"]
fn resume_restarts_when_etag_changed() {
    let (dir, url) = (WorkDir::new(), url(&format!("nph-cut?{}-changed", key())));
    dir.fetch(&["-o", "here", &url]).exits(18);
    let ran = dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).exits(0);
    ran.says("> Range: bytes=40000-").says(" 200 OK").hides(" 206 Partial");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// Without a strong validator the version is unknown, so the download restarts, although the server supports ranges.
#[test]
#[ignore = "needs the servers of docker/"]
fn resume_restarts_without_a_strong_validator() {
    for kind in ["weak", "none"] {
        let (dir, url) = (WorkDir::new(), url(&format!("nph-cut?{}-{kind}", key())));
        dir.fetch(&["-o", "here", &url]).exits(18);
        dir.fetch(&["-v", "-C", "-", "-o", "here", &url]).exits(0).hides("> Range").says(" 200 OK");
        dir.assert_entries(&["here"]);
        assert_eq!(dir.read("here"), range());
    }
}

/// A `.part` file of another URL, or with changed bytes, is not used.
#[test]
#[ignore = "needs the servers of docker/"]
fn resume_restarts_when_the_part_has_other_bytes_or_url() {
    let (dir, cut) = (WorkDir::new(), url(&format!("nph-cut?{}", key())));
    dir.fetch(&["-o", "here", &cut]).exits(18);
    dir.fetch(&["-v", "-C", "-", "-o", "here", &APACHE.http("/crlf.txt")]).exits(0).hides("> Range");
    assert!(dir.read("here").starts_with(b"line 1 of CRLF"));

    let (dir, cut) = (WorkDir::new(), url(&format!("nph-cut?{}", key())));
    dir.fetch(&["-o", "here", &cut]).exits(18);
    dir.write("here.part", "x".repeat(40_000));
    dir.fetch(&["-v", "-C", "-", "-o", "here", &cut]).exits(0).hides("> Range");
    assert_eq!(dir.read("here"), range());
}

/// `-C OFFSET`: the existing file is kept up to OFFSET, and the rest is appended.
#[test]
#[ignore = "needs the servers of docker/"]
fn continue_at_an_offset_appends_the_rest() {
    let dir = WorkDir::new();
    dir.write("here", &range()[..40_008]);
    dir.fetch(&["-C", "40000", "-o", "here", &APACHE.http("/range.txt")]).gives("");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
    dir.fetch(&["-C", "80001", "-o", "here", &APACHE.http("/range.txt")]).exits(2);
    assert_eq!(dir.read("here"), range());
}
