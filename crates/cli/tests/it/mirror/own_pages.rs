//! `mirror` of HTTP directories that return ordinary pages instead of generated index pages: the links of the pages are
//! followed (docs/spec/cli.md 26.18 to 26.25).

use std::collections::BTreeMap;
use std::fs;

use crate::support::mirror::{html_reply, list_files, list_tree, nginx_index_html, run_mirror};
use crate::support::{RunResult, http_server, temp_dir};
use fetch_url_tests::{FileHeaders, HttpResponse, HttpServer, RangeSupport, file_handler};
use serde_json::Value;

const DATE: &str = "Thu, 01 Dec 1994 12:34:56 GMT";

/// Starts a server with these files, by path and query. Names that end with `.css`, and `.html`, a slash or no extension
/// have a media type; all have a date.
fn site(files: &[(&str, &str)]) -> HttpServer {
    let files: BTreeMap<String, String> =
        files.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect();
    http_server(move |request| {
        let Some(content) = files.get(&request.path()) else { return HttpResponse::new(404) };
        let target = request.path();
        let path = target.split('?').next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let kind = match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("css") => "text/css",
            Some("html" | "php") | None => "text/html; charset=utf-8",
            _ => "application/octet-stream",
        };
        let facts =
            FileHeaders { etag: None, last_modified: Some(DATE.into()), ranges: RangeSupport::Correct };
        file_handler(content.clone().into(), facts)(request).header("Content-Type", kind)
    })
}

/// Returns the targets of all requests from number `from` on with this method, sorted.
fn requested(server: &HttpServer, method: &str, from: usize) -> Vec<String> {
    let requests = server.requests();
    let of_method = requests[from..].iter().filter(|request| request.method == method);
    let mut targets: Vec<String> = of_method.map(|request| request.path()).collect();
    targets.sort();
    targets
}

/// Returns the summary of a run with `--events -`.
fn summary(result: &RunResult) -> Value {
    let text = result.stdout_text();
    serde_json::from_str(text.lines().last().expect("a summary")).expect("valid JSON")
}

/// The page has no length and ends with the connection, so it may be cut.
#[test]
fn page_without_a_length_is_assumed_to_be_complete() {
    for (has_length, options, exit, assumed) in
        [(true, "--require-complete", 0, 0), (false, "", 0, 1), (false, "--require-complete", 18, 0)]
    {
        let server = http_server(move |_| {
            let page = "<html><body><h1>Welcome";
            match has_length {
                true => html_reply(page),
                false => {
                    HttpResponse::raw(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}"))
                }
            }
        });
        let dir = temp_dir();
        let result = run_mirror(&server.url("/d/"), dir.path(), &format!("--events - {options}"));
        result.assert_exit(exit);
        assert_eq!(summary(&result)["assumed"], assumed, "{options}");
    }
}

/// Three levels of pages, with a style sheet, images for several resolutions, and a cycle.
const SITE: [(&str, &str); 9] = [
    (
        "/d/",
        "<title>Home</title><link rel=stylesheet href=style/main.css><a href=one.html>1</a>\
         <img src=a.png srcset='a2.png 2x, a3.png 3x'><a href='#top'>top</a>",
    ),
    ("/d/style/main.css", "@import 'more.css'; body { background: url(../img/bg.png) }"),
    ("/d/style/more.css", "i { background: url('../img/bg.png') }"),
    ("/d/img/bg.png", "bg"),
    ("/d/a.png", "a"),
    ("/d/a2.png", "a2"),
    ("/d/a3.png", "a3"),
    ("/d/one.html", "<base href='/d/deep/'><a href=two.html>2</a><a href='../'>home</a>"),
    (
        "/d/deep/two.html",
        "<a href='../index.html'>home</a><a href=two.html>me</a><script src='../a.png'></script>",
    ),
];

const SITE_FILES: [&str; 9] = [
    "a.png",
    "a2.png",
    "a3.png",
    "deep/two.html",
    "img/bg.png",
    "index.html",
    "one.html",
    "style/main.css",
    "style/more.css",
];

