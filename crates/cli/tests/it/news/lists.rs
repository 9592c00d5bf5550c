//! Lists of groups and of articles (docs/spec/semantics.md §6; RFC 3977 §6.1, §7.6 and §8; docs/spec/faults.md, row
//! 84): as text in 80 columns, as JSON and as raw bytes, from servers with and without OVER.

use super::{fetch_with_news_server, start_server};
use crate::support::{BINARY, RunResult, run_fetch_url};
use fetch_url_tests::{NntpAction, NntpArticle, NntpConfig, NntpGroup, NntpServer, Terminal};
use serde_json::{Value, json};

/// Returns the received commands without CAPABILITIES, MODE and QUIT.
fn request_commands(server: &NntpServer) -> Vec<String> {
    let mut lines = server.received_text();
    lines.retain(|line| !line.starts_with("CAPABILITIES") && !line.starts_with("MODE") && line != "QUIT");
    lines
}

/// Parses standard output as JSON Lines.
fn parse_json_lines(result: &RunResult) -> Vec<Value> {
    result.stdout_text().lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect()
}

/// Returns the values of these fields, which are separated by spaces.
fn select_fields(object: &Value, names: &str) -> Value {
    Value::Array(names.split(' ').map(|name| object[name].clone()).collect())
}

/// The JSON fields of an article in a list.
const ARTICLE_FIELDS: &str = "number subject from date message_id references bytes lines";
const FIRST: &str = "From: Alice <alice@test.invalid>\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= and more\r\n\
    Date: Thu, 01 Dec 1994 12:34:56 +0000\r\nMessage-ID: <one@test.invalid>\r\n\r\nHello\r\n";
const SECOND: &str = "From: \"Bob B.\" <bob@test.invalid>\r\nSubject: Re:\r\n\tone\r\nMessage-ID: <a/b%c+d@test.invalid>\r\n\
    References: <zero@test.invalid> <one@test.invalid>\r\nDate: 2 Dec 94 01:02:03 EST\r\nLines: 2\r\n\r\n.a\r\nb\r\n";

/// The group `fetch.test` with articles 3, 4 and 7.
fn test_group() -> NntpGroup {
    let last = NntpArticle::new("Subject: last\r\nMessage-ID: <last@test.invalid>\r\n\r\n");
    let named = [(3, NntpArticle::new(FIRST)), (4, NntpArticle::new(SECOND)), (7, last)];
    named
        .into_iter()
        .fold(NntpGroup::new("fetch.test"), |group, (number, article)| group.article(number, article))
}

/// A server with one group for each posting flag.
fn groups_with_all_flags() -> NntpConfig {
    let crowd = NntpGroup::new("comp.lang.rust").posting("n").generated(5, 20);
    let config = NntpConfig::new().group(test_group()).group(crowd);
    let rest =
        [("comp.lang.c++", "m"), ("fr.\u{e9}t\u{e9}", "x"), ("alt.3d", "j"), ("moved", "=comp.lang.rust")];
    rest.iter().fold(config, |config, (name, flag)| config.group(NntpGroup::new(name).posting(flag)))
}

#[test]
fn article_list_as_json_has_all_overview_fields() {
    let server = start_server(NntpConfig::new().group(test_group()));
    let url = server.url("fetch.test");
    let entries = parse_json_lines(fetch_with_news_server(&server, "--format json", &url).assert_exit(0));
    let expected = [
        json!([
            3,
            "=?utf-8?Q?Gr=C3=BC=C3=9Fe?= and more",
            "Alice <alice@test.invalid>",
            "Thu, 01 Dec 1994 12:34:56 +0000",
            "<one@test.invalid>",
            "",
            FIRST.len(),
            1
        ]),
        json!([
            4,
            "Re: one",
            "\"Bob B.\" <bob@test.invalid>",
            "2 Dec 94 01:02:03 EST",
            "<a/b%c+d@test.invalid>",
            "<zero@test.invalid> <one@test.invalid>",
            SECOND.len(),
            2
        ]),
        json!([7, "last", "", "", "<last@test.invalid>", "", 50, 0]),
    ];
    assert_eq!(
        entries.iter().map(|object| select_fields(object, ARTICLE_FIELDS)).collect::<Vec<_>>(),
        expected
    );
    for (object, number) in entries.iter().zip([3, 4, 7]) {
        assert_eq!(object["url"], format!("{url}/{number}"));
    }
    let commands = request_commands(&server);
    assert!(
        commands.len() == 2 && commands[0] == "GROUP fetch.test" && commands[1].starts_with("OVER 3-"),
        "{commands:?}"
    );
    // A `news:` URL lists the same articles.
    let named =
        parse_json_lines(fetch_with_news_server(&server, "--format json", "news:fetch.test").assert_exit(0));
    let fields = |entries: &[Value]| {
        entries.iter().map(|object| select_fields(object, ARTICLE_FIELDS)).collect::<Vec<_>>()
    };
    assert_eq!(fields(&named), fields(&entries));
}

