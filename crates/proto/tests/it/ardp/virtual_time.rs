//! Runs ARDP exchanges in virtual time: packets of a server as input, the actions of the client as text.

#![allow(dead_code, reason = "not every test file uses every helper")]

use std::num::NonZeroU16;
use std::time::Duration;

use fetch_url_proto::WireError;
use fetch_url_proto::ardp::{Action, Exchange};

pub(crate) const ID: u16 = 0x011a;
/// The time for timeouts of 4, 8, 16 and 32 seconds.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// A datagram of a server, field by field. Fields that a test does not set are 0.
#[derive(Clone, Default)]
pub(crate) struct Packet {
    pub(crate) number: u16,
    pub(crate) total: u16,
    pub(crate) through: u16,
    pub(crate) wait: u16,
    pub(crate) flags: u8,
    pub(crate) option: u8,
    pub(crate) extra: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

impl Packet {
    pub(crate) fn bytes(&self, id: u16) -> Vec<u8> {
        let mut header = vec![0];
        let fields = [id, self.number, self.total, self.through, self.wait];
        header.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
        header.extend([self.flags, self.option]);
        header.extend(&self.extra);
        header[0] = header.len() as u8;
        [header, self.data.clone()].concat()
    }
}

pub(crate) fn part(number: u16, total: u16, data: &str) -> Packet {
    Packet { number, total, data: data.as_bytes().to_vec(), ..Packet::default() }
}

pub(crate) struct Client {
    pub(crate) exchange: Exchange,
    request: Vec<u8>,
    pub(crate) now: Duration,
}

impl Client {
    pub(crate) fn new(length: usize, timeout: Duration) -> Self {
        let request: Vec<_> = (0..length).map(|at| (at % 251) as u8).collect();
        let id = NonZeroU16::new(ID).expect("an id");
        Self { exchange: Exchange::new(id, &request, timeout, Duration::ZERO), request, now: Duration::ZERO }
    }

    /// Returns an exchange that has sent its request at 0 s.
    pub(crate) fn after_request() -> Self {
        let mut client = Self::new(10, MINUTE);
        assert_eq!(client.at(0.0), "ask 1/1 | wait 4");
        client
    }

    /// Returns the actions of the client at this time.
    pub(crate) fn at(&mut self, seconds: f64) -> String {
        self.now = Duration::from_secs_f64(seconds);
        self.actions()
    }

    fn actions(&mut self) -> String {
        let mut words = Vec::new();
        loop {
            assert!(words.len() < 1000, "endless actions");
            let (word, is_last) = match self.exchange.next(self.now) {
                Action::Send(datagram) => (self.sent(&datagram), false),
                Action::Piece(bytes) => (format!("piece {}", bytes.escape_ascii()), false),
                Action::Wait(until) => {
                    assert!(until > self.now, "a wait until a time in the past");
                    (format!("wait {}", until.as_secs_f64()), true)
                }
                Action::Done => ("done".to_owned(), true),
                Action::TimedOut => ("give up".to_owned(), true),
                Action::Refused => ("refused".to_owned(), true),
                Action::Redirect(address) => (format!("elsewhere {address}"), true),
            };
            words.push(word);
            if is_last {
                return words.join(" | ");
            }
        }
    }

    /// Returns `ask number/total` or `ack through` for a sent datagram and checks its bytes against §3.
    fn sent(&self, datagram: &[u8]) -> String {
        let (header, data) = datagram.split_at(9);
        let field = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        assert_eq!((header[0], field(1)), (9, ID));
        assert_eq!(data.len().div_ceil(1250), usize::from(field(3) > 0), "{datagram:?}");
        if field(3) == 0 {
            assert_eq!(field(5), 0);
            return format!("ack {}", field(7));
        }
        assert_eq!(field(7), 0);
        let at = (usize::from(field(3)) - 1) * 1250;
        assert_eq!(data, &self.request[at..(at + 1250).min(self.request.len())]);
        format!("ask {}/{}", field(3), field(5))
    }

    /// Returns the actions of the client after it received `packet`.
    pub(crate) fn receive(&mut self, packet: &Packet) -> String {
        self.receive_bytes(&packet.bytes(ID))
    }

    pub(crate) fn receive_bytes(&mut self, bytes: &[u8]) -> String {
        match self.exchange.receive(bytes, self.now) {
            Ok(_) => self.actions(),
            Err(WireError::UnexpectedEnd { .. }) => "cut".to_owned(),
            Err(WireError::Unexpected { .. }) => "unexpected".to_owned(),
            Err(error) => panic!("{error:?}"),
        }
    }

    pub(crate) fn receive_at(&mut self, seconds: f64, packet: &Packet) -> String {
        self.now = Duration::from_secs_f64(seconds);
        self.receive(packet)
    }
}
