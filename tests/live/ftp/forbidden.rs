//! Bytes that would end a command early are rejected before a connection is made.

use crate::live::ftp_server::{FtpServer, each_ftp_server};
use crate::live::work_dir::{WorkDir, fetch, key};

each_ftp_server![
    forbidden_bytes_in_a_path_exit_93_without_a_connection,
    forbidden_bytes_in_a_login_exit_93_without_a_connection,
    forbidden_bytes_in_an_option_are_rejected_without_a_connection
];

/// Asserts exit status 93, no output, and that the server received nothing with `key`.
#[track_caller]
fn assert_refused(server: FtpServer, key: &str, options: &[&str], url: &str) {
    let watch = server.watch();
    let dir = WorkDir::new();
    let result = dir.fetch(&[options, &["-v", "-o", "here", url]].concat()).assert_exit(93);
    result.assert_stderr_omits("> ").assert_stderr_omits("< ").assert_stderr_omits("\nDELE");
    dir.assert_entries(&[]);
    // The log contains a later session completely, so it would also contain an earlier one.
    let later = super::super::work_dir::key();
    fetch(&[&server.url(&format!("/{later}"))]).assert_exit(78);
    watch.commands_for(&later);
    assert!(!watch.contains(key), "{} has seen {key}", server.name);
}

fn forbidden_bytes_in_a_path_exit_93_without_a_connection(server: FtpServer) {
    for path in [
        "/KEY%0D%0ADELE%20y",
        "/KEY%0ADELE%20y",
        "/KEY%0DDELE%20y",
        "/KEY%00",
        "/KEY%0d%0aQUIT/hello.txt",
        "/pub%00/KEY",
        "/pub%0A/KEY;type=d",
        "/KEY%0A/",
        "/KEY%0D%0A;type=a",
    ] {
        let key = key();
        assert_refused(server, &key, &[], &server.url(&path.replace("KEY", &key)));
        assert_refused(server, &key, &["--ftp-method", "nocwd"], &server.url(&path.replace("KEY", &key)));
    }
}

fn forbidden_bytes_in_a_login_exit_93_without_a_connection(server: FtpServer) {
    for login in ["KEY%0D%0A:x", "KEY%00:x", "KEY%0A", "KEY:x%0D%0ADELE%20y", "KEY:%00"] {
        let key = key();
        let url = server.url("/hello.txt").replace("://", &format!("://{}@", login.replace("KEY", &key)));
        assert_refused(server, &key, &[], &url);
    }
}

fn forbidden_bytes_in_an_option_are_rejected_without_a_connection(server: FtpServer) {
    let key = key();
    let user = format!("{key}\r\nDELE y:x");
    assert_refused(server, &key, &["-u", &user], &server.url("/hello.txt"));
    let account = format!("{key}\r\nDELE y");
    let url = server.url("/hello.txt");
    for options in [["--ftp-account", &account], ["--ftp-anonymous-email", &account]] {
        let result = fetch(&[&options[..], &["-v", &url]].concat());
        assert!([2, 93].contains(&result.exit), "{options:?}: {} {}", result.exit, result.err);
        result.assert_stdout("").assert_stderr_omits("> ");
    }
}
