//! Gopher menus (docs/spec/semantics.md §4; docs/spec/faults.md, rows 68, 76 and 84): as text in 80 columns, as JSON
//! and as raw bytes. Every line is shown, every URL fetches its item, and hostile menus are sanitised.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{fetch_path, parse_json_lines, server_sending, start_server};
use crate::support::virtual_terminal::VirtualTerminal;
use crate::support::{BINARY, fetch_url_command, run_fetch_url};
use fetch_url_tests::{Ending, GopherConfig, GopherItem, GopherServer, ServerCert, Terminal};
use serde_json::{Value, json};

/// Returns the URL of each entry of a menu with these bytes.
fn menu_urls(bytes: impl AsRef<[u8]>) -> Vec<Option<String>> {
    let entries =
        parse_json_lines(fetch_path(&server_sending(bytes), "1", "-s --format json").assert_exit(0));
    entries.iter().map(|entry| entry["url"].as_str().map(str::to_owned)).collect()
}

/// A menu with one item of each kind.
const MIXED_MENU: &str = "iWelcome to it\tfake\t(NULL)\t0\r\n\
    0About us\t/about.txt\th.example\t70\r\n\
    i\t\terror.host\t1\r\n\
    1More\t/more\th.example\t7070\t+\r\n\
    7Find\t/find\th.example\t70\r\n\
    3Not here\t\terror.host\t1\r\n\
    8Log in\tme\th.example\t23\r\n\
    0A form\t/ask\th.example\t70\t?\r\n\
    hA page\tURL:https://www.example/a?b\th.example\t70\r\n.\r\n";

#[test]
fn menu_as_text_lists_numbered_items_with_urls() {
    let text = fetch_path(&server_sending(MIXED_MENU), "1", "").assert_exit(0).stdout_text();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let expected = [
        "Welcome to it",
        "1  text      About us",
        "gopher://h.example/0/about.txt",
        "",
        "2  menu      More",
        "gopher://h.example:7070/1/more%09%09+",
        "3  search    Find",
        "gopher://h.example/7/find",
        "error     Not here",
        "4  telnet    Log in",
        "gopher://h.example:23/8me",
        "5  text      A form",
        "gopher://h.example/0/ask%09%09?",
        "6  html      A page",
        "https://www.example/a?b",
    ];
    assert_eq!(lines, expected, "{text}");
    assert_eq!(
        fetch_path(&server_sending(MIXED_MENU), "7/s%09w", "--format text").assert_exit(0).stdout_text(),
        text,
        "an answer to a search"
    );
}

#[test]
fn menu_as_json_lists_all_fields_of_every_line() {
    let entries =
        parse_json_lines(fetch_path(&server_sending(MIXED_MENU), "1", "--format json").assert_exit(0));
    assert_eq!(entries.len(), MIXED_MENU.lines().count() - 1);
    let members = |entry: &Value| {
        let names = ["type", "name", "selector", "host", "port", "url", "plus"];
        Value::Array(names.iter().map(|name| entry[*name].clone()).collect())
    };
    let expected = [
        json!(["i", "Welcome to it", "fake", "(NULL)", 0, null, false]),
        json!(["0", "About us", "/about.txt", "h.example", 70, "gopher://h.example/0/about.txt", false]),
        json!(["i", "", "", "error.host", 1, null, false]),
        json!(["1", "More", "/more", "h.example", 7070, "gopher://h.example:7070/1/more%09%09+", true]),
        json!(["7", "Find", "/find", "h.example", 70, "gopher://h.example/7/find", false]),
        json!(["3", "Not here", "", "error.host", 1, null, false]),
        json!(["8", "Log in", "me", "h.example", 23, "gopher://h.example:23/8me", false]),
        json!(["0", "A form", "/ask", "h.example", 70, "gopher://h.example/0/ask%09%09?", true]),
        json!([
            "h",
            "A page",
            "URL:https://www.example/a?b",
            "h.example",
            70,
            "https://www.example/a?b",
            false
        ]),
    ];
    for (entry, expected) in entries.iter().zip(expected) {
        assert_eq!(members(entry), expected);
    }
    assert!(entries.iter().all(|entry| entry.get("note").is_none_or(Value::is_null)), "{entries:?}");
}

#[test]
fn menu_as_raw_is_the_received_bytes() {
    let hostile: &[u8] = b"0a\x1b[2J\xff\t/a\th\t70\r\nno line\n.\r\n0b\t\t\t\r\n.\r\n";
    for bytes in [MIXED_MENU.as_bytes(), hostile, b"", b".\r\n", b"0a\t/a\th\t70"] {
        let result = fetch_path(&server_sending(bytes), "1", "-s --format raw");
        assert!(result.assert_exit(0).stdout == bytes, "{}", result.stdout.escape_ascii());
    }
}

