//! `mirror --delete` when a run does not come to its end, or not every file can be had; and the journal over many runs.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fetch_url_tests::{FtpServer, FtpSite, HttpReply, HttpServer};
use support::mirrored::{JOURNAL, files, place, sized_page};
use support::{Ran, ended, fetch, send_signal, started, until};

/// A server whose answers a test may change; a path without an answer is a file of one octet.
struct Site {
    server: HttpServer,
    pages: Arc<Mutex<BTreeMap<String, HttpReply>>>,
}

impl Site {
    /// `a`, `b`, `one/x`, `two/y`.
    fn new() -> Self {
        let pages: Arc<Mutex<BTreeMap<String, HttpReply>>> = Arc::default();
        let here = pages.clone();
        let server = HttpServer::start(move |request| {
            here.lock()
                .expect("a lock")
                .get(&request.path())
                .cloned()
                .unwrap_or(HttpReply::new(200).body("1"))
        });
        let site = Self { server: server.expect("a server"), pages };
        site.reply("/d/", sized_page(&[("a", "1"), ("b", "1"), ("one/", "-"), ("two/", "-")]));
        site.reply("/d/one/", sized_page(&[("x", "1")]));
        site.reply("/d/two/", sized_page(&[("y", "1")]));
        site
    }

    fn reply(&self, path: &str, reply: HttpReply) {
        self.pages.lock().expect("a lock").insert(path.into(), reply);
    }

    fn mirror(&self, target: &Path, words: &str) -> Ran {
        fetch(self.words(target, words))
    }

    fn words(&self, target: &Path, words: &str) -> Vec<String> {
        let (url, target) = (self.server.url("/d/"), target.display().to_string());
        let words = words.split_whitespace();
        ["mirror", "--retry", "0"]
            .into_iter()
            .chain(words)
            .chain([&*url, &*target])
            .map(str::to_owned)
            .collect()
    }
}

const ALL: [&str; 4] = ["a", "b", "one/x", "two/y"];

/// A file that is listed and cannot be had is not gone, changed or not.
#[test]
fn a_listed_file_that_cannot_be_had() {
    for (what, reply) in [
        ("404", HttpReply::new(404)),
        ("403", HttpReply::new(403)),
        ("503", HttpReply::new(503)),
        ("cut", HttpReply::new(200).body("123456").cut_body_at(2)),
    ] {
        let (site, here) = (Site::new(), place());
        site.mirror(here.path(), "").exits(0);
        site.reply("/d/", sized_page(&[("a", "1"), ("b", "6"), ("one/", "-"), ("two/", "-")]));
        site.reply("/d/b", reply);
        let ran = site.mirror(here.path(), "--delete");
        assert_ne!(ran.exit, 0, "{what}");
        let found: Vec<String> =
            files(here.path()).into_iter().filter(|name| !name.contains(".part")).collect();
        assert_eq!(found, ALL, "{what}");
        assert_eq!(fs::read_to_string(here.path().join("b")).expect("a file"), "1", "{what}");
    }
}

/// A run that stops early has not read everything, and a file that failed is no reason to keep others.
#[test]
fn a_run_that_stops_early() {
    let (site, here) = (Site::new(), place());
    site.mirror(here.path(), "").exits(0);
    // `b` is gone, and `a` fails.
    site.reply("/d/", sized_page(&[("a", "6"), ("one/", "-"), ("two/", "-")]));
    site.reply("/d/a", HttpReply::new(404));
    site.mirror(here.path(), "--delete --fail-early --parallel-max 1").exits(78);
    assert!(["a", "one/x", "two/y"].iter().all(|name| files(here.path()).iter().any(|found| found == name)));
    site.mirror(here.path(), "--delete").exits(78);
    assert_eq!(files(here.path()), ["a", "one/x", "two/y"]);
    // The time is over, a signal comes: what was not looked at stays.
    let (site, here) = (Site::new(), place());
    site.mirror(here.path(), "").exits(0);
    let stalled = || HttpReply::raw("").then_stall(Duration::from_secs(5));
    site.reply("/d/one/", stalled());
    site.reply("/d/two/", stalled());
    site.reply("/d/", sized_page(&[("b", "1"), ("one/", "-"), ("two/", "-")]));
    site.mirror(here.path(), "--delete -m 0.5").exits(28);
    assert!(["b", "one/x", "two/y"].iter().all(|name| files(here.path()).iter().any(|found| found == name)));
    let before = site.server.requests().len();
    let child = started(site.words(here.path(), "--delete"));
    assert!(until(Duration::from_secs(5), || site.server.requests().len() > before + 1));
    send_signal(&child, "TERM");
    assert_eq!(ended(child).signal, Some(15));
    assert!(["b", "one/x", "two/y"].iter().all(|name| files(here.path()).iter().any(|found| found == name)));
}

