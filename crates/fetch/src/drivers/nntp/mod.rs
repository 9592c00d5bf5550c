//! `news:`, `snews:`, `nntp:` and `nntps:` (RFC 1738 §3.6 and §3.7, RFC 5538, RFC 3977).

mod articles;
mod head;
mod io;
mod line;
mod listing;
pub(crate) mod options;
mod plan;
mod refusal;
mod servers;
mod shape;

use std::sync::Arc;

use fetch_url_core::Host;

use crate::{Driver, Error, Plan, Request};

/// Reads news. A connection that has answered waits for the next URL of its server.
#[derive(Default)]
pub(crate) struct NntpDriver {
    servers: Arc<servers::Servers>,
}

impl Driver for NntpDriver {
    fn id(&self) -> &'static str {
        "nntp"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["news", "nntp", "nntps", "snews"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        let at = request.url().host().map(Host::into_owned).zip(request.url().port());
        Ok(match at {
            Some(at) => Box::new(plan::NntpPlan::new(request, at, self.servers.clone())?),
            None => Box::new(plan::Homeless::new(request)?),
        })
    }
}
