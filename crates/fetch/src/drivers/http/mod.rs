//! `http:` and `https:` (RFC 1738 §3.3, RFC 9110, RFC 9112): GET and HEAD, ranges, validators.

mod answer;
mod client;
mod disposition;
mod fault;
mod interim;
mod io;
mod plan;
mod range;
mod verbatim;

use std::sync::Arc;

use crate::{Driver, Error, Plan, Request};

/// Speaks HTTP/1.1 and HTTP/2; keeps connections open between requests.
#[derive(Default)]
pub(crate) struct HttpDriver {
    clients: Arc<client::Clients>,
}

impl Driver for HttpDriver {
    fn id(&self) -> &'static str {
        "http"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["http", "https"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::HttpPlan::new(request, self.clients.clone())?))
    }
}
