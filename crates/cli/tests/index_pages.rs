//! `--list` on index pages of HTTP servers, and `--max-entries`: the most entries of a listing of any kind.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;

use fetch_url_tests::{
    Coding, FtpServer, FtpSite, GopherItem, GopherServer, GopherSite, HttpReply, HttpServer, NntpGroup,
    NntpServer, NntpSite, coded,
};
use serde_json::Value;
use support::sound::measured;
use support::{Ran, fetch, fetch_in, names, serving};

const NGINX: &str = "<html>\n<head><title>Index of /d/</title></head>\n<body>\n<h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\n\
    <a href=\"sub/\">sub/</a>                                               22-Nov-2026 08:45                   -\n\
    <a href=\"hash%23%26%3Cb%3E.txt\">hash#&amp;&lt;b&gt;.txt</a>               01-Dec-1994 12:34            67108864\n\
    <a href=\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.txt\">aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..&gt;</a> 01-Dec-1994 12:34                 214\n\
    <a href=\"two%20words\">two words</a>                                          01-Dec-1994 12:34                   0\n\
    </pre><hr></body>\n</html>\n";

const APACHE: &str = "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\" \"http://www.w3.org/TR/html4/strict.dtd\">\n<html>\n <head>\n  \
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

fn caddy() -> String {
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

fn page(html: impl Into<Vec<u8>>) -> HttpServer {
    let html = html.into();
    serving(move |request| match request.path().as_str() {
        "/d/" => HttpReply::new(200).header("Content-Type", "text/html; charset=utf-8").body(html.clone()),
        "/d" => HttpReply::new(301).header("Location", "/d/"),
        _ => HttpReply::new(404),
    })
}

fn list(server: &HttpServer, words: &str) -> Ran {
    let url = server.url("/d/");
    fetch(["--list"].into_iter().chain(words.split_whitespace()).chain([url.as_str()]))
}

fn entries(ran: &Ran) -> Vec<Value> {
    ran.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn told<'a>(entries: &'a [Value], member: &str) -> Vec<&'a str> {
    entries.iter().map(|entry| entry[member].as_str().unwrap_or_default()).collect()
}

