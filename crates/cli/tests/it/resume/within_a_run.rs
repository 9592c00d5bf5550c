//! Interrupted bodies that are resumed within the same run. If the file is proven to be unchanged, the transfer
//! continues at the offset; otherwise a file is restarted, and output to a pipe ends with an error
//! (docs/spec/faults.md, rows 103 to 108; docs/spec/semantics.md §3). The output is always one version, complete or a
//! prefix of it.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{
    BINARY, OVERLAP, RunResult, http_server, http_server_first_then, isolate_environment, part_metadata_path,
    part_path, run_fetch_url, run_shell, send_signal, spawn_fetch_url, strong_etag_headers, wait_for_exit,
    wait_until,
};
use fetch_url_tests::{
    ContentCoding, FileHeaders, HttpRequest, HttpResponse, HttpServer, OldFile, RangeSupport, Target, encode,
    file_handler, pattern_vec,
};

pub(super) const SIZE: usize = 300_000;
pub(super) const CUT: usize = 200_000;

/// The first version of the file. The second version differs from it in every byte.
pub(super) fn first_version() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

pub(super) fn second_version() -> Vec<u8> {
    pattern_vec(0, SIZE).iter().map(|byte| !byte).collect()
}

pub(super) fn file_options(etag: &str, ranges: RangeSupport) -> FileHeaders {
    FileHeaders { etag: Some(etag.to_owned()), last_modified: None, ranges }
}

fn reply_with_etag() -> HttpResponse {
    HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes")
}

/// A reply with a strong entity tag and a body that is truncated after `CUT` bytes.
fn truncated_reply(_: &HttpRequest) -> HttpResponse {
    reply_with_etag().body(first_version()).cut_body_at(CUT as u64)
}

/// Runs fetch-url with a retry delay of 50 ms and output to a pipe.
pub(super) fn run_to_pipe(options: &str, url: &str) -> RunResult {
    run_fetch_url(["--retry-delay", "0.05"].into_iter().chain(options.split_whitespace()).chain([url]))
}

/// Runs fetch-url with a retry delay of 50 ms and output to a file.
pub(super) fn run_to_file(target: &Target, options: &str, url: &str) -> RunResult {
    let path = target.path();
    let output = ["-o", path.to_str().expect("a path in UTF-8")];
    run_fetch_url(
        ["--retry-delay", "0.05"].into_iter().chain(options.split_whitespace()).chain(output).chain([url]),
    )
}

pub(super) fn new_target() -> Target {
    Target::new(OldFile::Present).expect("a directory")
}

/// Returns the Range field of each request, or `-` if it has none.
pub(super) fn request_ranges(server: &HttpServer) -> Vec<String> {
    let range = |request: &HttpRequest| request.header_text("range").unwrap_or("-").to_owned();
    server.requests().iter().map(range).collect()
}

/// Panics if the target differs from `content` or if a temporary file remains.
#[track_caller]
pub(super) fn assert_complete(target: &Target, content: &[u8], case: &str) {
    let now = target.content().expect("readable").unwrap_or_default();
    let same = now.iter().zip(content).take_while(|(left, right)| left == right).count();
    assert!(now == content, "{case}: {} bytes instead of {}, equal up to {same}", now.len(), content.len());
    let left = target.leftovers().expect("a directory");
    assert!(left.is_empty(), "{case}: these files remain: {left:?}");
}

/// Panics unless the output is `content` with exit status 0, or a prefix of `content` with exit status 18.
#[track_caller]
fn assert_one_version(result: &RunResult, content: &[u8], case: &str) {
    let length = result.stdout.len();
    assert!(
        content.starts_with(&result.stdout),
        "{case}: bytes of two versions in {length}, exit {}",
        result.exit
    );
    let is_status_correct = if length == content.len() { result.exit == 0 } else { result.exit == 18 };
    assert!(
        is_status_correct,
        "{case}: {length} of {} bytes, exit {}: {}",
        content.len(),
        result.exit,
        result.stderr
    );
}

