//! Integration tests of `news:`, `snews:`, `nntp:` and `nntps:` URLs (docs/spec/semantics.md §6).

mod articles;
mod compress;
mod connection_reuse;
mod faults;
mod interruptions;
mod lists;
mod login;
mod ranges;

use std::fs;
use std::path::Path;

use crate::support::{
    RunResult, entry_names, fetch_url_command, run_command, run_fetch_url, run_fetch_url_in,
};
use fetch_url_tests::{NntpArticle, NntpConfig, NntpGroup, NntpServer};

fn start_server(config: NntpConfig) -> NntpServer {
    NntpServer::start(config).expect("start server")
}

/// Fetches `url` with this server as `--news-server`.
fn fetch_with_news_server(server: &NntpServer, options: &str, url: &str) -> RunResult {
    let addr = server.news_server();
    run_fetch_url(["--news-server", &addr].into_iter().chain(options.split_whitespace()).chain([url]))
}

/// An article whose message-id, subject and body name its group and number.
fn numbered_article(group: &str, number: u64) -> NntpArticle {
    let body = format!("This is {group} {number}.\r\n.\r\nFrom it.\r\n");
    NntpArticle::post(&format!("{number}.{group}@test.invalid"), &format!("{group} {number}"), body)
}

/// Returns the bytes of a numbered article as text.
fn article_text(group: &str, number: u64) -> String {
    String::from_utf8(numbered_article(group, number).bytes()).expect("valid UTF-8")
}

/// Returns the concatenated text of numbered articles.
fn article_texts(group: &str, numbers: &[u64]) -> String {
    numbers.iter().map(|number| article_text(group, *number)).collect()
}

/// A group with articles of these numbers.
fn group_with_articles(name: &str, numbers: impl IntoIterator<Item = u64>) -> NntpGroup {
    let numbers = numbers.into_iter();
    numbers.fold(NntpGroup::new(name), |group, number| group.article(number, numbered_article(name, number)))
}

/// A server with the group `a.one` of articles 1 to 9.
fn one_group() -> NntpConfig {
    NntpConfig::new().group(group_with_articles("a.one", 1..=9))
}

/// Groups `a.one` and `b.two` with articles 1 to 9, and the private group `c.own`.
fn three_groups() -> NntpConfig {
    one_group()
        .group(group_with_articles("b.two", 1..=9))
        .group(group_with_articles("c.own", 1..=9).private())
        .account("me", "secret")
}

/// Fetches these paths, or complete URLs, in one run.
fn fetch_paths(server: &NntpServer, options: &str, paths: &[&str]) -> RunResult {
    fetch_paths_in(Path::new("."), server, options, paths)
}

/// Like [`fetch_paths`], in a working directory.
fn fetch_paths_in(directory: &Path, server: &NntpServer, options: &str, paths: &[&str]) -> RunResult {
    let addr = server.news_server();
    let url = |path: &&str| if path.contains(':') { (*path).to_owned() } else { server.url(path) };
    let own = ["--news-server", &addr].map(str::to_owned).into_iter();
    run_fetch_url_in(
        directory,
        own.chain(options.split_whitespace().map(str::to_owned)).chain(paths.iter().map(url)),
    )
}

/// Runs fetch-url in `directory`, which is also the home directory.
fn run_in_home(directory: &Path, options: &str, urls: &[String]) -> RunResult {
    let mut command = fetch_url_command();
    command.env("HOME", directory).current_dir(directory).args(["--retry", "0"]);
    command.args(options.split_whitespace()).args(urls);
    run_command(command)
}

/// Returns the received commands with this prefix.
fn received_lines(server: &NntpServer, start: &str) -> Vec<String> {
    let mut lines = server.received_text();
    lines.retain(|line| line.starts_with(start));
    lines
}

/// Asserts that the directory holds exactly the articles of these numbers, in files named by number.
fn assert_files(directory: &Path, group: &str, numbers: &[u64]) {
    let expected: Vec<String> = numbers.iter().map(u64::to_string).collect();
    assert_eq!(entry_names(directory), expected);
    for number in numbers {
        let content = fs::read_to_string(directory.join(number.to_string())).expect("read file");
        assert_eq!(content, article_text(group, *number));
    }
}

/// Returns the URLs of these paths.
fn server_urls(server: &NntpServer, paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| server.url(path)).collect()
}
