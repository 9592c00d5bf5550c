//! Output of `mirror`: `--events`, `--write-out`, `--silent` and error messages.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::mirror::{file_url, html_reply, run_mirror_with, small_tree_handler};
use crate::support::{http_server, http_server_first_then, temp_dir};
use fetch_url_tests::HttpResponse;

/// Parses one JSON object per line.
fn parse_json_lines(text: &str) -> Vec<serde_json::Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}")))
        .collect()
}

#[test]
fn events_list_every_file_and_end_with_a_summary() {
    let (server, dir) = (http_server(small_tree_handler), temp_dir());
    let result = run_mirror_with(&server.url("/d/"), dir.path(), &["--events", "-"]);
    let events = parse_json_lines(&result.assert_exit(0).stdout_text());
    let text = result.stdout_text();
    for name in ["/d/a", "/d/sub/x", "/d/sub/y"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    // The last line is a summary: three files, 15 bytes.
    let last = events.last().expect("an event").to_string();
    assert!(last.contains("summary") || last.contains("total"), "{last}");
    assert!(last.contains('3') && last.contains("15"), "{last}");
    // The second run transfers nothing.
    let result = run_mirror_with(&server.url("/d/"), dir.path(), &["--events", "-"]);
    let last = parse_json_lines(&result.assert_exit(0).stdout_text()).last().expect("an event").to_string();
    assert!(last.contains("summary") && last.contains("\"octets\":0"), "{last}");
    // Failures are reported as events, too.
    let dir = temp_dir();
    let failing = http_server(|request| match request.path().as_str() {
        "/d/sub/x" => HttpResponse::new(404),
        _ => small_tree_handler(request),
    });
    let result = run_mirror_with(&failing.url("/d/"), dir.path(), &["--events", "-"]);
    let text = result.assert_exit(78).stdout_text();
    assert!(parse_json_lines(&text).iter().any(|event| event.to_string().contains("not_found")), "{text}");
    assert!(parse_json_lines(&text).last().expect("an event").to_string().contains("summary"), "{text}");
}

#[test]
fn deletions_are_reported_as_events() {
    let dir = temp_dir();
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    fs::create_dir(&source).expect("a directory");
    for name in ["a", "b", "c"] {
        fs::write(source.join(name), name).expect("a file");
    }
    let url = format!("file://{}/", source.display());
    run_mirror_with(&url, &target, &[]).assert_exit(0);
    fs::remove_file(source.join("b")).expect("a file");
    let result = run_mirror_with(&url, &target, &["--delete", "--events", "-"]);
    let text = result.assert_exit(0).stdout_text();
    parse_json_lines(&text);
    assert!(text.contains("delete"), "{text}");
    assert!(!target.join("b").exists());
}

#[test]
fn write_out_prints_one_line_per_downloaded_file() {
    let (server, dir) = (http_server(small_tree_handler), temp_dir());
    let result =
        run_mirror_with(&server.url("/d/"), dir.path(), &["-w", "%{http_code} %{size_download} %{url}\\n"]);
    let mut lines: Vec<String> = result.assert_exit(0).stdout_text().lines().map(str::to_owned).collect();
    lines.sort();
    let expected = ["/d/a", "/d/sub/x", "/d/sub/y"].map(|path| format!("200 5 {}", server.url(path)));
    assert_eq!(lines, expected);
    let result = run_mirror_with(&server.url("/d/"), dir.path(), &["-w", "%{url}\\n"]);
    assert!(result.assert_exit(0).stdout_text().lines().count() <= 3, "{}", result.stdout_text());
    let result = run_mirror_with(&server.url("/d/"), temp_dir().path(), &["-w", "%{json}\\n"]);
    assert_eq!(parse_json_lines(&result.assert_exit(0).stdout_text()).len(), 3);
}

/// Standard output stays empty; every failure is one line on standard error; -s suppresses them, -S restores them.
#[test]
fn failures_are_reported_on_standard_error_unless_silent() {
    let failing = http_server(|request| match request.path().as_str() {
        "/d/a" => HttpResponse::new(404),
        "/d/sub/y" => HttpResponse::new(403),
        _ => small_tree_handler(request),
    });
    let result = run_mirror_with(&failing.url("/d/"), temp_dir().path(), &[]);
    assert!(
        result.stdout.is_empty() && (result.exit == 78 || result.exit == 9),
        "{} {}",
        result.exit,
        result.stdout_text()
    );
    let reported: Vec<&str> = result.stderr.lines().filter(|line| line.starts_with("fetch-url: ")).collect();
    assert!(
        reported.iter().any(|line| line.contains("/d/a"))
            && reported.iter().any(|line| line.contains("/d/sub/y")),
        "{reported:?}"
    );
    let result = run_mirror_with(&failing.url("/d/"), temp_dir().path(), &["-s"]);
    assert!(result.stderr.is_empty() && result.stdout.is_empty(), "{}", result.stderr);
    let result = run_mirror_with(&failing.url("/d/"), temp_dir().path(), &["-s", "-S"]);
    assert!(result.stderr.contains("/d/a"), "{}", result.stderr);
    let result = run_mirror_with(&http_server(small_tree_handler).url("/d/"), temp_dir().path(), &["-s"]);
    assert!(result.assert_exit(0).stderr.is_empty() && result.stdout.is_empty(), "{}", result.stderr);
}

/// A directory is not a transfer, but its redirects and retries are reported.
#[test]
fn redirect_and_retry_of_listings_have_numbers_of_their_own_in_events() {
    let server = http_server_first_then(
        |_| HttpResponse::new(503).header("Retry-After", "0"),
        |request| match request.path().as_str() {
            "/start/" => HttpResponse::new(302).header("Location", "/d/"),
            _ => small_tree_handler(request),
        },
    );
    let dir = temp_dir();
    let options = ["--retry", "2", "--retry-delay", "0.01", "--events", "-"];
    let result = run_mirror_with(&server.url("/start/"), dir.path(), &options);
    let events = parse_json_lines(&result.assert_exit(0).stdout_text());
    let numbers = |kinds: &[&str]| -> Vec<u64> {
        let of_kind = events.iter().filter(|event| kinds.iter().any(|kind| event["event"] == *kind));
        of_kind.filter_map(|event| event["number"].as_u64()).collect()
    };
    let (listings, files) = (numbers(&["hop", "retry"]), numbers(&["start"]));
    assert_eq!(listings.len(), 2, "{events:?}");
    assert!(listings.iter().all(|number| *number < 100 && !files.contains(number)), "{listings:?} {files:?}");
}

/// A link that does not lead to a file, and a page that is redirected to another page.
#[test]
fn entries_without_a_file_do_not_count_as_present() {
    let (source, target) = (temp_dir(), temp_dir());
    symlink("nowhere", source.path().join("dangling")).expect("a link");
    let server = http_server(|request| match request.path().as_str() {
        "/d/" => html_reply("<title>x</title><a href=old>1</a>"),
        "/d/old" => HttpResponse::new(301).header("Location", "/d/new"),
        _ => HttpResponse::new(200).body("text"),
    });
    for (url, links, files) in [(file_url(source.path()), 1, 0), (server.url("/d/"), 0, 2)] {
        let target = target.path().join(links.to_string());
        let result = run_mirror_with(&url, &target, &["--events", "-"]);
        let events = parse_json_lines(&result.assert_exit(0).stdout_text());
        let end = events.last().expect("a summary");
        let counts = ["links_without_file", "skipped", "files"].map(|name| end[name].as_u64());
        assert_eq!(counts, [Some(links), Some(0), Some(files)], "{url}: {end}");
        assert_eq!(result.stderr.contains("; 1 skipped"), links == 1, "{}", result.stderr);
        assert!(!result.stderr.contains("already present"), "{}", result.stderr);
        for done in events.iter().filter(|event| event["event"] == "done") {
            let file = done["file"].as_str();
            assert_eq!(done["skipped"].as_bool(), Some(file.is_none()), "{done}");
            assert!(file.is_none_or(|file| Path::new(file).exists()), "{done}");
        }
    }
}