/// Starts a server that interrupts the first `times` bodies after `step` bytes, by `how`. Returns it and the number of
/// body bytes that it sent.
fn interrupting_server(
    step: usize,
    times: usize,
    how: fn(HttpResponse) -> HttpResponse,
) -> (HttpServer, Arc<AtomicU64>) {
    let (serve_file, requested) = (file_handler(first_version(), strong_etag_headers()), AtomicUsize::new(0));
    let bytes_sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&bytes_sent);
    let server = http_server(move |request| {
        let range = request.header_text("range").and_then(|range| range.strip_prefix("bytes="));
        let offset = range.and_then(|range| range.split('-').next()?.parse().ok()).unwrap_or(0);
        let is_interrupted = requested.fetch_add(1, Ordering::SeqCst) < times;
        let max_length = if is_interrupted { step } else { SIZE };
        count.fetch_add(max_length.min(SIZE - offset) as u64, Ordering::SeqCst);
        let reply = serve_file(request);
        if is_interrupted { how(reply.cut_body_at(step as u64)) } else { reply }
    });
    (server, bytes_sent)
}

/// The kinds of interruption: close, reset, stall. The reset is delayed by 100 ms, so that the bytes before it leave
/// the send buffer.
const INTERRUPTIONS: [fn(HttpResponse) -> HttpResponse; 3] = [
    |reply| reply,
    |reply| reply.then_stall(Duration::from_millis(100)).then_reset(),
    |reply| reply.then_stall(Duration::from_secs(6)),
];

/// Three interruptions, and only the compared bytes are sent twice (docs/spec/faults.md, row 108).
#[test]
fn interrupted_body_continues_at_the_offset() {
    for how in INTERRUPTIONS {
        let target = new_target();
        let (server, bytes_sent) = interrupting_server(80_000, 3, how);
        let result = run_to_file(&target, "--read-timeout 0.5 -w %{num_retries}", &server.url("/o"));
        assert_eq!(result.assert_exit(0).stdout_text(), "3");
        assert_complete(&target, &first_version(), "three interruptions");
        assert_eq!(request_ranges(&server), ["-", "bytes=79936-", "bytes=159872-", "bytes=239808-"]);
        let conditions =
            server.requests().iter().skip(1).all(|r| r.header_text("if-range") == Some("\"v1\""));
        assert!(conditions, "a Range field without If-Range");
        let bytes_sent = bytes_sent.load(Ordering::SeqCst);
        assert!(bytes_sent * 10 <= SIZE as u64 * 11, "{bytes_sent} bytes sent for {SIZE}");
        // Output to a pipe continues, too, because the resume is exact.
        let (server, _) = interrupting_server(80_000, 3, how);
        let result = run_to_pipe("--read-timeout 0.5", &server.url("/o"));
        assert!(result.assert_exit(0).stdout == first_version(), "{} bytes", result.stdout.len());
        assert_eq!(server.requests().len(), 4);
    }
}

/// After the last retry, the `.part` file is kept for the next run.
#[test]
fn interrupted_body_is_retried_as_often_as_retry_allows() {
    for (options, requests) in [("--retry 0", 1), ("--retry 2", 3)] {
        let target = new_target();
        // There is one interruption more than the first run retries, so the second run is interrupted, too.
        let (server, _) = interrupting_server(50_000, requests + 1, |reply| reply);
        run_to_file(&target, options, &server.url("/o")).assert_exit(18);
        assert!(target.is_untouched().expect("a file"));
        let part = fs::read(part_path(&target.path())).expect("a .part");
        assert!(
            part == first_version()[..50_000 * requests - OVERLAP * (requests - 1)],
            "{options}: {} bytes",
            part.len()
        );
        assert_eq!(server.requests().len(), requests, "{options}");
        run_to_file(&target, "-C -", &server.url("/o")).assert_exit(0);
        assert_complete(&target, &first_version(), options);
        assert_eq!(request_ranges(&server)[requests..].len(), 2);
        assert!(
            request_ranges(&server)[1..].iter().all(|range| range != "-"),
            "{:?}",
            request_ranges(&server)
        );
    }
}

