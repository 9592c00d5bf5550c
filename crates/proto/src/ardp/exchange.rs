//! One request and its answer.

use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::num::NonZeroU16;
use std::time::Duration;

use bytes::Bytes;

use super::assembly::Assembly;
use super::packet::{self, Asks, Packet};
use crate::WireError;

/// After the first try.
const RETRIES: u32 = 3;
/// The waits of all tries together, counted in the first one: 1 + 2 + 4 + 8.
const WAITS: u32 = 15;
/// The programs of the time waited so long at first.
const LONGEST_FIRST: Duration = Duration::from_secs(4);
/// So often a server may forget what it had.
const MOST_REPEATS: u32 = 2;

/// A request that goes out until it is answered, and the answer as it comes.
#[derive(Debug)]
pub struct Exchange {
    id: u16,
    /// The packets of the request, as datagrams.
    request: Vec<Bytes>,
    /// The server has the packets of the request up to this one.
    heard_through: u16,
    answer: Assembly,
    outgoing: VecDeque<Bytes>,
    patience: Patience,
    tries: u32,
    repeats: u32,
    /// When the last acknowledgement went out.
    acknowledged: Option<Duration>,
    /// When the next one is due, where one is.
    owes: Option<Duration>,
    ends: Option<Ends>,
}

/// How an exchange ends without an answer.
#[derive(Clone, Copy, Debug)]
enum Ends {
    Refused,
    Elsewhere(SocketAddrV4),
}

/// What whoever holds the socket has to do next.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
#[allow(clippy::exhaustive_enums, reason = "whoever drives an exchange must know every move")]
pub enum Move {
    /// All of the answer has been handed out.
    Done,
    /// The server says that this one is to be asked.
    Elsewhere(SocketAddrV4),
    /// All tries are over.
    GiveUp,
    /// The next octets of the answer, in order.
    Piece(Bytes),
    /// The server will not answer.
    Refused,
    /// A datagram for the server.
    Send(Bytes),
    /// Until then, or until a datagram comes.
    Wait(Duration),
}

impl Exchange {
    /// The most octets of data in a packet: servers cut what is longer.
    pub const DATA_OCTETS: usize = 1250;

    /// A request of these octets; `patience` is how long all four tries together wait when nothing comes: a
    /// fifteenth for the first, twice as long for each that follows.
    pub fn new(id: NonZeroU16, request: &[u8], patience: Duration, now: Duration) -> Self {
        let chunks: Vec<_> = request.chunks(Self::DATA_OCTETS).collect();
        // What would need more packets than have a number is no request of ours.
        let total = u16::try_from(chunks.len()).unwrap_or(u16::MAX);
        let packets = (1..=total).zip(chunks);
        let request: Vec<_> =
            packets.map(|(number, data)| packet::request(id.get(), number, total, data)).collect();
        Self {
            id: id.get(),
            outgoing: request.iter().cloned().collect(),
            request,
            heard_through: 0,
            answer: Assembly::default(),
            patience: Patience::new(patience, now),
            tries: 0,
            repeats: 0,
            acknowledged: None,
            owes: None,
            ends: None,
        }
    }

    /// A datagram has come; whether it is new of this exchange. What is not ARDP of version 0, or of another exchange,
    /// is passed over.
    ///
    /// # Errors
    /// The packets contradict each other.
    pub fn hear(&mut self, datagram: &[u8], now: Duration) -> Result<bool, WireError> {
        let Some(packet) = Packet::parse(datagram).filter(|packet| packet.id == self.id) else {
            return Ok(false);
        };
        // Whoever has said that there will be no answer has said all.
        if self.ends.is_some() {
            return Ok(false);
        }
        let mut is_new = false;
        if packet.through > self.heard_through && usize::from(packet.through) <= self.request.len() {
            self.heard_through = packet.through;
            self.patience.renew(now);
        }
        if packet.number > 0 && self.answer.put(&packet)? {
            is_new = true;
            self.patience.renew(now);
        }
        if packet.wait > 0 {
            self.patience.extend(Duration::from_secs(packet.wait.into()), now);
        }
        match packet.asks {
            _ if self.answer.is_complete() => {}
            Asks::GiveUp => self.ends = Some(Ends::Refused),
            Asks::Elsewhere(address) => self.ends = Some(Ends::Elsewhere(address)),
            Asks::Repeat => self.repeat(now)?,
            Asks::Nothing => {}
        }
        let was_last = is_new && self.answer.is_complete() && !self.answer.is_single();
        if was_last || (packet.wants_acknowledgement && is_new) {
            self.owes = Some(now);
        } else if packet.wants_acknowledgement {
            // One that comes again, or is no packet of the answer: not at once, or each would make the other.
            let due = self.acknowledged.map_or(now, |then| then + self.patience.first() / 4);
            self.owes = Some(self.owes.map_or(due, |owes| owes.min(due)));
        }
        Ok(is_new)
    }

