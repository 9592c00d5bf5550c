//! Whose certificates are believed, and the verifier that believes them.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;

use super::usage;
use super::verify::Anybody;
use crate::{Code, Error, Phase};

/// Whose certificates are believed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Trust {
    /// Everybody's: a server may be anyone, and anyone on the way may read and change what is said. It
    /// still has to hold the key of the certificate that it shows, and [pins](super::Pins) still hold.
    Anybody,
    /// Only those signed by these authorities, in PEM. If it holds none or one that is broken, the
    /// first TLS connection fails with `usage`.
    Authorities(Vec<u8>),
    /// Those that this machine believes, and Mozilla's where it has none of its own.
    #[default]
    Platform,
}

impl Trust {
    pub(super) fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        match self {
            Self::Anybody => Ok(Arc::new(Anybody::new(provider.signature_verification_algorithms))),
            Self::Authorities(pem) => below(authorities(pem)?, provider),
            Self::Platform => match Verifier::new(provider.clone()) {
                Ok(verifier) => Ok(Arc::new(verifier)),
                // A bare container has no roots of its own.
                Err(_) => below(mozilla(), provider),
            },
        }
    }
}

fn below(roots: RootCertStore, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    match WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build() {
        Ok(verifier) => Ok(verifier),
        Err(error) => Err(Error::new(Code::Internal, Phase::Tls, error.to_string())),
    }
}

fn mozilla() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| usage(format!("the authorities' PEM: {error}")))?;
        roots.add(certificate).map_err(|_| usage("the authorities' PEM holds a broken certificate"))?;
    }
    if roots.is_empty() { Err(usage("the authorities' PEM holds no certificate")) } else { Ok(roots) }
}
