//! Passes a body on without holding it in memory: as a stream of chunks, and as a reader.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::future::poll_fn;
use std::pin::pin;

use fetch_url::{Error, Fetcher};
use fetch_url_tests::{HttpResponse, HttpServer};
use futures_core::Stream as _;
use tokio::io::{AsyncBufReadExt as _, copy, sink};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("one\ntwo\n"))?;
    let fetcher = Fetcher::new();

    let mut stream = pin!(fetcher.get(server.url("/")).await?.bytes_stream()?);
    while let Some(chunk) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        println!("a chunk of {} bytes", chunk?.len());
    }

    let mut reader = fetcher.get(server.url("/")).await?.reader()?;
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let rest = copy(&mut reader, &mut sink()).await?;
    println!("first line: {}, then {rest} bytes", line.trim_end());
    Ok(())
}
