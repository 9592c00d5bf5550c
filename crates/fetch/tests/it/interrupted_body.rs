//! A body that breaks off: every way of reading it reports the error, with the URL.

use fetch_url::{Code, Error, Fetcher, Policy, Retry};
use fetch_url_tests::{HttpResponse, HttpServer};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _};

fn server() -> HttpServer {
    HttpServer::start(|_| HttpResponse::new(200).body("line\nrest").cut_body_at(6)).expect("a server")
}

fn fetcher() -> Fetcher {
    let mut policy = Policy::default();
    policy.retry = Retry::never();
    Fetcher::builder().policy(policy).build()
}

#[tokio::test]
async fn reader_repeats_the_error_of_the_body() {
    let server = server();
    let mut reader = fetcher().get(server.url("/x")).await.expect("a response").reader().expect("a body");
    let mut text = String::new();
    assert_eq!(reader.read_line(&mut text).await.expect("a line"), 5);
    for _ in 0..3 {
        let error = Error::from(reader.read_line(&mut text).await.expect_err("an incomplete body"));
        assert_eq!(error.code(), Code::Truncated);
        let error = Error::from(reader.read(&mut [0; 10]).await.expect_err("an incomplete body"));
        assert_eq!(error.code(), Code::Truncated);
    }
}

#[tokio::test]
async fn errors_of_bodies_and_listings_have_the_url() {
    let server = server();
    let (fetcher, url) = (fetcher(), server.url("/x"));
    let response = async || fetcher.get(&url).await.expect("a response");
    let directory = tempfile::tempdir().expect("a directory");
    let errors = [
        response().await.bytes().await.map(|_| ()),
        response().await.text().await.map(|_| ()),
        response().await.bytes_stream().expect("a body").collect(3).await.map(|_| ()),
        fetcher.download(&url, directory.path().join("cut")).await.map(|_| ()),
        fetcher.download(&url, directory.path().join("missing/file")).await.map(|_| ()),
    ];
    for (number, error) in errors.into_iter().enumerate() {
        let error = error.expect_err("an error");
        assert_eq!(error.url(), Some(url.as_str()), "{number}: {error}");
    }
    let mut policy = Policy::default();
    policy.limits.max_entries = Some(0);
    let limited = Fetcher::builder().policy(policy).build();
    std::fs::write(directory.path().join("entry"), "").expect("a file");
    let url = format!("file://{}/", directory.path().display());
    let error = limited.list(&url).await.expect("a listing").next().await.expect_err("too many entries");
    assert_eq!(error.url(), Some(url.as_str()));
}
