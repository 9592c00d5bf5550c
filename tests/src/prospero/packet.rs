//! A datagram that a rule makes: headers and data that no honest server sends, or sends at another time.

use crate::prospero::header::ProsperoHeader;
use crate::prospero::place::{Places, ProsperoHost};

/// One datagram. Unless something else is said, it has the connection id of the request.
#[derive(Clone, Debug)]
pub struct ProsperoPacket {
    header: ProsperoHeader,
    /// Added to the connection id.
    other: u16,
    extra: Vec<u8>,
    target: Option<ProsperoHost>,
    data: Vec<u8>,
    raw: Option<Vec<u8>>,
}

/// Whole packets.
impl ProsperoPacket {
    /// A packet of an answer.
    #[must_use]
    pub fn data(number: u16, total: u16, data: &[u8]) -> Self {
        let header = ProsperoHeader { length: 9, number, total, ..ProsperoHeader::default() };
        Self { header, other: 0, extra: Vec::new(), target: None, data: data.to_vec(), raw: None }
    }

    /// A packet outside the sequence.
    #[must_use]
    pub fn control() -> Self {
        Self::data(0, 0, b"")
    }

    /// Exactly these octets, connection id and all.
    #[must_use]
    pub fn raw(octets: impl Into<Vec<u8>>) -> Self {
        Self { raw: Some(octets.into()), ..Self::control() }
    }

    /// The client is to wait so many seconds before it asks again.
    #[must_use]
    pub fn wait(seconds: u16) -> Self {
        let packet = Self::control();
        Self { header: ProsperoHeader { wait: seconds, length: 11, ..packet.header }, ..packet }
    }

    /// The request is refused (option 1).
    #[must_use]
    pub fn refused() -> Self {
        Self::control().option(1, b"")
    }

    /// What was received is forgotten (option 2).
    #[must_use]
    pub fn forget() -> Self {
        Self::control().option(2, b"")
    }

    /// Another server is to be asked (option 4; option 5 tells the user).
    #[must_use]
    pub fn redirect(option: u8, to: ProsperoHost) -> Self {
        Self { target: Some(to), ..Self::control().option(option, b"") }
    }

    /// The place in the queue and the seconds to go (option 254), with a wait.
    #[must_use]
    pub fn queue(wait: u16, position: u16, seconds: u32) -> Self {
        let extra = [&[3_u8], position.to_be_bytes().as_slice(), &seconds.to_be_bytes()].concat();
        Self::wait(wait).option(254, &extra)
    }
}

/// What can be changed in one.
impl ProsperoPacket {
    /// An option, and what stands behind it.
    #[must_use]
    pub fn option(mut self, option: u8, extra: &[u8]) -> Self {
        (self.header.length, self.header.option) = (13, option);
        self.extra = extra.to_vec();
        self
    }

    /// Flags.
    #[must_use]
    pub fn flags(mut self, flags: u8) -> Self {
        self.header.length = self.header.length.max(12);
        self.header.flags = flags;
        self
    }

    /// The server has received so many packets of the request.
    #[must_use]
    pub fn through(mut self, through: u16) -> Self {
        self.header.through = through;
        self
    }

    /// The connection id is greater than that of the request by this.
    #[must_use]
    pub fn other_id(self, by: u16) -> Self {
        Self { other: by, ..self }
    }

    /// The header is cut after so many octets; less than it needs.
    #[must_use]
    pub fn header_length(mut self, length: u8) -> Self {
        self.header.length = length;
        self
    }

    pub(crate) fn octets(&self, connection: u16, places: &Places) -> Vec<u8> {
        if let Some(raw) = &self.raw {
            return raw.clone();
        }
        let target = self.target.as_ref().map_or_else(Vec::new, |target| places.octets(target));
        let more = self.extra.len() + target.len();
        let connection = connection.wrapping_add(self.other);
        let mut octets = ProsperoHeader { connection, ..self.header }.octets();
        // As many octets as the length says stand there, and then what belongs to the option.
        octets[0] = octets[0].saturating_add(u8::try_from(more).unwrap_or(u8::MAX)) & 63;
        [octets, self.extra.clone(), target, self.data.clone()].concat()
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn packets_are_as_the_sending_code_makes_them() {
        let here = SocketAddr::from(([127, 0, 0, 1], 2525));
        let places = Places { here, other_port: None, other_address: None, name: None };
        let rows: [(ProsperoPacket, &str); 6] = [
            (ProsperoPacket::wait(180), "0b011a00000000000000b4"),
            (ProsperoPacket::queue(900, 3, 60), "14011a000000000000038400fe0300030000003c"),
            (ProsperoPacket::refused(), "0d011a00000000000000000001"),
            (ProsperoPacket::redirect(4, ProsperoHost::Here), "13011a000000000000000000047f00000109dd"),
            (ProsperoPacket::data(2, 3, b"x").through(1).other_id(1), "09011b00020003000178"),
            (ProsperoPacket::raw(*b"\x00"), "00"),
        ];
        for (packet, expected) in rows {
            let hex: String =
                packet.octets(282, &places).iter().map(|octet| format!("{octet:02x}")).collect();
            assert_eq!(hex, expected);
        }
    }
}
