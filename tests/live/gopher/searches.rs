//! Searches (type 7).

use super::completeness::AssertOutput as _;
use super::menus::{field, links};
use crate::live::gopher_server::{GopherServer, each_gopher_server};
use crate::live::work_dir::{fetch, key};

each_gopher_server![
    search_words_are_decoded_and_sent,
    search_words_follow_a_tab_in_the_request,
    search_without_words_exits_78,
    search_results_can_be_fetched,
    forbidden_bytes_in_a_search_exit_93_without_a_request
];

#[track_caller]
fn found(url: &str) -> Vec<String> {
    let menu = fetch(&["--format", "json", url]).assert_exit(0).text();
    menu.lines().map(|line| field(line, "name").expect("a name")).collect()
}

fn search_words_are_decoded_and_sent(server: GopherServer) {
    for (words, expected) in [
        ("one", &["found one"][..]),
        ("one%20two", &["found one", "found two"]),
        ("gr%C3%BCn", &["found gr\u{fc}n"]),
        ("100%25", &["found 100%"]),
        ("%2509", &["found %09"]),
        ("a+b", &["found a+b"]),
        ("a=b&c", &["found a=b&c"]),
        ("a%23b", &["found a#b"]),
    ] {
        assert_eq!(found(&server.url(&format!("/7/cgi-bin/search%09{words}"))), expected, "{words}");
    }
    // A search returns a menu, for every item type in the URL.
    assert_eq!(found(&server.url("/1/cgi-bin/search%09one")), ["found one"]);
}

fn search_words_follow_a_tab_in_the_request(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    found(&server.url(&format!("/7/cgi-bin/search%09{key}%20?+%E9")));
    assert_eq!(watch.line(&key), format!("/cgi-bin/search\\x09{key} ?+\\xe9"));
    fetch(&["-v", &server.url("/7/cgi-bin/search%09one%20two")])
        .assert_exit(0)
        .assert_stderr_contains("> /cgi-bin/search");
}

/// pygopherd does not support an empty search string after the TAB, and fails.
fn search_without_words_exits_78(server: GopherServer) {
    fetch(&[&server.url("/7/cgi-bin/search")])
        .assert_exit(78)
        .assert_stdout("")
        .assert_stderr_contains("no query given");
    let result = fetch(&[&server.url("/7/cgi-bin/search%09")]).assert_stdout("");
    assert!(result.exit == 78 || server.is_plus, "{} {}", result.exit, result.err);
}

fn search_results_can_be_fetched(server: GopherServer) {
    let menu =
        fetch(&["--format", "json", &server.url("/7/cgi-bin/search%09one%20two")]).assert_exit(0).text();
    let all = links(&menu);
    assert_eq!(all.len(), 2, "{menu}");
    for (_, url) in all {
        fetch(&[&url]).assert_output_with_note(server.answer("/about.txt"));
    }
}

/// Bytes that would end the line or the search string are not sent.
fn forbidden_bytes_in_a_search_exit_93_without_a_request(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    for byte in ["%0D", "%0A", "%00", "%0D%0A"] {
        fetch(&[&server.url(&format!("/7/cgi-bin/search%09{key}{byte}x"))]).assert_exit(93).assert_stdout("");
        fetch(&[&server.url(&format!("/7/{key}{byte}x%09one"))]).assert_exit(93).assert_stdout("");
    }
    // Two TABs end the search string; a third one is not allowed in the Gopher+ string.
    fetch(&[&server.url(&format!("/7/{key}%09one%09+%09two"))]).assert_exit(93).assert_stdout("");
    server.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 1, "{:?}", watch.all(&key));
}
