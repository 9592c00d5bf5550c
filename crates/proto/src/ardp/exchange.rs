//! One request and its response, with retransmissions.

use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::num::NonZeroU16;
use std::time::Duration;

use bytes::Bytes;

use super::assembly::Assembly;
use super::packet::{self, Asks, Packet};
use crate::WireError;

/// Number of retransmissions after the first transmission.
const RETRIES: u32 = 3;
/// Sum of the waits of all transmissions, in units of the first wait: 1 + 2 + 4 + 8.
const WAIT_UNITS: u32 = 15;
/// Maximum wait after the first transmission, as in the original clients.
const MAX_FIRST_WAIT: Duration = Duration::from_secs(4);
/// Maximum number of times the server may ask for the whole request again.
const MAX_REPEATS: u32 = 2;

/// One ARDP request and its response, without I/O. Feed received datagrams with [`Self::receive`] and do what
/// [`Self::next`] returns.
#[derive(Debug)]
pub struct Exchange {
    id: u16,
    /// The packets of the request as datagrams.
    request: Vec<Bytes>,
    /// The server has acknowledged the request packets up to this number.
    acknowledged_through: u16,
    answer: Assembly,
    outgoing: VecDeque<Bytes>,
    patience: RetransmitTimer,
    tries: u32,
    repeats: u32,
    /// The time of the last acknowledgement sent.
    acknowledged: Option<Duration>,
    /// The time at which the next acknowledgement is due.
    owes: Option<Duration>,
    ends: Option<Ends>,
}

/// The way an exchange ended without a response.
#[derive(Clone, Copy, Debug)]
enum Ends {
    Refused,
    Elsewhere(SocketAddrV4),
}

/// The next action of the caller.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
#[allow(clippy::exhaustive_enums, reason = "whoever drives an exchange must know every move")]
pub enum Action {
    /// The response is complete and was returned.
    Done,
    /// The server redirects the request to this address.
    Elsewhere(SocketAddrV4),
    /// No response to any transmission: timeout.
    GiveUp,
    /// The next data of the response, in order.
    Piece(Bytes),
    /// The server refused the request.
    Refused,
    /// Send this datagram to the server.
    Send(Bytes),
    /// Wait until this time or until a datagram arrives.
    Wait(Duration),
}

impl Exchange {
    /// Maximum number of data bytes in a packet; servers truncate longer ones.
    pub const MAX_DATA_BYTES: usize = 1250;

    /// Creates an exchange for `request`. `patience` is the time limit without any reply for all four
    /// transmissions: the first waits a fifteenth of it, but at most 4 seconds, and each further one twice as
    /// long.
    pub fn new(id: NonZeroU16, request: &[u8], patience: Duration, now: Duration) -> Self {
        let chunks: Vec<_> = request.chunks(Self::MAX_DATA_BYTES).collect();
        // No request of this client needs more than 65535 packets.
        let total = u16::try_from(chunks.len()).unwrap_or(u16::MAX);
        let packets = (1..=total).zip(chunks);
        let request: Vec<_> =
            packets.map(|(number, data)| packet::request(id.get(), number, total, data)).collect();
        Self {
            id: id.get(),
            outgoing: request.iter().cloned().collect(),
            request,
            acknowledged_through: 0,
            answer: Assembly::default(),
            patience: RetransmitTimer::new(patience, now),
            tries: 0,
            repeats: 0,
            acknowledged: None,
            owes: None,
            ends: None,
        }
    }

    /// Processes a datagram. Returns `true` if it belongs to this exchange and contains a new response
    /// packet. Datagrams that are not ARDP version 0 or belong to another exchange are ignored.
    ///
    /// # Errors
    /// [`WireError`] if the packets contradict each other, or the server has lost a partly received response.
    pub fn receive(&mut self, datagram: &[u8], now: Duration) -> Result<bool, WireError> {
        let Some(packet) = Packet::parse(datagram).filter(|packet| packet.id == self.id) else {
            return Ok(false);
        };
        // Packets after a refusal or redirect are ignored.
        if self.ends.is_some() {
            return Ok(false);
        }
        let mut is_new = false;
        if packet.through > self.acknowledged_through && usize::from(packet.through) <= self.request.len() {
            self.acknowledged_through = packet.through;
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
            // Acknowledgements of duplicates are delayed: otherwise client and server could answer
            // each other endlessly.
            let due = self.acknowledged.map_or(now, |then| then + self.patience.first() / 4);
            self.owes = Some(self.owes.map_or(due, |owes| owes.min(due)));
        }
        Ok(is_new)
    }

