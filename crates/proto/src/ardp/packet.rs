//! Parses and builds datagrams: a header, version 0, and data.

use std::net::{Ipv4Addr, SocketAddrV4};

use bytes::{BufMut as _, Bytes, BytesMut};

/// The six low bits of the first byte are the length of the header, including that byte.
const LENGTH_BITS: u8 = 0x3f;
/// First bytes from this value on belong to other versions, or to text of the protocol before ARDP.
const FIRST_OTHER_VERSION: u8 = 32;
/// Length of id, number, total and received-through, the fields of a request.
const REQUEST_HEADER: u8 = 9;

const HAS_ADDRESS: u8 = 0x01;
/// Priority, protocol and window, two bytes each.
const PAIRS: [u8; 3] = [0x02, 0x04, 0x08];
const IS_CONTROL: u8 = 0x40;
const ACKNOWLEDGE: u8 = 0x80;

const CANCEL: u8 = 1;

/// A parsed datagram.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packet<'d> {
    /// The id of the exchange; 0 if it is missing.
    pub(super) id: u16,
    /// The packet number in the message, from 1; 0 for a packet outside it.
    pub(super) number: u16,
    /// The number of packets of the message; 0 if it is not known yet.
    pub(super) total: u16,
    /// The sender has received our packets up to this number.
    pub(super) acknowledged_through: u16,
    /// The number of seconds that the client should wait; 0 if it is not given.
    pub(super) wait: u16,
    /// A numbered packet whose data does not belong to the message.
    pub(super) is_control: bool,
    pub(super) wants_acknowledgement: bool,
    pub(super) control: ServerControl,
    pub(super) data: &'d [u8],
}

/// The option of a packet that controls the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerControl {
    Nothing,
    /// The server refuses the request.
    Refuse,
    /// The server asks for the whole request again.
    Repeat,
    /// The server redirects the request.
    Redirect(SocketAddrV4),
}

impl<'d> Packet<'d> {
    /// Parses a datagram. Returns `None` if it is not ARDP version 0 or its header is truncated.
    pub(super) fn parse(datagram: &'d [u8]) -> Option<Self> {
        let first = *datagram.first().filter(|first| (1..FIRST_OTHER_VERSION).contains(*first))?;
        let (header, data) = datagram.split_at_checked(usize::from(first & LENGTH_BITS))?;
        // A header may end after any field.
        let field = |at: usize| Some(u16::from_be_bytes(header.get(at..at + 2)?.try_into().ok()?));
        let byte = |at: usize| header.get(at).copied().unwrap_or(0);
        let flags = byte(11);
        Some(Self {
            id: field(1).unwrap_or(0),
            number: field(3).unwrap_or(1),
            total: field(5).unwrap_or(u16::from(header.len() < 5)),
            acknowledged_through: field(7).unwrap_or(0),
            wait: field(9).unwrap_or(0),
            is_control: flags & IS_CONTROL != 0,
            wants_acknowledgement: flags & ACKNOWLEDGE != 0,
            control: server_control(byte(12), option_data(header, flags)),
            data,
        })
    }
}

fn server_control(option: u8, data: &[u8]) -> ServerControl {
    match (option, data) {
        (CANCEL, _) => ServerControl::Refuse,
        (2, _) => ServerControl::Repeat,
        (4 | 5, &[a, b, c, d, high, low, ..]) => ServerControl::Redirect(SocketAddrV4::new(
            Ipv4Addr::new(a, b, c, d),
            u16::from_be_bytes([high, low]),
        )),
        // Unknown options are ignored so that the data is not lost.
        _ => ServerControl::Nothing,
    }
}

/// Returns the data of the option, after the fields that the flags announce.
fn option_data(header: &[u8], flags: u8) -> &[u8] {
    let mut rest = header.get(13..).unwrap_or_default();
    if flags & HAS_ADDRESS != 0 {
        let length = rest.get(1).map_or(0, |length| usize::from(*length));
        rest = rest.get(2 + length..).unwrap_or_default();
    }
    let pairs = PAIRS.iter().filter(|pair| flags & **pair != 0).count();
    rest.get(2 * pairs..).unwrap_or_default()
}

/// Returns a packet of a request.
pub(super) fn request(id: u16, number: u16, total: u16, data: &[u8]) -> Bytes {
    let mut datagram = header(id, number, total, 0);
    datagram.put_slice(data);
    datagram.freeze()
}

/// Returns an acknowledgement of all packets up to `through`.
pub(super) fn acknowledgement(id: u16, through: u16) -> Bytes {
    header(id, 0, 0, through).freeze()
}

/// Returns a packet that cancels the request.
pub(super) fn cancel(id: u16) -> Bytes {
    let mut datagram = header(id, 0, 0, 0);
    datagram[0] = 13;
    datagram.put_slice(&[0, 0, 0, CANCEL]);
    datagram.freeze()
}

fn header(id: u16, number: u16, total: u16, through: u16) -> BytesMut {
    let mut header = BytesMut::new();
    header.put_u8(REQUEST_HEADER);
    [id, number, total, through].into_iter().for_each(|field| header.put_u16(field));
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_be_cut_after_any_field() {
        let of = |bytes: &'static [u8]| Packet::parse(bytes).expect("a packet");
        let shortest = of(&[1, b'x']);
        assert_eq!((shortest.id, shortest.number, shortest.total, shortest.data), (0, 1, 1, &b"x"[..]));
        let short = of(&[3, 1, 2, b'x']);
        assert_eq!((short.id, short.number, short.total), (0x102, 1, 1));
        let unknown = of(&[5, 1, 2, 0, 7]);
        assert_eq!((unknown.number, unknown.total), (7, 0));
        let half = of(&[4, 1, 2, 0]);
        assert_eq!((half.id, half.number, half.total), (0x102, 1, 1));
    }

    #[test]
    fn invalid_packets_are_ignored() {
        let others: [&[u8]; 6] = [&[], &[0, 1, 2], &[32], &[0x81, 0], &[63, 1, 2], &[9, 1, 2, 0, 1]];
        for bytes in others {
            assert_eq!(Packet::parse(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn options_follow_the_fields_of_the_flags() {
        let redirect = |flags: u8, fields: &[u8]| {
            let length = u8::try_from(13 + fields.len() + 6).expect("short");
            let mut bytes = vec![length, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, flags, 4];
            bytes.extend_from_slice(fields);
            bytes.extend_from_slice(&[127, 0, 0, 1, 9, 0xdd]);
            Packet::parse(&bytes).map(|packet| packet.control)
        };
        let there = Some(ServerControl::Redirect("127.0.0.1:2525".parse().expect("an address")));
        assert_eq!(redirect(0, &[]), there);
        assert_eq!(redirect(0x08, &[0, 16]), there);
        assert_eq!(redirect(0x01, &[1, 4, 9, 9, 9, 9]), there);
        assert_eq!(redirect(0x0f, &[1, 0, 0, 1, 0, 2, 0, 3]), there);
        assert_eq!(redirect(0x01, &[1, 200]), Some(ServerControl::Nothing));
    }
}
