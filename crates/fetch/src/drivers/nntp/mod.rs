//! The driver for `news:`, `snews:`, `nntp:` and `nntps:` URLs (RFC 1738 §3.6 and §3.7, RFC 5538, RFC 3977).

mod active_request;
mod article_format;
mod articles;
mod connection;
mod head;
mod listing;
mod missing_server;
pub(crate) mod options;
mod plan;
mod rejection;
mod response;
mod run;
mod server_cache;
mod skipped_numbers;
mod start_request;

use std::sync::Arc;

use fetch_url_core::Host;

use crate::{Driver, Error, Plan, Request};

/// Reads articles and lists from news servers; it keeps connections open between URLs.
#[derive(Default)]
pub(crate) struct NntpDriver {
    cache: Arc<server_cache::ServerCache>,
}

impl Driver for NntpDriver {
    fn id(&self) -> &'static str {
        "nntp"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["news", "nntp", "nntps", "snews"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        let server = request.url().host().map(Host::into_owned).zip(request.url().port());
        Ok(match server {
            Some(server) => {
                Box::new(run::NntpRun::new(plan::NntpPlan::new(request, server)?, self.cache.clone()))
            }
            None => Box::new(missing_server::MissingServer::new(request)?),
        })
    }
}
