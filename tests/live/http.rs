//! `http:` and `https:` against real servers.

mod cgi;
mod files;
mod names;
pub(crate) mod parts;
mod redirects;
mod statuses;
mod time;
mod tls;
mod wire;
