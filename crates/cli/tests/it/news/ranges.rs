//! Article ranges such as `nntp://host/group/1-9` (docs/spec/semantics.md §6; docs/spec/faults.md, row 99): the
//! requested articles, their format, and the names of the files.

use std::fs;

use super::{
    article_text, article_texts, assert_files, fetch_paths, fetch_paths_in, group_with_articles, one_group,
    received_lines, run_in_home, server_urls, start_server,
};
use crate::support::{entry_names, temp_dir};
use fetch_url_tests::{NntpAction, NntpConfig, NntpGroup};

#[test]
fn range_fetches_existing_articles_in_order() {
    let sparse = || group_with_articles("a.one", [2, 3, 6, 9]);
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
        let server = start_server(NntpConfig::new().group(sparse()));
        assert_eq!(
            fetch_paths(&server, "", &[path]).assert_exit(0).stdout_text(),
            article_texts("a.one", numbers),
            "{path}"
        );
        let commands = received_lines(&server, "ARTICLE");
        // Numbers are requested in order, each once, and within the numbers of the group. The first request is sent
        // together with GROUP, before these numbers are known.
        let requested: Vec<u64> = commands.iter().map(|line| line[8..].parse().expect("number")).collect();
        assert!(requested.is_sorted_by(|one, other| one < other), "{path}: {commands:?}");
        assert!(requested[1..].iter().all(|number| (2..=9).contains(number)), "{path}: {commands:?}");
        let dir = temp_dir();
        fetch_paths_in(dir.path(), &server, "-O", &[path]).assert_exit(0);
        assert_files(dir.path(), "a.one", numbers);
    }
}

#[test]
fn largest_range_without_articles_exits_78() {
    let server = start_server(NntpConfig::new().group(group_with_articles("a.one", [])));
    for options in ["", "--text"] {
        let result = fetch_paths(&server, options, &["a.one/1-2147483647"]);
        assert!(result.assert_exit(78).stdout.is_empty(), "{options}");
    }
}

/// A server may answer such a range in several forms.
#[test]
fn range_without_articles_exits_78() {
    for config in [
        NntpConfig::new().group(group_with_articles("a.one", [2, 9])),
        NntpConfig::new().group(group_with_articles("a.one", [])),
    ] {
        let server = start_server(config);
        for path in ["a.one/4-7", "a.one/10-12", "a.one/1-1", "a.none/1-9"] {
            for options in ["", "--format mbox", "--text"] {
                assert!(fetch_paths(&server, options, &[path]).assert_exit(78).stdout.is_empty(), "{path}");
            }
            let dir = temp_dir();
            fetch_paths_in(dir.path(), &server, "-O", &[path]).assert_exit(78);
            assert!(entry_names(dir.path()).is_empty(), "{path}: {:?}", entry_names(dir.path()));
        }
    }
}

#[test]
fn output_directory_gets_one_file_per_article() {
    let server = start_server(one_group());
    let dir = temp_dir();
    fetch_paths_in(dir.path(), &server, "--output-dir new --create-dirs", &["a.one/2-4"]).assert_exit(0);
    assert_files(&dir.path().join("new"), "a.one", &[2, 3, 4]);
    fetch_paths_in(dir.path(), &server, "-O --output-dir new --part body", &["a.one/3-3"]).assert_exit(0);
    let body = fs::read_to_string(dir.path().join("new/3")).expect("read file");
    assert_eq!(body, "This is a.one 3.\r\n.\r\nFrom it.\r\n");
    fetch_paths_in(dir.path(), &server, "-o all", &["a.one/2-4"]).assert_exit(0);
    let all = fs::read_to_string(dir.path().join("all")).expect("read file");
    assert_eq!(all, article_texts("a.one", &[2, 3, 4]));
    fetch_paths_in(dir.path(), &server, "--output-dir none", &["a.one/2-4"]).assert_exit(23);
    assert_eq!(entry_names(dir.path()), ["all", "new"]);
}

#[test]
fn part_option_applies_to_every_article_of_a_range() {
    let server = start_server(one_group());
    let (two, three) = (article_text("a.one", 2), article_text("a.one", 3));
    let parts = |at: usize| {
        [&two, &three].map(|text| text.split("\r\n\r\n").nth(at).expect("head and body").to_owned())
    };
    // Each head ends with an empty line.
    let heads: String = parts(0).iter().map(|head| format!("{head}\r\n\r\n")).collect();
    assert_eq!(fetch_paths(&server, "--part head", &["a.one/2-3"]).assert_exit(0).stdout_text(), heads);
    assert_eq!(
        fetch_paths(&server, "--part body", &["a.one/2-3"]).assert_exit(0).stdout_text(),
        parts(1).concat()
    );
    assert_eq!(
        fetch_paths(&server, "--text", &["a.one/2-3"]).assert_exit(0).stdout_text(),
        (two + &three).replace("\r\n", "\n")
    );
    assert_eq!(received_lines(&server, "HEAD"), ["HEAD 2", "HEAD 3"]);
    assert_eq!(received_lines(&server, "BODY"), ["BODY 2", "BODY 3"]);
}

