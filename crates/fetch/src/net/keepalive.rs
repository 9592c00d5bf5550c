//! TCP keepalive, for a connection that is silent for hours, as the control connection of FTP during a transfer: routers
//! forget such a connection.

use std::time::Duration;

use tokio::net::TcpStream;

/// The time without data before the first probe, and between probes: the default of curl.
#[cfg(unix)]
const INTERVAL: Duration = Duration::from_secs(60);

/// Switches keepalive on. An error is ignored: the connection works without it.
#[cfg(unix)]
pub(super) fn set_keepalive(stream: &TcpStream) {
    use rustix::net::sockopt::{set_socket_keepalive, set_tcp_keepidle, set_tcp_keepintvl};
    let _ = set_socket_keepalive(stream, true)
        .and_then(|()| set_tcp_keepidle(stream, INTERVAL))
        .and_then(|()| set_tcp_keepintvl(stream, INTERVAL));
}

#[cfg(not(unix))]
pub(super) fn set_keepalive(_: &TcpStream) {}

#[cfg(all(test, unix))]
mod tests {
    use rustix::net::sockopt::{socket_keepalive, tcp_keepidle, tcp_keepintvl};

    use super::*;

    #[tokio::test]
    #[allow(clippy::disallowed_methods, reason = "a connection to this test")]
    async fn silent_connection_is_probed_each_minute() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let stream =
            TcpStream::connect(listener.local_addr().expect("an address")).await.expect("a connection");
        set_keepalive(&stream);
        assert_eq!(socket_keepalive(&stream), Ok(true));
        assert_eq!((tcp_keepidle(&stream), tcp_keepintvl(&stream)), (Ok(INTERVAL), Ok(INTERVAL)));
    }
}
