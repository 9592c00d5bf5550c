//! `mirror` when pages or files fail: what else is fetched, how the run ends, and what `--delete` must leave alone.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fetch_url_tests::{FileFacts, HttpReply, HttpServer, Ranges, file_handler};
use support::mirrored::{JOURNAL, nginx, place, tree};
use support::sound::measured;
use support::{Ran, fetch, names};

const DATE: &str = "Thu, 01 Dec 1994 12:34:56 GMT";

/// Files alone.
fn files(directory: &Path) -> Vec<String> {
    tree(directory).into_iter().filter(|name| !name.ends_with('/')).collect()
}

fn html(body: impl Into<Vec<u8>>) -> HttpReply {
    HttpReply::new(200).header("Content-Type", "text/html; charset=utf-8").body(body)
}

/// A server whose answers a test may change; a path without an answer is a file that holds its last part.
struct Site {
    server: HttpServer,
    pages: Arc<Mutex<BTreeMap<String, HttpReply>>>,
}

impl Site {
    /// `one`, `sub/x`, `sub/y`, `zero`.
    fn new() -> Self {
        let pages: Arc<Mutex<BTreeMap<String, HttpReply>>> = Arc::default();
        let here = pages.clone();
        let server = HttpServer::start(move |request| {
            let path = request.path();
            if let Some(page) = here.lock().expect("a lock").get(&path) {
                return page.clone();
            }
            let facts = FileFacts { etag: None, last_modified: Some(DATE.into()), ranges: Ranges::Honest };
            file_handler(path.rsplit('/').next().unwrap_or_default().into(), facts)(request)
        });
        let site = Self { server: server.expect("a server"), pages };
        site.reply("/d/", html(nginx(&[("one", "3"), ("sub/", "-"), ("zero", "4")])));
        site.reply("/d/sub/", html(nginx(&[("x", "1"), ("y", "1")])));
        site
    }

    fn reply(&self, path: &str, reply: HttpReply) {
        self.pages.lock().expect("a lock").insert(path.into(), reply);
    }

    fn mirror(&self, target: &Path, words: &str) -> Ran {
        let url = self.server.url("/d/");
        let words = words.split_whitespace();
        let target = target.display().to_string();
        fetch(["mirror", "--retry", "0"].into_iter().chain(words).chain([&*url, &*target]))
    }

    /// The paths that were asked for from then on, sorted.
    fn asked(&self, from: usize) -> Vec<String> {
        let requests = self.server.requests();
        let mut paths: Vec<String> = requests[from..].iter().map(|request| request.path()).collect();
        paths.sort();
        paths
    }
}

const ALL: [&str; 4] = ["one=one", "sub/x=x", "sub/y=y", "zero=zero"];

/// A page that cannot be read is a failure of its own, all else comes, and nothing is deleted because of it.
#[test]
fn a_directory_that_fails() {
    let page = nginx(&[("x", "1"), ("y", "1")]);
    let rows: Vec<(&str, HttpReply, &[i32])> = vec![
        ("404", HttpReply::new(404).body("gone"), &[78]),
        ("403", HttpReply::new(403).body("no"), &[9]),
        ("410", HttpReply::new(410), &[22, 78]),
        ("500", HttpReply::new(500), &[22]),
        ("503", HttpReply::new(503), &[92]),
        ("cut by length", html(page.clone()).cut_body_at(150), &[18]),
        ("cut in the entries", html(page.clone()).cut_body_at(page.len() as u64 - 40), &[18]),
        (
            "chunks cut",
            HttpReply::new(200)
                .header("Content-Type", "text/html")
                .chunked(vec![page.into(); 2])
                .cut_body_at(300),
            &[18],
        ),
        ("no answer", HttpReply::raw(""), &[52]),
        ("nonsense", HttpReply::raw("nonsense\r\n\r\n"), &[8]),
    ];
    for (what, reply, exits) in rows {
        let (site, here) = (Site::new(), place());
        site.mirror(here.path(), "").exits(0);
        assert_eq!(files(here.path()), ALL, "{what}");
        site.reply("/d/sub/", reply);
        // The same for a first run and for one that could delete.
        let ran = site.mirror(here.path(), "--delete");
        assert!(exits.contains(&ran.exit), "{what}: {} {}", ran.exit, ran.stderr);
        assert!(ran.stderr.contains("/d/sub/"), "{what}: {}", ran.stderr);
        assert_eq!(files(here.path()), ALL, "{what}");
        let fresh = place();
        let ran = site.mirror(fresh.path(), "");
        assert!(exits.contains(&ran.exit), "{what}: {} {}", ran.exit, ran.stderr);
        let found = files(fresh.path());
        assert!(
            found.contains(&"one=one".into()) && found.contains(&"zero=zero".into()),
            "{what}: {found:?}"
        );
        assert!(!found.iter().any(|name| name.contains(".part")), "{what}: {found:?}");
    }
}

