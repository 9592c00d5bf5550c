//! `--list` on index pages of HTTP servers (docs/spec/semantics.md §3, "Content coding and index pages"), and
//! `--max-entries`, the limit on the number of entries in every kind of listing.

use std::fs;

use crate::support::run_measuring_memory;
use crate::support::{RunResult, entry_names, http_server, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{
    ContentCoding, FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer,
    NntpConfig, NntpGroup, NntpServer, encode,
};
use serde_json::Value;

const NGINX_PAGE: &str = "<html>\n<head><title>Index of /d/</title></head>\n<body>\n<h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\n\
    <a href=\"sub/\">sub/</a>                                               22-Nov-2026 08:45                   -\n\
    <a href=\"hash%23%26%3Cb%3E.txt\">hash#&amp;&lt;b&gt;.txt</a>               01-Dec-1994 12:34            67108864\n\
    <a href=\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.txt\">aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..&gt;</a> 01-Dec-1994 12:34                 214\n\
    <a href=\"two%20words\">two words</a>                                          01-Dec-1994 12:34                   0\n\
    </pre><hr></body>\n</html>\n";

const APACHE_PAGE: &str = "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\" \"http://www.w3.org/TR/html4/strict.dtd\">\n<html>\n <head>\n  \
    <title>Index of /d</title>\n </head>\n <body>\n<h1>Index of /d</h1>\n  <table>\n   <tr><th valign=\"top\"><img src=\"/icons/blank.gif\" \
    alt=\"[ICO]\"></th><th><a href=\"?C=N;O=D\">Name</a></th><th><a href=\"?C=M;O=A\">Last modified</a></th><th><a href=\"?C=S;O=A\">Size\
    </a></th><th><a href=\"?C=D;O=A\">Description</a></th></tr>\n   <tr><th colspan=\"5\"><hr></th></tr>\n<tr><td valign=\"top\">\
    <img src=\"/icons/back.gif\" alt=\"[PARENTDIR]\"></td><td><a href=\"/\">Parent Directory</a></td><td>&nbsp;</td><td align=\"right\">\
      - </td><td>&nbsp;</td></tr>\n<tr><td valign=\"top\"><img src=\"/icons/folder.gif\" alt=\"[DIR]\"></td><td><a href=\"sub/\">sub/</a>\
    </td><td align=\"right\">2026-11-22 08:45  </td><td align=\"right\">  - </td><td>&nbsp;</td></tr>\n<tr><td valign=\"top\">\
    <img src=\"/icons/text.gif\" alt=\"[TXT]\"></td><td><a href=\"hash%23%26%3cb%3e.txt\">hash#&amp;&lt;b&gt;.txt</a></td>\
    <td align=\"right\">1994-12-01 12:34  </td><td align=\"right\"> 64M</td><td>&nbsp;</td></tr>\n<tr><td valign=\"top\">\
    <img src=\"/icons/text.gif\" alt=\"[TXT]\"></td><td><a href=\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.txt\">\
    aaaaaaaaaaaaaaaaaaaa..&gt;</a></td><td align=\"right\">1994-12-01 12:34  </td><td align=\"right\">214 </td><td>&nbsp;</td></tr>\n\
    <tr><td valign=\"top\"><img src=\"/icons/text.gif\" alt=\"[TXT]\"></td><td><a href=\"two%20words\">two words</a></td>\
    <td align=\"right\">1994-12-01 12:34  </td><td align=\"right\">  0 </td><td>&nbsp;</td></tr>\n   <tr><th colspan=\"5\"><hr></th></tr>\n\
    </table>\n<address>Apache/2.4.71 (Debian) Server at 127.0.0.1 Port 17081</address>\n</body></html>\n";

fn caddy_page() -> String {
    let row = |href: &str, name: &str, order: &str, size: &str, kind: &str| {
        format!(
            "<tr class=\"file\">\n<td></td>\n<td>\n<a href=\"./{href}\">\n<svg width=\"1.5em\"><use xlink:href=\"#{kind}\"></use></svg>\n\
             <span class=\"name\">{name}</span>\n</a>\n</td>\n<td data-order=\"{order}\">{size}</td>\n\
             <td class=\"hideable\"><time datetime=\"1994-12-01T12:34:56Z\">12/01/1994 12:34:56 PM +00:00</time></td>\n\
             <td class=\"hideable\"></td>\n</tr>\n"
        )
    };
    let rows = [
        row("sub/", "sub", "-1", "&mdash;", "folder"),
        row("hash%23&amp;%3Cb%3E.txt", "hash#&amp;&lt;b&gt;.txt", "67108864", "64 MiB", "file"),
        row(&format!("{}.txt", "a".repeat(60)), "aaaa", "214", "214 B", "file"),
        row("two%20words", "two words", "0", "0 B", "file"),
    ];
    format!(
        "<!DOCTYPE html>\n<html>\n<head><title>d</title><style>a {{ color: red; }}</style></head>\n<body>\n<header><h1><a href=\"../\">x</a>\
         </h1></header><main><table><thead><tr><th><a href=\"?sort=name&amp;order=desc\">Name</a></th></tr></thead><tbody>\n\
         <tr><td></td><td><a href=\"..\"><span class=\"goup\">Up</span></a></td></tr>\n{}</tbody></table></main>\n\
         <script>var x = '<a href=\"not-this\">';</script></body></html>",
        rows.concat()
    )
}

fn start_index_server(html: impl Into<Vec<u8>>) -> HttpServer {
    let html = html.into();
    http_server(move |request| match request.path().as_str() {
        "/d/" => HttpResponse::new(200).header("Content-Type", "text/html; charset=utf-8").body(html.clone()),
        "/d" => HttpResponse::new(301).header("Location", "/d/"),
        _ => HttpResponse::new(404),
    })
}

fn list_directory(server: &HttpServer, options: &str) -> RunResult {
    let url = server.url("/d/");
    run_fetch_url(["--list"].into_iter().chain(options.split_whitespace()).chain([url.as_str()]))
}

fn parse_entries(result: &RunResult) -> Vec<Value> {
    result.stdout_text().lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect()
}

fn string_values<'a>(entries: &'a [Value], member: &str) -> Vec<&'a str> {
    entries.iter().map(|entry| entry[member].as_str().unwrap_or_default()).collect()
}

