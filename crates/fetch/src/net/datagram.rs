//! Datagrams to a server and from it: only what comes from an address that was judged and asked is heard. From
//! another port of it, too: servers of old answer so.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use fetch_url_core::Host;
use tokio::io::{Interest, Ready};
use tokio::net::UdpSocket;

use super::contact::Contact;
use super::dial::Dial;
use super::route::Interface;
use crate::{Code, Deadline, Error, Phase};

/// The largest datagram there is.
const DATAGRAM_OCTETS: usize = 65_536;

/// What wakes whoever waits for a datagram: a refusal too.
#[cfg(target_os = "linux")]
const ARRIVAL: Interest = Interest::READABLE.add(Interest::ERROR);
#[cfg(not(target_os = "linux"))]
const ARRIVAL: Interest = Interest::READABLE;

type Awaited = Pin<Box<dyn Future<Output = io::Result<Ready>> + Send>>;

/// A server, at the address that is asked now.
pub(crate) struct Datagrams {
    addresses: Vec<SocketAddr>,
    asked: usize,
    socket: Arc<UdpSocket>,
    /// Waits until something arrives.
    awaited: Option<Awaited>,
    interface: Option<Interface>,
    contact: Contact,
    buffer: Vec<u8>,
    /// What is sent when this is dropped: a courtesy, which the peer does without.
    pub(crate) farewell: Option<Bytes>,
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        if let Some(farewell) = &self.farewell {
            let _ = self.socket.try_send_to(farewell, self.peer());
        }
    }
}

impl Dial {
    /// Datagrams to `host` and from it.
    ///
    /// # Errors
    /// As for [`Dial::connect`].
    pub(crate) async fn datagrams(
        &self,
        host: &Host<'_>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<Datagrams, Error> {
        let (host, port) = self.detour(host, port);
        let addresses = self.ways(host, port, &deadline.connecting()).await?;
        let failed = |error| Error::io(Code::ConnectFailed, Phase::Connect, &format!("{host}:{port}"), error);
        let first = *addresses.first().ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
        let interface = self.interface().cloned();
        let socket = Arc::new(open(first, interface.as_ref()).map_err(failed)?);
        let contact = self.contact().clone();
        contact.note(|facts| {
            facts.connected = Some(Instant::now());
            (facts.peer, facts.local) = (Some(first), socket.local_addr().ok());
            facts.opened += 1;
        });
        let buffer = vec![0; DATAGRAM_OCTETS];
        let (asked, awaited, farewell) = (0, None, None);
        Ok(Datagrams { addresses, asked, socket, awaited, interface, contact, buffer, farewell })
    }
}

impl Datagrams {
    /// Sends one to the address that is asked now.
    pub(crate) fn poll_send(&self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<io::Result<()>> {
        self.socket.poll_send_to(cx, datagram, self.addresses[self.asked]).map_ok(|_| ())
    }

    /// The next one from the address that is asked now; an error where a refusal came instead.
    pub(crate) fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let asked = self.addresses[self.asked].ip().to_canonical();
        loop {
            match self.socket.try_recv_from(&mut self.buffer) {
                Ok((length, from)) if from.ip().to_canonical() == asked => {
                    return Poll::Ready(Ok(&self.buffer[..length]));
                }
                Ok((_, from)) => tracing::debug!(%from, "a datagram of somebody who was not asked"),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if let Some(refusal) = ready!(self.poll_ready(cx))? {
                        return Poll::Ready(Err(refusal));
                    }
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Ready when there is something to be received, or a refusal, which it then is.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<io::Error>>> {
        let socket = &self.socket;
        let awaited = self.awaited.get_or_insert_with(|| {
            let socket = Arc::clone(socket);
            Box::pin(async move { socket.ready(ARRIVAL).await })
        });
        let ready = ready!(awaited.as_mut().poll(cx));
        self.awaited = None;
        let refusal = if ready?.is_error() { self.refusal()? } else { None };
        Poll::Ready(Ok(refusal))
    }

    /// What the system knows of a refusal; it is not told twice.
    #[cfg(target_os = "linux")]
    fn refusal(&self) -> io::Result<Option<io::Error>> {
        let refusal = self.socket.take_error()?;
        let _ = self.socket.try_io(Interest::ERROR, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
        Ok(refusal)
    }

    #[cfg(not(target_os = "linux"))]
    fn refusal(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// Asks the next address of the server from now on; whether there is one that was not asked yet, or `around`
    /// the first one again.
    pub(crate) fn turn(&mut self, around: bool) -> bool {
        let next = self.asked + 1;
        if next == self.addresses.len() && !(around && next > 1) {
            return false;
        }
        let next = next % self.addresses.len();
        let Ok(socket) = open(self.addresses[next], self.interface.as_ref()) else { return false };
        (self.asked, self.socket, self.awaited) = (next, Arc::new(socket), None);
        let (peer, local) = (self.addresses[next], self.socket.local_addr().ok());
        self.contact.note(|facts| (facts.peer, facts.local) = (Some(peer), local));
        true
    }

    /// The address that is asked now.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.addresses[self.asked]
    }
}

/// A socket for datagrams to `address`, at a port of the system's choice.
fn open(address: SocketAddr, interface: Option<&Interface>) -> io::Result<UdpSocket> {
    let any =
        if address.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let from = match interface {
        Some(Interface::Address(own)) => *own,
        _ => any,
    };
    let socket = std::net::UdpSocket::bind((from, 0))?;
    socket.set_nonblocking(true)?;
    hear_refusals(&socket, address)?;
    let socket = UdpSocket::from_std(socket)?;
    if let Some(Interface::Device(name)) = interface {
        bind_device(&socket, name)?;
    }
    Ok(socket)
}

/// Whether nobody is at a port is told by ICMP, to those alone who ask for it: a socket that hears several ports does
/// not by itself.
#[cfg(target_os = "linux")]
fn hear_refusals(socket: &std::net::UdpSocket, address: SocketAddr) -> io::Result<()> {
    use nix::sys::socket::{setsockopt, sockopt};
    if address.is_ipv4() {
        setsockopt(socket, sockopt::Ipv4RecvErr, &true)?;
    } else {
        setsockopt(socket, sockopt::Ipv6RecvErr, &true)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn hear_refusals(_: &std::net::UdpSocket, _: SocketAddr) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn bind_device(socket: &UdpSocket, name: &str) -> io::Result<()> {
    socket.bind_device(Some(name.as_bytes()))
}

#[cfg(not(target_os = "linux"))]
fn bind_device(_: &UdpSocket, _: &str) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "no device can be chosen on this system"))
}
