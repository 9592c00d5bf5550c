//! One request and its response, with retransmissions.

use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::num::NonZeroU16;
use std::time::Duration;

use bytes::Bytes;

use super::assembly::Assembly;
use super::packet::{self, Packet, ServerControl};
use crate::WireError;

/// Number of retransmissions after the first transmission.
const MAX_RETRANSMISSIONS: u32 = 3;
/// Sum of the waits of all transmissions, in units of the first wait: 1 + 2 + 4 + 8.
const WAIT_UNITS: u32 = 15;
/// Maximum wait after the first transmission, as in the reference Prospero clients.
const MAX_FIRST_WAIT: Duration = Duration::from_secs(4);
/// Maximum number of times the server may ask for the whole request again.
const MAX_REPEAT_REQUESTS: u32 = 2;

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
    timer: RetransmitTimer,
    retransmissions: u32,
    repeat_requests: u32,
    /// The time of the last acknowledgement sent.
    last_ack_sent: Option<Duration>,
    /// The time at which the next acknowledgement is due.
    ack_due: Option<Duration>,
    failure: Option<Failure>,
}

/// Why an exchange ended without a response.
#[derive(Clone, Copy, Debug)]
enum Failure {
    RefusedByServer,
    Redirect(SocketAddrV4),
}

/// The next action of the caller.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
#[allow(clippy::exhaustive_enums, reason = "callers must handle every action")]
pub enum Action {
    /// The response is complete and was returned.
    Done,
    /// The server redirects the request to this address.
    Redirect(SocketAddrV4),
    /// The time limit expired without progress.
    TimedOut,
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

    /// Creates an exchange for `request`. `limit` is the longest time without progress. The wait after
    /// the first transmission is a fifteenth of it, at most 4 seconds, and doubles after each retransmission.
    /// `now`, here and in the other methods, is the time since a start that the caller chooses.
    pub fn new(id: NonZeroU16, request: &[u8], limit: Duration, now: Duration) -> Self {
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
            timer: RetransmitTimer::new(limit, now),
            retransmissions: 0,
            repeat_requests: 0,
            last_ack_sent: None,
            ack_due: None,
            failure: None,
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
        if self.failure.is_some() {
            return Ok(false);
        }
        let mut is_new = false;
        if packet.acknowledged_through > self.acknowledged_through
            && usize::from(packet.acknowledged_through) <= self.request.len()
        {
            self.acknowledged_through = packet.acknowledged_through;
            self.timer.reset(now);
        }
        if packet.number > 0 && self.answer.put(&packet)? {
            is_new = true;
            self.timer.reset(now);
        }
        if packet.wait > 0 {
            self.timer.extend(Duration::from_secs(packet.wait.into()), now);
        }
        match packet.control {
            _ if self.answer.is_complete() => {}
            ServerControl::Refuse => self.failure = Some(Failure::RefusedByServer),
            ServerControl::Redirect(address) => self.failure = Some(Failure::Redirect(address)),
            ServerControl::Repeat => self.repeat(now)?,
            ServerControl::Nothing => {}
        }
        let was_last = is_new && self.answer.is_complete() && !self.answer.is_single_packet();
        if was_last || (packet.wants_acknowledgement && is_new) {
            self.ack_due = Some(now);
        } else if packet.wants_acknowledgement {
            // Acknowledgements of duplicates are delayed: otherwise client and server could answer
            // each other endlessly.
            let due = self.last_ack_sent.map_or(now, |last| last + self.timer.first() / 4);
            self.ack_due = Some(self.ack_due.map_or(due, |ack_due| ack_due.min(due)));
        }
        Ok(is_new)
    }

