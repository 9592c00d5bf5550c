//! Index pages that list directories without a final slash, as mini_httpd writes them: `/d/sub` is redirected to `/d/sub/`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::mirror::{list_files, nginx_index_with_sizes, run_mirror};
use crate::support::{RunResult, http_server, temp_dir};
use fetch_url_tests::{HttpResponse, HttpServer};

const FILES: [&str; 3] = ["a", "sub/b", "sub/deep/c"];

/// Starts a server with the files of [`FILES`]. While `has_slashes` is false, it lists directories without a slash and
/// sends `sub_reply` for `/d/sub`.
fn server(has_slashes: &Arc<AtomicBool>, sub_reply: &Arc<Mutex<HttpResponse>>) -> HttpServer {
    let (has_slashes, sub_reply) = (has_slashes.clone(), sub_reply.clone());
    http_server(move |request| {
        let directory = if has_slashes.load(Ordering::Relaxed) { "/" } else { "" };
        let entry = |name: &str| format!("{name}{directory}");
        match request.path().as_str() {
            "/d/" => nginx_index_with_sizes(&[("a", "4"), (&entry("sub"), "4096")]),
            "/d/sub/" => nginx_index_with_sizes(&[("b", "4"), (&entry("deep"), "4096")]),
            "/d/sub/deep/" => nginx_index_with_sizes(&[("c", "4")]),
            "/d/sub" => sub_reply.lock().expect("a lock").clone(),
            "/d/sub/deep" => redirect("/d/sub/deep/"),
            _ => HttpResponse::new(200).body("file"),
        }
    })
}

fn redirect(location: &str) -> HttpResponse {
    HttpResponse::new(302).header("Location", location)
}

#[test]
fn directory_that_is_listed_without_slash_is_copied_by_every_run() {
    let dir = temp_dir();
    let target = dir.path().join("m");
    let server = server(&Arc::default(), &Arc::new(Mutex::new(redirect("/d/sub/"))));
    for options in ["", "", "--delete"] {
        run_mirror(&server.url("/d/"), &target, options).assert_exit(0);
        assert_eq!(list_files(&target), FILES, "{options}");
    }
}

#[test]
fn directory_that_is_listed_without_slash_counts_for_max_depth() {
    let dir = temp_dir();
    let server = server(&Arc::default(), &Arc::new(Mutex::new(redirect("/d/sub/"))));
    let result = run_mirror(&server.url("/d/"), dir.path(), "--max-depth 1");
    result.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["a", "sub/b"]);
    assert!(result.stderr.contains("deeper than --max-depth"), "{}", result.stderr);
}

#[test]
fn delete_removes_directory_only_if_the_server_sends_a_file_for_its_name() {
    let file = HttpResponse::new(200).body("file");
    for (reply, exit, expected) in [
        (redirect("/d/sub/"), 0, &FILES[..]),
        (HttpResponse::new(404), 78, &FILES),
        (HttpResponse::new(403), 9, &FILES),
        (HttpResponse::new(503), 92, &FILES),
        // Pages about the directory, such as that of a login.
        (redirect("/login"), 23, &FILES),
        (HttpResponse::new(200).header("Content-Type", "text/html; charset=utf-8").body("<p>"), 23, &FILES),
        (HttpResponse::new(200), 23, &FILES),
        (HttpResponse::new(202).body("file"), 23, &FILES),
        (file, 0, &["a", "sub"]),
    ] {
        let dir = temp_dir();
        let (has_slashes, sub_reply) =
            (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(HttpResponse::new(500))));
        let server = server(&has_slashes, &sub_reply);
        run_mirror(&server.url("/d/"), dir.path(), "--delete").assert_exit(0);
        has_slashes.store(false, Ordering::Relaxed);
        *sub_reply.lock().expect("a lock") = reply;
        run_mirror(&server.url("/d/"), dir.path(), "--delete --dry-run").assert_exit(0);
        assert_eq!(list_files(dir.path()), FILES);
        run_mirror(&server.url("/d/"), dir.path(), "--delete").assert_exit(exit);
        assert_eq!(list_files(dir.path()), expected);
    }
}

/// Starts a server whose `/d/` has a directory `a(b)` with the file `g`. While `has_slash` is false, it is listed without
/// a slash and `location` is where its URL leads.
fn server_of_one_directory(has_slash: &Arc<AtomicBool>, location: &str) -> HttpServer {
    let (has_slash, location) = (has_slash.clone(), location.to_owned());
    http_server(move |request| match request.path().as_str() {
        "/d/" if has_slash.load(Ordering::Relaxed) => nginx_index_with_sizes(&[("a%28b%29/", "-")]),
        "/d/" => nginx_index_with_sizes(&[("a%28b%29", "4096")]),
        "/d/a%28b%29" | "/d/a(b)" => {
            let host = request.header_text("Host").expect("a host");
            redirect(&location.replace("PORT", host.rsplit(':').next().unwrap_or_default()))
        }
        "/d/a%28b%29/" | "/d/a(b)/" | "/other/" => nginx_index_with_sizes(&[("g", "4")]),
        "/moved/" => redirect("/other/"),
        "/start/" => redirect("/d/a(b)/home.html"),
        _ => HttpResponse::new(200).body("file"),
    })
}

/// Mirrors `/d/` of `server`, which has also the host name `other.test`.
fn mirror_of_two_hosts(server: &HttpServer, target: &Path, options: &str) -> RunResult {
    let port = server.addr().port();
    let options = format!("{options} --connect-to other.test:{port}:127.0.0.1:{port}");
    run_mirror(&server.url("/d/"), target, &options)
}

