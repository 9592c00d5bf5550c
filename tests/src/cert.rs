//! Certificates for the TLS servers of the tests: a CA and one leaf certificate, valid or faulty, and the TLS
//! configuration of the server.
//!
//! Every certificate has new keys. They are not stored, except by [`ServerCert::write_files`].

use std::fmt;
use std::fs;
use std::io::{Error, Result};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData as _,
};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use tempfile::TempDir;

const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A certificate with its key, and the CA certificate that a client must trust to accept it. It may also serve as
/// a client certificate.
#[derive(Clone)]
pub struct ServerCert {
    ca_pem: String,
    /// The leaf certificate first.
    chain: Vec<CertificateDer<'static>>,
    /// The chain in PEM.
    cert_pem: String,
    public_key: Vec<u8>,
    key_pem: String,
    key_der: Vec<u8>,
    versions: Vec<&'static SupportedProtocolVersion>,
    /// The CA of the required client certificates. `None`: no client certificate is requested.
    clients_ca: Option<String>,
}

/// The PEM files of one certificate, in a temporary directory that is deleted on drop.
#[derive(Debug)]
pub struct CertFiles {
    /// The CA certificate.
    pub ca: PathBuf,
    /// The leaf certificate and the intermediate CA.
    pub cert: PathBuf,
    /// The key of the server, PKCS #8.
    pub key: PathBuf,
    _dir: TempDir,
}

impl ServerCert {
    /// Creates a certificate for localhost, 127.0.0.1 and ::1, issued by a new test CA.
    pub fn good() -> Result<Self> {
        Self::issue(&LOOPBACK_NAMES, |_| {})
    }

    /// Like [`Self::good`], but expired in 2001.
    pub fn expired() -> Result<Self> {
        Self::issue(&LOOPBACK_NAMES, |params| {
            params.not_before = rcgen::date_time_ymd(2000, 1, 1);
            params.not_after = rcgen::date_time_ymd(2001, 1, 1);
        })
    }

    /// Like [`Self::good`], but not valid before the year 4000.
    pub fn not_yet_valid() -> Result<Self> {
        Self::issue(&LOOPBACK_NAMES, |params| {
            params.not_before = rcgen::date_time_ymd(4000, 1, 1);
            params.not_after = rcgen::date_time_ymd(4001, 1, 1);
        })
    }

    /// Like [`Self::good`], but for `wrong.example` and 192.0.2.1 only.
    pub fn wrong_name() -> Result<Self> {
        Self::for_names(&["wrong.example", "192.0.2.1"])
    }

    /// Like [`Self::good`], but for these names and addresses. ASCII text that is no address becomes a DNS name.
    pub fn for_names(names: &[&str]) -> Result<Self> {
        Self::issue(names, |_| {})
    }

    /// Like [`Self::good`], but with a common name instead of subject alternative names. Clients must reject it
    /// (RFC 9525 §2).
    pub fn with_common_name_only(name: &str) -> Result<Self> {
        Self::issue(&[], |params| params.distinguished_name.push(DnType::CommonName, name))
    }

