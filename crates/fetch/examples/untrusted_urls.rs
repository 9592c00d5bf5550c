//! Fetches URLs of untrusted users: only public addresses, http and https, with limits. And how to test such a program
//! against a server on loopback.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "an example prints, and knows what fails")]

use fetch_url::{Error, Fetcher, Policy};
use fetch_url_tests::{HttpResponse, HttpServer};

/// The program's own function; `policy` is [`Policy::strict`] in production.
async fn preview(policy: Policy, url: &str) -> Result<String, Error> {
    let fetcher = Fetcher::builder().policy(policy.max_size(64 * 1024)).build();
    fetcher.get(url).await?.text().await
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("a page"))?;
    for url in [&server.url("/"), "file:///etc/passwd", "http://[::1]/"] {
        println!("{url}: {}", preview(Policy::strict(), url).await.expect_err("not a public http URL"));
    }
    // The test: everything as in production, but loopback is allowed.
    let policy = Policy::strict().public_only(false);
    println!("test: {}", preview(policy, &server.url("/")).await?);
    Ok(())
}
