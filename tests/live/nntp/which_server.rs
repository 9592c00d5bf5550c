//! URLs without a server: `--news-server`, otherwise the environment variable NNTPSERVER.

use crate::live::nntp_server::{INN, NewsServer, SN, each_news_server};
use crate::live::program::{RunResult, fetch_url, start_other};
use crate::live::work_dir::{WorkDir, fetch};

each_news_server![
    news_server_option_selects_the_server,
    nntpserver_variable_selects_the_server,
    news_server_option_overrides_the_variable,
    server_in_the_url_overrides_option_and_variable
];

/// Runs fetch-url with this value of NNTPSERVER.
#[track_caller]
fn with_environment(value: &str, arguments: &[&str]) -> RunResult {
    let program = fetch_url();
    let own = [&format!("NNTPSERVER={value}"), program.to_str().expect("a path in UTF-8"), "--retry", "0"];
    start_other("env", WorkDir::new().folder(), &[&own[..], arguments].concat()).wait()
}

fn other(server: NewsServer) -> NewsServer {
    if server.is_modern { SN } else { INN }
}

/// Returns a URL of each form, and its expected output.
fn rows(server: NewsServer) -> [(String, Vec<u8>); 4] {
    let number = server.number(12);
    [
        ("news:*".to_owned(), server.block(&["LIST ACTIVE"])),
        ("news:fetch.holes".to_owned(), server.block(&["GROUP fetch.holes", "XOVER 1-9999"])),
        ("news:plain-0012@test.invalid".to_owned(), server.nth("ARTICLE", "fetch.test", 12)),
        (format!("nntp:fetch.test/{number}"), server.nth("ARTICLE", "fetch.test", 12)),
    ]
}

fn news_server_option_selects_the_server(server: NewsServer) {
    for (url, expected) in rows(server) {
        for host in [server.authority(), format!("localhost:{}", server.port())] {
            fetch(&["--format", "raw", "--news-server", &host, &url]).assert_success(&expected);
        }
    }
}

fn nntpserver_variable_selects_the_server(server: NewsServer) {
    for (url, expected) in rows(server) {
        with_environment(&server.authority(), &["--format", "raw", &url]).assert_success(&expected);
    }
}

fn news_server_option_overrides_the_variable(server: NewsServer) {
    for (url, expected) in rows(server) {
        let arguments = ["--format", "raw", "--news-server", &server.authority(), &url];
        with_environment(&other(server).authority(), &arguments).assert_success(&expected);
    }
}

fn server_in_the_url_overrides_option_and_variable(server: NewsServer) {
    let url = server.id_url("plain-0012@test.invalid");
    let expected = server.nth("ARTICLE", "fetch.test", 12);
    let elsewhere = other(server).authority();
    with_environment(&elsewhere, &["--news-server", &elsewhere, &url]).assert_success(expected);
}

/// Without a server the run is a usage error, whose message names the option and the variable.
#[test]
#[ignore = "needs the built program"]
fn news_url_without_a_server_exits_2() {
    for url in
        ["news:*", "news:fetch.test", "news:plain-0001@test.invalid", "nntp:fetch.test/1", "snews:fetch.test"]
    {
        fetch(&[url])
            .assert_exit(2)
            .assert_stdout("")
            .assert_stderr_contains("--news-server")
            .assert_stderr_contains("NNTPSERVER");
    }
    with_environment("", &["news:fetch.test"])
        .assert_exit(2)
        .assert_stdout("")
        .assert_stderr_contains("--news-server");
}

#[test]
#[ignore = "needs the built program"]
fn invalid_news_server_exits_2() {
    for value in ["", "a b", "host:x", "host:99999", "a/b", "127.0.0.1:17119\r\nQUIT"] {
        fetch(&["--news-server", value, "news:fetch.test"]).assert_exit(2).assert_stdout("");
    }
}
