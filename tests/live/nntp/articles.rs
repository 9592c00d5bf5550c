//! One article by every form of URL: exactly the bytes that the server stores, without dot-stuffing.

use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::work_dir::fetch;

each_news_server![
    every_url_form_fetches_the_article,
    unusual_articles_are_fetched_unchanged,
    format_option_does_not_change_an_article,
    escaped_group_name_fetches_the_article,
    escaped_message_id_fetches_the_article,
    message_id_of_200_characters_is_fetched,
    cross_posted_article_is_fetched_by_id_and_both_numbers,
    forty_urls_in_one_run_give_their_articles,
    fragment_is_not_sent,
];

/// Each URL form of the table in docs/spec/semantics.md, with and without a server.
fn every_url_form_fetches_the_article(server: NewsServer) {
    let expected = server.nth("ARTICLE", "fetch.test", 1200);
    assert!(
        expected.starts_with(b"Path: ")
            && expected.ends_with(b"This is article 1200.\r\nfiller filler filler \r\n")
    );
    let (authority, number) = (server.authority(), server.number(1200));
    let id = "plain-1200@test.invalid";
    for url in [
        server.url(&format!("fetch.test/{number}")),
        format!("nntp:fetch.test/{number}"),
        format!("news:{id}"),
        format!("NEWS:{id}"),
        format!("news://{authority}/{id}"),
        "news:%70lain-1200@test%2Einvalid".to_owned(),
    ] {
        fetch(&["--news-server", &authority, &url]).assert_success(&expected);
    }
    // A URL with a server does not need the option.
    fetch(&[&server.url(&format!("fetch.test/{number}"))]).assert_success(&expected);
    fetch(&[&server.id_url(id)]).assert_success(&expected);
}

/// Articles with dots, without body, with a line of 100,000 bytes, with a folded header, of 1 MiB, with `From `, HTML
/// and MIME.
fn unusual_articles_are_fetched_unchanged(server: NewsServer) {
    let nths = [1701, 1702, 1703, 1704, 1705, 1707, 1708, 1709, 1710, 1711, 1712, 1713];
    let articles = server.those("ARTICLE", "fetch.test", nths);
    for (nth, article) in nths.into_iter().zip(&articles) {
        fetch(&[&server.nth_url("fetch.test", nth)]).assert_success(article);
    }
    // By message-id, all in one run.
    let names = ["dots", "emptybody", "longline", "folded", "big", "from-line", "html", "mime"];
    let ids = names.map(|name| server.id_url(&format!("{name}@test.invalid")));
    let expected = [&articles[..6], &articles[9..11]].concat();
    fetch(&ids.each_ref().map(String::as_str)).assert_success(expected.concat());
}

/// `--format` applies to lists; an article is written unchanged.
fn format_option_does_not_change_an_article(server: NewsServer) {
    let expected = server.nth("ARTICLE", "fetch.test", 1701);
    for format in ["text", "json", "raw"] {
        fetch(&["--format", format, &server.nth_url("fetch.test", 1701)]).assert_success(&expected);
    }
}

fn escaped_group_name_fetches_the_article(server: NewsServer) {
    let expected = server.nth("ARTICLE", "fetch.with+plus_and-dash", 7);
    for group in ["fetch.with+plus_and-dash", "fetch.with%2Bplus%5Fand%2ddash", "%66etch.with+plus_and-dash"]
    {
        fetch(&[&server.nth_url(group, 7)]).assert_success(&expected);
    }
    fetch(&[&server.nth_url("alt.binaries.fetch", 1)]).assert_success(server.nth(
        "ARTICLE",
        "alt.binaries.fetch",
        1,
    ));
}

/// Escaped as RFC 5538 §2 requires, escaped more than necessary, and with lower-case hex digits.
fn escaped_message_id_fetches_the_article(server: NewsServer) {
    let rows = [
        ("a%b/c+d=e$f#g?h&i!j~k@test.invalid", "a%25b%2Fc+d=e$f%23g%3Fh&i!j~k@test.invalid"),
        ("a%b/c+d=e$f#g?h&i!j~k@test.invalid", "a%25b/c%2bd%3de%24f%23g%3fh%26i%21j%7ek@test%2Einvalid"),
        ("quote'back`brace{x}|y^z@test.invalid", "quote'back%60brace%7Bx%7D%7Cy%5Ez@test.invalid"),
        ("quote'back`brace{x}|y^z@test.invalid", "quote%27back%60brace%7bx%7d%7cy%5ez@test.invalid"),
    ];
    for (id, escaped) in rows {
        let expected = server.block(&[&format!("ARTICLE <{id}>")]);
        fetch(&[&server.id_url(escaped)]).assert_success(&expected);
        fetch(&["--news-server", &server.authority(), &format!("news:{escaped}")]).assert_success(&expected);
    }
}

fn message_id_of_200_characters_is_fetched(server: NewsServer) {
    let id = format!("{}@test.invalid", "x".repeat(200));
    fetch(&[&server.id_url(&id)]).assert_success(server.block(&[&format!("ARTICLE <{id}>")]));
}

/// One article in two groups: by message-id and by both numbers.
fn cross_posted_article_is_fetched_by_id_and_both_numbers(server: NewsServer) {
    let is_it = |article: &Vec<u8>| {
        String::from_utf8_lossy(article).contains("\r\nMessage-ID: <crosspost@test.invalid>\r\n")
    };
    let articles = server.those("ARTICLE", "fetch.8bit", 1..=100);
    let nth = articles.iter().position(is_it).expect("it is in both groups");
    let url = server.nth_url("fetch.8bit", u32::try_from(nth + 1).expect("a small number"));
    fetch(&[&url]).assert_success(&articles[nth]);
    for url in [server.nth_url("fetch.test", 1713), server.id_url("crosspost@test.invalid")] {
        assert!(is_it(&fetch(&[&url]).assert_exit(0).out), "{url}");
    }
}

/// Several URLs in one run.
fn forty_urls_in_one_run_give_their_articles(server: NewsServer) {
    let urls: Vec<String> = (300..340).map(|nth| server.nth_url("fetch.test", nth)).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    fetch(&urls).assert_success(server.those("ARTICLE", "fetch.test", 300..340).concat());
}

fn fragment_is_not_sent(server: NewsServer) {
    let url = format!("{}#part", server.nth_url("fetch.test", 5));
    fetch(&[&url]).assert_success(server.nth("ARTICLE", "fetch.test", 5));
}
