//! SOCKS 4 and 4a: one request, one reply of eight bytes.

use std::net::Ipv4Addr;

use bytes::Bytes;
use fetch_url_core::Host;

use super::destination::{InvalidDestination, MAX_TEXT, name_bytes};
use super::{ProxyLogin, Refusal, take_exactly};
use crate::{Machine, RecvBuffer, Step, WireError};

const VERSION: u8 = 4;
const CONNECT: u8 = 1;
/// The length of a reply.
const REPLY_LENGTH: usize = 8;
/// The version number of a reply.
const REPLY_VERSION: u8 = 0;
const GRANTED: u8 = 0x5a;
/// The address of a request that is followed by a host name (SOCKS 4a).
const NAME_FOLLOWS: Ipv4Addr = Ipv4Addr::new(0, 0, 0, 1);
const REPLY: &str = "the reply of the SOCKS 4 proxy";

/// The request for a tunnel through a SOCKS 4 proxy, a [`Machine`] without I/O.
#[derive(Debug)]
pub struct Socks4 {
    request: Option<Bytes>,
    refusal: Option<Refusal>,
    is_done: bool,
}

impl Socks4 {
    /// Creates a request for a tunnel to `port` at `host`. A host name is sent as in SOCKS 4a, and the proxy resolves
    /// it. The password of `login` is not sent: SOCKS 4 has a user name only.
    ///
    /// # Errors
    /// [`InvalidDestination`] if SOCKS 4 cannot send the host or the user name.
    pub fn new(host: &Host<'_>, port: u16, login: Option<&ProxyLogin>) -> Result<Self, InvalidDestination> {
        let user = login.map_or(&[][..], |login| &login.user);
        if user.len() > MAX_TEXT || user.contains(&0) {
            return Err(InvalidDestination::Login);
        }
        let name = name_bytes(host)?;
        let address = match host {
            Host::V4(address) if address.octets()[..3] == [0; 3] => {
                return Err(InvalidDestination::ReservedAddress);
            }
            Host::V4(address) => *address,
            Host::Name(_) => NAME_FOLLOWS,
            Host::V6(_) | Host::V6Zone(..) => return Err(InvalidDestination::Ipv6),
        };
        let mut request = vec![VERSION, CONNECT];
        request.extend_from_slice(&port.to_be_bytes());
        request.extend_from_slice(&address.octets());
        request.extend_from_slice(user);
        request.push(0);
        if let Some(name) = name {
            request.extend_from_slice(name);
            request.push(0);
        }
        Ok(Self { request: Some(request.into()), refusal: None, is_done: false })
    }

    /// Returns the refusal of the proxy; `None` if the tunnel is open.
    pub const fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }
}

impl Machine for Socks4 {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        if let Some(request) = self.request.take() {
            return Ok(Step::Send(request));
        }
        if self.is_done {
            return Ok(Step::Done);
        }
        if buffer.bytes().first().is_some_and(|&version| version != REPLY_VERSION) {
            return Err(WireError::Unexpected { what: REPLY, got: buffer.take(REPLY_LENGTH) });
        }
        let Some(reply) = take_exactly(buffer, REPLY_LENGTH, REPLY)? else { return Ok(Step::NeedMore) };
        self.refusal = (reply[1] != GRANTED).then_some(Refusal::Socks4(reply[1]));
        self.is_done = true;
        Ok(Step::Done)
    }

    fn may_echo_secrets(&self) -> bool {
        true
    }
}
