//! Missing groups and articles: exit status 78 with the server's reply in the message.

use crate::live::nntp_server::{INN, NewsServer, SN, each_news_server};
use crate::live::server::CA;
use crate::live::work_dir::{WorkDir, fetch};

each_news_server![
    unknown_group_exits_78_with_the_reply,
    missing_article_number_exits_78_with_the_reply,
    missing_message_id_exits_78_with_the_reply,
    article_of_an_empty_group_exits_78,
    json_error_contains_code_exit_and_reply,
    missing_article_is_not_retried,
    other_urls_are_fetched_after_a_failure,
    fail_early_stops_after_the_first_failure,
    failure_leaves_no_file,
    existing_file_is_kept_on_failure,
    closed_port_exits_7,
    invalid_urls_are_rejected,
];

/// Asserts exit status 78, the server's reply in the message, and no output.
#[track_caller]
fn assert_missing(server: NewsServer, commands: &[&str], code: &str, url: &str) {
    let line = server.reply(commands).line;
    assert!(line.starts_with(code), "{line}");
    fetch(&[url])
        .assert_exit(78)
        .assert_stdout("")
        .assert_stderr_contains("not found")
        .assert_stderr_contains(&format!("({line})"));
}

fn unknown_group_exits_78_with_the_reply(server: NewsServer) {
    let group = "GROUP fetch.no-such-group";
    assert_missing(server, &[group], "411", &server.url("fetch.no-such-group"));
    assert_missing(server, &[group], "411", &server.id_url("fetch.no-such-group"));
    assert_missing(server, &[group], "411", &server.url("fetch.no-such-group/12"));
    assert_missing(server, &[group], "411", &server.url("fetch.no-such-group/12-14"));
}

fn missing_article_number_exits_78_with_the_reply(server: NewsServer) {
    let code = if server.is_modern { "423" } else { "430" };
    for (group, nth) in [("fetch.test", 9000), ("fetch.holes", 2), ("fetch.holes", 50)] {
        let commands = [format!("GROUP {group}"), format!("ARTICLE {}", server.number(nth))];
        assert_missing(server, &[&commands[0], &commands[1]], code, &server.nth_url(group, nth));
    }
}

fn missing_message_id_exits_78_with_the_reply(server: NewsServer) {
    assert_missing(server, &["ARTICLE <nobody@test.invalid>"], "430", &server.id_url("nobody@test.invalid"));
}

fn article_of_an_empty_group_exits_78(server: NewsServer) {
    for path in ["fetch.empty/1", "fetch.empty/1-3"] {
        fetch(&[&server.url(path)]).assert_exit(78).assert_stdout("");
    }
}

fn json_error_contains_code_exit_and_reply(server: NewsServer) {
    let url = server.url("fetch.no-such-group");
    let result = fetch(&["--format", "json", &url]).assert_exit(78).assert_stdout("");
    for part in [r#""code":"not_found""#, r#""exit":78"#, r#""temporary":false"#, r#""reply":"411 "#, &url] {
        assert!(result.err.contains(part), "{}", result.err);
    }
}

/// A missing article is a permanent error.
fn missing_article_is_not_retried(server: NewsServer) {
    let url = server.nth_url("fetch.test", 9000);
    let result = fetch(&["-v", "--retry", "3", "--retry-delay", "0", &url]).assert_exit(78);
    assert_eq!(result.err.matches("> ARTICLE").count(), 1, "{}", result.err);
}

/// The other articles are delivered; the exit status is that of the first failure.
fn other_urls_are_fetched_after_a_failure(server: NewsServer) {
    let urls = [
        server.nth_url("fetch.test", 1),
        server.nth_url("fetch.test", 9000),
        server.nth_url("fetch.test", 2),
        server.url("fetch.no-such-group/1"),
        server.nth_url("fetch.test", 3),
        server.id_url("nobody@test.invalid"),
        server.nth_url("fetch.holes", 4),
    ];
    let expected =
        [server.those("ARTICLE", "fetch.test", 1..=3).concat(), server.nth("ARTICLE", "fetch.holes", 4)];
    fetch(&urls.each_ref().map(String::as_str)).assert_exit(78).assert_stdout(expected.concat());
}

