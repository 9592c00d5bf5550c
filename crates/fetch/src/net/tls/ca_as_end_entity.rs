//! Accepts a server certificate that is itself one of the caller's authorities.
//!
//! `openssl req -x509` makes self-signed certificates with `CA:TRUE`. webpki rejects them as server certificates, but a
//! caller who gives such a certificate as an authority trusts exactly this certificate.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use super::der::{OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, elements, tagged};

/// The tag of the extensions of a certificate (RFC 5280 §4.1).
const EXTENSIONS: u8 = 0xa3;
/// id-ce-extKeyUsage, 2.5.29.37.
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// id-kp-serverAuth, 1.3.6.1.5.5.7.3.1.
const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];

/// Runs the inner verifier. A certificate that it rejects only because it is that of an authority is accepted if it is
/// byte for byte one of the given certificates and names the host.
pub(super) struct CaAsEndEntityVerifier {
    inner: Arc<dyn ServerCertVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl CaAsEndEntityVerifier {
    pub(super) const fn new(inner: Arc<dyn ServerCertVerifier>, given: Vec<CertificateDer<'static>>) -> Self {
        Self { inner, given }
    }

    fn is_given(&self, certificate: &CertificateDer<'_>) -> bool {
        self.given.iter().any(|given| given.as_ref() == certificate.as_ref())
    }
}

/// Returns `true` if the certificate was rejected because it is that of an authority (`CA:TRUE`). webpki has checked
/// its validity period before. The error type of webpki is not public.
pub(super) fn is_authority_used_as_server(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::Other(other)) => other.to_string() == "CaUsedAsEndEntity",
        _ => false,
    }
}

/// Returns `true` if the extended key usage of a certificate allows servers, or is missing (RFC 5280 §4.2.1.12). webpki
/// has not checked it, because it checks for authorities first.
fn allows_servers(certificate: &[u8]) -> bool {
    extended_key_usage(certificate).is_none_or(|usage| {
        let purposes = tagged(usage, SEQUENCE).map_or(&[][..], |(purposes, _)| purposes);
        elements(purposes).any(|purpose| purpose == (OBJECT_IDENTIFIER, SERVER_AUTH))
    })
}

/// Returns the value of the extension of extended key usage.
fn extended_key_usage(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = tagged(certificate, SEQUENCE)?;
    let (to_be_signed, _) = tagged(certificate, SEQUENCE)?;
    let (_, extensions) = elements(to_be_signed).find(|(tag, _)| *tag == EXTENSIONS)?;
    let (extensions, _) = tagged(extensions, SEQUENCE)?;
    elements(extensions).find_map(|(_, extension)| {
        let (name, rest) = tagged(extension, OBJECT_IDENTIFIER)?;
        // A BOOLEAN may precede the value.
        let value = elements(rest).find(|(tag, _)| *tag == OCTET_STRING);
        value.map(|(_, value)| value).filter(|_| name == EXTENDED_KEY_USAGE)
    })
}

impl ServerCertVerifier for CaAsEndEntityVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(error) if is_authority_used_as_server(&error) && self.is_given(end_entity) => {
                if !allows_servers(end_entity) {
                    return Err(CertificateError::InvalidPurpose.into());
                }
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
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

impl fmt::Debug for CaAsEndEntityVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CaAsEndEntityVerifier({} certificates)", self.given.len())
    }
}
