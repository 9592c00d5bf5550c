//! `--part`, and `--text` for local line ends.

use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::work_dir::{WorkDir, fetch};

each_news_server![
    part_option_selects_head_body_or_article,
    part_option_applies_to_a_message_id,
    part_option_applies_to_each_article_of_a_range,
    text_option_converts_line_ends,
    text_option_converts_line_ends_of_a_file,
    byte_range_is_rejected,
];

const VERBS: [(&str, &str); 3] = [("head", "HEAD"), ("body", "BODY"), ("article", "ARTICLE")];

fn part_option_selects_head_body_or_article(server: NewsServer) {
    for nth in [3, 1702, 1704] {
        for (part, verb) in VERBS {
            let expected = server.nth(verb, "fetch.test", nth);
            fetch(&["--part", part, &server.nth_url("fetch.test", nth)]).assert_success(expected);
        }
    }
    // Header, empty line and body are the article.
    let [head, body, article] = VERBS
        .map(|(part, _)| fetch(&["--part", part, &server.nth_url("fetch.test", 1701)]).assert_exit(0).out);
    assert_eq!([head, b"\r\n".to_vec(), body].concat(), article);
    fetch(&["--part", "tail", &server.nth_url("fetch.test", 1)]).assert_exit(2).assert_stdout("");
}

fn part_option_applies_to_a_message_id(server: NewsServer) {
    for (part, verb) in VERBS {
        let expected = server.block(&[&format!("{verb} <plain-0044@test.invalid>")]);
        fetch(&["--part", part, &server.id_url("plain-0044@test.invalid")]).assert_success(expected);
    }
}

fn part_option_applies_to_each_article_of_a_range(server: NewsServer) {
    let url = server.url(&format!("fetch.test/{}-{}", server.number(60), server.number(69)));
    for (part, verb) in VERBS {
        // Headers are separated by empty lines.
        let separator: &[u8] = if verb == "HEAD" { b"\r\n" } else { b"" };
        let those = server.those(verb, "fetch.test", 60..70);
        let expected: Vec<u8> = those.iter().flat_map(|one| [&one[..], separator].concat()).collect();
        fetch(&["--part", part, &url]).assert_success(expected);
    }
}

/// Converts CR LF to LF; no other byte changes.
fn local(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    lines
        .flat_map(|line| line.strip_suffix(b"\r\n").map_or(line.to_vec(), |line| [line, b"\n"].concat()))
        .collect()
}

fn text_option_converts_line_ends(server: NewsServer) {
    for nth in [1, 1701, 1702, 1703, 1704] {
        let expected = local(&server.nth("ARTICLE", "fetch.test", nth));
        assert!(!expected.contains(&b'\r'));
        fetch(&["--text", &server.nth_url("fetch.test", nth)]).assert_success(expected);
    }
    fetch(&["--text", "--part", "body", &server.id_url("latin1-7@test.invalid")])
        .assert_success(b"na\xefve caf\xe9 \xff\n");
    // By default line ends are not changed.
    let article = fetch(&[&server.nth_url("fetch.test", 1)]).assert_exit(0).out;
    let count = |byte| article.iter().filter(|&&other| other == byte).count();
    assert_eq!((count(b'\r'), count(b'\n')), (count(b'\n'), count(b'\r')));
    assert!(count(b'\r') > 8);
}

fn text_option_converts_line_ends_of_a_file(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["--text", "-o", "here", &server.nth_url("fetch.test", 1701)]).assert_success("");
    assert_eq!(dir.read("here"), local(&server.nth("ARTICLE", "fetch.test", 1701)));
}

/// NNTP has no byte ranges: the run fails without output.
fn byte_range_is_rejected(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-r", "0-9", "-o", "here", &server.nth_url("fetch.test", 1)]).assert_exit(33);
    dir.assert_entries(&[]);
}
