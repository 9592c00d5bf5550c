//! `--compressed`: content codings are decoded completely or the download fails, and decompression bombs are aborted
//! (docs/spec/semantics.md §3, "Content coding and index pages"; docs/spec/faults.md, row 82).

use std::fs;
use std::time::{Duration, Instant};

use crate::support::run_measuring_memory;
use crate::support::{
    check_in_parallel, ensure, entry_names, http_server, http_server_first_then, part_path, read_text_file,
    run_fetch_url, run_fetch_url_in, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{
    ContentCoding, HttpResponse, HttpServer, encode, encode_zeros, file_handler, pattern_vec,
};

/// The memory limit of one run in KiB (docs/spec/faults.md, rule N8).
const MEMORY_LIMIT: u64 = 64 * 1024;

/// An object that is larger than every buffer of the program.
fn large_object() -> Vec<u8> {
    pattern_vec(0, 300_000)
}

fn start_server(coding_header: &'static str, body: Vec<u8>) -> HttpServer {
    http_server(move |_| {
        HttpResponse::new(200).header("Content-Encoding", coding_header).body(body.as_slice())
    })
}

#[test]
fn every_coding_is_decoded_only_with_the_option() {
    for coding in ContentCoding::ALL {
        for bytes in [Vec::new(), b"a".to_vec(), large_object()] {
            let body = encode(coding, &bytes).expect("encode body");
            let server = start_server(coding.token(), body.clone());
            let result = run_fetch_url(["--compressed", &server.url("/")]);
            assert!(
                result.assert_exit(0).stdout == bytes,
                "{coding:?} {}: {} bytes",
                bytes.len(),
                result.stdout.len()
            );
            // Without `--compressed`, the body is stored as it was sent.
            let result = run_fetch_url([server.url("/")]);
            assert!(result.assert_exit(0).stdout == body, "{coding:?} as sent");
            let accept_encoding =
                |number: usize| server.requests()[number].header_text("accept-encoding").map(str::to_owned);
            let offered = accept_encoding(0).expect("an Accept-Encoding header");
            for coding_header in ["gzip", "deflate", "br", "zstd"] {
                assert!(
                    offered.split(',').any(|offer| offer.trim() == coding_header),
                    "{coding_header} in {offered}"
                );
            }
            assert!(accept_encoding(1).is_none_or(|text| text == "identity"), "{:?}", accept_encoding(1));
        }
    }
}

/// Chunks of one byte and of seven bytes.
#[test]
fn body_in_small_chunks_is_decoded() {
    let bytes = pattern_vec(0, 3000);
    let cases: Vec<(ContentCoding, usize)> =
        ContentCoding::ALL.into_iter().flat_map(|coding| [(coding, 1), (coding, 7)]).collect();
    check_in_parallel(&cases, 4, |&(coding, piece_size)| {
        let body = encode(coding, &bytes).expect("encode body");
        let pieces: Vec<Vec<u8>> = body.chunks(piece_size).map(<[u8]>::to_vec).collect();
        let server = http_server(move |_| {
            HttpResponse::new(200).header("Content-Encoding", coding.token()).chunked(pieces.clone())
        });
        let result = run_fetch_url(["--compressed", &server.url("/")]);
        ensure(result.exit == 0 && result.stdout == bytes, || {
            format!("{coding:?} by {piece_size}: {}", result.stderr)
        })
    });
}

#[test]
fn identity_and_spellings_of_gzip_are_recognised() {
    let body = encode(ContentCoding::Gzip, b"the object").expect("encode body");
    for (coding_header, body) in [
        ("identity", b"the object".to_vec()),
        ("none", b"the object".to_vec()),
        ("", b"the object".to_vec()),
        ("x-gzip", body.clone()),
        ("GZIP", body.clone()),
        (" gzip ", body),
    ] {
        let result = run_fetch_url(["--compressed", &start_server(coding_header, body).url("/")]);
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "the object"),
            "{coding_header:?}: {}",
            result.stderr
        );
    }
}

