//! What is asked of a server's certificate beyond trust, and the verifier that trusts anybody.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};

use super::Pins;

/// What we refuse a certificate for, and rustls has no word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// An authority of its issuer's name is believed, but did not sign it: most often one was made anew.
    ForeignSignature,
    /// It has no issuer but itself, and itself is not believed.
    SelfSigned,
    /// Its key is not among the pins.
    Unpinned,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ForeignSignature => "the certificate is not signed by the authority that it names",
            Self::SelfSigned => "the certificate is self-signed",
            Self::Unpinned => "the certificate's key is not the pinned one",
        })
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(refusal))))
    }
}

/// Asks the trusted verifier first, and then the pins.
#[derive(Debug)]
pub(super) struct Gate {
    trusted: Arc<dyn ServerCertVerifier>,
    pins: Option<Pins>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Gate {
    pub(super) const fn new(
        trusted: Arc<dyn ServerCertVerifier>,
        pins: Option<Pins>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Self {
        Self { trusted, pins, algorithms }
    }

    /// Tells what is one error to rustls apart: an unknown issuer that is none, and a wrong signature of
    /// an authority from one of the server.
    fn explained(&self, error: Error, certificate: &CertificateDer<'_>, now: UnixTime) -> Error {
        match error {
            Error::InvalidCertificate(CertificateError::BadSignature) => Refusal::ForeignSignature.into(),
            Error::InvalidCertificate(CertificateError::UnknownIssuer)
                if self.is_self_signed(certificate, now) =>
            {
                Refusal::SelfSigned.into()
            }
            other => other,
        }
    }

    /// Whether it would be believed by one who believes it.
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

impl ServerCertVerifier for Gate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self
            .trusted
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            .map_err(|error| self.explained(error, end_entity, now))?;
        if let Some(pins) = &self.pins {
            let key = ParsedCertificate::try_from(end_entity)?.subject_public_key_info();
            if !pins.hold(&key) {
                return Err(Refusal::Unpinned.into());
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
        self.trusted.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.supported_verify_schemes()
    }
}

/// Takes every certificate, but only from whoever holds its key.
#[derive(Debug)]
pub(super) struct Anybody(WebPkiSupportedAlgorithms);

impl Anybody {
    pub(super) const fn new(algorithms: WebPkiSupportedAlgorithms) -> Self {
        Self(algorithms)
    }
}

impl ServerCertVerifier for Anybody {
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
