//! `wais:` URLs (docs/spec/semantics.md §8): databases, searches and documents.

use std::fs;

use crate::support::{RunResult, entry_names, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{
    CutPoint, Ending, ReservedPort, WaisAction, WaisConfig, WaisDatabase, WaisDiagnostic, WaisDocument,
    WaisServer,
};
use serde_json::Value;

/// A document of three retrieval chunks, in which neighbouring bytes differ.
fn long_document() -> Vec<u8> {
    (0..24_029_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// A server with one database of three documents.
fn wais_config() -> WaisConfig {
    let text = "One line about gophers.\nAnd another.\n";
    let database = WaisDatabase::new("t")
        .document(WaisDocument::new("Gopher burrows", "gopher garden", "TEXT", text))
        .document(WaisDocument::new("A long way", "tunnel", "TEXT", long_document()))
        .document(
            WaisDocument::new("A picture", "picture", "GIF", b"GIF89a\0\xff".as_slice()).also_as("TEXT"),
        );
    WaisConfig::new().database(database)
}

fn start_server() -> WaisServer {
    WaisServer::start(wais_config()).expect("start server")
}

/// Returns the URL of the document with this headline.
fn document_url(server: &WaisServer, headline: &str) -> String {
    server.document_url("t", headline).expect("document with this headline")
}

/// Parses standard output as JSON Lines.
fn parse_json_lines(result: &RunResult) -> Vec<Value> {
    result.stdout_text().lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect()
}

#[test]
fn search_result_url_fetches_the_document() {
    let server = start_server();
    let found = run_fetch_url(["--format", "json", &server.url("t?gopher+garden")]);
    let found = parse_json_lines(found.assert_exit(0));
    let [entry] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(entry["name"], "Gopher burrows");
    assert_eq!((&entry["size"], &entry["types"][0]), (&Value::from(37), &Value::from("TEXT")));
    assert!(entry["score"].as_u64().is_some_and(|score| score > 0), "{entry}");
    let document = run_fetch_url([entry["url"].as_str().expect("URL")]);
    assert_eq!(document.assert_exit(0).stdout_text(), "One line about gophers.\nAnd another.\n");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn search_as_text_lists_hits_with_urls() {
    let server = start_server();
    let result = run_fetch_url([&server.url("t?gopher")]);
    let text = result.assert_exit(0).stdout_text();
    let lines: Vec<&str> = text.lines().collect();
    let [first, url] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(first.contains("37  TEXT      Gopher burrows"), "{first}");
    assert_eq!(url.trim(), document_url(&server, "Gopher burrows"));
}

/// A note explains how to search the database.
#[test]
fn database_without_search_words_lists_its_description() {
    let server = start_server();
    let result = run_fetch_url(["--format", "json", &server.url("t")]);
    let types: Vec<Value> =
        parse_json_lines(result.assert_exit(0)).iter().map(|entry| entry["types"][0].clone()).collect();
    assert_eq!(types, ["WSRC", "TEXT"]);
    result.assert_stderr_contains("note").assert_stderr_contains("search");
}

#[test]
fn search_without_hits_shows_the_server_message() {
    let server = start_server();
    let result = run_fetch_url([&server.url("t?nobody")]);
    assert!(
        result.assert_exit(0).stdout_text().contains("Search produced no result"),
        "{}",
        result.stdout_text()
    );
}

#[test]
fn unknown_database_exits_78_without_output_file() {
    let server = start_server();
    for path in ["nodb?gopher", "nodb"] {
        let dir = temp_dir();
        let result = run_fetch_url_in(dir.path(), &["-o", "here", &server.url(path)]);
        result.assert_exit(78).assert_stderr_contains("S1").assert_stderr_contains("not available");
        assert!(entry_names(dir.path()).is_empty());
    }
}

/// All chunks are requested over one connection, each after the previous one.
#[test]
fn long_document_is_retrieved_chunk_by_chunk() {
    let server = start_server();
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), &["-o", "here", &document_url(&server, "A long way")]).assert_exit(0);
    assert!(fs::read(dir.path().join("here")).expect("read file") == long_document());
    assert_eq!((server.requests().len(), server.connections(), server.max_pending()), (3, 1, 1));
}

#[test]
fn range_option_retrieves_part_of_a_document() {
    let server = start_server();
    let url = document_url(&server, "A long way");
    for (range, expected) in [("0-9", 0..10), ("9990-10009", 9990..10010), ("24000-", 24000..24029)] {
        let dir = temp_dir();
        run_fetch_url_in(dir.path(), &["-r", range, "-o", "here", &url]).assert_exit(0);
        assert!(
            fs::read(dir.path().join("here")).expect("read file") == long_document()[expected],
            "{range}"
        );
    }
    run_fetch_url(["-r", "-5", &url]).assert_exit(33);
    run_fetch_url(["-r", "0-5", &server.url("t?gopher")]).assert_exit(33);
}

#[test]
fn document_of_non_text_type_is_delivered_unchanged() {
    let server = start_server();
    let url = document_url(&server, "A picture");
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), &["-o", "here", &url]).assert_exit(0);
    assert_eq!(fs::read(dir.path().join("here")).expect("read file"), b"GIF89a\0\xff");
    assert!(url.contains("/GIF/"), "{url}");
}

