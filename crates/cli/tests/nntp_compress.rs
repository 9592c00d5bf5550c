//! COMPRESS DEFLATE (RFC 8054; SEMANTICS.md §6): long lists come compressed where the server offers it, and what
//! is written is the same as without.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::Duration;

use fetch_url_tests::{Ending, NntpAct, NntpArticle, NntpGroup, NntpRule, NntpServer, NntpSite, ServerCert};
use support::{Ran, fetch};

fn serve(site: NntpSite) -> NntpServer {
    NntpServer::start(site).expect("a server on loopback")
}

/// A long group, a short one, and one for those who log in.
fn site() -> NntpSite {
    let small = NntpGroup::new("a.small").next(NntpArticle::post("small@test.invalid", "small", "body\r\n"));
    NntpSite::new()
        .group(NntpGroup::new("a.big").crowd(1, 600))
        .group(small)
        .group(NntpGroup::new("c.own").crowd(1, 400).private())
        .account("me", "secret")
}

fn get(server: &NntpServer, words: &str, paths: &[&str]) -> Ran {
    let addr = server.news_server();
    let url = |path: &&str| if path.contains(':') { (*path).to_owned() } else { server.url(path) };
    let own = ["--news-server", &addr, "--read-timeout", "5"].map(str::to_owned).into_iter();
    fetch(own.chain(words.split_whitespace().map(str::to_owned)).chain(paths.iter().map(url)))
}

fn counted(server: &NntpServer, start: &str) -> usize {
    server.dialogue().iter().filter(|line| line.starts_with(start)).count()
}

/// What is written, without the port.
fn told(server: &NntpServer, ran: &Ran) -> String {
    ran.text().replace(&server.news_server(), "SERVER")
}

#[test]
fn the_same_with_and_without() {
    for path in ["a.big", "news:*", "news:crowd.*", "news:a.big", "a.big/1-300"] {
        for format in ["text", "json", "raw", "mbox"] {
            let (with, without) = (serve(site().crowd(500).compress()), serve(site().crowd(500)));
            let words = format!("--format {format}");
            if format == "mbox" && path.contains('*') {
                continue;
            }
            let (one, other) = (get(&with, &words, &[path]), get(&without, &words, &[path]));
            assert_eq!(told(&with, one.exits(0)), told(&without, other.exits(0)), "{path} {format}");
            assert!(one.text().lines().count() >= 300, "{path} {format}: {}", one.text());
            assert_eq!((one.stderr.as_str(), with.connections()), ("", 1), "{path} {format}");
            assert_eq!(counted(&without, "COMPRESS"), 0, "what is not offered is not asked for");
        }
    }
}

fn group(count: u64) -> NntpSite {
    NntpSite::new().group(NntpGroup::new("a.big").crowd(1, count)).compress()
}

#[test]
fn two_hundred_are_enough() {
    let server = serve(group(200));
    assert_eq!(get(&server, "--format raw", &["a.big"]).exits(0).text().lines().count(), 200);
    assert_eq!(counted(&server, "COMPRESS DEFLATE"), 1, "{:?}", server.dialogue());
}

/// 200 articles and more, and all lists of groups; once, and nothing is sent before the answer to it.
#[test]
fn when_it_is_worth_it() {
    for (count, times) in [(1, 0), (199, 0), (201, 1), (5000, 1)] {
        let server = serve(group(count));
        let ran = get(&server, "--format raw", &["a.big"]);
        assert_eq!(ran.exits(0).text().lines().count() as u64, count);
        assert_eq!(counted(&server, "COMPRESS DEFLATE"), times, "{count}: {:?}", server.dialogue());
    }
    let server = serve(group(1));
    get(&server, "", &["a.big/1"]).exits(0);
    assert_eq!(counted(&server, "COMPRESS"), 0);
    get(&server, "", &["news:*"]).exits(0);
    assert_eq!(counted(&server, "COMPRESS"), 1);
    let server = serve(group(600).delay(Duration::from_millis(5)));
    let paths = ["a.big/1", "a.big", "a.big/2", "news:*", "a.big", "a.big/3"];
    get(&server, "--format raw", &paths).exits(0);
    assert_eq!((counted(&server, "COMPRESS"), server.connections()), (1, 1), "{:?}", server.dialogue());
}

/// Refused is not failed: it goes on without.
#[test]
fn refused() {
    for answer in ["403 Unable\r\n", "502 No\r\n", "503 Not that one\r\n", "500 What?\r\n", "501 What?\r\n"] {
        let server = serve(site().compress().answer("COMPRESS", answer));
        for path in ["a.big", "news:*"] {
            let ran = get(&server, "--format raw", &[path]);
            assert!(ran.exits(0).text().lines().count() >= 2, "{answer}: {}", ran.text());
        }
        assert_eq!(counted(&server, "COMPRESS"), 2, "once for each run: {:?}", server.dialogue());
    }
}

