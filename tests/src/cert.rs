//! Certificates for the TLS servers of the tests, made anew each time: a CA and one leaf, sound or faulty,
//! and how the server that has it behaves.
//!
//! Nothing here is a secret worth keeping: the keys live as long as the test.

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

/// A server's certificate and key, and the CA certificate that a client must trust for it. A client may
/// show it as its own, too.
#[derive(Clone)]
pub struct ServerCert {
    ca_pem: String,
    /// The server's own first.
    chain: Vec<CertificateDer<'static>>,
    /// The whole chain.
    cert_pem: String,
    public_key: Vec<u8>,
    key_pem: String,
    key_der: Vec<u8>,
    versions: Vec<&'static SupportedProtocolVersion>,
    /// Whose clients are let in; without it, all are.
    clients_ca: Option<String>,
}

/// The PEM files of one certificate in a directory that goes when this is dropped.
#[derive(Debug)]
pub struct CertFiles {
    /// The CA certificate.
    pub ca: PathBuf,
    /// The server's certificate.
    pub cert: PathBuf,
    /// The server's key, PKCS #8.
    pub key: PathBuf,
    _dir: TempDir,
}

impl ServerCert {
    /// For localhost, 127.0.0.1 and ::1, issued by its own test CA.
    pub fn good() -> Result<Self> {
        Self::issued(&LOOPBACK_NAMES, |_| {})
    }

    /// Like [`Self::good`], but it ended in 2001.
    pub fn expired() -> Result<Self> {
        Self::issued(&LOOPBACK_NAMES, |params| {
            params.not_before = rcgen::date_time_ymd(2000, 1, 1);
            params.not_after = rcgen::date_time_ymd(2001, 1, 1);
        })
    }

    /// Like [`Self::good`], but it begins in the year 4000.
    pub fn not_yet_valid() -> Result<Self> {
        Self::issued(&LOOPBACK_NAMES, |params| {
            params.not_before = rcgen::date_time_ymd(4000, 1, 1);
            params.not_after = rcgen::date_time_ymd(4001, 1, 1);
        })
    }

    /// Like [`Self::good`], but for `wrong.example` and 192.0.2.1 only.
    pub fn wrong_name() -> Result<Self> {
        Self::for_names(&["wrong.example", "192.0.2.1"])
    }

    /// Like [`Self::good`], but for these names and addresses; any ASCII text is taken for a name.
    pub fn for_names(names: &[&str]) -> Result<Self> {
        Self::issued(names, |_| {})
    }

    /// Like [`Self::good`], but with a common name only, which nobody asks any more (RFC 9525 §2).
    pub fn common_name(name: &str) -> Result<Self> {
        Self::issued(&[], |params| params.distinguished_name.push(DnType::CommonName, name))
    }

