//! A password never appears: not in messages, not in the dialogue, not in JSON, not in an explanation and
//! not on the disk. It goes to the origin it was given for, and to nobody else (SECURITY.md, rows 29, 34 to
//! 37).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::time::Duration;

use fetch_url_tests::{Before, HttpReply, HttpRequest, HttpServer, Target, file_handler, pattern_vec};
use support::{Ran, fetch, in_parallel, journal_of, names, serving, tagged};

/// Letters only, so that no encoding changes it.
const CANARY: &str = "KanarienVogel";
/// Of user `u` with the canary, and of user `u:CANARY` in other spellings.
const CANARY_IN_BASE64: &str = "dTpLYW5hcmllblZvZ2Vs";

/// How much is said.
const LOUDNESS: [&[&str]; 7] =
    [&[], &["-v"], &["-vv"], &["-vvv"], &["--format", "json"], &["-vvv", "--format", "json"], &["-s", "-S"]];

fn secret_in(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains(&CANARY.to_ascii_lowercase()) || text.contains(CANARY_IN_BASE64) || lower.contains("kanar")
}

/// `Err` when the run or the directory gives the secret away.
fn is_kept(ran: &Ran, what: &str) -> Result<(), String> {
    let said = format!("{}\n{}", ran.stderr, ran.text());
    match said.lines().find(|line| secret_in(line)) {
        Some(line) => Err(format!("{what} (exit {}): {line}", ran.exit)),
        None => Ok(()),
    }
}

fn with_login(url: &str) -> String {
    url.replacen("://", &format!("://u:{CANARY}@"), 1)
}

fn expect_kept(results: impl IntoIterator<Item = Result<(), String>>) {
    let told: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    assert!(told.is_empty(), "{} leaks:\n{}", told.len(), told.join("\n"));
}

/// Good URLs, some of which are refused.
const WELL_FORMED: [&str; 22] = [
    "ftp://u:CANARY@127.0.0.1:1/a",
    "ftp://u:CANARY@127.0.0.1:1/a%0d%0aDELE%20x",
    "ftps://u:CANARY@127.0.0.1:1/",
    "http://u:CANARY@127.0.0.1:1/",
    "https://u:CANARY@127.0.0.1:1/",
    "http://u:CANARY@no-such-host.invalid/",
    "http://:CANARY@127.0.0.1:1/",
    "http://u%3A:CANARY@127.0.0.1:1/",
    "http://u:CANARY@127.0.0.1:25/",
    "telnet://u:CANARY@127.0.0.1:1/",
    "x-foo://u:CANARY@127.0.0.1:1/",
    "foo://u:CANARY@127.0.0.1/",
    "nfs://u:CANARY@127.0.0.1/",
    "tn3270://u:CANARY@127.0.0.1/",
    "FTP://u:CANARY@127.0.0.1:1/",
    "<URL:ftp://u:CANARY@127.0.0.1:1/>",
    "URL:ftp://u:CANARY@127.0.0.1:1/",
    "ftp://u:CANARY@127.0.0.1:1/a;type=z",
    "ftp://u:CANARY;x@127.0.0.1:1/",
    "ftp://u:CANARY%40x@127.0.0.1:1/",
    "ftp://u:x%40CANARY@127.0.0.1:1/",
    "http://u:CANARY@127.0.0.1:1/#f",
];

/// Texts that are no URL, but hold what is plainly a password.
const BROKEN: [&str; 46] = [
    "http://u:CANARY@127.0.0.1:99999/",
    "http://u:CANARY@h:x/",
    "http://u:CANARY@[::1/",
    "http://u:CANARY@/",
    "http://u:CANARY@h /",
    "http://u:CANARY@h/a b",
    "http://u:CANARY@0x7f.1/",
    "http://u:CANARY@h\\x/",
    "ftp://u:CANARY@@h/",
    "ftp://u:CANARY@b@h/",
    "ftp://u@b:CANARY@h/",
    "ftp://u:x@CANARY@h/",
    "ftp://u:CANARY/x@h/",
    "ftp://u:CANARY%@h/",
    "ftp://u:CANARY%zz@h/",
    "ftp://u:%zzCANARY@h/",
    "ftp://u:x:CANARY@h/",
    "ftp://u:CANARY\u{e9}@h/",
    "ftp://u:\u{e9}CANARY@h/",
    "ftp://u: CANARY@h/",
    "ftp://u:CANARY #@h/",
    "ftp://u:a#CANARY@h/",
    "ftp://u:a?CANARY@h/",
    "http:/u:CANARY@h/",
    "http:u:CANARY@h/",
    "//u:CANARY@h/",
    "u:CANARY@h/",
    "gopher://u:CANARY@h/",
    "wais://u:CANARY@h/db",
    "news://u:CANARY@h/g",
    "nntp://u:CANARY@h/g/1",
    "prospero://u:CANARY@h/x",
    "file://u:CANARY@h/x",
    "ht tp://u:CANARY@h/",
    "ftp://u:CANARY@h/\n",
    "ftp://u:CANARY@h/\u{1}",
    "\u{e9}://u:CANARY@h/",
    "ftp:://u:CANARY@h/",
    "ftp:///u:CANARY@h/",
    "<URL:ftp://u:CANARY@h /",
    "ftp://u:CANARY@-h/",
    "ftp://u:CANARY@h..i/",
    "ftp://u:CANARY@h:0/",
    "ftp://u:CANARY@\u{2460}/",
    "  ftp://u:CANARY@h/x",
    "ftp://u:CANARY@xn--a/",
];

