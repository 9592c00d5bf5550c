//! Who is believed in TLS, as the flags say.

use std::path::Path;

use fetch_url::{Error, Identity, Pins, StartTls, TlsOptions, TlsVersion, Trust};

use super::read;
use crate::flags::{Tls, TlsMax};

/// What the flags say of TLS.
pub(super) fn options(flags: &Tls) -> Result<TlsOptions, Error> {
    let mut options = TlsOptions::default();
    if let Some(path) = &flags.cacert {
        options = options.trust(Trust::Authorities(read(path)?));
    }
    if flags.insecure {
        options = options.trust(Trust::Anybody);
    }
    if let Some(path) = &flags.cert {
        let certificates = read(path)?;
        let key = flags.key.as_deref().map(read).transpose()?;
        options = options.identity(Identity::from_pem(&certificates, key.as_ref().unwrap_or(&certificates))?);
    }
    if let Some(text) = &flags.pinnedpubkey {
        let pins = match text.starts_with("sha256//") {
            true => Pins::parse(text)?,
            false => Pins::from_public_key(&read(Path::new(text))?)?,
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