/// Without an entity tag, an old Last-Modified date is the validator (docs/spec/faults.md, row 103).
#[test]
fn resume_uses_old_last_modified_as_validator() {
    let old = FileHeaders {
        etag: None,
        last_modified: Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned()),
        ranges: RangeSupport::Correct,
    };
    let serve_file = file_handler(first_version(), old.clone());
    let server = http_server_first_then(
        move |r| serve_file(r).cut_body_at(CUT as u64),
        file_handler(first_version(), old),
    );
    let result = run_to_pipe("", &server.url("/o"));
    assert!(result.assert_exit(0).stdout == first_version());
    assert_eq!(server.requests()[1].header_text("if-range"), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
}

type Handler = Box<dyn Fn(&HttpRequest) -> HttpResponse + Send + Sync>;

/// Returns handlers that answer the request for the rest with bytes of another version, another range or without a
/// validator. They answer a request without Range with the second version.
fn doubtful_handlers() -> Vec<(&'static str, Handler)> {
    let rest = |tag: &'static str, range: String| -> Handler {
        Box::new(move |request| match request.header_text("range") {
            Some(_) => {
                let reply = HttpResponse::new(206).header("Content-Range", &range);
                let reply = if tag.is_empty() { reply } else { reply.header("ETag", tag) };
                reply.body(&second_version()[CUT - OVERLAP..])
            }
            None => HttpResponse::new(200).header("ETag", "\"v2\"").body(second_version()),
        })
    };
    let (start, last) = (CUT - OVERLAP, SIZE - 1);
    let right = format!("bytes {start}-{last}/{SIZE}");
    let at = |first: usize| format!("bytes {first}-{}/{SIZE}", first + SIZE - start - 1);
    vec![
        (
            "200 with another entity tag",
            Box::new(file_handler(second_version(), file_options("\"v2\"", RangeSupport::Correct))),
        ),
        (
            "If-Range is ignored",
            Box::new(file_handler(second_version(), file_options("\"v2\"", RangeSupport::IfRangeIgnored))),
        ),
        ("206 with the same entity tag and other bytes", rest("\"v1\"", right.clone())),
        ("206 with another entity tag", rest("\"v2\"", right.clone())),
        ("206 with the weak entity tag", rest("W/\"v1\"", right.clone())),
        ("206 without an entity tag", rest("", right)),
        ("206 from an earlier byte", rest("\"v1\"", at(CUT - 1000))),
        ("206 from a later byte", rest("\"v1\"", format!("bytes {}-{last}/{SIZE}", start + 1))),
        ("206 from the start", rest("\"v1\"", at(0))),
        ("206 with another total length", rest("\"v1\"", format!("bytes {start}-{last}/{}", SIZE + 7))),
        ("206 without Content-Range", rest("\"v1\"", String::new())),
        ("206 with another unit", rest("\"v1\"", format!("lines {start}-{last}/{SIZE}"))),
        (
            "200 of unknown length",
            Box::new(|_| HttpResponse::new(200).header("ETag", "\"v2\"").chunked(vec![second_version()])),
        ),
    ]
}

#[test]
fn file_is_restarted_when_the_object_changed() {
    for (case, then) in doubtful_handlers() {
        let target = new_target();
        let server = http_server_first_then(truncated_reply, then);
        let result = run_to_file(&target, "", &server.url("/o"));
        assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
        assert_complete(&target, &second_version(), case);
        assert_eq!(request_ranges(&server)[1], format!("bytes={}-", CUT - OVERLAP), "{case}");
    }
}

#[test]
fn pipe_output_fails_when_the_object_changed() {
    for (case, then) in doubtful_handlers() {
        let server = http_server_first_then(truncated_reply, then);
        let result = run_to_pipe("", &server.url("/o"));
        assert_eq!(result.exit, 18, "{case}: {}", result.stderr);
        assert!(result.stdout == first_version()[..CUT], "{case}: {} bytes", result.stdout.len());
        let server = http_server_first_then(truncated_reply, |_| HttpResponse::new(404).body("gone"));
        let result = run_to_pipe("--fail-with-body", &server.url("/o"));
        assert!(result.exit != 0 && result.stdout == first_version()[..CUT], "gone: {}", result.stderr);
    }
}

