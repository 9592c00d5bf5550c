//! `--next`: groups of URLs with options of their own.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::support::curl::run_curl;
use crate::support::{
    entry_names, http_server, read_text_file, run_fetch_url, run_fetch_url_in, temp_dir, write_file,
};
use fetch_url_tests::{HttpRequest, HttpResponse};

#[test]
fn options_before_next_do_not_apply_after_it() {
    let server = http_server(|request| match request.path().as_str() {
        "/missing" => HttpResponse::new(404),
        path => HttpResponse::new(200).body(path),
    });
    let (a, b, c) = (server.url("/a"), server.url("/b"), server.url("/c"));
    let arguments = [
        "-d",
        "x=1",
        "-H",
        "X-One: 1",
        "-u",
        "me:geheim",
        "-o",
        "first",
        &a,
        "--next",
        "-X",
        "PUT",
        &b,
        "-:",
        "-sO",
        &c,
    ];
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), arguments).assert_exit(0);
    let shown = |request: &HttpRequest| {
        let has = |name: &str| request.header(name).is_some();
        (request.method.clone(), request.path(), has("x-one"), has("authorization"), request.body.len())
    };
    let own: Vec<_> = server.requests().iter().map(shown).collect();
    assert_eq!(own[0], ("POST".to_owned(), "/a".to_owned(), true, true, 3));
    assert_eq!(own[1], ("PUT".to_owned(), "/b".to_owned(), false, false, 0));
    assert_eq!(own[2], ("GET".to_owned(), "/c".to_owned(), false, false, 0));
    assert_eq!(
        (entry_names(dir.path()), read_text_file(dir.path(), "c")),
        (vec!["c".into(), "first".into()], "/c".into())
    );
    if let Some(result) = run_curl(dir.path(), arguments) {
        result.assert_exit(0);
        assert_eq!(server.requests()[3..].iter().map(shown).collect::<Vec<_>>(), own);
    }
}

#[test]
fn all_groups_run_and_the_first_failure_is_the_exit_status() {
    let server = http_server(|request| match request.path().as_str() {
        "/missing" => HttpResponse::new(404),
        path => HttpResponse::new(200).body(path),
    });
    let (missing, b) = (server.url("/missing"), server.url("/b"));
    let result = run_fetch_url([&missing, "--next", "http://h.test:x/", "--next", &b]);
    assert_eq!(result.assert_exit(78).stdout_text(), "/b");
    let result = run_fetch_url([&missing, "--fail-early", "--next", &b]);
    assert_eq!(result.assert_exit(78).stdout_text(), "");
    let before = server.requests().len();
    for arguments in [
        &[b.as_str(), "--next"][..],
        &["--next", &b],
        &[&b, "--next", "--no-such-option", &b],
        &[&b, "--next", "explain", &b],
        &[&b, "--next", "-o", "x", "-O", &b],
    ] {
        run_fetch_url(arguments).assert_exit(2);
    }
    assert_eq!(server.requests().len(), before, "a group was run before all were checked");
}

#[test]
fn groups_share_cookies_and_the_config_file_of_the_user() {
    let server = http_server(|_| HttpResponse::new(200).header("Set-Cookie", "a=b").body("x"));
    let dir = temp_dir();
    let url = server.url("/");
    run_fetch_url_in(dir.path(), ["-c", "jar", &url, "--next", "-b", "jar", &url]).assert_exit(0);
    let sent = |index: usize| server.requests()[index].header_text("cookie").map(str::to_owned);
    assert_eq!((sent(0), sent(1)), (None, Some("a=b".to_owned())));
    assert!(dir.path().join("jar").exists());
    fs::write(dir.path().join("config"), "next").expect("a file");
    let config = Path::new("config").to_str().expect("text");
    run_fetch_url_in(dir.path(), ["-K", config, &url])
        .assert_exit(2)
        .assert_stderr_contains("--next belongs");
}

