//! `http:` and `https:` at real servers.

mod cgi;
mod files;
mod names;
mod parts;
mod redirects;
mod statuses;
mod time;
mod tls;
mod wire;
