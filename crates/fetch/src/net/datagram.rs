//! UDP datagrams to a server. They are accepted only from addresses that the policy allowed and that a request
//! was sent to, but from any port: old servers reply from another port.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_core::Host;
use tokio::io::{Interest, Ready};
use tokio::net::UdpSocket;

use super::connection_info::ConnectionInfo;
use super::connector::Connector;
use super::exchange_ids::ExchangeIds;
use super::route::Interface;
use crate::time::Instant;
use crate::{Code, Deadline, Error, Phase};

/// The largest UDP datagram in bytes.
const DATAGRAM_BYTES: usize = 65_536;

/// The events that wake the reader: data, and ICMP errors on Linux.
#[cfg(target_os = "linux")]
const READABLE_OR_ERROR: Interest = Interest::READABLE.add(Interest::ERROR);
#[cfg(not(target_os = "linux"))]
const READABLE_OR_ERROR: Interest = Interest::READABLE;

type Readiness = Pin<Box<dyn Future<Output = io::Result<Ready>> + Send>>;

/// The UDP sockets for a server, one per address. Datagrams are sent to the current address, and received from all
/// addresses that were used.
pub(crate) struct DatagramSockets {
    addresses: Vec<ServerAddress>,
    /// Index of the current address.
    current: usize,
    interface: Option<Interface>,
    connection_info: ConnectionInfo,
    buffer: Vec<u8>,
    pub(super) ids: ExchangeIds,
    /// The cancellation of the request, which is sent once, without retransmission, when this value is dropped.
    pub(crate) cancellation: Option<Bytes>,
}

/// One address of the server.
struct ServerAddress {
    address: SocketAddr,
    /// `None` before the first datagram to the address.
    socket: Option<Arc<UdpSocket>>,
    /// Becomes ready when a datagram or an error arrives.
    readiness: Option<Readiness>,
    /// An ICMP error was received for the address.
    is_refused: bool,
}

/// The result of a receive.
#[derive(Debug)]
pub(crate) enum Arrival<'b> {
    /// A datagram from an address that a request was sent to.
    Datagram(&'b [u8]),
    /// An ICMP error: the port is closed or the host is unreachable.
    Refusal(io::Error),
}

impl Drop for DatagramSockets {
    fn drop(&mut self) {
        let server = &self.addresses[self.current];
        if let (Some(cancellation), Some(socket)) = (&self.cancellation, &server.socket) {
            let _ = socket.try_send_to(cancellation, server.address);
        }
    }
}

impl Connector {
    /// Resolves `host` and prepares one socket per address. A socket is opened for its first datagram.
    ///
    /// # Errors
    /// As for [`Connector::connect`].
    pub(crate) async fn datagrams(
        &self,
        host: &Host<'_>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<DatagramSockets, Error> {
        self.check_no_proxy(host, "prospero")?;
        let (host, port) = self.connect_to(host, port);
        let addresses = self.resolve_allowed(host, port, &deadline.connecting()).await?;
        if addresses.iter().all(|address| address.ip().is_multicast()) {
            // Unicast replies are expected, so multicast addresses are refused.
            let detail = format!("{host} is a multicast address");
            return Err(Error::new(Code::Policy, Phase::Connect, detail));
        }
        let addresses = addresses.into_iter().map(ServerAddress::at).collect();
        let (interface, connection_info) = (self.interface().cloned(), self.connection_info().clone());
        connection_info.update(|record| record.opened += 1);
        let buffer = vec![0; DATAGRAM_BYTES];
        Ok(DatagramSockets {
            addresses,
            current: 0,
            interface,
            connection_info,
            buffer,
            ids: ExchangeIds::default(),
            cancellation: None,
        })
    }
}

