//! Interrupted news transfers (docs/spec/semantics.md §6; docs/spec/faults.md, row 101): connections that the server
//! closes between articles, truncated articles, and extra data after an article.

use std::fs;

use super::{
    article_text, article_texts, assert_files, fetch_paths, fetch_paths_in, one_group, received_lines,
    start_server,
};
use crate::support::{entry_names, temp_dir};
use fetch_url_tests::{Ending, NntpAction, NntpConfig, NntpRule};

/// Fetches three articles from a server that closes the connection between them, and asserts that the next article is
/// fetched over a new connection without counting as a retry.
fn assert_reconnects(config: &NntpConfig) {
    let expected = article_texts("a.one", &[1, 2, 3]);
    let server = start_server(config.clone());
    let result = fetch_paths(&server, "--retry 3 --retry-delay 0.01", &["a.one/1", "a.one/2", "a.one/3"]);
    assert_eq!(result.assert_exit(0).stdout_text(), expected, "{:?}", server.received_text());
    assert!(server.connections() <= 3, "{:?}", server.received_text());
    // A range is one object: it is not restarted after bytes were written to standard output.
    let result = fetch_paths(&start_server(config.clone()), "--retry 3 --retry-delay 0.01", &["a.one/1-3"]);
    assert!(
        result.exit != 0 && expected.starts_with(&result.stdout_text()) || result.stdout_text() == expected,
        "{result:?}"
    );
    let (server, dir) = (start_server(config.clone()), temp_dir());
    fetch_paths_in(dir.path(), &server, "--retry-all-errors --retry 3 --retry-delay 0.01 -O", &["a.one/1-3"])
        .assert_exit(0);
    assert_files(dir.path(), "a.one", &[1, 2, 3]);
}

/// Closes the connection after an article.
fn close_after_article(ending: Ending) -> NntpRule {
    NntpRule::on("ARTICLE", NntpAction::EndAfter(ending))
}

#[test]
fn connection_closed_between_articles_is_reopened() {
    for ending in [Ending::Close, Ending::Fin, Ending::Reset] {
        assert_reconnects(&one_group().rule(close_after_article(ending).nth(1)));
    }
    assert_reconnects(&one_group().rule(close_after_article(Ending::Close).nth(2)));
    assert_reconnects(&one_group().rule(close_after_article(Ending::Close)));
}

/// A server may end the session with 400 at any time (RFC 3977 §3.2.1).
#[test]
fn reply_400_between_articles_reopens_the_connection() {
    for nth in [1, 2] {
        let idle_reply =
            NntpRule::on("ARTICLE", NntpAction::After(b"400 Idle too long\r\n".to_vec())).nth(nth);
        assert_reconnects(&one_group().rule(idle_reply).rule(close_after_article(Ending::Close).nth(nth)));
    }
}

/// The paths of articles 1 to 5.
const FIVE_PATHS: [&str; 5] = ["a.one/1", "a.one/2", "a.one/3", "a.one/4", "a.one/5"];

/// A server that truncates the third article the first time.
fn config_with_truncated_third_article(ending: Ending) -> NntpConfig {
    one_group().rule(NntpRule::on("ARTICLE 3", NntpAction::CutBlock(60, ending)).nth(1))
}

