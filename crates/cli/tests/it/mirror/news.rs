//! `mirror` of newsgroups, one file per article.

use std::path::Path;

use crate::support::mirror::{MIRROR_JOURNAL, list_tree, run_mirror, run_mirror_with_short_timeout};
use crate::support::{entry_names, run_measuring_memory, temp_dir};
use fetch_url_tests::{Ending, NntpAction, NntpArticle, NntpConfig, NntpGroup, NntpRule, NntpServer};

fn article(number: u64) -> NntpArticle {
    NntpArticle::post(
        &format!("{number}@test.invalid"),
        &format!("Number {number}"),
        format!("{number}.\r\n.\r\nend\r\n"),
    )
}

fn group_with_articles(numbers: &[u64]) -> NntpGroup {
    numbers.iter().fold(NntpGroup::new("a.one"), |group, number| group.article(*number, article(*number)))
}

fn start_news_server(site: NntpConfig) -> (NntpServer, String) {
    let server = NntpServer::start(site).expect("a server on loopback");
    let connect_to = format!("--connect-to news.test:1119:127.0.0.1:{}", server.addr().port());
    (server, connect_to)
}

fn received_article_commands(server: &NntpServer) -> Vec<String> {
    let mut lines = server.received_text();
    lines.retain(|line| line.starts_with("ARTICLE") || line.starts_with("BODY"));
    lines.sort();
    lines
}

const GROUP: &str = "nntp://news.test:1119/a.one";

/// Panics unless the directory contains exactly these articles.
fn assert_articles(directory: &Path, numbers: &[u64]) {
    let text = |number: &u64| format!("{number}={}", String::from_utf8_lossy(&article(*number).bytes()));
    assert_eq!(list_tree(directory), numbers.iter().map(text).collect::<Vec<_>>());
}

#[test]
fn new_articles_are_downloaded_and_expired_ones_deleted_on_request() {
    let dir = temp_dir();
    let (server, connect_to) = start_news_server(NntpConfig::new().group(group_with_articles(&[2, 3, 5])));
    run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
    assert_articles(dir.path(), &[2, 3, 5]);
    for options in ["", "--skip-existing"] {
        run_mirror_with_short_timeout(GROUP, dir.path(), &format!("{options} {connect_to}")).assert_exit(0);
        assert_eq!(received_article_commands(&server).len(), 3, "{options}: {:?}", server.received_text());
    }
    // New articles are downloaded; expired ones stay, until --delete.
    let (server, connect_to) = start_news_server(NntpConfig::new().group(group_with_articles(&[3, 5, 6])));
    run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
    assert_eq!(received_article_commands(&server), ["ARTICLE 6"]);
    assert_articles(dir.path(), &[2, 3, 5, 6]);
    run_mirror_with_short_timeout(GROUP, dir.path(), &format!("--delete {connect_to}")).assert_exit(0);
    assert_articles(dir.path(), &[3, 5, 6]);
    // A `news:` URL; the server comes from --news-server.
    let dir = temp_dir();
    run_mirror_with_short_timeout(
        "news:a.one",
        dir.path(),
        &format!("--news-server {}", server.news_server()),
    )
    .assert_exit(0);
    assert_articles(dir.path(), &[3, 5, 6]);
    // A server without OVER.
    let dir = temp_dir();
    let (server, connect_to) = start_news_server(
        NntpConfig::new().without("OVER").without("XOVER").group(group_with_articles(&[2, 3])),
    );
    run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
    assert_articles(dir.path(), &[2, 3]);
    run_mirror_with_short_timeout(GROUP, dir.path(), &format!("--skip-existing {connect_to}")).assert_exit(0);
    assert_eq!(received_article_commands(&server).len(), 2);
}

/// A server that has lost its spool or moved numbers the articles of a group anew.
#[test]
fn articles_with_numbers_above_31_bits_are_copied() {
    let numbers = [2_147_483_647, 2_147_483_648, 9_999_999_999_999_999];
    let (server, connect_to) = start_news_server(NntpConfig::new().group(group_with_articles(&numbers)));
    let dir = temp_dir();
    for _ in 0..2 {
        run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
        assert_articles(dir.path(), &numbers);
        assert_eq!(received_article_commands(&server).len(), 3, "{:?}", server.received_text());
    }
}

