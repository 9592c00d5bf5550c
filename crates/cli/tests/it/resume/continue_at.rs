//! `--continue-at` (`-C -`, `-C OFFSET`) and `--range` (`-r`): the file is correct for every server response and for
//! any content of `.part` and `.fetch-url.json` (docs/spec/faults.md, rows 103 to 108, and rules N4 and N5).

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::{
    OVERLAP, RunResult, http_server, http_server_first_then, part_metadata_path, part_path, run_fetch_url,
    strong_etag_headers, temp_dir,
};
use fetch_url_tests::{
    FileHeaders, HttpRequest, HttpResponse, HttpServer, OldFile, RangeSupport, Target, file_handler,
    http_date, pattern_vec,
};

const SIZE: usize = 300_000;
const CUT: usize = 200_000;

/// The first version of the file. The second version differs from it in every byte.
fn first_version() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn second_version() -> Vec<u8> {
    pattern_vec(0, SIZE).iter().map(|byte| !byte).collect()
}

fn file_options(etag: &str, ranges: RangeSupport) -> FileHeaders {
    FileHeaders { etag: Some(etag.to_owned()), last_modified: None, ranges }
}

fn reply_with_etag() -> HttpResponse {
    HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes")
}

/// The first reply of most tests: a strong entity tag and a body that is truncated after `CUT` bytes.
fn truncated_reply(_: &HttpRequest) -> HttpResponse {
    reply_with_etag().body(first_version()).cut_body_at(CUT as u64)
}

/// Runs `fetch-url -C -`.
fn run_continue(target: &Path, url: &str) -> RunResult {
    let output = target.to_str().expect("a path in UTF-8");
    run_fetch_url(["--read-timeout", "1.5", "-C", "-", "-o", output, url])
}

/// Returns the Range field of each request, or `-` if it has none.
fn request_ranges(server: &HttpServer) -> Vec<String> {
    let range = |request: &HttpRequest| request.header_text("range").unwrap_or("-").to_owned();
    server.requests().iter().map(range).collect()
}

#[track_caller]
/// Panics if the target differs from `content` or if a temporary file remains.
fn assert_complete(target: &Target, content: &[u8]) {
    assert!(target.content().expect("a file").as_deref() == Some(content), "the content differs");
    assert_eq!(target.leftovers().expect("a directory"), Vec::<std::path::PathBuf>::new());
}

/// Runs fetch-url twice: the first run is interrupted, `between` changes the files, and the second run must result in
/// `content`. Returns the Range field of each request.
#[track_caller]
fn two_runs(
    first: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
    between: impl FnOnce(&Path),
    then: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
    content: &[u8],
) -> Vec<String> {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let server = http_server_first_then(first, then);
    let url = server.url("/object");
    let result = run_continue(&target.path(), &url);
    assert!([18, 28].contains(&result.exit), "{result:?}");
    assert!(target.is_untouched().expect("a file"));
    between(&target.path());
    run_continue(&target.path(), &url).assert_exit(0);
    assert_complete(&target, content);
    request_ranges(&server)
}

#[test]
fn continue_requests_only_the_missing_bytes() {
    let faults: [fn(&HttpRequest) -> HttpResponse; 3] = [
        truncated_reply,
        |r| truncated_reply(r).then_reset(),
        |r| truncated_reply(r).then_stall(Duration::from_secs(12)),
    ];
    for fault in faults {
        let part_size = std::cell::Cell::new(0);
        let between = |target: &Path| {
            let bytes = fs::read(part_path(target)).expect("a .part");
            assert!(!bytes.is_empty() && first_version().starts_with(&bytes));
            part_size.set(bytes.len());
        };
        let ranges =
            two_runs(fault, between, file_handler(first_version(), strong_etag_headers()), &first_version());
        assert_eq!(ranges, ["-".to_owned(), format!("bytes={}-", part_size.get() - OVERLAP)]);
    }
}