    /// Like [`Self::good`], but its extended key usage allows TLS clients only.
    pub fn client_only() -> Result<Self> {
        Self::issue(&LOOPBACK_NAMES, |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        })
    }

    /// Creates a self-signed certificate for the loopback names. It is its own CA.
    pub fn self_signed() -> Result<Self> {
        Self::issue_self_signed(|_| {})
    }

    /// Like [`Self::self_signed`], but marked as a CA, as by `openssl req -x509`.
    pub fn self_signed_ca() -> Result<Self> {
        Self::issue_self_signed_ca(|_| {})
    }

    /// Like [`Self::self_signed_ca`], but with the key usages of a CA and a server.
    pub fn self_signed_ca_with_key_usage() -> Result<Self> {
        Self::issue_self_signed_ca(|params| {
            params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        })
    }

    /// Like [`Self::self_signed_ca`], but for these names only.
    pub fn self_signed_ca_for_names(names: &[&str]) -> Result<Self> {
        let named = params_for("fetch-url test server", names)?;
        Self::issue_self_signed_ca(|params| params.subject_alt_names = named.subject_alt_names)
    }

    /// Like [`Self::self_signed_ca`], but expired in 2001.
    pub fn expired_self_signed_ca() -> Result<Self> {
        Self::issue_self_signed_ca(|params| {
            params.not_before = rcgen::date_time_ymd(2000, 1, 1);
            params.not_after = rcgen::date_time_ymd(2001, 1, 1);
        })
    }

    /// Like [`Self::self_signed_ca`], but its extended key usage allows TLS clients only.
    pub fn client_only_self_signed_ca() -> Result<Self> {
        Self::issue_self_signed_ca(|params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        })
    }

    /// Like [`Self::good`], but issued by an intermediate CA, which the server presents too.
    pub fn with_intermediate() -> Result<Self> {
        let (ca_pem, root) = create_ca("fetch-url test CA", None)?;
        let (intermediate_pem, intermediate) = create_ca("fetch-url test intermediate", Some(&root))?;
        let intermediate_der =
            CertificateDer::from_pem_slice(intermediate_pem.as_bytes()).map_err(Error::other)?;
        let key = KeyPair::generate().map_err(Error::other)?;
        let cert =
            leaf_params(&LOOPBACK_NAMES, |_| {})?.signed_by(&key, &intermediate).map_err(Error::other)?;
        let mut this = Self::assemble(ca_pem, &cert, &key);
        this.chain.push(intermediate_der);
        this.cert_pem.push_str(&intermediate_pem);
        Ok(this)
    }

    /// Presents the leaf certificate without the intermediate CA.
    #[must_use]
    pub fn without_intermediates(mut self) -> Self {
        self.chain.truncate(1);
        self
    }

    /// Presents this certificate, but signs with the key of the other. The handshake must fail.
    #[must_use]
    pub fn with_key_of(self, other: &Self) -> Self {
        let Self { key_pem, key_der, .. } = other.clone();
        Self { key_pem, key_der, ..self }
    }

    /// Allows TLS 1.2 only.
    #[must_use]
    pub fn only_tls12(mut self) -> Self {
        self.versions = vec![&TLS12];
        self
    }

    /// Allows TLS 1.3 only.
    #[must_use]
    pub fn only_tls13(mut self) -> Self {
        self.versions = vec![&TLS13];
        self
    }

    /// Requires a client certificate of the CA of `other`.
    #[must_use]
    pub fn requiring_client_cert(mut self, other: &Self) -> Self {
        self.clients_ca = Some(other.ca_pem.clone());
        self
    }

    /// Returns the CA certificate in PEM.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Returns the leaf certificate and the intermediate CA in PEM.
    #[must_use]
    pub fn cert_pem(&self) -> &str {
        &self.cert_pem
    }

    /// Returns the key of the server in PEM (PKCS #8).
    #[must_use]
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// Returns the leaf certificate in DER.
    #[must_use]
    pub fn cert_der(&self) -> &[u8] {
        &self.chain[0]
    }

    /// Returns the SubjectPublicKeyInfo of the leaf certificate in DER.
    #[must_use]
    pub fn public_key_der(&self) -> &[u8] {
        &self.public_key
    }

    /// Writes the CA certificate, the chain and the key to a new temporary directory.
    pub fn write_files(&self) -> Result<CertFiles> {
        let dir = tempfile::tempdir()?;
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).map(|()| path)
        };
        let ca = write("ca.pem", &self.ca_pem)?;
        let cert = write("cert.pem", &self.cert_pem)?;
        let key = write("key.pem", &self.key_pem)?;
        Ok(CertFiles { ca, cert, key, _dir: dir })
    }

    /// Returns the rustls configuration of the server: TLS 1.2 and 1.3, no client certificate and no ALPN, unless
    /// changed above.
    pub fn server_config(&self) -> Result<Arc<ServerConfig>> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let key = PrivatePkcs8KeyDer::from(self.key_der.clone());
        let key = provider.key_provider.load_private_key(key.into()).map_err(Error::other)?;
        // Unlike `with_single_cert`, this does not check that the key matches the certificate.
        let resolver = SingleCertAndKey::from(CertifiedKey::new(self.chain.clone(), key));
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&self.versions)
            .map_err(Error::other)?;
        let builder = match &self.clients_ca {
            None => builder.with_no_client_auth(),
            Some(ca) => builder.with_client_cert_verifier(client_verifier(ca, provider)?),
        };
        Ok(Arc::new(builder.with_cert_resolver(Arc::new(resolver))))
    }

    fn issue(names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Result<Self> {
        let (ca_pem, issuer) = create_ca("fetch-url test CA", None)?;
        let key = KeyPair::generate().map_err(Error::other)?;
        let cert = leaf_params(names, change)?.signed_by(&key, &issuer).map_err(Error::other)?;
        Ok(Self::assemble(ca_pem, &cert, &key))
    }

    fn issue_self_signed(change: impl FnOnce(&mut CertificateParams)) -> Result<Self> {
        let key = KeyPair::generate().map_err(Error::other)?;
        let cert = leaf_params(&LOOPBACK_NAMES, change)?.self_signed(&key).map_err(Error::other)?;
        Ok(Self::assemble(cert.pem(), &cert, &key))
    }

    fn issue_self_signed_ca(change: impl FnOnce(&mut CertificateParams)) -> Result<Self> {
        Self::issue_self_signed(|params| {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            change(params);
        })
    }

    fn assemble(ca_pem: String, cert: &rcgen::Certificate, key: &KeyPair) -> Self {
        Self {
            ca_pem,
            chain: vec![cert.der().clone()],
            cert_pem: cert.pem(),
            public_key: key.subject_public_key_info(),
            key_pem: key.serialize_pem(),
            key_der: key.serialize_der(),
            versions: vec![&TLS13, &TLS12],
            clients_ca: None,
        }
    }
}

