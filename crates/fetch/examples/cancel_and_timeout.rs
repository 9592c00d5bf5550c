//! Limits the time of a request, and cancels one by dropping its future.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Duration;

use fetch_url::{Error, Fetcher, Policy};
use fetch_url_tests::{HttpResponse, HttpServer};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let stall = Duration::from_secs(60);
    let server = HttpServer::start(move |_| HttpResponse::raw("").then_stall(stall))?;

    let policy = Policy::default().total_timeout(Duration::from_millis(200)).max_retries(0);
    let fetcher = Fetcher::builder().policy(policy).build();
    let error = match fetcher.get(server.url("/")).await {
        Ok(response) => response.bytes().await.err(),
        Err(error) => Some(error),
    };
    println!("timeout: {:?}", error.map(|error| error.code()));

    let slow = Fetcher::new();
    let cancelled =
        tokio::time::timeout(Duration::from_millis(200), slow.download(server.url("/"), "never")).await;
    println!(
        "cancelled: {}, the file exists: {}",
        cancelled.is_err(),
        std::path::Path::new("never").exists()
    );
    Ok(())
}
