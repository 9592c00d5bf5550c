//! The commands that the servers receive: each request once, over one connection, pipelined; lists compressed.

use super::received_commands::commands;
use crate::live::nntp_server::{INN, INN_TLS, NewsServer, SN, each_news_server};
use crate::live::program::RunResult;
use crate::live::server::CA;
use crate::live::work_dir::{WorkDir, fetch, key};

each_news_server![
    each_url_form_sends_group_and_article,
    part_option_sends_its_command,
    range_requests_each_article_once,
    range_into_files_requests_each_article_once,
    range_requests_are_pipelined,
    several_urls_share_one_connection,
    missing_article_does_not_end_the_connection,
    parallel_transfers_request_each_article_once,
];

fn each_url_form_sends_group_and_article(server: NewsServer) {
    let number = server.number(12);
    for (url, expected) in [
        (server.nth_url("fetch.test", 12), vec!["GROUP fetch.test".to_owned(), format!("ARTICLE {number}")]),
        (server.id_url("plain-0012@test.invalid"), vec!["ARTICLE <plain-0012@test.invalid>".to_owned()]),
        (
            server.id_url("a%25b%2Fc+d=e$f%23g%3Fh&i!j~k@test.invalid"),
            vec!["ARTICLE <a%b/c+d=e$f#g?h&i!j~k@test.invalid>".to_owned()],
        ),
    ] {
        assert_eq!(commands(server, &[&url]), expected, "{url}");
    }
}

fn part_option_sends_its_command(server: NewsServer) {
    for (part, verb) in [("head", "HEAD"), ("body", "BODY"), ("article", "ARTICLE")] {
        let received = commands(server, &["--part", part, &server.nth_url("fetch.test", 12)]);
        assert_eq!(received, ["GROUP fetch.test".to_owned(), format!("{verb} {}", server.number(12))]);
    }
}

/// Returns the expected commands: GROUP, and ARTICLE for each number in order.
fn a_range(server: NewsServer, nths: impl Iterator<Item = u32>) -> Vec<String> {
    let articles = nths.map(|nth| format!("ARTICLE {}", server.number(nth)));
    ["GROUP fetch.test".to_owned()].into_iter().chain(articles).collect()
}

fn range_requests_each_article_once(server: NewsServer) {
    let url = server.url(&format!("fetch.test/{}-{}", server.number(500), server.number(699)));
    assert_eq!(commands(server, &[&url]), a_range(server, 500..=699));
}

/// The numbers may be requested first; then each article is requested once, over one connection.
fn range_into_files_requests_each_article_once(server: NewsServer) {
    let (key, watch, dir) = (key(), server.watch(), WorkDir::new());
    let url = server.url(&format!("fetch.test/{}-{}", server.number(500), server.number(549)));
    let marker = server.id_url(&format!("{key}@test.invalid"));
    dir.fetch(&["--output-dir", ".", "--remote-name-all", &url, &marker]).assert_exit(78);
    assert_eq!(dir.names().len(), 50);
    let mut received = watch.commands_for(&key);
    assert_eq!(watch.sessions(&key), 1);
    received.retain(|line| line.starts_with("ARTICLE ") && !line.contains(&key));
    assert_eq!(received, a_range(server, 500..=549)[1..]);
}

/// Several commands are sent before the first reply arrives.
fn range_requests_are_pipelined(server: NewsServer) {
    let url = server.url(&format!("fetch.test/{}-{}", server.number(1), server.number(50)));
    let result = fetch(&["-v", &url]).assert_exit(0);
    let lines: Vec<&str> =
        result.err.lines().filter(|line| line.contains("ARTICLE") || line.starts_with("< 220")).collect();
    let together = lines.split(|line| line.starts_with('<')).map(<[&str]>::len).max();
    assert!(together >= Some(8), "{}", result.err);
    assert_eq!(result.err.matches("> ARTICLE").count(), 50, "{}", result.err);
}

fn several_urls_share_one_connection(server: NewsServer) {
    let urls = [
        server.nth_url("fetch.test", 1),
        server.nth_url("fetch.test", 2),
        server.id_url("dots@test.invalid"),
        server.nth_url("fetch.test", 4),
        server.nth_url("fetch.holes", 4),
        server.nth_url("fetch.test", 5),
    ];
    let received = commands(server, &urls.each_ref().map(String::as_str));
    let articles: Vec<&String> = received.iter().filter(|line| line.starts_with("ARTICLE")).collect();
    let number = |nth: u32| format!("ARTICLE {}", server.number(nth));
    let dots = "ARTICLE <dots@test.invalid>".to_owned();
    assert_eq!(articles, [&number(1), &number(2), &dots, &number(4), &number(4), &number(5)]);
    // GROUP is sent when the group changes, not before each article.
    let groups: Vec<&String> = received.iter().filter(|line| line.starts_with("GROUP")).collect();
    assert!((3..=4).contains(&groups.len()), "{received:?}");
}

