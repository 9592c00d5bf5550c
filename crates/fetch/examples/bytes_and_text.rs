//! Reads small objects into memory.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url::{Error, Fetcher};
use fetch_url_tests::{HttpResponse, HttpServer};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server =
        HttpServer::start(|_| HttpResponse::new(200).header("Content-Type", "text/plain").body("hello\n"))?;
    let fetcher = Fetcher::new();

    let response = fetcher.get(server.url("/a")).await?;
    println!("{} {:?} {:?}", response.url(), response.content_type(), response.size());
    println!("{}", response.text().await?.trim_end());

    let bytes = fetcher.get(server.url("/b")).await?.bytes().await?;
    println!("{} bytes", bytes.len());
    Ok(())
}
