//! The rustls configuration for https, ftps, gophers and nntps, created on first use.

mod ca_as_end_entity;
mod certificate_summary;
mod der;
mod identity;
mod options;
mod pins;
mod tls_error;
mod trust;
mod verify;

use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};

use crate::{Code, Error, Phase};

pub(crate) use self::certificate_summary::CertificateSummary;
pub(crate) use self::tls_error::{find_tls_error, lost_connection_error, to_tls_error};
pub use identity::Identity;
pub use options::{StartTls, TlsOptions, TlsVersion};
pub use pins::Pins;
pub use trust::Trust;

/// Returns the crypto provider that was selected at build time.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    #[cfg(feature = "aws-lc-rs")]
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(not(feature = "aws-lc-rs"))]
    let provider = rustls::crypto::ring::default_provider();
    Arc::new(provider)
}

/// The TLS options and their configuration, once created.
#[derive(Debug, Default)]
pub(crate) struct Tls {
    options: TlsOptions,
    config: OnceLock<Arc<ClientConfig>>,
    proxy_config: OnceLock<Arc<ClientConfig>>,
}

impl Tls {
    pub(crate) const fn new(options: TlsOptions) -> Self {
        Self { options, config: OnceLock::new(), proxy_config: OnceLock::new() }
    }

    /// Returns the shared configuration without ALPN; protocols with ALPN set it on a copy.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, Error> {
        if let Some(config) = self.config.get() {
            return Ok(config.clone());
        }
        let config = Arc::new(make_config(&self.options)?);
        Ok(self.config.get_or_init(|| config).clone())
    }

    /// Returns the configuration for https proxies: without the options that apply to servers only.
    pub(crate) fn proxy_config(&self) -> Result<Arc<ClientConfig>, Error> {
        if !self.options.has_server_only_options() {
            return self.config();
        }
        if let Some(config) = self.proxy_config.get() {
            return Ok(config.clone());
        }
        let config = Arc::new(make_config(&self.options.for_proxy())?);
        Ok(self.proxy_config.get_or_init(|| config).clone())
    }

    pub(crate) const fn start_tls(&self) -> StartTls {
        self.options.start_tls()
    }

    pub(crate) const fn allows_truncation(&self) -> bool {
        self.options.allows_truncation()
    }
}

fn make_config(options: &TlsOptions) -> Result<ClientConfig, Error> {
    let provider = provider();
    let verifier = options.verifier(&provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&options.protocol_versions())
        .map_err(|error| internal(&error))?
        // The verifier is that of rustls or the platform, plus the pins.
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    Ok(match options.client_certificate() {
        Some(certificate) => builder.with_client_cert_resolver(certificate),
        None => builder.with_no_client_auth(),
    })
}

/// Returns a configuration that trusts no certificate, for clients that do not use TLS.
pub(crate) fn no_tls() -> Result<ClientConfig, Error> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| internal(&error))?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// Returns a usage error for an invalid option.
fn usage(detail: impl Into<String>) -> Error {
    Error::new(Code::Usage, Phase::Plan, detail)
}

/// Returns the error for a crypto provider without the required algorithms.
fn internal(error: &rustls::Error) -> Error {
    Error::new(Code::Internal, Phase::Tls, error.to_string())
}

#[cfg(test)]
#[path = "tls/tls_tests.rs"]
mod tests;
