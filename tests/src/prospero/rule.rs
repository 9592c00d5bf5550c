//! The triggers and actions of the Prospero server's rules. Rules apply when a request is complete; a repeated
//! request is the same request. `text.rs` changes the text, `window.rs` the packets.

use std::time::Duration;

use crate::prospero::host::ProsperoHost;
use crate::prospero::packet::ProsperoPacket;
use crate::prospero::token::next_line;
use crate::server::rule::{CutPoint, Rule, Trigger};

/// A rule of a Prospero server.
pub type ProsperoRule = Rule<ProsperoTrigger, ProsperoAction>;

/// When a rule applies.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ProsperoTrigger {
    /// Any request.
    Any,
    /// GET-OBJECT-INFO for CONTENTS.
    Contents,
    /// GET-OBJECT-INFO for other attributes.
    Info,
    /// LIST.
    List,
    /// A request for whose text the function returns `true`.
    Matches(fn(&[u8]) -> bool),
}

/// An action of the server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProsperoAction {
    /// Sends this text as the response.
    Answer(Vec<u8>),
    /// Puts this text before the response.
    Before(Vec<u8>),
    /// Puts this text before the response, this many times.
    Flood(Vec<u8>, usize),
    /// Puts this text after the response.
    After(Vec<u8>),
    /// Puts this text before every line of the response, and after the last one.
    Between(Vec<u8>),
    /// Ends lines with CR LF.
    CrLf,
    /// Cuts the text here. The packets of the rest are sent and the message is complete.
    Cut(CutPoint),
    /// Sends the first text and then the second one endlessly.
    Endless(Vec<u8>, Vec<u8>),

    /// Puts this many bytes of text into each packet.
    PacketSize(usize),
    /// Sends this many packets before the client must acknowledge.
    Window(u16),
    /// Does not request acknowledgements.
    NoFlags,
    /// Makes every header at least this long, with the total number of packets if there is room.
    MinHeaderLength(u8),
    /// Puts these bytes at this position of these datagrams.
    Patch(ProsperoPackets, usize, Vec<u8>),
    /// Truncates these datagrams to this many bytes.
    Truncate(ProsperoPackets, usize),
    /// Does not send these packets.
    Drop(ProsperoPackets),
    /// Sends these packets twice.
    Duplicate(ProsperoPackets),
    /// Sends these packets later than the others.
    Delay(ProsperoPackets, Duration),
    /// Sends these packets from another port or another address.
    SendFrom(ProsperoPackets, ProsperoHost),
    /// Sends the packets of a window in reverse order.
    Reverse,
    /// Sends the packets of a window in an order that depends on this seed.
    Shuffle(u64),

    /// Sends this packet before each window.
    PacketBefore(ProsperoPacket),
    /// Sends this packet after each window.
    PacketAfter(ProsperoPacket),
    /// Sends these packets instead of a window, this many times. Then the window is sent.
    ReplacePackets(Vec<ProsperoPacket>, usize),
    /// Sends this packet too: repeatedly, at this interval, this many times.
    RepeatPacket(ProsperoPacket, Duration, usize),

    /// Waits before the response.
    Pause(Duration),
    /// Waits before each packet but the first.
    Drip(Duration),
    /// Sends at most this many datagrams for one request.
    MaxDatagrams(usize),
}

/// Some packets of a response, the first times that they are sent or always.
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

impl Trigger for ProsperoTrigger {
    /// The text of a request.
    type Event<'e> = &'e [u8];

    fn matches(&self, request: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Contents => has_command(request, b"GET-OBJECT-INFO", Some(true)),
            Self::Info => has_command(request, b"GET-OBJECT-INFO", Some(false)),
            Self::List => has_command(request, b"LIST", None),
            Self::Matches(predicate) => predicate(request),
        }
    }
}

/// Returns `true` if a line is this command and, if `for_contents` is set, whether it requests CONTENTS.
fn has_command(mut request: &[u8], command: &[u8], for_contents: Option<bool>) -> bool {
    while let Some(Ok(line)) = next_line(&mut request) {
        let names = line.tokens.get(1);
        let has_contents = names.is_some_and(|names| names.split(|o| *o == b'+').any(|n| n == b"CONTENTS"));
        if line.tokens[0].eq_ignore_ascii_case(command)
            && for_contents.is_none_or(|contents| contents == has_contents)
        {
            return true;
        }
    }
    false
}

impl ProsperoPackets {
    /// All packets, always.
    pub const ALL: Self = Self { which: Which::All, times: usize::MAX };
    /// The last packet, always.
    pub const LAST: Self = Self { which: Which::Last, times: usize::MAX };

    /// The packet with this number, always.
    #[must_use]
    pub const fn number(number: u16) -> Self {
        Self { which: Which::Number(number), times: usize::MAX }
    }

    /// The packet with this number and all later packets, always.
    #[must_use]
    pub const fn from(number: u16) -> Self {
        Self { which: Which::From(number), times: usize::MAX }
    }

    /// Only the first `times` times that each of them is sent.
    #[must_use]
    pub const fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// Returns `true` for a packet that was sent `sent` times before.
    pub(crate) fn contains(self, number: u16, is_last: bool, sent: usize) -> bool {
        let is_selected = match self.which {
            Which::All => true,
            Which::From(first) => first <= number,
            Which::Last => is_last,
            Which::Number(wanted) => wanted == number,
        };
        is_selected && sent < self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigger_matches_its_commands() {
        let info = b"VERSION 5\nGET-OBJECT-INFO ACCESS-METHOD+UNIX-MODES ASCII CONTENTS 0\n".as_slice();
        let contents = b"GET-OBJECT-INFO SIZE+CONTENTS ASCII x 0\n".as_slice();
        let list = b"DIRECTORY ASCII x\nlist '' COMPONENTS\n".as_slice();
        let rows = [
            (ProsperoTrigger::Any, [true; 3]),
            (ProsperoTrigger::Info, [true, false, false]),
            (ProsperoTrigger::Contents, [false, true, false]),
            (ProsperoTrigger::List, [false, false, true]),
            (ProsperoTrigger::Matches(|text| text.starts_with(b"DIR")), [false, false, true]),
        ];
        for (trigger, expected) in rows {
            assert_eq!([info, contents, list].map(|text| trigger.matches(text)), expected, "{trigger:?}");
        }
    }

    #[test]
    fn packets_are_selected_by_number_and_times() {
        let once = ProsperoPackets::number(2).times(1);
        assert!(once.contains(2, false, 0) && !once.contains(2, false, 1) && !once.contains(3, false, 0));
        let last = ProsperoPackets::LAST;
        assert!(last.contains(7, true, 9) && !last.contains(7, false, 0));
        let from_2 = ProsperoPackets::from(2);
        assert!(from_2.contains(3, false, 9) && !from_2.contains(1, false, 0));
        assert!(ProsperoPackets::ALL.contains(1, false, 9));
    }
}
