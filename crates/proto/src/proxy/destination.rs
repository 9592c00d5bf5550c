//! The destination of a tunnel through a proxy, and the login.

use std::fmt;

use fetch_url_core::Host;

/// The largest length of a user name, a password and a host name, which SOCKS sends with a length of one byte
/// (RFC 1928 §5, RFC 1929 §2).
pub(super) const MAX_TEXT: usize = 255;

/// User name and password for a proxy. `Debug` does not show the password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyLogin {
    pub(super) user: Vec<u8>,
    pub(super) password: Vec<u8>,
}

impl ProxyLogin {
    /// Creates a login.
    pub fn new(user: impl Into<Vec<u8>>, password: impl Into<Vec<u8>>) -> Self {
        Self { user: user.into(), password: password.into() }
    }
}

impl fmt::Debug for ProxyLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyLogin(***)")
    }
}

/// Why a destination or a login cannot be sent in the protocol of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidDestination {
    /// An IPv6 address with a zone, which has a meaning on this computer only (RFC 6874 §4).
    Zone,
    /// An IPv6 address, which SOCKS 4 cannot send.
    Ipv6,
    /// An address of 0.0.0.0/24, which SOCKS 4a reserves for host names.
    ReservedAddress,
    /// A host name of more than 255 bytes, or one with a NUL.
    Name,
    /// A user name or a password of more than 255 bytes, or for SOCKS 4 a user name with a NUL.
    Login,
}

impl fmt::Display for InvalidDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zone => "an IPv6 address with a zone cannot be used through a proxy",
            Self::Ipv6 => "SOCKS 4 does not support IPv6 addresses",
            Self::ReservedAddress => "SOCKS 4 does not support addresses that begin with 0.0.0",
            Self::Name => "SOCKS supports host names of at most 255 bytes",
            Self::Login => "SOCKS supports user names and passwords of at most 255 bytes",
        })
    }
}

impl std::error::Error for InvalidDestination {}

/// Returns the bytes of a host name, after a check of its length.
pub(super) fn name_bytes<'h>(name: &'h Host<'_>) -> Result<Option<&'h [u8]>, InvalidDestination> {
    match name {
        Host::Name(name) if name.is_empty() || name.len() > MAX_TEXT || name.contains('\0') => {
            Err(InvalidDestination::Name)
        }
        Host::Name(name) => Ok(Some(name.as_bytes())),
        Host::V6Zone(..) => Err(InvalidDestination::Zone),
        Host::V4(_) | Host::V6(_) => Ok(None),
    }
}