#[test]
fn group_list_as_json_has_name_numbers_and_posting_flag() {
    let server = start_server(groups_with_all_flags());
    let entries = parse_json_lines(fetch_with_news_server(&server, "--format json", "news:*").assert_exit(0));
    let expected = [
        json!(["fetch.test", 3, 7, "y"]),
        json!(["comp.lang.rust", 5, 24, "n"]),
        json!(["comp.lang.c++", 1, 0, "m"]),
        json!(["fr.\u{e9}t\u{e9}", 1, 0, "x"]),
        json!(["alt.3d", 1, 0, "j"]),
        json!(["moved", 1, 0, "=comp.lang.rust"]),
    ];
    let found: Vec<Value> =
        entries.iter().map(|object| select_fields(object, "name low high posting")).collect();
    assert_eq!(found, expected);
    assert_eq!(request_commands(&server), ["LIST ACTIVE"]);
}

/// The URL is complete: no `--news-server` is needed.
#[test]
fn listed_url_fetches_its_group_or_article() {
    let server = start_server(groups_with_all_flags());
    for pattern_url in ["news:*", "news:fetch.*", "news:comp.*,fr.*"] {
        for object in
            parse_json_lines(fetch_with_news_server(&server, "--format json", pattern_url).assert_exit(0))
        {
            let url = object["url"].as_str().expect("URL").to_owned();
            let lines = run_fetch_url(["--format", "json", &url]);
            let high: u64 = object["high"].as_u64().expect("number");
            assert_eq!(parse_json_lines(lines.assert_exit(0)).is_empty(), high == 0, "{url}");
        }
    }
    for list in [server.url("fetch.test"), "news:fetch.test".to_owned()] {
        let entries =
            parse_json_lines(fetch_with_news_server(&server, "--format json", &list).assert_exit(0));
        let bytes = |at: usize| {
            run_fetch_url([entries[at]["url"].as_str().expect("URL")]).assert_exit(0).stdout_text()
        };
        assert_eq!((bytes(0), bytes(1)), (FIRST.to_owned(), SECOND.to_owned()));
    }
}

#[test]
fn list_as_raw_is_the_received_bytes() {
    let server = start_server(groups_with_all_flags());
    let result = fetch_with_news_server(&server, "--format raw", "news:*");
    let expected = "fetch.test 7 3 y\r\ncomp.lang.rust 24 5 n\r\ncomp.lang.c++ 0 1 m\r\n\
        fr.\u{e9}t\u{e9} 0 1 x\r\nalt.3d 0 1 j\r\nmoved 0 1 =comp.lang.rust\r\n";
    assert_eq!(result.assert_exit(0).stdout_text(), expected);
    let hostile = b"3\ta\x1b[2J\xff\t\t\r\n..dot\r\nno line\r\n\r\n99999999999999999999\tx\r\n";
    let config = NntpConfig::new().group(test_group()).on("OVER", NntpAction::Block(hostile.to_vec()));
    let result = fetch_with_news_server(&start_server(config), "--format raw", "news:fetch.test");
    let expected = b"3\ta\x1b[2J\xff\t\t\r\n.dot\r\nno line\r\n\r\n99999999999999999999\tx\r\n";
    assert_eq!(result.assert_exit(0).stdout.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn list_as_text_shows_decoded_headers() {
    let server = start_server(groups_with_all_flags());
    let text = fetch_with_news_server(&server, "", &server.url("fetch.test")).assert_exit(0).stdout_text();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0], ["3", "1994-12-01", "12:34", "Alice", "Gr\u{fc}\u{df}e", "and", "more"]);
    assert_eq!(lines[1], ["4", "1994-12-02", "06:02", "Bob", "B.", "Re:", "one"]);
    assert_eq!((lines[2][0], lines[2].last()), ("7", Some(&"last")));
    let text = fetch_with_news_server(&server, "--format text", "news:*").assert_exit(0).stdout_text();
    assert_eq!(text.lines().count(), 6, "{text}");
    for name in ["fetch.test", "comp.lang.rust", "comp.lang.c++", "fr.\u{e9}t\u{e9}", "alt.3d"] {
        assert_eq!(text.matches(name).count(), 1 + usize::from(name == "comp.lang.rust"), "{name}: {text}");
    }
}