    /// Returns the next action at the time `now`.
    pub fn next(&mut self, now: Duration) -> Action {
        if self.owes.is_some_and(|due| due <= now) {
            self.acknowledge(now);
        }
        if let Some(datagram) = self.outgoing.pop_front() {
            return Action::Send(datagram);
        }
        if let Some(bytes) = self.answer.take() {
            return Action::Piece(bytes);
        }
        if self.answer.is_complete() {
            return Action::Done;
        }
        match self.ends {
            Some(Ends::Refused) => return Action::Refused,
            Some(Ends::Elsewhere(address)) => return Action::Elsewhere(address),
            None => {}
        }
        if now < self.patience.until {
            return Action::Wait(self.owes.map_or(self.patience.until, |due| due.min(self.patience.until)));
        }
        match self.patience.next(now) {
            Try::Again => {}
            Try::Over => return Action::GiveUp,
            Try::Wait(until) => return Action::Wait(self.owes.map_or(until, |due| due.min(until))),
        }
        self.tries += 1;
        self.retransmit(now);
        self.outgoing.pop_front().map_or(Action::GiveUp, Action::Send)
    }

    /// Returns `true` if any part of the response was received.
    pub fn has_begun(&self) -> bool {
        self.answer.has_begun()
    }

    /// Returns `true` if the whole response was received.
    pub fn is_complete(&self) -> bool {
        self.answer.is_complete()
    }

    /// Returns the datagram that cancels the request.
    pub fn cancellation(&self) -> Bytes {
        packet::cancel(self.id)
    }

    /// Sends the request again from its start, to another address, without starting a new wait.
    pub fn resend_request(&mut self) {
        self.acknowledged_through = 0;
        self.outgoing = self.request.iter().cloned().collect();
    }

    /// Returns the number of retransmissions caused by timeouts.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    fn acknowledge(&mut self, now: Duration) {
        (self.owes, self.acknowledged) = (None, Some(now));
        self.outgoing.push_back(packet::acknowledgement(self.id, self.answer.through()));
    }

    /// Retransmits the unacknowledged request packets or, once a response has begun, the acknowledgement,
    /// after which the server sends the rest.
    fn retransmit(&mut self, now: Duration) {
        if self.answer.has_begun() {
            return self.acknowledge(now);
        }
        let heard = usize::from(self.acknowledged_through).min(self.request.len().saturating_sub(1));
        self.outgoing.extend(self.request[heard..].iter().cloned());
    }

    /// Handles the server's request for the whole request again. If part of the response was received, this
    /// is an error: a new response could differ from it.
    fn repeat(&mut self, now: Duration) -> Result<(), WireError> {
        if self.answer.has_begun() {
            return Err(WireError::UnexpectedEnd { what: "an answer that the server has forgotten" });
        }
        if self.repeats < MAX_REPEATS {
            self.repeats += 1;
            self.acknowledged_through = 0;
            self.retransmit(now);
        }
        Ok(())
    }
}

/// The retransmission timer.
#[derive(Debug)]
struct RetransmitTimer {
    whole: Duration,
    /// The time of the last progress.
    renewed: Duration,
    until: Duration,
    tries_left: u32,
}

/// The action when a wait has ended.
enum Try {
    Again,
    Over,
    Wait(Duration),
}

impl RetransmitTimer {
    const fn new(whole: Duration, now: Duration) -> Self {
        let mut this = Self { whole, renewed: now, until: now, tries_left: RETRIES };
        this.renew(now);
        this
    }

    /// Returns the wait after the first transmission: a fifteenth of the time limit, at most 4 seconds.
    const fn first(&self) -> Duration {
        let first = self.whole.as_millis() / WAIT_UNITS as u128;
        if first < MAX_FIRST_WAIT.as_millis() { Duration::from_millis(first as u64) } else { MAX_FIRST_WAIT }
    }

    /// Resets the timer and the retransmissions after progress.
    const fn renew(&mut self, now: Duration) {
        self.tries_left = RETRIES;
        self.renewed = now;
        self.until = now.saturating_add(self.first());
    }

    /// Extends the wait on request of the server, at most by the whole time limit.
    fn extend(&mut self, wait: Duration, now: Duration) {
        self.renew(now);
        self.until = self.until.max(now.saturating_add(wait.min(self.whole)));
    }

    /// Starts the next wait, twice as long as the one before; the last one ends at the time limit.
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
