//! `mirror` of HTTP servers: index pages of every known format, links to URLs outside the directory, and the requests
//! of a second run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use crate::support::mirror::{
    html_reply, index_page, index_server, list_files, list_tree, nginx_index_html, run_mirror,
    run_mirror_with,
};
use crate::support::{RunResult, http_server, run_fetch_url, temp_dir};
use fetch_url_tests::{
    ContentCoding, FileHeaders, HttpRequest, HttpResponse, HttpServer, RangeSupport, encode, file_handler,
};

const DATE: &str = "Thu, 01 Dec 1994 12:34:56 GMT";

/// An HTTP server whose pages and files a test can add and replace.
struct Site {
    server: HttpServer,
    pages: Arc<Mutex<BTreeMap<String, HttpResponse>>>,
    files: Arc<Mutex<BTreeMap<String, &'static str>>>,
}

impl Site {
    fn new() -> Self {
        let pages: Arc<Mutex<BTreeMap<String, HttpResponse>>> = Arc::default();
        let files: Arc<Mutex<BTreeMap<String, &'static str>>> = Arc::default();
        let (shared_pages, shared_files) = (pages.clone(), files.clone());
        let server = HttpServer::start(move |request| {
            let path = request.path();
            if let Some(page) = shared_pages.lock().expect("a lock").get(&path) {
                return page.clone();
            }
            let content = shared_files.lock().expect("a lock").get(&path).copied();
            let facts =
                FileHeaders { etag: None, last_modified: Some(DATE.into()), ranges: RangeSupport::Correct };
            content.map_or(HttpResponse::new(404), |content| file_handler(content.into(), facts)(request))
        });
        Self { server: server.expect("a server"), pages, files }
    }

    fn page(self, path: &str, html: impl Into<Vec<u8>>) -> Self {
        let reply = HttpResponse::new(200).header("Content-Type", "text/html; charset=utf-8").body(html);
        self.reply(path, reply)
    }

    fn reply(self, path: &str, reply: HttpResponse) -> Self {
        self.pages.lock().expect("a lock").insert(path.into(), reply);
        self
    }

    /// Adds a file with a Last-Modified date; the server evaluates If-Modified-Since.
    fn file(self, path: &str, content: &'static str) -> Self {
        self.files.lock().expect("a lock").insert(path.into(), content);
        self
    }

    /// Returns the paths of all requests from number `from` on, sorted.
    fn requested_since(&self, from: usize) -> Vec<String> {
        let requests = self.server.requests();
        let mut paths: Vec<String> = requests[from..].iter().map(|request| request.path()).collect();
        paths.sort();
        paths
    }

    fn run_mirror(&self, target: &Path, options: &str) -> RunResult {
        let url = self.server.url("/d/");
        let options = options.split_whitespace();
        let target = target.display().to_string();
        run_fetch_url(["mirror", "--retry", "0"].into_iter().chain(options).chain([&*url, &*target]))
    }
}

/// Returns an index page of Apache 2.4 with `IndexOptions FancyIndexing`.
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

/// Returns an index page of Apache 2.4 with `IndexOptions HTMLTable`.
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

