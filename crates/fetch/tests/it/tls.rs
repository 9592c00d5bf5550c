//! TLS: valid, expired, foreign and self-signed server certificates, with CAs of the caller and of the system; pins,
//! client certificates, versions (docs/spec/faults.md, row 42).
//!
//! Host names that need a resolver are tested in `src/net/tls/tls_tests.rs`.

use fetch_url::tls::TlsVersion::{V12, V13};
use fetch_url::tls::{Identity, Pins};
use fetch_url::{Code, Content, Error, Fetcher, Hint, Phase, TlsOptions, Trust};
use fetch_url_tests::{HttpResponse, HttpServer, Script, ScriptServer, ServerCert};

/// Code, phase, exit status.
type Kind = (Code, Phase, u8);

const CERTIFICATE: Kind = (Code::TlsFailed, Phase::Certificate, 60);
const HANDSHAKE: Kind = (Code::TlsFailed, Phase::Tls, 35);
const USAGE: Kind = (Code::Usage, Phase::Plan, 2);

const FOREIGN: &str = "the certificate is not signed by the authority that it names";
const SELF_SIGNED: &str = "the certificate is self-signed";
const UNKNOWN: &str = "the certificate was issued by an unknown authority";

const OTHER_AUTHORITY: Option<&Hint> = Some(&Hint::CustomAuthority);

fn made(cert: std::io::Result<ServerCert>) -> ServerCert {
    cert.expect("a certificate")
}

fn trusting(pem: &str) -> TlsOptions {
    TlsOptions::default().trust(Trust::Authorities(pem.as_bytes().to_vec()))
}

fn anybody() -> TlsOptions {
    TlsOptions::default().trust(Trust::AnyCertificate)
}

fn fetcher(options: TlsOptions) -> Fetcher {
    Fetcher::builder().tls(options).build()
}

fn serve(cert: &ServerCert) -> HttpServer {
    HttpServer::start_tls(|_| HttpResponse::new(200).body("octets"), cert).expect("a server")
}

async fn get(fetcher: &Fetcher, url: &str) -> Result<Vec<u8>, Error> {
    match fetcher.get(url).await?.content {
        Content::Body(body) => body.collect(1000).await,
        other => panic!("{other:?}"),
    }
}

/// Returns the result of a client with `options` for the server of `cert`. Nothing is sent to the server if the
/// handshake fails.
async fn outcome(cert: &ServerCert, options: TlsOptions) -> Result<(), Error> {
    let server = serve(cert);
    let result = get(&fetcher(options), &server.url("/")).await.map(|body| assert_eq!(body, b"octets"));
    if result.is_err() {
        assert!(server.requests().is_empty(), "the request was answered");
    }
    result
}

#[track_caller]
fn assert_failed(result: Result<(), Error>, kind: Kind, words: &str, hint: Option<&Hint>, row: &str) {
    let error = result.expect_err(row);
    assert_eq!((error.code(), error.phase(), error.exit_status()), kind, "{row}: {error:?}");
    assert!(error.to_string().contains(words), "{row}: {words:?} is not in {error}");
    assert_eq!(error.hint(), hint, "{row}");
    assert!(!error.is_transient(), "{row}");
}

#[tokio::test]
async fn valid_certificates_of_a_trusted_ca_are_accepted() {
    for cert in [
        ServerCert::good(),
        ServerCert::self_signed(),
        ServerCert::self_signed_ca(),
        ServerCert::self_signed_ca_with_key_usage(),
        ServerCert::self_signed_ca().map(ServerCert::only_tls12),
        ServerCert::self_signed_ca().map(ServerCert::only_tls13),
        ServerCert::with_intermediate(),
        ServerCert::for_names(&["127.0.0.1"]),
        ServerCert::for_names(&["a.test", "192.0.2.1", "127.0.0.1", "*.b.test"]),
        ServerCert::good().map(ServerCert::only_tls12),
        ServerCert::good().map(ServerCert::only_tls13),
    ] {
        let cert = made(cert);
        outcome(&cert, trusting(cert.ca_pem())).await.expect("an answer");
    }
    let cert = made(ServerCert::for_names(&["localhost"]));
    let server = serve(&cert);
    let by_name = format!("https://localhost:{}/", server.addr().port());
    assert_eq!(get(&fetcher(trusting(cert.ca_pem())), &by_name).await.expect("an answer"), b"octets");
}