/// Even with `--retry-all-errors` no byte is written twice (docs/spec/faults.md, row 107).
#[test]
fn pipe_output_is_one_version_with_retry_all_errors() {
    for (case, then) in doubtful_handlers() {
        let server = http_server_first_then(truncated_reply, then);
        let result = run_to_pipe("--retry-all-errors", &server.url("/o"));
        assert_one_version(&result, &first_version(), case);
    }
}

/// A 200 to the request for the rest is the complete file and is not appended to the part (docs/spec/faults.md, row
/// 104).
#[test]
fn status_200_to_range_request_replaces_the_part() {
    for accept in ["bytes", "none"] {
        let complete_reply = move |_: &HttpRequest| {
            HttpResponse::new(200)
                .header("ETag", "\"v1\"")
                .header("Accept-Ranges", accept)
                .body(first_version())
        };
        let server =
            http_server_first_then(move |r| complete_reply(r).cut_body_at(CUT as u64), complete_reply);
        let target = new_target();
        let result = run_to_file(&target, "--retry-all-errors", &server.url("/o"));
        result.assert_exit(0);
        assert_complete(&target, &first_version(), accept);
        let server =
            http_server_first_then(move |r| complete_reply(r).cut_body_at(CUT as u64), complete_reply);
        assert_one_version(&run_to_pipe("", &server.url("/o")), &first_version(), accept);
    }
}

/// All bytes arrived, but the last chunk is missing: a 416 with the same length and entity tag proves completeness
/// (docs/spec/faults.md, row 106).
#[test]
fn status_416_on_retry_proves_or_restarts() {
    let reply_without_last_chunk = |_: &HttpRequest| {
        let bytes = first_version();
        let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
        reply_with_etag()
            .header("Transfer-Encoding", "chunked")
            .header("Connection", "close")
            .then_send(chunk)
    };
    let target = new_target();
    let server = http_server_first_then(
        reply_without_last_chunk,
        file_handler(first_version(), strong_etag_headers()),
    );
    run_to_file(&target, "", &server.url("/o")).assert_exit(0);
    assert_complete(&target, &first_version(), "same version");
    let target = new_target();
    let changed =
        file_handler(second_version()[..1000].to_vec(), file_options("\"v2\"", RangeSupport::IfRangeIgnored));
    let server = http_server_first_then(reply_without_last_chunk, changed);
    run_to_file(&target, "", &server.url("/o")).assert_exit(0);
    assert_complete(&target, &second_version()[..1000], "shorter version");
    let changed =
        file_handler(second_version()[..1000].to_vec(), file_options("\"v2\"", RangeSupport::IfRangeIgnored));
    let server = http_server_first_then(reply_without_last_chunk, changed);
    let result = run_to_pipe("", &server.url("/o"));
    assert!(
        result.exit == 18 && first_version().starts_with(&result.stdout),
        "{}: {}",
        result.exit,
        result.stderr
    );
}

/// The result of `-r` is the complete range of one version or an error, also if the file changes in between.
#[test]
fn interrupted_range_is_resumed_from_one_version_or_fails() {
    let content = first_version();
    for (range, part) in [
        ("1000-250000", 1000..250_001),
        ("1000-", 1000..SIZE),
        ("-250000", SIZE - 250_000..SIZE),
        ("0-", 0..SIZE),
    ] {
        let serve_file = || file_handler(first_version(), strong_etag_headers());
        let first = move |request: &HttpRequest| serve_file()(request).cut_body_at(100_000);
        let options = format!("-r {range}");
        let server = http_server_first_then(first, serve_file());
        assert_one_version(&run_to_pipe(&options, &server.url("/o")), &content[part.clone()], &options);
        for how in [
            RangeSupport::Correct,
            RangeSupport::IfRangeIgnored,
            RangeSupport::Ignored,
            RangeSupport::WrongOffset,
        ] {
            for retry_option in ["", "--retry-all-errors"] {
                let case = format!("{options} {retry_option} , then {how:?}");
                let changed = || file_handler(second_version(), file_options("\"v2\"", how));
                let server = http_server_first_then(first, changed());
                assert_one_version(
                    &run_to_pipe(&format!("{options} {retry_option}"), &server.url("/o")),
                    &content[part.clone()],
                    &case,
                );
                let target = new_target();
                let server = http_server_first_then(first, changed());
                let result = run_to_file(&target, &format!("{options} {retry_option}"), &server.url("/o"));
                match result.exit {
                    0 => assert_complete(&target, &second_version()[part.clone()], &case),
                    _ => assert!(target.is_untouched().expect("a file"), "{case}: {result:?}"),
                }
            }
        }
    }
}