#[test]
fn empty_menu_prints_nothing() {
    for bytes in ["", ".\r\n"] {
        for options in ["", "--format json"] {
            let result = fetch_path(&server_sending(bytes), "1", options);
            assert!(
                result.exit == 0 && result.stdout.is_empty() || result.exit == 52,
                "{bytes:?} {options}: {result:?}"
            );
        }
    }
    assert_eq!(fetch_path(&server_sending(".\r\n"), "1", "--require-complete").exit, 0);
}

/// Invalid menu lines and their entries.
const MALFORMED_LINES: [&[u8]; 12] = [
    b"no line at all",
    b"0name only",
    b"0name\t/selector",
    b"0name\t/selector\thost",
    b"0name\t/selector\thost\tport",
    b"0name\t/selector\thost\t65536",
    b"0name\t/selector\thost\t-1",
    b"0name\t/selector\thost\t",
    b"",
    b"\xff\xfe\x00octets",
    b"...",
    b"\t\t\t",
];

/// A malformed line does not end the menu.
#[test]
fn malformed_menu_lines_are_shown_as_info_with_note() {
    for line in MALFORMED_LINES {
        let bytes = [b"0first\t/1\th\t70\r\n", line, b"\r\n0last\t/2\th\t70\r\n.\r\n"].concat();
        let context = line.escape_ascii();
        let entries =
            parse_json_lines(fetch_path(&server_sending(&bytes), "1", "--format json").assert_exit(0));
        let names: Vec<&str> = entries.iter().filter_map(|entry| entry["name"].as_str()).collect();
        assert_eq!((names.len(), names[0], names[2]), (3, "first", "last"), "{context}");
        assert_eq!(names[1], String::from_utf8_lossy(line), "{context}");
        assert_eq!((&entries[1]["type"], &entries[1]["url"]), (&json!("i"), &Value::Null), "{context}");
        assert!(
            entries[1]["note"].as_str().is_some_and(|note| !note.is_empty()),
            "{context}: {}",
            entries[1]
        );
        let text = fetch_path(&server_sending(&bytes), "1", "").assert_exit(0).stdout_text();
        let words = String::from_utf8_lossy(line)
            .split(['\t', '\0', '\u{fffd}'])
            .map(str::to_owned)
            .collect::<Vec<_>>();
        assert!(words.iter().all(|word| text.contains(word.as_str())), "{context}: {text}");
        assert!(text.contains("first") && text.contains("last"), "{context}: {text}");
    }
}

/// Variants that real servers send: extra fields, spaces around the port, LF line ends, a dot within the menu, a
/// missing terminator.
#[test]
fn menu_line_variants_are_accepted() {
    for (bytes, names) in [
        ("0a\t/a\th\t70\t+\tmore\r\n.\r\n", &["a"][..]),
        ("0a\t/a\th\t70 \r\n0b\t/b\th\t70\t\r\n.\r\n", &["a", "b"]),
        ("0a\t/a\th\t70\n0b\t/b\th\t70\n.\n", &["a", "b"]),
        ("0a\t/a\th\t70\r\n0b\t/b\th\t70", &["a", "b"]),
        ("0a\t/a\th\t70\r\n.\r\n0b\t/b\th\t70\r\n.\r\n", &["a", ".", "b"]),
        ("0a\t/a\th\t70\r\n.\r\n.\r\n", &["a", "."]),
    ] {
        let entries =
            parse_json_lines(fetch_path(&server_sending(bytes), "1", "-s --format json").assert_exit(0));
        let found: Vec<&str> = entries.iter().filter_map(|entry| entry["name"].as_str()).collect();
        assert_eq!(found, names, "{bytes:?}");
        for entry in entries.iter().filter(|entry| entry["name"] != ".") {
            assert!(
                entry["url"].is_string() && entry.get("note").is_none_or(Value::is_null),
                "{bytes:?}: {entry}"
            );
        }
    }
    // A missing terminator adds a note, except with `-s`, and fails `--require-complete`.
    let server = server_sending("0a\t/a\th\t70\r\n");
    fetch_path(&server, "1", "").assert_exit(0).assert_stderr_contains("fetch-url: note: ");
    assert_eq!(fetch_path(&server, "1", "-s").assert_exit(0).stderr, "");
    fetch_path(&server, "1", "--require-complete").assert_exit(18);
}

