//! Errors: the server's reply in the message, and the exit status of the cause.

use super::received_commands::commands;
use crate::live::ftp_server::{BSDFTPD, FtpServer, PROFTPD, PUREFTPD, VSFTPD, each_ftp_server};
use crate::live::work_dir::{WorkDir, fetch, key};

each_ftp_server![
    missing_file_exits_78_with_the_reply_of_the_server,
    json_error_contains_code_exit_and_reply,
    failure_leaves_no_file,
    failure_keeps_the_old_file,
    directory_path_without_a_slash_exits_78,
    first_failure_sets_the_exit_status_of_several_urls,
    fail_early_stops_after_the_first_failure,
    verbose_trace_hides_the_password,
    permanent_errors_are_not_retried,
];

/// Returns a part of the server's reply for a missing file.
fn words(server: FtpServer) -> &'static str {
    match server.name {
        name if name == VSFTPD.name => "550 Failed to open file.",
        name if name == PROFTPD.name => ": No such file or directory)",
        name if name == PUREFTPD.name => "550 Can't open ",
        name if name == BSDFTPD.name => ": No such file or directory.)",
        name => panic!("{name}"),
    }
}

fn missing_file_exits_78_with_the_reply_of_the_server(server: FtpServer) {
    let name = key();
    let url = server.url(&format!("/{name}"));
    let result = fetch(&[&url])
        .assert_exit(78)
        .assert_stdout("")
        .assert_stderr_contains(words(server))
        .assert_stderr_contains("(550 ")
        .assert_stderr_contains("not found");
    let first = result.err.lines().next().expect("a line");
    assert!(first.starts_with(&format!("fetch-url: {url}: not found: ")), "{first}");
    assert_eq!(commands(server, &[], "/hello.txt").last().map(String::as_str), Some("RETR hello.txt"));
    fetch(&[&server.url(&format!("/{name}/x"))])
        .assert_exit(78)
        .assert_stderr_contains("CWD")
        .assert_stderr_contains("(550 ");
    let result = fetch(&[&server.url("/noperm.txt")]).assert_stdout("").assert_stderr_contains("(550 ");
    assert!([9, 78].contains(&result.exit), "{}", result.exit);
}

fn json_error_contains_code_exit_and_reply(server: FtpServer) {
    let url = server.url_as("alice", "secret", &format!("/{}", key()));
    let result = fetch(&["--format", "json", &url]).assert_exit(78);
    for pair in
        ["\"code\":\"not_found\"", "\"exit\":78", "\"temporary\":false", "\"reply\":\"550 ", "\"phase\":\""]
    {
        assert!(result.err.contains(pair), "{pair} is missing in {}", result.err);
    }
    let url = server.url_as("nobody-here", "x-canary-x", "/x");
    let result = fetch(&["--format", "json", &url])
        .assert_exit(67)
        .assert_stderr_omits("x-canary-x")
        .assert_stderr_contains("\"code\":\"auth_needed\"");
    result.assert_stderr_contains("\"reply\":\"530 ");
}

fn failure_leaves_no_file(server: FtpServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", &server.url(&format!("/{}", key()))]).assert_exit(78);
    dir.fetch(&["-O", &server.url(&format!("/pub/{}/x", key()))]).assert_exit(78);
    dir.fetch(&["-o", "here", &server.url("/noperm.txt")]);
    dir.fetch(&["-o", "here", &server.url("/pub")]).assert_exit(78);
    dir.assert_entries(&[]);
}

fn failure_keeps_the_old_file(server: FtpServer) {
    let dir = WorkDir::new();
    dir.write("old", "old");
    dir.fetch(&["-o", "old", &server.url(&format!("/{}", key()))]).assert_exit(78);
    dir.assert_entries(&["old"]);
    assert_eq!(dir.read("old"), b"old");
    dir.fetch(&["--no-clobber", "-o", "old", &server.url("/hello.txt")]);
    assert_eq!(dir.read("old"), b"old");
}

fn directory_path_without_a_slash_exits_78(server: FtpServer) {
    for path in ["/pub", "/pub/a", "/empty-dir"] {
        fetch(&[&server.url(path)]).assert_exit(78).assert_stdout("").assert_stderr_contains("(550 ");
    }
}

fn first_failure_sets_the_exit_status_of_several_urls(server: FtpServer) {
    let missing = server.url(&format!("/{}", key()));
    let (hello, wrong) = (server.url("/hello.txt"), server.url("/x%00"));
    fetch(&[&missing, &hello]).assert_exit(78).assert_stdout("Hello, world\n");
    fetch(&[&hello, &missing, &hello]).assert_exit(78).assert_stdout("Hello, world\nHello, world\n");
    fetch(&[&wrong, &hello, &missing]).assert_exit(93).assert_stdout("Hello, world\n");
}

fn fail_early_stops_after_the_first_failure(server: FtpServer) {
    let missing = server.url(&format!("/{}", key()));
    let hello = server.url("/hello.txt");
    fetch(&["--fail-early", &hello, &missing, &hello]).assert_exit(78).assert_stdout("Hello, world\n");
}

fn verbose_trace_hides_the_password(server: FtpServer) {
    let result = fetch(&["-v", &server.url_as("alice", "secret", "/here.txt")]).assert_exit(0);
    result
        .assert_stderr_contains("> USER alice")
        .assert_stderr_contains("> PASS ***")
        .assert_stderr_contains("< 220")
        .assert_stderr_contains("< 226")
        .assert_stderr_omits("secret");
    // Each line of a reply is shown as received, with its code once.
    let result = fetch(&["-v", &server.url("/hello.txt")]).assert_exit(0);
    for line in result.err.lines().filter_map(|line| line.strip_prefix("< ")) {
        let twice = line.get(..4).is_some_and(|code| line[4..].starts_with(code) && code.ends_with('-'));
        assert!(!twice, "{line}");
    }
}

fn permanent_errors_are_not_retried(server: FtpServer) {
    let name = key();
    let path = format!("/{name}");
    let result = fetch(&["-v", "--retry", "3", "--retry-delay", "0", &server.url(&path)]).assert_exit(78);
    assert_eq!(result.err.matches(&format!("> RETR {name}")).count(), 1, "{}", result.err);
}

/// Nothing listens on the port.
#[test]
#[ignore = "needs the servers of docker/"]
fn closed_port_exits_7() {
    fetch(&["ftp://127.0.0.1:17001/hello.txt"]).assert_exit(7).assert_stdout("");
    fetch(&["ftps://127.0.0.1:17001/hello.txt"]).assert_exit(7).assert_stdout("");
}
