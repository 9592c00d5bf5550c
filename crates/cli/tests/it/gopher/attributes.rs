//! Gopher+ item attributes (docs/spec/semantics.md §4): their output as text, JSON and raw bytes, the selection of
//! attribute blocks by the server or by fetch-url, and the alternative views of an item.

use super::{MODIFIED, fetch_path, parse_json_lines, start_server};
use crate::support::{BINARY, RunResult, run_fetch_url};
use fetch_url_tests::{
    GopherAction, GopherAsk, GopherConfig, GopherForm, GopherItem, GopherLength, GopherTrigger, Terminal,
};
use serde_json::{Value, json};

/// The three framings of a Gopher+ answer: terminating dot, end of the connection, byte count.
const FRAMINGS: [GopherLength; 3] = [GopherLength::Dot, GopherLength::End, GopherLength::Known];

/// An item with all standard attribute blocks, two views, a form and a block of an unknown name.
fn item_with_all_attributes() -> GopherItem {
    let form = GopherForm::new().ask(GopherAsk::Note, "About you").ask(GopherAsk::Ask, "Name?\tnobody");
    let form = form.ask(GopherAsk::AskP, "Word").ask(GopherAsk::Choose, "Colour\tred\tgreen");
    let item =
        GopherItem::text("/d", "x".repeat(3000)).name("A thing").media_type("text/plain", Some("En_US"));
    let item = item.view("image/gif", None, "G".repeat(2048)).modified("19941201123456");
    item.abstract_text(&["What it is,", "in two lines."]).block("SMELL", &["good"]).form(form)
}

/// A Gopher+ server with the item above, an item with fewer attributes, and a menu of both.
fn attribute_config() -> GopherConfig {
    let other = GopherItem::binary("/b", "octets").abstract_text(&["Octets."]);
    GopherConfig::new()
        .plus()
        .item(item_with_all_attributes())
        .item(other)
        .item(GopherItem::menu("/m", &["/d", "/b"]))
}

#[test]
fn attributes_as_text_show_every_block() {
    for length in FRAMINGS {
        let result =
            fetch_path(&start_server(attribute_config().attributes_length(length)), "0/d%09%09!", "");
        let text = result.assert_exit(0).stdout_text();
        for words in [
            "A thing",
            "/0/d%09%09?\n",
            "1994-12-01 12:34",
            "Test Admin <admin@example.org>",
            "text/plain En_US: <2k>",
            "image/gif: <2k>",
            "What it is,\n",
            "in two lines.\n",
            "SMELL\n",
            "good\n",
            "About you\n",
            "1. Name?",
            "nobody",
            "2. Word",
            "3. Colour",
            "red, green",
        ] {
            assert!(text.contains(words), "{length:?}: no {words:?} in {text}");
        }
        assert!(!text.contains("4. ") && text.lines().all(|line| line.len() <= 80), "{length:?}: {text}");
        assert_eq!(result.stderr, "", "{length:?}: unexpected message");
    }
}

#[test]
fn attributes_as_json_hold_every_block() {
    for length in FRAMINGS {
        let server = start_server(attribute_config().attributes_length(length));
        let all = parse_json_lines(fetch_path(&server, "0/d%09%09!", "--format json").assert_exit(0));
        let entry = all.first().expect("one entry");
        assert_eq!((all.len(), &entry["modified"]), (1, &json!(MODIFIED)), "{entry}");
        assert_eq!(
            (&entry["name"], &entry["type"], &entry["selector"]),
            (&json!("A thing"), &json!("0"), &json!("/d"))
        );
        assert_eq!((&entry["plus"], &entry["port"]), (&json!(true), &json!(server.addr().port())));
        let attributes = &entry["attributes"];
        let views = json!([
            { "type": "text/plain", "language": "En_US", "size": 2048 },
            { "type": "image/gif", "language": null, "size": 2048 },
        ]);
        assert_eq!(attributes["VIEWS"], views);
        assert_eq!(
            attributes["ADMIN"],
            json!({ "admin": "Test Admin <admin@example.org>", "modified": MODIFIED })
        );
        assert_eq!(
            (&attributes["ABSTRACT"], &attributes["SMELL"]),
            (&json!("What it is,\nin two lines."), &json!("good"))
        );
        let kinds: Vec<&str> = attributes["ASK"]
            .as_array()
            .expect("ASK is an array")
            .iter()
            .filter_map(|q| q["kind"].as_str())
            .collect();
        assert_eq!(kinds, ["Note", "Ask", "AskP", "Choose"]);
        assert_eq!(
            attributes["ASK"][3],
            json!({ "kind": "Choose", "prompt": "Colour", "defaults": ["red", "green"] })
        );
    }
}