#[test]
fn links_of_own_pages_are_followed_and_each_url_is_requested_once() {
    let (server, dir) = (site(&SITE), temp_dir());
    let result = run_mirror(&server.url("/d/"), dir.path(), "--events -");
    result.assert_exit(0);
    assert_eq!(list_files(dir.path()), SITE_FILES);
    let index = fs::read_to_string(dir.path().join("index.html")).expect("a page");
    assert_eq!(index, SITE[0].1, "links are not rewritten");
    let mut expected: Vec<&str> = SITE.iter().map(|(path, _)| *path).collect();
    expected.sort_unstable();
    assert_eq!(requested(&server, "GET", 0), expected);
    assert_eq!(
        (summary(&result)["files"].as_u64(), summary(&result)["elsewhere"].as_u64()),
        (Some(9), Some(0))
    );
}

#[test]
fn second_run_transfers_nothing_and_follows_the_links_of_unchanged_pages() {
    let (server, dir) = (site(&SITE), temp_dir());
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    let before = server.requests().len();
    fs::remove_file(dir.path().join("deep/two.html")).expect("a file");
    fs::remove_file(dir.path().join("img/bg.png")).expect("a file");
    let result = run_mirror(&server.url("/d/"), dir.path(), "--events -");
    result.assert_exit(0);
    assert_eq!(list_files(dir.path()), SITE_FILES);
    assert_eq!(requested(&server, "GET", before), ["/d/", "/d/deep/two.html", "/d/img/bg.png"]);
    assert_eq!(
        (summary(&result)["files"].as_u64(), summary(&result)["skipped"].as_u64()),
        (Some(2), Some(7))
    );
    // The kind of an unchanged file is detected from its name, because there is no response.
    let before = server.requests().len();
    fs::remove_file(dir.path().join("img/bg.png")).expect("a file");
    run_mirror(&server.url("/d/"), dir.path(), "--skip-existing").assert_exit(0);
    assert_eq!(requested(&server, "GET", before), ["/d/", "/d/img/bg.png"]);
}

#[test]
fn links_to_other_servers_and_above_the_start_are_counted() {
    let other = http_server(|_| HttpResponse::new(200).body("stolen"));
    let port = other.addr().port();
    let page = format!(
        "<title>x</title><a href='{0}'>1</a><img src='{0}'><a href='{1}'>2</a><a href='ftp://127.0.0.1:{port}/d/x'>3</a>\
         <a href='https://127.0.0.1:{port}/d/x'>4</a><a href='file:///etc/passwd'>5</a><a href='javascript:x()'>6</a>\
         <a href='mailto:a@b.invalid'>7</a><a href='/'>8</a><a href='../x.html'>9</a><a href='/dd/'>10</a>\
         <img src='/icon.png'><a href='%2e%2e/up'>11</a><a href='ok.txt'>12</a><a href='..%2Fup'>13</a>",
        other.url("/d/x"),
        other.url("/y"),
    );
    let (server, dir) = (site(&[("/d/", &page), ("/d/ok.txt", "ok")]), temp_dir());
    let result = run_mirror(&server.url("/d/"), dir.path(), "--events -");
    result.assert_exit(0);
    assert_eq!(list_files(dir.path()), ["index.html", "ok.txt"]);
    assert_eq!(requested(&server, "GET", 0), ["/d/", "/d/ok.txt"]);
    assert_eq!(other.requests().len(), 0);
    let summary = summary(&result);
    let counts =
        ["other_servers", "outside_start", "nameless"].map(|key| summary[key].as_u64().unwrap_or(99));
    assert_eq!(counts[0], 4, "{summary}");
    assert_eq!(counts[1] + counts[2], 6, "{summary}");
    assert_eq!(summary["elsewhere"].as_u64(), Some(counts[0] + counts[1]), "{summary}");
}

