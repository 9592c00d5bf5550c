//! Packets that rules send: headers and data that a correct server never sends, or not at this point.

use crate::prospero::header::ProsperoHeader;
use crate::prospero::host::{Addresses, ProsperoHost};

/// A packet. By default it has the connection id of the request.
#[derive(Clone, Debug)]
pub struct ProsperoPacket {
    header: ProsperoHeader,
    /// Added to the connection id.
    id_offset: u16,
    /// Data of the option.
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
        Self { header, id_offset: 0, extra: Vec::new(), target: None, data: data.to_vec(), raw: None }
    }

    /// A packet outside the sequence.
    #[must_use]
    pub fn control() -> Self {
        Self::data(0, 0, b"")
    }

    /// Exactly these bytes, including the connection id.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { raw: Some(bytes.into()), ..Self::control() }
    }

    /// Tells the client to wait this many seconds before it repeats its request.
    #[must_use]
    pub fn wait(seconds: u16) -> Self {
        let packet = Self::control();
        Self { header: ProsperoHeader { wait: seconds, length: 11, ..packet.header }, ..packet }
    }

    /// Refuses the request (option 1).
    #[must_use]
    pub fn refused() -> Self {
        Self::control().option(1, b"")
    }

    /// Tells the client that the request was discarded (option 2).
    #[must_use]
    pub fn forget() -> Self {
        Self::control().option(2, b"")
    }

    /// Redirects to another server (option 4; with option 5 the client informs the user).
    #[must_use]
    pub fn redirect(option: u8, to: ProsperoHost) -> Self {
        Self { target: Some(to), ..Self::control().option(option, b"") }
    }

    /// Tells position and remaining time in the queue (option 254), with a time to wait.
    #[must_use]
    pub fn queue(wait: u16, position: u16, seconds: u32) -> Self {
        let extra = [&[3_u8], position.to_be_bytes().as_slice(), &seconds.to_be_bytes()].concat();
        Self::wait(wait).option(254, &extra)
    }
}

/// Fields.
impl ProsperoPacket {
    /// Sets an option and its data.
    #[must_use]
    pub fn option(mut self, option: u8, extra: &[u8]) -> Self {
        (self.header.length, self.header.option) = (13, option);
        self.extra = extra.to_vec();
        self
    }

    /// Sets the flags.
    #[must_use]
    pub fn flags(mut self, flags: u8) -> Self {
        self.header.length = self.header.length.max(12);
        self.header.flags = flags;
        self
    }

    /// Sets the number up to which packets of the request were received.
    #[must_use]
    pub fn through(mut self, through: u16) -> Self {
        self.header.through = through;
        self
    }

    /// Adds `offset` to the connection id of the request.
    #[must_use]
    pub fn other_id(self, offset: u16) -> Self {
        Self { id_offset: offset, ..self }
    }

    /// Cuts the header after this many bytes.
    #[must_use]
    pub fn header_length(mut self, length: u8) -> Self {
        self.header.length = length;
        self
    }

    pub(crate) fn encode(&self, connection: u16, addresses: &Addresses) -> Vec<u8> {
        if let Some(raw) = &self.raw {
            return raw.clone();
        }
        let target = self.target.as_ref().map_or_else(Vec::new, |target| addresses.encode(target));
        let more = self.extra.len() + target.len();
        let connection = connection.wrapping_add(self.id_offset);
        let mut bytes = ProsperoHeader { connection, ..self.header }.encode();
        // The length includes the data of the option.
        bytes[0] = bytes[0].saturating_add(u8::try_from(more).unwrap_or(u8::MAX)) & 63;
        [bytes, self.extra.clone(), target, self.data.clone()].concat()
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn packet_is_encoded_as_dirsrv_does() {
        let here = SocketAddr::from(([127, 0, 0, 1], 2525));
        let addresses = Addresses { here, other_port: None, other_address: None, name: None };
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
                packet.encode(282, &addresses).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expected);
        }
    }
}
