//! Saving a response: every kind of source and sink gives the same bytes and counts, and a failure leaves nothing under
//! the final name.

#![cfg(unix)]
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use fetch_url::output::{Algorithm, FileOptions, FileSink, Sink, save};
use fetch_url::{Code, Condition, Content, Error, Fetcher, Policy, Proof, Receipt, Request, Response, Retry};
use fetch_url_tests::{
    FileHeaders, HttpResponse, HttpServer, RangeSupport, file_handler, pattern_handler, pattern_vec,
};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * 1024;

/// Sizes around the thresholds between copy methods.
const SIZES: [u64; 13] = [
    0,
    1,
    2,
    64 * KIB,
    256 * KIB - 1,
    256 * KIB,
    256 * KIB + 1,
    MIB - 1,
    MIB,
    MIB + 1,
    32 * MIB - 1,
    32 * MIB,
    32 * MIB + 1,
];

/// A writer that accepts a part of the bytes in each call.
#[derive(Clone, Default)]
struct Heap {
    bytes: Arc<Mutex<Vec<u8>>>,
    at_once: Option<usize>,
}

impl Heap {
    fn content(&self) -> Vec<u8> {
        self.bytes.lock().expect("a lock").clone()
    }
}

impl Write for Heap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.at_once.map_or(bytes.len(), |most| most.min(bytes.len()));
        self.bytes.lock().expect("a lock").extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn get(url: &str) -> Response {
    Fetcher::new().get(url).await.expect("an answer")
}

fn saved_to(path: &Path) -> Sink {
    Sink::file(FileSink::open(path, FileOptions::default()).expect("a sink"))
}

/// Saves the response and checks that the reported progress only increases, up to `size`.
async fn watched(response: Response, sink: Sink, size: u64) -> Receipt {
    let mut told: Vec<(u64, Option<u64>)> = Vec::new();
    let mut watch = |done, total| told.push((done, total));
    let receipt = save(response, sink, &mut watch).await.expect("delivered");
    assert!(told.windows(2).all(|pair| pair[0].0 <= pair[1].0), "it goes back: {told:?}");
    assert!(
        told.iter().all(|(done, total)| *done <= size && total.is_none_or(|total| total == size)),
        "{told:?}"
    );
    assert_eq!(told.last().map(|(done, _)| *done), Some(size), "it does not tell the end");
    assert_eq!((receipt.bytes, receipt.resumed_from), (size, 0));
    receipt
}

/// Saves the same object by kernel copy, chunk by chunk, with a digest, to an open file and into a writer.
#[tokio::test]
async fn every_kind_of_sink_receives_the_same_bytes() {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, target) = (directory.path().join("source"), directory.path().join("target"));
    let url = format!("file://{}", source.display());
    for size in SIZES {
        let content = pattern_vec(7, size as usize);
        fs::write(&source, &content).expect("a file");
        let same = |road: &str| assert!(fs::read(&target).expect("a file") == content, "{road} of {size}");

        let copied = watched(get(&url).await, saved_to(&target), size).await;
        same("kernel copy");
        let digested = saved_to(&target).with_digest(Algorithm::Sha256);
        let digested = watched(get(&url).await, digested, size).await;
        same("digest");
        let open = Sink::open(File::create(&target).expect("a file"));
        watched(get(&url).await, open, size).await;
        same("open file");
        let heap = Heap::default();
        let written = watched(get(&url).await, Sink::writer(heap.clone()), size).await;
        assert!(heap.content() == content, "writer of {size}");
        let server = HttpServer::start(pattern_server(size)).expect("a server");
        let response = get(&server.url("/x")).await;
        let hashed = watched(response, saved_to(&target).with_digest(Algorithm::Sha256), size).await;
        assert!(fs::read(&target).expect("a file") == pattern_vec(0, size as usize), "http of {size}");

        assert_eq!((copied.digest, written.digest), (None, None));
        let expected = in_heap(&pattern_vec(0, size as usize)).await;
        assert_eq!(hashed.digest, Some(expected));
        assert_eq!(digested.digest, Some(in_heap(&content).await));
    }
}

fn pattern_server(
    size: u64,
) -> impl Fn(&fetch_url_tests::HttpRequest) -> HttpResponse + Send + Sync + 'static {
    pattern_handler(size, FileHeaders::default())
}

/// Returns the SHA-256 digest that the program `sha256sum` computes.
async fn in_heap(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), bytes).expect("a file");
    let output = std::process::Command::new("sha256sum").arg(file.path()).output().expect("sha256sum");
    String::from_utf8_lossy(&output.stdout)[..64].to_owned()
}

