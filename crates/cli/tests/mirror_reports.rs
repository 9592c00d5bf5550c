//! What `mirror` says and to whom: `--events`, `-w`, `-s`, `-v`, and passwords, which stand nowhere and go to nobody else;
//! and how many files come at the same time.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fetch_url_tests::{HttpReply, HttpRequest, HttpServer};
use support::mirrored::{JOURNAL, place, sized_page};
use support::{Ran, fetch, names};

/// `u:KanarienVogel`.
const BASIC: &str = "Basic dTpLYW5hcmllblZvZ2Vs";

/// `a`, `sub/x`, `sub/y`.
fn answer(request: &HttpRequest) -> HttpReply {
    match request.path().as_str() {
        "/d/" => sized_page(&[("a", "5"), ("sub/", "-")]),
        "/d/sub/" => sized_page(&[("x", "5"), ("y", "5")]),
        _ => HttpReply::new(200).body("octet"),
    }
}

fn server(handler: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static) -> HttpServer {
    HttpServer::start(handler).expect("a server")
}

fn mirror(url: &str, target: &Path, words: &[&str]) -> Ran {
    let target = target.display().to_string();
    fetch([&["mirror", "--retry", "0"], words, &[url, &target]].concat())
}

fn objects(text: &str) -> Vec<serde_json::Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")))
        .collect()
}

#[test]
fn events() {
    let (server, here) = (server(answer), place());
    let ran = mirror(&server.url("/d/"), here.path(), &["--events", "-"]);
    let events = objects(&ran.exits(0).text());
    let whole = ran.text();
    for name in ["/d/a", "/d/sub/x", "/d/sub/y"] {
        assert!(whole.contains(name), "{name}: {whole}");
    }
    // The last line sums it up: three files, fifteen octets.
    let last = events.last().expect("an event").to_string();
    assert!(last.contains("summary") || last.contains("total"), "{last}");
    assert!(last.contains('3') && last.contains("15"), "{last}");
    // Again: nothing was transferred.
    let ran = mirror(&server.url("/d/"), here.path(), &["--events", "-"]);
    let last = objects(&ran.exits(0).text()).last().expect("an event").to_string();
    assert!(last.contains("summary") && last.contains("\"octets\":0"), "{last}");
    // What is deleted, and what fails, is in it too.
    let here = place();
    let failing = self::server(|request| match request.path().as_str() {
        "/d/sub/x" => HttpReply::new(404),
        _ => answer(request),
    });
    let ran = mirror(&failing.url("/d/"), here.path(), &["--events", "-"]);
    let text = ran.exits(78).text();
    assert!(objects(&text).iter().any(|event| event.to_string().contains("not_found")), "{text}");
    assert!(objects(&text).last().expect("an event").to_string().contains("summary"), "{text}");
}

#[test]
fn the_summary_counts_what_is_deleted() {
    let place = place();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    fs::create_dir(&source).expect("a directory");
    for name in ["a", "b", "c"] {
        fs::write(source.join(name), name).expect("a file");
    }
    let url = format!("file://{}/", source.display());
    mirror(&url, &target, &[]).exits(0);
    fs::remove_file(source.join("b")).expect("a file");
    let ran = mirror(&url, &target, &["--delete", "--events", "-"]);
    let text = ran.exits(0).text();
    objects(&text);
    assert!(text.contains("delete"), "{text}");
    assert!(!target.join("b").exists());
}

#[test]
fn write_out() {
    let (server, here) = (server(answer), place());
    let ran = mirror(&server.url("/d/"), here.path(), &["-w", "%{http_code} %{size_download} %{url}\\n"]);
    let mut lines: Vec<String> = ran.exits(0).text().lines().map(str::to_owned).collect();
    lines.sort();
    let expected = ["/d/a", "/d/sub/x", "/d/sub/y"].map(|path| format!("200 5 {}", server.url(path)));
    assert_eq!(lines, expected);
    let ran = mirror(&server.url("/d/"), here.path(), &["-w", "%{url}\\n"]);
    assert!(ran.exits(0).text().lines().count() <= 3, "{}", ran.text());
    let ran = mirror(&server.url("/d/"), place().path(), &["-w", "%{json}\\n"]);
    assert_eq!(objects(&ran.exits(0).text()).len(), 3);
}