/// A server with one article with these From and Subject headers.
fn article_with_headers(from: &str, subject: &str) -> NntpConfig {
    let head = format!("From: {from}\r\nSubject: {subject}\r\nMessage-ID: <a@b>\r\nDate: x\r\n\r\n");
    NntpConfig::new().group(NntpGroup::new("fetch.test").append(NntpArticle::new(head)))
}

/// Encoded words in headers (RFC 2047) are decoded.
#[test]
fn encoded_words_are_decoded_in_text_output_only() {
    let rows = [
        ("=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "Gr\u{fc}\u{df}e"),
        ("=?ISO-8859-1?q?caf=E9_noir?=", "caf\u{e9} noir"),
        ("=?utf-8?B?4pyTIG9r?=", "\u{2713} ok"),
        ("=?utf-8?b?4pyT?=\r\n =?utf-8?Q?_x?=", "\u{2713} x"),
        ("a =?utf-8?Q?b?= c", "a b c"),
        ("=?utf-8*en?Q?b?=", "b"),
        ("=?windows-1252?Q?=80?=", "\u{20ac}"),
        ("=?utf-8?X?b?=", "=?utf-8?X?b?="),
        ("=?utf-8?Q?b", "=?utf-8?Q?b"),
        ("=?", "=?"),
    ];
    for (subject, expected) in rows {
        let server = start_server(article_with_headers("a@b", subject));
        let text = fetch_with_news_server(&server, "", "news:fetch.test").assert_exit(0).stdout_text();
        assert!(text.trim_end().ends_with(&format!(" {expected}")), "{subject}: {text}");
        let unfolded = subject.replace("\r\n", "");
        let json = parse_json_lines(
            fetch_with_news_server(&server, "--format json", "news:fetch.test").assert_exit(0),
        );
        assert_eq!(json[0]["subject"], unfolded.as_str(), "{subject}");
        let raw =
            fetch_with_news_server(&server, "--format raw", "news:fetch.test").assert_exit(0).stdout_text();
        assert!(raw.contains(&format!("\t{unfolded}\t")), "{subject}: {raw}");
    }
    let server = start_server(article_with_headers("=?utf-8?Q?J=C3=BCrgen_M=2E?= <j@test.invalid>", "x"));
    let text = fetch_with_news_server(&server, "", "news:fetch.test").assert_exit(0).stdout_text();
    assert!(text.contains("J\u{fc}rgen M."), "{text}");
}

/// docs/spec/semantics.md §12: an encoded word cannot add line ends or control characters either.
#[test]
fn hostile_headers_send_no_controls_to_the_terminal() {
    let hostile = [
        "=?utf-8?Q?a=1B[2Jb?=",
        "=?utf-8?Q?a=0D=0Ab=0Ac?=",
        "=?utf-8?Q?a=E2=80=AEb?=",
        "=?utf-8?Q?a=C2=9B31mb?=",
        "=?iso-8859-1?Q?a=9B31mb?=",
        "=?utf-8?Q?a=E2=80=A8b?=",
        "a\x1b]0;title\x07b",
        "a\u{202e}b\u{85}c",
        "a\x08\x08\x7fb",
    ];
    let group = hostile.iter().fold(NntpGroup::new("fetch.test"), |group, text| {
        group.append(NntpArticle::new(format!(
            "From: {text} <a@b>\r\nSubject: {text}\r\nMessage-ID: <a@b>\r\n\r\n"
        )))
    });
    let server = start_server(NntpConfig::new().group(group).group(NntpGroup::new("a\x1b[2J\u{202e}b")));
    let is_unsafe_control = |character: char| {
        character.is_control() && character != '\n' || ('\u{2028}'..='\u{202e}').contains(&character)
    };
    for options in [&["news:fetch.test"][..], &["news:*"], &["-I", "news:fetch.test"]] {
        let addr = server.news_server();
        let arguments = [&["--news-server", addr.as_str()][..], options].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 200).expect("start terminal");
        assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
        let screen = terminal.screen();
        assert!(!screen.contains(is_unsafe_control), "{}", screen.escape_debug());
        let text = run_fetch_url(&arguments).assert_exit(0).stdout_text();
        assert_eq!(text.lines().count(), screen.lines().count(), "{text:?} {screen:?}");
        let lines = if options == ["news:fetch.test"] { hostile.len() } else { text.lines().count() };
        assert_eq!(screen.lines().count(), lines, "{screen:?}");
    }
    for object in
        parse_json_lines(fetch_with_news_server(&server, "--format json", "news:fetch.test").assert_exit(0))
    {
        assert!(object["number"].as_u64().is_some_and(|number| (1..=9).contains(&number)), "{object}");
    }
}

