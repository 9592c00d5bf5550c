//! What a reviewer found in news and nntp, so that it does not come back.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fetch_url_tests::{HttpReply, HttpRequest, HttpServer, NntpArticle, NntpGroup, NntpServer, NntpSite};
use support::{Ran, command, names, ran};

/// The password of `me`.
const CANARY: &str = "KanarienVogel";

fn article(group: &str, number: u64) -> NntpArticle {
    NntpArticle::post(&format!("{number}@{group}"), "x", format!("{number} of {group}\r\n"))
}

fn text(group: &str, numbers: &[u64]) -> String {
    let one = |number: &u64| String::from_utf8(article(group, *number).octets()).expect("UTF-8");
    numbers.iter().map(one).collect()
}

/// Articles 1 to 9.
fn nine(group: &str) -> NntpGroup {
    (1..=9).fold(NntpGroup::new(group), |site, number| site.article(number, article(group, number)))
}

fn serve(site: NntpSite) -> NntpServer {
    NntpServer::start(site).expect("a server on loopback")
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// Runs in the directory, which is the home too.
fn run(directory: &Path, words: &str, urls: &[String]) -> Ran {
    let mut command = command();
    command.env("HOME", directory).current_dir(directory).args(["--retry", "0"]);
    command.args(words.split_whitespace()).args(urls);
    ran(command)
}

fn urls(server: &NntpServer, paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| server.url(path)).collect()
}

/// What was asked for ahead and not taken is part of nothing else.
#[test]
fn what_was_skipped_is_in_no_range() {
    let server = serve(NntpSite::new().group(nine("g")));
    let here = place();
    for name in ["b", "c"] {
        fs::write(here.path().join(name), "old").expect("a file");
    }
    let words = "--no-clobber -o a -o b -o c -o all";
    run(here.path(), words, &urls(&server, &["g/1", "g/2", "g/7", "g/2-5"]));
    let all = fs::read_to_string(here.path().join("all")).expect("a file");
    assert_eq!(all, text("g", &[2, 3, 4, 5]));
}

/// A range may begin with a gap, and the server may want a login only behind it.
#[test]
fn a_login_behind_a_gap() {
    let site = NntpSite::new().group(nine("g")).account("me", CANARY);
    let site = site.answer("ARTICLE 1", "423 None\r\n").answer("ARTICLE 2", "480 Who?\r\n");
    let server = serve(site);
    let here = place();
    let words = format!("--insecure-auth -u me:{CANARY}");
    let ran = run(here.path(), &words, &urls(&server, &["g/1-3"]));
    // The server never has enough: what counts is that it is asked as it should be.
    ran.exits(67).says("480");
    assert!(server.dialogue().iter().any(|line| line.starts_with("AUTHINFO PASS")));
}

/// Where a link leads, the options hold as well.
#[test]
fn options_hold_behind_a_hop() {
    let server = serve(NntpSite::new().group(nine("g")));
    let target = server.url("g/3");
    let http = HttpServer::start(move |_: &HttpRequest| HttpReply::new(302).header("Location", &target));
    let http = http.expect("a server on loopback");
    let here = place();
    let words = "--part body --proto-redir =http,nntp";
    let ran = run(here.path(), words, &[http.url("/x")]);
    assert_eq!(ran.exits(0).text(), "3 of g\r\n");
}

/// Who typed a password has logged in, and nobody else: not who comes by a stranger's redirect.
#[test]
fn a_session_is_its_owners() {
    let group = nine("g").private();
    let server = serve(NntpSite::new().group(group).account("me", CANARY));
    let target = server.url("g/3");
    let http = HttpServer::start(move |_: &HttpRequest| HttpReply::new(302).header("Location", &target));
    let http = http.expect("a server on loopback");
    let here = place();
    let script = here.path().join("ask");
    let answer = format!("#!/bin/sh\ncase \"$1\" in Password*) echo {CANARY};; *) echo me;; esac\n");
    fs::write(&script, answer).expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).expect("ours");
    let words = format!("--insecure-auth --askpass {} --proto-redir =http,nntp", script.display());
    let all = [urls(&server, &["g/1", "g/2"]), vec![http.url("/x")]].concat();
    let ran = run(here.path(), &words, &all);
    ran.exits(67);
    assert_eq!(ran.text(), text("g", &[1, 2]));
    // The owner's second article came over the session of the first.
    let logins = server.dialogue().iter().filter(|line| line.starts_with("AUTHINFO PASS")).count();
    assert_eq!(logins, 1);
}

/// A list shows what who asks may see: a login that may go out goes first.
#[test]
fn a_login_before_a_list() {
    let site = NntpSite::new().group(nine("g")).account("me", CANARY);
    let server = serve(site);
    let here = place();
    let words = format!("--insecure-auth -u me:{CANARY} --news-server {}", server.news_server());
    let ran = run(here.path(), &words, &["news:*".to_owned()]);
    assert_eq!(ran.exits(0).text(), "         9  posting     g\n");
    let dialogue = server.dialogue();
    let at = |words: &str| dialogue.iter().position(|line| line.starts_with(words));
    assert!(at("AUTHINFO PASS").is_some() && at("AUTHINFO PASS") < at("LIST"), "{dialogue:?}");
}

/// A group that has no articles may not be selected at all.
#[test]
fn a_range_of_an_empty_group() {
    let site = NntpSite::new().group(NntpGroup::new("g").said_to_be(0, 5, 4));
    let server = serve(site.answer("ARTICLE", "412 No group\r\n"));
    let here = place();
    run(here.path(), "-o all", &urls(&server, &["g/1-3"])).exits(78);
    assert!(names(here.path()).is_empty());
}

/// Two groups have the same numbers: the files of the one are not lost for those of the other.
#[test]
fn two_groups_in_one_directory() {
    let server = serve(NntpSite::new().group(nine("g")).group(nine("h")));
    let here = place();
    let ran = run(here.path(), "--output-dir .", &urls(&server, &["g/1-2", "h/2-3"]));
    ran.exits(2).says("directory");
    let read = |name: &str| fs::read_to_string(here.path().join(name)).expect("a file");
    assert_eq!((read("1"), read("2"), read("3")), (text("g", &[1]), text("g", &[2]), text("h", &[3])));
}

/// A message-id is no password, and a password is none of a message-id.
#[test]
fn what_is_shown_of_a_url() {
    let here = place();
    let server = serve(NntpSite::new().group(nine("g")));
    let words = format!("--news-server {}", server.news_server());
    run(here.path(), &words, &["news:no@where".to_owned()]).exits(78).says("no@where");
    let ran = run(here.path(), "--news-server u:canary@h", &["news:no@where".to_owned()]);
    ran.exits(2);
    assert!(!ran.stderr.contains("canary"), "{}", ran.stderr);
}
