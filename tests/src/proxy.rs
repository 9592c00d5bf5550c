//! Proxies: CONNECT and SOCKS.

pub(crate) mod server;
pub(crate) mod socks;
pub(crate) mod tunnel;
