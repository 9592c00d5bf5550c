//! An HTTP proxy and gateway that serves every URL scheme of RFC 1738 to browsers, curl, wget, lynx and w3m.
//!
//! ```no_run
//! # async fn example() -> Result<(), fetch_url::Error> {
//! use fetch_url_serve::{ServeOptions, Server};
//!
//! let server = Server::bind(ServeOptions::default()).await?;
//! println!("http://{}/", server.addresses()[0]);
//! server.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! A client asks in one of three forms: as for a proxy (`GET gopher://host/1/ HTTP/1.1`, the absolute form of RFC 9112
//! §3.2.2), as a path (`GET /gopher://host/1/`), or for the start page. [`fetch_url`] fetches the object; this crate
//! only maps requests and responses, and renders pages.
//!
//! # From a connection to an answer
//! `listen` accepts a connection and applies the limits. `head_stream` reads each request head from it, so that the
//! request target is known byte by byte, and passes a short head of its own on to hyper. `handler` asks `access` and
//! `request_target` what the request may have, fetches it, and `answer` maps the response. `pages` renders HTML.

#![forbid(unsafe_code)]

mod access;
mod answer;
mod answer_body;
mod article;
mod authorization;
mod cache;
mod client_limit;
mod conditions;
mod connect;
mod disposition;
mod error_page;
mod fetchers;
mod field_text;
mod gateway_request;
mod handler;
mod head_stream;
mod link;
mod listen;
mod log;
mod media_type;
mod memory;
mod newsgroup_url;
mod options;
mod pages;
mod recent_errors;
mod request_head;
mod request_target;
mod security_headers;
mod shared;
mod status;

pub use access::ClientNetwork;
pub use listen::Server;
pub use log::LogSink;
pub use options::{ServeLimits, ServeOptions};