/// Tests certificates with their own CA. A hint of `None` means that there is no advice.
#[tokio::test]
async fn faulty_certificates_are_rejected_with_the_reason() {
    let wrong_address = ServerCert::for_names(&["127.0.0.2", "localhost"]);
    let cut = ServerCert::with_intermediate().map(ServerCert::without_intermediates);
    for (name, cert, words, hint) in [
        ("expired", ServerCert::expired(), "expired on Mon, 01 Jan 2001", Some(&Hint::CertificateTime)),
        (
            "early",
            ServerCert::not_yet_valid(),
            "not valid before Sat, 01 Jan 4000",
            Some(&Hint::CertificateTime),
        ),
        (
            "wrong host",
            ServerCert::wrong_name(),
            "is for wrong.example, 192.0.2.1, not for 127.0.0.1",
            Some(&Hint::CertificateName),
        ),
        (
            "wrong address",
            wrong_address,
            "is for 127.0.0.2, localhost, not for 127.0.0.1",
            Some(&Hint::CertificateName),
        ),
        (
            "a name like an address",
            ServerCert::for_names(&["*.0.0.1"]),
            "not for 127.0.0.1",
            Some(&Hint::CertificateName),
        ),
        (
            "a common name",
            ServerCert::with_common_name_only("127.0.0.1"),
            "has no host names, so it is not for 127.0.0.1",
            Some(&Hint::CertificateName),
        ),
        (
            "no name",
            ServerCert::for_names(&[]),
            "has no host names, so it is not for 127.0.0.1",
            Some(&Hint::CertificateName),
        ),
        (
            "an expired authority's",
            ServerCert::expired_self_signed_ca(),
            "expired on Mon, 01 Jan 2001",
            Some(&Hint::CertificateTime),
        ),
        (
            "an authority's for another host",
            ServerCert::self_signed_ca_for_names(&["other.test"]),
            "is for other.test, not for 127.0.0.1",
            Some(&Hint::CertificateName),
        ),
        ("an authority's for clients", ServerCert::client_only_self_signed_ca(), "not for servers", None),
        ("a client's", ServerCert::client_only(), "not for servers", None),
        ("no intermediate", cut, UNKNOWN, OTHER_AUTHORITY),
    ] {
        let cert = made(cert);
        assert_failed(outcome(&cert, trusting(cert.ca_pem())).await, CERTIFICATE, words, hint, name);
        outcome(&cert, anybody()).await.expect("anybody is believed");
    }
}

#[tokio::test]
async fn certificates_of_an_untrusted_ca_are_rejected() {
    let foreign = made(ServerCert::good());
    // All test CAs have the same name, so the certificate of a foreign CA has the expected issuer name.
    for (name, cert, by_machine, by_foreign) in [
        ("good", ServerCert::good(), UNKNOWN, FOREIGN),
        ("chain", ServerCert::with_intermediate(), UNKNOWN, FOREIGN),
        ("self-signed", ServerCert::self_signed(), SELF_SIGNED, SELF_SIGNED),
    ] {
        let cert = made(cert);
        for (options, words) in
            [(TlsOptions::default(), by_machine), (trusting(foreign.ca_pem()), by_foreign)]
        {
            assert_failed(outcome(&cert, options).await, CERTIFICATE, words, OTHER_AUTHORITY, name);
        }
        outcome(&cert, anybody()).await.expect("anybody is believed");
    }
}

