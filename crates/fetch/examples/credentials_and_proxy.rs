//! A user name and a password, a header, a proxy, and a certification authority of one's own.
#![allow(clippy::print_stdout, reason = "an example prints")]

use fetch_url::{Credential, Credentials, Error, Fetcher, Request, TlsOptions, Trust};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, ProxyServer, ServerCert};

/// The server answers with the headers that it received.
fn answer(request: &HttpRequest) -> HttpResponse {
    HttpResponse::new(200).body(format!(
        "{:?} {:?}",
        request.header("authorization"),
        request.header("x-key")
    ))
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let cert = ServerCert::good()?;
    let server = HttpServer::start_tls(answer, &cert)?;
    let proxy = ProxyServer::http()?;
    let fetcher = Fetcher::builder()
        .credentials(Credentials::default().for_host("127.0.0.1", Credential::login("me", "secret")))
        .proxy(proxy.url().parse()?)
        .tls(TlsOptions::default().trust(Trust::PlatformAnd(cert.ca_pem().into())))
        .try_build()?;
    let request: Request = server.url("/").parse()?;
    println!("{}", fetcher.get(request.header("X-Key", "42")).await?.text().await?);
    Ok(())
}
