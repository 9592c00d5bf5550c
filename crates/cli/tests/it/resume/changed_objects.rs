//! Servers that send another version of an object after a break, without another strong validator. The output is always
//! one version.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::within_a_run::{
    CUT, assert_complete, file_options, first_version, new_target, request_ranges, run_to_file, run_to_pipe,
    second_version,
};
use crate::support::{OVERLAP, http_server, http_server_first_then, part_path, strong_etag_headers};
use fetch_url_tests::{
    HttpRequest, HttpResponse, HttpServer, RangeSupport, base64_sha256, file_handler, http_date,
};

/// Starts a server whose first response, with these fields, breaks off at [`CUT`]. The later ones are of another version.
fn server_that_breaks_off(fields: &[(&'static str, String)], how: RangeSupport) -> HttpServer {
    let fields = fields.to_vec();
    let first = move |_: &HttpRequest| {
        let reply = HttpResponse::new(200).header("Accept-Ranges", "bytes");
        let reply = fields.iter().fold(reply, |reply, (name, value)| reply.header(name, value));
        reply.body(first_version()).cut_body_at(CUT as u64)
    };
    http_server_first_then(first, file_handler(second_version(), file_options("\"v2\"", how)))
}

/// An output that is not a file gets no byte twice, so a retry would be useless.
fn assert_pipe_fails_without_a_retry(fields: &[(&'static str, String)]) {
    for options in ["", "--retry-all-errors"] {
        let pipe = server_that_breaks_off(fields, RangeSupport::IfRangeIgnored);
        let result = run_to_pipe(options, &pipe.url("/o"));
        assert!(result.assert_exit(18).stdout == first_version()[..CUT], "{options} {fields:?}");
        assert_eq!(pipe.requests().len(), 1, "{options} {fields:?}");
    }
}

#[test]
fn without_validator_only_retry_all_errors_restarts_a_file() {
    let (target, first) = (new_target(), server_that_breaks_off(&[], RangeSupport::Correct));
    run_to_file(&target, "", &first.url("/o")).assert_exit(18);
    assert_eq!((first.requests().len(), target.is_untouched().expect("a file")), (1, true));
    for how in [RangeSupport::Correct, RangeSupport::IfRangeIgnored] {
        let (target, all) = (new_target(), server_that_breaks_off(&[], how));
        run_to_file(&target, "--retry-all-errors", &all.url("/o")).assert_exit(0);
        assert_complete(&target, &second_version(), "all errors");
        assert_eq!(request_ranges(&all), ["-", "-"]);
    }
    assert_pipe_fails_without_a_retry(&[]);
}

#[test]
fn file_with_a_weak_validator_is_restarted_and_never_resumed() {
    let now = http_date(std::time::SystemTime::now());
    let (weak, old) = ("W/\"v1\"".to_owned(), "Thu, 01 Dec 1994 12:34:56 GMT".to_owned());
    let rows: [&[(&'static str, String)]; 3] = [
        &[("ETag", weak.clone())],
        // Versions with different weak tags can have the same time.
        &[("ETag", weak), ("Date", now.clone()), ("Last-Modified", old)],
        // Modified within the last minute: it may change again within the same second.
        &[("Date", now.clone()), ("Last-Modified", now)],
    ];
    for fields in rows {
        for how in [RangeSupport::Correct, RangeSupport::IfRangeIgnored] {
            let (target, server) = (new_target(), server_that_breaks_off(fields, how));
            run_to_file(&target, "", &server.url("/o")).assert_exit(0);
            assert_complete(&target, &second_version(), "a restart");
            assert_eq!(request_ranges(&server), ["-", "-"], "{fields:?}");
        }
        assert_pipe_fails_without_a_retry(fields);
    }
}

/// The first response of the second run has only a few bytes after those that are compared, or none; the next one is of
/// another version with the same validator. The known bytes are compared again.
#[test]
fn resume_that_breaks_off_at_once_compares_the_known_bytes_again() {
    for new_bytes in [0, 1, 63, 64, 65] {
        let count = AtomicUsize::new(0);
        let versions =
            [first_version(), second_version()].map(|content| file_handler(content, strong_etag_headers()));
        let server = http_server(move |request| match count.fetch_add(1, Ordering::Relaxed) {
            0 => versions[0](request).cut_body_at(CUT as u64),
            1 => versions[0](request).cut_body_at(OVERLAP as u64 + new_bytes),
            _ => versions[1](request),
        });
        let target = new_target();
        run_to_file(&target, "--retry 0", &server.url("/o")).assert_exit(18);
        assert!(part_path(&target.path()).exists());
        run_to_file(&target, "-C -", &server.url("/o")).assert_exit(0);
        assert_complete(&target, &second_version(), &format!("{new_bytes} new bytes"));
    }
}

/// The digest that the server states for each version. The second one is checked after the restart.
#[test]
fn stated_digest_of_the_restarted_version_is_checked() {
    for (second_digest, exit) in [(base64_sha256(&second_version()), 0), (base64_sha256(b"other"), 91)] {
        let digest = |value: &str| format!("sha-256=:{value}:");
        let second_digest = digest(&second_digest);
        let first_digest = digest(&base64_sha256(&first_version()));
        let later = file_handler(second_version(), file_options("\"v2\"", RangeSupport::Correct));
        let first = move |_: &HttpRequest| {
            let reply = HttpResponse::new(200).header("Accept-Ranges", "bytes").header("ETag", "\"v1\"");
            reply.header("Repr-Digest", &first_digest).body(first_version()).cut_body_at(CUT as u64)
        };
        let later = move |request: &HttpRequest| later(request).header("Repr-Digest", &second_digest);
        let (server, target) = (http_server_first_then(first, later), new_target());
        run_to_file(&target, "--metalink-over-http", &server.url("/o")).assert_exit(exit);
        match exit {
            0 => assert_complete(&target, &second_version(), "the second version"),
            _ => assert!(target.is_untouched().expect("a file")),
        }
    }
}
