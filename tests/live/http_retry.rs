//! Retries: which errors are retried, how often, and from which offset.

use super::server::{APACHE, NGINX};
use super::tree::range;
use super::work_dir::{WorkDir, key};

#[test]
#[ignore = "needs the servers of docker/"]
fn busy_server_is_retried_up_to_the_limit() {
    for (times, retries, exit) in [(1, "1", 0), (2, "3", 0), (3, "3", 0), (3, "2", 92), (1, "0", 92)] {
        let dir = WorkDir::new();
        let url = APACHE.http(&format!("/cgi/flaky?{}-{times}", key()));
        let result = dir.fetch(&["--retry", retries, "-o", "here", &url]).assert_exit(exit);
        if exit == 0 {
            assert_eq!(dir.read("here"), format!("request {}\n", times + 1).as_bytes(), "{}", result.err);
        } else {
            dir.assert_entries(&[]);
        }
    }
}

/// The server sends Retry-After: 1.
#[test]
#[ignore = "needs the servers of docker/"]
fn retry_after_sets_the_delay() {
    let result = WorkDir::new().fetch(&["--retry", "1", &NGINX.http("/status/503")]).assert_exit(92);
    assert!((900..4000).contains(&result.took.as_millis()), "{:?}", result.took);
    // A Retry-After of an hour is not waited for.
    let result =
        WorkDir::new().fetch(&["--retry", "1", "--retry-max-time", "2", &NGINX.http("/status/503-hour")]);
    assert!(result.assert_exit(92).took.as_secs() < 4);
    for path in ["/status/503-hour", "/status/503-date"] {
        let result = WorkDir::new().fetch(&["--retry", "3", &NGINX.http(path)]).assert_exit(92);
        assert!(result.took.as_millis() < 900, "{path}: {:?}", result.took);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn permanent_status_is_not_retried() {
    for (status, exit) in [("404", 78), ("403", 9), ("401", 67), ("400", 22), ("410", 78), ("501", 22)] {
        let key = key();
        let url = NGINX.http(&format!("/status/{status}?{key}"));
        WorkDir::new().fetch(&["-v", "--retry", "3", &url]).assert_exit(exit).assert_get_count(1);
    }
}

/// The second attempt continues at the offset at which the first one was truncated.
#[test]
#[ignore = "needs the servers of docker/"]
fn truncated_body_is_resumed_by_the_retry() {
    let (dir, url) = (WorkDir::new(), APACHE.http(&format!("/cgi/nph-cut?{}", key())));
    let result = dir.fetch(&["-v", "--retry", "1", "-o", "here", &url]).assert_exit(0).assert_get_count(2);
    result
        .assert_stderr_contains("> Range: bytes=39936-")
        .assert_stderr_contains("> If-Range: \"first\"")
        .assert_stderr_contains(" 206 Partial Content");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// The object has changed, so the download restarts.
#[test]
#[ignore = "needs the servers of docker/"]
fn retry_restarts_when_etag_changed() {
    let (dir, url) = (WorkDir::new(), APACHE.http(&format!("/cgi/nph-cut?{}-changed", key())));
    dir.fetch(&["-v", "--retry", "1", "-o", "here", &url])
        .assert_exit(0)
        .assert_get_count(2)
        .assert_stderr_omits(" 206 Partial");
    dir.assert_entries(&["here"]);
    assert_eq!(dir.read("here"), range());
}

/// Without a strong validator the body cannot be resumed, and the request is not retried.
#[test]
#[ignore = "needs the servers of docker/"]
fn truncated_body_without_validator_is_not_retried() {
    let (dir, url) = (WorkDir::new(), APACHE.http(&format!("/cgi/nph-cut?{}-none", key())));
    dir.fetch(&["-v", "--retry", "1", "-o", "here", &url]).assert_exit(18).assert_get_count(1);
    assert!(!dir.path("here").exists());
}

/// The server would honour a range, but two versions with the same weak ETag must not be joined.
#[test]
#[ignore = "needs the servers of docker/"]
fn truncated_body_with_a_weak_validator_is_fetched_again_from_the_start() {
    let (dir, url) = (WorkDir::new(), APACHE.http(&format!("/cgi/nph-cut?{}-weak", key())));
    let result = dir.fetch(&["-v", "--retry", "1", "-o", "here", &url]).assert_exit(0).assert_get_count(2);
    assert!(!result.err.to_ascii_lowercase().contains("> range:"), "{}", result.err);
    assert_eq!(dir.read("here"), range());
}

/// Output to a pipe cannot be taken back: no byte is written twice.
#[test]
#[ignore = "needs the servers of docker/"]
fn pipe_gets_no_byte_twice() {
    let url = APACHE.http(&format!("/cgi/nph-cut?{}", key()));
    let result = WorkDir::new().fetch(&["--retry", "2", &url]).assert_exit(0);
    assert_eq!(result.out, range());
    for kind in ["changed", "weak", "none"] {
        let url = APACHE.http(&format!("/cgi/nph-cut?{}-{kind}", key()));
        let result = WorkDir::new().fetch(&["--retry", "2", &url]).assert_exit(18);
        assert_eq!(result.out, range()[..40_000], "{kind}");
    }
}
