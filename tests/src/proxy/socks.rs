//! The server side of SOCKS5 (RFC 1928, RFC 1929), SOCKS4 and SOCKS4a, up to the reply that opens the tunnel.

use std::io::{Error, Read, Result, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::proxy::tunnel::Tunnel;
use crate::server::tcp_connection::TcpConnection;

const VERSION: u8 = 5;
/// SOCKS4: the version of a request, and the reply codes.
const VERSION_4: u8 = 4;
const GRANTED_4: u8 = 0x5a;
const REJECTED_4: u8 = 0x5b;
/// Authentication methods (RFC 1928 §3).
const NO_LOGIN: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;

/// Reply codes (RFC 1928 §6).
pub(crate) const SUCCEEDED: u8 = 0;
pub(crate) const CONNECTION_REFUSED: u8 = 5;

/// How a SOCKS5 proxy misbehaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SocksFault {
    /// Closes after the request, without a reply.
    Close,
    /// Closes in the middle of its reply.
    HalfReply,
    /// Refuses the request with this code (RFC 1928 §6).
    Refuse(u8),
    /// Sends nothing for this time, then closes.
    Stall(Duration),
    /// Selects a method that the client did not offer.
    UnofferedMethod,
    /// Sends another version number.
    WrongVersion,
}

/// Reads the greeting, the login if one is required, and the request. Returns `None` if there will be no
/// tunnel.
pub(crate) fn read_request(
    wire: &mut TcpConnection,
    login: Option<&(String, String)>,
    fault: Option<SocksFault>,
) -> Result<Option<Tunnel>> {
    let [version] = read_bytes(wire)?;
    if version == VERSION_4 {
        return read_socks4_request(wire).map(Some);
    }
    let [count] = read_bytes(wire)?;
    let mut offered = vec![0; usize::from(count)];
    wire.read_exact(&mut offered)?;
    let method = if login.is_some() { USER_AND_PASSWORD } else { NO_LOGIN };
    match fault {
        Some(SocksFault::WrongVersion) => return wire.write_all(&[4, method]).map(|()| None),
        Some(SocksFault::UnofferedMethod) => return wire.write_all(&[VERSION, 1]).map(|()| None),
        Some(SocksFault::Stall(length)) => return wire.pause(length).map(|()| None),
        _ if !offered.contains(&method) => {
            return wire.write_all(&[VERSION, NO_ACCEPTABLE_METHOD]).map(|()| None);
        }
        _ => wire.write_all(&[VERSION, method])?,
    }
    let mut received_login = None;
    if let Some((user, password)) = login {
        let [_] = read_bytes(wire)?;
        let pair = (read_counted(wire)?, read_counted(wire)?);
        let is_valid = pair.0 == user.as_bytes() && pair.1 == password.as_bytes();
        wire.write_all(&[1, u8::from(!is_valid)])?;
        if !is_valid {
            return Ok(None);
        }
        received_login = Some(pair);
    }
    let [_, command, _] = read_bytes(wire)?;
    let host = read_host(wire)?;
    let tunnel =
        Tunnel { login: received_login, ..Tunnel::new(&host, u16::from_be_bytes(read_bytes(wire)?)) };
    if command == 1 { Ok(Some(tunnel)) } else { Err(Error::other("only CONNECT is supported")) }
}

/// Reads the rest of a SOCKS4 or SOCKS4a request. The user name becomes the login.
fn read_socks4_request(wire: &mut TcpConnection) -> Result<Tunnel> {
    let [_, high, low] = read_bytes(wire)?;
    let address = Ipv4Addr::from(read_bytes::<4>(wire)?);
    let user = read_to_nul(wire)?;
    let host = match address.octets() {
        [0, 0, 0, last] if last != 0 => String::from_utf8(read_to_nul(wire)?).map_err(Error::other)?,
        _ => address.to_string(),
    };
    let login = Some((user, Vec::new())).filter(|(user, _)| !user.is_empty());
    Ok(Tunnel { login, is_socks4: true, ..Tunnel::new(&host, u16::from_be_bytes([high, low])) })
}

fn read_to_nul(wire: &mut TcpConnection) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    loop {
        match read_bytes(wire)? {
            [0] => return Ok(text),
            [byte] => text.push(byte),
        }
    }
}

/// Sends a reply. Its bound address is 0.0.0.0:0.
pub(crate) fn send_reply(wire: &mut TcpConnection, code: u8, is_socks4: bool) -> Result<()> {
    if is_socks4 {
        let code = if code == SUCCEEDED { GRANTED_4 } else { REJECTED_4 };
        return wire.write_all(&[0, code, 0, 0, 0, 0, 0, 0]);
    }
    wire.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0])
}

/// Sends the first half of a reply.
pub(crate) fn send_half_reply(wire: &mut TcpConnection) -> Result<()> {
    wire.write_all(&[VERSION, SUCCEEDED, 0, 1])
}

fn read_bytes<const N: usize>(wire: &mut TcpConnection) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    wire.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads bytes that follow their count.
fn read_counted(wire: &mut TcpConnection) -> Result<Vec<u8>> {
    let [count] = read_bytes(wire)?;
    let mut text = vec![0; usize::from(count)];
    wire.read_exact(&mut text)?;
    Ok(text)
}

/// Reads the address type and the host of a request.
fn read_host(wire: &mut TcpConnection) -> Result<String> {
    match read_bytes(wire)? {
        [1] => Ok(Ipv4Addr::from(read_bytes::<4>(wire)?).to_string()),
        [3] => String::from_utf8(read_counted(wire)?).map_err(Error::other),
        [4] => Ok(Ipv6Addr::from(read_bytes::<16>(wire)?).to_string()),
        [other] => Err(Error::other(format!("address type {other}"))),
    }
}