#[test]
fn continue_sends_if_range_with_strong_etag_or_old_date() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (name, value, condition) in [("ETag", "\"v1\"", "\"v1\""), ("Last-Modified", date, date)] {
        let target = Target::new(OldFile::Absent).expect("a directory");
        let options = FileHeaders {
            etag: (name == "ETag").then(|| value.to_owned()),
            last_modified: (name != "ETag").then(|| value.to_owned()),
            ranges: RangeSupport::Correct,
        };
        let now = http_date(std::time::SystemTime::now());
        let first = move |_: &HttpRequest| {
            HttpResponse::new(200)
                .header("Date", &now)
                .header(name, value)
                .body(first_version())
                .cut_body_at(CUT as u64)
        };
        let server = http_server_first_then(first, file_handler(first_version(), options));
        run_continue(&target.path(), &server.url("/o")).assert_exit(18);
        run_continue(&target.path(), &server.url("/o")).assert_exit(0);
        assert_complete(&target, &first_version());
        let last = server.requests().pop().expect("a request");
        assert_eq!(last.header_text("if-range"), Some(condition), "{name}");
        assert_eq!(last.header_text("range"), Some(format!("bytes={}-", CUT - OVERLAP).as_str()));
    }
}

#[test]
fn continue_restarts_without_strong_validator() {
    let now = http_date(std::time::SystemTime::now());
    let rows: [&[(&'static str, String)]; 4] = [
        &[],
        &[("ETag", "W/\"v1\"".to_owned())],
        // Versions with different weak tags can have the same time.
        &[
            ("ETag", "W/\"v1\"".to_owned()),
            ("Date", now.clone()),
            ("Last-Modified", "Thu, 01 Dec 1994 12:34:56 GMT".to_owned()),
        ],
        // Modified within the last minute: it may change again within the same second.
        &[("Date", now.clone()), ("Last-Modified", now)],
    ];
    for fields in rows {
        let fields = fields.to_vec();
        let first = move |_: &HttpRequest| {
            let reply = HttpResponse::new(200).header("Accept-Ranges", "bytes");
            let reply = fields.iter().fold(reply, |reply, (name, value)| reply.header(name, value));
            reply.body(first_version()).cut_body_at(CUT as u64)
        };
        let ignored = file_handler(second_version(), file_options("\"v2\"", RangeSupport::IfRangeIgnored));
        let ranges = two_runs(first, |_| {}, ignored, &second_version());
        assert_eq!(ranges, ["-", "-"]);
    }
}

#[test]
fn continue_restarts_when_etag_changed() {
    for how in [
        RangeSupport::Correct,
        RangeSupport::IfRangeIgnored,
        RangeSupport::Ignored,
        RangeSupport::WrongOffset,
    ] {
        let changed = file_handler(second_version(), file_options("\"v2\"", how));
        let ranges = two_runs(truncated_reply, |_| {}, changed, &second_version());
        assert_eq!(ranges[..2], ["-".to_owned(), format!("bytes={}-", CUT - OVERLAP)], "{how:?}");
    }
    let shorter =
        file_handler(second_version()[..1000].to_vec(), file_options("\"v2\"", RangeSupport::IfRangeIgnored));
    two_runs(truncated_reply, |_| {}, shorter, &second_version()[..1000]);
}

#[test]
fn continue_restarts_when_server_ignores_or_shifts_ranges() {
    for how in [RangeSupport::Ignored, RangeSupport::WrongOffset] {
        two_runs(
            truncated_reply,
            |_| {},
            file_handler(first_version(), file_options("\"v1\"", how)),
            &first_version(),
        );
    }
}

/// 206 responses that may belong to another version or another range; the next request gets the complete second
/// version.
#[test]
fn continue_rejects_206_of_another_version_or_range() {
    let start = CUT - OVERLAP;
    let total = SIZE.to_string();
    let rows: [&[(&'static str, String)]; 8] = [
        &[("Content-Range", format!("bytes {start}-{}/{total}", SIZE - 1))],
        &[("ETag", "\"v2\"".into()), ("Content-Range", format!("bytes {start}-{}/{total}", SIZE - 1))],
        &[("ETag", "W/\"v1\"".into()), ("Content-Range", format!("bytes {start}-{}/{total}", SIZE - 1))],
        &[("ETag", "\"v1\"".into()), ("Content-Range", format!("bytes {start}-{}/{}", SIZE - 1, SIZE + 7))],
        &[("ETag", "\"v1\"".into())],
        &[("ETag", "\"v1\"".into()), ("Content-Range", "bytes 7".into())],
        &[("ETag", "\"v1\"".into()), ("Content-Range", format!("lines {start}-{}/{total}", SIZE - 1))],
        &[("ETag", "\"v1\"".into()), ("Content-Type", "multipart/byteranges; boundary=x".into())],
    ];
    for fields in rows {
        let row = fields.to_vec();
        let fields = fields.to_vec();
        let then = move |request: &HttpRequest| match request.header_text("range") {
            Some(_) => fields
                .iter()
                .fold(HttpResponse::new(206), |reply, (name, value)| reply.header(name, value))
                .body(&second_version()[start..]),
            None => HttpResponse::new(200).header("ETag", "\"v2\"").body(second_version()),
        };
        println!("{row:?}");
        two_runs(truncated_reply, |_| {}, then, &second_version());
    }
}

/// Sends the complete content without the last chunk, so that the `.part` file is complete but not proven to be.
fn reply_without_last_chunk(_: &HttpRequest) -> HttpResponse {
    let bytes = first_version();
    let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
    reply_with_etag().header("Transfer-Encoding", "chunked").header("Connection", "close").then_send(chunk)
}

#[test]
fn continue_of_a_complete_part_file_requests_only_its_end() {
    let ranges = two_runs(
        reply_without_last_chunk,
        |_| {},
        file_handler(first_version(), strong_etag_headers()),
        &first_version(),
    );
    assert_eq!(
        ranges,
        ["-".to_owned(), format!("bytes={}-", SIZE - OVERLAP)],
        "the last bytes prove that the file is complete"
    );
}

#[test]
fn continue_restarts_after_416_without_proof() {
    let without_content_range =
        file_handler(first_version(), file_options("\"v1\"", RangeSupport::NoContentRangeOn416));
    two_runs(reply_without_last_chunk, |_| {}, without_content_range, &first_version());
    let longer = [second_version(), vec![1; 50]].concat();
    let other = file_handler(longer.clone(), file_options("\"v2\"", RangeSupport::Correct));
    two_runs(reply_without_last_chunk, |_| {}, other, &longer);
    let shorter = second_version()[..1000].to_vec();
    let truncated = file_handler(shorter.clone(), file_options("\"v2\"", RangeSupport::IfRangeIgnored));
    two_runs(reply_without_last_chunk, |_| {}, truncated, &shorter);
}

/// A 416 is a success only if length and validator match (docs/spec/faults.md, row 106).
#[test]
fn continue_restarts_after_416_with_other_etag() {
    let swapped = |request: &HttpRequest| match request.header_text("range") {
        Some(_) => {
            HttpResponse::new(416).header("ETag", "\"v2\"").header("Content-Range", format!("bytes */{SIZE}"))
        }
        None => HttpResponse::new(200).header("ETag", "\"v2\"").body(second_version()),
    };
    two_runs(reply_without_last_chunk, |_| {}, swapped, &second_version());
}

fn flip_bit(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("a .part");
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("a .part");
}

#[test]
fn continue_restarts_when_part_file_was_changed() {
    let serve_file = || file_handler(first_version(), strong_etag_headers());
    for at in [CUT - 1, CUT - 100, CUT - 65_536] {
        let ranges = two_runs(
            truncated_reply,
            |target| flip_bit(&part_path(target), at),
            serve_file(),
            &first_version(),
        );
        assert_eq!(ranges, ["-", "-"], "byte {at}");
    }
    let shorten = |target: &Path| fs::write(part_path(target), &first_version()[..CUT - 1]).expect("a .part");
    assert_eq!(two_runs(truncated_reply, shorten, serve_file(), &first_version()), ["-", "-"]);
    let empty = |target: &Path| fs::write(part_path(target), "").expect("a .part");
    assert_eq!(two_runs(truncated_reply, empty, serve_file(), &first_version()), ["-", "-"]);
    let remove_part = |target: &Path| fs::remove_file(part_path(target)).expect("a .part");
    assert_eq!(two_runs(truncated_reply, remove_part, serve_file(), &first_version()), ["-", "-"]);
}

#[test]
fn continue_truncates_part_file_to_recorded_length() {
    let lengthen = |target: &Path| {
        let longer = [fs::read(part_path(target)).expect("a .part"), b"garbage".repeat(100)].concat();
        fs::write(part_path(target), longer).expect("a .part");
    };
    let ranges = two_runs(
        truncated_reply,
        lengthen,
        file_handler(first_version(), strong_etag_headers()),
        &first_version(),
    );
    assert_eq!(ranges, ["-".to_owned(), format!("bytes={}-", CUT - OVERLAP)]);
}

#[test]
fn continue_restarts_when_metadata_does_not_match() {
    let with_field = |name: &'static str, value: serde_json::Value| {
        move |target: &Path| {
            let text = fs::read(part_metadata_path(target)).expect("metadata");
            let mut metadata: serde_json::Value = serde_json::from_slice(&text).expect("metadata in JSON");
            assert!(metadata.get(name).is_some(), "no {name} in {metadata}");
            metadata[name] = value;
            fs::write(part_metadata_path(target), metadata.to_string()).expect("metadata");
        }
    };
    let serve_file = || file_handler(first_version(), strong_etag_headers());
    for between in [
        with_field("url", "http://127.0.0.1:1/other".into()),
        with_field("url", serde_json::Value::Null),
        with_field("octets", serde_json::json!(-1)),
        with_field("octets", serde_json::json!(u64::MAX)),
        with_field("octets", serde_json::json!(1.5)),
        with_field("octets", serde_json::json!(CUT - 1)),
        with_field("octets", serde_json::json!(0)),
        with_field("validator", "nonsense".into()),
        with_field("validator", serde_json::Value::Null),
    ] {
        assert_eq!(two_runs(truncated_reply, between, serve_file(), &first_version()), ["-", "-"]);
    }
    // The entity tag differs from that of the server, so If-Range fails.
    two_runs(truncated_reply, with_field("validator", "etag \"v9\"".into()), serve_file(), &first_version());
}

/// For any content of the metadata, the same command results in the same file (docs/spec/faults.md, rule N5).
#[test]
fn continue_ignores_validator_with_control_characters() {
    for evil in ["etag \"v1\"\r\nX-Evil: 1", "etag \"\0\"", "modified \n"] {
        let between = |target: &Path| {
            let text = fs::read(part_metadata_path(target)).expect("metadata");
            let mut metadata: serde_json::Value = serde_json::from_slice(&text).expect("metadata in JSON");
            metadata["validator"] = evil.into();
            fs::write(part_metadata_path(target), metadata.to_string()).expect("metadata");
        };
        two_runs(
            truncated_reply,
            between,
            file_handler(first_version(), strong_etag_headers()),
            &first_version(),
        );
    }
}

#[test]
fn continue_restarts_when_metadata_is_garbage() {
    for garbage in [&b""[..], b"{", b"\0\0\0\0", b"[]", b"null", b"{\"url\":7}", &[0xff; 100]] {
        let between = |target: &Path| fs::write(part_metadata_path(target), garbage).expect("metadata");
        let ranges = two_runs(
            truncated_reply,
            between,
            file_handler(first_version(), strong_etag_headers()),
            &first_version(),
        );
        assert_eq!(ranges, ["-", "-"]);
    }
    let between = |target: &Path| fs::remove_file(part_metadata_path(target)).expect("metadata");
    assert_eq!(
        two_runs(
            truncated_reply,
            between,
            file_handler(first_version(), strong_etag_headers()),
            &first_version()
        ),
        ["-", "-"]
    );
    let deep = |target: &Path| fs::write(part_metadata_path(target), "[".repeat(100_000)).expect("metadata");
    two_runs(truncated_reply, deep, file_handler(first_version(), strong_etag_headers()), &first_version());
}

#[test]
fn repeated_interruptions_transfer_only_the_overlap_twice() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let (content, step) = (first_version(), 70_000);
    let serve_file = file_handler(content.clone(), strong_etag_headers());
    let server = http_server(move |request| serve_file(request).cut_body_at(step));
    let runs = (0..10).map(|_| run_continue(&target.path(), &server.url("/o")).exit).collect::<Vec<_>>();
    assert_eq!(runs[..5], [18, 18, 18, 18, 0]);
    assert_complete(&target, &content);
    assert_eq!(
        request_ranges(&server)[..5],
        ["-", "bytes=69936-", "bytes=139872-", "bytes=209808-", "bytes=279744-"]
    );
}

#[test]
fn without_continue_the_part_file_is_discarded() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let server =
        http_server_first_then(truncated_reply, file_handler(first_version(), strong_etag_headers()));
    run_continue(&target.path(), &server.url("/o")).assert_exit(18);
    run_fetch_url(["-o".as_ref(), target.path().as_os_str(), server.url("/o").as_ref()]).assert_exit(0);
    assert_complete(&target, &first_version());
    assert_eq!(request_ranges(&server), ["-", "-"]);
}

#[test]
fn continue_has_a_long_option() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let server =
        http_server_first_then(truncated_reply, file_handler(first_version(), strong_etag_headers()));
    let output = target.path();
    run_continue(&output, &server.url("/o")).assert_exit(18);
    run_fetch_url(["--continue".as_ref(), "-o".as_ref(), output.as_os_str(), server.url("/o").as_ref()])
        .assert_exit(0);
    assert_complete(&target, &first_version());
    assert_eq!(request_ranges(&server)[1], format!("bytes={}-", CUT - OVERLAP));
}

