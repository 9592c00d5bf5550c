//! Several articles in one run (SEMANTICS.md §6; SECURITY.md, rows 33, 99 and 101): ranges and several URLs go over
//! one connection and are asked for ahead, and whatever happens between, each gets its own article, once.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use fetch_url_tests::{Ending, NntpAct, NntpArticle, NntpGroup, NntpRule, NntpServer, NntpSite};
use support::{Ran, fetch_in, names};

fn serve(site: NntpSite) -> NntpServer {
    NntpServer::start(site).expect("a server on loopback")
}

fn article(group: &str, number: u64) -> NntpArticle {
    let body = format!("This is {group} {number}.\r\n.\r\nFrom it.\r\n");
    NntpArticle::post(&format!("{number}.{group}@test.invalid"), &format!("{group} {number}"), body)
}

fn text(group: &str, number: u64) -> String {
    String::from_utf8(article(group, number).octets()).expect("UTF-8")
}

fn texts(group: &str, numbers: &[u64]) -> String {
    numbers.iter().map(|number| text(group, *number)).collect()
}

fn group(name: &str, numbers: impl IntoIterator<Item = u64>) -> NntpGroup {
    let numbers = numbers.into_iter();
    numbers.fold(NntpGroup::new(name), |group, number| group.article(number, article(name, number)))
}

/// One group with articles 1 to 9.
fn nine() -> NntpSite {
    NntpSite::new().group(group("a.one", 1..=9))
}

/// `a.one` and `b.two` have 1 to 9, and `c.own` is for those who log in.
fn three() -> NntpSite {
    nine().group(group("b.two", 1..=9)).group(group("c.own", 1..=9).private()).account("me", "secret")
}

/// Fetches these paths, or other URLs, in one run.
fn get(server: &NntpServer, words: &str, paths: &[&str]) -> Ran {
    get_in(Path::new("."), server, words, paths)
}

