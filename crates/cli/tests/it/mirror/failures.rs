//! `mirror` when index pages or files fail: the files that are still downloaded, the exit status, the files that
//! `--delete` keeps; and huge index pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::support::mirror::{
    MIRROR_JOURNAL, directory_server, index_server, list_tree, minimal_index_page, nginx_index_html,
    run_mirror, run_mirror_with,
};
use crate::support::{RunResult, entry_names, run_fetch_url, run_measuring_memory, temp_dir};
use fetch_url_tests::{FileHeaders, HttpResponse, HttpServer, RangeSupport, ReservedPort, file_handler};

const DATE: &str = "Thu, 01 Dec 1994 12:34:56 GMT";

/// Returns the files below `directory` as `name=content`, sorted.
fn list_file_contents(directory: &Path) -> Vec<String> {
    list_tree(directory).into_iter().filter(|name| !name.ends_with('/')).collect()
}

fn html(body: impl Into<Vec<u8>>) -> HttpResponse {
    HttpResponse::new(200).header("Content-Type", "text/html; charset=utf-8").body(body)
}

/// An HTTP server whose replies a test can replace; the content of every other path is its last segment.
struct Site {
    server: HttpServer,
    pages: Arc<Mutex<BTreeMap<String, HttpResponse>>>,
}

impl Site {
    /// Starts the server with the files `one`, `sub/x`, `sub/y` and `zero` below `/d/`.
    fn new() -> Self {
        let pages: Arc<Mutex<BTreeMap<String, HttpResponse>>> = Arc::default();
        let replies = pages.clone();
        let server = HttpServer::start(move |request| {
            let path = request.path();
            if let Some(page) = replies.lock().expect("a lock").get(&path) {
                return page.clone();
            }
            let facts =
                FileHeaders { etag: None, last_modified: Some(DATE.into()), ranges: RangeSupport::Correct };
            file_handler(path.rsplit('/').next().unwrap_or_default().into(), facts)(request)
        });
        let site = Self { server: server.expect("a server"), pages };
        site.set_reply("/d/", html(nginx_index_html(&[("one", "3"), ("sub/", "-"), ("zero", "4")])));
        site.set_reply("/d/sub/", html(nginx_index_html(&[("x", "1"), ("y", "1")])));
        site
    }

    fn set_reply(&self, path: &str, reply: HttpResponse) {
        self.pages.lock().expect("a lock").insert(path.into(), reply);
    }

    fn run_mirror(&self, target: &Path, options: &str) -> RunResult {
        let url = self.server.url("/d/");
        let options = options.split_whitespace();
        let target = target.display().to_string();
        run_fetch_url(["mirror", "--retry", "0"].into_iter().chain(options).chain([&*url, &*target]))
    }

    /// Returns the paths of all requests from number `from` on, sorted.
    fn requested_since(&self, from: usize) -> Vec<String> {
        let requests = self.server.requests();
        let mut paths: Vec<String> = requests[from..].iter().map(|request| request.path()).collect();
        paths.sort();
        paths
    }
}

const EXPECTED_FILES: [&str; 4] = ["one=one", "sub/x=x", "sub/y=y", "zero=zero"];

