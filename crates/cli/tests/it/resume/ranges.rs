//! Bodies of `-r` that break off: the rest of the range is requested, or a file gets the same range again.

use std::ops::Range;

use super::within_a_run::{
    SIZE, assert_complete, file_options, first_version, new_target, request_ranges, run_to_file, run_to_pipe,
    second_version,
};
use crate::support::{OVERLAP, http_server_first_then, part_path, strong_etag_headers};
use fetch_url_tests::{FileHeaders, HttpRequest, HttpResponse, RangeSupport, file_handler};

/// The number of bytes after which the first body breaks off.
const CUT: usize = 100_000;

/// The ranges, the bytes that they stand for, and the end of the range in the request for the rest.
const RANGES: [(&str, Range<usize>, &str); 6] = [
    ("1000-250000", 1000..250_001, "250000"),
    ("0-250000", 0..250_001, "250000"),
    ("1000-999999", 1000..SIZE, "999999"),
    ("-250000", 50_000..SIZE, ""),
    ("-999999", 0..SIZE, ""),
    ("1000-", 1000..SIZE, ""),
];

fn interrupted(headers: FileHeaders) -> impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static {
    let serve_file = file_handler(first_version(), headers);
    move |request| serve_file(request).cut_body_at(CUT as u64)
}

#[test]
fn interrupted_range_continues_at_the_offset() {
    for (range, part, last) in RANGES {
        let start_server = || {
            let rest = file_handler(first_version(), strong_etag_headers());
            http_server_first_then(interrupted(strong_etag_headers()), rest)
        };
        let (options, server) = (format!("-r {range}"), start_server());
        let result = run_to_pipe(&options, &server.url("/o"));
        assert!(result.assert_exit(0).stdout == first_version()[part.clone()], "{range}: {result:?}");
        let (target, to_file) = (new_target(), start_server());
        run_to_file(&target, &options, &to_file.url("/o")).assert_exit(0);
        assert_complete(&target, &first_version()[part.clone()], range);
        for server in [server, to_file] {
            let rest = format!("bytes={}-{last}", part.start + CUT - OVERLAP);
            assert_eq!(request_ranges(&server), [format!("bytes={range}"), rest]);
            assert_eq!(server.requests()[1].header_text("if-range"), Some("\"v1\""), "{range}");
        }
    }
}

/// A pipe has the first bytes already, and a file of `-i` their header.
#[test]
fn interrupted_range_of_a_changed_object_is_fetched_again_into_a_file_only() {
    for (range, part, _) in RANGES {
        let start_server = || {
            let changed = file_handler(second_version(), file_options("\"v2\"", RangeSupport::Correct));
            http_server_first_then(interrupted(strong_etag_headers()), changed)
        };
        let (options, server, target) = (format!("-r {range}"), start_server(), new_target());
        run_to_file(&target, &options, &server.url("/o")).assert_exit(0);
        assert_complete(&target, &second_version()[part.clone()], range);
        let received = &first_version()[part.start..part.start + CUT];
        let result = run_to_pipe(&options, &start_server().url("/o"));
        assert!(result.assert_exit(18).stdout == received, "{range}: {} bytes", result.stdout.len());
        result.assert_stderr_contains("cannot resume");
        let (target, server) = (new_target(), start_server());
        run_to_file(&target, &format!("-i {options}"), &server.url("/o")).assert_exit(18);
        assert!(target.is_untouched().expect("a file"), "{range}");
    }
}

#[test]
fn interrupted_range_without_a_validator_is_fetched_again_with_retry_all_errors_only() {
    let headers = || FileHeaders { etag: None, last_modified: None, ranges: RangeSupport::Correct };
    for (range, part, _) in RANGES {
        for (option, exit) in [("", 18), ("--retry-all-errors", 0)] {
            let rest = file_handler(first_version(), headers());
            let (server, target) = (http_server_first_then(interrupted(headers()), rest), new_target());
            run_to_file(&target, &format!("{option} -r {range}"), &server.url("/o")).assert_exit(exit);
            match exit {
                0 => assert_complete(&target, &first_version()[part.clone()], range),
                _ => assert!(target.is_untouched().expect("a file"), "{range}"),
            }
            let sent = format!("bytes={range}");
            assert!(request_ranges(&server).iter().all(|range| *range == sent), "{range}");
            assert_eq!(server.requests().len(), if exit == 0 { 2 } else { 1 }, "{range}");
        }
    }
}

/// All bytes have arrived, but not the last chunk.
#[test]
fn range_without_its_last_chunk_ends_with_the_rest() {
    for (range, part) in [("0-0", 0..1), ("7-7", 7..8), ("10-4000", 10..4001)] {
        let bytes = first_version()[part.clone()].to_vec();
        let (first, last) = (part.start, part.end - 1);
        let unfinished = move |_: &HttpRequest| {
            let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
            HttpResponse::new(206)
                .header("ETag", "\"v1\"")
                .header("Content-Range", format!("bytes {first}-{last}/{SIZE}"))
                .header("Transfer-Encoding", "chunked")
                .header("Connection", "close")
                .then_send(chunk)
        };
        let rest = file_handler(first_version(), strong_etag_headers());
        let (server, target) = (http_server_first_then(unfinished, rest), new_target());
        run_to_file(&target, &format!("-r {range}"), &server.url("/o")).assert_exit(0);
        assert_complete(&target, &first_version()[part], range);
        assert!(!part_path(&target.path()).exists());
    }
}