#[test]
fn attributes_as_raw_are_the_received_bytes() {
    let bytes = "+-2\r\n+INFO: 0a\t/a\th\t70\t+\r\n+SMELL: \x1b[2J\r\n good\r\n\r\nbad\r\n";
    let result =
        fetch_path(&start_server(GopherConfig::new().answer(bytes)), "0/a%09%09!", "-s --format raw");
    assert_eq!(
        result.assert_exit(0).stdout_text(),
        bytes.strip_prefix("+-2\r\n").expect("answer starts with the Gopher+ header")
    );
}

/// The Gopher+ suffix `$` requests the attributes of all items of a menu.
#[test]
fn dollar_request_lists_attributes_of_all_menu_items() {
    let server = start_server(attribute_config());
    let all = parse_json_lines(fetch_path(&server, "1/m%09%09$", "--format json").assert_exit(0));
    let names: Vec<&str> = all.iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(names, ["A thing", "b"]);
    assert_eq!((&all[0]["modified"], &all[1]["modified"]), (&json!(MODIFIED), &Value::Null));
    assert_eq!(all[1]["attributes"]["ABSTRACT"], "Octets.");
    let text = fetch_path(&server, "1/m%09%09$", "").assert_exit(0).stdout_text();
    assert!(text.contains("   1  text      A thing\n") && text.contains("   2  binary    b\n"), "{text}");
    // The URL of each entry fetches the item itself.
    let url = all[1]["url"].as_str().expect("URL");
    assert_eq!(run_fetch_url([url]).assert_exit(0).stdout_text(), "octets");
}

/// Returns the names of the attribute blocks of each entry.
fn block_names(result: &RunResult) -> Vec<Vec<String>> {
    let names = |entry: &Value| {
        entry["attributes"].as_object().expect("attributes is an object").keys().cloned().collect()
    };
    parse_json_lines(result).iter().map(names).collect()
}

/// A server may ignore or reject the block names in a request; fetch-url then selects the blocks itself.
#[test]
fn requested_block_names_select_the_output_on_every_server() {
    let has_block_names = |line: &[u8]| {
        line.contains(&b'!') && !line.ends_with(b"!") || line.contains(&b'$') && !line.ends_with(b"$")
    };
    let plain = GopherAction::Answer(b"what do you mean?\r\n".to_vec());
    let configs = [
        ("selects blocks", attribute_config()),
        ("sends all blocks", attribute_config().ignores_attribute_filters()),
        ("rejects block names", attribute_config().on(GopherTrigger::Matches(has_block_names), plain)),
    ];
    for (kind, config) in configs {
        let server = start_server(config);
        for (path, expected) in [
            ("0/d%09%09!+ABSTRACT", &[&["ABSTRACT"][..]][..]),
            ("0/d%09%09!+abstract", &[&["ABSTRACT"]]),
            ("0/d%09%09!+ABSTRACT+SMELL", &[&["ABSTRACT", "SMELL"]]),
            ("0/d%09%09!+NOTHING", &[&[]]),
            ("1/m%09%09$+VIEWS", &[&["VIEWS"], &["VIEWS"]]),
            ("1/m%09%09$+SMELL", &[&["SMELL"], &[]]),
        ] {
            let result = fetch_path(&server, path, "-s --format json");
            assert_eq!(
                block_names(result.assert_exit(0)),
                expected,
                "{kind} {path}: {}",
                result.stdout_text()
            );
            let text = fetch_path(&server, path, "-s").assert_exit(0).stdout_text();
            assert_eq!(
                text.contains("in two lines."),
                expected[0].contains(&"ABSTRACT"),
                "{kind} {path}: {text}"
            );
            assert!(!text.contains("admin@example.org") && text.contains("A thing"), "{kind} {path}: {text}");
        }
    }
}

