//! Lists of groups and of articles (SEMANTICS.md §6; RFC 3977 §6.1, §7.6 and §8; SECURITY.md, row 84): for people
//! in 80 columns, for programs as JSON, and as they came, whatever the server knows of OVER.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use fetch_url_tests::{NntpAct, NntpArticle, NntpGroup, NntpServer, NntpSite, Terminal};
use serde_json::{Value, json};
use support::{BINARY, Ran, fetch};

fn serve(site: NntpSite) -> NntpServer {
    NntpServer::start(site).expect("a server on loopback")
}

fn get(server: &NntpServer, words: &str, url: &str) -> Ran {
    let addr = server.news_server();
    fetch(["--news-server", &addr].into_iter().chain(words.split_whitespace()).chain([url]))
}

/// The command lines that ask for something.
fn asked(server: &NntpServer) -> Vec<String> {
    let mut lines = server.dialogue();
    lines.retain(|line| !line.starts_with("CAPABILITIES") && !line.starts_with("MODE") && line != "QUIT");
    lines
}

/// An object for each line of JSON.
fn objects(ran: &Ran) -> Vec<Value> {
    ran.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn members(object: &Value, names: &str) -> Value {
    Value::Array(names.split(' ').map(|name| object[name].clone()).collect())
}

const FIELDS: &str = "number subject from date message_id references bytes lines";
const FIRST: &str = "From: Alice <alice@test.invalid>\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= and more\r\n\
    Date: Thu, 01 Dec 1994 12:34:56 +0000\r\nMessage-ID: <one@test.invalid>\r\n\r\nHello\r\n";
const SECOND: &str = "From: \"Bob B.\" <bob@test.invalid>\r\nSubject: Re:\r\n\tone\r\nMessage-ID: <a/b%c+d@test.invalid>\r\n\
    References: <zero@test.invalid> <one@test.invalid>\r\nDate: 2 Dec 94 01:02:03 EST\r\nLines: 2\r\n\r\n.a\r\nb\r\n";

/// Articles 3, 4 and 7.
fn group() -> NntpGroup {
    let last = NntpArticle::new("Subject: last\r\nMessage-ID: <last@test.invalid>\r\n\r\n");
    let named = [(3, NntpArticle::new(FIRST)), (4, NntpArticle::new(SECOND)), (7, last)];
    named
        .into_iter()
        .fold(NntpGroup::new("fetch.test"), |group, (number, article)| group.article(number, article))
}

/// One group for each posting flag that servers have.
fn groups() -> NntpSite {
    let crowd = NntpGroup::new("comp.lang.rust").posting("n").crowd(5, 20);
    let site = NntpSite::new().group(group()).group(crowd);
    let rest =
        [("comp.lang.c++", "m"), ("fr.\u{e9}t\u{e9}", "x"), ("alt.3d", "j"), ("moved", "=comp.lang.rust")];
    rest.iter().fold(site, |site, (name, flag)| site.group(NntpGroup::new(name).posting(flag)))
}

#[test]
fn articles_for_programs() {
    let server = serve(NntpSite::new().group(group()));
    let url = server.url("fetch.test");
    let all = objects(get(&server, "--format json", &url).exits(0));
    let expected = [
        json!([
            3,
            "=?utf-8?Q?Gr=C3=BC=C3=9Fe?= and more",
            "Alice <alice@test.invalid>",
            "Thu, 01 Dec 1994 12:34:56 +0000",
            "<one@test.invalid>",
            "",
            FIRST.len(),
            1
        ]),
        json!([
            4,
            "Re: one",
            "\"Bob B.\" <bob@test.invalid>",
            "2 Dec 94 01:02:03 EST",
            "<a/b%c+d@test.invalid>",
            "<zero@test.invalid> <one@test.invalid>",
            SECOND.len(),
            2
        ]),
        json!([7, "last", "", "", "<last@test.invalid>", "", 50, 0]),
    ];
    assert_eq!(all.iter().map(|object| members(object, FIELDS)).collect::<Vec<_>>(), expected);
    for (object, number) in all.iter().zip([3, 4, 7]) {
        assert_eq!(object["url"], format!("{url}/{number}"));
    }
    let asked = asked(&server);
    assert!(
        asked.len() == 2 && asked[0] == "GROUP fetch.test" && asked[1].starts_with("OVER 3-"),
        "{asked:?}"
    );
    // The same of `news:`, whose URLs lead to the same server.
    let named = objects(get(&server, "--format json", "news:fetch.test").exits(0));
    let fields = |all: &[Value]| all.iter().map(|object| members(object, FIELDS)).collect::<Vec<_>>();
    assert_eq!(fields(&named), fields(&all));
}

#[test]
fn groups_for_programs() {
    let server = serve(groups());
    let all = objects(get(&server, "--format json", "news:*").exits(0));
    let expected = [
        json!(["fetch.test", 3, 7, "y"]),
        json!(["comp.lang.rust", 5, 24, "n"]),
        json!(["comp.lang.c++", 1, 0, "m"]),
        json!(["fr.\u{e9}t\u{e9}", 1, 0, "x"]),
        json!(["alt.3d", 1, 0, "j"]),
        json!(["moved", 1, 0, "=comp.lang.rust"]),
    ];
    let found: Vec<Value> = all.iter().map(|object| members(object, "name low high posting")).collect();
    assert_eq!(found, expected);
    assert_eq!(asked(&server), ["LIST ACTIVE"]);
}

/// What a list names can be fetched, with nothing but its URL.
#[test]
fn urls_lead_to_what_they_name() {
    let server = serve(groups());
    for words in ["news:*", "news:fetch.*", "news:comp.*,fr.*"] {
        for object in objects(get(&server, "--format json", words).exits(0)) {
            let url = object["url"].as_str().expect("a URL").to_owned();
            let lines = fetch(["--format", "json", &url]);
            let high: u64 = object["high"].as_u64().expect("a number");
            assert_eq!(objects(lines.exits(0)).is_empty(), high == 0, "{url}");
        }
    }
    for list in [server.url("fetch.test"), "news:fetch.test".to_owned()] {
        let all = objects(get(&server, "--format json", &list).exits(0));
        let octets = |at: usize| fetch([all[at]["url"].as_str().expect("a URL")]).exits(0).text();
        assert_eq!((octets(0), octets(1)), (FIRST.to_owned(), SECOND.to_owned()));
    }
}

#[test]
fn as_it_came() {
    let server = serve(groups());
    let ran = get(&server, "--format raw", "news:*");
    let expected = "fetch.test 7 3 y\r\ncomp.lang.rust 24 5 n\r\ncomp.lang.c++ 0 1 m\r\n\
        fr.\u{e9}t\u{e9} 0 1 x\r\nalt.3d 0 1 j\r\nmoved 0 1 =comp.lang.rust\r\n";
    assert_eq!(ran.exits(0).text(), expected);
    let hostile = b"3\ta\x1b[2J\xff\t\t\r\n..dot\r\nno line\r\n\r\n99999999999999999999\tx\r\n";
    let site = NntpSite::new().group(group()).on("OVER", NntpAct::Block(hostile.to_vec()));
    let ran = get(&serve(site), "--format raw", "news:fetch.test");
    let expected = b"3\ta\x1b[2J\xff\t\t\r\n.dot\r\nno line\r\n\r\n99999999999999999999\tx\r\n";
    assert_eq!(ran.exits(0).stdout.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn for_people() {
    let server = serve(groups());
    let text = get(&server, "", &server.url("fetch.test")).exits(0).text();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0], ["3", "1994-12-01", "12:34", "Alice", "Gr\u{fc}\u{df}e", "and", "more"]);
    assert_eq!(lines[1], ["4", "1994-12-02", "06:02", "Bob", "B.", "Re:", "one"]);
    assert_eq!((lines[2][0], lines[2].last()), ("7", Some(&"last")));
    let text = get(&server, "--format text", "news:*").exits(0).text();
    assert_eq!(text.lines().count(), 6, "{text}");
    for name in ["fetch.test", "comp.lang.rust", "comp.lang.c++", "fr.\u{e9}t\u{e9}", "alt.3d"] {
        assert_eq!(text.matches(name).count(), 1 + usize::from(name == "comp.lang.rust"), "{name}: {text}");
    }
}

/// An article whose From and Subject are these.
fn titled(from: &str, subject: &str) -> NntpSite {
    let head = format!("From: {from}\r\nSubject: {subject}\r\nMessage-ID: <a@b>\r\nDate: x\r\n\r\n");
    NntpSite::new().group(NntpGroup::new("fetch.test").next(NntpArticle::new(head)))
}

/// Encoded words (RFC 2047) are decoded where a person reads them, and nowhere else.
#[test]
fn encoded_words() {
    let rows = [
        ("=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "Gr\u{fc}\u{df}e"),
        ("=?ISO-8859-1?q?caf=E9_noir?=", "caf\u{e9} noir"),
        ("=?utf-8?B?4pyTIG9r?=", "\u{2713} ok"),
        ("=?utf-8?b?4pyT?=\r\n =?utf-8?Q?_x?=", "\u{2713} x"),
        ("a =?utf-8?Q?b?= c", "a b c"),
        ("=?utf-8*en?Q?b?=", "b"),
        ("=?windows-1252?Q?=80?=", "\u{20ac}"),
        ("=?utf-8?X?b?=", "=?utf-8?X?b?="),
        ("=?utf-8?Q?b", "=?utf-8?Q?b"),
        ("=?", "=?"),
    ];
    for (subject, expected) in rows {
        let server = serve(titled("a@b", subject));
        let text = get(&server, "", "news:fetch.test").exits(0).text();
        assert!(text.trim_end().ends_with(&format!(" {expected}")), "{subject}: {text}");
        let unfolded = subject.replace("\r\n", "");
        let json = objects(get(&server, "--format json", "news:fetch.test").exits(0));
        assert_eq!(json[0]["subject"], unfolded.as_str(), "{subject}");
        let raw = get(&server, "--format raw", "news:fetch.test").exits(0).text();
        assert!(raw.contains(&format!("\t{unfolded}\t")), "{subject}: {raw}");
    }
    let server = serve(titled("=?utf-8?Q?J=C3=BCrgen_M=2E?= <j@test.invalid>", "x"));
    let text = get(&server, "", "news:fetch.test").exits(0).text();
    assert!(text.contains("J\u{fc}rgen M."), "{text}");
}

/// Whatever is encoded, a line is a line, and a terminal obeys nothing of it (SEMANTICS.md §12).
#[test]
fn nothing_is_obeyed() {
    let hostile = [
        "=?utf-8?Q?a=1B[2Jb?=",
        "=?utf-8?Q?a=0D=0Ab=0Ac?=",
        "=?utf-8?Q?a=E2=80=AEb?=",
        "=?utf-8?Q?a=C2=9B31mb?=",
        "=?iso-8859-1?Q?a=9B31mb?=",
        "=?utf-8?Q?a=E2=80=A8b?=",
        "a\x1b]0;title\x07b",
        "a\u{202e}b\u{85}c",
        "a\x08\x08\x7fb",
    ];
    let group = hostile.iter().fold(NntpGroup::new("fetch.test"), |group, text| {
        group.next(NntpArticle::new(format!(
            "From: {text} <a@b>\r\nSubject: {text}\r\nMessage-ID: <a@b>\r\n\r\n"
        )))
    });
    let server = serve(NntpSite::new().group(group).group(NntpGroup::new("a\x1b[2J\u{202e}b")));
    let is_raw = |character: char| {
        character.is_control() && character != '\n' || ('\u{2028}'..='\u{202e}').contains(&character)
    };
    for words in [&["news:fetch.test"][..], &["news:*"], &["-I", "news:fetch.test"]] {
        let addr = server.news_server();
        let arguments = [&["--news-server", addr.as_str()][..], words].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 200).expect("a terminal");
        assert_eq!(terminal.exit().expect("an end"), 0, "{}", terminal.screen());
        let screen = terminal.screen();
        assert!(!screen.contains(is_raw), "{}", screen.escape_debug());
        let text = fetch(&arguments).exits(0).text();
        assert_eq!(text.lines().count(), screen.lines().count(), "{text:?} {screen:?}");
        let lines = if words == ["news:fetch.test"] { hostile.len() } else { text.lines().count() };
        assert_eq!(screen.lines().count(), lines, "{screen:?}");
    }
    for object in objects(get(&server, "--format json", "news:fetch.test").exits(0)) {
        assert!(object["number"].as_u64().is_some_and(|number| (1..=9).contains(&number)), "{object}");
    }
}

/// 80 columns, also with long names, wide letters and high numbers.
#[test]
fn eighty_columns() {
    let long = "x".repeat(300);
    let wide = "\u{6f22}\u{5b57}".repeat(60);
    let group = |name: &str| {
        let article = |text: &str| {
            NntpArticle::new(format!("From: {text} <a@b>\r\nSubject: {text}\r\nMessage-ID: <a@b>\r\n\r\n"))
        };
        NntpGroup::new(name).article(1, article(&long)).article(2_147_483_647, article(&wide))
    };
    let server = serve(NntpSite::new().group(group("fetch.test")).group(group(&"long.".repeat(30))));
    let addr = server.news_server();
    for url in ["news:fetch.test", "news:*"] {
        let mut terminal = Terminal::run(BINARY, &["--news-server", &addr, url], 80).expect("a terminal");
        assert_eq!(terminal.exit().expect("an end"), 0, "{}", terminal.screen());
        for line in terminal.screen().lines() {
            let width: usize = line.chars().map(|letter| 1 + usize::from(letter >= '\u{2e80}')).sum();
            assert!(width <= 80 || url == "news:*", "{width}: {line}");
        }
        // Nothing is cut off but the name of the author.
        let screen: String = terminal.screen().split_whitespace().collect();
        let whole = if url == "news:*" { "long.".repeat(30) } else { long.clone() };
        assert!(
            screen.contains(&whole) && (url == "news:*" || screen.contains(&wide)),
            "{}",
            terminal.screen()
        );
    }
}

#[test]
fn without_over() {
    let sites = [
        ("OVER", NntpSite::new()),
        ("XOVER", NntpSite::new().no("OVER")),
        ("XOVER", NntpSite::new().answer("OVER", "500 What?\r\n")),
        // Not kept at all: whether XOVER is tried is a matter of taste.
        ("", NntpSite::new().answer("OVER", "503 Not kept\r\n")),
        ("XOVER", NntpSite::new().answer("CAPABILITIES", "500 What?\r\n").answer("OVER", "500 What?\r\n")),
        ("HEAD", NntpSite::new().no("OVER").no("XOVER")),
        ("HEAD", NntpSite::new().no("XOVER").answer("OVER", "503 Not kept\r\n")),
        (
            "HEAD",
            NntpSite::new()
                .no("CAPABILITIES")
                .no("OVER")
                .no("XOVER")
                .delay(std::time::Duration::from_millis(2)),
        ),
    ];
    let known = "number subject from date message_id references";
    let mut expected = Vec::new();
    for (verb, site) in sites {
        let server = serve(site.group(group()));
        let all = objects(get(&server, "--format json", &server.url("fetch.test")).exits(0));
        let found: Vec<Value> = all.iter().map(|object| members(object, known)).collect();
        if expected.is_empty() {
            expected.clone_from(&found);
        }
        assert_eq!(found, expected, "{verb}: {:?}", server.dialogue());
        let last = asked(&server).pop().expect("a command");
        assert!(last.starts_with(verb), "{verb}: {:?}", server.dialogue());
        assert_eq!(server.connections(), 1);
    }
    assert_eq!(expected.len(), 3);
}

/// Holes are not errors, and a group that is empty is an empty list, however the server says so.
#[test]
fn nothing_there() {
    for (site, row) in empty_groups().into_iter().zip(0..) {
        let server = serve(site);
        for format in ["text", "json", "raw"] {
            let ran = get(&server, &format!("--format {format}"), "news:fetch.test");
            assert!(
                ran.exit == 0 && ran.stdout.is_empty(),
                "{row} {format}: {ran:?} {:?}",
                server.dialogue()
            );
        }
    }
    let server = serve(NntpSite::new());
    for url in ["news:*", "news:none.*"] {
        for format in ["text", "json", "raw"] {
            let ran = get(&server, &format!("--format {format}"), url);
            assert!(ran.exits(0).stdout.is_empty(), "{url} {format}: {}", ran.text());
        }
    }
    get(&server, "", "news:none").exits(78).says("411");
}

#[test]
fn an_empty_mbox() {
    for (site, row) in empty_groups().into_iter().zip(0..) {
        let server = serve(site);
        let ran = get(&server, "--format mbox", "news:fetch.test");
        assert!(ran.exit == 0 && ran.stdout.is_empty(), "{row}: {ran:?} {:?}", server.dialogue());
    }
}

fn empty_groups() -> [NntpSite; 8] {
    let empty = || NntpGroup::new("fetch.test");
    [
        NntpSite::new().group(empty()),
        NntpSite::sn().group(empty()),
        NntpSite::new().group(empty()).no("OVER"),
        NntpSite::new().group(empty()).no("OVER").no("XOVER"),
        NntpSite::new().group(empty().said_to_be(0, 8, 7)),
        NntpSite::new().group(empty().said_to_be(0, 0, 0)),
        NntpSite::new().group(empty().said_to_be(5, 3, 7)),
        NntpSite::new().group(empty().said_to_be(5, 3, 7)).no("OVER").no("XOVER"),
    ]
}

/// Patterns (RFC 3977 §4); where the server does not know them, we do.
#[test]
fn patterns() {
    let sites = [groups(), groups().answer("LIST ACTIVE", "501 What?\r\n")];
    for (site, row) in sites.into_iter().zip(0..) {
        let server = serve(site);
        for (pattern, expected) in PATTERNS {
            assert_eq!(matching(&server, pattern), expected, "{row} {pattern}: {:?}", server.dialogue());
        }
        assert_eq!(server.dialogue().iter().filter(|line| line == &"LIST ACTIVE comp.*").count(), 1);
    }
}

#[test]
fn a_list_active_that_is_not_kept() {
    let server = serve(groups().answer("LIST ACTIVE", "503 LIST command not implemented\r\n"));
    for (pattern, expected) in PATTERNS {
        assert_eq!(matching(&server, pattern), expected, "{pattern}: {:?}", server.dialogue());
    }
    assert_eq!(matching(&server, "*").len(), 6);
}

const PATTERNS: [(&str, &[&str]); 6] = [
    ("comp.*", &["comp.lang.rust", "comp.lang.c++"]),
    ("*.test", &["fetch.test"]),
    ("comp.*,!*.rust", &["comp.lang.c++"]),
    ("fr.%C3%A9*", &["fr.\u{e9}t\u{e9}"]),
    ("*d*", &["alt.3d", "moved"]),
    ("none.*", &[]),
];
/// The names of the groups of a pattern.
fn matching(server: &NntpServer, pattern: &str) -> Vec<String> {
    let all = objects(get(server, "--format json", &format!("news:{pattern}")).exits(0));
    all.iter().map(|object| object["name"].as_str().expect("a name").to_owned()).collect()
}

/// RFC 977's days: numbers from 10, XOVER alone, LIST as it was.
#[test]
fn a_server_of_old() {
    let site = || NntpSite::sn().group(group()).group(NntpGroup::new("fetch.empty"));
    for site in [site(), site().no("XOVER"), site().answer("LIST ACTIVE", "501 Bad syntax\r\n")] {
        let server = serve(site);
        let all = objects(get(&server, "--format json", &server.url("fetch.test")).exits(0));
        let numbers: Vec<u64> =
            all.iter().map(|object| object["number"].as_u64().expect("a number")).collect();
        assert_eq!(numbers, [10, 11, 14], "{:?}", server.dialogue());
        assert_eq!(fetch([all[1]["url"].as_str().expect("a URL")]).exits(0).text(), SECOND);
        let all = objects(get(&server, "--format json", "news:*").exits(0));
        let found: Vec<Value> = all.iter().map(|object| members(object, "name low high")).collect();
        assert_eq!(found[0], json!(["fetch.test", 10, 14]), "{:?}", server.dialogue());
        assert_eq!(found.len(), 2);
    }
}

/// Lines that are no lines of an overview neither hide others nor make articles up.
#[test]
fn lines_of_garbage() {
    let block = "3\tone\ta@b\tx\t<1@b>\t\t10\t1\r\n\r\nnot a number\tx\r\n4\tshort\r\n-5\ta\tb\tc\td\te\tf\tg\r\n\
        99999999999999999999\tbig\ta@b\tx\t<2@b>\t\t1\t1\r\n\
        7\tlast\ta@b\tx\t<3@b>\t\tmany\t\tXref: x fetch.test:7\r\n";
    let site = NntpSite::new().group(group()).on("OVER", NntpAct::Block(block.into()));
    let server = serve(site);
    let all = objects(get(&server, "--format json", "news:fetch.test").exits(0));
    let found: Vec<Value> = all.iter().filter(|object| !object["number"].is_null()).cloned().collect();
    let numbers: Vec<u64> = found.iter().map(|object| object["number"].as_u64().expect("a number")).collect();
    assert!(numbers == [3, 4, 7] || numbers == [3, 7], "{all:?}");
    assert_eq!(members(&found[0], FIELDS), json!([3, "one", "a@b", "x", "<1@b>", "", 10, 1]));
    let last = found.last().expect("articles");
    assert_eq!(members(last, FIELDS), json!([7, "last", "a@b", "x", "<3@b>", "", null, null]));
}

/// The numbers of a group, and no list of it.
#[test]
fn what_is_known_of_a_group() {
    let server = serve(NntpSite::new().group(group()));
    let text = get(&server, "-I", &server.url("fetch.test")).exits(0).text();
    for number in ["3", "7"] {
        assert!(text.split_whitespace().any(|word| word == number), "{text}");
    }
    let json = objects(get(&server, "-I --format json", "news:fetch.test").exits(0));
    assert_eq!(json[0]["fields"], json!([["Articles", "3"], ["First", "3"], ["Last", "7"]]));
    assert_eq!(asked(&server), ["GROUP fetch.test"; 2]);
    get(&server, "-I", "news:none").exits(78);
}
