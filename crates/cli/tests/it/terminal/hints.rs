//! Errors that name their cause in words, hints that can be pasted, and no retry of what cannot pass.

use crate::support::{
    fetch_url_command, http_server, run_command, run_fetch_url, run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{FtpConfig, FtpServer, GopherConfig, GopherServer, HttpResponse};

#[test]
fn missing_directory_is_named_and_create_dirs_is_the_hint() {
    let server = http_server(|_| {
        HttpResponse::new(200).header("Content-Disposition", "attachment; filename=n").body("x")
    });
    let (dir, url) = (temp_dir(), server.url("/n"));
    for arguments in
        [&["-o", "no/such/n"][..], &["-O", "--output-dir", "no/such"], &["-OJ", "--output-dir", "no/such"]]
    {
        let result = run_fetch_url_in(dir.path(), arguments.iter().chain(&[url.as_str()]));
        result.assert_exit(23).assert_stderr_contains("the directory no/such does not exist");
        result.assert_stderr_contains("--create-dirs creates it");
    }
    run_fetch_url_in(dir.path(), ["--create-dirs", "-o", "no/such/n", &url]).assert_exit(0);
}

#[test]
fn wrong_password_is_a_refused_login_and_a_missing_one_a_needed_login() {
    let http = http_server(|_| HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"x\""));
    let url = http.url("/");
    run_fetch_url([url.as_str()])
        .assert_exit(67)
        .assert_stderr_contains("login needed (401")
        .assert_stderr_contains("-u USER");
    run_fetch_url(["-u", "me:geheim", &url]).assert_exit(67).assert_stderr_contains("login refused (401");
    let ftp = FtpServer::start(FtpConfig::new().user("me", "right")).expect("start server");
    let result = run_fetch_url(["-u", "me:geheim", &ftp.url("/x")]);
    result.assert_exit(67).assert_stderr_contains("login refused: PASS (530");
}

#[test]
fn gopher_url_without_item_type_gets_a_hint() {
    let server = GopherServer::start(GopherConfig::new()).expect("start server");
    let result = run_fetch_url([server.url("foo")]);
    result.assert_exit(78).assert_stderr_contains("/1/foo is a menu").assert_stderr_contains("/0/foo a text");
    let result = run_fetch_url([server.url("0/foo")]);
    assert!(!result.assert_exit(78).stderr.contains("item type"), "{}", result.stderr);
}

#[test]
fn what_this_machine_cannot_do_is_not_retried() {
    for (options, exit, message) in [
        ("-6 http://127.0.0.1:9999/", 6, "127.0.0.1 has no IPv6 address"),
        ("-4 http://[::1]:9999/", 6, "[::1] has no IPv4 address"),
        ("--interface no-such-dev0 http://127.0.0.1:9999/", 7, "no network device no-such-dev0"),
        ("--interface 192.0.2.77 http://127.0.0.1:9999/", 7, "does not have the address 192.0.2.77"),
    ] {
        let mut command = fetch_url_command();
        command.args(options.split(' '));
        let result = run_command(command);
        result.assert_exit(exit).assert_stderr_contains(message);
        assert!(!result.stderr.contains("retrying"), "{options}: {}", result.stderr);
    }
}