/// With `-C OFFSET`, the bytes before the offset belong to the caller and are never replaced.
#[test]
fn interrupted_continue_at_offset_never_mixes_versions() {
    let first = |request: &HttpRequest| {
        file_handler(first_version(), strong_etag_headers())(request).cut_body_at(100_000)
    };
    for (then, is_same) in
        [(strong_etag_headers(), true), (file_options("\"v2\"", RangeSupport::Correct), false)]
    {
        let content = if is_same { first_version() } else { second_version() };
        let server = http_server_first_then(first, file_handler(content.clone(), then.clone()));
        let result = run_to_pipe("-C 1000", &server.url("/o"));
        assert_one_version(&result, &first_version()[1000..], "-C 1000");
        assert_eq!(result.exit == 0, is_same, "{}", result.stderr);
        let target = Target::new(OldFile::Absent).expect("a directory");
        fs::write(target.path(), &first_version()[..1000]).expect("a file");
        let server = http_server_first_then(first, file_handler(content.clone(), then));
        let result = run_to_file(&target, "-C 1000", &server.url("/o"));
        let now = target.content().expect("readable").expect("a file");
        let is_written = now == first_version()[..1000] && result.exit != 0;
        assert!(
            is_written || result.exit == 0 && now == content,
            "exit {}: {} bytes",
            result.exit,
            now.len()
        );
    }
}

/// `-i` prints the headers of the response that the body belongs to, once.
#[test]
fn included_headers_belong_to_the_body() {
    let server =
        http_server_first_then(truncated_reply, file_handler(first_version(), strong_etag_headers()));
    let result = run_to_pipe("-i", &server.url("/o"));
    let end = result.stdout.windows(2).position(|two| two == b"\n\n").expect("the end of a head") + 2;
    let (head, body) = (String::from_utf8_lossy(&result.stdout[..end]).to_lowercase(), &result.stdout[end..]);
    assert!(first_version().starts_with(body), "bytes of two versions");
    assert!(result.exit == if body.len() == SIZE { 0 } else { 18 }, "{}: {} bytes", result.exit, body.len());
    assert_eq!((head.matches("http/1.1").count(), head.contains("\"v1\"")), (1, true), "{head}");
    let target = new_target();
    let server = http_server_first_then(
        truncated_reply,
        file_handler(second_version(), file_options("\"v2\"", RangeSupport::Correct)),
    );
    let result = run_to_file(&target, "-i", &server.url("/o"));
    if result.exit == 0 {
        let now = target.content().expect("readable").expect("a file");
        let head = String::from_utf8_lossy(&now[..now.len() - SIZE]).to_lowercase();
        assert!(now.ends_with(&second_version()), "not the second version");
        assert!(
            head.contains("\"v2\"") && head.matches("http/1.1").count() == 1,
            "headers of another response: {head}"
        );
    }
    assert!(result.exit == 0 || result.exit == 18 && target.is_untouched().expect("a file"), "{result:?}");
}

