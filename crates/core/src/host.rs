//! [`Host`] and [`HostPort`] (RFC 1738 §3.1).

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;

/// The host of a URL: a domain name, an IPv4 address (RFC 1738 §3.1) or an IPv6 address (RFC 2732, RFC 6874).
///
/// Equality and hash ignore ASCII case and one dot at the end of a name: `Example.COM` equals `example.com.`. Display
/// prints the name as it was written, and an IPv6 address in square brackets, with its zone after `%25`.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_enums, reason = "a host is one of these four")]
pub enum Host<'a> {
    /// A domain name, as it was written. Non-ASCII names are in their `xn--` form (feature `idn`).
    Name(Cow<'a, str>),
    /// An IPv4 address, written as four decimal numbers from 0 to 255 without leading zeros.
    V4(Ipv4Addr),
    /// An IPv6 address, written in square brackets.
    V6(Ipv6Addr),
    /// A link-local IPv6 address and the zone in which it is valid: the name or the number of a network interface of this
    /// computer (RFC 6874).
    V6Zone(Ipv6Addr, Cow<'a, str>),
}

impl Host<'_> {
    /// Returns the same host with owned text, independent of the parsed text.
    pub fn into_owned(self) -> Host<'static> {
        match self {
            Self::Name(name) => Host::Name(Cow::Owned(name.into_owned())),
            Self::V4(address) => Host::V4(address),
            Self::V6(address) => Host::V6(address),
            Self::V6Zone(address, zone) => Host::V6Zone(address, Cow::Owned(zone.into_owned())),
        }
    }

    /// Returns the host as a server knows it: without the zone, which has a meaning on this computer only (RFC 6874 §4).
    #[must_use]
    pub fn without_zone(&self) -> Host<'_> {
        match self {
            Self::Name(name) => Host::Name(Cow::Borrowed(name)),
            Self::V4(address) => Host::V4(*address),
            Self::V6(address) | Self::V6Zone(address, _) => Host::V6(*address),
        }
    }

    /// Returns a name without its final dot; `None` for an address.
    fn name_without_dot(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name.strip_suffix('.').unwrap_or(name)),
            Self::V4(_) | Self::V6(_) | Self::V6Zone(..) => None,
        }
    }
}

impl PartialEq for Host<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::V4(one), Self::V4(two)) => one == two,
            (Self::V6(one), Self::V6(two)) => one == two,
            (Self::V6Zone(one, zone), Self::V6Zone(two, other)) => one == two && zone == other,
            (one, two) => match (one.name_without_dot(), two.name_without_dot()) {
                (Some(one), Some(two)) => one.eq_ignore_ascii_case(two),
                _ => false,
            },
        }
    }
}

impl Eq for Host<'_> {}

impl Hash for Host<'_> {
    /// Hashes names in lower case and without the final dot: equal hosts have equal hashes.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::V4(address) => address.hash(state),
            Self::V6(address) => address.hash(state),
            Self::V6Zone(address, zone) => (address, zone).hash(state),
            Self::Name(_) => {
                let bytes = self.name_without_dot().unwrap_or_default().bytes();
                bytes.for_each(|byte| state.write_u8(byte.to_ascii_lowercase()));
                state.write_u8(0xff);
            }
        }
    }
}

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::V4(address) => write_v4(*address, f),
            Self::V6(address) => write!(f, "[{address}]"),
            Self::V6Zone(address, zone) => write!(f, "[{address}%25{zone}]"),
        }
    }
}

/// Writes an address without the padding of `Ipv4Addr`, which takes most of the time to print a URL.
fn write_v4(address: Ipv4Addr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = ShortText::default();
    for (index, octet) in address.octets().into_iter().enumerate() {
        if index > 0 {
            text.push(b'.');
        }
        text.push_number(octet.into());
    }
    text.write(f)
}

/// The text of an IPv4 address or a port.
#[derive(Default)]
struct ShortText {
    bytes: [u8; 15],
    length: usize,
}

impl ShortText {
    fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    /// Appends a number without leading zeros.
    fn push_number(&mut self, number: u16) {
        let mut unit = 10_000;
        while unit > 1 && number < unit {
            unit /= 10;
        }
        while unit > 0 {
            self.push(b'0' + (number / unit % 10) as u8);
            unit /= 10;
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.bytes[..self.length]).map_err(|_| fmt::Error)?)
    }
}

/// A host and the port that was written after it, if any: `host[:port]`, §5 `hostport`.
///
/// Two values are equal if the hosts are equal and the same port, or none, was written. The scheme's default port is
/// not applied: see [`Url::port`](crate::Url::port).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPort<'a> {
    pub(crate) host: Host<'a>,
    pub(crate) port: Option<NonZeroU16>,
}

impl<'a> HostPort<'a> {
    /// Returns the host.
    pub const fn host(&self) -> &Host<'a> {
        &self.host
    }

    /// Returns the port that was written, from 1 to 65535.
    pub const fn port(&self) -> Option<NonZeroU16> {
        self.port
    }

    /// Returns the same value with owned text, independent of the parsed text.
    pub fn into_owned(self) -> HostPort<'static> {
        HostPort { host: self.host.into_owned(), port: self.port }
    }
}

impl fmt::Display for HostPort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.host.fmt(f)?;
        match self.port {
            Some(port) => {
                let mut text = ShortText::default();
                text.push(b':');
                text.push_number(port.get());
                text.write(f)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_addresses_are_written_as_the_standard_library_does() {
        for number in (0..=u32::MAX).step_by(65_521).chain([0, u32::MAX, 0x0100_0a64]) {
            let address = Ipv4Addr::from_bits(number);
            assert_eq!(Host::V4(address).to_string(), address.to_string());
        }
    }

    #[test]
    fn ports_are_written_without_leading_zeros() {
        for port in (1..=u16::MAX).filter_map(NonZeroU16::new) {
            let host_port = HostPort { host: Host::Name("h".into()), port: Some(port) };
            assert_eq!(host_port.to_string(), format!("h:{port}"));
        }
    }

    #[test]
    fn host_equality_ignores_case_and_final_dot() {
        let name = |text: &'static str| Host::Name(Cow::Borrowed(text));
        assert_eq!(name("Example.COM"), name("example.com."));
        assert_ne!(name("example.com"), name("example.org"));
        assert_ne!(name("localhost"), Host::V4(Ipv4Addr::LOCALHOST));
    }
}
