//! `-C -` when the output file exists and fetch-url has no partial download: finished files, and files of other programs.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use crate::support::{
    RunResult, entry_names, http_server, part_path, read_text_file, run_fetch_url_in, strong_etag_headers,
    temp_dir,
};
use fetch_url_tests::{
    FileHeaders, FtpConfig, FtpServer, HttpResponse, HttpServer, RangeSupport, file_handler, pattern_vec,
};

const SIZE: usize = 300_000;

/// The checksum of the byte 2 and 300,000 zeros.
const CHECKSUM: &str = "sha256:05c7178ca1254c30e907360c243715681c34203531eb53184dfa8224d5d6d293";

fn object() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// Runs `fetch-url -C - -o file`, and checks that the file is the object and that no temporary file remains.
fn run_with_existing(url: &str, existing: &[u8], options: &[&str]) -> RunResult {
    let dir = temp_dir();
    fs::write(dir.path().join("file"), existing).expect("a file");
    let result = run_fetch_url_in(dir.path(), [&["-C", "-", "-o", "file", url], options].concat());
    result.assert_exit(0);
    assert!(fs::read(dir.path().join("file")).expect("a file") == object(), "the content differs");
    assert_eq!(entry_names(dir.path()), ["file"]);
    result
}

fn ranges(server: &HttpServer) -> Vec<String> {
    server.requests().iter().map(|request| request.header_text("range").unwrap_or("-").to_owned()).collect()
}

#[test]
fn complete_file_is_not_fetched_again() {
    let server = http_server(file_handler(object(), strong_etag_headers()));
    let result = run_with_existing(&server.url("/object"), &object(), &[]);
    result.assert_stderr_contains("file is already complete: 300000 bytes");
    assert_eq!(ranges(&server), [format!("bytes={}-{}", SIZE - 64, SIZE - 1)]);
    assert_eq!(run_with_existing(&server.url("/object"), &object(), &["-s"]).stderr, "");
}

#[test]
fn file_shorter_than_the_compared_bytes_is_complete() {
    let server = http_server(file_handler(b"short".to_vec(), strong_etag_headers()));
    let dir = temp_dir();
    fs::write(dir.path().join("file"), "short").expect("a file");
    run_fetch_url_in(dir.path(), ["-C", "-", "-o", "file", &server.url("/")]).assert_exit(0);
    assert_eq!(
        (read_text_file(dir.path(), "file").as_str(), ranges(&server)),
        ("short", vec!["bytes=0-4".into()])
    );
}

/// A request for the rest begins after byte 0.
#[test]
fn small_file_that_differs_in_byte_0_is_fetched_from_the_start() {
    for kept in [1, 63, 64, 65, 1000, 64 * 1024] {
        let server = http_server(file_handler(object(), strong_etag_headers()));
        let mut existing = object()[..kept].to_vec();
        existing[0] ^= 1;
        run_with_existing(&server.url("/object"), &existing, &[])
            .assert_stderr_contains("fetched from the start");
    }
}

#[test]
fn response_without_content_does_not_replace_a_file_that_was_compared() {
    for status in [204, 205] {
        let server = http_server(move |request| match request.header_text("range") {
            Some(_) => {
                HttpResponse::new(206).header("Content-Range", "bytes 936-999/1000").body(vec![b'B'; 64])
            }
            None => HttpResponse::new(status),
        });
        let dir = temp_dir();
        fs::write(dir.path().join("file"), vec![b'A'; 1000]).expect("a file");
        run_fetch_url_in(dir.path(), ["-C", "-", "-o", "file", &server.url("/")])
            .assert_exit(33)
            .assert_stderr_contains("file is kept");
        assert_eq!(read_text_file(dir.path(), "file"), "A".repeat(1000));
        assert_eq!(entry_names(dir.path()), ["file"]);
    }
}

