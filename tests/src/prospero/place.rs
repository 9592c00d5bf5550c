//! Where a Prospero server is: its own address, and those that it uses besides.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// A server, named before its port is known.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ProsperoHost {
    /// The server itself.
    Here,
    /// Another server for the same site, without rules, on the same address.
    OtherPort,
    /// Another server for the same site, without rules, on 127.0.0.2.
    OtherAddress,
    /// As it is written: `host` or `host(port)`.
    Named(Vec<u8>),
    /// Nothing need be there.
    At(SocketAddrV4),
}

/// All addresses of a server that runs.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) here: SocketAddr,
    pub(crate) other_port: Option<SocketAddr>,
    pub(crate) other_address: Option<SocketAddr>,
    /// What the server calls itself, if it is no address.
    pub(crate) name: Option<String>,
}

impl ProsperoHost {
    /// `host` or `host(port)`.
    #[must_use]
    pub fn named(host: &str) -> Self {
        Self::Named(host.into())
    }
}

impl Places {
    /// As it stands in a line.
    pub(crate) fn host(&self, host: &ProsperoHost) -> Vec<u8> {
        match (host, &self.name) {
            (ProsperoHost::Named(name), _) => name.clone(),
            (ProsperoHost::Here, Some(name)) => name.clone().into_bytes(),
            _ => self
                .addr(host)
                .map_or_else(Vec::new, |addr| format!("{}({})", addr.ip(), addr.port()).into_bytes()),
        }
    }

    /// As it stands in a redirection: four octets and two. A name has none.
    pub(crate) fn octets(&self, host: &ProsperoHost) -> Vec<u8> {
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

/// The second address of loopback.
pub(crate) const OTHER_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_in_two_ways() {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 2525));
        let mut places = Places { here, other_port: None, other_address: None, name: None };
        assert_eq!(places.host(&ProsperoHost::Here), b"127.0.0.1(2525)");
        assert_eq!(places.octets(&ProsperoHost::Here), b"\x7f\0\0\x01\x09\xdd");
        assert_eq!(places.host(&ProsperoHost::named("a(1)")), b"a(1)");
        assert_eq!(places.octets(&ProsperoHost::OtherPort), b"");
        places.name = Some("W.TEST".to_owned());
        assert_eq!(places.host(&ProsperoHost::Here), b"W.TEST");
    }
}
