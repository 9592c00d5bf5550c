//! The times of the steps of a request, and the addresses of its connection.

use std::net::SocketAddr;
use std::time::Duration;

/// The times of the steps of a request, measured from its start, and the addresses of the connection. A reused
/// connection has no time for the steps that it skips.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Timings {
    /// The start of the last attempt, after redirects and retries.
    pub started: Duration,
    /// The host name was resolved.
    pub resolved: Option<Duration>,
    /// The TCP connection was established.
    pub connected: Option<Duration>,
    /// The TLS handshake was complete.
    pub tls_done: Option<Duration>,
    /// The request was sent.
    pub sent: Option<Duration>,
    /// The first byte of the response was received.
    pub first_byte: Option<Duration>,
    /// The address of the server or proxy.
    pub remote_addr: Option<SocketAddr>,
    /// The local address.
    pub local_addr: Option<SocketAddr>,
    /// Number of connections that were opened.
    pub connections: u32,
}
