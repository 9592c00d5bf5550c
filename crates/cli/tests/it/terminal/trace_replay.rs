//! `--trace` output as a script: a scripted server replays it, and fetch-url behaves the same.

use std::fs;

use crate::support::{RunResult, run_fetch_url_in, temp_dir};
use fetch_url_tests::{FtpConfig, FtpServer, Script, ScriptServer};

const ARTICLE: &str = "S: 200 ready\nC: ARTICLE <1@a.example>\nS: 220 0 <1@a.example>\nS: Subject: \\xff\nS:\nS: ..dot\nS: .\n@eof\n";

/// Fetches `path` with `--trace` from a server that runs `script`. Returns the result and the trace.
fn fetch_with_trace(script: Script, scheme: &str, path: &str) -> (RunResult, String) {
    let directory = temp_dir();
    let server = ScriptServer::start(vec![script]).expect("a server");
    let url = format!("{scheme}://{}/{path}", server.addr());
    let result = run_fetch_url_in(directory.path(), ["--retry", "0", "--trace", "trace", &url]);
    assert_eq!(server.failures(), Vec::<String>::new(), "{}", result.stderr);
    (result, fs::read_to_string(directory.path().join("trace")).expect("a trace"))
}

/// Removes all digits, since the port differs from run to run.
fn without_digits(text: &str) -> String {
    text.chars().filter(|character| !character.is_ascii_digit()).collect()
}

#[test]
fn replayed_trace_gives_the_same_output() {
    let gopher = |name: &str| Script::load(format!("gopher/{name}.script")).expect("a script");
    for (scheme, path, script) in [
        ("gopher", "1", gopher("menu")),
        ("gopher", "00/about", gopher("text")),
        ("gopher", "00/about", gopher("text_without_dot")),
        ("news", "1@a.example", Script::parse(ARTICLE).expect("a script")),
    ] {
        let (first, trace) = fetch_with_trace(script, scheme, path);
        first.assert_exit(0);
        let script = Script::from_trace(&trace).expect("a transcript");
        let (second, second_trace) = fetch_with_trace(script, scheme, path);
        assert_eq!(without_digits(&second.stdout_text()), without_digits(&first.stdout_text()), "{path}");
        assert!(Script::from_trace(&second_trace).expect("a transcript").steps().count() > 1, "{path}");
    }
}

#[test]
fn trace_of_a_login_hides_the_password_and_can_be_replayed() {
    let directory = temp_dir();
    let server = FtpServer::start(FtpConfig::default()).expect("a server");
    let url = format!("ftp://me:canary@{}/no/such", server.addr());
    let first = run_fetch_url_in(directory.path(), ["--trace", "trace", &url]);
    let trace = fs::read_to_string(directory.path().join("trace")).expect("a trace");
    assert!(!trace.contains("canary"), "{trace}");
    let script = Script::from_trace(&trace).expect("a transcript");
    let replay = ScriptServer::start(vec![script]).expect("a server");
    let url = format!("ftp://me:canary@{}/no/such", replay.addr());
    let second = run_fetch_url_in(directory.path(), [&url]);
    assert_eq!(second.exit, first.exit, "{}", second.stderr);
    assert_eq!(without_digits(&second.stderr), without_digits(&first.stderr));
}
