//! Who a server is: good, expired, foreign and self-made certificates, under authorities of the caller's
//! choice and under the machine's (SECURITY.md, row 42).

#![allow(clippy::expect_used, reason = "a helper of tests")]

use fetch_url::{Code, Content, Error, Fetcher, Phase, Trust};
use fetch_url_tests::{HttpReply, HttpServer, Script, ScriptServer, ServerCert};

fn trusting(pem: &str) -> Fetcher {
    Fetcher::builder().trust(Trust::Authorities(pem.as_bytes().to_vec())).build()
}

fn serve(cert: &ServerCert) -> HttpServer {
    HttpServer::start_tls(|_| HttpReply::new(200).body("octets"), cert).expect("a server")
}

async fn get(fetcher: &Fetcher, url: &str) -> Result<Vec<u8>, Error> {
    match fetcher.get(url).await?.content {
        Content::Body(body) => body.collect(1000).await,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn is_about_the_certificate(result: Result<Vec<u8>, Error>, what: &str) {
    let error = result.expect_err(what);
    assert_eq!(
        (error.code(), error.phase(), error.exit()),
        (Code::TlsFailed, Phase::Certificate, 60),
        "{what}"
    );
    assert!(!error.is_temporary());
}

#[tokio::test]
async fn a_good_certificate_under_its_authority() {
    let cert = ServerCert::good().expect("a certificate");
    let server = serve(&cert);
    let fetcher = trusting(cert.ca_pem());
    assert_eq!(get(&fetcher, &server.url("/")).await.expect("an answer"), b"octets");
    let by_name = format!("https://localhost:{}/", server.addr().port());
    assert_eq!(get(&fetcher, &by_name).await.expect("an answer"), b"octets");
}

#[tokio::test]
async fn faulty_certificates_are_refused_and_nothing_is_sent() {
    let foreign = ServerCert::good().expect("a certificate");
    for (name, cert) in [
        ("expired", ServerCert::expired()),
        ("wrong name", ServerCert::wrong_name()),
        ("self-signed", ServerCert::self_signed()),
        ("good", ServerCert::good()),
    ] {
        let cert = cert.expect("a certificate");
        let server = serve(&cert);
        // Its own authority is of no help to the expired and the misnamed.
        if ["expired", "wrong name"].contains(&name) {
            is_about_the_certificate(get(&trusting(cert.ca_pem()), &server.url("/")).await, name);
        }
        is_about_the_certificate(get(&trusting(foreign.ca_pem()), &server.url("/")).await, name);
        is_about_the_certificate(get(&Fetcher::new(), &server.url("/")).await, name);
        assert!(server.requests().is_empty(), "{name}: the request was sent");
    }
}

#[tokio::test]
async fn authorities_that_are_none() {
    let server = serve(&ServerCert::good().expect("a certificate"));
    for pem in ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let error = get(&trusting(pem), &server.url("/")).await.expect_err("nobody is believed");
        assert_eq!(error.code(), Code::TlsFailed, "{error:?}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_server_that_speaks_no_tls() {
    let mut told = Vec::new();
    for text in ["S: 220 ftp ready", "S: HTTP/1.1 400 Bad Request", "@close", "@reset"] {
        let script = Script::parse(text).expect("a script");
        let server = ScriptServer::start(vec![script]).expect("a server");
        let url = format!("https://{}/", server.addr());
        let error = get(&Fetcher::new(), &url).await.expect_err("no handshake");
        if (error.code(), error.exit()) != (Code::TlsFailed, 35) {
            told.push(format!("{text}: {error:?}"));
        }
    }
    assert!(told.is_empty(), "{told:#?}");
}

/// One fetcher, two servers: what was learnt of one says nothing of the other.
#[tokio::test]
async fn trust_is_not_carried_over() {
    let good = ServerCert::good().expect("a certificate");
    let (server, other) = (serve(&good), serve(&ServerCert::good().expect("a certificate")));
    let fetcher = trusting(good.ca_pem());
    for _ in 0..3 {
        assert!(get(&fetcher, &server.url("/")).await.is_ok());
        is_about_the_certificate(get(&fetcher, &other.url("/")).await, "another authority");
    }
}
