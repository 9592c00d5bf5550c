//! Completeness of gopher responses, and the note about a missing terminator.

use crate::live::gopher_server::{GOPHERNICUS, GopherServer, PYGOPHERD, each_gopher_server};
use crate::live::program::RunResult;
use crate::live::work_dir::{WorkDir, fetch};

each_gopher_server![
    text_without_final_dot_prints_a_note_or_exits_18,
    binary_item_is_assumed_complete,
    menu_without_final_dot_prints_a_note_or_exits_18,
    silent_option_suppresses_the_note
];

const NO_DOT: &str = "the line of one dot at its end is missing: the object may be incomplete";
const NO_BYTE: &str = "the server sent no data: the item is empty or does not exist";

/// Assertions about the output of a run.
pub(super) trait AssertOutput {
    /// Asserts exit status 0, this output, and no message except notes about a missing terminator.
    fn assert_output_with_note(self, expected: impl AsRef<[u8]>) -> Self;
}

impl AssertOutput for RunResult {
    #[track_caller]
    fn assert_output_with_note(self, expected: impl AsRef<[u8]>) -> Self {
        let this = self.assert_exit(0).assert_stdout(expected);
        let is_note = |line: &str| {
            let begins = line.starts_with("fetch-url: note: ") || line.starts_with("{\"note\":");
            begins && (line.contains(NO_DOT) || line.contains(NO_BYTE))
        };
        assert!(this.err.lines().all(is_note), "{}", this.err);
        this
    }
}

fn text_without_final_dot_prints_a_note_or_exits_18(server: GopherServer) {
    let dir = WorkDir::new();
    let unended: &[&str] = if server.is_plus { &["no-line-end"] } else { &[] };
    for name in ["none-doubled", "doubled-no-end"].iter().chain(unended) {
        let url = server.url(&format!("/0/dots/{name}.txt"));
        fetch(&[&url]).assert_exit(0).assert_stderr_contains(NO_DOT);
        dir.fetch(&["-o", "here", &url]).assert_exit(0).assert_stderr_contains(NO_DOT);
        let refused = dir.fetch(&["--require-complete", "-o", "there", &url]).assert_exit(18);
        refused.assert_stderr_contains("cut short");
    }
    for name in ["only", "last", "two-last", "all-doubled", "some-doubled", "large"] {
        let result =
            fetch(&["--require-complete", &server.url(&format!("/0/dots/{name}.txt"))]).assert_exit(0);
        assert_eq!(result.err, "", "{name}");
    }
    assert!(!dir.names().contains(&"there".to_owned()), "{:?}", dir.names());
}

/// Binary items have no terminator: they end with the connection.
fn binary_item_is_assumed_complete(server: GopherServer) {
    let result = fetch(&[&server.url("/9/all-bytes.bin")]).assert_exit(0);
    assert_eq!(result.err, "");
    fetch(&["--require-complete", &server.url("/9/all-bytes.bin")])
        .assert_exit(18)
        .assert_stderr_contains("cannot be proven");
    // gophernicus sends no data for an empty file.
    fetch(&[&server.url("/9/empty.bin")]).assert_exit(0).assert_stdout("").assert_stderr_contains(NO_BYTE);
}

/// pygopherd sends no terminating dot after menus.
fn menu_without_final_dot_prints_a_note_or_exits_18(server: GopherServer) {
    let result = fetch(&[&server.url("/1/pub")]).assert_exit(0);
    assert_eq!(result.err.contains(NO_DOT), server.is_plus, "{}", result.err);
    let result = fetch(&["--require-complete", &server.url("/1/pub")]);
    assert_eq!(result.exit, if server.is_plus { 18 } else { 0 }, "{}", result.err);
    let result = fetch(&["--require-complete", &server.url("/1/cgi-bin/ten-thousand")]).assert_exit(0);
    assert_eq!(result.err, "", "both end this one");
}

fn silent_option_suppresses_the_note(server: GopherServer) {
    let url = server.url("/0/dots/none-doubled.txt");
    fetch(&["-s", &url]).assert_success(server.answer("/dots/none-doubled.txt"));
}

/// With an announced length, the object is complete with or without a final dot.
#[test]
#[ignore = "needs the servers of docker/"]
fn announced_length_proves_completeness() {
    for path in ["/0/about.txt", "/9/empty.bin", "/9/all-bytes.bin", "/0/dots/none-doubled.txt"] {
        let url = PYGOPHERD.url(&format!("{path}%09%09+"));
        fetch(&["--require-complete", &url]).assert_success(PYGOPHERD.answer(&path[2..]));
    }
}

/// A server without Gopher+ announces no length, so completeness depends on the final dot.
#[test]
#[ignore = "needs the servers of docker/"]
fn gopher_plus_request_without_length_needs_the_final_dot() {
    let url = |name: &str| GOPHERNICUS.url(&format!("/0/dots/{name}.txt%09%09+"));
    fetch(&["--require-complete", &url("last")]).assert_exit(0).assert_stdout("first\r\nlast\r\n");
    fetch(&["--require-complete", &url("none-doubled")]).assert_exit(18);
}
