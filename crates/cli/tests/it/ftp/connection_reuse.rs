//! FTP connection reuse: one control connection for several URLs (RFC 1738 §3.2.5; docs/spec/semantics.md §2,
//! "Connection reuse"; docs/spec/faults.md, row 33). Each URL must get the right login, directory and transfer type,
//! and never the bytes of another file.

use std::time::Duration;

use crate::support::{
    RunResult, check_in_parallel, entry_names, read_text_file, run_fetch_url, run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpRule, FtpServer, FtpTrigger};

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

/// Files below the login directory `/base/me`, and one outside it. The content of each file is its path.
fn test_config() -> FtpConfig {
    let files = ["x", "y", "a/x", "a/y", "a/b/x", "a/b/y", "a/b/c/x", "d/x", "d/e/x"];
    let config = FtpConfig::new().login_directory("/base/me").file("/far/x", "/far/x;");
    files.iter().fold(config, |config, name| config.file(format!("/base/me/{name}"), format!("{name};")))
}

/// Fetches all paths in one run to standard output.
fn fetch_paths(server: &FtpServer, options: &str, paths: &[&str]) -> RunResult {
    let urls = paths.iter().map(|path| server.url(path));
    run_fetch_url(options.split_whitespace().map(str::to_owned).chain(urls))
}

fn count_commands(server: &FtpServer, start: &str) -> usize {
    server.received_text().iter().filter(|line| line.starts_with(start)).count()
}

#[test]
fn urls_in_one_directory_share_login_cwd_and_type() {
    let server = start_server(test_config());
    let result = fetch_paths(&server, "-u u:pw", &["a/b/x", "a/b/y", "a/b/x"]);
    assert_eq!(result.assert_exit(0).stdout_text(), "a/b/x;a/b/y;a/b/x;");
    assert_eq!(server.connections(), 1);
    for (start, times) in [("USER", 1), ("PASS", 1), ("CWD", 2), ("TYPE", 1), ("RETR", 3)] {
        assert_eq!(count_commands(&server, start), times, "{start}: {:?}", server.received_text());
    }
}

#[test]
fn deeper_directory_sends_only_the_additional_cwd() {
    let server = start_server(test_config());
    let result = fetch_paths(&server, "", &["x", "a/x", "a/b/x", "a/b/c/x"]);
    assert_eq!(result.assert_exit(0).stdout_text(), "x;a/x;a/b/x;a/b/c/x;");
    assert_eq!(server.connections(), 1);
    let mut cwd_commands = server.received_text();
    cwd_commands.retain(|line| line.starts_with("CWD"));
    assert_eq!(cwd_commands, ["CWD a", "CWD b", "CWD c"]);
}

/// The connection returns to the login directory that PWD reported; if it cannot, a new connection is opened.
#[test]
fn change_of_directory_returns_to_login_directory_or_reconnects() {
    let paths = ["a/b/x", "d/x", "a/x", "x", "%2Ffar/x", "a/b/y", "%2Ffar/x", "d/e/x"];
    let expected = "a/b/x;d/x;a/x;x;/far/x;a/b/y;/far/x;d/e/x;";
    let cwd_refused = || test_config().answer("CWD /base/me", "550 No way back.\r\n");
    for (case, config, max_connections) in [
        ("PWD", test_config(), 2),
        ("no PWD", test_config().without("PWD"), paths.len()),
        ("malformed PWD", test_config().replace_reply("PWD", "257 somewhere\r\n"), paths.len()),
        ("wrong PWD", test_config().replace_reply("PWD", "257 \"/nowhere\" is here\r\n"), paths.len()),
        ("CWD back refused", cwd_refused(), paths.len()),
    ] {
        let server = start_server(config);
        let result = fetch_paths(&server, "", &paths);
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, expected),
            "{case}: {} {:?}",
            result.stderr,
            server.received_text()
        );
        assert!(
            server.connections() <= max_connections,
            "{case}: {} {:?}",
            server.connections(),
            server.received_text()
        );
    }
}

