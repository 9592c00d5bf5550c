//! Certificate checks beyond trust (pins, better errors), and the verifier that accepts all certificates.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};

use super::Pins;

/// Reasons to reject a certificate for which rustls has no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CertificateRejection {
    /// A trusted authority has the name of the issuer, but did not sign the certificate, often because the authority
    /// was created again.
    ForeignSignature,
    /// The certificate is self-signed and not trusted.
    SelfSigned,
    /// The key is not pinned.
    Unpinned,
}

impl fmt::Display for CertificateRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ForeignSignature => "the certificate is not signed by the authority that it names",
            Self::SelfSigned => "the certificate is self-signed",
            Self::Unpinned => "the public key of the certificate is not a pinned one",
        })
    }
}

impl std::error::Error for CertificateRejection {}

impl From<CertificateRejection> for Error {
    fn from(refusal: CertificateRejection) -> Self {
        Self::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(refusal))))
    }
}

/// Runs the inner verifier, then checks the pins.
#[derive(Debug)]
pub(super) struct PinningVerifier {
    inner: Arc<dyn ServerCertVerifier>,
    pins: Option<Pins>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl PinningVerifier {
    pub(super) const fn new(
        trusted: Arc<dyn ServerCertVerifier>,
        pins: Option<Pins>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Self {
        Self { inner: trusted, pins, algorithms }
    }

    /// Replaces errors of rustls by more precise ones: self-signed certificates, and signatures that are not of the
    /// named authority.
    fn replace_error(&self, error: Error, certificate: &CertificateDer<'_>, now: UnixTime) -> Error {
        match error {
            Error::InvalidCertificate(CertificateError::BadSignature) => {
                CertificateRejection::ForeignSignature.into()
            }
            Error::InvalidCertificate(CertificateError::UnknownIssuer)
                if self.is_self_signed(certificate, now) =>
            {
                CertificateRejection::SelfSigned.into()
            }
            other => other,
        }
    }

    /// Returns `true` if the certificate is valid when it is trusted itself.
    fn is_self_signed(&self, certificate: &CertificateDer<'_>, now: UnixTime) -> bool {
        let mut itself = RootCertStore::empty();
        let (Ok(()), Ok(parsed)) =
            (itself.add(certificate.clone().into_owned()), ParsedCertificate::try_from(certificate))
        else {
            return false;
        };
        verify_server_cert_signed_by_trust_anchor(&parsed, &itself, &[], now, self.algorithms.all).is_ok()
    }
}

impl ServerCertVerifier for PinningVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self
            .inner
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            .map_err(|error| self.replace_error(error, end_entity, now))?;
        if let Some(pins) = &self.pins {
            let key = ParsedCertificate::try_from(end_entity)?.subject_public_key_info();
            if !pins.contains(&key) {
                return Err(CertificateRejection::Unpinned.into());
            }
        }
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Accepts every certificate, but checks that the server has its private key.
#[derive(Debug)]
pub(super) struct AcceptAnyCertificate(WebPkiSupportedAlgorithms);

impl AcceptAnyCertificate {
    pub(super) const fn new(algorithms: WebPkiSupportedAlgorithms) -> Self {
        Self(algorithms)
    }
}

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