/// A truncated encoded body is incomplete, even if its length matches Content-Length.
#[test]
fn truncated_encoded_body_exits_18_and_keeps_the_old_file() {
    let mut failures = Vec::new();
    for coding in ContentCoding::ALL {
        let body = encode(coding, &large_object()).expect("encode body");
        for length in [1, body.len() / 2, body.len() - 1] {
            let server = start_server(coding.token(), body[..length].to_vec());
            let dir = temp_dir();
            fs::write(dir.path().join("target"), "old").expect("write file");
            let result = run_fetch_url_in(dir.path(), ["--compressed", "-o", "target", &server.url("/")]);
            if result.exit != 18 {
                failures.push(format!(
                    "{coding:?} at {length} of {}: {} {}",
                    body.len(),
                    result.exit,
                    result.stderr
                ));
            }
            assert_eq!(read_text_file(dir.path(), "target"), "old");
        }
        // The connection closes in the middle of the body.
        let server = http_server({
            let body = body.clone();
            move |_| {
                let reply = HttpResponse::new(200).header("Content-Encoding", coding.token());
                reply.body(body.as_slice()).cut_body_at(body.len() as u64 / 2)
            }
        });
        run_fetch_url(["--compressed", &server.url("/")]).assert_exit(18);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// An empty body is not valid in any coding, but servers send it for empty objects. All codings are treated the same.
#[test]
fn empty_body_is_treated_the_same_in_every_coding() {
    let exits = ContentCoding::ALL.map(|coding| {
        run_fetch_url(["--compressed", &start_server(coding.token(), Vec::new()).url("/")]).exit
    });
    assert!(exits == [0; 5] || exits == [18; 5], "{exits:?} for {:?}", ContentCoding::ALL);
}

#[test]
fn empty_body_that_ends_with_the_connection_is_truncated_in_every_coding() {
    for coding in ContentCoding::ALL {
        let server = http_server(move |_| {
            HttpResponse::new(200).header("Content-Encoding", coding.token()).until_close(Vec::new())
        });
        let dir = temp_dir();
        fs::write(dir.path().join("target"), "old").expect("write file");
        let result = run_fetch_url_in(dir.path(), ["--compressed", "-o", "target", &server.url("/")]);
        result.assert_exit(18);
        assert_eq!(read_text_file(dir.path(), "target"), "old", "{coding:?}");
    }
}

/// Data after the end of the encoded stream, plain text with a coding header, and damaged data.
#[test]
fn invalid_encoded_body_fails_and_leaves_no_part() {
    for coding in ContentCoding::ALL {
        let good = encode(coding, b"the object").expect("encode body");
        let mut broken = encode(coding, &large_object()).expect("encode body");
        let middle = broken.len() / 2;
        broken[middle..middle + 40].fill(0xff);
        for (case, body) in [
            ("trailing garbage", [good.as_slice(), b"garbage, and more of it"].concat()),
            ("no coding at all", b"plain text, as servers send it now and then".to_vec()),
            ("broken inside", broken),
        ] {
            let dir = temp_dir();
            fs::write(dir.path().join("target"), "old").expect("write file");
            // Brotli and zstd streams without a checksum do not detect damaged data.
            if case == "broken inside" && !matches!(coding, ContentCoding::Gzip | ContentCoding::Deflate) {
                continue;
            }
            let server = start_server(coding.token(), body);
            let result = run_fetch_url_in(dir.path(), ["--compressed", "-o", "target", &server.url("/")]);
            let content = fs::read(dir.path().join("target")).expect("read file");
            assert!(result.exit != 0 && content == b"old", "{coding:?}, {case}: exit {}", result.exit);
            assert!([8, 18].contains(&result.exit), "{coding:?}, {case}: {result:?}");
            assert_eq!(
                entry_names(dir.path()),
                ["target"],
                "{coding:?}, {case}: a part of invalid data was kept"
            );
        }
    }
    // RFC 1952 §2.2: a gzip file may have several members, one after the other.
    let two_members = [
        encode(ContentCoding::Gzip, b"one ").expect("encode body"),
        encode(ContentCoding::Gzip, b"two").expect("encode body"),
    ]
    .concat();
    assert_eq!(
        run_fetch_url(["--compressed", &start_server("gzip", two_members).url("/")])
            .assert_exit(0)
            .stdout_text(),
        "one two"
    );
}

/// Several codings and unknown codings are refused; the encoded bytes are never stored as the object.
#[test]
fn multiple_and_unknown_codings_are_refused() {
    let twice = encode(ContentCoding::Gzip, &encode(ContentCoding::Gzip, b"x").expect("encode body"))
        .expect("encode body");
    for coding_header in
        ["gzip, gzip", "gzip,gzip", "br, gzip", "compress", "x-unknown", "gzip;q=1", "aes128gcm"]
    {
        let dir = temp_dir();
        let result = run_fetch_url_in(
            dir.path(),
            ["--compressed", "-o", "target", &start_server(coding_header, twice.clone()).url("/")],
        );
        assert!(result.exit != 0, "{coding_header}: {result:?}");
        assert_eq!(entry_names(dir.path()), [""; 0], "{coding_header}");
        // Without `--compressed`, the same body is stored as sent.
        let server = start_server(coding_header, twice.clone());
        assert!(run_fetch_url([server.url("/")]).assert_exit(0).stdout == twice, "{coding_header}");
    }
    let two_codings = http_server(|_| {
        let body = encode(ContentCoding::Gzip, b"x").expect("encode body");
        HttpResponse::new(200).header("Content-Encoding", "gzip").header("Content-Encoding", "br").body(body)
    });
    assert_ne!(run_fetch_url(["--compressed", &two_codings.url("/")]).exit, 0);
}

/// `--max-filesize` limits the number of decoded bytes.
#[test]
fn max_filesize_counts_decoded_bytes() {
    let server = start_server("gzip", encode_zeros(ContentCoding::Gzip, 100_000).expect("encode body"));
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["--compressed", "--max-filesize", "99999", "-o", "a", &server.url("/")])
        .assert_exit(63);
    run_fetch_url_in(dir.path(), ["--compressed", "--max-filesize", "100000", "-o", "b", &server.url("/")])
        .assert_exit(0);
    run_fetch_url_in(dir.path(), ["--max-filesize", "99999", "-o", "c", &server.url("/")]).assert_exit(0);
    assert_eq!(entry_names(dir.path()), ["b", "c"]);
}

/// docs/spec/faults.md, row 82: after 16 MiB, a compression ratio of more than 200 aborts the download.
#[test]
fn decompression_bomb_exits_63_with_bounded_memory() {
    let cases = [ContentCoding::Gzip, ContentCoding::Deflate, ContentCoding::Brotli, ContentCoding::Zstd];
    check_in_parallel(&cases, 2, |&coding| {
        let server = start_server(coding.token(), encode_zeros(coding, 64 << 20).expect("encode body"));
        let dir = temp_dir();
        let target = dir.path().join("target");
        let path = target.to_str().expect("valid UTF-8");
        let started = Instant::now();
        let (memory, result) = run_measuring_memory(&["--compressed", "-o", path, &server.url("/")]);
        let elapsed = started.elapsed();
        ensure(result.exit == 63, || format!("{coding:?}: {result:?}"))?;
        ensure(memory > 0 && memory < MEMORY_LIMIT, || format!("{coding:?}: {memory} KiB"))?;
        ensure(elapsed < Duration::from_secs(5), || format!("{coding:?}: {elapsed:?}"))?;
        ensure(!target.exists(), || format!("{coding:?}: the file was kept"))
    });
}

/// Below 16 MiB any compression ratio is accepted.
#[test]
fn highly_compressed_small_object_is_accepted() {
    let server = start_server("gzip", encode_zeros(ContentCoding::Gzip, 8 << 20).expect("encode body"));
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["--compressed", "-o", "target", &server.url("/")]).assert_exit(0);
    let length = fs::metadata(dir.path().join("target")).expect("read file metadata").len();
    assert_eq!(length, 8 << 20);
}

