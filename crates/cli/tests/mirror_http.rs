//! `mirror` of the index pages of HTTP servers: every style of page, what is asked for the second time, and pages that
//! lead elsewhere, are cut, or are none.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use fetch_url_tests::{FileFacts, HttpReply, HttpServer, Ranges, file_handler};
use support::mirrored::{nginx, place, tree};
use support::{Ran, fetch};

const DATE: &str = "Thu, 01 Dec 1994 12:34:56 GMT";

/// A server whose pages a test may change.
struct Site {
    server: HttpServer,
    pages: Arc<Mutex<BTreeMap<String, HttpReply>>>,
    files: Arc<Mutex<BTreeMap<String, &'static str>>>,
}

impl Site {
    fn new() -> Self {
        let pages: Arc<Mutex<BTreeMap<String, HttpReply>>> = Arc::default();
        let files: Arc<Mutex<BTreeMap<String, &'static str>>> = Arc::default();
        let (here, there) = (pages.clone(), files.clone());
        let server = HttpServer::start(move |request| {
            let path = request.path();
            if let Some(page) = here.lock().expect("a lock").get(&path) {
                return page.clone();
            }
            let content = there.lock().expect("a lock").get(&path).copied();
            let facts = FileFacts { etag: None, last_modified: Some(DATE.into()), ranges: Ranges::Honest };
            content.map_or(HttpReply::new(404), |content| file_handler(content.into(), facts)(request))
        });
        Self { server: server.expect("a server"), pages, files }
    }

    fn page(self, path: &str, html: impl Into<Vec<u8>>) -> Self {
        let reply = HttpReply::new(200).header("Content-Type", "text/html; charset=utf-8").body(html);
        self.reply(path, reply)
    }

    fn reply(self, path: &str, reply: HttpReply) -> Self {
        self.pages.lock().expect("a lock").insert(path.into(), reply);
        self
    }

    /// A file with a date that If-Modified-Since is held against.
    fn file(self, path: &str, content: &'static str) -> Self {
        self.files.lock().expect("a lock").insert(path.into(), content);
        self
    }

    /// The paths that were asked for since the last look, sorted.
    fn asked(&self, from: usize) -> Vec<String> {
        let requests = self.server.requests();
        let mut paths: Vec<String> = requests[from..].iter().map(|request| request.path()).collect();
        paths.sort();
        paths
    }

    fn mirror(&self, target: &Path, words: &str) -> Ran {
        let url = self.server.url("/d/");
        let words = words.split_whitespace();
        let target = target.display().to_string();
        fetch(["mirror", "--retry", "0"].into_iter().chain(words).chain([&*url, &*target]))
    }
}

/// Apache 2.4, `IndexOptions FancyIndexing`.
fn apache(entries: &[(&str, &str)]) -> String {
    let line = |(name, size): &(&str, &str)| {
        format!(
            "<img src=\"/icons/text.gif\" alt=\"[TXT]\"> <a href=\"{name}\">{name}</a>       1994-12-01 12:34  {size:>4}   \n"
        )
    };
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 3.2 Final//EN\">\n<html>\n <head>\n  <title>Index of /d</title>\n \
         </head>\n <body>\n<h1>Index of /d</h1>\n<pre><img src=\"/icons/blank.gif\" alt=\"Icon \"> \
         <a href=\"?C=N;O=D\">Name</a>                    <a href=\"?C=M;O=A\">Last modified</a>      \
         <a href=\"?C=S;O=A\">Size</a>  <a href=\"?C=D;O=A\">Description</a><hr>\
         <img src=\"/icons/back.gif\" alt=\"[PARENTDIR]\"> <a href=\"/\">Parent Directory</a>          -   \n{lines}\
         <hr></pre>\n<address>Apache/2.4.62 (Debian) Server at localhost Port 80</address>\n</body></html>\n"
    )
}

