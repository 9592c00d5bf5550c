//! Where a Prospero server departs from good manners: rules that it asks when a request has come.
//!
//! A rule says at which request, the how manyeth time, and what then. A request that is repeated is the same one.
//! What is done to the text is in `text.rs`, what to the packets in `sending.rs`.

use std::time::Duration;

use crate::prospero::packet::ProsperoPacket;
use crate::prospero::place::ProsperoHost;
use crate::prospero::token::next_line;

/// One departure.
#[derive(Clone, Debug)]
pub struct ProsperoRule {
    on: ProsperoOn,
    nth: Option<usize>,
    act: ProsperoAct,
}

/// When a rule holds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ProsperoOn {
    /// Any request.
    Any,
    /// GET-OBJECT-INFO that asks for CONTENTS.
    Contents,
    /// GET-OBJECT-INFO that asks for something else.
    Info,
    /// LIST.
    List,
    /// A request of whose text this is true.
    Which(fn(&[u8]) -> bool),
}

/// What the server does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProsperoAct {
    /// This text is the answer.
    Answer(Vec<u8>),
    /// This text stands before the answer.
    Before(Vec<u8>),
    /// This text, so many times, stands before the answer.
    Flood(Vec<u8>, usize),
    /// This text stands after the answer.
    After(Vec<u8>),
    /// This text stands before every line of the answer, and after the last.
    Between(Vec<u8>),
    /// Lines end with CR LF.
    CrLf,
    /// The text is cut here. All packets of what is left come.
    Cut(ProsperoCut),
    /// The answer is the first text, and the second again and again without an end.
    Endless(Vec<u8>, Vec<u8>),

    /// So many octets of text in each packet.
    Pieces(usize),
    /// So many packets before the client has to acknowledge.
    Window(u16),
    /// Nobody is asked to acknowledge.
    NoFlags,
    /// Every header has at least so many octets, and tells the total if there is room.
    Headers(u8),
    /// These octets at this place of these datagrams.
    Patch(ProsperoPackets, usize, Vec<u8>),
    /// No more than so many octets of these datagrams.
    Shorten(ProsperoPackets, usize),
    /// These do not come.
    Lose(ProsperoPackets),
    /// These come twice.
    Twice(ProsperoPackets),
    /// These come so much later than the others.
    Delay(ProsperoPackets, Duration),
    /// These come from there: another port or another address.
    From(ProsperoPackets, ProsperoHost),
    /// The last packet of a window comes first.
    Reversed,
    /// The packets of a window come in an order that this number makes.
    Shuffled(u64),

    /// This comes before each window.
    First(ProsperoPacket),
    /// This comes after each window.
    Last(ProsperoPacket),
    /// These come in the place of the answer, the first so many times that it would be sent.
    Instead(Vec<ProsperoPacket>, usize),
    /// This comes besides, again and again after this time, so many times.
    Again(ProsperoPacket, Duration, usize),

    /// Nothing for this time first.
    Pause(Duration),
    /// A pause before every packet but the first.
    Drip(Duration),
    /// No more than so many datagrams for one request.
    SilenceAfter(usize),
}

/// Some packets of an answer, the first times that they are sent or always.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ProsperoPackets {
    which: Which,
    times: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Which {
    All,
    From(u16),
    Last,
    Number(u16),
}

/// Where a text is cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProsperoCut {
    /// After so many octets.
    After(usize),
    /// So many octets before its end.
    Before(usize),
    /// In the middle.
    Half,
}

impl ProsperoRule {
    /// Each time.
    #[must_use]
    pub fn on(on: ProsperoOn, act: ProsperoAct) -> Self {
        Self { on, nth: None, act }
    }

    /// Only the `nth` time, from 1.
    #[must_use]
    pub fn nth(self, nth: usize) -> Self {
        Self { nth: Some(nth), ..self }
    }

    pub(crate) fn act(&self) -> &ProsperoAct {
        &self.act
    }

    /// Whether it holds when its moment comes for the `count`th time.
    pub(crate) fn is_due(&self, count: usize) -> bool {
        self.nth.is_none_or(|nth| nth == count)
    }