#[tokio::test]
async fn digest_of_known_bytes_equals_the_published_value() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("abc")).expect("a server");
    for (algorithm, begin) in [
        (Algorithm::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (Algorithm::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (Algorithm::Sha384, "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded163"),
        (Algorithm::Sha512, "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea2"),
    ] {
        let sink = Sink::writer(Heap::default()).with_digest(algorithm);
        let receipt = save(get(&server.url("/")).await, sink, &mut ()).await.expect("delivered");
        assert!(receipt.digest.is_some_and(|digest| digest.starts_with(begin)), "{algorithm:?}");
    }
}

#[tokio::test]
async fn proof_is_proven_unless_only_the_connection_ends_the_body() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let server = HttpServer::start(|request| match request.path().as_str() {
        "/chunked" => HttpResponse::new(200).chunked(vec![b"octets".to_vec()]),
        "/open" => HttpResponse::new(200).until_close("octets"),
        "/none" => HttpResponse::new(204),
        _ => HttpResponse::new(200).body("octets"),
    })
    .expect("a server");
    let local = format!("file://{}", file.path().display());
    for (url, is_proven) in [
        (local, true),
        (server.url("/length"), true),
        (server.url("/chunked"), true),
        (server.url("/none"), true),
        (server.url("/open"), false),
    ] {
        let receipt = save(get(&url).await, Sink::writer(Heap::default()), &mut ()).await.expect("delivered");
        assert_eq!(matches!(receipt.proof, Proof::Proven(_)), is_proven, "{url}: {:?}", receipt.proof);
        let text = receipt.proof.to_string();
        let begin = if is_proven { "complete by " } else { "assumed complete: " };
        assert!(text.starts_with(begin) && text.len() > begin.len() && text.is_ascii(), "{text}");
    }
}

#[tokio::test]
async fn partial_writes_are_continued() {
    let content = pattern_vec(0, 100_000);
    let served = content.clone();
    let server = HttpServer::start(move |_| HttpResponse::new(200).body(served.clone())).expect("a server");
    for at_once in [1, 7, 65_537] {
        let heap = Heap { at_once: Some(at_once), ..Heap::default() };
        save(get(&server.url("/")).await, Sink::writer(heap.clone()), &mut ()).await.expect("delivered");
        assert!(heap.content() == content, "{at_once} at once");
    }
}

/// A writer that fails with this error, always or once.
struct Faulty(io::ErrorKind, bool);

impl Write for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0 {
            io::ErrorKind::WriteZero => Ok(0),
            io::ErrorKind::Interrupted if std::mem::replace(&mut self.1, true) => Ok(bytes.len()),
            kind => Err(kind.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn write_errors_fail_with_sink_failed_unless_interrupted() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body(vec![1; 100_000])).expect("a server");
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::BrokenPipe, io::ErrorKind::WriteZero] {
        let sink = Sink::writer(Faulty(kind, false));
        let error = save(get(&server.url("/")).await, sink, &mut ()).await.expect_err("it fails");
        assert_eq!((error.code(), error.exit_status()), (Code::SinkFailed, 23), "{error:?}");
        assert_eq!(error.is_broken_pipe(), kind == io::ErrorKind::BrokenPipe);
    }
    let sink = Sink::writer(Faulty(io::ErrorKind::Interrupted, false));
    assert!(save(get(&server.url("/")).await, sink, &mut ()).await.is_ok(), "an interruption is no failure");
}

/// Fetches to `target` with a size limit of `most` bytes.
async fn limited(url: &str, target: &Path, most: u64) -> Result<Receipt, Error> {
    let mut policy = Policy::default();
    policy.limits.max_size = Some(most);
    let fetcher = Fetcher::builder().policy(policy).build();
    let sink = saved_to(target);
    save(fetcher.get(url).await?, sink, &mut ()).await
}

#[tokio::test]
async fn object_above_max_size_fails_and_keeps_the_old_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, target) = (directory.path().join("source"), directory.path().join("target"));
    let server =
        HttpServer::start(|_| HttpResponse::new(200).chunked(vec![vec![1; 300_000], vec![2; 300_000]]))
            .expect("a server");
    fs::write(&source, vec![1; 600_000]).expect("a file");
    for url in [format!("file://{}", source.display()), server.url("/")] {
        fs::write(&target, "OLD").expect("a file");
        for most in [0, 1, 299_999, 599_999] {
            let error = limited(&url, &target, most).await.expect_err("too much");
            assert_eq!((error.code(), error.exit_status()), (Code::LimitReached, 63), "{url} {most}");
            assert_eq!(fs::read(&target).expect("a file"), b"OLD");
        }
        limited(&url, &target, 600_000).await.expect("just enough");
        assert_eq!(fs::metadata(&target).expect("a file").len(), 600_000);
    }
}

