//! HTTP statuses and exit statuses; the body of an error is not the object.

use crate::live::server::{CA, NGINX};
use crate::live::work_dir::{WorkDir, fetch};

/// HTTP status and exit status.
const ERRORS: [(&str, i32); 24] = [
    ("400", 22),
    ("401", 67),
    ("402", 22),
    ("403", 9),
    ("404", 78),
    ("405", 22),
    ("406", 22),
    ("407", 67),
    ("408", 22),
    ("410", 78),
    ("416", 22),
    ("418", 22),
    ("425", 22),
    ("429", 92),
    ("451", 22),
    ("500", 22),
    ("501", 22),
    ("502", 22),
    ("503", 92),
    ("503-hour", 92),
    ("503-date", 92),
    ("503-bare", 92),
    ("504", 22),
    ("no-such-status", 78),
];

#[test]
#[ignore = "needs the servers of docker/"]
fn error_status_sets_the_exit_status() {
    let dir = WorkDir::new();
    for (status, exit) in ERRORS {
        let path = format!("/status/{status}");
        dir.fetch(&["-o", "body", &NGINX.http(&path)]).assert_exit(exit);
        let said = fetch(&["--cacert", CA, &NGINX.https(&path)]).assert_exit(exit).assert_stdout("");
        let number = if status.starts_with("no") { "404" } else { &status[..3] };
        said.assert_stderr_contains(number);
    }
    dir.assert_entries(&[]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn status_204_gives_an_empty_file() {
    fetch(&["--require-complete", &NGINX.http("/status/204")]).assert_success("");
    fetch(&["--require-complete", "--cacert", CA, &NGINX.https("/status/204")]).assert_success("");
    // The request had no condition.
    fetch(&[&NGINX.http("/status/304")]).assert_exit(8).assert_stdout("");
    let dir = WorkDir::new();
    dir.fetch(&["-o", "empty", &NGINX.http("/status/204")]).assert_success("");
    assert_eq!(dir.read("empty"), b"");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn no_fail_prints_the_body_of_an_error() {
    for status in ["400", "404", "500", "503"] {
        let url = NGINX.http(&format!("/status/{status}"));
        fetch(&["--no-fail", &url]).assert_success(format!("{status}\n"));
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn json_error_contains_code_exit_and_temporary() {
    let result = fetch(&["--format", "json", &NGINX.http("/status/404")]).assert_exit(78).assert_stdout("");
    result
        .assert_stderr_contains("\"code\":\"not_found\"")
        .assert_stderr_contains("\"exit\":78")
        .assert_stderr_contains("\"temporary\":false");
    let result = fetch(&["--format", "json", &NGINX.http("/status/503")]).assert_exit(92);
    result.assert_stderr_contains("\"code\":\"busy\"").assert_stderr_contains("\"temporary\":true");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn several_urls_end_with_the_first_failure() {
    let (good, gone) = (NGINX.http("/hello.txt"), NGINX.http("/status/410"));
    let denied = NGINX.http("/status/403");
    fetch(&[&good, &gone, &denied, &good]).assert_exit(78).assert_stdout("Hello, world\nHello, world\n");
    fetch(&["--fail-early", &good, &gone, &denied, &good]).assert_exit(78).assert_stdout("Hello, world\n");
    fetch(&["-s", &gone]).assert_exit(78).assert_stderr_omits("not found");
    fetch(&["-s", "-S", &gone]).assert_exit(78).assert_stderr_contains("not found");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn login_in_the_url_is_accepted_or_exits_67() {
    let at = |login: &str, path: &str| format!("http://{login}@{}{path}", NGINX.authority());
    fetch(&[&NGINX.http("/auth/hello.txt")]).assert_exit(67);
    fetch(&[&at("alice:wrong", "/auth/hello.txt")]).assert_exit(67).assert_stderr_omits("wrong");
    fetch(&[&at("alice:secret", "/auth/hello.txt")]).assert_success("Hello, world\n");
    fetch(&[&at("bob:p%40ss%2Fw%3Ard%23%2541%20x", "/auth/pub/README")]).assert_success("path=pub/README\n");
    // Also for targets that the HTTP library would rewrite.
    fetch(&[&at("alice:secret", "/auth/pub/../hello.txt")]).assert_success("Hello, world\n");
}

/// Asserts that neither the password nor its Basic form appears at any verbosity.
#[track_caller]
fn assert_password_never_shown(path: &str) {
    let url = format!("http://alice:secret@{}{path}", NGINX.authority());
    for talk in ["-v", "-vv", "-vvv"] {
        let result = fetch(&[talk, &url])
            .assert_stderr_contains("GET /")
            .assert_stderr_omits("secret")
            .assert_stderr_omits("YWxpY2U6c2VjcmV0");
        assert!([0, 78].contains(&result.exit), "{}", result.err);
    }
    let text = fetch(&["--format", "json", "-I", &url]).assert_stderr_omits("secret").text();
    assert!(!text.contains("secret"), "{text}");
}

/// The libraries do not print it either.
#[test]
#[ignore = "needs the servers of docker/"]
fn password_in_the_url_is_never_shown() {
    for path in ["/auth/hello.txt", "/auth/pub/../hello.txt", "/auth/no-such-file"] {
        assert_password_never_shown(path);
    }
}

/// The login is in the Location header.
#[test]
#[ignore = "needs the servers of docker/"]
fn password_in_a_location_is_never_shown() {
    assert_password_never_shown("/redir/to-userinfo");
}
