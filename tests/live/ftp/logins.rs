//! FTP logins: in the URL, by options, from files and programs, and anonymous.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::live::ftp_server::{FtpServer, PUREFTPD, each_ftp_server};
use crate::live::tree::HELLO;
use crate::live::work_dir::{WorkDir, fetch, key};

each_ftp_server![
    url_without_a_login_logs_in_as_anonymous,
    anonymous_email_option_sets_the_password,
    login_in_the_url_is_decoded_and_sent,
    login_of_the_user_option_is_sent_undecoded,
    wrong_password_exits_67_without_a_file,
    wrong_password_is_sent_once,
    rejected_login_sends_no_path,
    missing_password_exits_67,
    netrc_password_is_sent_to_its_host_and_user_only,
    password_file_and_askpass_supply_the_password,
    password_appears_in_no_output,
];

const BOB: &str = "p@ss/w:rd#%41 x";
const ALICE_IS_IN: &str = "in the login directory of alice\n";
const BOB_IS_IN: &str = "in the login directory of bob\n";

fn url_without_a_login_logs_in_as_anonymous(server: FtpServer) {
    let result = fetch(&["-v", &server.url("/hello.txt")])
        .assert_exit(0)
        .assert_stdout(HELLO)
        .assert_stderr_contains("> USER anonymous");
    result.assert_stderr_omits("anonymous@");
    // A 230 reply to USER means that PASS is not sent, except when PASS was pipelined on a busy machine.
    let shown = || fetch(&["-v", &server.url("/hello.txt")]).err.contains("> PASS");
    let is_asked = (0..10).all(|_| shown());
    assert_eq!(is_asked, server.name != PUREFTPD.name);
}

/// The session is found by the address, which all servers except pure-ftpd log.
fn anonymous_email_option_sets_the_password(server: FtpServer) {
    let (key, watch) = (key(), server.watch());
    let email = format!("{key}@example.org");
    fetch(&["--ftp-anonymous-email", &email, &server.url("/hello.txt")]).assert_success(HELLO);
    if server.name != PUREFTPD.name {
        assert_eq!(watch.commands_for(&email)[..2], ["USER anonymous", "PASS"]);
    }
    let by_url = server.url_as("anonymous", &email, "/hello.txt");
    fetch(&[&by_url]).assert_success(HELLO);
}

fn login_in_the_url_is_decoded_and_sent(server: FtpServer) {
    fetch(&[&server.url_as("alice", "secret", "/here.txt")]).assert_success(ALICE_IS_IN);
    fetch(&[&server.url_as("bob", BOB, "/here.txt")]).assert_success(BOB_IS_IN);
    let carol = "in the login directory of carol@example.org\n";
    fetch(&[&server.url_as("carol@example.org", "pw", "/here.txt")]).assert_success(carol);
    // Only characters that must be escaped are escaped.
    let lean = |login: &str| server.url("/here.txt").replace("://", &format!("://{login}@"));
    fetch(&[&lean("alice:secret")]).assert_success(ALICE_IS_IN);
    fetch(&[&lean("bob:p%40ss%2Fw%3Ard%23%2541%20x")]).assert_success(BOB_IS_IN);
    fetch(&[&lean("carol%40example.org:pw")]).assert_success(carol);
}

fn login_of_the_user_option_is_sent_undecoded(server: FtpServer) {
    let url = server.url("/here.txt");
    fetch(&["-u", "alice:secret", &url]).assert_success(ALICE_IS_IN);
    // The value of `-u` is not percent-decoded.
    fetch(&["-u", &format!("bob:{BOB}"), &url]).assert_success(BOB_IS_IN);
    fetch(&["-u", "carol@example.org:pw", &url])
        .assert_success("in the login directory of carol@example.org\n");
}

fn wrong_password_exits_67_without_a_file(server: FtpServer) {
    let dir = WorkDir::new();
    let url = server.url_as("alice", "wr0ng-canary", "/here.txt");
    let result = dir.fetch(&["-v", "-o", "here", &url]).assert_exit(67).assert_stderr_omits("wr0ng-canary");
    // The message contains the server's reply.
    result
        .assert_stderr_contains("(530 Login")
        .assert_stderr_omits("> RETR")
        .assert_stderr_contains("alice:***@");
    dir.assert_entries(&[]);
}

/// A second attempt could lock the account.
fn wrong_password_is_sent_once(server: FtpServer) {
    let result =
        fetch(&["-v", &server.url_as("bob", "wrong", "/here.txt")]).assert_exit(67).assert_stdout("");
    assert_eq!(result.err.matches("> PASS").count(), 1, "{}", result.err);
    assert_eq!(result.err.matches("> USER").count(), 1, "{}", result.err);
    // A rejected password is not a transient error, so `--retry` does not apply.
    let result = fetch(&["-v", "--retry", "2", "--retry-delay", "0", &server.url_as("bob", "wrong", "/x")]);
    assert_eq!(result.assert_exit(67).err.matches("> PASS").count(), 1);
}