impl fmt::Debug for ServerCert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCert").finish_non_exhaustive()
    }
}

/// Creates a CA with this name, issued by another CA or by itself.
fn create_ca(name: &str, issuer: Option<&Issuer<'_, KeyPair>>) -> Result<(String, Issuer<'static, KeyPair>)> {
    let mut params = params_for(name, &[])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().map_err(Error::other)?;
    let cert = match issuer {
        None => params.self_signed(&key),
        Some(issuer) => params.signed_by(&key, issuer),
    };
    Ok((cert.map_err(Error::other)?.pem(), Issuer::new(params, key)))
}

fn client_verifier(
    ca_pem: &str,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>> {
    let mut roots = RootCertStore::empty();
    let ca = CertificateDer::from_pem_slice(ca_pem.as_bytes()).map_err(Error::other)?;
    roots.add(ca).map_err(Error::other)?;
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(Error::other)
}

fn params_for(common_name: &str, alternatives: &[&str]) -> Result<CertificateParams> {
    let alternatives: Vec<String> = alternatives.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(alternatives).map_err(Error::other)?;
    params.distinguished_name.push(DnType::CommonName, common_name);
    Ok(params)
}

fn leaf_params(names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Result<CertificateParams> {
    let mut params = params_for("fetch-url test server", names)?;
    params.use_authority_key_identifier_extension = true;
    change(&mut params);
    Ok(params)
}

/// Returns a TLS client that trusts the CA of this certificate only.
#[cfg(test)]
pub(crate) fn client(
    cert: &ServerCert,
    socket: std::net::TcpStream,
) -> rustls::StreamOwned<rustls::ClientConnection, std::net::TcpStream> {
    use rustls::pki_types::ServerName;

    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(cert.ca_pem().as_bytes()).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    rustls::StreamOwned::new(rustls::ClientConnection::new(Arc::new(config), name).unwrap(), socket)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpStream;

    use super::*;
    use crate::{HttpResponse, HttpServer};

    /// Returns the error of the handshake with a client that trusts the CA, or `None` if the handshake succeeds.
    fn handshake_error(cert: &ServerCert) -> Option<String> {
        let server = HttpServer::start_tls(|_| HttpResponse::new(204), cert).unwrap();
        let mut tls = client(cert, TcpStream::connect(server.addr()).unwrap());
        tls.write_all(b"GET / HTTP/1.1\r\n\r\n").err().map(|e| e.to_string())
    }

    #[test]
    fn valid_certificate_is_accepted_and_faulty_ones_are_refused() {
        assert_eq!(handshake_error(&ServerCert::good().unwrap()), None);
        assert!(handshake_error(&ServerCert::expired().unwrap()).unwrap().contains("expired"));
        assert!(handshake_error(&ServerCert::wrong_name().unwrap()).unwrap().contains("not valid for name"));
        let self_signed = ServerCert::self_signed().unwrap();
        let untrusted = ServerCert { ca_pem: ServerCert::good().unwrap().ca_pem, ..self_signed };
        assert!(handshake_error(&untrusted).unwrap().contains("UnknownIssuer"));
    }

    #[test]
    fn files_are_deleted_on_drop() {
        let files = ServerCert::good().unwrap().write_files().unwrap();
        for (path, word) in
            [(&files.ca, "CERTIFICATE"), (&files.cert, "CERTIFICATE"), (&files.key, "PRIVATE KEY")]
        {
            assert!(fs::read_to_string(path).unwrap().starts_with(&format!("-----BEGIN {word}")));
        }
        let path = files.ca.clone();
        drop(files);
        assert!(!path.exists());
    }
}
