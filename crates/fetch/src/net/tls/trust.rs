//! Trust in server certificates, and the verifier for it.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;

use super::ca_as_end_entity::CaAsEndEntityVerifier;
use super::usage;
use super::verify::AcceptAnyCertificate;
use crate::{Code, Error, Phase};

/// Which server certificates are trusted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Trust {
    /// All certificates (curl's `-k`). An attacker on the path can read and change all data. The server still has to
    /// prove that it has the private key of its certificate, and [pins](super::Pins) are still checked.
    AnyCertificate,
    /// Only certificates that these authorities in PEM have issued, and these certificates themselves, such as the
    /// self-signed certificate of a server. Host name and validity period are checked in both cases. If the PEM has no
    /// certificate or an invalid one, the first TLS connection fails with `Code::Usage`.
    Authorities(Vec<u8>),
    /// The trust store of the operating system, or Mozilla's roots if it is empty (default).
    #[default]
    Platform,
    /// The trust store of [`Platform`](Self::Platform) and these authorities in PEM.
    PlatformAnd(Vec<u8>),
}

impl Trust {
    pub(super) fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        match self {
            Self::AnyCertificate => {
                Ok(Arc::new(AcceptAnyCertificate::new(provider.signature_verification_algorithms)))
            }
            Self::Authorities(pem) => {
                let verifier = verifier_for_roots(authorities(pem)?, provider)?;
                Ok(Arc::new(CaAsEndEntityVerifier::new(verifier, certificates(pem)?)))
            }
            Self::Platform => match Verifier::new(provider.clone()) {
                Ok(verifier) => Ok(Arc::new(verifier)),
                // Minimal containers have no trust store.
                Err(_) => verifier_for_roots(mozilla(), provider),
            },
            Self::PlatformAnd(pem) => {
                let (extra, given) = (authorities(pem)?, certificates(pem)?);
                let verifier = match Verifier::new_with_extra_roots(given.clone(), provider.clone()) {
                    Ok(verifier) => Arc::new(verifier) as Arc<dyn ServerCertVerifier>,
                    Err(_) => {
                        let mut roots = mozilla();
                        roots.roots.extend(extra.roots);
                        verifier_for_roots(roots, provider)?
                    }
                };
                Ok(Arc::new(CaAsEndEntityVerifier::new(verifier, given)))
            }
        }
    }
}

fn verifier_for_roots(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    match WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build() {
        Ok(verifier) => Ok(verifier),
        Err(error) => Err(Error::new(Code::Internal, Phase::Tls, error.to_string())),
    }
}

fn mozilla() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>();
    read.map_err(|error| usage(format!("the PEM of the certification authorities: {error}")))
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(|_| {
            usage("the PEM of the certification authorities contains a malformed certificate")
        })?;
    }
    if roots.is_empty() {
        Err(usage("the PEM of the certification authorities contains no certificate"))
    } else {
        Ok(roots)
    }
}