#[test]
fn articles_are_downloaded_again_after_the_group_was_renumbered() {
    let undated = |id: &str| NntpArticle::new(format!("Message-ID: <{id}@x>\r\n\r\n{id}\r\n"));
    let dated = |id: &str| NntpArticle::post(&format!("{id}@x"), "x", format!("{id}\r\n"));
    for article in [&undated as &dyn Fn(&str) -> NntpArticle, &dated] {
        let dir = temp_dir();
        let mirror = |ids: [&str; 2]| {
            let group = NntpGroup::new("a.one").article(1, article(ids[0])).article(2, article(ids[1]));
            let (server, connect_to) = start_news_server(NntpConfig::new().group(group));
            run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
            let files = ids.map(|id| String::from_utf8_lossy(&article(id).bytes()).into_owned());
            assert_eq!(list_tree(dir.path()), [format!("1={}", files[0]), format!("2={}", files[1])]);
            received_article_commands(&server)
        };
        assert_eq!(mirror(["a", "b"]), ["ARTICLE 1", "ARTICLE 2"]);
        assert_eq!(mirror(["a", "b"]), [""; 0]);
        assert_eq!(mirror(["a", "c"]), ["ARTICLE 2"]);
    }
}

/// The group was renumbered between the listing and the transfer of an article.
#[test]
fn article_that_is_not_the_listed_one_is_downloaded_again() {
    let site = NntpConfig::new().group(group_with_articles(&[2, 3]));
    let text = |id: &str| format!("Date: Sat, 28 Nov 2026 01:00:00 +0000\r\n{id}\r\nold\r\n");
    for (reply, header) in [
        ("3 <old@x>", "Message-ID: <old@x>\r\n"),
        ("3 <old@x>", ""),
        ("3", "Message-ID: <old@x>\r\n"),
        ("3 <0>", "Message-ID: <old@x>\r\n"),
    ] {
        let dir = temp_dir();
        let other = format!("220 {reply}\r\n{}.\r\n", text(header));
        let (_server, connect_to) = start_news_server(site.clone().answer("ARTICLE 3", other.as_str()));
        run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
        assert_eq!(list_tree(dir.path())[1], format!("3={}", text(header)));
        let (server, connect_to) = start_news_server(site.clone());
        run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
        assert_eq!(received_article_commands(&server), ["ARTICLE 3"], "{reply} {header}");
        assert_articles(dir.path(), &[2, 3]);
        run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
        assert_eq!(received_article_commands(&server), ["ARTICLE 3"], "{reply} {header}");
    }
}

/// The listing stays wrong: the article is not downloaded in every run.
#[test]
fn article_that_the_listing_confuses_is_downloaded_once() {
    let other = "3 <old@x>\r\nMessage-ID: <old@x>\r\n\r\n";
    let site = NntpConfig::new()
        .group(group_with_articles(&[2, 3]))
        .answer("ARTICLE 3", format!("220 {other}old\r\n.\r\n"))
        .answer("HEAD 3", format!("221 {other}.\r\n"));
    let (server, connect_to) = start_news_server(site);
    let dir = temp_dir();
    for _ in 0..3 {
        run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
        assert_eq!(received_article_commands(&server), ["ARTICLE 2", "ARTICLE 3"]);
    }
}

#[test]
fn failed_articles_and_listings_delete_nothing() {
    // An article is cancelled after the listing; the others are downloaded.
    let dir = temp_dir();
    let site = NntpConfig::new().group(group_with_articles(&[2, 3, 5]));
    let (_server, connect_to) =
        start_news_server(site.clone().answer("ARTICLE 3", "423 No such article.\r\n"));
    let result = run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to);
    result.assert_exit(78).assert_stderr_contains("/3");
    assert_articles(dir.path(), &[2, 5]);
    let (server, connect_to) = start_news_server(site.clone());
    run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
    assert_eq!(received_article_commands(&server), ["ARTICLE 3"]);
    assert_articles(dir.path(), &[2, 3, 5]);
    // The overview is truncated, refused or without its terminator: nothing is deleted.
    for act in [
        NntpAction::CutBlock(30, Ending::Close),
        NntpAction::Answer(b"503 Broken.\r\n".to_vec()),
        NntpAction::NoTerminator,
    ] {
        let (_server, connect_to) = start_news_server(
            site.clone().rule(NntpRule::on("OVER", act.clone())).rule(NntpRule::on("XOVER", act)),
        );
        let result = run_mirror_with_short_timeout(GROUP, dir.path(), &format!("--delete {connect_to}"));
        assert!(!result.stderr.contains("panicked"), "{}", result.stderr);
        assert_articles(dir.path(), &[2, 3, 5]);
    }
    // No such group.
    let (_server, connect_to) = start_news_server(NntpConfig::new());
    let result = run_mirror_with_short_timeout(GROUP, dir.path(), &format!("--delete {connect_to}"));
    result.assert_exit(78);
    assert_articles(dir.path(), &[2, 3, 5]);
    // The connection ends within an article.
    let dir = temp_dir();
    let (_server, connect_to) = start_news_server(
        site.clone().rule(NntpRule::on("ARTICLE 3", NntpAction::CutBlock(40, Ending::Reset))),
    );
    let result = run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to);
    assert_ne!(result.exit, 0);
    assert!(!dir.path().join("3").exists());
    let (_server, connect_to) = start_news_server(site);
    run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
    assert_articles(dir.path(), &[2, 3, 5]);
}

