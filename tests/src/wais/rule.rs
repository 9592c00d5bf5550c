//! The triggers and actions of the WAIS server's rules. The actions are carried out in `connection.rs`,
//! `answer.rs` and `response.rs`.

use std::time::Duration;

use crate::server::plain_or_tls_connection::Ending;
use crate::server::rule::{CutPoint, Rule, Trigger};
use crate::wais::diagnostic::WaisDiagnostic;
use crate::wais::request::WaisRequest;

/// A rule of a WAIS server.
pub type WaisRule = Rule<WaisTrigger, WaisAction>;

/// When a rule applies.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum WaisTrigger {
    /// A connection was accepted and nothing has been read.
    Accept,
    /// Any request.
    Any,
    /// A retrieval.
    Retrieve,
    /// A search.
    Search,
    /// A request for which the function returns `true`.
    Matches(fn(&WaisRequest) -> bool),
}

/// An action of the server. A response is a header of 25 bytes and an APDU.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WaisAction {
    /// Sends exactly these bytes as the response. With [`WaisTrigger::Accept`]: before anything is read.
    Answer(Vec<u8>),
    /// Sends these bytes as the APDU, with a correct header.
    Apdu(Vec<u8>),
    /// Sends a header without an APDU.
    EmptyMessage,

    /// Sends this diagnostic instead of all records.
    OnlyDiagnostic(WaisDiagnostic),
    /// Sends this diagnostic after the records.
    AppendDiagnostic(WaisDiagnostic),
    /// Retrievals: fills every requested range with this byte.
    Endless(u8),
    /// Retrievals: appends this byte to the text, this many times.
    AppendText(u8, usize),
    /// Sends no information part, and so no records.
    NoInformation,

    /// Sends another reference than that of the request. Empty: sends no reference.
    Reference(Vec<u8>),
    /// Sends another PDU type.
    Pdu(u8),
    /// Replaces the part with fixed positions: status, counts and position.
    FixedPart(Vec<u8>),
    /// Sets the length of the first part of the APDU (the header length indicator).
    HeaderLength(u16),
    /// Puts a byte 0x80 before the length of every field.
    PaddedLengths,
    /// Reverses the fields of each record.
    ReversedFields,
    /// Puts an unknown field before every field.
    UnknownFields,
    /// Leaves out the last byte of diagnostics.
    NoTerminator,
    /// Adds this number to a length.
    OverstateLength(WaisLayer, u64),

    /// Sends these bytes instead of the ten digits of the message length.
    LengthDigits(Vec<u8>),
    /// Adds this number to the message length.
    LengthOffset(i64),
    /// Puts these bytes at this position of the header.
    PatchHeader(usize, Vec<u8>),

    /// Sends these bytes before the response.
    Before(Vec<u8>),
    /// Sends these bytes after the response.
    After(Vec<u8>),
    /// Sends these bytes repeatedly after the response, this many times or until the client closes.
    Flood(Vec<u8>, u64),
    /// Sends the response twice.
    Duplicate,
    /// Waits before the response.
    Pause(Duration),
    /// Cuts the response here and ends the connection.
    Cut(CutPoint, Ending),
    /// Sends pieces of this many bytes with a pause after each.
    Drip(usize, Duration),
    /// Ends the connection like this after the response. With [`WaisTrigger::Accept`]: instead of reading a
    /// request.
    End(Ending),
}

/// The length that [`WaisAction::OverstateLength`] changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WaisLayer {
    /// The last field of each record.
    Field,
    /// The information part.
    Information,
    /// Each record.
    Record,
}

impl Trigger for WaisTrigger {
    /// A request; `None` is a new connection.
    type Event<'e> = Option<&'e WaisRequest>;

    fn matches(&self, request: Option<&WaisRequest>) -> bool {
        match (self, request) {
            (Self::Accept, None) | (Self::Any, Some(_)) => true,
            (Self::Retrieve, Some(WaisRequest::Retrieve { .. })) => true,
            (Self::Search, Some(WaisRequest::Search { .. })) => true,
            (Self::Matches(predicate), Some(request)) => predicate(request),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigger_matches_its_requests() {
        let search = WaisRequest::Search { database: b"t".to_vec(), words: Vec::new(), most: 1 };
        let init = WaisRequest::Other(20);
        let rows = [
            (WaisTrigger::Accept, [true, false, false]),
            (WaisTrigger::Any, [false, true, true]),
            (WaisTrigger::Search, [false, true, false]),
            (WaisTrigger::Retrieve, [false, false, false]),
            (WaisTrigger::Matches(|request| *request == WaisRequest::Other(20)), [false, false, true]),
        ];
        for (trigger, expected) in rows {
            let matched = [None, Some(&search), Some(&init)].map(|request| trigger.matches(request));
            assert_eq!(matched, expected, "{trigger:?}");
        }
    }
}
