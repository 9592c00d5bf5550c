//! The server's half of the SOCKS5 dialogue (RFC 1928, RFC 1929), up to the reply that opens the tunnel.

use std::io::{Error, Read, Result, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::proxy::tunnel::Tunnel;
use crate::wire::Wire;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
const NOT_ACCEPTABLE: u8 = 0xff;

/// RFC 1928 §6: what a reply says.
pub(crate) const GRANTED: u8 = 0;
pub(crate) const CONNECTION_REFUSED: u8 = 5;

/// How a SOCKS5 proxy misbehaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SocksFault {
    /// It closes after the request, without a reply.
    Close,
    /// It closes inside its reply.
    HalfReply,
    /// It refuses the request with this code (RFC 1928 §6).
    Refuse(u8),
    /// It says nothing for this time, then closes.
    Stall(Duration),
    /// It takes a method that was not offered.
    UnofferedMethod,
    /// It greets as if it spoke another version.
    WrongVersion,
}

/// Takes the greeting, the login if there must be one, and the request. `None`: no tunnel is to be had.
pub(crate) fn request(
    wire: &mut Wire,
    login: Option<&(String, String)>,
    fault: Option<SocksFault>,
) -> Result<Option<Tunnel>> {
    let [_, count] = octets(wire)?;
    let mut offered = vec![0; usize::from(count)];
    wire.read_exact(&mut offered)?;
    let wanted = if login.is_some() { USER_AND_PASSWORD } else { NO_LOGIN };
    match fault {
        Some(SocksFault::WrongVersion) => return wire.write_all(&[4, wanted]).map(|()| None),
        Some(SocksFault::UnofferedMethod) => return wire.write_all(&[VERSION, 1]).map(|()| None),
        Some(SocksFault::Stall(length)) => return wire.pause(length).map(|()| None),
        _ if !offered.contains(&wanted) => {
            return wire.write_all(&[VERSION, NOT_ACCEPTABLE]).map(|()| None);
        }
        _ => wire.write_all(&[VERSION, wanted])?,
    }
    let mut given = None;
    if let Some((user, password)) = login {
        let [_] = octets(wire)?;
        let pair = (counted(wire)?, counted(wire)?);
        let admitted = pair.0 == user.as_bytes() && pair.1 == password.as_bytes();
        wire.write_all(&[1, u8::from(!admitted)])?;
        if !admitted {
            return Ok(None);
        }
        given = Some(pair);
    }
    let [_, command, _] = octets(wire)?;
    let host = host(wire)?;
    let tunnel = Tunnel { login: given, ..Tunnel::new(&host, u16::from_be_bytes(octets(wire)?)) };
    if command == 1 { Ok(Some(tunnel)) } else { Err(Error::other("only CONNECT is known")) }
}

/// Replies to the request. The bound address that it must name is nobody's.
pub(crate) fn reply(wire: &mut Wire, code: u8) -> Result<()> {
    wire.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0])
}

/// The first half of a reply.
pub(crate) fn half_reply(wire: &mut Wire) -> Result<()> {
    wire.write_all(&[VERSION, GRANTED, 0, 1])
}

fn octets<const N: usize>(wire: &mut Wire) -> Result<[u8; N]> {
    let mut octets = [0; N];
    wire.read_exact(&mut octets)?;
    Ok(octets)
}

/// Octets with their count in front.
fn counted(wire: &mut Wire) -> Result<Vec<u8>> {
    let [count] = octets(wire)?;
    let mut text = vec![0; usize::from(count)];
    wire.read_exact(&mut text)?;
    Ok(text)
}

/// The host of a request, behind its address type.
fn host(wire: &mut Wire) -> Result<String> {
    match octets(wire)? {
        [1] => Ok(Ipv4Addr::from(octets::<4>(wire)?).to_string()),
        [3] => String::from_utf8(counted(wire)?).map_err(Error::other),
        [4] => Ok(Ipv6Addr::from(octets::<16>(wire)?).to_string()),
        [other] => Err(Error::other(format!("address type {other}"))),
    }
}
