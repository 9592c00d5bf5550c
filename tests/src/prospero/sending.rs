//! A window of an answer on its way: headers and data, and what the rules make of both.

use std::time::Duration;

use crate::prospero::exchange::{Answer, Exchange};
use crate::prospero::header::{ACKNOWLEDGE, ProsperoHeader};
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::place::{Places, ProsperoHost};
use crate::prospero::rule::{ProsperoAct, ProsperoPackets};

/// A datagram that is to go.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) octets: Vec<u8>,
    pub(crate) from: ProsperoHost,
    pub(crate) after: Duration,
    /// It goes again after this time, so many times.
    pub(crate) again: Option<(Duration, usize)>,
}

/// A packet of the answer, before it is a datagram.
struct Packet {
    number: u16,
    is_last: bool,
    /// How often it was to be sent before.
    sent: usize,
    out: Outgoing,
}

/// What of one exchange is sent at one time.
pub(crate) struct Sending<'a> {
    exchange: &'a mut Exchange,
    places: &'a Places,
    acts: Vec<ProsperoAct>,
}

impl<'a> Sending<'a> {
    /// With the rules that hold now.
    pub(crate) fn new(exchange: &'a mut Exchange, places: &'a Places, acts: Vec<ProsperoAct>) -> Self {
        Self { exchange, places, acts }
    }

    /// The window behind what the client has, in the order and at the times that the rules say.
    pub(crate) fn window(self) -> Vec<Outgoing> {
        let received = self.exchange.through();
        let (window, id, is_bare) = (self.exchange.window, self.exchange.connection, self.exchange.is_bare);
        let Some(answer) = &mut self.exchange.answer else { return Vec::new() };
        let instead = instead(&self.acts, answer.windows);
        let honest = Header { connection: id, is_bare, received, window };
        let packets = match instead {
            Some(packets) => packets.iter().map(|packet| outgoing(packet.octets(id, self.places))).collect(),
            None => changed(honest.packets(answer, &self.acts), &self.acts),
        };
        let packet = |packet: &ProsperoPacket| outgoing(packet.octets(id, self.places));
        let mut all = Vec::new();
        all.extend(self.acts.iter().filter_map(|act| match act {
            ProsperoAct::First(first) => Some(packet(first)),
            _ => None,
        }));
        all.extend(packets);
        for act in &self.acts {
            match act {
                ProsperoAct::Last(last) => all.push(packet(last)),
                ProsperoAct::Again(again, every, times) if answer.windows == 0 => {
                    all.push(Outgoing { again: Some((*every, *times)), ..packet(again) });
                }
                _ => {}
            }
        }
        answer.windows += 1;
        let left = self.acts.iter().filter_map(|act| match act {
            ProsperoAct::SilenceAfter(most) => Some(most.saturating_sub(answer.datagrams)),
            _ => None,
        });
        all.truncate(left.min().unwrap_or(usize::MAX));
        answer.datagrams += all.len();
        timed(all, &self.acts)
    }
}

/// What every packet of an answer needs to know of the request.
struct Header {
    connection: u16,
    is_bare: bool,
    /// How many packets of the request came.
    received: u16,
    window: u16,
}

impl Header {
    /// The packets as dirsrv sends them, and a note of each in the answer.
    fn packets(&self, answer: &mut Answer, acts: &[ProsperoAct]) -> Vec<Packet> {
        let total = answer.text.packets();
        let window = acts
            .iter()
            .rev()
            .find_map(|act| if let ProsperoAct::Window(size) = act { Some(*size) } else { None });
        let window = window.unwrap_or(self.window).max(1);
        let is_new = answer.windows == 0;
        let first = answer.through.saturating_add(1);
        let end = answer.through.saturating_add(window).min(total.unwrap_or(u16::MAX));
        let packet = |number: u16| {
            let header = self.header(number, total, is_new, number == end);
            let octets = [written(header, total, acts), answer.text.packet(number)].concat();
            let sent = answer.sent.entry(number).or_default();
            *sent += 1;
            Packet { number, is_last: Some(number) == total, sent: *sent - 1, out: outgoing(octets) }
        };
        (first..=end).map(packet).collect()
    }