#[test]
fn entry_has_no_url_if_host_or_port_is_invalid() {
    let line = |host: &str, port: &str| format!("0a\t/a\t{host}\t{port}\r\n.\r\n");
    for (host, port, url) in [
        ("h.example", "70", Some("gopher://h.example/0/a")),
        ("127.0.0.1", "7070", Some("gopher://127.0.0.1:7070/0/a")),
        ("::1", "70", Some("gopher://[::1]/0/a")),
        ("h.example", "0", None),
        ("", "70", None),
        ("h.example/x", "70", None),
        ("h.example:80", "70", None),
        ("me@h.example", "70", None),
        ("h.example#x", "70", None),
        ("h.example?x", "70", None),
        ("a b", "70", None),
        ("-rf", "70", None),
        ("0x7f.1", "70", None),
        ("h%2eexample", "70", None),
        ("$(touch x)", "70", None),
        ("h\u{1b}[2J", "70", None),
    ] {
        assert_eq!(menu_urls(line(host, port)), [url.map(str::to_owned)], "{host} {port}");
    }
}

/// The URL in JSON must not lead to a local file of the reader.
#[test]
fn url_selector_of_unsafe_scheme_is_shown_as_gopher_url() {
    for (selector, expected) in [
        ("URL:http://h.example/", "http://h.example/"),
        ("/URL:http://h.example/", "http://h.example/"),
        ("URL:file:///etc/passwd", "gopher://g.example/hURL:file:///etc/passwd"),
        ("URL:javascript:alert(1)", "gopher://g.example/hURL:javascript:alert(1)"),
    ] {
        let found = menu_urls(format!("ha\t{selector}\tg.example\t70\r\n.\r\n"));
        assert_eq!(found, [Some(expected.to_owned())], "{selector}");
    }
    // The redirect policy rejects the target when the link is fetched.
    let server = server_sending("");
    fetch_path(&server, "hURL:file:///etc/passwd", "").assert_exit(90);
    assert_eq!(server.connections(), 0);
}

/// Selectors with bytes that must be percent-encoded in a URL.
const SELECTORS: [&[u8]; 16] = [
    b"plain",
    b"/two words",
    b"/100%",
    b"/%41",
    b"/a?b#c",
    b"/a;type=i",
    b"0/again",
    b"//a//../b/.",
    b"/caf\xc3\xa9",
    b"/\xe9\xff",
    b"/q\"uo'te<b>",
    b"user:pass@host/x",
    b"/~x\\y^|{}[]`",
    b"/a+b&c=d",
    b"/c\x01\x1b\x7f",
    b"URL:http://h/",
];

/// Tests servers with and without Gopher+.
#[test]
fn entry_url_fetches_its_item() {
    let config = || {
        SELECTORS.iter().enumerate().fold(GopherConfig::new(), |config, (number, selector)| {
            config.item(GopherItem::binary(selector, format!("<{number}>")).name("x"))
        })
    };
    for (config, is_plus) in [(config(), false), (config().plus(), true)] {
        let server = start_server(config);
        let entries = parse_json_lines(fetch_path(&server, "", "--format json").assert_exit(0));
        assert_eq!(entries.len(), SELECTORS.len());
        for (number, entry) in entries.iter().enumerate() {
            let url = entry["url"].as_str().expect("URL");
            assert_eq!((url.is_ascii(), &entry["plus"]), (true, &json!(is_plus)), "{entry}");
            assert_eq!(run_fetch_url([url]).assert_exit(0).stdout_text(), format!("<{number}>"), "{url}");
            let line = [SELECTORS[number], if is_plus { b"\t+\r\n".as_slice() } else { b"\r\n" }].concat();
            assert!(server.requests().last() == Some(&line), "{url}: {:?}", server.received_text().last());
        }
    }
}

