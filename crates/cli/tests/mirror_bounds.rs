//! `mirror` and what has no end: menus and pages that are made up as they are asked for, paths that grow, special files,
//! names of every kind, and what a power cut leaves.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use fetch_url_tests::{
    GopherItem, GopherServer, GopherSite, HttpReply, HttpServer, NntpGroup, NntpServer, NntpSite,
};
use support::mirrored::{JOURNAL, mirror, place};
use support::outcome::is_raw;
use support::sound::measured;
use support::{names, shell};

/// All that is below, the journal excepted: `name=content`, `directory/`; sorted.
fn tree(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in names(directory).into_iter().filter(|name| name != JOURNAL) {
        let path = directory.join(&name);
        if path.is_dir() {
            found.push(format!("{name}/"));
            found.extend(tree(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            found.push(format!("{name}={}", String::from_utf8_lossy(&fs::read(&path).unwrap_or_default())));
        }
    }
    found.sort();
    found
}

/// Every path that ends with a slash is a page of these.
fn endless(lines: &str) -> HttpServer {
    let page = format!("<html><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\r\n{lines}</pre></html>");
    let started = HttpServer::start(move |request| match request.path().ends_with('/') {
        true => HttpReply::new(200).header("Content-Type", "text/html").body(page.clone()),
        false => HttpReply::new(200).body("x"),
    });
    started.expect("a server")
}

#[test]
fn a_tree_without_end() {
    let server =
        endless("<a href=\"deeper/\">deeper/</a>\r\n<a href=\"f\">f</a>    01-Dec-1994 12:34    1\r\n");
    let here = place();
    let ran = mirror(&server.url("/d/"), here.path(), "");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    // The first one and 32 below it.
    assert_eq!(server.requests().iter().filter(|request| request.path().ends_with('/')).count(), 33);
    assert_eq!(tree(here.path()).iter().filter(|name| name.ends_with("f=x")).count(), 33);
    // It is wide, too: an end is set by the entries of all pages together.
    let server = endless(
        "<a href=\"a/\">a/</a>\r\n<a href=\"b/\">b/</a>\r\n<a href=\"f\">f</a>    01-Dec-1994 12:34    1\r\n",
    );
    let here = place();
    let ran = mirror(&server.url("/d/"), here.path(), "--max-entries 100");
    ran.exits(63);
    let found = tree(here.path()).len();
    assert!((20..=101).contains(&found), "{found}");
    assert!(server.requests().len() <= 130, "{}", server.requests().len());
}

/// Paths of more octets than the system takes: told, without end or panic, and what fits is there.
#[test]
fn paths_that_grow() {
    let long = "n".repeat(240);
    let server =
        endless(&format!("<a href=\"{long}/\">x</a>\r\n<a href=\"f\">f</a>    01-Dec-1994 12:34    1\r\n"));
    let here = place();
    let ran = mirror(&server.url("/d/"), here.path(), "");
    assert!(!ran.stderr.contains("panicked"), "{:.500}", ran.stderr);
    // The name may be shortened: `.part.json` has to fit behind it.
    let below = names(here.path()).into_iter().find(|name| name.starts_with("nn")).expect("a directory");
    let is_there = here.path().join("f").exists() && here.path().join(below).join("f").exists();
    assert!(is_there, "{:?} exit {} {:.600}", names(here.path()), ran.exit, ran.stderr);
    let pages = server.requests().iter().filter(|request| request.path().ends_with('/')).count();
    assert!(pages <= 33, "{pages}");
}

/// Gopher menus that lead on and on, and whose names mean harm.
#[test]
fn menus_that_mean_harm() {
    let selectors = [
        "/d/..",
        "/d/../..",
        "/d/../../evil",
        "/d/\x1b[2J",
        "/d/con",
        "/d/.fetch-url-mirror",
        "/d/x.part",
        "/d/x.part.json",
        "/d//",
        "/d/.",
        "/d/ ",
        "/d/a\\..\\b",
        "/d/C:x",
        "/d/-rf",
        "/d/|id",
        "/d/\u{202e}gpj",
        "/d/.ssh/authorized_keys",
    ];
    let line = |kind: char, selector: &str| format!("{kind}{selector}\t{selector}\tsite.test\t70\r\n");
    let menu: String =
        selectors.iter().flat_map(|selector| [line('0', selector), line('1', selector)]).collect();
    let site =
        selectors.iter().fold(GopherSite::new().item(GopherItem::new('1', "/d", menu)), |site, selector| {
            site.item(GopherItem::text(selector, "evil"))
        });
    let server = GopherServer::start(site).expect("a server");
    let instead = format!("--connect-to site.test:70:127.0.0.1:{}", server.addr().port());
    for words in ["", "--dot-names"] {
        let here = place();
        let target = here.path().join("a/target");
        fs::create_dir_all(&target).expect("a directory");
        let ran = mirror("gopher://site.test/1/d", &target, &format!("-v {words} {instead}"));
        assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains(is_raw), "{:?}", ran.stderr);
        assert_eq!(
            (names(here.path()), names(&here.path().join("a"))),
            (vec!["a".into()], vec!["target".into()])
        );
        for entry in tree(&target) {
            let path = entry.split('=').next().unwrap_or_default().trim_end_matches('/').to_owned();
            for name in path.split('/') {
                let is_odd =
                    name.contains(is_raw) || name.contains('\\') || name.ends_with(".part") || name == "con";
                assert!(!is_odd && name != ".." && name != JOURNAL, "{entry:?}");
                assert!(!name.starts_with('.') || !words.is_empty(), "{entry:?}");
            }
        }
        let journal = fs::read_to_string(target.join(JOURNAL)).expect("a journal");
        assert!(journal.contains("gopher://site.test/1/d"), "{journal}");
    }
}

/// A FIFO, a device, a socket in the source: nobody waits for them.
#[test]
fn special_files() {
    let place = place();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    fs::create_dir(&source).expect("a directory");
    fs::write(source.join("a"), "1").expect("a file");
    shell("mkfifo \"$1/fifo\" && ln -s /dev/zero \"$1/zero\"", [&source]).exits(0);
    let ran = mirror(&format!("file://{}/", source.display()), &target, "");
    assert!(!ran.stderr.contains("panicked") && ran.exit < 99, "{} {}", ran.exit, ran.stderr);
    assert_eq!(tree(&target), ["a=1"], "{}", ran.stderr);
    assert!(ran.stderr.contains("fifo"), "what is left out is told: {}", ran.stderr);
}

/// Names are octets; what is safe keeps its name, and all keep their octets.
#[test]
fn names_of_every_kind() {
    let place = place();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    fs::create_dir(&source).expect("a directory");
    let safe = [
        "a#b",
        "a%41",
        "a%2fb",
        "ü",
        "two words",
        "a&amp;b",
        "a;type=d",
        "x+y",
        "'q'",
        "日本",
        "UPPER",
        "upper",
    ];
    for name in safe {
        fs::write(source.join(name), name).expect("a file");
    }
    let odd: [&[u8]; 5] = [b"a?b", b"\xff\xfe", b"new\nline", b"tab\t", b"esc\x1b[2J"];
    for name in odd {
        fs::write(source.join(OsStr::from_bytes(name)), name).expect("a file");
    }
    let url = format!("file://{}/", source.display());
    mirror(&url, &target, "").exits(0);
    for name in safe {
        assert_eq!(fs::read_to_string(target.join(name)).unwrap_or_default(), name, "{:?}", names(&target));
    }
    let found: Vec<Vec<u8>> = fs::read_dir(&target)
        .expect("a directory")
        .map(|entry| fs::read(entry.expect("an entry").path()).expect("a file"))
        .collect();
    for name in odd {
        assert!(found.iter().any(|content| content == name), "{name:?}: {:?}", names(&target));
    }
    assert!(!names(&target).iter().any(|name| name.contains(is_raw)), "{:?}", names(&target));
    let ran = mirror(&url, &target, "--delete --events -");
    assert_eq!(names(&target).len(), safe.len() + odd.len() + 1, "{}", ran.stderr);
}

/// After a power cut the lines behind the last mark of the journal do not count; after a kill all do.
#[test]
fn after_a_power_cut() {
    let server = endless(
        "<a href=\"f\">f</a>    01-Dec-1994 12:34    1\r\n<a href=\"g\">g</a>    01-Dec-1994 12:34    1\r\n",
    );
    for (marked, same_boot, again) in [(true, true, 0), (true, false, 0), (false, true, 0), (false, false, 2)]
    {
        let here = place();
        mirror(&server.url("/d/"), here.path(), "").exits(0);
        let path = here.path().join(JOURNAL);
        let text = fs::read_to_string(&path).expect("a journal");
        let lines: Vec<String> =
            text.lines().filter(|line| marked || !line.contains("synced")).map(str::to_owned).collect();
        let first: serde_json::Value = serde_json::from_str(&lines[0]).expect("JSON");
        let boot = first["boot"].as_str().expect("a boot");
        let text = lines.join("\n") + "\n";
        let other = "0".repeat(8) + &boot[8..];
        fs::write(&path, if same_boot { text } else { text.replace(boot, &other) }).expect("a journal");
        let before = server.requests().len();
        mirror(&server.url("/d/"), here.path(), "").exits(0);
        assert_eq!(server.requests().len() - before, 1 + again, "marked {marked}, same boot {same_boot}");
        assert_eq!(tree(here.path()), ["f=x", "g=x"]);
    }
}

/// Many small files in bounded memory.
#[test]
fn many_articles() {
    let server =
        NntpServer::start(NntpSite::new().group(NntpGroup::new("a.one").crowd(1, 400))).expect("a server");
    let here = place();
    let target = here.path().display().to_string();
    let (memory, ran) = measured(&["mirror", "--retry", "0", &server.url("a.one"), &target]);
    ran.exits(0);
    assert_eq!(names(here.path()).len(), 401);
    assert!(memory < 100 * 1024, "{memory} KiB");
    let before = server.octets_sent();
    mirror(&server.url("a.one"), here.path(), "").exits(0);
    assert!(server.dialogue().iter().filter(|line| line.starts_with("ARTICLE")).count() == 400, "{before}");
}

/// What names many groups, or none, is no group.
#[test]
fn patterns_of_groups() {
    let server =
        NntpServer::start(NntpSite::new().group(NntpGroup::new("a.one").crowd(1, 3))).expect("a server");
    let own = format!("--news-server {}", server.news_server());
    for url in
        ["news:*".to_owned(), "news:a.*".to_owned(), server.url(""), server.url("a.*"), "news:".to_owned()]
    {
        let here = place();
        let target = here.path().join("new");
        let ran = mirror(&url, &target, &own);
        assert!(!ran.stderr.contains("panicked") && ran.exit < 99, "{url}: {}", ran.stderr);
        let found = if target.exists() { tree(&target) } else { Vec::new() };
        // Either nothing, told, or a directory for each group.
        assert!(
            ran.exit != 0 || found.iter().any(|name| name.starts_with("a.one/")),
            "{url}: {found:?} {}",
            ran.stderr
        );
    }
    // A range of a group is its articles, or is refused.
    let here = place();
    let ran = mirror(&server.url("a.one/2-3"), here.path(), "");
    let found: Vec<String> = names(here.path()).into_iter().filter(|name| name != JOURNAL).collect();
    assert!(found == ["2", "3"] || (ran.exit != 0 && found.is_empty()), "{found:?} {}", ran.stderr);
}
