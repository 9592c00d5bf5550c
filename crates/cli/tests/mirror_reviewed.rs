//! What the reviews of `mirror` have found: each fault once more.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fetch_url_tests::{HttpReply, HttpServer};
use support::{Ran, fetch, serving};

/// What `--skip-existing` leaves is not what an earlier run has brought: it is not deleted, and not taken for the server's.
#[test]
fn what_was_skipped_is_not_ours() {
    let names = Arc::new(Mutex::new(vec!["a", "b"]));
    let listed = names.clone();
    let server = serving(move |request| match request.path().as_str() {
        "/d/" => {
            let row = |name: &&str| format!("<a href=\"{name}\">{name}</a>  01-Dec-1994 12:34  4\n");
            let rows: String = listed.lock().expect("names").iter().map(row).collect();
            let page = format!("<title>Index of /d/</title><pre><a href=\"../\">../</a>\n{rows}</pre>");
            HttpReply::new(200).header("Content-Type", "text/html").body(page)
        }
        _ => HttpReply::new(200).body("them"),
    });
    let here = tempfile::tempdir().expect("a directory");
    fs::write(here.path().join("a"), "mine").expect("a file");
    let (url, target) = (server.url("/d/"), here.path().display().to_string());
    let mirror = |more: &[&str]| fetch([&["mirror", "--retry", "0"], more, &[&url, &target]].concat());
    mirror(&["--skip-existing"]).exits(0);
    assert_eq!(fs::read_to_string(here.path().join("a")).expect("a file"), "mine");
    *names.lock().expect("names") = vec!["b"];
    mirror(&["--delete"]).exits(0);
    assert!(here.path().join("a").exists(), "nobody has brought it");
    *names.lock().expect("names") = vec!["a", "b"];
    mirror(&[]).exits(0);
    assert_eq!(fs::read_to_string(here.path().join("a")).expect("a file"), "them");
}

/// A server whose `/d/` shows `page`, and whose files hold their own names.
fn site(page: impl Fn(&str) -> HttpReply + Send + Sync + 'static) -> HttpServer {
    serving(move |request| match request.path().as_str() {
        path if path.ends_with('/') => page(path),
        path => HttpReply::new(200).body(path.rsplit('/').next().unwrap_or_default().to_owned()),
    })
}

fn html(rows: &str) -> HttpReply {
    let page = format!("<title>Index of /d/</title><pre><a href=\"../\">../</a>\n{rows}</pre>");
    HttpReply::new(200).header("Content-Type", "text/html").body(page)
}

fn mirror(server: &HttpServer, target: &Path, more: &[&str]) -> Ran {
    let (url, target) = (server.url("/d/"), target.display().to_string());
    fetch([&["mirror", "--retry", "0"], more, &[&url, &target]].concat())
}

fn text(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap_or_default()
}

/// A redirect of the first directory takes no secret along, and is not followed to another server.
#[test]
fn secrets_stay_at_their_server() {
    let other = site(|_| html("<a href=\"x\">x</a>  01-Dec-1994 12:34  1\n"));
    let to = other.url("/d/").replacen("127.0.0.1", "localhost", 1);
    let server = site(move |_| HttpReply::new(302).header("Location", &to));
    let here = tempfile::tempdir().expect("a directory");
    let ran = mirror(&server, here.path(), &["-u", "me:canary", "-H", "X-Key: canary", "-b", "c=canary"]);
    ran.exits(90);
    assert!(other.requests().iter().all(|request| !format!("{request:?}").contains("canary")));
    assert!(!here.path().join("x").exists());
}

/// Two URLs whose safe names are one: the order of the listing, or one that goes, mixes nothing up.
#[test]
fn names_do_not_wander() {
    let rows = Arc::new(Mutex::new(vec!["a:b", "a*b"]));
    let listed = rows.clone();
    let server = site(move |_| {
        let row = |name: &&str| format!("<a href=\"./{name}\">{name}</a>  01-Dec-1994 12:34  3\n");
        html(&listed.lock().expect("rows").iter().map(row).collect::<String>())
    });
    let here = tempfile::tempdir().expect("a directory");
    let by_content = |wanted: &str| {
        let names = support::names(here.path());
        names.into_iter().filter(|name| text(here.path(), name) == wanted).collect::<Vec<_>>()
    };
    mirror(&server, here.path(), &[]).exits(0);
    let before = (by_content("a:b"), by_content("a*b"));
    assert!(before.0.len() == 1 && before.1.len() == 1, "{before:?}");
    *rows.lock().expect("rows") = vec!["a*b", "a:b"];
    mirror(&server, here.path(), &[]).exits(0);
    assert_eq!((by_content("a:b"), by_content("a*b")), before);
    *rows.lock().expect("rows") = vec!["a*b"];
    mirror(&server, here.path(), &["--delete"]).exits(0);
    assert_eq!((by_content("a:b").len(), by_content("a*b").len()), (0, 1));
}

