//! The driver for `prospero:` URLs (RFC 1738 §3.11, RFC 4157): queries a directory server for the location of an
//! object, and redirects there. See docs/spec/prospero.md.

mod access;
mod attributes;
mod contents;
mod listing;
mod plan;
mod query;
mod redirect;
mod rejection;
mod response;
mod run;

use crate::{Driver, Error, Plan, Request};

/// Queries Prospero directory servers over UDP.
pub(crate) struct ProsperoDriver;

impl Driver for ProsperoDriver {
    fn id(&self) -> &'static str {
        "prospero"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["prospero"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::ProsperoPlan::new(request)?))
    }
}
