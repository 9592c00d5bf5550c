//! `mirror` at its edges: rounded sizes, names twice, markup of all sorts, DIR left out, URLs that are files, options that
//! change between two runs, servers that are gone.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fetch_url_tests::{
    Act, Coding, FtpServer, FtpSite, GopherItem, GopherServer, GopherSite, HttpReply, HttpRequest,
    HttpServer, NntpArticle, NntpGroup, NntpServer, NntpSite, coded,
};
use support::mirrored::{mirror, place, tree};
use support::{fetch_in, names};

fn html(text: impl Into<Vec<u8>>) -> HttpReply {
    HttpReply::new(200).header("Content-Type", "text/html").body(text)
}

/// A page with these lines between what surrounds them.
fn page(lines: &str) -> HttpReply {
    html(format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\r\n\
         {lines}</pre></body></html>"
    ))
}

fn server(handler: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static) -> HttpServer {
    HttpServer::start(handler).expect("a server")
}

/// `/d/` has these lines, and each file holds its last part.
fn listing(lines: &str) -> HttpServer {
    let lines = lines.to_owned();
    server(move |request| match request.path().as_str() {
        "/d/" => page(&lines),
        path => HttpReply::new(200).body(path.rsplit('/').next().unwrap_or_default()),
    })
}

/// `1.2K` is no size to hold a file against, nor is one that is wrong; the line is compared with itself.
#[test]
fn sizes_that_are_not_exact() {
    let server = listing(
        "<a href=\"rounded\">rounded</a>   1994-12-01 12:34  1.2K\n<a href=\"wrong\">wrong</a>   1994-12-01 12:34  99\n\
         <a href=\"none\">none</a>    1994-12-01 12:34   -  \n<a href=\"mega\">mega</a>    1994-12-01 12:34   10M\n\
         <a href=\"half\">half</a>    01-Dec-2\n",
    );
    let here = place();
    mirror(&server.url("/d/"), here.path(), "").exits(0);
    assert_eq!(tree(here.path()), ["half=half", "mega=mega", "none=none", "rounded=rounded", "wrong=wrong"]);
    let before = server.requests().len();
    mirror(&server.url("/d/"), here.path(), "").exits(0);
    let again: Vec<String> = server.requests()[before..].iter().map(HttpRequest::path).collect();
    assert!(
        !again.iter().any(|path| ["/d/rounded", "/d/wrong", "/d/mega"].contains(&path.as_str())),
        "{again:?}"
    );
}

#[test]
fn names_that_come_twice() {
    let server = listing(
        "<a href=\"a\"><img src=\"/icon\"></a> <a href=\"a\">a</a>  1994-12-01 12:34  1\n<a href=\"./a\">a</a>\n<a href=\"/d/a\">a</a>\n\
         <a href=\"b\">b</a>  1994-12-01 12:34  1\n<a href=\"b\">b</a>  1994-12-01 12:34  1\n",
    );
    let here = place();
    mirror(&server.url("/d/"), here.path(), "").exits(0);
    let asked = server.requests().iter().filter(|request| request.path() == "/d/a").count();
    assert_eq!(asked, 1);
    assert!(
        tree(here.path()).len() <= 3 && tree(here.path())[..2] == ["a=a", "b=b"],
        "{:?}",
        tree(here.path())
    );
}

#[test]
fn markup() {
    let server = listing(
        "<A HREF='single'>x</A>\n<a href=bare>x</a>\n<a\n  class=\"x\"\n  href = \"spread\" >x</a>\n\
         <!-- <a href=\"comment\">x</a> -->\n<script>document.write('<a href=\"script\">x</a>')</script>\n\
         <style>/* <a href=\"style\"> */</style>\n<a name=\"anchor\">x</a>\n<a href=\"sp ace\">x</a>\n<a href=\"\u{fc}ml\">x</a>\n\
         <a data-href=\"data\">x</a>\n<img src=\"img\">\n<link href=\"link\">\n<a href=\" padded \">x</a>\n<a href=\"a:b\">x</a>\n\
         <a href=\"./c:d\">x</a>\n<a href=\"plus+plus\">x</a>\n<a href=\"sem;i\">x</a>\n",
    );
    let here = place();
    mirror(&server.url("/d/"), here.path(), "").exits(0);
    let found: Vec<String> =
        tree(here.path()).iter().map(|name| name.split('=').next().unwrap_or_default().to_owned()).collect();
    for name in ["single", "bare", "spread", "padded", "plus+plus", "sem;i"] {
        assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
    }
    for name in ["comment", "script", "style", "anchor", "data", "img", "link", "b"] {
        assert!(!found.contains(&name.to_owned()), "{name}: {found:?}");
    }
    assert!(found.iter().any(|name| name.contains("ml") && name.contains('\u{fc}')), "{found:?}");
}

