//! Where a WAIS server departs from good manners: rules that it asks at each connection and request.
//!
//! A rule says at which request, the how manyeth time, and what then. What is done is in `sending.rs`.

use std::time::Duration;

use crate::ftp::rule::Ending;
use crate::wais::diagnostic::WaisDiagnostic;
use crate::wais::request::WaisRequest;

/// One departure.
#[derive(Clone, Debug)]
pub struct WaisRule {
    on: WaisOn,
    nth: Option<usize>,
    act: WaisAct,
}

/// When a rule holds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum WaisOn {
    /// A connection was accepted; nothing was read.
    Accept,
    /// Any request.
    Any,
    /// A retrieval.
    Retrieve,
    /// A search.
    Search,
    /// A request of which this is true.
    Which(fn(&WaisRequest) -> bool),
}

/// What the server does. An answer is: first octets, a header of 25 octets, an APDU, last octets, end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WaisAct {
    /// These exact octets are the whole answer. With [`WaisOn::Accept`] they are said before anything is read.
    Answer(Vec<u8>),
    /// This APDU, under a header that is right.
    Message(Vec<u8>),
    /// A message without an APDU.
    Nothing,

    /// This diagnostic in the place of all records.
    Alone(WaisDiagnostic),
    /// This diagnostic after all records.
    Beside(WaisDiagnostic),
    /// Of a retrieval: every range is full of this octet.
    Endless(u8),
    /// Of a retrieval: this octet, so many times, after the text.
    MoreText(u8, usize),
    /// No information part: no records at all.
    NoInformation,

    /// Another reference than that of the request; empty: none.
    Reference(Vec<u8>),
    /// Another PDU type.
    Pdu(u8),
    /// Other octets in the place of those with a fixed place: status, counts and position.
    Fixed(Vec<u8>),
    /// The length of the APDU's first part is told as this.
    Hli(u16),
    /// All lengths of fields have an octet 0x80 in front.
    Padded,
    /// The fields of each record in the opposite order.
    Reversed,
    /// A field that nobody knows in front of every field.
    UnknownFields,
    /// Diagnostics without their last octet.
    NoTerminator,
    /// The length of these is told as so much more than it is.
    TooLong(WaisLayer, u64),

    /// These octets in the place of the ten digits of the length.
    Digits(Vec<u8>),
    /// The length is told as so much more than it is, or less.
    Length(i64),
    /// These octets at this place of the header.
    Header(usize, Vec<u8>),

    /// These octets stand before the answer.
    First(Vec<u8>),
    /// These octets stand after the answer.
    Last(Vec<u8>),
    /// These octets so many times after the answer, or until the client closes.
    Flood(Vec<u8>, u64),
    /// The answer comes twice.
    Twice,
    /// Nothing for this time first.
    Pause(Duration),
    /// The answer is cut here, and this is the end.
    Cut(WaisCut, Ending),
    /// Pieces of so many octets with a pause after each.
    Drip(usize, Duration),
    /// This is the end after the whole answer. With [`WaisOn::Accept`] it is all that happens.
    End(Ending),
}

/// What can be too long for what it stands in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WaisLayer {
    /// The last field of each record.
    Field,
    /// The information part.
    Information,
    /// Each record.
    Record,
}

/// Where an answer is cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WaisCut {
    /// After so many octets.
    After(usize),
    /// So many octets before its end.
    Before(usize),
    /// In the middle.
    Half,
}

impl WaisRule {
    /// Each time.
    #[must_use]
    pub fn on(on: WaisOn, act: WaisAct) -> Self {
        Self { on, nth: None, act }
    }

    /// Only the `nth` time, from 1, counted over all connections.
    #[must_use]
    pub fn nth(self, nth: usize) -> Self {
        Self { nth: Some(nth), ..self }
    }

    pub(crate) fn act(&self) -> &WaisAct {
        &self.act
    }

    /// Whether it holds when its moment comes for the `count`th time.
    pub(crate) fn is_due(&self, count: usize) -> bool {
        self.nth.is_none_or(|nth| nth == count)
    }

    /// Whether this is its moment; without a request: a connection.
    pub(crate) fn concerns(&self, request: Option<&WaisRequest>) -> bool {
        match (self.on, request) {
            (WaisOn::Accept, None) | (WaisOn::Any, Some(_)) => true,
            (WaisOn::Retrieve, Some(WaisRequest::Retrieve { .. })) => true,
            (WaisOn::Search, Some(WaisRequest::Search { .. })) => true,
            (WaisOn::Which(predicate), Some(request)) => predicate(request),
            _ => false,
        }
    }
}

impl WaisCut {
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
        let search = WaisRequest::Search { database: b"t".to_vec(), words: Vec::new(), most: 1 };
        let init = WaisRequest::Other(20);
        let rows = [
            (WaisOn::Accept, [true, false, false]),
            (WaisOn::Any, [false, true, true]),
            (WaisOn::Search, [false, true, false]),
            (WaisOn::Retrieve, [false, false, false]),
            (WaisOn::Which(|request| *request == WaisRequest::Other(20)), [false, false, true]),
        ];
        for (on, expected) in rows {
            let rule = WaisRule::on(on, WaisAct::Twice);
            let seen = [None, Some(&search), Some(&init)].map(|request| rule.concerns(request));
            assert_eq!(seen, expected, "{on:?}");
        }
        let rule = WaisRule::on(WaisOn::Any, WaisAct::Twice);
        assert!(rule.is_due(2) && rule.clone().nth(2).is_due(2) && !rule.nth(2).is_due(1));
    }

    #[test]
    fn a_cut_leaves_some_octets() {
        let rows =
            [(WaisCut::After(3), 3), (WaisCut::After(30), 9), (WaisCut::Before(1), 8), (WaisCut::Half, 4)];
        for (cut, left) in rows {
            assert_eq!(cut.left(9), left, "{cut:?}");
        }
    }
}
