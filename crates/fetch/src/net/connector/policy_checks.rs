//! The network policy: which ports and addresses may be contacted.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;

use fetch_url_core::{Host, Url};

use super::{Connector, UrlChooser};
use crate::net::address::AddressClass;
use crate::net::ports;
use crate::{Code, Error, Hint, Phase};

/// A port for a socket that sends nothing (RFC 863).
const DISCARD_PORT: u16 = 9;

/// The addresses that a request may contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AddressRules {
    Any,
    /// All but those of metadata services.
    NoMetadata,
    PublicOnly,
}

impl Connector {
    /// Checks `host` for a proxy that resolves names. IP addresses and `localhost` are checked by address. With
    /// `public_only`, other names are refused.
    ///
    /// # Errors
    /// `Code::Policy`.
    pub(crate) fn check_behind_proxy(&self, host: &Host<'_>) -> Result<(), Error> {
        let address = match host {
            Host::V4(address) => IpAddr::V4(*address),
            Host::V6(address) | Host::V6Zone(address, _) => IpAddr::V6(*address),
            // These names mean this computer or the proxy (RFC 6761 §6.3).
            Host::Name(name) if is_localhost(name) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Host::Name(_) if self.network.policy.public_only => {
                let detail = format!("cannot check that {host} is public, because the proxy resolves it");
                return Err(Error::new(Code::Policy, Phase::Proxy, detail));
            }
            // The address is unknown, so redirects from this host to private addresses are refused.
            Host::Name(_) => {
                self.was_public.store(true, Ordering::Relaxed);
                return Ok(());
            }
        };
        self.check_address(host, address)?;
        self.was_public.fetch_or(AddressClass::of(address).is_public(), Ordering::Relaxed);
        Ok(())
    }

    /// Records that `host` was contacted through a proxy: a name that only the proxy resolves may be public.
    pub(super) fn record_behind_proxy(&self, host: &Host<'_>) {
        let is_public = match host {
            Host::V4(address) => AddressClass::of(IpAddr::V4(*address)).is_public(),
            Host::V6(address) | Host::V6Zone(address, _) => {
                AddressClass::of(IpAddr::V6(*address)).is_public()
            }
            Host::Name(name) => !is_localhost(name),
        };
        self.was_public.fetch_or(is_public, Ordering::Relaxed);
    }

    /// Returns which addresses this request may contact. A connection of one request serves another only under the same
    /// rules.
    pub(crate) fn address_rules(&self) -> AddressRules {
        let policy = &self.network.policy;
        match self.chooser {
            _ if policy.public_only => AddressRules::PublicOnly,
            UrlChooser::PublicServer if !policy.allow_private => AddressRules::PublicOnly,
            UrlChooser::PrivateServer if !policy.allow_private => AddressRules::NoMetadata,
            _ => AddressRules::Any,
        }
    }

    /// Returns `true` if a server with a public address has been contacted.
    pub(crate) fn has_contacted_public(&self) -> bool {
        self.was_public.load(Ordering::Relaxed)
    }

    /// Checks the port of `url` (RFC 1738 §6). Local files are refused if only public addresses are allowed.
    ///
    /// # Errors
    /// `Code::Policy`.
    pub(crate) fn check_url(&self, url: &Url<'_>) -> Result<(), Error> {
        if self.network.policy.public_only && matches!(url, Url::File(_)) {
            return Err(Error::new(
                Code::Policy,
                Phase::Plan,
                "local files are not allowed if only public addresses are allowed",
            ));
        }
        let Some(port) = url.port().filter(|_| url.host().is_some()) else { return Ok(()) };
        if ports::is_allowed_for(url.scheme(), port) || self.network.policy.allowed_ports.contains(&port) {
            return Ok(());
        }
        let detail = format!("port {port} belongs to another protocol");
        Err(Error::new(Code::Policy, Phase::Connect, detail).with_hint(Hint::Port(port)))
    }

    /// Returns `true` if the policy allows a redirect to `url` from the server of this connector. Addresses of host
    /// names are not checked.
    pub(crate) fn would_allow(&self, url: &Url<'_>) -> bool {
        let is_from_public = self.chooser == UrlChooser::PublicServer || self.has_contacted_public();
        let chooser = if is_from_public { UrlChooser::PublicServer } else { UrlChooser::PrivateServer };
        let next = Self { chooser, ..self.clone() };
        let address = match url.host() {
            Some(Host::V4(address)) => Some(IpAddr::V4(address)),
            Some(Host::V6(address) | Host::V6Zone(address, _)) => Some(IpAddr::V6(address)),
            _ => None,
        };
        let is_allowed = |address| next.allows_class(AddressClass::of(address));
        next.check_url(url).is_ok() && address.is_none_or(is_allowed)
    }