#[cfg(not(feature = "queue"))]
#[test]
fn sub_command_that_is_not_built_is_named_with_its_feature() {
    // `run_fetch_url` puts options before the sub-command.
    let status = ["queue", "status", "nats://127.0.0.1/q"];
    run_fetch_url(status).assert_exit(2).assert_stderr_contains("this build has no sub-command queue");
    for arguments in [&status[..], &["queue", "--help"], &["queue", "-V"]] {
        let result = crate::support::run_shell("\"$F\" \"$@\"", arguments);
        result.assert_exit(2).assert_stderr_contains("this build has no sub-command queue");
        result.assert_stderr_contains("--features queue");
        assert!(result.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn groups_write_to_one_event_log_and_one_trace() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    let dir = temp_dir();
    let (long, short) = (server.url("/long/long/long/long/long"), server.url("/b"));
    let arguments = [
        "--events", "log", "-o", "a", &long, "--next", "--events", "./log", "--trace", "trace", "-o", "b",
        &short,
    ];
    run_fetch_url_in(dir.path(), arguments).assert_exit(0);
    let log = read_text_file(dir.path(), "log");
    let events: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let done = events.iter().filter(|event| event["event"] == "done").count();
    assert_eq!(done, 2, "{log}");
    let trace = read_text_file(dir.path(), "trace");
    assert!(trace.contains("/long/long") && trace.contains("GET /b"), "{trace}");
    let traces = ["--trace", "t1", "-o", "a", &long, "--next", "--trace", "t2", "-o", "b", &short];
    run_fetch_url_in(dir.path(), traces).assert_exit(2).assert_stderr_contains("--trace");
}

#[test]
fn time_limit_of_a_group_does_not_end_a_later_one_whose_output_is_read_late() {
    let server = http_server(|_| HttpResponse::new(200).body("x".repeat(200_000)));
    let mut command = crate::support::fetch_url_command();
    command.args(["-m", "1", "-o", "/dev/null", &server.url("/a"), "--next", &server.url("/b")]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    std::thread::sleep(Duration::from_millis(3500));
    let mut text = Vec::new();
    stdout.read_to_end(&mut text).expect("read");
    assert_eq!((child.wait().expect("an end").code(), text.len()), (Some(0), 200_000));
}

#[test]
fn standard_input_and_options_with_one_value_are_used_once() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let url = server.url("/");
    for arguments in [
        &["-w", "@-", "--input-file", "-"][..],
        &["-d", "@-", "--input-file", "-"],
        &["-d", "@-", &url, "--next", "-d", "@-", &url],
        &["-u", "me", "--password-file", "-", "-d", "@-", &url],
        &["-F", "a=@-", "-w", "@-", &url],
    ] {
        let result = run_fetch_url(arguments);
        result.assert_exit(2).assert_stderr_contains("standard input is read by");
    }
    for arguments in [
        ["--input-file", "/dev/null", "--input-file", "/dev/null"],
        [
            "--checksum",
            "md5:d41d8cd98f00b204e9800998ecf8427e",
            "--checksum=md5:d41d8cd98f00b204e9800998ecf8427f",
            &url,
        ],
    ] {
        run_fetch_url(arguments).assert_exit(2).assert_stderr_contains("only once");
    }
    assert!(server.requests().is_empty());
}

/// docs/spec/semantics.md, rule 12.11: the groups are one run.
#[test]
fn file_of_an_earlier_group_is_not_replaced() {
    let server = http_server(|request| HttpResponse::new(200).body(request.path()));
    let url = |path: &str| server.url(path);
    let dir = temp_dir();
    let file = |name: &str| dir.path().join(name).display().to_string();
    write_file(dir.path(), "config", "silent\n");
    write_file(dir.path(), "cookies", "# Netscape HTTP Cookie File\n");
    let (one, two) = (url("/one/f"), url("/two/f"));
    for (first, second) in [
        (vec!["-o", "f", &one], vec!["-o", "./f", &two]),
        (vec!["-O", &one], vec!["-O", &two]),
        (vec!["-K", "config", "-o", "x", &one], vec!["-O", &url("/config")]),
        (vec!["-b", "cookies", "-o", "x", &one], vec!["-O", &url("/cookies")]),
        (vec!["-D", "heads", "-o", "x", &one], vec!["-O", &url("/heads")]),
        (vec!["-o", "x", "-O", &one, &url("/later")], vec!["-c", "later", "-o", "y", &two]),
    ] {
        let result = run_fetch_url_in(dir.path(), [&first[..], &["--next"], &second[..]].concat());
        result.assert_exit(2);
        let kept = ["f", "config", "cookies"].map(|name| fs::read_to_string(file(name)).unwrap_or_default());
        assert!(kept[0].is_empty() || kept[0] == "/one/f", "{first:?} {second:?}: {kept:?}");
        assert_eq!(kept[1..], ["silent\n", "# Netscape HTTP Cookie File\n"], "{first:?} {second:?}");
        for name in ["f", "x", "y"] {
            let _ = fs::remove_file(file(name));
        }
    }
}

#[test]
fn groups_may_write_to_one_device_and_fetch_one_url_again() {
    let server = http_server(|request| HttpResponse::new(200).body(request.method.clone()));
    let (dir, url) = (temp_dir(), server.url("/f"));
    for (first, second) in [
        // The same URL with other options; the file of a transfer that failed; a file that a later group uploads.
        (vec!["-d", "x", "-o", "f", &url], vec!["-o", "f", &url]),
        (vec!["-o", "/dev/null", &url], vec!["-D", "/dev/null", "-o", "f", &url]),
        (vec!["-D", "heads", "-o", "x", &url], vec!["-D", "heads", "-o", "f", &url]),
    ] {
        let arguments = [&first[..], &["--next"], &second[..]].concat();
        run_fetch_url_in(dir.path(), arguments).assert_exit(0);
        assert_eq!(read_text_file(dir.path(), "f"), "GET", "{first:?} {second:?}");
    }
    let arguments = ["-O", &url, "--next", "-T", "f", "-o", "reply", &server.url("/put")];
    run_fetch_url_in(dir.path(), arguments).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "reply"), "PUT");
    let missing = "file:///missing/f";
    run_fetch_url_in(dir.path(), ["-s", "-o", "other", missing, "--next", "-o", "other", &url])
        .assert_exit(78);
    assert_eq!(read_text_file(dir.path(), "other"), "GET");
}
