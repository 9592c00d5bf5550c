//! All sockets: network policy, connections, proxies, datagrams and one TLS configuration.

pub(crate) mod address;
pub(crate) mod connection;
pub(crate) mod connection_info;
pub(crate) mod connector;
pub(crate) mod datagram;
pub(crate) mod datagram_connection;
mod deflate;
mod exchange_ids;
pub(crate) mod ftp_data;
mod happy_eyeballs;
pub(crate) mod idle_capacity;
pub(crate) mod idle_pool;
mod keepalive;
pub(crate) mod login_set;
mod lookup;
mod open_tcp;
mod ports;
pub(crate) mod proxy;
pub(crate) mod route;
pub(crate) mod server_stream;
pub(crate) mod stream;
pub(crate) mod tls;
pub(crate) mod trace;
