//! FTP transfers that do not go through at once: going on where an earlier run ended, mending within a run,
//! parts, conditions, limits and signals (SEMANTICS.md §2, "Resume", and §12; SECURITY.md, rows 95 to 97, 103 to
//! 110, and 3.1).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant, UNIX_EPOCH};

use fetch_url_tests::{Act, Before, Ending, FtpServer, FtpSite, Rule, Target, pattern_vec};
use support::{Ran, ended, fetch, in_parallel, journal_of, part_of, send_signal, shell, started, until};

const SIZE: usize = 300_000;
const CUT: u64 = 200_000;
/// So much of what is there already may be asked for again.
const OVERLAP: u64 = 1024;
const TIME: &str = "19941201123456";
const SECONDS: u64 = 786_285_296;

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// Of the same size, and no octet is the same.
fn other() -> Vec<u8> {
    content().iter().map(|octet| !octet).collect()
}

fn site() -> FtpSite {
    FtpSite::new().file("/d/o", content()).modified("/d/o", TIME)
}

fn new_target() -> Target {
    Target::new(Before::Old).expect("a directory")
}

fn filed(target: &Target, server: &FtpServer, words: &str) -> Ran {
    let path = target.path();
    let output = ["--read-timeout", "1.5", "-o", path.to_str().expect("UTF-8")];
    fetch(output.into_iter().chain(words.split_whitespace()).chain([server.url("/d/o").as_str()]))
}

#[track_caller]
fn holds(target: &Target, content: &[u8], what: &str) {
    let now = target.content().expect("readable").unwrap_or_default();
    let same = now.iter().zip(content).take_while(|(left, right)| left == right).count();
    assert!(now == content, "{what}: {} octets for {}, the same up to {same}", now.len(), content.len());
    assert!(target.leftovers().expect("a directory").is_empty(), "{what}: {:?}", target.leftovers());
}

fn kept(target: &Target) -> u64 {
    fs::metadata(part_of(&target.path())).map_or(0, |facts| facts.len())
}

/// A first run that is cut and a second one against the mended server, which must end with `expected`: how many
/// octets were there before the second, how many it was sent, and what it said.
#[track_caller]
fn two_runs(site: FtpSite, expected: &[u8], what: &str) -> (u64, u64, Ran) {
    let (server, target) = (serve(site), new_target());
    filed(&target, &server, "-C -").exits(18);
    assert!(target.is_untouched().expect("a file"), "{what}");
    let (before, sent) = (kept(&target), server.octets_sent());
    server.mend();
    let ran = filed(&target, &server, "-v -C -");
    assert_eq!(ran.exit, 0, "{what}: {}", ran.stderr);
    holds(&target, expected, what);
    (before, server.octets_sent() - sent, ran)
}

/// What is missing, and at most a little before it, to see that it is the same.
fn is_the_rest(kept: u64, sent: u64) -> bool {
    let missing = SIZE as u64 - kept;
    (missing..=missing + OVERLAP).contains(&sent)
}

#[test]
fn only_the_rest_is_sent() {
    for ending in [Ending::Close, Ending::Reset] {
        let (kept, sent, ran) =
            two_runs(site().on("RETR", Act::CutData(CUT, ending)), &content(), "the same");
        assert!(kept > 0 && is_the_rest(kept, sent), "{ending:?}: {kept} kept, {sent} sent");
        assert!(ran.stderr.contains("> REST "), "{}", ran.stderr);
    }
    // All of it came but the last word (row 95): nothing is sent again, and the server says so.
    for act in [Act::Reword(b"426 Failed.\r\n".to_vec()), Act::Reword(b"451 Failed.\r\n".to_vec())] {
        let (kept, sent, _) = two_runs(site().on("RETR", act), &content(), "no last word");
        assert!(kept == SIZE as u64 && is_the_rest(kept, sent), "{kept} kept, {sent} sent");
    }
}