/// After a failed return, the same relative path names another file, which must not be delivered.
#[test]
fn failed_return_to_login_directory_never_delivers_another_file() {
    let wrong_files_config =
        || test_config().file("/far/a/x", "WRONG;").file("/far/y", "WRONG;").file("/base/me/d/a/x", "WRONG;");
    for (case, config) in [
        ("wrong PWD", wrong_files_config().replace_reply("PWD", "257 \"/nowhere\" is here\r\n")),
        ("CWD back refused", wrong_files_config().answer("CWD /base/me", "550 No way back.\r\n")),
    ] {
        for paths in [
            ["x", "%2Ffar/x", "a/x", "y"],
            ["a/x", "%2Ffar/x", "y", "a/y"],
            ["%2Ffar/x", "%2Ffar/a/x", "a/x", "x"],
            ["x", "d/x", "a/x", "d/x"],
            // A data connection is already prepared for the third URL, so its RETR is pipelined with the return.
            ["a/x", "x", "%2Ffar/x", "a/x"],
        ] {
            let server = start_server(config.clone());
            let result = fetch_paths(&server, "", &paths);
            let expected_content = |path: &str| match path {
                "%2Ffar/x" => "/far/x;".to_owned(),
                "%2Ffar/a/x" => "WRONG;".to_owned(),
                path => format!("{path};"),
            };
            let expected: String = paths.iter().map(|path| expected_content(path)).collect();
            assert_eq!(
                (result.exit, result.stdout_text()),
                (0, expected),
                "{case}: {} {:?}",
                result.stderr,
                server.received_text()
            );
        }
    }
}

/// PWD quotes the login directory (RFC 959, appendix II); the name may also look like a command.
#[test]
fn special_characters_in_pwd_reply_are_handled() {
    for login_directory in ["/ho\"me", "/a b", "/\u{e9}", "/x\"\"y\"", "/ "] {
        let config = FtpConfig::new().login_directory(login_directory);
        let config = config
            .file(format!("{login_directory}/a/x"), "ax;")
            .file(format!("{login_directory}/b/x"), "bx;");
        let server = start_server(config);
        let result = fetch_paths(&server, "", &["a/x", "b/x", "a/x"]);
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "ax;bx;ax;"),
            "{login_directory}: {}",
            result.stderr
        );
        assert!(server.connections() <= 3, "{login_directory}");
    }
    // A CR in the PWD reply must not inject a command.
    let server = start_server(test_config().replace_reply("PWD", "257 \"/x\rDELE y\" ok\r\n"));
    let result = fetch_paths(&server, "", &["a/x", "d/x"]);
    assert!(!server.received_text().iter().any(|line| line.contains("DELE")), "{:?}", server.received_text());
    assert_eq!(result.assert_exit(0).stdout_text(), "a/x;d/x;");
}

/// `/a/../d`: only the server knows where `..` leads, so the path is not compared with other paths.
#[test]
fn dot_dot_in_path_reaches_the_right_file() {
    let server = start_server(test_config());
    let result = fetch_paths(&server, "", &["a/b/../x", "a/b/x", "a/../d/x", "d/x", "../me/x"]);
    assert_eq!(result.assert_exit(0).stdout_text(), "a/x;a/b/x;d/x;d/x;x;");
}

#[test]
fn different_logins_use_different_connections() {
    let login_config = || test_config().user("u", "pu").user("v", "pv").anonymous();
    let url_with_login =
        |server: &FtpServer, login: &str| server.url("x").replacen("://", &format!("://{login}"), 1);
    for logins in [["u:pu@", "v:pv@"], ["u:pu@", ""], ["", "u:pu@"]] {
        let server = start_server(login_config());
        let urls = logins.map(|login| url_with_login(&server, login));
        assert_eq!(run_fetch_url(urls).assert_exit(0).stdout_text(), "x;x;");
        assert_eq!(server.connections(), 2, "{logins:?}");
        assert!(
            server
                .commands()
                .iter()
                .all(|lines| { lines.iter().filter(|line| line.starts_with(b"USER")).count() == 1 })
        );
    }
    // A successful login does not make a wrong password for the same user succeed.
    let server = start_server(login_config());
    let result = run_fetch_url([url_with_login(&server, "u:pu@"), url_with_login(&server, "u:wrong@")]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (67, "x;"));
    assert_eq!(server.connections(), 2);
    // The same login in another percent-encoding is the same login.
    let server = start_server(login_config());
    assert_eq!(
        run_fetch_url([url_with_login(&server, "u:pu@"), url_with_login(&server, "%75:p%75@")])
            .assert_exit(0)
            .stdout_text(),
        "x;x;"
    );
    assert_eq!(count_commands(&server, "USER"), server.connections());
}