/// A page that is compressed, without being asked, is a page.
#[test]
fn a_compressed_page() {
    let text = b"<html><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\n<a href=\"a\">a</a>  01-Dec-1994 12:34  1\n</pre></html>";
    let server = server(move |request| match request.path().as_str() {
        "/d/" if request.header("accept-encoding").is_some() => {
            html(coded(Coding::Gzip, text).expect("a coder")).header("Content-Encoding", "gzip")
        }
        "/d/" => html(*text),
        _ => HttpReply::new(200).body("a"),
    });
    for words in ["", "--compressed"] {
        let here = place();
        mirror(&server.url("/d/"), here.path(), words).exits(0);
        assert_eq!(tree(here.path()), ["a=a"], "{words}");
    }
}

/// What DIR is called when nobody says it: a safe name, or it must be said.
#[test]
fn no_directory_is_named() {
    let server = server(|request| {
        if request.path().ends_with('/') {
            page("<a href=\"f\">f</a>\n")
        } else {
            HttpReply::new(200).body("f")
        }
    });
    for (path, expected) in [
        ("/some/where/", Some("where")),
        ("/some/two%20words/", Some("two words")),
        ("/some/where/#x", Some("where")),
        ("/", None),
        ("/%2e%2e/", None),
        ("/..%2f..%2fevil/", None),
        ("/%2fetc/", None),
        ("/.git/", None),
        ("/con/", None),
        ("/a%0ab/", None),
    ] {
        let here = place();
        let inside = here.path().join("in/side");
        fs::create_dir_all(&inside).expect("a directory");
        let ran = fetch_in(&inside, ["mirror", "--retry", "0", &server.url(path)]);
        assert_eq!(
            (names(here.path()), names(&here.path().join("in"))),
            (vec!["in".into()], vec!["side".into()]),
            "{path}"
        );
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        let made = names(&inside);
        match expected {
            Some(name) => assert_eq!(made, [name], "{path}: {}", ran.stderr),
            None if ran.exit == 0 => {
                assert_eq!(made.len(), 1, "{path}: {made:?}");
                let name = &made[0];
                assert!(
                    !name.starts_with('.') && name != "con" && !name.contains(['\n', '/']),
                    "{path}: {name:?}"
                );
            }
            None => assert!(made.is_empty() && ran.exit <= 3, "{path}: {made:?} {} {}", ran.exit, ran.stderr),
        }
    }
}

/// A file is no directory: nothing is made of it, or it alone is fetched, and nothing else.
#[test]
fn urls_of_files() {
    let http = server(|request| match request.path().as_str() {
        "/one" => HttpReply::new(200).header("Content-Type", "application/pdf").body("pdf"),
        _ => HttpReply::new(404),
    });
    let ftp = FtpServer::start(FtpSite::new().file("/d/one", "1")).expect("a server");
    let gopher = GopherServer::start(
        GopherSite::new().item(GopherItem::text("/one", "1")).item(GopherItem::search("/s", |_| Vec::new())),
    );
    let gopher = gopher.expect("a server");
    let article = NntpArticle::post("1@test.invalid", "x", "x\r\n");
    let news =
        NntpServer::start(NntpSite::new().group(NntpGroup::new("a.one").next(article))).expect("a server");
    for url in [
        http.url("/one"),
        ftp.url("d/one"),
        ftp.url("d/one;type=i"),
        gopher.url("0/one"),
        news.url("a.one/1"),
        news.url("1@test.invalid"),
    ] {
        let here = place();
        let target = here.path().join("new");
        let ran = mirror(&url, &target, "");
        assert!(
            ran.exit != 0 && ran.exit < 99 && !ran.stderr.contains("panicked"),
            "{url}: {} {}",
            ran.exit,
            ran.stderr
        );
        let left = if target.exists() { tree(&target) } else { Vec::new() };
        assert_eq!(left, Vec::<String>::new(), "{url}");
    }
}

