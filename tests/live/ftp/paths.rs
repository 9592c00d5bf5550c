//! The start of a path: the login directory, the root, or the result of CWD without an argument.

use crate::live::ftp_server::{FtpServer, PUREFTPD, each_ftp_server};
use crate::live::work_dir::{fetch, key};

each_ftp_server![
    path_starts_in_the_login_directory_unless_it_begins_with_2f,
    empty_segment_sends_cwd_without_argument,
    rejected_empty_cwd_prevents_retr,
    escaped_slash_stays_in_one_cwd,
];

fn path_starts_in_the_login_directory_unless_it_begins_with_2f(server: FtpServer) {
    let own = "motd of alice, not of the host\n";
    let host = "motd of the host\n";
    for (path, bytes) in [
        ("/etc/motd", own),
        ("/etc%2Fmotd", own),
        ("/./etc/motd", own),
        ("/%2Fetc/motd", host),
        ("/%2fetc/motd", host),
        ("/%2Fetc%2Fmotd", host),
        ("/%2F/etc/motd", host),
        ("/%2Fusers/alice/etc/motd", own),
        ("/here.txt", "in the login directory of alice\n"),
        ("/tree/pub/README", "path=pub/README\n"),
    ] {
        fetch(&[&server.url_as("alice", "secret", path)]).assert_success(bytes);
    }
    fetch(&[&server.url_as("bob", "p@ss/w:rd#%41 x", "/etc/motd")])
        .assert_success("motd of bob, not of the host\n");
}

/// Only pure-ftpd accepts CWD without an argument, and stays in the login directory; for the others the error has a
/// hint.
fn empty_segment_sends_cwd_without_argument(server: FtpServer) {
    let url = server.url_as("alice", "secret", "//etc/motd");
    let result = fetch(&["-v", &url]).assert_stderr_contains("> CWD");
    let exit = result.exit;
    if server.name == PUREFTPD.name {
        result.assert_exit(0).assert_stdout("motd of alice, not of the host\n");
        return;
    }
    assert!([9, 78].contains(&exit), "{exit}: {}", result.err);
    let line = result.err.lines().find(|line| line.starts_with("> CWD")).unwrap_or_default();
    assert_eq!(line.trim_end(), "> CWD", "the argument is null: {}", result.err);
    result
        .assert_stdout("")
        .assert_stderr_contains("hint:")
        .assert_stderr_contains("%2F")
        .assert_stderr_omits("> RETR");
}

fn rejected_empty_cwd_prevents_retr(server: FtpServer) {
    let name = key();
    let watch = server.watch();
    let result = fetch(&[&server.url(&format!("//{name}"))]).assert_stdout("");
    assert!([9, 78].contains(&result.exit), "{}", result.err);
    let commands = watch.commands_for(&name);
    assert!(commands.contains(&"CWD".to_owned()), "{commands:?}");
    if server.name != PUREFTPD.name {
        assert!(!commands.iter().any(|command| command.starts_with("RETR")), "{commands:?}");
    }
}

/// `a%2Fb/c` sends `CWD a/b`: one command, which the server may reject.
fn escaped_slash_stays_in_one_cwd(server: FtpServer) {
    let name = key();
    let watch = server.watch();
    fetch(&[&server.url(&format!("/pub%2F{name}/c"))])
        .assert_exit(78)
        .assert_stdout("")
        .assert_stderr_contains(&format!("%2F{name}/c"));
    let commands = watch.commands_for(&name);
    assert!(commands.contains(&format!("CWD pub/{name}")), "{commands:?}");
    assert!(!commands.iter().any(|command| command == "CWD pub" || command.starts_with("RETR")));
}
