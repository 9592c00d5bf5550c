//! The addresses of a Prospero server, and how responses name servers.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// A server that a response names. The port of a test server is known only when it runs.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ProsperoHost {
    /// The server itself.
    Here,
    /// Another server with the same objects and without rules, on another port of the same address.
    OtherPort,
    /// Another server with the same objects and without rules, on 127.0.0.2.
    OtherAddress,
    /// `host` or `host(port)`, as written.
    Named(Vec<u8>),
    /// An address. No server need listen there.
    At(SocketAddrV4),
}

/// The addresses of a running server.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    pub(crate) here: SocketAddr,
    pub(crate) other_port: Option<SocketAddr>,
    pub(crate) other_address: Option<SocketAddr>,
    /// The name of the server in links, if it is not its address.
    pub(crate) name: Option<String>,
}

impl ProsperoHost {
    /// `host` or `host(port)`.
    #[must_use]
    pub fn named(host: &str) -> Self {
        Self::Named(host.into())
    }
}

impl Addresses {
    /// Returns the host as text: `host` or `host(port)`.
    pub(crate) fn text(&self, host: &ProsperoHost) -> Vec<u8> {
        match (host, &self.name) {
            (ProsperoHost::Named(name), _) => name.clone(),
            (ProsperoHost::Here, Some(name)) => name.clone().into_bytes(),
            _ => self
                .addr(host)
                .map_or_else(Vec::new, |addr| format!("{}({})", addr.ip(), addr.port()).into_bytes()),
        }
    }

    /// Returns the host as in an ARDP redirect: four bytes of address and two of port. Empty for a name.
    pub(crate) fn encode(&self, host: &ProsperoHost) -> Vec<u8> {
        match self.addr(host) {
            Some(SocketAddr::V4(addr)) => {
                [addr.ip().octets().as_slice(), &addr.port().to_be_bytes()].concat()
            }
            _ => Vec::new(),
        }
    }

    fn addr(&self, host: &ProsperoHost) -> Option<SocketAddr> {
        match host {
            ProsperoHost::Here => Some(self.here),
            ProsperoHost::OtherPort => self.other_port,
            ProsperoHost::OtherAddress => self.other_address,
            ProsperoHost::Named(_) => None,
            ProsperoHost::At(addr) => Some(SocketAddr::V4(*addr)),
        }
    }
}

/// The second loopback address.
pub(crate) const OTHER_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_written_as_text_and_as_bytes() {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 2525));
        let mut addresses = Addresses { here, other_port: None, other_address: None, name: None };
        assert_eq!(addresses.text(&ProsperoHost::Here), b"127.0.0.1(2525)");
        assert_eq!(addresses.encode(&ProsperoHost::Here), b"\x7f\0\0\x01\x09\xdd");
        assert_eq!(addresses.text(&ProsperoHost::named("a(1)")), b"a(1)");
        assert_eq!(addresses.encode(&ProsperoHost::OtherPort), b"");
        addresses.name = Some("W.TEST".to_owned());
        assert_eq!(addresses.text(&ProsperoHost::Here), b"W.TEST");
    }
}