/// With `--compressed`, Range counts encoded bytes, not the decoded bytes that were written.
#[test]
fn interrupted_compressed_body_is_one_version_or_fails() {
    let gzip = |content: &[u8]| encode(ContentCoding::Gzip, content).expect("gzip");
    let gzip_handler = move |tag: &'static str, content: &[u8]| {
        let serve_file = file_handler(gzip(content), file_options(tag, RangeSupport::Correct));
        move |request: &HttpRequest| serve_file(request).header("Content-Encoding", "gzip")
    };
    let half = gzip(&first_version()).len() as u64 / 2;
    for (tag, content) in [("\"v1\"", first_version()), ("\"v2\"", second_version())] {
        let complete_reply = gzip_handler("\"v1\"", &first_version());
        let server =
            http_server_first_then(move |r| complete_reply(r).cut_body_at(half), gzip_handler(tag, &content));
        assert_one_version(&run_to_pipe("--compressed", &server.url("/o")), &first_version(), tag);
        let complete_reply = gzip_handler("\"v1\"", &first_version());
        let server =
            http_server_first_then(move |r| complete_reply(r).cut_body_at(half), gzip_handler(tag, &content));
        let target = new_target();
        let result = run_to_file(&target, "--compressed", &server.url("/o"));
        match result.exit {
            0 => assert_complete(&target, &content, tag),
            _ => assert!(result.exit == 18 && target.is_untouched().expect("a file"), "{result:?}"),
        }
    }
}

/// An entity tag is valid for one URL only: the retry is redirected to another URL with the same tag.
#[test]
fn retry_redirected_to_another_url_is_not_a_resume() {
    let serve = || {
        let requested = AtomicUsize::new(0);
        let other = file_handler(second_version(), strong_etag_headers());
        http_server(move |request| match request.path().as_str() {
            "/one" => truncated_reply(request),
            "/two" => other(request),
            _ if requested.fetch_add(1, Ordering::SeqCst) == 0 => {
                HttpResponse::new(302).header("Location", "/one")
            }
            _ => HttpResponse::new(302).header("Location", "/two"),
        })
    };
    let server = serve();
    assert_one_version(&run_to_pipe("", &server.url("/o")), &first_version(), "other redirect target");
    let (server, target) = (serve(), new_target());
    let result = run_to_file(&target, "", &server.url("/o"));
    match result.exit {
        0 => assert_complete(&target, &second_version(), "other redirect target"),
        _ => assert!(result.exit == 18 && target.is_untouched().expect("a file"), "{result:?}"),
    }
}

#[test]
fn max_filesize_counts_the_bytes_of_all_attempts() {
    let chunks =
        || reply_with_etag().chunked(vec![first_version()[..CUT].to_vec(); 1]).cut_body_at(CUT as u64);
    let server =
        http_server_first_then(move |_| chunks(), file_handler(first_version(), strong_etag_headers()));
    let target = new_target();
    run_to_file(&target, "--max-filesize 250000", &server.url("/o")).assert_exit(63);
    assert!(target.is_untouched().expect("a file"));
}

#[test]
fn resume_is_reported_with_its_offset() {
    let events = tempfile::NamedTempFile::new().expect("a file");
    let server =
        http_server_first_then(truncated_reply, file_handler(first_version(), strong_etag_headers()));
    let options =
        format!("--events {} -w %{{stderr}}|%{{size_download}}|%{{num_retries}}|", events.path().display());
    let result = run_to_pipe(&options, &server.url("/o"));
    assert!(result.assert_exit(0).stdout == first_version());
    let (line, written) = result.stderr.split_once('\n').expect("a line for the retry");
    assert!(line.starts_with("fetch-url: http://127.0.0.1:"), "{line}");
    assert_eq!(written, format!("|{SIZE}|1|"), "the bytes of the file, and one retry");
    let text = fs::read_to_string(events.path()).expect("a file");
    let retry = text.lines().find(|line| line.contains("\"retry\"")).expect("an event");
    let retry: serde_json::Value = serde_json::from_str(retry).expect("JSON");
    assert_eq!((&retry["offset"], &retry["code"]), (&CUT.into(), &"truncated".into()), "{retry}");
    let done = text.lines().find(|line| line.contains("\"done\"")).expect("an event");
    let done: serde_json::Value = serde_json::from_str(done).expect("JSON");
    assert_eq!((&done["octets"], &done["retries"]), (&SIZE.into(), &1.into()), "{done}");
}

