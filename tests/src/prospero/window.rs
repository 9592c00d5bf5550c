//! A window of a response: the datagrams that are sent at one time, changed by the rules.

use std::sync::Arc;
use std::time::Duration;

use crate::prospero::exchange::{Exchange, ResponseState};
use crate::prospero::header::{ACKNOWLEDGE, ProsperoHeader};
use crate::prospero::host::{Addresses, ProsperoHost};
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::rule::{ProsperoAction, ProsperoPackets};

/// A datagram to send.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) bytes: Vec<u8>,
    pub(crate) from: ProsperoHost,
    pub(crate) after: Duration,
    /// The interval and the number of repetitions.
    pub(crate) repeat: Option<(Duration, usize)>,
}

/// A packet of the response.
struct Packet {
    number: u16,
    is_last: bool,
    /// How often it was sent before.
    sent: usize,
    datagram: Outgoing,
}

/// Builds the next window of an exchange.
pub(crate) struct WindowBuilder<'a> {
    exchange: &'a mut Exchange,
    addresses: &'a Addresses,
    actions: Arc<[ProsperoAction]>,
}

impl Outgoing {
    /// A datagram that is sent at once, from the socket of the request.
    pub(crate) fn now(bytes: Vec<u8>) -> Self {
        Self { bytes, from: ProsperoHost::Here, after: Duration::ZERO, repeat: None }
    }
}

impl<'a> WindowBuilder<'a> {
    pub(crate) fn new(
        exchange: &'a mut Exchange,
        addresses: &'a Addresses,
        actions: Arc<[ProsperoAction]>,
    ) -> Self {
        Self { exchange, addresses, actions }
    }

    /// Returns the datagrams that the client has not acknowledged, in the order and at the times that the rules set.
    pub(crate) fn build(self) -> Vec<Outgoing> {
        let received = self.exchange.through();
        let (window, id) = (self.exchange.window, self.exchange.connection);
        let has_no_id = self.exchange.has_no_id;
        let Some(response) = &mut self.exchange.response else { return Vec::new() };
        let headers = HeaderBuilder { connection: id, has_no_id, received, window };
        let packet = |packet: &ProsperoPacket| Outgoing::now(packet.encode(id, self.addresses));
        let packets = match replaced_packets(&self.actions, response.windows) {
            Some(packets) => packets.iter().map(packet).collect(),
            None => apply_to_packets(headers.packets(response, &self.actions), &self.actions),
        };
        let mut all = Vec::new();
        all.extend(self.actions.iter().filter_map(|action| match action {
            ProsperoAction::PacketBefore(before) => Some(packet(before)),
            _ => None,
        }));
        all.extend(packets);
        for action in &*self.actions {
            match action {
                ProsperoAction::PacketAfter(after) => all.push(packet(after)),
                ProsperoAction::RepeatPacket(repeated, interval, times) if response.windows == 0 => {
                    all.push(Outgoing { repeat: Some((*interval, *times)), ..packet(repeated) });
                }
                _ => {}
            }
        }
        response.windows += 1;
        let left = self.actions.iter().filter_map(|action| match action {
            ProsperoAction::MaxDatagrams(most) => Some(most.saturating_sub(response.datagrams)),
            _ => None,
        });
        all.truncate(left.min().unwrap_or(usize::MAX));
        response.datagrams += all.len();
        apply_delays(all, &self.actions)
    }
}

/// Builds the headers of a response.
struct HeaderBuilder {
    connection: u16,
    has_no_id: bool,
    /// How many packets of the request were received.
    received: u16,
    window: u16,
}

impl HeaderBuilder {
    /// Returns the packets of the next window as dirsrv sends them, and counts them in the response.
    fn packets(&self, response: &mut ResponseState, actions: &[ProsperoAction]) -> Vec<Packet> {
        let total = response.text.packets();
        let window = actions.iter().rev().find_map(|action| match action {
            ProsperoAction::Window(size) => Some(*size),
            _ => None,
        });
        let window = window.unwrap_or(self.window).max(1);
        let is_first_window = response.windows == 0;
        let first = response.through.saturating_add(1);
        let end = response.through.saturating_add(window).min(total.unwrap_or(u16::MAX));
        let packet = |number: u16| {
            let header = self.header(number, total, is_first_window, number == end);
            let bytes = [encode_header(header, total, actions), response.text.packet(number)].concat();
            let sent = response.sent.entry(number).or_default();
            *sent += 1;
            let is_last = Some(number) == total;
            Packet { number, is_last, sent: *sent - 1, datagram: Outgoing::now(bytes) }
        };
        (first..=end).map(packet).collect()
    }

