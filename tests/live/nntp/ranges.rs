//! `nntp://host/group/FIRST-LAST`: the articles in one output, or in one file each.

use crate::live::nntp_server::{INN, NewsServer, SN, each_news_server};
use crate::live::work_dir::{WorkDir, fetch};

each_news_server![
    range_gives_its_articles_in_order,
    range_of_one_number_gives_one_article,
    range_without_a_server_uses_the_news_server_option,
    range_skips_missing_articles,
    range_beyond_the_last_article_ends_with_it,
    range_of_a_whole_group_gives_all_articles,
    range_with_output_option_is_one_file,
    range_with_output_dir_gives_one_file_per_article,
    range_with_remote_name_gives_one_file_per_article,
    range_with_output_dir_skips_missing_articles,
    two_ranges_in_one_run_give_both,
    range_without_articles_exits_78,
];

fn range(server: NewsServer, group: &str, first: u32, last: u32) -> String {
    server.url(&format!("{group}/{}-{}", server.number(first), server.number(last)))
}

fn range_gives_its_articles_in_order(server: NewsServer) {
    let expected = server.those("ARTICLE", "fetch.test", 100..=200);
    assert_eq!(expected.len(), 101);
    fetch(&[&range(server, "fetch.test", 100, 200)]).assert_success(expected.concat());
    // Articles with dots, an empty body and a long line are among them.
    let odd = server.those("ARTICLE", "fetch.test", 1699..=1713);
    fetch(&[&range(server, "fetch.test", 1699, 1713)]).assert_success(odd.concat());
}

fn range_of_one_number_gives_one_article(server: NewsServer) {
    fetch(&[&range(server, "fetch.test", 7, 7)]).assert_success(server.nth("ARTICLE", "fetch.test", 7));
}

fn range_without_a_server_uses_the_news_server_option(server: NewsServer) {
    let url = format!("nntp:fetch.test/{}-{}", server.number(10), server.number(12));
    let expected = server.those("ARTICLE", "fetch.test", 10..=12).concat();
    fetch(&["--news-server", &server.authority(), &url]).assert_success(expected);
}

fn range_skips_missing_articles(server: NewsServer) {
    let expected = server.those("ARTICLE", "fetch.holes", 1..=50);
    assert_eq!(expected.len(), 42);
    fetch(&[&range(server, "fetch.holes", 1, 50)]).assert_exit(0).assert_stdout(expected.concat());
    // The articles of the first and the last number do not exist.
    let inner = server.those("ARTICLE", "fetch.holes", 12..=16);
    assert_eq!(inner.len(), 1);
    fetch(&[&range(server, "fetch.holes", 12, 16)]).assert_exit(0).assert_stdout(inner.concat());
    fetch(&[&range(server, "fetch.holes", 2, 4)]).assert_exit(0).assert_stdout(server.nth(
        "ARTICLE",
        "fetch.holes",
        4,
    ));
}

fn range_beyond_the_last_article_ends_with_it(server: NewsServer) {
    let expected = server.those("ARTICLE", "fetch.test", 1740..=1748);
    fetch(&[&range(server, "fetch.test", 1740, 1760)]).assert_exit(0).assert_stdout(expected.concat());
}

fn range_of_a_whole_group_gives_all_articles(server: NewsServer) {
    let expected = server.those("ARTICLE", "fetch.8bit", 1..=100);
    assert_eq!(expected.len(), 100);
    fetch(&[&range(server, "fetch.8bit", 1, 100)]).assert_success(expected.concat());
    let binaries = server.those("ARTICLE", "alt.binaries.fetch", 1..=35);
    fetch(&[&range(server, "alt.binaries.fetch", 1, 35)]).assert_success(binaries.concat());
}

fn range_with_output_option_is_one_file(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", &range(server, "fetch.test", 20, 39)]).assert_success("");
    assert_eq!(dir.read("here"), server.those("ARTICLE", "fetch.test", 20..=39).concat());
    dir.assert_entries(&["here"]);
}