fn urls() -> Vec<String> {
    WELL_FORMED.iter().chain(&BROKEN).map(|text| text.replace("CANARY", CANARY)).collect()
}

#[test]
fn whatever_is_wrong_with_the_url() {
    let urls = urls();
    in_parallel(&urls, 8, |url| {
        let directory = tempfile::tempdir().expect("a directory");
        for loudness in [&[][..], &["-vvv"], &["--format", "json"]] {
            let ran = fetch(loudness.iter().chain(&["--connect-timeout", "2", url.as_str()]));
            is_kept(&ran, url)?;
            assert_ne!(ran.exit, 0, "{url}");
        }
        for verb in [
            &["explain"][..],
            &["explain", "--json"],
            &["explain", "--dialect", "rfc1738"],
            &["explain", "--dialect", "cern1993"],
        ] {
            is_kept(&fetch(verb.iter().chain(&[url.as_str()])), &format!("{verb:?} {url}"))?;
        }
        let output = directory.path().to_str().expect("UTF-8");
        is_kept(&fetch(["-O", "--output-dir", output, url]), &format!("-O {url}"))?;
        match names(directory.path()).into_iter().find(|name| secret_in(name)) {
            Some(name) => Err(format!("{url}: a file {name}")),
            None => Ok(()),
        }
    });
}

/// What an honest and what a nasty server makes the client say.
#[test]
fn whatever_the_server_answers() {
    let echo = |request: &HttpRequest| HttpReply::new(404).header("X-Seen", request.target.as_slice());
    let replies: [(&str, HttpServer); 8] = [
        (
            "200",
            serving(file_handler(
                pattern_vec(0, 100).iter().map(|octet| octet % 26 + 97).collect(),
                tagged(),
            )),
        ),
        ("401", serving(|_| HttpReply::new(401).header("WWW-Authenticate", "Basic realm=\"x\""))),
        ("403", serving(|_| HttpReply::new(403))),
        ("404", serving(echo)),
        ("503", serving(|_| HttpReply::new(503))),
        ("garbage", serving(|_| HttpReply::raw("SSH-2.0-x\r\n"))),
        ("cut", serving(|_| HttpReply::new(200).header("ETag", "\"v\"").body("abcdef").cut_body_at(3))),
        ("stall", serving(|_| HttpReply::raw("").then_stall(Duration::from_secs(5)))),
    ];
    let mut told = Vec::new();
    for (name, server) in &replies {
        for loudness in LOUDNESS {
            for shape in [&[][..], &["-i"], &["-I"], &["--no-fail"]] {
                let url = with_login(&server.url("/x"));
                let ran = fetch([loudness, shape, &["--read-timeout", "0.2", &url]].concat());
                told.push(is_kept(&ran, &format!("{name} {loudness:?} {shape:?}")));
            }
        }
        let requests = server.requests();
        let login = format!("Basic {CANARY_IN_BASE64}");
        let got_it = requests.iter().all(|request| request.header_text("authorization") == Some(&login));
        assert!(got_it && !requests.is_empty(), "{name}: the origin did not get the login");
        assert!(requests.iter().all(|request| !secret_in(&request.path())), "{name}: in the request line");
        let hosts =
            requests.iter().all(|request| request.header_text("host") == Some(&server.addr().to_string()));
        assert!(hosts, "{name}: the login in Host");
    }
    expect_kept(told);
}