/// A self-signed certificate of an authority is accepted only where the caller gave exactly this certificate.
#[tokio::test]
async fn authority_as_server_is_rejected_unless_it_is_given() {
    let words = "that of an authority (CA:TRUE), not of a server";
    let (cert, other) = (made(ServerCert::self_signed_ca()), made(ServerCert::self_signed_ca()));
    let platform_and = |cert: &ServerCert| {
        TlsOptions::default().trust(Trust::PlatformAnd(cert.ca_pem().as_bytes().to_vec()))
    };
    for (name, options) in [
        ("another one of this name", trusting(other.ca_pem())),
        ("another one, besides the system's", platform_and(&other)),
        ("the system's", TlsOptions::default()),
        ("a usual authority", trusting(made(ServerCert::good()).ca_pem())),
    ] {
        assert_failed(outcome(&cert, options).await, CERTIFICATE, words, OTHER_AUTHORITY, name);
    }
    // Without the private key, the certificate is worth nothing.
    let thief = cert.clone().with_key_of(&other);
    let result = outcome(&thief, trusting(cert.ca_pem())).await;
    assert_failed(result, CERTIFICATE, "does not have the private key of its certificate", None, "a copy");
    let pinned = trusting(cert.ca_pem()).pins(pin(&other));
    assert_failed(outcome(&cert, pinned).await, CERTIFICATE, "not a pinned one", None, "another pin");
    outcome(&cert, platform_and(&cert)).await.expect("given besides the system's");
    let both = format!("{}{}", other.ca_pem(), cert.ca_pem());
    outcome(&cert, trusting(&both)).await.expect("the second one of two");
}

#[tokio::test]
async fn invalid_ca_files_are_a_usage_error() {
    let cert = made(ServerCert::good());
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let beside = format!("{}{garbage}", cert.ca_pem());
    for (name, pem, words) in [
        ("nothing", "", "contains no certificate"),
        ("words", "nonsense", "contains no certificate"),
        ("a key", cert.key_pem(), "contains no certificate"),
        ("garbage", garbage, "contains a malformed certificate"),
        ("a good one and garbage", &beside, "contains a malformed certificate"),
        ("no end", &cert.ca_pem()[..100], "the PEM of the certification authorities: "),
        (
            "no base64",
            "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
            "the PEM of the certification authorities: ",
        ),
    ] {
        assert_failed(outcome(&cert, trusting(pem)).await, USAGE, words, None, name);
    }
}

fn identity(cert: &ServerCert) -> Identity {
    Identity::from_pem(cert.cert_pem().as_bytes(), cert.key_pem().as_bytes()).expect("an identity")
}

#[tokio::test]
async fn handshake_fails_unless_the_required_client_certificate_is_sent() {
    let client = made(ServerCert::client_only());
    let below = made(ServerCert::with_intermediate());
    let expired = made(ServerCert::expired());
    let stranger = made(ServerCert::self_signed());
    let missing = ("requires a client certificate", Some(&Hint::ClientCertificate));
    let refused = ("rejects the client certificate", None);
    for (name, asked, shown, expected) in [
        ("given", &client, Some(&client), Ok(())),
        ("given with its intermediate", &below, Some(&below), Ok(())),
        ("missing", &client, None, Err(missing)),
        ("of no authority", &client, Some(&stranger), Err(refused)),
        ("expired", &expired, Some(&expired), Err(refused)),
    ] {
        for server in [made(ServerCert::good()).only_tls12(), made(ServerCert::good()).only_tls13()] {
            let options = match shown {
                Some(shown) => trusting(server.ca_pem()).identity(identity(shown)),
                None => trusting(server.ca_pem()),
            };
            let result = outcome(&server.requiring_client_cert(asked), options).await;
            match expected {
                Ok(()) => result.expect(name),
                Err((words, hint)) => assert_failed(result, HANDSHAKE, words, hint, name),
            }
        }
    }
    let server = made(ServerCert::good());
    let options = trusting(server.ca_pem()).identity(identity(&client));
    outcome(&server, options).await.expect("a server that does not ask");
}

fn pin(cert: &ServerCert) -> Pins {
    Pins::from_public_key(cert.public_key_der()).expect("a public key")
}