/// An encoded body cannot be resumed: the next run starts at the first byte.
#[test]
fn truncated_encoded_body_is_not_resumed() {
    let bytes = large_object();
    let body = encode(ContentCoding::Gzip, &bytes).expect("encode body");
    let length = body.len() as u64;
    let complete_response = move || {
        HttpResponse::new(200)
            .header("Content-Encoding", "gzip")
            .header("ETag", "\"v\"")
            .body(body.as_slice())
    };
    let first = complete_response.clone();
    let server =
        http_server_first_then(move |_| first().cut_body_at(length / 2), move |_| complete_response());
    let dir = temp_dir();
    let target = dir.path().join("target");
    run_fetch_url_in(dir.path(), ["--compressed", "-o", "target", &server.url("/")]).assert_exit(18);
    assert!(!target.exists() && !part_path(&target).exists(), "{:?}", entry_names(dir.path()));
    run_fetch_url_in(dir.path(), ["--compressed", "-C", "-", "-o", "target", &server.url("/")])
        .assert_exit(0);
    assert!(fs::read(&target).expect("read file") == bytes);
    assert!(
        server.requests().iter().all(|request| request.header("range").is_none()),
        "a Range header was sent for an encoded body"
    );
    assert_eq!(entry_names(dir.path()), ["target"]);
}