/// The first run met this object, the second one meets [`content`] of [`TIME`].
fn earlier(octets: Vec<u8>, time: &str) -> FtpSite {
    site()
        .reword("SIZE", format!("213 {}\r\n", octets.len()))
        .reword("MDTM", format!("213 {time}\r\n"))
        .on("RETR", Act::Data(octets))
        .on("RETR", Act::CutData(CUT, Ending::Close))
}

#[test]
fn another_object_is_begun_anew() {
    let longer = [other(), other()].concat();
    for (what, site) in [
        ("another size", earlier(longer, TIME)),
        ("another time", earlier(other(), "19941201123455")),
        ("both", earlier(other()[..250_000].to_vec(), "20240102030405")),
        ("a time with a fraction", earlier(other(), &format!("{TIME}.500"))),
    ] {
        let (_, sent, _) = two_runs(site, &content(), what);
        assert_eq!(sent, SIZE as u64, "{what}");
    }
}

/// Without SIZE and MDTM nobody knows whether it is the same.
#[test]
fn an_object_without_a_proof_is_begun_anew() {
    let cut = || site().on("RETR", Act::CutData(CUT, Ending::Close));
    for (what, site) in [
        ("no MDTM", cut().no("MDTM")),
        ("no SIZE", cut().no("SIZE")),
        ("neither", cut().no("SIZE").no("MDTM")),
        ("no sense", cut().reword("MDTM", "213 yesterday\r\n")),
        ("550 to SIZE, row 97", cut().answer("SIZE", "550 Not a plain file.\r\n")),
    ] {
        let (_, sent, _) = two_runs(site, &content(), what);
        assert_eq!(sent, SIZE as u64, "{what}");
    }
}

#[test]
fn a_position_that_is_refused() {
    let cut = || site().rule(Rule::on("RETR", Act::CutData(CUT, Ending::Close)).nth(1));
    for (what, site) in [
        ("500", cut().no("REST")),
        ("502", cut().answer("REST", "502 No.\r\n")),
        // Its position is forgotten with the command that was for it.
        (
            "554 at RETR",
            cut()
                .rule(Rule::on("REST", Act::Answer(b"350 Sure.\r\n".to_vec())).nth(1))
                .rule(Rule::on("RETR", Act::Answer(b"554 No.\r\n".to_vec())).nth(2)),
        ),
    ] {
        let (server, target) = (serve(site), new_target());
        filed(&target, &server, "-C -").exits(18);
        let ran = filed(&target, &server, "-v -C -");
        assert_eq!(ran.exit, 0, "{what}: {}", ran.stderr);
        holds(&target, &content(), what);
        let talk = ran.stderr.lines().any(|line| line.starts_with("* ") && line.contains("refused"));
        assert!(talk, "{what}: it does not say so: {}", ran.stderr);
    }
}

/// 350, and then the whole all the same: no splice, and after at most one more run it is right (N5).
#[test]
fn a_position_that_is_ignored() {
    let cut = || site().rule(Rule::on("RETR", Act::CutData(CUT, Ending::Close)).nth(1));
    for reply in ["350 Sure.\r\n", "350-Sure\r\n350 Why not.\r\n"] {
        let (server, target) = (serve(cut().answer("REST", reply)), new_target());
        filed(&target, &server, "-C -").exits(18);
        let mut said = String::new();
        for _ in 0..3 {
            let ran = filed(&target, &server, "-v -C -");
            if ran.exit == 0 {
                break;
            }
            assert!(target.is_untouched().expect("a file"), "{ran:?}");
            said = ran.stderr;
        }
        holds(&target, &content(), &format!("{reply:?} {said}"));
        // Of a part that was asked for, to a pipe: the part or nothing.
        let ran = fetch(["-r", "1000-", &server.url("/d/o")]);
        assert!(ran.exit != 0 || ran.stdout == content()[1000..], "a splice: {}", ran.stdout.len());
    }
}