#[tokio::test]
async fn certificate_without_the_pinned_key_is_rejected() {
    let (cert, other) = (made(ServerCert::good()), made(ServerCert::good()));
    let (expired, foreign) = (made(ServerCert::expired()), made(ServerCert::self_signed()));
    let words = "the public key of the certificate is not a pinned one";
    let unpinned = Some((words, None));
    let unknown = Some((SELF_SIGNED, OTHER_AUTHORITY));
    for (name, server, options, expected) in [
        ("match", &cert, trusting(cert.ca_pem()).pins(pin(&cert)), None),
        ("match, anybody", &cert, anybody().pins(pin(&cert)), None),
        ("match, anybody, self-signed", &foreign, anybody().pins(pin(&foreign)), None),
        ("mismatch", &cert, trusting(cert.ca_pem()).pins(pin(&other)), unpinned),
        ("mismatch, anybody", &cert, anybody().pins(pin(&other)), unpinned),
        ("match, but unknown", &foreign, trusting(other.ca_pem()).pins(pin(&foreign)), unknown),
        (
            "match, but expired",
            &expired,
            trusting(expired.ca_pem()).pins(pin(&expired)),
            Some(("expired on", Some(&Hint::CertificateTime))),
        ),
    ] {
        let result = outcome(server, options).await;
        match expected {
            None => result.expect(name),
            Some((words, hint)) => assert_failed(result, CERTIFICATE, words, hint, name),
        }
    }
}

/// A pin is for the server's own key; a pin for the key of its CA does not match.
#[tokio::test]
async fn pin_is_checked_for_each_server() {
    let cert = made(ServerCert::with_intermediate());
    let fetcher = fetcher(anybody().pins(pin(&cert)));
    let (server, other) = (serve(&cert), serve(&made(ServerCert::good())));
    for _ in 0..3 {
        assert!(get(&fetcher, &server.url("/")).await.is_ok());
        let refused = get(&fetcher, &other.url("/")).await.map(drop);
        assert_failed(refused, CERTIFICATE, "not a pinned one", None, "another server");
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn handshake_fails_without_a_common_tls_version() {
    let (old, new) = (made(ServerCert::good()).only_tls12(), made(ServerCert::good()).only_tls13());
    let words = "supports no TLS version that is enabled";
    for (name, server, min, max, is_good) in [
        ("1.2 of both", &old, V12, V13, true),
        ("1.3 of both", &new, V12, V13, true),
        ("1.2 only", &old, V12, V12, true),
        ("1.3 only", &new, V13, V13, true),
        ("at least 1.3", &old, V13, V13, false),
        ("at most 1.2", &new, V12, V12, false),
    ] {
        let options = trusting(server.ca_pem()).versions(min, max).expect("a range");
        let result = outcome(server, options).await;
        if is_good {
            result.expect(name);
        } else {
            assert_failed(result, HANDSHAKE, words, None, name);
        }
    }
    let none = TlsOptions::default().versions(V13, V12).map(drop);
    assert_failed(none, USAGE, "minimum TLS version 1.3 is greater", None, "none");
}

#[tokio::test]
async fn plaintext_server_fails_the_handshake() {
    let mut told = Vec::new();
    for text in ["S: 220 ftp ready", "S: HTTP/1.1 400 Bad Request", "@close", "@reset"] {
        let script = Script::parse(text).expect("a script");
        let server = ScriptServer::start(vec![script]).expect("a server");
        let url = format!("https://{}/", server.addr());
        let error = get(&Fetcher::new(), &url).await.expect_err("no handshake");
        let is_told = !text.starts_with("S:") || error.to_string().contains("is not TLS");
        if (error.code(), error.phase(), error.exit_status()) != HANDSHAKE || !is_told {
            told.push(format!("{text}: {error:?}"));
        }
    }
    assert!(told.is_empty(), "{told:#?}");
}

/// One fetcher and two servers: the TLS state of one server is not used for the other.
#[tokio::test]
async fn tls_state_of_one_server_does_not_make_another_trusted() {
    let good = made(ServerCert::good());
    let (server, other) = (serve(&good), serve(&made(ServerCert::good())));
    let fetcher = Fetcher::builder().trust(Trust::Authorities(good.ca_pem().into())).build();
    for _ in 0..3 {
        assert!(get(&fetcher, &server.url("/")).await.is_ok());
        let refused = get(&fetcher, &other.url("/")).await.map(drop);
        assert_failed(refused, CERTIFICATE, FOREIGN, OTHER_AUTHORITY, "another authority");
    }
}