/// A plain part is resumed with plain bytes or restarted; encoded bytes are never appended to it.
#[test]
fn plain_part_is_never_joined_with_an_encoded_body() {
    let bytes = large_object();
    let encoded_body = encode(ContentCoding::Gzip, &bytes).expect("encode body");
    let plain = bytes.clone();
    // Like servers that encode on the fly: range requests get the plain bytes.
    let server = http_server(move |request| {
        let reply = HttpResponse::new(200).header("ETag", "\"v\"").header("Accept-Ranges", "bytes");
        let wants = |name: &str| request.header_text(name).is_some_and(|text| text.contains("gzip"));
        match request.header_text("range") {
            None if wants("accept-encoding") => {
                reply.header("Content-Encoding", "gzip").body(encoded_body.as_slice())
            }
            None => reply.body(plain.as_slice()).cut_body_at(100_000),
            Some(range) => {
                let from: usize =
                    range.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a byte offset");
                let content = format!("bytes {from}-{}/{}", plain.len() - 1, plain.len());
                HttpResponse::new(206)
                    .header("ETag", "\"v\"")
                    .header("Content-Range", content)
                    .body(&plain[from..])
            }
        }
    });
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["-o", "target", &server.url("/")]).assert_exit(18);
    run_fetch_url_in(dir.path(), ["-C", "-", "--compressed", "-o", "target", &server.url("/")])
        .assert_exit(0);
    assert!(fs::read(dir.path().join("target")).expect("read file") == bytes, "spliced content");
}

/// Responses without a body, and responses whose body is not delivered.
#[test]
fn coding_is_ignored_when_the_body_is_not_read() {
    let server = http_server(|request| {
        let reply = |status| HttpResponse::new(status).header("Content-Encoding", "x-unknown");
        match (request.method.as_str(), request.path().as_str()) {
            ("HEAD", _) => {
                HttpResponse::new(200).header("Content-Encoding", "gzip").header("Content-Length", "100")
            }
            (_, "/none") => reply(204),
            (_, "/gone") => reply(404).body("gone"),
            _ => HttpResponse::new(200).body("object"),
        }
    });
    let fetch = |options: &[&str], path: &str| {
        run_fetch_url([&["--compressed"], options, &[&server.url(path)]].concat())
    };
    assert!(
        fetch(&["-I"], "/to")
            .assert_exit(0)
            .stdout_text()
            .to_ascii_lowercase()
            .contains("content-encoding: gzip")
    );
    assert_eq!(fetch(&[], "/none").assert_exit(0).stdout_text(), "");
    fetch(&[], "/gone").assert_exit(78);
}

/// The body of a redirect response is not decoded.
#[test]
fn coding_of_a_redirect_response_is_ignored() {
    let server = http_server(|request| match request.path().as_str() {
        "/from" => HttpResponse::new(302)
            .header("Location", "/to")
            .header("Content-Encoding", "x-unknown")
            .body("elsewhere"),
        _ => HttpResponse::new(200).body("object"),
    });
    assert_eq!(run_fetch_url(["--compressed", &server.url("/from")]).assert_exit(0).stdout_text(), "object");
}

/// The body of an error response is decoded like any other body.
#[test]
fn error_body_is_decoded() {
    let body = encode(ContentCoding::Gzip, b"why not").expect("encode body");
    let server =
        http_server(move |_| HttpResponse::new(404).header("Content-Encoding", "gzip").body(body.as_slice()));
    let url = server.url("/");
    assert_eq!(
        run_fetch_url(["--compressed", "--fail-with-body", &url]).assert_exit(78).stdout_text(),
        "why not"
    );
    assert_eq!(run_fetch_url(["--compressed", "--no-fail", &url]).assert_exit(0).stdout_text(), "why not");
}

/// Ranges count the bytes of the content coding (RFC 9110 §14.2), so that a part cannot be decoded.
#[test]
fn part_of_a_compressed_object_is_refused_and_a_file_is_fetched_from_the_start() {
    let body = encode(ContentCoding::Gzip, &large_object()).expect("encoded");
    let handler = file_handler(body, strong_etag_headers());
    let server = http_server(move |request| handler(request).header("Content-Encoding", "gzip"));
    let (dir, url) = (temp_dir(), server.url("/"));
    for options in ["-r 5-10", "-r 0-9", "-r -5"] {
        let arguments = ["--compressed", "-o", "part", &url].into_iter();
        run_fetch_url_in(dir.path(), arguments.chain(options.split(' ')))
            .assert_exit(33)
            .assert_stderr_contains("a part of a compressed object cannot be decoded");
    }
    assert!(entry_names(dir.path()).is_empty());
    // This part is all of it.
    let whole = ["--compressed", "-r", "0-", "-o", "whole", &url];
    run_fetch_url_in(dir.path(), whole).assert_exit(0);
    assert!(fs::read(dir.path().join("whole")).expect("a file") == large_object());
    for existing in [large_object(), large_object()[..1000].to_vec(), b"other".to_vec()] {
        fs::write(dir.path().join("f"), existing).expect("a file");
        let arguments = ["--compressed", "-C", "-", "-o", "f", &url];
        run_fetch_url_in(dir.path(), arguments).assert_exit(0).assert_stderr_contains("from the start");
        assert!(fs::read(dir.path().join("f")).expect("a file") == large_object());
    }
}