/// With a condition or a journal, the file is not compared.
#[test]
fn response_without_content_does_not_replace_a_file_that_was_not_compared() {
    let server = http_server(|_| HttpResponse::new(204));
    let (dir, url) = (temp_dir(), server.url("/file"));
    for (name, text) in
        [("tag", "\"v\"\n".to_owned()), ("list", format!("{url}\n")), ("file", "mine".to_owned())]
    {
        fs::write(dir.path().join(name), text).expect("a file");
    }
    for options in [
        &["-z", "file", "-o", "file", &*url][..],
        &["--etag-compare", "tag", "-o", "file", &url],
        &["-H", "If-None-Match: \"v\"", "-o", "file", &url],
        &["--input-file", "list"],
    ] {
        run_fetch_url_in(dir.path(), [&["-C", "-"], options].concat()).assert_exit(33);
        assert_eq!(read_text_file(dir.path(), "file"), "mine", "{options:?}");
    }
}

#[test]
fn start_of_the_object_is_kept_after_64_kib_are_compared() {
    for kept in [1, 63, 64, 64 * 1024 + 1, 200_000] {
        let server = http_server(file_handler(object(), strong_etag_headers()));
        let result = run_with_existing(&server.url("/object"), &object()[..kept], &[]);
        assert_eq!(result.stderr, "", "{kept}");
        let (first, compared) = (kept.saturating_sub(64), kept.min(64 * 1024).min(kept.max(2) - 1));
        let rest = if kept == 1 { 1 } else { kept - compared };
        assert_eq!(
            ranges(&server),
            [format!("bytes={first}-{}", kept - 1), format!("bytes={rest}-")],
            "{kept}"
        );
    }
}

#[test]
fn file_that_differs_is_fetched_from_the_start_with_a_note() {
    let mut other_end = object();
    other_end[SIZE - 1] ^= 1;
    let longer = [object(), b"more".to_vec()].concat();
    for existing in [other_end, longer, vec![0; 1000]] {
        let server = http_server(file_handler(object(), strong_etag_headers()));
        run_with_existing(&server.url("/object"), &existing, &[])
            .assert_stderr_contains("fetched from the start");
        assert_eq!(ranges(&server).last().map(String::as_str), Some("-"));
    }
}

/// The last 64 bytes agree, but not all of the last 64 KiB.
#[test]
fn partial_file_with_a_difference_in_its_last_64_kib_is_replaced() {
    let mut existing = object()[..200_000].to_vec();
    existing[150_000] ^= 1;
    let server = http_server(file_handler(object(), strong_etag_headers()));
    run_with_existing(&server.url("/object"), &existing, &[]);
    assert_eq!(ranges(&server).last().map(String::as_str), Some("-"));
}

#[test]
fn server_without_ranges_or_versions_sends_the_whole_object() {
    let ignored = FileHeaders { ranges: RangeSupport::Ignored, ..strong_etag_headers() };
    let unversioned = FileHeaders { etag: None, last_modified: None, ranges: RangeSupport::Correct };
    let without_ranges = "file is fetched from the start: the server does not support ranges (200 OK)\n";
    for (headers, note) in [(ignored, without_ranges), (unversioned, "fetched from the start")] {
        let server = http_server(file_handler(object(), headers));
        run_with_existing(&server.url("/object"), &object()[..1000], &[]).assert_stderr_contains(note);
    }
}

/// The server replies 350 to REST and sends the file from its start: for the end of a file of the same size it sends
/// more bytes than requested.
#[test]
fn server_that_ignores_rest_sends_the_whole_object() {
    let longer = [object(), b"more".to_vec()].concat();
    for existing in [object(), vec![0; SIZE], longer, object()[..1000].to_vec()] {
        let config = FtpConfig::new().file("/object", object()).modified("/object", "20200102030405");
        let server = FtpServer::start(config.answer("REST", "350 Ignored.\r\n")).expect("a server");
        let result = run_with_existing(&server.url("/object"), &existing, &[]);
        result.assert_stderr_contains("file is fetched from the start: ");
        assert_eq!(server.received_text().iter().filter(|line| line.starts_with("RETR")).count(), 2);
    }
}

