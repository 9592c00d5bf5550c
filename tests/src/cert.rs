//! Certificates for the TLS servers of the tests, made anew each time: a CA and one leaf, sound or faulty.
//!
//! Nothing here is a secret worth keeping: the keys live as long as the test.

use std::fmt;
use std::fs;
use std::io::{Error, Result};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;

const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A server's certificate and key, and the CA certificate that a client must trust for it.
#[derive(Clone)]
pub struct ServerCert {
    ca_pem: String,
    cert_pem: String,
    cert_der: CertificateDer<'static>,
    key_pem: String,
    key_der: Vec<u8>,
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

    /// Like [`Self::good`], but for `wrong.example` and 192.0.2.1 only.
    pub fn wrong_name() -> Result<Self> {
        Self::issued(&["wrong.example", "192.0.2.1"], |_| {})
    }

    /// For the loopback names, issued by itself; its "CA" is itself.
    pub fn self_signed() -> Result<Self> {
        let key = KeyPair::generate().map_err(Error::other)?;
        let params = leaf(&LOOPBACK_NAMES, |_| {})?;
        let cert = params.self_signed(&key).map_err(Error::other)?;
        Ok(Self::assembled(cert.pem(), &cert, &key))
    }

    /// The certificate to trust, in PEM.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// The server's certificate in DER.
    #[must_use]
    pub fn cert_der(&self) -> &[u8] {
        &self.cert_der
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

    /// What a rustls server needs: TLS 1.2 and 1.3, no client certificate, no ALPN.
    pub fn server_config(&self) -> Result<Arc<ServerConfig>> {
        let key = PrivatePkcs8KeyDer::from(self.key_der.clone());
        ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder.with_no_client_auth().with_single_cert(vec![self.cert_der.clone()], key.into())
            })
            .map(Arc::new)
            .map_err(Error::other)
    }

    fn issued(names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Result<Self> {
        let mut params = named("fetch-url test CA", &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let ca_key = KeyPair::generate().map_err(Error::other)?;
        let ca_pem = params.self_signed(&ca_key).map_err(Error::other)?.pem();
        let issuer = Issuer::new(params, ca_key);
        let key = KeyPair::generate().map_err(Error::other)?;
        let cert = leaf(names, change)?.signed_by(&key, &issuer).map_err(Error::other)?;
        Ok(Self::assembled(ca_pem, &cert, &key))
    }

    fn assembled(ca_pem: String, cert: &rcgen::Certificate, key: &KeyPair) -> Self {
        Self {
            ca_pem,
            cert_pem: cert.pem(),
            cert_der: cert.der().clone(),
            key_pem: key.serialize_pem(),
            key_der: key.serialize_der(),
        }
    }
}

impl fmt::Debug for ServerCert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCert").finish_non_exhaustive()
    }
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
    use rustls::pki_types::{ServerName, pem::PemObject};

    let mut roots = rustls::RootCertStore::empty();
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
