//! Reassembles a response from its packets.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::packet::Packet;
use crate::WireError;

/// Maximum distance of a buffered packet from the last one in order; packets beyond it are dropped and
/// retransmitted. The server's window is 16, at most 256.
const MAX_PACKETS_AHEAD: u16 = 256;
/// Maximum number of buffered bytes.
const MAX_BUFFERED_BYTES: usize = 1024 * 1024;

/// The received packets of a response.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// All packets up to this number were received.
    through: u16,
    total: Option<u16>,
    /// Packets received after the first missing one.
    ahead: BTreeMap<u16, Bytes>,
    bytes_ahead: usize,
    /// Data in order that was not taken yet.
    ready: VecDeque<Bytes>,
}

impl Assembly {
    /// Returns the number up to which all packets were received.
    pub(super) const fn through(&self) -> u16 {
        self.through
    }

    /// Returns `true` if any packet was received.
    pub(super) fn has_received_data(&self) -> bool {
        self.through > 0 || !self.ahead.is_empty()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.total == Some(self.through)
    }

    /// Returns `true` if the response has only one packet.
    pub(super) fn is_single_packet(&self) -> bool {
        self.total == Some(1)
    }

    /// Returns the next data in order.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }

    /// Adds a packet. Returns `true` if it was missing, and `false` if it is a duplicate or too far ahead.
    ///
    /// # Errors
    /// [`WireError::Unexpected`] if it contradicts the number of packets known so far.
    pub(super) fn put(&mut self, packet: &Packet<'_>) -> Result<bool, WireError> {
        self.check_total(packet)?;
        let number = packet.number;
        let is_known = number <= self.through || self.ahead.contains_key(&number);
        if is_known || number - self.through > MAX_PACKETS_AHEAD {
            return Ok(false);
        }
        let data = if packet.is_control { &[] } else { packet.data };
        let is_next = number == self.through + 1;
        if !is_next && self.bytes_ahead + data.len() > MAX_BUFFERED_BYTES {
            return Ok(false);
        }
        self.bytes_ahead += data.len();
        self.ahead.insert(number, Bytes::copy_from_slice(data));
        self.append_buffered();
        Ok(true)
    }

    fn check_total(&mut self, packet: &Packet<'_>) -> Result<(), WireError> {
        if packet.total != 0 {
            let total = *self.total.get_or_insert(packet.total);
            let last = self.ahead.last_key_value().map_or(self.through, |(number, _)| *number);
            if total != packet.total || last > total {
                return Err(contradiction("one total for all packets of an answer", packet));
            }
        }
        match self.total {
            Some(total) if packet.number > total => Err(contradiction("a packet of the answer", packet)),
            _ => Ok(()),
        }
    }

    fn append_buffered(&mut self) {
        // There is no packet number after 65535.
        while let Some(next) = self.through.checked_add(1) {
            let Some(data) = self.ahead.remove(&next) else { return };
            self.through = next;
            self.bytes_ahead -= data.len();
            if !data.is_empty() {
                self.ready.push_back(data);
            }
        }
    }
}

fn contradiction(what: &'static str, packet: &Packet<'_>) -> WireError {
    let got = format!("packet {} of {}", packet.number, packet.total);
    WireError::Unexpected { what, got: got.into() }
}
