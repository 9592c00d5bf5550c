//! Integration tests of `gopher:` and `gophers:` URLs, with and without Gopher+ (docs/spec/semantics.md §4).

mod attributes;
mod faults;
mod forms;
mod head;
mod items;
mod large_items;
mod limits;
mod menus;
mod requests;
mod text_terminators;

use crate::support::{RunResult, run_fetch_url, run_measuring_memory};
use fetch_url_tests::{GopherConfig, GopherServer, OldFile, Target};
use serde_json::Value;

/// 1994-12-01 12:34:56 UTC, as seconds since 1970.
const MODIFIED: i64 = 786_285_296;

fn start_server(config: GopherConfig) -> GopherServer {
    GopherServer::start(config).expect("start server")
}

/// Fetches the gopher path `path` of `server` with the options `options`, which are separated by spaces.
fn fetch_path(server: &GopherServer, path: &str, options: &str) -> RunResult {
    let url = server.url(path);
    run_fetch_url(["--read-timeout", "5"].into_iter().chain(options.split_whitespace()).chain([url.as_str()]))
}

/// Parses standard output as JSON Lines.
fn parse_json_lines(result: &RunResult) -> Vec<Value> {
    result.stdout_text().lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect()
}

/// Starts a server that answers every request with exactly these bytes.
fn server_sending(bytes: impl AsRef<[u8]>) -> GopherServer {
    start_server(GopherConfig::new().answer(bytes.as_ref()))
}

/// Fetches `url` with a read timeout of 1 second and a retry delay of 10 ms.
fn fetch_with_short_timeouts(options: &str, url: &str) -> RunResult {
    let timeouts = ["--read-timeout", "1", "--retry-delay", "0.01"];
    run_fetch_url(timeouts.into_iter().chain(options.split_whitespace()).chain([url]))
}

/// Fetches `path` of `server` and asserts exit status 0 and this standard output.
#[track_caller]
fn assert_output(server: &GopherServer, path: &str, options: &str, expected: &[u8]) {
    let result = fetch_path(server, path, options);
    assert_eq!(result.exit, 0, "{path} {options}: {}", result.stderr);
    let (found, expected) = (result.stdout.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(found, expected, "{path} {options}");
}

/// Fetches into a new directory and checks that no other file is left there; returns the result, the peak memory in
/// KiB and the content of the output file.
fn run_to_file(before: OldFile, arguments: &[&str]) -> (RunResult, u64, Option<Vec<u8>>) {
    let target = Target::new(before).expect("create temporary directory");
    let path = target.path();
    let mut options = vec!["-o", path.to_str().expect("valid UTF-8")];
    options.extend(arguments);
    let (memory, result) = run_measuring_memory(&options);
    assert!(target.leftovers().expect("read target directory").is_empty(), "{arguments:?}");
    assert!(result.exit == 0 || target.is_untouched().expect("read target directory"), "{arguments:?}");
    let content = target.content().expect("read target directory");
    (result, memory, content)
}