/// Complete articles are not requested again.
#[test]
fn retry_after_truncation_keeps_complete_articles() {
    for ending in [Ending::Close, Ending::Reset] {
        for (options, paths) in [("-O", &["a.one/1-5"][..]), ("--remote-name-all", &FIVE_PATHS)] {
            let (server, dir) = (start_server(config_with_truncated_third_article(ending)), temp_dir());
            let again = format!("--retry-all-errors --retry 2 --retry-delay 0.01 {options}");
            fetch_paths_in(dir.path(), &server, &again, paths).assert_exit(0);
            assert_files(dir.path(), "a.one", &[1, 2, 3, 4, 5]);
            for number in [1, 2] {
                assert_eq!(
                    received_lines(&server, &format!("ARTICLE {number}")).len(),
                    1,
                    "{:?}",
                    server.received_text()
                );
            }
        }
        let dir = temp_dir();
        let options = "--retry-all-errors --retry 2 --retry-delay 0.01 -o all";
        fetch_paths_in(
            dir.path(),
            &start_server(config_with_truncated_third_article(ending)),
            options,
            &["a.one/1-5"],
        )
        .assert_exit(0);
        let all = fs::read_to_string(dir.path().join("all")).expect("read file");
        assert_eq!(all, article_texts("a.one", &[1, 2, 3, 4, 5]));
        // Standard output is not restarted after bytes were written.
        let result = fetch_paths(
            &start_server(config_with_truncated_third_article(ending)),
            "--retry-all-errors --retry 2 --retry-delay 0.01",
            &["a.one/1-5"],
        );
        assert!(
            result.exit != 0 && all.starts_with(&result.stdout_text()) || result.stdout_text() == all,
            "{result:?}"
        );
    }
}

/// The other articles are saved.
#[test]
fn truncated_article_is_not_saved_without_retry() {
    for ending in [Ending::Close, Ending::Reset] {
        let dir = temp_dir();
        let result = fetch_paths_in(
            dir.path(),
            &start_server(config_with_truncated_third_article(ending)),
            "--remote-name-all",
            &FIVE_PATHS,
        );
        assert!(result.exit == 18 || result.exit == 52 && ending == Ending::Reset, "{result:?}");
        assert_files(dir.path(), "a.one", &[1, 2, 4, 5]);
        let (target, config) = (temp_dir(), config_with_truncated_third_article(ending));
        let result = fetch_paths_in(target.path(), &start_server(config), "-o all", &["a.one/1-5"]);
        assert!([18, 52].contains(&result.exit) && entry_names(target.path()).is_empty(), "{result:?}");
    }
}

/// Each article of the range is saved in a file of its own; the server truncates the third.
#[test]
fn truncated_article_of_a_range_is_not_saved_without_retry() {
    for ending in [Ending::Close, Ending::Reset] {
        let dir = temp_dir();
        let result = fetch_paths_in(
            dir.path(),
            &start_server(config_with_truncated_third_article(ending)),
            "-O",
            &["a.one/1-5"],
        );
        assert_files(dir.path(), "a.one", &[1, 2, 4, 5]);
        assert!(result.exit == 18 || result.exit == 52 && ending == Ending::Reset, "{result:?}");
    }
}

/// The server sends extra data after the first article. Asserts that the data is delivered for no URL
/// (docs/spec/faults.md, row 101).
fn assert_extra_data_is_discarded(extra: &str) {
    let rule = NntpRule::on("ARTICLE 1", NntpAction::After(extra.into()));
    let server = start_server(one_group().rule(rule));
    assert_eq!(fetch_paths(&server, "", &["a.one/1"]).assert_exit(0).stdout_text(), article_text("a.one", 1));
    let result = fetch_paths(&server, "", &["a.one/1", "a.one/2"]);
    assert_eq!(result.assert_exit(0).stdout_text(), article_texts("a.one", &[1, 2]), "{extra:?}");
    assert_eq!(server.connections(), 3, "{:?}", server.received_text());
}

#[test]
fn extra_lines_after_an_article_are_discarded() {
    let extras = ["\r\n", ".\r\n", "garbage\r\n", "200 Hello\r\n", "400 Idle\r\n", "220 2", "\0\0"];
    extras.into_iter().for_each(assert_extra_data_is_discarded);
}

#[test]
fn forged_article_after_an_article_is_discarded() {
    assert_extra_data_is_discarded("430 No such article\r\n");
    assert_extra_data_is_discarded(
        "220 2 <2.a.one@test.invalid> article\r\nSubject: forged\r\n\r\nforged\r\n.\r\n",
    );
}