/// A server without Gopher+ sends the object instead of its attributes; a note tells the user.
#[test]
fn server_without_gopher_plus_delivers_object_with_note() {
    let server = start_server(
        GopherConfig::new().item(GopherItem::text("/a", "a text\r\n")).item(GopherItem::menu("/m", &["/a"])),
    );
    for path in ["0/a%09%09!", "0/a%09%09!+ABSTRACT", "0/a%09%09?", "0/a%09%09+"] {
        let result = fetch_path(&server, path, "");
        assert_eq!(result.assert_exit(0).stdout_text(), "a text\r\n", "{path}");
        assert_eq!(result.stderr.matches("fetch-url: note: ").count(), 1, "{path}: {}", result.stderr);
        result.assert_stderr_contains("Gopher+");
        assert_eq!(fetch_path(&server, path, "-s").stderr, "", "{path}");
    }
    let result = fetch_path(&server, "1/m%09%09$", "");
    assert!(
        result.assert_exit(0).assert_stderr_contains("note: ").stdout_text().contains("text      a\n"),
        "{}",
        result.stdout_text()
    );
}

/// Malformed blocks of real servers: text on the line of the name, no colon, lines without the leading space,
/// no `+INFO` block, no terminator.
#[test]
fn malformed_attribute_blocks_are_read_leniently() {
    let info = "+INFO: 0a\t/a\th\t70\t+\r\n";
    for (blocks, name, expected) in [
        ("+ABSTRACT: on its line\r\n", "ABSTRACT", "on its line"),
        ("+ABSTRACT\r\n no colon\r\n", "ABSTRACT", "no colon"),
        ("+ABSTRACT:\r\nno blank\r\n", "ABSTRACT", "no blank"),
        ("+ABSTRACT:\r\n no end", "ABSTRACT", "no end"),
        ("+ABSTRACT:\n LF alone\n", "ABSTRACT", "LF alone"),
        ("+ABSTRACT:\r\n  two blanks\r\n", "ABSTRACT", " two blanks"),
        ("+ABSTRACT:\r\n a\r\n \r\n b\r\n", "ABSTRACT", "a\n\nb"),
        ("+X-Y_z.1:\r\n mine\r\n", "X-Y_z.1", "mine"),
        ("+ABSTRACT:\r\n .\r\n +no: head\r\n", "ABSTRACT", ".\n+no: head"),
    ] {
        let server = start_server(GopherConfig::new().answer(format!("+-2\r\n{info}{blocks}")));
        let all = parse_json_lines(fetch_path(&server, "0/a%09%09!", "-s --format json").assert_exit(0));
        assert_eq!((all.len(), &all[0]["attributes"][name]), (1, &json!(expected)), "{blocks:?}: {all:?}");
    }
    // Blocks before the first +INFO belong to no known item, but they are shown.
    let server = start_server(GopherConfig::new().answer("+-1\r\n+ABSTRACT:\r\n whose?\r\n.\r\n"));
    assert!(fetch_path(&server, "0/a%09%09!", "").assert_exit(0).stdout_text().contains("whose?"));
}