/// docs/spec/faults.md, 3.2: a file is complete if it was read to its end and did not change. This changes it during
/// the transfer.
async fn changed_on_the_way(
    change: impl FnOnce(&Path),
    sink: impl FnOnce(&Path) -> Sink,
) -> Result<Receipt, Error> {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, target) = (directory.path().join("source"), directory.path().join("target"));
    fs::write(&source, vec![1; 600_000]).expect("a file");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    File::options().write(true).open(&source).and_then(|file| file.set_modified(old)).expect("a time");
    fs::write(&target, "OLD").expect("a file");
    let response = get(&format!("file://{}", source.display())).await;
    change(&source);
    let result = save(response, sink(&target), &mut ()).await;
    assert!(result.is_ok() || fs::read(&target).expect("a file") == b"OLD");
    result
}

fn digested(path: &Path) -> Sink {
    saved_to(path).with_digest(Algorithm::Sha256)
}

#[tokio::test]
async fn file_that_shrinks_during_the_copy_fails_as_truncated() {
    for sink in [saved_to, digested] {
        let shrink = |path: &Path| {
            File::options().write(true).open(path).and_then(|file| file.set_len(500_000)).expect("shrunk")
        };
        let error = changed_on_the_way(shrink, sink).await.expect_err("not whole");
        assert_eq!(error.code(), Code::Truncated, "{error:?}");
    }
}

#[tokio::test]
async fn file_that_grows_during_the_copy_fails() {
    for sink in [saved_to, digested] {
        let grow = |path: &Path| {
            File::options()
                .append(true)
                .open(path)
                .and_then(|mut file| file.write_all(b"more"))
                .expect("grown");
        };
        assert!(changed_on_the_way(grow, sink).await.is_err(), "neither the old nor the new object");
    }
}

#[tokio::test]
async fn file_that_is_rewritten_during_the_copy_fails() {
    for sink in [saved_to, digested] {
        let rewrite = |path: &Path| fs::write(path, vec![2; 600_000]).expect("rewritten");
        assert!(changed_on_the_way(rewrite, sink).await.is_err(), "a mixture could have come");
    }
}

#[tokio::test]
async fn resumed_save_reports_progress_from_the_resume_offset() {
    let content = pattern_vec(0, 300_000);
    let facts =
        FileHeaders { etag: Some("\"v1\"".to_owned()), last_modified: None, ranges: RangeSupport::Correct };
    let honest = file_handler(content.clone(), facts);
    let server = HttpServer::start(move |request| honest(request).cut_body_at(200_000)).expect("a server");
    let directory = tempfile::tempdir().expect("a directory");
    let target = directory.path().join("target");
    let run = async |told: &mut Vec<u64>| {
        let request = Request::new(&server.url("/o"))?;
        let sink = FileSink::open(&target, FileOptions::default().resuming(true))?;
        let resume = sink.resume_of(request.url());
        let mut policy = Policy::default();
        policy.retry = Retry::never();
        let fetcher = Fetcher::builder().policy(policy).build();
        let response = fetcher.fetch(request.resuming(resume)).await?;
        let sink = Sink::file(sink).with_digest(Algorithm::Sha256);
        save(response, sink, &mut |done, _: Option<u64>| told.push(done)).await
    };
    let mut told = Vec::new();
    assert_eq!(run(&mut told).await.expect_err("cut").code(), Code::Truncated);
    told.clear();
    let receipt = run(&mut told).await.expect("delivered");
    assert_eq!((receipt.bytes, receipt.resumed_from), (100_000, 200_000));
    assert_eq!((told.first(), told.last()), (Some(&200_000), Some(&300_000)));
    assert_eq!(receipt.digest, Some(in_heap(&content).await), "the digest is of the whole object");
    assert!(fs::read(&target).expect("a file") == content);
}