/// A missing or refused file does not close the connection.
#[test]
fn connection_is_reused_after_a_missing_file() {
    for (case, config) in [
        ("missing", test_config()),
        ("refused", test_config().answer("RETR missing", "553 Not for you.\r\n")),
        ("not now", test_config().answer("RETR missing", "450 Busy.\r\n")),
    ] {
        let server = start_server(config);
        let result = fetch_paths(&server, "", &["a/x", "a/missing", "a/y"]);
        assert!(result.exit != 0, "{case}");
        assert_eq!(result.stdout_text(), "a/x;a/y;", "{case}: {}", result.stderr);
        assert_eq!(server.connections(), 1, "{case}: {:?}", server.received_text());
    }
    // After a missing directory, the next URL starts in the login directory.
    let server = start_server(test_config());
    let result = fetch_paths(&server, "", &["a/b/x", "a/nowhere/b/x", "a/y", "nowhere/x", "d/x"]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (78, "a/b/x;a/y;d/x;"), "{}", result.stderr);
    // After a refused CWD, a file of the same name in the current directory is not delivered.
    let server = start_server(test_config());
    let result = fetch_paths(&server, "", &["a/nowhere/x", "a/x", "nowhere/x", "x"]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (78, "a/x;x;"), "{}", result.stderr);
}

/// After several transfers, more commands are pipelined; a missing directory must still fail that URL.
#[test]
fn refusal_after_several_transfers_never_delivers_another_file() {
    for (last, expected_exit) in [
        ("nowhere/x", 78),
        ("nowhere/b/x", 78),
        ("a/nowhere/x", 78),
        ("%2Fnowhere/x", 78),
        ("nowhere/", 78),
        ("nowhere;type=d", 78),
    ] {
        for options in ["", "--retry 2 --retry-delay 0", "--ftp-method singlecwd"] {
            let server = start_server(test_config());
            let paths = if last.starts_with("a/") {
                ["a/x", "a/y", "a/x", "a/y", last]
            } else {
                ["x", "y", "x", "y", last]
            };
            let result = fetch_paths(&server, options, &paths);
            let expected: String = paths[..4].iter().map(|path| format!("{path};")).collect();
            assert_eq!(
                (result.exit, result.stdout_text()),
                (expected_exit, expected),
                "{last} {options}: {:?}",
                server.received_text()
            );
        }
    }
    // REST or TYPE is refused, but the pipelined RETR sends data: that data is not delivered.
    for (verb, nth) in [("REST", 5), ("TYPE", 2)] {
        let refuse_once = FtpRule::on(verb, FtpAction::Answer(b"504 No.\r\n".to_vec())).nth(nth);
        let server = start_server(test_config().rule(refuse_once));
        let (options, paths) = match verb {
            "REST" => ("-r 1-", ["x", "y", "x", "y", "x"]),
            _ => ("", ["x", "y", "x", "y", "x;type=a"]),
        };
        let result = fetch_paths(&server, options, &paths);
        let all = if verb == "REST" { ";;;;;" } else { "x;y;x;y;x;" };
        // Either the run fails, or the client retried and got the right bytes.
        let is_correct = result.stdout_text()
            == if result.exit == 0 { all } else { &all[..if verb == "REST" { 4 } else { 8 }] };
        assert!(is_correct, "{verb}: {result:?} {:?}", server.received_text());
    }
    // A listing and a file in a missing directory.
    let server = start_server(test_config());
    let result =
        fetch_paths(&server, "--format raw", &["a/x", "a/y", "a/x", "a/nowhere/", "a/nowhere/x", "a/y"]);
    assert_eq!(
        (result.exit, result.stdout_text().as_str()),
        (78, "a/x;a/y;a/x;a/y;"),
        "{:?}",
        server.received_text()
    );
}

