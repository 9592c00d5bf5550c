//! The driver for `gopher:` and `gophers:` URLs (RFC 1738 §3.4, RFC 1436, RFC 4266, Gopher+).

mod advice;
mod fetch_item;
mod form;
mod head;
pub(crate) mod options;
mod plan;
mod rejection;
mod response;
mod run;
mod view;

use crate::{Driver, Error, Plan, Request};

/// Sends each Gopher or Gopher+ request on its own connection.
pub(crate) struct GopherDriver;

impl Driver for GopherDriver {
    fn id(&self) -> &'static str {
        "gopher"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["gopher", "gophers"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::GopherPlan::new(request)?))
    }
}
