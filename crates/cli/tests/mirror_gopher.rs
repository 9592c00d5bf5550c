//! `mirror` of gopher servers as they are: Gopher+, menus without a final dot, selectors that begin with their type, menus
//! that end too early.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;

use fetch_url_tests::{Ending, GopherAct, GopherEnd, GopherItem, GopherServer, GopherSite};
use support::mirrored::{files, place};
use support::{Ran, fetch};

/// Under a name of its own, so that several servers can be the same one after another.
fn mirror(site: GopherSite, path: &str, target: &Path, words: &str) -> (Ran, GopherServer) {
    let server = GopherServer::start(site).expect("a server on loopback");
    let instead = format!("site.test:70:127.0.0.1:{}", server.addr().port());
    let url = format!("gopher://site.test/{path}");
    let own = ["mirror", "--retry", "0", "--read-timeout", "2", "--connect-to", &instead];
    let target = target.display().to_string();
    let ran = fetch(own.into_iter().chain(words.split_whitespace()).chain([&*url, &target]));
    (ran, server)
}

/// A menu of these lines: type, name, selector.
fn menu(selector: &str, lines: &[(char, &str, &str)]) -> GopherItem {
    let line =
        |(kind, name, selector): &(char, &str, &str)| format!("{kind}{name}\t{selector}\tsite.test\t70\r\n");
    GopherItem::new('1', selector, lines.iter().map(line).collect::<String>())
}

/// UMN's gopherd: selectors begin with the type of the item.
#[test]
fn selectors_with_types() {
    let site = GopherSite::new()
        .item(menu(
            "1/dir",
            &[('0', "About it", "0/dir/about"), ('9', "tar", "9/dir/x.tar"), ('1', "Below", "1/dir/below")],
        ))
        .item(menu(
            "1/dir/below",
            &[('0', "Deep", "0/dir/below/deep"), ('1', "Up", "1/dir"), ('1', "Root", "")],
        ))
        .item(GopherItem::text("0/dir/about", "a\r\n"))
        .item(GopherItem::binary("9/dir/x.tar", "t"))
        .item(GopherItem::text("0/dir/below/deep", "d\r\n"));
    let here = place();
    let (ran, server) = mirror(site, "11/dir", here.path(), "");
    ran.exits(0);
    let found = files(here.path());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|name| !name.contains("Up") && !name.contains("Root")), "{found:?}");
    // The root is above: it is not asked for.
    assert!(!server.dialogue().iter().any(|line| line == "\r\n"), "{:?}", server.dialogue());
}

/// Gopher+ servers: the mark in menus changes nothing, and forms are not filled in.
#[test]
fn gopher_plus() {
    let site = GopherSite::new()
        .plus()
        .item(GopherItem::menu("/d", &["/d/one", "/d/bin", "/d/sub"]).at("site.test", 70))
        .item(GopherItem::text("/d/one", "line\r\n").at("site.test", 70))
        .item(GopherItem::binary("/d/bin", "\0\r\n").at("site.test", 70))
        .item(GopherItem::menu("/d/sub", &["/d/sub/x"]).at("site.test", 70))
        .item(GopherItem::text("/d/sub/x", "x\r\n").at("site.test", 70));
    let here = place();
    let (ran, server) = mirror(site, "1/d", here.path(), "");
    ran.exits(0);
    assert_eq!(files(here.path()), ["bin", "one", "sub/x"], "{:?}", server.dialogue());
    assert_eq!(fs::read(here.path().join("bin")).expect("a file"), b"\0\r\n");
}

/// Servers that never send a final dot: all comes, again and again, and nothing goes because of it.
#[test]
fn no_final_dots() {
    let full = |end| {
        GopherSite::new()
            .item(menu("/d", &[('0', "one", "/d/one"), ('0', "two", "/d/two")]).ends(end))
            .item(GopherItem::text("/d/one", "1\r\n").ends(end))
            .item(GopherItem::text("/d/two", "2\r\n").ends(end))
    };
    let less = |end| {
        GopherSite::new()
            .item(menu("/d", &[('0', "one", "/d/one")]).ends(end))
            .item(GopherItem::text("/d/one", "1\r\n").ends(end))
    };
    let here = place();
    for _ in 0..2 {
        let (ran, _) = mirror(full(GopherEnd::Nothing), "1/d", here.path(), "");
        ran.exits(0);
        assert_eq!(files(here.path()), ["one", "two"], "{}", ran.stderr);
    }
    // Without a dot nobody knows whether more would have come.
    let (ran, _) = mirror(less(GopherEnd::Nothing), "1/d", here.path(), "--delete");
    assert_eq!(files(here.path()), ["one", "two"], "exit {} {}", ran.exit, ran.stderr);
    // With one it is known.
    mirror(less(GopherEnd::Dot), "1/d", here.path(), "--delete").0.exits(0);
    assert_eq!(files(here.path()), ["one"]);
}

/// A menu is cut at every octet: what is deleted is nothing, and what is named is never half a name.
#[test]
fn menus_that_are_cut() {
    let site = || {
        GopherSite::new()
            .item(menu("/d", &[('0', "one", "/d/one"), ('0', "two", "/d/two")]))
            .item(GopherItem::text("/d/one", "1\r\n"))
            .item(GopherItem::text("/d/two", "2\r\n"))
    };
    let here = place();
    mirror(site(), "1/d", here.path(), "").0.exits(0);
    let whole = files(here.path());
    let length = 2 * "0one\t/d/one\tsite.test\t70\r\n".len() as u64 + 3;
    for cut in (0..length - 3).step_by(6) {
        for ending in [Ending::Close, Ending::Reset] {
            let (ran, _) =
                mirror(site().on("/d", GopherAct::Cut(cut, ending)), "1/d", here.path(), "--delete");
            assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
            assert_eq!(files(here.path()), whole, "{cut} {ending:?}: {}", ran.stderr);
        }
    }
}

/// What a server says instead of a menu.
#[test]
fn no_menu() {
    let here = place();
    let site = || {
        GopherSite::new()
            .item(menu("/d", &[('0', "one", "/d/one")]))
            .item(GopherItem::text("/d/one", "1\r\n"))
    };
    let mut lost = Vec::new();
    for answer in [
        "3No such file\terror\terror.host\t1\r\n.\r\n",
        "--1\r\nNo\r\n.\r\n",
        "<html><body>Hello</body></html>",
        "just words\r\nand more\r\n.\r\n",
        "",
        ".\r\n",
        "iNothing today\t\terror.host\t1\r\n.\r\n",
        "\0\0\0\0",
    ] {
        mirror(site(), "1/d", here.path(), "").0.exits(0);
        let (ran, _) =
            mirror(site().on("/d", GopherAct::Answer(answer.into())), "1/d", here.path(), "--delete");
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        if files(here.path()) != ["one"] {
            lost.push(format!("{answer:?}: {:?} {} {}", files(here.path()), ran.exit, ran.stderr));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}