#[test]
fn continue_at_offset_appends_to_the_file() {
    let server = http_server(file_handler(first_version(), strong_etag_headers()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), first_version()).expect("a file");
    let local = format!("file://{}", file.path().display());
    for url in [server.url("/o"), local] {
        let result = run_fetch_url(["-C", "299000", &url]);
        result.assert_exit(0);
        assert!(result.stdout == first_version()[299_000..], "{url}: {} bytes", result.stdout.len());
        let target = Target::new(OldFile::Absent).expect("a directory");
        fs::write(target.path(), &first_version()[..1000]).expect("a file");
        run_fetch_url(["-C", "1000", "-o", target.path().to_str().expect("UTF-8"), &url]).assert_exit(0);
        assert_complete(&target, &first_version());
    }
    assert_eq!(request_ranges(&server), ["bytes=299000-", "bytes=1000-"]);
}

/// The first bytes are those of another file, which `-C -` of the next run could not know.
#[test]
fn interrupted_continue_at_offset_is_not_resumed() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let (path, junk) = (target.path(), vec![b'j'; 1000]);
    fs::write(&path, &junk).expect("a file");
    let serve_file = || file_handler(first_version(), strong_etag_headers());
    let server =
        http_server_first_then(move |request| serve_file()(request).cut_body_at(100_000), serve_file());
    let output = path.to_str().expect("UTF-8");
    run_fetch_url(["-C", "1000", "--retry", "0", "-o", output, &server.url("/o")]).assert_exit(18);
    assert_eq!(fs::read(&path).expect("a file"), junk);
    run_continue(&path, &server.url("/o")).assert_exit(0);
    assert_complete(&target, &first_version());
}