impl DatagramSockets {
    /// Sends `datagram` to the current address.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<io::Result<()>> {
        let server = &mut self.addresses[self.current];
        let socket = match &server.socket {
            Some(socket) => socket,
            None => {
                let socket = Arc::new(open(server.address, self.interface.as_ref())?);
                self.connection_info.update(|record| {
                    record.connected = record.connected.or_else(|| Some(Instant::now()));
                    (record.remote_addr, record.local_addr) =
                        (Some(server.address), socket.local_addr().ok());
                });
                server.socket.insert(socket)
            }
        };
        socket.poll_send_to(cx, datagram, server.address).map_ok(|_| ())
    }

    /// Receives from all addresses that were used.
    pub(crate) fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Arrival<'_>> {
        for index in 0..self.addresses.len() {
            match self.addresses[index].poll_receive(&mut self.buffer, cx) {
                Poll::Pending => {}
                Poll::Ready(Ok(length)) => {
                    // The address that replies becomes the current one.
                    self.current = index;
                    return Poll::Ready(Arrival::Datagram(&self.buffer[..length]));
                }
                Poll::Ready(Err(error)) => {
                    self.current = index;
                    return Poll::Ready(Arrival::Refusal(error));
                }
            }
        }
        Poll::Pending
    }

    /// Drops all addresses except the current one, so that the responses of two servers are not mixed.
    pub(crate) fn keep_current_address(&mut self) {
        self.addresses.swap(0, self.current);
        self.addresses.truncate(1);
        self.current = 0;
    }

    /// Makes the next address that was not refused the current one.
    pub(crate) fn use_next_address(&mut self) {
        let count = self.addresses.len();
        let next = (1..count).map(|step| (self.current + step) % count);
        if let Some(next) = next.into_iter().find(|index| !self.addresses[*index].is_refused) {
            self.current = next;
        }
    }

    /// Marks the current address as refused, and switches to the next one. Returns `false` if all addresses are
    /// refused.
    pub(crate) fn mark_refused(&mut self) -> bool {
        self.addresses[self.current].is_refused = true;
        self.use_next_address();
        !self.addresses[self.current].is_refused
    }

    /// Returns the current address.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.addresses[self.current].address
    }
}

impl ServerAddress {
    const fn at(address: SocketAddr) -> Self {
        Self { address, socket: None, readiness: None, is_refused: false }
    }

    /// Receives a datagram and returns its length, or the ICMP error.
    fn poll_receive(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(socket) = self.socket.clone().filter(|_| !self.is_refused) else { return Poll::Pending };
        loop {
            match socket.try_recv_from(buffer) {
                Ok((length, from)) if from.ip().to_canonical() == self.address.ip().to_canonical() => {
                    return Poll::Ready(Ok(length));
                }
                Ok((_, from)) => {
                    tracing::debug!(%from, "ignored a datagram from another address than that of the server")
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if let Some(refusal) = ready!(self.poll_ready(&socket, cx))? {
                        return Poll::Ready(Err(refusal));
                    }
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Returns `Ready` when data can be read (`None`) or an ICMP error has arrived.
    fn poll_ready(
        &mut self,
        socket: &Arc<UdpSocket>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Option<io::Error>>> {
        let awaited = self.readiness.get_or_insert_with(|| {
            let socket = Arc::clone(socket);
            Box::pin(async move { socket.ready(READABLE_OR_ERROR).await })
        });
        let ready = ready!(awaited.as_mut().poll(cx));
        self.readiness = None;
        Poll::Ready(if ready?.is_error() { refusal(socket) } else { Ok(None) })
    }
}

/// Returns the pending ICMP error of the socket and clears it.
#[cfg(target_os = "linux")]
fn refusal(socket: &UdpSocket) -> io::Result<Option<io::Error>> {
    let refusal = socket.take_error()?;
    let _ = socket.try_io(Interest::ERROR, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
    Ok(refusal)
}

#[cfg(not(target_os = "linux"))]
fn refusal(socket: &UdpSocket) -> io::Result<Option<io::Error>> {
    socket.take_error()
}

/// Opens a socket for datagrams to `address`, on a port that the system chooses.
fn open(address: SocketAddr, interface: Option<&Interface>) -> io::Result<UdpSocket> {
    let any =
        if address.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let from = match interface {
        Some(Interface::Address(own)) => *own,
        _ => any,
    };
    let socket = std::net::UdpSocket::bind((from, 0))?;
    socket.set_nonblocking(true)?;
    enable_icmp_errors(&socket, address)?;
    let socket = UdpSocket::from_std(socket)?;
    if let Some(Interface::Device(name)) = interface {
        bind_device(&socket, name)?;
    }
    Ok(socket)
}

/// Requests ICMP errors for the socket: an unconnected socket does not report them by default.
#[cfg(target_os = "linux")]
fn enable_icmp_errors(socket: &std::net::UdpSocket, address: SocketAddr) -> io::Result<()> {
    use nix::sys::socket::{setsockopt, sockopt};
    if address.is_ipv4() {
        setsockopt(socket, sockopt::Ipv4RecvErr, &true)?;
    } else {
        setsockopt(socket, sockopt::Ipv6RecvErr, &true)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn enable_icmp_errors(_: &std::net::UdpSocket, _: SocketAddr) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn bind_device(socket: &UdpSocket, name: &str) -> io::Result<()> {
    socket.bind_device(Some(name.as_bytes()))
}

#[cfg(not(target_os = "linux"))]
fn bind_device(_: &UdpSocket, _: &str) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "binding to a network interface is not supported on this system",
    ))
}
