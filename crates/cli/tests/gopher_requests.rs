//! What goes out for a gopher URL (RFC 1738 §3.4, SEMANTICS.md §4): the three forms, octet for octet; what may
//! not go out (SECURITY.md, rows 5 to 8 and 19); and that `explain` and `-v` show what was sent.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use fetch_url_tests::{
    GopherAct, GopherAsk, GopherForm, GopherItem, GopherOn, GopherRule, GopherServer, GopherSite, ServerCert,
};
use support::{Ran, fetch};

/// What a filled form of two answers is in a URL (RFC 1738 §3.4.9).
const FILLED: &str = "%09%09+%091%0D%0A+-1%0D%0Ared%0D%0A%0D%0A.%0D%0A";

fn serve(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

fn get(server: &GopherServer, path: &str, words: &str) -> Ran {
    let url = server.url(path);
    fetch(["--read-timeout", "5"].into_iter().chain(words.split_whitespace()).chain([url.as_str()]))
}

/// A site with a form at `/ask`.
fn asking() -> GopherSite {
    let form = GopherForm::new().ask(GopherAsk::Ask, "Colour?").ask(GopherAsk::Ask, "Shape?").reply("thanks");
    GopherSite::new().plus().item(GopherItem::text("/ask", "").form(form))
}

/// The rows: what stands behind the slash, and the octets of the request line.
const LINES: [(&str, &[u8]); 36] = [
    ("", b""),
    ("1", b""),
    ("0", b""),
    ("R", b""),
    ("9", b""),
    ("00/x", b"0/x"),
    ("11", b"1"),
    ("000", b"00"),
    ("0x", b"x"),
    ("0/x", b"/x"),
    ("0//x//", b"//x//"),
    ("1/a/../b/./c", b"/a/../b/./c"),
    ("1/%2e%2e/a", b"/../a"),
    ("0/a%2Fb", b"/a/b"),
    ("0/a%252Fb", b"/a%2Fb"),
    ("0/a%20b%20", b"/a b "),
    ("0/a?b=c&d", b"/a?b=c&d"),
    ("0/a%3Fb%23c", b"/a?b#c"),
    ("0/a#part", b"/a"),
    ("0/a;type=i", b"/a;type=i"),
    ("0/a+b", b"/a+b"),
    ("0user@host:70/x", b"user@host:70/x"),
    ("0/caf%C3%A9", b"/caf\xc3\xa9"),
    ("0/%E9%FF", b"/\xe9\xff"),
    ("0/a%01%1B%7Fb", b"/a\x01\x1b\x7fb"),
    ("%30/x", b"/x"),
    ("7/s", b"/s"),
    ("7/s%09", b"/s\t"),
    ("7/s%09two%20words", b"/s\ttwo words"),
    ("7/s%09a+b%26c", b"/s\ta+b&c"),
    ("1/m%09w", b"/m\tw"),
    ("7/s%09w%09", b"/s\tw\t"),
    ("7/s%09w%09+", b"/s\tw\t+"),
    ("0/a%09%09+", b"/a\t+"),
    ("0/a%09%09+text/plain%20En_US", b"/a\t+text/plain En_US"),
    ("9%09%09+", b"\t+"),
];

#[test]
fn lines_go_out_octet_for_octet() {
    let server = serve(GopherSite::new().answer("0x\r\n"));
    for (index, (path, line)) in LINES.iter().enumerate() {
        let ran = get(&server, path, "-s");
        let all = server.requests();
        assert_eq!(all.len(), index + 1, "{path}: {:?} {}", server.dialogue(), ran.stderr);
        let expected = [*line, b"\r\n"].concat();
        assert!(all[index] == expected, "{path}: {} {}", all[index].escape_ascii(), ran.stderr);
        ran.exits(0);
    }
}

/// Attributes are asked for in as many words as the URL has; a server that takes them gets one request.
#[test]
fn attributes_are_asked_for_as_the_url_says() {
    let site = GopherSite::new()
        .plus()
        .item(GopherItem::text("/a", "x").about(&["x"]))
        .item(GopherItem::menu("/m", &["/a"]));
    let rows = [
        ("0/a%09%09!", "/a\t!"),
        ("0/a%09%09!+ABSTRACT", "/a\t!+ABSTRACT"),
        ("0/a%09%09!+ABSTRACT+SMELL", "/a\t!+ABSTRACT+SMELL"),
        ("0/a%09%09!+ABSTRACT%20+SMELL", "/a\t!+ABSTRACT +SMELL"),
        ("1/m%09%09$", "/m\t$"),
        ("1/m%09%09$+VIEWS", "/m\t$+VIEWS"),
        ("1%09%09$", "\t$"),
    ];
    for (path, line) in rows {
        let server = serve(site.clone());
        get(&server, path, "").exits(0);
        assert_eq!(server.dialogue(), [format!("{line}\r\n")], "{path}");
    }
}

/// With a slash behind the host or without one, the root menu is meant.
#[test]
fn an_empty_path_is_the_root() {
    let server = serve(GopherSite::new().item(GopherItem::text("/a", "")));
    let bare = server.url("");
    let bare = bare.trim_end_matches('/');
    for url in
        [bare.to_owned(), format!("{bare}/"), format!("{bare}/1"), bare.replacen("gopher", "GOPHER", 1)]
    {
        let text = fetch([&url]).exits(0).text();
        assert!(text.contains("0/a"), "{url}: {text}");
    }
    assert_eq!(server.dialogue(), ["\r\n"; 4]);
}

/// A form that was filled in comes as its line and its block, and not before the item has shown its questions.
#[test]
fn a_filled_form_goes_out_whole() {
    let server = serve(asking());
    let ran = get(&server, &format!("0/ask{FILLED}"), "");
    assert_eq!(ran.exits(0).text(), "thanks");
    assert_eq!(server.dialogue(), ["/ask\t!\r\n", "/ask\t+\t1\r\n+-1\r\nred\r\n\r\n.\r\n"]);
    assert_eq!(server.answers(), [[b"red".to_vec(), b"".to_vec()]]);
    // The same under a search, and with a view.
    let server = serve(asking());
    let view = FILLED.replacen("%09+%09", "%09+text/plain%09", 1);
    get(&server, &format!("0/ask{view}"), "").exits(0);
    assert_eq!(server.dialogue()[1], "/ask\t+text/plain\t1\r\n+-1\r\nred\r\n\r\n.\r\n");
}

/// Who has no such form gets nothing of it: its lines could be commands there.
#[test]
fn a_filled_form_goes_to_no_one_else() {
    let other = GopherItem::text("/ask", "no form here");
    let rows = [
        ("no Gopher+", GopherSite::new().item(other.clone())),
        ("no form", GopherSite::new().plus().item(other)),
        ("no item", GopherSite::new().plus()),
        ("220 at once", GopherSite::new().answer("220 mail.example ESMTP\r\n")),
        ("nothing", GopherSite::new().answer("")),
    ];
    for (what, site) in rows {
        let server = serve(site);
        let ran = get(&server, &format!("0/ask{FILLED}"), "");
        assert!([78, 8, 52].contains(&ran.exit) && ran.stdout.is_empty(), "{what}: {ran:?}");
        assert_eq!(server.dialogue(), ["/ask\t!\r\n"], "{what}");
    }
}

/// Rows 5 to 7: in no part, by no option, and `explain` knows it too.
#[test]
fn octets_that_would_change_the_protocol() {
    let server = serve(GopherSite::new().answer("0x\r\n"));
    let octets = [("%0D", "CR"), ("%0A", "LF"), ("%00", "NUL"), ("%0d%0a", "CR"), ("%0D%0AQUIT%0D%0A", "CR")];
    let places =
        ["0/a{}b", "0{}", "7/s%09w{}", "0/a%09%09+{}", "0/a%09%09+text/plain{}x", "0/a%09%09!{}", "8me{}"];
    for (place, (octet, name)) in places.iter().flat_map(|place| octets.map(|octet| (place, octet))) {
        let path = place.replace("{}", octet);
        get(&server, &path, "").exits(93).says(name);
        fetch(["explain", &server.url(&path)]).exits(93).says(name);
    }
    // A TAB may stand in two places only.
    for path in ["7/s%09a%09+%09b", "7/s%09a%09%09b", "0/a%09%09+%091", "0/a%09%09!%09x"] {
        get(&server, path, "").exits(93).says("TAB");
    }
    for view in ["text/plain\r\nQUIT", "a\tb", "a\nb"] {
        let ran = fetch(["--view", view, &server.url("0/a")]);
        assert!([2, 93].contains(&ran.exit), "{view:?}: {ran:?}");
    }
    // As they are they are no URL at all.
    for raw in ["0/a\tb", "0/a\r\nb", "0/a\nb", "0/a\u{7f}b"] {
        get(&server, "", "").exits(0);
        fetch([server.url(raw)]).exits(3);
    }
    assert_eq!(server.dialogue(), ["\r\n"; 4]);
}

/// What is not one block of data to its end is no filled form.
#[test]
fn blocks_that_are_none() {
    let server = serve(asking());
    for data in [
        "%0D%0A+-1%0D%0Ared%0D%0A%0D%0A.%0D%0AQUIT%0D%0A",
        "%0D%0A+-1%0D%0Ared%0D%0A",
        "%0D%0AQUIT%0D%0A",
        "%0D%0A+-1%0D%0Ared%00%0D%0A.%0D%0A",
        "%0D%0A+-1%0D%0Aa%0Db%0D%0A.%0D%0A",
        "%0D%0A+-1%0D%0A.%0D%0Ared%0D%0A.%0D%0A",
        "%0D%0A",
    ] {
        let path = format!("0/ask%09%09+%091{data}");
        get(&server, &path, "").exits(93);
        fetch(["explain", &server.url(&path)]).exits(93);
    }
    assert_eq!(server.connections(), 0);
}

/// Row 19: ports of other services, unless they are asked for by number.
#[test]
fn ports_of_others() {
    for port in [1, 7, 22, 25, 80, 110, 143, 443, 587, 1023, 2049, 6000, 6667] {
        for scheme in ["gopher", "gophers"] {
            let url = format!("{scheme}://127.0.0.1:{port}/0a");
            fetch([&url]).exits(90).says(&port.to_string());
        }
    }
    // Nobody listens there, but it may be tried.
    fetch(["--allow-port", "1", "gopher://127.0.0.1:1/0a"]).exits(7);
}

/// The lines that `explain` names and the lines that come, in their order.
#[test]
fn explain_tells_what_is_sent() {
    let server = serve(asking().item(GopherItem::search("/s", |_| b"0x\t\th\t70\r\n".to_vec())));
    for path in ["00/x", "7/s%09two%20words", "7/s%09w%09+", "0/ask%09%09!+ASK", "0/ask%09%09+", ""] {
        let before = server.dialogue().len();
        let explained = fetch(["explain", "--json", &server.url(path)]).exits(0).text();
        let value: serde_json::Value = serde_json::from_str(&explained).expect("JSON");
        assert_eq!(value["standing"], "built_in", "{explained}");
        get(&server, path, "");
        let sent = server.dialogue()[before..].concat();
        let shown = |line: &str| {
            if line.is_empty() { "(an empty line)".to_owned() } else { line.replace('\t', "\\t") }
        };
        let sent: Vec<String> = sent.split_terminator("\r\n").map(shown).collect();
        assert_eq!(value["commands"], serde_json::json!(sent), "{path}: {explained}");
        let text = fetch(["explain", &server.url(path)]).exits(0).text();
        assert!(sent.iter().all(|line| text.contains(&format!("    {line}\n"))), "{path}: {text}");
    }
    // Of a form, what is asked first; the answers are in the URL.
    let text = fetch(["explain", &server.url(&format!("0/ask{FILLED}"))]).exits(0).text();
    assert!(text.contains("    /ask\\t!\n    (the form, filled"), "{text}");
    // What needs no server says so, and octets of the URL do nothing to a terminal.
    for path in ["8me", "Tme", "2book", "hURL:http://h.example/"] {
        let text = fetch(["explain", &server.url(path)]).exits(0).text();
        assert!(text.contains("nothing"), "{path}: {text}");
    }
    let text = fetch(["explain", &server.url("0/%1B%5B2J")]).exits(0).text();
    assert!(!text.contains('\u{1b}') && text.contains("    /\\x1B[2J\n"), "{text}");
}

/// The lines of a dialogue that went out.
fn said(ran: &Ran) -> Vec<String> {
    ran.stderr.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

#[test]
fn the_dialogue_shows_what_is_sent() {
    let server = serve(asking());
    for (path, lines) in [
        ("00/x", &["0/x"][..]),
        ("7/s%09w%09+", &["/s\\tw\\t+"]),
        ("0/%1B%5B2J%E9", &["/\\x1B[2J\\xE9"]),
        ("0/ask%09%09!", &["/ask\\t!"]),
    ] {
        let ran = get(&server, path, "-v");
        assert_eq!(said(&ran), lines, "{path}: {}", ran.stderr);
    }
    // A server that does not know names in `!` is asked once more, and that is seen as well.
    let server = serve(GopherSite::new().item(GopherItem::text("/a", "x")));
    let ran = get(&server, "0/a%09%09!+ABSTRACT", "-v");
    let sent: Vec<String> =
        server.dialogue().iter().map(|line| line.trim_end().replace('\t', "\\t")).collect();
    assert_eq!(said(&ran), sent, "{}", ran.stderr);
}

/// The answers of a filled form are nobody else's business, and no line is shown that was not sent.
#[test]
fn the_dialogue_shows_no_answers() {
    for site in [asking(), GopherSite::new().plus().item(GopherItem::text("/ask", ""))] {
        let server = serve(site);
        let ran = get(&server, &format!("0/ask{FILLED}"), "-v");
        let (remarks, lines): (Vec<_>, Vec<_>) =
            said(&ran).into_iter().partition(|line| line.starts_with('('));
        assert_eq!(lines, ["/ask\\t!"], "{}", ran.stderr);
        assert!(remarks.len() == 1 && remarks[0].contains("form"), "{remarks:?}");
    }
}

/// Options that mean nothing here are refused, not forgotten.
#[test]
fn what_gopher_cannot_do() {
    let server = serve(GopherSite::new().item(GopherItem::binary("/b", "0123456789")));
    for (words, exit) in [
        ("-r 2-4", 33),
        ("--proto =http", 90),
        ("--proto -gopher", 90),
        ("--max-filesize 3", 63),
        ("--view", 2),
    ] {
        let ran = get(&server, "9/b", words);
        assert_eq!(ran.exit, exit, "{words}: {ran:?}");
    }
    for (words, path) in [("--view a/b", "9/b%09%09!"), ("--form x", "9/b"), ("--gopher-dots some", "0/b")] {
        get(&server, path, words).exits(2);
    }
}

/// Nothing of an object can be asked for: several connections for one would be several whole objects.
#[test]
fn there_are_no_parts() {
    let here = tempfile::tempdir().expect("a directory");
    let server = serve(GopherSite::new().plus().item(GopherItem::pattern("/b", 5 << 20)));
    let path = here.path().join("b");
    get(&server, "9/b%09%09+", &format!("--segments 4 -o {}", path.display())).exits(0);
    assert!(std::fs::read(&path).expect("a file") == fetch_url_tests::pattern_vec(0, 5 << 20));
    assert_eq!(server.dialogue(), ["/b\t+\r\n"]);
    // What is there is not gone on with, but replaced.
    std::fs::write(here.path().join("c"), "old").expect("a file");
    get(&server, "9/b", &format!("-C - -o {}", here.path().join("c").display()));
    let content = std::fs::read(here.path().join("c")).expect("a file");
    assert!(content == b"old" || content.len() == 5 << 20, "{}", content.len());
}

/// gophers: nothing goes out in the clear, nor to a stranger, nor by plain gopher to a server in TLS.
#[test]
fn in_tls() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let ca = format!("--cacert {}", files.ca.display());
    let site = GopherSite::new().item(GopherItem::text("/t", "in secret\r\n"));
    let server = GopherServer::start_tls(site.clone(), &cert).expect("a server");
    assert_eq!(get(&server, "0/t", &ca).exits(0).text(), "in secret\r\n");
    assert_eq!(get(&server, "0/t", "-k").exits(0).text(), "in secret\r\n");
    assert_eq!(server.dialogue(), ["/t\r\n", "/t\r\n"]);
    get(&server, "0/t", "").exits(60);
    assert!(server.dialogue()[2..].iter().all(String::is_empty), "{:?}", server.dialogue());
    for wrong in [ServerCert::expired(), ServerCert::wrong_name(), ServerCert::self_signed()] {
        let wrong = wrong.expect("a certificate");
        let server = GopherServer::start_tls(site.clone(), &wrong).expect("a server");
        get(&server, "0/t", &ca).exits(60);
        assert!(server.dialogue().iter().all(String::is_empty), "{:?}", server.dialogue());
    }
    // A server in the clear is not asked in TLS.
    let plain = serve(site);
    let ran = fetch(["-k", &plain.url("0/t").replacen("gopher", "gophers", 1)]);
    assert!([35, 60].contains(&ran.exit), "{ran:?}");
    assert!(plain.dialogue().iter().all(|request| !request.contains("/t")), "{:?}", plain.dialogue());
}

/// What is busy is asked again in the same words, where retries are wanted.
#[test]
fn a_retry_asks_the_same() {
    let busy = GopherAct::Answer(b"--1\r\n2 <a@b.example>\r\ntoo many\r\n.\r\n".to_vec());
    let site = GopherSite::new().plus().item(GopherItem::text("/t", "now"));
    let site = site.rule(GopherRule::on(GopherOn::Any, busy).nth(1));
    get(&serve(site.clone()), "0/t%09%09+", "--retry 0").exits(92).says("too many");
    let server = serve(site);
    assert_eq!(get(&server, "0/t%09%09+", "--retry 1 --retry-delay 0").exits(0).text(), "now");
    assert_eq!(server.dialogue(), ["/t\t+\r\n"; 2]);
}
