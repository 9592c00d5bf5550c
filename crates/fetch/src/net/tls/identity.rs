//! Client certificates and their private keys.

use std::fmt;
use std::sync::Arc;

use rustls::CertificateError::BadEncoding;
use rustls::InconsistentKeys::KeyMismatch;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::{provider, usage};
use crate::{Error, Hint};

/// Markers of encrypted keys in PEM: PKCS #8 (RFC 5958) and the older form of OpenSSL.
const ENCRYPTED: [&[u8]; 2] = [b"-----BEGIN ENCRYPTED PRIVATE KEY-----", b"Proc-Type: 4,ENCRYPTED"];

/// A client certificate with its private key. `Debug` does not show the key.
#[derive(Clone)]
pub struct Identity(Arc<CertifiedKey>);

impl Identity {
    /// Creates an identity from PEM: `certificates` holds the certificate and its intermediates, `key` the private
    /// key in PKCS #8, PKCS #1 or SEC 1. Other PEM sections are ignored, so both may be the same file.
    ///
    /// # Errors
    /// `Code::Usage` if a certificate or key is missing, invalid or encrypted, or they do not belong together.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, Error> {
        let key = private_key(key)?;
        let chain = chain(certificates)?;
        let key = provider().key_provider.load_private_key(key);
        let key = key.map_err(|_| usage("the private key is malformed, or of an unsupported type"))?;
        let identity = CertifiedKey::new(chain, key);
        match identity.keys_match() {
            Err(rustls::Error::InconsistentKeys(KeyMismatch)) => {
                Err(usage("the private key is not that of the client certificate"))
            }
            Err(rustls::Error::InvalidCertificate(BadEncoding)) => {
                Err(usage("the client certificate is malformed"))
            }
            // Other errors, such as an old version of X.509, are left to the server.
            Ok(()) | Err(_) => Ok(Self(Arc::new(identity))),
        }
    }

    pub(super) fn resolver(&self) -> Arc<dyn ResolvesClientCert> {
        Arc::new(SingleCertAndKey::from(self.0.clone()))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("certificates", &self.0.cert.len()).finish_non_exhaustive()
    }
}

fn chain(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let chain = chain.map_err(|_| usage("the PEM of the client certificate is malformed"))?;
    if chain.is_empty() {
        Err(usage("the PEM of the client certificate contains no certificate"))
    } else {
        Ok(chain)
    }
}

/// Parses the private key. The message of the PEM parser is not shown, because it may quote the key.
fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, Error> {
    if ENCRYPTED.iter().any(|mark| pem.windows(mark.len()).any(|window| window == *mark)) {
        let hint = "openssl pkey -in FILE -out PLAIN decrypts it";
        return Err(usage("the client's private key is encrypted").with_hint(hint));
    }
    match PrivateKeyDer::pem_slice_iter(pem).next() {
        Some(Ok(key)) => Ok(key),
        Some(Err(_)) => Err(usage("the PEM of the client's private key is malformed")),
        None => Err(usage("the client certificate's private key is missing").with_hint(Hint::ClientKey)),
    }
}

#[cfg(test)]
mod tests {
    use fetch_url_tests::ServerCert;

    use super::*;
    use crate::Code;

    #[test]
    fn invalid_certificates_and_keys_are_usage_errors() {
        let (own, other) = (ServerCert::good().expect("one"), ServerCert::good().expect("two"));
        let (cert, key) = (own.cert_pem(), own.key_pem());
        let pkcs8 = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let legacy = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n\
                      AAAA\n-----END RSA PRIVATE KEY-----\n";
        let garbage = |kind| format!("-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n");
        let cut = &key[..key.len() / 2];
        for (name, cert, key, words) in [
            ("no certificate", "", key, "contains no certificate"),
            ("a key for a certificate", key, key, "contains no certificate"),
            ("garbage for a certificate", &garbage("CERTIFICATE"), key, "certificate is malformed"),
            ("a cut certificate", &cert[..cert.len() / 2], key, "PEM of the client certificate is malformed"),
            ("no key", cert, "", "private key is missing"),
            ("a certificate for a key", cert, cert, "private key is missing"),
            ("garbage for a key", cert, &garbage("PRIVATE KEY"), "private key is malformed"),
            ("a cut key", cert, cut, "private key is malformed"),
            ("encrypted", cert, pkcs8, "private key is encrypted"),
            ("encrypted the old way", cert, legacy, "private key is encrypted"),
            ("encrypted beside its certificate", legacy, legacy, "private key is encrypted"),
            ("another's key", cert, other.key_pem(), "not that of the client certificate"),
        ] {
            let error = Identity::from_pem(cert.as_bytes(), key.as_bytes()).expect_err(name);
            assert_eq!((error.code(), error.exit_status()), (Code::Usage, 2), "{name}");
            assert!(error.to_string().contains(words), "{name}: {error}");
        }
    }

    #[test]
    fn certificate_and_key_may_be_in_one_file_in_any_order() {
        let own = ServerCert::good().expect("one");
        let (cert, key) = (own.cert_pem(), own.key_pem());
        for pem in [format!("{cert}{key}"), format!("{key}{cert}"), format!("words\n{cert}\nmore\n{key}")] {
            assert!(Identity::from_pem(pem.as_bytes(), pem.as_bytes()).is_ok(), "{pem}");
        }
    }

    #[test]
    fn debug_does_not_show_the_key() {
        let own = ServerCert::good().expect("one");
        let identity = Identity::from_pem(own.cert_pem().as_bytes(), own.key_pem().as_bytes()).expect("two");
        let options = crate::TlsOptions::default().identity(identity);
        let shown = format!("{options:?}");
        assert!(shown.contains("Identity { certificates: 1, .. }"), "{shown}");
    }
}