/// Returns the mbox of these articles of `a.one`.
fn expected_mbox(numbers: &[u64]) -> String {
    let one = |number: &u64| {
        let quoted = article_text("a.one", *number).replace("\r\n", "\n").replace("\nFrom it", "\n>From it");
        format!("From alice@test.invalid Thu Dec  1 12:34:56 1994\n{quoted}\n")
    };
    numbers.iter().map(one).collect()
}

#[test]
fn several_articles_make_one_mbox() {
    let server = start_server(NntpConfig::new().group(group_with_articles("a.one", [2, 3, 7])));
    let all = expected_mbox(&[2, 3, 7]);
    assert_eq!(fetch_paths(&server, "--format mbox", &["a.one/1-9"]).assert_exit(0).stdout_text(), all);
    assert_eq!(fetch_paths(&server, "--format mbox", &["a.one"]).assert_exit(0).stdout_text(), all);
    assert_eq!(fetch_paths(&server, "--format mbox", &["news:a.one"]).assert_exit(0).stdout_text(), all);
    let single = ["a.one/2", "news:3.a.one@test.invalid", "a.one/7"];
    assert_eq!(fetch_paths(&server, "--format mbox", &single).assert_exit(0).stdout_text(), all);
    let dir = temp_dir();
    fetch_paths_in(dir.path(), &server, "--format mbox -o it.mbox", &["a.one/2-7"]).assert_exit(0);
    assert_eq!(fs::read_to_string(dir.path().join("it.mbox")).expect("read file"), all);
}

/// Servers number more articles than RFC 3977 §6 allows, up to the 16 digits of its grammar.
#[test]
fn group_with_numbers_above_31_bits_is_fetched_completely() {
    for first in [2_147_483_646, 9_999_999_999_999_996] {
        let numbers: Vec<u64> = (first..first + 4).collect();
        let group = || group_with_articles("a.one", numbers.iter().copied());
        let server = start_server(NntpConfig::new().group(group()));
        let (all, range) = (expected_mbox(&numbers), format!("a.one/{first}-{}", first + 3));
        for path in ["a.one", &range] {
            assert_eq!(fetch_paths(&server, "--format mbox", &[path]).assert_exit(0).stdout_text(), all);
        }
        let dir = temp_dir();
        fetch_paths_in(dir.path(), &server, "-O", &[&range]).assert_exit(0);
        assert_files(dir.path(), "a.one", &numbers);
        // Each listed URL can be fetched.
        let listing = fetch_paths(&server, "--format json", &["a.one"]).assert_exit(0).stdout_text();
        assert!(listing.contains(&server.url(&format!("a.one/{}", first + 3))), "{listing}");
        let last = fetch_paths(&server, "", &[&format!("a.one/{}", first + 3)]);
        assert_eq!(last.assert_exit(0).stdout_text(), article_text("a.one", first + 3));
        let listed_by_head = start_server(NntpConfig::new().group(group()).without("OVER").without("XOVER"));
        let listing = fetch_paths(&listed_by_head, "--format json", &["a.one"]).assert_exit(0).stdout_text();
        assert_eq!(listing.lines().filter(|line| line.contains("\"number\":")).count(), 4, "{listing}");
    }
}

/// Articles that no URL can name are an error, not an incomplete result.
#[test]
fn group_with_numbers_of_17_digits_exits_8() {
    let largest = 9_999_999_999_999_999;
    let server = start_server(NntpConfig::new().group(group_with_articles("a.one", [largest, largest + 1])));
    for options in ["--format mbox", "--format json", "-I"] {
        let result = fetch_paths(&server, options, &["a.one"]);
        assert!(result.assert_exit(8).stdout.is_empty(), "{options}");
    }
}