/// A missing article does not end the connection.
fn missing_article_does_not_end_the_connection(server: NewsServer) {
    let (key, watch) = (key(), server.watch());
    let urls = [
        server.id_url(&format!("{key}-1@test.invalid")),
        server.nth_url("fetch.test", 9000),
        server.url("fetch.no-such-group/1"),
        server.nth_url("fetch.test", 3),
        server.id_url(&format!("{key}-2@test.invalid")),
    ];
    let result = fetch(&urls.each_ref().map(String::as_str)).assert_exit(78);
    result.assert_stdout(server.nth("ARTICLE", "fetch.test", 3));
    let received = watch.commands_for(&key);
    assert_eq!(received.iter().filter(|line| line.contains(&key)).count(), 2, "{received:?}");
    assert_eq!(watch.sessions(&key), 1);
}

/// After a 411 reply to GROUP no article is requested.
#[test]
#[ignore = "needs the servers of docker/"]
fn range_of_an_unknown_group_sends_group_once() {
    for server in [INN, SN] {
        let (group, watch) = (key(), server.watch());
        fetch(&[&server.url(&format!("{group}/1-20"))]).assert_exit(78);
        let received = watch.commands_for(&group);
        assert_eq!(received.iter().filter(|line| line.starts_with("GROUP")).count(), 1, "{received:?}");
        assert_eq!(watch.sessions(&group), 1);
    }
}

/// Each article is requested once, over any number of connections.
fn parallel_transfers_request_each_article_once(server: NewsServer) {
    let (key, watch, dir) = (key(), server.watch(), WorkDir::new());
    let ids: Vec<String> = (1..=40).map(|number| format!("{key}-{number}@test.invalid")).collect();
    let urls: Vec<String> = ids.iter().map(|id| server.id_url(id)).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    dir.fetch(&[&["-Z", "--remote-name-all"], &urls[..]].concat()).assert_exit(78);
    dir.assert_entries(&[]);
    let mut lines = watch.lines(&key, 40);
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 40, "one is asked for twice: {lines:?}");
    let sessions = watch.sessions(&key);
    assert!((1..40).contains(&sessions), "{sessions}");
}

/// Lists from INN are compressed, and equal the uncompressed lists.
#[test]
#[ignore = "needs the servers of docker/"]
fn lists_are_compressed() {
    for (group, expected) in
        [("fetch.test", INN.block(&["GROUP fetch.test", "OVER 1-9999"])), ("*", INN.block(&["LIST ACTIVE"]))]
    {
        let url = INN.id_url(group);
        fetch(&["--format", "raw", &url]).assert_success(&expected);
        let received = commands(INN, &["--format", "raw", &url]);
        let at = |verb: &str| received.iter().position(|line| line.starts_with(verb));
        let compress = at("COMPRESS DEFLATE").unwrap_or_else(|| panic!("not compressed: {received:?}"));
        let list = at("OVER").or(at("LIST")).expect("the list");
        assert!(compress < list, "{received:?}");
        assert_eq!(received.iter().filter(|line| line.starts_with("COMPRESS")).count(), 1, "{received:?}");
    }
}

/// Articles after a list are received over the same compressed connection, with unchanged bytes.
#[test]
#[ignore = "needs the servers of docker/"]
fn articles_after_a_compressed_list_are_unchanged() {
    let urls = [
        INN.url("fetch.test"),
        INN.url("fetch.8bit/1-100"),
        INN.id_url("huge@test.invalid"),
        INN.id_url("*"),
    ];
    let expected = [
        INN.block(&["GROUP fetch.test", "OVER 1-9999"]),
        INN.those("ARTICLE", "fetch.8bit", 1..=100).concat(),
        INN.block(&["ARTICLE <huge@test.invalid>"]),
        INN.block(&["LIST ACTIVE"]),
    ];
    let arguments = ["--format", "raw", &urls[0], &urls[1], &urls[2], &urls[3]];
    let result = fetch(&arguments).assert_exit(0);
    assert!(result.out == expected.concat(), "{} octets", result.out.len());
    let received = commands(INN, &arguments);
    assert_eq!(received.iter().filter(|line| line.starts_with("COMPRESS")).count(), 1, "{received:?}");
}

/// RFC 8054 §2.2.2: compression starts after TLS.
#[test]
#[ignore = "needs the servers of docker/"]
fn lists_over_tls_equal_the_uncompressed_lists() {
    let expected = INN.block(&["GROUP fetch.test", "OVER 1-9999"]);
    let trusting = |arguments: &[&str]| -> RunResult {
        fetch(&[&["--cacert", CA, "--format", "raw"], arguments].concat())
    };
    trusting(&[&format!("nntps://{INN_TLS}/fetch.test")]).assert_success(&expected);
    let url = format!("nntp://localhost:{}/fetch.test", INN.port());
    trusting(&["--ssl-reqd", &url]).assert_success(&expected);
}

/// A login is not possible after compression, so it is sent before.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_precedes_compression() {
    let (key, watch) = (key(), INN.watch());
    let urls = ["private.secret", "fetch.test", &key].map(|path| format!("nntps://{INN_TLS}/{path}"));
    fetch(&["--cacert", CA, "-u", "alice:secret", "--format", "raw", &urls[0], &urls[1], &urls[2]])
        .assert_exit(78);
    let received = watch.commands_for(&key);
    let at = |start: &str| received.iter().position(|line| line.starts_with(start));
    let login = at("AUTHINFO PASS").expect("a login");
    assert!(at("COMPRESS").is_none_or(|compress| login < compress), "{received:?}");
}
