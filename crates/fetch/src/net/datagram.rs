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

/// A server, at the addresses that it has: one of them is asked, and heard are all that were.
pub(crate) struct Datagrams {
    doors: Vec<Door>,
    /// Which of them is asked now.
    asked: usize,
    interface: Option<Interface>,
    contact: Contact,
    buffer: Vec<u8>,
    /// What is sent when this is dropped: a courtesy, which the peer does without.
    pub(crate) farewell: Option<Bytes>,
}

/// An address of the server.
struct Door {
    address: SocketAddr,
    /// None before it is asked.
    socket: Option<Arc<UdpSocket>>,
    /// Waits until something arrives.
    awaited: Option<Awaited>,
    /// Nobody is there.
    is_shut: bool,
}

/// What comes back.
#[derive(Debug)]
pub(crate) enum Arrival<'b> {
    /// A datagram of an address that was asked.
    Datagram(&'b [u8]),
    /// Word that nobody is there.
    Refusal(io::Error),
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        let door = &self.doors[self.asked];
        if let (Some(farewell), Some(socket)) = (&self.farewell, &door.socket) {
            let _ = socket.try_send_to(farewell, door.address);
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
        if addresses.iter().all(|address| address.ip().is_multicast()) {
            // Many would be asked, and no answer comes from there.
            let detail = format!("{host} is a multicast address");
            return Err(Error::new(Code::Policy, Phase::Connect, detail));
        }
        let doors = addresses.into_iter().map(Door::at).collect();
        let (interface, contact) = (self.interface().cloned(), self.contact().clone());
        contact.note(|facts| facts.opened += 1);
        let buffer = vec![0; DATAGRAM_OCTETS];
        Ok(Datagrams { doors, asked: 0, interface, contact, buffer, farewell: None })
    }
}

impl Datagrams {
    /// Sends one to the address that is asked now.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<io::Result<()>> {
        let door = &mut self.doors[self.asked];
        let socket = match &door.socket {
            Some(socket) => socket,
            None => {
                let socket = Arc::new(open(door.address, self.interface.as_ref())?);
                self.contact.note(|facts| {
                    facts.connected = facts.connected.or_else(|| Some(Instant::now()));
                    (facts.peer, facts.local) = (Some(door.address), socket.local_addr().ok());
                });
                door.socket.insert(socket)
            }
        };
        socket.poll_send_to(cx, datagram, door.address).map_ok(|_| ())
    }

    /// What has come back from the addresses that were asked. From another port of one, too.
    pub(crate) fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Arrival<'_>> {
        for index in 0..self.doors.len() {
            match self.doors[index].poll_receive(&mut self.buffer, cx) {
                Poll::Pending => {}
                Poll::Ready(Ok(length)) => {
                    // Who answers is spoken with.
                    self.asked = index;
                    return Poll::Ready(Arrival::Datagram(&self.buffer[..length]));
                }
                Poll::Ready(Err(error)) => {
                    self.asked = index;
                    return Poll::Ready(Arrival::Refusal(error));
                }
            }
        }
        Poll::Pending
    }

    /// From now on only the address is heard that has answered: two servers must not make one answer.
    pub(crate) fn settle(&mut self) {
        self.doors.swap(0, self.asked);
        self.doors.truncate(1);
        self.asked = 0;
    }

    /// Asks the next address of the server from now on, if there is another.
    pub(crate) fn turn(&mut self) {
        let count = self.doors.len();
        let next = (1..count).map(|step| (self.asked + step) % count);
        if let Some(next) = next.into_iter().find(|index| !self.doors[*index].is_shut) {
            self.asked = next;
        }
    }

    /// Nobody is at the address that is asked; whether there is another one.
    pub(crate) fn shut(&mut self) -> bool {
        self.doors[self.asked].is_shut = true;
        self.turn();
        !self.doors[self.asked].is_shut
    }

    /// The address that is asked now.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.doors[self.asked].address
    }
}

impl Door {
    const fn at(address: SocketAddr) -> Self {
        Self { address, socket: None, awaited: None, is_shut: false }
    }

    /// How long a datagram is that has come; an error where a refusal came instead.
    fn poll_receive(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(socket) = self.socket.clone().filter(|_| !self.is_shut) else { return Poll::Pending };
        loop {
            match socket.try_recv_from(buffer) {
                Ok((length, from)) if from.ip().to_canonical() == self.address.ip().to_canonical() => {
                    return Poll::Ready(Ok(length));
                }
                Ok((_, from)) => tracing::debug!(%from, "a datagram of somebody who was not asked"),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if let Some(refusal) = ready!(self.poll_ready(&socket, cx))? {
                        return Poll::Ready(Err(refusal));
                    }
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Ready when there is something to be received, or a refusal, which it then is.
    fn poll_ready(
        &mut self,
        socket: &Arc<UdpSocket>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Option<io::Error>>> {
        let awaited = self.awaited.get_or_insert_with(|| {
            let socket = Arc::clone(socket);
            Box::pin(async move { socket.ready(ARRIVAL).await })
        });
        let ready = ready!(awaited.as_mut().poll(cx));
        self.awaited = None;
        Poll::Ready(if ready?.is_error() { refusal(socket) } else { Ok(None) })
    }
}

/// What the system knows of a refusal; it is not told twice.
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