#[test]
fn queries_are_part_of_names_and_names_are_unique() {
    let page = "<title>x</title><a href='p.php?a=1'>1</a><a href='p.php?a=2&amp;b=/../../x'>2</a><a href='p.php'>3</a>\
        <a href='a'>4</a><a href='a/b'>5</a><a href='c:d'>6</a><a href='./c:d'>7</a><a href='c_d'>8</a><a href='.rc'>9</a>\
        <a href='x//y'>10</a><a href='p.html?'>11</a>";
    let files = [
        ("/d/", page),
        ("/d/p.php?a=1", "p1"),
        ("/d/p.php?a=2&b=/../../x", "p2"),
        ("/d/p.php", "p"),
        ("/d/a", "a"),
        ("/d/a/b", "b"),
        ("/d/c:d", "cd"),
        ("/d/c_d", "c_d"),
        ("/d/.rc", "rc"),
        ("/d/x//y", "y"),
        ("/d/p.html?", "q"),
    ];
    let found = || {
        let (server, dir) = (site(&files), temp_dir());
        run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
        let mut files = list_tree(dir.path());
        files.retain(|name| !name.ends_with('/') && !name.starts_with("index.html"));
        files
    };
    let first = found();
    assert_eq!(first, found(), "names do not depend on the order of arrival");
    for name in
        ["a/b=b", "a/index.html=a", "p.php=p", "p.php_a=1=p1", "p.php_a=2&b=_.._.._x=p2", "_rc=rc", "x/_/y=y"]
    {
        assert!(first.contains(&name.to_owned()), "{name}: {first:?}");
    }
    assert_eq!(first.len(), files.len() - 1, "{first:?}");
    assert!(first.iter().any(|name| name.starts_with("c_d~")), "{first:?}");
}

/// `/d/a` was saved as a file before its page links to `/d/a/b`.
#[test]
fn directory_gets_another_name_when_a_saved_file_has_its_name() {
    let files = [
        ("/d/", "<title>x</title><a href=a>a</a>"),
        ("/d/a", "<title>a</title><a href='a/b'>b</a>"),
        ("/d/a/b", "b"),
    ];
    let (server, dir) = (site(&files), temp_dir());
    for _ in 0..2 {
        run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
        let found = list_files(dir.path());
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0] == "a" && found[1].starts_with("a~") && found[1].ends_with("/b"), "{found:?}");
    }
}

/// An earlier run saved `/d/post` as a file, and its page has got pages below it.
#[test]
fn page_that_an_earlier_run_saved_as_a_file_gets_pages_below_it() {
    let home = |links: &str| format!("<title>x</title>{links}");
    let before = [("/d/", &*home("<a href=post>p</a>")), ("/d/post", "<title>old</title>")];
    let links = home("<a href=post>p</a><a href=post/comments>c</a>");
    let after = [("/d/", &*links), ("/d/post", "<title>new post</title>"), ("/d/post/comments", "comments")];
    let dir = temp_dir();
    let (server, changed) = (site(&before), site(&after));
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    assert_eq!(list_files(dir.path()), ["index.html", "post"]);
    // The second server stands for the same host.
    let option = format!("--connect-to {}:{}", server.addr(), changed.addr());
    for _ in 0..2 {
        run_mirror(&server.url("/d/"), dir.path(), &option).assert_exit(0);
        let files = list_files(dir.path());
        assert_eq!((files.len(), &*files[1]), (3, "post"), "{files:?}");
        assert!(files[2].starts_with("post~") && files[2].ends_with("/comments"), "{files:?}");
        assert_eq!(fs::read_to_string(dir.path().join("post")).expect("a file"), "<title>new post</title>");
    }
}

#[test]
fn globs_and_depth_limit_the_followed_links() {
    for (options, expected, count) in [
        ("--exclude-glob deep", &SITE_FILES[..3], ("excluded", 1)),
        ("--exclude-glob *.css", &["a.png", "a2.png", "a3.png"], ("excluded", 1)),
        ("--include-glob *.png", &["a.png", "a2.png", "a3.png", "index.html"], ("excluded", 2)),
        (
            "--max-depth 0",
            &["a.png", "a2.png", "a3.png", "img/bg.png", "index.html", "style/main.css"],
            ("too_deep", 1),
        ),
        ("--max-depth 1", &["one.html"], ("too_deep", 1)),
    ] {
        let (server, dir) = (site(&SITE), temp_dir());
        let result = run_mirror(&server.url("/d/"), dir.path(), &format!("{options} --events -"));
        result.assert_exit(0);
        let found = list_files(dir.path());
        assert!(expected.iter().all(|name| found.contains(&(*name).to_owned())), "{options}: {found:?}");
        assert!(found.len() < SITE_FILES.len(), "{options}: {found:?}");
        assert_eq!(summary(&result)[count.0].as_u64(), Some(count.1), "{options}");
        let is_two_found = found.contains(&"deep/two.html".to_owned());
        assert_eq!(is_two_found, options.contains("css"), "{options}: {found:?}");
    }
    let (server, dir) = (site(&SITE), temp_dir());
    run_mirror(&server.url("/d/"), dir.path(), "--max-entries 3").assert_exit(63);
    assert_eq!(list_files(dir.path()), ["a.png", "index.html", "one.html", "style/main.css"]);
}

