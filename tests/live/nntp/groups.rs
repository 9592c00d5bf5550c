//! Lists of groups: all groups, and those that match a pattern.

use super::json::{field, value};
use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::work_dir::{WorkDir, fetch};

each_news_server![
    raw_group_list_equals_the_response,
    json_group_list_has_name_numbers_and_flag,
    text_group_list_fits_80_columns,
    empty_group_has_no_articles,
    pattern_selects_the_matching_groups,
    pattern_without_match_gives_an_empty_list,
    url_of_each_group_names_the_group,
    group_list_is_written_to_a_file_unchanged,
    head_of_a_group_list_shows_the_number_of_groups,
];

fn all(server: NewsServer) -> Vec<u8> {
    server.block(&["LIST ACTIVE"])
}

/// Returns name, last number, first number and flag of each line of LIST ACTIVE.
fn rows(list: &[u8]) -> Vec<[String; 4]> {
    let row = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let mut word = || words.next().expect("four words");
        [word(), word(), word(), word()]
    };
    String::from_utf8_lossy(list).lines().map(row).collect()
}

#[track_caller]
fn of_all(server: NewsServer, options: &[&str]) -> String {
    fetch(&[options, &["--news-server", &server.authority(), "news:*"]].concat()).assert_exit(0).text()
}

fn raw_group_list_equals_the_response(server: NewsServer) {
    let authority = server.authority();
    let expected = all(server);
    assert!(rows(&expected).iter().any(|row| row[0] == "fetch.with+plus_and-dash"));
    for url in ["news:*", "news:%2A", &format!("news://{authority}/*")] {
        fetch(&["--format", "raw", "--news-server", &authority, url]).assert_success(&expected);
    }
}

fn json_group_list_has_name_numbers_and_flag(server: NewsServer) {
    let text = of_all(server, &["--format", "json"]);
    let rows = rows(&all(server));
    assert_eq!(text.lines().count(), rows.len());
    for (line, [name, high, low, flag]) in text.lines().zip(&rows) {
        assert_eq!(field(line, "name").as_ref(), Some(name));
        assert_eq!(field(line, "posting").as_ref(), Some(flag));
        let number = |text: &str| text.parse::<u64>().expect("a number");
        assert_eq!(
            (number(&value(line, "high")), number(&value(line, "low"))),
            (number(high), number(low)),
            "{line}"
        );
    }
}

fn text_group_list_fits_80_columns(server: NewsServer) {
    let text = of_all(server, &[]);
    for [name, high, low, flag] in rows(&all(server)) {
        let line = text.lines().find(|line| line.split_whitespace().last() == Some(&name));
        let line = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
        assert!(line.chars().count() <= 80, "{line}");
        assert_eq!(line.contains("moderated "), flag == "m", "{line}");
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let (high, low) = (number(&high), number(&low));
        if high > 0 {
            let count = (high - low + 1).to_string();
            assert_eq!(line.split_whitespace().next(), Some(count.as_str()), "{line}");
        }
    }
}

/// For an empty group sn reports `0 0` and INN `0 1`.
fn empty_group_has_no_articles(server: NewsServer) {
    let text = of_all(server, &[]);
    let line = text.lines().find(|line| line.ends_with(" fetch.empty")).expect("it is there");
    assert_eq!(line.split_whitespace().next(), Some("0"), "{line}");
}

fn pattern_selects_the_matching_groups(server: NewsServer) {
    let authority = server.authority();
    for (pattern, is_in) in [
        ("fetch.*", (|name: &str| name.starts_with("fetch.")) as fn(&str) -> bool),
        ("alt.*", |name| name.starts_with("alt.")),
        ("*.8bit", |name| name.ends_with(".8bit")),
        ("fetch.with+plus_and-dash*", |name| name == "fetch.with+plus_and-dash"),
    ] {
        let text = String::from_utf8(all(server)).expect("names in ASCII");
        let of_it = |line: &&str| line.split(' ').next().is_some_and(is_in);
        let expected: String = text.split_inclusive('\n').filter(of_it).collect();
        assert!(!expected.is_empty(), "{pattern}");
        let urls =
            [format!("news:{pattern}"), format!("news:{}", pattern.replace('*', "%2a")), server.url(pattern)];
        for url in urls {
            fetch(&["--format", "raw", "--news-server", &authority, &url]).assert_success(&expected);
        }
    }
}

fn pattern_without_match_gives_an_empty_list(server: NewsServer) {
    let url = format!("news://{}/no-such.*", server.authority());
    for format in ["raw", "text", "json"] {
        fetch(&["--format", format, &url]).assert_exit(0).assert_stdout("");
    }
}

/// The URL of each entry names that group.
fn url_of_each_group_names_the_group(server: NewsServer) {
    let text = of_all(server, &["--format", "json"]);
    for line in text.lines() {
        let (name, url) = (field(line, "name").expect("a name"), field(line, "url").expect("a URL"));
        assert_eq!(url, server.url(&name));
        let reply = server.reply(&[&format!("GROUP {name}")]).line;
        let result = fetch(&["-I", &url]);
        if reply.starts_with("480") {
            result.assert_exit(67);
            continue;
        }
        let count = reply.split(' ').nth(1).expect("a count");
        assert!(result.assert_exit(0).text().contains(&format!("Articles: {count}\n")), "{line}");
    }
}

fn group_list_is_written_to_a_file_unchanged(server: NewsServer) {
    let dir = WorkDir::new();
    let url = format!("news://{}/*", server.authority());
    dir.fetch(&["--format", "raw", "-o", "here", &url]).assert_success("");
    assert_eq!(dir.read("here"), all(server));
    dir.assert_entries(&["here"]);
}

fn head_of_a_group_list_shows_the_number_of_groups(server: NewsServer) {
    let text = of_all(server, &["-I"]);
    assert_eq!(text.trim(), format!("Groups: {}", rows(&all(server)).len()));
}