fn get_in(directory: &Path, server: &NntpServer, words: &str, paths: &[&str]) -> Ran {
    let addr = server.news_server();
    let url = |path: &&str| if path.contains(':') { (*path).to_owned() } else { server.url(path) };
    let own = ["--news-server", &addr].map(str::to_owned).into_iter();
    fetch_in(directory, own.chain(words.split_whitespace().map(str::to_owned)).chain(paths.iter().map(url)))
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// The lines that begin so.
fn lines(server: &NntpServer, start: &str) -> Vec<String> {
    let mut lines = server.dialogue();
    lines.retain(|line| line.starts_with(start));
    lines
}

fn articles(numbers: &[u64]) -> Vec<String> {
    numbers.iter().map(|number| format!("ARTICLE {number}")).collect()
}

/// Each file holds the article that its name says.
fn holds(directory: &Path, group: &str, numbers: &[u64]) {
    let expected: Vec<String> = numbers.iter().map(u64::to_string).collect();
    assert_eq!(names(directory), expected);
    for number in numbers {
        let content = fs::read_to_string(directory.join(number.to_string())).expect("a file");
        assert_eq!(content, text(group, *number));
    }
}

#[test]
fn ranges() {
    let sparse = || group("a.one", [2, 3, 6, 9]);
    let rows: [(&str, &[u64]); 8] = [
        ("a.one/2-9", &[2, 3, 6, 9]),
        ("a.one/1-2147483647", &[2, 3, 6, 9]),
        ("a.one/3-8", &[3, 6]),
        ("a.one/6-6", &[6]),
        ("a.one/8-9", &[9]),
        ("a.one/1-2", &[2]),
        ("a.one/9-12", &[9]),
        ("a.one/4-7", &[6]),
    ];
    for (path, numbers) in rows {
        let server = serve(NntpSite::new().group(sparse()));
        assert_eq!(get(&server, "", &[path]).exits(0).text(), texts("a.one", numbers), "{path}");
        let asked = lines(&server, "ARTICLE");
        // None twice, in order, and none outside the group, but the first, which goes out with GROUP.
        let numbers_asked: Vec<u64> = asked.iter().map(|line| line[8..].parse().expect("a number")).collect();
        assert!(numbers_asked.is_sorted_by(|one, other| one < other), "{path}: {asked:?}");
        assert!(numbers_asked[1..].iter().all(|number| (2..=9).contains(number)), "{path}: {asked:?}");
        let here = place();
        get_in(here.path(), &server, "-O", &[path]).exits(0);
        holds(here.path(), "a.one", numbers);
    }
}

/// Nothing in a range is nothing found, however the server says so.
#[test]
fn ranges_with_nothing_in_them() {
    for site in [NntpSite::new().group(group("a.one", [2, 9])), NntpSite::new().group(group("a.one", []))] {
        let server = serve(site);
        for path in ["a.one/4-7", "a.one/10-12", "a.one/1-1", "a.none/1-9"] {
            for words in ["", "--format mbox", "--text"] {
                assert!(get(&server, words, &[path]).exits(78).stdout.is_empty(), "{path}");
            }
            let here = place();
            get_in(here.path(), &server, "-O", &[path]).exits(78);
            assert!(names(here.path()).is_empty(), "{path}: {:?}", names(here.path()));
        }
    }
}

#[test]
fn one_file_each() {
    let server = serve(nine());
    let here = place();
    get_in(here.path(), &server, "--output-dir new --create-dirs", &["a.one/2-4"]).exits(0);
    holds(&here.path().join("new"), "a.one", &[2, 3, 4]);
    get_in(here.path(), &server, "-O --output-dir new --part body", &["a.one/3-3"]).exits(0);
    let body = fs::read_to_string(here.path().join("new/3")).expect("a file");
    assert_eq!(body, "This is a.one 3.\r\n.\r\nFrom it.\r\n");
    get_in(here.path(), &server, "-o all", &["a.one/2-4"]).exits(0);
    let all = fs::read_to_string(here.path().join("all")).expect("a file");
    assert_eq!(all, texts("a.one", &[2, 3, 4]));
    get_in(here.path(), &server, "--output-dir none", &["a.one/2-4"]).exits(23);
    assert_eq!(names(here.path()), ["all", "new"]);
}

#[test]
fn parts_of_a_range() {
    let server = serve(nine());
    let (two, three) = (text("a.one", 2), text("a.one", 3));
    let parts =
        |at: usize| [&two, &three].map(|text| text.split("\r\n\r\n").nth(at).expect("a part").to_owned());
    // An empty line shows where each of them ends.
    let heads: String = parts(0).iter().map(|head| format!("{head}\r\n\r\n")).collect();
    assert_eq!(get(&server, "--part head", &["a.one/2-3"]).exits(0).text(), heads);
    assert_eq!(get(&server, "--part body", &["a.one/2-3"]).exits(0).text(), parts(1).concat());
    assert_eq!(get(&server, "--text", &["a.one/2-3"]).exits(0).text(), (two + &three).replace("\r\n", "\n"));
    assert_eq!(lines(&server, "HEAD"), ["HEAD 2", "HEAD 3"]);
    assert_eq!(lines(&server, "BODY"), ["BODY 2", "BODY 3"]);
}

/// What an mbox of these articles is.
fn mbox(numbers: &[u64]) -> String {
    let one = |number: &u64| {
        let quoted = text("a.one", *number).replace("\r\n", "\n").replace("\nFrom it", "\n>From it");
        format!("From alice@test.invalid Thu Dec  1 12:34:56 1994\n{quoted}\n")
    };
    numbers.iter().map(one).collect()
}

#[test]
fn an_mbox_of_many() {
    let server = serve(NntpSite::new().group(group("a.one", [2, 3, 7])));
    let all = mbox(&[2, 3, 7]);
    assert_eq!(get(&server, "--format mbox", &["a.one/1-9"]).exits(0).text(), all);
    assert_eq!(get(&server, "--format mbox", &["a.one"]).exits(0).text(), all);
    assert_eq!(get(&server, "--format mbox", &["news:a.one"]).exits(0).text(), all);
    let single = ["a.one/2", "news:3.a.one@test.invalid", "a.one/7"];
    assert_eq!(get(&server, "--format mbox", &single).exits(0).text(), all);
    let here = place();
    get_in(here.path(), &server, "--format mbox -o it.mbox", &["a.one/2-7"]).exits(0);
    assert_eq!(fs::read_to_string(here.path().join("it.mbox")).expect("a file"), all);
}

/// In order, each once, GROUP once for neighbours, and asked for before the one before has come.
#[test]
fn several_urls_over_one_connection() {
    let server = serve(nine().delay(Duration::from_millis(10)));
    let paths: Vec<String> = (1..=9).map(|number| format!("a.one/{number}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let all: Vec<u64> = (1..=9).collect();
    assert_eq!(get(&server, "", &paths).exits(0).text(), texts("a.one", &all));
    assert_eq!((server.connections(), lines(&server, "GROUP").len()), (1, 1), "{:?}", server.dialogue());
    assert_eq!(lines(&server, "ARTICLE"), articles(&all));
    assert!(server.most_waiting() > 1, "{:?}", server.dialogue());
    // The same object twice is asked for twice.
    let twice = get(&server, "", &["a.one/2", "a.one/2"]).exits(0).text();
    assert_eq!(twice, texts("a.one", &[2, 2]));
}

/// Groups with the same numbers, message-ids, lists and failures between: nobody gets another's article.
#[test]
fn all_kinds_of_urls_together() {
    let paths = [
        "a.one/1",
        "b.two/1",
        "a.none/2",
        "b.two/2",
        "a.none/3",
        "a.one/2",
        "news:3.b.two@test.invalid",
        "news:no@test.invalid",
        "a.one/3",
        "a.one/99",
        "a.one/4",
        "b.two/5-6",
        "a.one/5",
        "b.two/98-99",
        "b.two/7",
    ];
    let expected = [
        texts("a.one", &[1]),
        texts("b.two", &[1, 2]),
        texts("a.one", &[2]),
        texts("b.two", &[3]),
        texts("a.one", &[3, 4]),
        texts("b.two", &[5, 6]),
        texts("a.one", &[5]),
        texts("b.two", &[7]),
    ];
    for (site, words) in
        [(three(), ""), (three().split_replies(), ""), (three(), "--retry 2 --retry-delay 0")]
    {
        let server = serve(site);
        let ran = get(&server, words, &paths);
        assert_eq!(ran.exits(78).text(), expected.concat(), "{:?}", server.dialogue());
        assert_eq!(server.connections(), 1, "{:?}", server.dialogue());
        assert_eq!(ran.stderr.matches("not found").count(), 5, "{}", ran.stderr);
        assert_eq!(lines(&server, "ARTICLE <3.").len(), 1);
    }
}

#[test]
fn a_list_between_articles() {
    for site in
        [three(), three().compress(), NntpSite::new().group(group("a.one", 1..=9)).no("OVER").no("XOVER")]
    {
        let server = serve(site.group(NntpGroup::new("big").crowd(1, 300)));
        let ran = get(&server, "--format raw", &["a.one/1", "big", "a.one/2", "news:*", "a.one/3", "a.one"]);
        let text = ran.exits(0).text();
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"));
        assert!(text.starts_with(&texts("a.one", &[1])));
        let order = [at("entry 0000300"), at("This is a.one 2"), at("big 300 1 y"), at("This is a.one 3")];
        assert!(order.is_sorted(), "{order:?}");
        assert!(text.trim_end().lines().last().is_some_and(|line| line.starts_with('9')), "{text}");
        assert_eq!(server.connections(), 1, "{:?}", server.dialogue());
    }
}

/// What is not fetched after all was perhaps asked for, but is nobody else's.
#[test]
fn files_that_are_kept() {
    for kept in [&[1][..], &[2], &[9], &[2, 3], &[1, 3, 5, 7, 9], &[4, 5, 6, 7]] {
        let (server, here) = (serve(nine().delay(Duration::from_millis(2))), place());
        for number in kept {
            fs::write(here.path().join(number.to_string()), text("a.one", *number)).expect("written");
        }
        let paths: Vec<String> = (1..=9).map(|number| format!("a.one/{number}")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let ran = get_in(here.path(), &server, "--no-clobber --remote-name-all", &paths);
        assert_eq!(ran.stderr.matches("is not replaced").count(), kept.len(), "{}", ran.stderr);
        holds(here.path(), "a.one", &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let asked = lines(&server, "ARTICLE");
        let mut once = asked.clone();
        once.dedup();
        assert_eq!(asked, once, "none twice");
        assert!(asked.len() <= 9 && server.connections() <= 1 + kept.len(), "{asked:?}");
    }
}

/// A sink that fails, an object that is too large, an early end: the next URL gets its own article.
#[test]
fn what_was_given_up() {
    let long = NntpArticle::post("long@test.invalid", "x", "").repeated(b"a line of some length\r\n", 50_000);
    let site = || nine().group(NntpGroup::new("long").article(1, long.clone()));
    let rows = [
        ("--max-filesize 5000", &["a.one/1", "long/1", "a.one/2", "a.one/3"][..], 63),
        ("-o - -o /dev/full", &["a.one/1", "a.one/4", "a.one/2", "a.one/3"], 23),
        ("-o - -o /dev/full", &["a.one/1", "long/1", "a.one/2", "a.one/3"], 23),
    ];
    for (words, paths, exit) in rows {
        let server = serve(site());
        let ran = get(&server, words, paths);
        assert_eq!(ran.exit, exit, "{words}: {}", ran.stderr);
        assert_eq!(ran.text(), texts("a.one", &[1, 2, 3]), "{words}: {:?}", server.dialogue());
    }
    let server = serve(site());
    let ran = get(&server, "--fail-early", &["a.one/1", "a.one/77", "a.one/2"]);
    assert_eq!(ran.exits(78).text(), texts("a.one", &[1]));
}

#[test]
fn at_the_same_time() {
    let (server, here) = (serve(three().delay(Duration::from_millis(5))), place());
    let paths: Vec<String> = (1..=9).flat_map(|n| [format!("a.one/{n}"), format!("b.two/{n}")]).collect();
    let mut words = vec!["-Z".to_owned(), "--no-progress-meter".to_owned()];
    for path in &paths {
        words.extend(["-o".to_owned(), path.replace('/', "-"), server.url(path)]);
    }
    fetch_in(here.path(), words.iter().map(String::as_str)).exits(0);
    for path in &paths {
        let (group, number) = path.split_once('/').expect("a number");
        let content = fs::read_to_string(here.path().join(path.replace('/', "-"))).expect("a file");
        assert_eq!(content, text(group, number.parse().expect("a number")));
    }
    assert_eq!(lines(&server, "ARTICLE").len(), 18, "{:?}", server.dialogue());
    assert!((2..=16).contains(&server.connections()), "{}", server.connections());
}

/// Three articles from a server that closes between them: the next goes over a new connection, and that is no
/// failure.
fn closed_between(site: &NntpSite) {
    let whole = texts("a.one", &[1, 2, 3]);
    let server = serve(site.clone());
    let ran = get(&server, "--retry 3 --retry-delay 0.01", &["a.one/1", "a.one/2", "a.one/3"]);
    assert_eq!(ran.exits(0).text(), whole, "{:?}", server.dialogue());
    assert!(server.connections() <= 3, "{:?}", server.dialogue());
    // A range is one object: what of it is on standard output cannot be taken back.
    let ran = get(&serve(site.clone()), "--retry 3 --retry-delay 0.01", &["a.one/1-3"]);
    assert!(ran.exit != 0 && whole.starts_with(&ran.text()) || ran.text() == whole, "{ran:?}");
    let (server, here) = (serve(site.clone()), place());
    get_in(here.path(), &server, "--retry-all-errors --retry 3 --retry-delay 0.01 -O", &["a.one/1-3"])
        .exits(0);
    holds(here.path(), "a.one", &[1, 2, 3]);
}

fn close(ending: Ending) -> NntpRule {
    NntpRule::on("ARTICLE", NntpAct::EndAfter(ending))
}

#[test]
fn a_server_that_closes_between() {
    for ending in [Ending::Close, Ending::Fin, Ending::Reset] {
        closed_between(&nine().rule(close(ending).nth(1)));
    }
    closed_between(&nine().rule(close(Ending::Close).nth(2)));
    closed_between(&nine().rule(close(Ending::Close)));
}

/// 400 at any time is how a server says that it ends the session (RFC 3977 §3.2.1).
#[test]
fn a_server_that_says_that_it_closes() {
    for nth in [1, 2] {
        let told = NntpRule::on("ARTICLE", NntpAct::After(b"400 Idle too long\r\n".to_vec())).nth(nth);
        closed_between(&nine().rule(told).rule(close(Ending::Close).nth(nth)));
    }
}

const ALL: [&str; 5] = ["a.one/1", "a.one/2", "a.one/3", "a.one/4", "a.one/5"];

/// The third article breaks off, the first time.
fn cut(ending: Ending) -> NntpSite {
    nine().rule(NntpRule::on("ARTICLE 3", NntpAct::CutBlock(60, ending)).nth(1))
}

/// What is whole stays and is not asked for again, and the rest comes.
#[test]
fn a_cut_in_the_middle() {
    for ending in [Ending::Close, Ending::Reset] {
        for (words, paths) in [("-O", &["a.one/1-5"][..]), ("--remote-name-all", &ALL)] {
            let (server, here) = (serve(cut(ending)), place());
            let again = format!("--retry-all-errors --retry 2 --retry-delay 0.01 {words}");
            get_in(here.path(), &server, &again, paths).exits(0);
            holds(here.path(), "a.one", &[1, 2, 3, 4, 5]);
            for number in [1, 2] {
                assert_eq!(lines(&server, &format!("ARTICLE {number}")).len(), 1, "{:?}", server.dialogue());
            }
        }
        let here = place();
        let words = "--retry-all-errors --retry 2 --retry-delay 0.01 -o all";
        get_in(here.path(), &serve(cut(ending)), words, &["a.one/1-5"]).exits(0);
        let all = fs::read_to_string(here.path().join("all")).expect("a file");
        assert_eq!(all, texts("a.one", &[1, 2, 3, 4, 5]));
        // What is already on standard output cannot be taken back.
        let ran = get(&serve(cut(ending)), "--retry-all-errors --retry 2 --retry-delay 0.01", &["a.one/1-5"]);
        assert!(ran.exit != 0 && all.starts_with(&ran.text()) || ran.text() == all, "{ran:?}");
    }
}

/// Without a retry: no name for what is not whole, and the others are whole.
#[test]
fn a_cut_that_stays() {
    for ending in [Ending::Close, Ending::Reset] {
        let here = place();
        let ran = get_in(here.path(), &serve(cut(ending)), "--remote-name-all", &ALL);
        assert!(ran.exit == 18 || ran.exit == 52 && ending == Ending::Reset, "{ran:?}");
        holds(here.path(), "a.one", &[1, 2, 4, 5]);
        let (target, site) = (place(), cut(ending));
        let ran = get_in(target.path(), &serve(site), "-o all", &["a.one/1-5"]);
        assert!([18, 52].contains(&ran.exit) && names(target.path()).is_empty(), "{ran:?}");
    }
}

/// The same of a range with one file each.
#[test]
fn a_cut_range_that_stays() {
    for ending in [Ending::Close, Ending::Reset] {
        let here = place();
        let ran = get_in(here.path(), &serve(cut(ending)), "-O", &["a.one/1-5"]);
        holds(here.path(), "a.one", &[1, 2, 4, 5]);
        assert!(ran.exit == 18 || ran.exit == 52 && ending == Ending::Reset, "{ran:?}");
    }
}

/// The URL says which files there may be, not the server.
#[test]
fn an_overview_that_lies() {
    let line = |number: u64| format!("{number}\tx\ta@b\tx\t<{number}.a.one@test.invalid>\t\t1\t1\r\n");
    let block: String = [3, 3, 9, 7777, 2].map(line).concat();
    let (server, here) = (serve(nine().on("OVER", NntpAct::Block(block.into()))), place());
    fs::write(here.path().join("9"), "mine").expect("written");
    get_in(here.path(), &server, "-O", &["a.one/1-5"]).exits(8);
    assert!(names(here.path()).iter().all(|name| ["2", "3", "9"].contains(&name.as_str())));
    assert_eq!(fs::read(here.path().join("9")).expect("a file"), b"mine");
    assert!(lines(&server, "ARTICLE 9").is_empty() && lines(&server, "ARTICLE 3").len() <= 1);
}

/// 480 in the middle: one login, and the articles before and after it are the right ones.
#[test]
fn a_private_group_between() {
    let paths = ["a.one/1", "a.one/2", "c.own/3", "c.own/4", "a.one/5", "c.own/6-7"];
    let expected =
        [texts("a.one", &[1, 2]), texts("c.own", &[3, 4]), texts("a.one", &[5]), texts("c.own", &[6, 7])];
    let server = serve(three());
    let ran = get(&server, "--insecure-auth -u me:secret", &paths);
    assert_eq!(ran.exits(0).text(), expected.concat(), "{:?}", server.dialogue());
    assert_eq!(lines(&server, "AUTHINFO"), ["AUTHINFO USER me", "AUTHINFO PASS secret"]);
    // Nobody to log in as: the rest comes, and nothing of the group.
    let server = serve(three());
    let ran = get(&server, "", &paths);
    assert_eq!(ran.exits(67).text(), texts("a.one", &[1, 2, 5]), "{:?}", server.dialogue());
    let server = serve(three());
    let ran = get(&server, "", &["a.one/1", "news:3.c.own@test.invalid", "a.one/2"]);
    assert_eq!(ran.exits(67).text(), texts("a.one", &[1, 2]), "{:?}", server.dialogue());
    assert!(lines(&server, "AUTHINFO").is_empty());
}

/// Row 101: what comes behind the last dot belongs to nobody, and the next URL gets what it asked for.
fn behind_the_end(extra: &str) {
    let rule = NntpRule::on("ARTICLE 1", NntpAct::After(extra.into()));
    let server = serve(nine().rule(rule));
    assert_eq!(get(&server, "", &["a.one/1"]).exits(0).text(), text("a.one", 1));
    let ran = get(&server, "", &["a.one/1", "a.one/2"]);
    assert_eq!(ran.exits(0).text(), texts("a.one", &[1, 2]), "{extra:?}");
    assert_eq!(server.connections(), 3, "{:?}", server.dialogue());
}

#[test]
fn words_behind_the_end() {
    let extras = ["\r\n", ".\r\n", "garbage\r\n", "200 Hello\r\n", "400 Idle\r\n", "220 2", "\0\0"];
    extras.into_iter().for_each(behind_the_end);
}

#[test]
fn an_article_behind_the_end() {
    behind_the_end("430 No such article\r\n");
    behind_the_end("220 2 <2.a.one@test.invalid> article\r\nSubject: forged\r\n\r\nforged\r\n.\r\n");
}