/// Document identifiers in the forms of RFC 1738, WAIS of 1993, and libwww.
#[test]
fn document_identifier_in_three_notations_names_the_same_document() {
    let database = WaisDatabase::new("t").document(
        WaisDocument::new("x", "x", "TEXT", "the document\n").id(b"\x02\x01t\x03\x050 9 x".as_slice()),
    );
    let server = WaisServer::start(WaisConfig::new().database(database)).expect("start server");
    for wpath in ["%02%01t%03%050%209%20x", "2=t;3=0%209%20x;", "9/2=t;3=0%209%20x;"] {
        let result = run_fetch_url([&server.url(&format!("t/TEXT/{wpath}"))]);
        assert_eq!(result.assert_exit(0).stdout_text(), "the document\n", "{wpath}");
    }
}

#[test]
fn remote_name_is_sanitised() {
    let server = start_server();
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), &["-O", &document_url(&server, "Gopher burrows")]).assert_exit(0);
    let found = entry_names(dir.path());
    let [name] = found.as_slice() else { panic!("{found:?}") };
    assert!(!name.contains('/') && !name.is_empty(), "{name}");
}

#[test]
fn head_option_shows_hits_or_document_facts() {
    let server = start_server();
    let facts = run_fetch_url(["-I", &document_url(&server, "Gopher burrows")]).assert_exit(0).stdout_text();
    for line in ["Database: t", "Type: TEXT", "Original-Server: localhost:210", "Original-Id: 0 "] {
        assert!(facts.contains(line), "{line}: {facts}");
    }
    let result = run_fetch_url(["-I", &server.url("t?gopher")]);
    assert!(result.assert_exit(0).stdout_text().contains("Documents: 1"), "{}", result.stdout_text());
    run_fetch_url(["-I", &server.url("t/TEXT/nonsense")]).assert_exit(78);
}

#[test]
fn forbidden_or_overlong_url_is_rejected_without_connection() {
    let server = start_server();
    for path in ["t%0D%0A", "t%00", "t/TEXT%0A/x"] {
        run_fetch_url([&server.url(path)]).assert_exit(93);
    }
    run_fetch_url([&server.url(&format!("{}?x", "t".repeat(300)))]).assert_exit(3);
    run_fetch_url([&server.url(&format!("t/TEXT/{}", "x".repeat(9000)))]).assert_exit(3);
    run_fetch_url([&server.url(&format!("t?{}", "x".repeat(70_000)))]).assert_exit(3);
    assert_eq!(server.connections(), 0);
}

#[test]
fn closed_port_exits_7() {
    let port = ReservedPort::tcp().expect("a port");
    run_fetch_url([format!("wais://{}/t?x", port.addr())]).assert_exit(7);
}