#[test]
fn missing_object_leaves_the_file_unchanged() {
    let server = http_server(|_| HttpResponse::new(404));
    let dir = temp_dir();
    fs::write(dir.path().join("file"), "mine").expect("a file");
    run_fetch_url_in(dir.path(), ["-C", "-", "-o", "file", &server.url("/")]).assert_exit(78);
    assert_eq!((read_text_file(dir.path(), "file").as_str(), entry_names(dir.path()).len()), ("mine", 1));
}

/// The checksum of a complete file is that of the object: the file is fetched again, and replaced if the checksum agrees.
#[test]
fn checksum_is_not_skipped_for_a_complete_file() {
    let server = http_server(file_handler(object(), strong_etag_headers()));
    let dir = temp_dir();
    fs::write(dir.path().join("file"), object()).expect("a file");
    let wrong = format!("md5:{}", "0".repeat(32));
    let arguments = ["-C", "-", "--checksum", &wrong, "-o", "file", &server.url("/")];
    run_fetch_url_in(dir.path(), arguments).assert_exit(91);
    assert!(fs::read(dir.path().join("file")).expect("a file") == object());
}

/// Two versions of an archive that is padded with zeros: equal sizes and ends.
fn padded(first: u8) -> Vec<u8> {
    [vec![first], vec![0; 100_000]].concat()
}

/// The server says that the object has changed, which counts more than an equal end.
#[test]
fn object_that_has_changed_by_a_condition_is_fetched_from_the_start() {
    let headers = FileHeaders {
        etag: Some("\"v2\"".to_owned()),
        last_modified: Some("Fri, 02 Jan 2015 00:00:00 GMT".to_owned()),
        ..FileHeaders::default()
    };
    let server = http_server(file_handler(padded(2), headers));
    let ftp = FtpConfig::new().file("/o", padded(2)).modified("/o", "20150102000000");
    let ftp = FtpServer::start(ftp).expect("a server");
    for (options, url) in [
        ("--etag-save tag --etag-compare tag", server.url("/o")),
        ("-z 2015-01-01", server.url("/o")),
        ("-R -z file", server.url("/o")),
        ("-R -z file", ftp.url("/o")),
    ] {
        // An old version of the same size, and one of which the object seems to be the continuation.
        for old in [padded(1), padded(1)[..70_000].to_vec()] {
            let dir = temp_dir();
            fs::write(dir.path().join("file"), old).expect("a file");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_420_000_000);
            let file = fs::File::options().write(true).open(dir.path().join("file")).expect("a file");
            file.set_modified(time).expect("a time");
            fs::write(dir.path().join("tag"), "\"v1\"\n").expect("a file");
            let arguments = ["-C", "-", "-o", "file", &url].into_iter().chain(options.split(' '));
            run_fetch_url_in(dir.path(), arguments).assert_exit(0);
            assert!(fs::read(dir.path().join("file")).expect("a file") == padded(2), "{options} {url}");
            let tag = if options.contains("etag") { "\"v2\"\n" } else { "\"v1\"\n" };
            assert_eq!(read_text_file(dir.path(), "tag"), tag);
        }
    }
}

/// An equal end does not show that the bytes before it belong to the version that the ETag names.
#[test]
fn etag_is_not_saved_for_a_file_of_which_only_the_end_was_compared() {
    let server = http_server(file_handler(padded(2), strong_etag_headers()));
    // The tag of a file that was kept as it is still holds; that of a file that was continued does not.
    for (old, tag) in
        [(padded(1), "\"old\"\n"), (padded(1)[..70_000].to_vec(), ""), (b"other".to_vec(), "\"v1\"\n")]
    {
        let dir = temp_dir();
        fs::write(dir.path().join("file"), old).expect("a file");
        fs::write(dir.path().join("tag"), "\"old\"\n").expect("a file");
        let options = ["-C", "-", "--etag-save", "tag", "-o", "file", &server.url("/")];
        run_fetch_url_in(dir.path(), options).assert_exit(0);
        assert_eq!(read_text_file(dir.path(), "tag"), tag);
    }
}