#[test]
fn impossible_offset_is_refused_and_keeps_the_file() {
    let content = first_version();
    let server = http_server(file_handler(content.clone(), strong_etag_headers()));
    let target = Target::new(OldFile::Present).expect("a directory");
    let path = target.path();
    let output = path.to_str().expect("UTF-8");
    // The output file is shorter than the offset; then the offset is beyond the end of the file on the server.
    let result = run_fetch_url(["-C", "5000", "-o", output, &server.url("/o")]);
    assert!([2, 23, 33].contains(&result.exit), "{result:?}");
    assert!(target.is_untouched().expect("a file") && target.leftovers().expect("a directory").is_empty());
    let result = run_fetch_url(["-C", "400000", &server.url("/o")]);
    assert!(result.exit == 33 && result.stdout.is_empty(), "{result:?}");
    // A server without ranges: the complete file or an error, but the complete file is never appended to the old part.
    let plain = http_server(file_handler(content.clone(), file_options("\"v1\"", RangeSupport::Ignored)));
    let result = run_fetch_url(["-C", "10", "-o", output, &plain.url("/o")]);
    let now = target.content().expect("a file").expect("a file");
    assert!(
        result.exit == 33 && now == OldFile::CONTENT || result.exit == 0 && now == content,
        "{}",
        result.exit
    );
}