/// Without OVER, the list is made from the headers.
#[test]
fn article_whose_header_cannot_be_read_is_not_deleted() {
    let site = NntpConfig::new().group(group_with_articles(&[2, 3, 5])).without("OVER").without("XOVER");
    for (reply, is_deleted) in [
        ("451 Cannot read the article", false),
        ("436 Retry later", false),
        ("423 No such article number", true),
        ("430 No such article", true),
    ] {
        let dir = temp_dir();
        let (_server, connect_to) = start_news_server(site.clone());
        run_mirror_with_short_timeout(GROUP, dir.path(), &connect_to).assert_exit(0);
        let (_server, connect_to) = start_news_server(site.clone().answer("HEAD 3", format!("{reply}\r\n")));
        run_mirror_with_short_timeout(GROUP, dir.path(), &format!("--delete {connect_to}"));
        assert_articles(dir.path(), if is_deleted { &[2, 5] } else { &[2, 3, 5] });
    }
}

#[test]
fn globs_select_articles() {
    let (_server, connect_to) =
        start_news_server(NntpConfig::new().group(group_with_articles(&[2, 3, 5, 13])));
    let dir = temp_dir();
    run_mirror_with_short_timeout(GROUP, dir.path(), &format!("--include-glob *3 {connect_to}"))
        .assert_exit(0);
    assert_articles(dir.path(), &[13, 3]);
    let dir = temp_dir();
    run_mirror_with_short_timeout(GROUP, dir.path(), &format!("--exclude-glob 1? {connect_to}"))
        .assert_exit(0);
    assert_articles(dir.path(), &[2, 3, 5]);
}

/// 400 articles in less than 100 MiB; the second run downloads none of them.
#[test]
fn mirror_of_400_articles_needs_bounded_memory() {
    let server = NntpServer::start(NntpConfig::new().group(NntpGroup::new("a.one").generated(1, 400)))
        .expect("a server");
    let dir = temp_dir();
    let target = dir.path().display().to_string();
    let (memory, result) = run_measuring_memory(&["mirror", "--retry", "0", &server.url("a.one"), &target]);
    result.assert_exit(0);
    assert_eq!(entry_names(dir.path()).len(), 401);
    assert!(memory < 100 * 1024, "{memory} KiB");
    let before = server.bytes_sent();
    run_mirror(&server.url("a.one"), dir.path(), "").assert_exit(0);
    assert!(
        server.received_text().iter().filter(|line| line.starts_with("ARTICLE")).count() == 400,
        "{before}"
    );
}

/// A pattern such as `news:*` is rejected or mirrored with a directory for each group.
#[test]
fn group_patterns_are_rejected_or_get_a_directory_per_group() {
    let server = NntpServer::start(NntpConfig::new().group(NntpGroup::new("a.one").generated(1, 3)))
        .expect("a server");
    let news_server = format!("--news-server {}", server.news_server());
    for url in
        ["news:*".to_owned(), "news:a.*".to_owned(), server.url(""), server.url("a.*"), "news:".to_owned()]
    {
        let dir = temp_dir();
        let target = dir.path().join("new");
        let result = run_mirror(&url, &target, &news_server);
        assert!(!result.stderr.contains("panicked") && result.exit < 99, "{url}: {}", result.stderr);
        let found = if target.exists() { list_tree(&target) } else { Vec::new() };
        assert!(
            result.exit != 0 || found.iter().any(|name| name.starts_with("a.one/")),
            "{url}: {found:?} {}",
            result.stderr
        );
    }
    // A range of articles is mirrored or rejected.
    let dir = temp_dir();
    let result = run_mirror(&server.url("a.one/2-3"), dir.path(), "");
    let found: Vec<String> =
        entry_names(dir.path()).into_iter().filter(|name| name != MIRROR_JOURNAL).collect();
    assert!(found == ["2", "3"] || (result.exit != 0 && found.is_empty()), "{found:?} {}", result.stderr);
}
