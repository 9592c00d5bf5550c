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
        dir.fetch(&["-o", "body", &NGINX.http(&path)]).exits(exit);
        let said = fetch(&["--cacert", CA, &NGINX.https(&path)]).exits(exit).writes("");
        let number = if status.starts_with("no") { "404" } else { &status[..3] };
        said.says(number);
    }
    dir.assert_entries(&[]);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn status_204_gives_an_empty_file() {
    fetch(&["--require-complete", &NGINX.http("/status/204")]).gives("");
    fetch(&["--require-complete", "--cacert", CA, &NGINX.https("/status/204")]).gives("");
    // The request had no condition.
    fetch(&[&NGINX.http("/status/304")]).exits(8).writes("");
    let dir = WorkDir::new();
    dir.fetch(&["-o", "empty", &NGINX.http("/status/204")]).gives("");
    assert_eq!(dir.read("empty"), b"");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn no_fail_prints_the_body_of_an_error() {
    for status in ["400", "404", "500", "503"] {
        let url = NGINX.http(&format!("/status/{status}"));
        fetch(&["--no-fail", &url]).gives(format!("{status}\n"));
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn json_error_contains_code_exit_and_temporary() {
    let ran = fetch(&["--format", "json", &NGINX.http("/status/404")]).exits(78).writes("");
    ran.says("\"code\":\"not_found\"").says("\"exit\":78").says("\"temporary\":false");
    let ran = fetch(&["--format", "json", &NGINX.http("/status/503")]).exits(92);
    ran.says("\"code\":\"busy\"").says("\"temporary\":true");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn several_urls_end_with_the_first_failure() {
    let (good, gone) = (NGINX.http("/hello.txt"), NGINX.http("/status/410"));
    let denied = NGINX.http("/status/403");
    fetch(&[&good, &gone, &denied, &good]).exits(78).writes("Hello, world\nHello, world\n");
    fetch(&["--fail-early", &good, &gone, &denied, &good]).exits(78).writes("Hello, world\n");
    fetch(&["-s", &gone]).exits(78).hides("not found");
    fetch(&["-s", "-S", &gone]).exits(78).says("not found");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn login_in_the_url_is_accepted_or_exits_67() {
    let at = |login: &str, path: &str| format!("http://{login}@{}{path}", NGINX.authority());
    fetch(&[&NGINX.http("/auth/hello.txt")]).exits(67);
    fetch(&[&at("alice:wrong", "/auth/hello.txt")]).exits(67).hides("wrong");
    fetch(&[&at("alice:secret", "/auth/hello.txt")]).gives("Hello, world\n");
    fetch(&[&at("bob:p%40ss%2Fw%3Ard%23%2541%20x", "/auth/pub/README")]).gives("path=pub/README\n");
    // Also for targets that the HTTP library would rewrite.
    fetch(&[&at("alice:secret", "/auth/pub/../hello.txt")]).gives("Hello, world\n");
}

/// Asserts that neither the password nor its Basic form appears at any verbosity.
#[track_caller]
fn is_never_shown(path: &str) {
    let url = format!("http://alice:secret@{}{path}", NGINX.authority());
    for talk in ["-v", "-vv", "-vvv"] {
        let ran = fetch(&[talk, &url]).says("GET /").hides("secret").hides("YWxpY2U6c2VjcmV0");
        assert!([0, 78].contains(&ran.exit), "{}", ran.err);
    }
    let text = fetch(&["--format", "json", "-I", &url]).hides("secret").text();
    assert!(!text.contains("secret"), "{text}");
}

/// The libraries do not print it either.
#[test]
#[ignore = "needs the servers of docker/"]
fn password_in_the_url_is_never_shown() {
    for path in ["/auth/hello.txt", "/auth/pub/../hello.txt", "/auth/no-such-file"] {
        is_never_shown(path);
    }
}

/// The login is in the Location header.
#[test]
#[ignore = "needs the servers of docker/"]
fn password_in_a_location_is_never_shown() {
    is_never_shown("/redir/to-userinfo");
}