/// The same only once, slowly enough that all of the wrong octets are written: what is kept is a prefix (N4), and
/// what ends well is right (N3).
#[test]
fn a_position_that_is_ignored_once() {
    let site = || {
        site()
            .rule(Rule::on("RETR", Act::CutData(CUT, Ending::Close)).nth(1))
            .rule(Rule::on("REST", Act::Answer(b"350 Sure.\r\n".to_vec())).nth(1))
            .rule(Rule::on("RETR", Act::Drip(20_000, Duration::from_millis(5))).nth(2))
    };
    let (server, target) = (serve(site()), new_target());
    filed(&target, &server, "-C -").exits(18);
    for _ in 0..3 {
        let ran = filed(&target, &server, "-C -");
        let part = fs::read(part_of(&target.path())).unwrap_or_default();
        assert!(content().starts_with(&part), "the .part is a splice: {} octets", part.len());
        if ran.exit == 0 {
            break;
        }
    }
    holds(&target, &content(), "in several runs");
    for words in ["--retry 3 --retry-delay 0.02", "--retry 3 --retry-delay 0.02 -C -"] {
        let (server, target) = (serve(site()), new_target());
        let ran = filed(&target, &server, words);
        let now = target.content().expect("readable").unwrap_or_default();
        assert!(
            if ran.exit == 0 { now == content() } else { now == Before::OLD_CONTENT },
            "{words}: {}",
            ran.exit
        );
        let part = fs::read(part_of(&target.path())).unwrap_or_default();
        assert!(content().starts_with(&part), "{words}: the .part is a splice: {} octets", part.len());
        // To a pipe: a prefix and a word about it, or all of it.
        let server = serve(site());
        let ran = fetch(words.split(' ').take(4).chain([server.url("/d/o").as_str()]));
        let is_prefix = content().starts_with(&ran.stdout) && (ran.exit != 0 || ran.stdout.len() == SIZE);
        assert!(is_prefix, "a splice in a pipe: exit {}, {} octets", ran.exit, ran.stdout.len());
    }
}

/// Row 108: what came is not thrown away.
#[test]
fn mending_in_one_run() {
    let cuts = |ending| {
        let rule = |nth| Rule::on("RETR", Act::CutData(60_000, ending)).nth(nth);
        (1..=3).fold(site(), |site, nth| site.rule(rule(nth)))
    };
    for ending in [Ending::Reset, Ending::Close, Ending::Fin] {
        let (server, target) = (serve(cuts(ending)), new_target());
        filed(&target, &server, "--retry 3 --retry-delay 0.02").exits(0);
        holds(&target, &content(), "mended");
        let sent = server.octets_sent();
        assert!(sent <= SIZE as u64 * 11 / 10, "{ending:?}: {sent} octets for {SIZE}");
        // Row 107: to a pipe the same, with the same octets once.
        let server = serve(cuts(ending));
        let ran = fetch(["--retry", "3", "--retry-delay", "0.02", &server.url("/d/o")]);
        assert!(ran.exits(0).stdout == content(), "{ending:?}: {} octets", ran.stdout.len());
    }
    // It changed on the way: a file begins anew, a pipe gets no splice.
    let changed = || {
        site()
            .rule(Rule::on("SIZE", Act::Reword(b"213 250000\r\n".to_vec())).nth(1))
            .rule(Rule::on("RETR", Act::Data(other()[..250_000].to_vec())).nth(1))
            .rule(Rule::on("RETR", Act::CutData(CUT, Ending::Reset)).nth(1))
    };
    let (server, target) = (serve(changed()), new_target());
    filed(&target, &server, "--retry 3 --retry-delay 0.02").exits(0);
    holds(&target, &content(), "another one");
    let ran = fetch(["--retry", "3", "--retry-delay", "0.02", &serve(changed()).url("/d/o")]);
    assert!(ran.exit != 0 && other().starts_with(&ran.stdout), "{} {} octets", ran.exit, ran.stdout.len());
}

