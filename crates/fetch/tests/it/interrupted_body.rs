//! A body that breaks off: every way of reading it reports the error.

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
