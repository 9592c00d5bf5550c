//! One rustls configuration for https, ftps, gophers and nntps, made when it is first needed.

use std::io;
use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::{Code, Error, Phase};

/// Whose certificates are believed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Trust {
    /// Those that this machine believes, and Mozilla's where it has none of its own.
    #[default]
    Platform,
    /// Only those signed by these authorities, in PEM.
    Authorities(Vec<u8>),
}

/// The crypto provider that was chosen when this was built.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    #[cfg(feature = "aws-lc-rs")]
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(not(feature = "aws-lc-rs"))]
    let provider = rustls::crypto::ring::default_provider();
    Arc::new(provider)
}

/// The configuration, once made.
#[derive(Debug, Default)]
pub(crate) struct Tls {
    trust: Trust,
    config: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Tls {
    pub(crate) const fn new(trust: Trust) -> Self {
        Self { trust, config: OnceLock::new() }
    }

    /// The shared configuration, without ALPN: a protocol that has one sets it on a copy.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, Error> {
        let config = self.config.get_or_init(|| self.make().map(Arc::new));
        config.clone().map_err(|why| Error::new(Code::TlsFailed, Phase::Tls, why))
    }

    fn make(&self) -> Result<ClientConfig, String> {
        let provider = provider();
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let config = match &self.trust {
            Trust::Authorities(pem) => builder.with_root_certificates(authorities(pem)?),
            Trust::Platform => match Verifier::new(provider) {
                Ok(verifier) => builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)),
                // A bare container has no roots of its own.
                Err(_) => builder.with_root_certificates(mozilla()),
            },
        };
        Ok(config.with_no_client_auth())
    }
}

/// A configuration that believes nobody: for a client that will never speak TLS.
pub(crate) fn no_tls() -> Result<ClientConfig, Error> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::new(Code::TlsFailed, Phase::Tls, error.to_string()))?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn mozilla() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| format!("the authorities' PEM: {error}"))?;
        roots.add(certificate).map_err(|error| format!("the authorities' PEM: {error}"))?;
    }
    if roots.is_empty() { Err("the authorities' PEM holds no certificate".to_owned()) } else { Ok(roots) }
}

/// The failure that an error of the TLS layer means.
pub(crate) fn error(error: &rustls::Error) -> Error {
    let phase = match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => Phase::Certificate,
        _ => Phase::Tls,
    };
    Error::new(Code::TlsFailed, phase, error.to_string()).with_source(error.clone())
}

/// The TLS error inside an I/O error, if there is one.
pub(crate) fn inside(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}