#[test]
fn range_selects_bytes_in_every_form() {
    let content = first_version();
    let server = http_server(file_handler(content.clone(), strong_etag_headers()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), &content).expect("a file");
    let local = format!("file://{}", file.path().display());
    for (range, expected) in [
        ("0-99", 0..100),
        ("100-100", 100..101),
        ("299000-", 299_000..SIZE),
        ("299999-", 299_999..SIZE),
        ("-100", SIZE - 100..SIZE),
        ("-400000", 0..SIZE),
        ("299990-999999", 299_990..SIZE),
    ] {
        for url in [&server.url("/o"), &local] {
            let result = run_fetch_url(["-r", range, url]);
            assert!(
                result.exit == 0 && result.stdout == content[expected.clone()],
                "{range} of {url}: {}",
                result.stderr
            );
            let target = Target::new(OldFile::Present).expect("a directory");
            run_fetch_url(["-r", range, "-o", target.path().to_str().expect("UTF-8"), url]).assert_exit(0);
            assert_complete(&target, &content[expected.clone()]);
        }
    }
    assert_eq!(request_ranges(&server)[0], "bytes=0-99");
    assert_eq!(request_ranges(&server)[8], "bytes=-100");
}

#[test]
fn unsatisfiable_range_exits_with_33_and_invalid_range_with_2() {
    let server = http_server(file_handler(first_version(), strong_etag_headers()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), first_version()).expect("a file");
    let local = format!("file://{}", file.path().display());
    for range in ["300000-", "400000-400001", "-0"] {
        for url in [&server.url("/o"), &local] {
            let target = Target::new(OldFile::Present).expect("a directory");
            let result = run_fetch_url(["-r", range, "-o", target.path().to_str().expect("UTF-8"), url]);
            assert_eq!(result.exit, 33, "{range} of {url}: {}", result.stderr);
            assert!(target.is_untouched().expect("a file"), "{range} of {url}");
            assert!(target.leftovers().expect("a directory").is_empty(), "{range} of {url}");
        }
    }
    for range in ["9-0", "x", "-", "1-2-3", "0-1,4-5", ""] {
        run_fetch_url(["-r", range, &server.url("/o")]).assert_exit(2);
    }
}

