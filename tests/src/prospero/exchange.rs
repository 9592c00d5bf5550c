//! The state of an exchange: the received packets of a request, and the progress of its response.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use crate::prospero::header::{ProsperoDatagram, ProsperoHeader};
use crate::prospero::rule::ProsperoAction;
use crate::prospero::text::ResponseText;

/// How many packets dirsrv sends before it needs an acknowledgement.
const WINDOW: u16 = 16;
/// Maximum number of packets that a client can request instead.
const MAX_WINDOW: u16 = 256;

/// A request, and its response if the request is complete.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) peer: SocketAddr,
    pub(crate) connection: u16,
    /// The client sent no connection id.
    pub(crate) has_no_id: bool,
    pub(crate) window: u16,
    packets: BTreeMap<u16, Vec<u8>>,
    total: u16,
    pub(crate) response: Option<ResponseState>,
}

/// A response, and how much of it was sent.
#[derive(Debug)]
pub(crate) struct ResponseState {
    pub(crate) text: ResponseText,
    /// Shared, because an action can hold the text of a whole response.
    pub(crate) actions: Arc<[ProsperoAction]>,
    /// The client has all packets up to this number.
    pub(crate) through: u16,
    /// How often each packet was sent, or would have been sent without the rules.
    pub(crate) sent: HashMap<u16, usize>,
    /// How many windows were sent.
    pub(crate) windows: usize,
    /// How many datagrams were sent.
    pub(crate) datagrams: usize,
    pub(crate) last_sent: Instant,
}

impl Exchange {
    pub(crate) fn new(peer: SocketAddr, header: &ProsperoHeader) -> Self {
        Self {
            peer,
            connection: header.connection,
            has_no_id: header.length < 3,
            window: WINDOW,
            packets: BTreeMap::new(),
            total: 0,
            response: None,
        }
    }

    /// Takes a packet of the request. A header without the total does not change it.
    pub(crate) fn take(&mut self, header: &ProsperoHeader, datagram: &ProsperoDatagram) {
        if let Some(window) = header.window {
            self.window = window.clamp(1, MAX_WINDOW);
        }
        if header.total != 0 {
            self.total = header.total;
        }
        self.packets.entry(header.number).or_insert_with(|| datagram.data().to_vec());
    }

    /// Returns the text of the request if it is complete.
    pub(crate) fn request(&self) -> Option<Vec<u8>> {
        let is_complete = self.total > 0 && self.through() >= self.total;
        is_complete
            .then(|| self.packets.range(1..=self.total).flat_map(|(_, data)| data.iter().copied()).collect())
    }

    /// Returns the number up to which all packets of the request were received.
    pub(crate) fn through(&self) -> u16 {
        let in_order = self.packets.keys().zip(1..).take_while(|(number, expected)| *number == expected);
        in_order.last().map_or(0, |(number, _)| *number)
    }

    /// Returns `true` if the complete response was sent once.
    pub(crate) fn is_answered(&self) -> bool {
        let is_sent = |response: &ResponseState| {
            response.text.packets().is_some_and(|last| response.sent.contains_key(&last))
        };
        self.response.as_ref().is_some_and(is_sent)
    }
}

impl ResponseState {
    pub(crate) fn new(text: Vec<u8>, actions: Vec<ProsperoAction>) -> Self {
        let (text, actions) = (ResponseText::new(text, &actions), actions.into());
        let (sent, last_sent) = (HashMap::new(), Instant::now());
        Self { text, actions, through: 0, sent, windows: 0, datagrams: 0, last_sent }
    }

    /// Returns `true` if the client has acknowledged the complete response.
    pub(crate) fn is_received(&self) -> bool {
        self.text.packets().is_some_and(|total| self.through >= total)
    }
}
