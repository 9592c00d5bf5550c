//! Opens TCP connections, from a local address or network interface if one is selected.

use std::net::SocketAddr;

use tokio::net::{TcpSocket, TcpStream};

use super::route::Interface;

/// Opens a TCP connection to `address`. The first poll sends the SYN.
#[allow(
    clippy::disallowed_methods,
    reason = "the one place that connects, to an address that the policy allowed"
)]
pub(super) async fn open_tcp(
    address: SocketAddr,
    interface: Option<&Interface>,
) -> std::io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    match interface {
        None => {}
        Some(Interface::Address(from)) => socket.bind(SocketAddr::new(*from, 0))?,
        Some(Interface::Device(name)) => bind_device(&socket, name)?,
    }
    socket.connect(address).await
}

#[cfg(target_os = "linux")]
fn bind_device(socket: &TcpSocket, name: &str) -> std::io::Result<()> {
    socket.bind_device(Some(name.as_bytes()))
}

#[cfg(not(target_os = "linux"))]
fn bind_device(_: &TcpSocket, _: &str) -> std::io::Result<()> {
    Err(std::io::Error::new(
        std::io::ErrorKind::Unsupported,
        "binding to a network interface is not supported on this system",
    ))
}
