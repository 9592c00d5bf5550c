//! What `--trace` writes is a transcript: a scripted server plays it again, and the same comes of it.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;

use fetch_url_tests::{FtpServer, FtpSite, Script, ScriptServer};
use support::{Ran, fetch_in};

const ARTICLE: &str = "S: 200 ready\nC: ARTICLE <1@a.example>\nS: 220 0 <1@a.example>\nS: Subject: \\xff\nS:\nS: ..dot\nS: .\n@eof\n";

/// Fetches `path` at a server that plays `script`, with a trace; what came, and the trace.
fn traced(script: Script, scheme: &str, path: &str) -> (Ran, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let server = ScriptServer::start(vec![script]).expect("a server");
    let url = format!("{scheme}://{}/{path}", server.addr());
    let ran = fetch_in(directory.path(), ["--retry", "0", "--trace", "trace", &url]);
    assert_eq!(server.failures(), Vec::<String>::new(), "{}", ran.stderr);
    (ran, fs::read_to_string(directory.path().join("trace")).expect("a trace"))
}

/// The host and port of one run are not those of the next.
fn without_port(text: &str) -> String {
    text.chars().filter(|character| !character.is_ascii_digit()).collect()
}

#[test]
fn a_trace_brings_the_same_once_more() {
    let gopher = |name: &str| Script::named(format!("gopher/{name}.script")).expect("a script");
    for (scheme, path, script) in [
        ("gopher", "1", gopher("menu")),
        ("gopher", "00/about", gopher("text")),
        ("gopher", "00/about", gopher("text_without_dot")),
        ("news", "1@a.example", Script::parse(ARTICLE).expect("a script")),
    ] {
        let (first, trace) = traced(script, scheme, path);
        first.exits(0);
        let script = Script::of_trace(&trace).expect("a transcript");
        let (second, again) = traced(script, scheme, path);
        assert_eq!(without_port(&second.text()), without_port(&first.text()), "{path}");
        assert!(Script::of_trace(&again).expect("a transcript").steps().count() > 1, "{path}");
    }
}

#[test]
fn the_trace_of_a_login_hides_the_password_and_can_be_played() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = FtpServer::start(FtpSite::default()).expect("a server");
    let url = format!("ftp://me:canary@{}/no/such", server.addr());
    let first = fetch_in(directory.path(), ["--trace", "trace", &url]);
    let trace = fs::read_to_string(directory.path().join("trace")).expect("a trace");
    assert!(!trace.contains("canary"), "{trace}");
    let script = Script::of_trace(&trace).expect("a transcript");
    let again = ScriptServer::start(vec![script]).expect("a server");
    let url = format!("ftp://me:canary@{}/no/such", again.addr());
    let second = fetch_in(directory.path(), [&url]);
    assert_eq!(second.exit, first.exit, "{}", second.stderr);
    assert_eq!(without_port(&second.stderr), without_port(&first.stderr));
}
