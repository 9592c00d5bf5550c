//! Interrupted runs of `mirror`: signals, SIGKILL, a power cut, and two runs at the same time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::mirror::{MIRROR_JOURNAL, endless_server, list_files, list_tree, run_mirror};
use crate::support::{
    entry_names, run_fetch_url, send_signal, spawn_fetch_url, temp_dir, wait_for_exit, wait_until,
};
use fetch_url_tests::{
    FileHeaders, HttpRequest, HttpResponse, HttpServer, RangeSupport, file_handler, pattern_vec,
};

const SIZE: usize = 100_000;

/// An HTTP server with ten files of 100,000 bytes. The first `fast_replies` responses are fast, all
/// later ones slow. It counts how often each file was sent from the start.
struct SlowServer {
    http: HttpServer,
    fast_replies: Arc<AtomicUsize>,
    full_transfers: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl SlowServer {
    fn new() -> Self {
        let (fast_replies, full_transfers) =
            (Arc::new(AtomicUsize::new(4)), Arc::new(Mutex::new(BTreeMap::new())));
        let (left, counts) = (fast_replies.clone(), full_transfers.clone());
        let date = "Thu, 01 Dec 1994 12:34:56 GMT";
        let facts = FileHeaders {
            etag: Some("\"v\"".into()),
            last_modified: Some(date.into()),
            ranges: RangeSupport::Correct,
        };
        let serve_file = file_handler(pattern_vec(0, SIZE), facts);
        let line =
            |number: usize| format!("<a href=\"f{number}\">f{number}</a>   01-Dec-1994 12:34   {SIZE}\r\n");
        let lines: String = (0..10).map(line).collect();
        let page = format!("<html><title>Index of /d/</title><h1>Index of /d/</h1><pre>{lines}</pre></html>");
        let handler = move |request: &HttpRequest| {
            if request.path() == "/d/" {
                return HttpResponse::new(200).header("Content-Type", "text/html").body(page.clone());
            }
            if request.header("range").is_none() {
                *counts.lock().expect("a lock").entry(request.path()).or_insert(0) += 1;
            }
            let is_fast = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            let reply = serve_file(request);
            if is_fast.is_ok() { reply } else { reply.drip(2000, Duration::from_millis(40)) }
        };
        let http = HttpServer::start(handler).expect("a server");
        Self { http, fast_replies, full_transfers }
    }

    fn arguments(&self, target: &Path) -> Vec<String> {
        let target = target.display().to_string();
        ["mirror", "--retry", "0", "--parallel-max", "3", &self.http.url("/d/"), &target]
            .map(str::to_owned)
            .to_vec()
    }

    /// Starts a run and returns when four files are complete and more than 4,000 bytes of another one were written.
    fn start_mirror(&self, target: &Path) -> Child {
        let child = spawn_fetch_url(self.arguments(target));
        let has_started = || {
            let names = if target.exists() { entry_names(target) } else { Vec::new() };
            let complete = names.iter().filter(|name| name.starts_with('f') && name.len() == 2).count();
            let is_part = |name: &&String| name.ends_with(".part");
            let bytes = |name: &String| fs::metadata(target.join(name)).map_or(0, |metadata| metadata.len());
            complete >= 4 && names.iter().filter(is_part).any(|name| bytes(name) > 4000)
        };
        assert!(
            wait_until(Duration::from_secs(10), has_started),
            "the mirror did not download four files in 10 seconds"
        );
        child
    }

    /// Lets the server be fast, runs the mirror again, and checks that all files are complete.
    fn finish_mirror(&self, target: &Path) {
        self.fast_replies.store(1000, Ordering::SeqCst);
        run_fetch_url(self.arguments(target)).assert_exit(0);
        let expected: Vec<String> = (0..10).map(|number| format!("f{number}")).collect();
        assert_eq!(list_files(target), expected);
        for name in expected {
            assert!(fs::read(target.join(&name)).expect("a file") == pattern_vec(0, SIZE), "{name}");
        }
    }

    /// Returns the number of files that were sent from the start more than once.
    fn restarted_files(&self) -> usize {
        self.full_transfers.lock().expect("a lock").values().filter(|count| **count > 1).count()
    }
}

#[test]
fn mirror_resumes_after_signal() {
    for (name, number) in [("TERM", 15), ("INT", 2)] {
        let (server, dir) = (SlowServer::new(), temp_dir());
        let child = server.start_mirror(dir.path());
        send_signal(&child, name);
        let signalled = Instant::now();
        assert_eq!(wait_for_exit(child).signal, Some(number));
        assert!(signalled.elapsed() < Duration::from_secs(1), "{:?}", signalled.elapsed());
        server.finish_mirror(dir.path());
        // Complete files are not sent again, and incomplete files are resumed.
        assert_eq!(server.restarted_files(), 0, "{:?}", server.full_transfers);
    }
}

#[test]
fn mirror_continues_after_kill() {
    let (server, dir) = (SlowServer::new(), temp_dir());
    let mut child = server.start_mirror(dir.path());
    child.kill().expect("a child");
    wait_for_exit(child);
    // Every file with a final name is complete.
    for name in entry_names(dir.path()).iter().filter(|name| name.len() == 2) {
        assert!(fs::read(dir.path().join(name)).expect("a file") == pattern_vec(0, SIZE), "{name}");
    }
    server.finish_mirror(dir.path());
    // Only the three files in transfer may start again.
    assert!(server.restarted_files() <= 3, "{:?}", server.full_transfers);
    let before = server.http.requests().len();
    run_fetch_url(server.arguments(dir.path())).assert_exit(0);
    assert_eq!(server.http.requests().len(), before + 1);
}

/// Two runs into one directory: the second one is refused while the first one runs.
#[test]
fn second_run_at_the_same_time_is_refused() {
    let (server, dir) = (SlowServer::new(), temp_dir());
    let first = server.start_mirror(dir.path());
    let requests = server.http.requests().len();
    let second = run_fetch_url(server.arguments(dir.path()));
    assert_ne!(second.exit, 0, "{}", second.stderr);
    assert!(!second.stderr.contains("panicked") && second.stderr.lines().count() < 5, "{}", second.stderr);
    assert!(server.http.requests().len() <= requests + 2, "the second run sends requests");
    send_signal(&first, "TERM");
    wait_for_exit(first);
    server.finish_mirror(dir.path());
    // Both start at the same time, without a target directory.
    let dir = temp_dir();
    let target = dir.path().join("new");
    let two = [spawn_fetch_url(server.arguments(&target)), spawn_fetch_url(server.arguments(&target))]
        .map(wait_for_exit);
    assert!(two.iter().any(|result| result.exit == 0), "{two:?}");
    server.finish_mirror(&target);
}

/// Journal lines after the last `synced` mark are ignored if the system was restarted since: their files may not have
/// reached the disk.
#[test]
fn journal_lines_after_last_sync_are_ignored_after_reboot() {
    let server = endless_server(
        "<a href=\"f\">f</a>    01-Dec-1994 12:34    1\r\n<a href=\"g\">g</a>    01-Dec-1994 12:34    1\r\n",
    );
    for (has_mark, same_boot, downloads) in
        [(true, true, 0), (true, false, 0), (false, true, 0), (false, false, 2)]
    {
        let dir = temp_dir();
        run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
        let path = dir.path().join(MIRROR_JOURNAL);
        let text = fs::read_to_string(&path).expect("a journal");
        let lines: Vec<String> =
            text.lines().filter(|line| has_mark || !line.contains("synced")).map(str::to_owned).collect();
        let first: serde_json::Value = serde_json::from_str(&lines[0]).expect("JSON");
        let boot = first["boot"].as_str().expect("a boot");
        let text = lines.join("\n") + "\n";
        let other_boot = "0".repeat(8) + &boot[8..];
        fs::write(&path, if same_boot { text } else { text.replace(boot, &other_boot) }).expect("a journal");
        let before = server.requests().len();
        run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
        assert_eq!(
            server.requests().len() - before,
            1 + downloads,
            "marked {has_mark}, same boot {same_boot}"
        );
        assert_eq!(list_tree(dir.path()), ["f=x", "g=x"]);
    }
}
