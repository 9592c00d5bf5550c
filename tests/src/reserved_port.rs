//! A port where nothing listens.

use std::io::Result;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use tokio::net::TcpSocket;

/// A port where nothing listens. No other process gets it until this value is dropped.
///
/// The address of a listener that was dropped is not enough: a test that runs at the same time may get its port.
#[derive(Debug)]
pub struct ReservedPort {
    addr: SocketAddr,
    _socket: Socket,
}

#[derive(Debug)]
enum Socket {
    Tcp(#[expect(dead_code, reason = "it keeps the port until it is dropped")] TcpSocket),
    Udp(#[expect(dead_code, reason = "it keeps the port until it is dropped")] UdpSocket),
}

impl ReservedPort {
    /// Reserves a TCP port of 127.0.0.1. Connections to it are refused, until a program listens at exactly this port.
    ///
    /// # Errors
    /// The socket could not be created or bound.
    pub fn tcp() -> Result<Self> {
        Self::tcp_of(Ipv4Addr::LOCALHOST.into())
    }

    /// Reserves a TCP port of this address.
    pub(crate) fn tcp_of(ip: IpAddr) -> Result<Self> {
        let socket = if ip.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // With this option on both sockets, a program may listen at a port that is bound by another one.
        socket.set_reuseaddr(true)?;
        socket.bind((ip, 0).into())?;
        Ok(Self { addr: socket.local_addr()?, _socket: Socket::Tcp(socket) })
    }

    /// Reserves a UDP port of 127.0.0.1. The sender of a datagram to it is told that the port is closed.
    ///
    /// # Errors
    /// The socket could not be created, bound or connected.
    pub fn udp() -> Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let addr = socket.local_addr()?;
        // A connected socket receives datagrams of its peer only, and this peer is the socket itself.
        socket.connect(addr)?;
        Ok(Self { addr, _socket: Socket::Udp(socket) })
    }

    /// Address and port.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn reserved_tcp_port_refuses_connections_until_a_program_listens_at_it() {
        let port = ReservedPort::tcp().unwrap();
        assert_eq!(TcpStream::connect(port.addr()).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        let _listener = TcpListener::bind(port.addr()).unwrap();
        assert!(TcpStream::connect(port.addr()).is_ok());
    }

    #[test]
    fn datagram_to_a_reserved_udp_port_is_refused() {
        let port = ReservedPort::udp().unwrap();
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        client.connect(port.addr()).unwrap();
        client.send(b"x").unwrap();
        assert_eq!(client.recv(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}