/// The server sends the diagnostic instead of the first or of a later piece of the document.
#[test]
fn diagnostic_during_retrieval_exits_9_without_output_file() {
    let none = WaisDiagnostic::new(*b"T2", "no access");
    let refuses = WaisAction::OnlyDiagnostic(none);
    let server = WaisServer::start(wais_config().nth(2, refuses.clone())).expect("start server");
    let dir = temp_dir();
    let url = document_url(&server, "A long way");
    run_fetch_url_in(dir.path(), &["-o", "here", &url])
        .assert_exit(9)
        .assert_stderr_contains("T2")
        .assert_stderr_contains("no access");
    assert!(entry_names(dir.path()).is_empty());
    let server = WaisServer::start(wais_config().always(refuses)).expect("start server");
    run_fetch_url_in(dir.path(), &["-o", "here", &document_url(&server, "A long way")]).assert_exit(9);
    assert!(entry_names(dir.path()).is_empty());
}

/// freeWAIS uses the code of the end of a document, SF, for a document that has been removed, too.
#[test]
fn document_removed_during_retrieval_exits_18_without_output_file() {
    let removed = WaisDiagnostic::new(*b"SF", "Missing DocID in request");
    let server = WaisServer::start(wais_config().nth(2, WaisAction::OnlyDiagnostic(removed)));
    let server = server.expect("start server");
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), &["-o", "here", &document_url(&server, "A long way")])
        .assert_exit(18)
        .assert_stderr_contains("Missing DocID in request");
    assert!(entry_names(dir.path()).is_empty());
}

/// WAIS documents have no validator, so the rest of a document cannot be verified. The document is requested again from
/// its start, and only with `--retry-all-errors`.
#[test]
fn truncated_document_is_retried_from_byte_0_with_retry_all_errors() {
    let broken = || {
        let cut = WaisAction::Cut(CutPoint::Half, Ending::Reset);
        WaisServer::start(wais_config().nth(3, cut)).expect("start server")
    };
    let dir = temp_dir();
    let (server, common) =
        (broken(), ["--retry", "1", "--retry-delay", "0.1", "--events", "events", "-o", "here"]);
    let url = document_url(&server, "A long way");
    run_fetch_url_in(dir.path(), &[&common[..], &[&url]].concat()).assert_exit(18);
    assert!(!dir.path().join("here").exists());

    let server = broken();
    let url = document_url(&server, "A long way");
    let result = run_fetch_url_in(dir.path(), &[&common[..], &["--retry-all-errors", &url]].concat());
    assert!(!result.assert_exit(0).stderr.contains("from byte"), "{}", result.stderr);
    assert_eq!(fs::read(dir.path().join("here")).expect("read file"), long_document());
    let events = fs::read_to_string(dir.path().join("events")).expect("read events");
    let retry = events.lines().find(|line| line.contains("\"retry\"")).expect("a retry event");
    assert!(retry.contains("\"offset\":0"), "{retry}");
}

#[test]
fn range_after_the_end_exits_33() {
    let server = start_server();
    let url = document_url(&server, "A long way");
    for range in ["24029-", "30000-30010"] {
        run_fetch_url(["-r", range, &url]).assert_exit(33);
    }
}

/// The URL of a hit must not lead to a local file of the user.
#[test]
fn hit_of_type_url_is_shown_only_for_safe_schemes_without_login() {
    let hit = |headline: &str| WaisDocument::new(headline, "x", "URL", "");
    let headlines =
        ["http://h.example/x", "file:///etc/passwd", "javascript:alert(1)", "http://u:p@h.example/"];
    let database = headlines.iter().fold(WaisDatabase::new("t"), |all, headline| all.document(hit(headline)));
    let server = WaisServer::start(WaisConfig::new().database(database)).expect("start server");
    let result = run_fetch_url(["--format", "json", &server.url("t?x")]);
    let urls: Vec<Value> =
        parse_json_lines(result.assert_exit(0)).iter().map(|entry| entry["url"].clone()).collect();
    assert_eq!(urls, [Value::from("http://h.example/x"), Value::Null, Value::Null, Value::Null]);
}

/// A server with `count` documents that contain the word `many`.
fn server_with_hits(count: usize, headline: &str) -> WaisServer {
    let documents = (0..count).map(|number| {
        WaisDocument::new(format!("{headline} {number}"), "many", "TEXT", "many\n").date("940131")
    });
    let database = documents.fold(WaisDatabase::new("t"), WaisDatabase::document);
    WaisServer::start(WaisConfig::new().database(database)).expect("start server")
}