#[test]
fn directory_is_recognised_if_its_redirect_spells_the_url_in_another_way() {
    for location in ["/d/a(b)/", "/d/%61%28b%29/", "/d/a(b)/?x", "http://other.test:PORT/d/a%28b%29/"] {
        let dir = temp_dir();
        let has_slash = Arc::new(AtomicBool::new(false));
        let server = server_of_one_directory(&has_slash, location);
        mirror_of_two_hosts(&server, &dir.path().join("new"), "").assert_exit(0);
        assert_eq!(list_files(&dir.path().join("new")), ["a(b)/g"], "{location}");
        let target = dir.path().join("old");
        has_slash.store(true, Ordering::Relaxed);
        mirror_of_two_hosts(&server, &target, "--delete").assert_exit(0);
        has_slash.store(false, Ordering::Relaxed);
        for _ in 0..2 {
            mirror_of_two_hosts(&server, &target, "--delete").assert_exit(0);
            assert_eq!(list_files(&target), ["a(b)/g"], "{location}");
        }
    }
}

/// The directory may be elsewhere, so neither the local copy is deleted nor an index page saved in silence.
#[test]
fn directory_that_is_redirected_elsewhere_is_kept_and_named() {
    for location in [
        "/other/",
        "/moved/",
        "/start/",
        "http://other.test:PORT/other/",
        "/d/a(b)/home.html",
        "/d/a(b)/gone/",
    ] {
        let dir = temp_dir();
        let has_slash = Arc::new(AtomicBool::new(false));
        let server = server_of_one_directory(&has_slash, location);
        let result = mirror_of_two_hosts(&server, &dir.path().join("new"), "");
        result.assert_exit(0);
        result.assert_stderr_contains("may be a directory: the server redirects it to ");
        assert_eq!(list_files(&dir.path().join("new")), ["a(b)"], "{location}");
        let target = dir.path().join("old");
        has_slash.store(true, Ordering::Relaxed);
        mirror_of_two_hosts(&server, &target, "--delete").assert_exit(0);
        has_slash.store(false, Ordering::Relaxed);
        mirror_of_two_hosts(&server, &target, "--delete").assert_exit(23);
        assert_eq!(list_files(&target), ["a(b)/g"], "{location}");
    }
}

/// Starts a server whose directories have a text and a picture each, and end with `end` in the listings.
fn server_with_pictures(end: &'static str) -> HttpServer {
    http_server(move |request| match request.path().as_str() {
        "/d/" => {
            let (sub, conf) = (format!("sub{end}"), format!("conf.d{end}"));
            nginx_index_with_sizes(&[
                ("a.txt", "4"),
                ("b.jpg", "4"),
                ("LICENSE", "4"),
                (&sub, "-"),
                (&conf, "-"),
            ])
        }
        "/d/sub/" | "/d/conf.d/" => nginx_index_with_sizes(&[("c.txt", "4"), ("d.jpg", "4")]),
        path @ ("/d/sub" | "/d/conf.d") => redirect(&format!("{path}/")),
        _ => HttpResponse::new(200).body("file"),
    })
}

/// Returns the sorted paths of the requests with this method.
fn requested(server: &HttpServer, method: &str) -> Vec<String> {
    let requests = server.requests();
    let mut paths: Vec<String> =
        requests.iter().filter(|request| request.method == method).map(|request| request.path()).collect();
    paths.sort();
    paths
}

#[test]
fn include_glob_does_not_exclude_directories_that_are_listed_without_slash() {
    let dir = temp_dir();
    let server = server_with_pictures("");
    let result = run_mirror(&server.url("/d/"), dir.path(), "--include-glob *.txt");
    result.assert_exit(0).assert_stderr_contains("3 files");
    assert_eq!(list_files(dir.path()), ["a.txt", "conf.d/c.txt", "sub/c.txt"]);
    assert!(!requested(&server, "GET").iter().any(|path| path.ends_with("LICENSE") || path.ends_with("jpg")));
    let dir = temp_dir();
    run_mirror(&server.url("/d/"), dir.path(), "--include-glob *.txt --exclude-glob sub").assert_exit(0);
    assert_eq!(list_files(dir.path()), ["a.txt"]);
}

#[test]
fn include_glob_sends_no_further_requests_if_directories_have_a_slash() {
    let dir = temp_dir();
    let server = server_with_pictures("/");
    run_mirror(&server.url("/d/"), dir.path(), "--include-glob *.txt").assert_exit(0);
    assert_eq!(list_files(dir.path()), ["a.txt", "conf.d/c.txt", "sub/c.txt"]);
    assert_eq!(requested(&server, "HEAD"), [""; 0]);
    assert_eq!(requested(&server, "GET").len(), 6);
}

#[test]
fn dry_run_lists_the_files_of_directories_without_slash() {
    let dir = temp_dir();
    for (end, heads) in [("/", 0), ("", 11)] {
        let server = server_with_pictures(end);
        let result = run_mirror(&server.url("/d/"), dir.path(), "--dry-run");
        let text = result.assert_exit(0).assert_stderr_contains("dry run: 7 to fetch").stdout_text();
        assert!(text.contains("/d/conf.d/c.txt to ") && !text.contains("/d/conf.d to "), "{text}");
        assert_eq!(requested(&server, "HEAD").len(), heads, "{:?}", requested(&server, "HEAD"));
        assert_eq!(requested(&server, "GET").len(), 3);
    }
}

#[test]
fn skip_existing_copies_new_files_of_a_directory_without_slash() {
    let dir = temp_dir();
    let server = server_with_pictures("");
    run_mirror(&server.url("/d/"), dir.path(), "--include-glob *.txt").assert_exit(0);
    run_mirror(&server.url("/d/"), dir.path(), "--skip-existing").assert_exit(0);
    assert_eq!(list_files(&dir.path().join("sub")), ["c.txt", "d.jpg"]);
}