/// Octet by octet, in drips, and with articles whose octets are of all kinds.
#[test]
fn in_any_pieces() {
    let octets: Vec<u8> = (1..=255_u8).filter(|octet| !b"\r\n".contains(octet)).collect();
    let article =
        NntpArticle::new([b"Message-ID: <all@test.invalid>\r\n\r\n..", &octets[..], b"\r\n.\r\n"].concat());
    let group = NntpGroup::new("a.all").crowd(2, 250).article(1, article.clone());
    let drip = NntpRule::on("OVER", NntpAct::Drip(7, Duration::from_micros(10)));
    for site in [NntpSite::new().split_replies(), NntpSite::new().rule(drip), NntpSite::new()] {
        let server = serve(site.group(group.clone()).compress());
        let ran = get(&server, "--format raw", &["a.all", "a.all/1", "news:all@test.invalid"]);
        let twice = article.octets().repeat(2);
        assert!(ran.exits(0).stdout.ends_with(&twice), "{}", ran.stdout.escape_ascii());
        assert_eq!((counted(&server, "COMPRESS"), server.connections()), (1, 1));
    }
}

/// RFC 8054 §2.2.2: STARTTLS is not possible behind it; a login is, and what is private then comes.
#[test]
fn a_login_after_it() {
    let words = "--format raw --insecure-auth -u me:secret";
    for paths in [&["a.big", "c.own", "c.own/7"][..], &["news:*", "c.own/7", "c.own"], &["c.own"]] {
        let (with, without) = (serve(site().compress()), serve(site()));
        let (one, other) = (get(&with, words, paths), get(&without, words, paths));
        assert_eq!(told(&with, one.exits(0)), told(&without, other.exits(0)), "{paths:?}");
        let logins = (counted(&with, "AUTHINFO USER"), counted(&with, "AUTHINFO PASS"));
        assert_eq!(logins, (1, 1), "{paths:?}: {:?}", with.dialogue());
    }
    // The login is wanted, and TLS before it: compression does not stand in the way.
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let words = format!("--format raw -u me:secret --cacert {}", files.ca.display());
    for paths in [&["a.big", "c.own"][..], &["c.own", "a.big"], &["news:*", "c.own/7"]] {
        let server = serve(site().compress().starttls(&cert).logins_under_tls());
        let ran = get(&server, &words, paths);
        assert!(ran.exits(0).text().contains("<crowd-7@test.invalid>"), "{paths:?}");
        let clear = server.in_clear();
        assert!(!clear.iter().any(|line| line.starts_with("AUTHINFO")), "{paths:?}: {clear:?}");
    }
    let server = NntpServer::start_tls(site().compress(), &cert).expect("a server");
    let ran = get(&server, &words, &["c.own", "a.big"]);
    assert_eq!(ran.exits(0).text().lines().count(), 1000);
}

/// A list that ends too early is not whole, also where only the compressed layer could tell.
#[test]
fn cut_short() {
    for act in [NntpAct::CutBlock(5000, Ending::Close), NntpAct::CutBlock(5000, Ending::Fin), NntpAct::NoDot]
    {
        let site = site().compress().on("OVER", act.clone());
        let site = if matches!(act, NntpAct::NoDot) {
            site.on("OVER", NntpAct::EndAfter(Ending::Close))
        } else {
            site
        };
        let here = tempfile::tempdir().expect("a directory");
        let file = here.path().join("list");
        let server = serve(site);
        let ran = get(&server, &format!("--format raw -o {}", file.display()), &["a.big"]);
        assert_eq!(ran.exit, 18, "{act:?}: {}", ran.stderr);
        assert!(!file.exists() && counted(&server, "COMPRESS") == 1, "{act:?}");
    }
}

/// 206, and then no deflate: a peer that misbehaves, or the end, but never a list and never a wait.
#[test]
fn not_compressed_after_all() {
    let lie = "206 Compression active\r\n";
    for after in ["", "224 Overview\r\n1\tforged\ta\tb\t<c@d>\t\t1\t1\r\n.\r\n", "\u{0}\u{0}\u{0}"] {
        let answer = format!("{lie}{after}");
        let server = serve(site().compress().answer("COMPRESS", answer));
        let ran = get(&server, "--format raw --read-timeout 0.5", &["a.big"]);
        assert!(ran.exit != 0 && !ran.text().contains("forged"), "{after:?}: {ran:?}");
        assert!(ran.exit == 8 || [18, 28, 52].contains(&ran.exit), "{after:?}: {ran:?}");
    }
}
