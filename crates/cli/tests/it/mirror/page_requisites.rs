//! `mirror --page-requisites`: one page and the files that a browser loads with it (docs/spec/cli.md 26.26).

use crate::support::mirror::{html_reply, list_files, run_mirror};
use crate::support::{http_server, run_fetch_url, temp_dir};
use fetch_url_tests::{HttpResponse, HttpServer};

fn page_server() -> HttpServer {
    http_server(|request| match request.path().as_str() {
        "/a/b/page.html" => html_reply(
            "<title>Index of /a/b/</title><link rel=stylesheet href='/static/main.css'><img src=local.png>\
             <a href=other.html>other</a><script src='../x.js'></script><img src='http://other.invalid/x.png'>",
        ),
        "/static/main.css" => HttpResponse::new(200)
            .header("Content-Type", "text/css")
            .body("b { background: url(/img/bg.png) }"),
        "/a/b/local.png" | "/a/x.js" | "/img/bg.png" => HttpResponse::new(200).body("x"),
        _ => HttpResponse::new(404),
    })
}

#[test]
fn requisites_above_the_start_are_copied_and_links_are_not_followed() {
    let (server, dir) = (page_server(), temp_dir());
    let result = run_mirror(&server.url("/a/b/page.html"), dir.path(), "--page-requisites --events -");
    result.assert_exit(0);
    assert!(result.stdout_text().contains("\"other_servers\":1"), "{}", result.stdout_text());
    assert_eq!(
        list_files(dir.path()),
        ["_root/a/x.js", "_root/img/bg.png", "_root/static/main.css", "local.png", "page.html"]
    );
    assert_eq!(server.requests().len(), 5);
    // Without the option, requisites above the start are not copied.
    let (server, dir) = (page_server(), temp_dir());
    run_mirror(&server.url("/a/b/"), dir.path(), "").assert_exit(78);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn page_requisites_need_an_http_url() {
    let dir = temp_dir();
    let target = dir.path().display().to_string();
    run_fetch_url(["mirror", "--page-requisites", "ftp://127.0.0.1:1/", &target]).assert_exit(2);
}
