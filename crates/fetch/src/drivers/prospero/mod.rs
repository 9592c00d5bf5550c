//! `prospero:` (RFC 1738 §3.11, RFC 4157): asks a directory server where an object is, and leads there.

mod attributes;
mod contents;
mod io;
mod listing;
mod plan;
mod refusal;
mod ways;

use crate::{Driver, Error, Plan, Request};

/// Asks Prospero's directory servers, by datagrams.
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