    /// dirsrv sends short headers in the first window, and requests an acknowledgement at the end of a window
    /// unless it is the end of the message.
    fn header(
        &self,
        number: u16,
        total: Option<u16>,
        is_first_window: bool,
        is_window_end: bool,
    ) -> ProsperoHeader {
        let is_last = Some(number) == total;
        let is_single = total == Some(1);
        let announced_total = if is_first_window && !is_last { 0 } else { total.unwrap_or(0) };
        let needs_acknowledgement = is_window_end && !is_last;
        let length = match (is_single && is_first_window, needs_acknowledgement) {
            (true, _) if self.has_no_id => 1,
            (true, _) => 3,
            (_, true) => 12,
            (_, false) if is_first_window => 7,
            _ => 9,
        };
        ProsperoHeader {
            length,
            connection: self.connection,
            number,
            total: announced_total,
            through: self.received,
            flags: if needs_acknowledgement { ACKNOWLEDGE } else { 0 },
            ..ProsperoHeader::default()
        }
    }
}

fn encode_header(mut header: ProsperoHeader, total: Option<u16>, actions: &[ProsperoAction]) -> Vec<u8> {
    for action in actions {
        match action {
            ProsperoAction::MinHeaderLength(length) => {
                header.length = header.length.max(*length);
                header.total = total.unwrap_or(0);
            }
            ProsperoAction::NoFlags => header.flags = 0,
            _ => {}
        }
    }
    header.encode()
}

/// Returns the packets that replace the window with this number, from 0.
fn replaced_packets(actions: &[ProsperoAction], window: usize) -> Option<&[ProsperoPacket]> {
    let mut end = 0_usize;
    for action in actions {
        let ProsperoAction::ReplacePackets(packets, times) = action else { continue };
        end = end.saturating_add(*times);
        if window < end {
            return Some(packets);
        }
    }
    None
}

/// Changes, drops, duplicates and reorders packets.
fn apply_to_packets(mut packets: Vec<Packet>, actions: &[ProsperoAction]) -> Vec<Outgoing> {
    for action in actions {
        match action {
            ProsperoAction::Patch(which, at, bytes) => change(&mut packets, *which, |datagram| {
                let end = (at + bytes.len()).min(datagram.bytes.len());
                let at = (*at).min(end);
                datagram.bytes[at..end].copy_from_slice(&bytes[..end - at]);
            }),
            ProsperoAction::Truncate(which, length) => {
                change(&mut packets, *which, |datagram| datagram.bytes.truncate(*length));
            }
            ProsperoAction::Delay(which, time) => {
                change(&mut packets, *which, |datagram| datagram.after += *time);
            }
            ProsperoAction::SendFrom(which, host) => {
                change(&mut packets, *which, |datagram| datagram.from = host.clone());
            }
            ProsperoAction::Drop(which) => packets.retain(|packet| !packet.is_in(*which)),
            ProsperoAction::Duplicate(which) => {
                let duplicate = |packet: Packet| {
                    let second = packet.is_in(*which).then(|| packet.duplicate());
                    [Some(packet), second].into_iter().flatten()
                };
                packets = packets.into_iter().flat_map(duplicate).collect();
            }
            ProsperoAction::Reverse => packets.reverse(),
            ProsperoAction::Shuffle(seed) => shuffle(&mut packets, *seed),
            _ => {}
        }
    }
    packets.into_iter().map(|packet| packet.datagram).collect()
}

impl Packet {
    fn is_in(&self, which: ProsperoPackets) -> bool {
        which.contains(self.number, self.is_last, self.sent)
    }

    fn duplicate(&self) -> Self {
        Self { datagram: self.datagram.clone(), ..*self }
    }
}

fn change(packets: &mut [Packet], which: ProsperoPackets, change: impl Fn(&mut Outgoing)) {
    packets.iter_mut().filter(|packet| packet.is_in(which)).for_each(|packet| change(&mut packet.datagram));
}

/// Shuffles the items in an order that depends on the seed alone (Fisher–Yates).
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for index in (1..items.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(index, (state >> 33) as usize % (index + 1));
    }
}

fn apply_delays(mut all: Vec<Outgoing>, actions: &[ProsperoAction]) -> Vec<Outgoing> {
    for action in actions {
        match action {
            ProsperoAction::Pause(time) => all.iter_mut().for_each(|datagram| datagram.after += *time),
            ProsperoAction::Drip(time) => {
                for (index, datagram) in (0..).zip(&mut all) {
                    datagram.after += *time * index;
                }
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