/// Asserts that the directory has exactly these articles, in files named by number.
#[track_caller]
fn assert_article_files(server: NewsServer, dir: &WorkDir, verb: &str, group: &str, nths: &[u32]) {
    let mut names: Vec<String> = nths.iter().map(|&nth| server.number(nth).to_string()).collect();
    for (name, expected) in names.iter().zip(server.those(verb, group, nths.iter().copied())) {
        assert!(dir.read(name) == expected, "{name}");
    }
    names.sort();
    assert_eq!(dir.names(), names);
}

fn range_with_output_dir_gives_one_file_per_article(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["--output-dir", ".", &range(server, "fetch.test", 95, 104)]).assert_success("");
    assert_article_files(server, &dir, "ARTICLE", "fetch.test", &(95..=104).collect::<Vec<_>>());
    // In a directory that is created.
    let url = range(server, "fetch.test", 1701, 1703);
    dir.clear();
    dir.fetch(&["--output-dir", "inner/most", "--create-dirs", &url]).assert_success("");
    for nth in 1701..=1703 {
        let name = format!("inner/most/{}", server.number(nth));
        assert!(dir.read(&name) == server.nth("ARTICLE", "fetch.test", nth), "{name}");
    }
}

fn range_with_remote_name_gives_one_file_per_article(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-O", &range(server, "fetch.test", 95, 104)]).assert_success("");
    assert_article_files(server, &dir, "ARTICLE", "fetch.test", &(95..=104).collect::<Vec<_>>());
    dir.clear();
    dir.fetch(&["-O", &server.nth_url("fetch.test", 3)]).assert_success("");
    assert_article_files(server, &dir, "ARTICLE", "fetch.test", &[3]);
}

fn range_with_output_dir_skips_missing_articles(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["--output-dir", ".", &range(server, "fetch.holes", 9, 17)]).assert_exit(0);
    assert_article_files(server, &dir, "ARTICLE", "fetch.holes", &[9, 10, 16, 17]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn range_with_part_option_gives_one_part_per_file() {
    for server in [INN, SN] {
        for (part, verb) in [("head", "HEAD"), ("body", "BODY")] {
            let dir = WorkDir::new();
            let url = range(server, "fetch.test", 1700, 1702);
            dir.fetch(&["--part", part, "--output-dir", ".", &url]).assert_success("");
            assert_article_files(server, &dir, verb, "fetch.test", &[1700, 1701, 1702]);
        }
    }
}

fn two_ranges_in_one_run_give_both(server: NewsServer) {
    let urls = [range(server, "fetch.test", 1, 5), range(server, "fetch.holes", 4, 8)];
    let expected = [
        server.those("ARTICLE", "fetch.test", 1..=5).concat(),
        server.those("ARTICLE", "fetch.holes", 4..=8).concat(),
    ];
    fetch(&[&urls[0], &urls[1]]).assert_success(expected.concat());
    let dir = WorkDir::new();
    dir.fetch(&["-o", "one", "-o", "two", &urls[0], &urls[1]]).assert_success("");
    assert_eq!([dir.read("one"), dir.read("two")], expected);
}

/// A range without articles is "not found" and gives no file.
fn range_without_articles_exits_78(server: NewsServer) {
    let dir = WorkDir::new();
    for url in [range(server, "fetch.holes", 11, 15), range(server, "fetch.test", 5000, 5100)] {
        dir.fetch(&["-o", "here", &url]).assert_exit(78).assert_stderr_contains("not found");
        dir.fetch(&["--output-dir", ".", &url]).assert_exit(78);
        fetch(&[&url]).assert_exit(78).assert_stdout("");
        dir.assert_entries(&[]);
    }
    let backwards = server.url(&format!("fetch.test/{}-{}", server.number(9), server.number(5)));
    fetch(&[&backwards]).assert_exit(3).assert_stdout("");
}