/// Without being asked, nothing goes to standard output; with -s nothing at all; failures are told in a line each.
#[test]
fn talk() {
    let failing = server(|request| match request.path().as_str() {
        "/d/a" => HttpReply::new(404),
        "/d/sub/y" => HttpReply::new(403),
        _ => answer(request),
    });
    let ran = mirror(&failing.url("/d/"), place().path(), &[]);
    assert!(ran.stdout.is_empty() && (ran.exit == 78 || ran.exit == 9), "{} {}", ran.exit, ran.text());
    let told: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("fetch-url: ")).collect();
    assert!(
        told.iter().any(|line| line.contains("/d/a")) && told.iter().any(|line| line.contains("/d/sub/y")),
        "{told:?}"
    );
    let ran = mirror(&failing.url("/d/"), place().path(), &["-s"]);
    assert!(ran.stderr.is_empty() && ran.stdout.is_empty(), "{}", ran.stderr);
    let ran = mirror(&failing.url("/d/"), place().path(), &["-s", "-S"]);
    assert!(ran.stderr.contains("/d/a"), "{}", ran.stderr);
    let ran = mirror(&server(answer).url("/d/"), place().path(), &["-s"]);
    assert!(ran.exits(0).stderr.is_empty() && ran.stdout.is_empty(), "{}", ran.stderr);
}

fn guarded(request: &HttpRequest) -> HttpReply {
    match request.header_text("authorization") {
        Some(BASIC) => answer(request),
        _ => HttpReply::new(401).header("WWW-Authenticate", "Basic realm=\"x\""),
    }
}

/// The password of the URL, or of -u, opens every page and file of this server, and is written nowhere.
#[test]
fn passwords() {
    let server = server(guarded);
    let with = server.url("/d/").replace("://", "://u:KanarienVogel@");
    for words in
        [&["-v"][..], &["-vvv"], &["--events", "-"], &["-w", "%{json}\\n"], &["--trace", "-"], &["-Z"], &[]]
    {
        for url in [&with, &server.url("/d/")] {
            let here = place();
            let login: &[&str] = if url == &with { &[] } else { &["-u", "u:KanarienVogel"] };
            let ran = mirror(url, here.path(), &[words, login].concat());
            ran.exits(0);
            assert_eq!(names(here.path()), [JOURNAL, "a", "sub"], "{words:?}");
            assert_eq!(names(&here.path().join("sub")), ["x", "y"], "{words:?}");
            let journal = fs::read_to_string(here.path().join(JOURNAL)).expect("a journal");
            for said in [ran.text(), ran.stderr.clone(), journal] {
                let has = said.to_lowercase().contains("kanar") || said.contains("dTpLYW5");
                assert!(!has, "{words:?} {url}: {said}");
            }
            // And the second run finds everything as it was.
            let before = server.requests().len();
            mirror(url, here.path(), login).exits(0);
            let files =
                server.requests()[before..].iter().filter(|request| !request.path().ends_with('/')).count();
            assert_eq!(files, 0, "{words:?} {url}");
        }
    }
    // The same tree with and without the user in the URL is the same mirror, or is refused.
    let here = place();
    mirror(&with, here.path(), &[]).exits(0);
    let ran = mirror(&server.url("/d/"), here.path(), &["-u", "u:KanarienVogel"]);
    assert!((ran.exit == 0 || ran.exit == 2) && !ran.stderr.contains("Kanar"), "{}", ran.stderr);
    // A failure names the URL without it.
    let ran = mirror(&with.replace("/d/", "/none/"), &here.path().join("x"), &[]);
    assert!(ran.exit != 0 && !ran.stderr.contains("Kanar"), "{}", ran.stderr);
    let ran = mirror(&with.replace("Vogel", "Falsch"), &here.path().join("y"), &["-v"]);
    assert!(!ran.exits(67).stderr.contains("Kanar"), "{}", ran.stderr);
}