/// Returns an index page of Caddy 2.8 with `file_server browse`.
fn caddy(entries: &[(&str, &str)]) -> String {
    let line = |(name, size): &(&str, &str)| {
        let size_cell = match *size {
            "-" => "<td>&mdash;</td>".to_owned(),
            size => format!(
                "<td class=\"size\" data-size=\"{size}\">\n<div class=\"sizebar\">\n<div class=\"sizebar-text\">\n{size} B\n</div>\n</div>\n</td>"
            ),
        };
        format!(
            "<tr class=\"file\">\n<td></td>\n<td>\n<a href=\"./{name}\">\n<svg width=\"1em\"><use xlink:href=\"#folder\"></use></svg>\n\
             <span class=\"name\">{name}</span>\n</a>\n</td>\n{size_cell}\n<td class=\"timestamp hideable\">\n\
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

/// Returns an index page of lighttpd 1.4 with `dir-listing`.
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

/// Returns an index page of `python3 -m http.server`, which shows names only.
fn python(entries: &[(&str, &str)]) -> String {
    let line = |(name, _): &(&str, &str)| format!("<li><a href=\"{name}\">{name}</a></li>\n");
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<!DOCTYPE HTML>\n<html lang=\"en\">\n<head>\n<title>Directory listing for /d/</title>\n</head>\n<body>\n\
         <h1>Directory listing for /d/</h1>\n<hr>\n<ul>\n{lines}</ul>\n<hr>\n</body>\n</html>\n"
    )
}

/// Returns an index page of Apache 2.4 without `FancyIndexing`, which shows names only.
fn apache_list(entries: &[(&str, &str)]) -> String {
    let line = |(name, _): &(&str, &str)| format!("<li><a href=\"{name}\"> {name}</a></li>\n");
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 3.2 Final//EN\">\n<html>\n <head>\n  <title>Index of /d</title>\n \
         </head>\n <body>\n<h1>Index of /d</h1>\n<ul><li><a href=\"/\"> Parent Directory</a></li>\n{lines}</ul>\n</body></html>\n"
    )
}

type PageFormat = fn(&[(&str, &str)]) -> String;

/// Starts a server with three directories and three files whose index pages have this format.
fn site(format: PageFormat) -> Site {
    Site::new()
        .page("/d/", format(&[("empty/", "-"), ("one.txt", "5"), ("sub/", "-"), ("two%20words", "3")]))
        .page("/d/empty/", format(&[]))
        .page("/d/sub/", format(&[("x", "1")]))
        .file("/d/one.txt", "12345")
        .file("/d/two%20words", "abc")
        .file("/d/sub/x", "x")
}

const EXPECTED_TREE: [&str; 5] = ["empty/", "one.txt=12345", "sub/", "sub/x=x", "two words=abc"];

/// The paths of the index pages.
const PAGES: [&str; 3] = ["/d/", "/d/empty/", "/d/sub/"];

/// The formats that show sizes and times.
#[test]
fn second_run_requests_only_pages_when_pages_show_times() {
    let formats: [(&str, PageFormat); 5] = [
        ("nginx", nginx_index_html),
        ("apache", apache),
        ("table", apache_table),
        ("caddy", caddy),
        ("lighttpd", lighttpd),
    ];
    for (name, format) in formats {
        let (site, dir) = (site(format), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        assert_eq!(list_tree(dir.path()), EXPECTED_TREE, "{name}");
        assert_eq!(site.requested_since(0).len(), 6, "{name}: {:?}", site.requested_since(0));
        let time = fs::metadata(dir.path().join("one.txt")).and_then(|metadata| metadata.modified());
        assert_eq!(time.expect("a time"), UNIX_EPOCH + Duration::from_secs(786_285_296), "{name}");
        site.run_mirror(dir.path(), "").assert_exit(0);
        assert_eq!(site.requested_since(6), PAGES, "{name}");
        assert_eq!(list_tree(dir.path()), EXPECTED_TREE, "{name}");
    }
}

/// The formats that show names only: the second run sends If-Modified-Since or HEAD for every file.
#[test]
fn second_run_revalidates_files_when_pages_show_no_times() {
    let formats: [(&str, PageFormat); 2] = [("python", python), ("apache", apache_list)];
    for (name, format) in formats {
        let (site, dir) = (site(format), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        assert_eq!(list_tree(dir.path()), EXPECTED_TREE, "{name}");
        site.run_mirror(dir.path(), "").assert_exit(0);
        for request in &site.server.requests()[6..] {
            let is_page = PAGES.contains(&request.path().as_str());
            let since = request.header_text("if-modified-since");
            assert!(is_page || since == Some(DATE) || request.method == "HEAD", "{name}: {request:?}");
        }
        assert_eq!(list_tree(dir.path()), EXPECTED_TREE, "{name}");
        // With --skip-existing, existing files are not revalidated.
        let before = site.server.requests().len();
        site.run_mirror(dir.path(), "--skip-existing").assert_exit(0);
        assert_eq!(site.requested_since(before), PAGES, "{name}");
        fs::remove_file(dir.path().join("sub/x")).expect("a file");
        let before = site.server.requests().len();
        site.run_mirror(dir.path(), "--skip-existing").assert_exit(0);
        assert_eq!(site.requested_since(before), ["/d/", "/d/empty/", "/d/sub/", "/d/sub/x"], "{name}");
    }
}

#[test]
fn only_file_with_changed_line_is_downloaded_again() {
    let rows: [(&str, &str, &str, &str, &str); 3] = [
        (
            "time changed by one minute",
            "01-Dec-1994 12:34                   5\r\n",
            "01-Dec-1994 12:35                   5\r\n",
            "Thu, 01 Dec 1994 12:35:00 GMT",
            "after",
        ),
        ("size", "                  5\r\n", "                  4\r\n", DATE, "next"),
        (
            "both",
            "01-Dec-1994 12:34                   5\r\n",
            "02-Jan-2024 12:34                   6\r\n",
            "Tue, 02 Jan 2024 12:34:00 GMT",
            "longer",
        ),
    ];
    for (case, from, to, date, new) in rows {
        let (site, dir) = (site(nginx_index_html), temp_dir());
        site.run_mirror(dir.path(), "").assert_exit(0);
        let before = site.server.requests().len();
        let page =
            nginx_index_html(&[("empty/", "-"), ("one.txt", "5"), ("sub/", "-"), ("two%20words", "3")]);
        let changed = page.replacen(from, to, 1);
        assert_ne!(changed, page, "{case}");
        let site = site.page("/d/", changed);
        let reply = HttpResponse::new(200).header("Last-Modified", date).body(new);
        let site = site.reply("/d/one.txt", reply);
        site.run_mirror(dir.path(), "").assert_exit(0);
        assert_eq!(site.requested_since(before), ["/d/", "/d/empty/", "/d/one.txt", "/d/sub/"], "{case}");
        assert_eq!(list_tree(dir.path())[1], format!("one.txt={new}"), "{case}");
        let before = site.server.requests().len();
        site.run_mirror(dir.path(), "").assert_exit(0);
        assert_eq!(site.requested_since(before), PAGES, "{case}");
    }
}

/// Links to other hosts, schemes, ports, parent directories and queries are not followed.
#[test]
fn only_links_below_the_directory_are_followed() {
    let other = HttpServer::start(|_| HttpResponse::new(200).body("stolen")).expect("a server");
    let site = Site::new();
    let root_url = site.server.url("");
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
        &*format!("{root_url}d/good4"),
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
    let dir = temp_dir();
    site.run_mirror(dir.path(), "").assert_exit(0);
    let expected = ["GOOD8=!", "good&5=!", "good1=!", "good2=!", "good3=!", "good4=!", "good6=!", "good77=!"];
    assert_eq!(list_tree(dir.path()), expected);
    assert_eq!(other.requests().len(), 0, "{:?}", other.requests());
    let requested = site.requested_since(0);
    assert!(requested.iter().all(|path| path.starts_with("/d/") && !path.contains('?')), "{requested:?}");
    assert_eq!(requested.len(), 9, "{requested:?}");
}

#[test]
fn base_href_determines_link_targets() {
    let other = HttpServer::start(|_| HttpResponse::new(200).body("stolen")).expect("a server");
    let with =
        |base: &str| python(&[("x", "-")]).replacen("<head>", &format!("<head><base href=\"{base}\">"), 1);
    let (site, dir) =
        (Site::new().page("/d/", with("/d/sub/")).file("/d/sub/x", "deep").file("/d/x", "flat"), temp_dir());
    // The base is below the directory: the file that a browser would get is mirrored, not the one beside the page.
    site.run_mirror(dir.path(), "");
    let found = list_tree(dir.path());
    assert!(!found.iter().any(|name| name.contains("flat")), "{found:?}");
    for base in [&*other.url("/d/"), "/elsewhere/", "../"] {
        let (site, dir) = (Site::new().page("/d/", with(base)).file("/d/x", "flat"), temp_dir());
        site.run_mirror(dir.path(), "");
        assert_eq!(list_tree(dir.path()), Vec::<String>::new(), "{base}");
        assert!(
            !site.requested_since(0).iter().any(|path| path != "/d/"),
            "{base}: {:?}",
            site.requested_since(0)
        );
    }
    assert_eq!(other.requests().len(), 0);
}

/// A rounded size such as `1.2K` cannot be compared with the file, so the line is compared with that of the first run.
/// The responses have no time, so the length of the object is requested.
#[test]
fn unchanged_rounded_sizes_cause_no_second_download() {
    let server = index_server(
        "<a href=\"rounded\">rounded</a>   1994-12-01 12:34  1.2K\n<a href=\"none\">none</a>    1994-12-01 12:34   -  \n<a href=\"mega\">mega</a>    1994-12-01 12:34   10M\n\
         <a href=\"half\">half</a>    01-Dec-2\n",
    );
    let dir = temp_dir();
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    assert_eq!(list_tree(dir.path()), ["half=half", "mega=mega", "none=none", "rounded=rounded"]);
    let before = server.requests().len();
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    let requests = server.requests().split_off(before);
    let downloads = requests.iter().filter(|request| request.method == "GET");
    let requested: Vec<String> = downloads.map(HttpRequest::path).collect();
    assert!(
        !requested.iter().any(|path| ["/d/rounded", "/d/mega", "/d/none"].contains(&path.as_str())),
        "{requested:?}"
    );
}

#[test]
fn file_listed_twice_is_downloaded_once() {
    let server = index_server(
        "<a href=\"a\"><img src=\"/icon\"></a> <a href=\"a\">a</a>  1994-12-01 12:34  1\n<a href=\"./a\">a</a>\n<a href=\"/d/a\">a</a>\n\
         <a href=\"b\">b</a>  1994-12-01 12:34  1\n<a href=\"b\">b</a>  1994-12-01 12:34  1\n",
    );
    let dir = temp_dir();
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    let requested = server.requests().iter().filter(|request| request.path() == "/d/a").count();
    assert_eq!(requested, 1);
    assert!(
        list_tree(dir.path()).len() <= 3 && list_tree(dir.path())[..2] == ["a=a", "b=b"],
        "{:?}",
        list_tree(dir.path())
    );
}

#[test]
fn links_are_read_from_anchors_only() {
    let server = index_server(
        "<A HREF='single'>x</A>\n<a href=bare>x</a>\n<a\n  class=\"x\"\n  href = \"spread\" >x</a>\n\
         <!-- <a href=\"comment\">x</a> -->\n<script>document.write('<a href=\"script\">x</a>')</script>\n\
         <style>/* <a href=\"style\"> */</style>\n<a name=\"anchor\">x</a>\n<a href=\"sp ace\">x</a>\n<a href=\"\u{fc}ml\">x</a>\n\
         <a data-href=\"data\">x</a>\n<img src=\"img\">\n<link href=\"link\">\n<a href=\" padded \">x</a>\n<a href=\"a:b\">x</a>\n\
         <a href=\"./c:d\">x</a>\n<a href=\"plus+plus\">x</a>\n<a href=\"sem;i\">x</a>\n",
    );
    let dir = temp_dir();
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    let found: Vec<String> = list_tree(dir.path())
        .iter()
        .map(|name| name.split('=').next().unwrap_or_default().to_owned())
        .collect();
    for name in ["single", "bare", "spread", "padded", "plus+plus", "sem;i"] {
        assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
    }
    for name in ["comment", "script", "style", "anchor", "data", "img", "link", "b"] {
        assert!(!found.contains(&name.to_owned()), "{name}: {found:?}");
    }
    assert!(found.iter().any(|name| name.contains("ml") && name.contains('\u{fc}')), "{found:?}");
}

/// The server compresses the index page with gzip, with and without `--compressed`.
#[test]
fn compressed_index_page_is_read() {
    let text = b"<html><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\n<a href=\"a\">a</a>  01-Dec-1994 12:34  1\n</pre></html>";
    let server = http_server(move |request| match request.path().as_str() {
        "/d/" if request.header("accept-encoding").is_some() => {
            html_reply(encode(ContentCoding::Gzip, text).expect("a coder")).header("Content-Encoding", "gzip")
        }
        "/d/" => html_reply(*text),
        _ => HttpResponse::new(200).body("a"),
    });
    for options in ["", "--compressed"] {
        let dir = temp_dir();
        run_mirror(&server.url("/d/"), dir.path(), options).assert_exit(0);
        assert_eq!(list_tree(dir.path()), ["a=a"], "{options}");
    }
}

#[test]
fn rows_that_lead_elsewhere_are_not_fetched_but_counted() {
    let rows = "<a href=\"http://other.test/cdn.iso\">cdn.iso</a>  1\n<a href=\"/y/up.iso\">up.iso</a>  1\n\
        <a href=\"sub/deep/low.iso\">low.iso</a>  1\n<a href=\"report.pdf?download=1\">report.pdf</a>  1\n\
        <a href=\"?file=get.zip\">get.zip</a>  1\n<a href=\"/\">Home</a> <a href=\"http://other.test/\">About us</a>\n\
        <a href=\"?C=N;O=D\">Name</a>\n";
    for (row, files) in [("<a href=\"good\">good</a>  1\n", &["good"][..]), ("", &[])] {
        let (server, dir) = (index_server(&format!("{row}{rows}")), temp_dir());
        let events = dir.path().join("events").display().to_string();
        let target = dir.path().join("target");
        let result = run_mirror_with(&server.url("/d/"), &target, &["--events", &events]);
        result
            .assert_exit(0)
            .assert_stderr_contains("; 1 on other servers; 2 outside the start directory; 2 with a query");
        let note = "the listing has no entries, only links: 1 to other servers, 2 to other directories, 2 with a query";
        assert_eq!(result.stderr.contains(note), files.is_empty(), "{}", result.stderr);
        assert_eq!(list_files(&target), files);
        let events = fs::read_to_string(events).expect("events");
        let summary = events.lines().last().unwrap_or_default();
        for count in ["\"elsewhere\":3", "\"other_servers\":1", "\"outside_start\":2", "\"with_query\":2"] {
            assert!(summary.contains(count), "{count}: {summary}");
        }
    }
}

#[test]
fn absolute_link_with_dot_segments_is_the_entry_that_it_resolves_to() {
    let server = http_server(|request| match request.path().as_str() {
        "/d/" => {
            let authority = request.header_text("host").unwrap_or_default();
            index_page(&format!("<a href=\"http://{authority}/./d/x/../f\">f</a>  1\n"))
        }
        _ => HttpResponse::new(200).body("1"),
    });
    let dir = temp_dir();
    run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
    assert_eq!(list_tree(dir.path()), ["f=1"]);
}

/// A link is requested with its own bytes. The charset that the page declares does not change them.
#[test]
fn bytes_of_a_link_that_are_not_utf8_are_requested_unchanged() {
    let rows = b"<a href=\"caf\xe9\">caf\xe9</a>  01-Dec-1994 12:34  1\n<a href='\xc3\xa9'>\xc3\xa9</a>  01-Dec-1994 12:34  1\n";
    let index = [b"<h1>Index of /d/</h1><pre><a href=\"../\">../</a>\n", &rows[..], b"</pre>"].concat();
    let page = [b"<title>x</title><img src='im\xe9'><p style='background: url(st\xe9)'>", &rows[..]].concat();
    let mirrored = |charset: &str, page: &[u8]| {
        let (media_type, page) = (format!("text/html{charset}"), page.to_vec());
        let server = http_server(move |request| match request.path().as_str() {
            "/d/" => HttpResponse::new(200).header("Content-Type", &*media_type).body(page.clone()),
            _ => HttpResponse::new(200).body("1"),
        });
        let dir = temp_dir();
        run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
        let mut paths: Vec<_> = server.requests().iter().map(HttpRequest::path).collect();
        paths.sort();
        paths
    };
    for charset in ["", "; charset=iso-8859-1", "; charset=utf-8"] {
        assert_eq!(mirrored(charset, &index), ["/d/", "/d/%C3%A9", "/d/caf%E9"], "{charset}");
    }
    assert_eq!(mirrored("", &page), ["/d/", "/d/%C3%A9", "/d/caf%E9", "/d/im%E9", "/d/st%E9"]);
}

/// The server compresses the page although the request has no `Accept-Encoding`.
#[test]
fn index_page_that_is_compressed_unasked_is_decoded() {
    let text = b"<html><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\n<a href=\"a\">a</a>  01-Dec-1994 12:34  1\n</pre></html>";
    let own = b"<title>Welcome</title><a href=\"a\">An a</a>";
    for (page, coding, expected) in [
        (&text[..], "gzip", Ok(&["a"][..])),
        (own, "gzip", Ok(&["a", "index.html"])),
        (text, "unknown", Err(8)),
    ] {
        let server = http_server(move |request| match request.path().as_str() {
            "/d/" => html_reply(encode(ContentCoding::Gzip, page).expect("a coder"))
                .header("Content-Encoding", coding),
            _ => HttpResponse::new(200).body("a"),
        });
        let dir = temp_dir();
        let result = run_mirror(&server.url("/d/"), dir.path(), "");
        result.assert_exit(expected.err().unwrap_or(0));
        assert_eq!(list_files(dir.path()), expected.unwrap_or_default(), "{coding}");
        if expected == Ok(&["a"]) {
            let listed = run_fetch_url(["--list", &server.url("/d/")]).assert_exit(0).stdout_text();
            assert!(listed.ends_with(" a\n"), "{listed}");
        }
        if let Ok(saved) = fs::read(dir.path().join("index.html")) {
            assert_eq!(saved, own, "the page is saved as it is read");
        }
    }
}

#[test]
fn listing_whose_header_fields_name_other_pages_deletes_nothing() {
    for (name, value, is_deleted) in [
        ("Link", "</d/?page=2>; rel=\"next\"", false),
        ("Refresh", "0; url=/d/?page=2", false),
        ("Link", "</style.css>; rel=preload", true),
    ] {
        let (site, dir) = (Site::new(), temp_dir());
        let page = |entries: &[(&str, &str)]| html_reply(nginx_index_html(entries));
        site.pages.lock().expect("a lock").insert("/d/".to_owned(), page(&[("a", "1"), ("b", "1")]));
        for path in ["/d/a", "/d/b"] {
            site.files.lock().expect("a lock").insert(path.to_owned(), "1");
        }
        run_mirror(&site.server.url("/d/"), dir.path(), "").assert_exit(0);
        let part = page(&[("a", "1")]).header(name, value);
        site.pages.lock().expect("a lock").insert("/d/".to_owned(), part);
        let result = run_mirror(&site.server.url("/d/"), dir.path(), "--delete");
        assert_eq!(list_files(dir.path()).len(), if is_deleted { 1 } else { 2 }, "{name} {value}");
        assert_eq!(result.stderr.contains("keeps all files"), !is_deleted, "{}", result.stderr);
    }
}
