//! A redirect to an FTP server (SECURITY.md, rows 26, 29 and 46): only with leave, without the caller's login, and
//! with every rule of a URL that was typed.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use fetch_url_tests::{FtpServer, FtpSite, HttpReply, HttpServer};
use support::{Ran, fetch, serving};

const LEAVE: &str = "--proto-redir =http,https,ftp";

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

fn to(url: String) -> HttpServer {
    serving(move |_| HttpReply::new(302).header("Location", &url))
}

fn run(server: &HttpServer, words: &str) -> Ran {
    fetch(words.split_whitespace().chain([server.url("/away").as_str()]))
}

#[test]
fn only_with_leave() {
    let there = serve(FtpSite::new().file("/a/x", "object"));
    let here = to(there.url("/a/x"));
    for words in ["", "-L", "--proto-redir =http,https"] {
        let ran = run(&here, words);
        assert_eq!((ran.exit, ran.stdout.len()), (90, 0), "{words}: {}", ran.stderr);
    }
    assert_eq!(there.connections(), 0);
    assert_eq!(run(&here, LEAVE).exits(0).text(), "object");
    assert_eq!(there.dialogue()[..2], ["USER anonymous", "PASS anonymous@"]);
}

/// Row 29: what was given for the one server is not for the other.
#[test]
fn the_login_stays_at_home() {
    let there = serve(FtpSite::new().file("/x", "object"));
    let here = to(there.url("/x"));
    let words =
        format!("{LEAVE} -u u:KanarienVogel --ftp-account KanarienVogel --oauth2-bearer KanarienVogel");
    let ran = run(&here, &words);
    assert!(
        !there.dialogue().iter().any(|line| line.contains("KanarienVogel") || line == "USER u"),
        "{ran:?}"
    );
    // Nor the account, to a server that wants one.
    let there = serve(FtpSite::new().file("/x", "object").user("anonymous", "").account("KanarienVogel"));
    let here = to(there.url("/x"));
    run(&here, &format!("{LEAVE} --ftp-account KanarienVogel"));
    assert!(!there.dialogue().iter().any(|line| line.contains("KanarienVogel")), "{:?}", there.dialogue());
}

/// Rows 1 and 19: a hop is no way around the rules.
#[test]
fn a_hop_is_judged_like_a_url() {
    let there = serve(FtpSite::new().file("/x", "object"));
    let addr = there.addr();
    for (location, exits) in [
        (format!("ftp://{addr}/x%0D%0ADELE%20x"), 93),
        (format!("ftp://u%0a:p@{addr}/x"), 93),
        (format!("ftp://{addr}/missing"), 78),
        ("ftp://127.0.0.1:25/x".to_owned(), 90),
    ] {
        let ran = run(&to(location.clone()), LEAVE);
        assert_eq!((ran.exit, ran.stdout.len()), (exits, 0), "{location}: {}", ran.stderr);
    }
    assert!(!there.dialogue().iter().any(|line| line.contains("DELE")));
}
