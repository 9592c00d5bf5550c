//! The header of ARDP version 0, which precedes the text in every datagram.

use std::net::SocketAddr;
use std::time::Instant;

/// The flag that requests an acknowledgement.
pub(crate) const ACKNOWLEDGE: u8 = 0x80;
/// The flag for a window size after the option.
const WINDOW: u8 = 0x08;
/// Maximum number of bytes of a datagram that dirsrv reads.
const MAX_DATAGRAM: usize = 1405;

/// A datagram that the server received.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProsperoDatagram {
    /// The sender.
    pub from: SocketAddr,
    /// When it was received.
    pub at: Instant,
    /// All bytes.
    pub bytes: Vec<u8>,
    /// The header, or `None` if it is invalid.
    pub header: Option<ProsperoHeader>,
}

/// The fields of a header. Fields that are cut off have default values.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProsperoHeader {
    /// The length of the header, including this byte.
    pub length: u8,
    /// The connection id; 0 if there is none.
    pub connection: u16,
    /// The number of the packet, from 1; 0 for a packet outside the sequence.
    pub number: u16,
    /// The number of packets of the message; 0 if it is not known yet.
    pub total: u16,
    /// All packets of the other side up to this number were received.
    pub through: u16,
    /// The time to wait, in seconds.
    pub wait: u16,
    /// The flags.
    pub flags: u8,
    /// The option.
    pub option: u8,
    /// How many packets the sender receives before it acknowledges.
    pub window: Option<u16>,
}

impl ProsperoDatagram {
    pub(crate) fn new(from: SocketAddr, bytes: &[u8]) -> Self {
        Self { from, at: Instant::now(), bytes: bytes.to_vec(), header: ProsperoHeader::parse(bytes) }
    }

    /// Returns the bytes after the header, as far as dirsrv reads them.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        let length = self.header.map_or(0, |header| usize::from(header.length));
        self.bytes.get(length..self.bytes.len().min(MAX_DATAGRAM)).unwrap_or_default()
    }

    /// Returns `true` for a packet of a request.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.header.is_some_and(|header| header.number > 0)
    }

    /// Returns `true` for an acknowledgement without data.
    #[must_use]
    pub fn is_acknowledgement(&self) -> bool {
        self.header.is_some_and(|header| header.number == 0 && header.option == 0)
    }

    /// Returns `true` if it cancels the request.
    #[must_use]
    pub fn is_cancel(&self) -> bool {
        self.header.is_some_and(|header| header.option == 1)
    }
}

impl ProsperoHeader {
    /// Parses the header of a datagram. Returns `None` if it has another version or is longer than the datagram.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let length = *bytes.first().filter(|first| (1..32).contains(*first))?;
        let header = bytes.get(..usize::from(length))?;
        let word = |at: usize| header.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]));
        let flags = header.get(11).copied().unwrap_or(0);
        let is_short = length < 5;
        Some(Self {
            length,
            connection: word(1).unwrap_or(0),
            number: if is_short { 1 } else { word(3).unwrap_or(1) },
            total: if is_short { 1 } else { word(5).unwrap_or(0) },
            through: word(7).unwrap_or(0),
            wait: word(9).unwrap_or(0),
            flags,
            option: header.get(12).copied().unwrap_or(0),
            window: (flags & WINDOW != 0).then(|| word(13 + fields_before_window(header, flags))).flatten(),
        })
    }

    /// Returns the encoded header, cut after [`length`](Self::length) bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let words = [self.connection, self.number, self.total, self.through, self.wait];
        let mut bytes = vec![self.length];
        bytes.extend(words.into_iter().flat_map(u16::to_be_bytes));
        bytes.extend([self.flags, self.option]);
        bytes.truncate(usize::from(self.length).max(1));
        bytes
    }
}

/// Returns the length of the fields between option and window size.
fn fields_before_window(header: &[u8], flags: u8) -> usize {
    let address = if flags & 1 != 0 { 2 + usize::from(header.get(14).copied().unwrap_or(0)) } else { 0 };
    address + [2, 4].iter().filter(|flag| flags & **flag != 0).count() * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_cut_off_have_defaults() {
        let read = |bytes: &[u8]| {
            ProsperoHeader::parse(bytes).map(|header| (header.connection, header.number, header.total))
        };
        assert_eq!(read(b"\x01VERSION\n"), Some((0, 1, 1)));
        assert_eq!(read(b"\x03\x01\x02x"), Some((0x102, 1, 1)));
        assert_eq!(read(b"\x05\x01\x02\0\x03"), Some((0x102, 3, 0)));
        assert_eq!(read(b"\x09\x01\x02\0\x03\0\x04\0\x05"), Some((0x102, 3, 4)));
        for bad in [b"".as_slice(), b"\0", b"\x20", b"\x81", b"VERSION\n", b"\x09\x01\x02"] {
            assert_eq!(ProsperoHeader::parse(bad), None, "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn window_follows_other_optional_fields() {
        let plain = ProsperoHeader::parse(b"\x0f\x01\x1a\0\x01\0\x01\0\0\0\0\x08\0\0\x04").unwrap();
        assert_eq!(plain.window, Some(4));
        let all = b"\x17\x01\x1a\0\x01\0\x01\0\0\0\0\x0f\0\x01\x02ab\0\x01\0\x02\0\x09";
        assert_eq!(ProsperoHeader::parse(all).unwrap().window, Some(9));
        assert_eq!(ProsperoHeader::parse(b"\x0d\x01\x1a\0\x01\0\x01\0\0\0\0\x08\0").unwrap().window, None);
    }

    #[test]
    fn encoded_header_is_parsed() {
        let header = ProsperoHeader {
            length: 12,
            connection: 282,
            number: 4,
            through: 1,
            flags: ACKNOWLEDGE,
            ..ProsperoHeader::default()
        };
        assert_eq!(header.encode(), b"\x0c\x01\x1a\0\x04\0\0\0\x01\0\0\x80");
        assert_eq!(ProsperoHeader::parse(&header.encode()), Some(header));
    }
}