/// A later run knows that the partial download begins with bytes of an earlier file.
#[test]
fn partial_download_that_continues_a_file_keeps_neither_the_etag_nor_a_wrong_checksum() {
    let whole = [vec![2], vec![0; 300_000]].concat();
    for (options, exit) in [("--etag-save tag", 0), ("--checksum CHECKSUM", 0)] {
        let (count, handler) = (AtomicUsize::new(0), file_handler(whole.clone(), strong_etag_headers()));
        let server = http_server(move |request| {
            // The request for the end of the file, and that for the rest.
            let reply = handler(request);
            if count.fetch_add(1, Ordering::Relaxed) == 1 { reply.cut_body_at(150_000) } else { reply }
        });
        let dir = temp_dir();
        fs::write(dir.path().join("file"), &padded(1)[..70_000]).expect("a file");
        fs::write(dir.path().join("tag"), "\"old\"\n").expect("a file");
        let options = options.replace("CHECKSUM", CHECKSUM);
        let url = server.url("/");
        let arguments =
            || ["-C", "-", "--retry", "0", "-o", "file", &url].into_iter().chain(options.split(' '));
        run_fetch_url_in(dir.path(), arguments()).assert_exit(18);
        assert!(part_path(&dir.path().join("file")).exists());
        run_fetch_url_in(dir.path(), arguments()).assert_exit(exit);
        let is_right = fs::read(dir.path().join("file")).expect("a file") == whole;
        match options.starts_with("--checksum") {
            true => assert!(is_right, "the object is fetched from the start"),
            false => assert_eq!((is_right, &*read_text_file(dir.path(), "tag")), (false, "")),
        }
    }
}

/// The digest is that of the whole object, which shows that the file is another version.
#[test]
fn file_is_fetched_from_the_start_if_the_response_has_a_digest() {
    let digest = "sha-256=:WWmu1Lx4mnxcREi/9F5zQtZJlc/G92v5JFpFMBzCBgU=:";
    let handler = file_handler(padded(2), strong_etag_headers());
    let server = http_server(move |request| handler(request).header("Repr-Digest", digest));
    let dir = temp_dir();
    let arguments = ["-C", "-", "--metalink-over-http", "-o", "file", &server.url("/")];
    for old in [padded(1), padded(1)[..70_000].to_vec()] {
        fs::write(dir.path().join("file"), old).expect("a file");
        run_fetch_url_in(dir.path(), arguments).assert_exit(0).assert_stderr_contains("from the start");
        assert!(fs::read(dir.path().join("file")).expect("a file") == padded(2));
    }
    // The file has the digest, so that only its end is requested.
    let requests = server.requests().len();
    run_fetch_url_in(dir.path(), arguments).assert_exit(0).assert_stderr_contains("already complete");
    assert_eq!(server.requests().len(), requests + 1);
}

/// The last bytes of such an object cannot be requested.
#[test]
fn request_that_is_not_a_plain_get_replaces_the_file_with_a_note() {
    let server = http_server(|_| HttpResponse::new(200).body(object()));
    for options in [&["-X", "POST"][..], &["-d", "a=b"], &["-X", "REPORT", "-d", "x"]] {
        let result = run_with_existing(&server.url("/object"), &object()[..1000], options);
        result.assert_stderr_contains("file is fetched from the start: ");
        assert_eq!(
            run_with_existing(&server.url("/object"), &object(), &[options, &["-s"]].concat()).stderr,
            ""
        );
    }
    let dir = temp_dir();
    fs::write(dir.path().join("source"), "new").expect("a file");
    fs::write(dir.path().join("file"), "ne").expect("a file");
    let url = format!("file://{}/source", dir.path().display());
    let result = run_fetch_url_in(dir.path(), ["-C", "-", "-o", "file", &url]);
    result.assert_exit(0).assert_stderr_contains("file is fetched from the start: ");
    assert_eq!(read_text_file(dir.path(), "file"), "new");
}
