//! Classes of IP addresses by IANA's special-purpose registries. The network policy checks every resolved address
//! before it is used.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of an IP address by IANA's special-purpose registries (RFC 6890).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressClass {
    /// This machine: `127.0.0.0/8`, `::1`.
    Loopback,
    /// Metadata services of cloud providers, such as `169.254.169.254`.
    Metadata,
    /// Multicast: `224.0.0.0/4`, `ff00::/8`.
    Multicast,
    /// Private networks: RFC 1918, shared address space (RFC 6598), unique local, link-local.
    Private,
    /// Globally reachable.
    Public,
    /// Reserved for documentation, benchmarks or future use.
    Reserved,
    /// The unspecified address: `0.0.0.0`, `::`.
    Unspecified,
}

impl AddressClass {
    /// Returns the class of `address`. An IPv6 address that embeds an IPv4 address has the class of that address.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// Returns `true` if the address is globally reachable.
    pub fn is_public(self) -> bool {
        self == Self::Public
    }

    /// Returns the name of the class for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Private => "private",
            Self::Public => "public",
            Self::Reserved => "reserved",
            Self::Unspecified => "unspecified",
        }
    }
}

/// The table of networks: address, prefix length, class. Narrower networks come first.
const V4: &[([u8; 4], u32, AddressClass)] = {
    use AddressClass::{Loopback, Metadata, Multicast, Private, Reserved, Unspecified};
    &[
        // AWS and most others; containers of AWS (ECS, EKS); Tencent; Alibaba; Oracle; Azure.
        ([169, 254, 169, 254], 32, Metadata),
        ([169, 254, 170, 2], 32, Metadata),
        ([169, 254, 170, 23], 32, Metadata),
        ([169, 254, 0, 23], 32, Metadata),
        ([100, 100, 100, 200], 32, Metadata),
        ([192, 0, 0, 192], 32, Metadata),
        ([168, 63, 129, 16], 32, Metadata),
        ([0, 0, 0, 0], 32, Unspecified),
        ([0, 0, 0, 0], 8, Reserved),
        ([10, 0, 0, 0], 8, Private),
        ([100, 64, 0, 0], 10, Private),
        ([127, 0, 0, 0], 8, Loopback),
        ([169, 254, 0, 0], 16, Private),
        ([172, 16, 0, 0], 12, Private),
        ([192, 0, 0, 0], 24, Reserved),
        ([192, 0, 2, 0], 24, Reserved),
        ([192, 88, 99, 0], 24, Reserved),
        ([192, 168, 0, 0], 16, Private),
        ([198, 18, 0, 0], 15, Reserved),
        ([198, 51, 100, 0], 24, Reserved),
        ([203, 0, 113, 0], 24, Reserved),
        ([224, 0, 0, 0], 4, Multicast),
        ([240, 0, 0, 0], 4, Reserved),
    ]
};

fn of_v4(address: Ipv4Addr) -> AddressClass {
    let bits = address.to_bits();
    let row = V4.iter().find(|(network, length, _)| {
        let shift = 32 - length;
        bits >> shift == u32::from_be_bytes(*network) >> shift
    });
    row.map_or(AddressClass::Public, |(_, _, class)| *class)
}

fn of_v6(address: Ipv6Addr) -> AddressClass {
    let segments = address.segments();
    if let Some(inside) = embedded_v4(&segments) {
        return of_v4(inside);
    }
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // AWS, its containers, and Google.
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254 | 0x0023] | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254] => {
            AddressClass::Metadata
        }
        // A local translator (RFC 8215) decides which bits are the IPv4 address.
        [0xfc00..=0xfdff, ..] | [0xfe80..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] => AddressClass::Private,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        [0x2001, 0x0db8, ..] | [0x2001, 0..=0x01ff, ..] | [0x3fff, 0..=0x0fff, ..] | [0x5f00, ..] => {
            AddressClass::Reserved
        }
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        _ => AddressClass::Reserved,
    }
}

/// Returns the IPv4 address that is embedded in a mapped (`::ffff:a.b.c.d`), compatible, NAT64 (`64:ff9b::/96`) or
/// 6to4 (`2002::/16`) address.
fn embedded_v4(segments: &[u16; 8]) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match *segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(join(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_the_class_of_their_range() {
        use AddressClass as C;
        for (text, class) in [
            ("1.1.1.1", C::Public),
            ("0.0.0.0", C::Unspecified),
            ("0.1.2.3", C::Reserved),
            ("10.1.2.3", C::Private),
            ("100.64.0.1", C::Private),
            ("100.128.0.1", C::Public),
            ("100.100.100.200", C::Metadata),
            ("168.63.129.15", C::Public),
            ("168.63.129.16", C::Metadata),
            ("169.254.170.2", C::Metadata),
            ("169.254.170.23", C::Metadata),
            ("169.254.0.23", C::Metadata),
            ("192.0.0.192", C::Metadata),
            ("::ffff:168.63.129.16", C::Metadata),
            ("fd00:ec2::23", C::Metadata),
            ("fd20:ce::254", C::Metadata),
            ("fd20:ce::255", C::Private),
            ("127.255.255.255", C::Loopback),
            ("169.254.1.1", C::Private),
            ("169.254.169.254", C::Metadata),
            ("172.15.255.255", C::Public),
            ("172.31.255.255", C::Private),
            ("172.32.0.0", C::Public),
            ("192.0.0.1", C::Reserved),
            ("192.0.2.1", C::Reserved),
            ("192.88.99.1", C::Reserved),
            ("192.168.255.255", C::Private),
            ("198.19.255.255", C::Reserved),
            ("198.51.100.7", C::Reserved),
            ("203.0.113.7", C::Reserved),
            ("224.0.0.1", C::Multicast),
            ("255.255.255.255", C::Reserved),
            ("::", C::Unspecified),
            ("::1", C::Loopback),
            ("::ffff:127.0.0.1", C::Loopback),
            ("::127.0.0.1", C::Loopback),
            ("64:ff9b::a00:1", C::Private),
            ("64:ff9b::808:808", C::Public),
            ("64:ff9b:1:7f00:0:100:808:808", C::Private),
            ("64:ff9b:0:1::808:808", C::Reserved),
            ("64:ff9b:2::808:808", C::Reserved),
            ("2002:7f00:1::", C::Loopback),
            ("2606:4700::1", C::Public),
            ("2001:db8::1", C::Reserved),
            ("2001::1", C::Reserved),
            ("fc00::1", C::Private),
            ("fd00:ec2::254", C::Metadata),
            ("fe80::1", C::Private),
            ("fec0::1", C::Private),
            ("ff02::1", C::Multicast),
            ("4000::1", C::Reserved),
        ] {
            assert_eq!(AddressClass::of(text.parse().expect("an address")), class, "{text}");
        }
    }
}
