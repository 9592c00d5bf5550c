//! Overrides for name resolution and connections: curl's `--resolve`, `--connect-to`, `-4`, `-6` and `--interface`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use fetch_url_core::Host;

/// The caller's overrides for name resolution and connections.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Routes {
    /// Addresses for host names (`--resolve`); the first match is used.
    pub overrides: Vec<ResolveOverride>,
    /// Replacement servers (`--connect-to`); the first match is used.
    pub connect_to: Vec<ConnectTo>,
    /// Use addresses of this family only (`-4`, `-6`).
    pub family: Option<AddressFamily>,
    /// Local address or device for outgoing connections (`--interface`).
    pub interface: Option<Interface>,
    /// Send http and https requests to this Unix socket, without a host lookup and proxy (`--unix-socket`).
    pub unix_socket: Option<PathBuf>,
}

/// The addresses of a host name on one port.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "--resolve HOST:PORT:ADDRESS has these three")]
pub struct ResolveOverride {
    /// The host name; `None` matches all hosts.
    pub host: Option<Host<'static>>,
    /// The port of the URL.
    pub port: u16,
    /// The addresses to connect to. The network policy checks them too.
    pub addresses: Vec<IpAddr>,
}

/// A replacement for a server. The Host header and TLS keep the original name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "--connect-to HOST1:PORT1:HOST2:PORT2 has these four")]
pub struct ConnectTo {
    /// The host to replace; `None` matches all hosts.
    pub host: Option<Host<'static>>,
    /// The port to replace; `None` matches all ports.
    pub port: Option<u16>,
    /// The new host; `None` keeps the host.
    pub to_host: Option<Host<'static>>,
    /// The new port; `None` keeps the port.
    pub to_port: Option<u16>,
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "IP has exactly two versions")]
pub enum AddressFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// The local address or network device of outgoing connections.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "an address of this machine, or a device")]
pub enum Interface {
    /// A local IP address.
    Address(IpAddr),
    /// A network device by name, such as `eth0`.
    Device(String),
}

impl Routes {
    /// Returns the host and port to connect to for `host` and `port`.
    pub(super) fn replacement<'h>(&'h self, host: &'h Host<'h>, port: u16) -> (&'h Host<'h>, u16) {
        let matches = |rule: &&ConnectTo| {
            rule.host.as_ref().is_none_or(|own| own == host) && rule.port.is_none_or(|own| own == port)
        };
        match self.connect_to.iter().find(matches) {
            Some(rule) => (rule.to_host.as_ref().unwrap_or(host), rule.to_port.unwrap_or(port)),
            None => (host, port),
        }
    }

    /// Returns the addresses that override the DNS lookup of `host` and `port`: those of the last rule for the host, or
    /// of the last rule for any host.
    pub(super) fn resolve_override(&self, host: &Host<'_>, port: u16) -> Option<Vec<SocketAddr>> {
        let of_port = || self.overrides.iter().rev().filter(|rule| rule.port == port);
        let rule = of_port()
            .find(|rule| rule.host.as_ref() == Some(host))
            .or_else(|| of_port().find(|rule| rule.host.is_none()))?;
        Some(rule.addresses.iter().map(|address| SocketAddr::new(*address, port)).collect())
    }

    /// Returns `true` if the address has the selected family.
    pub(super) fn has_family(&self, address: &SocketAddr) -> bool {
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
    fn first_matching_connect_to_is_used_and_keeps_unset_parts() {
        let routes = Routes {
            connect_to: vec![
                ConnectTo { host: Some(name("a.test")), port: Some(80), to_host: None, to_port: Some(81) },
                ConnectTo { host: None, port: None, to_host: Some(name("b.test")), to_port: None },
            ],
            ..Routes::default()
        };
        let to = |host: &'static str, port| {
            let host = name(host);
            let (host, port) = routes.replacement(&host, port);
            format!("{host}:{port}")
        };
        assert_eq!(to("A.test", 80), "A.test:81");
        assert_eq!(to("a.test", 443), "b.test:443");
        assert_eq!(to("c.test", 80), "b.test:80");
    }

    #[test]
    fn resolve_override_matches_its_host_and_port_only() {
        let addresses = vec!["192.0.2.1".parse().expect("an address")];
        let rule = ResolveOverride { host: Some(name("a.test")), port: 80, addresses };
        let mut routes = Routes { overrides: vec![rule.clone()], ..Routes::default() };
        assert!(routes.resolve_override(&name("A.TEST."), 80).is_some());
        assert!(
            routes.resolve_override(&name("a.test"), 81).is_none()
                && routes.resolve_override(&name("b.test"), 80).is_none()
        );
        routes.overrides = vec![ResolveOverride { host: None, ..rule }];
        assert!(routes.resolve_override(&name("b.test"), 80).is_some());
    }

    #[test]
    fn last_rule_for_a_host_is_used_before_the_last_for_any_host() {
        let rule = |host: Option<&'static str>, address: &str| ResolveOverride {
            host: host.map(name),
            port: 80,
            addresses: vec![address.parse().expect("an address")],
        };
        let overrides = vec![
            rule(None, "192.0.2.1"),
            rule(Some("a.test"), "192.0.2.2"),
            rule(Some("a.test"), "192.0.2.3"),
            rule(None, "192.0.2.4"),
        ];
        let routes = Routes { overrides, ..Routes::default() };
        let address = |host| routes.resolve_override(&name(host), 80).expect("addresses")[0].to_string();
        assert_eq!(address("a.test"), "192.0.2.3:80");
        assert_eq!(address("b.test"), "192.0.2.4:80");
    }
}