/// A file may be elsewhere, a page may name elsewhere: the password does not go there.
#[test]
fn passwords_are_not_for_others() {
    let other = server(|_| HttpReply::new(200).body("octet"));
    let to = other.url("/stolen");
    let (location, linked) = (to.clone(), to);
    let server = server(move |request| match request.path().as_str() {
        "/d/" => sized_page(&[("a", "5"), ("b", "5"), (&linked, "5"), ("sub/", "-")]),
        "/d/sub/" => HttpReply::new(302).header("Location", &location),
        "/d/b" => HttpReply::new(302).header("Location", &location),
        _ => guarded(request),
    });
    let here = place();
    let with = server.url("/d/").replace("://", "://u:KanarienVogel@");
    let ran = mirror(&with, here.path(), &["-H", "X-Secret: KanarienVogel"]);
    assert!(here.path().join("a").exists(), "{}", ran.stderr);
    for request in other.requests() {
        let fields = format!("{:?}", request.headers.iter().map(|(name, _)| name).collect::<Vec<_>>());
        assert!(request.header("authorization").is_none(), "{fields}");
        assert!(request.header("referer").is_none_or(|value| !value.windows(5).any(|five| five == b"Kanar")));
    }
    assert!(!ran.stderr.contains("Kanar"), "{}", ran.stderr);
    // Without -L's help nobody is asked elsewhere.
    let before = other.requests().len();
    mirror(&with, place().path(), &["--no-location"]);
    assert_eq!(other.requests().len(), before);
}

#[test]
fn several_at_the_same_time() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let peak = most.clone();
    let many: Vec<String> = (0..24).map(|number| format!("f{number}")).collect();
    let server = server(move |request| {
        if request.path() == "/d/" {
            let entries: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "5")).collect();
            return sized_page(&entries);
        }
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(15));
        now.fetch_sub(1, Ordering::SeqCst);
        HttpReply::new(200).body("octet")
    });
    let run = |words: &[&str]| {
        most.store(0, Ordering::SeqCst);
        let here = place();
        mirror(&server.url("/d/"), here.path(), words).exits(0);
        assert_eq!(names(here.path()).len(), 25);
        most.load(Ordering::SeqCst)
    };
    assert!(run(&[]) > 1, "a mirror is parallel");
    let four = run(&["--parallel-max", "4"]);
    assert!((2..=4).contains(&four), "{four}");
    assert_eq!(run(&["--parallel-max-host", "1"]), 1);
    assert!(run(&["--parallel-max", "1"]) == 1);
}

/// Limits of each object count for each.
#[test]
fn limits() {
    let here = place();
    let big = server(|request| match request.path().as_str() {
        "/d/" => sized_page(&[("a", "5"), ("big", "500")]),
        "/d/big" => HttpReply::new(200).body("x".repeat(500)),
        _ => HttpReply::new(200).body("octet"),
    });
    mirror(&big.url("/d/"), here.path(), &["--max-filesize", "450"]).exits(63);
    assert_eq!(names(here.path()), [JOURNAL, "a"]);
    let slow = server(|request| match request.path().as_str() {
        "/d/" => sized_page(&[("a", "5"), ("big", "500")]),
        "/d/big" => HttpReply::new(200).body("x".repeat(500)).drip(10, Duration::from_millis(100)),
        _ => HttpReply::new(200).body("octet"),
    });
    let here = place();
    mirror(&slow.url("/d/"), here.path(), &["-m", "0.6"]).exits(28);
    assert!(here.path().join("a").exists() && !here.path().join("big").exists());
    // The form of another scheme, methods and data are for no tree.
    for words in [&["--json", "{}"][..], &["--data-urlencode", "x"], &["-X", "DELETE"], &["--form", "a=b"]] {
        let (server, here) = (server(answer), place());
        let ran = mirror(&server.url("/d/"), here.path(), words);
        assert_eq!(ran.exit, 2, "{words:?}: {:?}", server.requests());
        assert!(server.requests().iter().all(|request| request.method == "GET"), "{words:?}");
    }
}