#[test]
fn missing_page_does_not_stop_the_others() {
    let page = "<title>x</title><a href=gone.html>x</a><a href=b.txt>b</a>";
    let (server, dir) = (site(&[("/d/", page), ("/d/b.txt", "b")]), temp_dir());
    let result = run_mirror(&server.url("/d/"), dir.path(), "--events -");
    result.assert_exit(78).assert_stderr_contains("gone.html");
    assert_eq!(list_files(dir.path()), ["b.txt", "index.html"]);
    assert_eq!(summary(&result)["failed"].as_u64(), Some(1));
}

#[test]
fn redirected_links_are_saved_under_their_targets() {
    let other = http_server(|_| html_reply("<title>other</title><a href=x>x</a>"));
    let other_url = other.url("/file");
    let server = http_server(move |request| match request.path().as_str() {
        "/d/" => html_reply(
            "<title>x</title><a href=docs>1</a><a href='docs/'>1</a><a href='docs/a.txt'>2</a><a href=login>3</a><a href=far>4</a>",
        ),
        "/d/docs" => HttpResponse::new(301).header("Location", "/d/docs/"),
        "/d/docs/" => html_reply("<title>docs</title><a href=b.txt>b</a>"),
        "/d/docs/a.txt" | "/d/docs/b.txt" => HttpResponse::new(200).body("text"),
        "/d/login" => HttpResponse::new(302).header("Location", "/login"),
        "/login" => html_reply("<title>login</title>"),
        "/d/far" => HttpResponse::new(302).header("Location", other_url.clone()),
        _ => HttpResponse::new(404),
    });
    let dir = temp_dir();
    for run in 1..=2 {
        let result = run_mirror(&server.url("/d/"), dir.path(), "--events -");
        result.assert_exit(0);
        let expected = ["docs/a.txt", "docs/b.txt", "docs/index.html", "far", "index.html"];
        assert_eq!(list_files(dir.path()), expected, "run {run}");
        assert_eq!(summary(&result)["outside_start"].as_u64(), Some(1), "run {run}");
        let is_only_file = other.requests().iter().all(|request| request.path() == "/file");
        assert!(is_only_file, "links of a page of another server are not followed");
    }
}

/// A redirected link is stored under the name of its target, also if it is large enough for segments.
#[test]
fn large_file_is_stored_once_under_the_name_to_which_its_link_is_redirected() {
    let headers = FileHeaders { etag: Some("\"1\"".to_owned()), ..FileHeaders::default() };
    let large = file_handler(vec![b'x'; 3 << 20], headers);
    let server = http_server(move |request| match request.path().as_str() {
        "/d/" => html_reply("<title>x</title><a href=old.bin>1</a>"),
        "/d/old.bin" => HttpResponse::new(302).header("Location", "/d/new.bin"),
        _ => large(request),
    });
    for options in ["--segments 1", "--segments 2"] {
        let dir = temp_dir();
        run_mirror(&server.url("/d/"), dir.path(), options).assert_exit(0);
        assert_eq!(list_files(dir.path()), ["index.html", "new.bin"], "{options}");
    }
}

/// The only link is redirected, so no page with links was saved in this round.
#[test]
fn target_of_a_redirect_is_fetched_when_nothing_else_is_left() {
    let server = http_server(|request| match request.path().as_str() {
        "/d/" => html_reply("<title>x</title><a href=docs>1</a>"),
        "/d/docs" => HttpResponse::new(301).header("Location", "/d/docs/"),
        "/d/docs/" => html_reply("<title>docs</title><a href=b.txt>b</a>"),
        _ => HttpResponse::new(200).body("text"),
    });
    let dir = temp_dir();
    for parallel in ["1", "8"] {
        run_mirror(&server.url("/d/"), dir.path(), &format!("--parallel-max {parallel}")).assert_exit(0);
        assert_eq!(list_files(dir.path()), ["docs/b.txt", "docs/index.html", "index.html"]);
    }
}

