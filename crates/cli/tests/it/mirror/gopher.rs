//! `mirror` of Gopher menus: Gopher+ servers, links to other menus and hosts, truncated menus, menus without a final
//! dot.

use std::fs;
use std::path::Path;

use crate::support::mirror::{list_files, list_tree, run_mirror_with_short_timeout};
use crate::support::{RunResult, run_fetch_url, temp_dir};
use fetch_url_tests::{
    Ending, GopherAction, GopherConfig, GopherEnd, GopherItem, GopherRule, GopherServer, GopherTrigger,
};

/// Starts a server and mirrors `gopher://site.test/PATH` from it with `--connect-to`, so that several servers can play
/// the same host one after another.
fn mirror_site(site: GopherConfig, path: &str, target: &Path, options: &str) -> (RunResult, GopherServer) {
    let server = GopherServer::start(site).expect("a server on loopback");
    let connect_to = format!("site.test:70:127.0.0.1:{}", server.addr().port());
    let url = format!("gopher://site.test/{path}");
    let fixed = ["mirror", "--retry", "0", "--read-timeout", "2", "--connect-to", &connect_to];
    let target = target.display().to_string();
    let result = run_fetch_url(fixed.into_iter().chain(options.split_whitespace()).chain([&*url, &target]));
    (result, server)
}

/// Returns a menu; a line is an item type, a name and a selector.
fn menu(selector: &str, lines: &[(char, &str, &str)]) -> GopherItem {
    let line =
        |(kind, name, selector): &(char, &str, &str)| format!("{kind}{name}\t{selector}\tsite.test\t70\r\n");
    GopherItem::new('1', selector, lines.iter().map(line).collect::<String>())
}

/// The gopherd of the University of Minnesota starts every selector with the item type.
#[test]
fn selectors_that_start_with_the_item_type_are_mirrored() {
    let site = GopherConfig::new()
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
    let dir = temp_dir();
    let (result, server) = mirror_site(site, "11/dir", dir.path(), "");
    result.assert_exit(0);
    let found = list_files(dir.path());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|name| !name.contains("Up") && !name.contains("Root")), "{found:?}");
    // The root menu is above the start menu: it is not requested.
    assert!(!server.received_text().iter().any(|line| line == "\r\n"), "{:?}", server.received_text());
}

/// The `+` field in the menus of a Gopher+ server has no effect.
#[test]
fn gopher_plus_menu_is_mirrored() {
    let site = GopherConfig::new()
        .plus()
        .item(GopherItem::menu("/d", &["/d/one", "/d/bin", "/d/sub"]).at("site.test", 70))
        .item(GopherItem::text("/d/one", "line\r\n").at("site.test", 70))
        .item(GopherItem::binary("/d/bin", "\0\r\n").at("site.test", 70))
        .item(GopherItem::menu("/d/sub", &["/d/sub/x"]).at("site.test", 70))
        .item(GopherItem::text("/d/sub/x", "x\r\n").at("site.test", 70));
    let dir = temp_dir();
    let (result, server) = mirror_site(site, "1/d", dir.path(), "");
    result.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["bin", "one", "sub/x"], "{:?}", server.received_text());
    assert_eq!(fs::read(dir.path().join("bin")).expect("a file"), b"\0\r\n");
}

/// A menu without the final dot may be truncated, so `--delete` removes nothing. UMN gopherd reports errors with items
/// of type 0: they are neither files nor empty menus.
#[test]
fn errors_of_a_umn_server_are_not_stored_as_files() {
    for (text, exit) in
        [("'/pub' does not exist!!", 78), ("Too Many Users at this time, try again later", 92)]
    {
        let line = format!("0{text}\t\terror.host\t1\r\n.\r\n");
        let directory = tempfile::tempdir().expect("a directory");
        let target = directory.path().join("copy");
        let site = GopherConfig::new().on("/pub", GopherAction::Answer(line.into_bytes()));
        let (result, _) = mirror_site(site, "1/pub", &target, "--retry 0");
        result.assert_exit(exit).assert_stderr_contains(text);
        let files = fs::read_dir(&target).map_or(0, |entries| {
            entries.flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count()
        });
        assert_eq!(files, 0);
    }
}