/// On a connection with 35 ms latency, commands are sent ahead; a refused command must still fail the URL.
#[test]
fn refusal_with_high_latency_delivers_no_data() {
    let start_distant_server = |config: FtpConfig| start_server(config.delay(Duration::from_millis(35)));
    let rows: [(&str, FtpConfig, &str, i32); 5] = [
        ("CWD", test_config(), "nowhere/x", 78),
        ("CWD of several", test_config(), "a/nowhere/x", 78),
        ("TYPE", test_config().answer("TYPE", "504 No.\r\n"), "x", -1),
        ("REST", test_config().without("REST"), "x", 33),
        ("a listing", test_config(), "nowhere/", 78),
    ];
    check_in_parallel(&rows, 5, |(case, config, path, expected_exit)| {
        for options in ["", "--ftp-pasv --disable-epsv"] {
            let options = if *case == "REST" { format!("{options} -r 1-") } else { options.to_owned() };
            for paths in [&[*path][..], &[*path; 5]] {
                let server = start_distant_server(config.clone());
                let result = fetch_paths(&server, &options, paths);
                assert!(
                    result.stdout.is_empty(),
                    "{case}: {:?} {:?}",
                    result.stdout_text(),
                    server.received_text()
                );
                assert!(
                    if *expected_exit < 0 { result.exit != 0 } else { result.exit == *expected_exit },
                    "{case}: {result:?}"
                );
            }
        }
        Ok(())
    });
}

/// TYPE is a state of the connection, so it is sent again when it changes.
#[test]
fn type_is_sent_again_when_it_changes() {
    let text_config = || FtpConfig::new().file("/t", "1\r\n2\n3\r").file("/a/n", "n\r\n");
    for paths in [["t;type=a", "t"], ["t", "t;type=a"], [";type=d", "t"], ["t", ";type=d"], ["a/", "t"]] {
        let server = start_server(text_config());
        let result = fetch_paths(&server, "--format raw", &paths);
        let expected_content = |path: &str| match path {
            // The server converts LF to CR LF, and the client converts CR LF to LF.
            "t;type=a" => "1\n2\n3\r",
            ";type=d" => "a\r\nt\r\n",
            "a/" => "n\r\n",
            _ => "1\r\n2\n3\r",
        };
        assert_eq!(
            result.assert_exit(0).stdout_text(),
            paths.map(expected_content).concat(),
            "{paths:?}: {:?}",
            server.received_text()
        );
        assert!(server.connections() <= 2);
    }
    // A REST offset applies to one transfer only.
    let server = start_server(text_config());
    let result = fetch_paths(&server, "-r 3-", &["t", "a/n"]);
    assert!(result.stdout_text().starts_with("2\n3\r"), "{result:?}");
    assert_eq!(fetch_paths(&server, "", &["t", "t"]).assert_exit(0).stdout_text(), "1\r\n2\n3\r1\r\n2\n3\r");
}

/// A connection that the server closed while it was idle is replaced without a message.
#[test]
fn connection_closed_while_idle_is_replaced_silently() {
    let endings = [
        ("421", FtpAction::After(b"421 Timeout.\r\n".to_vec())),
        ("EOF", FtpAction::EndBeforeFinalReply(Ending::Close)),
    ];
    for (case, act) in endings {
        // The first transfer succeeds, then the server closes the connection.
        let rule = match case {
            "421" => FtpRule::on("RETR x", act),
            _ => FtpRule::on("RETR nothing", act),
        };
        let server = start_server(test_config().rule(rule.nth(1)));
        let result = fetch_paths(&server, "", &["x", "y", "a/x"]);
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "x;y;a/x;"),
            "{case}: {}",
            result.stderr
        );
        assert!(result.stderr.is_empty(), "{case}: {}", result.stderr);
    }
    // Closed at the next command: nothing was delivered, so the URL is requested again on a new connection.
    for act in [
        FtpAction::End(Ending::Close),
        FtpAction::End(Ending::Reset),
        FtpAction::Answer(b"421 Timeout.\r\n".to_vec()),
    ] {
        let is_size_y: fn(&[u8]) -> bool = |line| line == b"SIZE y";
        let server =
            start_server(test_config().rule(FtpRule::on(FtpTrigger::Matches(is_size_y), act.clone()).nth(1)));
        let result = fetch_paths(&server, "", &["x", "y"]);
        assert_eq!((result.exit, result.stdout_text().as_str()), (0, "x;y;"), "{act:?}: {}", result.stderr);
        assert!(server.connections() == 2 && result.stderr.is_empty(), "{act:?}: {}", result.stderr);
    }
    // A new connection that is closed at once is replaced only a limited number of times.
    let server = start_server(test_config().close_at("SIZE"));
    assert_ne!(fetch_paths(&server, "", &["x", "y"]).exit, 0);
    assert!(server.connections() <= 6, "{}", server.connections());
}

