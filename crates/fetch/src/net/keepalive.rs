//! TCP keepalive, for a connection that is silent for hours, as the control connection of FTP during a transfer: routers
//! forget such a connection.

#[cfg(unix)]
use std::os::fd::AsFd;
#[cfg(unix)]
use std::time::Duration;

/// The time without data before the first probe, and between probes: the default of curl.
#[cfg(unix)]
const INTERVAL: Duration = Duration::from_secs(60);

/// Switches keepalive on. An error is ignored: the connection works without it.
#[cfg(unix)]
pub(super) fn set_keepalive(socket: &impl AsFd) {
    use rustix::net::sockopt::{set_socket_keepalive, set_tcp_keepidle, set_tcp_keepintvl};
    let _ = set_socket_keepalive(socket, true)
        .and_then(|()| set_tcp_keepidle(socket, INTERVAL))
        .and_then(|()| set_tcp_keepintvl(socket, INTERVAL));
}

#[cfg(not(unix))]
pub(super) fn set_keepalive<T>(_: &T) {}

#[cfg(all(test, unix))]
mod tests {
    use rustix::net::sockopt::{socket_keepalive, tcp_keepidle, tcp_keepintvl};

    use super::*;

    #[test]
    fn silent_connection_is_probed_each_minute() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        set_keepalive(&socket);
        assert_eq!(socket_keepalive(&socket), Ok(true));
        assert_eq!((tcp_keepidle(&socket), tcp_keepintvl(&socket)), (Ok(INTERVAL), Ok(INTERVAL)));
    }
}
