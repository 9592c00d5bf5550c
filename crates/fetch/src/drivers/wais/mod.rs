//! The driver for `wais:` URLs (RFC 1738 §3.9, RFC 1625, RFC 4156). See docs/spec/wais.md.

mod document;
mod exchange;
mod plan;
mod rejection;
mod run;
mod search_results;

use crate::{Driver, Error, Plan, Request};

/// Searches WAIS databases and retrieves documents, with one connection per URL.
pub(crate) struct WaisDriver;

impl Driver for WaisDriver {
    fn id(&self) -> &'static str {
        "wais"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["wais"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::WaisPlan::new(request)?))
    }
}