#[test]
fn list_lines_fit_80_columns_on_a_terminal() {
    let long = "x".repeat(300);
    let wide = "\u{6f22}\u{5b57}".repeat(60);
    let group = |name: &str| {
        let article = |text: &str| {
            NntpArticle::new(format!("From: {text} <a@b>\r\nSubject: {text}\r\nMessage-ID: <a@b>\r\n\r\n"))
        };
        NntpGroup::new(name).article(1, article(&long)).article(2_147_483_647, article(&wide))
    };
    let server = start_server(NntpConfig::new().group(group("fetch.test")).group(group(&"long.".repeat(30))));
    let addr = server.news_server();
    for url in ["news:fetch.test", "news:*"] {
        let mut terminal = Terminal::run(BINARY, &["--news-server", &addr, url], 80).expect("start terminal");
        assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
        for line in terminal.screen().lines() {
            let width: usize = line.chars().map(|letter| 1 + usize::from(letter >= '\u{2e80}')).sum();
            assert!(width <= 80 || url == "news:*", "{width}: {line}");
        }
        // Only the name of the author is truncated.
        let screen: String = terminal.screen().split_whitespace().collect();
        let name_or_subject = if url == "news:*" { "long.".repeat(30) } else { long.clone() };
        assert!(
            screen.contains(&name_or_subject) && (url == "news:*" || screen.contains(&wide)),
            "{}",
            terminal.screen()
        );
    }
}

#[test]
fn overview_falls_back_to_xover_and_head() {
    let configs = [
        ("OVER", NntpConfig::new()),
        ("XOVER", NntpConfig::new().without("OVER")),
        ("XOVER", NntpConfig::new().answer("OVER", "500 What?\r\n")),
        // OVER answers 503: fetch-url may continue with XOVER or HEAD.
        ("", NntpConfig::new().answer("OVER", "503 Not kept\r\n")),
        ("XOVER", NntpConfig::new().answer("CAPABILITIES", "500 What?\r\n").answer("OVER", "500 What?\r\n")),
        ("HEAD", NntpConfig::new().without("OVER").without("XOVER")),
        ("HEAD", NntpConfig::new().without("XOVER").answer("OVER", "503 Not kept\r\n")),
        (
            "HEAD",
            NntpConfig::new()
                .without("CAPABILITIES")
                .without("OVER")
                .without("XOVER")
                .delay(std::time::Duration::from_millis(2)),
        ),
    ];
    let fields = "number subject from date message_id references";
    let mut expected = Vec::new();
    for (command, config) in configs {
        let server = start_server(config.group(test_group()));
        let entries = parse_json_lines(
            fetch_with_news_server(&server, "--format json", &server.url("fetch.test")).assert_exit(0),
        );
        let found: Vec<Value> = entries.iter().map(|object| select_fields(object, fields)).collect();
        if expected.is_empty() {
            expected.clone_from(&found);
        }
        assert_eq!(found, expected, "{command}: {:?}", server.received_text());
        let last = request_commands(&server).pop().expect("last command");
        assert!(last.starts_with(command), "{command}: {:?}", server.received_text());
        assert_eq!(server.connections(), 1);
    }
    assert_eq!(expected.len(), 3);
}