/// A page that is whole but none of a listing: what it is not, deletes nothing either.
#[test]
fn a_directory_whose_page_is_no_listing() {
    let mut lost = Vec::new();
    for (what, reply) in [
        ("text", HttpReply::new(200).header("Content-Type", "text/plain").body("x\ny\n")),
        (
            "binary",
            HttpReply::new(200).header("Content-Type", "application/octet-stream").body(vec![0; 4000]),
        ),
        ("an image", HttpReply::new(200).header("Content-Type", "image/png").body("\u{89}PNG")),
        ("nothing", HttpReply::new(200).header("Content-Type", "text/html").body("")),
        ("204", HttpReply::new(204)),
        (
            "a login form",
            html("<html><title>Please log in</title><form action=x><input name=u></form></html>"),
        ),
        (
            "maintenance",
            html(
                "<html><title>We will be back</title><p>Soon. See <a href=\"https://status.invalid/\">here</a>",
            ),
        ),
    ] {
        let (site, here) = (Site::new(), place());
        site.mirror(here.path(), "").exits(0);
        site.reply("/d/sub/", reply);
        let ran = site.mirror(here.path(), "--delete");
        assert!(!ran.stderr.contains("panicked"), "{what}: {}", ran.stderr);
        if files(here.path()) != ALL {
            lost.push(format!("{what} (exit {}): {:?} {}", ran.exit, files(here.path()), ran.stderr));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// The first page is all there is: it fails, and DIR is not touched.
#[test]
fn the_first_page_fails() {
    for (what, reply, exits) in [
        ("404", HttpReply::new(404), 78),
        ("403", HttpReply::new(403), 9),
        ("503", HttpReply::new(503), 92),
        ("401", HttpReply::new(401).header("WWW-Authenticate", "Basic realm=x"), 67),
        ("cut", html(nginx(&[("one", "3")])).cut_body_at(200), 18),
    ] {
        let (site, here) = (Site::new(), place());
        site.mirror(here.path(), "").exits(0);
        site.reply("/d/", reply);
        let ran = site.mirror(here.path(), "--delete");
        ran.exits(exits);
        assert_eq!(files(here.path()), ALL, "{what}");
    }
}

/// The exit status is the first failure's, and the rest comes all the same, or with --fail-early does not.
#[test]
fn files_that_fail() {
    let site = Site::new();
    let many: Vec<(String, &str)> = (0..30).map(|number| (format!("f{number:02}"), "3")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    site.reply("/d/", html(nginx(&many)));
    site.reply("/d/f03", HttpReply::new(404));
    let here = place();
    let ran = site.mirror(here.path(), "");
    ran.exits(78).says("/d/f03");
    assert_eq!(files(here.path()).len(), 29);
    assert!(!here.path().join("f03").exists());
    // What has failed is asked for again, and only that.
    let before = site.server.requests().len();
    site.mirror(here.path(), "").exits(78);
    assert_eq!(site.asked(before), ["/d/", "/d/f03"]);
    site.reply("/d/f03", HttpReply::new(200).body("f03"));
    site.mirror(here.path(), "").exits(0);
    assert_eq!(files(here.path()).len(), 30);
    site.reply("/d/f03", HttpReply::new(404));
    let here = place();
    site.mirror(here.path(), "--fail-early --parallel-max 1").exits(78);
    let found = files(here.path());
    assert!(found.len() < 29, "{found:?}");
}

/// A file that ends too early has no name, goes on the next time, and is whole then.
#[test]
fn a_file_that_is_cut() {
    let site = Site::new();
    let content: String = "0123456789".repeat(20_000);
    site.reply("/d/", html(nginx(&[("big", "200000"), ("one", "3")])));
    let whole = || {
        let facts = FileFacts {
            etag: Some("\"v\"".into()),
            last_modified: Some(DATE.into()),
            ranges: Ranges::Honest,
        };
        (facts, content.clone())
    };
    let (facts, octets) = whole();
    let etag = facts.etag.expect("a tag");
    let reply = HttpReply::new(200)
        .header("ETag", &etag)
        .header("Last-Modified", DATE)
        .header("Accept-Ranges", "bytes");
    site.reply("/d/big", reply.body(octets).cut_body_at(150_000));
    let here = place();
    site.mirror(here.path(), "").exits(18);
    assert!(!here.path().join("big").exists());
    assert!(here.path().join("one").exists());
    let part = here.path().join("big.part");
    let kept = fs::metadata(&part).map(|facts| facts.len()).unwrap_or_default();
    assert_eq!(kept, 150_000, "{:?}", names(here.path()));
    let rest =
        HttpReply::new(206).header("ETag", &etag).header("Content-Range", "bytes 150000-199999/200000");
    site.reply("/d/big", rest.body(&content.as_bytes()[150_000..]));
    let before = site.server.requests().len();
    site.mirror(here.path(), "").exits(0);
    let requests = site.server.requests();
    let again = requests[before..].iter().find(|request| request.path() == "/d/big").expect("a request");
    assert_eq!(again.header_text("range"), Some("bytes=150000-"));
    assert_eq!(fs::read_to_string(here.path().join("big")).expect("a file"), content);
    assert_eq!(names(here.path()), [JOURNAL, "big", "one"]);
}

#[test]
fn redirects() {
    let other = HttpServer::start(|request| match request.path().ends_with('/') {
        true => html(nginx(&[("stolen", "6")])),
        false => HttpReply::new(200).body("stolen"),
    });
    let other = other.expect("a server");
    // A directory that is elsewhere is not ours.
    for to in [other.url("/d/sub/"), "ftp://127.0.0.1:1/".into(), "../../".into()] {
        let (site, here) = (Site::new(), place());
        site.reply("/", html(nginx(&[("d/", "-")])));
        site.reply("/d/sub/", HttpReply::new(302).header("Location", &to));
        let ran = site.mirror(here.path(), "");
        let found = files(here.path());
        assert!(!found.iter().any(|name| name.contains("stolen")), "{to}: {found:?} {}", ran.stderr);
        assert!(found.contains(&"one=one".into()), "{to}: {found:?}");
        assert!(found.len() <= 4, "{to}: {found:?}");
    }
    // A link to a directory may leave its slash out; the server says so, and it is the same directory.
    let (site, here) = (Site::new(), place());
    site.reply("/d/", html(nginx(&[("one", "3"), ("sub", "-")])));
    site.reply("/d/sub", HttpReply::new(301).header("Location", "/d/sub/"));
    site.mirror(here.path(), "");
    assert!(files(here.path()).contains(&"one=one".into()));
    // And so may the URL.
    let (site, here) = (Site::new(), place());
    site.reply("/d", HttpReply::new(301).header("Location", site.server.url("/d/")));
    let target = here.path().join("new").display().to_string();
    fetch(["mirror", "--retry", "0", &site.server.url("/d"), &target]).exits(0);
    assert_eq!(files(&here.path().join("new")), ALL);
    let ran = fetch(["mirror", "--retry", "0", &site.server.url("/d"), &target]);
    ran.exits(0);
    let paths = site.asked(0);
    assert_eq!(paths.iter().filter(|path| *path == "/d/one").count(), 1, "{paths:?}");
}

/// Fifteen thousand links are read in bounded memory; more than are wanted end it.
#[test]
fn a_huge_page() {
    let site = Site::new();
    let line = |number: u32| format!("<a href=\"file-{number:06}\">file</a>    01-Dec-1994 12:34      1\r\n");
    let lines: String = (0..15_000).map(line).collect();
    site.reply(
        "/d/",
        html(format!("<html><title>Index of /d/</title><h1>Index of /d/</h1><pre>{lines}</pre></html>")),
    );
    let here = place();
    let (url, target) = (site.server.url("/d/"), here.path().display().to_string());
    let words = ["mirror", "--retry", "0", "--include-glob", "file-014999", &url, &target];
    let (memory, ran) = measured(&words);
    ran.exits(0);
    assert_eq!(files(here.path()), ["file-014999=file-014999"]);
    assert!(memory < 160 * 1024, "{memory} KiB");
    let here = place();
    let ran = site.mirror(here.path(), "--max-entries 20");
    ran.exits(63);
    assert!((1..=20).contains(&files(here.path()).len()), "{:?}", files(here.path()));
}
