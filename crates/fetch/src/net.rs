//! The only sockets: who may be asked, how a connection is opened, one TLS configuration for all.

pub(crate) mod address;
pub(crate) mod dial;
mod ports;
mod race;
pub(crate) mod tls;
