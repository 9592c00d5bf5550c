//! Where a host and port lead by the caller's own word, before any look-up: curl's `--resolve`,
//! `--connect-to`, `-4`, `-6` and `--interface`.

use std::net::{IpAddr, SocketAddr};

use fetch_url_core::Host;

/// The caller's own map of the network.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Routes {
    /// Names whose addresses are given; the first that fits counts.
    pub pins: Vec<AddressPin>,
    /// Servers that are asked in place of others; the first that fits counts.
    pub detours: Vec<Detour>,
    /// Only addresses of this family.
    pub family: Option<AddressFamily>,
    /// What connections go out from.
    pub interface: Option<Interface>,
}

/// The addresses of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "--resolve HOST:PORT:ADDRESS has these three")]
pub struct AddressPin {
    /// The name; none for every name.
    pub host: Option<Host<'static>>,
    /// The port.
    pub port: u16,
    /// Where it is.
    pub addresses: Vec<IpAddr>,
}

/// A server that is asked in place of another. The other's name stays in Host and in TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "--connect-to HOST1:PORT1:HOST2:PORT2 has these four")]
pub struct Detour {
    /// Instead of this host, or of every one.
    pub host: Option<Host<'static>>,
    /// Instead of this port, or of every one.
    pub port: Option<u16>,
    /// This host, or the same.
    pub to_host: Option<Host<'static>>,
    /// This port, or the same.
    pub to_port: Option<u16>,
}

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "IP has these two")]
pub enum AddressFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What connections go out from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "an address of this machine, or a device")]
pub enum Interface {
    /// An address of this machine.
    Address(IpAddr),
    /// A device, by its name.
    Device(String),
}

impl Routes {
    /// The server that is asked for `host` and `port`.
    pub(super) fn detour<'h>(&'h self, host: &'h Host<'h>, port: u16) -> (&'h Host<'h>, u16) {
        let fits = |detour: &&Detour| {
            detour.host.as_ref().is_none_or(|own| own == host) && detour.port.is_none_or(|own| own == port)
        };
        match self.detours.iter().find(fits) {
            Some(detour) => (detour.to_host.as_ref().unwrap_or(host), detour.to_port.unwrap_or(port)),
            None => (host, port),
        }
    }

    /// The addresses that were given for `host` and `port`.
    pub(super) fn pinned(&self, host: &Host<'_>, port: u16) -> Option<Vec<SocketAddr>> {
        let fits = |pin: &&AddressPin| pin.port == port && pin.host.as_ref().is_none_or(|own| own == host);
        let pin = self.pins.iter().find(fits)?;
        Some(pin.addresses.iter().map(|address| SocketAddr::new(*address, port)).collect())
    }

    /// Whether the family of `address` is wanted.
    pub(super) fn takes(&self, address: &SocketAddr) -> bool {
        match self.family {
            Some(AddressFamily::V4) => address.is_ipv4(),
            Some(AddressFamily::V6) => address.is_ipv6(),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &'static str) -> Host<'static> {
        Host::Name(text.into())
    }

    #[test]
    fn the_first_detour_that_fits_counts_and_keeps_what_it_does_not_name() {
        let routes = Routes {
            detours: vec![
                Detour { host: Some(name("a.test")), port: Some(80), to_host: None, to_port: Some(81) },
                Detour { host: None, port: None, to_host: Some(name("b.test")), to_port: None },
            ],
            ..Routes::default()
        };
        let to = |host: &'static str, port| {
            let host = name(host);
            let (host, port) = routes.detour(&host, port);
            format!("{host}:{port}")
        };
        assert_eq!(to("A.test", 80), "A.test:81");
        assert_eq!(to("a.test", 443), "b.test:443");
        assert_eq!(to("c.test", 80), "b.test:80");
    }

    #[test]
    fn a_pin_is_for_its_name_and_port() {
        let addresses = vec!["192.0.2.1".parse().expect("an address")];
        let pin = AddressPin { host: Some(name("a.test")), port: 80, addresses };
        let mut routes = Routes { pins: vec![pin.clone()], ..Routes::default() };
        assert!(routes.pinned(&name("A.TEST."), 80).is_some());
        assert!(routes.pinned(&name("a.test"), 81).is_none() && routes.pinned(&name("b.test"), 80).is_none());
        routes.pins = vec![AddressPin { host: None, ..pin }];
        assert!(routes.pinned(&name("b.test"), 80).is_some());
    }
}
