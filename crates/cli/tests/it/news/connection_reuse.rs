//! Several URLs over one connection (docs/spec/semantics.md §6; docs/spec/faults.md, rows 33 and 99): requests are
//! pipelined, and each URL gets its own article, also after errors.

use std::fs;
use std::time::Duration;

use super::{
    article_text, article_texts, assert_files, fetch_paths, fetch_paths_in, group_with_articles, one_group,
    received_lines, run_in_home, server_urls, start_server, three_groups,
};
use crate::support::{run_fetch_url_in, temp_dir};
use fetch_url_tests::{NntpArticle, NntpConfig, NntpGroup};

/// Returns the ARTICLE commands for these numbers.
fn article_commands(numbers: &[u64]) -> Vec<String> {
    numbers.iter().map(|number| format!("ARTICLE {number}")).collect()
}

/// Articles arrive in order, each once; GROUP is sent once for consecutive URLs of the same group.
#[test]
fn several_urls_share_one_connection_and_are_pipelined() {
    let server = start_server(one_group().delay(Duration::from_millis(10)));
    let paths: Vec<String> = (1..=9).map(|number| format!("a.one/{number}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let all: Vec<u64> = (1..=9).collect();
    assert_eq!(fetch_paths(&server, "", &paths).assert_exit(0).stdout_text(), article_texts("a.one", &all));
    assert_eq!(
        (server.connections(), received_lines(&server, "GROUP").len()),
        (1, 1),
        "{:?}",
        server.received_text()
    );
    assert_eq!(received_lines(&server, "ARTICLE"), article_commands(&all));
    assert!(server.max_pending() > 1, "{:?}", server.received_text());
    // The same URL twice is requested twice.
    let twice = fetch_paths(&server, "", &["a.one/2", "a.one/2"]).assert_exit(0).stdout_text();
    assert_eq!(twice, article_texts("a.one", &[2, 2]));
}

/// Groups with the same numbers, message-ids, ranges and missing articles.
#[test]
fn mixed_urls_on_one_connection_get_their_own_articles() {
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
        article_texts("a.one", &[1]),
        article_texts("b.two", &[1, 2]),
        article_texts("a.one", &[2]),
        article_texts("b.two", &[3]),
        article_texts("a.one", &[3, 4]),
        article_texts("b.two", &[5, 6]),
        article_texts("a.one", &[5]),
        article_texts("b.two", &[7]),
    ];
    for (config, options) in [
        (three_groups(), ""),
        (three_groups().split_replies(), ""),
        (three_groups(), "--retry 2 --retry-delay 0"),
    ] {
        let server = start_server(config);
        let result = fetch_paths(&server, options, &paths);
        assert_eq!(result.assert_exit(78).stdout_text(), expected.concat(), "{:?}", server.received_text());
        assert_eq!(server.connections(), 1, "{:?}", server.received_text());
        assert_eq!(result.stderr.matches("not found").count(), 5, "{}", result.stderr);
        assert_eq!(received_lines(&server, "ARTICLE <3.").len(), 1);
    }
}

#[test]
fn list_between_articles_uses_the_same_connection() {
    for config in [
        three_groups(),
        three_groups().compress(),
        NntpConfig::new().group(group_with_articles("a.one", 1..=9)).without("OVER").without("XOVER"),
    ] {
        let server = start_server(config.group(NntpGroup::new("big").generated(1, 300)));
        let result = fetch_paths(
            &server,
            "--format raw",
            &["a.one/1", "big", "a.one/2", "news:*", "a.one/3", "a.one"],
        );
        let text = result.assert_exit(0).stdout_text();
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"));
        assert!(text.starts_with(&article_texts("a.one", &[1])));
        let order = [at("entry 0000300"), at("This is a.one 2"), at("big 300 1 y"), at("This is a.one 3")];
        assert!(order.is_sorted(), "{order:?}");
        assert!(text.trim_end().lines().last().is_some_and(|line| line.starts_with('9')), "{text}");
        assert_eq!(server.connections(), 1, "{:?}", server.received_text());
    }
}

/// A kept file may have been requested ahead; its article is discarded.
#[test]
fn skipped_files_do_not_shift_pipelined_articles() {
    for kept in [&[1][..], &[2], &[9], &[2, 3], &[1, 3, 5, 7, 9], &[4, 5, 6, 7]] {
        let (server, dir) = (start_server(one_group().delay(Duration::from_millis(2))), temp_dir());
        for number in kept {
            fs::write(dir.path().join(number.to_string()), article_text("a.one", *number))
                .expect("write file");
        }
        let paths: Vec<String> = (1..=9).map(|number| format!("a.one/{number}")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let result = fetch_paths_in(dir.path(), &server, "--no-clobber --remote-name-all", &paths);
        assert_eq!(result.stderr.matches("is not replaced").count(), kept.len(), "{}", result.stderr);
        assert_files(dir.path(), "a.one", &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let commands = received_lines(&server, "ARTICLE");
        let mut once = commands.clone();
        once.dedup();
        assert_eq!(commands, once, "an article was requested twice");
        assert!(commands.len() <= 9 && server.connections() <= 1 + kept.len(), "{commands:?}");
    }
}

#[test]
fn failed_output_or_size_limit_does_not_affect_the_next_url() {
    let long = NntpArticle::post("long@test.invalid", "x", "").repeated(b"a line of some length\r\n", 50_000);
    let config = || one_group().group(NntpGroup::new("long").article(1, long.clone()));
    let rows = [
        ("--max-filesize 5000", &["a.one/1", "long/1", "a.one/2", "a.one/3"][..], 63),
        ("-o - -o /dev/full", &["a.one/1", "a.one/4", "a.one/2", "a.one/3"], 23),
        ("-o - -o /dev/full", &["a.one/1", "long/1", "a.one/2", "a.one/3"], 23),
    ];
    for (options, paths, exit) in rows {
        let server = start_server(config());
        let result = fetch_paths(&server, options, paths);
        assert_eq!(result.exit, exit, "{options}: {}", result.stderr);
        assert_eq!(
            result.stdout_text(),
            article_texts("a.one", &[1, 2, 3]),
            "{options}: {:?}",
            server.received_text()
        );
    }
    let server = start_server(config());
    let result = fetch_paths(&server, "--fail-early", &["a.one/1", "a.one/77", "a.one/2"]);
    assert_eq!(result.assert_exit(78).stdout_text(), article_texts("a.one", &[1]));
}

#[test]
fn parallel_transfers_save_every_article() {
    let (server, dir) = (start_server(three_groups().delay(Duration::from_millis(5))), temp_dir());
    let paths: Vec<String> = (1..=9).flat_map(|n| [format!("a.one/{n}"), format!("b.two/{n}")]).collect();
    let mut arguments = vec!["-Z".to_owned(), "--no-progress-meter".to_owned()];
    for path in &paths {
        arguments.extend(["-o".to_owned(), path.replace('/', "-"), server.url(path)]);
    }
    run_fetch_url_in(dir.path(), arguments.iter().map(String::as_str)).assert_exit(0);
    for path in &paths {
        let (group, number) = path.split_once('/').expect("number");
        let content = fs::read_to_string(dir.path().join(path.replace('/', "-"))).expect("read file");
        assert_eq!(content, article_text(group, number.parse().expect("number")));
    }
    assert_eq!(received_lines(&server, "ARTICLE").len(), 18, "{:?}", server.received_text());
    assert!((2..=16).contains(&server.connections()), "{}", server.connections());
}

/// The server answers 480 in the middle of a pipeline.
#[test]
fn login_between_articles_keeps_the_order() {
    let paths = ["a.one/1", "a.one/2", "c.own/3", "c.own/4", "a.one/5", "c.own/6-7"];
    let expected = [
        article_texts("a.one", &[1, 2]),
        article_texts("c.own", &[3, 4]),
        article_texts("a.one", &[5]),
        article_texts("c.own", &[6, 7]),
    ];
    let server = start_server(three_groups());
    let result = fetch_paths(&server, "--insecure-auth -u me:secret", &paths);
    assert_eq!(result.assert_exit(0).stdout_text(), expected.concat(), "{:?}", server.received_text());
    assert_eq!(received_lines(&server, "AUTHINFO"), ["AUTHINFO USER me", "AUTHINFO PASS secret"]);
    // Without a login the articles of the other group are fetched.
    let server = start_server(three_groups());
    let result = fetch_paths(&server, "", &paths);
    assert_eq!(
        result.assert_exit(67).stdout_text(),
        article_texts("a.one", &[1, 2, 5]),
        "{:?}",
        server.received_text()
    );
    let server = start_server(three_groups());
    let result = fetch_paths(&server, "", &["a.one/1", "news:3.c.own@test.invalid", "a.one/2"]);
    assert_eq!(
        result.assert_exit(67).stdout_text(),
        article_texts("a.one", &[1, 2]),
        "{:?}",
        server.received_text()
    );
    assert!(received_lines(&server, "AUTHINFO").is_empty());
}

/// Skipped articles may have been requested ahead.
#[test]
fn skipped_articles_are_not_part_of_a_later_range() {
    let server = start_server(NntpConfig::new().group(group_with_articles("g", 1..=9)));
    let dir = temp_dir();
    for name in ["b", "c"] {
        fs::write(dir.path().join(name), "old").expect("write file");
    }
    let options = "--no-clobber -o a -o b -o c -o all";
    run_in_home(dir.path(), options, &server_urls(&server, &["g/1", "g/2", "g/7", "g/2-5"]));
    let all = fs::read_to_string(dir.path().join("all")).expect("read file");
    assert_eq!(all, article_texts("g", &[2, 3, 4, 5]));
}