/// Apache 2.4, `IndexOptions HTMLTable`.
fn apache_table(entries: &[(&str, &str)]) -> String {
    let line = |(name, size): &(&str, &str)| {
        format!(
            "<tr><td valign=\"top\"><img src=\"/icons/text.gif\" alt=\"[TXT]\"></td><td><a href=\"{name}\">{name}</a></td>\
             <td align=\"right\">1994-12-01 12:34  </td><td align=\"right\">{size:>4} </td><td>&nbsp;</td></tr>\n"
        )
    };
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<html><head><title>Index of /d</title></head><body>\n<h1>Index of /d</h1>\n<table>\n<tr><th valign=\"top\">\
         <img src=\"/icons/blank.gif\" alt=\"[ICO]\"></th><th><a href=\"?C=N;O=D\">Name</a></th><th>\
         <a href=\"?C=M;O=A\">Last modified</a></th><th><a href=\"?C=S;O=A\">Size</a></th></tr>\n\
         <tr><th colspan=\"5\"><hr></th></tr>\n<tr><td valign=\"top\"><img src=\"/icons/back.gif\" alt=\"[PARENTDIR]\">\
         </td><td><a href=\"/\">Parent Directory</a></td><td>&nbsp;</td><td align=\"right\">  - </td><td>&nbsp;</td></tr>\n\
         {lines}<tr><th colspan=\"5\"><hr></th></tr>\n</table>\n</body></html>\n"
    )
}

/// Caddy 2.8, `file_server browse`.
fn caddy(entries: &[(&str, &str)]) -> String {
    let line = |(name, size): &(&str, &str)| {
        let told = match *size {
            "-" => "<td>&mdash;</td>".to_owned(),
            size => format!(
                "<td class=\"size\" data-size=\"{size}\">\n<div class=\"sizebar\">\n<div class=\"sizebar-text\">\n{size} B\n</div>\n</div>\n</td>"
            ),
        };
        format!(
            "<tr class=\"file\">\n<td></td>\n<td>\n<a href=\"./{name}\">\n<svg width=\"1em\"><use xlink:href=\"#folder\"></use></svg>\n\
             <span class=\"name\">{name}</span>\n</a>\n</td>\n{told}\n<td class=\"timestamp hideable\">\n\
             <time datetime=\"1994-12-01T12:34:56Z\">12/01/1994 12:34:56 PM +00:00</time>\n</td>\n<td class=\"hideable\"></td>\n</tr>\n"
        )
    };
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<title>d</title>\n<link rel=\"canonical\" href=\"/d/\"  />\n</head>\n<body>\n<h1>\n\
         <a href=\"/\">/</a><a href=\"\">d</a>\n</h1>\n<a href=\"javascript:queryParam('layout', '')\" id=\"layout-list\">List</a>\n\
         <table>\n<thead><tr><th></th><th><a href=\"?sort=namedirfirst&amp;order=desc\">Name</a></th></tr></thead>\n<tbody>\n\
         <tr>\n<td></td>\n<td>\n<a href=\"..\">\n<span class=\"go-up\">Up</span>\n</a>\n</td>\n<td></td>\n<td></td>\n</tr>\n{lines}\
         </tbody>\n</table>\n<footer>Served with <a rel=\"noopener noreferrer\" href=\"https://caddyserver.com\">Caddy</a></footer>\n</body>\n</html>\n"
    )
}

/// lighttpd 1.4, `dir-listing`.
fn lighttpd(entries: &[(&str, &str)]) -> String {
    let line = |(name, size): &(&str, &str)| {
        let shown = name.trim_end_matches('/');
        let size = if *size == "-" { "- &nbsp;" } else { size };
        format!(
            "<tr><td class=\"n\"><a href=\"{name}\">{shown}</a>/</td><td class=\"m\">1994-Dec-01 12:34:56</td>\
             <td class=\"s\">{size}</td><td class=\"t\">text/plain</td></tr>\n"
        )
    };
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<title>Index of /d/</title>\n</head>\n<body>\n<h2>Index of /d/</h2>\n\
         <div class=\"list\">\n<table>\n<thead><tr><th>Name</th><th>Last Modified</th></tr></thead>\n<tbody>\n\
         <tr class=\"d\"><td class=\"n\"><a href=\"../\">..</a>/</td><td class=\"m\">&nbsp;</td><td class=\"s\">- &nbsp;</td>\
         <td class=\"t\">Directory</td></tr>\n{lines}</tbody>\n</table>\n</div>\n</body>\n</html>\n"
    )
}

/// `python3 -m http.server`, which tells names alone.
fn python(entries: &[(&str, &str)]) -> String {
    let line = |(name, _): &(&str, &str)| format!("<li><a href=\"{name}\">{name}</a></li>\n");
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<!DOCTYPE HTML>\n<html lang=\"en\">\n<head>\n<title>Directory listing for /d/</title>\n</head>\n<body>\n\
         <h1>Directory listing for /d/</h1>\n<hr>\n<ul>\n{lines}</ul>\n<hr>\n</body>\n</html>\n"
    )
}

