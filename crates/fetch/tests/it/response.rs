//! The methods of `Response` (reader, header values, conditions) and of `Download` (options).

use std::fs;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use fetch_url::{Code, Condition, Content, Error, Fetcher, Policy, Proof, Request, Retry};
use fetch_url_tests::{HttpResponse, HttpServer};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _};

/// 784111777 seconds since 1970.
const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

fn fetcher_without_retries() -> Fetcher {
    let mut policy = Policy::default();
    policy.retry = Retry::never();
    Fetcher::builder().policy(policy).build()
}

#[tokio::test]
async fn reader_yields_lines_and_the_rest_of_the_body() {
    let pieces = || vec![b"on".to_vec(), b"e\ntwo\nth".to_vec(), b"ree".to_vec()];
    let server = HttpServer::start(move |_| HttpResponse::new(200).chunked(pieces())).expect("a server");
    let response = Fetcher::new().get(server.url("/")).await.expect("a response");
    let mut reader = response.reader().expect("a reader");
    let (mut line, mut byte, mut rest) = (String::new(), [0], String::new());
    reader.read_line(&mut line).await.expect("a line");
    reader.read_exact(&mut byte).await.expect("a byte");
    reader.read_to_string(&mut rest).await.expect("the rest");
    assert_eq!((&*line, &byte, &*rest), ("one\n", b"t", "wo\nthree"));
    assert_eq!(reader.read(&mut byte).await.expect("the end again"), 0);
}

#[tokio::test]
async fn reader_of_a_body_that_breaks_off_fails_and_does_not_end() {
    let server =
        HttpServer::start(|_| HttpResponse::new(200).body("0123456789").cut_body_at(4)).expect("a server");
    let response = fetcher_without_retries().get(server.url("/")).await.expect("a response");
    let (mut reader, mut bytes) = (response.reader().expect("a reader"), Vec::new());
    let error = reader.read_to_end(&mut bytes).await.expect_err("a truncated body");
    assert_eq!((error.kind(), &*bytes), (ErrorKind::UnexpectedEof, &b"0123"[..]));
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    assert_eq!(inner.map(Error::code), Some(Code::Truncated));
}

#[tokio::test]
async fn response_has_the_values_of_its_header() {
    let server = HttpServer::start(|request| {
        let response = HttpResponse::new(200).body("x").header("Content-Type", "text/plain; charset=utf-8");
        match request.path().as_str() {
            "/strong" => response.header("ETag", "\"1\"").header("Last-Modified", DATE),
            _ => response.header("ETag", "W/\"1\""),
        }
    })
    .expect("a server");
    let strong = Fetcher::new().get(server.url("/strong")).await.expect("a response");
    assert_eq!(strong.content_type(), Some("text/plain; charset=utf-8"));
    assert_eq!((strong.etag(), strong.last_modified()), (Some("\"1\""), Some(784_111_777)));
    assert_eq!(strong.text().await.expect("text"), "x");
    let weak = Fetcher::new().get(server.url("/weak")).await.expect("a response");
    assert_eq!((weak.etag(), weak.last_modified()), (None, None));
    assert_eq!(weak.into_listing().expect_err("an object").code(), Code::NotFound);
}

/// RFC 9110 §8.6: a recipient may accept identical lengths as one.
#[tokio::test]
async fn identical_lengths_in_one_or_several_fields_are_one_length() {
    for fields in
        ["Content-Length: 5, 5", "Content-Length: 5 ,5,\t5", "Content-Length: 5\r\nContent-Length: 5"]
    {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\nhello");
        let server = HttpServer::start(move |_| HttpResponse::raw(head.clone())).expect("a server");
        let response = fetcher_without_retries().get(server.url("/")).await.expect("a response");
        assert_eq!(response.meta.head.size, Some(5), "{fields:?}");
        let Content::Body(body) = &response.content else { panic!("no body") };
        assert_eq!(body.proof(), Proof::Proven("Content-Length"), "{fields:?}");
        assert_eq!(response.text().await.expect("the body"), "hello", "{fields:?}");
    }
}

#[tokio::test]
async fn unmet_condition_leaves_an_object_unchanged_but_not_its_metadata() {
    // This server does not check the condition itself.
    let server = HttpServer::start(|_| HttpResponse::new(200).body("abc").header("Last-Modified", DATE))
        .expect("a server");
    let request = |seconds| {
        let request = Request::new(&server.url("/")).expect("a URL");
        request.only_if(Condition::ModifiedSince(seconds))
    };
    let fetch = async |request| Fetcher::new().fetch(request).await.expect("a response").content;
    assert!(matches!(fetch(request(784_111_777)).await, Content::Unchanged));
    assert!(matches!(fetch(request(784_111_776)).await, Content::Body(_)));
    assert!(matches!(fetch(request(784_111_777).head()).await, Content::Head));
}

#[tokio::test]
async fn download_applies_its_options() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("abc").header("Last-Modified", DATE))
        .expect("a server");
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    let (fetcher, url) = (Fetcher::new(), server.url("/"));

    let wrong =
        fetcher.download(&*url, &path).checksum(format!("md5:{:032}", 0).parse().expect("a checksum"));
    assert_eq!(wrong.await.expect_err("another checksum").code(), Code::ChecksumMismatch);
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 0);

    let progress = Arc::new(Mutex::new(Vec::new()));
    let seen = progress.clone();
    let right = "md5:900150983cd24fb0d6963f7d28e17f72".parse().expect("a checksum");
    let download = fetcher.download(&*url, &path).checksum(right).remote_time();
    let download = download.progress(move |done, total| seen.lock().expect("a lock").push((done, total)));
    assert_eq!(download.await.expect("a receipt").bytes, 3);
    assert_eq!(progress.lock().expect("a lock").last(), Some(&(3, Some(3))));
    let modified = fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
    assert_eq!(modified, UNIX_EPOCH + Duration::from_secs(784_111_777));

    let second = fetcher.download(&*url, &path).no_clobber().await.expect_err("an existing file");
    assert_eq!((second.code(), server.requests().len()), (Code::Usage, 2));
}
