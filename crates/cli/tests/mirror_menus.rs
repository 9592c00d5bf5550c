//! `mirror` of gopher menus, which may lead anywhere, and of news groups, one file an article.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::path::Path;

use fetch_url_tests::{
    Ending, GopherAct, GopherItem, GopherRule, GopherServer, GopherSite, NntpAct, NntpArticle, NntpGroup,
    NntpRule, NntpServer, NntpSite,
};
use support::mirrored::{place, tree};
use support::{Ran, fetch};

fn gopher(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

fn run(url: &str, target: &Path, words: &str) -> Ran {
    let target = target.display().to_string();
    let own = ["mirror", "--retry", "0", "--read-timeout", "1"];
    fetch(own.into_iter().chain(words.split_whitespace()).chain([url, &target]))
}

/// What was asked for, without line ends, sorted.
fn selectors(server: &GopherServer) -> Vec<String> {
    let lines = server.dialogue().into_iter().map(|line| line.trim_end().to_owned());
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

fn site() -> GopherSite {
    GopherSite::new()
        .item(GopherItem::menu("/d", &["/d/one", "/d/bin", "/d/sub", "/d/empty"]))
        .item(GopherItem::text("/d/one", "line\r\n.dot\r\n"))
        .item(GopherItem::binary("/d/bin", "\0\r\n.\r\n"))
        .item(GopherItem::menu("/d/sub", &["/d/sub/x", "/d"]))
        .item(GopherItem::text("/d/sub/x", "x\r\n"))
        .item(GopherItem::menu::<&str>("/d/empty", &[]))
        .item(GopherItem::text("/beside", "no"))
}

const ALL: [&str; 5] = ["bin=\0\r\n.\r\n", "empty/", "one=line\n.dot\n", "sub/", "sub/x=x\n"];

/// Line ends of texts may be as they came or as they are here.
fn in_lf(found: Vec<String>) -> Vec<String> {
    found
        .into_iter()
        .map(|text| if text.starts_with("bin") { text } else { text.replace("\r\n", "\n") })
        .collect()
}

/// A menu that links to the one above it is not visited twice.
#[test]
fn menus_that_link_up() {
    let (server, here) = (gopher(site()), place());
    let ran = run(&server.url("1/d"), here.path(), "");
    ran.exits(0);
    assert_eq!(in_lf(tree(here.path())), ALL, "{}", ran.stderr);
    assert_eq!(selectors(&server), ["/d", "/d/bin", "/d/empty", "/d/one", "/d/sub", "/d/sub/x"]);
    // Gopher cannot say what has changed: it is the same tree, and no second copy of anything.
    run(&server.url("1/d"), here.path(), "").exits(0);
    assert_eq!(in_lf(tree(here.path())), ALL);
    let before = selectors(&server).len();
    run(&server.url("1/d"), here.path(), "--skip-existing").exits(0);
    assert_eq!(selectors(&server).len(), before + 3, "{:?}", selectors(&server));
    let here = place();
    run(&server.url("1/d"), here.path(), "--max-depth 0").exits(0);
    assert!(!tree(here.path()).iter().any(|name| name.contains('x')), "{:?}", tree(here.path()));
}

#[test]
fn what_has_changed_comes_and_what_is_gone_goes() {
    let items = |site: GopherSite, one: &str| site.item(GopherItem::text("/one", one.to_owned()));
    let instead =
        |server: &GopherServer| format!("--connect-to site.test:7070:127.0.0.1:{}", server.addr().port());
    let at = |site: GopherSite, menu: &str| gopher(site.item(GopherItem::new('1', "", menu)));
    let here = place();
    let line = |name: &str| format!("0{name}\t/{name}\tsite.test\t7070\r\n");
    let first = at(
        items(GopherSite::new(), "old").item(GopherItem::text("/two", "2")),
        &(line("one") + &line("two")),
    );
    run("gopher://site.test:7070/", here.path(), &instead(&first)).exits(0);
    assert_eq!(in_lf(tree(here.path())).len(), 2);
    let second = at(items(GopherSite::new(), "new"), &line("one"));
    run("gopher://site.test:7070/", here.path(), &format!("--delete {}", instead(&second))).exits(0);
    let found = tree(here.path());
    assert!(found.len() == 1 && found[0].starts_with("one=new"), "{found:?}");
    // A menu without its final dot may be cut: it deletes nothing where it is not whole.
    let third = gopher(items(GopherSite::new(), "new").on("", GopherAct::Cut(3, Ending::Reset)));
    let ran = run("gopher://site.test:7070/", here.path(), &format!("--delete {}", instead(&third)));
    assert_ne!(ran.exit, 0);
    assert_eq!(tree(here.path()), found);
}

/// Elsewhere, searches, sessions, pictures of other kinds, nonsense: menus are data.
#[test]
fn what_menus_hold_beside_files() {
    let other = gopher(GopherSite::new().item(GopherItem::text("/x", "stolen")));
    let port = other.addr().port();
    let start = |menu: &str| {
        gopher(
            GopherSite::new().item(GopherItem::new('1', "/m", menu)).item(GopherItem::text("/m/good", "g")),
        )
    };
    let own = "site.test\t7070";
    let menu = format!(
        "iSome words\t\terror.host\t1\r\n0other port\t/x\t127.0.0.1\t{port}\r\n1other menu\t\tlocalhost\t{port}\r\n\
         7search\t/search\t{own}\r\n8session\t\t{own}\r\nTsession\t\t{own}\r\n2phone book\t/ph\t{own}\r\n\
         hweb\tURL:http://127.0.0.1:{port}/\t{own}\r\n3error\t/err\t{own}\r\n+doubled\t/x\t{own}\r\n\
         0good\t/m/good\t{own}\r\n0\t\t\t\r\n0no fields\r\n0port\t/x\tsite.test\t99999\r\n0port\t/x\tsite.test\t0\r\n\
         1itself\t/m\t{own}\r\n1itself\t/m\tSITE.TEST\t7070\r\n"
    );
    let (server, here) = (start(&menu), place());
    let instead = format!("--connect-to site.test:7070:127.0.0.1:{}", server.addr().port());
    let ran = run("gopher://site.test:7070/1/m", here.path(), &instead);
    let found = tree(here.path());
    assert!(found.iter().any(|name| name.starts_with("good=g")), "{found:?} {}", ran.stderr);
    assert!(
        !found
            .iter()
            .any(|name| name.contains("stolen") || name.contains("session") || name.contains("phone")),
        "{found:?}"
    );
    assert_eq!(other.connections(), 0, "{:?}", other.dialogue());
    let asked = selectors(&server);
    assert!(
        !asked.iter().any(|line| line.starts_with("/search") || line.starts_with("URL:") || line == "/ph"),
        "{asked:?}"
    );
    assert_eq!(asked.iter().filter(|line| *line == "/m").count(), 1, "{asked:?}");
}

/// Two names, two files: the same name twice, the same selector under two types, a file and a menu of one name.
#[test]
fn names_that_meet() {
    let site = GopherSite::new()
        .item(GopherItem::new('1', "", "0x\t/x\tsite.test\t70\r\n9x\t/x\tsite.test\t70\r\n0x\t/other\tsite.test\t70\r\n1x\t/menu\tsite.test\t70\r\n0x y\t/a/x y\tsite.test\t70\r\n0x/y\t/b/xy\tsite.test\t70\r\n"))
        .item(GopherItem::text("/x", "first"))
        .item(GopherItem::text("/other", "second"))
        .item(GopherItem::text("/b/xy", "third"))
        .item(GopherItem::text("/a/x y", "fourth"))
        .item(GopherItem::new('1', "/menu", "0deep\t/deep\tsite.test\t70\r\n"))
        .item(GopherItem::text("/deep", "fifth"));
    let (server, here) = (gopher(site), place());
    let instead = format!("--connect-to site.test:70:127.0.0.1:{}", server.addr().port());
    let ran = run("gopher://site.test/", here.path(), &instead);
    let found = tree(here.path());
    // Whatever is not brought is told.
    for (content, selector) in
        [("first", "/x"), ("second", "/other"), ("third", "/b/xy"), ("fourth", "/a/x y"), ("fifth", "/deep")]
    {
        let is_here = found.iter().any(|name| name.trim_end().ends_with(content));
        assert!(is_here || !ran.stderr.is_empty(), "{selector}: {found:?} {}", ran.stderr);
    }
    // And again it is the same.
    run("gopher://site.test/", here.path(), &instead);
    assert_eq!(tree(here.path()), found);
}

#[test]
fn gopher_failures() {
    let with = || {
        site().item(GopherItem::text("/d/gone", "")).rule(GopherRule::on(
            "/d/one",
            GopherAct::Answer(b"3No such file\terror\terror.host\t1\r\n.\r\n".to_vec()),
        ))
    };
    let (server, here) = (gopher(with()), place());
    let ran = run(&server.url("1/d"), here.path(), "");
    // Type 0 with a line of type 3 is a text as good as any; all else is there.
    assert!(ran.exit == 0 || ran.exit == 78, "{} {}", ran.exit, ran.stderr);
    assert_eq!(
        tree(here.path())
            .iter()
            .filter(|name| name.starts_with("sub/x=") || name.starts_with("bin="))
            .count(),
        2
    );
    let (server, here) =
        (gopher(site().rule(GopherRule::on("/d/sub", GopherAct::Cut(10, Ending::Reset)))), place());
    let ran = run(&server.url("1/d"), here.path(), "");
    assert_ne!(ran.exit, 0);
    assert!(tree(here.path()).iter().any(|name| name.starts_with("one=")), "{:?}", tree(here.path()));
}

fn article(number: u64) -> NntpArticle {
    NntpArticle::post(
        &format!("{number}@test.invalid"),
        &format!("Number {number}"),
        format!("{number}.\r\n.\r\nend\r\n"),
    )
}

fn group(numbers: &[u64]) -> NntpGroup {
    numbers.iter().fold(NntpGroup::new("a.one"), |group, number| group.article(*number, article(*number)))
}

fn news(site: NntpSite) -> (NntpServer, String) {
    let server = NntpServer::start(site).expect("a server on loopback");
    let instead = format!("--connect-to news.test:1119:127.0.0.1:{}", server.addr().port());
    (server, instead)
}

fn articles(server: &NntpServer) -> Vec<String> {
    let mut lines = server.dialogue();
    lines.retain(|line| line.starts_with("ARTICLE") || line.starts_with("BODY"));
    lines.sort();
    lines
}

const GROUP: &str = "nntp://news.test:1119/a.one";

fn holds(directory: &Path, numbers: &[u64]) {
    let text = |number: &u64| format!("{number}={}", String::from_utf8_lossy(&article(*number).octets()));
    assert_eq!(tree(directory), numbers.iter().map(text).collect::<Vec<_>>());
}

#[test]
fn a_group() {
    let here = place();
    let (server, instead) = news(NntpSite::new().group(group(&[2, 3, 5])));
    run(GROUP, here.path(), &instead).exits(0);
    holds(here.path(), &[2, 3, 5]);
    for words in ["", "--skip-existing"] {
        run(GROUP, here.path(), &format!("{words} {instead}")).exits(0);
        assert_eq!(articles(&server).len(), 3, "{words}: {:?}", server.dialogue());
    }
    // New ones come; expired ones stay, until --delete.
    let (server, instead) = news(NntpSite::new().group(group(&[3, 5, 6])));
    run(GROUP, here.path(), &instead).exits(0);
    assert_eq!(articles(&server), ["ARTICLE 6"]);
    holds(here.path(), &[2, 3, 5, 6]);
    run(GROUP, here.path(), &format!("--delete {instead}")).exits(0);
    holds(here.path(), &[3, 5, 6]);
    // By news:, from the server named elsewhere.
    let here = place();
    run("news:a.one", here.path(), &format!("--news-server {}", server.news_server())).exits(0);
    holds(here.path(), &[3, 5, 6]);
    // A server that knows no OVER.
    let here = place();
    let (server, instead) = news(NntpSite::new().no("OVER").no("XOVER").group(group(&[2, 3])));
    run(GROUP, here.path(), &instead).exits(0);
    holds(here.path(), &[2, 3]);
    run(GROUP, here.path(), &format!("--skip-existing {instead}")).exits(0);
    assert_eq!(articles(&server).len(), 2);
}

#[test]
fn news_failures() {
    // An article that is cancelled between listing and fetching; the others come.
    let here = place();
    let site = NntpSite::new().group(group(&[2, 3, 5]));
    let (_server, instead) = news(site.clone().answer("ARTICLE 3", "423 No such article.\r\n"));
    let ran = run(GROUP, here.path(), &instead);
    ran.exits(78).says("/3");
    holds(here.path(), &[2, 5]);
    let (server, instead) = news(site.clone());
    run(GROUP, here.path(), &instead).exits(0);
    assert_eq!(articles(&server), ["ARTICLE 3"]);
    holds(here.path(), &[2, 3, 5]);
    // The overview is cut: nothing is deleted, and it is a failure.
    for act in
        [NntpAct::CutBlock(30, Ending::Close), NntpAct::Answer(b"503 Broken.\r\n".to_vec()), NntpAct::NoDot]
    {
        let (_server, instead) =
            news(site.clone().rule(NntpRule::on("OVER", act.clone())).rule(NntpRule::on("XOVER", act)));
        let ran = run(GROUP, here.path(), &format!("--delete {instead}"));
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        holds(here.path(), &[2, 3, 5]);
    }
    // No such group.
    let (_server, instead) = news(NntpSite::new());
    let ran = run(GROUP, here.path(), &format!("--delete {instead}"));
    ran.exits(78);
    holds(here.path(), &[2, 3, 5]);
    // A connection that ends in an article.
    let here = place();
    let (_server, instead) =
        news(site.clone().rule(NntpRule::on("ARTICLE 3", NntpAct::CutBlock(40, Ending::Reset))));
    let ran = run(GROUP, here.path(), &instead);
    assert_ne!(ran.exit, 0);
    assert!(!here.path().join("3").exists());
    let (_server, instead) = news(site);
    run(GROUP, here.path(), &instead).exits(0);
    holds(here.path(), &[2, 3, 5]);
}

#[test]
fn limits_and_globs_of_news() {
    let (_server, instead) = news(NntpSite::new().group(group(&[2, 3, 5, 13])));
    let here = place();
    run(GROUP, here.path(), &format!("--include-glob *3 {instead}")).exits(0);
    holds(here.path(), &[13, 3]);
    let here = place();
    run(GROUP, here.path(), &format!("--exclude-glob 1? {instead}")).exits(0);
    holds(here.path(), &[2, 3, 5]);
}
