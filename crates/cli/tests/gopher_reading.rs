//! Reading by type (SEMANTICS.md §4; SECURITY.md, rows 98, 100 and 102): octets untouched, the dots of texts,
//! the frames of Gopher+, errors in the server's words, advice, links; and where it is all put.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use fetch_url_tests::{
    Before, Ending, GopherAct, GopherEnd, GopherItem, GopherLength, GopherOn, GopherServer, GopherSite,
    ServerCert, Target,
};
use support::{Ran, content_of, fetch, fetch_in, names};

fn serve(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

/// A server that sends exactly these octets.
fn sending(octets: impl AsRef<[u8]>) -> GopherServer {
    serve(GopherSite::new().answer(octets.as_ref()))
}

fn get(server: &GopherServer, path: &str, words: &str) -> Ran {
    let url = server.url(path);
    fetch(["--read-timeout", "5"].into_iter().chain(words.split_whitespace()).chain([url.as_str()]))
}

#[track_caller]
fn gives(server: &GopherServer, path: &str, words: &str, expected: &[u8]) {
    let ran = get(server, path, words);
    assert_eq!(ran.exit, 0, "{path} {words}: {}", ran.stderr);
    let (found, expected) = (ran.stdout.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(found, expected, "{path} {words}");
}

/// What is neither text nor menu is as it came, whatever it looks like.
#[test]
fn octets_are_untouched() {
    let all: Vec<u8> = (0..=255).collect();
    for octets in [
        &b"..a\r\n.b\r\n.\r\n"[..],
        b".\r\n",
        b"iinfo\tx\tx\t0\r\n.\r\n",
        b"+5\r\nabcde",
        b"a\nb\rc",
        b"\r\n.\r\n\r\n",
        &all,
    ] {
        let server = sending(octets);
        for kind in "4569gIsdh:;<pPMc~".chars() {
            gives(&server, &format!("{kind}/x"), "", octets);
        }
    }
    let ran = get(&sending("x"), "9/x", "--require-complete");
    assert!(ran.exits(18).stdout.is_empty() || ran.text() == "x", "{ran:?}");
}

/// Sent, and then as `auto`, `rfc1436` and `raw` read it; none: not laid down.
const DOTS: [(&str, &str, Option<&str>); 19] = [
    ("a\r\nb\r\n.\r\n", "a\r\nb\r\n", Some("a\r\nb\r\n")),
    ("a\r\nb\r\n", "a\r\nb\r\n", Some("a\r\nb\r\n")),
    ("a\r\nb", "a\r\nb", Some("a\r\nb")),
    (".\r\n", "", Some("")),
    ("a.", "a.", Some("a.")),
    ("a\r\n.\r\n.\r\n", "a\r\n.\r\n", None),
    ("a\r\n.\r\nb\r\n", "a\r\n.\r\nb\r\n", None),
    ("a\r\n.\r\nb\r\n.\r\n", "a\r\n.\r\nb\r\n", None),
    // Doubled, and the end shows that they are.
    ("..a\r\n.\r\n", ".a\r\n", Some(".a\r\n")),
    ("x\r\n..\r\n...b\r\n.\r\n", "x\r\n.\r\n..b\r\n", Some("x\r\n.\r\n..b\r\n")),
    // Not doubled: a profile, a path.
    (".profile\r\n.\r\n", ".profile\r\n", None),
    ("../up\r\n.hidden\r\n.\r\n", "../up\r\n.hidden\r\n", None),
    // Nothing shows that they are doubled.
    ("..a\r\nb\r\n", "..a\r\nb\r\n", Some(".a\r\nb\r\n")),
    ("...\r\n", "...\r\n", Some("..\r\n")),
    // Dots within lines are no dots.
    ("a..b\r\n ..c\r\n.\r\n", "a..b\r\n ..c\r\n", Some("a..b\r\n ..c\r\n")),
    // LF alone.
    ("a\nb\n.\n", "a\nb\n", Some("a\nb\n")),
    ("..a\nb\n.\n", ".a\nb\n", Some(".a\nb\n")),
    ("a\r\n.\n", "a\r\n", Some("a\r\n")),
    ("\r\n\r\n.\r\n", "\r\n\r\n", Some("\r\n\r\n")),
];

#[test]
fn the_dots_of_texts() {
    for (sent, auto, rfc) in DOTS {
        // In one piece, and octet by octet.
        for server in
            [sending(sent), serve(GopherSite::new().answer(sent).drip(1, std::time::Duration::ZERO))]
        {
            gives(&server, "0/x", "-s", auto.as_bytes());
            gives(&server, "m/x", "-s --gopher-dots auto", auto.as_bytes());
            gives(&server, "0/x", "-s --gopher-dots raw", sent.as_bytes());
            if let Some(rfc) = rfc {
                gives(&server, "0/x", "-s --gopher-dots rfc1436", rfc.as_bytes());
            }
        }
    }
}

/// Longer than what is held: untouched but for the last line, unless the caller knows better.
#[test]
fn the_dots_of_long_texts() {
    let line = b"..and so on and so on and so on and so on and so on and so on!\r\n";
    let times = (3 << 20) / line.len();
    for end in [GopherEnd::LooseDot, GopherEnd::Nothing] {
        let server = serve(
            GopherSite::new()
                .item(GopherItem::repeated('0', "/x", "first\r\n", line, times as u64).ends(end)),
        );
        let whole = [b"first\r\n".to_vec(), line.repeat(times)].concat();
        let single = [b"first\r\n".to_vec(), line[1..].repeat(times)].concat();
        let dot = if end == GopherEnd::LooseDot { &b".\r\n"[..] } else { b"" };
        for (how, expected) in
            [("auto", whole.clone()), ("rfc1436", single), ("raw", [&whole[..], dot].concat())]
        {
            let ran = get(&server, "0/x", &format!("-s --gopher-dots {how}"));
            assert!(
                ran.exits(0).stdout == expected,
                "{end:?} {how}: {} of {}",
                ran.stdout.len(),
                expected.len()
            );
        }
    }
    // In between, what shows is what counts.
    let server = serve(
        GopherSite::new().item(GopherItem::repeated('0', "/x", "", line, 9000).ends(GopherEnd::LooseDot)),
    );
    assert!(get(&server, "0/x", "").exits(0).stdout == line[1..].repeat(9000));
}

/// A text without its dot has come, perhaps: a note says so, and who wants proof does not get it.
#[test]
fn texts_without_an_end() {
    let server = sending("a\r\n");
    assert_eq!(get(&server, "0/x", "").exits(0).says("fetch-url: note: ").text(), "a\r\n");
    assert_eq!(get(&server, "0/x", "-s").exits(0).stderr, "");
    get(&server, "0/x", "--require-complete").exits(18);
    let ran = get(&sending("a\r\n.\r\n"), "0/x", "--require-complete");
    assert_eq!((ran.exits(0).text().as_str(), ran.stderr.as_str()), ("a\r\n", ""));
    // Reset is no end.
    for path in ["0/x", "9/x", "1/x"] {
        let site = GopherSite::new().answer("0abc\t/\th\t70\r\n0d").cut(16, Ending::Reset);
        get(&serve(site), path, "").exits(18);
    }
}

/// The frames of Gopher+: what is delivered is clean, and what follows it is ignored.
#[test]
fn frames() {
    let rows: [(&str, &str, i32, &str); 16] = [
        ("9", "+5\r\nabcde", 0, "abcde"),
        ("9", "+5\r\nabcde.\r\n", 0, "abcde"),
        ("0", "+5\r\nabcde\r\n.\r\nmore", 0, "abcde"),
        ("0", "+6\r\n..a\r\n.", 0, "..a\r\n."),
        ("9", "+0\r\n", 0, ""),
        ("9", "+5\nabcde", 0, "abcde"),
        ("9", "+-2\r\nabc\r\n.\r\n", 0, "abc\r\n.\r\n"),
        ("0", "+-2\r\nabc", 0, "abc"),
        ("0", "+-1\r\nabc\r\n.\r\n", 0, "abc\r\n"),
        ("0", "+-1\r\n..abc\r\n.\r\n", 0, ".abc\r\n"),
        ("9", "+-1\r\nabc\r\n..\r\n.\r\n", 0, "abc\r\n.\r\n"),
        ("9", "+5\r\nabc", 18, ""),
        ("9", "+5\r\n", 18, ""),
        ("9", "--1\r\n1 <a@b.c>\r\nno such thing\r\n.\r\n", 78, ""),
        ("9", "--2\r\n2 <a@b.c>\r\ncome back later\r\n", 92, ""),
        ("9", "-38\r\n1 Me <me@h.example>\r\nnot to be found\r\nmore", 78, ""),
    ];
    for (kind, sent, exit, body) in rows {
        for path in ["/x%09%09+", "/x%09%09+text/plain", "/x%09w%09+"] {
            let server = sending(sent);
            let target = Target::new(Before::Old).expect("a directory");
            let file = target.path();
            let ran = get(&server, &format!("{kind}{path}"), &format!("-s -o {}", file.display()));
            ran.exits(exit);
            let content = target.content().expect("readable").unwrap_or_default();
            let expected = if exit == 0 { body.as_bytes() } else { Before::OLD_CONTENT };
            assert!(content == expected, "{sent:?} {path}: {}", content.escape_ascii());
        }
    }
    // The length is known beforehand, and is a proof; the end of a connection is none.
    get(&sending("+5\r\nabcde"), "9/x%09%09+", "--require-complete").exits(0);
    get(&sending("+-2\r\nabcde"), "9/x%09%09+", "--require-complete").exits(18);
    get(&sending("+5000\r\nabcde"), "9/x%09%09+", "--max-filesize 100").exits(63);
}

/// What is no status line shows that nobody heard the `+`: it is the object, and a note says so.
#[test]
fn no_frame() {
    for sent in [
        "plain",
        "+plus\r\n",
        "5\r\nabcde",
        "+\r\n",
        "-\r\n",
        "+-3\r\n",
        "++5\r\nabcde",
        "+5 x\r\n",
        "-- signature\r\n",
    ] {
        let ran = get(&sending(sent), "9/x%09%09+", "");
        assert_eq!(ran.exits(0).text(), sent);
        ran.says("fetch-url: note: ").says("Gopher+");
        gives(&sending(sent), "9/x%09%09+", "-s", sent.as_bytes());
        assert_eq!(get(&sending(sent), "9/x%09%09+", "-s").stderr, "");
    }
}

/// The server's word for no, in its words, and nothing under the name.
#[test]
fn refusals() {
    let line = "3'/x' is not here\tfake\t(NULL)\t0\r\n.\r\n";
    let hosted = "3'/x' is not here\t\terror.host\t1\r\n.\r\n";
    for (path, sent, exit, words) in [
        ("1/x", line, 78, "'/x' is not here"),
        ("7/x%09w", line, 78, "'/x' is not here"),
        ("0/x", hosted, 78, "'/x' is not here"),
        ("9/x", hosted, 78, "'/x' is not here"),
        ("g/x", hosted.trim_end_matches(".\r\n"), 78, "'/x' is not here"),
        ("1/x", "3Access denied\t\terror.host\t1\r\n.\r\n", 9, "Access denied"),
        ("1/x", "3evil \u{1b}[2J\u{9b}\t\terror.host\t1\r\n.\r\n", 78, "evil \\x1B[2J"),
        ("0/x%09%09+", "--1\r\n1 Me <me@h>\r\ngone\r\nfor good\r\n.\r\n", 78, "gone for good"),
        ("0/x%09%09+", "--2\r\n1 Me <me@h>\r\nevil \u{1b}[2J\r\n", 78, "evil \\x1B[2J"),
    ] {
        let target = Target::new(Before::Old).expect("a directory");
        let ran = get(&sending(sent), path, &format!("-o {}", target.path().display()));
        ran.exits(exit).says(words);
        assert!(
            target.is_untouched().expect("readable") && ran.stderr.lines().count() == 1,
            "{sent:?}: {ran:?}"
        );
        assert!(!ran.stderr.contains(['\u{1b}', '\u{9b}']), "{:?}", ran.stderr);
        let json = get(&sending(sent), path, "--format json");
        let value: serde_json::Value = serde_json::from_str(json.stderr.trim_end()).unwrap_or_default();
        assert_eq!(value["exit"], exit, "{json:?}");
        assert!(value["reply"].as_str().is_some_and(|reply| !reply.is_empty()), "{value}");
    }
    // A text that begins with a 3, and a menu that has an error below something, are what they are.
    for text in ["3 little pigs\r\n", "3\tcolumns\there\r\n", "3a\t\th\t1\r\nand more\r\n"] {
        gives(&sending(text), "0/x", "-s", text.as_bytes());
    }
    let text = get(&sending("0a\t/a\th\t70\r\n3oops\t\th\t1\r\n.\r\n"), "1/x", "").exits(0).text();
    assert!(text.contains("oops") && text.contains("gopher://h/0/a"), "{text}");
    // Nothing at all is no text.
    let ran = get(&sending(""), "0/x%09%09+", "");
    assert!([52, 8, 0].contains(&ran.exit) && ran.stdout.is_empty(), "{ran:?}");
}

/// Types 8, T and 2: what a person can do, and what a program can read.
#[test]
fn advice() {
    let server = sending("");
    let port = server.addr().port();
    for (path, words) in [
        ("8", format!("telnet 127.0.0.1 {port}\n")),
        ("8me", "Log in as: me\n".to_owned()),
        ("Tme", format!("tn3270 127.0.0.1 {port}\n")),
        ("2book", format!("127.0.0.1 -p {port}\n")),
        ("8a%1B%5B2J%3Btouch%20x", "a\\x1B[2J;touch x\n".to_owned()),
    ] {
        let ran = get(&server, path, "");
        assert!(ran.exits(0).text().contains(&words), "{path}: {}", ran.text());
        assert!(ran.text().lines().all(|line| line.len() <= 80) && ran.stderr.is_empty(), "{path}: {ran:?}");
        // CLI.md: `--format` is the shape of listings, menus and advice.
        let text = get(&server, path, "--format json").exits(0).text();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{path}: {text}");
    }
    assert_eq!(server.connections(), 0);
}

/// `h` items with `URL:` go through the gate of all redirects.
#[test]
fn links() {
    let page = support::mirror();
    let server = sending("never asked");
    let link = |target: &str| format!("hURL:{target}");
    let there = page.url("/there?x=1");
    gives(&server, &link(&there), "", b"/there?x=1");
    get(&server, &link(&there), "--max-redirs 0").exits(47);
    // A link is no object: who does not follow it is told where it leads.
    assert!(get(&server, &link(&there), "--no-location").exits(78).says(&there).stdout.is_empty());
    get(&server, &link("http://127.0.0.1:25/"), "").exits(90);
    get(&server, &link(&there), "--proto-redir =https").exits(90).says(&there);
    get(&server, &link("gopher://h.example/0/x"), "").exits(90).says("gopher://h.example/0/x");
    for target in ["file:///etc/passwd", "telnet://h/", "mailto:a@h.example", "ftp://127.0.0.1/x"] {
        get(&server, &link(target), "").exits(90);
        get(&server, &link(target), "--no-location").exits(78).says(target);
    }
    // To the same server there is no way around: what it could send it could send at once.
    gives(&server, &link(&server.url("9/x")), "", b"never asked");
    assert_eq!((server.dialogue(), page.requests().len()), (vec!["/x\r\n".to_owned()], 1));
    // An answer that is no link is a page, whatever is in it.
    gives(&sending("<a href=URL:x>"), "h/page.html", "", b"<a href=URL:x>");
}

/// The name of a file is the last part of the selector, made safe.
#[test]
fn names_of_files() {
    for (path, name) in [
        ("0/dir/a%20b.txt", Some("a b.txt")),
        ("9a.gif", Some("a.gif")),
        ("0/dir/a.txt%09%09+", Some("a.txt")),
        ("7/find%09words", Some("find")),
        ("0/..%2F..%2Fetc%2Fpasswd", Some("passwd")),
        ("0/x/..%5C..%5Cboot.ini", Some("boot.ini")),
        ("0/.bashrc", Some("_bashrc")),
        ("0/-rf", Some("_rf")),
        ("0/a%1B%5B2Jb", Some("a_[2Jb")),
        ("0/CON", Some("_CON")),
        ("0/a;type=i", Some("a;type=i")),
        ("", None),
        ("1/", None),
        ("0/..", None),
        ("0/dir/", None),
    ] {
        let here = tempfile::tempdir().expect("a directory");
        let server = sending("0a\t/a\th.example\t70\r\n.\r\n");
        let ran = fetch_in(here.path(), ["-O", &server.url(path)]);
        assert_eq!(ran.exit, if name.is_some() { 0 } else { 2 }, "{path}: {}", ran.stderr);
        assert_eq!(names(here.path()), name.into_iter().collect::<Vec<_>>(), "{path}");
    }
    let here = tempfile::tempdir().expect("a directory");
    let server =
        serve(GopherSite::new().item(GopherItem::text("/a", "a\r\n")).item(GopherItem::binary("/b", "b")));
    fetch_in(
        here.path(),
        ["--remote-name-all", "--output-dir", "new", "--create-dirs", &server.url("0/a"), &server.url("9/b")],
    )
    .exits(0);
    assert_eq!(
        (content_of(&here.path().join("new"), "a"), content_of(&here.path().join("new"), "b")),
        ("a\r\n".to_owned(), "b".to_owned())
    );
}

/// What fails leaves what was there, and nothing beside it.
#[test]
fn old_files_stay() {
    let cut =
        |kind: char| GopherItem::new(kind, "/x", "0a\t/a\th\t70\r\n".repeat(500)).length(GopherLength::Known);
    for (what, site, path, exit) in [
        ("nothing there", GopherSite::new(), "0/x", 78),
        ("reset", GopherSite::new().item(cut('9')).cut(3000, Ending::Reset), "9/x", 18),
        (
            "a short length",
            GopherSite::new().plus().item(cut('9')).cut(3000, Ending::Close),
            "9/x%09%09+",
            18,
        ),
        ("a menu that is reset", GopherSite::new().item(cut('1')).cut(3000, Ending::Reset), "1/x", 18),
        ("too large", GopherSite::new().item(cut('9')), "9/x --max-filesize 1000", 63),
        ("no proof", GopherSite::new().item(cut('9')), "9/x --require-complete", 18),
        (
            "a stall",
            GopherSite::new().item(cut('9')).cut(3000, Ending::Stall(std::time::Duration::from_secs(15))),
            "9/x --read-timeout 0.4",
            28,
        ),
        ("no form", GopherSite::new().plus().item(cut('0')), "0/x --form 1=x", 78),
    ] {
        let server = serve(site);
        for before in Before::ALL {
            let target = Target::new(before).expect("a directory");
            let (path, words) = path.split_once(' ').unwrap_or((path, ""));
            let ran = get(&server, path, &format!("{words} -o {}", target.path().display()));
            assert_eq!(ran.exit, exit, "{what}: {}", ran.stderr);
            assert!(target.is_untouched().expect("readable"), "{what} {before:?}");
            assert!(
                target.leftovers().expect("readable").is_empty(),
                "{what} {before:?}: nothing to go on with"
            );
        }
    }
}

/// Row 102: an end of TLS without a word is an end only where something else proves it, or by option.
#[test]
fn ends_of_tls() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let site = GopherSite::new()
        .plus()
        .item(GopherItem::text("/t", "text"))
        .item(GopherItem::binary("/b", "octets"));
    let site = site.item(GopherItem::menu("/m", &["/t"]));
    let ends = |ending| {
        let site = site.clone().on(GopherOn::Any, GopherAct::End(ending));
        GopherServer::start_tls(site, &cert).expect("a server")
    };
    let (open, closed) = (ends(Ending::Fin), ends(Ending::Close));
    for (path, exit, body) in [
        ("9/b", 18, "octets"),
        ("0/t", 0, "text\r\n"),
        ("1/m", 0, "text      t\n"),
        ("9/b%09%09+", 0, "octets"),
        ("0/t%09%09!", 0, "text/plain"),
    ] {
        let words = format!("-s --cacert {}", files.ca.display());
        get(&open, path, &words).exits(exit);
        for (server, more) in [(&open, " --allow-tls-truncation"), (&closed, "")] {
            let ran = get(server, path, &format!("{words}{more}"));
            assert!(ran.exits(0).text().contains(body), "{path}{more}: {}", ran.text());
        }
    }
    get(&open, "9/b", &format!("--cacert {} --allow-tls-truncation --require-complete", files.ca.display()))
        .exits(18);
}
