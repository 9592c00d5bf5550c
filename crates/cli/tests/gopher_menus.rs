//! Menus (SEMANTICS.md §4; SECURITY.md, rows 68, 76 and 84): for people in 80 columns, for programs as JSON, and
//! as they came; no line is lost, every URL leads to its item, and nothing in them does harm.

#![allow(clippy::expect_used, reason = "a helper of tests")]

#[path = "support/glass.rs"]
mod glass;
mod support;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use fetch_url_tests::{Ending, GopherItem, GopherServer, GopherSite, ServerCert, Terminal};
use glass::Glass;
use serde_json::{Value, json};
use support::{BINARY, Ran, command, fetch};

fn serve(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

/// A menu of exactly these octets.
fn menu(octets: impl AsRef<[u8]>) -> GopherServer {
    serve(GopherSite::new().answer(octets.as_ref()))
}

fn get(server: &GopherServer, path: &str, words: &str) -> Ran {
    let url = server.url(path);
    fetch(["--read-timeout", "5"].into_iter().chain(words.split_whitespace()).chain([url.as_str()]))
}

/// An entry for each line of JSON.
fn entries(ran: &Ran) -> Vec<Value> {
    ran.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The URLs of a menu in JSON, with null where there is none.
fn urls(octets: impl AsRef<[u8]>) -> Vec<Option<String>> {
    let all = entries(get(&menu(octets), "1", "-s --format json").exits(0));
    all.iter().map(|entry| entry["url"].as_str().map(str::to_owned)).collect()
}

const MIXED: &str = "iWelcome to it\tfake\t(NULL)\t0\r\n\
    0About us\t/about.txt\th.example\t70\r\n\
    i\t\terror.host\t1\r\n\
    1More\t/more\th.example\t7070\t+\r\n\
    7Find\t/find\th.example\t70\r\n\
    3Not here\t\terror.host\t1\r\n\
    8Log in\tme\th.example\t23\r\n\
    0A form\t/ask\th.example\t70\t?\r\n\
    hA page\tURL:https://www.example/a?b\th.example\t70\r\n.\r\n";

#[test]
fn for_people() {
    let text = get(&menu(MIXED), "1", "").exits(0).text();
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
    assert_eq!(get(&menu(MIXED), "7/s%09w", "--format text").exits(0).text(), text, "an answer to a search");
}

#[test]
fn for_programs() {
    let all = entries(get(&menu(MIXED), "1", "--format json").exits(0));
    assert_eq!(all.len(), MIXED.lines().count() - 1);
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
    for (entry, expected) in all.iter().zip(expected) {
        assert_eq!(members(entry), expected);
    }
    assert!(all.iter().all(|entry| entry.get("note").is_none_or(Value::is_null)), "{all:?}");
}

/// What is asked for raw is what came.
#[test]
fn as_it_came() {
    let hostile: &[u8] = b"0a\x1b[2J\xff\t/a\th\t70\r\nno line\n.\r\n0b\t\t\t\r\n.\r\n";
    for octets in [MIXED.as_bytes(), hostile, b"", b".\r\n", b"0a\t/a\th\t70"] {
        let ran = get(&menu(octets), "1", "-s --format raw");
        assert!(ran.exits(0).stdout == octets, "{}", ran.stdout.escape_ascii());
    }
}

/// Nothing, in each shape.
#[test]
fn an_empty_menu() {
    for octets in ["", ".\r\n"] {
        for words in ["", "--format json"] {
            let ran = get(&menu(octets), "1", words);
            assert!(ran.exit == 0 && ran.stdout.is_empty() || ran.exit == 52, "{octets:?} {words}: {ran:?}");
        }
    }
    assert_eq!(get(&menu(".\r\n"), "1", "--require-complete").exit, 0);
}

const ODD: [&[u8]; 12] = [
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

/// Malformed lines become lines to be read, with a note, and never an end.
#[test]
fn odd_lines_are_kept() {
    for line in ODD {
        let octets = [b"0first\t/1\th\t70\r\n", line, b"\r\n0last\t/2\th\t70\r\n.\r\n"].concat();
        let what = line.escape_ascii();
        let all = entries(get(&menu(&octets), "1", "--format json").exits(0));
        let names: Vec<&str> = all.iter().filter_map(|entry| entry["name"].as_str()).collect();
        assert_eq!((names.len(), names[0], names[2]), (3, "first", "last"), "{what}");
        assert_eq!(names[1], String::from_utf8_lossy(line), "{what}");
        assert_eq!((&all[1]["type"], &all[1]["url"]), (&json!("i"), &Value::Null), "{what}");
        assert!(all[1]["note"].as_str().is_some_and(|note| !note.is_empty()), "{what}: {}", all[1]);
        let text = get(&menu(&octets), "1", "").exits(0).text();
        let words = String::from_utf8_lossy(line)
            .split(['\t', '\0', '\u{fffd}'])
            .map(str::to_owned)
            .collect::<Vec<_>>();
        assert!(words.iter().all(|word| text.contains(word.as_str())), "{what}: {text}");
        assert!(text.contains("first") && text.contains("last"), "{what}: {text}");
    }
}

/// What other servers do is no fault: more fields, blanks around a port, LF alone, a dot that is no end, no dot.
#[test]
fn other_manners() {
    for (octets, names) in [
        ("0a\t/a\th\t70\t+\tmore\r\n.\r\n", &["a"][..]),
        ("0a\t/a\th\t70 \r\n0b\t/b\th\t70\t\r\n.\r\n", &["a", "b"]),
        ("0a\t/a\th\t70\n0b\t/b\th\t70\n.\n", &["a", "b"]),
        ("0a\t/a\th\t70\r\n0b\t/b\th\t70", &["a", "b"]),
        ("0a\t/a\th\t70\r\n.\r\n0b\t/b\th\t70\r\n.\r\n", &["a", ".", "b"]),
        ("0a\t/a\th\t70\r\n.\r\n.\r\n", &["a", "."]),
    ] {
        let all = entries(get(&menu(octets), "1", "-s --format json").exits(0));
        let found: Vec<&str> = all.iter().filter_map(|entry| entry["name"].as_str()).collect();
        assert_eq!(found, names, "{octets:?}");
        for entry in all.iter().filter(|entry| entry["name"] != ".") {
            assert!(
                entry["url"].is_string() && entry.get("note").is_none_or(Value::is_null),
                "{octets:?}: {entry}"
            );
        }
    }
    // A missing dot is told of, unless silence is wanted; who wants proof gets none.
    let server = menu("0a\t/a\th\t70\r\n");
    get(&server, "1", "").exits(0).says("fetch-url: note: ");
    assert_eq!(get(&server, "1", "-s").exits(0).stderr, "");
    get(&server, "1", "--require-complete").exits(18);
}

/// A URL is made where host and port are ones, and leads nowhere else.
#[test]
fn hosts_of_strangers() {
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
        assert_eq!(urls(line(host, port)), [url.map(str::to_owned)], "{host} {port}");
    }
}

/// Links of `h` items: never to a file of whoever reads the menu.
#[test]
fn links_of_strangers() {
    for (selector, expected) in [
        ("URL:http://h.example/", "http://h.example/"),
        ("/URL:http://h.example/", "http://h.example/"),
        ("URL:file:///etc/passwd", "gopher://g.example/hURL:file:///etc/passwd"),
        ("URL:javascript:alert(1)", "gopher://g.example/hURL:javascript:alert(1)"),
    ] {
        let found = urls(format!("ha\t{selector}\tg.example\t70\r\n.\r\n"));
        assert_eq!(found, [Some(expected.to_owned())], "{selector}");
    }
    // Wherever it points, that is judged when it is followed.
    let server = menu("");
    get(&server, "hURL:file:///etc/passwd", "").exits(90);
    assert_eq!(server.connections(), 0);
}

/// Selectors as servers have them.
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

/// The URL of an entry fetches that entry, plain and by Gopher+.
#[test]
fn entries_lead_back() {
    let site = || {
        SELECTORS.iter().enumerate().fold(GopherSite::new(), |site, (number, selector)| {
            site.item(GopherItem::binary(selector, format!("<{number}>")).name("x"))
        })
    };
    for (site, is_plus) in [(site(), false), (site().plus(), true)] {
        let server = serve(site);
        let all = entries(get(&server, "", "--format json").exits(0));
        assert_eq!(all.len(), SELECTORS.len());
        for (number, entry) in all.iter().enumerate() {
            let url = entry["url"].as_str().expect("a URL");
            assert_eq!((url.is_ascii(), &entry["plus"]), (true, &json!(is_plus)), "{entry}");
            assert_eq!(fetch([url]).exits(0).text(), format!("<{number}>"), "{url}");
            let line = [SELECTORS[number], if is_plus { b"\t+\r\n".as_slice() } else { b"\r\n" }].concat();
            assert!(server.requests().last() == Some(&line), "{url}: {:?}", server.dialogue().last());
        }
    }
}

/// What is no octets leads back too: menus, searches, links, and the second place of an item.
#[test]
fn other_entries_lead_back() {
    let page = support::mirror();
    let link = format!("URL:{}", page.url("/page"));
    let found = |words: &[u8]| [b"iyou asked for <", words, b">\t\t\t\r\n"].concat();
    let site =
        GopherSite::new().item(GopherItem::menu("/m", &["/t"])).item(GopherItem::text("/t", "text\r\n"));
    let site = site.item(GopherItem::search("/s", found)).item(GopherItem::new('h', &link, ""));
    let server = serve(site.item(GopherItem::new('+', "/t", "").name("mirror")));
    let all = entries(get(&server, "", "--format json").exits(0));
    let url = |index: usize| all[index]["url"].as_str().expect("a URL").to_owned();
    assert!(fetch([url(0)]).exits(0).text().contains("text      t\n"));
    assert_eq!(fetch([url(1)]).exits(0).text(), "text\r\n");
    assert!(fetch([format!("{}%09so%20much", url(2))]).exits(0).text().contains("<so much>"));
    assert_eq!(fetch([url(3)]).exits(0).text(), "/page");
    // It stands below a link, which is octets; so is the other place.
    assert_eq!((fetch([url(4)]).exits(0).text().contains("text"), &all[4]["type"]), (true, &json!("+")));
}

/// Entries on the same server in TLS are fetched in TLS; those of others are not known to speak it.
#[test]
fn in_tls() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let ca = format!("--cacert {}", files.ca.display());
    let site = GopherSite::new().item(GopherItem::text("/here", "here\r\n"));
    let site = site
        .item(GopherItem::text("/far", "").at("far.example", 70))
        .item(GopherItem::text("/by", "").at("127.0.0.1", 70));
    let server = GopherServer::start_tls(site, &cert).expect("a server");
    let all = entries(get(&server, "1", &format!("{ca} --format json")).exits(0));
    let found: Vec<&str> = all.iter().filter_map(|entry| entry["url"].as_str()).collect();
    assert_eq!(
        found,
        [server.url("0/here").as_str(), "gopher://far.example/0/far", "gopher://127.0.0.1/0/by"]
    );
    assert!(found[0].starts_with("gophers://"), "{found:?}");
    let ran = fetch(ca.split(' ').chain([found[0]]));
    assert_eq!(ran.exits(0).text(), "here\r\n");
    let text = get(&server, "1", &ca).exits(0).text();
    assert!(text.contains(found[0]) && text.contains(" gopher://far.example/0/far\n"), "{text}");
}

/// How many columns a terminal takes for it.
fn width(line: &str) -> usize {
    line.chars()
        .map(
            |character| {
                if ('\u{1100}'..'\u{fb00}').contains(&character) && character > '\u{2e7f}' { 2 } else { 1 }
            },
        )
        .sum()
}

/// No line but a URL is wider than 80 columns, and no word is lost by that.
#[test]
fn eighty_columns() {
    let words = [
        "word ".repeat(60),
        "x".repeat(300),
        "\u{6f22}\u{5b57}".repeat(60),
        "\u{e9}".repeat(300),
        "a  b".repeat(70),
    ];
    for (word, kind) in
        words.iter().flat_map(|word| ["i", "0", "3", "no line: ", "1"].map(|kind| (word, kind)))
    {
        let octets = format!("0top\t/\th\t70\r\n{kind}{word}\t/s\th.example\t70\r\n.\r\n");
        let octets = if kind.len() > 1 { octets.replace("\t/s\th.example\t70", "") } else { octets };
        let text = get(&menu(octets), "1", "").exits(0).text();
        let wide = text.lines().find(|line| width(line) > 80 && !line.contains("://"));
        assert_eq!(wide, None, "{kind}");
        let is_letter = |character: &char| word.contains(*character) && *character != ' ';
        let letters = |text: &str| text.chars().filter(is_letter).count();
        assert!(letters(&text) >= letters(word), "{kind}: {text}");
    }
    // A picture of blanks keeps its shape.
    let picture = "i   /\\_/\\   \tx\tx\t0\r\ni  ( o.o )  \tx\tx\t0\r\n.\r\n";
    assert_eq!(get(&menu(picture), "1", "").text(), "   /\\_/\\\n  ( o.o )\n");
}

/// Names that would be commands to a terminal.
const HOSTILE: [&[u8]; 8] = [
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
fn hostile_menus_in_a_terminal() {
    let line = |name: &&[u8]| {
        let kinds = [&b"0"[..], b"i", b"3", b"7"]
            .map(|kind| [kind, name, b"\t/", name, b"\th.example\t70\r\n"].concat());
        [kinds.concat(), name.to_vec(), b"\r\n0a\t/a\t".to_vec(), name.to_vec(), b"\t70\r\n".to_vec()]
            .concat()
    };
    // What is bent must not be an end.
    let octets: Vec<u8> = [
        b"0top\t/\th\t70\r\n".to_vec(),
        HOSTILE.iter().flat_map(line).collect(),
        b"0end\t/\th\t70\r\n.\r\n".to_vec(),
    ]
    .concat();
    let server = menu(octets);
    for words in [&[][..], &["--format", "json"], &["--format", "raw"], &["-v"], &["-i"]] {
        let url = server.url("1/m");
        let arguments: Vec<&str> = [words, &["--retry", "0", &url]].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 80).expect("a terminal");
        assert_eq!(terminal.exit().expect("an end"), 0, "{}", terminal.screen());
        let octets = terminal.octets();
        let text = String::from_utf8_lossy(octets).into_owned();
        let is_raw = |character: char| {
            character.is_control() && !"\r\n\t".contains(character)
                || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!text.contains(is_raw), "{words:?}: {}", octets.escape_ascii());
        let lone = octets.windows(2).any(|pair| pair[0] == b'\r' && !b"\r\n".contains(&pair[1]));
        assert!(!lone && text.contains("end"), "{words:?}: {}", octets.escape_ascii());
        let is_narrow = words != ["--format", "json"] && words != ["--format", "raw"];
        assert!(!(is_narrow && Glass::after(octets, 80).has_wrapped), "{words:?}: {text}");
    }
}

/// Row 76: binary is refused on a terminal, unless it is asked for.
#[test]
fn binary_in_a_terminal() {
    let server = menu(b"0a\x00\x01\x02\t/a\th\t70\r\n.\r\n");
    for (words, exit) in
        [(&["--format", "raw"][..], 23), (&["--format", "text"], 0), (&["--format", "json"], 0)]
    {
        let url = server.url("1/m");
        let mut terminal = Terminal::run(BINARY, &[words, &[&url]].concat(), 80).expect("a terminal");
        assert_eq!(terminal.exit().expect("an end"), exit, "{}", terminal.screen());
        assert!(!terminal.octets().contains(&0), "{words:?}: {}", terminal.screen());
    }
}

/// What has come is shown while more is awaited; nobody waits for the last line to read the first.
#[test]
fn lines_are_shown_as_they_come() {
    for format in ["text", "json", "raw"] {
        let site = GopherSite::new().answer("0first\t/a\th\t70\r\n0second\t/b\th\t70\r\n");
        let server = serve(site.lingering(Duration::from_secs(15)));
        let mut command = command();
        command.args(["--format", format, &server.url("1")]).stdout(Stdio::piped()).stderr(Stdio::null());
        let (begun, mut child) = (Instant::now(), command.spawn().expect("it starts"));
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let first = lines.next().expect("a line").expect("UTF-8");
        let is_on = child.try_wait().expect("our own child").is_none();
        child.kill().expect("our own child");
        child.wait().expect("our own child");
        assert!(first.contains("first") && is_on, "{format}: {first}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{format}: {:?}", begun.elapsed());
    }
    // A menu that is cut has been shown as far as it came, and is an error.
    let server = serve(GopherSite::new().item(GopherItem::crowd("/c", 1000)).cut(20_000, Ending::Reset));
    let ran = get(&server, "1/c", "");
    assert!(ran.exits(18).text().contains("entry 0000000"), "{}", ran.text().len());
}