/// After a rejected login no path has been sent.
fn rejected_login_sends_no_path(server: FtpServer) {
    let (user, watch) = (key(), server.watch());
    fetch(&[&server.url_as(&user, "x", "/pub/README")]).assert_exit(67);
    let expected = [format!("USER {user}"), "PASS".to_owned()];
    assert_eq!(watch.commands_for(&user), expected, "{}", server.name);
}

/// Without a password and a terminal the run fails at once; no password is guessed.
fn missing_password_exits_67(server: FtpServer) {
    let (user, watch) = (key(), server.watch());
    let url = server.url("/here.txt").replace("://", &format!("://{user}@"));
    let result = fetch(&[&url]).assert_exit(67).assert_stdout("");
    assert!(result.took < Duration::from_secs(3), "{:?}", result.took);
    assert_eq!(watch.commands_for(&user), [format!("USER {user}")]);
    let user = key();
    fetch(&["-u", &user, &server.url("/here.txt")]).assert_exit(67);
    assert_eq!(watch.commands_for(&user), [format!("USER {user}")]);
    fetch(&["--askpass", "/bin/false", "-u", "alice", &server.url("/here.txt")])
        .assert_exit(67)
        .assert_stdout("");
}

/// Writes a file that only its owner can read, and returns its path.
fn private(dir: &WorkDir, name: &str, text: &str) -> String {
    dir.write(name, text);
    let path = dir.path(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
    path.to_string_lossy().into_owned()
}

fn netrc_password_is_sent_to_its_host_and_user_only(server: FtpServer) {
    let dir = WorkDir::new();
    let alice = private(&dir, "alice", "machine 127.0.0.1 login alice password secret\n");
    let other = private(&dir, "other", "machine example.org login alice password secret\n");
    let bob = format!("machine 127.0.0.1 login bob password \"{BOB}\"\n");
    let bob = private(&dir, "bob", &bob);
    let url = server.url("/here.txt");
    dir.fetch(&["--netrc-file", &alice, &url]).assert_success(ALICE_IS_IN);
    dir.fetch(&["--netrc-file", &bob, &url]).assert_success(BOB_IS_IN);
    // With a user name in the URL, netrc supplies the password of that user only.
    let as_alice = url.replace("://", "://alice@");
    dir.fetch(&["--netrc-file", &alice, &as_alice]).assert_success(ALICE_IS_IN);
    dir.fetch(&["--netrc-file", &bob, &as_alice]).assert_exit(67).assert_stdout("");
    // Without an entry for the host the login is anonymous; the anonymous directory does not have the file.
    dir.fetch(&["--netrc-file", &other, &server.url("/hello.txt")]).assert_success(HELLO);
    dir.fetch(&["--netrc-file", &other, &url]).assert_exit(78);
    // Without the option no netrc file is read.
    dir.fetch(&[&server.url("/hello.txt")]).assert_success(HELLO);
}

fn password_file_and_askpass_supply_the_password(server: FtpServer) {
    let dir = WorkDir::new();
    let file = private(&dir, "password", "secret\n");
    let program = private(&dir, "ask", "#!/bin/sh\necho secret\n");
    fs::set_permissions(Path::new(&program), fs::Permissions::from_mode(0o700)).expect("our own file");
    let url = server.url("/here.txt");
    dir.fetch(&["-u", "alice", "--password-file", &file, &url]).assert_success(ALICE_IS_IN);
    dir.fetch(&["-u", "alice", "--askpass", &program, &url]).assert_success(ALICE_IS_IN);
    let as_alice = url.replace("://", "://alice@");
    dir.fetch(&["--askpass", &program, &as_alice]).assert_success(ALICE_IS_IN);
}

/// The password appears in no trace, error, JSON output or event.
fn password_appears_in_no_output(server: FtpServer) {
    let dir = WorkDir::new();
    for (path, right) in [("/here.txt", 0), ("/no-such-file", 78), ("/", 0)] {
        for password in ["secret", "s3cr3t-canary"] {
            if password != "secret" && server.name == PUREFTPD.name {
                continue; // Three seconds each; `wrong_password_exits_67_without_a_file` has it.
            }
            let login = format!("://alice:{password}@");
            let plain = server.url(path).replace("://", &login);
            for options in
                [&["-vvv", "--trace", "-"][..], &["--format", "json", "--events", "-"], &["-w", "%{json}"]]
            {
                let exit = if password == "secret" { right } else { 67 };
                let result = dir.fetch(&[options, &[&plain]].concat()).assert_exit(exit);
                let shown = result.text() + &result.err;
                assert!(!shown.contains(password), "{options:?} {path}: {shown}");
            }
        }
    }
}