/// Returns `true` if this mask of the process in /proc has the signal.
fn has_signal(child: &Child, mask: &str, number: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix(mask)?.strip_prefix(":\t")).expect("a mask");
    u64::from_str_radix(line, 16).expect("a number") >> (number - 1) & 1 == 1
}

#[test]
fn ignored_hangup_does_not_end_the_run() {
    let server = http_server(|_| HttpResponse::new(200).body("object").drip(40, Duration::from_millis(200)));
    let script = "trap '' HUP; \"$F\" \"$1\" & sleep 0.6; kill -HUP $!; wait $!";
    assert_eq!(run_shell(script, [server.url("/o")]).assert_exit(0).stdout_text(), "object");
}

/// The transfer goes on until both signals were sent.
#[test]
fn signals_that_were_ignored_at_the_start_do_not_end_the_run() {
    let is_sent = Arc::new(AtomicBool::new(false));
    let server = http_server({
        let is_sent = is_sent.clone();
        move |_| {
            wait_until(Duration::from_secs(20), || is_sent.load(Ordering::Relaxed));
            HttpResponse::new(200).body("object")
        }
    });
    let mut command = Command::new("sh");
    isolate_environment(&mut command);
    command.args(["-c", "trap '' INT TERM; exec \"$0\" \"$1\"", BINARY, &server.url("/o")]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    assert!(wait_until(Duration::from_secs(10), || !server.requests().is_empty()), "no request");
    ["INT", "TERM"].into_iter().for_each(|name| send_signal(&child, name));
    is_sent.store(true, Ordering::Relaxed);
    assert_eq!(wait_for_exit(child).assert_exit(0).stdout_text(), "object");
}

#[test]
fn signal_during_retry_delay_keeps_part_file() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let target = new_target();
        let server =
            http_server_first_then(truncated_reply, file_handler(first_version(), strong_etag_headers()));
        let (path, url) = (target.path(), server.url("/o"));
        let child = spawn_fetch_url(["--retry-delay", "20", "-o", path.to_str().expect("UTF-8"), &url]);
        let part = part_path(&path);
        let is_written = || fs::metadata(&part).is_ok_and(|metadata| metadata.len() == CUT as u64);
        assert!(
            wait_until(Duration::from_secs(10), is_written),
            "the bytes are not in the .part file during the retry delay"
        );
        let is_handled = || has_signal(&child, "SigCgt", number);
        assert!(wait_until(Duration::from_secs(10), is_handled), "{name} is not handled");
        send_signal(&child, name);
        let signalled = Instant::now();
        let result = wait_for_exit(child);
        assert_eq!(result.signal, Some(number), "{result:?}");
        assert!(signalled.elapsed() < Duration::from_secs(1), "{:?}", signalled.elapsed());
        assert!(target.is_untouched().expect("a file"));
        assert!(fs::read(&part).expect("a .part") == first_version()[..CUT]);
        assert!(part_metadata_path(&path).exists(), "no .part.json");
        run_to_file(&target, "-C -", &url).assert_exit(0);
        assert_complete(&target, &first_version(), name);
        assert_eq!(request_ranges(&server), ["-".to_owned(), format!("bytes={}-", CUT - OVERLAP)]);
    }
}

/// A body that is cut before its first byte does not make a request without validator, or a POST, safe to repeat.
#[test]
fn body_cut_before_its_first_byte_is_not_requested_again_without_validator() {
    for options in ["", "-d x", "-X PUT -d x"] {
        let server =
            HttpServer::start(|_: &HttpRequest| HttpResponse::new(200).body(vec![1; 100]).cut_body_at(0))
                .expect("a server");
        let result = run_to_pipe(&format!("{options} --retry 3 --retry-delay 0"), &server.url("/"));
        result.assert_exit(18);
        assert_eq!(server.requests().len(), 1, "{options}");
    }
}
