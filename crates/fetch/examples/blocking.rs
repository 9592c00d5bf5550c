//! For programs without a runtime: read a small object, save a large one.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url::{Error, blocking};

fn main() -> Result<(), Error> {
    let fetcher = blocking::Fetcher::new()?;
    let url = format!("file://{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    let text = fetcher.read(&url, 1024 * 1024)?;
    println!("{}", String::from_utf8_lossy(&text).lines().next().unwrap_or_default());

    let target = std::env::temp_dir().join(format!("fetch-url-example-{}", std::process::id()));
    let receipt = fetcher.save(&url, &target)?;
    println!("saved: {}", receipt.proof);
    // The example leaves nothing behind.
    let _ = std::fs::remove_file(&target);
    Ok(())
}