/// The entry names of an index page with this body.
fn list_names(body: &str) -> Vec<String> {
    let server = start_index_server(format!(
        "<html><head><title>Index of /d/</title></head><body>{body}</body></html>"
    ));
    let result = list_directory(&server, "--format json");
    parse_entries(result.assert_exit(0))
        .iter()
        .map(|entry| entry["name"].as_str().expect("entry name").to_owned())
        .collect()
}

#[test]
fn nginx_apache_and_caddy_pages_are_parsed() {
    let long = format!("{}.txt", "a".repeat(60));
    for (case, html, large_size) in [
        ("nginx", NGINX_PAGE.to_owned(), Some(67_108_864)),
        ("Apache", APACHE_PAGE.to_owned(), None),
        ("Caddy", caddy_page(), Some(67_108_864)),
    ] {
        let server = start_index_server(html);
        let result = list_directory(&server, "--format json");
        let entries = parse_entries(result.assert_exit(0));
        assert_eq!(string_values(&entries, "name"), ["sub", "hash#&<b>.txt", &long, "two words"], "{case}");
        assert_eq!(string_values(&entries, "kind"), ["directory", "file", "file", "file"], "{case}");
        let sizes: Vec<Option<u64>> = entries.iter().map(|entry| entry["size"].as_u64()).collect();
        // Apache's rounded "64M" is not used as a size.
        assert_eq!(sizes, [None, large_size, Some(214), Some(0)], "{case}");
        for entry in &entries[1..] {
            let modified = entry["modified"].as_i64().expect("entry modification time");
            assert!((786_285_240..=786_285_296).contains(&modified), "{case}: {modified}");
        }
        let urls = string_values(&entries, "url");
        assert_eq!(urls[0], server.url("/d/sub/"), "{case}");
        assert!(urls[1].to_lowercase().starts_with(&server.url("/d/hash%23")), "{case}: {urls:?}");
        assert_eq!(urls[3], server.url("/d/two%20words"), "{case}");
        let text = list_directory(&server, "").stdout_text();
        assert_eq!(text.lines().count(), 4, "{case}: {text}");
        for word in ["sub/", "hash#&<b>.txt", &long, "two words", "1994-12-01 12:34", "214"] {
            assert!(text.contains(word), "{case}: no {word} in {text}");
        }
    }
}

