//! Handshakes over a pipe in memory, for the host names that no resolver knows (SECURITY.md, row 42).

use std::sync::Arc;

use fetch_url_tests::ServerCert;
use rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::*;

/// What comes of a handshake with the server that has `cert`, when `host` is asked for.
async fn shake(cert: &ServerCert, host: &str, options: TlsOptions) -> Result<(), Error> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let acceptor = TlsAcceptor::from(cert.server_config().expect("a configuration"));
    let connector = TlsConnector::from(Tls::new(options).config()?);
    let name = ServerName::try_from(host.to_owned()).expect("a name");
    let (client, _) = tokio::join!(connector.connect(name, near), acceptor.accept(far));
    client.map(drop).map_err(|error| super::error(inside(&error).expect("an error of TLS")))
}

fn trusting(cert: &ServerCert) -> TlsOptions {
    TlsOptions::default().trust(Trust::Authorities(cert.ca_pem().into()))
}

#[track_caller]
fn assert_refused(result: Result<(), Error>, words: &str) {
    let error = result.expect_err(words);
    let kind = (error.code(), error.phase(), error.exit());
    assert_eq!(kind, (Code::TlsFailed, Phase::Certificate, 60), "{error}");
    assert!(error.to_string().contains(words), "{words:?} is not in {error}");
}

/// The certificate's names, who it is good for, who it is not.
const NAMES: &[(&[&str], &[&str], &[&str])] = &[
    (&["a.test"], &["a.test", "A.TEST"], &["b.test", "a.test.evil.example", "x.a.test", "test"]),
    (&["*.a.test"], &["x.a.test", "xn--bcher-kva.a.test"], &["x.y.a.test", "a.test", "xa.test"]),
    (&["*.a.test", "a.test"], &["a.test", "x.a.test"], &["x.y.a.test"]),
    // A wildcard is a whole label, the first one, and not all there is (RFC 6125 §6.4.3, RFC 9525 §6.3).
    (&["*"], &[], &["a", "a.test"]),
    (&["*.*.test"], &[], &["x.a.test", "x.y.test"]),
    (&["x.*.test"], &[], &["x.a.test"]),
    (&["f*.a.test"], &[], &["foo.a.test", "f.a.test"]),
    // Nor does one stand above a whole top-level domain: webpki's rule.
    (&["*.test"], &[], &["a.test", "test", "a.b.test"]),
    (&["a.test\0.evil.example"], &[], &["a.test", "evil.example"]),
    (&["\0"], &[], &["a.test"]),
    (&["a.test."], &[], &["b.test"]),
    (&[], &[], &["a.test", "192.0.2.1"]),
    (&["192.0.2.1"], &["192.0.2.1"], &["192.0.2.2", "a.test", "::ffff:192.0.2.1"]),
    (&["2001:db8::1"], &["2001:db8::1", "2001:db8:0:0::0:1"], &["2001:db8::2", "a.test"]),
    // A name is not asked for an address.
    (&["*.0.2.1"], &[], &["192.0.2.1"]),
];

#[tokio::test]
async fn names() {
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

/// What is asked of the name is asked under an authority only.
#[tokio::test]
async fn anybody_may_have_any_name() {
    let options = || TlsOptions::default().trust(Trust::Anybody);
    for cert in [ServerCert::for_names(&["b.test"]), ServerCert::expired(), ServerCert::self_signed()] {
        shake(&cert.expect("a certificate"), "a.test", options()).await.expect("anybody");
    }
}

/// A certificate is public: who has only that is nobody.
#[tokio::test]
async fn the_key_of_another() {
    let (own, other) = (ServerCert::good().expect("one"), ServerCert::good().expect("two"));
    let thief = own.clone().with_the_key_of(&other);
    for thief in [thief.clone().only_tls12(), thief.only_tls13()] {
        for options in [trusting(&own), TlsOptions::default().trust(Trust::Anybody)] {
            assert_refused(shake(&thief, "localhost", options).await, "does not hold the certificate's key");
        }
    }
}

/// The words for those names, whole.
#[tokio::test]
async fn a_wrong_name_is_told_with_the_right_ones() {
    let cert = ServerCert::for_names(&["a.test", "*.b.test", "192.0.2.1"]).expect("a certificate");
    let error = shake(&cert, "c.test", trusting(&cert)).await.expect_err("another name");
    let words = "TLS failed: the certificate is for a.test, *.b.test, 192.0.2.1, not for c.test";
    assert_eq!((error.to_string().as_str(), error.hint()), (words, None));
    let nul = ServerCert::for_names(&["a.test\0.evil.example"]).expect("a certificate");
    let error = shake(&nul, "a.test", trusting(&nul)).await.expect_err("another name");
    assert!(!error.to_string().contains('\0'), "{error:?}");
}

#[test]
fn the_configuration_is_made_once() {
    let tls = Tls::default();
    let (one, two) = (tls.config().expect("a configuration"), tls.config().expect("the same"));
    assert!(Arc::ptr_eq(&one, &two));
}
