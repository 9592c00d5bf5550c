//! `--format mbox`: RFC 4155, with `From ` lines quoted reversibly.

use crate::live::nntp_server::{INN, NewsServer, SN, each_news_server};
use crate::live::work_dir::{WorkDir, fetch};

each_news_server![
    article_as_mbox_has_a_from_line,
    from_lines_of_a_body_are_quoted,
    range_as_mbox_contains_the_existing_articles,
    group_as_mbox_contains_all_articles,
    mbox_is_written_to_one_file,
    eight_bit_articles_are_unchanged_in_mbox
];

/// Returns the mbox entry of an article: the `From ` line, the article with local line ends and quoted `From ` lines,
/// an empty line.
fn entry(sender: &str, article: &[u8]) -> Vec<u8> {
    let mut entry = format!("From {sender} Thu Dec  1 12:34:56 1994\n").into_bytes();
    for line in article.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r\n").unwrap_or(line);
        let is_quoted =
            line.iter().position(|&byte| byte != b'>').is_some_and(|at| line[at..].starts_with(b"From "));
        entry.extend_from_slice(if is_quoted { b">" } else { b"" });
        entry.extend_from_slice(line);
        entry.push(b'\n');
    }
    entry.push(b'\n');
    entry
}

fn of_alice(articles: &[Vec<u8>]) -> Vec<u8> {
    articles.iter().flat_map(|article| entry("alice@test.invalid", article)).collect()
}

fn article_as_mbox_has_a_from_line(server: NewsServer) {
    for nth in [1, 1701, 1702, 1703, 1704, 1705] {
        let expected = of_alice(&[server.nth("ARTICLE", "fetch.test", nth)]);
        fetch(&["--format", "mbox", &server.nth_url("fetch.test", nth)]).assert_success(expected);
    }
}

fn from_lines_of_a_body_are_quoted(server: NewsServer) {
    let text = fetch(&["--format", "mbox", &server.id_url("from-line@test.invalid")]).assert_exit(0).text();
    assert!(text.ends_with("\n\n>From here\n>>From there\n\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("From ")).count(), 1, "{text}");
}

fn range_as_mbox_contains_the_existing_articles(server: NewsServer) {
    let url = server.url(&format!("fetch.holes/{}-{}", server.number(1), server.number(20)));
    let expected = of_alice(&server.those("ARTICLE", "fetch.holes", 1..=20));
    fetch(&["--format", "mbox", &url]).assert_exit(0).assert_stdout(expected);
}

/// All articles of the group.
fn group_as_mbox_contains_all_articles(server: NewsServer) {
    let expected = of_alice(&server.those("ARTICLE", "fetch.with+plus_and-dash", 1..=10));
    for url in [server.url("fetch.with+plus_and-dash"), server.id_url("fetch.with+plus_and-dash")] {
        fetch(&["--format", "mbox", &url]).assert_exit(0).assert_stdout(&expected);
    }
    let with_holes = of_alice(&server.those("ARTICLE", "fetch.holes", 1..=50));
    fetch(&["--format", "mbox", &server.url("fetch.holes")]).assert_exit(0).assert_stdout(with_holes);
}

fn mbox_is_written_to_one_file(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["--format", "mbox", "-o", "box", &server.url("fetch.holes")])
        .assert_exit(0)
        .assert_stdout("");
    assert_eq!(dir.read("box"), of_alice(&server.those("ARTICLE", "fetch.holes", 1..=50)));
    dir.assert_entries(&["box"]);
    dir.fetch(&["--format", "mbox", "--part", "body", "-o", "no", &server.nth_url("fetch.test", 1)])
        .assert_exit(2);
    dir.assert_entries(&["box"]);
}

fn eight_bit_articles_are_unchanged_in_mbox(server: NewsServer) {
    let article = server.block(&["ARTICLE <latin1-7@test.invalid>"]);
    fetch(&["--format", "mbox", &server.id_url("latin1-7@test.invalid")])
        .assert_success(of_alice(&[article]));
    let article = server.block(&["ARTICLE <utf8-7@test.invalid>"]);
    let url = server.id_url("utf8-7@test.invalid");
    fetch(&["--format", "mbox", &url]).assert_success(entry("zoe@test.invalid", &article));
}

/// An empty group gives an empty mbox file and exit status 0.
#[test]
#[ignore = "needs the servers of docker/"]
fn empty_group_as_mbox_is_empty() {
    for server in [INN, SN] {
        fetch(&["--format", "mbox", &server.url("fetch.empty")]).assert_success("");
    }
}