/// Servers report an empty group in several forms; missing articles are not errors.
#[test]
fn empty_group_or_list_prints_nothing() {
    for (config, case) in empty_group_configs().into_iter().zip(0..) {
        let server = start_server(config);
        for format in ["text", "json", "raw"] {
            let result = fetch_with_news_server(&server, &format!("--format {format}"), "news:fetch.test");
            assert!(
                result.exit == 0 && result.stdout.is_empty(),
                "{case} {format}: {result:?} {:?}",
                server.received_text()
            );
        }
    }
    let server = start_server(NntpConfig::new());
    for url in ["news:*", "news:none.*"] {
        for format in ["text", "json", "raw"] {
            let result = fetch_with_news_server(&server, &format!("--format {format}"), url);
            assert!(result.assert_exit(0).stdout.is_empty(), "{url} {format}: {}", result.stdout_text());
        }
    }
    fetch_with_news_server(&server, "", "news:none").assert_exit(78).assert_stderr_contains("411");
}

#[test]
fn empty_group_as_mbox_prints_nothing() {
    for (config, case) in empty_group_configs().into_iter().zip(0..) {
        let server = start_server(config);
        let result = fetch_with_news_server(&server, "--format mbox", "news:fetch.test");
        assert!(
            result.exit == 0 && result.stdout.is_empty(),
            "{case}: {result:?} {:?}",
            server.received_text()
        );
    }
}

/// Servers that report an empty group in different forms.
fn empty_group_configs() -> [NntpConfig; 8] {
    let empty = || NntpGroup::new("fetch.test");
    [
        NntpConfig::new().group(empty()),
        NntpConfig::sn().group(empty()),
        NntpConfig::new().group(empty()).without("OVER"),
        NntpConfig::new().group(empty()).without("OVER").without("XOVER"),
        NntpConfig::new().group(empty().reported_counts(0, 8, 7)),
        NntpConfig::new().group(empty().reported_counts(0, 0, 0)),
        NntpConfig::new().group(empty().reported_counts(5, 3, 7)),
        NntpConfig::new().group(empty().reported_counts(5, 3, 7)).without("OVER").without("XOVER"),
    ]
}

/// Patterns of RFC 3977 §4. fetch-url filters the full list itself if the server rejects the pattern.
#[test]
fn group_pattern_is_matched_by_server_or_client() {
    let configs = [groups_with_all_flags(), groups_with_all_flags().answer("LIST ACTIVE", "501 What?\r\n")];
    for (config, case) in configs.into_iter().zip(0..) {
        let server = start_server(config);
        for (pattern, expected) in PATTERNS {
            assert_eq!(
                matching_groups(&server, pattern),
                expected,
                "{case} {pattern}: {:?}",
                server.received_text()
            );
        }
        assert_eq!(server.received_text().iter().filter(|line| line == &"LIST ACTIVE comp.*").count(), 1);
    }
}

#[test]
fn group_pattern_works_without_list_active() {
    let server =
        start_server(groups_with_all_flags().answer("LIST ACTIVE", "503 LIST command not implemented\r\n"));
    for (pattern, expected) in PATTERNS {
        assert_eq!(matching_groups(&server, pattern), expected, "{pattern}: {:?}", server.received_text());
    }
    assert_eq!(matching_groups(&server, "*").len(), 6);
}