#[test]
fn the_journal_and_the_names_on_the_disk() {
    let server = serving(|_| {
        let reply = HttpReply::new(200).header("ETag", "\"v\"").header("Accept-Ranges", "bytes");
        reply.body(vec![b'x'; 5000]).cut_body_at(3000)
    });
    let target = Target::new(Before::Absent).expect("a directory");
    let url = with_login(&server.url("/x"));
    fetch(["-vvv", "-o", target.path().to_str().expect("UTF-8"), &url]).exits(18);
    let journal = fs::read_to_string(journal_of(&target.path())).expect("a journal");
    assert!(journal.contains("\"url\"") && !secret_in(&journal), "{journal}");
    assert_eq!(names(target.dir()), ["target.bin.part", "target.bin.part.json"]);
}

/// Two logins at one place are two objects: what came for one is not continued for the other's password,
/// but the same login goes on.
#[test]
fn the_same_login_goes_on() {
    let honest = file_handler(vec![b'x'; 5000], tagged());
    let server = serving(move |request| honest(request).cut_body_at(3000));
    let target = Target::new(Before::Absent).expect("a directory");
    let url = with_login(&server.url("/x"));
    let path = target.path();
    let arguments = ["-C", "-", "-o", path.to_str().expect("UTF-8"), url.as_str()];
    fetch(arguments).exits(18);
    fetch(arguments).exits(0);
    assert_eq!(server.requests()[1].header_text("range"), Some("bytes=3000-"));
    assert!(server.requests()[1].header("authorization").is_some());
}

fn authorized(server: &HttpServer) -> Vec<bool> {
    server.requests().iter().map(|request| request.header("authorization").is_some()).collect()
}

#[test]
fn the_login_stays_with_its_origin() {
    let other = serving(|_| HttpReply::new(200).body("other"));
    let there = other.url("/x");
    let server = serving(move |request| match request.path().as_str() {
        "/away" => HttpReply::new(302).header("Location", &there),
        "/near" => HttpReply::new(302).header("Location", "/here"),
        _ => HttpReply::new(200).body("here"),
    });
    for loudness in LOUDNESS {
        let ran = fetch([loudness, &[&with_login(&server.url("/near"))]].concat());
        expect_kept([is_kept(ran.exits(0), "near")]);
        let ran = fetch([loudness, &[&with_login(&server.url("/away"))]].concat());
        expect_kept([is_kept(ran.exits(0), "away")]);
    }
    assert!(authorized(&server).iter().all(|sent| *sent));
    assert_eq!(authorized(&other), vec![false; LOUDNESS.len()], "the login went to another port");
    let all = [server.requests(), other.requests()].concat();
    assert!(all.iter().all(|request| request.header("referer").is_none()), "Referer was not asked for");
}

/// A → B → A: dropped for good (SECURITY.md, row 29).
#[test]
fn the_login_does_not_come_back() {
    let home = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let back = std::sync::Arc::clone(&home);
    let other = serving(move |_| HttpReply::new(302).header("Location", back.get().expect("an address")));
    let there = other.url("/x");
    let server = serving(move |request| match request.path().as_str() {
        "/away" => HttpReply::new(302).header("Location", &there),
        _ => HttpReply::new(200).body("home"),
    });
    home.set(server.url("/home")).expect("set once");
    fetch([with_login(&server.url("/away"))]).exits(0);
    assert_eq!(authorized(&server), [true, false]);
    assert_eq!(authorized(&other), [false]);
}

/// A redirect can name a login of its own: it is not repeated either.
#[test]
fn a_login_in_a_redirect() {
    let other = serving(|_| HttpReply::new(404));
    let there = with_login(&other.url("/x"));
    let bad = [
        there,
        format!("http://u:{CANARY}@h:99999/"),
        format!("ftp://u:{CANARY}@127.0.0.1:1/"),
        format!("http://u:{CANARY}@[::1/"),
    ];
    for location in bad {
        let shown = location.clone();
        let server = serving(move |_| HttpReply::new(302).header("Location", &location));
        let told = LOUDNESS.map(|loudness| {
            let ran = fetch([loudness, &[&server.url("/a")]].concat());
            assert_ne!(ran.exit, 0);
            is_kept(&ran, &format!("{loudness:?} to {shown}"))
        });
        expect_kept(told);
    }
}

#[test]
fn several_urls_do_not_share_a_login() {
    let server = serving(|_| HttpReply::new(200).body("x"));
    fetch([with_login(&server.url("/a")), server.url("/b")]).exits(0);
    assert_eq!(authorized(&server), [true, false]);
}