    fn allows_class(&self, class: AddressClass) -> bool {
        match self.address_rules() {
            AddressRules::Any => true,
            AddressRules::NoMetadata => class != AddressClass::Metadata,
            AddressRules::PublicOnly => class.is_public(),
        }
    }

    pub(super) fn check_address(&self, host: &Host<'_>, address: IpAddr) -> Result<(), Error> {
        let class = AddressClass::of(address);
        if self.allows_class(class) {
            return Ok(());
        }
        let article = if class == AddressClass::Unspecified { "an" } else { "a" };
        let detail = match host {
            Host::Name(_) => format!("{host} is {address}, {article} {} address", class.name()),
            _ => format!("{address} is {article} {} address", class.name()),
        };
        let error = Error::new(Code::Policy, Phase::Connect, detail);
        Err(if self.network.policy.public_only { error } else { error.with_hint(Hint::PrivateRedirect) })
    }
}

impl Connector {
    /// Checks that `address` is none of the endpoints that the caller refuses.
    pub(in crate::net) fn check_endpoint(&self, address: SocketAddr) -> Result<(), Error> {
        let refused = &self.network.policy.refused_endpoints;
        if refused.iter().any(|refused| covers(*refused, address)) {
            let detail = format!("{address} is the address of this program");
            let error = Error::new(Code::Policy, Phase::Connect, detail);
            return Err(error.with_hint("a request to itself would never end"));
        }
        Ok(())
    }
}

/// Returns `true` if `refused` is the endpoint `address`, or is unspecified and `address` belongs to this computer.
fn covers(refused: SocketAddr, address: SocketAddr) -> bool {
    let (ip, own) = (address.ip().to_canonical(), refused.ip().to_canonical());
    // A connection to the unspecified address reaches the loopback address.
    refused.port() == address.port()
        && (own == ip
            || own.is_unspecified() && is_of_this_computer(ip)
            || own.is_loopback() && ip.is_unspecified())
}

/// Returns `true` if a connection to `ip` would reach this computer.
fn is_of_this_computer(ip: IpAddr) -> bool {
    ip.is_loopback() || ip.is_unspecified() || source_address(ip).is_ok_and(|source| source == ip)
}

/// Returns the local address of connections to `ip`. It is `ip` itself if that belongs to this computer. A UDP socket has
/// a local address without sending anything.
fn source_address(ip: IpAddr) -> io::Result<IpAddr> {
    let any: IpAddr = if ip.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((ip, DISCARD_PORT))?;
    Ok(socket.local_addr()?.ip())
}

/// Returns `true` for `localhost` and every name below it.
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_endpoints_cover_their_other_spellings() {
        for (refused, address, expected) in [
            ("127.0.0.1:80", "127.0.0.1:80", true),
            ("127.0.0.1:80", "127.0.0.1:81", false),
            ("127.0.0.1:80", "[::ffff:127.0.0.1]:80", true),
            ("127.0.0.1:80", "0.0.0.0:80", true),
            ("0.0.0.0:80", "127.0.0.9:80", true),
            ("[::]:80", "127.0.0.1:80", true),
            ("[::]:80", "192.0.2.1:80", false),
            ("192.0.2.1:80", "192.0.2.1:80", true),
            ("192.0.2.1:80", "127.0.0.1:80", false),
        ] {
            let parse = |text: &str| text.parse::<SocketAddr>().expect("an endpoint");
            assert_eq!(covers(parse(refused), parse(address)), expected, "{refused} {address}");
        }
    }

    #[test]
    fn unspecified_endpoint_covers_each_address_of_this_computer() {
        let documentation = IpAddr::from([203, 0, 113, 77]);
        // Without a route there is no address but that of the loopback interface.
        let own = source_address(documentation).unwrap_or(Ipv4Addr::LOCALHOST.into());
        let refused = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 80));
        assert!(covers(refused, SocketAddr::from((own, 80))), "{own}");
        assert!(!covers(refused, SocketAddr::from((own, 81))), "{own}");
        assert!(!covers(refused, SocketAddr::from((documentation, 80))));
    }

    #[test]
    fn names_of_this_computer_are_recognised() {
        for (name, expected) in [
            ("localhost", true),
            ("LocalHost.", true),
            ("a.b.localhost", true),
            ("notlocalhost", false),
            ("localhost.example", false),
            ("", false),
        ] {
            assert_eq!(is_localhost(name), expected, "{name}");
        }
    }
}