#[test]
fn delete_needs_menu_with_final_dot() {
    let two_files = |end| {
        GopherConfig::new()
            .item(menu("/d", &[('0', "one", "/d/one"), ('0', "two", "/d/two")]).ending(end))
            .item(GopherItem::text("/d/one", "1\r\n").ending(end))
            .item(GopherItem::text("/d/two", "2\r\n").ending(end))
    };
    let one_file = |end| {
        GopherConfig::new()
            .item(menu("/d", &[('0', "one", "/d/one")]).ending(end))
            .item(GopherItem::text("/d/one", "1\r\n").ending(end))
    };
    let dir = temp_dir();
    for _ in 0..2 {
        let (result, _) = mirror_site(two_files(GopherEnd::Nothing), "1/d", dir.path(), "");
        result.assert_exit(0);
        assert_eq!(list_files(dir.path()), ["one", "two"], "{}", result.stderr);
    }
    // Without the dot, more lines could have followed.
    let (result, _) = mirror_site(one_file(GopherEnd::Nothing), "1/d", dir.path(), "--delete");
    assert_eq!(list_files(dir.path()), ["one", "two"], "exit {} {}", result.exit, result.stderr);
    // With the dot the menu is complete.
    mirror_site(one_file(GopherEnd::Dot), "1/d", dir.path(), "--delete").0.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["one"]);
}

/// Returns a site with a menu of two files.
fn two_files_site() -> GopherConfig {
    GopherConfig::new()
        .item(menu("/d", &[('0', "one", "/d/one"), ('0', "two", "/d/two")]))
        .item(GopherItem::text("/d/one", "1\r\n"))
        .item(GopherItem::text("/d/two", "2\r\n"))
}

/// The menu is truncated at every sixth byte: no file is deleted, and no file gets a truncated name.
#[test]
fn truncated_menu_deletes_nothing() {
    let dir = temp_dir();
    mirror_site(two_files_site(), "1/d", dir.path(), "").0.assert_exit(0);
    let expected = list_files(dir.path());
    let length = 2 * "0one\t/d/one\tsite.test\t70\r\n".len() as u64 + 3;
    for cut in (0..length - 3).step_by(6) {
        for ending in [Ending::Close, Ending::Reset] {
            let (result, _) = mirror_site(
                two_files_site().on("/d", GopherAction::Cut(cut, ending)),
                "1/d",
                dir.path(),
                "--delete",
            );
            assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
            assert_eq!(list_files(dir.path()), expected, "{cut} {ending:?}: {}", result.stderr);
        }
    }
}

/// The line of one dot may be an entry of the menu, after which the connection was lost.
#[test]
fn menu_whose_connection_is_reset_after_a_line_of_one_dot_deletes_nothing() {
    let dir = temp_dir();
    mirror_site(two_files_site(), "1/d", dir.path(), "").0.assert_exit(0);
    let first_line = "0one\t/d/one\tsite.test\t70\r\n";
    let site = || {
        let menu = menu("/d", &[('0', "one", "/d/one")]);
        GopherConfig::new().item(menu).item(GopherItem::text("/d/one", "1\r\n"))
    };
    let cut = GopherAction::Cut(first_line.len() as u64 + 3, Ending::Reset);
    let (result, _) = mirror_site(site().on("/d", cut), "1/d", dir.path(), "--delete");
    assert_eq!(list_files(dir.path()), ["one", "two"], "{}", result.stderr);
    mirror_site(site(), "1/d", dir.path(), "--delete").0.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["one"]);
}

