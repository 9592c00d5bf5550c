//! Parallel transfers whose objects go to standard output.

use std::fs;
use std::time::Duration;

use crate::support::{http_server, http_server_first_then, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::HttpResponse;

#[test]
fn parallel_transfers_do_not_mix_their_objects_on_standard_output() {
    let server = http_server(|request| {
        let letter = request.path().chars().last().expect("a letter").to_string();
        HttpResponse::new(200).body(letter.repeat(40_000)).drip(10_000, Duration::from_millis(20))
    });
    let urls = ["a", "b", "c"].map(|letter| server.url(&format!("/{letter}")));
    let result = run_fetch_url(["-Z"].into_iter().chain(urls.iter().map(String::as_str)));
    let mut letters = result.assert_exit(0).stdout_text().into_bytes();
    assert_eq!(letters.len(), 120_000);
    letters.dedup();
    assert_eq!(letters.len(), 3, "{}", String::from_utf8_lossy(&letters));
}

/// The transfer that is retried must acquire the permit of its host again. The waiting ones must not hold it.
#[test]
fn parallel_transfers_to_standard_output_continue_after_a_busy_reply() {
    for (options, count) in [(&[][..], 2), (&["--parallel-max-host", "1"], 3), (&["--parallel-max", "4"], 12)]
    {
        let server = http_server_first_then(
            |_| HttpResponse::new(503).header("Retry-After", "0"),
            |request| HttpResponse::new(200).body(format!("{}\n", request.path())),
        );
        let urls = (0..count).map(|number| server.url(&format!("/{number}")));
        let arguments =
            ["-Z", "-m", "20", "--retry", "1", "--retry-delay", "0.1"].map(str::to_owned).into_iter();
        let arguments = arguments.chain(options.iter().map(|&option| option.to_owned())).chain(urls);
        let text = run_fetch_url(arguments).assert_exit(0).stdout_text();
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        let mut expected: Vec<_> = (0..count).map(|number| format!("/{number}")).collect();
        expected.sort_unstable();
        assert_eq!(lines, expected, "{options:?}");
    }
}

#[test]
fn head_and_report_of_another_transfer_are_printed_after_the_object() {
    let server = http_server(|request| match &*request.path() {
        "/object" => HttpResponse::new(200).body("a".repeat(40)).drip(4, Duration::from_millis(100)),
        _ => HttpResponse::new(200).header("X-Other", "yes").body("file"),
    });
    let dir = temp_dir();
    let (object, other) = (server.url("/object"), server.url("/other"));
    let common = ["-Z", "-D", "-", "-w", "<%{url}>\n"];
    let text =
        run_fetch_url_in(dir.path(), common.into_iter().chain([&*object, "-o", "-", &other, "-o", "f"]));
    let text = text.assert_exit(0).stdout_text();
    assert!(text.contains(&"a".repeat(40)), "{text}");
    for part in ["X-Other: yes\n".to_owned(), format!("<{object}>\n"), format!("<{other}>\n")] {
        assert_eq!(text.matches(&part).count(), 1, "{part:?}: {text}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("f")).expect("a file"), "file");
}