/// An older version in the place of a newer one is another version, whatever the server says of "not modified since".
#[test]
fn what_becomes_older_has_changed() {
    let version = Arc::new(Mutex::new(("02-Jan-2024", "new")));
    let now = version.clone();
    let server = serving(move |request| {
        let (day, content) = *now.lock().expect("a version");
        match request.path().as_str() {
            "/d/" => html(&format!("<a href=\"x\">x</a>  {day} 12:34  3\n")),
            _ if request.header("if-modified-since").is_some() => HttpReply::new(304),
            _ => HttpReply::new(200).body(content),
        }
    });
    let here = tempfile::tempdir().expect("a directory");
    mirror(&server, here.path(), &[]).exits(0);
    *version.lock().expect("a version") = ("01-Dec-1994", "old");
    mirror(&server, here.path(), &[]).exits(0);
    assert_eq!(text(here.path(), "x"), "old");
}

/// A file that becomes a directory: the second run at the latest has it right.
#[test]
fn kinds_change() {
    let rows = Arc::new(Mutex::new("<a href=\"x\">x</a>  01-Dec-1994 12:34  1\n"));
    let listed = rows.clone();
    let server = site(move |path| match path {
        "/d/" => html(*listed.lock().expect("rows")),
        _ => html("<a href=\"y\">y</a>  01-Dec-1994 12:34  1\n"),
    });
    let here = tempfile::tempdir().expect("a directory");
    mirror(&server, here.path(), &[]).exits(0);
    for (row, path) in [
        ("<a href=\"x/\">x/</a>  01-Dec-1994 12:34  -\n", "x/y"),
        ("<a href=\"x\">x</a>  01-Dec-1994 12:34  1\n", "x"),
    ] {
        *rows.lock().expect("rows") = row;
        mirror(&server, here.path(), &["--delete"]);
        mirror(&server, here.path(), &["--delete"]).exits(0);
        assert!(here.path().join(path).is_file(), "{path}");
    }
}

/// Two directories that lead to one place: each run has the same.
#[test]
fn a_directory_that_leads_elsewhere_is_a_link() {
    let server = site(|path| match path {
        "/d/" => html("<a href=\"latest/\">latest/</a>\n<a href=\"v1/\">v1/</a>\n"),
        "/d/latest/" => HttpReply::new(302).header("Location", "/d/v1/"),
        _ => html("<a href=\"y\">y</a>  01-Dec-1994 12:34  1\n"),
    });
    let here = tempfile::tempdir().expect("a directory");
    for _ in 0..2 {
        mirror(&server, here.path(), &["--delete"]).exits(0).says("passed over");
        assert!(here.path().join("v1/y").is_file() && !here.path().join("latest/y").exists());
    }
}

#[test]
fn a_verb_behind_options_is_told() {
    fetch(["--retry", "0", "mirror", "http://127.0.0.1:9/"]).exits(2).says("stands in front");
}

/// A person's defaults for single files break no mirror, and those for mirrors break no fetch.
#[test]
fn defaults_are_used_where_they_have_a_meaning() {
    let server = site(|path| match path {
        "/d/" => html("<a href=\"sub/\">sub/</a>\n<a href=\"x\">x</a>  01-Dec-1994 12:34  1\n"),
        _ => html("<a href=\"y\">y</a>  01-Dec-1994 12:34  1\n"),
    });
    let (home, here) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    fs::create_dir(home.path().join("fetch-url")).expect("a directory");
    let defaults = "remote-name-all\nformat = json\n-r 0-1\nmax-depth = 0\nretry = 0\n";
    fs::write(home.path().join("fetch-url/config"), defaults).expect("a file");
    let run = |words: &[&str]| {
        let mut command = support::command();
        command.args(words).current_dir(here.path()).env("XDG_CONFIG_HOME", home.path());
        support::ran(command)
    };
    run(&["mirror", &server.url("/d/"), "copy"]).exits(0).says("deeper than --max-depth");
    assert_eq!(text(here.path(), "copy/x"), "x");
    run(&[&server.url("/d/x"), "-r", "0-"]).exits(33);
    run(&["mirror", "-o", "z", &server.url("/d/"), "copy"]).exits(2).says("-o does not go with mirror");
}
