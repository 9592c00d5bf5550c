//! Articles in files, named by `-o` or `-O`; a failure leaves no file.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::work_dir::WorkDir;

each_news_server![
    output_option_names_the_file,
    remote_time_sets_the_date_of_the_article,
    remote_name_is_the_sanitised_message_id_or_number,
    several_urls_are_written_to_their_own_files,
    parallel_transfers_write_each_article_to_its_file,
    missing_output_directory_exits_23
];

fn output_option_names_the_file(server: NewsServer) {
    let dir = WorkDir::new();
    for nth in [1, 1701, 1702, 1703, 1705] {
        dir.fetch(&["-o", "here", &server.nth_url("fetch.test", nth)]).assert_success("");
        assert!(dir.read("here") == server.nth("ARTICLE", "fetch.test", nth), "{nth}");
    }
    dir.assert_entries(&["here"]);
}

/// The time of the Date header: 1994-12-01 12:34:56.
fn remote_time_sets_the_date_of_the_article(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-R", "-o", "here", &server.nth_url("fetch.test", 1)]).assert_success("");
    let modified =
        fs::metadata(dir.path("here")).and_then(|data| data.modified()).expect("a file has a time");
    assert_eq!(modified, UNIX_EPOCH + Duration::from_secs(786_285_296));
}

/// The file name is the last part of the URL, decoded and sanitised.
fn remote_name_is_the_sanitised_message_id_or_number(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-O", &server.id_url("plain-0005@test.invalid")]).assert_success("");
    dir.fetch(&["-O", &server.id_url("plain-0006@test%2Einvalid")]).assert_success("");
    dir.fetch(&["-O", &server.nth_url("fetch.test", 7)]).assert_success("");
    let number = server.number(7).to_string();
    dir.assert_entries(&[&number, "plain-0005@test.invalid", "plain-0006@test.invalid"]);
    assert_eq!(dir.read("plain-0006@test.invalid"), server.nth("ARTICLE", "fetch.test", 6));
    dir.clear();
    dir.fetch(&["-O", &server.id_url("a%25b%2Fc+d=e$f%23g%3Fh&i!j~k@test.invalid")]).assert_success("");
    let [name] = &dir.names()[..] else { panic!("{:?}", dir.names()) };
    assert!(name.ends_with("k@test.invalid") && !name.contains('/'), "{name}");
}

fn several_urls_are_written_to_their_own_files(server: NewsServer) {
    let dir = WorkDir::new();
    let urls = [
        server.nth_url("fetch.test", 1),
        server.nth_url("fetch.holes", 1),
        server.id_url("dots@test.invalid"),
    ];
    dir.fetch(&["-o", "a", "-o", "b", "-o", "c", &urls[0], &urls[1], &urls[2]]).assert_success("");
    assert_eq!(dir.read("a"), server.nth("ARTICLE", "fetch.test", 1));
    assert_eq!(dir.read("b"), server.nth("ARTICLE", "fetch.holes", 1));
    assert_eq!(dir.read("c"), server.nth("ARTICLE", "fetch.test", 1701));
}

fn parallel_transfers_write_each_article_to_its_file(server: NewsServer) {
    let dir = WorkDir::new();
    let urls: Vec<String> = (400..440).map(|nth| server.nth_url("fetch.test", nth)).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    dir.fetch(&[&["-Z", "--remote-name-all"], &urls[..]].concat()).assert_success("");
    let articles = server.those("ARTICLE", "fetch.test", 400..440);
    assert_eq!((dir.names().len(), articles.len()), (40, 40));
    for (nth, expected) in (400..).zip(articles) {
        assert_eq!(dir.read(&server.number(nth).to_string()), expected, "{nth}");
    }
}

fn missing_output_directory_exits_23(server: NewsServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-o", "no/here", &server.nth_url("fetch.test", 1)]).assert_exit(23);
    dir.assert_entries(&[]);
}
