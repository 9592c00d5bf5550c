//! The triggers and actions of the Gopher server's rules. The actions are carried out in `connection.rs`.

use std::time::Duration;

use crate::server::plain_or_tls_connection::Ending;
use crate::server::rule::{Rule, Trigger};

/// A rule of a Gopher server.
pub type GopherRule = Rule<GopherTrigger, GopherAction>;

/// When a rule applies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum GopherTrigger {
    /// A connection was accepted. Nothing has been read, and TLS has not started.
    Accept,
    /// Any request.
    Any,
    /// A request line that starts with these bytes.
    StartsWith(Vec<u8>),
    /// A request for this selector, with or without more fields.
    Selector(Vec<u8>),
    /// A request line for which the function returns `true`.
    Matches(fn(&[u8]) -> bool),
}

/// An action of the server. A response is: status line (Gopher+), body, terminating dot.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum GopherAction {
    /// Sends exactly these bytes as the response. `{port}` is replaced by the port of the server.
    Answer(Vec<u8>),
    /// Sends these bytes before the response.
    Before(Vec<u8>),
    /// Sends these bytes after the response.
    After(Vec<u8>),
    /// Sends these bytes repeatedly after the response, this many times or until the client closes.
    Flood(Vec<u8>, u64),
    /// Sends these bytes instead of the status line of Gopher+. Empty: sends none.
    StatusLine(Vec<u8>),
    /// Sends these bytes as the body. The status line still contains the length of the original body.
    Body(Vec<u8>),
    /// Does not send the terminating dot.
    NoTerminator,
    /// Waits before the response.
    Pause(Duration),
    /// Cuts the response after this many bytes and ends the connection.
    Cut(u64, Ending),
    /// Sends pieces of this many bytes with a pause after each.
    Drip(usize, Duration),
    /// Ends the connection like this after the response. With [`GopherTrigger::Accept`]: instead of reading a
    /// request.
    End(Ending),
}

impl Trigger for GopherTrigger {
    /// A request line without its end; `None` is a new connection.
    type Event<'e> = Option<&'e [u8]>;

    fn matches(&self, line: Option<&[u8]>) -> bool {
        match (self, line) {
            (Self::Accept, None) | (Self::Any, Some(_)) => true,
            (Self::StartsWith(start), Some(line)) => line.starts_with(start),
            (Self::Selector(selector), Some(line)) => {
                line.split(|byte| *byte == b'\t').next() == Some(selector.as_slice())
            }
            (Self::Matches(predicate), Some(line)) => predicate(line),
            _ => false,
        }
    }
}

impl From<&str> for GopherTrigger {
    fn from(selector: &str) -> Self {
        Self::Selector(selector.into())
    }
}

impl From<&[u8]> for GopherTrigger {
    fn from(selector: &[u8]) -> Self {
        Self::Selector(selector.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigger_matches_its_request_lines() {
        let cases: [(GopherTrigger, &str, bool); 7] = [
            ("/a".into(), "/a", true),
            ("/a".into(), "/a\t+", true),
            ("/a".into(), "/ab", false),
            (GopherTrigger::StartsWith(b"/a\t!".to_vec()), "/a\t!+ASK", true),
            (GopherTrigger::StartsWith(b"/a\t!".to_vec()), "/a\t+", false),
            (GopherTrigger::Any, "", true),
            (GopherTrigger::Matches(|line| line.len() > 2), "/a", false),
        ];
        for (trigger, line, expected) in cases {
            assert_eq!(trigger.matches(Some(line.as_bytes())), expected, "{trigger:?} {line}");
            assert!(!trigger.matches(None));
        }
        assert!(GopherTrigger::Accept.matches(None) && !GopherTrigger::Accept.matches(Some(b"")));
    }
}
