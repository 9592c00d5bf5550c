//! `--trace` and `--events` into a full file system: the object is stored, and the run fails.

use crate::support::{http_server, read_text_file, run_fetch_url_in, run_shell, temp_dir};
use fetch_url_tests::HttpResponse;

#[test]
fn failed_write_of_trace_or_events_exits_23_and_stores_the_object() {
    let server = http_server(|_| HttpResponse::new(200).body("content"));
    for option in ["--trace", "--events"] {
        let dir = temp_dir();
        run_fetch_url_in(dir.path(), [option, "/dev/full", "-o", "x", &server.url("/")])
            .assert_exit(23)
            .assert_stderr_contains("/dev/full");
        assert_eq!(read_text_file(dir.path(), "x"), "content", "{option}");
    }
}

#[test]
fn events_to_a_closed_pipe_exit_23_silently() {
    let server = http_server(|_| HttpResponse::new(200).body("content"));
    let script = "{ sleep 0.2; \"$F\" --events - -o /dev/null \"$1\"; echo \"exit $?\" >&2; } | true";
    assert_eq!(run_shell(script, [server.url("/")]).stderr, "exit 23\n");
}
