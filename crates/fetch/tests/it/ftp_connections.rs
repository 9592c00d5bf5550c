//! FTP control connections that serve several requests.

use fetch_url::{ByteRange, Code, Fetcher, Policy, Request, Retry};
use fetch_url_tests::{FtpAction, FtpConfig, FtpRule, FtpServer};

fn fetcher_without_retries() -> Fetcher {
    let mut policy = Policy::default();
    policy.retry = Retry::never();
    Fetcher::builder().policy(policy).build()
}

fn server_that_rejects_the_first_retr() -> FtpServer {
    let config = FtpConfig::new()
        .file("/one", "0123456789")
        .file("/two", "abcdefghij")
        .rule(FtpRule::on("RETR", FtpAction::Answer(b"550 Permission denied.\r\n".to_vec())).nth(1));
    FtpServer::start(config).expect("a server")
}

/// The server keeps the offset of REST for the next RETR. Without SIZE, as for a text, nothing else shows that the
/// beginning is missing.
#[tokio::test]
async fn connection_is_closed_after_a_rejected_transfer_with_an_offset() {
    let (server, fetcher) = (server_that_rejects_the_first_retr(), fetcher_without_retries());
    let rest = ByteRange::Span { first: 4, last: None };
    let request = Request::new(&server.url("/one")).expect("a URL").range(rest);
    let error = fetcher.fetch(request).await.expect_err("RETR is rejected");
    assert_eq!(error.code(), Code::NotFound, "{error}");
    let text = fetcher.get(server.url("/two;type=a")).await.expect("a response").text().await;
    assert_eq!(text.expect("the text"), "abcdefghij");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn connection_is_reused_after_a_rejected_transfer_without_an_offset() {
    let (server, fetcher) = (server_that_rejects_the_first_retr(), fetcher_without_retries());
    assert!(fetcher.get(server.url("/one")).await.is_err(), "RETR is rejected");
    let text = fetcher.get(server.url("/two;type=a")).await.expect("a response").text().await;
    assert_eq!(text.expect("the text"), "abcdefghij");
    assert_eq!(server.connections(), 1);
}
