//! Errors: the server's text in the message, and the exit status of the cause.

use super::ends::Came as _;
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
    let ran = fetch(&[&url]).exits(78).writes("").says("not found");
    let first = ran.err.lines().next().expect("a line");
    assert!(first.starts_with(&format!("fetch-url: {url}: ")), "{first}");
    ran.says(if server.is_plus { "does not exist" } else { "Error: File or directory not found!" });
}

fn unreadable_menu_exits_9_with_the_text_of_the_server(server: GopherServer) {
    let ran = fetch(&[&server.url("/1/noperm-dir/")]).exits(9).writes("");
    ran.says(if server.is_plus { "Permission denied" } else { "Access denied" });
}

fn failure_leaves_no_file(server: GopherServer) {
    let dir = WorkDir::new();
    dir.write("old", "the old one");
    for name in ["old", "new"] {
        dir.fetch(&["-o", name, &server.url(&format!("/1/{}/", key()))]).exits(78);
    }
    dir.assert_entries(&["old"]);
    assert_eq!(dir.read("old"), b"the old one");
}

fn closed_port_exits_7(_: GopherServer) {
    fetch(&["gopher://127.0.0.1:17001/0/about.txt"]).exits(7).writes("");
    fetch(&["gophers://127.0.0.1:17001/0/about.txt"]).exits(7).writes("");
}

fn json_error_contains_code_exit_and_phase(server: GopherServer) {
    let ran = fetch(&["--format", "json", &server.url(&format!("/1/{}/", key()))]).exits(78);
    for pair in ["\"code\":\"not_found\"", "\"exit\":78", "\"temporary\":false", "\"phase\":\""] {
        assert!(ran.err.contains(pair), "{pair} is missing in {}", ran.err);
    }
    let words = if server.is_plus { "does not exist" } else { "Error: File or directory not found!" };
    assert!(ran.err.contains(words), "{}", ran.err);
}

/// A response of one type 3 item is an error for every item type.
#[test]
#[ignore = "needs the servers of docker/"]
fn single_type_3_item_is_an_error_for_every_item_type() {
    for gtype in ["0", "1", "4", "5", "6", "7", "9", "g", "I", "s", "d", "h"] {
        let dir = WorkDir::new();
        let missing = PYGOPHERD.url(&format!("/{gtype}/{}", key()));
        dir.fetch(&["-o", "here", &missing]).exits(78).says("does not exist");
        let denied = PYGOPHERD.url(&format!("/{gtype}/noperm.txt"));
        dir.fetch(&["-o", "here", &denied]).exits(9).says("Permission denied");
        dir.assert_entries(&[]);
    }
}

/// gophernicus sends errors of texts as plain text, which is delivered.
#[test]
#[ignore = "needs the servers of docker/"]
fn unmarked_error_text_is_delivered() {
    for path in ["/nope", "/noperm.txt", "/odd/.hidden", "/../../etc/passwd"] {
        fetch(&[&GOPHERNICUS.url(&format!("/0{path}"))]).came(GOPHERNICUS.answer(path));
    }
    // A menu shows the text of the error, without URLs.
    let ran = fetch(&["--format", "json", &GOPHERNICUS.url("/1/nope")]);
    assert!((ran.text() + &ran.err).contains("File or directory not found!"), "{}{}", ran.text(), ran.err);
    assert!(!ran.text().contains("gopher://"), "{}", ran.text());
}

/// A type 3 item among other items is an entry of the menu.
#[test]
#[ignore = "needs the servers of docker/"]
fn type_3_item_among_others_is_an_entry() {
    for server in [GOPHERNICUS, PYGOPHERD] {
        let text = fetch(&[&server.url("")]).exits(0).text();
        assert!(text.contains("An error") && text.contains("a line that ends with a dot."), "{text}");
    }
}

/// A missing item is requested once; `--retry` applies to transient errors only.
#[test]
#[ignore = "needs the servers of docker/"]
fn permanent_errors_are_not_retried() {
    let (key, watch) = (key(), PYGOPHERD.watch());
    fetch(&["--retry", "3", "--retry-delay", "0", &PYGOPHERD.url(&format!("/0/{key}"))]).exits(78);
    PYGOPHERD.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 2, "{:?}", watch.all(&key));
}
