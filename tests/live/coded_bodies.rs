//! `--compressed` against a scripted server that sends bodies which real servers do not send: bombs, truncated streams,
//! trailing data.

use std::time::Duration;

use fetch_url_tests::{ContentCoding, HttpResponse, HttpServer, encode, encode_zeros, pattern_vec};

use super::program::RunResult;
use super::work_dir::{WorkDir, fetch};

/// Returns a response with Content-Encoding `token` and this body.
fn reply(token: &str, bytes: Vec<u8>) -> HttpResponse {
    HttpResponse::new(200).header("Content-Encoding", token).header("ETag", "\"one\"").body(bytes)
}

/// Fetches the response with `--compressed` into `here`.
fn decode(dir: &WorkDir, reply: HttpResponse) -> RunResult {
    let server = HttpServer::start(move |_| reply.clone()).expect("a loopback server");
    dir.fetch(&["--compressed", "-m", "15", "-o", "here", &server.url("/x")])
}

fn body() -> Vec<u8> {
    pattern_vec(0, 300_000)
}

/// Asserts one of these exit statuses and that `here` was not created.
#[track_caller]
fn assert_fails(reply: HttpResponse, exits: &[i32]) {
    let dir = WorkDir::new();
    dir.write("old", "old");
    let result = decode(&dir, reply);
    assert!(exits.contains(&result.exit), "{}\n{}", result.exit, result.err);
    assert!(
        !result.err.contains("panicked") && result.took < Duration::from_secs(10),
        "{:?} {}",
        result.took,
        result.err
    );
    assert!(!dir.path("here").exists());
}

const SOUND: [ContentCoding; 4] =
    [ContentCoding::Brotli, ContentCoding::Deflate, ContentCoding::Gzip, ContentCoding::Zstd];

#[test]
#[ignore = "needs the built program"]
fn every_supported_coding_is_decoded() {
    for coding in SOUND {
        for bytes in [Vec::new(), b"a".to_vec(), body()] {
            let dir = WorkDir::new();
            let sent = encode(coding, &bytes).expect("memory");
            decode(&dir, reply(coding.token(), sent.clone())).assert_success("");
            assert!(dir.read("here") == bytes, "{coding:?} {}", bytes.len());
            let chunks = sent.chunks(7).map(<[u8]>::to_vec).collect();
            let chunked = HttpResponse::new(200).header("Content-Encoding", coding.token()).chunked(chunks);
            decode(&dir, chunked).assert_success("");
            assert!(dir.read("here") == bytes, "{coding:?} in pieces");
        }
    }
    let dir = WorkDir::new();
    decode(&dir, reply("X-GZip", encode(ContentCoding::Gzip, &body()).expect("memory"))).assert_success("");
    decode(&dir, reply("identity", body())).assert_success("");
    assert!(dir.read("here") == body());
}

/// A gzip file may have several members (RFC 1952 §2.2), a zstd file several frames (RFC 8878 §3).
#[test]
#[ignore = "needs the built program"]
fn several_gzip_members_or_zstd_frames_are_one_file() {
    let parts =
        |coding| [encode(coding, b"one ").expect("memory"), encode(coding, b"two").expect("memory")].concat();
    for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
        let dir = WorkDir::new();
        decode(&dir, reply(coding.token(), parts(coding))).assert_success("");
        assert_eq!(dir.read("here"), b"one two", "{coding:?}");
    }
}

#[test]
#[ignore = "needs the built program"]
fn truncated_encoded_body_fails_without_a_file() {
    for coding in SOUND {
        let sent = encode(coding, &body()).expect("memory");
        for cut in [1, 2, 10, sent.len() / 2, sent.len() - 8, sent.len() - 1] {
            assert_fails(reply(coding.token(), sent[..cut].to_vec()), &[8, 18]);
        }
        // Content-Length is that of the complete body, so the transfer itself was truncated.
        assert_fails(reply(coding.token(), sent.clone()).cut_body_at(sent.len() as u64 - 1), &[18]);
    }
}

#[test]
#[ignore = "needs the built program"]
fn trailing_bytes_after_the_encoded_stream_fail() {
    for coding in SOUND {
        let sent = [encode(coding, &body()).expect("memory"), b"behind the end".to_vec()].concat();
        assert_fails(reply(coding.token(), sent), &[8, 18]);
    }
}

#[test]
#[ignore = "needs the built program"]
fn undecodable_body_fails_without_a_file() {
    for coding in SOUND {
        assert_fails(reply(coding.token(), b"<html>not coded</html>".to_vec()), &[8, 18]);
    }
    // These codings have a checksum.
    for coding in [ContentCoding::Deflate, ContentCoding::Gzip] {
        let mut sent = encode(coding, &body()).expect("memory");
        let middle = sent.len() / 2;
        sent[middle] ^= 0x55;
        assert_fails(reply(coding.token(), sent), &[8, 18]);
    }
    for token in ["gzip, gzip", "br, gzip", "compress", "exi", "chunked", "\x1b[31m"] {
        assert_fails(reply(token, encode(ContentCoding::Gzip, &body()).expect("memory")), &[8]);
    }
}

/// Some servers send raw deflate data. It is decoded or refused; wrong bytes are never written.
#[test]
#[ignore = "needs the built program"]
fn raw_deflate_is_decoded_or_refused() {
    let dir = WorkDir::new();
    let result = decode(&dir, reply("deflate", encode(ContentCoding::RawDeflate, &body()).expect("memory")));
    match result.exit {
        0 => assert!(dir.read("here") == body()),
        exit => assert!([8, 18].contains(&exit) && !dir.path("here").exists(), "{}", result.err),
    }
}

/// 64 MiB of zeros: after 16 MiB, a compression ratio of more than 200 aborts the download.
#[test]
#[ignore = "needs the built program"]
fn decompression_bomb_exits_63() {
    for coding in [ContentCoding::Brotli, ContentCoding::Deflate, ContentCoding::Gzip, ContentCoding::Zstd] {
        let sent = encode_zeros(coding, 64 << 20).expect("memory");
        assert!(sent.len() < 100_000, "{coding:?}");
        assert_fails(reply(coding.token(), sent), &[63]);
    }
    let small = encode_zeros(ContentCoding::Gzip, 8 << 20).expect("memory");
    let dir = WorkDir::new();
    decode(&dir, reply("gzip", small)).assert_success("");
    assert!(dir.read("here") == vec![0; 8 << 20]);
}

#[test]
#[ignore = "needs the built program"]
fn max_filesize_counts_decoded_bytes() {
    let sent = encode(ContentCoding::Gzip, &[0; 100_000]).expect("memory");
    let server = HttpServer::start(move |_| reply("gzip", sent.clone())).expect("a loopback server");
    let dir = WorkDir::new();
    dir.fetch(&["--compressed", "--max-filesize", "99999", "-o", "here", &server.url("/")]).assert_exit(63);
    assert!(!dir.path("here").exists());
    dir.fetch(&["--compressed", "--max-filesize", "100000", "-o", "here", &server.url("/")])
        .assert_success("");
}

/// Without `--compressed` the encoded body is stored unchanged.
#[test]
#[ignore = "needs the built program"]
fn encoded_body_is_unchanged_without_compressed_option() {
    let sent = encode(ContentCoding::Gzip, &body()).expect("memory");
    let bytes = sent.clone();
    let server = HttpServer::start(move |_| reply("gzip", sent.clone())).expect("a loopback server");
    fetch(&[&server.url("/x.gz")]).assert_success(bytes);
    assert!(server.requests().iter().all(|request| request.header("accept-encoding").is_none()));
}
