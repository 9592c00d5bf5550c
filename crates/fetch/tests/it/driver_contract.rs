//! Requirements for every driver: truncation, stalls, the size limit, rejections, and callers that drop the future. A
//! new driver adds its rows to the tables.
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fetch_url::driver::SpecialFiles;
use fetch_url::output::{FileOptions, FileSink, Sink, save};
use fetch_url::{Code, Error, Fetcher, Policy, Receipt, Request};
use fetch_url_tests::{HttpResponse, HttpServer};

/// A URL, with the server or directory behind it, which is kept until the end of the test.
struct Origin {
    url: String,
    _server: Option<HttpServer>,
}

fn http(reply: fn() -> HttpResponse) -> Origin {
    let server = HttpServer::start(move |_| reply()).expect("a loopback server");
    Origin { url: server.url("/object"), _server: Some(server) }
}

fn local(path: &Path) -> Origin {
    Origin { url: format!("file://{}", path.display()), _server: None }
}

fn policy() -> Policy {
    let mut policy = Policy::default();
    policy.timeouts.idle = Duration::from_millis(200);
    policy.timeouts.reply = Duration::from_millis(500);
    policy.limits.max_size = Some(10_000);
    policy
}

async fn fetch(origin: &Origin, target: &Path) -> Result<Receipt, Error> {
    let request = Request::new(&origin.url)?.with_extra(SpecialFiles::default());
    let sink = FileSink::open(target, FileOptions::default().keeping_part(true))?;
    let response = Fetcher::builder().policy(policy()).build().fetch(request).await?;
    save(response, Sink::file(sink), &mut ()).await
}

/// Returns a directory with an old file under the target name.
fn old_target() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let target = directory.path().join("target");
    std::fs::write(&target, "old").expect("an old file");
    (directory, target)
}

fn fifo(directory: &Path) -> PathBuf {
    let path = directory.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_fetch_returns_its_code_and_keeps_the_old_file() {
    let (directory, target) = old_target();
    let large = directory.path().join("large");
    std::fs::write(&large, vec![0; 20_000]).expect("a large file");
    let pipe = fifo(directory.path());
    // A writer that sends nothing, so that opening the FIFO succeeds and reading waits.
    let _silent = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).expect("an open pipe");
    let rows: Vec<(&str, Code, Origin)> = vec![
        ("http, cut", Code::Truncated, http(|| HttpResponse::new(200).body(vec![1; 100]).cut_body_at(50))),
        (
            "http, stall",
            Code::TimedOut,
            http(|| {
                HttpResponse::new(200).body(vec![1; 100]).cut_body_at(50).then_stall(Duration::from_secs(2))
            }),
        ),
        ("http, too large", Code::LimitReached, http(|| HttpResponse::new(200).body(vec![1; 20_000]))),
        (
            "http, too large and untold",
            Code::LimitReached,
            http(|| HttpResponse::new(200).until_close(vec![1; 20_000])),
        ),
        ("http, refusal", Code::NotFound, http(|| HttpResponse::new(404).body("no"))),
        ("file, stall", Code::TimedOut, local(&pipe)),
        ("file, too large", Code::LimitReached, local(&large)),
        ("file, refusal", Code::NotFound, local(&directory.path().join("missing"))),
    ];
    for (name, code, origin) in rows {
        let begun = Instant::now();
        let error = fetch(&origin, &target).await.expect_err(name);
        assert_eq!(error.code(), code, "{name}: {error:?}");
        assert_eq!(error.url(), Some(origin.url.as_str()), "{name}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
        assert_eq!(std::fs::read(&target).expect("the old file"), b"old", "{name}");
    }
}

/// A runtime waits for its blocking threads when it is dropped.
#[test]
fn runtime_ends_although_the_writer_of_a_fifo_sends_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let pipe = fifo(directory.path());
    let open_writer =
        || std::fs::OpenOptions::new().read(true).write(true).open(&pipe).expect("an open pipe");
    for has_writer in [false, true] {
        let _silent = has_writer.then(open_writer);
        let (origin, target) = (local(&pipe), directory.path().join("target"));
        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
            let code = runtime.block_on(fetch(&origin, &target)).map_err(|error| error.code());
            drop(runtime);
            let _ = sender.send(code.map(|_| ()));
        });
        let code = ended.recv_timeout(Duration::from_secs(30)).expect("the runtime ends");
        assert_eq!(code, Err(Code::TimedOut), "with a writer: {has_writer}");
    }
}

#[tokio::test]
async fn file_that_shrinks_before_saving_fails_as_truncated() {
    let (directory, target) = old_target();
    let source = directory.path().join("source");
    std::fs::write(&source, vec![7; 5000]).expect("a file");
    let origin = local(&source);
    let response = Fetcher::new().get(&origin.url).await.expect("an answer");
    std::fs::OpenOptions::new()
        .write(true)
        .open(&source)
        .and_then(|file| file.set_len(100))
        .expect("a shorter file");
    let sink = FileSink::open(&target, FileOptions::default()).expect("a sink");
    let error = save(response, Sink::file(sink), &mut ()).await.expect_err("it is cut");
    assert_eq!(error.code(), Code::Truncated);
    assert_eq!(std::fs::read(&target).expect("the old file"), b"old");
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_fetch_keeps_the_old_file_and_a_resumable_part() {
    let (directory, target) = old_target();
    let origin = http(|| {
        HttpResponse::new(200)
            .header("ETag", "\"a\"")
            .body(vec![1; 9000])
            .cut_body_at(5000)
            .then_stall(Duration::from_secs(5))
    });
    let fetching = fetch(&origin, &target);
    let gone = tokio::time::timeout(Duration::from_millis(150), fetching).await;
    assert!(gone.is_err(), "it should still be waiting");
    assert_eq!(std::fs::read(&target).expect("the old file"), b"old");
    let part = std::fs::read(directory.path().join("target.fetch-url.part")).expect("what came");
    assert_eq!(part, vec![1; 5000]);
    let sink = FileSink::open(&target, FileOptions::default().resuming(true)).expect("a sink");
    let request = Request::new(&origin.url).expect("a URL");
    assert_eq!(sink.resume_of(request.url()).map(|resume| resume.offset), Some(5000));
}
