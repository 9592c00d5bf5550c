//! The header of ARDP version 0: what stands before the text in every datagram.

use std::net::SocketAddr;
use std::time::Instant;

/// Please acknowledge.
pub(crate) const ACKNOWLEDGE: u8 = 0x80;
/// The size of a window stands behind the option.
const WINDOW: u8 = 0x08;
/// What dirsrv reads of a datagram.
const ROOM: usize = 1405;

/// A datagram that came to the server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProsperoDatagram {
    /// Who sent it.
    pub from: SocketAddr,
    /// When it came.
    pub at: Instant,
    /// All of it.
    pub octets: Vec<u8>,
    /// Its header; none when that cannot be read.
    pub header: Option<ProsperoHeader>,
}

/// The fields of a header; those that were cut off have their defaults.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProsperoHeader {
    /// Its octets, the first one included.
    pub length: u8,
    /// The connection id; 0: none.
    pub connection: u16,
    /// The packet's number, from 1; 0: outside the sequence.
    pub number: u16,
    /// How many packets the message has; 0: not known yet.
    pub total: u16,
    /// Every packet of the other side up to this one has arrived.
    pub through: u16,
    /// Seconds.
    pub wait: u16,
    /// Bits.
    pub flags: u8,
    /// What else is meant.
    pub option: u8,
    /// How many packets the sender takes before it acknowledges.
    pub window: Option<u16>,
}

impl ProsperoDatagram {
    pub(crate) fn new(from: SocketAddr, octets: &[u8]) -> Self {
        Self { from, at: Instant::now(), octets: octets.to_vec(), header: ProsperoHeader::read(octets) }
    }

    /// What stands behind the header, as far as dirsrv reads it.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        let length = self.header.map_or(0, |header| usize::from(header.length));
        self.octets.get(length..self.octets.len().min(ROOM)).unwrap_or_default()
    }

    /// Whether it is a packet of a request.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.header.is_some_and(|header| header.number > 0)
    }

    /// Whether it says only how much of the answer has arrived.
    #[must_use]
    pub fn is_acknowledgement(&self) -> bool {
        self.header.is_some_and(|header| header.number == 0 && header.option == 0)
    }

    /// Whether it takes the request back.
    #[must_use]
    pub fn is_cancel(&self) -> bool {
        self.header.is_some_and(|header| header.option == 1)
    }
}

impl ProsperoHeader {
    /// The header of a datagram; none if it is of another version, or longer than the datagram.
    pub(crate) fn read(octets: &[u8]) -> Option<Self> {
        let length = *octets.first().filter(|first| (1..32).contains(*first))?;
        let header = octets.get(..usize::from(length))?;
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
            window: (flags & WINDOW != 0).then(|| word(13 + before_window(header, flags))).flatten(),
        })
    }

    /// The header, cut after [`length`](Self::length) octets.
    pub(crate) fn octets(&self) -> Vec<u8> {
        let words = [self.connection, self.number, self.total, self.through, self.wait];
        let mut octets = vec![self.length];
        octets.extend(words.into_iter().flat_map(u16::to_be_bytes));
        octets.extend([self.flags, self.option]);
        octets.truncate(usize::from(self.length).max(1));
        octets
    }
}

/// How many octets other fields take before the window.
fn before_window(header: &[u8], flags: u8) -> usize {
    let address = if flags & 1 != 0 { 2 + usize::from(header.get(14).copied().unwrap_or(0)) } else { 0 };
    address + [2, 4].iter().filter(|flag| flags & **flag != 0).count() * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_cut_off_have_defaults() {
        let read = |octets: &[u8]| {
            ProsperoHeader::read(octets).map(|header| (header.connection, header.number, header.total))
        };
        assert_eq!(read(b"\x01VERSION\n"), Some((0, 1, 1)));
        assert_eq!(read(b"\x03\x01\x02x"), Some((0x102, 1, 1)));
        assert_eq!(read(b"\x05\x01\x02\0\x03"), Some((0x102, 3, 0)));
        assert_eq!(read(b"\x09\x01\x02\0\x03\0\x04\0\x05"), Some((0x102, 3, 4)));
        for bad in [b"".as_slice(), b"\0", b"\x20", b"\x81", b"VERSION\n", b"\x09\x01\x02"] {
            assert_eq!(ProsperoHeader::read(bad), None, "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn the_window_stands_behind_other_fields() {
        let plain = ProsperoHeader::read(b"\x0f\x01\x1a\0\x01\0\x01\0\0\0\0\x08\0\0\x04").unwrap();
        assert_eq!(plain.window, Some(4));
        let all = b"\x17\x01\x1a\0\x01\0\x01\0\0\0\0\x0f\0\x01\x02ab\0\x01\0\x02\0\x09";
        assert_eq!(ProsperoHeader::read(all).unwrap().window, Some(9));
        assert_eq!(ProsperoHeader::read(b"\x0d\x01\x1a\0\x01\0\x01\0\0\0\0\x08\0").unwrap().window, None);
    }

    #[test]
    fn what_is_written_is_read() {
        let header = ProsperoHeader {
            length: 12,
            connection: 282,
            number: 4,
            through: 1,
            flags: ACKNOWLEDGE,
            ..ProsperoHeader::default()
        };
        assert_eq!(header.octets(), b"\x0c\x01\x1a\0\x04\0\0\0\x01\0\0\x80");
        assert_eq!(ProsperoHeader::read(&header.octets()), Some(header));
    }
}