/// Only links to direct children of the directory are entries.
#[test]
fn links_outside_the_directory_are_not_entries() {
    let ul = "<ul><li><a href=\"a\">a</a></li><li><a href='b/'>b/</a></li><li><A HREF=c>c</A></li></ul>";
    assert_eq!(list_names(ul), ["a", "b", "c"]);
    for other_href in [
        "?C=N;O=D",
        "../",
        "..",
        "/",
        "./",
        "",
        "#top",
        "/other/x",
        "/d/../x",
        "http://elsewhere.test/d/x",
        "//elsewhere.test/d/x",
        "javascript:alert(1)",
        "mailto:x@y.test",
        "file:///etc/passwd",
        "%2e%2e/x",
    ] {
        let body = format!("<pre><a href=\"{other_href}\">x</a>\n<a href=\"a\">a</a>\n</pre>");
        assert_eq!(list_names(&body), ["a"], "{other_href}");
    }
    // An absolute path of the same directory, and a duplicate link.
    let body = "<pre><a href=\"/d/a\">a</a>\n<a href=\"a\">a</a>\n<a href=\"./b\">b</a>\n</pre>";
    assert_eq!(list_names(body), ["a", "b"]);
    let body = "<!-- <a href=\"hidden\">hidden</a> --><pre><a href=\"a\">a</a>\n</pre>";
    assert_eq!(list_names(body), ["a"]);
    assert_eq!(list_names("<pre><a href=\"../\">../</a>\n</pre>"), [""; 0]);
}

/// Control and bidirectional characters in names, in text and JSON output.
#[test]
fn control_characters_in_names_are_sanitised() {
    let hrefs =
        ["%1b%5b2Jx", "x%00y", "x%0Ay", "%E2%80%AEgpj.exe", "%ff%fe", "a&#27;[31m", "&#0;b", "-rf", "c%2Fd"];
    let links = hrefs.map(|href| format!("<a href=\"{href}\">\x1b[2Jx</a>\n")).concat();
    let server = start_index_server(format!(
        "<html><title>Index of /d/</title><pre>{links}<a href=\"good\">good</a>\n</pre></html>"
    ));
    for options in ["", "--format json"] {
        let result = list_directory(&server, options);
        let text = result.assert_exit(0).stdout_text();
        assert!(!text.contains(|character: char| character.is_control() && character != '\n'), "{text:?}");
        assert!(text.contains("good"), "{text:?}");
        if !options.is_empty() {
            assert!(parse_entries(&result).len() <= hrefs.len() + 1);
        }
    }
    assert!(
        !list_directory(&server, "").stdout_text().contains('\u{202e}'),
        "{:?}",
        list_directory(&server, "").stdout_text()
    );
}

#[test]
fn error_page_in_place_of_a_directory_is_written_only_on_request() {
    let server = http_server(|_| HttpResponse::new(500).header("Content-Type", "text/html").body("why not"));
    for (options, exit, text) in
        [("--retry 0", 22, ""), ("--fail-with-body --retry 0", 22, "why not"), ("--no-fail", 0, "why not")]
    {
        let result = run_fetch_url(["--list", &server.url("/")].into_iter().chain(options.split(' ')));
        assert_eq!(result.assert_exit(exit).stdout_text(), text, "{options}");
    }
}

#[test]
fn redirected_page_resolves_entries_at_its_final_url() {
    let server = start_index_server(NGINX_PAGE);
    // The URL without its trailing slash is redirected; entry URLs are resolved against the final URL.
    let result = run_fetch_url(["--list", "--format", "json", &server.url("/d")]);
    let entries = parse_entries(result.assert_exit(0));
    assert_eq!(string_values(&entries, "url")[0], server.url("/d/sub/"));
    run_fetch_url(["--list", &server.url("/missing/")]).assert_exit(78);
    // Without `--list` the page is downloaded unchanged.
    assert_eq!(run_fetch_url([server.url("/d/")]).assert_exit(0).stdout_text(), NGINX_PAGE);
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["--list", "-o", "out", &server.url("/d/")]).assert_exit(0);
    assert_eq!(
        fs::read_to_string(dir.path().join("out")).expect("read file"),
        list_directory(&server, "").stdout_text()
    );
}

#[test]
fn response_that_is_not_an_index_page_exits_78() {
    let kinds: [(&str, &[u8]); 3] =
        [("text/plain", b"a\nb\n"), ("application/octet-stream", b"\0\x01"), ("image/png", b"\x89PNG")];
    for (kind, bytes) in kinds {
        let server = http_server(move |_| HttpResponse::new(200).header("Content-Type", kind).body(bytes));
        let result = list_directory(&server, "");
        result.assert_exit(78).assert_stderr_contains("index");
        assert!(result.stdout.is_empty(), "{kind}");
    }
    // An undecodable page is an error, not an empty directory.
    let page = encode(ContentCoding::Gzip, NGINX_PAGE.as_bytes()).expect("encode body");
    let encoded_page_server = http_server(move |_| {
        let reply = HttpResponse::new(200).header("Content-Type", "text/html");
        reply.header("Content-Encoding", "gzip").body(page.clone())
    });
    let result = list_directory(&encoded_page_server, "");
    assert!(result.exit != 0 || result.stdout_text().lines().count() == 4, "{result:?}");
}

