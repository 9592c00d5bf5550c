//! HTTP and SOCKS proxies, plain and behind TLS.

pub(crate) mod server;
pub(crate) mod socks;
pub(crate) mod tls_front;
pub(crate) mod tunnel;
