//! The packets of an answer, put in order.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::packet::Packet;
use crate::WireError;

/// Packets so far ahead of those that are missing are not kept: the server sends them again. Its window is 16, and
/// 256 at most.
const MOST_AHEAD: u16 = 256;
/// Nor are more octets than this.
const MOST_OCTETS_AHEAD: usize = 1024 * 1024;

/// What has arrived.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// All packets up to this one have arrived.
    through: u16,
    total: Option<u16>,
    /// Those behind the first that is missing.
    ahead: BTreeMap<u16, Bytes>,
    octets_ahead: usize,
    /// What is in order and was not taken yet.
    ready: VecDeque<Bytes>,
}

impl Assembly {
    /// All packets up to this one have arrived.
    pub(super) const fn through(&self) -> u16 {
        self.through
    }

    /// Whether anything has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.through > 0 || !self.ahead.is_empty()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.total == Some(self.through)
    }

    /// Whether one packet is all of it.
    pub(super) fn is_single(&self) -> bool {
        self.total == Some(1)
    }

    /// What is in order, and was not taken yet.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }

    /// A packet has arrived; whether it was one that was missing.
    ///
    /// # Errors
    /// It disagrees with the others about how many there are.
    pub(super) fn put(&mut self, packet: &Packet<'_>) -> Result<bool, WireError> {
        self.check_total(packet)?;
        let number = packet.number;
        let is_known = number <= self.through || self.ahead.contains_key(&number);
        if is_known || number - self.through > MOST_AHEAD {
            return Ok(false);
        }
        let data = if packet.is_control { &[] } else { packet.data };
        let is_next = number == self.through + 1;
        if !is_next && self.octets_ahead + data.len() > MOST_OCTETS_AHEAD {
            return Ok(false);
        }
        self.octets_ahead += data.len();
        self.ahead.insert(number, Bytes::copy_from_slice(data));
        self.move_up();
        Ok(true)
    }

    fn check_total(&mut self, packet: &Packet<'_>) -> Result<(), WireError> {
        if packet.total != 0 {
            let total = *self.total.get_or_insert(packet.total);
            let last = self.ahead.last_key_value().map_or(self.through, |(number, _)| *number);
            if total != packet.total || last > total {
                return Err(disagreement("one total for all packets of an answer", packet));
            }
        }
        match self.total {
            Some(total) if packet.number > total => Err(disagreement("a packet of the answer", packet)),
            _ => Ok(()),
        }
    }

    fn move_up(&mut self) {
        // The number after 65535 is none: that message is complete, or has no end.
        while let Some(next) = self.through.checked_add(1) {
            let Some(data) = self.ahead.remove(&next) else { return };
            self.through = next;
            self.octets_ahead -= data.len();
            if !data.is_empty() {
                self.ready.push_back(data);
            }
        }
    }
}

fn disagreement(what: &'static str, packet: &Packet<'_>) -> WireError {
    let got = format!("packet {} of {}", packet.number, packet.total);
    WireError::Unexpected { what, got: got.into() }
}
