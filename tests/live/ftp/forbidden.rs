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
fn refused(server: FtpServer, key: &str, options: &[&str], url: &str) {
    let watch = server.watch();
    let dir = WorkDir::new();
    let ran = dir.fetch(&[options, &["-v", "-o", "here", url]].concat()).exits(93);
    ran.hides("> ").hides("< ").hides("\nDELE");
    dir.assert_entries(&[]);
    // A later session is in the log completely, so an earlier one would be in the log too.
    let later = super::super::work_dir::key();
    fetch(&[&server.url(&format!("/{later}"))]).exits(78);
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
        refused(server, &key, &[], &server.url(&path.replace("KEY", &key)));
        refused(server, &key, &["--ftp-method", "nocwd"], &server.url(&path.replace("KEY", &key)));
    }
}

fn forbidden_bytes_in_a_login_exit_93_without_a_connection(server: FtpServer) {
    for login in ["KEY%0D%0A:x", "KEY%00:x", "KEY%0A", "KEY:x%0D%0ADELE%20y", "KEY:%00"] {
        let key = key();
        let url = server.url("/hello.txt").replace("://", &format!("://{}@", login.replace("KEY", &key)));
        refused(server, &key, &[], &url);
    }
}

fn forbidden_bytes_in_an_option_are_rejected_without_a_connection(server: FtpServer) {
    let key = key();
    let user = format!("{key}\r\nDELE y:x");
    refused(server, &key, &["-u", &user], &server.url("/hello.txt"));
    let account = format!("{key}\r\nDELE y");
    let url = server.url("/hello.txt");
    for options in [["--ftp-account", &account], ["--ftp-anonymous-email", &account]] {
        let ran = fetch(&[&options[..], &["-v", &url]].concat());
        assert!([2, 93].contains(&ran.exit), "{options:?}: {} {}", ran.exit, ran.err);
        ran.writes("").hides("> ");
    }
}
