//! The table of drivers by scheme. It distinguishes known schemes without a driver from unknown schemes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fetch_url_core::{self as core, Guess, Url, find_scheme, guess};

use crate::{Driver, Error};

/// How a build supports a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemeSupport {
    /// A driver is built in or registered.
    BuiltIn,
    /// An experimental scheme (`x-…`, RFC 1738 §4) without a registered driver.
    Experimental,
    /// RFC 1738 or a later RFC defines an access method, but this build has no driver for it.
    NotBuiltIn,
    /// A name reserved by RFC 1738 §4 without an access method.
    Reserved,
    /// An unknown scheme.
    Unknown,
}

/// The drivers, by scheme in lower case.
#[derive(Clone, Default)]
pub(crate) struct Registry {
    drivers: BTreeMap<String, Arc<dyn Driver>>,
}

impl Registry {
    /// Registers `driver` for its schemes. It replaces earlier drivers of the same schemes.
    pub(crate) fn add(&mut self, driver: Arc<dyn Driver>) {
        for scheme in driver.schemes() {
            self.drivers.insert(scheme.to_ascii_lowercase(), driver.clone());
        }
    }

    pub(crate) fn remove(&mut self, scheme: &str) {
        self.drivers.remove(&scheme.to_ascii_lowercase());
    }

    /// Returns the schemes that have a driver.
    pub(crate) fn schemes(&self) -> BTreeSet<String> {
        self.drivers.keys().cloned().collect()
    }

    pub(crate) fn support(&self, url: &Url<'_>) -> SchemeSupport {
        let name = url.scheme_name();
        if self.drivers.contains_key(name) {
            return SchemeSupport::BuiltIn;
        }
        match find_scheme(name).map(|row| row.status) {
            Some(core::SchemeStatus::Reserved) => SchemeSupport::Reserved,
            Some(_) => SchemeSupport::NotBuiltIn,
            None if name.starts_with("x-") => SchemeSupport::Experimental,
            None => SchemeSupport::Unknown,
        }
    }

    /// Returns the driver for a scheme that this crate knows.
    ///
    /// # Errors
    /// `Code::Unsupported` if the caller has removed it.
    pub(crate) fn driver_of_scheme(&self, scheme: &str) -> Result<&Arc<dyn Driver>, Error> {
        let missing = || Error::unsupported(format!("\"{scheme}:\" is not supported by this build"));
        self.drivers.get(scheme).ok_or_else(missing)
    }

    /// Returns the driver for `url`.
    ///
    /// # Errors
    /// `Code::Unsupported`, with the reason.
    pub(crate) fn driver(&self, url: &Url<'_>) -> Result<&Arc<dyn Driver>, Error> {
        let name = url.scheme_name();
        self.drivers.get(name).ok_or_else(|| {
            let detail = match self.support(url) {
                SchemeSupport::Reserved => {
                    format!(
                        "\"{name}:\" is reserved by RFC 1738 §4, no access method is defined; a gateway can be configured"
                    )
                }
                SchemeSupport::Experimental => {
                    format!("\"{name}:\" is an experimental scheme, and no driver for it was registered")
                }
                SchemeSupport::Unknown => format!("unknown scheme \"{name}:\""),
                _ => format!("\"{name}:\" is not supported by this build"),
            };
            let error = Error::unsupported(detail);
            match unknown_scheme_hint(url) {
                Some(hint) => error.with_hint(hint),
                None => error,
            }
        })
    }
}

/// Returns what the scheme of a URL was probably meant to be, or the programs that support it.
fn unknown_scheme_hint(url: &Url<'_>) -> Option<String> {
    let text = url.redacted().to_string();
    let is_named = |names: &[&str]| names.iter().any(|name| url.scheme_name().eq_ignore_ascii_case(name));
    match guess(&text) {
        Some(correction @ Guess::Correction { .. }) => {
            correction.url(&text).map(|url| format!("did you mean {url}?"))
        }
        _ if is_named(&["sftp", "scp", "ssh"]) => {
            Some("fetch-url does not support SSH; use the programs sftp, scp or rsync".to_owned())
        }
        _ => None,
    }
}
