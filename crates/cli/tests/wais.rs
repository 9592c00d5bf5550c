//! WAIS through the real binary (SEMANTICS.md §8): databases, searches, documents.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;

use fetch_url_tests::{WaisAct, WaisDatabase, WaisDiagnostic, WaisDocument, WaisServer, WaisSite};
use serde_json::Value;
use support::{Ran, command, fetch, names, ran};

/// Longer than two pieces, and every octet is another than those near it.
fn long() -> Vec<u8> {
    (0..24_029_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn site() -> WaisSite {
    let text = "One line about gophers.\nAnd another.\n";
    let database = WaisDatabase::new("t")
        .document(WaisDocument::new("Gopher burrows", "gopher garden", "TEXT", text))
        .document(WaisDocument::new("A long way", "tunnel", "TEXT", long()))
        .document(WaisDocument::new("A picture", "picture", "GIF", b"GIF89a\0\xff".as_slice()).also("TEXT"));
    WaisSite::new().database(database)
}

fn serve() -> WaisServer {
    WaisServer::start(site()).expect("a server on loopback")
}

fn url_of(server: &WaisServer, headline: &str) -> String {
    server.document_url("t", headline).expect("a document")
}

fn run_in(directory: &Path, words: &[&str]) -> Ran {
    let mut command = command();
    command.current_dir(directory).args(["--retry", "0"]).args(words);
    ran(command)
}

fn entries(ran: &Ran) -> Vec<Value> {
    ran.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// What is found can be fetched by the URL that is shown for it.
#[test]
fn a_search_and_what_it_finds() {
    let server = serve();
    let found = fetch(["--format", "json", &server.url("t?gopher+garden")]);
    let found = entries(found.exits(0));
    let [entry] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(entry["name"], "Gopher burrows");
    assert_eq!((&entry["size"], &entry["types"][0]), (&Value::from(37), &Value::from("TEXT")));
    assert!(entry["score"].as_u64().is_some_and(|score| score > 0), "{entry}");
    let document = fetch([entry["url"].as_str().expect("a URL")]);
    assert_eq!(document.exits(0).text(), "One line about gophers.\nAnd another.\n");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_search_for_people() {
    let server = serve();
    let ran = fetch([&server.url("t?gopher")]);
    let text = ran.exits(0).text();
    let lines: Vec<&str> = text.lines().collect();
    let [first, url] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(first.contains("37  TEXT      Gopher burrows"), "{first}");
    assert_eq!(url.trim(), url_of(&server, "Gopher burrows"));
}

/// Without words, servers tell what a database is about; and a hint says how it is searched.
#[test]
fn a_database() {
    let server = serve();
    let ran = fetch(["--format", "json", &server.url("t")]);
    let types: Vec<Value> = entries(ran.exits(0)).iter().map(|entry| entry["types"][0].clone()).collect();
    assert_eq!(types, ["WSRC", "TEXT"]);
    ran.says("note").says("search");
}

#[test]
fn nothing_is_found() {
    let server = serve();
    let ran = fetch([&server.url("t?nobody")]);
    assert!(ran.exits(0).text().contains("Search produced no result"), "{}", ran.text());
}

#[test]
fn an_unknown_database() {
    let server = serve();
    for path in ["nodb?gopher", "nodb"] {
        let here = tempfile::tempdir().expect("a directory");
        let ran = run_in(here.path(), &["-o", "here", &server.url(path)]);
        ran.exits(78).says("S1").says("not available");
        assert!(names(here.path()).is_empty());
    }
}

/// A document longer than a piece comes piece by piece, each asked for after the one before.
#[test]
fn a_long_document() {
    let server = serve();
    let here = tempfile::tempdir().expect("a directory");
    run_in(here.path(), &["-o", "here", &url_of(&server, "A long way")]).exits(0);
    assert!(fs::read(here.path().join("here")).expect("a file") == long());
    assert_eq!((server.requests().len(), server.connections(), server.most_waiting()), (3, 1, 1));
}

#[test]
fn a_part_of_a_document() {
    let server = serve();
    let url = url_of(&server, "A long way");
    for (range, wanted) in [("0-9", 0..10), ("9990-10009", 9990..10010), ("24000-", 24000..24029)] {
        let here = tempfile::tempdir().expect("a directory");
        run_in(here.path(), &["-r", range, "-o", "here", &url]).exits(0);
        assert!(fs::read(here.path().join("here")).expect("a file") == long()[wanted], "{range}");
    }
    fetch(["-r", "-5", &url]).exits(33);
    fetch(["-r", "0-5", &server.url("t?gopher")]).exits(33);
}

/// One document in the form of its second type; octets as they are.
#[test]
fn a_document_of_another_type() {
    let server = serve();
    let url = url_of(&server, "A picture");
    let here = tempfile::tempdir().expect("a directory");
    run_in(here.path(), &["-o", "here", &url]).exits(0);
    assert_eq!(fs::read(here.path().join("here")).expect("a file"), b"GIF89a\0\xff");
    assert!(url.contains("/GIF/"), "{url}");
}

/// The identifier in the spellings of 1993 and of libwww stands for the same document.
#[test]
fn the_three_spellings() {
    let database = WaisDatabase::new("t").document(
        WaisDocument::new("x", "x", "TEXT", "the document\n").id(b"\x02\x01t\x03\x050 9 x".as_slice()),
    );
    let server = WaisServer::start(WaisSite::new().database(database)).expect("a server");
    for wpath in ["%02%01t%03%050%209%20x", "2=t;3=0%209%20x;", "9/2=t;3=0%209%20x;"] {
        let ran = fetch([&server.url(&format!("t/TEXT/{wpath}"))]);
        assert_eq!(ran.exits(0).text(), "the document\n", "{wpath}");
    }
}

#[test]
fn the_name_of_a_file() {
    let server = serve();
    let here = tempfile::tempdir().expect("a directory");
    run_in(here.path(), &["-O", &url_of(&server, "Gopher burrows")]).exits(0);
    let found = names(here.path());
    let [name] = found.as_slice() else { panic!("{found:?}") };
    assert!(!name.contains('/') && !name.is_empty(), "{name}");
}

#[test]
fn heads() {
    let server = serve();
    fetch(["-I", &url_of(&server, "Gopher burrows")]).exits(0);
    let ran = fetch(["-I", &server.url("t?gopher")]);
    assert!(ran.exits(0).text().contains("Documents: 1"), "{}", ran.text());
    fetch(["-I", &server.url("t/TEXT/nonsense")]).exits(78);
}

/// Nothing of a URL gets out of its field, and what is too long is not sent.
#[test]
fn what_may_not_go_out() {
    let server = serve();
    for path in ["t%0D%0A", "t%00", "t/TEXT%0A/x"] {
        fetch([&server.url(path)]).exits(93);
    }
    fetch([&server.url(&format!("{}?x", "t".repeat(300)))]).exits(3);
    fetch([&server.url(&format!("t/TEXT/{}", "x".repeat(9000)))]).exits(3);
    fetch([&server.url(&format!("t?{}", "x".repeat(70_000)))]).exits(3);
    assert_eq!(server.connections(), 0);
}

#[test]
fn nobody_listens() {
    let url = serve().url("t?x");
    fetch([&url]).exits(7);
}

/// A refusal in the place of octets is no end: the first of all is told, a later one cuts the document short.
#[test]
fn refusals_beside_octets() {
    let none = WaisDiagnostic::new(*b"T2", "no access");
    let refuses = WaisAct::Alone(none);
    let server = WaisServer::start(site().nth(2, refuses.clone())).expect("a server");
    let here = tempfile::tempdir().expect("a directory");
    let url = url_of(&server, "A long way");
    run_in(here.path(), &["-o", "here", &url]).exits(9).says("T2").says("no access");
    assert!(names(here.path()).is_empty());
    let server = WaisServer::start(site().always(refuses)).expect("a server");
    run_in(here.path(), &["-o", "here", &url_of(&server, "A long way")]).exits(9);
    assert!(names(here.path()).is_empty());
}

/// Behind the end there is no part.
#[test]
fn parts_behind_the_end() {
    let server = serve();
    let url = url_of(&server, "A long way");
    for range in ["24029-", "30000-30010"] {
        fetch(["-r", range, &url]).exits(33);
    }
}

/// A hit of type URL leads where it says, but to nothing of whoever reads it.
#[test]
fn hits_that_are_urls() {
    let hit = |headline: &str| WaisDocument::new(headline, "x", "URL", "");
    let headlines =
        ["http://h.example/x", "file:///etc/passwd", "javascript:alert(1)", "http://u:p@h.example/"];
    let database = headlines.iter().fold(WaisDatabase::new("t"), |all, headline| all.document(hit(headline)));
    let server = WaisServer::start(WaisSite::new().database(database)).expect("a server");
    let ran = fetch(["--format", "json", &server.url("t?x")]);
    let urls: Vec<Value> = entries(ran.exits(0)).iter().map(|entry| entry["url"].clone()).collect();
    assert_eq!(urls, [Value::from("http://h.example/x"), Value::Null, Value::Null, Value::Null]);
}
