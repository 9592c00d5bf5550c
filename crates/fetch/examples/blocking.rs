//! The same for programs without an async runtime.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url::{Error, blocking};
use fetch_url_tests::{HttpResponse, HttpServer};

fn main() -> Result<(), Error> {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("hello\n"))?;
    let fetcher = blocking::Fetcher::new()?;
    println!("{}", fetcher.get(server.url("/"))?.text()?.trim_end());

    let folder = tempfile::tempdir()?;
    let receipt =
        fetcher.download(server.url("/"), folder.path().join("hello.txt"), |download| download.resume())?;
    println!("{} bytes, {}", receipt.bytes, receipt.proof);
    Ok(())
}