/// Servers reply with codes of their own for an article that was removed, for example 451.
#[test]
fn articles_that_are_not_delivered_are_skipped_with_a_note() {
    let config = |first: &str, fifth: &str| {
        let reply = |code: &str| format!("{code} Removed\r\n");
        one_group().answer("ARTICLE 1", reply(first)).answer("ARTICLE 5", reply(fifth))
    };
    for (first, fifth, codes) in
        [("423", "451", "423, 451"), ("451", "430", "430, 451"), ("436", "436", "436")]
    {
        let server = start_server(config(first, fifth));
        let numbers = [2, 3, 4, 6, 7, 8, 9];
        for (options, path, expected) in [
            ("", "a.one/1-9", article_texts("a.one", &numbers)),
            ("--format mbox", "a.one/1-9", expected_mbox(&numbers)),
            ("--format mbox", "a.one", expected_mbox(&numbers)),
        ] {
            let result = fetch_paths(&server, options, &[path]);
            assert_eq!(result.assert_exit(0).stdout_text(), expected, "{path}");
            let note = format!("2 article numbers were skipped: the server replied {codes}");
            assert_eq!(result.stderr.matches(&note).count(), 1, "{path}: {}", result.stderr);
        }
        // A listed article that is not delivered is an error of its file.
        let dir = temp_dir();
        fetch_paths_in(dir.path(), &server, "-O", &["a.one/1-9"]).assert_exit(78);
        assert_files(dir.path(), "a.one", &numbers);
    }
    let server = start_server(config("451", "451"));
    let result = fetch_paths(&server, "", &["a.one/1", "a.one/5", "a.one/5-5", "a.one/2"]);
    assert_eq!(result.assert_exit(78).stdout_text(), article_text("a.one", 2));
    assert_eq!(server.connections(), 1, "{:?}", server.received_text());
    let result = fetch_paths(&server, "", &["a.one/2-4"]);
    assert!(!result.assert_exit(0).stderr.contains("skipped"), "{}", result.stderr);
}

/// Replies that concern the connection, the group or the login end a range.
#[test]
fn reply_about_more_than_one_article_ends_the_range() {
    for (code, exit) in [("403", 92), ("405", 8), ("411", 78), ("480", 67), ("500", 1), ("502", 9)] {
        let server = start_server(one_group().answer("ARTICLE 5", format!("{code} No\r\n")));
        let result = fetch_paths(&server, "--retry 0", &["a.one/1-9"]);
        assert_eq!(result.assert_exit(exit).stdout_text(), article_texts("a.one", &[1, 2, 3, 4]), "{code}");
    }
}

/// The URL determines the possible file names, not the server.
#[test]
fn overview_with_false_numbers_creates_no_other_files() {
    let line = |number: u64| format!("{number}\tx\ta@b\tx\t<{number}.a.one@test.invalid>\t\t1\t1\r\n");
    let block: String = [3, 3, 9, 7777, 2].map(line).concat();
    let (server, dir) = (start_server(one_group().on("OVER", NntpAction::Block(block.into()))), temp_dir());
    fs::write(dir.path().join("9"), "mine").expect("write file");
    fetch_paths_in(dir.path(), &server, "-O", &["a.one/1-5"]).assert_exit(8);
    assert!(entry_names(dir.path()).iter().all(|name| ["2", "3", "9"].contains(&name.as_str())));
    assert_eq!(fs::read(dir.path().join("9")).expect("read file"), b"mine");
    assert!(
        received_lines(&server, "ARTICLE 9").is_empty() && received_lines(&server, "ARTICLE 3").len() <= 1
    );
}

/// Some servers do not select an empty group and answer 412.
#[test]
fn range_of_an_empty_group_exits_78() {
    let config = NntpConfig::new().group(NntpGroup::new("g").reported_counts(0, 5, 4));
    let server = start_server(config.answer("ARTICLE", "412 No group\r\n"));
    let dir = temp_dir();
    run_in_home(dir.path(), "-o all", &server_urls(&server, &["g/1-3"])).assert_exit(78);
    assert!(entry_names(dir.path()).is_empty());
}

/// A file of the first group is not overwritten by the second group.
#[test]
fn articles_of_two_groups_with_equal_numbers_in_one_directory_exit_2() {
    let server = start_server(
        NntpConfig::new().group(group_with_articles("g", 1..=9)).group(group_with_articles("h", 1..=9)),
    );
    let dir = temp_dir();
    let result = run_in_home(dir.path(), "--output-dir .", &server_urls(&server, &["g/1-2", "h/2-3"]));
    result.assert_exit(2).assert_stderr_contains("directory");
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect("read file");
    assert_eq!(
        (read("1"), read("2"), read("3")),
        (article_texts("g", &[1]), article_texts("g", &[2]), article_texts("h", &[3]))
    );
}
