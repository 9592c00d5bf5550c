//! The login and the TLS files for the connection to the NATS server.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use async_nats::rustls::RootCertStore;
use async_nats::rustls::crypto::CryptoProvider;
use async_nats::rustls::pki_types::pem::PemObject as _;
use async_nats::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use async_nats::rustls::sign::CertifiedKey;
use fetch_url::Error;

use crate::error::usage_error;

/// The login and the TLS files of a connection to NATS. `Debug` shows no secret.
#[derive(Clone, Default)]
pub struct Login {
    /// The user of a login with a password.
    pub user: Option<String>,
    /// The password.
    pub password: Option<String>,
    /// The token, instead of user and password.
    pub token: Option<String>,
    /// The text of a credentials file (JWT and seed), instead of user and password.
    pub credentials: Option<String>,
    /// A PEM file with the certificate authorities to trust instead of those of the system.
    pub authorities: Option<PathBuf>,
    /// PEM files with the certificate and the private key of the client.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Login {
    /// Checks the TLS files. The client library reads them when it connects, and its errors do not name them.
    ///
    /// # Errors
    /// [`fetch_url::Code::Usage`] if a file cannot be read or is malformed, or the key is not that of the certificate.
    pub(crate) fn check_files(&self) -> Result<(), Error> {
        if let Some(path) = &self.authorities {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|error| wrong(path, &error.to_string()))?;
            }
        }
        let (Some((path, key_path)), Some(provider)) = (&self.identity, CryptoProvider::get_default()) else {
            return Ok(());
        };
        let chain = certificates(path)?;
        // The message of the parser is not shown, because it may quote the key.
        let key = PrivateKeyDer::from_pem_slice(&read(key_path)?)
            .map_err(|_| wrong(key_path, "it has no private key in PEM that is not encrypted"))?;
        CertifiedKey::from_der(chain, key, provider)
            .map(|_| ())
            .map_err(|error| wrong(key_path, &format!("not the key of {}: {error}", path.display())))
    }
}

/// Returns the certificates of a PEM file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let pem = read(path)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(wrong(path, "it has no certificate in PEM")),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| wrong(path, &error.to_string()))
}

fn wrong(path: &Path, detail: &str) -> Error {
    usage_error(format!("{}: {detail}", path.display()))
}