fn fail_early_stops_after_the_first_failure(server: NewsServer) {
    let urls = [server.nth_url("fetch.test", 9000), server.nth_url("fetch.test", 1)];
    fetch(&["--fail-early", &urls[0], &urls[1]]).assert_exit(78).assert_stdout("");
}

fn failure_leaves_no_file(server: NewsServer) {
    let dir = WorkDir::new();
    for url in [
        server.url("fetch.no-such-group"),
        server.nth_url("fetch.test", 9000),
        server.id_url("nobody@test.invalid"),
        server.nth_url("fetch.holes", 13),
    ] {
        dir.fetch(&["-o", "here", &url]).assert_exit(78);
        dir.fetch(&["-O", &url]).assert_exit(78);
        dir.assert_entries(&[]);
    }
    // The size limit is exceeded during the transfer.
    for url in [server.id_url("longline@test.invalid"), server.id_url("huge@test.invalid")] {
        dir.fetch(&["--max-filesize", "50k", "-o", "here", &url]).assert_exit(63);
        assert!(!dir.names().contains(&"here".to_owned()), "{:?}", dir.names());
    }
}

fn existing_file_is_kept_on_failure(server: NewsServer) {
    let dir = WorkDir::new();
    dir.write("here", "mine");
    dir.fetch(&["-o", "here", &server.nth_url("fetch.test", 9000)]).assert_exit(78);
    assert_eq!(dir.read("here"), b"mine");
    dir.fetch(&["--no-clobber", "-o", "here", &server.nth_url("fetch.test", 1)]);
    assert_eq!(dir.read("here"), b"mine");
    dir.fetch(&["-o", "here", &server.nth_url("fetch.test", 1)]).assert_success("");
    assert_eq!(dir.read("here"), server.nth("ARTICLE", "fetch.test", 1));
    dir.assert_entries(&["here"]);
}

fn closed_port_exits_7(server: NewsServer) {
    let url = server.nth_url("fetch.test", 1).replace(&server.authority(), "127.0.0.1:17001");
    fetch(&[&url]).assert_exit(7).assert_stdout("");
}

fn invalid_urls_are_rejected(server: NewsServer) {
    for path in [
        "",
        "fetch.test/",
        "fetch.test/x",
        "fetch.test/-5",
        "fetch.test/5-",
        "fetch.test/99999999999999999",
        "/1",
    ] {
        fetch(&[&server.url(path)]).assert_exit(3).assert_stdout("");
    }
}

/// INN requires a login, which is not sent. sn has no private groups.
#[test]
#[ignore = "needs the servers of docker/"]
fn private_group_without_a_login_exits_67() {
    for path in ["private.secret", "private.secret/1", "private.secret/1-3"] {
        let url = INN.url(path).replace("127.0.0.1", "localhost");
        let result = fetch(&["-v", "--cacert", CA, &url]).assert_exit(67).assert_stdout("");
        result.assert_stderr_contains("480").assert_stderr_omits("AUTHINFO").assert_stderr_contains("-u");
    }
    fetch(&["--cacert", CA, &INN.id_url("secret-1@test.invalid")]).assert_exit(67).assert_stdout("");
    let expected = SN.nth("ARTICLE", "private.secret", 1);
    fetch(&[&SN.nth_url("private.secret", 1)]).assert_success(expected);
}

/// Without a login and without TLS, the error names the server's reply.
#[test]
#[ignore = "needs the servers of docker/"]
fn private_group_without_tls_exits_67_with_the_reply() {
    for path in ["private.secret", "private.secret/1", "private.secret/1-3"] {
        fetch(&[&INN.url(path)])
            .assert_exit(67)
            .assert_stdout("")
            .assert_stderr_contains("480")
            .assert_stderr_contains("-u");
    }
}

/// `-m` ends a run that would otherwise take hours.
#[test]
#[ignore = "needs the servers of docker/"]
fn unknown_group_as_mbox_exits_78_without_a_file() {
    let dir = WorkDir::new();
    for server in [INN, SN] {
        let arguments = ["-m", "3", "--format", "mbox", "-o", "here", &server.url("fetch.no-such-group")];
        dir.fetch(&arguments).assert_exit(78).assert_stderr_contains("411");
        dir.assert_entries(&[]);
    }
}