/// A line that is not understood, or that reports an error, may stand for a file.
#[test]
fn menu_with_a_line_that_is_not_understood_deletes_nothing() {
    for (line, is_deleted) in [
        ("0two\t/d/two", false),
        ("garbage", false),
        ("0two\t/d/two\tsite.test\tseventy", false),
        ("3read error\t\terror.host\t1", false),
        ("0Server error\t\terror.host\t1", false),
        ("iRead me\t\terror.host\t1", true),
        ("hA page\tURL:gemini://example.com/\tsite.test\t70", true),
    ] {
        let dir = temp_dir();
        mirror_site(two_files_site(), "1/d", dir.path(), "").0.assert_exit(0);
        let answer = format!("0one\t/d/one\tsite.test\t70\r\n{line}\r\n.\r\n").into_bytes();
        let (result, _) = mirror_site(
            two_files_site().on("/d", GopherAction::Answer(answer)),
            "1/d",
            dir.path(),
            "--delete",
        );
        result.assert_exit(0);
        let expected = if is_deleted { &["one"][..] } else { &["one", "two"] };
        assert_eq!(list_files(dir.path()), expected, "{line}: {}", result.stderr);
        assert_eq!(result.stderr.contains("the line is not understood"), !is_deleted, "{}", result.stderr);
    }
}

/// The other items may be in another menu.
#[test]
fn menu_that_states_that_it_lacks_items_deletes_nothing() {
    for (text, is_deleted) in [
        ("Showing 1-1 of 2 files", false),
        ("Page 1 of 2", false),
        ("Total: 2 files", false),
        ("Error reading directory", false),
        ("Total: 1 files", true),
        ("1 of 1 files", true),
    ] {
        let dir = temp_dir();
        mirror_site(two_files_site(), "1/d", dir.path(), "").0.assert_exit(0);
        let answer = format!("0one\t/d/one\tsite.test\t70\r\ni{text}\t\terror.host\t1\r\n.\r\n");
        let site = two_files_site().on("/d", GopherAction::Answer(answer.into_bytes()));
        let (result, _) = mirror_site(site, "1/d", dir.path(), "--delete");
        result.assert_exit(0);
        let expected = if is_deleted { &["one"][..] } else { &["one", "two"] };
        assert_eq!(list_files(dir.path()), expected, "{text}: {}", result.stderr);
        assert_eq!(result.stderr.contains("its listing may be incomplete"), !is_deleted, "{}", result.stderr);
    }
}

/// An item that two menus list is copied once. If a new menu comes before the other one, the copy moves.
#[test]
fn item_of_two_menus_is_not_deleted_if_it_cannot_be_fetched_again() {
    let items = &[('0', "x", "/d/x"), ('1', "sub", "/d/sub")];
    let site = |menus: &[&str], has_items: bool| {
        let selectors: Vec<String> = menus.iter().map(|name| format!("/d/{name}")).collect();
        let root: Vec<(char, &str, &str)> =
            menus.iter().zip(&selectors).map(|(name, selector)| ('1', *name, selector.as_str())).collect();
        let mut site = GopherConfig::new().item(menu("/d", &root));
        for selector in &selectors {
            site = site.item(menu(selector, items));
        }
        let site = site.item(menu("/d/sub", &[('0', "y", "/d/y")]));
        if !has_items {
            return site;
        }
        site.item(GopherItem::text("/d/x", "x\r\n")).item(GopherItem::text("/d/y", "y\r\n"))
    };
    let dir = temp_dir();
    mirror_site(site(&["b"], true), "1/d", dir.path(), "").0.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["b/sub/y", "b/x"]);
    let (result, _) = mirror_site(site(&["a", "b"], false), "1/d", dir.path(), "--delete");
    assert_ne!(result.exit, 0);
    assert_eq!(list_files(dir.path()), ["b/sub/y", "b/x"], "{}", result.stderr);
}

/// Both items have the local name `x`, and the first menu has taken one of them.
#[test]
fn item_of_two_menus_is_not_deleted_beside_another_item_of_its_name() {
    let (p, q) = (('0', "x", "/d/p/x"), ('0', "x", "/d/q/x"));
    let site = |first: &[(char, &str, &str)], has_item: bool| {
        let site = GopherConfig::new().item(menu("/d", &[('1', "a", "/d/a"), ('1', "b", "/d/b")]));
        let site = site.item(menu("/d/a", first)).item(menu("/d/b", &[p, q]));
        let site = site.item(GopherItem::text("/d/q/x", "q\r\n")).item(GopherItem::text("/d/z", "z\r\n"));
        if has_item { site.item(GopherItem::text("/d/p/x", "p\r\n")) } else { site }
    };
    let dir = temp_dir();
    mirror_site(site(&[('0', "z", "/d/z")], true), "1/d", dir.path(), "").0.assert_exit(0);
    let files = list_files(dir.path());
    assert_eq!(files.len(), 3, "{files:?}");
    let (result, _) = mirror_site(site(&[p, ('0', "z", "/d/z")], false), "1/d", dir.path(), "--delete");
    assert_ne!(result.exit, 0);
    let contents: Vec<_> =
        files.iter().filter_map(|file| fs::read_to_string(dir.path().join(file)).ok()).collect();
    assert!(
        contents.iter().any(|content| content == "p\n" || content == "p\r\n"),
        "{:?} {}",
        list_files(dir.path()),
        result.stderr
    );
}