#[test]
fn view_sizes_and_modification_dates_are_parsed_or_null() {
    let first_entry = |block: &str| {
        let bytes = format!("+-1\r\n+INFO: 0a\t/a\th\t70\r\n{block}\r\n.\r\n");
        let all = parse_json_lines(
            fetch_path(&start_server(GopherConfig::new().answer(bytes)), "0/a%09%09!", "--format json")
                .assert_exit(0),
        );
        all.into_iter().next().expect("one entry")
    };
    for (view, expected) in [
        ("text/plain: <10k>", json!(["text/plain", null, 10_240])),
        ("text/plain De_DE: <.5k>", json!(["text/plain", "De_DE", 512])),
        ("Text En_US: <1234b>", json!(["Text", "En_US", 1234])),
        ("image/gif: <2M>", json!(["image/gif", null, 2_097_152])),
        ("image/gif: <77>", json!(["image/gif", null, 77])),
        ("image/gif", json!(["image/gif", null, null])),
        ("image/gif: <big>", json!(["image/gif", null, null])),
        ("image/gif: <99999999999999999999k>", json!(["image/gif", null, null])),
        ("text/plain; charset=UTF-8 En_US: <1k>", json!(["text/plain; charset=UTF-8", "En_US", 1024])),
    ] {
        let entry = first_entry(&format!("+VIEWS:\r\n {view}"));
        let attributes = &entry["attributes"]["VIEWS"][0];
        assert_eq!(
            json!([attributes["type"], attributes["language"], attributes["size"]]),
            expected,
            "{view}"
        );
    }
    for (date, expected) in [
        ("Thu Dec  1 12:34:56 1994 <19941201123456>", json!(MODIFIED)),
        ("<19700101000000>", json!(0)),
        ("<19941301000000>", Value::Null),
        ("<1994>", Value::Null),
        ("19941201123456", Value::Null),
        ("<99999999999999999999>", Value::Null),
    ] {
        let entry = first_entry(&format!("+ADMIN:\r\n Mod-Date: {date}"));
        assert_eq!(
            (&entry["modified"], &entry["attributes"]["ADMIN"]["modified"]),
            (&expected, &expected),
            "{date}"
        );
    }
}

#[test]
fn view_option_and_url_request_the_named_view() {
    let item = GopherItem::text("/v", "plain").view("text/plain", Some("De_DE"), "deutsch");
    let item = item.view("image/gif", None, "GIF\r\n.\r\n..\r\n");
    for length in [GopherLength::Known, GopherLength::End] {
        let server = start_server(GopherConfig::new().plus().item(item.clone().length(length)));
        for (view, line, body) in [
            ("text/plain", "/v\t+text/plain", "plain"),
            ("text/plain,De_DE", "/v\t+text/plain De_DE", "deutsch"),
            ("image/gif", "/v\t+image/gif", "GIF\r\n.\r\n..\r\n"),
        ] {
            assert_eq!(
                fetch_path(&server, "0/v", &format!("--view {view}")).assert_exit(0).stdout_text(),
                body,
                "{view}"
            );
            assert_eq!(
                server.received_text().last().map(String::as_str),
                Some(format!("{line}\r\n").as_str())
            );
            // A view can also be named in the URL; `--view` takes precedence.
            let url = format!("0/v%09%09+{}", view.replace(',', "%20"));
            assert_eq!(fetch_path(&server, &url, "").assert_exit(0).stdout_text(), body, "{url}");
            assert_eq!(
                fetch_path(&server, "0/v%09%09+image/png", &format!("--view {view}"))
                    .assert_exit(0)
                    .stdout_text(),
                body
            );
        }
        fetch_path(&server, "0/v", "--view image/png").assert_exit(78).assert_stderr_contains("no such view");
    }
    // In a search request the view follows the search words.
    let server = start_server(
        GopherConfig::new().plus().item(GopherItem::search("/s", |_| b"0x\t\th\t70\r\n".to_vec())),
    );
    fetch_path(&server, "7/s%09w", "--view application/gopher+-menu").assert_exit(0);
    assert_eq!(server.received_text(), ["/s\tw\t+application/gopher+-menu\r\n"]);
}