/// A truncated page is an error, and an endless page is parsed in bounded memory.
#[test]
fn truncated_page_exits_18_and_endless_page_uses_bounded_memory() {
    let server = http_server(|_| {
        HttpResponse::new(200).header("Content-Type", "text/html").body(NGINX_PAGE).cut_body_at(400)
    });
    for options in ["", "--format json"] {
        list_directory(&server, options).assert_exit(18);
    }
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["--list", "-o", "out", &server.url("/d/")]).assert_exit(18);
    assert!(entry_names(dir.path()).is_empty(), "{:?}", entry_names(dir.path()));
    let row =
        "<a href=\"name-of-some-length-in-a-very-long-page.txt?\">x</a> 01-Dec-1994 12:34 1\n".repeat(50);
    let endless = |row: String, rows| {
        http_server(move |_| {
            let response_start =
                HttpResponse::new(200).header("Content-Type", "text/html").then_send("<pre>");
            response_start
                .header("Content-Length", "999999999999")
                .then_repeat(row.as_bytes(), rows)
                .then_close()
        })
    };
    for row in [row, "<".repeat(4096), "<a href=\"".to_owned() + &"x".repeat(4096), "&amp".repeat(1000)] {
        let server = endless(row, 4000);
        let (memory, result) = run_measuring_memory(&["--list", "--max-filesize", "8M", &server.url("/d/")]);
        assert!(result.exit != 0 && result.exit != 99, "{result:?}");
        assert!(memory > 0 && memory < 64 * 1024, "{memory} KiB");
    }
}

/// The limit applies to HTTP, FTP, Gopher, file and news listings.
#[test]
fn listing_with_more_than_max_entries_exits_63() {
    let rows: String = (0..10).map(|number| format!("<a href=\"f{number}\">f{number}</a>\n")).collect();
    let http = start_index_server(format!("<html><title>Index of /d/</title><pre>{rows}</pre></html>"));
    let ftp =
        (0..10).fold(FtpConfig::new().anonymous(), |site, number| site.file(format!("/d/f{number}"), "x"));
    let ftp = FtpServer::start(ftp).expect("start server");
    let menu = GopherConfig::new().item(GopherItem::generated_menu("/d", 10));
    let gopher = GopherServer::start(menu).expect("start server");
    let news = NntpConfig::new().group(NntpGroup::new("g.many").generated(1, 10)).generated_groups(9);
    let news = NntpServer::start(news).expect("start server");
    let dir = temp_dir();
    for number in 0..10 {
        fs::write(dir.path().join(format!("f{number}")), "x").expect("write file");
    }
    let mut failures = Vec::new();
    for (url, extra_options) in [
        (http.url("/d/"), &["--list"][..]),
        (ftp.url("d/"), &[]),
        (ftp.url("d;type=d"), &[]),
        (ftp.url("d/"), &["--list-format", "long"]),
        (gopher.url("1/d"), &[]),
        (format!("file://{}/", dir.path().display()), &[]),
        (format!("nntp://{}/g.many", news.addr()), &[]),
        (format!("news://{}/*", news.addr()), &[]),
    ] {
        for format in ["text", "json", "raw"] {
            for (max_entries, exit) in [("9", 63), ("1", 63), ("10", 0), ("11", 0)] {
                let out = temp_dir();
                let options = ["--max-entries", max_entries, "--format", format, "-o", "out", &url];
                let result = run_fetch_url_in(out.path(), options.iter().chain(extra_options));
                let is_there = !entry_names(out.path()).is_empty();
                // A raw listing is copied without parsing, so its entries may be uncounted.
                if format == "raw" && result.exit == 0 && is_there {
                    continue;
                }
                if result.exit != exit
                    || is_there != (exit == 0)
                    || exit == 63 && !result.stderr.contains(max_entries)
                {
                    failures.push(format!(
                        "{url} {extra_options:?} {format} {max_entries}: {} {}",
                        result.exit, result.stderr
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of 96:\n{}", failures.len(), failures.join("\n"));
    for invalid in ["x", "-1", ""] {
        run_fetch_url(["--max-entries", invalid, &http.url("/d/")]).assert_exit(2);
    }
}