#[test]
fn parts() {
    let server = serve(site());
    let all = content();
    for (range, part) in [
        ("0-9", &all[..10]),
        ("10-19", &all[10..20]),
        ("0-0", &all[..1]),
        ("299990-", &all[299_990..]),
        ("-10", &all[299_990..]),
        ("299999-400000", &all[299_999..]),
        ("0-", &all[..]),
        ("-400000", &all[..]),
    ] {
        let before = server.octets_sent();
        let ran = fetch(["-r", range, &server.url("/d/o")]);
        assert!(ran.exits(0).stdout == part, "{range}: {} octets", ran.stdout.len());
        assert!(range != "-10" || server.octets_sent() == before + 10, "{range}");
    }
    for range in ["300000-", "300000-300001", "400000-400001"] {
        assert!(fetch(["-r", range, &server.url("/d/o")]).exits(33).stdout.is_empty(), "{range}");
    }
    // Row 110: a text has no positions; without SIZE nobody knows the last ten.
    for words in ["-r 0-9", "-r 10-", "-r -10", "-C 10"] {
        let url = format!("{};type=a", server.url("/d/o"));
        let ran = fetch(words.split(' ').chain([url.as_str()]));
        assert!(ran.exits(33).stdout.is_empty(), "{words}");
    }
    for site in [site().no("SIZE"), site().no("REST"), site().answer("REST", "350 Ignored.\r\n").no("SIZE")] {
        let server = serve(site);
        for range in ["-10", "10-19"] {
            let ran = fetch(["-r", range, &server.url("/d/o")]);
            let part = if range == "-10" { &all[SIZE - 10..] } else { &all[10..20] };
            let is_ignored = server.dialogue().iter().any(|line| line.starts_with("REST")) && ran.exit == 0;
            assert!(
                [0, 33].contains(&ran.exit) && (ran.exit != 0 || ran.stdout == part || is_ignored),
                "{ran:?}"
            );
        }
    }
}

#[test]
fn continue_at_an_offset() {
    let server = serve(site());
    assert!(fetch(["-C", "299000", &server.url("/d/o")]).exits(0).stdout == content()[299_000..]);
    let target = new_target();
    fs::write(target.path(), &content()[..1000]).expect("a file");
    filed(&target, &server, "-C 1000").exits(0);
    holds(&target, &content(), "-C 1000");
    assert!(fetch(["-C", "400000", &server.url("/d/o")]).exits(33).stdout.is_empty());
    let target = new_target();
    let ran = filed(&target, &server, "-C 5000");
    assert!([2, 23, 33].contains(&ran.exit) && target.is_untouched().expect("a file"), "{ran:?}");
}

#[test]
fn only_what_changed() {
    for (condition, comes) in [
        ("1994-12-01", true),
        ("1994-12-02", false),
        ("1994-12-01 12:34:56", false),
        ("1994-12-01 12:34:55", true),
        ("-1994-12-01", false),
        ("-1994-12-02", true),
    ] {
        let server = serve(site());
        let ran = fetch(["-z", condition, &server.url("/d/o")]);
        assert_eq!(
            (ran.exit, ran.stdout.len()),
            (0, if comes { SIZE } else { 0 }),
            "{condition}: {}",
            ran.stderr
        );
        let is_asked = server.dialogue().iter().any(|line| line.starts_with("RETR"));
        assert_eq!(
            (is_asked, server.octets_sent() > 0),
            (comes, comes),
            "{condition}: {:?}",
            server.dialogue()
        );
    }
    // Nobody knows when: it comes.
    let server = serve(site().no("MDTM"));
    assert_eq!(fetch(["-z", "1994-12-02", &server.url("/d/o")]).exits(0).stdout.len(), SIZE);
}

