//! A request on its way to a Prospero server, and what was already sent in answer to it.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::Instant;

use crate::prospero::header::{ProsperoDatagram, ProsperoHeader};
use crate::prospero::rule::ProsperoAct;
use crate::prospero::text::Text;

/// How many packets dirsrv sends before it wants an acknowledgement, and the most that a client can ask for.
const WINDOW: u16 = 16;
const MOST_WINDOW: u16 = 256;

/// One request, and its answer as soon as there is one.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) peer: SocketAddr,
    pub(crate) connection: u16,
    /// Whether the client sent a connection id at all.
    pub(crate) is_bare: bool,
    pub(crate) window: u16,
    packets: BTreeMap<u16, Vec<u8>>,
    total: u16,
    pub(crate) answer: Option<Answer>,
}

/// An answer, and how much of it went.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: Text,
    pub(crate) acts: Vec<ProsperoAct>,
    /// The client has all packets up to this.
    pub(crate) through: u16,
    /// How often each packet was to be sent.
    pub(crate) sent: HashMap<u16, usize>,
    /// How often a window was to be sent.
    pub(crate) windows: usize,
    /// How many datagrams went.
    pub(crate) datagrams: usize,
    pub(crate) last: Instant,
}

impl Exchange {
    pub(crate) fn new(peer: SocketAddr, header: &ProsperoHeader) -> Self {
        Self {
            peer,
            connection: header.connection,
            is_bare: header.length < 3,
            window: WINDOW,
            packets: BTreeMap::new(),
            total: 0,
            answer: None,
        }
    }

    /// Takes a packet of the request. A header that was cut before the total leaves it unknown.
    pub(crate) fn take(&mut self, header: &ProsperoHeader, datagram: &ProsperoDatagram) {
        if let Some(window) = header.window {
            self.window = window.clamp(1, MOST_WINDOW);
        }
        if header.total != 0 {
            self.total = header.total;
        }
        self.packets.entry(header.number).or_insert_with(|| datagram.data().to_vec());
    }

    /// The text of the request, if all of it is there.
    pub(crate) fn request(&self) -> Option<Vec<u8>> {
        let is_whole = self.total > 0 && self.through() >= self.total;
        is_whole
            .then(|| self.packets.range(1..=self.total).flat_map(|(_, data)| data.iter().copied()).collect())
    }

    /// All packets of the request up to this are there.
    pub(crate) fn through(&self) -> u16 {
        let in_order = self.packets.keys().zip(1..).take_while(|(number, expected)| *number == expected);
        in_order.last().map_or(0, |(number, _)| *number)
    }

    /// Whether the whole answer was sent once.
    pub(crate) fn is_finished(&self) -> bool {
        let is_sent =
            |answer: &Answer| answer.text.packets().is_some_and(|last| answer.sent.contains_key(&last));
        self.answer.as_ref().is_some_and(is_sent)
    }
}

impl Answer {
    pub(crate) fn new(text: Vec<u8>, acts: Vec<ProsperoAct>) -> Self {
        let text = Text::new(text, &acts);
        let (sent, last) = (HashMap::new(), Instant::now());
        Self { text, acts, through: 0, sent, windows: 0, datagrams: 0, last }
    }

    /// Whether the client has everything.
    pub(crate) fn is_over(&self) -> bool {
        self.text.packets().is_some_and(|total| self.through >= total)
    }
}