/// Apache 2.4 without `FancyIndexing`.
fn apache_list(entries: &[(&str, &str)]) -> String {
    let line = |(name, _): &(&str, &str)| format!("<li><a href=\"{name}\"> {name}</a></li>\n");
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 3.2 Final//EN\">\n<html>\n <head>\n  <title>Index of /d</title>\n \
         </head>\n <body>\n<h1>Index of /d</h1>\n<ul><li><a href=\"/\"> Parent Directory</a></li>\n{lines}</ul>\n</body></html>\n"
    )
}

type Style = fn(&[(&str, &str)]) -> String;

fn site(style: Style) -> Site {
    Site::new()
        .page("/d/", style(&[("empty/", "-"), ("one.txt", "5"), ("sub/", "-"), ("two%20words", "3")]))
        .page("/d/empty/", style(&[]))
        .page("/d/sub/", style(&[("x", "1")]))
        .file("/d/one.txt", "12345")
        .file("/d/two%20words", "abc")
        .file("/d/sub/x", "x")
}

const ALL: [&str; 5] = ["empty/", "one.txt=12345", "sub/", "sub/x=x", "two words=abc"];
const PAGES: [&str; 3] = ["/d/", "/d/empty/", "/d/sub/"];

/// These tell size and time: the second run asks for the pages alone.
#[test]
fn pages_with_times() {
    let styles: [(&str, Style); 5] = [
        ("nginx", nginx),
        ("apache", apache),
        ("table", apache_table),
        ("caddy", caddy),
        ("lighttpd", lighttpd),
    ];
    for (name, style) in styles {
        let (site, here) = (site(style), place());
        site.mirror(here.path(), "").exits(0);
        assert_eq!(tree(here.path()), ALL, "{name}");
        assert_eq!(site.asked(0).len(), 6, "{name}: {:?}", site.asked(0));
        let time = fs::metadata(here.path().join("one.txt")).and_then(|facts| facts.modified());
        assert_eq!(time.expect("a time"), UNIX_EPOCH + Duration::from_secs(786_285_296), "{name}");
        site.mirror(here.path(), "").exits(0);
        assert_eq!(site.asked(6), PAGES, "{name}");
        assert_eq!(tree(here.path()), ALL, "{name}");
    }
}

/// These do not: each file is asked whether it has changed, and none is sent.
#[test]
fn pages_without_times() {
    let styles: [(&str, Style); 2] = [("python", python), ("apache", apache_list)];
    for (name, style) in styles {
        let (site, here) = (site(style), place());
        site.mirror(here.path(), "").exits(0);
        assert_eq!(tree(here.path()), ALL, "{name}");
        site.mirror(here.path(), "").exits(0);
        for request in &site.server.requests()[6..] {
            let is_page = PAGES.contains(&request.path().as_str());
            let since = request.header_text("if-modified-since");
            assert!(is_page || since == Some(DATE) || request.method == "HEAD", "{name}: {request:?}");
        }
        assert_eq!(tree(here.path()), ALL, "{name}");
        // And with --skip-existing nobody is asked.
        let before = site.server.requests().len();
        site.mirror(here.path(), "--skip-existing").exits(0);
        assert_eq!(site.asked(before), PAGES, "{name}");
        fs::remove_file(here.path().join("sub/x")).expect("a file");
        let before = site.server.requests().len();
        site.mirror(here.path(), "--skip-existing").exits(0);
        assert_eq!(site.asked(before), ["/d/", "/d/empty/", "/d/sub/", "/d/sub/x"], "{name}");
    }
}