/// The server may be overloaded, so no new connection is opened at once.
#[test]
fn busy_server_is_contacted_again_after_a_pause() {
    let is_size_y: fn(&[u8]) -> bool = |line| line == b"SIZE y";
    let busy = FtpAction::Answer(b"421 Too many requests at this time, try again later.\r\n".to_vec());
    let config = || test_config().rule(FtpRule::on(FtpTrigger::Matches(is_size_y), busy.clone()).nth(1));
    let server = start_server(config());
    let urls = ["x", "y"].map(|path| server.url(path));
    let result = run_fetch_url(["--retry", "0"].map(str::to_owned).into_iter().chain(urls));
    assert_eq!((result.assert_exit(92).stdout_text().as_str(), server.connections()), ("x;", 1));
    let server = start_server(config());
    let urls = ["x", "y"].map(|path| server.url(path));
    let again = ["--retry", "1", "--retry-delay", "0.05"].map(str::to_owned);
    let result = run_fetch_url(again.into_iter().chain(urls));
    assert_eq!((result.assert_exit(0).stdout_text().as_str(), server.connections()), ("x;y;", 2));
    result.assert_stderr_contains("retry");
}

/// After an aborted transfer the connection may have unread replies, so it is not reused in that state.
#[test]
fn urls_after_an_aborted_transfer_get_the_right_content() {
    let big_file_config = || test_config().pattern("/base/me/big", 500_000);
    for act in [
        FtpAction::CutData(1000, Ending::Reset),
        FtpAction::CutData(1000, Ending::Close),
        FtpAction::ReplaceReply(Vec::new()),
        FtpAction::FinalReplyFirst,
    ] {
        let server = start_server(big_file_config().rule(FtpRule::on("RETR big", act.clone()).nth(1)));
        let dir = temp_dir();
        let urls = ["big", "x", "a/y"].map(|path| server.url(path));
        let names = ["-o", "big", "-o", "x", "-o", "y", "--read-timeout", "1.5"].map(str::to_owned);
        run_fetch_url_in(dir.path(), names.into_iter().chain(urls));
        assert_eq!(read_text_file(dir.path(), "x"), "x;", "{act:?}");
        assert_eq!(read_text_file(dir.path(), "y"), "a/y;", "{act:?}");
    }
    // A transfer that the client aborts.
    let server = start_server(big_file_config());
    let result = fetch_paths(&server, "--max-filesize 100k", &["big", "x"]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (63, "x;"), "{}", result.stderr);
    let server = start_server(big_file_config());
    let result = fetch_paths(&server, "-r 10-19", &["big", "big"]);
    assert_eq!(
        result.assert_exit(0).stdout,
        [fetch_url_tests::pattern_vec(10, 10), fetch_url_tests::pattern_vec(10, 10)].concat()
    );
}

