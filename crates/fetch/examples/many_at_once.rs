//! Fetches 200 URLs at once on a multi-thread runtime. Clones of a fetcher share its connections.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url::{Error, Fetcher};
use fetch_url_tests::{HttpResponse, HttpServer};
use tokio::task::JoinSet;

#[tokio::main(flavor = "multi_thread")]
async fn main() -> Result<(), Error> {
    let server = HttpServer::start(|request| HttpResponse::new(200).body(request.target.clone()))?;
    let fetcher = Fetcher::new();
    let mut tasks = JoinSet::new();
    for number in 0..200 {
        let (fetcher, url) = (fetcher.clone(), server.url(&format!("/{number}")));
        tasks.spawn(async move { fetcher.get(url).await?.bytes().await });
    }
    let mut total = 0;
    while let Some(body) = tasks.join_next().await {
        total += body.map_err(std::io::Error::from)??.len();
    }
    println!("{total} bytes over {} connections", server.connections());
    Ok(())
}
