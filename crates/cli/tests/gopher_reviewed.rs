//! What a review of the Gopher code found, so that it stays mended.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::{Duration, Instant};

use fetch_url_tests::{
    Ending, GopherAct, GopherAsk, GopherForm, GopherItem, GopherOn, GopherRule, GopherServer, GopherSite,
    HttpReply,
};
use support::{Ran, fetch, serving};

fn serve(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

fn run(words: &str, url: &str) -> Ran {
    let patience = ["--read-timeout", "1", "--retry-delay", "0.01"];
    fetch(patience.into_iter().chain(words.split_whitespace()).chain([url]))
}

/// A guest book: a form with a password.
fn guests() -> GopherSite {
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name?").ask(GopherAsk::AskP, "Secret?");
    GopherSite::new().plus().item(GopherItem::text("/guests", "").form(form))
}

fn filled(server: &GopherServer) -> usize {
    server.requests().iter().filter(|request| request.starts_with(b"/guests\t+\t1")).count()
}

/// The beginning of `.hidden` is no end, however the connection is lost behind it.
#[test]
fn a_dot_that_is_cut_is_no_mark() {
    for (answer, kind) in [("one\r\n.", '0'), ("one\r\n.\r", '0'), (".", '0'), ("0a\t/a\th\t70\r\n.", '1')] {
        for ending in [Ending::Reset, Ending::Close] {
            let site = GopherSite::new().answer(format!("{answer}hidden\r\n"));
            let server = serve(site.on(GopherOn::Any, GopherAct::Cut(answer.len() as u64, ending)));
            let ran = run("--retry 0 --require-complete --format raw", &server.url(&format!("{kind}/x")));
            assert_eq!(ran.exit, 18, "{answer:?} {ending:?}: {ran:?}");
        }
    }
}

/// The second answer is judged by its own end.
#[test]
fn a_body_that_begins_anew_has_an_end_of_its_own() {
    let first = GopherRule::on(GopherOn::Any, GopherAct::Cut(8, Ending::Reset)).nth(1);
    let second = GopherRule::on(GopherOn::Any, GopherAct::Cut(11, Ending::Close)).nth(2);
    let item = GopherItem::text("/t", "one\r\ntwo\r\nthree\r\n");
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("t");
    let words = format!("--retry 1 --retry-all-errors --require-complete -o {}", path.display());
    let ran = run(&words, &serve(GopherSite::new().item(item).rule(first).rule(second)).url("0/t"));
    ran.exits(18);
    assert!(!path.exists());
}

/// It may have done something, whatever became of the answer.
#[test]
fn a_filled_form_is_sent_once() {
    let words = "--retry 3 --form 1=me --form 2=pw";
    let is_filled = GopherOn::Which(|line| line.ends_with(b"\t1"));
    for act in [
        GopherAct::Cut(0, Ending::Stall(Duration::from_secs(2))),
        GopherAct::Cut(0, Ending::Reset),
        GopherAct::Answer(b"--1\r\n2 busy\r\n.\r\n".to_vec()),
    ] {
        let server = serve(guests().on(is_filled.clone(), act));
        assert_ne!(run(words, &server.url("0/guests%09%09?")).exit, 0);
        assert_eq!(filled(&server), 1, "{:?}", server.dialogue());
        let url = "0/guests%09%09+%091%0D%0A+-1%0D%0Ame%0D%0Apw%0D%0A.%0D%0A";
        assert_ne!(run("--retry 3", &server.url(url)).exit, 0);
        assert_eq!(filled(&server), 2, "{:?}", server.dialogue());
    }
}

/// Half a form is none.
#[test]
fn a_form_that_is_cut_is_not_filled() {
    for ending in [Ending::Reset, Ending::Close] {
        let site = guests().on(GopherOn::Which(|line| line.ends_with(b"\t!")), GopherAct::Cut(120, ending));
        let server = serve(site);
        run("--retry 0 --form 1=me", &server.url("0/guests%09%09?")).exits(18);
        run("--retry 0 -I", &server.url("0/guests")).exits(18);
        assert_eq!(filled(&server), 0);
    }
}

/// What was given for one server is not for another.
#[test]
fn answers_stay_at_home() {
    let there = serve(guests());
    let target = there.url("0/guests%09%09?");
    let here = serving(move |_| HttpReply::new(302).header("Location", &target));
    let ran = run("--proto-redir +gopher --form 1=me --form 2=pw", &here.url("/"));
    ran.exits(2);
    let moved = format!("--1\r\n3 x\r\n0g\t/guests\t127.0.0.1\t{}\t?\r\n.\r\n", there.addr().port());
    let here =
        serve(guests().on(GopherOn::Which(|line| line.ends_with(b"\t!")), GopherAct::Answer(moved.into())));
    let ran = run("--proto-redir +gopher --form 1=me --form 2=pw", &here.url("0/guests%09%09?"));
    assert_eq!(filled(&there), 0, "{ran:?}");
    assert!(there.requests().iter().all(|request| !request.windows(2).any(|pair| pair == b"pw")));
}

/// Lines that come to nothing are counted, and a clock runs all the same.
#[test]
fn nothing_without_end() {
    let empty = |times| {
        serve(
            GopherSite::new()
                .answer("+-1\r\n")
                .on(GopherOn::Any, GopherAct::Flood(b"\r\n".repeat(4096), times)),
        )
    };
    run("--retry 0", &empty(10_000).url("1/a%09%09$")).exits(63);
    let octets = |times| {
        serve(
            GopherSite::new()
                .answer("one\r\n.\r\n")
                .on(GopherOn::Any, GopherAct::Flood(vec![b'x'; 4096], times)),
        )
    };
    let begun = Instant::now();
    assert_eq!(run("--gopher-dots rfc1436", &octets(1_000_000).url("0/a")).exits(0).text(), "one\r\n");
    run("-m 1 --retry 0 -o /dev/null", &octets(u64::MAX).url("9/a")).exits(28);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

/// --proto-redir says where hops may lead: for HTTP to the same server, too.
#[test]
fn proto_redir_holds_on_one_server() {
    let server = serving(|request| match request.path().as_str() {
        "/" => HttpReply::new(302).header("Location", "/there"),
        _ => HttpReply::new(200).body("there"),
    });
    run("--proto-redir =https", &server.url("/")).exits(90);
    assert_eq!(run("", &server.url("/")).exits(0).text(), "there");
}

/// A server that knows no attributes has files all the same.
#[test]
fn segments_ask_nothing_of_gopher() {
    let site = GopherSite::new().item(GopherItem::binary("/f", "octets"));
    let no = GopherAct::Answer(b"3no\t\terror.host\t1\r\n".to_vec());
    let server = serve(site.on(GopherOn::Which(|line| line.contains(&b'\t')), no));
    assert_eq!(run("--segments 4", &server.url("9/f")).exits(0).text(), "octets");
    assert_eq!(server.requests().len(), 1);
}
