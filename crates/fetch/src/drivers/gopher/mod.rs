//! `gopher:` and `gophers:` (RFC 1738 §3.4, RFC 1436, RFC 4266, Gopher+).

mod advice;
mod form;
mod head;
mod io;
pub(crate) mod options;
mod plan;
mod refusal;
mod talk;

use crate::{Driver, Error, Plan, Request};

/// Speaks Gopher and Gopher+: a connection for each request.
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