    /// Whether this is its moment.
    pub(crate) fn concerns(&self, request: &[u8]) -> bool {
        match self.on {
            ProsperoOn::Any => true,
            ProsperoOn::Contents => asks(request, b"GET-OBJECT-INFO", Some(true)),
            ProsperoOn::Info => asks(request, b"GET-OBJECT-INFO", Some(false)),
            ProsperoOn::List => asks(request, b"LIST", None),
            ProsperoOn::Which(predicate) => predicate(request),
        }
    }
}

/// Whether a line is this command, and, if that is of interest, whether it asks for contents.
fn asks(mut request: &[u8], command: &[u8], for_contents: Option<bool>) -> bool {
    while let Some(Ok(line)) = next_line(&mut request) {
        let wanted =
            line.tokens.get(1).is_some_and(|names| names.split(|o| *o == b'+').any(|n| n == b"CONTENTS"));
        if line.tokens[0].eq_ignore_ascii_case(command)
            && for_contents.is_none_or(|contents| contents == wanted)
        {
            return true;
        }
    }
    false
}

impl ProsperoPackets {
    /// All of them, always.
    pub const ALL: Self = Self { which: Which::All, times: usize::MAX };
    /// The last one, always.
    pub const LAST: Self = Self { which: Which::Last, times: usize::MAX };

    /// The one with this number, always.
    #[must_use]
    pub const fn number(number: u16) -> Self {
        Self { which: Which::Number(number), times: usize::MAX }
    }

    /// The one with this number and those that follow it, always.
    #[must_use]
    pub const fn from(number: u16) -> Self {
        Self { which: Which::From(number), times: usize::MAX }
    }

    /// Only the first so many times that each of them is sent.
    #[must_use]
    pub const fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// Whether this packet is one, after it was sent so many times.
    pub(crate) fn has(self, number: u16, is_last: bool, sent: usize) -> bool {
        let is_it = match self.which {
            Which::All => true,
            Which::From(first) => first <= number,
            Which::Last => is_last,
            Which::Number(wanted) => wanted == number,
        };
        is_it && sent < self.times
    }
}

impl ProsperoCut {
    /// How many octets are left of so many.
    pub(crate) fn left(self, of: usize) -> usize {
        match self {
            Self::After(octets) => octets.min(of),
            Self::Before(octets) => of.saturating_sub(octets),
            Self::Half => of / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_knows_its_moment() {
        let info = b"VERSION 5\nGET-OBJECT-INFO ACCESS-METHOD+UNIX-MODES ASCII CONTENTS 0\n".as_slice();
        let contents = b"GET-OBJECT-INFO SIZE+CONTENTS ASCII x 0\n".as_slice();
        let list = b"DIRECTORY ASCII x\nlist '' COMPONENTS\n".as_slice();
        let rows = [
            (ProsperoOn::Any, [true; 3]),
            (ProsperoOn::Info, [true, false, false]),
            (ProsperoOn::Contents, [false, true, false]),
            (ProsperoOn::List, [false, false, true]),
            (ProsperoOn::Which(|text| text.starts_with(b"DIR")), [false, false, true]),
        ];
        for (on, expected) in rows {
            let rule = ProsperoRule::on(on, ProsperoAct::CrLf);
            assert_eq!([info, contents, list].map(|text| rule.concerns(text)), expected, "{on:?}");
        }
        let rule = ProsperoRule::on(ProsperoOn::Any, ProsperoAct::CrLf);
        assert!(rule.is_due(2) && rule.clone().nth(2).is_due(2) && !rule.nth(2).is_due(1));
    }

    #[test]
    fn packets_are_chosen() {
        let once = ProsperoPackets::number(2).times(1);
        assert!(once.has(2, false, 0) && !once.has(2, false, 1) && !once.has(3, false, 0));
        assert!(ProsperoPackets::LAST.has(7, true, 9) && !ProsperoPackets::LAST.has(7, false, 0));
        assert!(ProsperoPackets::from(2).has(3, false, 9) && !ProsperoPackets::from(2).has(1, false, 0));
        assert!(ProsperoPackets::ALL.has(1, false, 9));
    }

    #[test]
    fn a_cut_leaves_some_octets() {
        let rows = [
            (ProsperoCut::After(3), 3),
            (ProsperoCut::After(30), 9),
            (ProsperoCut::Before(1), 8),
            (ProsperoCut::Half, 4),
        ];
        for (cut, left) in rows {
            assert_eq!(cut.left(9), left, "{cut:?}");
        }
    }
}
