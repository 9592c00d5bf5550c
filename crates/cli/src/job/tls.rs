//! The TLS options.

use std::path::Path;

use fetch_url::tls::{Identity, Pins, StartTls, TlsVersion};
use fetch_url::{Error, TlsOptions, Trust};

use super::option_file::read_option_file;
use crate::error::usage_error;
use crate::flags::{TlsFlags, TlsMax};

/// Creates the TLS options from the flags.
pub(super) fn options(flags: &TlsFlags) -> Result<TlsOptions, Error> {
    let mut options = TlsOptions::default();
    if let Some(path) = &flags.cacert {
        let trust = Trust::Authorities(read_option_file("--cacert", path)?);
        if flags.insecure {
            // -k applies to servers only.
            options = options.proxy_trust(trust.clone());
        }
        options = options.trust(trust);
    }
    if flags.insecure {
        options = options.trust(Trust::AnyCertificate);
    }
    if let Some(path) = &flags.cert {
        let certificates = read_certificates(path)?;
        let key = flags.key.as_deref().map(|key| read_option_file("--key", key)).transpose()?;
        options = options.identity(Identity::from_pem(&certificates, key.as_ref().unwrap_or(&certificates))?);
    }
    if let Some(text) = &flags.pinnedpubkey {
        let pins = match text.starts_with("sha256//") {
            true => Pins::parse(text)?,
            false => Pins::from_public_key(&read_option_file("--pinnedpubkey", Path::new(text))?)?,
        };
        options = options.pins(pins);
    }
    let start = match (flags.ssl_reqd, flags.ssl) {
        (true, _) => StartTls::Require,
        (_, true) => StartTls::Try,
        _ => StartTls::Never,
    };
    options = options.start(start).allow_truncation(flags.allow_tls_truncation);
    let lowest = if flags.tlsv1_3 { TlsVersion::V13 } else { TlsVersion::V12 };
    let highest = match flags.tls_max {
        Some(TlsMax::V12) => TlsVersion::V12,
        _ => TlsVersion::V13,
    };
    options.versions(lowest, highest)
}

/// Reads the file of `--cert`. In curl, a password follows a colon: it must not be shown.
fn read_certificates(path: &Path) -> Result<Vec<u8>, Error> {
    match path.to_str().and_then(|text| text.split_once(':')) {
        Some((file, _)) if !path.exists() => {
            let detail =
                format!("--cert {file}:***: the file cannot be read, and passwords are not supported");
            Err(usage_error(detail)
                .with_hint("give a key without a password: openssl pkey -in KEY -out PLAIN"))
        }
        _ => read_option_file("--cert", path),
    }
}