/// A pattern and the groups of [`groups_with_all_flags`] that match it.
const PATTERNS: [(&str, &[&str]); 6] = [
    ("comp.*", &["comp.lang.rust", "comp.lang.c++"]),
    ("*.test", &["fetch.test"]),
    ("comp.*,!*.rust", &["comp.lang.c++"]),
    ("fr.%C3%A9*", &["fr.\u{e9}t\u{e9}"]),
    ("*d*", &["alt.3d", "moved"]),
    ("none.*", &[]),
];
/// Returns the names of the groups that match a pattern.
fn matching_groups(server: &NntpServer, pattern: &str) -> Vec<String> {
    let entries = parse_json_lines(
        fetch_with_news_server(server, "--format json", &format!("news:{pattern}")).assert_exit(0),
    );
    entries.iter().map(|object| object["name"].as_str().expect("name is a string").to_owned()).collect()
}

/// The server numbers articles from 10 and has only XOVER or HEAD.
#[test]
fn lists_of_an_rfc977_server_are_supported() {
    let config = || NntpConfig::sn().group(test_group()).group(NntpGroup::new("fetch.empty"));
    for config in [config(), config().without("XOVER"), config().answer("LIST ACTIVE", "501 Bad syntax\r\n")]
    {
        let server = start_server(config);
        let entries = parse_json_lines(
            fetch_with_news_server(&server, "--format json", &server.url("fetch.test")).assert_exit(0),
        );
        let numbers: Vec<u64> =
            entries.iter().map(|object| object["number"].as_u64().expect("number")).collect();
        assert_eq!(numbers, [10, 11, 14], "{:?}", server.received_text());
        assert_eq!(
            run_fetch_url([entries[1]["url"].as_str().expect("URL")]).assert_exit(0).stdout_text(),
            SECOND
        );
        let entries =
            parse_json_lines(fetch_with_news_server(&server, "--format json", "news:*").assert_exit(0));
        let found: Vec<Value> = entries.iter().map(|object| select_fields(object, "name low high")).collect();
        assert_eq!(found[0], json!(["fetch.test", 10, 14]), "{:?}", server.received_text());
        assert_eq!(found.len(), 2);
    }
}

/// Malformed overview lines neither hide other articles nor add articles.
#[test]
fn malformed_overview_lines_are_ignored() {
    let block = "3\tone\ta@b\tx\t<1@b>\t\t10\t1\r\n\r\nnot a number\tx\r\n4\tshort\r\n-5\ta\tb\tc\td\te\tf\tg\r\n\
        99999999999999999999\tbig\ta@b\tx\t<2@b>\t\t1\t1\r\n\
        7\tlast\ta@b\tx\t<3@b>\t\tmany\t\tXref: x fetch.test:7\r\n";
    let config = NntpConfig::new().group(test_group()).on("OVER", NntpAction::Block(block.into()));
    let server = start_server(config);
    let entries =
        parse_json_lines(fetch_with_news_server(&server, "--format json", "news:fetch.test").assert_exit(0));
    let found: Vec<Value> = entries.iter().filter(|object| !object["number"].is_null()).cloned().collect();
    let numbers: Vec<u64> = found.iter().map(|object| object["number"].as_u64().expect("number")).collect();
    assert!(numbers == [3, 4, 7] || numbers == [3, 7], "{entries:?}");
    assert_eq!(select_fields(&found[0], ARTICLE_FIELDS), json!([3, "one", "a@b", "x", "<1@b>", "", 10, 1]));
    let last = found.last().expect("last article");
    assert_eq!(select_fields(last, ARTICLE_FIELDS), json!([7, "last", "a@b", "x", "<3@b>", "", null, null]));
}

/// `-I` sends GROUP and requests no list.
#[test]
fn head_option_shows_article_numbers_of_a_group() {
    let server = start_server(NntpConfig::new().group(test_group()));
    let text = fetch_with_news_server(&server, "-I", &server.url("fetch.test")).assert_exit(0).stdout_text();
    for number in ["3", "7"] {
        assert!(text.split_whitespace().any(|word| word == number), "{text}");
    }
    let json = parse_json_lines(
        fetch_with_news_server(&server, "-I --format json", "news:fetch.test").assert_exit(0),
    );
    assert_eq!(json[0]["fields"], json!([["Articles", "3"], ["First", "3"], ["Last", "7"]]));
    assert_eq!(request_commands(&server), ["GROUP fetch.test"; 2]);
    fetch_with_news_server(&server, "-I", "news:none").assert_exit(78);
}
