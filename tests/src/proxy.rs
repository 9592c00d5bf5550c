//! HTTP and SOCKS5 proxies.

pub(crate) mod server;
pub(crate) mod socks;
pub(crate) mod tunnel;