#[test]
fn the_time_of_the_object() {
    let (server, target) = (serve(site()), new_target());
    filed(&target, &server, "-R").exits(0);
    let time = fs::metadata(target.path()).and_then(|facts| facts.modified()).expect("a time");
    assert_eq!(time.duration_since(UNIX_EPOCH).expect("after 1970").as_secs(), SECONDS);
    for reply in
        ["213 19941301123456\r\n", "213 19941201\r\n", "213 \r\n", "213 99999999999999\r\n", "550 No.\r\n"]
    {
        let (server, target) = (serve(site().reword("MDTM", reply)), new_target());
        filed(&target, &server, "-R").exits(0);
        holds(&target, &content(), reply);
    }
}

#[test]
fn limits() {
    let server = serve(site());
    let target = new_target();
    filed(&target, &server, "--max-filesize 299999").exits(63);
    assert!(target.is_untouched().expect("a file"));
    filed(&target, &server, "--max-filesize 300000").exits(0);
    let target = new_target();
    filed(&target, &serve(site().no("SIZE")), "--max-filesize 299999").exits(63);
    assert!(target.is_untouched().expect("a file"));
    let slow = serve(site().on("RETR", Act::Drip(1000, Duration::from_millis(20))));
    let begun = Instant::now();
    filed(&new_target(), &slow, "--max-time 0.7").exits(28);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

fn slowly() -> FtpServer {
    serve(site().rule(Rule::on("RETR", Act::Drip(4000, Duration::from_millis(50))).nth(1)))
}

fn under_way(target: &Target, server: &FtpServer) -> Child {
    let (path, url) = (target.path(), server.url("/d/o"));
    let child = started(["-C".as_ref(), "-".as_ref(), "-o".as_ref(), path.as_os_str(), url.as_ref()]);
    assert!(until(Duration::from_secs(10), || kept(target) > 8000), "nothing comes");
    child
}

#[test]
fn stopped_by_a_signal() {
    in_parallel(&[("INT", 2), ("TERM", 15)], 2, |&(name, number)| {
        let (server, target) = (slowly(), new_target());
        let child = under_way(&target, &server);
        send_signal(&child, name);
        let sent = Instant::now();
        let ran = ended(child);
        assert_eq!(ran.signal, Some(number), "{ran:?}");
        assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
        assert!(target.is_untouched().expect("a file") && journal_of(&target.path()).exists());
        let kept = kept(&target);
        filed(&target, &server, "-C -").exits(0);
        holds(&target, &content(), name);
        let rest = server.dialogue().iter().find_map(|line| line.strip_prefix("REST ")?.parse::<u64>().ok());
        let is_near = rest.is_some_and(|rest| rest <= kept && rest + OVERLAP >= kept);
        assert!(is_near, "{kept}: {:?}", server.dialogue());
        Ok(())
    });
}

#[test]
fn a_sudden_death() {
    let rows: Vec<u64> = (0..8).collect();
    in_parallel(&rows, 4, |number| {
        let server = serve(site().on("RETR", Act::Drip(20_000, Duration::from_millis(10))));
        let target = new_target();
        let (path, url) = (target.path(), server.url("/d/o"));
        let words = ["-C".as_ref(), "-".as_ref(), "-o".as_ref(), path.as_os_str(), url.as_ref()];
        let mut child = started(words);
        std::thread::sleep(Duration::from_millis(number * 37 % 300));
        child.kill().expect("a child");
        ended(child);
        let now = target.content().expect("readable").unwrap_or_default();
        assert!(now == Before::OLD_CONTENT || now == content(), "{number}: {} octets", now.len());
        filed(&target, &server, "-C -").exits(0);
        holds(&target, &content(), "after a death");
        Ok(())
    });
}

#[test]
fn a_reader_that_goes_away() {
    let server = serve(site().pattern("/d/big", 4_000_000).crowd("/many", 100_000));
    for path in ["/d/big", "/many/"] {
        let script = "{ \"$F\" \"$1\"; echo \"exit $?\" >&2; } | head -c 10 >/dev/null";
        assert_eq!(shell(script, [server.url(path)]).stderr, "exit 23\n", "{path}");
    }
}
