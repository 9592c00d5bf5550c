//! `mirror` again: what `--delete` takes and what it leaves, runs that were interrupted, and two at the same time.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fetch_url_tests::{FileFacts, HttpReply, HttpRequest, HttpServer, Ranges, file_handler, pattern_vec};
use support::mirrored::{files, place, put};
use support::{Ran, ended, fetch, names, send_signal, started, until};

const SIZE: usize = 100_000;

/// A directory `source` and its mirror `target`.
struct Pair {
    place: tempfile::TempDir,
}

impl Pair {
    /// `a`, `b`, `sub/c`, `sub/d`, `sub/deep/e`, brought once.
    fn new() -> Self {
        let pair = Self { place: place() };
        for name in ["a", "b", "sub/c", "sub/d", "sub/deep/e"] {
            pair.put("source", name, name);
        }
        pair.mirror("").exits(0);
        pair
    }

    fn put(&self, under: &str, name: &str, content: &str) {
        put(&self.place.path().join(under), name, content);
    }

    fn remove(&self, name: &str) {
        let path = self.place.path().join("source").join(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("it was there");
    }

    fn mirror(&self, words: &str) -> Ran {
        let url = format!("file://{}/source/", self.place.path().display());
        let target = self.place.path().join("target").display().to_string();
        fetch(["mirror", "--retry", "0"].into_iter().chain(words.split_whitespace()).chain([&*url, &*target]))
    }

    fn files(&self) -> Vec<String> {
        files(&self.place.path().join("target"))
    }
}

#[test]
fn what_is_gone_goes_only_when_asked() {
    let pair = Pair::new();
    pair.remove("b");
    pair.remove("sub/deep");
    pair.mirror("").exits(0);
    assert_eq!(pair.files(), ["a", "b", "sub/c", "sub/d", "sub/deep/e"]);
    // Runs in between without --delete do not make it forget.
    pair.mirror("").exits(0);
    pair.mirror("--delete").exits(0);
    assert_eq!(pair.files(), ["a", "sub/c", "sub/d"]);
    assert!(!pair.place.path().join("target/sub/deep").exists(), "an empty directory stays behind");
    pair.mirror("--delete").exits(0);
    assert_eq!(pair.files(), ["a", "sub/c", "sub/d"]);
    // All of it is gone over night: that is rather a server in trouble.
    for name in ["a", "sub"] {
        pair.remove(name);
    }
    pair.mirror("--delete").exits(0);
    assert_eq!(pair.files(), ["a", "sub/c", "sub/d"]);
    pair.put("source", "a", "new");
    pair.mirror("--delete").exits(0);
    assert_eq!(pair.files(), ["a"]);
}

#[test]
fn what_is_ours_stays() {
    let pair = Pair::new();
    for name in ["mine", "sub/mine", "sub/deep/mine", "own/mine", ".mine", "a.part.mine"] {
        pair.put("target", name, "mine");
    }
    // Changed here: another size; the same size.
    pair.put("target", "a", "changed here");
    pair.put("target", "sub/d", "SUB/D");
    for name in ["a", "b", "sub/d", "sub/deep"] {
        pair.remove(name);
    }
    pair.mirror("--delete").exits(0);
    let expected =
        [".mine", "a", "a.part.mine", "mine", "own/mine", "sub/c", "sub/d", "sub/deep/mine", "sub/mine"];
    assert_eq!(pair.files(), expected);
    // Put here in the place of a file that is gone already: not ours either.
    let pair = Pair::new();
    pair.remove("b");
    pair.mirror("--delete").exits(0);
    pair.put("target", "b", "b");
    pair.mirror("--delete").exits(0);
    assert!(pair.files().contains(&"b".to_owned()), "{:?}", pair.files());
}

/// What is passed over is not gone.
#[test]
fn what_is_passed_over_stays() {
    for words in [
        "--exclude-glob b",
        "--exclude-glob sub",
        "--exclude-glob deep",
        "--exclude-glob sub/**",
        "--include-glob a",
        "--include-glob sub/*",
        "--max-depth 0",
        "--max-depth 1",
    ] {
        let pair = Pair::new();
        pair.mirror(&format!("--delete {words}")).exits(0);
        assert_eq!(pair.files(), ["a", "b", "sub/c", "sub/d", "sub/deep/e"], "{words}");
    }
    // Gone and not passed over, beside what is.
    let pair = Pair::new();
    pair.remove("b");
    pair.remove("sub/d");
    pair.mirror("--delete --exclude-glob sub").exits(0);
    assert_eq!(pair.files(), ["a", "sub/c", "sub/d", "sub/deep/e"]);
}

/// A file becomes a directory, and the other way round.
#[test]
fn kinds_that_change() {
    let pair = Pair::new();
    pair.remove("b");
    pair.put("source", "b/inside", "x");
    pair.remove("sub/deep");
    pair.put("source", "sub/deep", "a file now");
    let ran = pair.mirror("--delete");
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    // One run may not be enough for both; but a second one is, or the first has said why.
    let again = pair.mirror("--delete");
    let found = pair.files();
    assert!(
        found == ["a", "b/inside", "sub/c", "sub/d", "sub/deep"] || (ran.exit != 0 && again.exit != 0),
        "exit {} {}: {found:?} {} {}",
        ran.exit,
        again.exit,
        ran.stderr,
        again.stderr
    );
}

/// A file that was here before the first run is no earlier run's.
#[test]
fn files_that_were_here_before() {
    let place = place();
    put(place.path(), "source/a", "theirs");
    put(place.path(), "target/a", "mine, and longer");
    put(place.path(), "target/b", "mine");
    let url = format!("file://{}/source/", place.path().display());
    let target = place.path().join("target");
    let mirror = |words: &[&str]| {
        fetch([&["mirror", "--retry", "0"], words, &[&url, target.to_str().expect("UTF-8")]].concat())
    };
    mirror(&["--delete", "--skip-existing"]).exits(0);
    assert_eq!(fs::read_to_string(target.join("a")).expect("a file"), "mine, and longer");
    assert_eq!(files(&target), ["a", "b"]);
    // What was skipped was not brought, and so is not deleted.
    fs::remove_file(place.path().join("source/a")).expect("a file");
    mirror(&["--delete"]).exits(0);
    assert_eq!(files(&target), ["a", "b"]);
}

/// Index pages whose times are compared with those of earlier pages, not with the clock.
#[test]
fn an_older_time_is_another_time() {
    let date = Arc::new(Mutex::new(("02-Jan-2024 12:34", "Tue, 02 Jan 2024 12:34:56 GMT", "new")));
    let now = date.clone();
    let server = HttpServer::start(move |request| {
        let (short, long, content) = *now.lock().expect("a lock");
        let page = format!(
            "<html><title>Index of /d/</title><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\r\n\
             <a href=\"one\">one</a>    {short}      3\r\n</pre></html>"
        );
        // As Apache does it: not modified since is not after.
        let since = request.header_text("if-modified-since").is_some();
        match request.path().as_str() {
            "/d/" => HttpReply::new(200).header("Content-Type", "text/html").body(page),
            _ if since && content == "old" => HttpReply::new(304).header("Last-Modified", long),
            _ => HttpReply::new(200).header("Last-Modified", long).body(content),
        }
    });
    let (server, here) = (server.expect("a server"), place());
    let target = here.path().display().to_string();
    let mirror = || fetch(["mirror", "--retry", "0", &server.url("/d/"), &target]);
    mirror().exits(0);
    *date.lock().expect("a lock") = ("01-Dec-1994 12:34", "Thu, 01 Dec 1994 12:34:56 GMT", "old");
    mirror().exits(0);
    assert_eq!(fs::read_to_string(here.path().join("one")).expect("a file"), "old");
}

/// Ten files, slow after the first so many answers; it counts how often each was sent from its start.
struct Slow {
    server: HttpServer,
    slow_after: Arc<AtomicUsize>,
    sent: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Slow {
    fn new() -> Self {
        let (slow_after, sent) = (Arc::new(AtomicUsize::new(4)), Arc::new(Mutex::new(BTreeMap::new())));
        let (left, counts) = (slow_after.clone(), sent.clone());
        let date = "Thu, 01 Dec 1994 12:34:56 GMT";
        let facts = FileFacts {
            etag: Some("\"v\"".into()),
            last_modified: Some(date.into()),
            ranges: Ranges::Honest,
        };
        let honest = file_handler(pattern_vec(0, SIZE), facts);
        let line =
            |number: usize| format!("<a href=\"f{number}\">f{number}</a>   01-Dec-1994 12:34   {SIZE}\r\n");
        let lines: String = (0..10).map(line).collect();
        let page = format!("<html><title>Index of /d/</title><h1>Index of /d/</h1><pre>{lines}</pre></html>");
        let handler = move |request: &HttpRequest| {
            if request.path() == "/d/" {
                return HttpReply::new(200).header("Content-Type", "text/html").body(page.clone());
            }
            if request.header("range").is_none() {
                *counts.lock().expect("a lock").entry(request.path()).or_insert(0) += 1;
            }
            let lessened = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            let reply = honest(request);
            if lessened.is_ok() { reply } else { reply.drip(2000, Duration::from_millis(40)) }
        };
        let server = HttpServer::start(handler).expect("a server");
        Self { server, slow_after, sent }
    }

    fn words(&self, target: &Path) -> Vec<String> {
        let target = target.display().to_string();
        ["mirror", "--retry", "0", "--parallel-max", "3", &self.server.url("/d/"), &target]
            .map(str::to_owned)
            .to_vec()
    }

    /// Starts a run, and comes back when four files are there and another one has begun.
    fn begun(&self, target: &Path) -> Child {
        let child = started(self.words(target));
        let is_there = || {
            let names = if target.exists() { names(target) } else { Vec::new() };
            let whole = names.iter().filter(|name| name.starts_with('f') && name.len() == 2).count();
            let begun = |name: &&String| name.ends_with(".part");
            let octets = |name: &String| fs::metadata(target.join(name)).map_or(0, |facts| facts.len());
            whole >= 4 && names.iter().filter(begun).any(|name| octets(name) > 4000)
        };
        assert!(until(Duration::from_secs(10), is_there), "it does not begin");
        child
    }

    fn finish(&self, target: &Path) {
        self.slow_after.store(1000, Ordering::SeqCst);
        fetch(self.words(target)).exits(0);
        let expected: Vec<String> = (0..10).map(|number| format!("f{number}")).collect();
        assert_eq!(files(target), expected);
        for name in expected {
            assert!(fs::read(target.join(&name)).expect("a file") == pattern_vec(0, SIZE), "{name}");
        }
    }

    /// How many were sent from the start more than once.
    fn twice(&self) -> usize {
        self.sent.lock().expect("a lock").values().filter(|times| **times > 1).count()
    }
}

#[test]
fn a_signal() {
    for (name, number) in [("TERM", 15), ("INT", 2)] {
        let (slow, here) = (Slow::new(), place());
        let child = slow.begun(here.path());
        send_signal(&child, name);
        let sent = Instant::now();
        assert_eq!(ended(child).signal, Some(number));
        assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
        slow.finish(here.path());
        // What was whole is not sent again, and what was begun goes on.
        assert_eq!(slow.twice(), 0, "{:?}", slow.sent);
    }
}

#[test]
fn sudden_death() {
    let (slow, here) = (Slow::new(), place());
    let mut child = slow.begun(here.path());
    child.kill().expect("a child");
    ended(child);
    // The whole ones are whole.
    for name in names(here.path()).iter().filter(|name| name.len() == 2) {
        assert!(fs::read(here.path().join(name)).expect("a file") == pattern_vec(0, SIZE), "{name}");
    }
    slow.finish(here.path());
    // Only the three that were under way may begin anew.
    assert!(slow.twice() <= 3, "{:?}", slow.sent);
    let before = slow.server.requests().len();
    fetch(slow.words(here.path())).exits(0);
    assert_eq!(slow.server.requests().len(), before + 1);
}

/// Of two runs at the same time into one directory, one is refused, or both are right.
#[test]
fn two_at_the_same_time() {
    let (slow, here) = (Slow::new(), place());
    let first = slow.begun(here.path());
    let requests = slow.server.requests().len();
    let second = fetch(slow.words(here.path()));
    assert_ne!(second.exit, 0, "{}", second.stderr);
    assert!(!second.stderr.contains("panicked") && second.stderr.lines().count() < 5, "{}", second.stderr);
    assert!(slow.server.requests().len() <= requests + 2, "the second one fetches all the same");
    send_signal(&first, "TERM");
    ended(first);
    slow.finish(here.path());
    // Both begin at once, on nothing.
    let here = place();
    let target = here.path().join("new");
    let two = [started(slow.words(&target)), started(slow.words(&target))].map(ended);
    assert!(two.iter().any(|ran| ran.exit == 0), "{two:?}");
    slow.finish(&target);
}