#[test]
fn search_with_more_than_200_hits_lists_all_of_them() {
    let server = server_with_hits(260, "Hit");
    let url = server.url("t?many");
    let result = run_fetch_url(["--format", "json", "--require-complete", &url]);
    let entries = parse_json_lines(result.assert_exit(0));
    let names: std::collections::HashSet<_> = entries.iter().map(|entry| entry["name"].to_string()).collect();
    assert_eq!((entries.len(), names.len()), (260, 260));
    assert_eq!((server.requests().len(), server.connections()), (2, 1));
    assert_eq!(entries[0]["modified"], 759_974_400, "1994-01-31");
    run_fetch_url(["--max-entries", "200", &url]).assert_exit(63);
}

/// freeWAIS sends an empty message if the response is longer than its buffer of 100,000 bytes.
#[test]
fn search_with_truncated_result_is_assumed_complete() {
    let server = server_with_hits(1000, &"A headline that fills the buffer of the server ".repeat(3));
    let url = server.url("t?many");
    let result = run_fetch_url(["--format", "json", &url]);
    let count = parse_json_lines(result.assert_exit(0)).len();
    assert!((200..1000).contains(&count), "{count}");
    result.assert_stderr_contains("fewer documents than requested");
    run_fetch_url(["--require-complete", &url]).assert_exit(18);
}

#[test]
fn empty_answer_without_search_words_exits_78() {
    let database = WaisDatabase::new("t").document(WaisDocument::new("x", "x", "TEXT", "x\n"));
    let config = WaisConfig::new().database(database).always(WaisAction::NoInformation);
    let server = WaisServer::start(config).expect("start server");
    run_fetch_url([&server.url("t")]).assert_exit(78);
    run_fetch_url([&server.url("t?word")]).assert_exit(0);
}

#[test]
fn diagnostic_together_with_documents_is_shown() {
    let complaint = WaisDiagnostic::new(*b"T1", "Only the first disc was searched");
    let server = WaisServer::start(wais_config().always(WaisAction::AppendDiagnostic(complaint)));
    let server = server.expect("start server");
    for url in [server.url("t?gopher"), document_url(&server, "A picture")] {
        let result = run_fetch_url(["-I", &url]);
        result.assert_exit(0).assert_stderr_contains("T1 Only the first disc was searched");
    }
    let url = server.url("t?gopher");
    run_fetch_url([&url]).assert_exit(0).assert_stderr_contains("may be incomplete");
    run_fetch_url(["--require-complete", &url]).assert_exit(18);
}

/// The diagnostic is shown once, even if every response has it.
#[test]
fn diagnostic_together_with_a_later_response_is_shown_once() {
    let complaint = || WaisAction::AppendDiagnostic(WaisDiagnostic::new(*b"T1", "One disc is missing"));
    let dir = temp_dir();
    for config in [wais_config().nth(2, complaint()), wais_config().nth(1, complaint()).nth(2, complaint())] {
        let server = WaisServer::start(config).expect("start server");
        let url = document_url(&server, "A long way");
        let result = run_fetch_url_in(dir.path(), &["-o", "here", &url]);
        assert_eq!(result.assert_exit(0).stderr.matches("One disc is missing").count(), 1, "{result:?}");
        assert_eq!(fs::read(dir.path().join("here")).expect("read file"), long_document());
    }
    let documents = (0..260).map(|number| WaisDocument::new(number.to_string(), "many", "TEXT", "many\n"));
    let database = documents.fold(WaisDatabase::new("t"), WaisDatabase::document);
    let config = WaisConfig::new().database(database).nth(2, complaint());
    for arguments in [&["--format", "json"][..], &["-I"]] {
        let server = WaisServer::start(config.clone()).expect("start server");
        let url = server.url("t?many");
        let result = run_fetch_url(arguments.iter().copied().chain([url.as_str()]));
        assert_eq!(result.assert_exit(0).stderr.matches("One disc is missing").count(), 1, "{result:?}");
    }
}
