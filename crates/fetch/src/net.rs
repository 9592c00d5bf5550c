//! The only sockets: who may be asked, how a connection is opened, one TLS configuration for all.

pub(crate) mod address;
pub(crate) mod contact;
pub(crate) mod courier;
pub(crate) mod data;
pub(crate) mod datagram;
mod deflate;
pub(crate) mod dial;
mod lookup;
mod ports;
pub(crate) mod proxy;
pub(crate) mod pump;
mod race;
pub(crate) mod route;
pub(crate) mod stream;
pub(crate) mod tls;