/// The names that a page with this body has.
fn names_of(body: &str) -> Vec<String> {
    let server = page(format!("<html><head><title>Index of /d/</title></head><body>{body}</body></html>"));
    let ran = list(&server, "--format json");
    entries(ran.exits(0)).iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn pages_of_three_servers() {
    let long = format!("{}.txt", "a".repeat(60));
    for (what, html, big) in [
        ("nginx", NGINX.to_owned(), Some(67_108_864)),
        ("Apache", APACHE.to_owned(), None),
        ("Caddy", caddy(), Some(67_108_864)),
    ] {
        let server = page(html);
        let ran = list(&server, "--format json");
        let entries = entries(ran.exits(0));
        assert_eq!(told(&entries, "name"), ["sub", "hash#&<b>.txt", &long, "two words"], "{what}");
        assert_eq!(told(&entries, "kind"), ["directory", "file", "file", "file"], "{what}");
        let sizes: Vec<Option<u64>> = entries.iter().map(|entry| entry["size"].as_u64()).collect();
        // "64M" is no size.
        assert_eq!(sizes, [None, big, Some(214), Some(0)], "{what}");
        for entry in &entries[1..] {
            let modified = entry["modified"].as_i64().expect("a time");
            assert!((786_285_240..=786_285_296).contains(&modified), "{what}: {modified}");
        }
        let urls = told(&entries, "url");
        assert_eq!(urls[0], server.url("/d/sub/"), "{what}");
        assert!(urls[1].to_lowercase().starts_with(&server.url("/d/hash%23")), "{what}: {urls:?}");
        assert_eq!(urls[3], server.url("/d/two%20words"), "{what}");
        let text = list(&server, "").text();
        assert_eq!(text.lines().count(), 4, "{what}: {text}");
        for word in ["sub/", "hash#&<b>.txt", &long, "two words", "1994-12-01 12:34", "214"] {
            assert!(text.contains(word), "{what}: no {word} in {text}");
        }
    }
}

/// Only what is in this directory.
#[test]
fn what_is_an_entry() {
    let ul = "<ul><li><a href=\"a\">a</a></li><li><a href='b/'>b/</a></li><li><A HREF=c>c</A></li></ul>";
    assert_eq!(names_of(ul), ["a", "b", "c"]);
    for stray in [
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
        let body = format!("<pre><a href=\"{stray}\">x</a>\n<a href=\"a\">a</a>\n</pre>");
        assert_eq!(names_of(&body), ["a"], "{stray}");
    }
    // By its whole path, and twice.
    let body = "<pre><a href=\"/d/a\">a</a>\n<a href=\"a\">a</a>\n<a href=\"./b\">b</a>\n</pre>";
    assert_eq!(names_of(body), ["a", "b"]);
    let body = "<!-- <a href=\"hidden\">hidden</a> --><pre><a href=\"a\">a</a>\n</pre>";
    assert_eq!(names_of(body), ["a"]);
    assert_eq!(names_of("<pre><a href=\"../\">../</a>\n</pre>"), [""; 0]);
}

/// Nothing that a terminal would obey, whatever the page says.
#[test]
fn hostile_names() {
    let hrefs =
        ["%1b%5b2Jx", "x%00y", "x%0Ay", "%E2%80%AEgpj.exe", "%ff%fe", "a&#27;[31m", "&#0;b", "-rf", "c%2Fd"];
    let links = hrefs.map(|href| format!("<a href=\"{href}\">\x1b[2Jx</a>\n")).concat();
    let server = page(format!(
        "<html><title>Index of /d/</title><pre>{links}<a href=\"good\">good</a>\n</pre></html>"
    ));
    for words in ["", "--format json"] {
        let ran = list(&server, words);
        let text = ran.exits(0).text();
        assert!(!text.contains(|character: char| character.is_control() && character != '\n'), "{text:?}");
        assert!(text.contains("good"), "{text:?}");
        if !words.is_empty() {
            assert!(entries(&ran).len() <= hrefs.len() + 1);
        }
    }
    assert!(!list(&server, "").text().contains('\u{202e}'), "{:?}", list(&server, "").text());
}

#[test]
fn where_the_page_is() {
    let server = page(NGINX);
    // Without its last slash the URL is redirected, and the entries are of where that leads.
    let ran = fetch(["--list", "--format", "json", &server.url("/d")]);
    let entries = entries(ran.exits(0));
    assert_eq!(told(&entries, "url")[0], server.url("/d/sub/"));
    fetch(["--list", &server.url("/missing/")]).exits(78);
    // Without --list it is a page, octet for octet.
    assert_eq!(fetch([server.url("/d/")]).exits(0).text(), NGINX);
    let here = tempfile::tempdir().expect("a directory");
    fetch_in(here.path(), ["--list", "-o", "out", &server.url("/d/")]).exits(0);
    assert_eq!(fs::read_to_string(here.path().join("out")).expect("a file"), list(&server, "").text());
}

#[test]
fn what_is_no_index_page() {
    let kinds: [(&str, &[u8]); 3] =
        [("text/plain", b"a\nb\n"), ("application/octet-stream", b"\0\x01"), ("image/png", b"\x89PNG")];
    for (kind, octets) in kinds {
        let server = serving(move |_| HttpReply::new(200).header("Content-Type", kind).body(octets));
        let ran = list(&server, "");
        ran.exits(78).says("index");
        assert!(ran.stdout.is_empty(), "{kind}");
    }
    // What cannot be read is not a directory of nothing.
    let page = coded(Coding::Gzip, NGINX.as_bytes()).expect("gzip");
    let coded = serving(move |_| {
        let reply = HttpReply::new(200).header("Content-Type", "text/html");
        reply.header("Content-Encoding", "gzip").body(page.clone())
    });
    let ran = list(&coded, "");
    assert!(ran.exit != 0 || ran.text().lines().count() == 4, "{ran:?}");
}

/// A page that is cut is no listing, and one without an end is not kept in memory.
#[test]
fn cut_and_endless() {
    let server =
        serving(|_| HttpReply::new(200).header("Content-Type", "text/html").body(NGINX).cut_body_at(400));
    for words in ["", "--format json"] {
        list(&server, words).exits(18);
    }
    let here = tempfile::tempdir().expect("a directory");
    fetch_in(here.path(), ["--list", "-o", "out", &server.url("/d/")]).exits(18);
    assert!(names(here.path()).is_empty(), "{:?}", names(here.path()));
    let row =
        "<a href=\"name-of-some-length-in-a-very-long-page.txt?\">x</a> 01-Dec-1994 12:34 1\n".repeat(50);
    let endless = |row: String, rows| {
        serving(move |_| {
            let begun = HttpReply::new(200).header("Content-Type", "text/html").then_send("<pre>");
            begun.header("Content-Length", "999999999999").then_repeat(row.as_bytes(), rows).then_close()
        })
    };
    for row in [row, "<".repeat(4096), "<a href=\"".to_owned() + &"x".repeat(4096), "&amp".repeat(1000)] {
        let server = endless(row, 4000);
        let (memory, ran) = measured(&["--list", "--max-filesize", "8M", &server.url("/d/")]);
        assert!(ran.exit != 0 && ran.exit != 99, "{ran:?}");
        assert!(memory > 0 && memory < 64 * 1024, "{memory} KiB");
    }
}

/// "The most entries of a listing; 63 beyond."
#[test]
fn the_most_entries() {
    let rows: String = (0..10).map(|number| format!("<a href=\"f{number}\">f{number}</a>\n")).collect();
    let http = page(format!("<html><title>Index of /d/</title><pre>{rows}</pre></html>"));
    let ftp =
        (0..10).fold(FtpSite::new().anonymous(), |site, number| site.file(format!("/d/f{number}"), "x"));
    let ftp = FtpServer::start(ftp).expect("a server");
    let menu = GopherSite::new().item(GopherItem::crowd("/d", 10));
    let gopher = GopherServer::start(menu).expect("a server");
    let news = NntpSite::new().group(NntpGroup::new("g.many").crowd(1, 10)).crowd(9);
    let news = NntpServer::start(news).expect("a server");
    let here = tempfile::tempdir().expect("a directory");
    for number in 0..10 {
        fs::write(here.path().join(format!("f{number}")), "x").expect("a file");
    }
    let mut wrong = Vec::new();
    for (url, more) in [
        (http.url("/d/"), &["--list"][..]),
        (ftp.url("d/"), &[]),
        (ftp.url("d;type=d"), &[]),
        (ftp.url("d/"), &["--list-format", "long"]),
        (gopher.url("1/d"), &[]),
        (format!("file://{}/", here.path().display()), &[]),
        (format!("nntp://{}/g.many", news.addr()), &[]),
        (format!("news://{}/*", news.addr()), &[]),
    ] {
        for format in ["text", "json", "raw"] {
            for (most, exit) in [("9", 63), ("1", 63), ("10", 0), ("11", 0)] {
                let out = tempfile::tempdir().expect("a directory");
                let words = ["--max-entries", most, "--format", format, "-o", "out", &url];
                let ran = fetch_in(out.path(), words.iter().chain(more));
                let is_there = !names(out.path()).is_empty();
                // As it came it need not be counted.
                if format == "raw" && ran.exit == 0 && is_there {
                    continue;
                }
                if ran.exit != exit || is_there != (exit == 0) || exit == 63 && !ran.stderr.contains(most) {
                    wrong.push(format!("{url} {more:?} {format} {most}: {} {}", ran.exit, ran.stderr));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of 96:\n{}", wrong.len(), wrong.join("\n"));
    for bad in ["x", "-1", ""] {
        fetch(["--max-entries", bad, &http.url("/d/")]).exits(2);
    }
}