/// The index page of a subdirectory fails: all other files are downloaded, and nothing is deleted.
#[test]
fn failed_subdirectory_page_deletes_nothing() {
    let page = nginx_index_html(&[("x", "1"), ("y", "1")]);
    let rows: Vec<(&str, HttpResponse, &[i32])> = vec![
        ("404", HttpResponse::new(404).body("gone"), &[78]),
        ("403", HttpResponse::new(403).body("no"), &[9]),
        ("410", HttpResponse::new(410), &[22, 78]),
        ("500", HttpResponse::new(500), &[22]),
        ("503", HttpResponse::new(503), &[92]),
        ("truncated, with Content-Length", html(page.clone()).cut_body_at(150), &[18]),
        ("truncated within the entries", html(page.clone()).cut_body_at(page.len() as u64 - 40), &[18]),
        (
            "truncated, chunked",
            HttpResponse::new(200)
                .header("Content-Type", "text/html")
                .chunked(vec![page.into(); 2])
                .cut_body_at(300),
            &[18],
        ),
        ("no response", HttpResponse::raw(""), &[52]),
        ("nonsense", HttpResponse::raw("nonsense\r\n\r\n"), &[8]),
    ];
    for (case, reply, exits) in rows {
        let (site, dir) = (Site::new(), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        assert_eq!(list_file_contents(dir.path()), EXPECTED_FILES, "{case}");
        site.set_reply("/d/sub/", reply);
        // A run with --delete over an existing mirror, and a first run.
        let result = site.run_mirror(dir.path(), "--delete");
        assert!(exits.contains(&result.exit), "{case}: {} {}", result.exit, result.stderr);
        assert!(result.stderr.contains("/d/sub/"), "{case}: {}", result.stderr);
        assert_eq!(list_file_contents(dir.path()), EXPECTED_FILES, "{case}");
        let fresh = temp_dir();
        let result = site.run_mirror(fresh.path(), "");
        assert!(exits.contains(&result.exit), "{case}: {} {}", result.exit, result.stderr);
        let found = list_file_contents(fresh.path());
        assert!(
            found.contains(&"one=one".into()) && found.contains(&"zero=zero".into()),
            "{case}: {found:?}"
        );
        assert!(!found.iter().any(|name| name.contains(".fetch-url.")), "{case}: {found:?}");
    }
}

/// The response of a subdirectory is complete but not an index page: nothing is deleted. An HTML page is saved beside the
/// files of the earlier run.
#[test]
fn page_that_is_not_a_listing_deletes_nothing() {
    let mut lost = Vec::new();
    let login = "<html><title>Please log in</title><form action=x><input name=u></form></html>";
    let maintenance =
        "<html><title>We will be back</title><p>Soon. See <a href=\"https://status.invalid/\">here</a>";
    for (case, reply) in [
        ("text", HttpResponse::new(200).header("Content-Type", "text/plain").body("x\ny\n")),
        (
            "binary",
            HttpResponse::new(200).header("Content-Type", "application/octet-stream").body(vec![0; 4000]),
        ),
        ("an image", HttpResponse::new(200).header("Content-Type", "image/png").body("\u{89}PNG")),
        ("empty", HttpResponse::new(200).header("Content-Type", "text/html").body("")),
        ("204", HttpResponse::new(204)),
        ("a login form", html(login)),
        ("maintenance", html(maintenance)),
    ] {
        let (site, dir) = (Site::new(), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        site.set_reply("/d/sub/", reply);
        let result = site.run_mirror(dir.path(), "--delete");
        assert!(!result.stderr.contains("panicked"), "{case}: {}", result.stderr);
        let ordinary_page = match case {
            "a login form" => Some(login),
            "maintenance" => Some(maintenance),
            _ => None,
        };
        let ordinary_page = ordinary_page.map(|page| format!("sub/index.html={page}"));
        let mut found = list_file_contents(dir.path());
        found.retain(|file| Some(file) != ordinary_page.as_ref());
        let is_saved = found.len() < list_file_contents(dir.path()).len();
        if found != EXPECTED_FILES || is_saved != ordinary_page.is_some() {
            lost.push(format!(
                "{case} (exit {}): {:?} {}",
                result.exit,
                list_file_contents(dir.path()),
                result.stderr
            ));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// The index page of the start directory fails.
#[test]
fn failed_start_page_ends_the_run_and_changes_nothing() {
    for (case, reply, exits) in [
        ("404", HttpResponse::new(404), 78),
        ("403", HttpResponse::new(403), 9),
        ("503", HttpResponse::new(503), 92),
        ("401", HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=x"), 67),
        ("truncated", html(nginx_index_html(&[("one", "3")])).cut_body_at(200), 18),
    ] {
        let (site, dir) = (Site::new(), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        site.set_reply("/d/", reply);
        let result = site.run_mirror(dir.path(), "--delete");
        result.assert_exit(exits);
        assert_eq!(list_file_contents(dir.path()), EXPECTED_FILES, "{case}");
    }
}

/// The exit status is that of the first failure; the other files are downloaded, unless --fail-early is set.
#[test]
fn failed_file_does_not_stop_the_others_and_is_retried_by_the_next_run() {
    let site = Site::new();
    let many: Vec<(String, &str)> = (0..30).map(|number| (format!("f{number:02}"), "3")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    site.set_reply("/d/", html(nginx_index_html(&many)));
    site.set_reply("/d/f03", HttpResponse::new(404));
    let dir = temp_dir();
    let result = site.run_mirror(dir.path(), "");
    result.assert_exit(78).assert_stderr_contains("/d/f03");
    assert_eq!(list_file_contents(dir.path()).len(), 29);
    assert!(!dir.path().join("f03").exists());
    // The next run requests only the file that failed.
    let before = site.server.requests().len();
    site.run_mirror(dir.path(), "").assert_exit(78);
    assert_eq!(site.requested_since(before), ["/d/", "/d/f03"]);
    site.set_reply("/d/f03", HttpResponse::new(200).body("f03"));
    site.run_mirror(dir.path(), "").assert_exit(0);
    assert_eq!(list_file_contents(dir.path()).len(), 30);
    site.set_reply("/d/f03", HttpResponse::new(404));
    let dir = temp_dir();
    site.run_mirror(dir.path(), "--fail-early --parallel-max 1").assert_exit(78);
    let found = list_file_contents(dir.path());
    assert!(found.len() < 29, "{found:?}");
}

/// A truncated file stays a `.part` file; the next run requests the rest.
#[test]
fn truncated_file_is_resumed_by_the_next_run() {
    let site = Site::new();
    let content: String = "0123456789".repeat(20_000);
    site.set_reply("/d/", html(nginx_index_html(&[("big", "200000"), ("one", "3")])));
    let big_file = || {
        let facts = FileHeaders {
            etag: Some("\"v\"".into()),
            last_modified: Some(DATE.into()),
            ranges: RangeSupport::Correct,
        };
        (facts, content.clone())
    };
    let (facts, bytes) = big_file();
    let etag = facts.etag.expect("a tag");
    let reply = HttpResponse::new(200)
        .header("ETag", &etag)
        .header("Last-Modified", DATE)
        .header("Accept-Ranges", "bytes");
    site.set_reply("/d/big", reply.body(bytes).cut_body_at(150_000));
    let dir = temp_dir();
    site.run_mirror(dir.path(), "").assert_exit(18);
    assert!(!dir.path().join("big").exists());
    assert!(dir.path().join("one").exists());
    let part = dir.path().join("big.fetch-url.part");
    let part_size = fs::metadata(&part).map(|metadata| metadata.len()).unwrap_or_default();
    assert_eq!(part_size, 150_000, "{:?}", entry_names(dir.path()));
    let rest =
        HttpResponse::new(206).header("ETag", &etag).header("Content-Range", "bytes 149936-199999/200000");
    site.set_reply("/d/big", rest.body(&content.as_bytes()[149_936..]));
    let before = site.server.requests().len();
    site.run_mirror(dir.path(), "").assert_exit(0);
    let requests = site.server.requests();
    let resumed = requests[before..].iter().find(|request| request.path() == "/d/big").expect("a request");
    assert_eq!(resumed.header_text("range"), Some("bytes=149936-"));
    assert_eq!(fs::read_to_string(dir.path().join("big")).expect("a file"), content);
    assert_eq!(entry_names(dir.path()), [MIRROR_JOURNAL, "big", "one"]);
}

#[test]
fn redirects_to_other_directories_are_not_followed() {
    let other = HttpServer::start(|request| match request.path().ends_with('/') {
        true => html(nginx_index_html(&[("stolen", "6")])),
        false => HttpResponse::new(200).body("stolen"),
    });
    let other = other.expect("a server");
    // A subdirectory redirects to another host, scheme or parent directory.
    for to in [other.url("/d/sub/"), "ftp://127.0.0.1:1/".into(), "../../".into()] {
        let (site, dir) = (Site::new(), temp_dir());
        site.set_reply("/", html(nginx_index_html(&[("d/", "-")])));
        site.set_reply("/d/sub/", HttpResponse::new(302).header("Location", &to));
        let result = site.run_mirror(dir.path(), "");
        let found = list_file_contents(dir.path());
        assert!(!found.iter().any(|name| name.contains("stolen")), "{to}: {found:?} {}", result.stderr);
        assert!(found.contains(&"one=one".into()), "{to}: {found:?}");
        assert!(found.len() <= 4, "{to}: {found:?}");
    }
    // A link to a directory may omit the final slash; the server redirects to the URL with the slash.
    let (site, dir) = (Site::new(), temp_dir());
    site.set_reply("/d/", html(nginx_index_html(&[("one", "3"), ("sub", "-")])));
    site.set_reply("/d/sub", HttpResponse::new(301).header("Location", "/d/sub/"));
    site.run_mirror(dir.path(), "");
    assert!(list_file_contents(dir.path()).contains(&"one=one".into()));
    // The start URL may omit it, too.
    let (site, dir) = (Site::new(), temp_dir());
    site.set_reply("/d", HttpResponse::new(301).header("Location", site.server.url("/d/")));
    let target = dir.path().join("new").display().to_string();
    run_fetch_url(["mirror", "--retry", "0", &site.server.url("/d"), &target]).assert_exit(0);
    assert_eq!(list_file_contents(&dir.path().join("new")), EXPECTED_FILES);
    let result = run_fetch_url(["mirror", "--retry", "0", &site.server.url("/d"), &target]);
    result.assert_exit(0);
    let paths = site.requested_since(0);
    assert_eq!(paths.iter().filter(|path| *path == "/d/one").count(), 1, "{paths:?}");
}

#[test]
fn directory_that_redirects_to_a_server_without_html_is_skipped() {
    let other = HttpServer::start(|_| HttpResponse::new(200).header("Content-Type", "text/plain").body("x"));
    let target = other.expect("a server");
    let location = target.url("/sub/");
    let server = directory_server(move |path| match path {
        "/d/" => minimal_index_page("<a href=\"sub/\">sub/</a>\n<a href=\"own/\">own/</a>\n"),
        "/d/sub/" => HttpResponse::new(302).header("Location", &location),
        _ => minimal_index_page("<a href=\"y\">y</a>  01-Dec-1994 12:34  1\n"),
    });
    let dir = temp_dir();
    run_mirror_with(&server.url("/d/"), dir.path(), &["--delete"])
        .assert_exit(0)
        .assert_stderr_contains("skipped: the server redirects the directory to http://127.0.0.1:");
    assert_eq!(list_file_contents(dir.path()), ["own/y=y"]);
}

#[test]
fn unreachable_server_exits_with_7_and_deletes_nothing() {
    let dir = temp_dir();
    let server = index_server("<a href=\"a\">a</a>    01-Dec-1994 12:34    1\r\n");
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    let port = ReservedPort::tcp().expect("a port");
    let options = format!("--delete --connect-to ::{}", port.addr());
    run_mirror(&server.url("/d/"), dir.path(), &options).assert_exit(7);
    assert_eq!(list_tree(dir.path()), ["a=a"]);
}

/// `latest/` redirects to `v1/`: every run mirrors only `v1/`.
#[test]
fn directory_that_redirects_to_its_sibling_is_skipped() {
    let server = directory_server(|path| match path {
        "/d/" => minimal_index_page("<a href=\"latest/\">latest/</a>\n<a href=\"v1/\">v1/</a>\n"),
        "/d/latest/" => HttpResponse::new(302).header("Location", "/d/v1/"),
        _ => minimal_index_page("<a href=\"y\">y</a>  01-Dec-1994 12:34  1\n"),
    });
    let dir = temp_dir();
    for _ in 0..2 {
        run_mirror_with(&server.url("/d/"), dir.path(), &["--delete"])
            .assert_exit(0)
            .assert_stderr_contains("skipped");
        assert!(dir.path().join("v1/y").is_file() && !dir.path().join("latest/y").exists());
    }
}

/// An index page with 15,000 links.
#[test]
fn huge_index_page_is_read_in_bounded_memory() {
    let site = Site::new();
    let line = |number: u32| format!("<a href=\"file-{number:06}\">file</a>    01-Dec-1994 12:34      1\r\n");
    let lines: String = (0..15_000).map(line).collect();
    site.set_reply(
        "/d/",
        html(format!("<html><title>Index of /d/</title><h1>Index of /d/</h1><pre>{lines}</pre></html>")),
    );
    let dir = temp_dir();
    let (url, target) = (site.server.url("/d/"), dir.path().display().to_string());
    let options = ["mirror", "--retry", "0", "--include-glob", "file-014999", &url, &target];
    let (memory, result) = run_measuring_memory(&options);
    result.assert_exit(0);
    assert_eq!(list_file_contents(dir.path()), ["file-014999=file-014999"]);
    assert!(memory < 160 * 1024, "{memory} KiB");
    let dir = temp_dir();
    let result = site.run_mirror(dir.path(), "--max-entries 20");
    result.assert_exit(63);
    assert!((1..=20).contains(&list_file_contents(dir.path()).len()), "{:?}", list_file_contents(dir.path()));
}
