//! Arbitrary datagrams at arbitrary times, and an honest server over a network that loses, repeats and reorders
//! datagrams: no panic; the exchange ends within its time limit after the last datagram; the number of sent datagrams
//! is bounded; the text of an honest server is delivered unchanged.
//!
//! The first byte selects the server, and for the honest one the size of its packets.
#![no_main]

use std::num::NonZeroU16;
use std::time::Duration;

use fetch_url_proto::ardp::{Action, Exchange};
use libfuzzer_sys::fuzz_target;

const ID: NonZeroU16 = NonZeroU16::new(0x011a).expect("not zero");
const LIMIT: Duration = Duration::from_secs(60);
/// A request of three packets.
const REQUEST: [u8; 3000] = [b'x'; 3000];
const REQUEST_PACKETS: usize = REQUEST.len().div_ceil(Exchange::MAX_DATA_BYTES);
/// Maximum number of transmissions of the request without new packets: the first one and three repetitions.
const MAX_TRANSMISSIONS: usize = 4;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    if choice & 1 == 0 {
        check_arbitrary(bytes);
    } else {
        check_honest(bytes, usize::from(choice >> 1) + 1);
    }
});

/// An exchange, and what it has done.
struct Play {
    exchange: Exchange,
    now: Duration,
    /// The time of the last new packet, and of the last datagram.
    last_new: Duration,
    last_datagram: Duration,
    text: Vec<u8>,
    datagrams: usize,
    sent: usize,
    end: Option<Action>,
}

impl Play {
    fn new() -> Self {
        let exchange = Exchange::new(ID, &REQUEST, LIMIT, Duration::ZERO);
        let [now, last_new, last_datagram] = [Duration::ZERO; 3];
        let mut this = Self {
            exchange,
            now,
            last_new,
            last_datagram,
            text: Vec::new(),
            datagrams: 0,
            sent: 0,
            end: None,
        };
        this.act();
        this
    }

    /// Performs actions until the exchange waits or ends. Returns the end of the wait.
    fn act(&mut self) -> Duration {
        loop {
            match self.exchange.next(self.now) {
                Action::Send(datagram) => self.check_sent(&datagram),
                Action::Piece(bytes) => {
                    assert!(!bytes.is_empty());
                    self.text.extend_from_slice(&bytes);
                }
                Action::Wait(until) => {
                    assert!(until > self.now, "a wait that is over");
                    assert!(until <= self.last_datagram + 2 * LIMIT, "a wait beyond the limit");
                    return until;
                }
                end => {
                    assert_eq!(self.exchange.is_complete(), end == Action::Done);
                    assert!(end != Action::TimedOut || self.now >= self.last_new + LIMIT, "too early");
                    self.end = Some(end);
                    return self.now;
                }
            }
        }
    }

    /// Sent datagrams have a header of nine bytes and the id of the exchange. Their number is bounded by the number of
    /// received ones.
    fn check_sent(&mut self, datagram: &[u8]) {
        let [high, low] = ID.get().to_be_bytes();
        assert!(datagram.starts_with(&[9, high, low]) && datagram.len() <= 9 + Exchange::MAX_DATA_BYTES);
        self.sent += 1;
        // A received datagram may cause an acknowledgement, restart the timer, or demand the whole request.
        let transmissions = MAX_TRANSMISSIONS * (self.datagrams + 1) + 2;
        assert!(self.sent <= REQUEST_PACKETS * transmissions + self.datagrams, "{} sent", self.sent);
    }

    /// Receives a datagram after `wait`. Timers that expire before it are handled in time.
    fn receive(&mut self, datagram: &[u8], wait: Duration) -> bool {
        self.pass(wait);
        if self.end.is_some() {
            return false;
        }
        (self.datagrams, self.last_datagram) = (self.datagrams + 1, self.now);
        match self.exchange.receive(datagram, self.now) {
            Ok(is_new) => {
                self.last_new = if is_new { self.now } else { self.last_new };
                assert!(!is_new || self.exchange.has_received_data());
                self.act();
                self.end.is_none()
            }
            Err(_) => false,
        }
    }

    /// Lets time pass, in the steps that the exchange asks for.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.end.is_none() {
            let until = self.act();
            if until > end {
                break;
            }
            self.now = until.max(self.now);
        }
        self.now = end.max(self.now);
    }
}

/// Each datagram has two bytes before it: a time in units of 1/16 s, squared, and its length.
fn check_arbitrary(mut bytes: &[u8]) {
    let (mut play, mut received) = (Play::new(), 0);
    while let [time, length, rest @ ..] = bytes {
        let (datagram, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        bytes = rest;
        received += datagram.len();
        let time = Duration::from_millis(u64::from(*time).pow(2) * 1000 / 256);
        if !play.receive(datagram, time) {
            break;
        }
        assert!(play.text.len() <= received);
    }
    // Without datagrams the exchange ends by itself.
    if play.end.is_none() && play.exchange.is_complete() {
        assert_eq!(play.act(), play.now);
    }
    play.pass(2 * LIMIT);
}

/// Delivers packets of a text in the order that the bytes choose, then each of them once.
fn check_honest(choices: &[u8], size: usize) {
    let text: Vec<u8> =
        (0..u32::from(choices.first().copied().unwrap_or(0)) * 7 + 1).map(|n| n as u8).collect();
    let count = text.len().div_ceil(size);
    let total = u16::try_from(count).expect("few packets");
    let packets: Vec<Vec<u8>> =
        (1..=total).zip(text.chunks(size)).map(|(number, data)| packet(number, total, data)).collect();
    let mut play = Play::new();
    let chosen =
        choices.chunks_exact(2).map(|pair| usize::from(u16::from_be_bytes([pair[0], pair[1]])) % count);
    for index in chosen.chain(0..count) {
        if !play.receive(&packets[index], Duration::from_millis(50)) {
            break;
        }
        assert!(text.starts_with(&play.text), "out of order");
    }
    assert_eq!(play.end, Some(Action::Done));
    assert_eq!(play.text, text);
}

/// Returns a packet of a response. Every third one does not state the total, and every second one asks for an
/// acknowledgement.
fn packet(number: u16, total: u16, data: &[u8]) -> Vec<u8> {
    let stated = if number % 3 == 0 && number != total { 0 } else { total };
    let flags = if number % 2 == 0 { 0x80 } else { 0 };
    let mut packet = vec![12];
    for field in [ID.get(), number, stated, 3, 0] {
        packet.extend_from_slice(&field.to_be_bytes());
    }
    packet.push(flags);
    packet.extend_from_slice(data);
    packet
}
