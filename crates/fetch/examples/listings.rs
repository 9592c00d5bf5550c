//! Lists an FTP directory and a gopher menu. Both give the same entries.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url::{Error, Fetcher};
use fetch_url_tests::{FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let ftp = FtpServer::start(FtpConfig::new().file("/pub/a.txt", "a").file("/pub/b.txt", "bb"))?;
    let menu = GopherItem::menu("", &["0About\t/about\tlocalhost\t70"]);
    let gopher = GopherServer::start(GopherConfig::new().item(menu))?;
    let fetcher = Fetcher::new();

    for url in [ftp.url("/pub/"), gopher.url("")] {
        let mut listing = fetcher.list(&url).await?;
        while let Some(entry) = listing.next().await? {
            println!("{:?} {} {:?}", entry.kind, String::from_utf8_lossy(&entry.name), entry.url);
        }
    }
    Ok(())
}
