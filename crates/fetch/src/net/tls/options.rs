//! TLS options: trust, client certificate, pinned keys, versions, STARTTLS.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rustls::SupportedProtocolVersion;
use rustls::client::ResolvesClientCert;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::version::{TLS12, TLS13};

use super::verify::PinningVerifier;
use super::{Identity, Pins, Trust, usage};
use crate::Error;

/// A TLS version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    V12,
    /// TLS 1.3 (RFC 8446).
    V13,
}

impl TlsVersion {
    const fn number(self) -> &'static str {
        match self {
            Self::V12 => "1.2",
            Self::V13 => "1.3",
        }
    }
}

/// The TLS options for all servers.
///
/// Defaults: TLS 1.2 or 1.3, the trust store of the system, no client certificate.
///
/// ```
/// use fetch_url::tls::{Pins, TlsVersion};
/// use fetch_url::{Fetcher, TlsOptions};
///
/// # fn main() -> Result<(), fetch_url::Error> {
/// let tls = TlsOptions::default()
///     .versions(TlsVersion::V13, TlsVersion::V13)?
///     .pins(Pins::parse("sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")?);
/// let fetcher = Fetcher::builder().tls(tls).build();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TlsOptions {
    trust: Trust,
    proxy_trust: Option<Trust>,
    identity: Option<Identity>,
    pins: Option<Pins>,
    versions: RangeInclusive<TlsVersion>,
    start: StartTls,
    allows_truncation: bool,
}

/// When a plain connection is upgraded to TLS (RFC 4217 for FTP, RFC 4642 for NNTP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "callers match all variants")]
pub enum StartTls {
    /// Never (default).
    #[default]
    Never,
    /// If the server supports it. An attacker on the path can suppress the upgrade.
    Try,
    /// Always; no credentials are sent before the upgrade.
    Require,
}

impl TlsOptions {
    /// Sets which server certificates are trusted (default: [`Trust::Platform`]).
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets which certificates of https proxies are trusted (default: the trust for servers, but [`Trust::Platform`] in
    /// place of [`Trust::AnyCertificate`]).
    #[must_use]
    pub fn proxy_trust(mut self, trust: Trust) -> Self {
        self.proxy_trust = Some(trust);
        self
    }

    /// Sets the client certificate for servers that request one.
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Returns `true` if servers that request a client certificate get one.
    pub const fn has_identity(&self) -> bool {
        self.identity.is_some()
    }

    /// Sets the pinned keys. They are checked in addition to the certificate, with [`Trust::AnyCertificate`] too.
    #[must_use]
    pub fn pins(mut self, pins: Pins) -> Self {
        self.pins = Some(pins);
        self
    }

    /// Sets the allowed TLS versions, from `min` to `max` (default: 1.2 to 1.3).
    ///
    /// # Errors
    /// `Code::Usage` if `min` is greater than `max`.
    pub fn versions(mut self, min: TlsVersion, max: TlsVersion) -> Result<Self, Error> {
        if min > max {
            let (min, max) = (min.number(), max.number());
            return Err(usage(format!("the minimum TLS version {min} is greater than the maximum {max}")));
        }
        self.versions = min..=max;
        Ok(self)
    }

    /// Sets when plain connections are upgraded to TLS (default: never).
    #[must_use]
    pub const fn start(mut self, start: StartTls) -> Self {
        self.start = start;
        self
    }

    /// Accepts the end of a TLS connection without close_notify where the protocol has no length (gophers, FTP data;
    /// default: `false`). An attacker on the path can then truncate the data unnoticed.
    #[must_use]
    pub const fn allow_truncation(mut self, allows: bool) -> Self {
        self.allows_truncation = allows;
        self
    }

    pub(super) const fn allows_truncation(&self) -> bool {
        self.allows_truncation
    }

    pub(super) const fn start_tls(&self) -> StartTls {
        self.start
    }

    /// Checks the PEM of the authorities, before any connection.
    ///
    /// # Errors
    /// `Code::Usage`.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.trust.verifier(&super::provider()).map(drop)
    }

    pub(super) fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        let trusted = self.trust.verifier(provider)?;
        Ok(Arc::new(PinningVerifier::new(
            trusted,
            self.pins.clone(),
            provider.signature_verification_algorithms,
        )))
    }

    /// Returns `true` if an option applies to the server only, such as a client certificate, a pinned key or `-k`.
    pub(super) const fn has_server_only_options(&self) -> bool {
        self.identity.is_some()
            || self.pins.is_some()
            || self.proxy_trust.is_some()
            || matches!(self.trust, Trust::AnyCertificate)
    }

    /// Returns the options for an https proxy: its certificate is checked, and it gets no client certificate.
    pub(super) fn for_proxy(&self) -> Self {
        let trust = match (&self.proxy_trust, &self.trust) {
            (Some(trust), _) => trust.clone(),
            (None, Trust::AnyCertificate) => Trust::default(),
            (None, trust) => trust.clone(),
        };
        Self { trust, identity: None, pins: None, ..self.clone() }
    }

    pub(super) fn client_certificate(&self) -> Option<Arc<dyn ResolvesClientCert>> {
        self.identity.as_ref().map(Identity::resolver)
    }

    /// Returns the allowed versions, newest first.
    pub(super) fn protocol_versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        let all = [(TlsVersion::V13, &TLS13), (TlsVersion::V12, &TLS12)];
        all.into_iter().filter(|(version, _)| self.versions.contains(version)).map(|(_, own)| own).collect()
    }
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self {
            trust: Trust::default(),
            proxy_trust: None,
            identity: None,
            pins: None,
            versions: TlsVersion::V12..=TlsVersion::V13,
            start: StartTls::Never,
            allows_truncation: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use TlsVersion::{V12, V13};

    use super::*;
    use crate::Code;

    #[test]
    fn certificate_of_a_proxy_is_checked_if_those_of_servers_are_not() {
        let any = TlsOptions::default().trust(Trust::AnyCertificate);
        assert!(matches!(any.for_proxy().trust, Trust::Platform));
        let own = any.proxy_trust(Trust::Authorities(b"pem".to_vec()));
        assert!(matches!(own.for_proxy().trust, Trust::Authorities(pem) if pem == b"pem"));
        let both = TlsOptions::default().trust(Trust::Authorities(b"pem".to_vec()));
        assert!(matches!(both.for_proxy().trust, Trust::Authorities(_)));
    }

    #[test]
    fn allowed_versions_are_offered_newest_first() {
        let offered = |min, max| {
            let options = TlsOptions::default().versions(min, max).expect("a range");
            options.protocol_versions().iter().map(|own| own.version).collect::<Vec<_>>()
        };
        let (v12, v13) = (rustls::ProtocolVersion::TLSv1_2, rustls::ProtocolVersion::TLSv1_3);
        assert_eq!(offered(V12, V13), [v13, v12]);
        assert_eq!(offered(V12, V12), [v12]);
        assert_eq!(offered(V13, V13), [v13]);
        assert_eq!(TlsOptions::default().protocol_versions().len(), 2);
        let error = TlsOptions::default().versions(V13, V12).expect_err("none");
        assert_eq!((error.code(), error.exit_status()), (Code::Usage, 2));
        assert_eq!(error.to_string(), "usage: the minimum TLS version 1.3 is greater than the maximum 1.2");
    }
}