/// If the future is dropped, the old file is kept; a partial download that can be resumed only if the caller wants it.
#[tokio::test]
async fn dropped_save_keeps_the_old_file_and_the_part_only_on_request() {
    let server = HttpServer::start(|_| {
        let reply = HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
        reply.body(vec![1; 300_000]).drip(3000, std::time::Duration::from_millis(20))
    })
    .expect("a server");
    let options = FileOptions::default();
    for (options, expected) in [
        (options, &["target"][..]),
        (options.keeping_part(true), &["target", "target.fetch-url.json", "target.fetch-url.part"]),
        (options.resuming(true), &["target", "target.fetch-url.json", "target.fetch-url.part"]),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let target = directory.path().join("target");
        fs::write(&target, "OLD").expect("a file");
        let response = get(&server.url("/o")).await;
        let sink = Sink::file(FileSink::open(&target, options).expect("a sink"));
        let limit = std::time::Duration::from_millis(300);
        assert!(tokio::time::timeout(limit, save(response, sink, &mut ())).await.is_err());
        // The last write runs on another thread.
        for _ in 0..500 {
            if file_names(directory.path()) == expected {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(file_names(directory.path()), expected, "{options:?}");
        assert_eq!(fs::read(&target).expect("a file"), b"OLD");
    }
}

fn file_names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[tokio::test]
async fn saving_a_head_response_writes_no_bytes() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("octets")).expect("a server");
    let request = Request::new(&server.url("/")).expect("a URL").head();
    let response = Fetcher::new().fetch(request).await.expect("an answer");
    assert!(matches!(response.content, Content::Head));
    assert_eq!(response.meta.head.size, Some(6));
    let receipt = save(response, Sink::writer(Heap::default()), &mut ()).await.expect("delivered");
    assert_eq!(receipt.bytes, 0);
}

#[tokio::test]
async fn advice_is_not_stored_as_a_file() {
    let folder = tempfile::tempdir().expect("a directory");
    let target = folder.path().join("target");
    for url in ["mailto:a@b.example", "telnet://h.example/"] {
        let error = save(get(url).await, saved_to(&target), &mut ()).await.expect_err("advice is no object");
        assert_eq!(error.code(), Code::Unsupported, "{url}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a directory").count(), 0);
}

#[test]
fn empty_file_name_is_rejected_without_a_part_file() {
    let Err(error) = FileSink::open(Path::new(""), FileOptions::default()) else { panic!("an empty name") };
    assert_eq!(error.code(), Code::Usage);
    assert!(!Path::new(".fetch-url.part").exists());
}

/// A file of an earlier run must not become empty.
#[tokio::test]
async fn unchanged_object_leaves_the_file_as_it_is() {
    let server = HttpServer::start(|_| HttpResponse::new(304)).expect("a server");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("f");
    fs::write(&path, "good").expect("a file");
    let fetcher = Fetcher::new();
    let url = server.url("/");
    let condition = Condition::ModifiedSince(0);
    let request = || Request::new(&url).expect("a URL").only_if(condition);
    let receipt = fetcher.download(request(), &path).await.expect("unchanged");
    assert!(receipt.unchanged && receipt.bytes == 0 && receipt.file.is_none(), "{receipt:?}");
    assert_eq!(fs::read(&path).expect("a file"), b"good");
    let heap = Heap::default();
    let response = fetcher.fetch(request()).await.expect("a response");
    assert!(save(response, Sink::writer(heap.clone()), &mut ()).await.expect("unchanged").unchanged);
    assert_eq!(heap.content(), b"");
    let server = HttpServer::start(|_| HttpResponse::new(200).body("object")).expect("a server");
    let head = Request::new(&server.url("/")).expect("a URL").head();
    let error = fetcher.download(head, &path).await.expect_err("no object");
    assert_eq!((error.code(), fs::read(&path).expect("a file")), (Code::Usage, b"good".to_vec()));
}

#[tokio::test]
async fn body_of_which_chunks_were_read_is_saved_only_with_them() {
    let server = HttpServer::start(pattern_handler(300_000, FileHeaders::default())).expect("a server");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("f");
    let fetcher = Fetcher::new();
    for gives_back in [false, true] {
        let mut response =
            fetcher.fetch(Request::new(&server.url("/")).expect("a URL")).await.expect("a response");
        let Content::Body(mut body) = response.content else { panic!("no body") };
        let chunk = body.chunk().await.expect("a chunk").expect("bytes");
        response.content = Content::Body(if gives_back { body.with_prefix(chunk) } else { body });
        let sink = Sink::file(FileSink::open(&path, FileOptions::default()).expect("a file"));
        let saved = save(response, sink, &mut ()).await;
        match gives_back {
            false => assert_eq!(saved.expect_err("bytes are missing").code(), Code::Usage),
            true => assert_eq!(fs::read(&path).expect("a file"), pattern_vec(0, 300_000)),
        }
        assert_eq!(path.exists(), gives_back);
    }
}
