//! The articles of a group, one per line, by OVER or by the command of an old server.

use super::json::{field, value};
use super::received_commands::commands;
use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::work_dir::{WorkDir, fetch};

each_news_server![
    raw_overview_equals_the_response,
    every_url_form_lists_the_group,
    json_overview_has_the_fields_of_each_article,
    encoded_words_are_decoded_in_text_output,
    text_overview_has_one_line_for_each_article,
    cancelled_articles_are_not_listed,
    empty_group_gives_an_empty_overview,
    url_of_each_entry_fetches_its_article,
    overview_is_written_to_a_file_unchanged,
    overview_falls_back_from_over_to_xover,
];

/// Returns the overview of a group by XOVER, which both servers support.
fn overview(server: NewsServer, group: &str) -> Vec<u8> {
    server.block(&[&format!("GROUP {group}"), "XOVER 1-9999"])
}

/// Splits the overview into lines and fields.
fn rows(overview: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8_lossy(overview);
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn raw_overview_equals_the_response(server: NewsServer) {
    for group in ["fetch.test", "fetch.holes", "fetch.8bit", "fetch.with+plus_and-dash"] {
        fetch(&["--format", "raw", &server.url(group)]).assert_success(overview(server, group));
    }
}

fn every_url_form_lists_the_group(server: NewsServer) {
    let (authority, expected) = (server.authority(), overview(server, "fetch.holes"));
    for url in ["news:fetch.holes", &format!("news://{authority}/fetch.holes"), &server.url("fetch%2Eholes")]
    {
        fetch(&["--format", "raw", "--news-server", &authority, url]).assert_success(&expected);
    }
}

fn json_overview_has_the_fields_of_each_article(server: NewsServer) {
    for group in ["fetch.test", "alt.binaries.fetch"] {
        let text = fetch(&["--format", "json", &server.url(group)]).assert_exit(0).text();
        let rows = rows(&overview(server, group));
        assert_eq!(text.lines().count(), rows.len());
        for (line, row) in text.lines().zip(&rows) {
            assert_eq!(value(line, "number"), row[0]);
            let fields = ["subject", "from", "date", "message_id", "references"];
            assert_eq!(fields.map(|name| field(line, name).unwrap_or_default()), row[1..6], "{line}");
            assert_eq!([value(line, "bytes"), value(line, "lines")], row[6..8], "{line}");
            assert_eq!(value(line, "modified"), "786285296", "{line}");
        }
    }
}

/// Encoded words are decoded in text output and kept in raw output.
fn encoded_words_are_decoded_in_text_output(server: NewsServer) {
    let url = server.url("fetch.8bit");
    let text = fetch(&[&url]).assert_exit(0).text();
    assert!(text.contains("caf\u{e9} 50") && !text.contains("=?"), "{text}");
    assert!(text.contains("raw UTF-8 \u{fc}\u{f1}\u{ee} 49") && text.contains("Zo\u{eb}"), "{text}");
    let raw = fetch(&["--format", "raw", &url]).assert_exit(0).text();
    assert!(raw.contains("\t=?ISO-8859-1?Q?caf=E9_50?=\t"), "{raw}");
}

/// In a pipe, lines are not wrapped.
fn text_overview_has_one_line_for_each_article(server: NewsServer) {
    let text = fetch(&[&server.url("fetch.test")]).assert_exit(0).text();
    let number = server.number(17).to_string();
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(&number)).expect("the 17th");
    for part in ["plain article 17", "Alice", "1994-12-01"] {
        assert!(line.contains(part), "{line}");
    }
    let begins =
        text.lines().filter(|line| line.trim_start().starts_with(|letter: char| letter.is_ascii_digit()));
    assert_eq!(begins.filter(|line| line.contains("1994-12-01")).count(), 1748);
}

/// Cancelled articles are not listed.
fn cancelled_articles_are_not_listed(server: NewsServer) {
    let text = fetch(&["--format", "json", &server.url("fetch.holes")]).assert_exit(0).text();
    let numbers: Vec<String> = text.lines().map(|line| value(line, "number")).collect();
    let is_there = |nth: &u32| ![2, 3, 11, 12, 13, 14, 15, 50].contains(nth);
    let expected: Vec<String> = (1..=50).filter(is_there).map(|nth| server.number(nth).to_string()).collect();
    assert_eq!(numbers, expected);
}

fn empty_group_gives_an_empty_overview(server: NewsServer) {
    for format in ["raw", "text", "json"] {
        fetch(&["--format", format, &server.url("fetch.empty")]).assert_success("");
    }
}

/// The URL of each entry fetches the article of its line.
fn url_of_each_entry_fetches_its_article(server: NewsServer) {
    let text = fetch(&["--format", "json", &server.url("fetch.with+plus_and-dash")]).assert_exit(0).text();
    assert_eq!(text.lines().count(), 10);
    for line in text.lines().step_by(4) {
        let (url, id) = (field(line, "url").expect("a URL"), field(line, "message_id").expect("a name"));
        fetch(&[&url]).assert_success(server.block(&[&format!("ARTICLE {id}")]));
    }
}

fn overview_is_written_to_a_file_unchanged(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["--format", "raw", "-o", "here", &server.url("fetch.test")]).assert_success("");
    assert_eq!(dir.read("here"), overview(server, "fetch.test"));
    dir.fetch(&["--format", "raw", "-O", &server.url("fetch.8bit")]).assert_success("");
    assert_eq!(dir.read("fetch.8bit"), overview(server, "fetch.8bit"));
    dir.assert_entries(&["fetch.8bit", "here"]);
}

/// OVER is sent first, then XOVER; each at most once.
fn overview_falls_back_from_over_to_xover(server: NewsServer) {
    let received = commands(server, &[&server.url("fetch.holes")]);
    let verbs: Vec<&str> = received.iter().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    let expected: &[&[&str]] = if server.is_modern {
        &[&["GROUP", "OVER"], &["GROUP", "COMPRESS", "OVER"]]
    } else {
        &[&["GROUP", "OVER", "XOVER"], &["GROUP", "XOVER"]]
    };
    assert!(expected.contains(&&verbs[..]), "{received:?}");
}
