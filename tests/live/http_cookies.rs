//! Cookies: sent only if requested, and only to the server they belong to.

use super::server::{APACHE, CA, NGINX};
use super::work_dir::{WorkDir, fetch};

/// Returns the Cookie header of the last request.
#[track_caller]
fn received_cookie(options: &[&str], path: &str) -> Option<String> {
    let text = fetch(&[options, &[&NGINX.http(path)]].concat()).assert_exit(0).text();
    assert!(text.starts_with("GET /headers HTTP/1.1"), "{text}");
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(name, _)| name.eq_ignore_ascii_case("cookie")).map(|(_, value)| value.to_owned()).next()
}

#[test]
#[ignore = "needs the servers of docker/"]
fn cookies_of_the_option_are_sent() {
    assert_eq!(received_cookie(&["-b", "a=b; c=d"], "/headers").as_deref(), Some("a=b; c=d"));
    let url = APACHE.https("/cgi/env");
    let text = fetch(&["-b", "a=b; c=d", "--cacert", CA, &url]).assert_exit(0).text();
    assert!(text.lines().any(|line| line == "HTTP_COOKIE=a=b; c=d"), "{text}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn cookies_are_not_kept_without_an_option() {
    assert_eq!(received_cookie(&[], "/cookie/look"), None);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn cookies_are_sent_only_to_matching_urls() {
    let dir = WorkDir::new();
    let jar = dir.path("jar").to_string_lossy().into_owned();
    for (path, expected) in [
        ("/cookie/look", Some("taste=sweet")),
        ("/cookie/leave", None),
        ("/cookie/narrow", None),
        ("/cookie/foreign", None),
        ("/cookie/secure", None),
        ("/cookie/two", None),
    ] {
        assert_eq!(received_cookie(&["-c", &jar], path).as_deref(), expected, "{path}");
        // Without a cookie the jar may not exist.
        let _ = std::fs::remove_file(&jar);
    }
}

/// A cookie from one run is sent in the next run.
#[test]
#[ignore = "needs the servers of docker/"]
fn cookie_jar_is_written_and_read_by_the_next_run() {
    let dir = WorkDir::new();
    let jar = dir.path("jar").to_string_lossy().into_owned();
    assert_eq!(received_cookie(&["-c", &jar], "/cookie/look").as_deref(), Some("taste=sweet"));
    let text = String::from_utf8(dir.read("jar")).expect("text");
    let fields: Vec<&str> =
        text.lines().find(|line| line.contains("taste")).expect("a line").split('\t').collect();
    assert_eq!(
        (fields[0], &fields[2..4], &fields[5..]),
        ("127.0.0.1", &["/", "FALSE"][..], &["taste", "sweet"][..])
    );
    assert_eq!(received_cookie(&["-b", &jar], "/headers").as_deref(), Some("taste=sweet"));
    let elsewhere = fetch(&["-b", &jar, "http://localhost:17080/headers"]).assert_exit(0).text();
    assert!(!elsewhere.contains("taste"), "{elsewhere}");
    // A cookie that the server deletes is removed from the jar.
    assert_eq!(received_cookie(&["-b", &jar, "-c", &jar], "/cookie/delete"), None);
    assert!(!String::from_utf8_lossy(&dir.read("jar")).contains("taste"));
}
