//! The driver for `http:` and `https:` URLs (RFC 1738 §3.3, RFC 9110, RFC 9112, RFC 9113).
//!
//! `plan.rs` builds the request, `run.rs` sends it over one of the [`transports`], `response.rs` interprets the
//! response. A request goes from `HttpRun` through `Transports::send` to `hyper_transport.rs`, which takes a connection
//! from the pool or opens one, or to `socks_transport.rs`.

mod authorization;
mod challenge;
mod chunk_sizes;
mod connection;
mod connection_pool;
mod connection_task;
mod content_coding;
mod content_disposition;
pub(crate) mod cookie_jar;
mod cookie_store;
mod decoded_body;
mod digest_realm;
pub(crate) mod duplicates;
mod exchange;
mod first_connection;
mod forwarded;
mod header_block;
#[cfg(feature = "http2")]
mod http2_connection;
#[cfg(not(feature = "http2"))]
#[path = "http2_not_built.rs"]
mod http2_connection;
#[cfg(feature = "http2")]
mod http2_frames;
#[cfg(feature = "http2")]
mod http2_stream;
#[cfg(feature = "http2")]
mod http2_uploads;
mod hyper_transport;
#[cfg(feature = "html")]
mod index_page;
#[cfg(not(feature = "html"))]
#[path = "index_page_not_built.rs"]
mod index_page;
mod interim;
pub(crate) mod multipart;
pub(crate) mod options;
mod overlap;
mod plan;
mod pool_key;
mod range_headers;
pub(crate) mod request_body;
mod request_headers;
mod request_trace;
mod response;
mod response_body;
mod run;
mod secrets;
mod socks_transport;
mod spare_connections;
mod spellings;
mod status_error;
mod transport_error;
mod transports;
mod upload;
mod watched_stream;

use std::sync::Arc;

use crate::{Driver, Error, Plan, Request};

/// The HTTP driver: HTTP/1.1 and HTTP/2, with connections kept open between requests.
#[derive(Default)]
pub(crate) struct HttpDriver {
    transports: Arc<transports::Transports>,
}

impl Driver for HttpDriver {
    fn id(&self) -> &'static str {
        "http"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["http", "https"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(run::HttpRun::new(plan::HttpPlan::new(request)?, self.transports.clone())))
    }
}