#[test]
fn entry_url_of_menu_search_link_and_mirror_fetches_its_item() {
    let page = crate::support::echo_server();
    let link = format!("URL:{}", page.url("/page"));
    let found = |words: &[u8]| [b"iyou asked for <", words, b">\t\t\t\r\n"].concat();
    let config =
        GopherConfig::new().item(GopherItem::menu("/m", &["/t"])).item(GopherItem::text("/t", "text\r\n"));
    let config = config.item(GopherItem::search("/s", found)).item(GopherItem::new('h', &link, ""));
    let server = start_server(config.item(GopherItem::new('+', "/t", "").name("mirror")));
    let entries = parse_json_lines(fetch_path(&server, "", "--format json").assert_exit(0));
    let url = |index: usize| entries[index]["url"].as_str().expect("URL").to_owned();
    assert!(run_fetch_url([url(0)]).assert_exit(0).stdout_text().contains("text      t\n"));
    assert_eq!(run_fetch_url([url(1)]).assert_exit(0).stdout_text(), "text\r\n");
    assert!(
        run_fetch_url([format!("{}%09so%20much", url(2))]).assert_exit(0).stdout_text().contains("<so much>")
    );
    assert_eq!(run_fetch_url([url(3)]).assert_exit(0).stdout_text(), "/page");
    // Type `+` is another server of the item above, which is a link; it is fetched as binary.
    assert_eq!(
        (run_fetch_url([url(4)]).assert_exit(0).stdout_text().contains("text"), &entries[4]["type"]),
        (true, &json!("+"))
    );
}

/// Whether other servers support TLS is unknown; their entries get `gopher:` URLs.
#[test]
fn entries_on_the_same_tls_server_have_gophers_urls() {
    let cert = ServerCert::good().expect("create certificate");
    let files = cert.write_files().expect("write certificate files");
    let ca = format!("--cacert {}", files.ca.display());
    let config = GopherConfig::new().item(GopherItem::text("/here", "here\r\n"));
    let config = config
        .item(GopherItem::text("/far", "").at("far.example", 70))
        .item(GopherItem::text("/by", "").at("127.0.0.1", 70));
    let server = GopherServer::start_tls(config, &cert).expect("start server");
    let entries = parse_json_lines(fetch_path(&server, "1", &format!("{ca} --format json")).assert_exit(0));
    let found: Vec<&str> = entries.iter().filter_map(|entry| entry["url"].as_str()).collect();
    assert_eq!(
        found,
        [server.url("0/here").as_str(), "gopher://far.example/0/far", "gopher://127.0.0.1/0/by"]
    );
    assert!(found[0].starts_with("gophers://"), "{found:?}");
    let result = run_fetch_url(ca.split(' ').chain([found[0]]));
    assert_eq!(result.assert_exit(0).stdout_text(), "here\r\n");
    let text = fetch_path(&server, "1", &ca).assert_exit(0).stdout_text();
    assert!(text.contains(found[0]) && text.contains(" gopher://far.example/0/far\n"), "{text}");
}

/// Returns the number of terminal columns of a line.
fn display_width(line: &str) -> usize {
    line.chars()
        .map(
            |character| {
                if ('\u{1100}'..'\u{fb00}').contains(&character) && character > '\u{2e7f}' { 2 } else { 1 }
            },
        )
        .sum()
}

/// Only URLs may be longer; no text is lost.
#[test]
fn long_names_are_wrapped_on_a_terminal_only() {
    let names = [
        "word ".repeat(60),
        "x".repeat(300),
        "\u{6f22}\u{5b57}".repeat(60),
        "\u{e9}".repeat(300),
        "a  b".repeat(70),
    ];
    for (name, kind) in
        names.iter().flat_map(|name| ["i", "0", "3", "no line: ", "1"].map(|kind| (name, kind)))
    {
        let bytes = format!("0top\t/\th\t70\r\n{kind}{name}\t/s\th.example\t70\r\n.\r\n");
        let bytes = if kind.len() > 1 { bytes.replace("\t/s\th.example\t70", "") } else { bytes };
        let server = server_sending(bytes);
        let is_letter = |character: &char| name.contains(*character) && *character != ' ';
        let letters = |text: &str| text.chars().filter(is_letter).count();
        let text = fetch_path(&server, "1", "").assert_exit(0).stdout_text();
        assert!(text.lines().any(|line| letters(line) >= letters(name)), "{kind}: {text}");
        for columns in [80, 120] {
            let mut terminal = Terminal::run(BINARY, &[&server.url("1")], columns).expect("a terminal");
            assert_eq!(terminal.exit_status().expect("an end"), 0);
            let text = terminal.screen();
            let is_wide = |line: &str| display_width(line) > usize::from(columns) && !line.contains("://");
            assert_eq!(text.lines().find(|line| is_wide(line)), None, "{kind}");
            assert!(letters(&text) >= letters(name), "{kind}: {text}");
        }
    }
    // Spaces are kept, so that text pictures keep their shape.
    let picture = "i   /\\_/\\   \tx\tx\t0\r\ni  ( o.o )  \tx\tx\t0\r\n.\r\n";
    assert_eq!(fetch_path(&server_sending(picture), "1", "").stdout_text(), "   /\\_/\\\n  ( o.o )\n");
}