#[test]
fn hostile_pages_are_read_in_bounded_time() {
    let links: String =
        (0..100_000).map(|number| format!("<a href='ftp://h{number}.invalid/'>x</a>")).collect();
    let attribute = format!("<title>x</title><a href=ok.txt>x</a><a href='{}", "x".repeat(4_000_000));
    let pages = [
        ("many links", format!("<title>x</title>{links}<a href=ok.txt>x</a>"), 100_000),
        ("an open attribute", attribute, 0),
        ("an open comment", format!("<title>x</title><a href=ok.txt>x</a><!--{}", "-".repeat(4_000_000)), 0),
        (
            "deep styles",
            format!("<title>x</title><a href=ok.txt>x</a><style>{}", "url(".repeat(1_000_000)),
            0,
        ),
        (
            "commas",
            format!("<title>x</title><a href=ok.txt>x</a><img srcset='{}'>", ",".repeat(4_000_000)),
            0,
        ),
    ];
    for (case, page, count) in pages {
        let (server, dir) = (site(&[("/d/", &page), ("/d/ok.txt", "ok")]), temp_dir());
        let result = run_mirror(&server.url("/d/"), dir.path(), "--events -");
        assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
        assert_eq!(list_files(dir.path()), ["index.html", "ok.txt"], "{case}");
        assert_eq!(summary(&result)["other_servers"].as_u64(), Some(count), "{case}");
    }
    let links: String = (0..100_000).map(|number| format!("<a href=p{number}>x</a>")).collect();
    let (server, dir) = (site(&[("/d/", &format!("<title>x</title>{links}"))]), temp_dir());
    run_mirror(&server.url("/d/"), dir.path(), "--max-entries 20").assert_exit(63);
    assert_eq!(server.requests().len(), 21);
}

#[test]
fn endless_style_sheets_end_at_the_limit_of_imports() {
    let server = http_server(|request| match request.path().as_str() {
        "/d/" => html_reply("<title>x</title><link rel=stylesheet href='0.css'>"),
        path => {
            let number: u32 =
                path.trim_start_matches("/d/").trim_end_matches(".css").parse().unwrap_or_default();
            let text = format!("@import '{}.css';", number + 1);
            HttpResponse::new(200).header("Content-Type", "text/css").body(text)
        }
    });
    let dir = temp_dir();
    let result = run_mirror(&server.url("/d/"), dir.path(), "--events -");
    result.assert_exit(0);
    assert_eq!(list_files(dir.path()).len(), 17);
    assert_eq!(summary(&result)["too_deep"].as_u64(), Some(1));
}

#[test]
fn delete_deletes_nothing_if_the_server_sends_own_pages() {
    let server = http_server(|request| match request.path().as_str() {
        "/d/" => html_reply(nginx_index_html(&[("a", "1"), ("site/", "-")])),
        "/d/site/" => html_reply("<title>x</title><a href=b.txt>b</a>"),
        _ => HttpResponse::new(200).body("1"),
    });
    let dir = temp_dir();
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    assert_eq!(list_files(dir.path()), ["a", "site/b.txt", "site/index.html"]);
    let result = run_mirror(&server.url("/d/"), dir.path(), "--delete");
    result.assert_exit(0).assert_stderr_contains("--delete deletes nothing");
    assert_eq!(list_files(dir.path()), ["a", "site/b.txt", "site/index.html"]);
}

/// Below an ordinary page, a generated index page counts as a page: its links are followed, except those that sort its
/// columns.
#[test]
fn generated_index_below_an_own_page_is_copied_once() {
    let listing = "<title>Index of /d/files</title><a href='?C=N;O=D'>Name</a><a href='/d/'>Parent Directory</a><a href=x>x</a>";
    let files =
        [("/d/", "<title>x</title><a href='files/'>f</a>"), ("/d/files/", listing), ("/d/files/x", "x")];
    let (server, dir) = (site(&files), temp_dir());
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    assert_eq!(list_files(dir.path()), ["files/index.html", "files/x", "index.html"]);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn first_failure_stops_the_walk_with_fail_early() {
    let links: String = (0..50).map(|number| format!("<a href=p{number}>x</a>")).collect();
    let (server, dir) = (site(&[("/d/", &format!("<title>x</title>{links}"))]), temp_dir());
    run_mirror(&server.url("/d/"), dir.path(), "--fail-early").assert_exit(78);
    assert!(server.requests().len() < 20, "{}", server.requests().len());
}
