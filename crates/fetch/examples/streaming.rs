//! Reads an object piece by piece, without a file: counts the lines of a file on this machine.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url::{Content, Error, Fetcher};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let url = format!("file://{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    let response = Fetcher::new().get(&url).await?;
    let size = response.meta.head.size;
    let Content::Body(mut body) = response.content else { return Ok(()) };
    let mut lines = 0;
    while let Some(chunk) = body.chunk().await? {
        lines += chunk.iter().filter(|&&octet| octet == b'\n').count();
    }
    println!("{lines} lines in {size:?} octets, {}", body.proof());
    Ok(())
}