/// The forms of a directory's URL over FTP.
#[test]
fn urls_of_ftp_directories() {
    for path in ["d/", "d", "d/;type=d", "d;type=d", "%2Fd/", "/d/"] {
        let ftp =
            FtpServer::start(FtpSite::new().file("/d/one", "1").file("/d/sub/two", "2")).expect("a server");
        let here = place();
        let ran = mirror(&ftp.url(path), here.path(), "");
        let found = tree(here.path());
        assert!(
            found == ["one=1", "sub/", "sub/two=2"] || (ran.exit != 0 && found.is_empty()),
            "{path}: {found:?} {}",
            ran.stderr
        );
        assert!(!path.ends_with('/') || ran.exit == 0, "{path}: {}", ran.stderr);
    }
    // LIST as DOS writes it, below the root of the login.
    let dos =
        "01-02-24  03:04AM       <DIR>          sub\r\n12-01-1994  12:34PM                    1 one\r\n";
    let site =
        FtpSite::new().file("/users/me/one", "1").file("/users/me/sub/one", "2").login_directory("/users/me");
    let ftp =
        FtpServer::start(site.no("MLSD").no("MLST").on("LIST", Act::Data(dos.into()))).expect("a server");
    let here = place();
    mirror(&ftp.url(""), here.path(), "--max-depth 1");
    assert!(tree(here.path()).contains(&"one=1".to_owned()), "{:?} {:?}", tree(here.path()), ftp.dialogue());
}

/// Options may change between runs: only what is new is fetched.
#[test]
fn options_that_change() {
    let server = server(|request| match request.path().as_str() {
        "/d/" => page(
            "<a href=\"a\">a</a>    01-Dec-1994 12:34    1\r\n<a href=\"b\">b</a>    01-Dec-1994 12:34    1\r\n<a href=\"sub/\">sub/</a>    01-Dec-1994 12:34    -\r\n",
        ),
        "/d/sub/" => page("<a href=\"x\">x</a>    01-Dec-1994 12:34    1\r\n"),
        _ => HttpReply::new(200).body("1"),
    });
    let here = place();
    let run = |words: &str| {
        let before = server.requests().len();
        mirror(&server.url("/d/"), here.path(), words).exits(0);
        let mut asked: Vec<String> = server.requests()[before..].iter().map(HttpRequest::path).collect();
        asked.sort();
        asked
    };
    assert_eq!(run("--include-glob a --max-depth 0"), ["/d/", "/d/a"]);
    assert_eq!(run("--max-depth 0"), ["/d/", "/d/b"]);
    assert_eq!(run(""), ["/d/", "/d/sub/", "/d/sub/x"]);
    assert_eq!(run("--skip-existing --delete"), ["/d/", "/d/sub/"]);
    assert_eq!(run("--exclude-glob sub"), ["/d/"]);
    // With and without the final slash, or under DIR's other spellings, it is the same mirror.
    let before = server.requests().len();
    mirror(&server.url("/d/"), &here.path().join("."), "").exits(0);
    assert_eq!(server.requests().len(), before + 2);
}

#[test]
fn a_server_that_is_gone() {
    let here = place();
    let url = {
        let server = listing("<a href=\"a\">a</a>    01-Dec-1994 12:34    1\r\n");
        mirror(&server.url("/d/"), here.path(), "").exits(0);
        server.url("/d/")
    };
    mirror(&url, here.path(), "--delete").exits(7);
    assert_eq!(tree(here.path()), ["a=a"]);
}

/// Permissions never widen, also when a file is replaced (N6).
#[test]
fn permissions() {
    let place = place();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    fs::create_dir(&source).expect("a directory");
    fs::write(source.join("a"), "1").expect("a file");
    let url = format!("file://{}/", source.display());
    mirror(&url, &target, "").exits(0);
    fs::set_permissions(target.join("a"), fs::Permissions::from_mode(0o600)).expect("ours");
    fs::write(source.join("a"), "changed").expect("a file");
    mirror(&url, &target, "").exits(0);
    assert_eq!(tree(&target), ["a=changed"]);
    let mode = fs::metadata(target.join("a")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    // A directory that is empty is a directory all the same.
    let empty = place.path().join("empty");
    fs::create_dir(&empty).expect("a directory");
    mirror(&format!("file://{}/", empty.display()), &place.path().join("new"), "").exits(0);
    assert_eq!(tree(&place.path().join("new")), Vec::<String>::new());
}