/// Positions consist of digits only (RFC 9110 §14.1.2).
#[test]
fn numbers_with_sign_exit_with_2() {
    let server = http_server(file_handler(first_version(), strong_etag_headers()));
    for option in [["-r", "+1-2"], ["-r", "1-+2"], ["-r", "-+2"], ["-C", "+5"], ["--max-filesize", "+500k"]] {
        run_fetch_url([option[0], option[1], &server.url("/o")]).assert_exit(2);
    }
}

#[test]
fn response_with_another_range_is_rejected() {
    for how in [RangeSupport::Ignored, RangeSupport::WrongOffset] {
        let server = http_server(file_handler(first_version(), file_options("\"v1\"", how)));
        for (range, right) in [("5-9", 5..10), ("0-9", 0..10), ("299990-", 299_990..SIZE)] {
            let result = run_fetch_url(["-r", range, &server.url("/o")]);
            let is_right = result.exit == 0 && result.stdout == first_version()[right];
            let is_refused = [33, 8].contains(&result.exit) && result.stdout.is_empty();
            assert!(
                is_right || is_refused,
                "{how:?} {range}: {} and {} bytes",
                result.exit,
                result.stdout.len()
            );
        }
    }
}

#[test]
fn file_that_appears_during_the_download_is_kept_and_the_part_is_completed_later() {
    let target = Target::new(OldFile::Absent).expect("a directory");
    let appearing = target.path();
    let first = move |_: &HttpRequest| {
        fs::write(&appearing, "of another process").expect("a file");
        reply_with_etag().body(first_version())
    };
    let server = http_server_first_then(first, file_handler(first_version(), strong_etag_headers()));
    let url = server.url("/object");
    run_continue(&target.path(), &url).assert_exit(2);
    assert_eq!(target.content().expect("a file").as_deref(), Some(b"of another process".as_slice()));
    assert!(fs::read(part_path(&target.path())).expect("a .part") == first_version());
    fs::rename(target.path(), target.dir().join("moved")).expect("moved");
    run_continue(&target.path(), &url).assert_exit(0);
    assert!(target.content().expect("a file").as_deref() == Some(first_version().as_slice()));
    assert!(!part_path(&target.path()).exists() && !part_metadata_path(&target.path()).exists());
    assert_eq!(request_ranges(&server), ["-".to_owned(), format!("bytes={}-", SIZE - OVERLAP)]);
}

#[test]
fn continue_works_for_local_files() {
    let directory = temp_dir();
    let source = directory.path().join("source");
    let url = format!("file://{}", source.display());
    let target = Target::new(OldFile::Present).expect("a directory");
    for content in [first_version(), second_version(), vec![]] {
        fs::write(&source, &content).expect("a file");
        run_continue(&target.path(), &url).assert_exit(0);
        assert_complete(&target, &content);
    }
}
