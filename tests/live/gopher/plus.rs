//! Gopher+: the responses of pygopherd, and requests to a server without Gopher+.

use super::completeness::AssertOutput as _;
use super::menus::{field, links, named, value};
use crate::live::gopher_server::{GOPHERNICUS, PYGOPHERD};
use crate::live::tree::{BIG, MODIFIED, files};
use crate::live::work_dir::{WorkDir, fetch, key};
use fetch_url_tests::sha256;

/// With an announced length, an object is proven to be complete, and dots are not decoded.
#[test]
#[ignore = "needs the servers of docker/"]
fn announced_length_proves_the_object_complete() {
    for (path, bytes) in files() {
        for gtype in ["0", "9"] {
            let url = PYGOPHERD.url(&format!("/{gtype}{path}%09%09+"));
            fetch(&["--require-complete", &url]).assert_success(&bytes);
        }
    }
    for name in ["none-doubled", "only", "last", "two-last", "all-doubled", "no-line-end", "large"] {
        let bytes = PYGOPHERD.answer(format!("/dots/{name}.txt"));
        fetch(&["--require-complete", &PYGOPHERD.url(&format!("/0/dots/{name}.txt%09%09+"))])
            .assert_success(&bytes);
    }
    let big = fetch(&["--require-complete", &PYGOPHERD.url("/9/big.bin%09%09+")]).assert_exit(0).out;
    assert_eq!(sha256(&big), BIG);
    let dir = WorkDir::new();
    dir.fetch(&["-O", &PYGOPHERD.url("/0/pub/README%09%09+")]).assert_success("");
    dir.assert_entries(&["README"]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn gopher_plus_menu_equals_the_plain_menu() {
    for path in ["/1/", "/1/pub", "/1/odd", "/1/cgi-bin/ten-thousand", "/1/empty-dir"] {
        let plain = fetch(&["--format", "json", &PYGOPHERD.url(path)]).assert_exit(0).out;
        fetch(&["--format", "json", &PYGOPHERD.url(&format!("{path}%09%09+"))])
            .assert_output_with_note(&plain);
        // Raw output contains the menu without the Gopher+ status line.
        let raw = fetch(&["--format", "raw", &PYGOPHERD.url(path)]).assert_exit(0).out;
        fetch(&["--format", "raw", &PYGOPHERD.url(&format!("{path}%09%09+"))]).assert_output_with_note(&raw);
    }
    let search = fetch(&["--format", "json", &PYGOPHERD.url("/7/cgi-bin/search%09one%20two%09+")])
        .assert_exit(0)
        .text();
    assert_eq!(links(&search).len(), 2, "{search}");
}

/// The server sends status `--2` for both kinds of error; the text shows which one it is.
#[test]
#[ignore = "needs the servers of docker/"]
fn gopher_plus_error_exits_78_or_9() {
    for end in ["+", "!", "$", "+text/plain", "!+ABSTRACT"] {
        for gtype in ["0", "1", "9"] {
            let dir = WorkDir::new();
            let url = PYGOPHERD.url(&format!("/{gtype}/{}%09%09{end}", key()));
            dir.fetch(&["-o", "here", &url]).assert_exit(78).assert_stderr_contains("does not exist");
            dir.assert_entries(&[]);
        }
    }
    let result = fetch(&[&PYGOPHERD.url("/1/noperm-dir%09%09+")]).assert_exit(9).assert_stdout("");
    result.assert_stderr_contains("Permission denied").assert_stderr_omits("--2");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn item_attributes_are_printed_in_every_format() {
    let url = PYGOPHERD.url("/0/plus/doc.txt%09%09!");
    let text = fetch(&[&url]).assert_exit(0).text();
    for part in [
        "ABSTRACT",
        "What the document is about,",
        "in two lines.",
        "KEYWORDS",
        "gopher plus test",
        "Admin of the tests <admin@test.invalid>",
        "VIEWS",
        "text/plain",
        "doc.txt",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let json = fetch(&["--format", "json", &url]).assert_exit(0).text();
    assert_eq!(json.lines().count(), 1, "{json}");
    assert_eq!(field(&json, "ABSTRACT").as_deref(), Some("What the document is about,\nin two lines."));
    assert_eq!(field(&json, "KEYWORDS").as_deref(), Some("gopher plus test"));
    assert_eq!(field(&json, "selector").as_deref(), Some("/plus/doc.txt"));
    assert!(json.contains(&format!("\"modified\":{MODIFIED}")), "{json}");
    assert!(json.contains("text/plain"), "{json}");
    let raw = fetch(&["--format", "raw", &url]).assert_exit(0).out;
    let all = PYGOPHERD.answer("/plus/doc.txt\t!");
    assert_eq!(
        raw,
        all.strip_prefix(b"+-2\r\n").expect("the status line"),
        "the blocks, without the status line"
    );
}

/// The server treats the attribute names as search words, so fetch-url selects the attributes.
#[test]
#[ignore = "needs the servers of docker/"]
fn requested_attribute_blocks_are_selected() {
    for end in ["!+ABSTRACT", "!+abstract", "!+ABSTRACT+SMELL", "!+ABSTRACT%20+SMELL"] {
        let text = fetch(&[&PYGOPHERD.url(&format!("/0/plus/doc.txt%09%09{end}"))]).assert_exit(0).text();
        assert!(text.contains("What the document is about,"), "{end}: {text}");
        assert!(!text.contains("KEYWORDS") && !text.contains("Admin of the tests"), "{end}: {text}");
        assert!(!text.contains("A document with attributes."), "{end}: {text}");
    }
    let json =
        fetch(&["--format", "json", &PYGOPHERD.url("/0/plus/doc.txt%09%09!+KEYWORDS")]).assert_exit(0).text();
    assert_eq!(field(&json, "KEYWORDS").as_deref(), Some("gopher plus test"));
    assert_eq!(field(&json, "ABSTRACT"), None, "{json}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn menu_attributes_give_one_entry_per_item() {
    let url = PYGOPHERD.url("/1/plus%09%09$");
    let json = fetch(&["--format", "json", &url]).assert_exit(0).text();
    let count = PYGOPHERD.answer("/plus\t$").windows(6).filter(|part| part == b"+INFO:").count();
    assert_eq!(json.lines().count(), count, "{json}");
    let document = named(&json, "A document by a name of its own");
    assert_eq!(field(document, "KEYWORDS").as_deref(), Some("gopher plus test"));
    assert_eq!(value(document, "plus"), "true");
    fetch(&[&field(document, "url").expect("a URL")])
        .assert_output_with_note("A document with attributes.\n");
    assert!(named(&json, "ask").contains("Your name?"), "{json}");
    fetch(&[&field(named(&json, "pic"), "url").expect("a URL")])
        .assert_output_with_note(PYGOPHERD.answer("/dot.gif"));
    let text = fetch(&[&url]).assert_exit(0).text();
    for part in ["A document by a name of its own", "in two lines.", "image/gif", "Your name?"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let text = fetch(&[&PYGOPHERD.url("/1/plus%09%09$+VIEWS")]).assert_exit(0).text();
    assert!(text.contains("image/gif"), "{text}");
    assert!(!text.contains("Your name?") && !text.contains("gopher plus test"), "{text}");
    let json = fetch(&["--format", "json", &PYGOPHERD.url("/1/plus%09%09$+VIEWS")]).assert_exit(0).text();
    assert!(!json.contains("KEYWORDS") && json.contains("image/gif"), "{json}");
}

/// The server returns its only view for every requested view.
#[test]
#[ignore = "needs the servers of docker/"]
fn view_option_sends_the_view() {
    let watch = PYGOPHERD.watch();
    let url = PYGOPHERD.url("/0/plus/doc.txt");
    for (options, sent) in [
        (["--view", "text/plain"], "/plus/doc.txt\\x09+text/plain"),
        (["--view", "text/plain,En_US"], "/plus/doc.txt\\x09+text/plain En_US"),
    ] {
        fetch(&[&options[..], &["--require-complete", &url]].concat())
            .assert_output_with_note("A document with attributes.\n");
        assert!(watch.lines("/plus/doc.txt", 1).contains(&sent.to_owned()) || watch.line(sent) == sent);
    }
    fetch(&[&PYGOPHERD.url("/0/plus/doc.txt%09%09+text/plain%20En_US")])
        .assert_output_with_note("A document with attributes.\n");
    fetch(&["--view", "text/plain\r\nx", &url]).assert_exit(93).assert_stdout("");
}

/// A file has no items: the server sends the file itself, which is not parsed as attributes.
#[test]
#[ignore = "needs the servers of docker/"]
fn menu_attributes_of_a_file_exit_0_or_8() {
    let result = fetch(&[&PYGOPHERD.url("/0/about.txt%09%09$")]);
    assert!([0, 8].contains(&result.exit), "{} {}", result.exit, result.err);
}

/// gophernicus sends the object without a status line: it is delivered with a note.
#[test]
#[ignore = "needs the servers of docker/"]
fn server_without_gopher_plus_delivers_the_object_with_a_note() {
    let document = GOPHERNICUS.answer("/plus/doc.txt");
    for end in ["+", "!", "!+ABSTRACT", "$", "+text/plain", "+application/postscript%20De_DE", "?"] {
        let url = GOPHERNICUS.url(&format!("/0/plus/doc.txt%09%09{end}"));
        let result = fetch(&[&url]).assert_exit(0).assert_stdout(&document);
        assert!(result.err.starts_with("fetch-url: note:"), "{end}: {}", result.err);
        assert!(result.err.contains("does not support Gopher+"), "{end}: {}", result.err);
    }
    fetch(&["--view", "text/plain", &GOPHERNICUS.url("/0/plus/doc.txt")])
        .assert_exit(0)
        .assert_stdout(&document);
    fetch(&[&GOPHERNICUS.url("/9/dot.gif%09%09+")])
        .assert_exit(0)
        .assert_stdout(GOPHERNICUS.answer("/dot.gif"));
    let big = fetch(&[&GOPHERNICUS.url("/9/big.bin%09%09+")]).assert_exit(0).out;
    assert_eq!(sha256(&big), BIG);
    // The final dot of a text is detected as in plain Gopher.
    let last = GOPHERNICUS.as_text(b"first\nlast\n");
    fetch(&[&GOPHERNICUS.url("/0/dots/last.txt%09%09+")]).assert_exit(0).assert_stdout(&last);
    let plain = fetch(&["--format", "json", &GOPHERNICUS.url("/1/pub")]).assert_exit(0).out;
    for end in ["+", "$", "!"] {
        fetch(&["--format", "json", &GOPHERNICUS.url(&format!("/1/pub%09%09{end}"))])
            .assert_exit(0)
            .assert_stdout(&plain);
    }
    // An item of a menu without Gopher+ is fetched without a note.
    fetch(&[&GOPHERNICUS.url("/0/plus/doc.txt")]).assert_output_with_note(&document);
}