/// A file whose time alone was changed here was changed here.
#[test]
fn touched_files_stay() {
    let (site, here) = (Site::new(), place());
    site.mirror(here.path(), "").exits(0);
    let file = fs::File::options().write(true).open(here.path().join("b")).expect("a file");
    file.set_modified(SystemTime::now() - Duration::from_secs(3)).expect("a time");
    site.reply("/d/", sized_page(&[("a", "1"), ("one/", "-"), ("two/", "-")]));
    site.mirror(here.path(), "--delete").exits(0);
    assert_eq!(files(here.path()), ALL);
}

/// Names that were made safe are deleted under their safe names, and only they.
#[test]
fn safe_names() {
    let (site, here) = (Site::new(), place());
    site.reply("/d/", sized_page(&[("a%01", "1"), ("a%02", "1"), ("con", "1"), ("b", "1")]));
    site.mirror(here.path(), "").exits(0);
    assert_eq!(files(here.path()).len(), 4);
    site.reply("/d/", sized_page(&[("a%02", "1"), ("b", "1")]));
    site.reply("/d/a%02", HttpReply::new(200).body("2"));
    site.mirror(here.path(), "--delete").exits(0);
    let found = files(here.path());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&"b".to_owned()), "{found:?}");
    let requests = site.server.requests().len();
    site.mirror(here.path(), "--delete").exits(0);
    assert_eq!((files(here.path()), site.server.requests().len()), (found, requests + 1));
}

/// The journal of many runs that do nothing grows by a line a run at the most, and by a few for what has changed.
#[test]
fn the_journal_does_not_grow() {
    let (site, here) = (Site::new(), place());
    site.mirror(here.path(), "").exits(0);
    let size = || fs::metadata(here.path().join(JOURNAL)).expect("a journal").len();
    let first = size();
    for _ in 0..10 {
        site.mirror(here.path(), "--delete").exits(0);
    }
    assert!(size() <= first + 10 * 100, "{first}: {}", size());
    // A file that changes each time has one line in the end, or few.
    for round in 0..15 {
        site.reply("/d/", sized_page(&[("a", &round.to_string()), ("b", "1"), ("one/", "-"), ("two/", "-")]));
        site.mirror(here.path(), "").exits(0);
    }
    assert!(size() <= first + 11_000, "{first}: {}", size());
}

/// A torn last line, as a power cut leaves it, is no harm: the others count.
#[test]
fn a_torn_journal() {
    let (site, here) = (Site::new(), place());
    site.mirror(here.path(), "").exits(0);
    let journal = fs::read(here.path().join(JOURNAL)).expect("a journal");
    for cut in 1..journal.len() {
        // Every place is tried where it is cheap: within the first and the last lines.
        if cut > 120 && cut + 120 < journal.len() || cut % 17 != 0 {
            continue;
        }
        fs::write(here.path().join(JOURNAL), &journal[..cut]).expect("a journal");
        let ran = site.mirror(here.path(), "--delete");
        assert!(!ran.stderr.contains("panicked"), "{cut}: {}", ran.stderr);
        assert_eq!(files(here.path()), ALL, "{cut}");
        assert!(ran.exit == 0 || cut < 120, "{cut}: {}", ran.stderr);
    }
}

/// FTP: what went is gone, also whole directories, also where LIST alone tells; what is ours stays.
#[test]
fn over_ftp() {
    let full = || {
        FtpSite::new().file("/d/a", "1").file("/d/b", "1").file("/d/one/x", "1").file("/d/one/deep/y", "1")
    };
    let less = || FtpSite::new().file("/d/a", "1").dir("/d/two");
    for no in ["X", "MLSD"] {
        let here = place();
        let run = |site: FtpSite, words: &str| {
            let server = FtpServer::start(site.no(no)).expect("a server");
            let instead = format!("site.test:2121:127.0.0.1:{}", server.addr().port());
            let own = ["mirror", "--retry", "0", "--connect-to", &instead];
            let target = here.path().display().to_string();
            let words = words.split_whitespace().chain(["ftp://site.test:2121/d/", &target]);
            fetch(own.into_iter().chain(words)).exits(0);
        };
        run(full(), "");
        fs::write(here.path().join("one/mine"), "mine").expect("a file");
        run(less(), "--delete");
        assert_eq!(files(here.path()), ["a", "one/mine"], "{no}");
        run(full(), "--delete");
        assert_eq!(files(here.path()), ["a", "b", "one/deep/y", "one/mine", "one/x"], "{no}");
    }
}