/// pygopherd and UMN gopherd send the default view instead of an unknown one.
#[test]
fn view_that_the_server_replaces_gets_a_note() {
    let item = GopherItem::text("/v", "plain").view("text/html", Some("De_DE"), "<p>");
    let start = || {
        let config = GopherConfig::new().plus().item(item.clone());
        let replaces = |request: &[u8]| request.windows(3).any(|part| part == b"\t+i");
        start_server(
            config.on(GopherTrigger::Matches(replaces), GopherAction::Answer(b"+-2\r\nplain".to_vec())),
        )
    };
    let result = fetch_path(&start(), "0/v", "--view image/png");
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "plain"), "{}", result.stderr);
    assert!(
        result.stderr.contains("may have sent another view") && result.stderr.contains("text/html De_DE"),
        "{}",
        result.stderr
    );
    for view in ["text/html", "TEXT/HTML,De_DE"] {
        let result = fetch_path(&start(), "0/v", &format!("--view {view}"));
        result.assert_exit(0);
        assert!(!result.stderr.contains("another view"), "{view}: {}", result.stderr);
    }
}

/// A menu in a view other than `application/gopher+-menu` is not parsed as a menu. UMN gopherd sends HTML, for
/// example.
#[test]
fn menu_in_html_view_is_delivered_unchanged() {
    let html = "<p>not\r\n\r\na menu</p>\r\n";
    let item = GopherItem::menu("/m", &["/m"]).view("text/html", None, html).length(GopherLength::Known);
    let server = start_server(GopherConfig::new().plus().item(item));
    assert_eq!(fetch_path(&server, "1/m", "--view text/html").assert_exit(0).stdout_text(), html);
    assert_eq!(fetch_path(&server, "1/m%09%09+text/html", "").assert_exit(0).stdout_text(), html);
    let text = fetch_path(&server, "1/m", "--view application/gopher+-menu").assert_exit(0).stdout_text();
    assert!(text.contains("   1  menu      m\n"), "{text}");
}

/// A server without Gopher+ has one view only; a note tells the user that it was delivered.
#[test]
fn view_option_on_server_without_gopher_plus_adds_note() {
    let server = start_server(GopherConfig::new().item(GopherItem::text("/a", "a text\r\n")));
    let result = fetch_path(&server, "0/a", "--view text/html,De_DE");
    assert_eq!(
        result
            .assert_exit(0)
            .assert_stderr_contains("note: ")
            .assert_stderr_contains("Gopher+")
            .stdout_text(),
        "a text\r\n"
    );
    assert_eq!(fetch_path(&server, "0/a", "-s --view text/html,De_DE").stderr, "");
}

/// Every text of a server is sanitised, in every output format.
#[test]
fn hostile_attributes_send_no_controls_to_the_terminal() {
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}\u{8}";
    let block = |name: &str| {
        format!("+{name}:\r\n Admin: {evil}\r\n text/plain{evil}: <1k>\r\n AskP: {evil}\t{evil}\r\n")
    };
    let blocks = ["ADMIN", "VIEWS", "ABSTRACT", "ASK", "X"].map(block).concat();
    let bytes = format!("+-2\r\n+INFO: 0{evil}\t/{evil}\th\t70\r\n{blocks}+{evil}:\r\n x\r\n");
    let server = start_server(GopherConfig::new().answer(bytes));
    for words in [&["--format", "text"][..], &["--format", "json"], &["--format", "raw"], &["-I"], &["-v"]] {
        let url = server.url("0/a%09%09!");
        let arguments: Vec<&str> = [words, &["--retry", "0", &url]].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 80).expect("start terminal");
        assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
        let screen = terminal.screen();
        let is_unsafe_control = |character: char| {
            character.is_control() && !"\r\n\t".contains(character) || character == '\u{202e}'
        };
        assert!(!screen.contains(is_unsafe_control) && screen.contains("Admin"), "{words:?}: {screen:?}");
    }
}
