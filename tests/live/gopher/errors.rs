//! Errors: the server's text in the message, and the exit status of the cause.

use super::completeness::AssertOutput as _;
use crate::live::gopher_server::{GOPHERNICUS, GopherServer, PYGOPHERD, each_gopher_server};
use crate::live::work_dir::{WorkDir, fetch, key};

each_gopher_server![
    missing_menu_exits_78_with_the_text_of_the_server,
    unreadable_menu_exits_9_with_the_text_of_the_server,
    failure_leaves_no_file,
    closed_port_exits_7,
    json_error_contains_code_exit_and_phase
];

/// gophernicus sends a menu with the error if the selector ends with a slash.
fn missing_menu_exits_78_with_the_text_of_the_server(server: GopherServer) {
    let url = server.url(&format!("/1/{}/", key()));
    let result = fetch(&[&url]).assert_exit(78).assert_stdout("").assert_stderr_contains("not found");
    let first = result.err.lines().next().expect("a line");
    assert!(first.starts_with(&format!("fetch-url: {url}: ")), "{first}");
    result.assert_stderr_contains(if server.is_plus {
        "does not exist"
    } else {
        "Error: File or directory not found!"
    });
}

fn unreadable_menu_exits_9_with_the_text_of_the_server(server: GopherServer) {
    let result = fetch(&[&server.url("/1/noperm-dir/")]).assert_exit(9).assert_stdout("");
    result.assert_stderr_contains(if server.is_plus { "Permission denied" } else { "Access denied" });
}

fn failure_leaves_no_file(server: GopherServer) {
    let dir = WorkDir::new();
    dir.write("old", "the old one");
    for name in ["old", "new"] {
        dir.fetch(&["-o", name, &server.url(&format!("/1/{}/", key()))]).assert_exit(78);
    }
    dir.assert_entries(&["old"]);
    assert_eq!(dir.read("old"), b"the old one");
}

fn closed_port_exits_7(_: GopherServer) {
    fetch(&["gopher://127.0.0.1:17001/0/about.txt"]).assert_exit(7).assert_stdout("");
    fetch(&["gophers://127.0.0.1:17001/0/about.txt"]).assert_exit(7).assert_stdout("");
}

fn json_error_contains_code_exit_and_phase(server: GopherServer) {
    let result = fetch(&["--format", "json", &server.url(&format!("/1/{}/", key()))]).assert_exit(78);
    for pair in ["\"code\":\"not_found\"", "\"exit\":78", "\"temporary\":false", "\"phase\":\""] {
        assert!(result.err.contains(pair), "{pair} is missing in {}", result.err);
    }
    let words = if server.is_plus { "does not exist" } else { "Error: File or directory not found!" };
    assert!(result.err.contains(words), "{}", result.err);
}

/// A response of one type 3 item is an error for every item type.
#[test]
#[ignore = "needs the servers of docker/"]
fn single_type_3_item_is_an_error_for_every_item_type() {
    for gtype in ["0", "1", "4", "5", "6", "7", "9", "g", "I", "s", "d", "h"] {
        let dir = WorkDir::new();
        let missing = PYGOPHERD.url(&format!("/{gtype}/{}", key()));
        dir.fetch(&["-o", "here", &missing]).assert_exit(78).assert_stderr_contains("does not exist");
        let denied = PYGOPHERD.url(&format!("/{gtype}/noperm.txt"));
        dir.fetch(&["-o", "here", &denied]).assert_exit(9).assert_stderr_contains("Permission denied");
        dir.assert_entries(&[]);
    }
}

/// gophernicus sends errors of texts as plain text, which is delivered.
#[test]
#[ignore = "needs the servers of docker/"]
fn unmarked_error_text_is_delivered() {
    for path in ["/nope", "/noperm.txt", "/odd/.hidden", "/../../etc/passwd"] {
        fetch(&[&GOPHERNICUS.url(&format!("/0{path}"))]).assert_output_with_note(GOPHERNICUS.answer(path));
    }
    // A menu shows the text of the error, without URLs.
    let result = fetch(&["--format", "json", &GOPHERNICUS.url("/1/nope")]);
    assert!(
        (result.text() + &result.err).contains("File or directory not found!"),
        "{}{}",
        result.text(),
        result.err
    );
    assert!(!result.text().contains("gopher://"), "{}", result.text());
}

/// A type 3 item among other items is an entry of the menu.
#[test]
#[ignore = "needs the servers of docker/"]
fn type_3_item_among_others_is_an_entry() {
    for server in [GOPHERNICUS, PYGOPHERD] {
        let text = fetch(&[&server.url("")]).assert_exit(0).text();
        assert!(text.contains("An error") && text.contains("a line that ends with a dot."), "{text}");
    }
}

/// A missing item is requested once; `--retry` applies to transient errors only.
#[test]
#[ignore = "needs the servers of docker/"]
fn permanent_errors_are_not_retried() {
    let (key, watch) = (key(), PYGOPHERD.watch());
    fetch(&["--retry", "3", "--retry-delay", "0", &PYGOPHERD.url(&format!("/0/{key}"))]).assert_exit(78);
    PYGOPHERD.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 2, "{:?}", watch.all(&key));
}