    /// Like [`Self::good`], but for the clients of TLS only.
    pub fn for_clients() -> Result<Self> {
        Self::issued(&LOOPBACK_NAMES, |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        })
    }

    /// For the loopback names, issued by itself; its "CA" is itself.
    pub fn self_signed() -> Result<Self> {
        Self::signed_by_itself(|_| {})
    }

    /// Like [`Self::self_signed`], but it says that it is an authority, as `openssl req -x509` does.
    pub fn self_signed_authority() -> Result<Self> {
        Self::signed_by_itself(|params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained))
    }

    /// Like [`Self::good`], but with an intermediate authority between the two; the server shows it.
    pub fn below_an_intermediate() -> Result<Self> {
        let (ca_pem, root) = authority("fetch-url test CA", None)?;
        let (middle_pem, middle) = authority("fetch-url test intermediate", Some(&root))?;
        let middle_der = CertificateDer::from_pem_slice(middle_pem.as_bytes()).map_err(Error::other)?;
        let key = KeyPair::generate().map_err(Error::other)?;
        let cert = leaf(&LOOPBACK_NAMES, |_| {})?.signed_by(&key, &middle).map_err(Error::other)?;
        let mut own = Self::assembled(ca_pem, &cert, &key);
        own.chain.push(middle_der);
        own.cert_pem.push_str(&middle_pem);
        Ok(own)
    }

    /// The server shows its own certificate only.
    #[must_use]
    pub fn without_intermediates(mut self) -> Self {
        self.chain.truncate(1);
        self
    }

    /// The server shows this certificate, but holds the key of the other: a thief.
    #[must_use]
    pub fn with_the_key_of(self, other: &Self) -> Self {
        let Self { key_pem, key_der, .. } = other.clone();
        Self { key_pem, key_der, ..self }
    }

    /// The server speaks TLS 1.2 only.
    #[must_use]
    pub fn only_tls12(mut self) -> Self {
        self.versions = vec![&TLS12];
        self
    }

    /// The server speaks TLS 1.3 only.
    #[must_use]
    pub fn only_tls13(mut self) -> Self {
        self.versions = vec![&TLS13];
        self
    }

    /// The server lets only clients in that show a certificate from the other's CA.
    #[must_use]
    pub fn asking_for(mut self, other: &Self) -> Self {
        self.clients_ca = Some(other.ca_pem.clone());
        self
    }

    /// The certificate to trust, in PEM.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// The server's certificate and those between it and its CA, in PEM.
    #[must_use]
    pub fn cert_pem(&self) -> &str {
        &self.cert_pem
    }

    /// The server's key in PEM, PKCS #8.
    #[must_use]
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// The server's certificate in DER.
    #[must_use]
    pub fn cert_der(&self) -> &[u8] {
        &self.chain[0]
    }

    /// The SubjectPublicKeyInfo of the server's certificate, in DER.
    #[must_use]
    pub fn public_key_der(&self) -> &[u8] {
        &self.public_key
    }

    /// The three PEM files in a new temporary directory.
    pub fn written(&self) -> Result<CertFiles> {
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

    /// What a rustls server needs: TLS 1.2 and 1.3 and no client certificate unless said otherwise, no
    /// ALPN.
    pub fn server_config(&self) -> Result<Arc<ServerConfig>> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let key = PrivatePkcs8KeyDer::from(self.key_der.clone());
        let key = provider.key_provider.load_private_key(key.into()).map_err(Error::other)?;
        // Unlike `with_single_cert` this does not look whether the key is the certificate's.
        let shown = SingleCertAndKey::from(CertifiedKey::new(self.chain.clone(), key));
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&self.versions)
            .map_err(Error::other)?;
        let builder = match &self.clients_ca {
            None => builder.with_no_client_auth(),
            Some(ca) => builder.with_client_cert_verifier(clients_of(ca, provider)?),
        };
        Ok(Arc::new(builder.with_cert_resolver(Arc::new(shown))))
    }

    fn issued(names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Result<Self> {
        let (ca_pem, issuer) = authority("fetch-url test CA", None)?;
        let key = KeyPair::generate().map_err(Error::other)?;
        let cert = leaf(names, change)?.signed_by(&key, &issuer).map_err(Error::other)?;
        Ok(Self::assembled(ca_pem, &cert, &key))
    }

    fn signed_by_itself(change: impl FnOnce(&mut CertificateParams)) -> Result<Self> {
        let key = KeyPair::generate().map_err(Error::other)?;
        let cert = leaf(&LOOPBACK_NAMES, change)?.self_signed(&key).map_err(Error::other)?;
        Ok(Self::assembled(cert.pem(), &cert, &key))
    }

    fn assembled(ca_pem: String, cert: &rcgen::Certificate, key: &KeyPair) -> Self {
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

/// An authority of this name, issued by another or by itself.
fn authority(name: &str, issuer: Option<&Issuer<'_, KeyPair>>) -> Result<(String, Issuer<'static, KeyPair>)> {
    let mut params = named(name, &[])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().map_err(Error::other)?;
    let cert = match issuer {
        None => params.self_signed(&key),
        Some(issuer) => params.signed_by(&key, issuer),
    };
    Ok((cert.map_err(Error::other)?.pem(), Issuer::new(params, key)))
}

fn clients_of(
    ca_pem: &str,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>> {
    let mut roots = RootCertStore::empty();
    let ca = CertificateDer::from_pem_slice(ca_pem.as_bytes()).map_err(Error::other)?;
    roots.add(ca).map_err(Error::other)?;
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(Error::other)
}

fn named(common_name: &str, alternatives: &[&str]) -> Result<CertificateParams> {
    let alternatives: Vec<String> = alternatives.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(alternatives).map_err(Error::other)?;
    params.distinguished_name.push(DnType::CommonName, common_name);
    Ok(params)
}

fn leaf(names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Result<CertificateParams> {
    let mut params = named("fetch-url test server", names)?;
    params.use_authority_key_identifier_extension = true;
    change(&mut params);
    Ok(params)
}

/// A TLS client that trusts this certificate's CA alone.
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
    use crate::{HttpReply, HttpServer};

    /// Whether a client that trusts the CA shakes hands, and its complaint if not.
    fn complaint(cert: &ServerCert) -> Option<String> {
        let server = HttpServer::start_tls(|_| HttpReply::new(204), cert).unwrap();
        let mut tls = client(cert, TcpStream::connect(server.addr()).unwrap());
        tls.write_all(b"GET / HTTP/1.1\r\n\r\n").err().map(|e| e.to_string())
    }

    #[test]
    fn clients_take_the_good_and_refuse_the_faulty() {
        assert_eq!(complaint(&ServerCert::good().unwrap()), None);
        assert!(complaint(&ServerCert::expired().unwrap()).unwrap().contains("expired"));
        assert!(complaint(&ServerCert::wrong_name().unwrap()).unwrap().contains("not valid for name"));
        let own = ServerCert::self_signed().unwrap();
        let foreign = ServerCert { ca_pem: ServerCert::good().unwrap().ca_pem, ..own };
        assert!(complaint(&foreign).unwrap().contains("UnknownIssuer"));
    }

    #[test]
    fn files_go_with_their_owner() {
        let files = ServerCert::good().unwrap().written().unwrap();
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
