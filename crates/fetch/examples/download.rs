//! Downloads a file with resume, checksum and progress. The file gets its name only when it is complete and right.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url::{Error, Fetcher};
use fetch_url_tests::{HttpResponse, HttpServer};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("hello\n"))?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("hello.txt");

    let sha256 = "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03".parse()?;
    let receipt = Fetcher::new()
        .download(server.url("/hello.txt"), &path)
        .resume()
        .checksum(sha256)
        .progress(|done, total| println!("{done} of {total:?} bytes"))
        .await?;
    println!("{}: {} bytes, {}", path.display(), receipt.bytes, receipt.proof);
    Ok(())
}