    /// A short header while the answer is made; a flag at the end of a window, but not of the message.
    fn header(&self, number: u16, total: Option<u16>, is_new: bool, is_end: bool) -> ProsperoHeader {
        let is_last = Some(number) == total;
        let is_one = total == Some(1);
        let told = if is_new && !is_last { 0 } else { total.unwrap_or(0) };
        let asks = is_end && !is_last;
        let length = match (is_one && is_new, asks) {
            (true, _) if self.is_bare => 1,
            (true, _) => 3,
            (_, true) => 12,
            (_, false) if is_new => 7,
            _ => 9,
        };
        let flags = if asks { ACKNOWLEDGE } else { 0 };
        let (connection, through) = (self.connection, self.received);
        ProsperoHeader {
            length,
            connection,
            number,
            total: told,
            through,
            flags,
            ..ProsperoHeader::default()
        }
    }
}

fn written(mut header: ProsperoHeader, total: Option<u16>, acts: &[ProsperoAct]) -> Vec<u8> {
    for act in acts {
        match act {
            ProsperoAct::Headers(length) => {
                header.length = header.length.max(*length);
                header.total = total.unwrap_or(0);
            }
            ProsperoAct::NoFlags => header.flags = 0,
            _ => {}
        }
    }
    header.octets()
}

fn outgoing(octets: Vec<u8>) -> Outgoing {
    Outgoing { octets, from: ProsperoHost::Here, after: Duration::ZERO, again: None }
}

/// What comes in the place of a window that would be sent the `count`th time, from 0.
fn instead(acts: &[ProsperoAct], count: usize) -> Option<&[ProsperoPacket]> {
    let mut before = 0_usize;
    for act in acts {
        let ProsperoAct::Instead(packets, times) = act else { continue };
        before = before.saturating_add(*times);
        if count < before {
            return Some(packets);
        }
    }
    None
}

/// The datagrams that the rules leave, in their order.
fn changed(mut packets: Vec<Packet>, acts: &[ProsperoAct]) -> Vec<Outgoing> {
    for act in acts {
        match act {
            ProsperoAct::Patch(which, at, octets) => each(&mut packets, *which, |out| {
                let end = (at + octets.len()).min(out.octets.len());
                let at = (*at).min(end);
                out.octets[at..end].copy_from_slice(&octets[..end - at]);
            }),
            ProsperoAct::Shorten(which, length) => {
                each(&mut packets, *which, |out| out.octets.truncate(*length))
            }
            ProsperoAct::Delay(which, time) => each(&mut packets, *which, |out| out.after += *time),
            ProsperoAct::From(which, place) => each(&mut packets, *which, |out| out.from = place.clone()),
            ProsperoAct::Lose(which) => packets.retain(|packet| !packet.is_of(*which)),
            ProsperoAct::Twice(which) => {
                let twice = |packet: Packet| {
                    let second = packet.is_of(*which).then(|| packet.again());
                    [Some(packet), second].into_iter().flatten()
                };
                packets = packets.into_iter().flat_map(twice).collect();
            }
            ProsperoAct::Reversed => packets.reverse(),
            ProsperoAct::Shuffled(seed) => shuffle(&mut packets, *seed),
            _ => {}
        }
    }
    packets.into_iter().map(|packet| packet.out).collect()
}

impl Packet {
    fn is_of(&self, which: ProsperoPackets) -> bool {
        which.has(self.number, self.is_last, self.sent)
    }

    fn again(&self) -> Self {
        Self { out: self.out.clone(), ..*self }
    }
}

fn each(packets: &mut [Packet], which: ProsperoPackets, change: impl Fn(&mut Outgoing)) {
    packets.iter_mut().filter(|packet| packet.is_of(which)).for_each(|packet| change(&mut packet.out));
}

/// An order that depends on nothing but the number: each place changes with one before it or itself.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for place in (1..items.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(place, (state >> 33) as usize % (place + 1));
    }
}

fn timed(mut all: Vec<Outgoing>, acts: &[ProsperoAct]) -> Vec<Outgoing> {
    for act in acts {
        match act {
            ProsperoAct::Pause(time) => all.iter_mut().for_each(|out| out.after += *time),
            ProsperoAct::Drip(time) => {
                for (place, out) in (0..).zip(&mut all) {
                    out.after += *time * place;
                }
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
#[path = "sending_tests.rs"]
mod tests;
