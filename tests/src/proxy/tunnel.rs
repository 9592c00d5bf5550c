//! Carrying octets between two connections, and noting what the client began with.
//!
//! For the proxies of the tests. Every host is taken to be this machine: nothing here leaves 127.0.0.1,
//! whatever name or address a client asks for.

use std::io::{Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Mutex;
use std::thread::scope;
use std::time::Duration;

use crate::listener::locked;
use crate::wire::Wire;

/// As much as one read takes.
const BLOCK: usize = 64 * 1024;
/// A first line longer than this is noted up to here.
const MAX_OPENING: usize = 1024;
const CONNECT: Duration = Duration::from_secs(2);

/// How a client wrote where a tunnel leads to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AddressType {
    /// A name: the proxy is to look it up.
    Name,
    /// An IPv4 address.
    V4,
    /// An IPv6 address.
    V6,
}

/// A tunnel that a client asked for, also one that it did not get.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Tunnel {
    /// A name or an address.
    pub address_type: AddressType,
    /// The host as sent, an address in its usual text form.
    pub host: String,
    /// The port.
    pub port: u16,
    /// User and password that SOCKS5 was given (HTTP has them in the request's fields).
    pub login: Option<(Vec<u8>, Vec<u8>)>,
    /// What the client said first in the tunnel: up to and with the first LF, at most 1024 octets.
    pub opening: Vec<u8>,
}

impl Tunnel {
    /// A tunnel in which nothing was said yet. Brackets around the host are not part of it.
    pub(crate) fn new(host: &str, port: u16) -> Self {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let address_type = match host.parse() {
            Ok(std::net::IpAddr::V4(_)) => AddressType::V4,
            Ok(std::net::IpAddr::V6(_)) => AddressType::V6,
            Err(_) => AddressType::Name,
        };
        Self { address_type, host: host.to_owned(), port, login: None, opening: Vec::new() }
    }
}

/// All tunnels of a proxy.
#[derive(Debug, Default)]
pub(crate) struct Tunnels(Mutex<Vec<Tunnel>>);

impl Tunnels {
    pub(crate) fn all(&self) -> Vec<Tunnel> {
        locked(&self.0).clone()
    }

    /// Notes a tunnel and gives its number.
    pub(crate) fn open(&self, tunnel: Tunnel) -> usize {
        let mut tunnels = locked(&self.0);
        tunnels.push(tunnel);
        tunnels.len() - 1
    }

    /// Adds to what was said first in a tunnel.
    fn said(&self, number: usize, octets: &[u8]) {
        if let Some(Tunnel { opening, .. }) = locked(&self.0).get_mut(number)
            && !opening.ends_with(b"\n")
        {
            let line = octets.iter().position(|octet| *octet == b'\n').map_or(octets.len(), |end| end + 1);
            let room = MAX_OPENING.saturating_sub(opening.len());
            opening.extend_from_slice(&octets[..line.min(room)]);
        }
    }
}

/// Connects to a port of this machine. The new connection has the stop flag and the patience of `client`.
pub(crate) fn origin(client: &Wire, port: u16) -> Result<Wire> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), CONNECT)?;
    client.peer(stream)
}

/// Carries octets both ways until both sides have ended. `early` are octets of the client that were read
/// already.
pub(crate) fn carry(
    client: Wire,
    origin: Wire,
    early: &[u8],
    number: usize,
    tunnels: &Tunnels,
) -> Result<()> {
    let (to_client, mut to_origin) = (client.twin()?, origin.twin()?);
    tunnels.said(number, early);
    to_origin.write_all(early)?;
    scope(|threads| {
        threads.spawn(|| pump(origin, to_client, |_| {}));
        pump(client, to_origin, |octets| tunnels.said(number, octets));
    });
    Ok(())
}

/// Carries octets one way; the end is carried, too.
fn pump(mut from: Wire, mut to: Wire, note: impl Fn(&[u8])) {
    let mut buffer = vec![0; BLOCK];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        note(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
    let _ = to.say_end();
}

/// Passes on what the origin answers, with a field that says that the connection ends with it.
pub(crate) fn answer(mut from: Wire, to: &mut Wire) -> Result<()> {
    let mut head = Vec::new();
    let mut buffer = vec![0; BLOCK];
    // An interim answer has no such field; the final one begins behind it.
    while let Some(end) = head_end(&mut from, &mut head, &mut buffer)? {
        let interim = head.starts_with(b"HTTP/1.1 1") && !head.starts_with(b"HTTP/1.1 101");
        if !interim {
            head.splice(end - 2..end - 2, *b"Connection: close\r\n");
            break;
        }
        to.write_all(&head[..end])?;
        head.drain(..end);
    }
    to.write_all(&head)?;
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to.write_all(&buffer[..count])?,
        }
    }
}

/// Reads until `head` holds a whole head, and says where it ends; `None` if there is none.
fn head_end(from: &mut Wire, head: &mut Vec<u8>, buffer: &mut [u8]) -> Result<Option<usize>> {
    loop {
        if let Some(at) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            return Ok(Some(at + 4));
        }
        let count = if head.len() > BLOCK { 0 } else { from.read(buffer)? };
        if count == 0 {
            return Ok(None);
        }
        head.extend_from_slice(&buffer[..count]);
    }
}
