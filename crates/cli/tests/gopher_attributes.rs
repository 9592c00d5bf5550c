//! What Gopher+ tells of items (SEMANTICS.md §4): attributes as text, JSON and raw, chosen by the server or by us;
//! and the views of an item.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use fetch_url_tests::{
    GopherAct, GopherAsk, GopherForm, GopherItem, GopherLength, GopherOn, GopherServer, GopherSite, Terminal,
};
use serde_json::{Value, json};
use support::{BINARY, Ran, fetch};

const LENGTHS: [GopherLength; 3] = [GopherLength::Dot, GopherLength::End, GopherLength::Known];
/// 1994-12-01 12:34:56 UTC.
const DATE: i64 = 786_285_296;

fn serve(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

fn get(server: &GopherServer, path: &str, words: &str) -> Ran {
    let url = server.url(path);
    fetch(["--read-timeout", "5"].into_iter().chain(words.split_whitespace()).chain([url.as_str()]))
}

fn entries(ran: &Ran) -> Vec<Value> {
    ran.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// An item with everything.
fn item() -> GopherItem {
    let form = GopherForm::new().ask(GopherAsk::Note, "About you").ask(GopherAsk::Ask, "Name?\tnobody");
    let form = form.ask(GopherAsk::AskP, "Word").ask(GopherAsk::Choose, "Colour\tred\tgreen");
    let item = GopherItem::text("/d", "x".repeat(3000)).name("A thing").is_in("text/plain", Some("En_US"));
    let item = item.view("image/gif", None, "G".repeat(2048)).modified("19941201123456");
    item.about(&["What it is,", "in two lines."]).block("SMELL", &["good"]).form(form)
}

fn site() -> GopherSite {
    let other = GopherItem::binary("/b", "octets").about(&["Octets."]);
    GopherSite::new().plus().item(item()).item(other).item(GopherItem::menu("/m", &["/d", "/b"]))
}

#[test]
fn for_people() {
    for length in LENGTHS {
        let ran = get(&serve(site().attributes_end(length)), "0/d%09%09!", "");
        let text = ran.exits(0).text();
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
        assert_eq!(ran.stderr, "", "{length:?}: nothing to be told");
    }
}

#[test]
fn for_programs() {
    for length in LENGTHS {
        let server = serve(site().attributes_end(length));
        let all = entries(get(&server, "0/d%09%09!", "--format json").exits(0));
        let entry = all.first().expect("an entry");
        assert_eq!((all.len(), &entry["modified"]), (1, &json!(DATE)), "{entry}");
        assert_eq!(
            (&entry["name"], &entry["type"], &entry["selector"]),
            (&json!("A thing"), &json!("0"), &json!("/d"))
        );
        assert_eq!((&entry["plus"], &entry["port"]), (&json!(true), &json!(server.addr().port())));
        let told = &entry["attributes"];
        let views = json!([
            { "type": "text/plain", "language": "En_US", "size": 2048 },
            { "type": "image/gif", "language": null, "size": 2048 },
        ]);
        assert_eq!(told["VIEWS"], views);
        assert_eq!(told["ADMIN"], json!({ "admin": "Test Admin <admin@example.org>", "modified": DATE }));
        assert_eq!(
            (&told["ABSTRACT"], &told["SMELL"]),
            (&json!("What it is,\nin two lines."), &json!("good"))
        );
        let kinds: Vec<&str> =
            told["ASK"].as_array().expect("a form").iter().filter_map(|q| q["kind"].as_str()).collect();
        assert_eq!(kinds, ["Note", "Ask", "AskP", "Choose"]);
        assert_eq!(
            told["ASK"][3],
            json!({ "kind": "Choose", "prompt": "Colour", "defaults": ["red", "green"] })
        );
    }
}

#[test]
fn as_they_came() {
    let octets = "+-2\r\n+INFO: 0a\t/a\th\t70\t+\r\n+SMELL: \x1b[2J\r\n good\r\n\r\nbad\r\n";
    let ran = get(&serve(GopherSite::new().answer(octets)), "0/a%09%09!", "-s --format raw");
    assert_eq!(ran.exits(0).text(), octets.strip_prefix("+-2\r\n").expect("a status"));
}

/// `$` tells of all items of a menu.
#[test]
fn of_a_whole_menu() {
    let server = serve(site());
    let all = entries(get(&server, "1/m%09%09$", "--format json").exits(0));
    let names: Vec<&str> = all.iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(names, ["A thing", "b"]);
    assert_eq!((&all[0]["modified"], &all[1]["modified"]), (&json!(DATE), &Value::Null));
    assert_eq!(all[1]["attributes"]["ABSTRACT"], "Octets.");
    let text = get(&server, "1/m%09%09$", "").exits(0).text();
    assert!(text.contains("   1  text      A thing\n") && text.contains("   2  binary    b\n"), "{text}");
    // Their URLs are the items'.
    let url = all[1]["url"].as_str().expect("a URL");
    assert_eq!(fetch([url]).exits(0).text(), "octets");
}

/// The names of the blocks of each entry.
fn blocks(ran: &Ran) -> Vec<Vec<String>> {
    let names = |entry: &Value| entry["attributes"].as_object().expect("blocks").keys().cloned().collect();
    entries(ran).iter().map(names).collect()
}

/// What is asked for by name is what comes out, whether or not the server knows how to choose.
#[test]
fn chosen_by_name() {
    let refuses = |line: &[u8]| {
        line.contains(&b'!') && !line.ends_with(b"!") || line.contains(&b'$') && !line.ends_with(b"$")
    };
    let plain = GopherAct::Answer(b"what do you mean?\r\n".to_vec());
    let sites = [
        ("chooses", site()),
        ("sends all", site().without_filters()),
        ("does not know names", site().on(GopherOn::Which(refuses), plain)),
    ];
    for (what, site) in sites {
        let server = serve(site);
        for (path, expected) in [
            ("0/d%09%09!+ABSTRACT", &[&["ABSTRACT"][..]][..]),
            ("0/d%09%09!+abstract", &[&["ABSTRACT"]]),
            ("0/d%09%09!+ABSTRACT+SMELL", &[&["ABSTRACT", "SMELL"]]),
            ("0/d%09%09!+NOTHING", &[&[]]),
            ("1/m%09%09$+VIEWS", &[&["VIEWS"], &["VIEWS"]]),
            ("1/m%09%09$+SMELL", &[&["SMELL"], &[]]),
        ] {
            let ran = get(&server, path, "-s --format json");
            assert_eq!(blocks(ran.exits(0)), expected, "{what} {path}: {}", ran.text());
            let text = get(&server, path, "-s").exits(0).text();
            assert_eq!(
                text.contains("in two lines."),
                expected[0].contains(&"ABSTRACT"),
                "{what} {path}: {text}"
            );
            assert!(!text.contains("admin@example.org") && text.contains("A thing"), "{what} {path}: {text}");
        }
    }
}

/// A server without Gopher+ sends what it has; that is no attribute, and a note says so.
#[test]
fn without_gopher_plus() {
    let server = serve(
        GopherSite::new().item(GopherItem::text("/a", "a text\r\n")).item(GopherItem::menu("/m", &["/a"])),
    );
    for path in ["0/a%09%09!", "0/a%09%09!+ABSTRACT", "0/a%09%09?", "0/a%09%09+"] {
        let ran = get(&server, path, "");
        assert_eq!(ran.exits(0).text(), "a text\r\n", "{path}");
        assert_eq!(ran.stderr.matches("fetch-url: note: ").count(), 1, "{path}: {}", ran.stderr);
        ran.says("Gopher+");
        assert_eq!(get(&server, path, "-s").stderr, "", "{path}");
    }
    let ran = get(&server, "1/m%09%09$", "");
    assert!(ran.exits(0).says("note: ").text().contains("text      a\n"), "{}", ran.text());
}

/// Blocks as servers have them: more behind the name, no colon, lines without a blank, no +INFO, no end.
#[test]
fn other_manners() {
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
        let server = serve(GopherSite::new().answer(format!("+-2\r\n{info}{blocks}")));
        let all = entries(get(&server, "0/a%09%09!", "-s --format json").exits(0));
        assert_eq!((all.len(), &all[0]["attributes"][name]), (1, &json!(expected)), "{blocks:?}: {all:?}");
    }
    // Without +INFO nobody knows whose they are, but they are shown.
    let server = serve(GopherSite::new().answer("+-1\r\n+ABSTRACT:\r\n whose?\r\n.\r\n"));
    assert!(get(&server, "0/a%09%09!", "").exits(0).text().contains("whose?"));
}

#[test]
fn sizes_and_dates() {
    let of = |block: &str| {
        let octets = format!("+-1\r\n+INFO: 0a\t/a\th\t70\r\n{block}\r\n.\r\n");
        let all =
            entries(get(&serve(GopherSite::new().answer(octets)), "0/a%09%09!", "--format json").exits(0));
        all.into_iter().next().expect("an entry")
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
        let entry = of(&format!("+VIEWS:\r\n {view}"));
        let told = &entry["attributes"]["VIEWS"][0];
        assert_eq!(json!([told["type"], told["language"], told["size"]]), expected, "{view}");
    }
    for (date, expected) in [
        ("Thu Dec  1 12:34:56 1994 <19941201123456>", json!(DATE)),
        ("<19700101000000>", json!(0)),
        ("<19941301000000>", Value::Null),
        ("<1994>", Value::Null),
        ("19941201123456", Value::Null),
        ("<99999999999999999999>", Value::Null),
    ] {
        let entry = of(&format!("+ADMIN:\r\n Mod-Date: {date}"));
        assert_eq!(
            (&entry["modified"], &entry["attributes"]["ADMIN"]["modified"]),
            (&expected, &expected),
            "{date}"
        );
    }
}

#[test]
fn views() {
    let item = GopherItem::text("/v", "plain").view("text/plain", Some("De_DE"), "deutsch");
    let item = item.view("image/gif", None, "GIF\r\n.\r\n..\r\n");
    for length in [GopherLength::Known, GopherLength::End] {
        let server = serve(GopherSite::new().plus().item(item.clone().length(length)));
        for (view, line, body) in [
            ("text/plain", "/v\t+text/plain", "plain"),
            ("text/plain,De_DE", "/v\t+text/plain De_DE", "deutsch"),
            ("image/gif", "/v\t+image/gif", "GIF\r\n.\r\n..\r\n"),
        ] {
            assert_eq!(get(&server, "0/v", &format!("--view {view}")).exits(0).text(), body, "{view}");
            assert_eq!(server.dialogue().last().map(String::as_str), Some(format!("{line}\r\n").as_str()));
            // As the URL says it; the option goes before it.
            let url = format!("0/v%09%09+{}", view.replace(',', "%20"));
            assert_eq!(get(&server, &url, "").exits(0).text(), body, "{url}");
            assert_eq!(get(&server, "0/v%09%09+image/png", &format!("--view {view}")).exits(0).text(), body);
        }
        get(&server, "0/v", "--view image/png").exits(78).says("no such view");
    }
    // Behind the words of a search.
    let server =
        serve(GopherSite::new().plus().item(GopherItem::search("/s", |_| b"0x\t\th\t70\r\n".to_vec())));
    get(&server, "7/s%09w", "--view application/gopher+-menu").exits(0);
    assert_eq!(server.dialogue(), ["/s\tw\t+application/gopher+-menu\r\n"]);
}

/// A menu in another view is no menu (UMN gives HTML), and what is no menu may have one.
#[test]
fn views_of_menus() {
    let html = "<p>not\r\n\r\na menu</p>\r\n";
    let item = GopherItem::menu("/m", &["/m"]).view("text/html", None, html).length(GopherLength::Known);
    let server = serve(GopherSite::new().plus().item(item));
    assert_eq!(get(&server, "1/m", "--view text/html").exits(0).text(), html);
    assert_eq!(get(&server, "1/m%09%09+text/html", "").exits(0).text(), html);
    let text = get(&server, "1/m", "--view application/gopher+-menu").exits(0).text();
    assert!(text.contains("   1  menu      m\n"), "{text}");
}

/// A server that does not speak Gopher+ knows one view; a note says that it is the one.
#[test]
fn views_without_gopher_plus() {
    let server = serve(GopherSite::new().item(GopherItem::text("/a", "a text\r\n")));
    let ran = get(&server, "0/a", "--view text/html,De_DE");
    assert_eq!(ran.exits(0).says("note: ").says("Gopher+").text(), "a text\r\n");
    assert_eq!(get(&server, "0/a", "-s --view text/html,De_DE").stderr, "");
}

/// Every word of a server, in a terminal and in JSON.
#[test]
fn hostile_attributes() {
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}\u{8}";
    let block = |name: &str| {
        format!("+{name}:\r\n Admin: {evil}\r\n text/plain{evil}: <1k>\r\n AskP: {evil}\t{evil}\r\n")
    };
    let blocks = ["ADMIN", "VIEWS", "ABSTRACT", "ASK", "X"].map(block).concat();
    let octets = format!("+-2\r\n+INFO: 0{evil}\t/{evil}\th\t70\r\n{blocks}+{evil}:\r\n x\r\n");
    let server = serve(GopherSite::new().answer(octets));
    for words in [&["--format", "text"][..], &["--format", "json"], &["--format", "raw"], &["-I"], &["-v"]] {
        let url = server.url("0/a%09%09!");
        let arguments: Vec<&str> = [words, &["--retry", "0", &url]].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 80).expect("a terminal");
        assert_eq!(terminal.exit().expect("an end"), 0, "{}", terminal.screen());
        let screen = terminal.screen();
        let is_raw = |character: char| {
            character.is_control() && !"\r\n\t".contains(character) || character == '\u{202e}'
        };
        assert!(!screen.contains(is_raw) && screen.contains("Admin"), "{words:?}: {screen:?}");
    }
}