/// Item names with control sequences for a terminal.
const HOSTILE_NAMES: [&[u8]; 8] = [
    b"\x1b[2J\x1b]0;evil\x07",
    b"\xc2\x9b31m",
    b"\xe2\x80\xaetxt.exe",
    b"a\rb",
    b"\x08\x08\x08over",
    b"\xff\xfe",
    b"\x7f\x01",
    b"\xe2\x81\xa6up\xe2\x80\x8f",
];

#[test]
fn hostile_menu_sends_no_controls_to_the_terminal() {
    let line = |name: &&[u8]| {
        let kinds = [&b"0"[..], b"i", b"3", b"7"]
            .map(|kind| [kind, name, b"\t/", name, b"\th.example\t70\r\n"].concat());
        [kinds.concat(), name.to_vec(), b"\r\n0a\t/a\t".to_vec(), name.to_vec(), b"\t70\r\n".to_vec()]
            .concat()
    };
    // The entry at the end shows that no hostile line ended the menu.
    let bytes: Vec<u8> = [
        b"0top\t/\th\t70\r\n".to_vec(),
        HOSTILE_NAMES.iter().flat_map(line).collect(),
        b"0end\t/\th\t70\r\n.\r\n".to_vec(),
    ]
    .concat();
    let server = server_sending(bytes);
    for options in [&[][..], &["--format", "json"], &["--format", "raw"], &["-v"], &["-i"]] {
        let url = server.url("1/m");
        let arguments: Vec<&str> = [options, &["--retry", "0", &url]].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 80).expect("start terminal");
        assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
        let bytes = terminal.bytes();
        let text = String::from_utf8_lossy(bytes).into_owned();
        let is_unsafe_control = |character: char| {
            character.is_control() && !"\r\n\t".contains(character)
                || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!text.contains(is_unsafe_control), "{options:?}: {}", bytes.escape_ascii());
        let has_lone_cr = bytes.windows(2).any(|pair| pair[0] == b'\r' && !b"\r\n".contains(&pair[1]));
        assert!(!has_lone_cr && text.contains("end"), "{options:?}: {}", bytes.escape_ascii());
        let is_narrow = options != ["--format", "json"] && options != ["--format", "raw"];
        assert!(!(is_narrow && VirtualTerminal::render(bytes, 80).has_wrapped), "{options:?}: {text}");
    }
}

/// docs/spec/faults.md, row 76: a terminal receives no binary data.
#[test]
fn raw_menu_with_binary_bytes_is_refused_on_a_terminal() {
    let server = server_sending(b"0a\x00\x01\x02\t/a\th\t70\r\n.\r\n");
    for (options, exit) in
        [(&["--format", "raw"][..], 23), (&["--format", "text"], 0), (&["--format", "json"], 0)]
    {
        let url = server.url("1/m");
        let mut terminal = Terminal::run(BINARY, &[options, &[&url]].concat(), 80).expect("start terminal");
        assert_eq!(terminal.exit_status().expect("process exits"), exit, "{}", terminal.screen());
        assert!(!terminal.bytes().contains(&0), "{options:?}: {}", terminal.screen());
    }
}

/// The server keeps the connection open after two lines; the first line must appear before the end.
#[test]
fn menu_lines_are_printed_as_they_arrive() {
    for format in ["text", "json", "raw"] {
        let config = GopherConfig::new().answer("0first\t/a\th\t70\r\n0second\t/b\th\t70\r\n");
        let server = start_server(config.stay_open(Duration::from_secs(15)));
        let mut command = fetch_url_command();
        command.args(["--format", format, &server.url("1")]).stdout(Stdio::piped()).stderr(Stdio::null());
        let (started, mut child) = (Instant::now(), command.spawn().expect("start program"));
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let first = lines.next().expect("first line").expect("valid UTF-8");
        let is_running = child.try_wait().expect("child process").is_none();
        child.kill().expect("child process");
        child.wait().expect("child process");
        assert!(first.contains("first") && is_running, "{format}: {first}");
        assert!(started.elapsed() < Duration::from_secs(5), "{format}: {:?}", started.elapsed());
    }
    // A truncated menu prints the lines received so far and is an error.
    let server = start_server(
        GopherConfig::new().item(GopherItem::generated_menu("/c", 1000)).cut(20_000, Ending::Reset),
    );
    let result = fetch_path(&server, "1/c", "");
    assert!(result.assert_exit(18).stdout_text().contains("entry 0000000"), "{}", result.stdout_text().len());
}