    /// What is to be done now.
    pub fn next(&mut self, now: Duration) -> Move {
        if self.owes.is_some_and(|due| due <= now) {
            self.acknowledge(now);
        }
        if let Some(datagram) = self.outgoing.pop_front() {
            return Move::Send(datagram);
        }
        if let Some(octets) = self.answer.take() {
            return Move::Piece(octets);
        }
        if self.answer.is_complete() {
            return Move::Done;
        }
        match self.ends {
            Some(Ends::Refused) => return Move::Refused,
            Some(Ends::Elsewhere(address)) => return Move::Elsewhere(address),
            None => {}
        }
        if now < self.patience.until {
            return Move::Wait(self.owes.map_or(self.patience.until, |due| due.min(self.patience.until)));
        }
        match self.patience.next(now) {
            Try::Again => {}
            Try::Over => return Move::GiveUp,
            Try::Wait(until) => return Move::Wait(self.owes.map_or(until, |due| due.min(until))),
        }
        self.tries += 1;
        self.say_again(now);
        self.outgoing.pop_front().map_or(Move::GiveUp, Move::Send)
    }

    /// Whether anything of the answer has come.
    pub fn has_begun(&self) -> bool {
        self.answer.has_begun()
    }

    /// Whether all of the answer has come.
    pub fn is_complete(&self) -> bool {
        self.answer.is_complete()
    }

    /// The datagram that tells the server that nobody wants the answer any more.
    pub fn cancellation(&self) -> Bytes {
        packet::cancel(self.id)
    }

    /// Whoever was asked is not there: the request goes out once more, to somebody else, in the time of this try.
    pub fn ask_anew(&mut self) {
        self.heard_through = 0;
        self.outgoing = self.request.iter().cloned().collect();
    }

    /// How often the same was said again because nothing came.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    fn acknowledge(&mut self, now: Duration) {
        (self.owes, self.acknowledged) = (None, Some(now));
        self.outgoing.push_back(packet::acknowledgement(self.id, self.answer.through()));
    }

    /// As long as nothing has come, what the server has not acknowledged; then, what we have of the answer: it sends
    /// the rest.
    fn say_again(&mut self, now: Duration) {
        if self.answer.has_begun() {
            return self.acknowledge(now);
        }
        let heard = usize::from(self.heard_through).min(self.request.len().saturating_sub(1));
        self.outgoing.extend(self.request[heard..].iter().cloned());
    }

    /// The server has forgotten the request. What it has sent of its answer already may be of another one than what
    /// it would send now.
    fn repeat(&mut self, now: Duration) -> Result<(), WireError> {
        if self.answer.has_begun() {
            return Err(WireError::Cut { what: "an answer that the server has forgotten" });
        }
        if self.repeats < MOST_REPEATS {
            self.repeats += 1;
            self.heard_through = 0;
            self.say_again(now);
        }
        Ok(())
    }
}

/// When to say it again, and how often.
#[derive(Debug)]
struct Patience {
    whole: Duration,
    /// When something new came last.
    renewed: Duration,
    until: Duration,
    tries_left: u32,
}

/// What a moment is for.
enum Try {
    Again,
    Over,
    Wait(Duration),
}

impl Patience {
    const fn new(whole: Duration, now: Duration) -> Self {
        let mut this = Self { whole, renewed: now, until: now, tries_left: RETRIES };
        this.renew(now);
        this
    }

    /// How long the first try waits: not longer than the programs of the time, however long the last one may.
    const fn first(&self) -> Duration {
        let first = self.whole.as_millis() / WAITS as u128;
        if first < LONGEST_FIRST.as_millis() { Duration::from_millis(first as u64) } else { LONGEST_FIRST }
    }

    /// Something new has come: the tries begin anew.
    const fn renew(&mut self, now: Duration) {
        self.tries_left = RETRIES;
        self.renewed = now;
        self.until = now.saturating_add(self.first());
    }

    /// The server asks for time. It gets what all tries together would take; then it is asked again.
    fn extend(&mut self, wait: Duration, now: Duration) {
        self.renew(now);
        self.until = self.until.max(now.saturating_add(wait.min(self.whole)));
    }

    /// Each try waits twice as long as the one before, the last one as long as there is patience.
    fn next(&mut self, now: Duration) -> Try {
        let end = self.renewed.saturating_add(self.whole);
        let Some(left) = self.tries_left.checked_sub(1) else {
            return if now < end { Try::Wait(end) } else { Try::Over };
        };
        self.tries_left = left;
        self.until = now.saturating_add(self.first() * (1 << (RETRIES - left)));
        Try::Again
    }
}
