//! The client side of proxies: SOCKS 4 and 4a, SOCKS 5 (RFC 1928, RFC 1929), and HTTP CONNECT (RFC 9110 §9.3.6).

mod connect;
mod destination;
mod socks4;
mod socks5;

use crate::{Machine, RecvBuffer, Step, WireError};

pub use connect::HttpConnect;
pub use destination::{InvalidDestination, ProxyLogin};
pub use socks4::Socks4;
pub use socks5::Socks5;

/// The exchange with a proxy that opens a tunnel to a server.
///
/// After [`Step::Done`], [`ProxyHandshake::refusal`] returns whether the proxy has refused. If it has not, the bytes
/// that are left in the buffer are the first ones of the server.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "a proxy speaks one of these protocols")]
pub enum ProxyHandshake {
    /// SOCKS 4 or 4a.
    Socks4(Socks4),
    /// SOCKS 5.
    Socks5(Socks5),
    /// HTTP CONNECT.
    Http(HttpConnect),
}

/// The answer of a proxy that does not open the tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The proxy requires a login, and none was sent.
    LoginRequired,
    /// The proxy does not accept the login.
    LoginRejected,
    /// The status of the response to CONNECT is not 2xx and not 407.
    Status {
        /// The status code.
        status: u16,
        /// The reason phrase as received; it is not sanitised.
        reason: bytes::Bytes,
    },
    /// The reply code of a SOCKS 4 proxy.
    Socks4(u8),
    /// The reply code of a SOCKS 5 proxy (RFC 1928 §6).
    Socks5(u8),
}

impl ProxyHandshake {
    /// Returns the refusal of the proxy; `None` if the tunnel is open.
    pub const fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Socks4(machine) => machine.refusal(),
            Self::Socks5(machine) => machine.refusal(),
            Self::Http(machine) => machine.refusal(),
        }
    }
}

impl Machine for ProxyHandshake {
    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        match self {
            Self::Socks4(machine) => machine.step(buffer),
            Self::Socks5(machine) => machine.step(buffer),
            Self::Http(machine) => machine.step(buffer),
        }
    }

    fn may_echo_secrets(&self) -> bool {
        true
    }
}

/// Takes `count` bytes, or returns `None` if more must be received first.
fn take_exactly(
    buffer: &mut RecvBuffer,
    count: usize,
    what: &'static str,
) -> Result<Option<bytes::Bytes>, WireError> {
    if buffer.bytes().len() >= count {
        return Ok(Some(buffer.take(count)));
    }
    if buffer.is_ended() { Err(WireError::UnexpectedEnd { what }) } else { Ok(None) }
}