#[test]
fn the_changed_file_alone_comes_again() {
    let rows: [(&str, &str, &str); 3] = [
        (
            "time to the minute",
            "01-Dec-1994 12:34                   5\r\n",
            "01-Dec-1994 12:35                   5\r\n",
        ),
        ("size", "                  5\r\n", "                  4\r\n"),
        ("both", "01-Dec-1994 12:34                   5\r\n", "02-Jan-2024 12:34                   6\r\n"),
    ];
    for (what, from, to) in rows {
        let (site, here) = (site(nginx), place());
        site.mirror(here.path(), "").exits(0);
        let before = site.server.requests().len();
        let page = nginx(&[("empty/", "-"), ("one.txt", "5"), ("sub/", "-"), ("two%20words", "3")]);
        let changed = page.replacen(from, to, 1);
        assert_ne!(changed, page, "{what}");
        let site = site.page("/d/", changed);
        let reply = HttpReply::new(200).header("Last-Modified", "Tue, 02 Jan 2024 12:34:00 GMT").body("new");
        let site = site.reply("/d/one.txt", reply);
        site.mirror(here.path(), "").exits(0);
        assert_eq!(site.asked(before), ["/d/", "/d/empty/", "/d/one.txt", "/d/sub/"], "{what}");
        assert_eq!(tree(here.path())[1], "one.txt=new", "{what}");
        let before = site.server.requests().len();
        site.mirror(here.path(), "").exits(0);
        assert_eq!(site.asked(before), PAGES, "{what}");
    }
}

/// What leads elsewhere is not followed, however it is written.
#[test]
fn hrefs_that_lead_elsewhere() {
    let other = HttpServer::start(|_| HttpReply::new(200).body("stolen")).expect("a server");
    let site = Site::new();
    let own = site.server.url("");
    let port = site.server.addr().port();
    let hrefs = [
        &*other.url("/d/one"),
        &*format!("//{}/d/one", other.addr()),
        &*format!("//localhost:{port}/d/other-name"),
        &*format!("https://127.0.0.1:{port}/d/tls"),
        &*format!("ftp://127.0.0.1:{port}/d/ftp"),
        "../up",
        "/elsewhere",
        "/",
        "/dd/beside",
        "..",
        "%2e%2e/encoded",
        "x/../../up2",
        "?C=M;O=A",
        "one?query",
        "javascript:alert(1)",
        "mailto:a@b.invalid",
        "data:text/html,x",
        "file:///etc/passwd",
        "#fragment",
        "",
        ".",
        "./",
        "good1",
        "./good2",
        "/d/good3",
        &*format!("{own}d/good4"),
        "good&amp;5",
        "g&#111;od6",
        "good%377",
        "GOOD8#x",
    ];
    let links: String = hrefs.iter().map(|href| format!("<a href=\"{href}\">x</a>\n")).collect();
    let page = format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><ul>{links}</ul></body></html>"
    );
    let mut site = site.page("/d/", page);
    for path in
        ["/d/good1", "/d/good2", "/d/good3", "/d/good4", "/d/good&5", "/d/good6", "/d/good%377", "/d/GOOD8"]
    {
        site = site.file(path, "!");
    }
    let here = place();
    site.mirror(here.path(), "").exits(0);
    let expected = ["GOOD8=!", "good&5=!", "good1=!", "good2=!", "good3=!", "good4=!", "good6=!", "good77=!"];
    assert_eq!(tree(here.path()), expected);
    assert_eq!(other.requests().len(), 0, "{:?}", other.requests());
    let asked = site.asked(0);
    assert!(asked.iter().all(|path| path.starts_with("/d/") && !path.contains('?')), "{asked:?}");
    assert_eq!(asked.len(), 9, "{asked:?}");
}

#[test]
fn a_base_href_counts() {
    let other = HttpServer::start(|_| HttpReply::new(200).body("stolen")).expect("a server");
    let with =
        |base: &str| python(&[("x", "-")]).replacen("<head>", &format!("<head><base href=\"{base}\">"), 1);
    let (site, here) =
        (Site::new().page("/d/", with("/d/sub/")).file("/d/sub/x", "deep").file("/d/x", "flat"), place());
    // Names below the base are below the directory; which way they are put, only the file that a browser would get.
    site.mirror(here.path(), "");
    let found = tree(here.path());
    assert!(!found.iter().any(|name| name.contains("flat")), "{found:?}");
    for base in [&*other.url("/d/"), "/elsewhere/", "../"] {
        let (site, here) = (Site::new().page("/d/", with(base)).file("/d/x", "flat"), place());
        site.mirror(here.path(), "");
        assert_eq!(tree(here.path()), Vec::<String>::new(), "{base}");
        assert!(!site.asked(0).iter().any(|path| path != "/d/"), "{base}: {:?}", site.asked(0));
    }
    assert_eq!(other.requests().len(), 0);
}
