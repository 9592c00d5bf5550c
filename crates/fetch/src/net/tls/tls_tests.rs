//! Handshakes over a pipe in memory, for host names that cannot be resolved (docs/spec/faults.md, row 42).

use std::sync::Arc;

use fetch_url_tests::ServerCert;
use rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::*;

/// Returns the result of a handshake for `host` with a server that has `cert`.
async fn shake(cert: &ServerCert, host: &str, options: TlsOptions) -> Result<(), Error> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let acceptor = TlsAcceptor::from(cert.server_config().expect("a configuration"));
    let connector = TlsConnector::from(Tls::new(options).config()?);
    let name = ServerName::try_from(host.to_owned()).expect("a name");
    let (client, _) = tokio::join!(connector.connect(name, near), acceptor.accept(far));
    client.map(drop).map_err(|error| to_tls_error(find_tls_error(&error).expect("an error of TLS")))
}

fn trusting(cert: &ServerCert) -> TlsOptions {
    TlsOptions::default().trust(Trust::Authorities(cert.ca_pem().into()))
}

#[track_caller]
fn assert_refused(result: Result<(), Error>, words: &str) {
    let error = result.expect_err(words);
    let kind = (error.code(), error.phase(), error.exit_status());
    assert_eq!(kind, (Code::TlsFailed, Phase::Certificate, 60), "{error}");
    assert!(error.to_string().contains(words), "{words:?} is not in {error}");
}

/// The names of a certificate, hosts that match it, hosts that do not.
const NAMES: &[(&[&str], &[&str], &[&str])] = &[
    (&["a.test"], &["a.test", "A.TEST"], &["b.test", "a.test.evil.example", "x.a.test", "test"]),
    (&["*.a.test"], &["x.a.test", "xn--bcher-kva.a.test"], &["x.y.a.test", "a.test", "xa.test"]),
    (&["*.a.test", "a.test"], &["a.test", "x.a.test"], &["x.y.a.test"]),
    // A wildcard must be the complete first label of a name with more labels (RFC 6125 §6.4.3, RFC 9525 §6.3).
    (&["*"], &[], &["a", "a.test"]),
    (&["*.*.test"], &[], &["x.a.test", "x.y.test"]),
    (&["x.*.test"], &[], &["x.a.test"]),
    (&["f*.a.test"], &[], &["foo.a.test", "f.a.test"]),
    // webpki rejects wildcards directly below a top-level domain.
    (&["*.test"], &[], &["a.test", "test", "a.b.test"]),
    (&["a.test\0.evil.example"], &[], &["a.test", "evil.example"]),
    (&["\0"], &[], &["a.test"]),
    (&["a.test."], &[], &["b.test"]),
    (&[], &[], &["a.test", "192.0.2.1"]),
    (&["192.0.2.1"], &["192.0.2.1"], &["192.0.2.2", "a.test", "::ffff:192.0.2.1"]),
    (&["2001:db8::1"], &["2001:db8::1", "2001:db8:0:0::0:1"], &["2001:db8::2", "a.test"]),
    // A DNS name never matches an address.
    (&["*.0.2.1"], &[], &["192.0.2.1"]),
];

#[tokio::test]
async fn certificate_names_match_hosts_by_rfc_9525() {
    for (names, good, bad) in NAMES {
        let cert = ServerCert::for_names(names).expect("a certificate");
        for host in *good {
            shake(&cert, host, trusting(&cert))
                .await
                .unwrap_or_else(|error| panic!("{names:?} {host}: {error}"));
        }
        for host in *bad {
            assert_refused(shake(&cert, host, trusting(&cert)).await, &format!("not for {host}"));
        }
    }
}

/// With `Trust::AnyCertificate`, host names are not checked either.
#[tokio::test]
async fn any_certificate_is_accepted_without_verification() {
    let options = || TlsOptions::default().trust(Trust::AnyCertificate);
    for cert in [ServerCert::for_names(&["b.test"]), ServerCert::expired(), ServerCert::self_signed()] {
        shake(&cert.expect("a certificate"), "a.test", options()).await.expect("anybody");
    }
}

/// A certificate is public, so the server must prove that it has the private key.
#[tokio::test]
async fn server_without_the_private_key_is_rejected() {
    let (own, other) = (ServerCert::good().expect("one"), ServerCert::good().expect("two"));
    let thief = own.clone().with_key_of(&other);
    for thief in [thief.clone().only_tls12(), thief.only_tls13()] {
        for options in [trusting(&own), TlsOptions::default().trust(Trust::AnyCertificate)] {
            assert_refused(
                shake(&thief, "localhost", options).await,
                "does not have the private key of its certificate",
            );
        }
    }
}

/// Checks the complete message.
#[tokio::test]
async fn wrong_name_error_lists_the_names_of_the_certificate() {
    let cert = ServerCert::for_names(&["a.test", "*.b.test", "192.0.2.1"]).expect("a certificate");
    let error = shake(&cert, "c.test", trusting(&cert)).await.expect_err("another name");
    let words = "TLS failed: the certificate is for a.test, *.b.test, 192.0.2.1, not for c.test";
    assert_eq!((error.to_string().as_str(), error.hint()), (words, Some(&crate::Hint::CertificateName)));
    let nul = ServerCert::for_names(&["a.test\0.evil.example"]).expect("a certificate");
    let error = shake(&nul, "a.test", trusting(&nul)).await.expect_err("another name");
    assert!(!error.to_string().contains('\0'), "{error:?}");
}

#[test]
fn configuration_is_created_once() {
    let tls = Tls::default();
    let (one, two) = (tls.config().expect("a configuration"), tls.config().expect("the same"));
    assert!(Arc::ptr_eq(&one, &two));
}