/// The local names of `c<` and `c>` are `c_` with a suffix.
#[test]
fn file_below_a_name_with_a_suffix_is_deleted_if_its_menu_lists_an_item_twice() {
    let dir = temp_dir();
    let root = [('1', "c<", "/d/c<"), ('0', "c>", "/d/c>"), ('1', "c<", "/d/c<"), ('0', "c>", "/d/c>")];
    for items in [&[('0', "x", "/d/c</x"), ('0', "y", "/d/c</y")][..], &[('0', "x", "/d/c</x")]] {
        let site = GopherConfig::new().item(menu("/d", &root)).item(menu("/d/c<", items));
        let site = ["/d/c>", "/d/c</x", "/d/c</y"]
            .iter()
            .fold(site, |site, selector| site.item(GopherItem::text(*selector, "text\r\n")));
        mirror_site(site, "1/d", dir.path(), "--delete").0.assert_exit(0);
        let files = list_files(dir.path());
        assert_eq!(files.len(), items.len() + 1, "{files:?}");
    }
}

/// Error items, HTML, plain text and other replies in place of the menu.
#[test]
fn reply_that_is_not_a_menu_deletes_nothing() {
    let dir = temp_dir();
    let site = || {
        GopherConfig::new()
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
        mirror_site(site(), "1/d", dir.path(), "").0.assert_exit(0);
        let (result, _) =
            mirror_site(site().on("/d", GopherAction::Answer(answer.into())), "1/d", dir.path(), "--delete");
        assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
        if list_files(dir.path()) != ["one"] {
            lost.push(format!("{answer:?}: {:?} {} {}", list_files(dir.path()), result.exit, result.stderr));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

fn start_gopher_server(site: GopherConfig) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

/// Returns the selectors that the server received, without CR LF, sorted.
fn received_selectors(server: &GopherServer) -> Vec<String> {
    let lines = server.received_text().into_iter().map(|line| line.trim_end().to_owned());
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

fn test_site() -> GopherConfig {
    GopherConfig::new()
        .item(GopherItem::menu("/d", &["/d/one", "/d/bin", "/d/sub", "/d/empty"]))
        .item(GopherItem::text("/d/one", "line\r\n.dot\r\n"))
        .item(GopherItem::binary("/d/bin", "\0\r\n.\r\n"))
        .item(GopherItem::menu("/d/sub", &["/d/sub/x", "/d"]))
        .item(GopherItem::text("/d/sub/x", "x\r\n"))
        .item(GopherItem::menu::<&str>("/d/empty", &[]))
        .item(GopherItem::text("/beside", "no"))
}

const EXPECTED_TREE: [&str; 5] = ["bin=\0\r\n.\r\n", "empty/", "one=line\n.dot\n", "sub/", "sub/x=x\n"];

/// Replaces CR LF by LF in the content of texts: both are allowed.
fn with_lf_line_ends(found: Vec<String>) -> Vec<String> {
    found
        .into_iter()
        .map(|text| if text.starts_with("bin") { text } else { text.replace("\r\n", "\n") })
        .collect()
}

/// The menu of a subdirectory links back to its parent.
#[test]
fn menu_that_links_to_its_parent_is_visited_once() {
    let (server, dir) = (start_gopher_server(test_site()), temp_dir());
    let result = run_mirror_with_short_timeout(&server.url("1/d"), dir.path(), "");
    result.assert_exit(0);
    assert_eq!(with_lf_line_ends(list_tree(dir.path())), EXPECTED_TREE, "{}", result.stderr);
    assert_eq!(received_selectors(&server), ["/d", "/d/bin", "/d/empty", "/d/one", "/d/sub", "/d/sub/x"]);
    // Gopher has no modification times: the second run gives the same tree, without second copies.
    run_mirror_with_short_timeout(&server.url("1/d"), dir.path(), "").assert_exit(0);
    assert_eq!(with_lf_line_ends(list_tree(dir.path())), EXPECTED_TREE);
    let before = received_selectors(&server).len();
    run_mirror_with_short_timeout(&server.url("1/d"), dir.path(), "--skip-existing").assert_exit(0);
    assert_eq!(received_selectors(&server).len(), before + 3, "{:?}", received_selectors(&server));
    let dir = temp_dir();
    run_mirror_with_short_timeout(&server.url("1/d"), dir.path(), "--max-depth 0").assert_exit(0);
    assert!(!list_tree(dir.path()).iter().any(|name| name.contains('x')), "{:?}", list_tree(dir.path()));
}

#[test]
fn changed_item_is_downloaded_and_missing_item_is_deleted() {
    let items = |site: GopherConfig, one: &str| site.item(GopherItem::text("/one", one.to_owned()));
    let connect_to =
        |server: &GopherServer| format!("--connect-to site.test:7070:127.0.0.1:{}", server.addr().port());
    let at = |site: GopherConfig, menu: &str| start_gopher_server(site.item(GopherItem::new('1', "", menu)));
    let dir = temp_dir();
    let line = |name: &str| format!("0{name}\t/{name}\tsite.test\t7070\r\n");
    let first = at(
        items(GopherConfig::new(), "old").item(GopherItem::text("/two", "2")),
        &(line("one") + &line("two")),
    );
    run_mirror_with_short_timeout("gopher://site.test:7070/", dir.path(), &connect_to(&first)).assert_exit(0);
    assert_eq!(with_lf_line_ends(list_tree(dir.path())).len(), 2);
    let second = at(items(GopherConfig::new(), "new"), &line("one"));
    run_mirror_with_short_timeout(
        "gopher://site.test:7070/",
        dir.path(),
        &format!("--delete {}", connect_to(&second)),
    )
    .assert_exit(0);
    let found = list_tree(dir.path());
    assert!(found.len() == 1 && found[0].starts_with("one=new"), "{found:?}");
    // A truncated menu deletes nothing.
    let third =
        start_gopher_server(items(GopherConfig::new(), "new").on("", GopherAction::Cut(3, Ending::Reset)));
    let result = run_mirror_with_short_timeout(
        "gopher://site.test:7070/",
        dir.path(),
        &format!("--delete {}", connect_to(&third)),
    );
    assert_ne!(result.exit, 0);
    assert_eq!(list_tree(dir.path()), found);
}

/// A Gopher+ form (`?`) has no content before it is filled in.
#[test]
fn forms_are_skipped_and_counted() {
    let menu = "0Ask me\t/ask\tsite.test\t7070\t?\r\n0good\t/m/good\tsite.test\t7070\t+\r\n";
    let config =
        GopherConfig::new().item(GopherItem::new('1', "/m", menu)).item(GopherItem::text("/m/good", "g"));
    let (server, dir) = (start_gopher_server(config), temp_dir());
    let options = format!("--events - --connect-to site.test:7070:127.0.0.1:{}", server.addr().port());
    let result = run_mirror_with_short_timeout("gopher://site.test:7070/1/m", dir.path(), &options);
    assert!(result.assert_exit(0).stdout_text().contains("\"elsewhere\":1"), "{}", result.stdout_text());
    assert!(!received_selectors(&server).iter().any(|line| line.starts_with("/ask")));
}

/// Other servers, searches, Telnet sessions, phone books, errors and malformed lines.
#[test]
fn items_that_are_not_files_of_this_server_are_skipped() {
    let other = start_gopher_server(GopherConfig::new().item(GopherItem::text("/x", "stolen")));
    let port = other.addr().port();
    let start = |menu: &str| {
        start_gopher_server(
            GopherConfig::new().item(GopherItem::new('1', "/m", menu)).item(GopherItem::text("/m/good", "g")),
        )
    };
    let host_and_port = "site.test\t7070";
    let menu = format!(
        "iSome words\t\terror.host\t1\r\n0other port\t/x\t127.0.0.1\t{port}\r\n1other menu\t\tlocalhost\t{port}\r\n\
         7search\t/search\t{host_and_port}\r\n8session\t\t{host_and_port}\r\nTsession\t\t{host_and_port}\r\n2phone book\t/ph\t{host_and_port}\r\n\
         hweb\tURL:http://127.0.0.1:{port}/\t{host_and_port}\r\n3error\t/err\t{host_and_port}\r\n+doubled\t/x\t{host_and_port}\r\n\
         0good\t/m/good\t{host_and_port}\r\n0\t\t\t\r\n0no fields\r\n0port\t/x\tsite.test\t99999\r\n0port\t/x\tsite.test\t0\r\n\
         1itself\t/m\t{host_and_port}\r\n1itself\t/m\tSITE.TEST\t7070\r\n"
    );
    let (server, dir) = (start(&menu), temp_dir());
    let connect_to = format!("--connect-to site.test:7070:127.0.0.1:{}", server.addr().port());
    let result = run_mirror_with_short_timeout("gopher://site.test:7070/1/m", dir.path(), &connect_to);
    let found = list_tree(dir.path());
    assert!(found.iter().any(|name| name.starts_with("good=g")), "{found:?} {}", result.stderr);
    assert!(
        !found
            .iter()
            .any(|name| name.contains("stolen") || name.contains("session") || name.contains("phone")),
        "{found:?}"
    );
    assert_eq!(other.connections(), 0, "{:?}", other.received_text());
    let requested = received_selectors(&server);
    assert!(
        !requested
            .iter()
            .any(|line| line.starts_with("/search") || line.starts_with("URL:") || line == "/ph"),
        "{requested:?}"
    );
    assert_eq!(requested.iter().filter(|line| *line == "/m").count(), 1, "{requested:?}");
}

/// The same name twice, the same selector with two types, a file and a menu of the same name.
#[test]
fn items_with_the_same_name_stay_separate_files() {
    let site = GopherConfig::new()
        .item(GopherItem::new('1', "", "0x\t/x\tsite.test\t70\r\n9x\t/x\tsite.test\t70\r\n0x\t/other\tsite.test\t70\r\n1x\t/menu\tsite.test\t70\r\n0x y\t/a/x y\tsite.test\t70\r\n0x/y\t/b/xy\tsite.test\t70\r\n"))
        .item(GopherItem::text("/x", "first"))
        .item(GopherItem::text("/other", "second"))
        .item(GopherItem::text("/b/xy", "third"))
        .item(GopherItem::text("/a/x y", "fourth"))
        .item(GopherItem::new('1', "/menu", "0deep\t/deep\tsite.test\t70\r\n"))
        .item(GopherItem::text("/deep", "fifth"));
    let (server, dir) = (start_gopher_server(site), temp_dir());
    let connect_to = format!("--connect-to site.test:70:127.0.0.1:{}", server.addr().port());
    let result = run_mirror_with_short_timeout("gopher://site.test/", dir.path(), &connect_to);
    let found = list_tree(dir.path());
    // Every item is downloaded or reported.
    for (content, selector) in
        [("first", "/x"), ("second", "/other"), ("third", "/b/xy"), ("fourth", "/a/x y"), ("fifth", "/deep")]
    {
        let is_here = found.iter().any(|name| name.trim_end().ends_with(content));
        assert!(is_here || !result.stderr.is_empty(), "{selector}: {found:?} {}", result.stderr);
    }
    // The second run gives the same tree.
    run_mirror_with_short_timeout("gopher://site.test/", dir.path(), &connect_to);
    assert_eq!(list_tree(dir.path()), found);
}

#[test]
fn failed_item_does_not_stop_the_others() {
    let site_with_error = || {
        test_site().item(GopherItem::text("/d/gone", "")).rule(GopherRule::on(
            "/d/one",
            GopherAction::Answer(b"3No such file\terror\terror.host\t1\r\n.\r\n".to_vec()),
        ))
    };
    let (server, dir) = (start_gopher_server(site_with_error()), temp_dir());
    let result = run_mirror_with_short_timeout(&server.url("1/d"), dir.path(), "");
    // An error line (type 3) may be stored as the content of the text; all other items are downloaded.
    assert!(result.exit == 0 || result.exit == 78, "{} {}", result.exit, result.stderr);
    assert_eq!(
        list_tree(dir.path())
            .iter()
            .filter(|name| name.starts_with("sub/x=") || name.starts_with("bin="))
            .count(),
        2
    );
    let (server, dir) = (
        start_gopher_server(test_site().rule(GopherRule::on("/d/sub", GopherAction::Cut(10, Ending::Reset)))),
        temp_dir(),
    );
    let result = run_mirror_with_short_timeout(&server.url("1/d"), dir.path(), "");
    assert_ne!(result.exit, 0);
    assert!(list_tree(dir.path()).iter().any(|name| name.starts_with("one=")), "{:?}", list_tree(dir.path()));
}

#[test]
fn empty_items_of_a_server_that_ignores_attribute_requests_are_mirrored_by_every_run() {
    let is_empty_item = |line: &[u8]| line.starts_with(b"/e") || line.starts_with(b"/b");
    let lines = [('0', "text", "/e"), ('9', "binary", "/b"), ('0', "full", "/f")];
    let dir = temp_dir();
    for run in 1..=3 {
        let site = GopherConfig::new()
            .item(menu("", &lines))
            .item(GopherItem::text("/f", "x\r\n"))
            .on(GopherTrigger::Matches(is_empty_item), GopherAction::Answer(Vec::new()));
        let (result, _server) = mirror_site(site, "", dir.path(), "");
        result.assert_exit(0);
        assert_eq!(list_files(dir.path()), ["b", "e", "f"], "run {run}");
    }
}

/// The menu lists a menu and an item of it, and then another item with the same name.
#[test]
fn only_copy_of_an_item_is_kept_when_it_gets_a_suffix() {
    let site = |lines: &[(char, &str, &str)], has_item: bool| {
        let site = GopherConfig::new()
            .item(menu("/d", lines))
            .item(menu("/d/docs", &[('0', "y", "/d/docs/y"), ('0', "news", "/d/docs/news")]))
            .item(GopherItem::text("/d/docs/y", "y\r\n"))
            .item(GopherItem::text("/d/f/news", "f\r\n"));
        if has_item { site.item(GopherItem::text("/d/docs/news", "n\r\n")) } else { site }
    };
    let first = [('1', "docs", "/d/docs"), ('0', "news", "/d/docs/news")];
    let second = [first[0], first[1], ('0', "other", "/d/f/news")];
    let dir = temp_dir();
    mirror_site(site(&first, true), "1/d", dir.path(), "").0.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["docs/y", "news"]);
    for _ in 0..2 {
        mirror_site(site(&second, false), "1/d", dir.path(), "--delete").0.assert_exit(78);
        assert!(list_files(dir.path()).contains(&"news".to_owned()));
    }
    mirror_site(site(&second, true), "1/d", dir.path(), "--delete").0.assert_exit(0);
    let files = list_files(dir.path());
    assert!(files.len() == 3 && !files.contains(&"news".to_owned()), "{files:?}");
}

/// Each menu links to the start menu.
#[test]
fn item_that_has_gone_is_deleted_although_menus_link_to_menus_above() {
    let site = |names: &[&str]| {
        let mut lines = vec![('1', "Home", "/d"), ('1', "sub", "/d/sub")];
        lines.extend(names.iter().map(|name| ('0', *name, *name)));
        let menus = [menu("/d", &lines), menu("/d/sub", &[('1', "Home", "/d"), ('0', "y", "/d/sub/y")])];
        let items = names.iter().chain(&["/d/sub/y"]).map(|name| GopherItem::text(*name, "x\r\n"));
        menus.into_iter().chain(items).fold(GopherConfig::new(), GopherConfig::item)
    };
    let dir = temp_dir();
    mirror_site(site(&["/d/a", "/d/gone"]), "1/d", dir.path(), "").0.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["a", "gone", "sub/y"]);
    mirror_site(site(&["/d/a"]), "1/d", dir.path(), "--delete").0.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["a", "sub/y"]);
}
