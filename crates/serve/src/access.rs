//! Decides who may ask: client addresses, the name of the server, requests that other sites make.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use crate::request_head::RequestHead;

/// A network of clients: an address and the number of its leading bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientNetwork {
    address: IpAddr,
    bits: u8,
}

impl ClientNetwork {
    /// Returns `true` if `address` belongs to the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        let leading =
            |value: u128, width: u32| value.checked_shr(width - u32::from(self.bits)).unwrap_or_default();
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                leading(own.to_bits().into(), 32) == leading(other.to_bits().into(), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                leading(own.to_bits(), 128) == leading(other.to_bits(), 128)
            }
            _ => false,
        }
    }
}

impl FromStr for ClientNetwork {
    type Err = String;

    /// Parses `ADDRESS/BITS`, or an address alone.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not ADDRESS/BITS, such as 192.168.1.0/24");
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= width).ok_or_else(wrong)?,
            None => width,
        };
        Ok(Self { address, bits })
    }
}

/// Returns `true` if a client with this address is served. Loopback addresses always are.
pub(crate) fn is_client_allowed(address: IpAddr, allowed: &[ClientNetwork]) -> bool {
    address.to_canonical().is_loopback() || allowed.iter().any(|network| network.contains(address))
}

/// Returns `true` if `authority` (a host and an optional port) names this server: the address of the connection,
/// `localhost` on a loopback address, or one of `names`, which may have any port. A page of another site whose name
/// resolves to this computer (DNS rebinding) sends that site's name.
pub(crate) fn is_own_authority(authority: &str, local: SocketAddr, names: &[String]) -> bool {
    let has_port = authority.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']'));
    let (host, port) = match has_port {
        Some((host, port)) => (host, port.parse().ok()),
        None => (authority, Some(80)),
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    if names.iter().any(|name| name.eq_ignore_ascii_case(host)) {
        return port.is_some();
    }
    let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    let own = local.ip().to_canonical();
    let is_own = match address {
        Some(address) => address.to_canonical() == own,
        None => host.eq_ignore_ascii_case("localhost") && own.is_loopback(),
    };
    is_own && port == Some(local.port())
}

/// Returns `true` if the page of another site made the request: by `Sec-Fetch-Site`, which browsers send to loopback
/// addresses, and by `Origin`. Other servers on this computer are the same site but another origin.
pub(crate) fn is_of_another_site(head: &RequestHead, local: SocketAddr, names: &[String]) -> bool {
    if let Some(site) = head.text("sec-fetch-site")
        && !matches!(site, "same-origin" | "none")
    {
        return true;
    }
    head.values("origin").any(|origin| {
        let authority = std::str::from_utf8(origin).ok().and_then(|origin| origin.strip_prefix("http://"));
        !authority.is_some_and(|authority| is_own_authority(authority, local, names))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_their_addresses() {
        for (network, address, expected) in [
            ("192.168.1.0/24", "192.168.1.77", true),
            ("192.168.1.0/24", "192.168.2.1", false),
            ("192.168.1.0/24", "::ffff:192.168.1.7", true),
            ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false),
            ("0.0.0.0/0", "203.0.113.1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
        ] {
            let network: ClientNetwork = network.parse().expect(network);
            assert_eq!(network.contains(address.parse().expect(address)), expected, "{network:?} {address}");
        }
        for text in ["", "host", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10/8", "::/129"] {
            assert!(text.parse::<ClientNetwork>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_own_names_and_addresses_are_accepted_as_host() {
        let names = ["gate.example".to_owned()];
        let local = |text: &str| text.parse().expect("an address");
        for (authority, address, expected) in [
            ("127.0.0.1:1738", "127.0.0.1:1738", true),
            ("localhost:1738", "127.0.0.1:1738", true),
            ("LOCALHOST.:1738", "127.0.0.1:1738", true),
            ("localhost", "127.0.0.1:80", true),
            ("[::1]:1738", "[::1]:1738", true),
            ("gate.example", "127.0.0.1:1738", true),
            ("Gate.Example:9", "10.0.0.1:1738", true),
            ("127.0.0.1", "127.0.0.1:1738", false),
            ("127.0.0.1:1739", "127.0.0.1:1738", false),
            ("127.0.0.2:1738", "127.0.0.1:1738", false),
            ("localhost:1738", "10.0.0.1:1738", false),
            ("evil.example:1738", "127.0.0.1:1738", false),
            ("localhost.evil.example:1738", "127.0.0.1:1738", false),
            ("gate.example:x", "127.0.0.1:1738", false),
            ("u@127.0.0.1:1738", "127.0.0.1:1738", false),
            ("", "127.0.0.1:1738", false),
        ] {
            assert_eq!(
                is_own_authority(authority, local(address), &names),
                expected,
                "{authority} {address}"
            );
        }
    }

    #[test]
    fn requests_of_other_sites_are_recognised() {
        let local = "127.0.0.1:1738".parse().expect("an address");
        for (field, expected) in [
            ("Sec-Fetch-Site: none", false),
            ("Sec-Fetch-Site: same-origin", false),
            ("Sec-Fetch-Site: same-site", true),
            ("Sec-Fetch-Site: cross-site", true),
            ("Origin: http://127.0.0.1:1738", false),
            ("Origin: https://127.0.0.1:1738", true),
            ("Origin: http://127.0.0.1:8080", true),
            ("Origin: http://evil.example", true),
            ("Origin: null", true),
            ("Accept: */*", false),
        ] {
            let text = format!("GET / HTTP/1.1\r\nHost: h\r\n{field}\r\n\r\n");
            let (head, _) = RequestHead::parse(text.as_bytes()).expect("a head").expect("complete");
            assert_eq!(is_of_another_site(&head, local, &[]), expected, "{field}");
        }
    }
}
