//! The tunnels of the proxies: copies bytes in both directions and logs what the client sends first. Every host
//! is resolved to 127.0.0.1.

use std::io::{Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread::scope;
use std::time::Duration;

use crate::server::plain_or_tls_connection::PlainOrTlsConnection;
use crate::server::tcp_connection::TcpConnection;

/// Maximum number of bytes in one read.
const BLOCK: usize = 64 * 1024;
/// Size of the receive buffer for a client, in bytes.
const RECEIVE_BUFFER: usize = 256 * 1024;
/// Maximum number of logged bytes of the first line.
const MAX_OPENING: usize = 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How a client named the destination of a tunnel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AddressType {
    /// A host name, which the proxy resolves.
    Name,
    /// An IPv4 address.
    V4,
    /// An IPv6 address.
    V6,
}

/// A tunnel that a client requested, whether it was opened or not.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Tunnel {
    /// A host name or an address.
    pub address_type: AddressType,
    /// The host as sent. Addresses are in text form.
    pub host: String,
    /// The port.
    pub port: u16,
    /// User and password of SOCKS5, or the user of SOCKS4. Those of an HTTP proxy are in the header fields of the request.
    pub login: Option<(Vec<u8>, Vec<u8>)>,
    /// The request was one of SOCKS4 or SOCKS4a.
    pub is_socks4: bool,
    /// The first bytes from the client in the tunnel: up to and including the first LF, at most 1024 bytes.
    pub opening: Vec<u8>,
}

impl Tunnel {
    /// A tunnel without data. Brackets around the host are removed.
    pub(crate) fn new(host: &str, port: u16) -> Self {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let address_type = match host.parse() {
            Ok(std::net::IpAddr::V4(_)) => AddressType::V4,
            Ok(std::net::IpAddr::V6(_)) => AddressType::V6,
            Err(_) => AddressType::Name,
        };
        Self { address_type, host: host.to_owned(), port, login: None, is_socks4: false, opening: Vec::new() }
    }

    /// Adds bytes of the client to [`opening`](Self::opening), up to its end.
    pub(crate) fn append_opening(&mut self, bytes: &[u8]) {
        if !self.opening.ends_with(b"\n") {
            let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
            let room = MAX_OPENING.saturating_sub(self.opening.len());
            self.opening.extend_from_slice(&bytes[..line.min(room)]);
        }
    }
}

/// Connects to a port of 127.0.0.1. The connection has the stop flag and the idle timeout of `client`.
pub(crate) fn connect_origin(client: &TcpConnection, port: u16) -> Result<TcpConnection> {
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    client.wrap(TcpStream::connect_timeout(&addr, CONNECT_TIMEOUT)?)
}

/// Copies bytes in both directions until both sides have ended. `early` was received before the tunnel was
/// opened. `log` is called with everything that the client sends.
pub(crate) fn carry(
    client: TcpConnection,
    origin: TcpConnection,
    early: &[u8],
    log: impl Fn(&[u8]),
) -> Result<()> {
    client.limit_receive_buffer(RECEIVE_BUFFER)?;
    let (to_client, mut to_origin) = (client.try_clone()?, origin.try_clone()?);
    log(early);
    to_origin.write_all(early)?;
    scope(|threads| {
        threads.spawn(|| copy(origin, to_client, |_| {}));
        copy(client, to_origin, log);
    });
    Ok(())
}

/// Copies bytes and the end of the stream.
fn copy(mut from: TcpConnection, mut to: TcpConnection, log: impl Fn(&[u8])) {
    let mut buffer = vec![0; BLOCK];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        log(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
    let _ = to.send_fin();
}

/// Forwards the response of the origin, with `Connection: close` in the head of the final response.
pub(crate) fn forward_response(mut from: TcpConnection, to: &mut PlainOrTlsConnection) -> Result<()> {
    let mut head = Vec::new();
    let mut buffer = vec![0; BLOCK];
    while let Some(end) = read_head(&mut from, &mut head, &mut buffer)? {
        let is_interim = head.starts_with(b"HTTP/1.1 1") && !head.starts_with(b"HTTP/1.1 101");
        if !is_interim {
            head.splice(end - 2..end - 2, *b"Connection: close\r\n");
            break;
        }
        to.send(&head[..end])?;
        head.drain(..end);
    }
    to.send(&head)?;
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to.send(&buffer[..count])?,
        }
    }
}

/// Reads until `head` contains a complete head. Returns its length, or `None` if there is no head.
fn read_head(from: &mut TcpConnection, head: &mut Vec<u8>, buffer: &mut [u8]) -> Result<Option<usize>> {
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