/// `--parallel-max 8` with 100 files.
#[test]
fn parallel_transfers_reuse_connections() {
    let (paths, config): (Vec<String>, FtpConfig) = {
        let paths: Vec<String> = (0..100).map(|number| format!("d{}/f{number}", number % 7)).collect();
        let config = paths
            .iter()
            .fold(FtpConfig::new(), |config, path| config.file(format!("/{path}"), path.as_str()));
        (paths, config)
    };
    let server = start_server(config.delay(Duration::from_millis(1)));
    let dir = temp_dir();
    let mut options: Vec<String> =
        ["-Z", "--parallel-max", "8", "--remote-name-all"].map(str::to_owned).into();
    options.extend(paths.iter().map(|path| server.url(path)));
    run_fetch_url_in(dir.path(), options).assert_exit(0);
    assert_eq!(entry_names(dir.path()).len(), 100);
    for path in &paths {
        let name = path.split('/').next_back().unwrap_or_default();
        assert_eq!(read_text_file(dir.path(), name), *path);
    }
    // Eight connections at a time; each may be replaced once, if it cannot return to the login directory.
    assert!(server.connections() <= 16, "{} connections", server.connections());
    assert_eq!(count_commands(&server, "RETR"), 100);
}

/// Files `/a` to `/f`; the content of `/a` is `a;`.
fn letter_files() -> FtpConfig {
    "abcdef"
        .chars()
        .fold(FtpConfig::new(), |config, name| config.file(format!("/{name}"), format!("{name};")))
}

/// Starts a server and fetches `paths` in one run.
fn start_and_fetch(config: FtpConfig, paths: &[&str], options: &[&str]) -> (RunResult, FtpServer) {
    let server = start_server(config);
    let urls: Vec<String> = paths.iter().map(|path| server.url(path)).collect();
    let arguments: Vec<&str> = options.iter().copied().chain(urls.iter().map(String::as_str)).collect();
    (run_fetch_url(arguments), server)
}

#[test]
fn missing_file_between_others_keeps_the_connection() {
    for config in
        [letter_files(), letter_files().without("SIZE"), letter_files().delay(Duration::from_millis(15))]
    {
        let (result, server) = start_and_fetch(config, &["a", "b", "c", "missing", "d", "e", "f"], &[]);
        assert_eq!(
            (result.assert_exit(78).stdout_text().as_str(), server.connections()),
            ("a;b;c;d;e;f;", 1)
        );
    }
}

/// The data connection for the fourth file was prepared ahead; the server closed it and replies 425.
#[test]
fn expired_prepared_data_connection_is_replaced() {
    let expired = FtpRule::on("RETR", FtpAction::Answer(b"425 too late\r\n".to_vec())).nth(4);
    let (result, server) = start_and_fetch(letter_files().rule(expired), &["a", "b", "c", "d", "e"], &[]);
    assert_eq!(result.assert_exit(0).stdout_text(), "a;b;c;d;e;", "{:?}", server.received_text());
}

#[test]
fn empty_directory_between_files_delivers_all_files() {
    for options in [&[][..], &["-B"]] {
        let config = letter_files().dir("/empty");
        let (result, server) = start_and_fetch(config, &["a", "b", "c", "empty;type=d", "d", "e"], options);
        assert_eq!(result.assert_exit(0).stdout_text(), "a;b;c;d;e;", "{:?}", server.received_text());
    }
}

#[test]
fn duplicate_final_reply_does_not_shift_later_transfers() {
    let duplicate = FtpRule::on("RETR", FtpAction::After(b"226 once more\r\n".to_vec())).nth(3);
    let paths = ["a", "b", "c", "d", "", "e"];
    let (result, server) = start_and_fetch(letter_files().rule(duplicate), &paths, &["--format", "raw"]);
    let expected = "a;b;c;d;a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ne;";
    assert_eq!(result.assert_exit(0).stdout_text(), expected, "{:?}", server.received_text());
}

/// The server takes 3.5 s to open the third file, for example to load it from tape.
#[test]
fn slow_reply_to_retr_does_not_cause_a_reconnect() {
    let slow = FtpRule::on("RETR", FtpAction::Pause(Duration::from_millis(3500))).nth(3);
    let (result, server) = start_and_fetch(letter_files().rule(slow), &["a", "b", "c", "d"], &[]);
    assert_eq!((result.assert_exit(0).stdout_text().as_str(), server.connections()), ("a;b;c;d;", 1));
}