    /// Returns the next action at the time `now`.
    pub fn next(&mut self, now: Duration) -> Action {
        if self.ack_due.is_some_and(|due| due <= now) {
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
        match self.failure {
            Some(Failure::RefusedByServer) => return Action::Refused,
            Some(Failure::Redirect(address)) => return Action::Redirect(address),
            None => {}
        }
        if now < self.timer.wait_end {
            return Action::Wait(
                self.ack_due.map_or(self.timer.wait_end, |due| due.min(self.timer.wait_end)),
            );
        }
        match self.timer.next(now) {
            TimerEvent::Retransmit => {}
            TimerEvent::Expired => return Action::TimedOut,
            TimerEvent::Wait(wait_end) => {
                return Action::Wait(self.ack_due.map_or(wait_end, |due| due.min(wait_end)));
            }
        }
        self.retransmissions += 1;
        self.retransmit(now);
        self.outgoing.pop_front().map_or(Action::TimedOut, Action::Send)
    }

    /// Returns `true` if any part of the response was received.
    pub fn has_received_data(&self) -> bool {
        self.answer.has_received_data()
    }

    /// Returns `true` if the whole response was received.
    pub fn is_complete(&self) -> bool {
        self.answer.is_complete()
    }

    /// Returns the datagram that cancels the request.
    pub fn cancellation(&self) -> Bytes {
        packet::cancel(self.id)
    }

    /// Queues all packets of the request again, after a change of the server address. The timer is not reset.
    pub fn resend_request(&mut self) {
        self.acknowledged_through = 0;
        self.outgoing = self.request.iter().cloned().collect();
    }

    /// Returns the number of retransmissions caused by timeouts.
    pub const fn retransmissions(&self) -> u32 {
        self.retransmissions
    }

    fn acknowledge(&mut self, now: Duration) {
        (self.ack_due, self.last_ack_sent) = (None, Some(now));
        self.outgoing.push_back(packet::acknowledgement(self.id, self.answer.through()));
    }

    /// Retransmits the unacknowledged request packets, or the last one if all are acknowledged. Once a response has
    /// started to arrive, sends an acknowledgement instead, after which the server sends the rest.
    fn retransmit(&mut self, now: Duration) {
        if self.answer.has_received_data() {
            return self.acknowledge(now);
        }
        let first_unacknowledged =
            usize::from(self.acknowledged_through).min(self.request.len().saturating_sub(1));
        self.outgoing.extend(self.request[first_unacknowledged..].iter().cloned());
    }

    /// Retransmits the whole request because the server demands it. If part of the response was received, this
    /// is an error: a new response could differ from it.
    fn repeat(&mut self, now: Duration) -> Result<(), WireError> {
        if self.answer.has_received_data() {
            return Err(WireError::UnexpectedEnd { what: "a response whose state the server lost" });
        }
        if self.repeat_requests < MAX_REPEAT_REQUESTS {
            self.repeat_requests += 1;
            self.acknowledged_through = 0;
            self.retransmit(now);
        }
        Ok(())
    }
}

/// The retransmission timer.
#[derive(Debug)]
struct RetransmitTimer {
    /// The longest time without progress.
    limit: Duration,
    last_progress: Duration,
    wait_end: Duration,
    retransmissions_left: u32,
}

/// The action after the end of a wait.
enum TimerEvent {
    Retransmit,
    Expired,
    Wait(Duration),
}

impl RetransmitTimer {
    const fn new(limit: Duration, now: Duration) -> Self {
        let mut this =
            Self { limit, last_progress: now, wait_end: now, retransmissions_left: MAX_RETRANSMISSIONS };
        this.reset(now);
        this
    }

    /// Returns the wait after the first transmission: a fifteenth of the time limit, at most 4 seconds.
    const fn first(&self) -> Duration {
        let first = self.limit.as_millis() / WAIT_UNITS as u128;
        if first < MAX_FIRST_WAIT.as_millis() { Duration::from_millis(first as u64) } else { MAX_FIRST_WAIT }
    }

    /// Resets the timer and the number of retransmissions after progress.
    const fn reset(&mut self, now: Duration) {
        self.retransmissions_left = MAX_RETRANSMISSIONS;
        self.last_progress = now;
        self.wait_end = now.saturating_add(self.first());
    }

    /// Extends the wait at the request of the server, at most by the time limit.
    fn extend(&mut self, wait: Duration, now: Duration) {
        self.reset(now);
        self.wait_end = self.wait_end.max(now.saturating_add(wait.min(self.limit)));
    }

    /// Starts the next wait, twice as long as the one before; the last one ends at the time limit.
    fn next(&mut self, now: Duration) -> TimerEvent {
        let end = self.last_progress.saturating_add(self.limit);
        let Some(left) = self.retransmissions_left.checked_sub(1) else {
            return if now < end { TimerEvent::Wait(end) } else { TimerEvent::Expired };
        };
        self.retransmissions_left = left;
        self.wait_end = now.saturating_add(self.first() * (1 << (MAX_RETRANSMISSIONS - left)));
        TimerEvent::Retransmit
    }
}
