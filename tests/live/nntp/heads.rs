//! `-I`: metadata of an article, a group or a server, without a body.

use super::received_commands::commands;
use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::work_dir::fetch;

each_news_server![
    head_of_an_article_shows_its_header,
    json_head_of_an_article_has_its_fields,
    head_of_a_group_shows_count_and_numbers,
    head_of_an_empty_group_shows_no_articles,
    head_of_a_missing_article_exits_78
];

/// Returns the lines of a header with CR LF or LF, without empty lines and the modification time that `-I` adds.
fn head_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    text.lines()
        .map(str::to_owned)
        .filter(|line| !line.is_empty() && line != "modified: 1994-12-01 12:34")
        .collect()
}

fn head_of_an_article_shows_its_header(server: NewsServer) {
    for nth in [2, 1702, 1711] {
        let expected = head_lines(&server.nth("HEAD", "fetch.test", nth));
        let result = fetch(&["-I", &server.nth_url("fetch.test", nth)]).assert_exit(0);
        assert_eq!(head_lines(&result.out), expected, "{nth}");
    }
    let result = fetch(&["-I", &server.id_url("plain-0002@test.invalid")]).assert_exit(0);
    assert_eq!(head_lines(&result.out), head_lines(&server.nth("HEAD", "fetch.test", 2)));
    let url = server.nth_url("fetch.test", 1705);
    let verbs = commands(server, &["-I", &url]);
    assert!(
        verbs.iter().all(|line| ["GROUP", "HEAD", "STAT"].contains(&line.split(' ').next().unwrap_or("")))
    );
}

fn json_head_of_an_article_has_its_fields(server: NewsServer) {
    let text = fetch(&["-I", "--format", "json", &server.nth_url("fetch.test", 2)]).assert_exit(0).text();
    assert_eq!(text.lines().count(), 1, "{text}");
    for part in [r#"["Subject","plain article 2"]"#, r#"["Message-ID","<plain-0002@test.invalid>"]"#] {
        assert!(text.contains(part), "{text}");
    }
}

/// The number of articles, and the first and last number.
fn head_of_a_group_shows_count_and_numbers(server: NewsServer) {
    for (group, count, last) in [("fetch.test", 1748, 1748), ("fetch.8bit", 100, 100)] {
        let text = fetch(&["-I", &server.url(group)]).assert_exit(0).text();
        let expected = [count, server.number(1), server.number(last)].map(|number| number.to_string());
        let numbers: Vec<&str> =
            text.lines().filter_map(|line| line.split_once(": ")).map(|(_, n)| n).collect();
        assert_eq!(numbers, expected, "{text}");
    }
    assert_eq!(commands(server, &["-I", &server.url("fetch.test")]), ["GROUP fetch.test"]);
}

fn head_of_an_empty_group_shows_no_articles(server: NewsServer) {
    let text = fetch(&["-I", &server.url("fetch.empty")]).assert_exit(0).text();
    assert!(text.lines().any(|line| line == "Articles: 0"), "{text}");
}

fn head_of_a_missing_article_exits_78(server: NewsServer) {
    for url in [
        server.url("fetch.no-such-group"),
        server.nth_url("fetch.test", 9000),
        server.id_url("nobody@test.invalid"),
    ] {
        fetch(&["-I", &url]).assert_exit(78).assert_stdout("").assert_stderr_contains("not found");
    }
}
