//! `http:` and `https:` (RFC 1738 §3.3, RFC 9110, RFC 9112, RFC 9113).

mod answer;
mod auth;
pub(crate) mod cookies;
mod decode;
mod direct;
mod disposition;
mod fault;
mod fields;
mod frames;
mod index;
mod interim;
mod io;
mod jar;
mod line;
pub(crate) mod options;
mod plan;
mod pool;
mod proxied;
mod range;
mod refusal;

use std::sync::Arc;

use crate::{Driver, Error, Plan, Request};

/// Speaks HTTP/1.1 and HTTP/2; keeps connections open between requests.
#[derive(Default)]
pub(crate) struct HttpDriver {
    roads: Arc<Roads>,
}

/// The ways to a server.
#[derive(Default)]
struct Roads {
    /// Straight, on connections of our own.
    pool: Arc<pool::Pool>,
    /// Through a proxy.
    proxied: proxied::Clients,
}

impl Driver for HttpDriver {
    fn id(&self) -> &'static str {
        "http"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["http", "https"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::HttpPlan::new(request, self.roads.clone())?))
    }
}
