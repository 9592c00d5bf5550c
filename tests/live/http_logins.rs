//! Logins that are not in the URL: `-u`, netrc, password files, `--askpass` programs and prompts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fetch_url_tests::Terminal;

use super::program::fetch_url;
use super::server::{APACHE, CA, NGINX};
use super::tree::HELLO;
use super::work_dir::{WorkDir, fetch};

const BOB: &str = "bob:p@ss/w:rd#%41 x";

#[test]
#[ignore = "needs the servers of docker/"]
fn basic_login_is_accepted_or_exits_67() {
    for server in [NGINX, APACHE] {
        for url in [
            server.http("/auth/hello.txt"),
            server.https("/auth/hello.txt"),
            server.http("/auth/./hello.txt"),
        ] {
            fetch(&["--cacert", CA, "-u", "alice:secret", &url]).assert_success(HELLO);
            fetch(&["--cacert", CA, "-u", "alice:wrong", &url])
                .assert_exit(67)
                .assert_stdout("")
                .assert_stderr_omits("wrong");
            fetch(&["--cacert", CA, &url]).assert_exit(67).assert_stdout("");
        }
    }
    // The value of `-u` is not percent-decoded.
    fetch(&["-u", BOB, &NGINX.http("/auth/hello.txt")]).assert_success(HELLO);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn digest_login_is_accepted_or_exits_67() {
    for url in [
        APACHE.http("/digest/hello.txt"),
        APACHE.https("/digest/hello.txt"),
        APACHE.http("/digest/hello.txt?a=b,c"),
        APACHE.http("/digest/./hello.txt"),
    ] {
        fetch(&["--cacert", CA, "-u", "alice:secret", &url]).assert_success(HELLO);
        fetch(&["--cacert", CA, "--digest", "-u", "alice:secret", &url]).assert_success(HELLO);
        fetch(&["--cacert", CA, "-u", "alice:wrong", &url]).assert_exit(67).assert_stdout("");
        fetch(&["--cacert", CA, "--digest", "-u", "alice:wrong", &url]).assert_exit(67).assert_stdout("");
        fetch(&["--cacert", CA, &url]).assert_exit(67).assert_stdout("");
    }
    let by_url = APACHE.http("/digest/hello.txt").replace("://", "://alice:secret@");
    fetch(&[&by_url]).assert_success(HELLO);
}

/// Digest authentication does not send the password.
#[test]
#[ignore = "needs the servers of docker/"]
fn digest_login_does_not_send_the_password() {
    let result =
        fetch(&["-vvv", "--digest", "-u", "alice:secret", &APACHE.http("/digest/hello.txt")]).assert_exit(0);
    result
        .assert_stderr_contains(" 401 ")
        .assert_stderr_omits("secret")
        .assert_stderr_omits("YWxpY2U6c2VjcmV0")
        .assert_stderr_omits("> Authorization: Basic");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn bearer_token_is_sent_and_hidden_in_the_trace() {
    let url = NGINX.http("/bearer/hello.txt");
    let field = "Authorization: Bearer token-of-the-tests";
    fetch(&["-H", field, &url]).assert_success(HELLO);
    fetch(&["-vvv", "-H", field, &url]).assert_exit(0).assert_stderr_omits("token-of-the-tests");
    fetch(&[&url]).assert_exit(67);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn login_is_not_sent_to_another_origin() {
    for path in ["/redir/other-origin", "/redir/away"] {
        let received = fetch(&["-u", "alice:secret", &NGINX.http(path)]).assert_exit(0).text();
        assert!(received.starts_with("GET /headers "), "{received}");
        assert!(!received.to_ascii_lowercase().contains("authorization"), "{path}: {received}");
    }
    let received = fetch(&["-u", "alice:secret", &NGINX.http("/headers")]).assert_exit(0).text();
    assert!(received.to_ascii_lowercase().contains("authorization: basic ywxpy2u6c2vjcmv0"), "{received}");
}

/// Writes a file that only its owner can read, and returns its path.
fn private(dir: &WorkDir, name: &str, text: &str) -> String {
    dir.write(name, text);
    let path = dir.path(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
    path.to_string_lossy().into_owned()
}

#[test]
#[ignore = "needs the servers of docker/"]
fn netrc_login_is_sent_to_its_host_and_user_only() {
    let dir = WorkDir::new();
    let right = private(&dir, "right", "machine 127.0.0.1 login alice password secret\n");
    let other = private(&dir, "other", "machine localhost login alice password secret\n");
    let url = NGINX.http("/auth/hello.txt");
    dir.fetch(&["--netrc-file", &right, &url]).assert_success(HELLO);
    dir.fetch(&["--netrc-file", &other, &url]).assert_exit(67);
    // The user in the URL is another one, so the entry does not apply.
    dir.fetch(&["--netrc-file", &right, &url.replace("://", "://bob@")]).assert_exit(67);
    dir.fetch(&["--netrc-file", &right, "-u", "alice:wrong", &url]).assert_exit(67);
    // A file that other users can read is refused.
    fs::set_permissions(Path::new(&right), fs::Permissions::from_mode(0o644)).expect("our own file");
    dir.fetch(&["--netrc-file", &right, &url]).assert_exit(2);
}

/// Each origin gets only the login of its own netrc entry.
#[test]
#[ignore = "needs the servers of docker/"]
fn netrc_login_is_chosen_for_each_redirect() {
    let dir = WorkDir::new();
    let right = private(&dir, "right", "machine 127.0.0.1 login alice password canary\n");
    let received =
        dir.fetch(&["--netrc-file", &right, &NGINX.http("/redir/other-origin")]).assert_exit(0).text();
    assert!(!received.to_ascii_lowercase().contains("authorization"), "{received}");
    let both = private(&dir, "both", "machine localhost login alice password secret\n");
    let received =
        dir.fetch(&["--netrc-file", &both, &NGINX.http("/redir/other-origin")]).assert_exit(0).text();
    assert!(received.to_ascii_lowercase().contains("authorization: basic ywxpy2u6c2vjcmv0"), "{received}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn password_file_and_askpass_supply_the_password() {
    let dir = WorkDir::new();
    let file = private(&dir, "password", "secret\n");
    let program = private(&dir, "ask", "#!/bin/sh\necho secret\n");
    fs::set_permissions(Path::new(&program), fs::Permissions::from_mode(0o700)).expect("our own file");
    let url = NGINX.http("/auth/hello.txt");
    dir.fetch(&["-u", "alice", "--password-file", &file, &url]).assert_success(HELLO);
    dir.fetch(&["-u", "alice", "--askpass", &program, &url]).assert_success(HELLO);
}

/// Without a terminal the run fails at once.
#[test]
#[ignore = "needs the servers of docker/"]
fn missing_password_without_a_terminal_exits_67() {
    let result = fetch(&["-u", "alice", &NGINX.http("/auth/hello.txt")]).assert_exit(67).assert_stdout("");
    assert!(result.took.as_secs() < 5, "{:?}", result.took);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn typed_password_logs_in_or_exits_67() {
    let program = fetch_url().to_string_lossy().into_owned();
    let url = NGINX.http("/auth/hello.txt");
    for (typed, exit) in [("secret", 0), ("wrong", 67)] {
        let mut terminal = Terminal::run(&program, &["-u", "alice", &url], 80).expect("a terminal");
        terminal.expect("assword").expect("it asks");
        terminal.type_secret(typed).expect("it takes a line without showing it");
        assert_eq!(terminal.exit_status().expect("an end"), exit, "{}", terminal.screen());
        assert_eq!(terminal.screen().contains(HELLO.trim_end()), exit == 0, "{}", terminal.screen());
        assert!(!terminal.screen().contains(typed), "{}", terminal.screen());
    }
}
