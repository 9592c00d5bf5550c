//! From scheme to driver. "Known but not built in" is not "unknown".

use std::collections::BTreeMap;
use std::sync::Arc;

use fetch_url_core::{self as core, Url, scheme};

use crate::{Driver, Error};

/// How a scheme stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// There is a driver.
    BuiltIn,
    /// An experimental scheme (`x-…`) for which nobody registered a driver.
    Experimental,
    /// RFC 1738 or a later RFC has an access method; this build has no driver yet.
    NotBuiltIn,
    /// A name of RFC 1738 §4, without an access method.
    Reserved,
    /// Nobody knows it.
    Unknown,
}

/// The drivers, by scheme.
#[derive(Clone, Default)]
pub(crate) struct Registry {
    drivers: BTreeMap<String, Arc<dyn Driver>>,
}

impl Registry {
    /// Adds a driver for its schemes; the last one wins.
    pub(crate) fn add(&mut self, driver: Arc<dyn Driver>) {
        for scheme in driver.schemes() {
            self.drivers.insert((*scheme).to_owned(), driver.clone());
        }
    }

    pub(crate) fn remove(&mut self, scheme: &str) {
        self.drivers.remove(scheme);
    }

    pub(crate) fn standing(&self, url: &Url<'_>) -> Standing {
        let name = url.scheme_name();
        if self.drivers.contains_key(name) {
            return Standing::BuiltIn;
        }
        match scheme(name).map(|row| row.standing) {
            Some(core::Standing::Reserved) => Standing::Reserved,
            Some(_) => Standing::NotBuiltIn,
            None if name.starts_with("x-") => Standing::Experimental,
            None => Standing::Unknown,
        }
    }

    /// The driver for `url`, or why there is none.
    pub(crate) fn driver(&self, url: &Url<'_>) -> Result<&Arc<dyn Driver>, Error> {
        let name = url.scheme_name();
        self.drivers.get(name).ok_or_else(|| {
            let detail = match self.standing(url) {
                Standing::Reserved => {
                    format!(
                        "\"{name}:\" is reserved by RFC 1738 §4, no access method is defined; a gateway can be configured"
                    )
                }
                Standing::Experimental => {
                    format!("\"{name}:\" is an experimental scheme, and no driver for it was registered")
                }
                Standing::Unknown => format!("unknown scheme \"{name}:\""),
                _ => format!("\"{name}:\" is not built in yet"),
            };
            Error::unsupported(detail)
        })
    }
}
