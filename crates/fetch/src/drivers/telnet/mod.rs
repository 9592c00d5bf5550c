//! The driver for `telnet:` URLs (RFC 1738 §3.8, RFC 4248). An interactive session is not a data object, so the driver
//! returns advice, or opens the session if the caller requests it.

mod advice;
pub(crate) mod options;
mod plan;
mod run;

use crate::{Driver, Error, Plan, Request};

/// Returns advice for a telnet URL, or opens the session.
pub(crate) struct TelnetDriver;

impl Driver for TelnetDriver {
    fn id(&self) -> &'static str {
        "telnet"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["telnet"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::TelnetPlan::new(request)?))
    }
}
